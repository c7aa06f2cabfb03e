"""Pictures that move: each a page of its own in a frame, without a library, a network or a kernel.

``show.moving.NAME(...)`` as a cell's last line shows it. Where nothing can move (on GitHub, on paper, in a
notebook that hasn't been run) a static picture stands in its place. ``show.moving.live`` makes a stored one live.
"""

from lesson_kit._lazy import on_first_use
from lesson_kit.show.moving.registry import KINDS

_HOMES = {name: f"lesson_kit.show.moving.pictures.{name}:{name}" for name in KINDS}
_HOMES |= {"live": "lesson_kit.show.moving.page:live"}

__all__ = [*_HOMES]

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
