"""What Sphinx does not bring: formulas as MathML, in titles too, and code in the course's colours.

MathML is drawn by the browser and read by screen readers; nothing is loaded for it.
"""

import re
from html import escape

from docutils import nodes
from latex2mathml import converter
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String
from pygments.util import ClassNotFound
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

KINDS = {
    Comment: "comment", Keyword: "keyword", Operator.Word: "keyword", String: "text", Number: "number",
    Name.Function: "name", Name.Class: "name", Name.Decorator: "name",
}  # fmt: skip


def coloured(code: str, language: str) -> str:
    """Code in few colours, and few elements: Pygments' own would give each word one, and a lesson ten thousand."""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    parts: list[list] = []
    for token, text in lexer.get_tokens(code):
        kind = next((KINDS[family] for family in KINDS if token in family), None)
        if parts and (parts[-1][0] == kind or text.isspace()):
            parts[-1][1] += text
        else:
            parts.append([kind, text])
    return "".join(
        f'<span class="{kind}">{escape(text, quote=False)}</span>' if kind else escape(text, quote=False)
        for kind, text in parts
    ).rstrip()


def formula(latex: str, display: str) -> str:
    """LaTeX as MathML on one line.

    Raises:
        ValueError: it is not understood.
    """
    try:
        return converter.convert(latex.strip(), display=display).replace("\n", " ")
    except Exception as error:  # latex2mathml's errors have no class in common
        raise ValueError(f"this formula is not understood: {latex!r} ({type(error).__name__})") from error


def in_words(latex: str) -> str:
    r"""A short formula as plain text, for search and titles: ``\sqrt{d_k}`` is √d_k."""
    text = re.sub(r"\\sqrt\s*(\{([^{}]*)\}|\w)", lambda match: f"√{match[2] or match[1]}", latex)
    text = re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r"\1", text)
    return re.sub(r"[\\{}$]", "", text).strip()


class Translator(HTML5Translator):
    """Sphinx's own, with formulas in titles, code in the course's colours, and headers that say what they head."""

    def visit_inline(self, node: nodes.Element) -> None:
        if "latex" in node:
            self.body.append(formula(node["latex"], "inline"))
            raise nodes.SkipNode
        super().visit_inline(node)

    def visit_literal_block(self, node: nodes.Element) -> None:
        code = coloured(node.astext(), node.get("language", "text"))
        self.body.append(f'<div class="code"><pre><code>{code}</code></pre></div>\n')
        raise nodes.SkipNode

    def visit_table(self, node: nodes.Element) -> None:
        self.body.append('<div class="scroll">')
        super().visit_table(node)

    def depart_table(self, node: nodes.Element) -> None:
        super().depart_table(node)
        self.body.append("</div>")

    def visit_entry(self, node: nodes.Element) -> None:
        super().visit_entry(node)
        self.body[-1] = self.body[-1].replace("<th ", '<th scope="col" ', 1)


def _inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(formula(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(translator: HTML5Translator, node: nodes.math_block) -> None:
    html = formula(node.astext(), "block")
    translator.body.append(f'<div class="formula scroll" role="group" aria-label="Formula">{html}</div>')
    raise nodes.SkipNode


def _plain_titles(app: Sphinx, document: nodes.document) -> None:
    """Formulas in titles stay formulas on the page and in its contents, and are words for the search."""
    for title in document.findall(nodes.title):
        for math in list(title.findall(nodes.math)):
            math.replace_self(nodes.inline("", in_words(math.astext()), latex=math.astext()))


def _context(app: Sphinx, page: str, template: str, context: dict, document: nodes.document | None) -> str | None:
    """The contents of a page without its own title, and the first page's template."""
    contents = context.get("toc", "")
    start, end = contents.find("<ul>", 1), contents.rfind("</li>")
    context["sections"] = contents[start:end] if 0 < start < end else ""
    context["plain_title"] = escape(re.sub(r"<[^>]+>", "", context.get("title") or ""), quote=False)
    return "home.html" if page == app.config.root_doc else None


def setup(app: Sphinx) -> dict:
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.set_translator("html", Translator)
    app.connect("doctree-read", _plain_titles, priority=100)  # before the contents are collected
    app.connect("html-page-context", _context)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
