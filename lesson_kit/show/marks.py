"""Marks on a heat map: hatches where a mask hides, frames around the cells that the text speaks of."""

import numpy as np
from matplotlib import patheffects
from matplotlib.patches import Rectangle

from lesson_kit.colours import HATCH, INK, PAPER

HATCHES = "/////"
CASING = [patheffects.Stroke(linewidth=4.6, foreground=PAPER), patheffects.Normal()]  # seen on dark cells too


def expect_mask(mask, shape: tuple[int, int], name: str = "mask") -> np.ndarray:
    """The mask as (rows, columns) booleans, True = may attend; one of (columns,) or (1, columns) is for every row.

    Raises:
        TypeError: ``mask`` holds something other than booleans.
        ValueError: it does not fit the matrix.
    """
    values = np.asarray(mask.cpu() if hasattr(mask, "cpu") else mask)
    if values.dtype != bool:
        got = getattr(mask, "dtype", values.dtype)
        raise TypeError(f"{name} must hold booleans, True = may attend; got {got}")
    if values.ndim > 2 or any(
        ours not in (1, size) for ours, size in zip(values.shape[::-1], shape[::-1], strict=False)
    ):
        raise ValueError(f"{name} must have shape {shape}, or one that broadcasts to it; got {values.shape}")
    return np.broadcast_to(values, shape)


def hatch(ax, where: np.ndarray, **style) -> None:
    """Hatches the cells where ``where`` (rows, columns) is true, neighbours in a row in one piece."""
    for i, row in enumerate(where):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]])))
        for start, stop in edges.reshape(-1, 2):
            place = (start - 0.5, i - 0.5), stop - start, 1
            ax.add_patch(Rectangle(*place, hatch=HATCHES, edgecolor=HATCH, linewidth=0, **style))


def outlined_cells(outline, rows: list[str], columns: list[str]) -> list[tuple[int | None, int | None]]:
    """What ``outline`` names, as (row, column), each a position, or None for all of them.

    Raises:
        TypeError: a part is neither a position nor a name.
        ValueError: there is no such row or column, or its name occurs more than once.
    """
    if outline is None:
        return []
    found = []
    for item in outline if isinstance(outline, list) else [outline]:
        if isinstance(item, tuple) and len(item) != 2:
            raise ValueError(f"outline must name a row, or (row, column), or a list of these; got {item!r}")
        row, column = item if isinstance(item, tuple) else (item, None)
        found.append((_position(row, rows, "rows"), _position(column, columns, "columns")))
    return found


def draw_outline(ax, cells: list[tuple[int | None, int | None]], n_rows: int, n_columns: int) -> None:
    """Frames each cell, row or column: black with a white rim, so that it is seen on every colour and in grey."""
    for row, column in cells:
        top, height = (0, n_rows) if row is None else (row, 1)
        left, width = (0, n_columns) if column is None else (column, 1)
        frame = Rectangle((left - 0.5, top - 0.5), width, height, fill=False, edgecolor=INK, linewidth=2.2, zorder=5)
        frame.set(path_effects=CASING, clip_on=False, joinstyle="miter")
        ax.add_patch(frame)


def outline_in_words(cells, rows: list[str], columns: list[str]) -> str:
    """ "row "they", cell "they" -> "john" " """
    words = []
    for row, column in cells:
        if row is None or column is None:
            words.append(
                "all" if row is column else f'column "{columns[column]}"' if row is None else f'row "{rows[row]}"'
            )
        else:
            words.append(f'cell "{rows[row]}" -> "{columns[column]}"')
    return ", ".join(words)


def _position(part, names: list[str], axis: str) -> int | None:
    if part is None:
        return None
    if isinstance(part, str):
        places = [i for i, name in enumerate(names) if name == part]
        if len(places) != 1:
            found = f"stands at {places}: give its position" if places else f"is not there: {names}"
            raise ValueError(f"outline names {part!r}, which must be one of the {axis}; it {found}")
        return places[0]
    if isinstance(part, bool) or not isinstance(part, (int, np.integer)):
        raise TypeError(f"outline must name {axis} by positions or names, got {type(part).__name__}: {part!r}")
    if not 0 <= part < len(names):
        raise ValueError(f"outline must name positions in 0..{len(names) - 1} of the {axis}, got {part}")
    return int(part)
