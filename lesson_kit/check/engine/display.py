"""How a verdict is shown: as HTML in Jupyter, for light and dark and for screen readers, as plain text elsewhere."""

import re
import sys
from html import escape
from typing import Any

from lesson_kit.colours import NOT_ATTEMPTED, NOT_YET_RIGHT, PASSED

# The words beside the bar say the same.
OPENING_BARS = {
    "passed": f"solid {PASSED}",
    "not attempted yet": f"dotted {NOT_ATTEMPTED}",
    "not yet right": f"dashed {NOT_YET_RIGHT}",
}


def as_html(text: str = "", opening: str | None = None, table: Any = None, body: str = "") -> str:
    """``text`` in paragraphs. ``opening``: the key of ``OPENING_BARS`` that the first line says.

    Below them come ``table`` and ``body``, which is HTML already.
    """
    shown = as_paragraphs(text) + ("" if table is None else table._repr_html_()) + body
    bar = f"border-left: 0.4em {OPENING_BARS[opening]}; " if opening else ""
    return f'<div role="status" style="{bar}padding: 0.2em 1em; max-width: 50em">{shown}</div>'


def as_paragraphs(text: str) -> str:
    """A paragraph for each line, with code where backticks are; what comes before the first full stop is bold."""
    bold = re.sub(r"^[^.\n]*\.", r"<strong>\g<0></strong>", escape(text, quote=False), count=1)
    paragraphs = [re.sub(r"`([^`]+)`", r"<code>\1</code>", line) for line in bold.splitlines()]
    return "".join(f'<p style="margin: 0.3em 0">{paragraph}</p>' for paragraph in paragraphs if paragraph)


def show_text(text: str, html: str) -> None:
    """Shows the HTML in a notebook, prints the text elsewhere."""
    if in_notebook():
        from IPython.display import publish_display_data

        publish_display_data({"text/plain": text, "text/html": html})
    else:
        print(text)


def in_notebook() -> bool:
    """Is this a Jupyter kernel? Asked without importing IPython."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
