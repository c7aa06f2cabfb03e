"""Several heads: split, attend, merge, W_O."""

from lesson_kit.show.diagram.canvas import SMALL, Box, Canvas
from lesson_kit.show.diagram.display import Diagram

PARTS = ("x", "projections", "split", "attention", "merge", "w_o", "output")
WIDE, BETWEEN, STRIP = 102, 15, 20  # of each of three columns, between them; the height of a strip of features
MOST_HEADS = 4


def multi_head(n_heads: int = 3, *, highlight=None) -> Diagram:
    """Multi-head attention: projections, split, attention in each head, merge, W_O, with the shapes of the code.

    n_heads: 2, 3 or 4, so that each can be seen. highlight: a part or a list of them; the rest is faded. Parts: x,
    projections, split, attention, merge, w_o, output. Source: Vaswani et al. 2017, section 3.2.2 and figure 2.

    Raises:
        TypeError, ValueError: ``n_heads`` is not 2, 3 or 4, or a part is unknown.
    """
    if isinstance(n_heads, bool) or not isinstance(n_heads, int):
        raise TypeError(f"n_heads must be an int, got {type(n_heads).__name__}")
    if not 2 <= n_heads <= MOST_HEADS:
        raise ValueError(f"n_heads must lie in 2..{MOST_HEADS}, so that each head can be seen; got {n_heads}")
    canvas = Canvas(*PARTS)
    whole = 3 * WIDE + 2 * BETWEEN
    middle = whole / 2
    with canvas.part("x"):
        x = _strip(canvas, middle, 0, 1, "", caption="x")
        canvas.arrow((middle, x.top), (middle, x.top + 12), head=False)
        ends = [WIDE / 2 + i * (WIDE + BETWEEN) for i in range(3)]
        canvas.arrow((ends[0], x.top + 12), (ends[2], x.top + 12), head=False)
    strips = []
    for letter, end in zip("qkv", ends, strict=True):
        with canvas.part("projections"):
            box = canvas.box(end - 30, x.top + 26, 60, 24, f"W_{letter.upper()}", kind=letter)
            canvas.arrow((end, x.top + 12), (end, box.bottom), kind=letter)
            strips.append(_strip(canvas, end, box.top + 14, n_heads, letter))
            canvas.arrow((end, box.top), (end, strips[-1].bottom), kind=letter)
    heads = _split(canvas, strips, n_heads, whole)
    merged = _merge(canvas, heads, n_heads, middle)
    with canvas.part("w_o"):
        box = canvas.box(middle - 30, merged.top + 14, 60, 24, "W_O", kind="o")
        canvas.arrow((middle, merged.top), (middle, box.bottom), kind="o")
    with canvas.part("output"):
        out = _strip(canvas, middle, box.top + 14, 1, "", caption="output")
        canvas.arrow((middle, box.top), (middle, out.bottom), kind="o")
    words = (
        "From bottom to top: x, (batch, length, d_model), is multiplied by W_Q, W_K and W_V; the results keep its "
        f"shape. Split cuts their features, not their tokens, into {n_heads} heads, (batch, heads, length, d_head). "
        "Each head attends by itself, with softmax(q kᵀ / √d_head) v, and sees all tokens. Merge puts the heads' "
        "results side by side, (batch, length, d_model) again, and W_O mixes them into the output."
    )
    return Diagram(canvas, "Multi-head attention: split, attend, merge, W_O", words, highlight)


def _strip(canvas: Canvas, middle: float, bottom: float, n: int, kind: str, *, caption: str = "", wide=WIDE) -> Box:
    """A row of features: in one piece with its name and shape, or in ``n`` pieces with their heads' numbers."""
    each = wide / n
    for i in range(n):
        label = "" if n == 1 else str(i)
        canvas.box(middle - wide / 2 + i * each, bottom, each, STRIP, kind=kind, corner=0)
        if label:
            canvas.text(middle - wide / 2 + (i + 0.5) * each, bottom + STRIP / 2, label, size=SMALL)
    strip = Box(middle - wide / 2, bottom, wide, STRIP)
    if caption:
        canvas.text(strip.left - 8, strip.y, caption, bold=True, anchor="end")
        canvas.text(strip.right + 8, strip.y + 7, "(batch, length,", size=SMALL, anchor="start", code=True)
        canvas.text(strip.right + 8, strip.y - 7, "d_model)", size=SMALL, anchor="start", code=True)
    return strip


def _split(canvas: Canvas, strips: list[Box], n_heads: int, whole: float) -> list[Box]:
    """From each strip one piece to each head."""
    gap = 10
    wide = (whole - gap * (n_heads - 1)) / n_heads
    bottom = strips[0].top + 66
    with canvas.part("split"):
        canvas.text(whole + 4, strips[0].top + 33, "split", bold=True, anchor="start")
        for j, (letter, strip) in enumerate(zip("qkv", strips, strict=True)):
            each = strip.width / n_heads
            for i in range(n_heads):
                tip = i * (wide + gap) + wide * (0.25 + 0.25 * j)
                canvas.slanted((strip.left + (i + 0.5) * each, strip.top), (tip, bottom), kind=letter)
    heads = []
    with canvas.part("attention"):
        for i in range(n_heads):
            heads.append(canvas.box(i * (wide + gap), bottom, wide, 46, f"head {i}", note="attention", kind="att"))
    return heads


def _merge(canvas: Canvas, heads: list[Box], n_heads: int, middle: float) -> Box:
    bottom = heads[0].top + 58
    with canvas.part("merge"):
        merged = _strip(canvas, middle, bottom, n_heads, "att", wide=WIDE * 1.5)
        each = merged.width / n_heads
        for i, head in enumerate(heads):
            canvas.slanted((head.x, head.top), (merged.left + (i + 0.5) * each, bottom), kind="att")
        canvas.text(middle, heads[0].top + 13, "(batch, heads, length, d_head)", size=SMALL, code=True, over=True)
        canvas.text(merged.left - 8, merged.y, "merge", bold=True, anchor="end")
        canvas.text(merged.right + 8, merged.y + 7, "(batch, length,", size=SMALL, anchor="start", code=True)
        canvas.text(merged.right + 8, merged.y - 7, "d_model)", size=SMALL, anchor="start", code=True)
    return merged
