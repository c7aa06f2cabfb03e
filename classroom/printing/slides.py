"""Slides from the lessons: reveal.js through nbconvert, in one folder that opens without a network.

Nothing about slides is written in the lessons. A level-2 heading starts a new slide, a level-3 heading and each
"Predict" one below it; what does not fit goes on to a further one below. Outputs, and what is said about them, come
one key press later than the code. Hints, solutions, checks and set-up cells are left out.
"""

import ast
import re
import shutil
import struct
from base64 import b64decode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from math import ceil
from pathlib import Path

import matplotlib
from jinja2 import FileSystemLoader, pass_context
from nbconvert import SlidesExporter
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from classroom._files import expect_lessons, make_folder, read_notebook
from classroom.printing.markdown import Renderer, title_of
from lesson_kit.show.in_words import IN_WORDS

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1280, 720
HIGHEST_PICTURE = 430  # as in slides.css; leaves room for a sentence or two
FULL = 615  # what fits on a slide, in pixels
LETTERS, CODE_LETTERS = 88, 112  # on one line


def build(lessons: Iterable[Path | str], folder: Path | str) -> list[Path]:
    """Writes one page of slides for each lesson, an ``index.html`` and ``assets`` into ``folder``; gives the pages.

    ``lessons`` are the paths of notebooks with their outputs. The folder can be moved, and opens in any browser
    from the disk.

    Raises:
        TypeError, ValueError: ``lessons`` is a single path or empty, or one is not a notebook.
        FileNotFoundError: a lesson is not there.
        OSError: ``folder`` can't be written to.
        ModuleNotFoundError: a package of the extra ``classroom`` is missing.
    """
    lessons = expect_lessons(lessons)
    notebooks = {path.stem: read_notebook(path) for path in lessons}
    for path in lessons:
        if not any(blocks(notebooks[path.stem])):
            raise ValueError(f"lessons: {path} has nothing to show")
    sources = _assets()
    folder = make_folder(folder)
    (folder / "assets").mkdir(exist_ok=True)
    for name, source in sources.items():
        shutil.copyfile(source, folder / "assets" / name)

    exporter = Exporter(set(notebooks))
    pages, entries = [], []
    for name, notebook in notebooks.items():
        title = title_of(notebook, name)
        resources = {"title": title, "width": WIDTH, "height": HEIGHT}
        html, _ = exporter.from_notebook_node(arranged(notebook), resources=resources)
        pages.append(folder / f"{name}.html")
        pages[-1].write_text(html, encoding="utf-8")
        entries.append(f'<li><a href="{name}.html">{escape(title)}</a></li>')
    (folder / "index.html").write_text(INDEX.format(entries="\n".join(entries)), encoding="utf-8")
    return pages


INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Attention, by Hand: slides</title>
<style>
body {{ font: 1.2em/1.5 sans-serif; color: #1a1a1a; background: #fff; margin: 2em }}
a {{ color: #0b5394 }}
</style>
</head>
<body>
<main>
<h1>Slides</h1>
<p>Space or the arrow keys go on; an output comes one key press after its code, so that you can ask first.
<kbd>F</kbd> fills the screen, <kbd>Esc</kbd> shows all slides, <kbd>?</kbd> lists the other keys.</p>
<ul>
{entries}
</ul>
</main>
</body>
</html>
"""


def _assets() -> dict[str, Path]:
    """What a page of slides loads: name in the folder -> the file, in the package that carries it."""
    spec = find_spec("pyreveal")  # for reveal.js, which it carries; its own code is not run
    if spec is None:
        raise ModuleNotFoundError("slides need the package pyreveal: pip install 'attention-by-hand[classroom]'")
    reveal = Path(spec.submodule_search_locations[0]) / "revealjs"
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    return {
        "reveal.js": reveal / "dist" / "reveal.js",
        "reveal.css": reveal / "dist" / "reveal.css",
        "LICENSE_REVEAL": reveal / "LICENSE",
        "DejaVuSans.ttf": fonts / "DejaVuSans.ttf",
        "LICENSE_DEJAVU": fonts / "LICENSE_DEJAVU",
        "slides.css": HERE / "slides.css",
    }


# --- from Markdown to HTML ---------------------------------------------------------------------


class Exporter(SlidesExporter):
    """nbconvert's slides, with the template beside this file."""

    def __init__(self, lessons: set[str]):
        super().__init__(extra_loaders=[FileSystemLoader(HERE)], template_file="slides.html.j2")
        self.lessons = lessons
        self.exclude_input_prompt = self.exclude_output_prompt = True

    @pass_context
    def markdown2html(self, context, source):
        return MarkdownWithMath(renderer=Renderer(self.lessons)).render(source)


# --- from cells to slides ----------------------------------------------------------------------


@dataclass
class Block:
    """What stays together: a paragraph, a list, a code cell without its outputs, or these outputs."""

    kind: str  # "title", "heading", "text", "code" or "output"
    cell: NotebookNode
    height: float
    starts: str = "-"  # "slide" or "subslide", if it has to stand at the top


def arranged(notebook: NotebookNode) -> NotebookNode:
    """A notebook of the same content in smaller cells, each marked as slide, subslide, fragment or "-"."""
    pages: list[list[Block]] = []
    heading = None  # of the slide that is being filled
    for block in blocks(notebook):
        page = pages[-1] if pages else []
        only_headings = all(other.kind == "heading" for other in page)
        full = sum(other.height for other in page) + block.height > FULL
        if page and not full and (block.starts == "-" or (block.starts == "subslide" and only_headings)):
            page.append(block)
            continue
        new = [block]
        leads = block.starts == "-" and block.kind == "code" and len(page) > 1 and page[-1].kind == "text"
        if leads and page[-1].height + block.height <= FULL - 40:
            new.insert(0, page.pop())  # the sentence that leads to the code goes with it
        new[0].starts = block.starts if block.starts == "slide" or not pages else "subslide"
        if new[0].starts == "slide":
            heading = block.cell.source.lstrip("# ") if block.kind == "heading" else None
        elif heading and block.kind != "heading":
            new[0].starts, new = "-", [_where(heading), *new]
        pages.append(new)
    cells = [cell for page in pages for cell in marked(page)]
    metadata = NotebookNode({key: value for key, value in notebook.metadata.items() if key != "widgets"})
    return NotebookNode(notebook | {"cells": cells, "metadata": metadata})


def marked(page: list[Block]) -> list[NotebookNode]:
    """The cells of one slide. Outputs come after a key press, and what is said about them after a further one."""
    answered = False
    for n, block in enumerate(page):
        kind = block.starts if n == 0 else "-"
        if n and (block.kind == "output" or (answered and (block.kind, page[n - 1].kind) != ("text", "text"))):
            kind = "fragment"
        answered = answered or block.kind == "output"
        block.cell.metadata.slideshow = {"slide_type": kind}
    page[0].cell.metadata.dense = any(block.cell.metadata.get("dense") for block in page)
    return [block.cell for block in page]


def _where(heading: str) -> Block:
    """The small line that says which section a slide below the first belongs to."""
    return Block("heading", new_markdown_cell(f'<div class="where">\n\n{heading}\n\n</div>'), 36, "subslide")


def blocks(notebook: NotebookNode) -> Iterator[Block]:
    """All that is shown, in order."""
    first_code = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield from text_blocks(cell)
        elif cell.cell_type == "code" and cell is not first_code and not is_left_out(cell):
            yield Block("code", new_code_cell(cell.source), code_height(cell.source) + 30)
            yield from output_blocks([output for output in cell.outputs if not is_in_words(output)])


def is_in_words(output: NotebookNode) -> bool:
    """Is it the folded text below a figure? A slide shows the figure, with the same text as its alternative."""
    return output.get("data", {}).get("text/html", "").startswith(IN_WORDS)


def is_left_out(cell: NotebookNode) -> bool:
    """Does it only import, or check an exercise that nobody has solved yet?"""
    if re.search(r"check\.(\w+)\(\1\)\.function", cell.source):
        return True
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a line of IPython's
        return False
    imports = [isinstance(line, ast.Import | ast.ImportFrom) for line in body]
    calls = [isinstance(line, ast.Expr) for line in body]
    return not cell.outputs and any(imports) and all(map(max, imports, calls))


def output_blocks(outputs: list[NotebookNode]) -> Iterator[Block]:
    """The outputs of a cell, as many at a time as fit on a slide; long text in small letters."""
    while outputs:
        wide = any(output_size(output)[0] > WIDTH - 60 for output in outputs)
        n = max((n for n in range(1, len(outputs) + 1) if outputs_height(outputs[:n]) <= FULL - 40), default=1)
        cell = new_code_cell(outputs=outputs[:n])
        height = outputs_height(outputs[:n])
        cell.metadata.transient = {"remove_source": True}
        cell.metadata.dense = wide or height > FULL - 40
        yield Block("output", cell, height)
        outputs = outputs[n:]


FENCE_DETAILS_OR_MATH = r"^```.*?^```|^<details>.*?</details>|^\$\$.*?\$\$"


def text_blocks(cell: NotebookNode) -> Iterator[Block]:
    """The paragraphs, lists and tables of a Markdown cell, without hints, solutions and links to Binder and Colab."""
    source = re.sub(r"^<details>\s*<summary>(Hint|Solution).*?</details>\n?", "", cell.source, flags=re.M | re.S)
    source = re.sub(r"^\[Open in Binder\].*\n?", "", source, flags=re.MULTILINE)
    if "quiz" in cell.metadata.get("tags", []) and not source.startswith("#"):
        yield Block("text", new_markdown_cell(source), text_height(source), "subslide")
        return
    for paragraph in paragraphs(source):
        marks = len(paragraph) - len(paragraph.lstrip("#"))
        kind = "title" if marks == 1 else "heading" if marks else "text"
        starts = "slide" if marks in (1, 2) else "-"
        if marks == 3 or paragraph.startswith(("**Predict", "By the end you can")):
            starts = "subslide"
        for n, part in enumerate(halves(paragraph)):
            yield Block(kind, new_markdown_cell(part), text_height(part), starts if n == 0 else "-")


def paragraphs(source: str) -> list[str]:
    """The top-level parts of a Markdown text; a code block, a ``details`` and a formula stay whole."""
    whole = []

    def keep(found):
        whole.append(found[0])
        return f"\0{len(whole) - 1}\0"

    marked = re.sub(FENCE_DETAILS_OR_MATH, keep, source, flags=re.MULTILINE | re.DOTALL)
    marked = re.sub(r"^(#+ .*)$", r"\n\1\n", marked, flags=re.MULTILINE)
    parts = [part.strip("\n") for part in re.split(r"\n\s*\n", marked)]
    return [re.sub("\0(\\d+)\0", lambda found: whole[int(found[1])], part) for part in parts if part.strip()]


def halves(source: str) -> list[str]:
    """``source``, or the parts of a list or table that is too high for a slide."""
    if text_height(source) <= FULL - 60:
        return [source]
    lines, head = source.split("\n"), ""
    if source.startswith("|"):
        head, lines = "\n".join(lines[:2]) + "\n", lines[2:]
        items = lines
    else:
        items = re.split(r"\n(?=[-*] |\d+\. )", source)
    middle = len(items) // 2
    if not middle:
        return [source]
    return [part for half in (items[:middle], items[middle:]) for part in halves(head + "\n".join(half))]


# --- how high is it? (an estimate: a slide that turns out too high can be scrolled) --------------


def text_height(source: str) -> float:
    """Of a piece of Markdown, in pixels."""
    if source.startswith("#"):
        return {1: 240, 2: 66}.get(len(source) - len(source.lstrip("#")), 54)
    if source.startswith("$$"):
        return 60 + 32 * max(source.count(r"\\"), source.count(r"\frac") > 0)
    if source.startswith("```"):
        return code_height(source) + 20
    options = re.findall(r"<details>.*?</details>", source, flags=re.DOTALL)
    if options:  # closed, and one of them open
        rest = re.sub(r"<details>.*?</details>", "", source, flags=re.DOTALL)
        return (
            text_height(rest)
            + 46 * len(options)
            + max(text_height(option.replace("details>", "")) for option in options)
        )
    plain = re.sub(r"\]\([^)]*\)|<[^>]+>|[*`$\\{}]|\\\w+", "", source)
    if source.startswith("|"):
        return 20 + sum(8 + 29 * ceil((len(line) + 1) / 100) for line in plain.split("\n"))
    lines = re.split(r"\n(?=[-*] |\d+\. |> )", plain)
    item = 6 if len(lines) > 1 else 0
    return 14 + sum(item + 37 * ceil((len(line) + 1) / LETTERS) for line in lines)


def code_height(source: str) -> float:
    """Of lines in a monospaced font, long ones wrapped."""
    return 22.1 * sum(max(1, ceil(len(line) / CODE_LETTERS)) for line in source.rstrip("\n").split("\n"))


def outputs_height(outputs: list[NotebookNode]) -> float:
    """Of a cell's outputs: side by side as far as they fit, then in the next row."""
    rows, left = [0.0], WIDTH - 60
    for output in outputs:
        width, height = output_size(output)
        if width > left and rows[-1]:
            rows.append(0.0)
            left = WIDTH - 60
        left -= width + 40
        rows[-1] = max(rows[-1], height)
    return sum(rows) + 10


def output_size(output: NotebookNode) -> tuple[float, float]:
    """Width and height of one output."""
    data = output.get("data", {})
    if "image/png" in data:
        width, height = struct.unpack(">II", b64decode(data["image/png"])[16:24])
        width = output.metadata.get("image/png", {}).get("width", width)
        height *= width / struct.unpack(">I", b64decode(data["image/png"])[16:20])[0]
        shrink = min(1, HIGHEST_PICTURE / height, 1180 / width)
        return width * shrink, height * shrink + 12
    if "course-diagram" in data.get("text/html", ""):
        return 500.0, HIGHEST_PICTURE + 40.0  # with the folded words below it
    plain = output.get("text") or data.get("text/plain", "")
    lines = plain.rstrip("\n").split("\n")
    if "<table" in data.get("text/html", ""):
        return 13 * max(map(len, lines)) + 20 * lines[-1].count("  "), 34 * len(lines) + 24
    return max(500.0, 10.2 * max(map(len, lines)) + 40), code_height(plain) + 18
