"""The words of a picture, folded below it: JupyterLab reads an alternative text to nobody."""

from html import escape

IN_WORDS = "<details><summary>This figure in words</summary>"


def in_words(alt: str) -> str:
    """The text of a figure, to be opened with the mouse or the keyboard."""
    return f"{IN_WORDS}<p>{escape(alt)}</p></details>"
