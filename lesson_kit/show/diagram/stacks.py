"""The stack with its token lanes, and BERT: the stack with BERT's embeddings below and its heads above."""

from collections.abc import Callable

from lesson_kit.show.diagram.canvas import SMALL, Box, Canvas
from lesson_kit.show.diagram.display import Diagram
from lesson_kit.show.expect import expect_tokens

STACK_PARTS = ("tokens", "attention", "feed-forward", "layers", "hidden states")
BERT_PARTS = ("tokens", "embeddings", "norm", "encoder", "pooler", "masked-word head")
SKY = ("The", "sky", "is", "blue")
MASKED = ("[CLS]", "the", "sky", "is", "[MASK]", "[SEP]")
LEFT, RIGHT = 0, 252  # of the lanes; names of what is seen stand beside them
MOST_LANES = 6


def _lanes(n: int) -> list[int | None]:
    """The tokens that get a lane; None for those left out."""
    return list(range(n)) if n <= MOST_LANES else [0, 1, 2, None, n - 1]


def _middles(lanes: list) -> list[float]:
    each = (RIGHT - LEFT) / len(lanes)
    return [LEFT + (i + 0.5) * each for i in range(len(lanes))]


def _each_lane(canvas: Canvas, lanes: list, y: float, draw: Callable[[int, float, float], None]) -> None:
    """Calls ``draw(token, middle, room)`` for each lane, and draws dots at ``y`` for the tokens left out."""
    for token, middle in zip(lanes, _middles(lanes), strict=True):
        if token is None:
            canvas.text(middle, y, "⋯")
        else:
            draw(token, middle, (RIGHT - LEFT) / len(lanes) - 8)


def _token_row(canvas: Canvas, lanes: list, tokens: list[str]) -> None:
    _each_lane(canvas, lanes, 0, lambda i, x, room: canvas.text(x, 0, tokens[i], bold=True, room=room))


def _vectors(canvas: Canvas, lanes: list, bottom: float, kind: str) -> float:
    """A row of vectors, one in each lane; returns where it ends."""

    def vector(i: int, x: float, room: float) -> None:
        wide = min(36, room)
        canvas.box(x - wide / 2, bottom, wide, 12, kind=kind, corner=0)
        canvas.lines([(x + k * wide / 4, bottom, x + k * wide / 4, bottom + 12) for k in (-1, 0, 1)], kind=kind)

    _each_lane(canvas, lanes, bottom + 6, vector)
    return bottom + 12


def _arrows(canvas: Canvas, lanes: list, start: float, end: float) -> None:
    for token, x in zip(lanes, _middles(lanes), strict=True):
        if token is not None:
            canvas.arrow((x, start), (x, end))


def _beside(canvas: Canvas, y: float, *lines: str, code: bool = False, bold: bool = False) -> None:
    """Words to the right of the lanes."""
    for n, line in enumerate(lines):
        height = y + 7 * (len(lines) - 1) - 14 * n
        canvas.text(RIGHT + 10, height, line, size=SMALL, anchor="start", code=code, bold=bold and n == 0)


