"""One attention step, with its numbers."""

import math
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from course_utils import scaled_dot_product_attention
from lesson_kit.show.diagram.canvas import SMALL, Box, Canvas
from lesson_kit.show.diagram.display import Diagram
from lesson_kit.show.diagram.words import width
from lesson_kit.show.expect import expect_index, expect_tokens
from lesson_kit.show.numbers import as_floats, as_rows, number

PARTS = ("x", "query", "key", "value", "scores", "scaled", "weights", "output")
ROW, HEAD, EDGE, GAP = 19, 22, 6, 26  # heights: of a row, of a title; around a table, between tables
CARD, BETWEEN = 112, 12  # width of each of Q, K and V, and what is left between them
MOST_ROWS, MOST_COLUMNS = 4, 3  # more are shown as the first and the last, with dots between
DOTS = 16  # the width of such a column
NAME = 50  # the width of a row's name


@dataclass(frozen=True)
class Table:
    """A matrix as it is drawn. Rows and columns that are left out stand as None."""

    name: str
    values: Tensor
    rows: list[int | None]
    columns: list[int | None]
    digits: int

    def cell(self, row: int, column: int) -> str:
        value = self.values[row, column].item()
        if abs(value) >= 1000:
            return f"{value:.0e}"
        return number(value, min(self.digits, 1) if abs(value) >= 100 else self.digits)

    @property
    def cell_width(self) -> float:
        places = product(*([i for i in axis if i is not None] for axis in (self.rows, self.columns)))
        texts = (self.cell(row, column) for row, column in places)
        return max(28.0, max(width(text, SMALL) for text in texts) + 8)

    @property
    def columns_width(self) -> float:
        return sum(DOTS if column is None else self.cell_width for column in self.columns)


def attention_step(
    *, x=None, w_q=None, w_k=None, w_v=None, query=None, key=None, value=None, tokens=None, row: int | None = None,
    digits: int = 2, highlight=None,
) -> Diagram:  # fmt: skip
    """One step of self-attention with its numbers, from the token vectors to the output.

    x: (length, d_model), one row for each token; w_q, w_k: (d_model, d_head); w_v: (d_model, d_value). Or, in place of
    these four, query, key: (length, d_head) and value: (length, d_value). Tensors or lists, all finite. Of more than
    four rows or three columns the first and the last are shown.
    tokens: a word for each row. row: the token whose row is outlined all the way up. digits: decimals.
    highlight: a part or a list of them; the rest is faded. Parts: x, query, key, value, scores, scaled, weights,
    output.

    Raises:
        TypeError, ValueError: an argument is missing or is no matrix of finite numbers, shapes do not fit, ``tokens``
            does not name each row, ``row`` is none of them, or a part is unknown.
    """
    given = {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "query": query, "key": key, "value": value}
    x, query, key, value = _project({name: _matrix(name, given[name]) for name in given if given[name] is not None})
    length, d_head = query.shape
    columns = map(str, range(length)) if tokens is None else tokens
    tokens = [f"row {i}" for i in range(length)] if tokens is None else expect_tokens(tokens)
    if len(tokens) != length:
        raise ValueError(f"tokens has {len(tokens)} names; expected {length}, one for each row")
    if row is not None:
        row = expect_index("row", row, length)
    output, weights = scaled_dot_product_attention(query, key, value)
    scores = query @ key.T
    matrices = {"x": x, "query": query, "key": key, "value": value, "scores": scores}
    matrices |= {"scaled": scores / math.sqrt(d_head), "weights": weights, "output": output}
    rows = _shown(length, MOST_ROWS, row)
    tables = {
        name: Table(name, values, rows, *_columns(name, values, rows), 0 if _whole(values) else digits)
        for name, values in matrices.items()
        if values is not None
    }
    canvas = Canvas(*(name for name in PARTS if name in tables))
    _Drawing(canvas, tables, tokens, list(columns), row).draw(d_head)
    return Diagram(canvas, "One attention step", _say(tables, tokens, row, d_head), highlight)


def _matrix(name: str, values) -> Tensor:
    if isinstance(values, Tensor):
        values = values.detach()
    try:
        if getattr(values, "ndim", 2) != 2:
            raise ValueError(f"values has shape {tuple(values.shape)}; expected two axes")
        matrix = torch.tensor(as_floats(as_rows(values)), dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("values", name, 1)) from None
    if not matrix.isfinite().all():
        raise ValueError(f"{name} holds NaN or infinity; expected finite numbers")
    return matrix


