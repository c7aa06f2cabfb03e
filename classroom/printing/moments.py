"""What of a lesson can be a slide: its predictions, pictures, tables, formulas, lists, exercises and quiz questions.

Nothing is written for slides in the lessons. A code cell's result makes a moment, together with the prediction before
it; so does a formula, a list, an exercise or a question of the quiz. Paragraphs become speaker notes. A cell with the
tag ``slide`` is taken before all others, one with the tag ``no-slide`` never.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from nbformat import NotebookNode

from lesson_kit.show.figures import IN_WORDS

# How much a class gets out of it: the order in which moments are taken.
WORTH = {
    "title": 99, "summary": 98, "moving": 6, "picture": 4, "exercise": 4, "question": 3.5, "formula": 3, "table": 2.5,
    "list": 2, "printed": 1,
}  # fmt: skip
PREDICTED = 1.5  # what a prediction adds to its result
WISHED = 50
ASKED, TOLD, ITEMS, OPTIONS = 700, 260, 640, 800  # letters that a question, an answer, a list, a quiz's options may have
CODE_LINES, CODE_COLUMNS = 8, 88
RESULT_LINES, RESULT_COLUMNS = 14, 92
NOT_SHOWN = re.compile(r"\bcheck\.\w+\(|find_spec")  # an exercise's check says "not attempted"; set-up says nothing
UNTAUGHT = ("Check yourself", "Summary", "Further reading", "Where to get help")


@dataclass
class Moment:
    """One slide: what stands on it at once, what comes with the next key press, and what the teacher may say.

    kind: a key of ``WORTH``. ``text``, ``answer`` and ``notes`` are Markdown; ``outputs`` come with the answer if the
    moment is ``asked``, else at once.
    """

    kind: str
    section: str
    title: str
    text: str = ""
    code: str = ""
    outputs: list[NotebookNode] = field(default_factory=list)
    answer: str = ""
    asked: bool = False
    notes: str = ""
    tags: frozenset[str] = frozenset()

    @property
    def presses(self) -> int:
        """Key presses that it takes, the one to the next slide included."""
        return 1 + self.asked

    @property
    def worth(self) -> float:
        return WORTH[self.kind] + PREDICTED * (self.asked and self.kind != "question") + WISHED * ("slide" in self.tags)


def moments(notebook: NotebookNode) -> list[Moment]:
    """All moments of a lesson in its order; what the teacher says between two belongs to the one before."""
    found: list[Moment] = []
    for moment in _moments(notebook):
        if isinstance(moment, str):
            if found:
                found[-1].notes += f"\n\n{moment}"
        elif "no-slide" not in moment.tags:
            found.append(moment)
    return found


def _moments(notebook: NotebookNode) -> Iterator[Moment | str]:
    """Moments, and between them the paragraphs."""
    section = heading = ""
    cells = [cell for cell in notebook.cells if cell.source.strip() or cell.get("outputs")]
    asked = exercise = before = None
    for n, cell in enumerate(cells):
        tags = frozenset(cell.metadata.get("tags", []))
        if cell.cell_type == "code":
            if exercise and not NOT_SHOWN.search(cell.source):
                exercise.code = cell.source if _fits(cell.source, CODE_LINES + 4, CODE_COLUMNS) else ""
                exercise.tags |= tags
                yield exercise
                exercise = None
                continue
            run_ends = n + 1 == len(cells) or cells[n + 1].cell_type != "code"
            if asked:
                asked.outputs += [] if NOT_SHOWN.search(cell.source) else _shown(cell.outputs)
                asked.code = f"{asked.code}\n{cell.source}".strip()
                asked.tags |= tags
                if run_ends:
                    asked.answer = _told_after(cells[n + 1 :])
                    yield _settled(asked)
                    asked = None
            elif not NOT_SHOWN.search(cell.source):
                outputs = _best(_shown(cell.outputs))
                if outputs:
                    told = _told_after(cells[n + 1 :]) if run_ends else ""
                    told = told or shortened(before or "", TOLD)
                    yield Moment(_kind(outputs), section, heading or section, told, "", outputs, tags=tags)
            continue
        if cell.cell_type != "markdown":
            continue
        if asked:  # nothing was run between the question and this cell
            asked.answer = _told_after(cells[n:])
            yield _settled(asked)
        asked = exercise = before = None
        parts = list(paragraphs(_without_help(cell.source)))
        if parts and parts[0].startswith("# "):
            yield _title(parts, tags)
            continue
        if section == "Check yourself" and "<details>" in cell.source:
            question = _question(parts, tags)
            if question:
                yield question
            continue
        for i, part in enumerate(parts):
            if part.startswith("#"):
                if exercise:
                    yield exercise
                    exercise = None
                level, words = len(part) - len(part.lstrip("#")), part.lstrip("# ")
                section, heading = (words, "") if level == 2 else (section, words)
                if words.startswith("Exercise"):
                    exercise = Moment("exercise", section, words, tags=tags)
            elif exercise:
                room = ASKED - len(exercise.text)
                if not part.startswith("<details") and len(part) <= room:
                    exercise.text += f"\n\n{part}"
                else:
                    exercise.notes += f"\n\n{part}"
            elif part.startswith("**Predict"):
                rest = [p for p in parts[i:] if not p.startswith("<details")]
                text = "\n\n".join(rest)
                text = text if len(text) <= ASKED else part
                folded = next((p for p in parts[i:] if p.startswith("<details")), "")
                asked = Moment("printed", section, heading or section, text, asked=True, tags=tags)
                asked.answer = shortened(_inside(folded), TOLD) if folded else ""
                break
            elif section == "Summary" and is_list(part):
                yield Moment("summary", section, "Summary", pithy(part, ITEMS + 200), tags=tags)
            elif section in UNTAUGHT:
                continue
            elif part.startswith("$$") and i and not is_list(parts[i - 1]):
                lead = shortened(before or "", TOLD)
                after = parts[i + 1] if i + 1 < len(parts) and parts[i + 1][:6].islower() else ""
                text = f"{lead}\n\n{part}\n\n{shortened(after, TOLD)}" if after else f"{lead}\n\n{part}"
                yield Moment("formula", section, heading or section, text, tags=tags)
            elif is_list(part) and part.count("\n") >= 2 and before and before.endswith(":"):
                lead = _last_sentence(before)
                yield Moment("list", section, heading or section, f"{lead}\n\n{pithy(part, ITEMS)}", tags=tags)
            else:
                yield part
            before = part if not part.startswith(("#", "$$", "<details", "|", "```")) and not is_list(part) else before
    if exercise:
        yield exercise


# --- the kinds of moments ----------------------------------------------------------------------


def _title(parts: list[str], tags: frozenset[str]) -> Moment:
    goals = next((f"{lead}\n\n{part}" for lead, part in zip(parts, parts[1:], strict=False) if is_list(part)), "")
    wish = next((part for part in parts[1:] if not part.startswith(("[", "**Time", "-", "*"))), "")
    rest = [part for part in parts[1:] if part != wish and part not in goals]
    return Moment("title", "", parts[0].lstrip("# "), f"{wish}\n\n{goals}", notes="\n\n".join(rest), tags=tags)


def _question(parts: list[str], tags: frozenset[str]) -> Moment | None:
    """A quiz question: its options, then the right one with its reason."""
    asked = "\n\n".join(part for part in parts if not part.startswith(("<details", "#")))
    options, right = [], ""
    for part in parts:
        for name, body in re.findall(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", part, flags=re.DOTALL):
            options.append(f"- {name}")
            if "**Right.**" in body:
                right = f"**{name[:1]}.** {shortened(body.replace('**Right.**', '').strip(), TOLD)}"
    text = f"{asked}\n\n" + "\n".join(options)
    if not right or len(re.sub(r"<[^>]+>", "", text)) > OPTIONS:
        return None
    return Moment("question", "Check yourself", "Check yourself", text, answer=right, asked=True, tags=tags)


def _settled(moment: Moment) -> Moment:
    """A prediction with the results that fit, and with its code if that is short and says what will be printed."""
    moment.outputs = _best(moment.outputs)
    moment.kind = _kind(moment.outputs) if moment.outputs else "printed"
    if moment.kind in ("picture", "moving") or not _fits(moment.code, CODE_LINES, CODE_COLUMNS):
        moment.code = ""
    moment.asked = bool(moment.outputs or moment.answer)
    return moment


def _told_after(cells: list[NotebookNode]) -> str:
    """What the lesson says first about a result: a few sentences of the next cell, or of the answer folded there."""
    if not cells or cells[0].cell_type != "markdown":
        return ""
    first = next(iter(paragraphs(cells[0].source)), "")
    if first.startswith("<details") and not re.search(r"<summary>\s*(Hint|Solution)", first):
        first = _inside(first)
    if first.startswith(("#", "$$", "|", "```", "<", "**Predict", "**Step")) or is_list(first):
        return ""
    return shortened(first, TOLD)


# --- outputs -----------------------------------------------------------------------------------


def _shown(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Without a figure's words, which the slide has as its alternative text, and without what is too large."""
    return [o for o in outputs if not o.get("data", {}).get("text/html", "").startswith(IN_WORDS) and _is_small(o)]


