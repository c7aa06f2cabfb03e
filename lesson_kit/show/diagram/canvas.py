"""What a diagram is made of: boxes, arrows and words, each of which belongs to a part that can be highlighted.

Heights grow upwards, as data flow in a diagram; a unit is a pixel where the diagram is 360 of them wide.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from html import escape

from lesson_kit.show.diagram.words import cut, drawable, width

SIZE, SMALL = 13, 11  # of the letters
PAD = 6  # left free in a box beside its words, both sides together
ROUND = 5  # radius of corners
MOST_SHADE = 0.3  # of a colour behind a number, so that the number can be read


@dataclass(frozen=True)
class Box:
    """A place on the canvas that arrows begin and end at."""

    left: float
    bottom: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def top(self) -> float:
        return self.bottom + self.height

    @property
    def x(self) -> float:
        """Its middle, from left to right."""
        return self.left + self.width / 2

    @property
    def y(self) -> float:
        """Its middle, from bottom to top."""
        return self.bottom + self.height / 2


class Canvas:
    """Collects what is drawn, part by part. ``names`` are the parts, in the order in which errors list them."""

    def __init__(self, *names: str):
        self.names = names
        self.groups: list[tuple[tuple[str, ...], list[str]]] = []  # elements, with the parts they belong to
        self.kinds: set[str] = set()
        self._part: tuple[str, ...] = ()
        self._left = self._right = self._bottom = self._top = None

    @contextmanager
    def part(self, name: str):
        """What is drawn inside belongs to the part ``name``, and to the part around it, if there is one."""
        if name not in self.names:
            raise KeyError(name)
        before, self._part = self._part, (*self._part, name)
        yield
        self._part = before

    def box(
        self, left: float, bottom: float, wide: float, high: float, label: str = "", *, note: str = "", kind: str = "",
        size: int = SIZE, corner: int = ROUND,
    ) -> Box:  # fmt: skip
        """A box with its label, of one line or two, and a smaller note below it."""
        box = Box(left, bottom, wide, high)
        corners = f' rx="{corner}"' if corner else ""
        place = f'x="{_n(left)}" y="{_n(-box.top)}" width="{_n(wide)}" height="{_n(high)}"'
        self._add(f"<rect{self._class(kind)} {place}{corners}/>", left, bottom, box.right, box.top)
        lines = [(line, size, True) for line in label.split("\n") if label] + [(note, SMALL, False)] * bool(note)
        y = box.y + sum(high + 2 for _, high, _ in lines) / 2
        for words, high, bold in lines:
            self.text(box.x, y - (high + 2) / 2, words, size=high, bold=bold, room=wide - PAD)
            y -= high + 2
        return box

    def text(
        self, x: float, y: float, words: str, *, size: float = SIZE, anchor: str = "middle", kind: str = "",
        bold: bool = False, code: bool = False, room: float | None = None, over: bool = False,
    ) -> Box:  # fmt: skip
        """Words on one line around the height ``y``, cut off with "…" where ``room`` ends. Returns their place.

        ``over`` lines that pass below, the words stand on paper.
        """
        font = {"bold": bold, "code": code}
        words = drawable(words)
        words = words if room is None else cut(words, room, size, **font)
        wide = width(words, size, **font)
        left = {"start": x, "middle": x - wide / 2, "end": x - wide}[anchor]
        styles = {"s": size == SMALL, "b": bold, "c": code, "m": anchor == "middle", "e": anchor == "end"}
        classes = self._class(kind, *(letter for letter, holds in styles.items() if holds))
        place = f'x="{_n(x)}" y="{_n(-(y - 0.36 * size))}"'
        box = Box(left, y - size / 2, wide, size)
        if over:
            place_of_paper = f'x="{_n(left - 3)}" y="{_n(-box.top - 2)}" width="{_n(wide + 6)}" height="{_n(size + 4)}"'
            self._add(f'<rect class="p" {place_of_paper}/>', left - 3, box.bottom - 2, left + wide + 3, box.top + 2)
        self._add(f"<text{classes} {place}>{escape(words, False)}</text>", left, box.bottom, box.right, box.top)
        return box

    def row(self, y: float, numbers: list[tuple[float, str]]) -> None:
        """Small numbers on one line; each (x, text) ends at its x."""
        # The space keeps neighbours apart for whoever copies or hears them.
        cells = "".join(f'<tspan x="{_n(x)}"> {escape(text, False)}</tspan>' for x, text in numbers)
        (left, first), (right, _) = numbers[0], numbers[-1]
        start = left - width(first, SMALL)
        self._add(f'<text class="e" y="{_n(-(y - 0.36 * SMALL))}">{cells}</text>', start, y - 6, right, y + 6)

    def arrow(self, *points: tuple[float, float], kind: str = "", head: bool = True) -> None:
        """A line through ``points``, level or upright, with round corners; its head ends at the last of them."""
        (x, y), *rest = points
        path = f"M{_n(x)} {_n(-y)}"
        for i, (to_x, to_y) in enumerate(rest):
            if i + 1 < len(rest):
                after = rest[i + 1]
                r = min(6, _distance((x, y), (to_x, to_y)) / 2, _distance((to_x, to_y), after) / 2)
                stop, leave = _toward((to_x, to_y), (x, y), r), _toward((to_x, to_y), after, r)
                path += f"L{_n(stop[0])} {_n(-stop[1])}Q{_n(to_x)} {_n(-to_y)} {_n(leave[0])} {_n(-leave[1])}"
                x, y = leave
            else:
                path += f"L{_n(to_x)} {_n(-to_y)}"
                if head:
                    path += _head((x, y), (to_x, to_y))
        xs, ys = zip(*points, strict=True)
        self._add(f'<path{self._class(kind)} d="{path}"/>', min(xs), min(ys), max(xs), max(ys))

    def slanted(self, start: tuple[float, float], end: tuple[float, float], kind: str = "") -> None:
        """A soft curve that leaves and arrives upright, with a head at ``end``."""
        (x, y), (to_x, to_y) = start, end
        half = (y + to_y) / 2
        path = f"M{_n(x)} {_n(-y)}C{_n(x)} {_n(-half)} {_n(to_x)} {_n(-half)} {_n(to_x)} {_n(-to_y)}"
        path += _head((to_x, half), end)
        self._add(f'<path{self._class(kind)} d="{path}"/>', min(x, to_x), y, max(x, to_x), to_y)

    def lines(self, segments: list[tuple[float, float, float, float]], kind: str = "", *, thin: bool = False) -> None:
        """Straight lines, each from (x, y) to (x, y), without heads, as one path."""
        path = "".join(f"M{_n(a)} {_n(-b)}L{_n(c)} {_n(-d)}" for a, b, c, d in segments)
        xs, ys = [s[i] for s in segments for i in (0, 2)], [s[i] for s in segments for i in (1, 3)]
        self._add(f'<path{self._class(kind, *["t"] * thin)} d="{path}"/>', min(xs), min(ys), max(xs), max(ys))

    def plus(self, x: float, y: float) -> Box:
        """A circle in which two paths are added."""
        r = 9
        path = f"M{_n(x - 5)} {_n(-y)}h10M{_n(x)} {_n(-y - 5)}v10"
        self._add(f'<circle cx="{_n(x)}" cy="{_n(-y)}" r="{r}"/><path d="{path}"/>', x - r, y - r, x + r, y + r)
        return Box(x - r, y - r, 2 * r, 2 * r)

    def dot(self, x: float, y: float) -> None:
        """Where a path forks: the same vector goes both ways."""
        self._add(f'<circle class="d" cx="{_n(x)}" cy="{_n(-y)}" r="3.5"/>', x - 3, y - 3, x + 3, y + 3)

    def shade(self, left: float, bottom: float, wide: float, high: float, share: float, kind: str) -> None:
        """A cell's ground, the darker (in the dark: the lighter), the nearer ``share`` is to 1."""
        path = f"M{_n(left)} {_n(-bottom)}h{_n(wide)}v{_n(-high)}h{_n(-wide)}z"
        element = f'<path{self._class(kind, "h")} d="{path}" opacity="{MOST_SHADE * share:.2f}"/>'
        self._add(element, left, bottom, left + wide, bottom + high)

    def outline(self, left: float, bottom: float, wide: float, high: float, kind: str) -> None:
        """A line around what the text speaks of."""
        place = f'x="{_n(left)}" y="{_n(-bottom - high)}" width="{_n(wide)}" height="{_n(high)}"'
        self._add(f'<rect{self._class(kind, "r")} {place} rx="3"/>', left, bottom, left + wide, bottom + high)

    def frame(self, left: float, bottom: float, right: float, top: float) -> Box:
        """A dashed frame around what belongs together."""
        place = f'x="{_n(left)}" y="{_n(-top)}" width="{_n(right - left)}" height="{_n(top - bottom)}"'
        self._add(f'<rect class="f" {place} rx="9"/>', left, bottom, right, top)
        return Box(left, bottom, right - left, top - bottom)

    def extent(self, margin: float = 6) -> tuple[float, float, float, float]:
        """Left, top (downwards, as SVG counts), width and height of all that was drawn."""
        left, right = self._left - margin, self._right + margin
        return left, -self._top - margin, right - left, self._top - self._bottom + 2 * margin

    def _class(self, kind: str, *styles: str) -> str:
        """The attribute. The kinds are remembered, so that the style defines them and no others."""
        self.kinds.add(kind)
        classes = " ".join(filter(None, [kind, *styles]))
        return f' class="{classes}"' if classes else ""

    def _add(self, element: str, left: float, bottom: float, right: float, top: float) -> None:
        if not self.groups or self.groups[-1][0] != self._part:
            self.groups.append((self._part, []))
        self.groups[-1][1].append(element)
        self._left = left if self._left is None else min(self._left, left)
        self._right = right if self._right is None else max(self._right, right)
        self._bottom = bottom if self._bottom is None else min(self._bottom, bottom)
        self._top = top if self._top is None else max(self._top, top)


def _n(number: float) -> str:
    """A coordinate, to a whole unit."""
    return str(round(number))


def _distance(a, b) -> float:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def _toward(start, end, step: float) -> tuple[float, float]:
    """The point ``step`` from ``start`` towards ``end``."""
    length = _distance(start, end) or 1
    return tuple(s + (e - s) / length * step for s, e in zip(start, end, strict=True))


def _head(start, end) -> str:
    """The two strokes of an arrow's head, whose tip is the place the path has reached."""
    length = _distance(start, end) or 1
    along = [(e - s) / length for s, e in zip(start, end, strict=True)]
    wings = [(-5 * along[0] - side * 4 * along[1], -5 * along[1] + side * 4 * along[0]) for side in (1, -1)]
    (ax, ay), (bx, by) = wings
    return f"m{_n(ax)} {_n(-ay)}l{_n(-ax)} {_n(ay)}l{_n(bx)} {_n(-by)}"