def _project(given: dict[str, Tensor]) -> tuple[Tensor | None, Tensor, Tensor, Tensor]:
    """x (if given), query, key and value, of shapes that fit."""
    from_x, made = ("x", "w_q", "w_k", "w_v"), ("query", "key", "value")
    names = from_x if "x" in given else made
    if set(given) != set(names):
        got = ", ".join(given) or "nothing"
        raise TypeError(f"give either {', '.join(from_x)} or {', '.join(made)}; got {got}")
    first, *others = (given[name] for name in names)
    for name, matrix in zip(names[1:], others, strict=True):
        if names is from_x and len(matrix) != first.shape[1]:
            raise ValueError(
                f"{name} has shape {tuple(matrix.shape)}; expected {first.shape[1]} rows, one for each column of x"
            )
        if names is made and len(matrix) != len(first):
            raise ValueError(f"{name} has shape {tuple(matrix.shape)}; expected {len(first)} rows, as many as query")
    x, query, key, value = (first, *(first @ w for w in others)) if names is from_x else (None, first, *others)
    if query.shape[1] != key.shape[1]:
        name, other = ("w_k", "w_q") if x is not None else ("key", "query")
        raise ValueError(f"{name} has {key.shape[1]} columns, {other} has {query.shape[1]}; expected the same")
    return x, query, key, value


def _shown(n: int, most: int, wanted: int | None = None) -> list[int | None]:
    """The rows or columns that are drawn, with None where some are left out."""
    if n <= most:
        return list(range(n))
    kept = sorted({0, 1 if wanted is None else wanted, n - 1})
    shown = []
    for i in kept:
        shown += [i] if not shown or shown[-1] == i - 1 else [None, i]
    return shown


def _columns(name: str, values: Tensor, rows: list) -> list[list[int | None]]:
    if name in ("scores", "scaled", "weights"):
        return [rows]
    n = values.shape[1]
    return [list(range(n)) if n <= MOST_COLUMNS else [0, None, n - 1]]


def _whole(values: Tensor) -> bool:
    return bool((values == values.round()).all())


def _say(tables: dict[str, Table], tokens: list[str], row: int | None, d_head: int) -> str:
    shape = {name: " by ".join(map(str, table.values.shape)) for name, table in tables.items()}
    start = f"x ({shape['x']}) times three matrices gives" if "x" in tables else "Given are"
    words = (
        f"From bottom to top: {start} a query, a key and a value for each token ({shape['query']} each). Each query "
        f"times each key gives the scores ({shape['scores']}), divided by the root of d_head = {d_head}; softmax makes "
        f"each row into weights that sum to 1, and the weights mix the values into the output ({shape['output']})."
    )
    chosen = 0 if row is None else row
    best = int(tables["weights"].values[chosen].argmax())
    weight = number(tables["weights"].values[chosen, best].item())
    return f"{words} {tokens[chosen]} gives its largest weight, {weight}, to {tokens[best]}."


