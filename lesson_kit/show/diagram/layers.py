"""Encoder and decoder layers: a residual path from bottom to top, and sublayers that read from it and add to it."""

from dataclasses import dataclass

from lesson_kit.show.diagram.canvas import SIZE, SMALL, Box, Canvas
from lesson_kit.show.diagram.display import Diagram

WIRINGS = {
    "post-norm": "LayerNorm(x + Sublayer(x))",
    "pre-norm": "x + Sublayer(LayerNorm(x))",
}
SHAPE = "(batch, length, d_model)"
NORM_WIDE = 58


@dataclass(frozen=True)
class Sublayer:
    """One branch of a layer. ``reads`` are the letters at the arrows into it, ``beside`` is a remark on two lines."""

    part: str
    label: str
    kind: str
    reads: str = ""
    beside: str = ""


ATTENTION = Sublayer("attention", "Multi-head\nattention", "att", "qkv", "tokens look\nat each other")
FEED_FORWARD = Sublayer("feed-forward", "Feed-forward\nnetwork", "ffn", "", "each token\nfor itself")
MASKED = Sublayer("self-attention", "Masked multi-\nhead attention", "att", "qkv", "looks back,\nnever ahead")
CROSS = Sublayer("cross-attention", "Multi-head\ncross-attention", "att", "q", "looks at\nthe source")
ENCODER, DECODER = (ATTENTION, FEED_FORWARD), (MASKED, CROSS, FEED_FORWARD)
LAYER_PARTS = ("attention", "feed-forward", "residual", "norm")
DECODER_PARTS = ("self-attention", "cross-attention", "feed-forward", "residual", "norm", "memory")


@dataclass(frozen=True)
class Layer:
    """What ``draw_layer`` has drawn: where it begins and ends, and the box of each sublayer by its part."""

    bottom: float
    top: float
    boxes: dict[str, Box]


def draw_layer(
    canvas: Canvas, sublayers: tuple[Sublayer, ...], wiring: str, trunk: float, bottom: float, *, wide: float = 130,
    size: int = SIZE, mirrored: bool = False,
) -> Layer:  # fmt: skip
    """Draws one layer upwards from (trunk, bottom): the residual path at ``trunk``, the boxes beside it.

    ``wide`` is the width of a sublayer's box, ``size`` that of its letters; the boxes stand on the right, or on the
    left if ``mirrored``.
    """
    side = -1 if mirrored else 1
    middle = trunk + side * (NORM_WIDE / 2 + 5 + wide / 2)
    at, y, boxes = bottom, bottom, {}  # ``at``: how far the residual path is drawn
    for n, sublayer in enumerate(sublayers, 1):
        y += 10
        with canvas.part("residual"):
            canvas.dot(trunk, y)
        way = [(trunk, y), (middle, y)]
        if wiring == "pre-norm":
            y += 14
            with canvas.part("norm"):
                canvas.arrow(*way, (middle, y))
                norm = canvas.box(middle - NORM_WIDE / 2, y, NORM_WIDE, 22, f"norm{n}", kind="norm", size=size)
            y = norm.top + 8
            way = [(middle, norm.top), (middle, y)]
        with canvas.part(sublayer.part):
            box = canvas.box(middle - wide / 2, y + 20, wide, 40, sublayer.label, kind=sublayer.kind, size=size)
            _feed(canvas, way, box, sublayer.reads)
            y = box.top + 15
            canvas.arrow((middle, box.top), (middle, y), (trunk + side * 9, y))
        boxes[sublayer.part] = box
        with canvas.part("residual"):
            canvas.arrow((trunk, at), (trunk, y - 9))
            y = at = canvas.plus(trunk, y).top
        if wiring == "post-norm":
            with canvas.part("norm"):
                canvas.arrow((trunk, y), (trunk, y + 13))
                y = at = canvas.box(
                    trunk - NORM_WIDE / 2, y + 13, NORM_WIDE, 22, f"norm{n}", kind="norm", size=size
                ).top
    return Layer(bottom, at, boxes)


def _feed(canvas: Canvas, way: list[tuple[float, float]], box: Box, reads: str) -> None:
    """The last piece of the way into a sublayer's box: an arrow for each letter of ``reads``, or one without."""
    end, offsets = way[-1], {3: (-0.3, 0, 0.3), 1: (0,)}[max(len(reads), 1)]
    if reads:
        tips = [end[0] + off * box.width for off in offsets]
        if len(way) == 2 and way[0][0] == end[0]:  # from a norm below: upwards, then to both sides
            canvas.arrow(*way, head=False)
            canvas.arrow((tips[0], end[1]), (tips[-1], end[1]), head=False)
        else:
            canvas.arrow(way[0], (max(tips, key=lambda tip: abs(tip - way[0][0])), end[1]), head=False)
        for letter, tip in zip(reads, tips, strict=True):
            canvas.arrow((tip, end[1]), (tip, box.bottom), kind=letter)
            canvas.text(tip + 8, box.bottom - 10, letter, size=SMALL, kind=letter, bold=True)
    else:
        canvas.arrow(*way, (end[0], box.bottom))


