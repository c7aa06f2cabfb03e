"""The package as a whole: what imports what, how much of it there is, and the two commands."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import course_utils

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "course_utils"
LEARNED_FIRST = ["_expect", "attention", "masks", "embeddings", "layers"]
AT_SCALE = ["tiled", "packing"]
GROUND = LEARNED_FIRST + AT_SCALE
ENCODER_SIDE = [*LEARNED_FIRST, "encoder", "bert"]
DECODER_SIDE = ["decoder", "transformer", "generation"]
REFERENCE = ENCODER_SIDE + DECODER_SIDE + AT_SCALE


def imports(module: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return {name for name in found if name.split(".")[0] not in sys.stdlib_module_names}


@pytest.mark.parametrize("module", GROUND)
def test_the_ground_floor_imports_torch_and_nothing_else(module):
    outside = {name.split(".")[0] for name in imports(module)} - {"course_utils"}
    assert outside <= {"torch", "jaxtyping"}
    assert {name for name in imports(module) if name.startswith("course_utils")} <= {"course_utils._expect"}


@pytest.mark.parametrize("module", REFERENCE)
def test_no_reference_module_reaches_up(module):
    upper = ("models", "compare", "examples", "show", "checks", "language", "training", "ready")
    assert not {name for name in imports(module) if name.split(".")[-1] in upper}


@pytest.mark.parametrize(
    "statement",
    [
        "import course_utils",
        "from course_utils import check, compare_hidden_states, examples, load_bert, show; show.matrix([[1]])",
    ],
)
def test_importing_loads_nothing_heavy_before_it_is_used(statement):
    code = f"{statement}\nimport sys; print(sorted({{'transformers', 'matplotlib', 'bertviz'}} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True) == "[]\n"


@pytest.mark.parametrize("modules, most", [(ENCODER_SIDE, 900), (DECODER_SIDE, 600), (AT_SCALE, 240)])
def test_the_reference_modules_stay_small(modules, most):
    assert sum(len((PACKAGE / f"{module}.py").read_text().splitlines()) for module in modules) < most


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
    result = subprocess.run(
        [sys.executable, "shapes_at_run_time.py"], cwd=ROOT / "tests", capture_output=True, text=True
    )
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
    known = sum(len(exercise.mistakes) for exercise in lesson_kit.check.EXERCISES.values())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"it knows (\d+) mistakes by name", readme) == [str(known)]
