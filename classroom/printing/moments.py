"""What of a lesson can be a slide: its predictions, results, formulas, lists, exercises and quiz questions.

Nothing is written for slides in the lessons: a moment is found by the notebook's own structure, and what the lesson
says besides becomes speaker notes. A cell tagged ``slide`` is taken before all others, one tagged ``no-slide`` never.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from nbformat import NotebookNode

from classroom.printing.markdown import first_sentences, paragraphs, sentences
from lesson_kit.show.in_words import IN_WORDS

# How much a class gets out of it. A prediction is worth more than its result alone.
WORTH = {
    "title": 99, "summary": 98, "moving": 6, "picture": 4, "exercise": 4, "question": 3.5, "table": 2.5,
    "formula": 2.2, "list": 2, "printed": 1, "nothing": 0.5,
}  # fmt: skip
PREDICTED = 1.5
WISHED = 50
TASK, ASKED, TOLD, ITEMS, SUMMARY = 700, 450, 260, 640, 840  # letters: an exercise, a question, an answer, two lists
CODE, STUB, RESULT = (9, 72), (12, 98), (14, 92)  # the most lines and columns that can be read from the last row
SAYING = 20  # letters: less says nothing about a result
LINES, LETTERS = 16, 75  # what stands on a full slide in the smallest letters
QUIET = re.compile(r"\bcheck\.\w+\(|find_spec|^\s*%pip", re.MULTILINE)  # an exercise's check; setting up
HELP = re.compile(
    r"^<details>\s*<summary>(?:Hint|Solution).*?</details>\n?|^\[Open in Binder\][^\n]*\n?", re.MULTILINE | re.DOTALL
)
DIAGRAM = re.compile('<img class="course-still" alt="[^"]*" src="[^"]*">')  # of show.diagram, for a page without styles
LISTED = re.compile(r"([-*]|\d+\.) ")
OF_THE_NOTEBOOK = re.compile(r"\bcells?\b|\bbelow\b|[?:]$")  # what a sentence on a slide doesn't speak of


@dataclass
class Part:
    """A cell of code, or what a Markdown cell has at its top level."""

    kind: str  # "title", "heading", "predict", "formula", "list", "table", "fence", "folded", "quiz", "text" or "code"
    source: str
    cell: NotebookNode


@dataclass(eq=False)
class Moment:
    """One slide: what stands on it at once, what comes with the next key press, and what the teacher may say.

    kind: a key of ``WORTH``. ``text``, ``answer`` and ``notes`` are Markdown. If it is ``asked``, answer and outputs
    come with the next press.
    """

    kind: str
    section: str
    title: str
    text: str
    code: str = ""
    outputs: Sequence[NotebookNode] = ()
    answer: str = ""
    asked: bool = False
    where: str = ""
    notes: str = ""
    tags: set[str] = field(default_factory=set)

    @property
    def worth(self) -> float:
        predicted = self.asked and self.kind not in ("question", "nothing")
        return WORTH[self.kind] + PREDICTED * predicted + WISHED * ("slide" in self.tags)


def moments(notebook: NotebookNode) -> list[Moment]:
    """All moments of a lesson in its order. What is said between two belongs to the notes of the one before."""
    parts, found = list(_parts(notebook)), []
    section = heading = said = ""
    while parts:
        part = parts[0]
        if part.kind == "heading":
            level, words = len(part.source) - len(part.source.lstrip("#")), part.source.lstrip("# ")
            section, heading = (words, "") if level == 2 or words == "Further reading" else (section, words)
        moment, n = _first(parts, section, heading, said)
        if moment and "no-slide" not in moment.tags:
            found.append(moment)
        elif found and part.kind not in ("heading", "code", "fence"):
            found[-1].notes += f"\n\n{part.source}"
        if moment and moment.kind == "exercise":
            heading = ""  # what follows is no part of it
        used = part.kind == "heading" or (moment is not None and part.kind == "code")
        said = next((p.source for p in reversed(parts[:n]) if p.kind == "text"), "" if used else said)
        parts = parts[n:]
    return found


def _first(parts: list[Part], section: str, heading: str, said: str) -> tuple[Moment | None, int]:
    """The moment with which ``parts`` begin, if they do, and how many of them it takes."""
    part = parts[0]
    title = heading or section
    if part.kind == "title":
        return _title(parts)
    if part.kind == "heading" and heading.startswith("Exercise"):
        return _exercise(parts, section, heading)
    if section == "Summary" and part.kind == "list":
        return Moment("summary", section, title, pithy(part.source, SUMMARY), tags=_tags(part)), 1
    if part.kind == "quiz":
        return _question(part, section), 1
    if section in ("Check yourself", "Summary", "Further reading"):
        return None, 1
    if part.kind == "predict":
        return _prediction(parts, section, title)
    if part.kind == "code":
        return _result(parts, section, title, said), 1
    if part.kind == "formula" and said:
        return Moment("formula", section, title, f"{sentences(said)[-1]}\n\n{part.source}", tags=_tags(part)), 1
    if part.kind == "list" and said.endswith(":") and part.source.count("\n") >= 2:
        text = f"{sentences(said)[-1]}\n\n{pithy(part.source, ITEMS)}"
        return Moment("list", section, title, text, tags=_tags(part)), 1
    return None, 1


# --- the kinds of moments ----------------------------------------------------------------------


def _title(parts: list[Part]) -> tuple[Moment, int]:
    """The lesson's name, what it is for, and its goals."""
    own = [parts[0], *takewhile(lambda part: part.kind in ("text", "list"), parts[1:])]
    place = next((n for n, part in enumerate(own) if part.kind == "list"), len(own))
    shown = [own[1].source, *(part.source for part in own[max(2, place - 1) : place + 1])] if own[1:] else []
    rest = [part.source for part in own[1:] if part.source not in shown]
    title = own[0].source.lstrip("# ")
    return Moment("title", "", title, "\n\n".join(shown), notes="\n\n".join(rest)), len(own)