def stack(tokens=SKY, *, n_layers: int = 6, highlight=None) -> Diagram:
    """A stack of encoder layers: a lane for each token; attention joins the lanes, the rest keeps to its own.

    tokens: at least one; of more than six the first three and the last are shown. highlight: a part or a list of them;
    the rest is faded. Parts: tokens, attention, feed-forward, layers, hidden states.

    Raises:
        TypeError, ValueError: ``tokens`` is no list of strings, ``n_layers`` is no int of at least 1, or a part is unknown.
    """
    tokens, canvas = expect_tokens(tokens), Canvas(*STACK_PARTS)
    _expect_layers(n_layers)
    lanes = _lanes(len(tokens))
    with canvas.part("tokens"):
        _token_row(canvas, lanes, tokens)
        _arrows(canvas, lanes, 10, 24)
    y = _hidden(canvas, lanes, 24, 0, "emb")
    y = _open_layer(canvas, lanes, y)
    y = _hidden(canvas, lanes, y, 1, "o")
    bottom = y
    for n in [1, None, n_layers - 1] if n_layers > 3 else range(1, n_layers):
        with canvas.part("layers"):
            if n is None:
                for x in _middles(lanes):
                    canvas.text(x, y + 9, "⋮")
                y += 18
                continue
            _arrows(canvas, lanes, y, y + 16)
            box = canvas.box(LEFT, y + 16, RIGHT - LEFT, 24, f"layer {n}")
            _arrows(canvas, lanes, box.top, box.top + 16)
        y = _hidden(canvas, lanes, box.top + 16, n + 1, "o")
    with canvas.part("layers"):
        if n_layers > 3:
            _beside(canvas, bottom + 28, f"× {n_layers} layers,", "each with its", "own weights", bold=True)
    words = (
        f"From bottom to top: {len(tokens)} tokens become vectors, hidden_states[0], each in a lane of its own. In layer 0 "
        "attention joins the lanes, so that each token looks at all; then the feed-forward network takes each token for "
        f"itself. The result, hidden_states[1], has the same shape and goes into the next layer. There are {n_layers} "
        f"layers, each with its own weights; the last gives hidden_states[{n_layers}]."
    )
    return Diagram(canvas, f"A stack of {n_layers} encoder layers", words, highlight)


def _expect_layers(n_layers: int) -> None:
    if isinstance(n_layers, bool) or not isinstance(n_layers, int):
        raise TypeError(f"n_layers must be an int, got {type(n_layers).__name__}")
    if n_layers < 1:
        raise ValueError(f"n_layers must be at least 1, got {n_layers}")


def _hidden(canvas: Canvas, lanes: list, bottom: float, n: int, kind: str) -> float:
    with canvas.part("hidden states"):
        top = _vectors(canvas, lanes, bottom, kind)
        _beside(canvas, bottom + 6, f"hidden_states[{n}]", code=True)
    return top


def _open_layer(canvas: Canvas, lanes: list, y: float) -> float:
    """Layer 0, to look into; returns where its output begins."""
    middles = [x for token, x in zip(lanes, _middles(lanes), strict=True) if token is not None]
    with canvas.part("attention"):
        _arrows(canvas, lanes, y, y + 24)
        box = canvas.box(LEFT + 6, y + 24, RIGHT - LEFT - 12, 48, kind="att")
        canvas.lines([(a, box.bottom + 5, b, box.top - 5) for a in middles for b in middles], kind="att")
        _beside(canvas, box.y, "Attention:", "tokens look", "at each other", bold=True)
    with canvas.part("feed-forward"):
        _arrows(canvas, lanes, box.top, box.top + 18)

        def network(i: int, x: float, room: float) -> None:
            canvas.box(x - min(48, room) / 2, box.top + 18, min(48, room), 24, "FFN" if room > 36 else "", kind="ffn")

        _each_lane(canvas, lanes, box.top + 30, network)
        _beside(canvas, box.top + 30, "Feed-forward:", "each token", "for itself", bold=True)
        _arrows(canvas, lanes, box.top + 42, box.top + 66)
    with canvas.part("layers"):
        canvas.frame(LEFT, y + 13, RIGHT, box.top + 52)
        canvas.text(LEFT + 6, box.top + 60, "layer 0", size=SMALL, anchor="start", bold=True)
    return box.top + 66


