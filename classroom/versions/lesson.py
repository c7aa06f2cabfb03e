"""A lesson, read from its notebook: its exercises with stub, check, hints and solution, its quiz, and its times.

All that the classroom tools know of a notebook's form stands here. Cells are counted from 0, as nbformat does.
"""

import ast
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from nbformat import NotebookNode

from classroom._files import CHECKOUT, NOTEBOOKS, ClassroomError, read_notebook

GUIDES = CHECKOUT / "classroom" / "guide"

TITLE = re.compile(r"^# (?P<number>\d\d) · (?P<title>.+)$", flags=re.MULTILINE)
TIME = re.compile(r"\*\*Time\*\* about (\d+) minutes")
HEADING = re.compile(
    r"^### Exercise (?P<number>\d+\.\d+) · (?P<title>.+?) "
    r"\((?P<minutes>\d+) minutes, (?:difficulty )?(?P<dots>[●○]{3})\)$",
    flags=re.MULTILINE,
)
CHECK = re.compile(r"(?P<name>\w+) = check\.(?P=name)\((?P=name)\)\.function")
FOLDED = re.compile(r"<details>\s*<summary>(?P<summary>.*?)</summary>(?P<body>.*?)</details>\n*", flags=re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)


@dataclass(frozen=True)
class LessonExercise:
    """One exercise of a lesson. ``stub``, ``check`` and ``help`` are the places of its cells in the notebook."""

    number: str  # "1.2"
    title: str
    minutes: int
    difficulty: int  # 1 to 3
    functions: tuple[str, ...]  # those that the learner writes
    stub: int
    check: int
    help: int  # the Markdown cell with hints and solution
    hints: tuple[str, ...]
    solution: str

    @property
    def dots(self) -> str:
        return "●" * self.difficulty + "○" * (3 - self.difficulty)

    @property
    def points(self) -> dict[str, int]:
        """Points for each function: a point for each minute of the exercise, shared as evenly as whole points go."""
        each, more = divmod(self.minutes, len(self.functions))
        return {name: each + (place < more) for place, name in enumerate(self.functions)}


@dataclass(frozen=True)
class Lesson:
    """One lesson. ``quiz`` holds the places of its quiz cells; ``guide`` is its teaching guide, or None without one."""

    path: Path
    notebook: NotebookNode
    title: str
    minutes: int
    exercises: tuple[LessonExercise, ...]
    quiz: tuple[int, ...]
    guide: str | None

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def number(self) -> str:
        return self.name[:2]


def find_lessons(numbers: list[str] | None = None, folder: Path | None = None) -> list[Path]:
    """The notebooks of the lessons with these numbers ("3", "03" or "03_masks"), in order; of all without numbers.

    Raises:
        ClassroomError: no lessons in ``folder``, or none with one of the numbers.
    """
    folder = folder or NOTEBOOKS
    found = {path.stem[:2]: path for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}
    if not found:
        raise ClassroomError(
            f"{folder} holds no lessons (NN_name.ipynb): give the course's notebooks with --notebooks."
        )
    if numbers is None:
        return list(found.values())
    chosen = {}
    for asked in numbers:
        number = asked.zfill(2) if asked.isdecimal() else asked.removesuffix(".ipynb")[:2]
        if number not in found or not (asked.isdecimal() or asked.removesuffix(".ipynb") == found[number].stem):
            raise ClassroomError(f"There is no lesson {asked!r} in {folder}: it has {', '.join(found)}.")
        chosen[number] = found[number]
    return [chosen[number] for number in sorted(chosen)]


def read_lesson(path: Path) -> Lesson:
    """Reads one notebook.

    Raises:
        ClassroomError: no notebook, or not in the form that lessons have; it names the notebook and the cell.
    """
    notebook = read_notebook(path)
    first = notebook.cells[0].source if notebook.cells else ""
    title, time = TITLE.search(first), TIME.search(first)
    if not title or not time:
        missing = "a title like '# 03 · Masks'" if not title else "its time, '**Time** about 45 minutes'"
        raise ClassroomError(f"{path.name}, cell 0: a lesson begins with {missing}, and this one does not.")
    guide = GUIDES / f"{path.stem}.md"
    return Lesson(
        path,
        notebook,
        title["title"].strip(),
        int(time[1]),
        _exercises(path.name, notebook.cells),
        tuple(place for place, cell in enumerate(notebook.cells) if "quiz" in cell.metadata.get("tags", [])),
        guide.read_text(encoding="utf-8") if guide.exists() else None,
    )


