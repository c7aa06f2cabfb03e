"""By which known mistake a candidate differs from the reference.

A mistake is a few lines of code that make it; a candidate that does the same on every input has made it too.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from lesson_kit.check.engine.run import agree, run, tells_apart
from lesson_kit.check.engine.trial import Trial


class Known(NamedTuple):
    """The known mistakes that explain every result: made together, or such as can't be told apart; and their hints."""

    slugs: tuple[str, ...]
    together: bool
    hints: str


def known_mistake(trial: Trial) -> Known | None:
    """One mistake alone if that explains it, else two together."""
    mistakes = trial.exercise.mistakes
    if found := tuple(slug for slug, each in mistakes.items() if any(does_the_same(trial, way) for way in each.ways)):
        return Known(found, False, "\nOr: ".join(mistakes[slug].hints[0] for slug in found))
    for slugs, way in trial.exercise.pairs():
        if does_the_same(trial, way):
            hints = "\n".join(f"{n}. {mistakes[slug].hints[0]}" for n, slug in enumerate(slugs, start=1))
            return Known(slugs, True, f"Two things at once:\n{hints}")
    return None


def does_the_same(trial: Trial, way: Callable) -> bool:
    """Does the candidate do on every input what ``way`` does, and on one of them not what is right?"""
    proven = False
    for mine, args, right in zip(trial.runs, trial.cases, trial.wanted, strict=True):
        mistaken, compare = run(way, args), partial(trial.difference, args)
        if not agree(mine, mistaken, compare):
            return False
        proven = proven or tells_apart(mine, mistaken, right, compare)
    return proven
