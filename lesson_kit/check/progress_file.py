"""Which exercises are passed: kept in one small file on the learner's own computer, and nowhere else.

The file grows by one line per exercise passed for the first time, so two kernels can write it at once and a damaged
line costs nothing but itself. The environment variable ``COURSE_PROGRESS`` names another file, or says "off".
"""

import datetime
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from lesson_kit.check.engine.display import as_html
from lesson_kit.check.where_taught import PLACES, TITLES

DEFAULT = Path.home() / ".attention-by-hand" / "progress.jsonl"


def path() -> Path | None:
    """The file, or None where ``COURSE_PROGRESS`` is "off" or "0"."""
    setting = os.environ.get("COURSE_PROGRESS", "").strip()
    if setting.lower() in ("off", "0"):
        return None
    return Path(setting).expanduser() if setting else DEFAULT


def passed() -> dict[str, str]:
    """Exercise to the day on which it was passed first. Raises OSError if there is a file that can't be read."""
    file, found = path(), {}
    if file is None or not file.exists():
        return found
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
            found.setdefault(str(entry["exercise"]), str(entry["passed"]))
        except (ValueError, TypeError, KeyError):
            continue  # a damaged line
    return found


def record_pass(exercise: str) -> None:
    """Writes down that ``exercise`` was passed today. A folder that can't be written to is no reason to disturb."""
    file = path()
    try:
        if file is None or exercise in passed():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"exercise": exercise, "passed": datetime.date.today().isoformat()})
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"\n{line}\n")  # the first line break ends whatever another kernel left half written
    except OSError:
        pass


def _short(file: Path) -> str:
    return f"~/{file.relative_to(Path.home())}" if file.is_relative_to(Path.home()) else str(file)


@dataclass(repr=False)
class Progress:
    """What ``progress()`` returns: ``passed`` (exercise: day) of ``exercises`` (exercise: lesson)."""

    exercises: dict[str, str]
    passed: dict[str, str]
    where: str

    def _summary(self) -> str:
        count = sum(name in self.passed for name in self.exercises)
        return f"{count} of {len(self.exercises)} exercises passed. {self.where}"

    def _lessons(self) -> Iterator[tuple[str, list[str]]]:
        """Each lesson with its exercises."""
        for lesson, names in groupby(self.exercises, key=self.exercises.get):
            yield lesson, list(names)

    def __repr__(self) -> str:
        lines, width = [self._summary()], max(map(len, self.exercises))
        for lesson, names in self._lessons():
            lines.append(f"{lesson} · {TITLES[lesson]}")
            lines += [f"    {name:{width}}  {self.passed.get(name, 'not yet')}" for name in names]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        left, body = 'style="text-align: left; vertical-align: top"', ""
        for lesson, names in self._lessons():
            there = f'<a href="{PLACES[names[0]][0]}">{lesson} · {escape(TITLES[lesson])}</a>'
            group = f'<th scope="rowgroup" rowspan="{len(names)}" {left}>{there}</th>'
            rows = (
                f'<th scope="row" {left}>{escape(name)}</th><td {left}>{escape(self.passed.get(name, "not yet"))}</td>'
                for name in names
            )
            body += f"<tbody><tr>{group}{'</tr><tr>'.join(rows)}</tr></tbody>"
        names = "".join(f'<th scope="col" {left}>{column}</th>' for column in ("lesson", "exercise", "passed"))
        return as_html(self._summary(), body=f"<table><thead><tr>{names}</tr></thead>{body}</table>")


def overview(exercises: dict[str, str]) -> Progress:
    """``exercises``: each exercise and its lesson. What is passed, and where that is written down."""
    file = path()
    if file is None:
        return Progress(exercises, {}, 'Nothing is written down: COURSE_PROGRESS says "off".')
    try:
        return Progress(exercises, passed(), f"This is kept in {_short(file)}; delete that file to start anew.")
    except OSError as error:
        return Progress(exercises, {}, f"{file} can't be read: {error.strerror or error}.")
