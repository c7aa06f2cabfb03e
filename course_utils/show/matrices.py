"""A small matrix as a table: HTML in Jupyter, aligned text elsewhere."""

from dataclasses import dataclass
from html import escape

from course_utils.show.numbers import as_rows, as_text


def matrix(values, rows=None, columns=None, title: str | None = None, digits: int = 2) -> "Matrix":
    """A table of ``values`` (1-D values are one row), with words for its rows and columns.

    Cells may be numbers, fractions, booleans (shown as yes/no) or strings (shown as they are).

    Raises:
        ValueError: ``values`` is not a matrix, or ``rows`` / ``columns`` do not name each row / column.
    """
    cells = as_text(as_rows(values, rows, columns), digits)
    return Matrix(
        cells,
        None if rows is None else [str(name) for name in rows],
        None if columns is None else [str(name) for name in columns],
        title,
    )


@dataclass(repr=False)
class Matrix:
    """What ``matrix`` returns: the cells as text, with their names."""

    cells: list[list[str]]
    rows: list[str] | None
    columns: list[str] | None
    title: str | None

    def _repr_html_(self) -> str:
        caption = "" if self.title is None else f'<caption style="text-align: left">{escape(self.title)}</caption>'
        head = ""
        if self.columns is not None:
            corner = "" if self.rows is None else "<td></td>"
            names = "".join(f'<th scope="col" style="text-align: right">{escape(name)}</th>' for name in self.columns)
            head = f"<thead><tr>{corner}{names}</tr></thead>"
        body = ""
        for i, row in enumerate(self.cells):
            name = "" if self.rows is None else f'<th scope="row" style="text-align: left">{escape(self.rows[i])}</th>'
            body += f"<tr>{name}" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        style = "text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap"
        return f'<table style="{style}">{caption}{head}<tbody>{body}</tbody></table>'

    def __repr__(self) -> str:
        table = [list(row) for row in self.cells]
        if self.columns is not None:
            table.insert(0, list(self.columns))
        if self.rows is not None:
            names = self.rows if self.columns is None else ["", *self.rows]
            table = [[name, *row] for name, row in zip(names, table, strict=True)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = []
        for row in table:
            padded = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
            if self.rows is not None:
                padded[0] = row[0].ljust(widths[0])
            lines.append("  ".join(padded).rstrip())
        return "\n".join(([] if self.title is None else [self.title]) + lines)
