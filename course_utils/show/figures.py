"""Figures and heat maps that can be read in grey, on a dark page, and without seeing them."""

import io
import math
import warnings
from base64 import b64encode

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from cycler import cycler
from IPython.display import display

from course_utils.show.numbers import as_rows, number

COLOURS = ["#0072B2", "#D55E00", "#000000", "#009E73", "#882255", "#777777"]
STYLE = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(color=COLOURS)
    + cycler(linestyle=["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1))])
    + cycler(marker=["o", "s", "^", "D", "v", "x"])
    + cycler(markevery=[0.06] * 6),  # markers at even distances along a line, however many points it has
    "lines.markersize": 5,
}
COLOUR_MAP = mpl.colormaps["Blues"].with_extremes(bad="#cccccc")
SHORTEST_ALT = 30


def subplots(*args, **kwargs):
    """``plt.subplots`` in the course's style: lines differ in colour, dashes and markers."""
    with plt.rc_context(STYLE):
        return plt.subplots(*args, **{"layout": "constrained"} | kwargs)


def figure(fig, alt: str) -> None:
    """Displays ``fig`` as a PNG that carries the text ``alt``, and closes it.

    Raises:
        ValueError: ``alt`` is shorter than 30 characters.
    """
    if not isinstance(alt, str) or len(alt.strip()) < SHORTEST_ALT:
        raise ValueError(f"alt must say in at least {SHORTEST_ALT} characters what the figure shows, got {alt!r}")
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        fig.savefig(buffer, format="png", dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(fig)
    display(_Picture(buffer.getvalue(), alt))


class _Picture:
    def __init__(self, png: bytes, alt: str):
        self.png, self.alt = png, alt

    def __repr__(self) -> str:
        return f"[figure: {self.alt}]"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"image/png": b64encode(self.png).decode(), "text/plain": repr(self)}, {"image/png": {"alt": self.alt}}


def heat_map(
    values,
    rows,
    columns,
    title=None,
    alt=None,
    digits=2,
    row_label="query (looks)",
    column_label="key (is looked at)",
    vmin=None,
    vmax=None,
) -> None:
    """One matrix as a heat map, dark for large, with the numbers written in while there are at most 100."""
    array = _array(values, rows, columns)
    _draw([array], [title], rows, columns, digits, row_label, column_label, vmin, vmax,
          alt or _describe(array, title, rows, columns, digits, row_label, column_label))


def heat_maps(
    matrices,
    titles,
    rows,
    columns,
    alt=None,
    digits=2,
    row_label="query (looks)",
    column_label="key (is looked at)",
    vmin=None,
    vmax=None,
) -> None:
    """Several matrices of one shape side by side, on one colour scale."""
    arrays = [_array(values, rows, columns) for values in matrices]
    if len(arrays) == 0 or len(arrays) != len(titles):
        raise ValueError(f"titles has {len(titles)} entries for {len(arrays)} matrices; expected as many, at least 1")
    described = " ".join(
        _describe(array, title, rows, columns, digits, row_label, column_label)
        for array, title in zip(arrays, titles, strict=True)
    )
    _draw(arrays, titles, rows, columns, digits, row_label, column_label, vmin, vmax, alt or described)


def _array(values, rows, columns):
    table = as_rows(values, rows, columns)
    return np.array(table, dtype=bool if isinstance(table[0][0], bool) else float)


def _describe(array, title, rows, columns, digits, row_label, column_label):
    n_rows, n_columns = array.shape
    start = f"Heat map{'' if title is None else ' ' + repr(title)}, {n_rows} rows by {n_columns} columns."
    if n_rows > 8:
        return start
    parts = []
    for name, row in zip(rows, array, strict=True):
        if array.dtype == bool:
            parts.append(f"{name}: " + (", ".join(c for c, may in zip(columns, row, strict=True) if may) or "none"))
        elif np.isfinite(row).any():
            best = int(np.nanargmax(np.where(np.isfinite(row), row, -np.inf)))
            parts.append(f"{name}: {columns[best]} ({number(row[best], digits)})")
    return start + " Largest entry of each row: " + "; ".join(parts) + "."


def _draw(arrays, titles, rows, columns, digits, row_label, column_label, vmin, vmax, alt):
    n_rows, n_columns = arrays[0].shape
    finite = np.concatenate([a[np.isfinite(a)].ravel().astype(float) for a in arrays] + [np.zeros(0)])
    low = float(finite.min()) if finite.size else 0.0
    high = float(finite.max()) if finite.size else 1.0
    vmin = min(low, 0.0) if vmin is None else vmin
    vmax = high if vmax is None else vmax
    if vmax <= vmin:
        vmax = vmin + 1
    with_numbers = n_rows * n_columns <= 100
    across = min(len(arrays), 3)
    down = math.ceil(len(arrays) / across)
    cell = 0.62 if with_numbers else 0.2
    fig, axes = subplots(
        down, across, squeeze=False, figsize=(across * (n_columns * cell + 1), down * (n_rows * cell + 1))
    )
    image = None
    for ax in axes.flat[len(arrays):]:
        ax.axis("off")
    for ax, array, title in zip(axes.flat, arrays, titles, strict=False):
        image = ax.imshow(array.astype(float), cmap=COLOUR_MAP, vmin=vmin, vmax=vmax)
        ax.grid(False)
        rotate = 90 if max(len(str(c)) for c in columns) > 5 or n_columns > 12 else 0
        ax.set_xticks(range(n_columns), columns, rotation=rotate)
        ax.set_yticks(range(n_rows), rows)
        ax.set_xlabel(column_label)
        ax.set_ylabel(row_label)
        if title:
            ax.set_title(title)
        if with_numbers:
            for i in range(n_rows):
                for j in range(n_columns):
                    value = array[i, j]
                    text = ("may" if value else "·") if array.dtype == bool else number(value, digits)
                    ax.text(j, i, text, ha="center", va="center", color=_ink(image, value))
    if not with_numbers:
        fig.colorbar(image, ax=axes.ravel().tolist())
    figure(fig, alt)


def _ink(image, value):
    red, green, blue, _ = image.cmap(image.norm(float(value)))
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
    luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    return "white" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "black"
