"""The notebooks of a folder: whose they are, which lesson they are, and what can't be read."""

import json
import os
import re
import stat
import unicodedata
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from classroom.grading.process import Grade, printable
from classroom.versions.lesson import TITLE
from lesson_kit.check.where_taught import PLACES, lesson

LARGEST = 20 * 2**20  # bytes; a lesson with all its pictures stays under 1.5 million
MOST_CELLS = 2000  # a lesson has about a hundred
NO_EXERCISES = ("00", "19")
LEFT_OUT = (".", "_", "~")  # how the names of hidden files and of other programs' leavings begin

LESSONS: dict[str, list[str]] = {}  # the exercises of each lesson that has any, in the lesson's order
for _name in PLACES:
    LESSONS.setdefault(lesson(_name), []).append(_name)


@dataclass
class Submission:
    """One notebook, and whose it is: ``learner`` names its row, ``person`` whoever handed it in.

    ``cells`` is the code in its cells; ``grades`` come with the grading.
    """

    file: str
    learner: str
    lesson: str
    cells: list[str] = field(repr=False)
    grades: dict[str, Grade] = field(default_factory=dict)
    person: str = ""


@dataclass(frozen=True)
class Remark:
    """Something that the teacher should know about a file. ``left_out``: is the file not in the tables?"""

    file: str
    text: str
    left_out: bool = True


class Unreadable(Exception):
    """Why a file is left out, in a sentence."""


def collect(folder: Path, leave_out: Path | None = None) -> tuple[list[Submission], list[Remark]]:
    """All notebooks in ``folder`` and in the folders in it, sorted by lesson and learner, and what to say of files.

    ``leave_out``: the folder of the report, where files named report.* are not the learners'.
    """
    found, remarks = [], []
    for path in _files(folder, leave_out, remarks):
        file = _one_line(path.relative_to(folder).as_posix())
        try:
            cells, title, said = _read(path)
            number, more = _which_lesson(title, cells)
            learner = _learner(Path(file))
            found.append(Submission(file, learner, number, cells, person=learner))
            remarks += [Remark(file, text, left_out=False) for text in (said, more) if text]
        except Unreadable as error:
            remarks.append(Remark(file, str(error)))
    twice = Counter((each.learner, each.lesson) for each in found)
    for each in found:
        if (count := twice[each.learner, each.lesson]) > 1:
            text = f"One of {count} notebooks of {each.learner} for lesson {each.lesson}; each has a row of its own."
            remarks.append(Remark(each.file, text, left_out=False))
            each.learner += f"/{Path(each.file).stem}"
    same = Counter((each.learner, each.lesson) for each in found)
    for each in found:
        if same[each.learner, each.lesson] > 1:
            text = f"Another notebook has the same name in the tables, {each.learner}: tell them apart by their files."
            remarks.append(Remark(each.file, text, left_out=False))
    found.sort(key=lambda each: (each.lesson, each.learner.casefold(), each.file))
    return found, sorted(remarks, key=lambda remark: (remark.file.casefold(), remark.text))


def _files(folder: Path, leave_out: Path | None, remarks: list[Remark]) -> list[Path]:
    """Not by os.walk, which calls itself for each folder in a folder and gives up after a thousand."""
    found, open_ones = [], [folder]
    while open_ones:
        place = open_ones.pop()
        try:
            inside = sorted(os.scandir(place), key=lambda each: each.name)
        except OSError as error:
            if place == folder:
                raise OSError(f"{folder} can't be read: {error.strerror}.") from None
            file = _one_line(place.relative_to(folder).as_posix())
            remarks.append(Remark(file, f"A folder that can't be read: {error.strerror}."))
            continue
        is_report = leave_out and leave_out.exists() and os.path.samefile(place, leave_out)
        for each in inside:
            if each.name.startswith(LEFT_OUT) or (is_report and each.name.startswith("report.")):
                continue
            if not each.is_dir(follow_symlinks=False):
                found.append(Path(each.path))
            elif not is_report or place == folder:
                open_ones.append(Path(each.path))
    return found


