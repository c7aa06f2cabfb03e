"""``python -m classroom build``: what students, teacher and nbgrader get, made from every lesson."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from nbclient import NotebookClient

from classroom.__main__ import main
from classroom._files import NOTEBOOKS, ClassroomError
from classroom.build import MARKER
from classroom.versions.assignment import BEGIN, END, assignment_version
from classroom.versions.lesson import fill, find_lessons, read_lesson, solved
from classroom.versions.student import student_version
from classroom.versions.teacher import solved_version, teacher_version
from lesson_kit import check
from lesson_kit.check import EXERCISES

LESSONS = {path.stem: read_lesson(path) for path in find_lessons()}
every_lesson = pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
with_exercises = pytest.mark.parametrize("lesson", [pytest.param(e, id=n) for n, e in LESSONS.items() if e.exercises])
FIRST, MASKS = LESSONS["01_attention_by_hand"], LESSONS["03_masks"]


def code(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def text(notebook) -> str:
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def shown(cell) -> str:
    return "\n".join(output.get("text", "") or output.data.get("text/plain", "") for output in cell.outputs)


def build(*arguments) -> int:
    return main(["build", *map(str, arguments)])


# --- reading a lesson --------------------------------------------------------------------------


def test_every_exercise_that_has_a_check_is_found_once():
    found = [name for lesson in LESSONS.values() for each in lesson.exercises for name in each.functions]
    assert sorted(found) == sorted(EXERCISES)


def test_what_is_read_of_an_exercise():
    softmax = FIRST.exercises[1]
    assert (softmax.number, softmax.title, softmax.minutes, softmax.dots) == ("1.2", "softmax", 8, "●●○")
    assert softmax.functions == ("softmax",) and len(softmax.hints) == 3
    assert "keepdim=True" in softmax.hints[1] and softmax.solution.startswith("def softmax(scores):")
    assert (FIRST.number, FIRST.title, FIRST.minutes) == ("01", "Attention by hand", 80)


def test_points_are_minutes_shared_by_the_functions_of_an_exercise():
    *_, norms = LESSONS["06_add_norm_feed_forward"].exercises
    assert norms.points == {"post_norm": 3, "pre_norm": 3}
    for lesson in LESSONS.values():
        for exercise in lesson.exercises:
            assert sum(exercise.points.values()) == exercise.minutes and min(exercise.points.values()) > 0


STUB = 'def f(x):\n    """Twice x."""\n    ...'


def test_a_solution_takes_the_place_of_the_dots_and_nothing_else():
    solution = "def f(x):\n    # twice\n    return (\n        2 * x\n    )\n\n\ndef unused():\n    return 0"
    body = "    # twice\n    return (\n        2 * x\n    )"
    assert fill(STUB, solution.replace("    # twice\n", ""), "cell 1", ("f",)) == STUB.replace(
        "    ...", body.replace("    # twice\n", "")
    )
    marked = fill(STUB, solution, "cell 1", ("f",), begin="# (", end="# )")
    assert marked.splitlines()[2] == "    # (" and marked.endswith("2 * x\n    )\n    # )")


@pytest.mark.parametrize(
    "stub, solution, complaint",
    [
        ("def f(x):\n    return x", "def f(x):\n    return 2", "the stub of f does not end with three dots"),
        (STUB, "def g(x):\n    return 2", "the solution does not define f"),
        (STUB, "def f(x:\n", "the solution is not Python"),
        ("def f(x:\n", STUB, "the stub is not Python"),
    ],
)
def test_a_broken_exercise_is_named(stub, solution, complaint):
    with pytest.raises(ClassroomError, match=f"cell 7: {complaint}"):
        fill(stub, solution, "cell 7", ("f",))


# --- the student's version ---------------------------------------------------------------------


def lines(source: str) -> set[str]:
    return {" ".join(line.split()) for line in source.splitlines()} - {""}


def telling(lesson) -> set[str]:
    """The lines of a lesson's solutions that stand nowhere else in it."""
    elsewhere = lines("\n".join(code(lesson.notebook)))
    for cell in lesson.notebook.cells:
        if cell.cell_type == "markdown":
            rest = re.sub(r"<summary>Solution</summary>.*?</details>", "", cell.source, flags=re.DOTALL)
            elsewhere |= lines(rest)
    return set().union(*(lines(exercise.solution) for exercise in lesson.exercises)) - elsewhere


