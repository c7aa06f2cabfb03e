"""The moving pictures that there are, and how much room each takes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One moving picture: its name (that of its two files and of its function), its heading, its heights in pixels.

    ``height`` holds where the frame is at least ``page.NARROW`` pixels wide, ``narrow_height`` below.
    """

    name: str
    title: str
    height: int
    narrow_height: int


KINDS = {
    kind.name: kind
    for kind in [
        Kind("drag_the_query", "Drag the query", height=540, narrow_height=860),
        Kind("decode", "A translator at work", height=560, narrow_height=870),
        Kind("mask", "Who may look at whom?", height=560, narrow_height=840),
        Kind("spread", "Change a word", height=560, narrow_height=760),
    ]
}
