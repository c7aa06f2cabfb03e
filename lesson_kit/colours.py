"""Every colour of the course, in one place. tests/test_accessibility.py computes the contrast of each where it is used.

Figures stand on white everywhere, in a dark theme too. A pair is (in the light theme, in the dark theme).
"""

PAPER, INK = "#ffffff", "#000000"

# --- figures: show ---
LINES = ["#0072B2", "#D55E00", "#000000", "#009E73", "#882255", "#777777"]  # told apart by colour-blind readers too
FRAME = "#8c8c8c"  # around a map whose lightest cells are white
MISSING = "#cccccc"  # NaN and infinities in a heat map; an x stands on it
HATCH = "#8c8c8c"  # what a mask hides in a heat map
# From next to zero to the end of the scale; in bertviz's views the last of each.
ABOVE = ["#deebf7", "#9ecae1", "#4292c6", "#2171b5", "#08519c", "#08306b"]
BELOW = ["#feedde", "#fdbe85", "#f08030", "#d94801", "#a63603", "#7f2704"]
GRID, BETWEEN_CELLS = "#dddddd", "#d8d8d8"  # decoration: nothing is lost without these lines

# --- what attention is made of: diagrams and moving pictures; as lines, marks and words on GROUND and CODE_GROUND ---
QUERY = ("#1f5fb8", "#6aa9ff")
KEY = ("#b34700", "#ff9040")
VALUE = ("#007d53", "#3ecf8e")
OUTPUT = ("#7d1f7a", "#f29bc9")
WEIGHT = ("#4a5560", "#e2e2da")  # no hue: a weight belongs to a query and a key at once

# --- the blocks of a model: diagrams; as edges and words on GROUND, as fills in the light of ``tint`` ---
ATTENTION = ("#8f5300", "#e8b04b")
FEED_FORWARD = ("#006d80", "#5cc4d6")
NORM = ("#5f6368", "#b0b4ba")
EMBEDDING = ("#a3316d", "#f08db8")
HEAD = ("#5a48b0", "#b3a6ff")

# --- verdicts: checks; on the page itself, light or dark ---
PASSED, NOT_ATTEMPTED, NOT_YET_RIGHT = "#2a8f5c", "#808080", "#c8581c"

# --- a lesson as a page: classroom ---
GROUND = ("#ffffff", "#111111")
TEXT = ("#1a1a1a", "#e8e8e8")
LINK = ("#0b5394", "#8ab8ff")
BORDER = ("#767676", "#8c8c8c")
CODE_GROUND = ("#f5f5f5", "#1e1e1e")
CODE = {
    "comment": ("#5a5f66", "#a8aeb5"),
    "keyword": ("#6f2da8", "#cba6f7"),
    "text": ("#8a3b00", "#f0b48a"),
    "number": ("#0550ae", "#8ab8ff"),
    "name": ("#00606b", "#7cd3e8"),
}

# --- the web site: tools ---
SOFT = ("#f7f5f0", "#191a1c")  # behind what stands beside the text
TINT = ("#fdf1e3", "#2b2219")  # behind a question that waits for a prediction
HAIRLINE = ("#dedad2", "#38393c")  # decoration: nothing is lost without these lines

# --- the report on a class: classroom; words on GROUND, bars with the ink of the number in them ---
GOOD, BAD, QUIET = ("#00563f", "#6fd3ac"), ("#9c2b00", "#ffab7d"), ("#565656", "#b4b4b4")
BARS = {
    "passed": ("#00563f", PAPER),
    "known mistake": ("#e69f00", INK),
    "other mistake": ("#f5d48a", INK),
    "raised": ("#b3456f", PAPER),
    "stopped": ("#5c5c5c", PAPER),
    "nothing": (PAPER, INK),
}
EDGE = "#444444"  # of each bar


def as_css(pairs: dict[str, tuple[str, str]]) -> str:
    """The pairs as CSS variables that follow the theme."""
    return " ".join(f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in pairs.items())


def tint(pair: tuple[str, str], share: float = 0.14) -> tuple[str, str]:
    """``share`` of each colour on its theme's ground: a fill that the theme's text can be read on."""
    parts = [[[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in both] for both in zip(pair, GROUND, strict=True)]
    mixed = [[round(share * a + (1 - share) * b) for a, b in zip(*both, strict=True)] for both in parts]
    return tuple("#" + "".join(f"{c:02x}" for c in rgb) for rgb in mixed)


def luminance(colour: str | tuple[float, ...]) -> float:
    """WCAG's relative luminance, 0 for black to 1 for white. ``colour``: "#rrggbb" or red, green and blue in 0..1."""
    if isinstance(colour, str):
        colour = tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def darkened(colour: str, ground: str, least: float) -> str:
    """``colour``, or as little darker as gives it that contrast with ``ground``."""
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    for share in range(100, -1, -1):
        darker = "#" + "".join(f"{round(part * share / 100):02x}" for part in parts)
        if contrast(darker, ground) >= least:
            return darker
    raise ValueError(f"ground {ground} is too dark for a contrast of {least}")


def contrast(one, other) -> float:
    """WCAG's contrast of two colours: 1 to 21. Text needs 4.5 (level AA); large text and what a picture says, 3."""
    darker, lighter = sorted(luminance(colour) for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)
