"""Worksheets to print for the pencil parts of the lessons: HTML and PDF, with boxes and with answers.

``sheets/`` says what stands on them. A page can be filled in on the screen, with the keyboard and a screen reader;
the PDF is the same page, printed by a browser that is on this machine.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from classroom._files import ClassroomError, expect_lessons, make_folder
from classroom.printing.sheets import SHEETS
from classroom.printing.sheets.parts import Box, Sheet, Table


def build(lessons: Iterable[Path | str], folder: Path | str) -> list[Path]:
    """Writes four files for each lesson with a pencil part into ``folder``; gives their paths.

    These are the question sheet and the answer sheet, each as HTML and as PDF; without a browser there is no PDF, and
    a sentence says so. For each lesson without a pencil part a sentence is printed.

    Raises:
        TypeError, ValueError: ``lessons`` is a single path or empty.
        FileNotFoundError: a lesson is not there.
        OSError: ``folder`` can't be written to.
        ClassroomError: the browser could not print.
        ModuleNotFoundError: a package of the extra ``classroom`` is missing.
    """
    names = [lesson.stem for lesson in expect_lessons(lessons)]
    for name in names:
        if name not in SHEETS:
            print(f"{name}: no worksheet, because this lesson has no pencil part.")
    return [path for paths in write(folder, [name for name in names if name in SHEETS]).values() for path in paths]


def write(
    folder: Path | str, names: Iterable[str] = tuple(SHEETS), answers: bool = True, lessons: str | None = None
) -> dict[str, list[Path]]:
    """Writes the worksheets of these lessons (all that have one); gives for each its files.

    These are ``NAME.html`` and ``NAME.pdf``, ``NAME_answers.html`` and ``NAME_answers.pdf``. The pages load nothing.

    Args:
        folder: made if it is not there.
        names: of lessons, such as "05_word_order".
        answers: are there answer sheets?
        lessons: on a web site the address, seen from ``folder``, where the lessons' pages are, such as "..". The pages
            of the sheets then link to the lesson, to their PDF, and to each other.

    Raises:
        ValueError: a name has no worksheet.
        OSError: ``folder`` can't be written to.
        ClassroomError: the browser could not print.
        ModuleNotFoundError: a package of the extra ``classroom`` is missing.
    """
    names = list(names)
    if unknown := [name for name in names if name not in SHEETS]:
        raise ValueError(f"names must be among {', '.join(SHEETS)}; got {', '.join(map(repr, unknown))}")
    folder, browser = make_folder(folder), find_browser()
    written: dict[str, list[Path]] = {name: [] for name in names}
    for name in names:
        sheet, files = SHEETS[name](), {False: name, True: f"{name}_answers"}
        for on_it in (False, True) if answers else (False,):
            links = None
            if lessons is not None:
                links = Links(
                    f"{lessons}/{name}.html",
                    None if browser is None else f"{files[on_it]}.pdf",
                    f"{files[not on_it]}.html" if answers else None,
                )
            page = folder / f"{files[on_it]}.html"
            page.write_text(as_html(sheet, on_it, links), encoding="utf-8")
            written[name].append(page)
    if browser is not None:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            printing = {
                name: [pool.submit(print_pdf, page, browser) for page in pages] for name, pages in written.items()
            }
            for name, pages in written.items():
                pdfs = [each.result() for each in printing[name]]
                written[name] = [path for pair in zip(pages, pdfs, strict=True) for path in pair]
    elif names:
        print("No PDF, because no Chromium, Chrome or Edge was found: open the HTML pages in a browser and print them.")
    return written


# --- HTML --------------------------------------------------------------------------------------

HERE = Path(__file__).parent
ROOM = 15.5  # millimetres: the narrowest box


@dataclass(frozen=True)
class Links:
    """Where a sheet's page leads to on a web site: ``other`` is the sheet with the answers, or back from there."""

    lesson: str
    pdf: str | None = None
    other: str | None = None


def as_html(sheet: Sheet, answers: bool, links: Links | None = None) -> str:
    """The sheet as one page that loads nothing else; ``links`` are seen on the screen and not printed."""
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"rich": _rich, "spoken": _spoken}
    title = f"{sheet.title}: {'answers' if answers else 'worksheet'}"
    style = (HERE / "worksheet.css").read_text(encoding="utf-8").replace("var(--title)", _quoted(title))
    page = environment.get_template("worksheet.html.j2")
    return page.render(sheet=sheet, answers=answers, links=links, title=title, style=style, is_box=_is_box, room=_room)


def _is_box(entry: str | Box) -> bool:
    return isinstance(entry, Box)


def _room(table: Table, column: int) -> str:
    """How wide the boxes of a column are: the same on both sheets, whatever is in them."""
    longest = max((len(row[column].answer) for row in table.entries if _is_box(row[column])), default=0)
    return f"max({ROOM}mm, {longest + 2}ch)"


def _quoted(text: str) -> str:
    """As a string of CSS."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("<", "\\3c ") + '"'


def _rich(text: str) -> Markup:
    """Plain text with formulas between dollar signs, as HTML."""
    from latex2mathml import converter  # here: --help needs none of it

    parts = text.split("$")
    parts[::2] = [escape(part) for part in parts[::2]]
    parts[1::2] = [converter.convert(part).replace("\n", " ") for part in parts[1::2]]
    return Markup("".join(parts))


def _spoken(text: str) -> str:
    """The same as words, for a label."""
    return re.sub(r"\\mathrm|[\\${}^_]", "", text)


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
