"""Heat maps: the darker, the larger; with numbers while there is room, and always with a text."""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from lesson_kit.colours import BETWEEN_CELLS, FRAME, INK, PAPER
from lesson_kit.show.figures import RC_PARAMS, figure, subplots
from lesson_kit.show.marks import draw_outline, expect_mask, hatch, outline_in_words, outlined_cells
from lesson_kit.show.names import printed
from lesson_kit.show.numbers import as_floats, as_rows, number
from lesson_kit.show.scales import Scale, ink, scale_of

MOST_NUMBERS = 100  # in one map
MOST_NUMBERS_IN_ALL = 200
MOST_LABELS = 40
LABEL = 0.16  # inches: what a turned label needs
ROOM = 9.6  # inches across, for all maps
SIDE_BY_SIDE = 3  # maps; they are compared, so their numbers go before they stand below each other


@dataclass(frozen=True)
class HeatMaps:
    """Matrices of one shape, to be drawn side by side on one scale. Every parameter of the picture stands here, once.

    By keyword:
    mask: booleans, True = may attend; the cells that it hides are hatched. (rows, columns), or what broadcasts to it,
        is for every map; a list has one for each map, or None.
    outline: what the text speaks of: a row, a cell (row, column), a column (None, column), or a list of these, each by
        its position, or by its name if that is unique. A dict gives each title its own.
    alt: the text for whoever cannot see the picture; by default made from the values.
    digits: decimals of each number, by default 2.
    below: small words under the number of each cell, (rows, columns) strings.
    row_label, column_label: what stands at the axes; by default "query (looks)" and "key (is looked at)".
    vmin, vmax: where the colours begin and end; by default 0 and 1, for values below 0 as far on both sides of a
        white 0, and for values beyond 1 as far as they go. What is not from 0 to 1 gets a colour bar that says so.

    Raises:
        TypeError: what should be numbers, booleans or names is not.
        ValueError: a matrix, a mask or names don't fit the others, there is no such row or column, or vmin >= vmax.
    """

    matrices: Sequence
    titles: Sequence
    rows: Sequence
    columns: Sequence
    _: KW_ONLY
    mask: object = None
    outline: object = None
    alt: str | None = None
    digits: int = 2
    below: Sequence | None = None
    row_label: str = "query (looks)"
    column_label: str = "key (is looked at)"
    vmin: float | None = None
    vmax: float | None = None

    @cached_property
    def tables(self) -> list[list[list]]:
        if len(self.matrices) != len(self.titles) or len(self.titles) == 0:
            raise ValueError(
                f"titles must name each matrix: got {len(self.titles)} titles for {len(self.matrices)} matrices"
            )
        return [as_rows(values, self.rows, self.columns) for values in self.matrices]

    @cached_property
    def values(self) -> np.ndarray:
        """(maps, rows, columns)."""
        return np.array([as_floats(table) for table in self.tables])

    @cached_property
    def are_masks(self) -> bool:
        return all(isinstance(cell, bool) for table in self.tables for row in table for cell in row)

    @cached_property
    def open(self) -> np.ndarray:
        """(maps, rows, columns): where no mask hides."""
        if self.are_masks:
            return self.values.astype(bool)
        shape = self.values.shape[1:]
        if self.mask is None:
            masks = [None] * len(self.values)
        elif isinstance(self.mask, (list, tuple)) or np.ndim(self.mask) == 3:
            masks = list(self.mask)
        else:
            masks = [self.mask] * len(self.values)
        if len(masks) != len(self.values):
            raise ValueError(f"mask must be one, or one for each of {len(self.values)} maps; got {len(masks)}")
        return np.array([np.ones(shape, bool) if mask is None else expect_mask(mask, shape) for mask in masks])

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """Of rows and columns, as they are printed."""
        return [printed(name) for name in self.rows], [printed(name) for name in self.columns]

    @cached_property
    def outlined(self) -> list[list[tuple]]:
        """For each map the cells, rows and columns to frame."""
        names = [str(name) for name in self.rows], [str(name) for name in self.columns]
        if not isinstance(self.outline, dict):
            return [outlined_cells(self.outline, *names)] * len(self.values)
        if unknown := set(self.outline) - set(self.titles):
            raise ValueError(
                f"outline must give titles their cells; there is no {unknown.pop()!r} in {list(self.titles)}"
            )
        return [outlined_cells(self.outline.get(title), *names) for title in self.titles]

    @cached_property
    def scale(self) -> Scale:
        # "may" in a middle blue: black on it is easier to read than white on the darkest
        return Scale(0, 1.5) if self.are_masks else scale_of(self.values, self.vmin, self.vmax)

    @cached_property
    def texts(self) -> np.ndarray:
        """What stands in each cell. Exactly 0 looks different from what is rounded to it; hidden zeros are hatched."""

        def text(value: float, is_open: bool) -> str:
            if self.are_masks:
                return "may" if value else ""
            return number(value, self.digits) if value else "0" if is_open else ""

        return np.vectorize(text, otypes=[object])(self.values, self.open)

    def draw(self) -> tuple[Figure, str]:
        """The figure, and its alternative text."""
        alt = self.in_words() if self.alt is None else self.alt
        with plt.rc_context(RC_PARAMS):
            return self._figure(), alt

    def _figure(self) -> Figure:
        n, n_rows, n_columns = self.values.shape
        height, width, across, with_numbers = self._layout()
        down = math.ceil(n / across)
        across = math.ceil(n / down)
        size = across * (n_columns * width + 0.3) + 1.5, down * (n_rows * height + 0.5) + 0.8
        fig, axes = subplots(down, across, squeeze=False, figsize=size, layout="compressed")
        for k, ax in enumerate(axes.flat):
            if k >= n:
                ax.axis("off")
                continue
            image = ax.imshow(self.values[k], aspect=height / width)
            image.set(cmap=self.scale.colours.cmap, norm=self.scale.colours.norm)
            title = fill(printed(self.titles[k] or "", 100), max(12, int(n_columns * width / 0.085)))
            ax.set_title(title, parse_math=False)
            self._name_axes(ax, width, with_numbers, left=k % across == 0, bottom=k + across >= n)
            self._draw_cells(ax, k, with_numbers)
            draw_outline(ax, self.outlined[k], n_rows, n_columns)
        if not self.are_masks and not (with_numbers and self.scale.is_of_weights):
            place = {"shrink": max(1 / down, 0.3), "anchor": (0, 1)}
            self.scale.draw_bar(fig, axes, self.values[self.open], **place)
        return fig

    def _layout(self) -> tuple[float, float, int, bool]:
        """Of a cell, in inches: height, width; how many maps stand across; whether there is room for numbers."""
        n, n_rows, n_columns = self.values.shape
        if self.values[0].size <= MOST_NUMBERS and self.values.size <= MOST_NUMBERS_IN_ALL:
            width = max(0.46, 0.12 + 0.09 * max(map(len, self.texts.flat)))
            if self.below is not None:
                width = max(width, 0.12 + 0.062 * max(len(word) for row in self.below for word in row))
            across = min(n, 4, max(1, int(ROOM / (n_columns * width + 0.3))))
            if across == n or n > SIDE_BY_SIDE:
                return 0.5, max(width, min(0.6, (ROOM / across - 0.3) / n_columns)), across, True
        room = {1: 6, 2: 3.8, 3: 2.8}.get(n, 2.05 if n <= 8 else 1.65)  # inches, for each map
        size = max(n_rows, n_columns)
        side = min(room / size, 0.36)
        if n not in (2, SIDE_BY_SIDE):  # there is room above and below for what the labels need
            side = max(side, LABEL / math.ceil(size / MOST_LABELS))
        return side, side, min(n, 4, max(1, int(ROOM / (n_columns * side + 0.3)))), False

    def _name_axes(self, ax, width: float, with_numbers: bool, left: bool, bottom: bool) -> None:
        rows, columns = self.names
        every = math.ceil(0.99 * LABEL / width)
        style = {"size": 10 if with_numbers else 9 if len(self.values) < 3 else 8, "parse_math": False}
        slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if with_numbers else {"rotation": 90}
        fits = max(map(len, columns)) * 0.1 <= width * every
        ax.set(xticks=[], yticks=[])
        if bottom:
            ax.set_xticks(range(0, len(columns), every), columns[::every], **style, **({} if fits else slanted))
            ax.set_xlabel(self.column_label)
        if left:
            ax.set_yticks(range(0, len(rows), every), rows[::every], **style)
            ax.set_ylabel(self.row_label)

    def _draw_cells(self, ax, k: int, with_numbers: bool) -> None:
        n_rows, n_columns = self.values[k].shape
        ax.grid(False)
        if max(n_rows, n_columns) <= MOST_LABELS:
            ax.hlines(np.arange(1, n_rows) - 0.5, -0.5, n_columns - 0.5, color=BETWEEN_CELLS, linewidth=0.5)
            ax.vlines(np.arange(1, n_columns) - 0.5, -0.5, n_rows - 0.5, color=BETWEEN_CELLS, linewidth=0.5)
        ax.tick_params(length=0)
        ax.spines[:].set(visible=True, color=FRAME)
        blank = ~np.isfinite(self.values[k]) | (self.values[k] == 0)
        hatch(ax, ~self.open[k] & blank, facecolor=PAPER)
        hatch(ax, ~self.open[k] & ~blank, facecolor="none")  # a weight where none may be
        for (i, j), text in np.ndenumerate(self.texts[k]):
            value, is_open = self.values[k, i, j], self.open[k, i, j]
            if with_numbers:
                ground = self.scale.colour(value) if is_open else PAPER
                style = {"ha": "center", "va": "center", "color": ink(ground), "size": 10}
                if text and not is_open:
                    style["bbox"] = {"boxstyle": "square,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
                ax.text(j, i - (0.14 if self.below is not None else 0), text, **style)
                if self.below is not None:
                    ax.text(j, i + 0.24, self.below[i][j], **(style | {"size": 7}))
            elif is_open and not np.isfinite(value):
                ax.text(j, i, "x", ha="center", va="center", color=INK, size=7)

    def in_words(self) -> str:
        """What a sighted reader takes from the picture first: what it is, and where its largest values are."""
        rows, columns = self.names
        kind = "Heat map" if len(self.values) == 1 else f"{len(self.values)} heat maps"
        parts = [f"{kind}, {len(rows)} by {len(columns)}; rows: {self.row_label}, columns: {self.column_label}."]
        if not (self.are_masks or self.scale.is_of_weights):
            ends = number(self.scale.low, self.digits), number(self.scale.high, self.digits)
            parts.append(f"Colours from {ends[0]} to {ends[1]}{', white is 0' if self.scale.low < 0 else ''}.")
        for k, title in enumerate(self.titles):
            parts.append(f"{'' if title is None else printed(title, 100) + ', '}{self._finds(k)}.")
            if framed := outline_in_words(self.outlined[k], rows, columns):
                parts.append(f"Framed: {framed}.")
        return " ".join(parts)

    def _finds(self, k: int) -> str:
        (rows, columns), array, text = self.names, self.values[k], self.texts[k]
        few = len(rows) <= 12 and len(self.values) * len(rows) <= 24
        what = "open" if self.are_masks else "largest"
        shown = np.where(np.isfinite(array), array, -np.inf)
        finds = []
        for i in range(len(rows)) if few else [shown.max(axis=1).argmax()]:
            largest = text[i, shown[i].argmax()]
            alike = [columns[j] for j in range(len(columns)) if text[i, j] == largest]
            found = largest and np.isfinite(shown[i].max())
            where = ", ".join(f'"{name}"' for name in alike) if len(alike) <= 12 else f"{len(alike)} columns"
            amount = "" if largest == "may" else f" ({largest})"
            finds.append(f'"{rows[i]}": {where}{amount}' if found else f'"{rows[i]}": none')
        odd = [("not a number", np.isnan(array)), ("minus infinity", array == -np.inf), ("infinity", array == np.inf)]
        finds += [f"{hits.sum()} of {array.size} values: {name}" for name, hits in odd if hits.any()]
        if hidden := (~self.open[k]).sum() if not self.are_masks else 0:
            finds.append(f"{hidden} of {array.size} cells are masked, and hatched")
        return f"{what} {'in each row' if few else 'of all'}: {'; '.join(finds)}"


def _with_the_keywords(function):
    """Lets the signature and the docstring of ``function`` show the keywords that ``HeatMaps`` states."""
    own = [part for part in signature(function).parameters.values() if part.kind is not Parameter.VAR_KEYWORD]
    keywords = [part for part in signature(HeatMaps).parameters.values() if part.kind is Parameter.KEYWORD_ONLY]
    described = cleandoc(HeatMaps.__doc__)
    function.__signature__ = Signature([*own, *keywords])
    function.__doc__ = f"{cleandoc(function.__doc__)}\n\n{described[described.index('By keyword:') :]}"
    return function


@_with_the_keywords
def heat_map(values, rows, columns, title=None, **keywords) -> None:
    """Displays one matrix as a heat map, with its numbers while they are at most 100.

    values: (rows, columns), numbers or booleans; of booleans, True is drawn as "may" and False is hatched.
    rows, columns: a word for each.
    """
    mask = keywords.pop("mask", None)
    heat_maps([values], [title], rows, columns, **keywords, mask=None if mask is None else [mask])


@_with_the_keywords
def heat_maps(matrices, titles, rows, columns, **keywords) -> None:
    """Displays matrices of one shape side by side, on one colour scale, with numbers while they are at most 200 in all.

    matrices: each as ``values`` in ``heat_map``. titles: one for each. rows, columns: words for the rows and columns.
    """
    figure(*HeatMaps(matrices, titles, rows, columns, **keywords).draw())
