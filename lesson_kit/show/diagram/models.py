"""Whole models: the Transformer of 2017, and GPT beside BERT."""

from course_utils._expect import expect_positive_int
from lesson_kit.show.diagram.canvas import SMALL, Box, Canvas
from lesson_kit.show.diagram.display import Diagram
from lesson_kit.show.diagram.layers import ATTENTION, FEED_FORWARD, NORM_WIDE, Sublayer, draw_layer

TRANSFORMER_PARTS = (
    "embeddings", "encoder", "decoder", "attention", "self-attention", "cross-attention", "feed-forward", "residual",
    "norm", "memory", "output",
)  # fmt: skip
GPT_PARTS = ("embeddings", "attention", "feed-forward", "residual", "norm", "mask", "output")
MASKED = Sublayer("self-attention", "Masked\nself-attention", "att", "qkv")
CROSS = Sublayer("cross-attention", "Cross-\nattention", "att", "q")
CAUSAL = Sublayer("attention", "Masked\nattention", "att", "qkv")
WIDE = 96  # of a sublayer's box, two columns side by side
SOURCE, TARGET, REACH = 34, 340, 138  # the residual paths of encoder and decoder, and how far their frames reach


def transformer(*, n_layers: int = 6, highlight=None) -> Diagram:
    """The Transformer: the encoder on the left, the decoder on the right, the memory between them.

    highlight: a part or a list of them; the rest is faded. Parts: embeddings, encoder, decoder, attention (the
    encoder's), self-attention (the decoder's), cross-attention, feed-forward, residual, norm, memory, output.
    Source: Vaswani et al. 2017, figure 1.

    Raises:
        TypeError, ValueError: ``n_layers`` is no int of at least 1, or a part is unknown.
    """
    expect_positive_int(n_layers=n_layers)
    canvas = Canvas(*TRANSFORMER_PARTS)
    columns = {}
    for name, trunk, sublayers, tokens in (
        ("encoder", SOURCE, (ATTENTION, FEED_FORWARD), "source"),
        ("decoder", TARGET, (MASKED, CROSS, FEED_FORWARD), "target, shifted right"),
    ):
        mirrored = name == "decoder"
        start = _embed(canvas, trunk, tokens, mirrored)
        with canvas.part(name):
            layer = draw_layer(canvas, sublayers, "post-norm", trunk, start, wide=WIDE, size=SMALL, mirrored=mirrored)
            edges = (trunk - 34, trunk + REACH) if not mirrored else (trunk - REACH, trunk + 34)
            frame = canvas.frame(edges[0], start - 1, edges[1], layer.top + 8)
            words = f"{name.capitalize()}, × {n_layers}"
            at, anchor = (frame.right - 6, "end") if not mirrored else (frame.left + 6, "start")
            canvas.text(at, frame.top - 11, words, size=SMALL, bold=True, anchor=anchor)
        columns[name] = layer
    _memory(canvas, columns["encoder"].top, columns["decoder"].boxes["cross-attention"])
    _scores(canvas, columns["decoder"].top)
    words = (
        f"From bottom to top. Left, the encoder: the source's tokens are embedded, positions are added, and {n_layers} "
        "layers of self-attention and feed-forward network give the memory. Right, the decoder: the target so far, "
        f"shifted right, is embedded in the same way; each of {n_layers} layers has masked self-attention, "
        "cross-attention, whose keys and values come from the memory, and a feed-forward network. Each sublayer is "
        "added to its residual path and normed. A linear map and softmax make the last vectors into probabilities of "
        "the next token."
    )
    return Diagram(canvas, "The Transformer", words, highlight)


def _embed(canvas: Canvas, trunk: float, tokens: str, mirrored: bool) -> float:
    """From the tokens to where the first layer begins."""
    side = -1 if mirrored else 1
    with canvas.part("embeddings"):
        anchor = "end" if mirrored else "start"
        edge = trunk - side * 29
        canvas.text(edge, 0, tokens, size=SMALL, anchor=anchor)
        canvas.arrow((trunk, 8), (trunk, 22))
        box = canvas.box(min(edge, edge + side * 92), 22, 92, 24, "Embedding", kind="emb", size=SMALL)
        plus = canvas.plus(trunk, box.top + 22)
        canvas.arrow((trunk, box.top), (trunk, plus.bottom))
        canvas.arrow((trunk + side * 36, plus.y), (trunk + side * 9, plus.y))
        canvas.text(trunk + side * 40, plus.y, "positions", size=SMALL, anchor=anchor)
    return plus.top + 12


def _memory(canvas: Canvas, top: float, cross: Box) -> None:
    """The encoder's output: out of its top, and into each cross-attention as keys and values."""
    with canvas.part("memory"):
        between = (SOURCE + TARGET) / 2
        over = top + 26
        canvas.arrow((SOURCE, top), (SOURCE, over), (between, over), (between, cross.y - 8), head=False, kind="o")
        canvas.text(SOURCE, over + 10, "memory", bold=True, anchor="start", kind="o", size=SMALL)
        for letter, y in (("k", cross.y + 9), ("v", cross.y - 8)):
            canvas.arrow((between, y), (cross.left, y), kind=letter)
            canvas.text(between + 9, y + 7, letter, size=SMALL, kind=letter, bold=True)


