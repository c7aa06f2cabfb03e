"""A lesson's notebook as MyST Markdown, which Sphinx makes into a page.

Code cells become code blocks. What they gave stands below them, folded where the lesson asks for a prediction first.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from docutils.nodes import make_id
from nbformat import NotebookNode

from classroom.printing.sheets import SHEETS
from classroom.versions.lesson import without_folded
from classroom.versions.student import LINKS
from lesson_kit.working_copies import only_draws
from tools.site import outputs

LINK = re.compile(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\((\d\d_\w+)\.ipynb(#[^)\s]*)?\)")
CELL_LINK = re.compile(r"\[((?:[^\]\[]|\[[^\]]*\])*)\]\((?:(\d\d_\w+)\.ipynb)?#cell-id=([\w-]+)\)")
HTML_LINK = re.compile(r'<a href="(\d\d_\w+)\.ipynb(#[^"]*)?">(.*?)</a>', flags=re.DOTALL)
OPEN_IN = re.compile(r"\[Open in (\w+)\]\(([^)]+)\)")
PREDICTION = re.compile(r"^(?=\*\*Predict\b)", flags=re.MULTILINE)
FENCE = re.compile(r"`{3,}")


@dataclass
class Page:
    """One lesson on its way to a page. ``files`` are its pictures, by their address beside the page."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)

    def save(self, ending: str, content: bytes) -> str:
        address = f"figures/{self.name}-{len(self.files) + 1}.{ending}"
        self.files[address] = content
        return address


def slug(heading: str) -> str:
    """What JupyterLab calls the place of a heading: the lessons' links use it."""
    return heading.replace(" ", "-")


def linked_cells(notebooks: Iterable[NotebookNode]) -> set[str]:
    """The ids of the cells that some link of the notebooks leads to."""
    cells = (cell for notebook in notebooks for cell in notebook.cells if cell.cell_type == "markdown")
    return {match[3] for cell in cells for match in CELL_LINK.finditer(cell.source)}


def as_markdown(
    notebook: NotebookNode, page: Page, lessons: Collection[str], aims: Collection[str] = (), solutions: bool = True
) -> str:
    """The whole lesson; its pictures are put into ``page.files``.

    Args:
        notebook: the lesson, executed.
        page: whose name and files these are.
        lessons: the names of those that the site holds; a link to another becomes bare text.
        aims: the ids of the cells that are linked to.
        solutions: do the solutions stay, and the links to where the lesson can be run with them? Its worksheet stays.
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    parts, asked = [], False
    for cell in notebook.cells:
        if cell.id in aims:
            parts.append(raw(f'<span class="aim" id="cell-{cell.id}"></span>'))
        if cell.cell_type == "markdown":
            parts.append(_words(cell, page.name, lessons, solutions))
            asked = bool(PREDICTION.search(cell.source))
        elif cell.cell_type == "code" and cell.source.strip():
            parts += _code(cell, page, lessons, folded=_is_aside(code, cell), asked=asked)
            asked = asked and not cell.outputs
    return "\n\n".join(filter(None, parts)) + "\n"


def raw(html: str) -> str:
    """HTML that goes into the page as it is."""
    return fenced("{raw} html", html)


def fenced(kind: str, content: str) -> str:
    """A block of Markdown that nothing within it ends too early."""
    fence = "`" * (1 + max([2, *map(len, FENCE.findall(content))]))
    return f"{fence}{kind}\n{content}\n{fence}"


# --- words ------------------------------------------------------------------------------------


def _words(cell: NotebookNode, name: str, lessons: Collection[str], solutions: bool) -> str:
    source = cell.source if solutions else without_folded(cell.source, "Solution")
    source = LINKS.sub(lambda match: _buttons(match[0], name, solutions), source)
    source = CELL_LINK.sub(lambda match: _to_cell(*match.groups(), lessons), source)
    source = LINK.sub(lambda match: _to_lesson(*match.groups(), lessons), source)
    source = PREDICTION.sub("{.predict}\n", source)
    if "quiz" in cell.metadata.get("tags", ()) and not source.startswith("#"):  # a section can't begin in a box
        return "\n\n".join([raw('<div class="quiz">'), source, raw("</div>")])
    return source


def _buttons(links: str, name: str, solutions: bool) -> str:
    """Where the lesson can be opened and run, with its solutions, and its worksheet."""
    buttons = []
    if solutions:
        buttons += [f'<a class="button" href="{link}">Open in {place}</a>' for place, link in OPEN_IN.findall(links)]
        buttons.append(f'<a class="button" href="notebooks/{name}.ipynb" download>Download the notebook</a>')
    if name in SHEETS:
        buttons.append(f'<a class="button" href="worksheets/{name}.html">Worksheet to print</a>')
    return raw(f'<p class="buttons">{" ".join(buttons)}</p>') + "\n\n" if buttons else ""


def _to_lesson(text: str, lesson: str, place: str | None, lessons: Collection[str]) -> str:
    return f"[{text}]({lesson}.md{place or ''})" if lesson in lessons else text


def _to_cell(text: str, lesson: str | None, cell: str, lessons: Collection[str]) -> str:
    if lesson and lesson not in lessons:
        return text
    return f'<a href="{f"{lesson}.html" if lesson else ""}#cell-{cell}">{text}</a>'


# --- code and what it gave --------------------------------------------------------------------


def _is_aside(code: list[NotebookNode], cell: NotebookNode) -> bool:
    """Is this code that a reader may skip: collapsed in the lesson, or drawing only?"""
    hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    return hidden or only_draws(code, code.index(cell))


def _code(cell: NotebookNode, page: Page, lessons: Collection[str], folded: bool, asked: bool) -> list[str]:
    language = "ipython3" if re.search(r"^\s*[%!]", cell.source, flags=re.MULTILINE) else "python"
    block = fenced(language, cell.source)
    if folded:
        block = "\n\n".join([raw('<details class="aside"><summary>Show the code</summary>'), block, raw("</details>")])
    if not cell.outputs:
        return [block]
    shown = "\n".join(outputs.as_html(output, page.save) for output in _merged(cell.outputs))
    shown = HTML_LINK.sub(lambda match: _from_output(*match.groups(), lessons), shown)
    if asked and not any("moving" in output.get("metadata", {}) for output in cell.outputs):  # that one asks by itself
        shown = f'<details class="result"><summary>Your prediction is made? Show the result</summary>{shown}</details>'
    return [block, raw(f'<div class="output">{shown}</div>')]


def _merged(shown: list[NotebookNode]) -> list[NotebookNode]:
    """Without the seams in what a cell printed."""
    merged: list[NotebookNode] = []
    for output in shown:
        if merged and output.output_type == merged[-1].output_type == "stream":
            merged[-1] = NotebookNode(merged[-1], text=merged[-1].text + output.text)
        else:
            merged.append(output)
    return merged


def _from_output(lesson: str, place: str | None, text: str, lessons: Collection[str]) -> str:
    """A check's link to where its exercise is taught."""
    if lesson not in lessons:
        return text
    anchor = f"#{make_id(place[1:].replace('-', ' '))}" if place else ""
    return f'<a href="{lesson}.html{anchor}">{text}</a>'
