"""The words of a picture, folded below it: JupyterLab reads an alternative text to nobody."""

from html import escape

IN_WORDS = "<details><summary>This figure in words</summary>"


def in_words(alt: str, more: str = "", still: str = "") -> str:
    """The text of a figure, to be opened with the mouse or the keyboard.

    more: lines of text below. still: the HTML of the still picture, where a live one stands above.
    """
    lines = f"<pre>{escape(more)}</pre>" if more else ""
    summary = IN_WORDS.replace("figure", "picture, still and") if still else IN_WORDS
    return f"{summary}{still}<p>{escape(alt)}</p>{lines}</details>"
