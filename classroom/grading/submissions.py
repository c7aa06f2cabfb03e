"""The notebooks of a folder: whose they are, which lesson they are, and what can't be read."""

import json
import os
import re
import stat
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from classroom.grading.grading import Verdict
from lesson_kit import check

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
LARGEST = 20 * 2**20  # bytes; a lesson with all its pictures stays under 1.5 million
TITLE = re.compile(r"^# (\d\d) ·", flags=re.MULTILINE)
NO_EXERCISES = ("00", "19")
LEFT_OUT = (".", "_", "~")  # how the names of hidden files and of other programs' leavings begin


def _lessons() -> dict[str, list[str]]:
    """The exercises of each lesson that has any, in the lesson's order."""
    lessons: dict[str, list[str]] = {}
    for name, exercise in check.EXERCISES.items():
        lessons.setdefault(exercise.reference.__module__[-2:], []).append(name)
    for path in NOTEBOOKS.glob("*.ipynb"):
        text = path.read_text(encoding="utf-8")
        lessons.get(path.stem[:2], []).sort(key=lambda name: text.find(f"check.{name}("))  # noqa: B023 (used at once)
    return lessons


LESSONS = _lessons()


@dataclass
class Submission:
    """One notebook. ``cells`` is the code in its cells; ``verdicts`` come with the grading."""

    file: str
    learner: str
    lesson: str
    cells: list[str] = field(repr=False)
    verdicts: dict[str, Verdict] = field(default_factory=dict)


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
        file = _printable(path.relative_to(folder).as_posix())
        try:
            cells, title, remark = _read(path)
            found.append(Submission(file, _learner(Path(file)), _lesson(title, cells), cells))
            if remark:
                remarks.append(Remark(file, remark, left_out=False))
        except Unreadable as error:
            remarks.append(Remark(file, str(error)))
    twice = Counter((each.learner, each.lesson) for each in found)
    for each in found:
        if (count := twice[each.learner, each.lesson]) > 1:
            text = f"One of {count} notebooks of {each.learner} for lesson {each.lesson}; each has a row of its own."
            remarks.append(Remark(each.file, text, left_out=False))
            each.learner += f"/{Path(each.file).stem}"
    found.sort(key=lambda each: (each.lesson, each.learner.casefold(), each.file))
    return found, sorted(remarks, key=lambda remark: (remark.file.casefold(), remark.text))


def _files(folder: Path, leave_out: Path | None, remarks: list[Remark]) -> list[Path]:
    def closed(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise OSError(f"{folder} can't be read: {error.strerror}.")
        file = _printable(Path(error.filename).relative_to(folder).as_posix())
        remarks.append(Remark(file, f"A folder that can't be read: {error.strerror}."))

    found = []
    for place, folders, files in os.walk(folder, onerror=closed):
        if leave_out and leave_out.exists() and os.path.samefile(place, leave_out):
            files = [name for name in files if not name.startswith("report.")]
            folders[:] = folders if os.path.samefile(place, folder) else []
        folders[:] = [name for name in folders if not name.startswith(LEFT_OUT)]
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]  # os.walk leaves these out
        found += [Path(place, name) for name in [*files, *links] if not name.startswith(LEFT_OUT)]
    return found


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _learner(file: Path) -> str:
    """The folders above the file, or the file's own name; without the lesson's name in either."""
    lessons = {path.stem for path in NOTEBOOKS.glob("*.ipynb")}
    if above := [part for part in file.parts[:-1] if part not in lessons]:
        return "/".join(above)
    stem = file.stem
    for lesson in lessons:
        stem = stem.replace(lesson, "")
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
        json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" in line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"Not a notebook, or a damaged one: no valid JSON{where}.") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(text, as_version=4)
        code = [str(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
        prose = "\n\n".join(str(cell.source) for cell in notebook.cells if cell.cell_type == "markdown")
    except Exception as error:  # it takes many forms: nbformat meets whatever JSON there is
        raise Unreadable(f"JSON, but not a notebook ({type(error).__name__}).") from None
    title = TITLE.search(prose)
    return code, title[1] if title else ""


def _lesson(title: str, cells: list[str]) -> str:
    """The lesson of the title, unless only another lesson's exercises are in it. Raises Unreadable."""
    code = "\n".join(cells)
    there = set(re.findall(r"^\s*(def \w+)", code, flags=re.MULTILINE)) | set(re.findall(r"\bcheck\.\w+", code))
    score = {
        lesson: sum((f"def {name}" in there) + (f"check.{name}" in there) for name in names)
        for lesson, names in LESSONS.items()
    }
    best = max(score, key=score.get)
    if title in score and (score[title] or not score[best]):
        return title
    if title in NO_EXERCISES:
        raise Unreadable(f"Lesson {title}, which has no exercises of its own to grade.")
    if score[best]:
        return best
    raise Unreadable("Not a lesson of this course: it has neither a lesson's title nor any of the exercises.")