def bert(tokens=MASKED, *, n_layers: int = 12, highlight=None) -> Diagram:
    """BERT: three embeddings added and normed, the encoder, and two heads on top.

    tokens: at least one; of more than six the first three and the last are shown. The masked-word head stands over
    the first [MASK], if one is shown. highlight: a part or a list of them; the rest is faded. Parts: tokens,
    embeddings, norm, encoder, pooler, masked-word head. Source: Devlin et al. 2019, section 3 and figure 2.

    Raises:
        TypeError, ValueError: ``tokens`` is no list of strings, ``n_layers`` is no int of at least 1, or a part is unknown.
    """
    tokens, canvas = expect_tokens(tokens), Canvas(*BERT_PARTS)
    _expect_layers(n_layers)
    lanes = _lanes(len(tokens))
    with canvas.part("tokens"):
        _token_row(canvas, lanes, tokens)
        _arrows(canvas, lanes, 10, 24)
    y = 24
    rows = (("word", lambda i: "id", "what it is"), ("position", str, "where it stands"), ("segment", lambda i: "0", "sentence 0 or 1"))
    with canvas.part("embeddings"):
        for n, (name, label, note) in enumerate(rows):
            if n:
                _each_lane(canvas, lanes, y + 8, lambda i, x, room, y=y: canvas.text(x, y + 8, "+"))
                y += 16

            def tile(i: int, x: float, room: float, y=y, label=label) -> None:
                box = canvas.box(x - min(38, room) / 2, y, min(38, room), 20, kind="emb")
                canvas.text(x, box.y, label(i), size=SMALL, room=box.width - 2)

            _each_lane(canvas, lanes, y + 10, tile)
            _beside(canvas, y + 10, name, note, bold=True)
            y += 20
    with canvas.part("norm"):
        _arrows(canvas, lanes, y, y + 16)
        norm = canvas.box(LEFT, y + 16, RIGHT - LEFT, 22, "LayerNorm", kind="norm")
        _beside(canvas, norm.y, "each token", "for itself")
    with canvas.part("encoder"):
        _arrows(canvas, lanes, norm.top, norm.top + 16)
        box = canvas.box(LEFT, norm.top + 16, RIGHT - LEFT, 62, "Encoder", note="attention, feed-forward", kind="att")
        _beside(canvas, box.y, f"× {n_layers} layers", "post-norm", bold=True)
        _arrows(canvas, lanes, box.top, box.top + 16)
        top = _vectors(canvas, lanes, box.top + 16, "o")
        _beside(canvas, top - 6, "(batch, length,", "d_model)", code=True)
    middles = dict(zip(lanes, _middles(lanes), strict=True))
    masked = next((i for i in lanes if i is not None and tokens[i] == "[MASK]"), None)
    _heads(canvas, middles[0], middles.get(masked), top)
    words = (
        "From bottom to top: each token takes a row from each of three tables, word, position and segment; the three are "
        f"added and go through a LayerNorm. Then an encoder of {n_layers} post-norm layers, in which all tokens see all. "
        "On top, what a task needs: the pooler, tanh of a linear map, reads the first token's vector; the masked-word head "
        "(dense, gelu, LayerNorm, then the word table again) gives a score for each word of the vocabulary."
    )
    return Diagram(canvas, "BERT, its embeddings and its heads", words, highlight)


def _heads(canvas: Canvas, first: float, masked: float | None, y: float) -> None:
    with canvas.part("pooler"):
        left = max(LEFT, first - 38)
        pooler = canvas.box(left, y + 18, 76, 40, "Pooler", note="tanh", kind="head")
        canvas.arrow((first, y), (first, pooler.bottom))
        canvas.arrow((pooler.x, pooler.top), (pooler.x, pooler.top + 14))
        canvas.text(pooler.x, pooler.top + 21, "whole text", size=SMALL)
    if masked is None or masked < 130:
        return
    with canvas.part("masked-word head"):
        box = canvas.box(min(masked - 68, RIGHT - 136), y + 18, 136, 40, "Masked-word head", note="a score for each word", kind="head")
        canvas.arrow((masked, y), (masked, box.bottom))
        canvas.arrow((box.x, box.top), (box.x, box.top + 14))
        canvas.text(box.x, box.top + 21, "the hidden word", size=SMALL)
