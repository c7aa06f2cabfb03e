"""A small matrix as a table: HTML in Jupyter, aligned text elsewhere."""

from dataclasses import dataclass
from html import escape
from unicodedata import east_asian_width

from lesson_kit.show.numbers import as_rows, as_text


def matrix(values, rows=None, columns=None, title: str | None = None, digits: int = 2) -> "Matrix":
    """A table of ``values`` (one axis is one row), with words for its rows and columns.

    Cells may be numbers, fractions, booleans (shown as yes and no) or strings (shown as they are).

    Raises:
        TypeError, ValueError: ``values`` is not a matrix, or ``rows`` / ``columns`` do not name its rows / columns.
    """
    cells = as_text(as_rows(values, rows, columns), digits)
    rows, columns = (None if names is None else [str(name) for name in names] for names in (rows, columns))
    return Matrix(cells, rows, columns, title)


@dataclass(repr=False)
class Matrix:
    """What ``matrix`` returns: its cells as text, and their names."""

    cells: list[list[str]]
    rows: list[str] | None
    columns: list[str] | None
    title: str | None

    def _repr_html_(self) -> str:
        caption = head = body = ""
        if self.title is not None:
            style = "caption-side: top; text-align: left; font-weight: bold; white-space: nowrap"
            caption = f'<caption style="{style}">{escape(self.title)}</caption>'
        if self.columns is not None:
            corner = "" if self.rows is None else "<td></td>"
            names = "".join(f'<th scope="col" style="text-align: right">{escape(name)}</th>' for name in self.columns)
            head = f"<thead><tr>{corner}{names}</tr></thead>"
        for i, row in enumerate(self.cells):
            name = "" if self.rows is None else f'<th scope="row" style="text-align: left">{escape(self.rows[i])}</th>'
            cells = "".join(f'<td style="text-align: right">{escape(cell)}</td>' for cell in row)
            body += f"<tr>{name}{cells}</tr>"
        return f'<table style="font-variant-numeric: tabular-nums">{caption}{head}<tbody>{body}</tbody></table>'

    def __repr__(self) -> str:
        table = ([] if self.columns is None else [self.columns]) + self.cells
        columns = [[_pad(cell, column) for cell in column] for column in zip(*table, strict=True)]
        if self.rows is not None:
            names = ([] if self.columns is None else [""]) + self.rows
            columns.insert(0, [_pad(name, names, left=True) for name in names])
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        return "\n".join(([] if self.title is None else [self.title]) + lines)


def _pad(cell: str, column, left: bool = False) -> str:
    space = " " * (max(map(_width, column)) - _width(cell))
    return cell + space if left else space + cell


def _width(text: str) -> int:
    """Columns on a terminal: Chinese characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
