"""Slides for a teacher: at most 25 a lesson, in one folder that opens without a network. reveal.js shows them.

``moments.py`` says what of a lesson can be a slide; here the best are chosen and written. A result that the lesson
asks to predict comes with the next key press; the lesson's paragraphs are the speaker notes (key S).
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from html import escape
from importlib.util import find_spec
from pathlib import Path

import matplotlib
from jinja2 import Environment, FileSystemLoader
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from classroom._files import expect_lessons, make_folder, read_notebook
from classroom.printing.markdown import Renderer, title_of
from classroom.printing.moments import DIAGRAM, Moment, as_text, moments
from lesson_kit.show import moving

HERE = Path(__file__).parent
FORMULA_AND_STOP = re.compile(r"<math(?:(?!</math>).)*</math>[.,;:!?)\"]+")  # they stay on one line
MOST = 25  # slides of a lesson
TWO_PRESSES = 12  # of them at most are answered with a second key press
LEAST = 1  # a moment that is worth less makes no slide
FURTHER, AGAIN = 0.4, 0.85  # what a moment loses for each one already taken from its section, and under its heading


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
    decks = {name: chosen(moments(notebook)) for name, notebook in notebooks.items()}
    for path in lessons:
        if not decks[path.stem]:
            raise ValueError(f"lessons: {path} has nothing to show")
    sources = _assets()
    folder = make_folder(folder)
    (folder / "assets").mkdir(exist_ok=True)
    for name, source in sources.items():
        shutil.copyfile(source, folder / "assets" / name)

    titles = {name: title_of(notebook, name) for name, notebook in notebooks.items()}
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    page, written = environment.get_template("slides.html.j2"), []
    render = MarkdownWithMath(renderer=Renderer(set(notebooks))).render

    def to_html(text: str) -> str:
        return FORMULA_AND_STOP.sub(r'<span class="whole">\g<0></span>', render(text))

    for name, deck in decks.items():
        written.append(folder / f"{name}.html")
        html = page.render(title=titles[name], slides=[as_slide(moment, to_html) for moment in deck])
        written[-1].write_text(html, encoding="utf-8")
    index = environment.get_template("slides_index.html.j2").render(titles=titles)
    (folder / "index.html").write_text(index, encoding="utf-8")
    return written


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
        "notes.js": reveal / "dist" / "plugin" / "notes.js",
        "LICENSE_REVEAL": reveal / "LICENSE",
        "DejaVuSans.ttf": fonts / "DejaVuSans.ttf",
        "LICENSE_DEJAVU": fonts / "LICENSE_DEJAVU",
        "slides.css": HERE / "slides.css",
        "slides.js": HERE / "slides.js",
    }


def chosen(found: list[Moment]) -> list[Moment]:
    """The moments that become slides, in their order: what is worth most, a section's second one less than its first.

    What is left out leaves its words to the notes of the slide before it.
    """
    taken: list[Moment] = []
    while True:
        may_ask = sum(moment.asked for moment in taken) < TWO_PRESSES
        there = Counter(place for moment in taken for place in (moment.section, (moment.section, moment.title)))
        left = {
            n: moment.worth - FURTHER * there[moment.section] - AGAIN * there[moment.section, moment.title]
            for n, moment in enumerate(found)
            if moment not in taken and (may_ask or not moment.asked)
        }
        if len(taken) == MOST or max(left.values(), default=0) < LEAST:
            break
        taken.append(found[max(left, key=left.get)])
    while len(asked := [moment for moment in taken if moment.asked]) > len(taken) / 2 + 1:
        taken.remove(min(asked, key=lambda moment: moment.worth))
    deck = []
    for moment in found:
        if moment in taken:
            deck.append(moment)
        elif deck:
            deck[-1].notes += "\n\n".join(["", moment.text, moment.answer, moment.notes])
    return deck


def as_slide(moment: Moment, to_html) -> dict:
    """What the template needs of a moment."""
    return {
        "kind": moment.kind,
        "where": to_html(moment.where or (moment.section if moment.section != moment.title else "")),
        "title": re.sub(r"</?p>", "", to_html(moment.title)),
        "text": to_html(moment.text),
        "code": highlight(moment.code, PythonLexer(), HtmlFormatter()) if moment.code else "",
        "outputs": [as_output(output) for output in moment.outputs],
        "answer": to_html(moment.answer),
        "asked": moment.asked,
        "notes": to_html(moment.notes),
    }


def as_output(output: NotebookNode) -> str:
    """An output as HTML: a moving picture, a picture with its alternative text, a table, or text."""
    data = output.get("data", {})
    if "moving" in output.get("metadata", {}):
        return moving.live(output.metadata)
    if "image/png" in data:
        alt = output.metadata.get("image/png", {}).get("alt") or data.get("text/plain", "")
        return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data["image/png"].strip()}">'
    if diagram := DIAGRAM.search(data.get("text/html", "")):
        return diagram[0]
    if "<table" in data.get("text/html", ""):
        return data["text/html"]
    text = as_text(output)
    kind = "" if "\n" in text else ' class="line"'
    return f"<pre{kind}>{escape(text, quote=False)}</pre>"
