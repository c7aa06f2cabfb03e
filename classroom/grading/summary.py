"""What the verdicts of a class come to: kinds of outcomes, counts, and the commonest mistakes."""

import re
from collections import Counter
from dataclasses import dataclass

from classroom.grading.grading import STOPPED, TOO_LARGE, TOO_LONG, Verdict
from classroom.grading.submissions import LESSONS, Submission
from lesson_kit import check
from lesson_kit.check.engine.exercise import AGAIN

PASSED, MISTAKE, OTHER, RAISED = "passed", "known mistake", "other mistake", "raised an error"
ENDED, UNTOUCHED, MISSING = "stopped", "not attempted", "not there"
OUTCOMES = [PASSED, MISTAKE, OTHER, RAISED, ENDED, UNTOUCHED, MISSING]
WRONG = (MISTAKE, OTHER, RAISED, ENDED)
SHORT = {"too-slow": "time", TOO_LONG: "time", TOO_LARGE: "memory", "ended-python": "ended Python"}
TO_DISCUSS = {
    TOO_LARGE: "How many numbers does each line make? Write the shapes down before running it.",
    "ended-python": "Does it call exit, or itself without end?",
}


def names(slug: str) -> list[str]:
    """The mistakes in a verdict that names two at once; "this or that" stays one."""
    return slug.split(" and ")


def outcome(exercise: str, verdict: Verdict) -> str:
    """Which of ``OUTCOMES`` a verdict is."""
    kinds = {None: PASSED, "not-attempted": UNTOUCHED, "not-there": MISSING, "raised": RAISED}
    if verdict.slug in kinds:
        return kinds[verdict.slug]
    if verdict.slug in SHORT:
        return ENDED
    known = all(slug in check.EXERCISES[exercise].mistakes for slug in re.split(" and | or ", verdict.slug))
    return MISTAKE if known else OTHER


def in_short(exercise: str, verdict: Verdict) -> str:
    """The outcome in a few words, with the mistake's name where there is one."""
    kind = outcome(exercise, verdict)
    if kind in (MISTAKE, OTHER):
        return verdict.slug
    if kind == ENDED:
        return f"stopped: {SHORT[verdict.slug]}"
    return f"raised {error}" if kind == RAISED and (error := _error(verdict)) else kind


def _error(verdict: Verdict) -> str:
    """The type of the error in a verdict's text."""
    found = re.search(r"\b([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Iteration))\b", verdict.text)
    return found[1] if found else ""


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
            for name, verdict in each.verdicts.items():
                table[name][outcome(name, verdict)] += 1
    return table


def commonest(submissions: list[Submission]) -> list[Common]:
    """What went wrong, the commonest first; equally common ones in the lessons' order, then by name."""
    made, texts = Counter(), {}
    for each in submissions:
        for place, (name, verdict) in enumerate(each.verdicts.items()):
            if outcome(name, verdict) in WRONG:
                parts = names(verdict.slug) if outcome(name, verdict) == MISTAKE else [in_short(name, verdict)]
                for part in parts:
                    made[each.lesson, place, name, part] += 1
                    texts.setdefault((name, part), verdict)
    order = sorted(made, key=lambda key: (-made[key], key))
    return [
        Common(lesson, name, part, made[key], *_hints(name, part, texts[name, part]))
        for key in order
        for lesson, _, name, part in [key]
    ]


def _hints(exercise: str, part: str, verdict: Verdict) -> tuple[str, str]:
    """The first hint, and what to discuss: a known mistake's second hint is a small case for the board."""
    mistakes = check.EXERCISES[exercise].mistakes
    first = part.split(" or ")[0]
    if first in mistakes:
        hints = mistakes[first].hints
        return hints[0], " ".join(hints[1:2])
    slug = verdict.slug
    hint = STOPPED.get(slug) or re.split(r" \(Input \d|\n", verdict.text)[0]
    if "not allowed while grading" in hint:
        return hint, "Look at this notebook yourself: no exercise needs that."
    if slug == "raised" and not re.search("shape|size|dtype", hint):
        return hint, ""
    return hint, TO_DISCUSS.get(slug) or AGAIN.get("too-slow" if slug == TOO_LONG else slug, "")
