"""The stack with its token lanes, and BERT: the stack with BERT's embeddings below and its heads above."""

from course_utils._expect import expect_positive_int
from lesson_kit.show.diagram.canvas import SMALL, Canvas
from lesson_kit.show.diagram.display import Diagram
from lesson_kit.show.diagram.lanes import Lanes
from lesson_kit.show.expect import expect_tokens

STACK_PARTS = ("tokens", "attention", "feed-forward", "layers", "hidden-states")
BERT_PARTS = ("tokens", "embeddings", "norm", "encoder", "pooler", "masked-word-head")
SKY = ("The", "sky", "is", "blue")
MASKED = ("[CLS]", "the", "sky", "is", "[MASK]", "[SEP]")


def stack(tokens=SKY, *, n_layers: int = 6, highlight=None) -> Diagram:
    """A stack of encoder layers: a lane for each token; attention joins the lanes, the rest keeps to its own.

    tokens: at least one; of more than six the first three and the last are shown. highlight: a part or a list of them;
    the rest is faded. Parts: tokens, attention, feed-forward, layers, hidden-states.

    Raises:
        TypeError, ValueError: ``tokens`` is no list of strings, ``n_layers`` no int of at least 1, or a part unknown.
    """
    tokens, canvas = expect_tokens(tokens), Canvas(*STACK_PARTS)
    expect_positive_int(n_layers=n_layers)
    lanes = Lanes(canvas, tokens, 46, 258)
    with canvas.part("tokens"):
        lanes.words()
    y = _hidden(canvas, lanes, 24, 0, "emb")
    y = _hidden(canvas, lanes, _open_layer(canvas, lanes, y), 1, "o")
    bottom = y
    for n in [1, None, n_layers - 1] if n_layers > 3 else range(1, n_layers):
        with canvas.part("layers"):
            if n is None:
                for x in lanes.middles.values():
                    canvas.text(x, y + 10, "⋮")
                y += 19
                continue
            lanes.arrows(y, y + 16)
            box = canvas.box(lanes.left, y + 16, lanes.right - lanes.left, 24, "attention, feed-forward")
            canvas.text(-6, box.y, f"layer {n}", size=SMALL, anchor="start", bold=True)
            lanes.arrows(box.top, box.top + 16)
        y = _hidden(canvas, lanes, box.top + 16, n + 1, "o")
    if n_layers > 3:
        with canvas.part("layers"):
            lanes.beside(bottom + 28, f"× {n_layers} layers,", "each with its", "own weights", bold=True)
    words = (
        f"From bottom to top: {len(tokens)} tokens become vectors, hidden_states[0], each in a lane of its own. In "
        "layer 0 attention joins the lanes, so that each token looks at all; then the feed-forward network takes each "
        "token for itself. The result, hidden_states[1], has the same shape and goes into the next layer. There are "
        f"{n_layers} layers, each with its own weights; the last gives hidden_states[{n_layers}]."
    )
    return Diagram(canvas, f"A stack of {n_layers} encoder layers", words, highlight)


def _hidden(canvas: Canvas, lanes: Lanes, bottom: float, n: int, kind: str) -> float:
    with canvas.part("hidden-states"):
        top = lanes.vectors(bottom, kind)
        lanes.beside(bottom + 6, f"hidden_states[{n}]", code=True)
    return top


def _open_layer(canvas: Canvas, lanes: Lanes, y: float) -> float:
    """Layer 0, to look into; returns where its output begins."""
    middles = [x for token, x in lanes.middles.items() if token is not None]
    with canvas.part("layers"):
        canvas.frame(lanes.left - 4, y + 13, lanes.right + 4, y + 126)
        canvas.text(-6, y + 70, "layer 0", size=SMALL, anchor="start", bold=True)
    with canvas.part("attention"):
        lanes.arrows(y, y + 24)
        box = canvas.box(lanes.left, y + 24, lanes.right - lanes.left, 48, kind="att")
        canvas.lines([(a, box.bottom, b, box.top) for a in middles for b in middles], kind="att", thin=True)
        lanes.beside(box.y, "Attention:", "tokens look", "at each other", bold=True)
    with canvas.part("feed-forward"):
        lanes.arrows(box.top, box.top + 18)
        wide = min(46, lanes.room)

        def network(_: int, x: float) -> None:
            canvas.box(x - wide / 2, box.top + 18, wide, 24, kind="ffn")
            canvas.text(x, box.top + 30, "FFN", size=SMALL, bold=True, room=wide)

        lanes.each(box.top + 30, network)
        lanes.beside(box.top + 30, "Feed-forward:", "each token", "for itself", bold=True)
        lanes.arrows(box.top + 42, box.top + 66)
    return box.top + 66


