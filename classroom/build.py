"""``build``: the versions of the lessons that a class needs, made from the notebooks into one folder."""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from classroom._files import CHECKOUT, ClassroomError, counted
from classroom.versions.assignment import CONFIGURATION, assignment_version
from classroom.versions.lesson import Lesson, find_lessons, read_lesson
from classroom.versions.student import student_version

PARTS = ("student", "teacher", "assignment", "pages", "slides", "worksheets")
OUTPUT = Path("build") / "classroom"
MARKER = ".classroom-build.json"  # in the output folder: each file that this command wrote, and its sha256


def add_to(subparsers: argparse._SubParsersAction) -> None:
    """Adds ``build`` to the commands."""
    parser = subparsers.add_parser("build", help="make the versions for students, teacher, nbgrader, screen and paper")
    parser.add_argument("--lessons", nargs="+", metavar="NN", help="which lessons, such as 01 03 (default: all)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="which versions (default: all)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"the folder to write into (default: {OUTPUT})")
    parser.add_argument("--notebooks", type=Path, help="the folder of the lessons (default: the course's own)")
    parser.add_argument(
        "--hints", action=argparse.BooleanOptionalAction, default=True, help="do the students get the hints?"
    )
    parser.add_argument(
        "--links",
        action="store_true",
        help="keep the links to Binder and Colab in the students' version; they open the one with solutions",
    )
    parser.add_argument(
        "--solutions", action=argparse.BooleanOptionalAction, default=True, help="do the pages hold the solutions?"
    )
    parser.add_argument(
        "--run-all",
        action="store_true",
        help="run every cell of the teacher's version, not those of the exercises only",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into a folder that this command did not make, over changed files too",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """What the command line asks for: everything is made in a temporary folder first, then put in its place.

    Raises:
        ClassroomError: bad input, such as an unknown lesson, a broken notebook or a folder of somebody else's.
        OSError: the folder can't be written.
    """
    output = arguments.output
    check_folder(output, arguments.force)
    lessons = [read_lesson(path) for path in find_lessons(arguments.lessons, arguments.notebooks)]
    with tempfile.TemporaryDirectory() as folder:
        for part in PARTS:
            if part in arguments.only:
                made = _maker(part, arguments)(lessons, Path(folder) / part)
                print(f"{part}: {made}", flush=True)
        count = put_in_place(Path(folder), output, arguments.force)
    print(f"{counted(count, 'file')} written into {output}.")


def _maker(part: str, arguments: argparse.Namespace) -> Callable[[Sequence[Lesson], Path], str]:
    """The function that makes one part of the lessons into a folder, and says what it made."""
    if part == "student":
        return lambda lessons, folder: write_all(
            lessons, folder, lambda lesson: student_version(lesson, arguments.hints, arguments.links)
        )
    if part == "teacher":
        from classroom.versions.teacher import teacher_version  # it needs torch, so it is not loaded by --help

        return lambda lessons, folder: write_all(
            lessons, folder, lambda lesson: teacher_version(lesson, arguments.run_all)
        )
    if part == "assignment":
        return lambda lessons, folder: write_assignments(lessons, folder, arguments.hints)
    if part == "pages":
        return lambda lessons, folder: write_pages(lessons, folder, arguments.solutions)
    return lambda lessons, folder: _other(part, lessons, folder)


def write_pages(lessons: Sequence[Lesson], folder: Path, solutions: bool = True) -> str:
    """The course's web site, of these lessons: ``python -m tools.site``, the command that publishes it.

    Raises:
        ClassroomError: it can't be made; the message is the command's own.
    """
    command = [sys.executable, "-m", "tools.site", "--output", folder.absolute()]
    command += ["--notebooks", lessons[0].path.parent.absolute(), "--lessons", *(lesson.name for lesson in lessons)]
    command += [] if solutions else ["--without-solutions"]
    done = subprocess.run([str(word) for word in command], cwd=CHECKOUT, capture_output=True, text=True)
    if done.returncode != 0:
        raise ClassroomError(done.stderr.strip())
    (folder / MARKER).unlink()  # the whole build has its own
    return counted(len(lessons), "lesson")


def _other(part: str, lessons: Sequence[Lesson], folder: Path) -> str:
    folder.mkdir()
    try:
        import_module(f"classroom.printing.{part}").build([lesson.path for lesson in lessons], folder)
    except ModuleNotFoundError as error:
        raise ClassroomError(f"{part} need the package {error.name}, which is not installed here.") from error
    return counted(sum(path.is_file() for path in folder.rglob("*")), "file")


def write(notebook: NotebookNode, path: Path) -> None:
    """Writes a notebook, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


def write_all(lessons: Sequence[Lesson], folder: Path, version: Callable[[Lesson], NotebookNode]) -> str:
    """Writes one version of each lesson under the lesson's own name: links from one to the next still lead on."""
    for lesson in lessons:
        write(version(lesson), folder / lesson.path.name)
    return counted(len(lessons), "lesson")


def write_assignments(lessons: Sequence[Lesson], folder: Path, hints: bool = True) -> str:
    """Writes a course folder for nbgrader: its settings, and an assignment for each lesson that has exercises."""
    with_exercises = [lesson for lesson in lessons if lesson.exercises]
    for lesson in with_exercises:
        write(assignment_version(lesson, hints), folder / "source" / lesson.name / lesson.path.name)
    folder.mkdir(exist_ok=True)
    (folder / "nbgrader_config.py").write_text(CONFIGURATION, encoding="utf-8")
    without = [lesson.number for lesson in lessons if not lesson.exercises]
    nothing = f"; {' and '.join(without)} without exercises to grade" if without else ""
    return f"{counted(len(with_exercises), 'assignment')}{nothing}"


def check_folder(folder: Path, force: bool = False) -> None:
    """Is this a folder to write into? Nothing is changed.

    Raises:
        ClassroomError: it is a file, can't be written, or holds what this command did not make (unless ``force``).
    """
    if folder.exists() and not folder.is_dir():
        raise ClassroomError(f"--output {folder} is a file; give a folder.")
    if folder.exists() and not force and not (folder / MARKER).exists() and any(folder.iterdir()):
        raise ClassroomError(
            f"--output {folder} is not empty, and this command did not make it. Give another folder, or add --force: "
            "then files of the same name are replaced, and nothing else is touched."
        )
    nearest = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not nearest.is_dir():
        raise ClassroomError(f"--output {folder} can't be made: {nearest} is a file.")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise ClassroomError(
            f"--output {folder} can't be written: {nearest} is read-only for you. Give another folder."
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def put_in_place(made: Path, folder: Path, force: bool = False) -> int:
    """Moves the files below ``made`` into ``folder`` and returns their number. Other files there are left alone.

    Raises:
        ClassroomError: a file would be lost that this command did not write, or that was changed since (unless
            ``force``); then none is written.
    """
    marker = folder / MARKER
    try:
        written = dict(json.loads(marker.read_text(encoding="utf-8"))) if marker.exists() else {}
    except (ValueError, TypeError):
        written = {}  # damaged: then no file there is known to be ours
    files = {path.relative_to(made).as_posix(): path for path in sorted(made.rglob("*")) if path.is_file()}
    sums = {name: _sha256(path) for name, path in files.items()}
    for name in files:
        there = folder / name
        if there.exists() and not force and _sha256(there) not in (sums[name], written.get(name)):
            raise ClassroomError(
                f"{there} has been changed since this command wrote it. Move it away, or add --force to replace it."
            )
    try:
        for name, path in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / name)
            written[name] = sums[name]
    finally:
        if written:
            marker.write_text(json.dumps(written, indent=1), encoding="utf-8")
    return len(files)
