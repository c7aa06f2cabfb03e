"""The teacher's version of a lesson: solved, with times, the known mistakes behind each exercise, and the guide."""

import ast
import copy
import os
import re
import tempfile

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from classroom._files import CHECKOUT, ClassroomError
from classroom.versions.lesson import GUIDES, Lesson, LessonExercise, solved
from lesson_kit.check import EXERCISES

SECONDS = 300  # for one cell
# Asked right after a check, which gives the course's own version for what has not passed.
FAILED = """\
for _name in {names!r}:
    if globals()[_name] is __import__("lesson_kit.check", fromlist=["check"]).EXERCISES[_name].reference:
        print(_name)
"""


def solved_version(lesson: Lesson) -> NotebookNode:
    """The lesson with the solutions in place of the stubs; the cells of the exercises lose their outputs."""
    notebook = copy.deepcopy(lesson.notebook)
    for exercise in lesson.exercises:
        notebook.cells[exercise.stub].source = solved(lesson, exercise)
        for place in (exercise.stub, exercise.check):
            notebook.cells[place].outputs = []
    return notebook


def execute(lesson: Lesson, notebook: NotebookNode, everything: bool = False) -> None:
    """Runs the solved ``notebook`` in a fresh kernel and puts the outputs in; every check must pass.

    Args:
        lesson: the lesson that it was made from.
        notebook: what ``solved_version`` gave.
        everything: run all cells. Otherwise the set-up cell, the imports and the exercises are run, and the
            other cells keep the outputs that they have.

    Raises:
        ClassroomError: a cell fails, or a solution does not pass its check.
    """
    code = [place for place, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    questions = {each.check: new_code_cell(FAILED.format(names=each.functions)) for each in lesson.exercises}
    before = []
    if not everything and lesson.exercises:
        wanted = {place for exercise in lesson.exercises for place in (exercise.stub, exercise.check)}
        set_up = new_code_cell(notebook.cells[code[0]].source)
        imports = new_code_cell("\n".join(_imports(notebook.cells[place].source) for place in code[1 : max(wanted)]))
        before = [(code[0], set_up), (code[0], imports)]
        code = [place for place in code if place in wanted]
    if everything or lesson.exercises:
        asked = [(place, [notebook.cells[place], *filter(None, [questions.get(place)])]) for place in code]
        _run(lesson, before + [(place, cell) for place, cells in asked for cell in cells])
    for exercise in lesson.exercises:
        cell = notebook.cells[exercise.check]
        if failed := "".join(output.get("text", "") for output in questions[exercise.check].outputs).split():
            said = "\n".join(str(output.get("data", {}).get("text/plain", "")) for output in cell.outputs)
            raise ClassroomError(
                f"{lesson.path.name}, cell {exercise.check}: "
                f"the solution of {failed[0]} does not pass its check. {said}"
            )


def _imports(source: str) -> str:
    """The import statements of a cell, and nothing else of it. None of a cell with IPython's own commands."""
    try:
        nodes = ast.parse(source).body
    except SyntaxError:
        return ""
    return "\n".join(ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


def _run(lesson: Lesson, cells: list[tuple[int, NotebookNode]]) -> None:
    """Runs these cells, each with its place in the lesson, in a fresh kernel that uses this copy of the course."""
    notebook = NotebookNode(nbformat=4, nbformat_minor=5, metadata={}, cells=[cell for _, cell in cells])
    paths = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH", "")]))
    surroundings = {"PYTHONPATH": paths, "COURSE_PROGRESS": "off", "COURSE_INTERACTIVE": "0"}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],  # not its warnings about the connection
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=os.environ | surroundings)
        except CellExecutionError as error:
            place = next(
                place for place, cell in cells if any(o.output_type == "error" for o in cell.get("outputs", []))
            )
            raise ClassroomError(
                f"{lesson.path.name}, cell {place}: with the solutions in place it raised {error.ename}: {error.evalue}"
            ) from error
        except (CellTimeoutError, DeadKernelError) as error:
            raise ClassroomError(f"{lesson.path.name}: {str(error).splitlines()[0]}") from error


def teacher_version(lesson: Lesson, everything: bool = False) -> NotebookNode:
    """The lesson solved and executed, with notes for the teacher in Markdown cells with the tag "teacher".

    Args:
        lesson: the lesson.
        everything: execute all cells, not the exercises' only.

    Raises:
        ClassroomError: a cell fails, or a solution does not pass its check.
    """
    notebook = solved_version(lesson)
    execute(lesson, notebook, everything)
    notes = {0: _about(lesson)} | {exercise.check: _mistakes(exercise) for exercise in lesson.exercises}
    cells = []
    for place, cell in enumerate(notebook.cells):
        cells.append(cell)
        if place in notes:
            cells.append(new_markdown_cell(notes[place], id=f"teacher-{place}", metadata={"tags": ["teacher"]}))
    notebook.cells = cells
    return notebook


def _about(lesson: Lesson) -> str:
    """The note on top: times, and the teaching guide with its headings one level down."""
    text = [
        "## For the teacher",
        f"This is the teacher's version of lesson {lesson.number}. The solutions stand in place of the stubs, so every "
        "check passes. Cells with the heading *For the teacher* are in no other version. The lesson takes about "
        f"{lesson.minutes} minutes alone.",
    ]
    if lesson.exercises:
        rows = [
            f"| {exercise.number} | {_plain(exercise.title)} | {exercise.minutes} | {exercise.dots} |"
            for exercise in lesson.exercises
        ]
        text.append("\n".join(["| Exercise | Title | Minutes, and points | Difficulty |", "|---|---|---|---|", *rows]))
    if lesson.guide is None:
        text.append(f"There is no teaching guide for this lesson ({GUIDES.name}/{lesson.name}.md).")
    else:
        text.append(re.sub(r"^(#+ )", r"#\1", lesson.guide.strip(), flags=re.MULTILINE))
    return "\n\n".join(text)


def _mistakes(exercise: LessonExercise) -> str:
    """The note at an exercise: what its checks know by name, with the first hint that a learner gets."""
    example = exercise.functions[0]
    slug = next(iter(EXERCISES[example].mistakes))
    parts = [
        f"#### For the teacher: exercise {exercise.number}",
        f"{exercise.minutes} minutes, difficulty {exercise.dots}. These are the misconceptions that the check knows by "
        "name, with the first hint that it gives. A second failure of the same kind brings the next hint; "
        f'`check.explain("{slug}", "{example}")` tells the longer story of one.',
    ]
    for name in exercise.functions:
        rows = [f"| `{slug}` | {_plain(mistake.hints[0])} |" for slug, mistake in EXERCISES[name].mistakes.items()]
        parts.append("\n".join([f"| Mistake in {_plain(name)} | First hint |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """Text for a table cell in Markdown: nothing in it but `code` is read as markup."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = [re.sub(r"([\\*$<\[\]~]|\b_|_\b)", r"\\\1", part) for part in parts[::2]]
    return " ".join("".join(parts).replace("|", r"\|").split())