@every_lesson
@pytest.mark.parametrize("hints", [True, False])
def test_the_students_get_no_line_of_a_solution_and_no_output(lesson, hints):
    notebook = student_version(lesson, hints)
    assert not telling(lesson) & lines(json.dumps(notebook, ensure_ascii=False).replace("\\n", "\n"))
    assert bool(lesson.exercises) == bool(telling(lesson))
    assert "<summary>Solution" not in text(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs") and cell.get("execution_count") is None


@every_lesson
def test_the_students_get_every_code_cell_and_every_quiz_question(lesson):
    notebook = student_version(lesson)
    nbformat.validate(notebook)
    assert code(notebook) == code(lesson.notebook)
    ids = {cell.id for cell in notebook.cells}
    assert all(lesson.notebook.cells[place].id in ids for place in lesson.quiz)


@with_exercises
def test_hints_stay_or_go(lesson):
    hints = [hint for exercise in lesson.exercises for hint in exercise.hints]
    assert len(hints) >= len(lesson.exercises)
    with_hints, without = text(student_version(lesson)), text(student_version(lesson, hints=False))
    for hint in hints:
        assert hint in with_hints and hint not in without
    after = [lesson.notebook.cells[exercise.help].source.rpartition("</details>")[2] for exercise in lesson.exercises]
    assert all(rest.strip() in without for rest in after), "what follows the hints in their cell stays"


@every_lesson
def test_no_link_leads_to_the_solutions(lesson):
    assert "mybinder.org/v2" not in text(student_version(lesson))
    assert "mybinder.org/v2" in text(student_version(lesson, links=True))


def test_links_stay_if_asked_for(tmp_path):
    assert build("--lessons", "03", "--only", "student", "--links", "--output", tmp_path / "class") == 0
    assert "mybinder.org/v2" in (tmp_path / "class" / "student" / MASKS.path.name).read_text(encoding="utf-8")


def test_making_a_version_leaves_the_lesson_as_it_is():
    before = json.dumps(MASKS.notebook)
    student_version(MASKS, hints=False)
    solved_version(MASKS)
    assignment_version(MASKS)
    assert json.dumps(MASKS.notebook) == before


def test_the_students_version_runs_from_top_to_bottom(tmp_path):
    """One of them: its code is the lesson's own, as the test above says, and each lesson's own is run by nbval."""
    lesson = FIRST
    assert build("--lessons", lesson.number, "--only", "student", "--output", tmp_path / "class") == 0
    notebook = nbformat.read(tmp_path / "class" / "student" / lesson.path.name, as_version=4)
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources=folder).execute()
    for exercise in lesson.exercises:
        outputs = "\n".join(shown(cell) for cell in notebook.cells if cell.cell_type == "code")
        assert f"{exercise.functions[0]}: not attempted yet" in outputs


# --- the teacher's version ---------------------------------------------------------------------


def test_the_teachers_version_passes_every_check(tmp_path):
    lesson = MASKS
    assert build("--lessons", lesson.number, "--only", "teacher", "--output", tmp_path / "class") == 0
    notebook = nbformat.read(tmp_path / "class" / "teacher" / lesson.path.name, as_version=4)
    by_id = {cell.id: cell for cell in notebook.cells}
    solved_cells = set()
    for exercise in lesson.exercises:
        stub, checked = (lesson.notebook.cells[place].id for place in (exercise.stub, exercise.check))
        assert by_id[stub].source == solved(lesson, exercise)
        assert all(f"{name}: passed." in shown(by_id[checked]) for name in exercise.functions)
        solved_cells |= {stub, checked}
    for cell in lesson.notebook.cells:
        assert cell.id in by_id
        if cell.cell_type == "code" and cell.id not in solved_cells:
            assert by_id[cell.id].outputs == cell.outputs
    notes = "\n".join(cell.source for cell in notebook.cells if "teacher" in cell.metadata.get("tags", []))
    for exercise in lesson.exercises:
        for name in exercise.functions:
            assert all(f"| `{slug}` |" in notes for slug in EXERCISES[name].mistakes)
        assert f"| {exercise.number} |" in notes and f"| {exercise.minutes} | {exercise.dots} |" in notes