def _exercises(name: str, cells: list[NotebookNode]) -> tuple[LessonExercise, ...]:
    starts = [place for place, cell in enumerate(cells) if cell.cell_type == "markdown" and HEADING.search(cell.source)]
    for place, cell in enumerate(cells):
        if cell.cell_type == "markdown" and "### Exercise" in cell.source and place not in starts:
            form = "'### Exercise 1.2 · softmax (8 minutes, ●●○)'"
            raise ClassroomError(f"{name}, cell {place}: this heading of an exercise does not have the form {form}.")
        if cell.cell_type == "code" and CHECK.search(cell.source) and not (starts and place > starts[0]):
            raise ClassroomError(f"{name}, cell {place}: a check, but no heading of an exercise above it.")
    return tuple(_exercise(name, cells, start, end) for start, end in pairwise([*starts, len(cells)]))


def _exercise(name: str, cells: list[NotebookNode], start: int, end: int) -> LessonExercise:
    """The exercise whose heading is in cell ``start``; it ends before cell ``end``."""
    heading = HEADING.search(cells[start].source)

    def first(kind: str, what: str, fits) -> int:
        for place in range(start, end):
            if cells[place].cell_type == kind and fits(cells[place].source):
                return place
        raise ClassroomError(f"{name}, cell {start}: exercise {heading['number']} has no {what} below its heading.")

    check = first("code", "check cell (softmax = check.softmax(softmax).function)", CHECK.search)
    functions = tuple(match["name"] for match in CHECK.finditer(cells[check].source))
    stub = first("code", f"stub that defines {functions[0]}", lambda source: f"def {functions[0]}(" in source)
    help_cell = first("markdown", "solution", lambda source: any(s == "Solution" for s, _ in folded(source)))
    blocks = folded(cells[help_cell].source)
    code = PYTHON.findall(next(body for summary, body in blocks if summary == "Solution"))
    if len(code) != 1:
        raise ClassroomError(f"{name}, cell {help_cell}: a solution is one block of Python code, here are {len(code)}.")
    fill(cells[stub].source, code[0], f"{name}, cell {stub}", functions)  # now, not only when it is needed
    return LessonExercise(
        number=heading["number"],
        title=heading["title"],
        minutes=int(heading["minutes"]),
        difficulty=heading["dots"].count("●"),
        functions=functions,
        stub=stub,
        check=check,
        help=help_cell,
        hints=tuple(body.strip() for summary, body in blocks if summary.startswith("Hint")),
        solution=code[0],
    )


def folded(markdown: str) -> list[tuple[str, str]]:
    """What is folded up in a Markdown cell: pairs of the line to click on and what it hides."""
    return [(match["summary"].strip(), match["body"]) for match in FOLDED.finditer(markdown)]


def without_folded(markdown: str, *beginnings: str) -> str:
    """Without those folded parts whose line to click on begins with one of ``beginnings``."""
    kept = FOLDED.sub(lambda match: "" if match["summary"].strip().startswith(beginnings) else match[0], markdown)
    return kept.strip("\n")


def fill(stub: str, solution: str, where: str, functions: tuple[str, ...], begin: str = "", end: str = "") -> str:
    """The stub's source with the bodies of the solution in place of its dots, between the lines ``begin`` and ``end``.

    Raises:
        ClassroomError: one of ``functions`` is no stub, or not solved; it begins with ``where``.
    """
    parts = {}
    for what, source in (("stub", stub), ("solution", solution)):
        try:
            nodes = ast.parse(source).body
        except SyntaxError as error:
            raise ClassroomError(
                f"{where}: the {what} is not Python: {error.msg} in its line {error.lineno}."
            ) from error
        parts[what] = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    lines = stub.splitlines()
    for name in reversed(functions):  # from below, so that the line numbers above stay true
        there, solved = parts["stub"].get(name), parts["solution"].get(name)
        dots = there.body[-1] if there else None
        if not (isinstance(dots, ast.Expr) and isinstance(dots.value, ast.Constant) and dots.value.value is ...):
            raise ClassroomError(f"{where}: the stub of {name} does not end with three dots.")
        if solved is None:
            raise ClassroomError(f"{where}: the solution does not define {name}.")
        first = 1 if ast.get_docstring(solved) is not None else 0
        last_line_before = solved.body[0].end_lineno if first else solved.body[0].lineno - 1
        body = solution.splitlines()[last_line_before : solved.end_lineno]
        marks = [" " * dots.col_offset + mark if mark else None for mark in (begin, end)]
        lines[dots.lineno - 1 : dots.end_lineno] = filter(None, [marks[0], *body, marks[1]])
    return "\n".join(lines)


def solved(lesson: Lesson, exercise: LessonExercise, begin: str = "", end: str = "") -> str:
    """The source of the exercise's stub cell with the solution in it."""
    where = f"{lesson.path.name}, cell {exercise.stub}"
    return fill(
        lesson.notebook.cells[exercise.stub].source, exercise.solution, where, exercise.functions, begin=begin, end=end
    )
