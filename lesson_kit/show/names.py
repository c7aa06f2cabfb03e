"""Names of rows, columns and lines, in any script, as a figure can print them."""

import unicodedata

MOST_LETTERS = 24
SYMBOLS = {"\n": "↵", "\t": "⇥", "\r": "␍"}


def printed(name, most: int = MOST_LETTERS) -> str:
    """A name as one line that every font can set: control characters by symbols, and no more than ``most`` letters."""
    letters = [SYMBOLS.get(c, "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c) for c in str(name)]
    return "".join(letters if len(letters) <= most else [*letters[: most - 1], "…"])
