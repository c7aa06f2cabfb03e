"""A lesson's Markdown as HTML that loads nothing: for slides and pages."""

import re
from html import escape

from nbconvert.filters.markdown_mistune import IPythonRenderer
from nbformat import NotebookNode


class Renderer(IPythonRenderer):
    """Formulas as MathML, which browsers draw and screen readers read by themselves; nothing is loaded from the web."""

    def __init__(self, lessons: set[str]):
        super().__init__(escape=False, exclude_anchor_links=True)
        self.lessons = lessons

    def inline_math(self, body):
        return formula(body, "inline")

    def block_math(self, body):
        return formula(body, "block")

    def link(self, text, url, title=None):
        """To another lesson's slides if they are built too, to the web, or the bare text."""
        if url.removesuffix(".ipynb") in self.lessons:
            url = url.removesuffix(".ipynb") + ".html"
        elif not url.startswith(("http://", "https://")):
            return text
        return super().link(text, url, title)

    def image(self, text, url, title=None):
        return text if url.startswith(("http:", "https:", "//")) else super().image(text, url, title)


def formula(latex: str, display: str) -> str:
    """LaTeX as MathML on one line; as code if it is not understood."""
    from latex2mathml import converter  # here: the rest of this module can be read without it

    try:
        return converter.convert(latex.strip(), display=display).replace("\n", " ")
    except Exception:  # a half-written formula has many ways to fail, and must not cost the teacher the lesson
        return f"<code>{escape(latex)}</code>"


def title_of(notebook: NotebookNode, name: str) -> str:
    """The level-1 heading, or ``name``."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := re.search(r"^# (.+)", cell.source, flags=re.MULTILINE)):
            return found[1]
    return name