def _beside(canvas: Canvas, layer: Layer, sublayers: tuple[Sublayer, ...]) -> None:
    """The remarks, to the right of the boxes."""
    for sublayer in sublayers:
        box = layer.boxes[sublayer.part]
        with canvas.part(sublayer.part):
            for line, y in zip(sublayer.beside.split("\n"), (box.y + 7, box.y - 7), strict=True):
                canvas.text(box.right + 10, y, line, size=SMALL, anchor="start")


def _in_and_out(canvas: Canvas, trunk: float, layer: Layer, into: str = "x", out: str = "y") -> None:
    """The input's name below, the output's above, with the shape."""
    with canvas.part("residual"):
        canvas.arrow((trunk, layer.top), (trunk, layer.top + 22))
        for name, y in ((into, layer.bottom - 10), (out, layer.top + 33)):
            canvas.text(trunk, y, name, bold=True)
            canvas.text(trunk + 12, y, SHAPE, size=SMALL, anchor="start", code=True)


def _expect_wirings(wirings: tuple[str, ...]) -> tuple[str, ...]:
    wirings = wirings or ("post-norm",)
    if len(wirings) > 2 or any(wiring not in WIRINGS for wiring in wirings):
        raise ValueError(f"wirings must be 'post-norm', 'pre-norm' or both; got {', '.join(map(repr, wirings))}")
    return wirings


def _say_wirings(wirings: tuple[str, ...]) -> str:
    said = {
        "post-norm": "In post-norm each norm stands on the path, after the addition: LayerNorm(x + Sublayer(x)).",
        "pre-norm": "In pre-norm each norm stands on the branch, before the sublayer, and nothing stands on the path: "
        "x + Sublayer(LayerNorm(x)).",
    }
    return " ".join(said[wiring] for wiring in wirings)


def encoder_layer(*wirings: str, highlight=None) -> Diagram:
    """One encoder layer: ``encoder_layer()`` is post-norm, ``encoder_layer("post-norm", "pre-norm")`` shows both.

    highlight: a part or a list of them; the rest is faded. Parts: attention, feed-forward, residual, norm.
    Source of the wirings: Xiong et al. 2020, figure 1.

    Raises:
        ValueError: a wiring, or a part, is unknown.
    """
    wirings, canvas = _expect_wirings(wirings), Canvas(*LAYER_PARTS)
    for column, wiring in enumerate(wirings):
        trunk = 30 + 184 * column
        layer = draw_layer(canvas, ENCODER, wiring, trunk, 0, wide=130 if len(wirings) == 1 else 114)
        if len(wirings) == 1:
            _beside(canvas, layer, ENCODER)
            _in_and_out(canvas, trunk, layer)
        else:
            _ends(canvas, trunk, layer, wiring)
    words = (
        "From bottom to top: the input x, (batch, length, d_model), goes straight up the residual path. On the way "
        "two sublayers read from it, and what they give is added to it: first multi-head attention, where tokens look "
        "at each other, then the feed-forward network, which takes each token for itself. The output has the input's "
        f"shape. {_say_wirings(wirings)}"
    )
    return Diagram(canvas, f"One encoder layer, {' and '.join(wirings)}", words, highlight)


def _ends(canvas: Canvas, trunk: float, layer: Layer, wiring: str) -> None:
    """Of one wiring beside another: x below, and above its name and its formula."""
    top = 310
    with canvas.part("residual"):
        canvas.text(trunk, layer.bottom - 10, "x", bold=True)
        canvas.arrow((trunk, layer.top), (trunk, top))
    canvas.text(trunk - 25, top + 32, wiring.capitalize(), anchor="start", bold=True)
    canvas.text(trunk - 25, top + 15, WIRINGS[wiring], size=SMALL, anchor="start")


def decoder_layer(wiring: str = "post-norm", *, highlight=None) -> Diagram:
    """One decoder layer: masked self-attention, attention to the encoder's output, the feed-forward network.

    highlight: a part or a list of them; the rest is faded. Parts: self-attention, cross-attention, feed-forward,
    residual, norm, memory. Source: Vaswani et al. 2017, figure 1.

    Raises:
        ValueError: the wiring, or a part, is unknown.
    """
    (wiring,), canvas = _expect_wirings((wiring,)), Canvas(*DECODER_PARTS)
    layer = draw_layer(canvas, DECODER, wiring, 30, 0)
    _beside(canvas, layer, DECODER[::2])
    _in_and_out(canvas, 30, layer)
    box = layer.boxes["cross-attention"]
    with canvas.part("memory"):
        memory = canvas.box(box.right + 42, box.y - 27, 92, 54, "Encoder's\noutput", note="memory", kind="o")
        for letter, y in (("k", box.y + 11), ("v", box.y - 7)):
            canvas.arrow((memory.left, y), (box.right, y), kind=letter)
            canvas.text(box.right + 22, y + 7, letter, size=SMALL, kind=letter, bold=True)
    words = (
        "From bottom to top: the input x goes straight up the residual path. Three sublayers read from it and are "
        "added to it: masked self-attention, where each token looks at itself and at earlier ones, never ahead; "
        "cross-attention, whose queries are made of x and whose keys and values are made of the memory, the encoder's "
        "output, which enters from the right; and the feed-forward network, which takes each token for itself. "
        f"{_say_wirings((wiring,))}"
    )
    return Diagram(canvas, f"One decoder layer, {wiring}", words, highlight)
