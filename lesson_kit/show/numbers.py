"""Numbers, and tables of values, as text."""

import math
from fractions import Fraction


def number(x, digits: int = 2) -> str:
    """``x`` rounded to ``digits`` decimals, never "-0.00"; also "NaN", "inf" and "-inf".

    Raises:
        TypeError: ``x`` is not one real number.
    """
    try:
        if isinstance(x, str):
            raise TypeError
        x = float(x)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"x must be one real number, got {type(x).__name__}: {x!r}") from None
    if math.isnan(x):
        return "NaN"
    text = f"{x:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def as_rows(values, rows=None, columns=None) -> list[list]:
    """``values`` as a list of equally long rows of Python values. One number or one axis becomes one row.

    Raises:
        TypeError: ``rows`` or ``columns`` is a string instead of a list of words.
        ValueError: more than two axes, rows of unequal length, or the wrong number of names.
    """
    table = _as_list(values)
    if not isinstance(table, list):
        table = [table]
    if not any(isinstance(row, list) for row in table):
        table = [table]
    if any(not isinstance(row, list) or any(isinstance(cell, list) for cell in row) for row in table):
        got = f"shape {tuple(values.shape)}" if hasattr(values, "shape") else "lists nested otherwise"
        raise ValueError(f"values must have one or two axes, (columns,) or (rows, columns); got {got}")
    lengths = [len(row) for row in table]
    if min(lengths) != max(lengths) or lengths[0] == 0:
        raise ValueError(f"values must have rows of one length, at least 1; got lengths {lengths}")
    for name, names, length in [("rows", rows, len(table)), ("columns", columns, lengths[0])]:
        if isinstance(names, str):
            raise TypeError(f"{name} must be a list of words, got the string {names!r}")
        if names is not None and len(names) != length:
            raise ValueError(f"{name} has {len(names)} names, but values has {length} {name}")
    return table


def as_text(table: list[list], digits: int = 2) -> list[list[str]]:
    """Each cell as text: booleans as yes/no, fractions and strings as they are, the rest rounded.

    Whole numbers stay whole where their column holds no float.
    """
    has_floats = [any(isinstance(cell, float) for cell in column) for column in zip(*table, strict=True)]

    def text(cell, rounded: bool) -> str:
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, float) or (isinstance(cell, int) and rounded):
            return number(cell, digits)
        return str(cell)

    return [[text(cell, rounded) for cell, rounded in zip(row, has_floats, strict=True)] for row in table]


def as_floats(table: list[list]) -> list[list[float]]:
    """Each cell as a float.

    Raises:
        TypeError: a cell is not a real number.
    """
    for row in table:
        for cell in row:
            if not isinstance(cell, (int, float, Fraction)):
                raise TypeError(f"values must be numbers, got {type(cell).__name__}: {cell!r}")
    return [[float(cell) for cell in row] for row in table]


def _as_list(values):
    """Tensors, arrays, tuples and lists, nested in any way, as plain nested lists."""
    if hasattr(values, "tolist"):
        return values.tolist()
    return [_as_list(value) for value in values] if isinstance(values, (list, tuple)) else values