def _scores(canvas: Canvas, top: float) -> None:
    """From the decoder's last vectors to probabilities."""
    with canvas.part("output"):
        below = top
        for words in ("Linear", "Softmax"):
            box = canvas.box(TARGET - 63, below + 18, 92, 22, words, kind="head", size=SMALL)
            canvas.arrow((TARGET, below), (TARGET, box.bottom))
            below = box.top
        canvas.arrow((TARGET, below), (TARGET, below + 14))
        canvas.text(TARGET + 29, below + 23, "probabilities of the next token", size=SMALL, anchor="end")


def gpt_and_bert(*, n_layers: int = 12, highlight=None) -> Diagram:
    """BERT and GPT side by side: the same parts, wired in another way, with another mask and another task.

    GPT is GPT-2: pre-norm, with a final norm. highlight: a part or a list of them; the rest is faded. Parts:
    embeddings, attention, feed-forward, residual, norm, mask, output. Sources: Devlin et al. 2019; Radford et al. 2019,
    "Language Models are Unsupervised Multitask Learners", section 2.3.

    Raises:
        TypeError, ValueError: ``n_layers`` is no int of at least 1, or a part is unknown.
    """
    expect_positive_int(n_layers=n_layers)
    canvas = Canvas(*GPT_PARTS)
    _column(canvas, 34, "BERT", n_layers)
    _column(canvas, 224, "GPT", n_layers)
    words = (
        f"From bottom to top. Both embed words and positions (BERT segments too) and have {n_layers} layers of "
        "attention and feed-forward network around a residual path. BERT, left: each token looks at all; norms stand "
        "on the path (post-norm); its head guesses hidden words. GPT, right: each token looks at itself and at "
        "earlier ones; norms stand on the branches (pre-norm), with a final norm after the stack; its head guesses "
        "the next word at each position."
    )
    return Diagram(canvas, "BERT and GPT", words, highlight)


def _column(canvas: Canvas, trunk: float, model: str, n_layers: int) -> None:
    is_bert = model == "BERT"
    left = trunk - NORM_WIDE / 2
    with canvas.part("embeddings"):
        canvas.text(left, 0, "some words hidden" if is_bert else "the words so far", size=SMALL, anchor="start")
        canvas.arrow((trunk, 8), (trunk, 22))
        kinds = "word + position + segment" if is_bert else "word + position"
        embedding = canvas.box(left, 22, 164, 38, "Embeddings", note=kinds, kind="emb")
    start = 108
    with canvas.part("norm"):
        canvas.arrow((trunk, embedding.top), (trunk, start - 30 if is_bert else start), head=is_bert)
        if is_bert:
            norm = canvas.box(left, start - 30, NORM_WIDE, 22, "norm", kind="norm")
            canvas.arrow((trunk, norm.top), (trunk, start), head=False)
    sublayers = (ATTENTION if is_bert else CAUSAL, FEED_FORWARD)
    layer = draw_layer(canvas, sublayers, "post-norm" if is_bert else "pre-norm", trunk, start, wide=112)
    with canvas.part("residual"):
        frame = canvas.frame(left - 5, start - 1, left + 181, 408)
        canvas.text(frame.right - 6, frame.top - 11, f"× {n_layers} layers", size=SMALL, bold=True, anchor="end")
        canvas.arrow((trunk, layer.top), (trunk, 424), head=False)
    with canvas.part("norm"):
        top = 424
        if not is_bert:
            canvas.arrow((trunk, 410), (trunk, 424))
            top = canvas.box(left, 424, 76, 22, "final norm", kind="norm", size=SMALL).top
    with canvas.part("output"):
        head = canvas.box(left, 462, 164, 38, "Masked-word head" if is_bert else "Linear",
                          note="a score for each word", kind="head")  # fmt: skip
        canvas.arrow((trunk, top), (trunk, head.bottom))
        canvas.arrow((trunk, head.top), (trunk, head.top + 14))
        told = "the hidden words" if is_bert else "the next word"
        canvas.text(left, head.top + 22, told, size=SMALL, anchor="start")
    _mask(canvas, left, 546, model, is_bert)


def _mask(canvas: Canvas, left: float, bottom: float, model: str, both_ways: bool) -> None:
    """The model's name, and who may look at whom: a row for each of four tokens; hatched is forbidden."""
    with canvas.part("mask"):
        cell, hatches = 12, []
        for row in range(4):
            for column in range(4):
                x, y = left + column * cell, bottom + (3 - row) * cell
                allowed = both_ways or column <= row
                canvas.box(x, y, cell, cell, kind="att" if allowed else "", corner=0)
                if not allowed:
                    hatches.append((x + 2, y + 2, x + cell - 2, y + cell - 2))
        if hatches:
            canvas.lines(hatches, thin=True)
        right = left + 4 * cell + 8
        canvas.text(right, bottom + 38, model, bold=True, anchor="start")
        for n, line in enumerate(
            ("each token looks", "at all") if both_ways else ("each token looks", "back, never ahead")
        ):
            canvas.text(right, bottom + 22 - 14 * n, line, size=SMALL, anchor="start")