@dataclass(frozen=True)
class _Drawing:
    canvas: Canvas
    tables: dict[str, Table]
    tokens: list[str]  # at the rows
    columns: list[str]  # the same above the columns, where there is less room
    row: int | None

    def draw(self, d_head: int) -> None:
        canvas, tables = self.canvas, self.tables
        wide = max(CARD, *(tables[name].columns_width + 2 * EDGE for name in ("query", "key", "value")))
        middles = [wide / 2 + i * (wide + BETWEEN) for i in range(3)]
        y, x = 0.0, None
        if "x" in tables:
            x = self.card("x", "x", middles[1], 0, named=True)
            y = x.top + GAP + 4
        cards = {}
        fork = y - GAP / 2 - 6
        if x is not None:
            with canvas.part("x"):
                canvas.arrow((x.x, x.top), (x.x, fork), head=False)
                canvas.arrow((middles[0], fork), (middles[2], fork), head=False)
        for name, letter, middle in zip(("query", "key", "value"), "QKV", middles, strict=True):
            cards[name] = self.card(name, letter, middle, y, kind=letter.lower(), wide=wide)
            if x is not None:
                with canvas.part(name):
                    canvas.arrow((middle, fork), (middle, y), kind=letter.lower())
                    canvas.text(middle + 8, y - 7, f"· W_{letter}", size=SMALL, anchor="start", kind=letter.lower())
        middle = (middles[0] + middles[1]) / 2
        scores = self.card("scores", "scores", middle, cards["query"].top + GAP + 4, named=True)
        with canvas.part("scores"):
            for name, into in (("query", middle - 22), ("key", middle + 22)):
                card = cards[name]
                turn = card.top + 13
                canvas.arrow((card.x, card.top), (card.x, turn), (into, turn), (into, scores.bottom), kind=name[0])
            canvas.text(middle, scores.bottom - 9, "q · k", size=SMALL)
        below = scores
        ops = {"scaled": f"÷ √d_head = ÷ {number(math.sqrt(d_head))}", "weights": "softmax of each row"}
        for name, op in ops.items():
            card = self.card(name, name, middle, below.top + GAP, named=True, kind="w" if name == "weights" else "")
            self.step(name, below, card, op)
            below = card
        output = self.card("output", "output", middle, below.top + GAP, named=True, kind="o")
        self.step("output", below, output, "· V")
        with canvas.part("output"):
            value = cards["value"]
            canvas.arrow((value.x, value.top), (value.x, output.y), (output.right, output.y), kind="v")

    def step(self, part: str, below: Box, card: Box, op: str) -> None:
        with self.canvas.part(part):
            self.canvas.arrow((card.x, below.top), (card.x, card.bottom))
            self.canvas.text(card.x + 8, card.bottom - GAP / 2, op, size=SMALL, anchor="start")

    def card(
        self, part: str, title: str, middle: float, bottom: float, *, kind: str = "", named: bool = False,
        wide: float | None = None,
    ) -> Box:  # fmt: skip
        """One table in its frame, with its title, its shape and, if ``named``, the tokens' names at its rows."""
        canvas, table = self.canvas, self.tables[part]
        between_tokens = part in ("scores", "scaled", "weights")
        names = NAME if named else 0
        shape = f"({', '.join(map(str, table.values.shape))})"
        head = width(title, 13, bold=True) + width(shape, SMALL, code=True) + 14
        wide = wide or max(names + table.columns_width, head) + 2 * EDGE
        high = HEAD + ROW * (len(table.rows) + between_tokens) + EDGE
        with canvas.part(part):
            card = canvas.box(middle - wide / 2, bottom, wide, high, kind=kind)
            y = card.top - HEAD / 2
            shown = canvas.text(card.left + EDGE + 2, y, title, anchor="start", bold=True)
            canvas.text(shown.right + 8, y, shape, size=SMALL, anchor="start", code=True)
            left = card.left + (card.width + names - table.columns_width) / 2
            y = card.top - HEAD
            if between_tokens:
                self.names_of_columns(table, left, y - ROW / 2)
                y -= ROW
            if None in table.columns:  # dots once, halfway up
                column = left + table.cell_width * table.columns.index(None) + DOTS / 2
                canvas.text(column, (y + card.bottom + EDGE) / 2, "⋯", size=SMALL)
            for i in table.rows:
                y -= ROW
                if i is None:
                    canvas.text(left - 14 if named else card.x, y + ROW / 2, "⋮", size=SMALL)
                    continue
                if named:
                    canvas.text(left - 6, y + ROW / 2, self.tokens[i], size=SMALL, anchor="end", room=NAME - 4)
                self.row_of_numbers(table, i, left, y)
                if i == self.row and part not in ("key", "value"):
                    canvas.outline(left, y + 1, table.columns_width, ROW - 2, "q")
        return card

    def names_of_columns(self, table: Table, left: float, y: float) -> None:
        for column in table.columns:
            room = DOTS if column is None else table.cell_width
            if column is not None:
                self.canvas.text(left + room / 2, y, self.columns[column], size=SMALL, room=room - 2)
            left += room

    def row_of_numbers(self, table: Table, i: int, left: float, bottom: float) -> None:
        cells = []
        for column in table.columns:
            room = DOTS if column is None else table.cell_width
            if column is not None:
                cells.append((left + room - 4, table.cell(i, column)))
                if table.name == "weights":
                    self.canvas.shade(left + 1, bottom + 1, room - 2, ROW - 2, table.values[i, column].item(), "w")
            left += room
        self.canvas.row(bottom + ROW / 2, cells)
