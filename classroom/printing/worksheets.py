"""Worksheets to print for the pencil parts of the lessons: HTML and PDF, with boxes and with answers.

``sheets.py`` says what stands on them. The PDF is drawn by matplotlib, which the course needs anyway and which sets the
formulas; the HTML page can also be filled in on the screen, with the keyboard and a screen reader.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from classroom._files import expect_lessons, make_folder
from classroom.printing.sheets import SHEETS, Box, Sheet, Step, Table


def build(lessons: Iterable[Path | str], folder: Path | str) -> list[Path]:
    """Writes four files for each lesson with a pencil part into ``folder``; gives their paths.

    These are the question sheet and the answer sheet, each as HTML and as PDF. Which lessons have a pencil part,
    ``SHEETS`` in ``sheets.py`` says; for each of the others a sentence is printed.

    Raises:
        TypeError, ValueError: ``lessons`` is a single path or empty.
        FileNotFoundError: a lesson is not there.
        OSError: ``folder`` can't be written to.
        ModuleNotFoundError: a package of the extra ``classroom`` is missing.
    """
    lessons = expect_lessons(lessons)
    folder = make_folder(folder)
    written = []
    for name in [lesson.stem for lesson in lessons]:
        if name not in SHEETS:
            print(f"{name}: no worksheet, because this lesson has no pencil part.")
            continue
        sheet = SHEETS[name]()
        for ending, answers in (("", False), ("_answers", True)):
            page, pdf = folder / f"{name}{ending}.html", folder / f"{name}{ending}.pdf"
            page.write_text(as_html(sheet, answers), encoding="utf-8")
            write_pdf(sheet, answers, pdf)
            written += [page, pdf]
    return written


def full_title(sheet: Sheet, answers: bool) -> str:
    """The title of a page: it says whether the answers are on it."""
    return f"{sheet.title}: {'answers' if answers else 'worksheet'}"


# --- HTML --------------------------------------------------------------------------------------

STYLE = """
body { font: 1rem/1.45 "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 1.4rem 0 0.3rem; } p { margin: 0.3rem 0 0.6rem; }
.tables { display: flex; flex-wrap: wrap; gap: 0.6rem 2rem; align-items: flex-start; }
table { border-collapse: collapse; } caption { text-align: left; font-weight: bold; padding-bottom: 0.2rem; }
th { font-weight: normal; padding: 0.2rem 0.6rem; text-align: left; }
thead th { border-bottom: 1px solid #767676; text-align: center; }
td { padding: 0.2rem 0.5rem; text-align: center; }
td.box { border: 2px solid #1a1a1a; padding: 0; height: 2.1rem; min-width: 4rem; font-weight: bold; }
td.box input { font: inherit; color: inherit; text-align: center; border: 0;
               width: 100%; min-width: 4.2rem; box-sizing: border-box; height: 2.1rem; }
input:focus-visible { outline: 3px solid #0b5394; }
.sums { border-bottom: 1px dotted #767676; height: 1.6rem; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } section { break-inside: avoid; } }
""".strip()


def as_html(sheet: Sheet, answers: bool) -> str:
    """The sheet as one page that loads nothing else."""
    title = escape(full_title(sheet, answers))
    name = "" if answers else "<p>Name: ____________________ Date: ____________</p>\n"
    steps = "\n".join(_step_html(step, answers) for step in sheet.steps)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{name}"
        f"<p>{_rich(sheet.introduction)}</p>\n{steps}\n</main>\n</body>\n</html>\n"
    )


def _step_html(step: Step, answers: bool) -> str:
    parts = [f"<section>\n<h2>{_rich(step.title)}</h2>\n<p>{_rich(step.text)}</p>"]
    if step.tables:
        parts.append('<div class="tables">')
        parts += [_table_html(table, answers) for table in step.tables]
        parts.append("</div>")
    parts += ['<div class="sums"></div>'] * step.lines
    if step.check:
        parts.append(f"<p><strong>Check:</strong> {_rich(step.check)}</p>")
    return "\n".join([*parts, "</section>"])


def _table_html(table: Table, answers: bool) -> str:
    head = "".join(f'<th scope="col">{_rich(column)}</th>' for column in table.columns)
    rows = []
    for row, entries in zip(table.rows, table.entries, strict=True):
        cells = []
        for column, entry in zip(table.columns, entries, strict=True):
            if not isinstance(entry, Box):
                cells.append(f"<td>{_rich(entry)}</td>")
            elif answers:
                cells.append(f'<td class="box">{escape(entry.answer)}</td>')
            else:
                label = _spoken(f"{table.title}, {row}, {column}")
                cells.append(f'<td class="box"><input aria-label="{label}"></td>')
        rows.append(f'<tr><th scope="row">{_rich(row)}</th>{"".join(cells)}</tr>')
    head, body = f"<thead><tr><td></td>{head}</tr></thead>", "\n".join(rows)
    return f"<table>\n<caption>{_rich(table.title)}</caption>\n{head}\n<tbody>\n{body}\n</tbody>\n</table>"


def _rich(text: str) -> str:
    """Plain text with formulas between dollar signs, as HTML."""
    from latex2mathml import converter  # here: the PDF does not need it

    parts = text.split("$")
    parts[::2] = [escape(part) for part in parts[::2]]
    parts[1::2] = [converter.convert(part).replace("\n", " ") for part in parts[1::2]]
    return "".join(parts)


def _spoken(text: str) -> str:
    """The same as words, for a label."""
    return escape(re.sub(r"\\mathrm|[\\${}^_]", "", text))


# --- PDF ---------------------------------------------------------------------------------------

WIDTH, HEIGHT, MARGIN = 595.3, 841.9, 42.0  # A4, in points
GIVEN_ROW, SMALLEST_BOX = 14.5, 44.0
BOX_ROWS = (32.0, 29.0, 26.0, 23.0, 21.0)  # heights of a row of boxes: the largest that needs no further page
TEXT, SMALL = 9.5, 8.5
SETTINGS = {"font.family": "DejaVu Sans", "pdf.fonttype": 42, "mathtext.fontset": "dejavusans"}
_renderer = RendererAgg(10, 10, 72 * 8)


@lru_cache(maxsize=4096)
def width_of(text: str, size: float, bold: bool = False) -> float:
    """In points; ``text`` may hold formulas."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return _renderer.get_text_width_height_descent(text, font, ismath="$" in text)[0] / 8


def wrapped(text: str, size: float, width: float) -> Iterator[list[tuple[float, str]]]:
    """Lines of words, each with its place; a formula is one word."""
    space = width_of("a a", size) - width_of("aa", size)
    line, x = [], 0.0
    for word in re.findall(r"(?:\$[^$]*\$|[^\s$])+", text):
        wide = width_of(word, size)
        if line and x + wide > width:
            yield line
            line, x = [], 0.0
        line.append((x, word))
        x += wide + space
    yield line


class Layout:
    """Where everything stands: for each page its boxes, and what is to be drawn. The answers change nothing in it."""

    def __init__(self, sheet: Sheet, answers: bool, box_row: float = BOX_ROWS[-1]):
        self.answers, self.box_row = answers, box_row
        self.pages: list[list] = [[]]
        self.boxes: list[tuple] = []  # (page, x, y, width, height)
        self.y = HEIGHT - MARGIN
        self.write(full_title(sheet, answers), 14, bold=True, drop=20)
        if not answers:
            self.text(MARGIN + 330, "Name", SMALL, up=19)
            self.line(MARGIN + 358, self.y + 17, MARGIN + 511)
        self.write(sheet.introduction, TEXT, drop=13)
        for step in sheet.steps:
            self.step(step)

    def text(self, x, text, size, up=0.0, **style):
        self.pages[-1].append(("text", x, self.y + up, text, {"size": size, **style}))

    def line(self, x, y, to_x, **style):
        self.pages[-1].append(("line", x, y, to_x, style))

    def write(self, text: str, size: float, drop: float, bold: bool = False):
        """Text over the whole width."""
        for line in wrapped(text, size, WIDTH - 2 * MARGIN) if not bold else [[(0.0, text)]]:
            self.y -= drop
            for x, word in line:
                self.text(MARGIN + x, word, size, weight="bold" if bold else "normal")

    def step(self, step: Step):
        """One step, on the next page if it does not fit on this one."""
        rows = list(side_by_side(step.tables))
        high = 22 + 12.5 * len(list(wrapped(step.text, TEXT, WIDTH - 2 * MARGIN))) + 16 * step.lines
        high += sum(map(self.height_of, rows)) + (13 if step.check else 0)
        if self.y - high < MARGIN + 14:
            self.pages.append([])
            self.y = HEIGHT - MARGIN
        self.y -= 8
        self.write(step.title, 10.5, drop=13, bold=True)
        self.write(step.text, TEXT, drop=12.5)
        for row in rows:
            x = MARGIN
            for table in row:
                self.table(table, x)
                x += table_width(table) + 22
            self.y -= self.height_of(row)
        for _ in range(step.lines):
            self.y -= 16
            self.line(MARGIN, self.y, WIDTH - MARGIN, linestyle=":", color="0.45")
        if step.check:
            self.write(f"Check: {step.check}", SMALL, drop=13)

    def row_height(self, table: Table) -> float:
        return self.box_row if any(isinstance(entry, Box) for row in table.entries for entry in row) else GIVEN_ROW

    def height_of(self, tables: list[Table]) -> float:
        """Of tables side by side."""
        return max(40 + self.row_height(table) * len(table.rows) for table in tables)

    def table(self, table: Table, x: float):
        """One table, its upper left corner at ``x`` and where the text has come to."""
        first, widths = columns_of(table)
        y = self.y - 16
        self.text(x, table.title, SMALL, up=-14, weight="bold")
        place = x + first
        for column, width in zip(table.columns, widths, strict=True):
            self.text(place + width / 2, column, SMALL, up=-28, ha="center")
            place += width
        self.line(x + first, y - 16, place, color="0.45")
        y -= 17
        high = self.row_height(table)
        for row, entries in zip(table.rows, table.entries, strict=True):
            y -= high
            middle = y + high / 2 - 3 - self.y
            self.text(x, row, SMALL, up=middle)
            place = x + first
            for entry, width in zip(entries, widths, strict=True):
                if isinstance(entry, Box):
                    self.boxes.append((len(self.pages), place, y, width, high))
                    self.pages[-1].append(("box", place, y, width, high))
                shown = entry if isinstance(entry, str) else entry.answer if self.answers else ""
                bold = "bold" if isinstance(entry, Box) else "normal"
                if shown:
                    self.text(place + width / 2, shown, TEXT, up=middle, ha="center", weight=bold)
                place += width


def columns_of(table: Table) -> tuple[float, list[float]]:
    """The width of the column of row names, and of the others."""
    first = max(width_of(row, SMALL) for row in table.rows) + 7
    widths = []
    for j, column in enumerate(table.columns):
        entries = [row[j] for row in table.entries]
        texts = [entry.answer if isinstance(entry, Box) else entry for entry in entries]
        smallest = SMALLEST_BOX if any(isinstance(entry, Box) for entry in entries) else 24.0
        needed = max(width_of(column, SMALL), *(width_of(text, TEXT, True) for text in texts if text), 0.0)
        widths.append(max(smallest, needed + (12 if smallest == SMALLEST_BOX else 8)))
    return first, widths


def table_width(table: Table) -> float:
    first, widths = columns_of(table)
    return max(first + sum(widths), width_of(table.title, SMALL, True))


def side_by_side(tables: Iterable[Table]) -> Iterator[list[Table]]:
    """As many tables in a row as fit."""
    row, left = [], WIDTH - 2 * MARGIN
    for table in tables:
        width = table_width(table)
        if row and width > left:
            yield row
            row, left = [], WIDTH - 2 * MARGIN
        row.append(table)
        left -= width + 22
    if row:
        yield row


def laid_out(sheet: Sheet, answers: bool) -> Layout:
    """On as few pages as possible, with boxes as large as these allow."""
    layouts = [Layout(sheet, answers, box_row) for box_row in BOX_ROWS]
    fewest = min(len(layout.pages) for layout in layouts)
    return next(layout for layout in layouts if len(layout.pages) == fewest)


def write_pdf(sheet: Sheet, answers: bool, path: Path) -> None:
    """The sheet as A4 pages."""
    pages = laid_out(sheet, answers).pages
    title = full_title(sheet, answers)
    with plt.rc_context(SETTINGS), PdfPages(path, metadata={"Title": title, "CreationDate": None}) as pdf:
        for number, page in enumerate(pages, start=1):
            figure = plt.Figure(figsize=(WIDTH / 72, HEIGHT / 72))
            for kind, x, y, *rest in page:
                if kind == "text":
                    figure.text(x / WIDTH, y / HEIGHT, rest[0], va="baseline", color="black", **rest[1])
                elif kind == "line":
                    ends = ([x / WIDTH, rest[0] / WIDTH], [y / HEIGHT] * 2)
                    figure.add_artist(Line2D(*ends, **{"linewidth": 0.7, "color": "black"} | rest[1]))
                else:
                    size = {"width": rest[0] / WIDTH, "height": rest[1] / HEIGHT}
                    figure.add_artist(Rectangle((x / WIDTH, y / HEIGHT), **size, fill=False, linewidth=1.1))
            foot = f"Attention, by Hand · {title} · page {number} of {len(pages)}"
            figure.text(0.5, 24 / HEIGHT, foot, size=7, ha="center", color="0.3")
            pdf.savefig(figure)
