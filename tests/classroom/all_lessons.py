"""Every version of every lesson, for real: ``python tests/classroom/all_lessons.py [NN ...]``. Takes a while.

For each lesson: the student's version runs from top to bottom; the teacher's passes every check; nbgrader makes the
release and grades a solved submission with all points and an untouched one with none. Needs ``pip install nbgrader``.
Prints a line for each lesson as it goes, and ends with status 1 if one of them failed.
"""

import csv
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

from classroom.__main__ import main
from classroom._files import CHECKOUT
from classroom.versions.lesson import Lesson, find_lessons, read_lesson

SURROUNDINGS = {
    "COURSE_INTERACTIVE": "0",
    "COURSE_PROGRESS": "off",
    "TOKENIZERS_PARALLELISM": "false",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # nbgrader calls alembic by name
    "PYTHONPATH": os.pathsep.join([str(CHECKOUT), os.environ.get("PYTHONPATH", "")]),
}


def run_students(lesson: Lesson, folder: Path) -> str:
    """Runs the student's version; an error in a cell is raised."""
    notebook = nbformat.read(folder / "student" / lesson.path.name, as_version=4)
    resources = {"metadata": {"path": str(folder / "student")}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    return f"student runs ({sum(cell.cell_type == 'code' for cell in notebook.cells)} cells)"


def grade(lesson: Lesson, course: Path) -> str:
    """Lets nbgrader make the release and grade a solved and an untouched submission."""

    def nbgrader(*arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "nbgrader", *arguments], cwd=course, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"nbgrader {' '.join(arguments)}: {done.stderr[-2000:]}")

    nbgrader("generate_assignment", lesson.name)
    for student, origin in (("solved", "source"), ("untouched", "release")):
        shutil.copytree(course / origin / lesson.name, course / "submitted" / student / lesson.name)
    nbgrader("autograde", lesson.name)
    nbgrader("export")
    with open(course / "grades.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["assignment"] == lesson.name]
    grades = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in rows}
    points = float(sum(exercise.minutes for exercise in lesson.exercises))
    if grades != {"solved": (points, points), "untouched": (0.0, points)}:
        raise RuntimeError(f"nbgrader gave {grades}, and there are {points:g} points.")
    return f"nbgrader: solved {points:g} of {points:g}, untouched 0"


def check_lesson(lesson: Lesson, folder: Path) -> str:
    """All of it for one lesson, in an empty folder; what fails is raised."""
    arguments = ["--lessons", lesson.number, "--output", str(folder), "--only", "student", "teacher", "assignment"]
    if main(["build", *arguments]):
        raise RuntimeError("it could not be built")
    count = sum(len(exercise.functions) for exercise in lesson.exercises)
    parts = [run_students(lesson, folder), f"teacher passes {count} checks" if count else "no exercises"]
    if count:
        parts.append(grade(lesson, folder / "assignment"))
    return "; ".join(parts)


if __name__ == "__main__":
    os.environ |= SURROUNDINGS
    failed = False
    for path in find_lessons(sys.argv[1:] or None):
        start = time.perf_counter()
        with TemporaryDirectory() as temporary:
            try:
                result = check_lesson(read_lesson(path), Path(temporary))
            except Exception as error:  # the other lessons are looked at all the same
                result, failed = f"FAILED: {type(error).__name__}: {error}", True
        print(f"{path.stem}: {result} ({time.perf_counter() - start:.0f} s)", flush=True)
    sys.exit(failed)