def _exercise(parts: list[Part], section: str, heading: str) -> tuple[Moment, int]:
    """What to write, and the stub."""
    own = [parts[0], *takewhile(lambda part: part.kind not in ("heading", "code", "predict"), parts[1:])]
    stub = parts[len(own)] if parts[len(own) : len(own) + 1] and parts[len(own)].kind == "code" else None
    name, minutes = re.fullmatch(r"(.*?)(?: \((.*)\))?", heading).groups()
    text, rest = "", []
    for part in own[1:]:
        if part.kind != "folded" and len(text) + len(part.source) <= TASK:
            text += f"\n\n{part.source}"
        else:
            rest.append(part.source)
    moment = Moment("exercise", section, name, text, notes="\n\n".join(rest), tags=_tags(*own, *filter(None, [stub])))
    moment.where = " · ".join(filter(None, [section, minutes]))
    if stub and fits(stub.source, *STUB):
        moment.code = stub.source
    return moment, len(own) + bool(stub)


def _question(part: Part, section: str) -> Moment | None:
    """A quiz question: its options, then the right one with its reason."""
    options = re.findall(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", part.source, flags=re.DOTALL)
    asked = part.source.split("<details>")[0].strip()
    right = next(((name, why.replace("**Right.**", "")) for name, why in options if "**Right.**" in why), None)
    if right is None:
        return None
    text = f"{asked}\n\n" + "\n".join(f"- {name}" for name, _ in options)
    answer = f"**{right[0][:1]}.** {first_sentences(right[1].strip(), TOLD)}"
    return Moment("question", section, section, text, answer=answer, asked=True, tags=_tags(part))


def _prediction(parts: list[Part], section: str, title: str) -> tuple[Moment, int]:
    """The question, with its code if that is short; then what came out, and what the lesson says of it."""
    own = list(takewhile(lambda part: part.cell is parts[0].cell and part.kind != "heading", parts))
    run = list(takewhile(lambda part: part.kind == "code", parts[len(own) :]))
    asked = [own[0], *takewhile(lambda part: part.kind in ("list", "table", "formula", "fence"), own[1:])]
    text = "\n\n".join(part.source for part in asked)
    moment = Moment("nothing", section, title, text if len(text) <= ASKED else own[0].source, tags=_tags(*own, *run))
    moment.notes = "\n\n".join(part.source for part in own[len(asked) :] if part.kind == "text")
    moment.outputs = best([output for part in run for output in part.cell.outputs])
    moment.kind = kind_of(moment.outputs)
    moment.answer = told([part for part in own if part.kind == "folded"] or parts[len(own) + len(run) :])
    moment.asked = bool(moment.outputs or moment.answer)
    if moment.kind == "moving":  # it fills the slide, in place of the question
        moment.notes, moment.answer = f"{moment.notes}\n\n{moment.answer}", ""
    if run and moment.kind not in ("picture", "moving") and fits(run[0].source, *CODE):
        moment.code = run[0].source
    if _lines(moment) > LINES:
        moment.code = ""
    if _lines(moment) > LINES:
        moment.answer = first_sentences(moment.answer, 0)
    return moment, len(own) + len(run)


def _result(parts: list[Part], section: str, title: str, said: str) -> Moment | None:
    """What a cell shows, and what the lesson says of it."""
    outputs = best(parts[0].cell.outputs)
    if not outputs:
        return None
    text = told(parts[1:]) or first_sentences(said, TOLD, OF_THE_NOTEBOOK)
    text = text if len(text) >= SAYING else ""
    if not text and kind_of(outputs) not in ("picture", "moving"):
        return None
    return Moment(kind_of(outputs), section, title, text, outputs=outputs, tags=_tags(parts[0]))


def _lines(moment: Moment) -> int:
    """How full the slide is, roughly; slides.js measures it."""
    words = [line for text in (moment.text, moment.answer) for line in text.split("\n") if line]
    results = [
        9 if kind_of([output]) in ("picture", "moving") else len(as_text(output).split("\n"))
        for output in moment.outputs
    ]
    return sum(1 + len(line) // LETTERS for line in words) + len(moment.code.split("\n")) + max(results, default=0)


def told(parts: list[Part]) -> str:
    """What the lesson says right after a result, or in the answer folded there; nothing of the notebook itself."""
    if not parts or parts[0].kind not in ("text", "folded"):
        return ""
    text = re.sub(r"<summary>.*?</summary>|</?details>", "", parts[0].source, flags=re.DOTALL).strip()
    first = next(paragraphs(text), "")
    return pithy(first, TOLD) if LISTED.match(first) else first_sentences(first, TOLD, OF_THE_NOTEBOOK)


def pithy(items: str, letters: int) -> str:
    """A list; its items are cut to fewer sentences if it is longer than ``letters``."""
    parts = re.split(r"\n(?=[-*] |\d+\. )", items)
    for most in (3, 2, 1):
        if len(items) <= letters:
            break
        items = "\n".join(" ".join(sentences(part)[:most]) for part in parts)
    return items


def _tags(*parts: Part) -> set[str]:
    return {tag for part in parts for tag in part.cell.metadata.get("tags", [])}


# --- from cells to parts -----------------------------------------------------------------------

KINDS = {"# ": "title", "#": "heading", "$$": "formula", "|": "table", "```": "fence",
         "<details": "folded"}  # fmt: skip


def _parts(notebook: NotebookNode) -> Iterator[Part]:
    """All that is shown or said, without hints, solutions, checks, set-up and links to Binder and Colab."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.strip() and not QUIET.search(cell.source):
            yield Part("code", cell.source, cell)
        elif cell.cell_type == "markdown":
            source = re.sub(
                r"^<details>\s*<summary>(Hint|Solution).*?</details>\n?", "", cell.source, flags=re.M | re.S
            )
            source = re.sub(r"^\[Open in Binder\].*\n?", "", source, flags=re.MULTILINE)
            if "quiz" in cell.metadata.get("tags", []) and "<details>" in source:
                yield Part("quiz", source, cell)
                continue
            for paragraph in paragraphs(source):
                kind = next((kind for sign, kind in KINDS.items() if paragraph.startswith(sign)), "text")
                if LISTED.match(paragraph):
                    kind = "list"
                elif kind == "text" and "**Predict" in paragraph:
                    kind = "predict"
                yield Part(kind, paragraph, cell)


# --- outputs -----------------------------------------------------------------------------------


def kind_of(outputs: Sequence[NotebookNode]) -> str:
    """By the first of them."""
    if not outputs:
        return "nothing"
    data = outputs[0].get("data", {})
    if "moving" in outputs[0].get("metadata", {}):
        return "moving"
    if "image/png" in data or DIAGRAM.search(data.get("text/html", "")):
        return "picture"
    return "table" if "<table" in data.get("text/html", "") else "printed"


def best(outputs: Sequence[NotebookNode]) -> list[NotebookNode]:
    """What one slide can show: a moving picture, or two pictures, or two tables, or a text."""
    outputs = [output for output in outputs if _can_be_shown(output)]
    kind = max((kind_of([output]) for output in outputs), key=WORTH.get, default="nothing")
    chosen = [output for output in outputs if kind_of([output]) == kind][: 2 if kind in ("picture", "table") else 1]
    beside = sum(max(map(len, as_text(output).split("\n"))) for output in chosen)
    return chosen if kind in ("picture", "moving") or beside <= RESULT[1] else chosen[:1]


def _can_be_shown(output: NotebookNode) -> bool:
    """A figure's words aren't: they are its alternative text here. Nor is what is too long to be read."""
    data = output.get("data", {})
    if output.output_type == "error" or data.get("text/html", "").startswith(IN_WORDS):
        return False
    return kind_of([output]) in ("picture", "moving") or fits(as_text(output), *RESULT)


def as_text(output: NotebookNode) -> str:
    return (output.get("text") or output.get("data", {}).get("text/plain", "")).rstrip("\n")


def fits(text: str, lines: int, columns: int) -> bool:
    """Has it something to say, in so many lines and columns at most?"""
    rows = text.rstrip("\n").split("\n")
    return bool(text.strip()) and len(rows) <= lines and max(map(len, rows)) <= columns
