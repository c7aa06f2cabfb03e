"""Words in a drawing: how wide they are, how much of them fits, and what of them may be drawn."""

from unicodedata import category, combining, east_asian_width

FONT, CODE_FONT = "system-ui,sans-serif", "ui-monospace,monospace"

# Advance widths in em, of DejaVu Sans, the widest of the systems' own fonts: what fits there fits in the others.
CODE_WIDTH, DIGIT, CAPITAL, LETTER, FULL = 0.602, 0.636, 0.72, 0.62, 1.0
NARROW = dict.fromkeys("ijlI.,:;'|!/ ", 0.32) | dict.fromkeys("ftr()[]-{}\"", 0.40)
WIDE = dict.fromkeys("mwMW@%…√×÷+=<>−→∞", 0.98)
BOLD = 1.12  # times as wide


def width(text: str, size: float, *, bold: bool = False, code: bool = False) -> float:
    """How wide ``text`` is at most, in the drawing's units; ``size`` is that of its font."""
    return size * sum(map(_code_advance if code else _advance, text)) * (BOLD if bold else 1)


def _advance(character: str) -> float:
    if combining(character):
        return 0.0
    if east_asian_width(character) in "WF":
        return FULL
    if character.isdigit():
        return DIGIT
    return NARROW.get(character) or WIDE.get(character) or (CAPITAL if character.isupper() else LETTER)


def _code_advance(character: str) -> float:
    return 0.0 if combining(character) else FULL if east_asian_width(character) in "WF" else CODE_WIDTH


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
