"""How long a lesson takes, counted; ``python tests/minutes.py`` writes it where the course says it.

A reader reads 150 words in a minute, gives 45 seconds to a code cell and 90 to a prediction, and an exercise takes what
its heading says. What is folded up, the quiz, and collapsed cells are not counted: who opens them wants to.
"""

import re
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from classroom.versions.lesson import FOLDED, GUIDES, Lesson, find_lessons, read_lesson

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
IN_LESSON = re.compile(r"(?<=\*\*Time\*\* about )\d+(?= minutes)")
IN_GUIDE = re.compile(r"\d+(?= minutes alone)")


@dataclass(frozen=True)
class Effort:
    """What a lesson asks of its reader."""

    words: int
    code_cells: int
    exercises: int  # minutes
    predictions: int

    @property
    def minutes(self) -> int:
        """Rounded up to five."""
        exact = self.words / 150 + 0.75 * self.code_cells + self.exercises + 1.5 * self.predictions
        return 5 * ceil(exact / 5)


def effort(lesson: Lesson) -> Effort:
    cells = [cell for place, cell in enumerate(lesson.notebook.cells) if place not in lesson.quiz]
    text = prose("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
    code = [cell for cell in cells if cell.cell_type == "code"]
    return Effort(
        words=len(re.findall(r"\S*\w\S*", text)),
        code_cells=sum(not cell.metadata.get("jupyter", {}).get("source_hidden") for cell in code),
        exercises=sum(exercise.minutes for exercise in lesson.exercises),
        predictions=len(re.findall(r"\*\*Predict\b", text)),
    )


def prose(markdown: str) -> str:
    """What stands on the page: nothing folded, no block of code, no address of a link, no tags."""
    markdown = re.sub(r"```.*?```", "", FOLDED.sub("", markdown), flags=re.DOTALL)
    return re.sub(r"\]\([^)]*\)|<[^>]+>", "", markdown)


def in_readme(lesson: Lesson) -> re.Pattern:
    """The lesson's row in the table; its second group is the last column."""
    return re.compile(rf"^(\| \[{lesson.number} · .*\| )(\d+)(?= \|$)", flags=re.MULTILINE)


def stated(lesson: Lesson) -> dict[str, list[int]]:
    """Each place that says how long the lesson takes, with the numbers it gives."""
    readme = in_readme(lesson).findall(README.read_text(encoding="utf-8"))
    return {
        "the lesson": [lesson.minutes],
        "README": [int(minutes) for _, minutes in readme],
        "its guide": [int(minutes) for minutes in IN_GUIDE.findall(lesson.guide or "")],
    }


def rewrite(path: Path, pattern: re.Pattern, replacement: str) -> None:
    path.write_text(pattern.sub(replacement, path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    for lesson in map(read_lesson, find_lessons()):
        found = effort(lesson)
        print(f"{lesson.name}: {found.minutes} minutes (said {lesson.minutes}); {found}")
        rewrite(lesson.path, IN_LESSON, str(found.minutes))
        rewrite(README, in_readme(lesson), rf"\g<1>{found.minutes}")
        rewrite(GUIDES / f"{lesson.name}.md", IN_GUIDE, str(found.minutes))
