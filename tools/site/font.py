"""A font for the formulas. MathML stretches its brackets only with a font made for it, and many machines have none.

matplotlib brings one, DejaVu Serif. What the pages' formulas use of it is cut out when the site is built.
"""

import re
import unicodedata
from html import unescape
from pathlib import Path

from fontTools import subset
from matplotlib import get_data_path

FONT = "fonts/ttf/DejaVuSerif.ttf"
# The font leaves these at 0 or nearly so. The values are TeX's for Computer Modern, in ems (The TeXbook, appendix G).
CONSTANTS = {
    "SubscriptShiftDown": 0.17, "SubscriptBaselineDropMin": 0.05,
    "SuperscriptShiftUp": 0.413, "SuperscriptShiftUpCramped": 0.289, "SuperscriptBaselineDropMax": 0.386,
    "UpperLimitGapMin": 0.111, "UpperLimitBaselineRiseMin": 0.2,
    "LowerLimitGapMin": 0.167, "LowerLimitBaselineDropMin": 0.6,
    "StackTopShiftUp": 0.444, "StackTopDisplayStyleShiftUp": 0.677,
    "StackBottomShiftDown": 0.345, "StackBottomDisplayStyleShiftDown": 0.686,
    "FractionNumeratorShiftUp": 0.394, "FractionNumeratorDisplayStyleShiftUp": 0.677,
    "FractionDenominatorShiftDown": 0.345, "FractionDenominatorDisplayStyleShiftDown": 0.686,
    "RadicalVerticalGap": 0.12, "RadicalDisplayStyleVerticalGap": 0.17,
}  # fmt: skip


def letters(pages: list[str]) -> set[str]:
    """All characters of the pages' formulas, and the italics in which browsers draw a variable's name."""
    formulas = [formula for page in pages for formula in re.findall(r"<math.*?</math>", page, flags=re.DOTALL)]
    used = {"√"} | set(unescape(re.sub(r"<[^>]+>", "", "".join(formulas))))  # a root is an element, not a character
    return used | {italic(letter) for letter in used}


def italic(letter: str) -> str:
    """The mathematical italic of a Latin or Greek letter; any other character as it is."""
    kind = "SMALL" if letter.islower() else "CAPITAL"
    name = unicodedata.name(letter, "").split()
    if len(name) != 4 or name[1:3] != [kind, "LETTER"] or name[0] not in ("LATIN", "GREEK"):
        return letter
    try:
        return unicodedata.lookup(f"MATHEMATICAL ITALIC {kind} {name[3]}")
    except KeyError:
        return "ℎ" if letter == "h" else letter


def write(pages: list[str], path: Path) -> None:
    """Writes a font (WOFF) with the characters of the pages' formulas, brackets of all sizes included."""
    options = subset.Options(flavor="woff", notdef_outline=True)
    options.drop_tables += ["FFTM"]  # the drawing program's own
    font = subset.load_font(str(Path(get_data_path()) / FONT), options)
    cutter = subset.Subsetter(options)
    cutter.populate(text="".join(sorted(letters(pages))))
    cutter.subset(font)
    constants = font["MATH"].table.MathConstants
    for name, ems in CONSTANTS.items():
        getattr(constants, name).Value = round(ems * font["head"].unitsPerEm)
    subset.save_font(font, str(path), options)