def _is_small(output: NotebookNode) -> bool:
    data = output.get("data", {})
    if output.output_type == "error" or "moving" in output.metadata if "metadata" in output else False:
        return output.output_type != "error"
    if any(kind in data for kind in ("image/png", "image/svg+xml")):
        return True
    return _fits(output.get("text") or data.get("text/plain", ""), RESULT_LINES, RESULT_COLUMNS)


def _best(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """What one slide can show: moving picture, or pictures, or tables, or text; two of them at most."""
    kinds = [_kind([output]) for output in outputs]
    best = max(kinds, key=WORTH.get, default="")
    chosen = [output for output, kind in zip(outputs, kinds, strict=True) if kind == best]
    return chosen[: {"moving": 1, "printed": 1}.get(best, 2)]


def _kind(outputs: list[NotebookNode]) -> str:
    output = outputs[0]
    data = output.get("data", {})
    if "moving" in output.get("metadata", {}):
        return "moving"
    if "image/png" in data or "image/svg+xml" in data:
        return "picture"
    return "table" if "<table" in data.get("text/html", "") else "printed"


# --- Markdown ----------------------------------------------------------------------------------

FENCE_DETAILS_OR_MATH = r"^```.*?^```|^<details>.*?</details>|^\$\$.*?\$\$"
ATOM = r"\$[^$]+\$|`[^`]+`|\*\*.+?\*\*|\]\([^)]*\)|\([^()]*\)|\"[^\"]*\""  # no sentence ends in it


def paragraphs(source: str) -> Iterator[str]:
    """The top-level parts of a Markdown text; a code block, a ``details`` and a formula stay whole."""
    whole = []

    def keep(found):
        whole.append(found[0])
        return f"\n\n\0{len(whole) - 1}\0\n\n"

    marked = re.sub(FENCE_DETAILS_OR_MATH, keep, source, flags=re.MULTILINE | re.DOTALL)
    marked = re.sub(r"^(#+ .*)$", r"\n\1\n", marked, flags=re.MULTILINE)
    for part in re.split(r"\n\s*\n", marked):
        if part.strip():
            yield re.sub("\0(\\d+)\0", lambda found: whole[int(found[1])], part.strip("\n"))


def _without_help(source: str) -> str:
    """Without hints, solutions and links to Binder and Colab."""
    source = re.sub(r"^<details>\s*<summary>(Hint|Solution).*?</details>\n?", "", source, flags=re.M | re.S)
    return re.sub(r"^\[Open in Binder\].*\n?", "", source, flags=re.MULTILINE)


def _inside(details: str) -> str:
    return re.sub(r"<summary>.*?</summary>|</?details>", "", details, flags=re.DOTALL).strip()


def is_list(part: str) -> bool:
    return bool(re.match(r"([-*]|\d+\.) ", part))


def sentences(text: str) -> list[str]:
    """A paragraph's sentences; formulas, code and what stands in brackets hold no end of one."""
    atoms = []

    def keep(found):
        atoms.append(found[0])
        return f"\0{len(atoms) - 1}\0"

    marked = re.sub(ATOM, keep, text.replace("\n", " "))
    parts = re.split(r"(?<=[.!?:])\s+(?=[A-Z\0*\[])|(?<=[.!?]\*\*)\s+", marked)
    while any("\0" in part for part in parts):  # an atom may hold another one
        parts = [re.sub("\0(\\d+)\0", lambda found: atoms[int(found[1])], part) for part in parts]
    return parts


def shortened(text: str, letters: int) -> str:
    """The first sentences of the first paragraph, as many as ``letters`` hold, and one in any case."""
    kept = []
    for sentence in sentences(next(paragraphs(text), "")):
        if kept and len(" ".join([*kept, sentence])) > letters:
            break
        kept.append(sentence)
    if len(kept) > 1 and kept[-1].endswith(":"):
        kept.pop()  # it leads to something that is not here
    return re.sub(r":$", ".", " ".join(kept))


def pithy(items: str, letters: int) -> str:
    """A list whose items are cut to one or two sentences if it is longer than ``letters``."""
    parts = re.split(r"\n(?=[-*] |\d+\. )", items)
    for most in (3, 2, 1):
        if len(items) <= letters:
            break
        items = "\n".join(" ".join(sentences(part)[:most]) for part in parts)
    return items


def _last_sentence(text: str) -> str:
    return sentences(text)[-1]


def _fits(text: str, lines: int, columns: int) -> bool:
    rows = text.rstrip("\n").split("\n")
    return bool(text.strip()) and len(rows) <= lines and max(map(len, rows)) <= columns
