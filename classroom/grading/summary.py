"""What the grades of a class come to: kinds of outcomes, counts, and the commonest mistakes."""

import re
from collections import Counter
from dataclasses import dataclass

from classroom.grading.process import ENDED_PYTHON, STOPPED, TOO_LARGE, TOO_LONG, Grade
from classroom.grading.submissions import LESSONS, Submission
from lesson_kit import check
from lesson_kit.check.engine.message import AGAIN

PASSED, MISTAKE, OTHER, RAISED = "passed", "known mistake", "other mistake", "raised an error"
ENDED, UNTOUCHED, MISSING = "stopped", "not attempted", "not there"
OUTCOMES = [PASSED, MISTAKE, OTHER, RAISED, ENDED, UNTOUCHED, MISSING]
WRONG = (MISTAKE, OTHER, RAISED, ENDED)
SHORT = {"too-slow": "time", TOO_LONG: "time", TOO_LARGE: "memory", ENDED_PYTHON: "ended Python"}
OUTCOME_OF = {"not-attempted": UNTOUCHED, "courses-own": UNTOUCHED, "not-there": MISSING, "raised": RAISED}
OUTCOME_OF |= dict.fromkeys(SHORT, ENDED)
TO_DISCUSS = {
    TOO_LARGE: "How many numbers does each line make? Write the shapes down before running it.",
    ENDED_PYTHON: "Does it call exit, or itself without end?",
}


def outcome(exercise: str, grade: Grade) -> str:
    """Which of ``OUTCOMES`` a grade is."""
    if grade.passed:
        return PASSED
    known = all(slug in check.EXERCISES[exercise].mistakes for slug in grade.slugs)
    return OUTCOME_OF.get(grade.slugs[0], MISTAKE if known else OTHER)


def in_short(exercise: str, grade: Grade) -> str:
    """The outcome in a few words, with the mistake's name where there is one."""
    kind = outcome(exercise, grade)
    if kind in (MISTAKE, OTHER):
        return grade.name
    if kind == ENDED:
        return f"stopped: {SHORT[grade.slugs[0]]}"
    return f"raised {grade.error_type}" if kind == RAISED and grade.error_type else kind


@dataclass(frozen=True)
class Common:
    """A mistake that ``count`` learners made in an exercise, what its check says first, and what to ask the class."""

    lesson: str
    exercise: str
    name: str
    count: int
    hint: str
    discuss: str


def counts(submissions: list[Submission], lesson: str) -> dict[str, dict[str, int]]:
    """For each exercise of a lesson, how many submissions have which outcome."""
    table = {name: dict.fromkeys(OUTCOMES, 0) for name in LESSONS[lesson]}
    for each in submissions:
        if each.lesson == lesson:
            for name, grade in each.grades.items():
                table[name][outcome(name, grade)] += 1
    return table


def commonest(submissions: list[Submission]) -> list[Common]:
    """What went wrong, the commonest first; equally common ones in the lessons' order, then by name.

    Two mistakes made at once count as one each; two that can't be told apart as one, by both names.
    """
    made, examples = Counter(), {}
    for each in submissions:
        for place, (name, grade) in enumerate(each.grades.items()):
            if outcome(name, grade) in WRONG:
                for part in grade.slugs if grade.together else [in_short(name, grade)]:
                    made[each.lesson, place, name, part] += 1
                    examples.setdefault((name, part), grade)
    order = sorted(made, key=lambda key: (-made[key], key))
    return [
        Common(lesson, name, part, made[key], *_hints(name, part, examples[name, part]))
        for key in order
        for lesson, _, name, part in [key]
    ]


def _hints(exercise: str, part: str, grade: Grade) -> tuple[str, str]:
    """The first hint, and what to discuss: a known mistake's second hint is a small case for the board."""
    mistakes, slug = check.EXERCISES[exercise].mistakes, part if grade.together else grade.slugs[0]
    if slug in mistakes:
        hints = mistakes[slug].hints
        return hints[0], " ".join(hints[1:2])
    hint = STOPPED.get(slug) or re.split(r" \(Input \d|\n", grade.text)[0]
    if "not allowed while grading" in hint or grade.error_type == "PermissionError":
        return hint, "Look at this notebook yourself: no exercise needs that."
    if slug == "raised" and not re.search("shape|size|dtype", hint):
        return hint, ""
    return hint, TO_DISCUSS.get(slug) or AGAIN.get("too-slow" if slug == TOO_LONG else slug, "")
