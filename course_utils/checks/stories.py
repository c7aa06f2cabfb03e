"""The longer story of a known mistake: its hints, what it does to the numbers, and its patient in the bug clinic."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor

from course_utils.checks.engine import Exercise
from course_utils.checks.output import as_html
from course_utils.checks.runs import describe, error_text, run, tells_apart

CLINIC = "15_bug_clinic.ipynb"
SHOWN = 6  # so many numbers of a result are shown

# The patient of the bug clinic that has the same trouble: the heading in lesson 15.
PATIENTS: dict[str, str] = {}


@dataclass(repr=False)
class Story:
    """What ``check.explain`` returns: paragraphs of text, and where to read on (or None)."""

    slug: str
    paragraphs: list[str]
    patient: str | None

    def __repr__(self) -> str:
        return "\n".join(self.paragraphs + ([f"Read on in {CLINIC}: {self.patient}."] if self.patient else []))

    def _repr_html_(self) -> str:
        html = as_html("\n".join(self.paragraphs))
        if self.patient is None:
            return html
        anchor = self.patient.replace(" ", "-")
        return f'{html}<p>Read on in the bug clinic: <a href="{CLINIC}#{anchor}">{self.patient}</a>.</p>'


def tell(slug: str, exercises: dict[str, Exercise]) -> Story:
    """The story of ``slug``, from every exercise that knows it. Raises ValueError if none does."""
    knowing = [each for each in exercises.values() if slug in each.mistakes]
    if not knowing:
        known = sorted({name for each in exercises.values() for name in each.mistakes})
        near = get_close_matches(str(slug), known)
        raise ValueError(
            f"slug must be a mistake that a check has named, got {slug!r}"
            + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")
        )
    paragraphs = [f"{slug}."]
    for each in knowing:
        paragraphs += [f"In {each.name}: {' '.join(each.mistakes[slug].hints)}", *_numbers(each, slug)]
    return Story(slug, paragraphs, PATIENTS.get(slug))


def _numbers(exercise: Exercise, slug: str) -> list[str]:
    """What the mistake gives on the smallest input that shows it, and what is right."""
    way = exercise.mistakes[slug].ways[0]
    for args in exercise.inputs():
        right, wrong = run(exercise.reference, args).output, run(way, args)
        if not tells_apart(wrong, wrong, right):
            continue
        inputs = ", ".join(f"{name} {describe(arg)}" for name, arg in zip(exercise.arguments, args, strict=True))
        got = error_text(wrong.error) if wrong.error else _first_numbers(wrong.output)
        return [f"For {inputs}: right is {_first_numbers(right)}; with this mistake it is {got}."]
    return []


def _first_numbers(result: Any) -> str:
    """The first few numbers of a result, and its shape."""
    if type(result) is tuple:
        return " and ".join(map(_first_numbers, result))
    if not isinstance(result, Tensor):
        return f"{result:.4g}" if isinstance(result, float) else repr(result)
    numbers = [f"{x:.4g}" if torch.is_floating_point(result) else str(x) for x in result.flatten()[:SHOWN].tolist()]
    more = ", ..." if result.numel() > SHOWN else ""
    return f"({', '.join(numbers)}{more}) of shape {tuple(result.shape)}"
