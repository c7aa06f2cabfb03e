"""Heat maps: the darker, the larger; with numbers while there is room, and always with a text."""

import math
from dataclasses import dataclass, fields, replace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from lesson_kit.colours import BETWEEN_CELLS, FRAME, INK, MISSING, PAPER, contrast
from lesson_kit.show.figures import RC_PARAMS, figure, subplots
from lesson_kit.show.numbers import as_floats, as_rows, number

# White to dark blue: lightness falls all the way, so it reads in grey. Grey stands for NaN and infinities.
COLOUR_MAP = plt.get_cmap("Blues").with_extremes(bad=MISSING)
MOST_NUMBERS = 100  # in one map
MOST_NUMBERS_IN_ALL = 200
MOST_LABELS = 40


@dataclass(frozen=True, kw_only=True)
class HeatMapStyle:
    """The keywords that every function here takes, as ``heat_map`` describes them."""

    alt: str | None = None
    digits: int = 2
    row_label: str = "query (looks)"
    column_label: str = "key (is looked at)"
    vmin: float | None = None
    vmax: float | None = None


STYLE_NAMES = [field.name for field in fields(HeatMapStyle)]


def heat_map(values, rows, columns, title=None, **style) -> None:
    """Displays one matrix as a heat map, with its numbers while they are at most 100.

    values: (rows, columns), numbers or booleans; booleans are drawn as "may" and "·".
    rows, columns: a word for each.

    By keyword:
    alt: the text for whoever cannot see the picture; by default made from the values.
    digits: decimals of each number, by default 2.
    row_label, column_label: what stands at the axes; by default "query (looks)" and "key (is looked at)".
    vmin, vmax: where the colours begin and end; by default at 0 (or the smallest negative value) and the largest.

    Raises:
        TypeError, ValueError: ``values`` is not a matrix of numbers, its names do not fit, vmin >= vmax, or a keyword
            is not one of these.
    """
    heat_maps([values], [title], rows, columns, **style)


def heat_maps(matrices, titles, rows, columns, **style) -> None:
    """Displays matrices of one shape side by side, on one colour scale, with numbers while they are at most 200 in all.

    The rest, keywords too, is as in ``heat_map``.
    """
    figure(*draw_heat_maps(matrices, titles, rows, columns, **style))


def draw_heat_maps(matrices, titles, rows, columns, **style) -> tuple[Figure, str]:
    """The figure that ``heat_maps`` displays, and its alternative text."""
    style = _expect_style(style)
    if len(matrices) != len(titles) or len(titles) == 0:
        raise ValueError(f"titles must name each matrix: got {len(titles)} titles for {len(matrices)} matrices")
    tables = [as_rows(values, rows, columns) for values in matrices]
    masks = all(isinstance(cell, bool) for table in tables for row in table for cell in row)
    arrays = np.array([as_floats(table) for table in tables])
    vmin, vmax = _ends(arrays, masks, style)
    rows, columns = [str(name) for name in rows], [str(name) for name in columns]
    texts = np.vectorize(lambda x: _word(x, masks, style.digits), otypes=[object])(arrays)
    alt = style.alt or _describe(arrays, texts, titles, rows, columns, style, "open" if masks else "largest")
    with plt.rc_context(RC_PARAMS):
        return _draw(arrays, texts, titles, rows, columns, replace(style, vmin=vmin, vmax=vmax)), alt


def _expect_style(keywords: dict) -> HeatMapStyle:
    for name in keywords:
        if name not in STYLE_NAMES:
            known = ", ".join(STYLE_NAMES)
            raise TypeError(f"got an unknown keyword {name!r}; expected title (of several: titles), {known}")
    return HeatMapStyle(**keywords)


def _ends(arrays, masks: bool, style: HeatMapStyle) -> tuple[float, float]:
    """Where the colours begin and end: as given, else by the values."""
    finite = np.append(arrays[np.isfinite(arrays)], 0)
    low, high = finite.min(), 1.5 if masks else finite.max()
    vmin = low if style.vmin is None else style.vmin
    vmax = (high if high > vmin else vmin + 1) if style.vmax is None else style.vmax
    if not vmin < vmax:
        raise ValueError(f"vmin must be less than vmax, got {vmin} and {vmax}")
    return vmin, vmax


def _word(value: float, is_mask: bool, digits: int) -> str:
    """A cell's text. What is exactly 0 looks different from what is rounded to it: a mask hides exactly."""
    if is_mask:
        return "may" if value else "·"
    return "0" if value == 0 else number(value, digits)


