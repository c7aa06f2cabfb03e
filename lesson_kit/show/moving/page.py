"""A moving picture as a page of its own, as a frame, and as what a notebook shows and stores."""

import json
import os
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from html import escape
from pathlib import Path

from lesson_kit import colours
from lesson_kit.show.moving.registry import KINDS, Kind

HERE = Path(__file__).parent
NARROW = 500  # pixels; in a narrower frame, a phone's, a picture's parts stand below each other
LARGEST = 100_000  # bytes of a page
PAIRS = {
    "ground": colours.GROUND, "text": colours.TEXT, "quiet": colours.QUIET, "border": colours.BORDER,
    "soft": colours.CODE_GROUND, "link": colours.LINK, "good": colours.GOOD, "bad": colours.BAD,
    "query": colours.QUERY, "key": colours.KEY, "value": colours.VALUE, "output": colours.OUTPUT,
    "weight": colours.WEIGHT,
}  # fmt: skip


def document(name: str, data: Mapping) -> str:
    """The whole page: our styles, our script, and ``data`` as JSON, which nothing ever runs or reads as HTML.

    Its policy lets the browser fetch nothing and run this one script only, known by its hash.

    Raises:
        ValueError: no picture has this name, ``data`` is not plain JSON, or the page would exceed 100 kB.
    """
    kind = _kind(name)
    script = '"use strict";\n' + _read("harness.js") + _read(f"pictures/{name}.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; base-uri 'none'"
    style = f":root {{ {colours.as_css(PAIRS)} }}\n{_read('harness.css')}"
    page = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(kind.title)}</title><style>{style}</style></head><body>"
        f'<script type="application/json" id="data">{_as_json(data)}</script><script>{script}</script></body></html>'
    )
    if len(page.encode()) > LARGEST:
        raise ValueError(f"data makes a page of {len(page.encode())} bytes; expected at most {LARGEST}")
    return page


def frame(name: str, data: Mapping) -> str:
    """The page in an ``<iframe>`` that is as high as its width asks for."""
    kind = _kind(name)
    # Below NARROW the middle term is huge, above it negative: a step from one height to the other.
    height = f"clamp({kind.height}px, ({NARROW}px - 100cqw) * 999, {kind.narrow_height}px)"
    style = f"display: block; width: 100%; border: 0; height: {kind.height}px; height: {height}"
    return (
        '<div style="container-type: inline-size; width: 100%; max-width: 1000px">'
        f'<iframe title="{escape(kind.title)}" style="{style}" srcdoc="{escape(document(name, data))}"></iframe></div>'
    )


def live(metadata: Mapping) -> str:
    """The frame of the moving picture that an output's metadata tell of: ``{"moving": {"name": ..., "data": ...}}``.

    Raises:
        ValueError: the metadata tell of none, or of one that isn't in the registry.
    """
    stored = metadata.get("moving")
    if not isinstance(stored, Mapping) or {*stored} != {"name", "data"}:
        raise ValueError(f'metadata must be {{"moving": {{"name": ..., "data": ...}}}}, got {str(metadata)[:80]}')
    return frame(stored["name"], stored["data"])


class Moving:
    """What each function of ``show.moving`` returns; as a cell's last line it shows the picture.

    data: plain JSON, all that the script needs. draw: gives the static picture as ``(figure, alt)``.
    With the environment variable COURSE_INTERACTIVE=0 the static picture is shown, and its output's metadata hold
    what ``live`` needs.
    """

    def __init__(self, name: str, data: Mapping, draw: Callable):
        self.name, self.data, self._draw = name, data, draw
        self.document = document(name, data)

    @cached_property
    def picture(self):
        """The static picture."""
        from lesson_kit.show.figures import picture

        return picture(*self._draw())

    @property
    def frame(self) -> str:
        """The live picture as an ``<iframe>`` that can stand in any page."""
        return frame(self.name, self.data)

    def __repr__(self) -> str:
        return repr(self.picture)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        from lesson_kit.show.figures import in_words

        static, metadata = self.picture._repr_mimebundle_()
        metadata = metadata | {"moving": {"name": self.name, "data": self.data}}
        if os.environ.get("COURSE_INTERACTIVE", "1") == "0":
            display(static, metadata=metadata, raw=True)
            display({"text/html": in_words(self.picture.alt)}, raw=True)
        else:
            folded = f"<details><summary>This picture without motion, and in words</summary>{self.picture.html()}"
            html = f"{self.frame}{folded}<p>{escape(self.picture.alt)}</p></details>"
            display({"text/html": html} | static, metadata=metadata, raw=True)


def _kind(name: str) -> Kind:
    if name not in KINDS:
        raise ValueError(f"name must be one of {', '.join(KINDS)}; got {name!r}")
    return KINDS[name]


def _read(path: str) -> str:
    return (HERE / path).read_text(encoding="utf-8")


def _as_json(data: Mapping) -> str:
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"data must be plain JSON without NaN or infinities: {error}") from None
    return text.replace("<", "\\u003c")  # no text can end the script