def _one_line(text: str) -> str:
    """As it can be printed in a table, and two ways to write the same letters as one."""
    return unicodedata.normalize("NFC", printable(text).replace("\n", "\N{REPLACEMENT CHARACTER}"))


def _learner(file: Path) -> str:
    """The folders above the file, or the file's own name; without the lesson's name in either."""
    lessons = {Path(notebook).stem for notebook, _ in PLACES.values()}
    if above := [part for part in file.parts[:-1] if part not in lessons]:
        return "/".join(above)
    stem = file.stem
    for name in lessons:
        stem = stem.replace(name, "")
    return stem.strip(" _-") or file.stem


def _read(path: Path) -> tuple[list[str], str, str]:
    """The code cells, the number in the title (or ""), and a remark (or ""). Raises Unreadable."""
    try:
        kind = path.lstat()
        if stat.S_ISLNK(kind.st_mode):
            raise Unreadable("A link to another place; links are not followed.")
        if path.suffix.lower() != ".ipynb":
            advice = " Unpack it first." if path.suffix.lower() in (".zip", ".7z", ".rar", ".gz", ".tar") else ""
            raise Unreadable(f"Not a notebook: its name does not end in .ipynb.{advice}")
        if not stat.S_ISREG(kind.st_mode):
            raise Unreadable("Neither a file nor a folder.")
        if kind.st_size > LARGEST:
            raise Unreadable(f"Larger than {LARGEST // 2**20} MB; a lesson is smaller than 2.")
        content = path.read_bytes()
    except OSError as error:
        raise Unreadable(f"Can't be read: {error.strerror or error}.") from None
    if not content.strip():
        raise Unreadable("An empty file.")
    try:
        text, remark = content.decode(json.detect_encoding(content)), ""
    except UnicodeDecodeError:
        text, remark = content.decode("latin-1"), "Not in UTF-8; read as Latin-1, so some letters may be wrong."
    return *_cells(text.removeprefix("\ufeff")), remark


def _cells(text: str) -> tuple[list[str], str]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"Not a notebook, or a damaged one: no valid JSON{where}.") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if isinstance(cells, list) and len(cells) > MOST_CELLS:
        raise Unreadable(f"{len(cells)} cells; a lesson has about a hundred.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(text, as_version=4)
        code = [str(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
        prose = "\n\n".join(str(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")
    except Exception as error:  # it takes many forms: nbformat meets whatever JSON there is
        raise Unreadable(f"JSON, but not a notebook ({type(error).__name__}).") from None
    title = TITLE.search(prose)
    return code, title["number"] if title else ""


def _which_lesson(title: str, cells: list[str]) -> tuple[str, str]:
    """The lesson of the title, unless only another lesson's exercises are in it; and a remark (or "").

    Raises Unreadable.
    """
    code = "\n".join(cells)
    defined = set(re.findall(r"^[ \t]*def (\w+)", code, flags=re.MULTILINE))  # not \s: quadratic in empty lines
    there = defined | {f"check.{name}" for name in re.findall(r"\bcheck\.(\w+)", code)}
    score = {
        number: sum((name in there) + (f"check.{name}" in there) for name in names) for number, names in LESSONS.items()
    }
    best = max(score, key=score.get)
    if title in score and (score[title] or not score[best]):
        best = title
    elif title in NO_EXERCISES:
        raise Unreadable(f"Lesson {title}, which has no exercises of its own to grade.")
    elif not score[best]:
        raise Unreadable("Not a lesson of this course: it has neither a lesson's title nor any of the exercises.")
    others = [number for number, names in LESSONS.items() if number != best and defined.issuperset(names)]
    return best, f"Lesson {' and '.join(others)} is in it too; graded for lesson {best} only." if others else ""
