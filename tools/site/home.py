"""The first page: what the README says of the course, its lessons and the paths through them."""

import re
from collections.abc import Collection
from dataclasses import dataclass

ROW = re.compile(
    r"^\| \[(?P<number>\d\d) · (?P<title>[^\]]+)\]\(notebooks/(?P<name>\w+)\.ipynb\) \| (?P<question>[^|]+) \|"
    r".* \| (?P<minutes>\d+) \|$",
    flags=re.MULTILINE,
)
PATH = re.compile(r"^- \*\*(?P<title>[^*]+)\*\*: (?P<which>[^.]+)\. (?P<about>.+)$", flags=re.MULTILINE)
EVERYTHING = re.compile(r"^- \*\*(Everything)\*\*: (.+)$", flags=re.MULTILINE)
AIMS = re.compile(r"^## What you will be able to do\n\n((?:(?:- |  ).*\n)+)", flags=re.MULTILINE)
COMMAND = re.compile(r"```bash\n(python3 -m venv [^\n]+ start)\n```")


@dataclass(frozen=True)
class Row:
    """A lesson in the list."""

    name: str
    number: str
    title: str
    question: str
    minutes: int


@dataclass(frozen=True)
class Way:
    """A path through the lessons, and how long it takes."""

    title: str
    about: str
    rows: tuple[Row, ...]

    @property
    def hours(self) -> str:
        """Rounded to the half hour: "4", "4½"."""
        halves = round(sum(row.minutes for row in self.rows) / 30)
        return f"{halves // 2 or ''}{'½' * (halves % 2)}"


@dataclass(frozen=True)
class Home:
    """All that the first page says."""

    rows: tuple[Row, ...]
    ways: tuple[Way, ...]
    aims: tuple[str, ...]
    command: str


def read(readme: str, lessons: Collection[str]) -> Home:
    """What the README says, of the ``lessons`` that are there.

    Raises:
        ValueError: the README has another form than this reads, or leaves a lesson out; it says what is missing.
    """
    rows = tuple(
        Row(row["name"], row["number"], row["title"], row["question"].strip(), int(row["minutes"]))
        for row in ROW.finditer(readme)
        if row["name"] in lessons
    )
    missing = sorted(set(lessons) - {row.name for row in rows})
    if missing:
        raise ValueError(f"README.md: its table of lessons has no row for {', '.join(missing)}")
    aims, command = AIMS.search(readme), COMMAND.search(readme)
    everything = EVERYTHING.search(readme)
    ways = [
        Way(path["title"], path["about"], tuple(row for row in rows if row.number in numbers(path["which"])))
        for path in PATH.finditer(readme)
        if numbers(path["which"])
    ]
    for what, found in {
        "paths (- **Title**: 01, 02. ...)": ways,
        "path - **Everything**: ...": everything,
        "list 'What you will be able to do'": aims,
        "command that ends in 'start'": command,
    }.items():
        if not found:
            raise ValueError(f"README.md: no {what}")
    ways.append(Way(everything[1], everything[2][0].upper() + everything[2][1:], rows))
    points = re.split(r"^- ", aims[1], flags=re.MULTILINE)[1:]
    return Home(rows, tuple(way for way in ways if way.rows), tuple(" ".join(p.split()) for p in points), command[1])


def numbers(which: str) -> set[str]:
    """ "01, 02, then 13 to 15" as the numbers of lessons."""
    spans = re.findall(r"(\d\d)(?: to (\d\d))?", which)
    return {f"{n:02}" for first, last in spans for n in range(int(first), int(last or first) + 1)}
