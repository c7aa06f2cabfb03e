"""A lesson's Markdown: its paragraphs and sentences, and HTML that loads nothing."""

import re
from collections.abc import Iterator
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


# --- paragraphs and sentences ------------------------------------------------------------------

WHOLE = re.compile(r"^```.*?^```|^<details>.*?</details>|^\$\$.*?\$\$", flags=re.MULTILINE | re.DOTALL)
ATOM = re.compile(r"\$[^$]+\$|`[^`]+`|\*\*.+?\*\*|\]\([^)]*\)|\([^()]*\)|\"[^\"]*\"")  # no sentence ends in it
ABBREVIATED = r"(?<!\bal\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)"


def paragraphs(source: str) -> Iterator[str]:
    """The top-level parts of a Markdown text; a code block, a ``details`` and a formula stay whole."""
    marked, whole = _hidden(source, WHOLE, "\n\n")
    marked = re.sub(r"^(#+ .*)$", r"\n\1\n", marked, flags=re.MULTILINE)
    for part in re.split(r"\n\s*\n", marked):
        if part.strip():
            yield _back(part.strip("\n"), whole)


def sentences(paragraph: str) -> list[str]:
    """Formulas, code and what stands in brackets or quotation marks hold no end of one."""
    marked, atoms = _hidden(paragraph.replace("\n", " "), ATOM)
    return [_back(part, atoms) for part in re.split(rf"(?<=[.!?]){ABBREVIATED}\s+(?=[A-Z\0*\[])", marked)]


def first_sentences(text: str, letters: int, without: re.Pattern | None = None) -> str:
    """Of its first paragraph, as many as ``letters`` hold, and one in any case; none in which ``without`` is found."""
    kept = []
    for sentence in sentences(next(paragraphs(text), "")):
        if without and without.search(sentence):
            continue
        if kept and len(" ".join([*kept, sentence])) > letters:
            break
        kept.append(sentence)
    if len(kept) > 1 and not re.search(r"[.!?][*)\"]*$", kept[-1]):
        kept.pop()  # it leads to something that is not here
    return re.sub(r":$", ".", " ".join(kept))


def _hidden(text: str, pattern: re.Pattern, around: str = "") -> tuple[str, list[str]]:
    """The text with a mark in place of each match, and the matches."""
    found: list[str] = []

    def hide(match: re.Match) -> str:
        found.append(match[0])
        return f"{around}\0{len(found) - 1}\0{around}"

    return pattern.sub(hide, text), found


def _back(text: str, found: list[str]) -> str:
    return re.sub("\0(\\d+)\0", lambda match: found[int(match[1])], text)
