"""A finished diagram: as SVG with its words, for a browser; as a sentence, elsewhere.

The SVG stands in the page itself (``text/html``), so that its words can be selected, searched and translated, and so
that it follows the page's theme: ``light-dark()`` asks ``color-scheme``, which JupyterLab 4 and Notebook 7 set with
their themes. JupyterLab would draw ``image/svg+xml`` as an ``<img>``, with none of that, and only in a trusted
notebook. From an untrusted one it takes away ``<svg>`` and ``<style>``, but leaves ``<img>``. So the same picture
stands there a second time, as an ``<img>``, which the style hides wherever it is let in.
"""

import re
import string
from html import escape
from pathlib import Path
from urllib.parse import quote

from lesson_kit import colours
from lesson_kit.show.diagram.canvas import SIZE, SMALL, Canvas
from lesson_kit.show.diagram.words import CODE_FONT, FONT, drawable
from lesson_kit.show.in_words import in_words

KINDS = {
    "q": colours.QUERY,
    "k": colours.KEY,
    "v": colours.VALUE,
    "o": colours.OUTPUT,
    "w": colours.WEIGHT,
    "att": colours.ATTENTION,
    "ffn": colours.FEED_FORWARD,
    "norm": colours.NORM,
    "emb": colours.EMBEDDING,
    "head": colours.HEAD,
}
HIGHEST = 640  # pixels: all of it on a screen of 700, unless that makes it less than
SMALLEST, LARGEST = 0.95, 1.25  # times its natural size

UNQUOTED = "".join({*string.printable} - {*'%#&"'})  # in an address that stands in an attribute

FONTS = f"font:{SIZE}px {FONT};.s,.e{{font-size:{SMALL}px}}.c{{font-family:{CODE_FONT}}}"
CSS = (Path(__file__).parent / "diagram.css").read_text(encoding="utf-8")
RULES = re.sub(r"\s*([{}:;,])\s*|\n", r"\1", re.sub(r"/\*.*?\*/", "", CSS, flags=re.DOTALL))  # as short as can be


class Diagram:
    """What every function of ``show.diagram`` returns, and Jupyter displays."""

    def __init__(self, canvas: Canvas, title: str, words: str, highlight=None):
        self.title, self.parts = title, canvas.names
        lit = _expect_parts(highlight, canvas.names)
        self.words = drawable(f"{title}. {words}" + (f" Highlighted: {', '.join(lit)}." if lit else ""))
        self._still = _svg(canvas, lit, "")  # its words stand in the alt text
        self.svg = _svg(canvas, lit, f"<title>{escape(title, False)}</title><desc>{escape(self.words, False)}</desc>")

    def __repr__(self) -> str:
        return f"[diagram: {self.words}]"

    def _repr_html_(self) -> str:
        data = quote(self._still.replace('"', "'"), safe=UNQUOTED)
        still = f'<img class="course-still" alt="{escape(self.words)}" src="data:image/svg+xml,{data}">'
        live = f'<div class="course-live" style="display:none">{self.svg}</div>'
        style = "<style>.course-still{display:none!important}.course-live{display:block!important}</style>"
        return style + still + live + in_words(self.words)


def _expect_parts(highlight, names: tuple[str, ...]) -> list[str]:
    """The parts to highlight, as a list."""
    lit = [] if highlight is None else [highlight] if isinstance(highlight, str) else list(highlight)
    for name in lit:
        if name not in names:
            raise ValueError(f"highlight must name parts of this diagram: {', '.join(names)}; got {name!r}")
    return lit


def _svg(canvas: Canvas, lit: list[str], said: str) -> str:
    left, top, wide, high = canvas.extent()
    shown = max(SMALLEST * wide, min(LARGEST * wide, HIGHEST / high * wide))
    pairs = {"p": colours.GROUND, "t": colours.TEXT, "l": colours.QUIET, "g": colours.BORDER}
    kinds = "".join(
        f".{kind}{{--c:{_both(pair)};--f:{_both(colours.tint(pair))}}}"
        for kind, pair in KINDS.items()
        if kind in canvas.kinds
    )
    names = "".join(f"--{name}:{_both(pair)};" for name, pair in pairs.items())
    dark = "[data-jp-theme-light=false] .course-diagram,.vscode-dark .course-diagram{color-scheme:dark}"
    style = dark + ".course-diagram{" + names + FONTS + RULES + kinds + "}"
    groups = []
    for names, elements in canvas.groups:
        state = f' class="{"on" if {*names} & {*lit} else "off"}"' if lit and names else ""
        part = f' data-part="{" ".join(names)}"' if names else ""
        groups.append(f"<g{part}{state}>{''.join(elements)}</g>")
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="course-diagram" role="img" '
        f'viewBox="{left:g} {top:g} {wide:g} {high:g}" '
        f'style="display:block;width:100%;max-width:{shown:.0f}px;height:auto">'
        f"{said}<style>{style}</style>"
        f'<rect class="p" x="{left:g}" y="{top:g}" width="{wide:g}" height="{high:g}" rx="8"/>{"".join(groups)}</svg>'
    )


def _both(pair: tuple[str, str]) -> str:
    return f"light-dark({pair[0]},{pair[1]})"
