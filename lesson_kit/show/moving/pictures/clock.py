"""The clock: a position as hands that turn at their own speeds, and what two positions have in common."""

import math

from torch import Tensor

from course_utils import sinusoidal_positions
from lesson_kit.show.moving.page import Moving

D_MODELS = [4, 8, 16]
LAST = 200  # position
FARTHEST = 64  # offset
STILL = [0, 5, 50]  # positions of the faces that stand still


def clock(d_model: int = 8, p: int = 0, k: int | None = None) -> Moving:
    """The sinusoidal vector of a position as the hands of a clock, each pair (sine, cosine) one hand.

    d_model: 4, 8 or 16, p: a position from 0 to 200, k: an offset from 0 to 64; where the picture begins. Without ``k``
    it begins with one position, the trails of its hands and the waves of its sines; with ``k`` with the positions p
    and p + k, the angles between their hands, and their dot product over all offsets. The reader can choose either.

    Raises:
        TypeError, ValueError: no such d_model, position or offset.
    """
    if d_model not in D_MODELS:
        raise ValueError(f"d_model must be one of {', '.join(map(str, D_MODELS))}; got {d_model!r}")
    for name, value, last in (("p", p, LAST), ("k", k, FARTHEST)):
        if name == "k" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{name} must be an int, got {value!r}")
        if not 0 <= value <= last:
            raise ValueError(f"{name} must be from 0 to {last}, got {value}")
    data = {
        "dModels": D_MODELS, "last": LAST, "farthest": FARTHEST,
        "start": {"d_model": d_model, "p": p, "k": 0 if k is None else k, "positions": 1 if k is None else 2},
    }  # fmt: skip
    return Moving("clock", data, (lambda: _one(d_model)) if k is None else (lambda: _two(d_model, p, k)))


def _hands(d_model: int, positions: list[int]) -> Tensor:
    """(position, hand, 2): sine and cosine."""
    return sinusoidal_positions(max(positions) + 1, d_model)[positions].unflatten(-1, (-1, 2))


def _reach(n_hands: int) -> list[float]:
    """How long each hand is drawn: the fastest the longest, so that all can be told apart on one face."""
    return [1 - 0.74 * i / max(3, n_hands - 1) for i in range(n_hands)]


def _face(ax, title: str) -> None:
    from matplotlib.patches import Circle

    from lesson_kit.colours import FRAME

    ax.add_patch(Circle((0, 0), 1, fill=False, edgecolor=FRAME, linewidth=1.5))
    for turn in range(12):
        x, y = math.sin(turn * math.pi / 6), math.cos(turn * math.pi / 6)
        ax.plot([0.95 * x, x], [0.95 * y, y], color=FRAME, linestyle="-", marker="", linewidth=1)
    ax.set(aspect="equal", xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), title=title)
    ax.axis("off")


def _hand(ax, tip: Tensor, reach: float, colour: str, number: int | None = None) -> None:
    from lesson_kit.colours import PAPER

    x, y = (reach * tip).tolist()
    ax.plot([0, x], [0, y], color=colour, linestyle="-", marker="", linewidth=2.2)
    ax.scatter([x], [y], s=40 if number is None else 130, color=colour, zorder=3)
    if number is not None:
        ax.annotate(str(number), (x, y), ha="center", va="center", color=PAPER, fontsize=9, weight="bold", zorder=4)


def _bars(ax, row: Tensor, colour: str) -> None:
    from lesson_kit.colours import FRAME

    ax.bar(range(len(row)), row.tolist(), color=colour, width=0.7)
    ax.axhline(0, color=FRAME, linewidth=1)
    for place, number in enumerate(row.tolist()):
        text = f"{number:.2f}".replace("-0.00", "0.00").replace("-", "−")
        ax.annotate(text, (place, -1.1), ha="center", va="top", fontsize=7 if len(row) > 8 else 8.5)
    ax.set(ylim=(-1.6, 1.05), xlim=(-0.6, len(row) - 0.4), xticks=[], yticks=[])
    ax.spines[["left", "bottom"]].set_visible(False)


def _one(d_model: int):
    """Three faces, each with the row of numbers that says where its hands point."""
    from lesson_kit.colours import QUERY
    from lesson_kit.show.figures import subplots

    hands = _hands(d_model, STILL)
    fig, axes = subplots(2, len(STILL), figsize=(9, 4.6), height_ratios=[2.6, 1])
    for (above, below), position, tips in zip(axes.T, STILL, hands, strict=True):
        _face(above, f"position {position}")
        for i, (tip, reach) in enumerate(zip(tips, _reach(len(tips)), strict=True)):
            _hand(above, tip, reach, QUERY[0], i)
        _bars(below, tips.flatten(), QUERY[0])
    axes[1, 0].set_title("sine, cosine of hand 0, of hand 1, ...", size=10)
    turns = [50 / 10000 ** (two_i / d_model) / (2 * math.pi) for two_i in range(0, d_model, 2)]
    turned = ", ".join(f"hand {i} {turn:.2f}" for i, turn in enumerate(turns))
    alt = (
        f"Three clock faces with {d_model // 2} hands each, and below each the {d_model} numbers of its position, as "
        f"bars: sine and cosine of each hand. At position 0 all hands stand at twelve. By position 50 they have "
        f"made so many turns: {turned}."
    )
    return fig, alt


def _two(d_model: int, p: int, k: int):
    """A face with the hands of p and p + k, and the dot product of the two positions for every offset."""
    from lesson_kit.colours import FRAME, KEY, OUTPUT, QUERY
    from lesson_kit.show.figures import subplots

    table = sinusoidal_positions(p + FARTHEST + 1, d_model).double()
    products = table[p:] @ table[p]
    fig, (left, right) = subplots(1, 2, figsize=(9, 3.7), width_ratios=[1, 1.6])
    _face(left, f"positions {p} (blue) and {p + k} (orange)")
    first, second = _hands(d_model, [p, p + k])
    for i, reach in enumerate(_reach(d_model // 2)):
        _hand(left, second[i], reach, KEY[0])
        _hand(left, first[i], reach, QUERY[0], i)
    right.plot(products.tolist(), color=OUTPUT[0], linestyle="-", marker="")
    right.axhline(0, color=FRAME, linewidth=1)
    right.scatter([k], [products[k].item()], s=60, color=OUTPUT[0], zorder=3)
    right.axvline(k, color=OUTPUT[0], linewidth=1, linestyle=":")
    title = f"dot product of p and p + k; k = {k}: {products[k]:.2f}"
    right.set(xlabel="offset k", title=title, xlim=(-1, FARTHEST + 1))
    alt = (
        f"Left: a clock face with {d_model // 2} hands for position {p} and as many for position {p + k}. "
        f"Right: the dot product of the two positions' vectors over the offset k from 0 to {FARTHEST}. It is "
        f"{products[0]:.2f} at 0, {products[k]:.2f} at {k}, falls and rises in waves, and is the same for every p."
    )
    return fig, alt
