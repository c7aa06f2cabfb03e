"""The checks of the exercises: ``check.softmax(softmax)`` says what is right, or what went wrong, and why.

Each check takes the function you wrote, shows a verdict and returns a ``CheckResult``; it never raises.
``check.progress()`` shows what you have passed, ``check.explain()`` tells the longer story of the last mistake.
A lesson's checks are loaded when the first of them is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lesson_kit.check.engine.exercise import CheckResult, Exercise, last_mistake
from lesson_kit.check.progress import Progress, overview
from lesson_kit.check.where_taught import PLACES, lesson

if TYPE_CHECKING:
    from lesson_kit.check.stories import Story

__all__ = ["CheckResult", "explain", "progress", *PLACES]


def __getattr__(name: str):
    if name == "EXERCISES":
        return {each: _load(each) for each in PLACES}
    if name in PLACES:
        return _load(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "EXERCISES"])


def _load(name: str) -> Exercise:
    return getattr(import_module(f"{__name__}.lessons.lesson_{lesson(name)}"), name)


def progress() -> Progress:
    """Which exercises of which lessons you have passed, and in which file that is written down."""
    return overview({name: lesson(name) for name in PLACES})


def explain(slug: str | None = None, exercise: str | None = None) -> "Story":
    """The longer story of a mistake: what it does to the numbers, and where to read on.

    Without arguments it is the last mistake that a check found since this kernel was started. Several exercises may
    know a mistake of this name; ``exercise`` says in which one you made it.

    Raises:
        ValueError: no check knows a mistake of this name, or there is no such exercise.
    """
    from lesson_kit.check import stories

    if slug is None and exercise is None and last_mistake:
        found, slug = last_mistake[0]
        return stories.tell(slug, found.name, {found.name: found})
    return stories.tell(slug, exercise, __getattr__("EXERCISES"))
