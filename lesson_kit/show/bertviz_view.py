"""bertviz's views, made to draw without a network, in their frame: an offline page, a still picture, links in words."""

import json
import os
import re
from collections.abc import Callable
from functools import cached_property
from html import escape
from importlib.metadata import distribution, version
from pathlib import Path

from IPython.display import display

from lesson_kit.colours import ABOVE, FRAME, INK, PAPER
from lesson_kit.notice import waiting
from lesson_kit.show.figures import Picture, in_words, picture

MOST_NUMBERS = 85_000  # about 0.5 MB of page besides d3 and jQuery; with more, layers are left out
HIGHEST = 520  # pixels: with its cell it fits JupyterLab in a window of 1000 by 700; what is larger is drawn smaller
STRONGEST = ABOVE[-1]  # weight 1, and the largest numbers above 0: as in the still picture; weaker is paler
PAGE_CSS = f""":root {{ color-scheme: light }} body {{ background: {PAPER}; color: {INK}; margin: 8px 10px 0 }}
body, p, pre {{ font: 13px/1.35 Helvetica, Arial, sans-serif }} p {{ margin: 0 0 4px }} pre {{ white-space: pre-wrap }}
div[id^=bertviz] {{ padding: 0 !important }} img {{ max-width: 100%; height: auto }} svg {{ display: block }}
#said {{ height: 1.35em; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; font-weight: bold }}
.number, .name, .vectorborder, .vector-highlight-group {{ pointer-events: none }}
.number, .name {{ dominant-baseline: central }}
.number {{ font-size: 12px; font-weight: bold; font-variant-numeric: tabular-nums }}
.name {{ font-size: 12px; text-anchor: middle }}
svg text {{ paint-order: stroke; stroke: {PAPER}; stroke-width: 3px }}"""
NUMBERS = Path(__file__).with_suffix(".js")
SHIM = "window.require = {config() {}}; window.requirejs = (names, run) => run(window.jQuery, window.d3);"
NAMES = {"layer": "Layer", "att_head": "Head", "filter": "Attention"}


class View:
    """What ``head_view``, ``model_view`` and ``neuron_view`` return. As a cell's last line, or in ``display(...)``:

    bertviz's interactive view in an ``<iframe>`` that needs nothing from outside; the still picture and the strongest
    links in words stand folded below it. With the environment variable COURSE_INTERACTIVE=0, and where no HTML is
    shown, the still picture stands in its place.
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
            if os.environ.get("COURSE_INTERACTIVE", "1") != "0":
                data, metadata = self.picture._repr_mimebundle_()
                below = in_words(self.picture.alt, self.links, self.picture.html())
                bundle = data | {"text/html": self.iframe + below, "text/plain": repr(self)}
                notice.become(bundle, metadata=metadata, raw=True)
                return
            notice.become(self.picture)
        display({"text/html": in_words(self.picture.alt, self.links), "text/plain": self.links}, raw=True)


def offline(html: str, title: str, words: str, front: str, view: str, patches: dict[str, str], **changes) -> str:
    """A bertviz view as a page of its own, with d3 and jQuery from installed packages instead of a CDN.

    words: how to use the view. front: what comes before. view: "head", "model" or "neuron". patches: what is replaced
    in bertviz's script, so that it fits its frame and its colours mean what the still picture's do. changes: to
    bertviz's parameters.

    Raises:
        RuntimeError: a patch fits nothing, as with a bertviz that has another script.
    """
    html = re.sub(r'<script src="http[^>]*></script>', "", html)
    html = re.sub(r"require\.config\(\{.*?\}\);", "", html, flags=re.DOTALL)
    html = re.sub(r'<select id="(\w+)">', lambda found: f'{found[0][:-1]} aria-label="{NAMES[found[1]]}">', html)
    html = html.replace("<div id='vis'>", f'<p>{escape(words)}</p><p id="said" aria-live="polite"></p><div id="vis">')
    before, name, after = re.split(r"((?:const params|window\.bertviz_params) = )(?=\{)", html, maxsplit=1)
    params, end = json.JSONDecoder().raw_decode(after)
    after = after[end:].split("\n", 1)[1]  # what else is on that line is a comment that repeats all the weights
    for old, new in patches.items():
        if old not in after:
            raise RuntimeError(f"bertviz {version('bertviz')} has another {view} view than 1.4.1: no {old!r} in it")
        after = after.replace(old, new)
    data = json.dumps(params | changes, separators=(",", ":")).replace("<", "\\u003c")  # no token can end the script
    libraries = [("mpld3", "mpld3/js/d3.v5.min.js"), ("XStatic-jQuery", "xstatic/pkg/jquery/data/jquery.min.js")]
    scripts = [distribution(name).locate_file(path).read_text(encoding="utf-8") for name, path in libraries]
    scripts = "".join(f"<script>{text}</script>" for text in [*scripts, SHIM])
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{PAGE_CSS}</style>{scripts}'
    body = f"{front}{before}{name}{data};\n{after}<script>{NUMBERS.read_text(encoding='utf-8')}</script>"
    return f'<!doctype html><html lang="en"><head>{head}</head><body data-view="{view}">{body}</body></html>'


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
