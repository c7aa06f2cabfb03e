"""Every lesson says honestly how long it takes; those that ask too much stand in a list that must shrink."""

import nbformat
import pytest
from minutes import effort, prose, stated

from classroom.versions.lesson import find_lessons, read_lesson

LESSONS = {path.stem: read_lesson(path) for path in find_lessons()}
EFFORTS = {name: effort(lesson) for name, lesson in LESSONS.items()}

# What a lesson may ask of its reader. Lesson 19 may ask more: it is read in sittings, a patient at a time.
BUDGET = {"words": 2600, "code_cells": 42, "minutes": 95}
# Too long today. A lesson that is shortened leaves its list (the test asks for it), and none may come in.
TOO_LONG = {
    "words": "00 01 02 03 04 05 06 07 08 09 10 11 13 14 18",
    "code_cells": "02 03 04 05 06 07 08 09 10 11 13 14 18",
    "minutes": "03 04 05 06 08 13 14 18",
}


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_says_how_long_it_takes(name):
    """Mended with ``python tests/minutes.py``."""
    said = {place: numbers for place, numbers in stated(LESSONS[name]).items() if numbers}
    assert {"the lesson", "README"} <= said.keys()
    assert said == {place: [EFFORTS[name].minutes] for place in said}, EFFORTS[name]


@pytest.mark.parametrize("what", BUDGET)
def test_the_lessons_over_the_budget_are_these(what):
    over = {name[:2] for name, asked in EFFORTS.items() if getattr(asked, what) > BUDGET[what]} - {"19"}
    assert sorted(over) == TOO_LONG[what].split()


def test_the_words_are_those_on_the_page():
    markdown = """See [lesson 02](02_the_sky_is_blue.ipynb), **and** $x_1$ · <br>

```python
nobody = reads + this
```
<details><summary>Hint 1</summary>

not this either

</details>
"""
    assert prose(markdown).split() == ["See", "[lesson", "02,", "**and**", "$x_1$", "·"]


def test_minutes_by_hand(tmp_path):
    """300 words, three cells that are seen, an exercise of 8 minutes, two predictions: 2 + 2.25 + 8 + 3."""
    new, markdown, code = nbformat.v4.new_notebook, nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    title = "# 03 · Masks\n\n**Time** about 15 minutes\n\n"  # six words
    heading = "### Exercise 3.1 · halve (8 minutes, difficulty ●○○)\n\n"  # six more
    solution = "<details><summary>Solution</summary>\n\n```python\ndef halve(x):\n    return x / 2\n```\n\n</details>"
    collapsed = code("import lesson_kit", metadata={"jupyter": {"source_hidden": True}})
    quiz = markdown("word " * 500, metadata={"tags": ["quiz"]})
    cells = [markdown(title + "word " * 286 + "**Predict.** **Predict**"), collapsed, code("1"), markdown(heading)]
    cells += [code("def halve(x):\n    ..."), code("halve = check.halve(halve).function"), markdown(solution), quiz]
    nbformat.write(new(cells=cells), tmp_path / "03_masks.ipynb")
    asked = effort(read_lesson(tmp_path / "03_masks.ipynb"))
    assert (asked.words, asked.code_cells, asked.exercises, asked.predictions) == (300, 3, 8, 2)
    assert asked.minutes == 20
