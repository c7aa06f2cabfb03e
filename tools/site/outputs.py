"""What a cell gave, as HTML: a moving picture, a picture with its alternative text, a table, or text."""

import base64
import re
import struct
from collections.abc import Callable
from html import escape

from nbformat import NotebookNode

LAZY = 'loading="lazy" decoding="async"'
ANSI = re.compile(r"\x1b\[[0-9;]*m")  # colours of a terminal

Save = Callable[[str, bytes], str]  # (ending, content) -> the address of the file, relative to the page


def as_html(output: NotebookNode, save: Save) -> str:
    """One output. ``save`` keeps a picture in a file of its own and says where."""
    if output.output_type == "stream":
        return text(output.text)
    if output.output_type == "error":
        return text("\n".join(output.traceback))
    if "moving" in output.metadata:
        from lesson_kit.show import moving  # here: few lessons' outputs need it

        still = f"<details><summary>This picture without motion</summary>{picture(output, save)}</details>"
        return f'<div class="moving">{moving.live(output.metadata)}</div>{still}'
    if "image/png" in output.data:
        return picture(output, save)
    if "image/svg+xml" in output.data:
        return f'<div class="figure">{output.data["image/svg+xml"]}</div>'
    html = output.data.get("text/html", "").replace("<pre>", '<pre class="scroll">')
    if html and "<script" not in html:
        return html if html.startswith("<details") else f'<div class="scroll">{html}</div>'
    return text(output.data.get("text/plain", ""))


def picture(output: NotebookNode, save: Save) -> str:
    """The picture in its own shape, so that nothing moves when it arrives."""
    content = base64.b64decode(output.data["image/png"])
    about = output.metadata.get("image/png", {})
    alt = about.get("alt") or output.data.get("text/plain", "")
    width, height = struct.unpack(">II", content[16:24])  # where every PNG file has them
    shown = about.get("width", width)
    size = f'width="{shown}" height="{round(height * shown / width)}"'
    return f'<div class="figure"><img src="{save("png", content)}" alt="{escape(alt)}" {size} {LAZY}></div>'


def text(printed: str) -> str:
    """Text as it was printed, columns and all."""
    return f'<pre class="scroll">{escape(ANSI.sub("", printed).rstrip(), quote=False)}</pre>'
