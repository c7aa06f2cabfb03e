"""Token lanes: one column for each token, from bottom to top."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from lesson_kit.show.diagram.canvas import SMALL, Canvas

MOST = 6  # lanes; of more tokens the first three and the last are drawn
VECTOR = 12  # the height of a vector, drawn as four cells


@dataclass(frozen=True)
class Lanes:
    """The lanes of ``tokens`` between ``left`` and ``right``. Words on what is seen stand to the right of them."""

    canvas: Canvas
    tokens: list[str]
    left: float
    right: float

    @cached_property
    def shown(self) -> list[int | None]:
        """The tokens drawn, None for those left out."""
        n = len(self.tokens)
        return list(range(n)) if n <= MOST else [0, 1, 2, None, n - 1]

    @cached_property
    def middles(self) -> dict[int | None, float]:
        """Of each lane, from left to right."""
        each = (self.right - self.left) / len(self.shown)
        return {token: self.left + (i + 0.5) * each for i, token in enumerate(self.shown)}

    @property
    def room(self) -> float:
        """The width of one lane, less some space between."""
        return (self.right - self.left) / len(self.shown) - 4

    def each(self, y: float, draw: Callable[[int, float], None]) -> None:
        """``draw(token, middle)`` for each lane; dots at ``y`` for the tokens left out."""
        for token, x in self.middles.items():
            if token is None:
                self.canvas.text(x, y, "⋯")
            else:
                draw(token, x)

    def words(self) -> None:
        """The tokens, around the height 0, with arrows up from them to 24."""
        self.each(0, lambda i, x: self.canvas.text(x, 0, self.tokens[i], size=SMALL, room=self.room))
        self.arrows(10, 24)

    def arrows(self, start: float, end: float) -> None:
        for token, x in self.middles.items():
            if token is not None:
                self.canvas.arrow((x, start), (x, end))

    def vectors(self, bottom: float, kind: str) -> float:
        """A row of vectors; returns where it ends."""
        wide = min(36, self.room)

        def vector(_: int, x: float) -> None:
            self.canvas.box(x - wide / 2, bottom, wide, VECTOR, kind=kind, corner=0)
            cells = [x + k * wide / 4 for k in (-1, 0, 1)]
            self.canvas.lines([(cell, bottom, cell, bottom + VECTOR) for cell in cells], kind=kind, thin=True)

        self.each(bottom + VECTOR / 2, vector)
        return bottom + VECTOR

    def beside(self, y: float, *lines: str, code: bool = False, bold: bool = False) -> None:
        """Lines of words to the right, around ``y``; ``bold`` is for the first."""
        for n, line in enumerate(lines):
            height = y + 7 * (len(lines) - 1) - 14 * n
            self.canvas.text(self.right + 10, height, line, size=SMALL, anchor="start", code=code, bold=bold and n == 0)
