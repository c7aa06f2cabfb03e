"""Line plots whose lines carry their names at their ends: no legend to look up."""

from collections.abc import Mapping

import numpy as np
from matplotlib.colors import to_hex
from matplotlib.ticker import NullLocator

from lesson_kit.colours import EDGE, PAPER, darkened
from lesson_kit.show.figures import figure, subplots
from lesson_kit.show.names import printed

LINE_HEIGHT = 1.25  # of a label, in letters' heights


def lines(curves: Mapping, x=None, *, alt: str, levels: Mapping | None = None, figsize=(7, 3.8), **axes) -> None:
    """Displays a line for each of ``curves``, with its name at its end.

    curves: for each name its values, (n,). x: (n,), what all of them are drawn against; by default 0, 1, 2, ...
    alt: the text for whoever cannot see the figure. levels: for each name the height of a thin dotted line across.
    axes: what ``Axes.set`` takes: xlabel, ylabel, title, xscale, xticks, ...; ticks that are given stand alone.

    Raises:
        TypeError: ``curves`` is no dict, or holds something other than numbers.
        ValueError: no curves, another number of values than ``x`` has, or no finite value; or as ``figure``.
    """
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves must be a dict of names and values, got {type(curves).__name__}")
    if not curves:
        raise ValueError("curves is empty; expected at least one name with its values")
    drawn = {name: _numbers(f"curves[{name!r}]", values) for name, values in curves.items()}
    places = np.arange(max(map(len, drawn.values()))) if x is None else _numbers("x", x)
    for name, values in drawn.items():
        if x is not None and len(values) != len(places):
            raise ValueError(f"curves[{name!r}] has {len(values)} values, but x has {len(places)}")
        if not np.isfinite(values).any():
            raise ValueError(f"curves[{name!r}] has no finite value to draw")
    fig, ax = subplots(figsize=figsize)
    for name, values in drawn.items():
        few = {"markevery": 1} if len(values) <= 25 else {}
        ax.plot(places[: len(values)], values, label=printed(name, 40), **few)
    for name, height in (levels or {}).items():
        ax.axhline(height, label=printed(name, 40), color=EDGE, linestyle=":", linewidth=1.3, marker="")
    ax.set(**axes)
    for axis, ticks in ((ax.xaxis, axes.get("xticks")), (ax.yaxis, axes.get("yticks"))):
        if ticks is not None:
            axis.set_minor_locator(NullLocator())
            axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    if len(ax.lines) > 1:
        label_lines(ax)
    figure(fig, alt)


def label_lines(ax) -> None:
    """Writes each line's label at its last point within the axes, in its colour, none over another.

    For the lines that have a label. Any legend is taken away. Call it when all is drawn and the axes are scaled.
    """
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    ax.figure.draw_without_rendering()  # the axes get their place
    size, ends = 10, []
    for line in ax.lines:
        x, y = (np.ma.filled(np.ma.asarray(part, float), np.nan) for part in line.get_data())
        places = line.get_transform().transform(np.column_stack([x, y]))
        left, bottom, right, top = ax.bbox.extents + [-1, -1, 1, 1]
        is_seen = (left <= places[:, 0]) & (places[:, 0] <= right) & (bottom <= places[:, 1]) & (places[:, 1] <= top)
        seen = np.flatnonzero(is_seen)
        if not line.get_label().startswith("_") and len(seen):
            end = float(x[seen[-1]]), float(y[seen[-1]])
            ends.append((line.get_transform().transform(end)[1], end, line))
    letter = size * ax.figure.dpi / 72
    step = max((line.get_label().count("\n") for *_, line in ends), default=0) + LINE_HEIGHT
    heights = _apart([height for height, *_ in ends], step * letter, lowest=ax.bbox.y0 + 0.8 * letter)
    for (height, end, line), shifted in zip(ends, heights, strict=True):
        ax.annotate(
            line.get_label(),
            end,
            xycoords=line.get_transform(),
            xytext=(9, (shifted - height) * 72 / ax.figure.dpi),
            textcoords="offset points",
            va="center",
            size=size,
            color=darkened(to_hex(line.get_color()), PAPER, 4.5),
            annotation_clip=False,
            parse_math=False,
        )


def _apart(heights: list[float], least: float, lowest: float) -> list[float]:
    """The heights in their order, ``least`` apart and none below ``lowest``; else the mean of each crowd stays."""
    crowds = []  # [indices, where the lowest of them stands]
    for i in np.argsort(heights, kind="stable"):
        crowds.append([[i], max(heights[i], lowest)])
        while len(crowds) > 1 and crowds[-2][1] + len(crowds[-2][0]) * least > crowds[-1][1]:
            (upper, _), (lower, _) = crowds.pop(), crowds.pop()
            together = lower + upper
            middle = sum(heights[k] for k in together) / len(together)
            crowds.append([together, max(middle - (len(together) - 1) / 2 * least, lowest)])
    moved = [0.0] * len(heights)
    for members, bottom in crowds:
        for place, i in enumerate(members):
            moved[i] = bottom + place * least
    return moved


def _numbers(name: str, values) -> np.ndarray:
    try:
        numbers = np.asarray([float(value) for value in values])
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must hold real numbers, (n,); got {values!r}") from None
    if not len(numbers):
        raise ValueError(f"{name} is empty; expected numbers")
    return numbers
