"""What the pages beside the models are written with."""

import textwrap
from collections.abc import Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def paragraph(text: str) -> str:
    """Lines of at most 110 characters."""
    return textwrap.fill(" ".join(text.split()), 110, break_long_words=False, break_on_hyphens=False)


def percent(share: float) -> str:
    """0.749 as 74.9%."""
    return f"{100 * share:.1f}%"


def page(parts: Sequence[str], folder: Path) -> str:
    """The parts, and at their end ``notes.md`` from the model's folder, if there is one."""
    notes = folder / "notes.md"
    written = [notes.read_text(encoding="utf-8").strip()] if notes.is_file() else []
    return "\n\n".join([*parts, *written]) + "\n"
