"""Worksheets to print for the pencil parts of the lessons: HTML and PDF, with boxes and with answers.

``sheets.py`` says what stands on them. A page can be filled in on the screen, with the keyboard and a screen reader;
the PDF is the same page, printed by a browser that is on this machine.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from html import escape
from pathlib import Path

from classroom._files import ClassroomError, expect_lessons, make_folder
from classroom.printing.sheets import SHEETS, Box, Sheet, Step, Table


def build(lessons: Iterable[Path | str], folder: Path | str) -> list[Path]:
    """Writes four files for each lesson with a pencil part into ``folder``; gives their paths.

    These are the question sheet and the answer sheet, each as HTML and as PDF; without a browser there is no PDF, and
    a sentence says so. Which lessons have a pencil part, ``SHEETS`` in ``sheets.py`` says; for each of the others a
    sentence is printed.

    Raises:
        TypeError, ValueError: ``lessons`` is a single path or empty.
        FileNotFoundError: a lesson is not there.
        OSError: ``folder`` can't be written to.
        ClassroomError: the browser could not print.
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
            written.append(folder / f"{name}{ending}.html")
            written[-1].write_text(as_html(sheet, answers), encoding="utf-8")
    browser = find_browser()
    if written and browser is None:
        print("No PDF, because no Chromium, Chrome or Edge was found: open the HTML pages in a browser and print them.")
        return written
    return [each for page in written for each in (page, print_pdf(page, browser))]


def full_title(sheet: Sheet, answers: bool) -> str:
    """The title of a page: it says whether the answers are on it."""
    return f"{sheet.title}: {'answers' if answers else 'worksheet'}"


# --- HTML --------------------------------------------------------------------------------------

STYLE = """
body { font: 1rem/1.45 "Segoe UI", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 60rem; margin: 1.5rem auto; padding: 0 0.75rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin: 1.4rem 0 0.3rem; } p { margin: 0.3rem 0 0.6rem; }
math { white-space: nowrap; }
.tables { display: flex; flex-wrap: wrap; gap: 0.6rem 2rem; align-items: flex-start; }
.wide { max-width: 100%; overflow-x: auto; }
table { border-collapse: collapse; } caption { text-align: left; font-weight: bold; padding-bottom: 0.2rem; }
th { font-weight: normal; padding: 0.2rem 0.6rem 0.2rem 0; text-align: left; }
thead th { border-bottom: 1px solid #767676; text-align: center; padding: 0.2rem 0.4rem; }
td { padding: 0.2rem 0.5rem; text-align: center; }
td.box { border: 2px solid #1a1a1a; padding: 0; height: 2.1rem; min-width: var(--room); font-weight: bold; }
td.box input { font: inherit; color: inherit; text-align: center; border: 0; padding: 0; background: none;
               width: 100%; box-sizing: border-box; height: 2.1rem; }
input:focus-visible, .wide:focus-visible { outline: 3px solid #0b5394; }
.lines { position: relative; } .lines div { border-bottom: 1px dotted #767676; height: 1.5rem; }
.lines p { position: absolute; inset: 0; margin: 0; line-height: 1.5rem; font-weight: bold; }
@page { size: A4; margin: 13mm 14mm 15mm; @bottom-center { font: 7pt "DejaVu Sans", Arial, sans-serif; color: #4d4d4d;
  content: "Attention, by Hand · " var(--title) " · page " counter(page) " of " counter(pages); } }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 9pt; line-height: 1.3; }
  h1 { font-size: 13pt; margin: 0; } h2 { font-size: 10pt; margin: 0.6rem 0 0.1rem; } p { margin: 0.1rem 0 0.3rem; }
  section { break-inside: avoid; } .wide { overflow: visible; } .tables { gap: 0.3rem 1.4rem; }
  th, td { padding-top: 0; padding-bottom: 0; } td.box, td.box input { height: 7.2mm; }
}
""".strip()
ROOM = 15.5  # millimetres: the narrowest box


