"""The package as a whole: what imports what, how much of it there is, and the two commands."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import course_utils
from lesson_kit import check

ROOT = Path(__file__).parent.parent
# Each door may import those before it. A new module in course_utils is part of the course: it needs no line here.
DOORS = ["course_utils", "lesson_kit", "classroom", "tools"]
ALLOWED = {"course_utils": [], "lesson_kit": DOORS[:1], "classroom": DOORS[:2], "tools": DOORS[:3]}
LINES, CLASS_LINES = 2050, 60


def modules(door: str) -> list[Path]:
    return sorted((ROOT / door).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """What a module imports, also inside a function; without the standard library."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            found.add(node.module)
    return {name.split(".")[0] for name in found} - sys.stdlib_module_names


@pytest.mark.parametrize("path", modules("course_utils"), ids=lambda path: path.name)
def test_the_reference_implementations_import_torch_and_nothing_of_the_project(path):
    assert imports(path) <= {"torch", "jaxtyping", "course_utils"}


@pytest.mark.parametrize("door", DOORS)
def test_no_import_goes_up(door):
    for path in modules(door):
        assert imports(path) & {*DOORS, "tests"} <= {door, *ALLOWED[door]}, path


def test_the_reference_implementations_stay_small():
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in modules("course_utils")) <= LINES


@pytest.mark.parametrize("path", modules("course_utils"), ids=lambda path: path.name)
def test_a_class_fits_a_screen(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            screens = 2 if node.name in ("Bert", "Transformer") else 1
            assert node.end_lineno - node.lineno + 1 <= screens * CLASS_LINES, node.name


def test_what_init_says_of_the_reading_order_names_every_module():
    order = course_utils.__doc__.split("They import")[0]
    for path in modules("course_utils"):
        if not path.name.startswith("_"):
            assert re.search(rf"\b{path.stem}\b", order), path.stem


def test_the_wheel_holds_the_two_doors_that_lessons_use():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == DOORS[:2]


@pytest.mark.parametrize(
    "statement",
    [
        "import course_utils",
        "import lesson_kit",
        "from lesson_kit import check, compare_hidden_states, examples, load_bert, show; show.matrix([[1]])",
        "from lesson_kit import show; show.diagram.stack()",
    ],
)
def test_importing_loads_nothing_heavy_before_it_is_used(statement):
    code = f"{statement}\nimport sys; print(sorted({{'transformers', 'matplotlib', 'bertviz'}} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True) == "[]\n"


@pytest.mark.parametrize("name", course_utils.__all__)
def test_every_public_name_is_there_and_explained(name):
    assert len(getattr(course_utils, name).__doc__) > 20


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'attention_is_all'"):
        course_utils.attention_is_all  # noqa: B018


def commands() -> list[str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"```bash\n(python3 -m venv [^\n]+)\n```", readme)


def test_the_readme_has_two_commands_of_one_line_each():
    learn, test = commands()
    assert learn.endswith(" && .venv/bin/python -m lesson_kit start") and "pytest" in test
    shared = test[: test.rindex(" && ")]
    assert learn.startswith(shared), "both install the same way"


def test_ci_runs_exactly_the_readmes_test_command():
    assert commands()[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_tested_set_lies_within_the_ranges():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    ranges = {name.lower() for name in re.findall(r'^    "([\w-]+)>=', project, flags=re.MULTILINE)}
    pins = {
        line.split("==")[0].lower() for line in (ROOT / "requirements.txt").read_text().splitlines() if "==" in line
    }
    assert pins == ranges - {"nbgrader"}  # where it is graded only: it puts a button into every notebook


def test_shapes_in_the_signatures_are_true():
    """Every shape annotation is checked while the public functions run (jaxtyping and beartype)."""
    script = ROOT / "tests" / "course_utils" / "shapes_at_run_time.py"
    result = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "every shape holds; a wrong one is noticed\n"


def test_the_readmes_map_gives_the_lessons_titles_and_minutes():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
        title = re.match(r"# (.+)", first)[1]
        minutes = re.search(r"\*\*Time\*\* about (\d+) minutes", first)[1]
        row = next(line for line in readme.splitlines() if f"(notebooks/{path.name})" in line)
        assert row.startswith(f"| [{title}]") and row.endswith(f"| {minutes} |")


def test_the_readme_counts_the_mistakes_right():
    known = sum(len(exercise.mistakes) for exercise in check.EXERCISES.values())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"it knows (\d+) mistakes by name", readme) == [str(known)]
