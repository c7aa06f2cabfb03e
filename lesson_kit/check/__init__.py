"""The checks of the exercises: ``check.softmax(softmax)`` says what is right, or what went wrong, and why.

Each check takes the function you wrote, shows a verdict and returns a ``CheckResult``; it never raises.
``check.progress()`` shows what you have passed, ``check.explain()`` tells the longer story of the last mistake.
``check.EXERCISES`` holds them all; a lesson's checks are loaded when the first of them is used.
"""

from typing import TYPE_CHECKING

from lesson_kit._lazy import on_first_use
from lesson_kit.check.engine.exercise import CheckResult, last_mistake
from lesson_kit.check.progress_file import Progress, overview
from lesson_kit.check.where_taught import PLACES, lesson

if TYPE_CHECKING:
    from lesson_kit.check.stories import Story

__all__ = ["CheckResult", "explain", "progress", *PLACES]

_HOMES = {name: f"lesson_kit.check.lessons.lesson_{lesson(name)}:{name}" for name in PLACES}
__getattr__, __dir__ = on_first_use(__name__, {**_HOMES, "EXERCISES": "lesson_kit.check.all_exercises:EXERCISES"})


def progress() -> Progress:
    """Which exercises of which lessons you have passed, and in which file that is written down."""
    return overview({name: lesson(name) for name in PLACES})


def explain(slug: str | tuple[str, ...] | None = None, exercise: str | None = None) -> "Story":
    """The longer story of a mistake, or of several: what it does to the numbers, and where to read on.

    Without arguments it is the last mistake that a check found since this kernel was started. Several exercises may
    know a mistake of this name; ``exercise`` says in which one you made it.

    Raises:
        ValueError: no check knows a mistake of this name, or there is no such exercise.
    """
    from lesson_kit.check import stories

    if slug is None:
        if not last_mistake:
            return stories.nothing_yet()
        found, verdict = last_mistake[0]
        return stories.tell(verdict.slugs, found.name, {found.name: found})
    from lesson_kit.check.all_exercises import EXERCISES

    return stories.tell(slug if isinstance(slug, tuple) else (slug,), exercise, EXERCISES)