@with_exercises
def test_every_solution_in_its_stub_passes_the_check(lesson, capsys):
    namespace = {}
    exec("import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn", namespace)
    notebook = solved_version(lesson)
    for exercise in lesson.exercises:
        exec(notebook.cells[exercise.stub].source, namespace)
        for name in exercise.functions:
            assert getattr(check, name)(namespace[name]).passed
        assert not notebook.cells[exercise.check].outputs, "the verdict on the stub must not stay"


def test_a_solution_that_fails_its_check_is_not_handed_to_a_teacher(tmp_path):
    damaged = (NOTEBOOKS / "01_attention_by_hand.ipynb").read_text(encoding="utf-8")
    damaged = damaged.replace("return query @ key.T\\n", "return key @ query.T\\n")
    (tmp_path / "01_attention_by_hand.ipynb").write_text(damaged, encoding="utf-8")
    lesson = read_lesson(tmp_path / "01_attention_by_hand.ipynb")
    place = lesson.exercises[0].check
    with pytest.raises(ClassroomError, match=rf"01_attention_by_hand.ipynb, cell {place}: .*dot_product_scores"):
        teacher_version(lesson)


def test_mistakes_in_a_table_are_text(monkeypatch):
    from classroom.versions import teacher

    assert (
        teacher._plain("a|b, `x | y_`, 2 * 3 * 4 and _this_\nd_head")
        == r"a\|b, `x \| y_`, 2 \* 3 \* 4 and \_this\_ d_head"
    )


PARTS = ["In 45 minutes", "In 90 minutes", "To discuss", "Where learners stumble"]


@every_lesson
def test_the_teaching_guide_is_in_the_teachers_version(lesson):
    from classroom.versions.teacher import _about

    assert lesson.guide is not None, f"classroom/guide/{lesson.name}.md is missing"
    note = _about(lesson)
    assert re.findall(r"^### (.+)$", note, flags=re.MULTILINE) == PARTS
    for minutes, part in ((45, PARTS[0]), (90, PARTS[1])):
        table = note.split(f"### {part}\n")[1].split("\n### ")[0]
        assert sum(int(found) for found in re.findall(r"^\| *(\d+) *\|", table, flags=re.MULTILINE)) == minutes


def test_a_missing_guide_is_said_in_a_line():
    from dataclasses import replace

    from classroom.versions.teacher import _about

    assert "There is no teaching guide for this lesson (guide/03_masks.md)." in _about(replace(MASKS, guide=None))


# --- the assignment for nbgrader ---------------------------------------------------------------


@with_exercises
def test_the_assignment_has_marked_solutions_and_locked_checks_with_points(lesson):
    cells = assignment_version(lesson).cells
    marked = [cell for cell in cells if "nbgrader" in cell.metadata]
    ids = [cell.metadata["nbgrader"]["grade_id"] for cell in marked]
    assert len(ids) == len(set(ids)) and all(cell.metadata["nbgrader"]["schema_version"] == 3 for cell in marked)
    graded = [cell for cell in marked if cell.metadata["nbgrader"]["grade"]]
    assert all(cell.metadata["nbgrader"]["locked"] for cell in graded)
    points = sum(cell.metadata["nbgrader"]["points"] for cell in graded)
    assert points == sum(exercise.minutes for exercise in lesson.exercises)
    solutions = [cell.source for cell in marked if cell.metadata["nbgrader"]["solution"]]
    originals = [lesson.notebook.cells[exercise.stub].source for exercise in lesson.exercises]
    region = re.compile(rf"^( *){BEGIN}\n.*?^ *{END}$", flags=re.DOTALL | re.MULTILINE)
    assert [region.sub(r"\1...", source) for source in solutions] == originals, (
        "nbgrader makes the course's stubs again"
    )
    assert not any("graded" in re.findall(r"\w+", source) for source in code(lesson.notebook)), "a name of the lesson's"


