"""Lessons as pages to read: one HTML file each, with its outputs, that needs no network, no mouse and no script.

nbconvert's own pages leave out the figures' alternative texts, colour code too faintly to be read by everybody, and
fetch MathJax from elsewhere. tests/test_accessibility.py holds these here to axe-core's rules.
"""

import re
from collections.abc import Iterable
from functools import cache
from html import escape, unescape
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, select_autoescape
from nbconvert.filters.ansi import strip_ansi
from nbconvert.filters.markdown_mistune import MarkdownWithMath
from nbformat import NotebookNode
from pygments.lexers import PythonLexer, get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound

from classroom._files import expect_lessons, make_folder, read_notebook
from classroom.printing.markdown import Renderer, title_of
from lesson_kit import colours

THEMES = {"light": "light", "dark": "dark", "auto": "light dark"}  # and what CSS calls them
KINDS = {
    Comment: "comment", Keyword: "keyword", Operator.Word: "keyword", String: "text", Number: "number",
    Name.Function: "name", Name.Class: "name", Name.Decorator: "name",
}  # fmt: skip
WIDEST = 90  # letters on a line that a page on a desk shows without scrolling
HERE = Path(__file__).parent


def build(lessons: Iterable[Path | str], folder: Path | str, theme: str = "auto") -> list[Path]:
    """Writes a page for each lesson, and an ``index.html``, into ``folder``; gives the pages.

    theme: "light", "dark", or "auto" for what the reader's browser prefers.

    Raises:
        TypeError, ValueError: ``lessons`` is a single path or empty, one is not a notebook, or no such theme.
        FileNotFoundError: a lesson is not there.
        OSError: ``folder`` can't be written to.
    """
    paths = expect_lessons(lessons)
    expect_theme(theme)
    titles = {path.stem: title_of(read_notebook(path), path.stem) for path in paths}
    folder = make_folder(folder)
    pages = [export(path, folder / f"{path.stem}.html", theme, titles) for path in paths]
    index = template("index").render(titles=titles, style=style(theme))
    (folder / "index.html").write_text(index, encoding="utf-8")
    return pages


def export(notebook: Path | str, html: Path | str, theme: str = "auto", beside: Iterable[str] = ()) -> Path:
    """Writes the notebook as a page to ``html``, and returns that path.

    beside: names of the lessons that lie as pages in the same folder; links to others become bare text.

    Raises:
        ValueError: ``notebook`` is none, or no such theme.
    """
    expect_theme(theme)
    path, html = Path(notebook), Path(html)
    lesson = read_notebook(path)
    pages = sorted(beside)
    place = pages.index(path.stem) if path.stem in pages else None
    renderer = PageRenderer(set(pages))
    cells = [as_html(cell, n, renderer) for n, cell in enumerate(lesson.cells, 1) if cell.source.strip()]
    page = template("page").render(
        title=title_of(lesson, path.stem),
        style=style(theme),
        cells=cells,
        sections=renderer.sections,
        before=pages[place - 1] if place else None,
        after=pages[place + 1] if place is not None and place + 1 < len(pages) else None,
    )
    html.write_text(page, encoding="utf-8")
    return html


def expect_theme(theme: str) -> None:
    if theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(THEMES)}; got {theme!r}")


@cache
def template(name: str):
    """``name``.html.j2 beside this file."""
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=select_autoescape(["html.j2"]))
    return environment.get_template(f"{name}.html.j2")


def style(theme: str) -> str:
    """The style sheet, and before it the colours that it names."""
    pairs = {"ground": colours.GROUND, "text": colours.TEXT, "link": colours.LINK, "border": colours.BORDER}
    pairs |= {"code-ground": colours.CODE_GROUND, "paper": (colours.PAPER, colours.PAPER)}
    pairs |= {f"code-{kind}": pair for kind, pair in colours.CODE.items()}
    return f":root {{ color-scheme: {THEMES[theme]}; {colours.as_css(pairs)} }}\n" + (HERE / "pages.css").read_text(
        encoding="utf-8"
    )


# --- cells and outputs -------------------------------------------------------------------------


