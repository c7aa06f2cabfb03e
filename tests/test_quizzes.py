"""The quizzes at the end of the lessons, and the teaching guides: their form, and that they belong to the lessons."""

import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from lesson_kit._models import COURSE_BERT, HUB_NAMES
from lesson_kit.check import EXERCISES

NOTEBOOKS = {
    path.stem: nbformat.read(path, as_version=4)
    for path in sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
}
GUIDES = Path(__file__).parent.parent / "classroom" / "guide"
lessons = pytest.mark.parametrize("name", NOTEBOOKS)

QUESTION = re.compile(r"\*\*Question (\d+)\.\*\* (.+?)\n\n((?:<details>.+</details>)+)", flags=re.DOTALL)
OPTION = re.compile(
    r"<details><summary>([A-D])\. (\S[^\n]*)</summary>\n\n"
    r"\*\*(Right|Not this one)\.\*\* (\S(?:(?!</?details|</?summary).)*)\n\n</details>\n?",
    flags=re.DOTALL,
)


def read_question(source: str) -> tuple[int, str, list[tuple[str, str, bool, str]]]:
    """Number, text and options of one question; an option is its letter, its text, whether it is right, and why.

    Raises:
        ValueError: the cell does not have the form that CONTRIBUTING.md shows, to the last blank line.
    """
    question = QUESTION.fullmatch(source)
    if question is None:
        raise ValueError(f"this is not **Question N.** with its options below: {source}")
    number, text, options = question.groups()
    found = list(OPTION.finditer(options))
    if "".join(match[0] for match in found) != options:
        raise ValueError(f"these are not options in a row, each a letter, a text and an explanation: {options}")
    return int(number), text, [(m[1], m[2], m[3] == "Right", m[4]) for m in found]


def quiz(name: str) -> list[str]:
    """The sources of a lesson's quiz cells: the heading first, then one for each question."""
    return [cell.source for cell in NOTEBOOKS[name].cells if "quiz" in cell.metadata.get("tags", [])]


def questions(name: str) -> list:
    return [read_question(source) for source in quiz(name)[1:]]


def right_letters(name: str) -> list[str]:
    return [letter for _, _, options in questions(name) for letter, _, right, _ in options if right]


# --- quizzes -----------------------------------------------------------------------------------


@lessons
def test_a_quiz_stands_directly_before_the_closing_section(name):
    cells = NOTEBOOKS[name].cells
    places = [i for i, cell in enumerate(cells) if "quiz" in cell.metadata.get("tags", [])]
    assert places, "no quiz"
    assert places == list(range(places[0], places[-1] + 1)), "its cells do not follow each other"
    assert all(cells[i].cell_type == "markdown" for i in places)
    closing = "## Where to get help\n" if name.startswith("00") else "## Summary\n"
    assert cells[places[-1] + 1].source.startswith(closing)


@lessons
def test_a_quiz_says_what_to_do_and_has_three_to_five_questions(name):
    heading, *rest = quiz(name)
    assert re.fullmatch(r"## Check yourself\n\n[^\n]{40,300}", heading)
    assert 3 <= len(rest) <= 5
    assert [number for number, _, _ in questions(name)] == list(range(1, len(rest) + 1))


@lessons
def test_every_question_has_one_right_answer_and_a_reason_for_each_option(name):
    for number, text, options in questions(name):
        where = f"question {number}: {text}"
        letters, texts, right, reasons = zip(*options, strict=True)
        assert "".join(letters) in ("ABC", "ABCD"), where
        assert sum(right) == 1, where
        assert len({option.lower() for option in texts}) == len(texts), where
        assert len(set(reasons)) == len(reasons), where
        assert min(len(reason) for reason in reasons) >= 30, where
        assert len(text) >= 20, where


@lessons
def test_a_summary_needs_no_mathematics_and_no_quiz_a_script(name):
    source = "\n".join(quiz(name))
    assert source.count("<details>") == source.count("</details>")
    assert not re.search(r"<script|<iframe|<style|javascript:|\son\w+=", source, flags=re.IGNORECASE)
    for _, _, options in questions(name):
        for _, option, _, _ in options:
            # Markdown and formulas are not rendered inside <summary>; a few marks of HTML are.
            assert not re.search(r"[$`]|\*\*", option), option
            assert not re.search(r"<(?!/?(?:code|sub|sup|i|em)>)", option), option


@lessons
def test_the_right_letter_varies_in_a_lesson(name):
    letters = right_letters(name)
    assert max(Counter(letters).values()) <= (len(letters) + 1) // 2, letters