def as_html(sheet: Sheet, answers: bool) -> str:
    """The sheet as one page that loads nothing else."""
    title = escape(full_title(sheet, answers))
    name = "&nbsp;" if answers else "Name: ____________________ Date: ____________"  # a line on both: boxes stay put
    steps = "\n".join(_step_html(step, answers) for step in sheet.steps)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>\n{STYLE.replace('var(--title)', _quoted(full_title(sheet, answers)))}\n</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{title}</h1>\n<p>{name}</p>\n<p>{_rich(sheet.introduction)}</p>\n{steps}\n</main>\n</body>\n</html>\n"
    )


def _step_html(step: Step, answers: bool) -> str:
    parts = [f"<section>\n<h2>{_rich(step.title)}</h2>\n<p>{_rich(step.text)}</p>"]
    if step.tables:
        parts.append('<div class="tables">')
        parts += [_table_html(table, answers) for table in step.tables]
        parts.append("</div>")
    if step.check:
        parts.append(f"<p><strong>Check:</strong> {_rich(step.check)}</p>")
    if step.lines:
        told = f"<p>{_rich(step.answer)}</p>" if answers and step.answer else ""
        parts.append(f'<div class="lines">{"<div></div>" * step.lines}{told}</div>')
    return "\n".join([*parts, "</section>"])


def _table_html(table: Table, answers: bool) -> str:
    head = "".join(f'<th scope="col">{_rich(column)}</th>' for column in table.columns)
    rows, rooms = [], [_room(entries) for entries in zip(*table.entries, strict=True)]
    for row, entries in zip(table.rows, table.entries, strict=True):
        cells = []
        for column, entry, room in zip(table.columns, entries, rooms, strict=True):
            if not isinstance(entry, Box):
                cells.append(f"<td>{_rich(entry)}</td>")
                continue
            label = _spoken(f"{table.title}, {row}, {column}")
            content = escape(entry.answer) if answers else f'<input size="1" aria-label="{label}">'
            cells.append(f'<td class="box" style="--room: {room}">{content}</td>')
        rows.append(f'<tr><th scope="row">{_rich(row)}</th>{"".join(cells)}</tr>')
    head, body = f"<thead><tr><td></td>{head}</tr></thead>", "\n".join(rows)
    return (
        f'<div class="wide" role="group" tabindex="0" aria-label="{_spoken(table.title)}"><table>\n'
        f"<caption>{_rich(table.title)}</caption>\n{head}\n<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def _room(entries: Iterable[str | Box]) -> str:
    """How wide the boxes of a column are: the same on both sheets, whatever is in them."""
    longest = max((len(entry.answer) for entry in entries if isinstance(entry, Box)), default=0)
    return f"max({ROOM}mm, {longest + 2}ch)"


def _quoted(text: str) -> str:
    """As a string of CSS."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("<", "\\3c ") + '"'


def _rich(text: str) -> str:
    """Plain text with formulas between dollar signs, as HTML."""
    from latex2mathml import converter  # here: --help needs none of it

    parts = text.split("$")
    parts[::2] = [escape(part) for part in parts[::2]]
    parts[1::2] = [converter.convert(part).replace("\n", " ") for part in parts[1::2]]
    return "".join(parts)


def _spoken(text: str) -> str:
    """The same as words, for a label."""
    return escape(re.sub(r"\\mathrm|[\\${}^_]", "", text))


# --- PDF ---------------------------------------------------------------------------------------

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)  # fmt: skip
PRINTS_WITHIN = 120  # seconds


def find_browser() -> str | None:
    """A browser on this machine that can print by itself."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def print_pdf(page: Path, browser: str) -> Path:
    """Prints an HTML page to the PDF beside it; gives the PDF."""
    pdf = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:  # not the teacher's own
        options = [
            "--headless",
            "--no-pdf-header-footer",
            f"--user-data-dir={profile}",
            f"--print-to-pdf={pdf.resolve()}",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # as root it does not start with one; the page is our own
        command = [browser, *options, page.resolve().as_uri()]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=PRINTS_WITHIN)
        except (OSError, subprocess.SubprocessError) as error:
            raise ClassroomError(f"{browser} could not print {page.name}: {error}") from error
    if not pdf.is_file():
        raise ClassroomError(f"{browser} could not print {page.name}.")
    return pdf
