"""Numbers and tables of values as text."""

import math
from fractions import Fraction
from numbers import Integral


def number(x, digits: int = 2) -> str:
    """``x`` rounded to ``digits`` decimals, never "-0.00"; NaN and infinities as "NaN", "inf", "-inf".

    Raises:
        TypeError: ``x`` is not one real number.
    """
    try:
        x = float(x)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"x must be one real number, got {type(x).__name__} {x!r}") from None
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    text = f"{x:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def as_list(values):
    """Tensors, arrays, tuples and lists, nested in any way, as plain nested lists."""
    if hasattr(values, "detach"):
        values = values.detach()
    if hasattr(values, "tolist"):
        return values.tolist()
    return [as_list(value) for value in values] if isinstance(values, (list, tuple)) else values


def as_rows(values, rows=None, columns=None) -> list[list]:
    """``values`` as a list of equally long rows; one number or one row of numbers becomes one row.

    Raises:
        ValueError: not a matrix, or ``rows`` / ``columns`` do not name each row / column.
    """
    table = as_list(values)
    if not isinstance(table, list):
        table = [table]
    if not any(isinstance(row, list) for row in table):
        table = [table]
    if not all(isinstance(row, list) for row in table) or any(isinstance(cell, list) for row in table for cell in row):
        shape = getattr(values, "shape", None)
        came = f"shape {tuple(shape)}" if shape is not None else "a nested list"
        raise ValueError(f"values must have one or two axes (rows, columns), got {came}")
    width = len(table[0])
    if width == 0 or any(len(row) != width for row in table):
        raise ValueError(f"values must have rows of one length, at least 1; got lengths {[len(row) for row in table]}")
    for name, names, length in [("rows", rows, len(table)), ("columns", columns, width)]:
        if isinstance(names, str):
            raise TypeError(f"{name} must be a list of words, got the string {names!r}")
        if names is not None and len(names) != length:
            raise ValueError(f"{name} has {len(names)} names, but values has shape ({len(table)}, {width})")
    return table


def as_text(table: list[list], digits: int = 2) -> list[list[str]]:
    """Each cell as text. Whole numbers stay whole where a column holds nothing else, fractions stay fractions."""
    columns = zip(*table, strict=True)
    whole = [all(isinstance(cell, Integral) or not _is_number(cell) for cell in column) for column in columns]

    def text(cell, is_whole: bool) -> str:
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if not _is_number(cell) or isinstance(cell, Fraction) or is_whole:
            return str(cell)
        return number(cell, digits)

    return [[text(cell, is_whole) for cell, is_whole in zip(row, whole, strict=True)] for row in table]


def _is_number(cell) -> bool:
    return isinstance(cell, (int, float, Fraction))
