"""The longer story of a known mistake: its hints, what it does to the numbers, and its patient in the bug clinic."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from html import escape

from lesson_kit.check.clinic import CLINIC, PATIENTS, Patient
from lesson_kit.check.engine.display import as_html, as_paragraphs
from lesson_kit.check.engine.exercise import Exercise
from lesson_kit.check.engine.message import AGAIN
from lesson_kit.check.engine.worked_example import in_html, worked_example
from lesson_kit.check.where_taught import PLACES, link

# Verdicts that name no known mistake.
NO_MISTAKE = {*AGAIN, "not-attempted", "returns-nothing", "not-a-function", "called-twice", "not-repeatable"}
NO_MISTAKE |= {"seed-ignored", "wrong-device"}


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
            body += as_paragraphs("\n".join(part.paragraphs)) + in_html(part.tables)
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
    numbers = worked_example(told, slug)
    paragraphs = [f"{slug}." if patient is None else f"{slug}. {patient.story_of(slug)}"]
    paragraphs.append(f"In `{told.name}`: {' '.join(told.mistakes[slug].hints)}")
    if others:
        paragraphs.append(f"Also a mistake in {', '.join(f'`{each.name}`' for each in others)}.")
    return Story(slug, [*paragraphs, *numbers.sentences], numbers.tables, patient, told.name)