def as_html(cell: NotebookNode, number: int, renderer: "PageRenderer") -> str:
    """One cell with its outputs."""
    if cell.cell_type == "markdown":
        return f'<div class="words">{MarkdownWithMath(renderer=renderer).render(cell.source)}</div>'
    if cell.cell_type != "code":
        return ""
    parts = [f'<div role="group" aria-label="Code of cell {number}">{code_block(cell.source, PythonLexer())}</div>']
    if cell.outputs:
        shown = "\n".join(map(output_as_html, cell.outputs))
        parts.append(f'<div class="output" role="group" aria-label="Output of cell {number}">{shown}</div>')
    return "\n".join(parts)


def output_as_html(output: NotebookNode) -> str:
    """What a browser shows of it: a table, a picture with its alternative text, or text."""
    if output.output_type == "error":
        return text_block("\n".join(output.traceback))
    if output.output_type == "stream":
        return text_block(output.text)
    for kind in ("image/png", "image/jpeg"):
        if kind in output.data:
            about = output.metadata.get(kind, {})
            alt = about.get("alt") or output.data.get("text/plain", "")
            width = f' width="{about["width"]}"' if "width" in about else ""
            return f'<img alt="{escape(alt)}"{width} src="data:{kind};base64,{output.data[kind].strip()}">'
    if "text/html" in output.data:
        html = output.data["text/html"]
        lines = [re.sub(r"<[^>]+>", "", row) + 3 * " " * row.count("<t") for row in re.findall(r"<tr.*?</tr>", html)]
        return f'<div class="table"{by_keyboard(map(unescape, lines), "Wide table")}>{html}</div>'
    return text_block(output.data.get("text/plain", ""))


def text_block(text: str) -> str:
    """Text as it was printed, columns and all: long lines are scrolled to."""
    text = strip_ansi(text)
    return f"<pre{by_keyboard(text.splitlines(), 'Wide text')}>{escape(text, quote=False)}</pre>"


def by_keyboard(lines: Iterable[str], name: str) -> str:
    """What is too wide for a page can be reached with the Tab key, then scrolled with the arrow keys."""
    wide = max(map(len, lines), default=0) > WIDEST
    return f' tabindex="0" role="group" aria-label="{name}"' if wide else ""


def code_block(code: str, lexer) -> str:
    """Code in few colours; a long line goes on in the next."""
    parts = []
    for token, text in lexer.get_tokens(code):
        kind = next((KINDS[family] for family in KINDS if token in family), None)
        if parts and (parts[-1][0] == kind or text.isspace()):
            parts[-1][1] += text
        else:
            parts.append([kind, text])
    html = "".join(
        f'<span class="{kind}">{escape(text, quote=False)}</span>' if kind else escape(text, quote=False)
        for kind, text in parts
    )
    return f'<pre class="code"><code>{html.rstrip()}</code></pre>'


class PageRenderer(Renderer):
    """The slides' Markdown, with headings to go to, column headers, and code in this page's colours."""

    def __init__(self, lessons: set[str]):
        super().__init__(lessons)
        self.sections: list[tuple[str, str]] = []  # of the level-2 headings: where, and the words

    def block_math(self, body):
        return f'<div class="formula"{by_keyboard([body], "Wide formula")}>{super().block_math(body)}</div>'

    def heading(self, text, level, **attrs):
        words = re.sub(r"<[^>]+>", "", text)
        place = re.sub(r"\W+", "-", unescape(words).lower()).strip("-")
        if level == 2:
            self.sections.append((place, unescape(words)))
        return f'<h{level} id="{place}">{text}</h{level}>\n'

    def table_cell(self, text, align=None, head=False):
        aligned = f' style="text-align: {align}"' if align else ""
        name, scope = ("th", ' scope="col"') if head and text.strip() else ("td", "")  # an empty header is none
        return f"<{name}{scope}{aligned}>{text}</{name}>\n"

    def table(self, text):
        return f'<div class="table"><table>{text}</table></div>\n'

    def block_code(self, code, info=None):
        try:
            lexer = get_lexer_by_name((info or "text").split()[0])
        except ClassNotFound:
            lexer = get_lexer_by_name("text")
        return code_block(code, lexer)
