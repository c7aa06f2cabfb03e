"""bertviz's views, made to draw without a network: a static figure, the strongest links in words, an offline page."""

import json
import os
import re
from collections.abc import Callable
from functools import cached_property
from html import escape
from importlib.metadata import distribution
from pathlib import Path

from IPython.display import display

from lesson_kit.colours import FRAME, INK, PAPER
from lesson_kit.notice import waiting
from lesson_kit.show.figures import Picture, picture

MOST_NUMBERS = 85_000  # about 0.5 MB of page besides d3 and jQuery; with more, layers are left out
HIGHEST = 900  # pixels; a longer view scrolls
PAGE_CSS = f""":root {{ color-scheme: light }} body {{ background: {PAPER}; color: {INK}; margin: 10px }}
body, p, pre {{ font: 14px/1.4 Helvetica, Arial, sans-serif }} p {{ margin: 0 0 8px }} pre {{ white-space: pre-wrap }}
img {{ max-width: 100%; height: auto }} svg {{ overflow: visible }}"""
SHIM = "window.require = {config() {}}; window.requirejs = (names, run) => run(window.jQuery, window.d3);"
NAMES = {"layer": "Layer", "att_head": "Head", "filter": "Attention"}


class View:
    """What ``head_view``, ``model_view`` and ``neuron_view`` return. As a cell's last line, or in ``display(...)``:

    a static figure, the strongest links in words, then bertviz's interactive view in an ``<iframe>`` that needs
    nothing from outside. With the environment variable COURSE_INTERACTIVE=0 the interactive view is left out.
    """

    def __init__(self, title: str, draw: Callable, links: str, page: Callable[[str], str], height: float):
        self.title, self.links = title, links
        self._draw, self._page, self._height = draw, page, min(round(height), HIGHEST)

    @cached_property
    def picture(self) -> Picture:
        """The static figure."""
        return picture(*self._draw())

    @cached_property
    def data(self) -> str:
        """A complete HTML page: the static figure, the links in words and the interactive view."""
        return self._page(f"<h1>{escape(self.title)}</h1>{self.picture.html()}<pre>{escape(self.links)}</pre>")

    @cached_property
    def iframe(self) -> str:
        """The interactive view alone, as an ``<iframe>`` that can stand in any page."""
        style = f"width: 100%; border: 1px solid {FRAME}; background: {PAPER}; color-scheme: light"
        size = f"{style}; height: {self._height}px"
        page = escape(self._page(""))
        return f'<div><iframe title="{escape(self.title)}" style="{size}" srcdoc="{page}"></iframe></div>'

    def save_html(self, path: str | Path) -> None:
        """Writes ``data`` to a file that any browser opens, without a network too."""
        Path(path).write_text(self.data, encoding="utf-8")

    def __repr__(self) -> str:
        return f"{self.picture!r}\n{self.links}"

    def _ipython_display_(self) -> None:
        with waiting("Drawing …") as notice:
            notice.become(self.picture)
        display({"text/plain": self.links}, raw=True)
        if os.environ.get("COURSE_INTERACTIVE", "1") != "0":
            with waiting("Making the interactive view …") as notice:
                instead = f"[{self.title}: needs a browser]"
                notice.become({"text/html": self.iframe, "text/plain": instead}, raw=True)


def offline(html: str, title: str, words: str, style: str = "", front: str = "", script: str = "", **changes) -> str:
    """A bertviz view as a page of its own, with d3 and jQuery from installed packages instead of a CDN.

    words: how to use the view. front: what comes before. script: what runs after. changes: to bertviz's parameters.
    """
    html = re.sub(r'<script src="http[^>]*></script>', "", html)
    html = re.sub(r"require\.config\(\{.*?\}\);", "", html, flags=re.DOTALL)
    html = re.sub(r'<select id="(\w+)">', lambda found: f'{found[0][:-1]} aria-label="{NAMES[found[1]]}">', html)
    before, name, after = re.split(r"((?:const params|window\.bertviz_params) = )(?=\{)", html, maxsplit=1)
    params, end = json.JSONDecoder().raw_decode(after)
    after = after[end:].split("\n", 1)[1]  # what else is on that line is a comment that repeats all the weights
    data = json.dumps(params | changes, separators=(",", ":")).replace("<", "\\u003c")  # no token can end the script
    libraries = [("mpld3", "mpld3/js/d3.v5.min.js"), ("XStatic-jQuery", "xstatic/pkg/jquery/data/jquery.min.js")]
    scripts = [distribution(name).locate_file(path).read_text(encoding="utf-8") for name, path in libraries]
    scripts = "".join(f"<script>{text}</script>" for text in [*scripts, SHIM])
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{PAGE_CSS} {style}</style>{scripts}'
    body = f"{front}<p>{escape(words)}</p>{before}{name}{data};\n{after}<script>{script}</script>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def rounded(values, digits: int = 3):
    """As float64, so that ``tolist`` gives few digits; bertviz cannot draw NaN, so it gets 0."""
    return (values.double().nan_to_num() * 10**digits).round() / 10**digits


def layers_that_fit(n_layers: int, numbers_per_layer: int, first: int = 0) -> list[int]:
    """As many layers as keep the page small, at least one: those nearest to ``first``."""
    nearest = sorted(range(n_layers), key=lambda layer: abs(layer - first))
    return sorted(nearest[: max(1, MOST_NUMBERS // numbers_per_layer)])


def left_out(kept: list[int], layers) -> str:
    """A sentence for the reader, if not all layers were kept."""
    few = ", ".join(map(str, kept))
    return (
        "" if len(kept) == len(layers) else f" To keep the page small it holds only layer{'s' * (len(kept) > 1)} {few}."
    )
