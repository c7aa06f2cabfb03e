"""A lesson as an assignment for nbgrader, graded by the course's own checks.

nbgrader reads what it needs to know of a cell from the cell's metadata (its version 3). It makes the students'
version itself: what stands between the two marks in a cell becomes the stub.
"""

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from classroom.versions.lesson import Lesson, LessonExercise, solved
from classroom.versions.student import student_version

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
CONFIGURATION = '''"""nbgrader's settings for this course. Run nbgrader's commands in this folder."""

import os

os.environ["COURSE_PROGRESS"] = "off"  # what a student's notebook passes here, the teacher has not
os.environ["COURSE_INTERACTIVE"] = "0"

c = get_config()  # noqa: F821 (nbgrader provides it)
c.CourseDirectory.course_id = "attention-by-hand"
c.ClearSolutions.code_stub = {"python": "..."}  # the course's own stub
c.Execute.timeout = 300  # seconds a cell may take: lessons 14 and 09 train models
'''
# "raises-exception" lets "Run all" go on behind an exercise that is not solved yet.
GRADED = """\
from lesson_kit import check  # the course's own, whatever the cells above call by this name

graded = check.{name}({name})
{name} = graded.function  # where yours is not right yet, the lesson goes on with the course's own version
assert graded.passed, "{name}: see above\""""


def _mark(cell: NotebookNode, grade_id: str, points: int | None = None, solution: bool = False) -> None:
    graded = points is not None
    cell.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": graded,
        "solution": solution,
        "locked": not solution,
        "task": False,
        **({"points": points} if graded else {}),
    }


def _graded(exercise: LessonExercise, name: str, like: NotebookNode) -> NotebookNode:
    cell = new_code_cell(GRADED.format(name=name), id=f"check-{name}"[:64])
    cell.metadata = {**like.metadata, "tags": [*like.metadata.get("tags", []), "raises-exception"]}
    _mark(cell, f"check-{name}", points=exercise.points[name])
    return cell


def assignment_version(lesson: Lesson, hints: bool = True) -> NotebookNode:
    """The lesson as the source of an nbgrader assignment: solutions between marks, locked checks with points.

    Args:
        lesson: a lesson with exercises.
        hints: do the hints stay?
    """
    notebook = student_version(lesson, hints)
    original = lesson.notebook.cells
    stubs = {original[exercise.stub].id: exercise for exercise in lesson.exercises}
    checks = {original[exercise.check].id: exercise for exercise in lesson.exercises}
    cells = []
    for cell in notebook.cells:
        if exercise := stubs.get(cell.id):
            cell.source = solved(lesson, exercise, BEGIN, END)
            _mark(cell, f"exercise-{exercise.number.replace('.', '-')}", solution=True)
        if exercise := checks.get(cell.id):
            cells += [_graded(exercise, name, cell) for name in exercise.functions]
        else:
            cells.append(cell)
    for name, cell in zip(["set-up", "set-up-imports"], [c for c in cells if c.cell_type == "code"], strict=False):
        _mark(cell, name)
    notebook.cells = cells
    return notebook