def _draw(arrays, texts, titles, rows, columns, style: HeatMapStyle) -> Figure:
    with_numbers = arrays[0].size <= MOST_NUMBERS and arrays.size <= MOST_NUMBERS_IN_ALL
    height = width = max((4.2 if len(arrays) > 2 else 6) / max(26, len(rows), len(columns)), 0.05)  # of a cell, inches
    if with_numbers:
        height, width = 0.5, max(0.6, 0.1 * max(map(len, texts.flat)))
    across = min(len(arrays), 4, max(1, int(12 / (len(columns) * width + 0.2))))
    down = math.ceil(len(arrays) / across)
    size = across * (len(columns) * width + 0.2) + 1.5, down * (len(rows) * height + 0.4) + 1
    fig, axes = subplots(down, across, squeeze=False, figsize=size, layout="compressed")
    every = math.ceil(max(len(rows), len(columns)) / MOST_LABELS)
    slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if with_numbers else {"rotation": 90}
    fits = max(map(len, columns)) * 0.1 <= width * every
    text_style = {"size": 10 if with_numbers else 9 if len(arrays) < 3 else 8, "parse_math": False}
    for k, ax in enumerate(axes.flat):
        if k >= len(arrays):
            ax.axis("off")
            continue
        image = ax.imshow(arrays[k], COLOUR_MAP, vmin=style.vmin, vmax=style.vmax, aspect=height / width)
        ax.set_title(titles[k])
        ax.set_xticks([])
        ax.set_yticks([])
        if k + across >= len(arrays):
            ax.set_xticks(range(0, len(columns), every), columns[::every], **text_style, **({} if fits else slanted))
            ax.set_xlabel(style.column_label)
        if k % across == 0:
            ax.set_yticks(range(0, len(rows), every), rows[::every], **text_style)
            ax.set_ylabel(style.row_label)
        ax.grid(False)
        ax.hlines(np.arange(1, len(rows)) - 0.5, -0.5, len(columns) - 0.5, color=BETWEEN_CELLS, linewidth=0.5)
        ax.vlines(np.arange(1, len(columns)) - 0.5, -0.5, len(rows) - 0.5, color=BETWEEN_CELLS, linewidth=0.5)
        ax.tick_params(length=0)
        ax.spines[:].set(visible=True, color=FRAME)
        for (i, j), text in np.ndenumerate(texts[k]):
            if with_numbers:
                colour = ink(image.cmap(image.norm(arrays[k, i, j])))
                ax.text(j, i, text, ha="center", va="center", color=colour, size=16 if text == "·" else 10)
            elif not np.isfinite(arrays[k, i, j]):
                ax.text(j, i, "x", ha="center", va="center", color=INK, size=7)
    if not with_numbers:
        fig.colorbar(image, ax=axes, shrink=1 / down, anchor=(0, 1), aspect=25, pad=0.02)
    return fig


def ink(colour) -> str:
    """Black or white, whichever contrasts more with ``colour``; always at least 4.5 : 1."""
    return max(PAPER, INK, key=lambda writing: contrast(writing, colour))


def _describe(arrays, texts, titles, rows, columns, style: HeatMapStyle, what: str) -> str:
    """What a sighted reader takes from the picture first: what it is, and where its largest values are."""
    few = len(rows) <= 12 and len(arrays) * len(rows) <= 24
    kind = "Heat map" if len(arrays) == 1 else f"{len(arrays)} heat maps"
    parts = [f"{kind}, {len(rows)} by {len(columns)}; rows: {style.row_label}, columns: {style.column_label}."]
    for array, text, title in zip(arrays, texts, titles, strict=True):
        shown = np.where(np.isfinite(array), array, -np.inf)
        finds = []
        for i in range(len(rows)) if few else [shown.max(axis=1).argmax()]:
            largest = text[i, shown[i].argmax()]
            alike = [columns[j] for j in range(len(columns)) if text[i, j] == largest]
            found = largest != "·" and np.isfinite(shown[i].max())
            where = ", ".join(f'"{name}"' for name in alike) if len(alike) <= 12 else f"{len(alike)} columns"
            amount = "" if largest == "may" else f" ({largest})"
            finds.append(f'"{rows[i]}": {where}{amount}' if found else f'"{rows[i]}": none')
        odd = [("not a number", np.isnan(array)), ("minus infinity", array == -np.inf), ("infinity", array == np.inf)]
        finds += [f"{hits.sum()} of {array.size} values: {name}" for name, hits in odd if hits.any()]
        where = f"{what} {'in each row' if few else 'of all'}: "
        parts.append(f"{'' if title is None else title + ', '}{where}{'; '.join(finds)}.")
    return " ".join(parts)
