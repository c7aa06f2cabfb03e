"""The exercises of all lessons, in the lessons' order."""

from pkgutil import resolve_name

from lesson_kit.check.engine.exercise import Exercise
from lesson_kit.check.where_taught import PLACES, lesson

EXERCISES: dict[str, Exercise] = {
    name: resolve_name(f"lesson_kit.check.lessons.lesson_{lesson(name)}:{name}") for name in PLACES
}
