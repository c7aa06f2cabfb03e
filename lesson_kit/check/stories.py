"""The longer story of a known mistake: its hints, what it does to the numbers, and its patient in the bug clinic."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from html import escape
from typing import Any

import torch
from torch import Tensor

from lesson_kit.check.clinic import CLINIC, PATIENTS, Patient
from lesson_kit.check.engine.differences import difference, first
from lesson_kit.check.engine.display import as_html, as_paragraphs
from lesson_kit.check.engine.errors import error_text
from lesson_kit.check.engine.exercise import Exercise
from lesson_kit.check.engine.message import AGAIN
from lesson_kit.check.engine.run import Call, describe, run, tells_apart
from lesson_kit.check.where_taught import PLACES, link

# Verdicts that name no known mistake.
NO_MISTAKE = {*AGAIN, "not-attempted", "returns-nothing", "not-a-function", "called-twice", "not-repeatable"}
NO_MISTAKE |= {"seed-ignored", "wrong-device"}
SHOWN = 6  # so many rows and columns of a table
INPUTS = 60  # so many numbers of inputs, all together, are still shown


@dataclass(repr=False)
class Story:
    """What ``check.explain`` returns: paragraphs, tables, and where to read on, in a lesson and in the bug clinic.

    Of several mistakes each has a part, a story of its own.
    """

    slug: str | None
    paragraphs: list[str] = field(default_factory=list)
    tables: list = field(default_factory=list)
    patient: Patient | None = None
    exercise: str | None = None
    parts: "list[Story]" = field(default_factory=list)

    def _read_on(self) -> Iterator[tuple[str, str, str, str]]:
        """For each place, the lesson's own first: before the link, its notebook, its heading, after it."""
        if self.exercise in PLACES:
            notebook, heading = PLACES[self.exercise]
            after = "If the page opens at its top, look for that heading."
            yield f"Read on in lesson {notebook[:2]}:", notebook, heading, after
        told = set()
        for part in self.parts or [self]:
            if part.patient and part.patient.heading not in told:
                heading = part.patient.heading
                told.add(heading)
                what = "a related bug" if part.slug in part.patient.kin else "the whole story"
                number = heading.split(":")[0]
                after = (
                    f"If the page opens at its top, choose {number} in the list there. Run all cells above it first."
                )
                yield f"Later, {what} in the bug clinic, lesson 19:", CLINIC, heading, after

    def __repr__(self) -> str:
        lines = [line for part in self.parts or [self] for line in (*part.paragraphs, *map(repr, part.tables))]
        for before, notebook, heading, _ in self._read_on():
            lines.append(f"{before.removesuffix(':')}, {notebook}: {heading.removesuffix('?')}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = ""
        for part in self.parts or [self]:
            body += as_paragraphs("\n".join(part.paragraphs))
            if part.tables:
                tables = "".join(table._repr_html_() for table in part.tables)
                style = "display: flex; flex-wrap: wrap; gap: 0.5em 2em; align-items: start"
                body += f'<div style="{style}">{tables}</div>'
        for before, notebook, heading, after in self._read_on():
            there = f'<a href="{link(notebook, heading)}">{escape(heading)}</a>'
            body += f'<p style="margin: 0.3em 0">{before} {there}. {after}</p>'
        return as_html(body=body)


def nothing_yet() -> Story:
    """Before the first mistake."""
    return Story(None, ["No check has found a mistake yet, since this kernel was started."])


def tell(slugs: tuple[str, ...], exercise: str | None, exercises: dict[str, Exercise]) -> Story:
    """The story of each mistake in ``exercise``, or in the first that knows it. Raises ValueError if there is none."""
    if len(slugs) > 1:
        parts = [tell((slug,), exercise, exercises) for slug in slugs]
        return Story(None, exercise=parts[0].exercise, parts=parts)
    (slug,) = slugs
    if slug in NO_MISTAKE:
        says = AGAIN.get(slug, "The verdict itself says all that there is to say.")
        return Story(slug, [f"{exercise}: {says}" if exercise in exercises else says])
    if exercise is not None and exercise not in exercises:
        raise ValueError(f"exercise must be one of {', '.join(exercises)}, got {exercise!r}")
    knowing = [each for each in exercises.values() if slug in each.mistakes and exercise in (None, each.name)]
    if not knowing:
        known = sorted({name for each in exercises.values() for name in each.mistakes})
        near = get_close_matches(str(slug), known)
        raise ValueError(
            f"slug must be a mistake that {f'the check of {exercise}' if exercise else 'a check'} knows, got {slug!r}"
            + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")
        )
    patient = next((each for each in PATIENTS if slug in each.slugs or slug in each.kin), None)
    told, *others = knowing
    numbers, tables = _numbers(told, slug)
    paragraphs = [f"{slug}." if patient is None else f"{slug}. {patient.story_of(slug)}"]
    paragraphs.append(f"In `{told.name}`: {' '.join(told.mistakes[slug].hints)}")
    if others:
        paragraphs.append(f"Also a mistake in {', '.join(f'`{each.name}`' for each in others)}.")
    return Story(slug, paragraphs + numbers, tables, patient, told.name)


def _numbers(exercise: Exercise, slug: str) -> tuple[list[str], list]:
    """What the mistake gives on the input that shows it best, and what is right: in words, and as tables."""
    way = exercise.mistakes[slug].ways[0]
    examples = [] if exercise.example is None else [exercise.example]
    for args in examples + sorted(exercise.inputs(), key=_hard_to_see):  # else the smallest first, as they come
        right, wrong = run(exercise.reference, args).output, run(way, args)
        if tells_apart(wrong, wrong, right):
            named = dict(zip(exercise.arguments, args, strict=True))
            return _compared(slug, named, right, wrong)
    return [], []


def _hard_to_see(args: tuple) -> bool:
    """Not one matrix each, of several rows and columns: a single row or a batch of one can hide what goes wrong."""
    shapes = [arg.shape for arg in args if isinstance(arg, Tensor) and arg.dim() > 1]
    few = sum(arg.numel() for arg in args if isinstance(arg, Tensor)) <= INPUTS
    return not (few and shapes and all(len(shape) == 2 and min(shape) > 1 for shape in shapes))


def _compared(slug: str, named: dict[str, Any], right: Any, wrong: Call) -> tuple[list[str], list]:
    tensors = {name: arg for name, arg in named.items() if isinstance(arg, Tensor) and arg.dim() > 0}
    if sum(map(Tensor.numel, tensors.values())) > INPUTS:
        tensors = {}
    tables = [_table(arg, f"input {name}") for name, arg in tensors.items()]
    inputs = ", ".join(f"`{name}` {describe(arg)}" for name, arg in named.items())
    if wrong.error:
        text = f"For {inputs}: with this mistake it raises {error_text(wrong.error)}."
        return [text], [*tables, *(_table(part, "right") for _, part in _parts(right) if isinstance(part, Tensor))]
    wrong_parts = dict(_parts(wrong.output))
    for name, part in _parts(right):
        mine = wrong_parts.get(name)
        if not isinstance(part, Tensor) or not isinstance(mine, Tensor):
            if part is not mine and difference(mine, part):
                text = f"For {inputs}: right is {part!r}{name}; with this mistake it is {mine!r}."
                return [text], tables
        elif fault := difference(mine, part):
            tables += _side_by_side(part, mine, name, slug, fault.slug)
    return [f"For {inputs}: what is right, and what comes with this mistake."], tables


def _parts(result: Any, name: str = "") -> list[tuple[str, Any]]:
    """The parts of a tuple, also of one in it, each with its name."""
    if type(result) is not tuple:
        return [(name, result)]
    return [part for n, each in enumerate(result, start=1) for part in _parts(each, f"{name or ', part'} {n}".rstrip())]


def _side_by_side(right: Tensor, wrong: Tensor, name: str, slug: str, fault: str) -> list:
    """Both, at the first place where they differ, with as many digits as tell them apart."""
    at = None
    if right.shape == wrong.shape and right.dim() > 0 and fault in ("wrong-value", "not-finite"):
        at = first(~torch.isclose(wrong, right, rtol=2e-4, atol=2e-4, equal_nan=True))
    titles = f"right{name}", f"with {slug}{name}"
    for digits in (2, 4, 6):
        tables = [_table(tensor, title, at, digits) for tensor, title in zip((right, wrong), titles, strict=True)]
        if at is None or tables[0].cells != tables[1].cells:
            break
    return tables


def _table(tensor: Tensor, title: str, at: tuple[int, ...] | None = None, digits: int = 2):
    """The part of a tensor around one place: a matrix of at most ``SHOWN`` rows and columns."""
    from lesson_kit.show import matrix  # matplotlib comes with it: not at import

    whole = tuple(tensor.shape)
    if tensor.numel() == 0:
        return matrix([["none"]], columns=["entries"], title=f"{title} {whole}")
    at = at or (0,) * tensor.dim()
    tensor = tensor.detach()[at[:-2]] if tensor.dim() > 2 else tensor.detach().reshape(-1, whole[-1] if whole else 1)
    row, column = (0, 0, *at)[-2:]
    starts = [place - place % SHOWN for place in (row, column)]
    shown = tensor[tuple(slice(start, start + SHOWN) for start in starts)]
    cells = (
        shown.tolist()
        if shown.is_floating_point() or shown.dtype == torch.bool
        else [[str(number) for number in line] for line in shown.tolist()]
    )
    part = "" if shown.numel() == torch.Size(whole).numel() else ", a part"
    rows, columns = (range(start, start + n) for start, n in zip(starts, shown.shape, strict=True))  # as Python counts
    return matrix(cells, rows, columns, title=f"{title} {whole}{part}", digits=digits)