def python_with_nbgrader(folder: Path) -> Path:
    """This Python, or one in an environment of its own that sees all packages of this one, and nbgrader besides."""
    if find_spec("nbgrader"):
        return Path(sys.executable)
    venv.create(folder, symlinks=os.name != "nt")
    paths = {key: Path(path) for key, path in sysconfig.get_paths(vars={"base": folder, "platbase": folder}).items()}
    seen = [path for path in sys.path if path and Path(path).name != "offline"]  # pip wants the network
    (paths["purelib"] / "parent.pth").write_text("\n".join(seen), encoding="utf-8")
    python = paths["scripts"] / Path(sys.executable).name
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "nbgrader==0.9.6"]
    online = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if subprocess.run(install, env=online, capture_output=True).returncode:
        pytest.skip("nbgrader is neither installed nor can pip fetch it from here")
    return python


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory):
    """Runs nbgrader's command line in a course folder that was built for it."""
    python = python_with_nbgrader(tmp_path_factory.mktemp("nbgrader") / "environment")
    folder = tmp_path_factory.mktemp("class")
    assert build("--lessons", "01", "--only", "assignment", "--output", folder) == 0
    course = folder / "assignment"
    # nbgrader calls alembic by its name, as in an activated environment
    path = os.pathsep.join([str(python.parent), os.environ["PATH"]])

    def run(*arguments: str) -> None:
        command = [str(python), "-W", "ignore", "-m", "nbgrader", *arguments]
        done = subprocess.run(command, cwd=course, env=os.environ | {"PATH": path}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    run.course = course
    return run


def test_nbgrader_makes_the_release_and_grades_with_the_checks(nbgrader):
    name = FIRST.name
    nbgrader("generate_assignment", name)
    release = nbformat.read(nbgrader.course / "release" / name / f"{name}.ipynb", as_version=4)
    sources = code(release)
    assert [FIRST.notebook.cells[exercise.stub].source in sources for exercise in FIRST.exercises] == [True] * 3
    assert not telling(FIRST) & lines("\n".join(cell.source for cell in release.cells))

    def submit(student: str, *solutions: int, change: tuple[str, str] = ("", "")) -> None:
        notebook = nbformat.from_dict(json.loads(json.dumps(release)))
        for number in solutions:
            exercise = FIRST.exercises[number]
            stub = next(c for c in notebook.cells if c.source == FIRST.notebook.cells[exercise.stub].source)
            stub.source = exercise.solution
        for cell in notebook.cells:
            cell.source = cell.source.replace(*change)
        folder = nbgrader.course / "submitted" / student / name
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{name}.ipynb")

    submit("two", 0, 2, change=("assert graded.passed", "assert True"))  # nbgrader puts the locked checks back
    submit("all", 0, 1, 2)
    nbgrader("autograde", name)
    nbgrader("export")
    with open(nbgrader.course / "grades.csv", encoding="utf-8") as file:
        grades = {row["student_id"]: (float(row["score"]), float(row["max_score"])) for row in csv.DictReader(file)}
    assert grades == {"two": (8, 16), "all": (16, 16)}


# --- slides and worksheets: other modules make them ---------------------------------------------


def test_slides_and_worksheets_get_the_lessons_and_a_folder(tmp_path, monkeypatch):
    def make(lessons, folder):
        (folder / "page.html").write_text(" ".join(path.stem for path in lessons), encoding="utf-8")

    monkeypatch.setattr("classroom.build.import_module", lambda name: SimpleNamespace(build=make))
    assert build("--lessons", "3", "01", "--only", "worksheets", "slides", "--output", tmp_path / "class") == 0
    for part in ("slides", "worksheets"):
        page = tmp_path / "class" / part / "page.html"
        assert page.read_text(encoding="utf-8") == "01_attention_by_hand 03_masks"


def test_a_missing_package_of_theirs_is_a_sentence(tmp_path, monkeypatch, capsys):
    def make(lessons, folder):
        raise ModuleNotFoundError("No module named 'weasyprint'", name="weasyprint")

    monkeypatch.setattr("classroom.build.import_module", lambda name: SimpleNamespace(build=make))
    assert build("--lessons", "01", "--only", "worksheets", "--output", tmp_path / "class") == 2
    assert capsys.readouterr().err == "worksheets need the package weasyprint, which is not installed here.\n"
    assert not (tmp_path / "class").exists()


# --- the folder, and bad input -----------------------------------------------------------------


def test_building_again_replaces_its_own_files_and_touches_no_other(tmp_path):
    folder = tmp_path / "class"
    ask = ("--lessons", "1", "--only", "student", "assignment", "--output", folder)
    assert build(*ask) == 0
    (folder / "assignment" / "gradebook.db").write_text("marks", encoding="utf-8")
    assert build(*ask, "--no-hints") == 0
    assert (folder / "assignment" / "gradebook.db").read_text(encoding="utf-8") == "marks"
    notebook = nbformat.read(folder / "student" / FIRST.path.name, as_version=4)
    assert "<summary>Hint" not in text(notebook)
    assert [path.name for path in (folder / "assignment" / "source").iterdir()] == [FIRST.name]


def test_a_changed_file_is_replaced_only_by_force(tmp_path, capsys):
    folder = tmp_path / "class"
    ask = ("--lessons", "01", "03", "--only", "student", "--output", folder)
    assert build(*ask) == 0
    changed, other = folder / "student" / MASKS.path.name, folder / "student" / FIRST.path.name
    changed.write_text("my own", encoding="utf-8")
    before = other.read_bytes()
    assert build(*ask, "--no-hints") == 2
    assert f"{changed} has been changed since" in capsys.readouterr().err
    assert changed.read_text(encoding="utf-8") == "my own" and other.read_bytes() == before
    assert build(*ask, "--no-hints", "--force") == 0
    assert changed.read_text(encoding="utf-8") != "my own"


def test_a_folder_of_somebody_elses_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("three years", encoding="utf-8")
    ask = ("--lessons", "01", "--only", "student", "--output", tmp_path)
    assert build(*ask) == 2
    assert "not empty, and this command did not make it" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    assert build(*ask, "--force") == 0
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "three years"


def test_a_damaged_marker_loses_nothing(tmp_path, capsys):
    folder = tmp_path / "class"
    ask = ("--lessons", "01", "--only", "student", "--output", folder)
    assert build(*ask) == 0
    (folder / MARKER).write_text("{", encoding="utf-8")
    assert build(*ask, "--no-hints") == 2
    assert "has been changed" in capsys.readouterr().err


def broken(folder: Path, change) -> Path:
    folder.mkdir()
    notebook = nbformat.read(MASKS.path, as_version=4)
    change(notebook)
    nbformat.write(notebook, folder / MASKS.path.name)
    return folder


def no_title(notebook):
    notebook.cells[0].source = "Masks"


def no_time(notebook):
    notebook.cells[0].source = notebook.cells[0].source.replace("**Time**", "Time")


def other_heading(notebook):
    cell = notebook.cells[MASKS.exercises[0].stub - 1]
    cell.source = cell.source.replace("(4 minutes", "(four minutes")


def no_check(notebook):
    del notebook.cells[MASKS.exercises[1].check]


def no_stub(notebook):
    del notebook.cells[MASKS.exercises[1].stub]


def no_solution(notebook):
    cell = notebook.cells[MASKS.exercises[1].help]
    cell.source = cell.source.replace("<summary>Solution", "<summary>Answer")


def two_solutions(notebook):
    cell = notebook.cells[MASKS.exercises[1].help]
    cell.source = re.sub(r"(```python.*?```)", r"\1\n\1", cell.source, flags=re.DOTALL)


def empty(notebook):
    notebook.cells = []


@pytest.mark.parametrize(
    "change, complaint",
    [
        (no_title, r"03_masks.ipynb, cell 0: a lesson begins with a title"),
        (no_time, r"03_masks.ipynb, cell 0: a lesson begins with its time"),
        (empty, r"03_masks.ipynb, cell 0: a lesson begins with a title"),
        (other_heading, r"03_masks.ipynb, cell 39: this heading of an exercise does not have the form"),
        (no_check, r"03_masks.ipynb, cell \d+: exercise 3.2 has no check cell"),
        (no_stub, r"03_masks.ipynb, cell \d+: exercise 3.2 has no stub that defines causal_mask"),
        (no_solution, r"03_masks.ipynb, cell \d+: exercise 3.2 has no solution"),
        (two_solutions, r"03_masks.ipynb, cell \d+: a solution is one block of Python code, here are 2"),
    ],
)
def test_a_lesson_in_another_form_is_named_with_its_cell(change, complaint, tmp_path, capsys):
    folder = broken(tmp_path / "notebooks", change)
    assert build("--notebooks", folder, "--output", tmp_path / "class") == 2
    said = capsys.readouterr().err
    assert re.match(complaint, said) and said.count("\n") == 1
    assert not (tmp_path / "class").exists()


@pytest.mark.parametrize(
    "content, complaint",
    [("{", "is not a notebook"), ('{"cells": 3}', "is not a notebook"), (b"\xff\xfe{", "can't be read")],
)
def test_a_damaged_notebook_is_named(content, complaint, tmp_path, capsys):
    file = tmp_path / "03_masks.ipynb"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert build("--notebooks", tmp_path, "--output", tmp_path / "class") == 2
    assert re.match(rf"{re.escape(str(file))} {complaint}", capsys.readouterr().err)


@pytest.mark.parametrize("lesson", ["99", "four", "03_mask", "-1"])
def test_an_unknown_lesson_is_named(lesson, tmp_path, capsys):
    assert build(f"--lessons={lesson}", "--output", tmp_path / "class") == 2
    assert f"There is no lesson {lesson!r}" in capsys.readouterr().err


@pytest.mark.parametrize("lesson", ["3", "03", "03_masks", "03_masks.ipynb"])
def test_a_lesson_may_be_named_in_several_ways(lesson):
    assert find_lessons([lesson]) == [MASKS.path]


def test_missing_notebooks_are_a_sentence(tmp_path, capsys):
    assert build("--notebooks", tmp_path / "nowhere", "--output", tmp_path / "class") == 2
    assert "nowhere holds no lessons" in capsys.readouterr().err


def test_an_output_that_is_no_folder_is_a_sentence(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    assert build("--only", "student", "--output", file) == 2
    assert "is a file; give a folder" in capsys.readouterr().err
    assert build("--only", "student", "--output", file / "class") == 2
    assert f"{file} is a file" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "mine"


def test_a_read_only_folder_is_a_sentence(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *arguments: False)  # as nobody but root sees it
    assert build("--lessons", "01", "--only", "student", "--output", tmp_path / "class") == 2
    assert f"{tmp_path} is read-only for you" in capsys.readouterr().err


def test_a_full_disk_is_a_sentence_and_the_next_run_goes_on(tmp_path, capsys, monkeypatch):
    def full(source, target):
        if "03" in Path(target).name:
            raise OSError(28, "No space left on device", str(target))
        return copy(source, target)

    copy = shutil.copyfile
    ask = ("--lessons", "01", "03", "--only", "student", "--output", tmp_path / "class")
    monkeypatch.setattr(shutil, "copyfile", full)
    assert build(*ask) == 2
    assert "03_masks.ipynb can't be read or written: No space left on device." in capsys.readouterr().err
    monkeypatch.undo()
    assert build(*ask) == 0


def test_a_wrong_word_on_the_command_line_is_status_2(tmp_path):
    command = [sys.executable, "-m", "classroom", "build", "--only", "slide"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and "invalid choice: 'slide'" in done.stderr and "Traceback" not in done.stderr