def test_the_right_letter_varies_over_the_course():
    letters = Counter(letter for name in NOTEBOOKS for letter in right_letters(name))
    assert set(letters) == set("ABCD") and max(letters.values()) <= letters.total() / 2, letters


GOOD = """**Question 1.** How many is two and two?

<details><summary>A. 22</summary>

**Not this one.** Here the two were written side by side.

</details>
<details><summary>B. 4</summary>

**Right.** Count on your fingers, and see.

</details>"""


def test_the_reader_reads_a_question():
    number, text, options = read_question(GOOD)
    assert (number, text) == (1, "How many is two and two?")
    assert options[0] == ("A", "22", False, "Here the two were written side by side.")
    assert options[1] == ("B", "4", True, "Count on your fingers, and see.")


@pytest.mark.parametrize(
    "old, new",
    [
        ("**Question 1.** ", "Question 1: "),
        ("**Right.** ", "**Right** "),
        ("<summary>B. 4</summary>\n\n", "<summary>B. 4</summary>\n"),  # without it, no Markdown inside
        ("see.\n\n</details>", "see.\n</details>"),
        ("see.\n\n</details>", "see.\n\n"),
        ("side.\n\n</details>", "side.\n\n"),
        ("</details>\n<details>", "</details>\nA word between.\n<details>"),
        ("<summary>A. 22</summary>", "<summary>22</summary>"),
        ("see.\n\n</details>", "see.\n\n</details>\n\nA word after the last."),
    ],
)
def test_the_reader_is_strict(old, new):
    assert GOOD.count(old) >= 1
    with pytest.raises(ValueError, match="this is not|these are not"):
        read_question(GOOD.replace(old, new))


# --- teaching guides ---------------------------------------------------------------------------

HEADINGS = ["In 45 minutes", "In 90 minutes", "To discuss", "Where learners stumble"]
SLUG = re.compile(r"[a-z]+(?:-[a-z0-9]+)+")


def guide(name: str) -> str:
    return (GUIDES / f"{name}.md").read_text(encoding="utf-8")


def sections(name: str) -> dict[str, str]:
    parts = re.split(r"^## (.+)\n", guide(name), flags=re.MULTILINE)
    assert not parts[0].strip(), "words before the first heading"
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_there_is_a_guide_for_each_lesson_and_no_other():
    assert {path.name for path in GUIDES.iterdir()} == {f"{name}.md" for name in NOTEBOOKS}


@lessons
def test_a_guide_has_its_four_parts(name):
    assert re.findall(r"^#+ (.+)$", guide(name), flags=re.MULTILINE) == HEADINGS
    assert list(sections(name)) == HEADINGS
    assert 200 <= len(guide(name).split()) <= 700


@lessons
@pytest.mark.parametrize("minutes", [45, 90])
def test_a_plan_adds_up(name, minutes):
    plan = sections(name)[f"In {minutes} minutes"]
    header, rule, *rows = [line for line in plan.splitlines() if line.startswith("|")]
    assert header == "| Minutes | What | Cells or section |"
    assert re.fullmatch(r"\|(?:[ :-]+\|){3}", rule)
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    assert all(len(row) == 3 and row[1] and row[2] for row in cells), rows
    assert sum(int(row[0]) for row in cells) == minutes


@lessons
@pytest.mark.parametrize("part", HEADINGS[2:])
def test_a_guide_has_three_to_five_points(name, part):
    points = re.split(r"^(?:[-*]|\d+\.) +", sections(name)[part].strip(), flags=re.MULTILINE)
    assert not points[0].strip() and 3 <= len(points[1:]) <= 5
    assert all(len(point) >= 60 for point in points[1:])


@lessons
def test_the_slugs_in_a_guide_exist(name):
    known = {slug for exercise in EXERCISES.values() for slug in exercise.mistakes} | {COURSE_BERT, *HUB_NAMES}
    code = set(re.findall(r"`([^`\n]+)`", guide(name)))
    unknown = sorted(span for span in code if SLUG.fullmatch(span) and span not in known)
    assert not unknown, "no check knows a mistake of this name"


def plain(heading: str) -> str:
    return re.sub(r"[*`$\\]", "", heading)


@lessons
def test_the_sections_in_a_guide_exist(name):
    """What stands in italics in the last column of a plan is a heading of the lesson."""
    text = "\n".join(cell.source for cell in NOTEBOOKS[name].cells if cell.cell_type == "markdown")
    headings = {plain(heading) for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)}
    rows = re.findall(r"^\| +\d+ .+$", guide(name), flags=re.MULTILINE)
    quoted = {plain(part) for row in rows for part in re.findall(r"\*([^*]+)\*", row.split("|")[3])}
    assert quoted <= headings, quoted - headings
