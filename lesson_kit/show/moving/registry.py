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
        Kind("clock", "The clock", height=600, narrow_height=940),
        Kind("drag_the_query", "Drag the query", height=600, narrow_height=960),
        Kind("decode", "A translator at work", height=560, narrow_height=870),
        Kind("knob", "The knob", height=540, narrow_height=900),
        Kind("mask", "Who may look at whom?", height=560, narrow_height=850),
        Kind("online_softmax", "Keys arrive one by one", height=550, narrow_height=780),
        Kind("spread", "Change a word", height=560, narrow_height=760),
        Kind("view_and_transpose", "View and transpose", height=560, narrow_height=930),
    ]
}
