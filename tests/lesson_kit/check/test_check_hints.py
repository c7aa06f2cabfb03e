"""The hints of the checks teach and don't tell; two mistakes at once are both named."""

import ast
import json
import re
from pathlib import Path

import pytest

from lesson_kit import check

NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))
HINTS = [
    pytest.param(name, hint, id=f"{name}-{slug}-{number}")
    for name, each in check.EXERCISES.items()
    for slug, mistake in each.mistakes.items()
    for number, hint in enumerate(mistake.hints)
]
PAIRS = [
    pytest.param(name, slugs, way, id=f"{name}-{'-and-'.join(slugs)}")
    for name, each in check.EXERCISES.items()
    for slugs, way in each.pairs()
]
# Code of fewer characters than this is a word, not a solution: "q @ k", "shape[-1]".
LEAST = 12


def solutions() -> dict[str, str]:
    """Each exercise's solution as it stands in its lesson."""
    found = {}
    for notebook in NOTEBOOKS:
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            for block in re.findall(r"```python\n(.*?)```", "".join(cell["source"]), flags=re.DOTALL):
                for node in ast.walk(ast.parse(block)):
                    if isinstance(node, ast.FunctionDef) and node.name in check.EXERCISES:
                        found[node.name] = ast.unparse(node)
    return found


SOLUTIONS = solutions()


def squeezed(code: str) -> str:
    return re.sub(r"\s", "", code).replace('"', "'")


def only_names(node: ast.expr) -> bool:
    """A pair such as (keys, values), which the exercise's own text speaks of."""
    return isinstance(node, ast.Tuple) and all(isinstance(element, ast.Name) for element in node.elts)


def pieces(name: str) -> set[str]:
    """Every expression of a solution that is long enough to be worth copying, and every one that is returned."""
    body = ast.parse(SOLUTIONS[name]).body[0].body
    nodes = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.expr)]
    nodes = [node for node in nodes if not isinstance(node, ast.Constant | ast.Name) and not only_names(node)]
    return {piece for node in nodes if len(piece := squeezed(ast.unparse(node))) >= LEAST}


def test_the_lessons_solve_every_exercise_that_they_set():
    set_there = {name for path in NOTEBOOKS for name in re.findall(r"check\.(\w+)\(\1\)", path.read_text("utf-8"))}
    assert set_there == SOLUTIONS.keys()


@pytest.mark.parametrize("name, hint", HINTS)
def test_no_hint_contains_code_of_the_solution(name, hint):
    text = squeezed(hint)
    assert not [piece for piece in pieces(name) if piece in text] if name in SOLUTIONS else True


@pytest.mark.parametrize("name, hint", HINTS)
def test_a_hint_is_a_sentence_or_three_for_a_person(name, hint):
    assert hint.rstrip(")")[-1] in ".?!", hint
    assert 3 <= len(hint.split()) <= 70, hint
    assert not re.search(r"\b(obviously|simply|just|wrong answer|incorrect)\b", hint, flags=re.IGNORECASE), hint


@pytest.mark.parametrize("name", check.EXERCISES)
def test_every_mistake_has_a_next_hint_and_no_hint_comes_twice(name):
    for slug, mistake in check.EXERCISES[name].mistakes.items():
        assert len(mistake.hints) >= 2, slug
        assert len(set(mistake.hints)) == len(mistake.hints), slug


@pytest.mark.parametrize("name, slugs, way", PAIRS)
def test_two_mistakes_at_once_are_both_named(name, slugs, way):
    check.EXERCISES[name].forget()
    result = check.EXERCISES[name](way)
    assert result.mistake == " and ".join(slugs), result.message


@pytest.mark.parametrize("name", [name for name, each in check.EXERCISES.items() if each.build])
def test_without_options_the_formulation_is_right(name):
    each = check.EXERCISES[name]
    assert each(each.build()).passed
    for slug, options in each.options.items():
        assert each(each.build(**options)).verdict.slugs.count(slug) == 1
