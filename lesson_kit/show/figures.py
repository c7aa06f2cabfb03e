"""Figures that can be read in grey, on a dark page, and by ear."""

import warnings
from base64 import b64encode
from html import escape
from io import BytesIO

import matplotlib.pyplot as plt
from cycler import cycler
from IPython.display import display
from matplotlib.font_manager import fontManager
from PIL import Image

from lesson_kit.colours import GRID, LINES, PAPER
from lesson_kit.show.in_words import in_words

# before 3.11 matplotlib sees the first font of a collection only: for Noto the Japanese one, with the same characters
CHINESE_FONTS = [
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Microsoft YaHei",
    "SimHei",
]
INSTALLED_FONTS = {font.name for font in fontManager.ttflist}
RC_PARAMS = {
    "font.family": ["DejaVu Sans", *(font for font in CHINESE_FONTS if font in INSTALLED_FONTS)],
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "axes.titlesize": 12,
    "axes.labelsize": 11,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.markersize": 5,
    # Lines differ in colour, in dashes and in markers; the markers stand at even distances along the line.
    "axes.prop_cycle": cycler(color=LINES)
    + cycler(linestyle=["-", "--", "-.", ":", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1))])
    + cycler(marker=["o", "s", "^", "D", "v", "x"])
    + cycler(markevery=[0.06] * 6),
}
SHORTEST_ALT = 30
DPI = 144  # sharp on fine screens; the page is told to show 96 to the inch


def subplots(*args, **kwargs):
    """``plt.subplots`` in the course's style. Returns ``(fig, axes)``; end the cell with ``figure(fig, alt)``."""
    with plt.rc_context(RC_PARAMS):
        return plt.subplots(*args, **{"layout": "constrained"} | kwargs)


def figure(fig, alt: str) -> None:
    """Displays ``fig`` as a PNG that carries ``alt``, the text for whoever cannot see it, and closes it.

    JupyterLab gives that text to nobody, so it also stands below the figure, folded.

    Raises:
        ValueError: ``alt`` is shorter than 30 characters.
    """
    shown = picture(fig, alt)
    display(shown)
    display({"text/html": in_words(shown.alt)}, raw=True)


def picture(fig, alt: str) -> "Picture":
    """``fig`` as ``figure`` displays it; closed, and not displayed."""
    plt.close(fig)  # or Jupyter would show it a second time
    if not isinstance(alt, str) or len(alt.strip()) < SHORTEST_ALT:
        raise ValueError(f"alt must say in at least {SHORTEST_ALT} characters what the figure shows, got {alt!r}")
    drawn, small = BytesIO(), BytesIO()
    with warnings.catch_warnings(), plt.rc_context(RC_PARAMS):
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # no Chinese font here: boxes, no warning
        fig.savefig(drawn, format="png", dpi=DPI, bbox_inches="tight")
    image = Image.open(drawn).convert("RGB")
    image.quantize(256, dither=Image.Dither.NONE).save(small, "png", optimize=True)  # a third of the size
    return Picture(small.getvalue(), alt, width=round(image.width * 96 / DPI))


class Picture:
    """A PNG with its alternative text, which is also what a terminal shows."""

    def __init__(self, png: bytes, alt: str, width: int):
        self.png, self.alt, self.width = png, alt, width

    def __repr__(self) -> str:
        return f"[figure: {self.alt}]"

    def html(self) -> str:
        """As an ``<img>`` that holds its own data."""
        data = b64encode(self.png).decode()
        return f'<img alt="{escape(self.alt)}" width="{self.width}" src="data:image/png;base64,{data}">'

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"image/png": b64encode(self.png).decode(), "text/plain": repr(self)}
        return data, {"image/png": {"alt": self.alt, "width": self.width}}