def bert(tokens=MASKED, *, n_layers: int = 12, highlight=None) -> Diagram:
    """BERT: three embeddings added and normed, the encoder, and two heads on top.

    tokens: at least one; of more than six the first three and the last are shown. The masked-word head stands over
    the first [MASK], if there is room. highlight: a part or a list of them; the rest is faded. Parts: tokens,
    embeddings, norm, encoder, pooler, masked-word-head. Source: Devlin et al. 2019, section 3 and figure 2.

    Raises:
        TypeError, ValueError: ``tokens`` is no list of strings, ``n_layers`` no int of at least 1, or a part unknown.
    """
    tokens, canvas = expect_tokens(tokens), Canvas(*BERT_PARTS)
    expect_positive_int(n_layers=n_layers)
    lanes = Lanes(canvas, tokens, 0, 264)
    with canvas.part("tokens"):
        lanes.words()
    with canvas.part("embeddings"):
        y = _embeddings(canvas, lanes, 24)
    with canvas.part("norm"):
        lanes.arrows(y, y + 16)
        norm = canvas.box(0, y + 16, lanes.right, 22, "LayerNorm", kind="norm")
    with canvas.part("encoder"):
        lanes.arrows(norm.top, norm.top + 24)
        frame = canvas.frame(-4, norm.top + 13, lanes.right + 4, norm.top + 101)
        attention = canvas.box(4, norm.top + 24, lanes.right - 8, 24, "Multi-head attention", kind="att")
        lanes.arrows(attention.top, attention.top + 18)
        network = canvas.box(4, attention.top + 18, lanes.right - 8, 24, "Feed-forward network", kind="ffn")
        lanes.beside(frame.y, "Encoder:", f"× {n_layers} layers,", "post-norm", bold=True)
        lanes.arrows(network.top, network.top + 26)
        top = lanes.vectors(network.top + 26, "o")
        lanes.beside(top - 6, "(batch, length,", "d_model)", code=True)
    masked = next((i for i in lanes.shown if i is not None and tokens[i] == "[MASK]"), None)
    _heads(canvas, lanes, lanes.middles.get(masked) if masked is not None else None, top)
    words = (
        "From bottom to top: each token takes a row from each of three tables, word, position and segment; the three "
        f"are added and go through a LayerNorm. Then an encoder of {n_layers} post-norm layers, in which all tokens "
        "see all. On top, what a task needs: the pooler, tanh of a linear map, reads the first token's vector; the "
        "masked-word head (dense, gelu, LayerNorm, then the word table again) gives a score for each word of the "
        "vocabulary."
    )
    return Diagram(canvas, "BERT, its embeddings and its heads", words, highlight)


def _embeddings(canvas: Canvas, lanes: Lanes, y: float) -> float:
    """Three rows of tiles, added; returns where they end."""
    wide = min(38, lanes.room)
    notes = {"word": "what it is", "position": "where it stands", "segment": "sentence 0 or 1"}
    for n, (name, note) in enumerate(notes.items()):
        if n:
            lanes.each(y + 8, lambda i, x, y=y: canvas.text(x, y + 8, "+"))
            y += 16

        def tile(i: int, x: float, y=y, name=name) -> None:
            canvas.box(x - wide / 2, y, wide, 20, kind="emb")
            row = {"word": "id", "position": str(i), "segment": "0"}[name]
            canvas.text(x, y + 10, row, size=SMALL, room=wide - 2)

        lanes.each(y + 10, tile)
        lanes.beside(y + 10, name, note, bold=True)
        y += 20
    return y


def _heads(canvas: Canvas, lanes: Lanes, masked: float | None, y: float) -> None:
    first = lanes.middles[0]
    with canvas.part("pooler"):
        box = canvas.box(max(0, first - 38), y + 18, 76, 38, "Pooler", note="tanh", kind="head")
        canvas.arrow((first, y), (first, box.bottom))
        canvas.arrow((first, box.top), (first, box.top + 14))
        canvas.text(box.x, box.top + 21, "whole text", size=SMALL)
    if masked is None or masked < box.right + 12:
        return
    with canvas.part("masked-word-head"):
        left = min(max(masked - 78, box.right + 12), lanes.right - 156)
        box = canvas.box(left, y + 18, 156, 38, "Masked-word head", note="a score for each word", kind="head")
        canvas.arrow((masked, y), (masked, box.bottom))
        canvas.arrow((box.x, box.top), (box.x, box.top + 14))
        canvas.text(box.x, box.top + 21, "the hidden word", size=SMALL)
