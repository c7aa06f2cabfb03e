"""How a verdict is shown: as HTML in Jupyter, for light and dark and for screen readers, as plain text elsewhere."""

import re
import sys
from html import escape
from typing import Any

from course_utils.colours import NOT_ATTEMPTED, NOT_YET_RIGHT, PASSED

# The words beside the bar say the same.
BARS = {
    "passed": f"solid {PASSED}",
    "not attempted yet": f"dotted {NOT_ATTEMPTED}",
    "not yet right": f"dashed {NOT_YET_RIGHT}",
}


def as_html(text: str, opening: str | None = None, table: Any = None, more: str = "") -> str:
    """Paragraphs, with code where backticks are. ``opening``: the key of ``BARS`` that the first line says.

    Below them come ``table`` and ``more``, which is HTML already.
    """
    paragraphs = [re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(line, quote=False)) for line in text.splitlines()]
    paragraphs[0] = re.sub(r"^[^.]*\.", r"<strong>\g<0></strong>", paragraphs[0], count=1)
    body = "".join(f'<p style="margin: 0.3em 0">{paragraph}</p>' for paragraph in paragraphs if paragraph)
    if table is not None:
        body += table._repr_html_()
    body += more
    bar = f"border-left: 0.4em {BARS[opening]}; " if opening else ""
    return f'<div role="status" style="{bar}padding: 0.2em 1em; max-width: 50em">{body}</div>'


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
