"""Words in a drawing: how wide they are, how much of them fits, and what of them may be drawn."""

from unicodedata import category, combining, east_asian_width

FONT, CODE_FONT = "system-ui,sans-serif", "ui-monospace,monospace"

# Advance widths in hundredths of the letters' size, from the space to "~", of DejaVu Sans, the widest of the systems'
# own fonts: what fits there fits in the others.
ASCII = """32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53
100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50
50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84"""
WIDTHS = {chr(32 + i): int(hundredths) / 100 for i, hundredths in enumerate(ASCII.split())}
WIDTHS |= {"·": 0.32, "√": 0.64, "…": 1.0, "⋯": 1.0, "⋮": 1.0}
FULL, OTHER, CODE = 1.0, 0.7, 0.602  # Chinese characters; any other letter, on average at most; in the font of code
BOLD = 1.13  # times as wide


def width(text: str, size: float, *, bold: bool = False, code: bool = False) -> float:
    """How wide ``text`` is at most, in the drawing's units; ``size`` is that of its font."""
    return size * sum(_advance(character, code) for character in text) * (BOLD if bold else 1)


def _advance(character: str, code: bool) -> float:
    if combining(character):
        return 0.0
    if east_asian_width(character) in "WF":
        return FULL
    return CODE if code else WIDTHS.get(character, OTHER)


def cut(text: str, room: float, size: float, **font) -> str:
    """``text``, or as much of its beginning as fits into ``room`` with a "…" after it."""
    if width(text, size, **font) <= room:
        return text
    while text and width(text + "…", size, **font) > room:
        text = text[:-1]
    return text + "…"


def drawable(text: str) -> str:
    """``text`` on one line; what XML forbids, and what would turn the text around it, becomes "�"."""
    turns = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    text = " ".join(text.split())
    return "".join("�" if category(c) in ("Cc", "Cs", "Cn", "Co") or c in turns else c for c in text)
