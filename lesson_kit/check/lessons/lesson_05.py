"""Exercises of lesson 05: word order."""

import math

import torch

from course_utils import embeddings
from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import matrices


@exercise(lambda: [(10, 8), (5, 2), (1, 6), (200, 18)], gradients=False)
def sinusoidal_positions(length, d_model):
    """The paper's table of positions: float32 (length, d_model), sines in even columns, cosines in odd ones."""
    return embeddings.sinusoidal_positions(length, d_model)


@exercise(
    lambda: [
        matrices((2, 5, 6), (9, 6)),
        matrices((5, 5, 6), (7, 6)),
        matrices((4, 2), (4, 2)),
        matrices((2, 3, 4, 6), (8, 6)),
        matrices((2, 1, 4, 6), (8, 6)),  # one row instead of four is stretched, and raises nothing
        matrices((4, 1, 8), (6, 8)),  # so is one token, to the length of the table
        matrices((1, 4, 4), (6, 4)),
        matrices((3, 4, 2), (5, 2), dtype=torch.float64),
    ]
)
def add_positions(x, positions):
    """Add row t of the table to token t: (..., length, d_model), (at least length, d_model) -> the shape of x."""
    return x + positions[: x.shape[-2]]


def _same(x):
    return x


def _interleaved(sines, cosines):
    return torch.stack([sines, cosines], dim=-1).flatten(-2)


def _table(
    exponent=_same, step=0, base=10000.0, start=0, factor=1.0, order=_interleaved, turn=_same, dtype=torch.float64
):
    """The paper's table with changes. ``exponent``: from the first column of each pair; ``step``: the cosine's is that
    of so many columns further on."""

    def sinusoidal_positions(length, d_model):
        position = torch.arange(start, start + length, dtype=dtype)[:, None]
        column = torch.arange(0, d_model, 2, dtype=dtype)
        sine, cosine = (position * factor / base ** (exponent(c) / d_model) for c in (column, column + step))
        return turn(order(sine.sin(), cosine.cos())).float()

    return sinusoidal_positions


def _fast(speeds):
    """Angles in float32, as they come from arange: large ones show its rounding."""

    def sinusoidal_positions(length, d_model):
        angle = torch.arange(length)[:, None] * speeds(d_model)
        return _interleaved(angle.sin(), angle.cos())

    return sinusoidal_positions


sinusoidal_positions.mistake(
    "exponent-doubled",
    (
        "Your waves slow down twice as fast as the paper's. Does your i count columns by twos, and is it doubled "
        "again?",
        "With d_model 8 the exponents of the four pairs are 0, 2/8, 4/8 and 6/8. Print yours. In the formula i counts "
        "pairs: 0, 1, 2, 3.",
    ),
    _table(lambda column: 2 * column),
)
sinusoidal_positions.mistake(
    "exponent-halved",
    (
        "Your waves slow down too little: does your i count pairs, with the 2 of the formula missing?",
        "With d_model 8 the exponents of the four pairs are 0, 2/8, 4/8 and 6/8. Print yours.",
    ),
    _table(lambda column: column / 2),
)
sinusoidal_positions.mistake(
    "sine-and-cosine-differ",
    (
        "A sine and the cosine beside it must share one frequency. In yours the cosine's exponent has moved on.",
        "Columns 2 and 3 are the two hands of one clock: sine squared plus cosine squared is 1 in every row. Is it in "
        "yours? Print the exponent of each column.",
    ),
    _table(step=1),
    _table(step=2),
    lambda length, d: _interleaved(
        _table(lambda column: 2 * column)(length, d)[:, 0::2], _table(lambda column: 2 * column + 1)(length, d)[:, 1::2]
    ),
)
sinusoidal_positions.mistake(
    "halves-not-interleaved",
    (
        "All sines first, then all cosines: some models do so, but the paper puts each cosine beside its sine.",
        "Print row 0. Sines of 0 are 0 and cosines of 0 are 1, so it should read 0, 1, 0, 1 and so on.",
    ),
    _table(order=lambda sines, cosines: torch.cat([sines, cosines], -1)),
)
sinusoidal_positions.mistake(
    "cosine-first",
    (
        "Sines belong in the even columns, cosines in the odd ones. Count the columns from 0.",
        "Print row 0. Sines of 0 are 0 and cosines of 0 are 1: what should its first number be?",
    ),
    _table(order=lambda sines, cosines: _interleaved(cosines, sines)),
)
sinusoidal_positions.mistake(
    "no-cosine",
    (
        "There is no cosine in your table: the odd columns hold sines too, or were never filled.",
        "Print row 0. It should read 0, 1, 0, 1 and so on; where would a 1 come from?",
    ),
    _table(order=lambda sines, cosines: sines.repeat_interleave(2, -1)),
    _table(order=lambda sines, cosines: _interleaved(sines, 0 * cosines)),
    lambda length, d: _interleaved(_table()(length, d)[:, 0::2], _table(lambda column: column + 1)(length, d)[:, 0::2]),
)
sinusoidal_positions.mistake(
    "starts-at-one",
    (
        "Your first row belongs to position 1. Positions count from 0.",
        "Print row 0: at position 0 all angles are 0. Are your sines there 0?",
    ),
    _table(start=1),
)
sinusoidal_positions.mistake(
    "degrees",
    (
        "Your angles are turned from degrees, or into them. torch.sin takes radians, and the formula gives radians.",
        "Row 1, column 0 is the sine of 1, about 0.84. The sine of one degree is about 0.017.",
    ),
    _table(factor=math.pi / 180),
    _table(factor=180 / math.pi),
    _table(factor=180 / math.pi, dtype=torch.float32),
)
sinusoidal_positions.mistake(
    "full-turns",
    (
        "Your angles are multiplied by pi or by two pi. The paper's hands turn by one radian in a step, not by a turn.",
        "Row 1, column 0 is the sine of 1, about 0.84. What is yours the sine of?",
    ),
    _table(factor=2 * math.pi),
    _table(factor=math.pi),
)
sinusoidal_positions.mistake(
    "multiplied-by-the-power",
    (
        "Your hands turn faster from pair to pair. They should turn more slowly: is the power divided by, or its "
        "exponent negative?",
        "Print the angles of row 1. They should fall from 1 towards 0.0001; do yours grow?",
    ),
    _table(lambda column: -column),
    _fast(lambda d: 10000 ** (torch.arange(0, d, 2) / d)),
    _fast(lambda d: torch.exp(torch.arange(0, d, 2) * (math.log(10000) / d))),
)
sinusoidal_positions.mistake(
    "exponent-not-divided",
    (
        "Your first hand turns, the others hardly move. The exponent is 2i divided by d_model: it stays below 1.",
        "Print the exponents for d_model 8: is the largest 6/8, or 6?",
    ),
    _table(lambda column: column * 64),
    _fast(lambda d: 1 / 10000.0 ** torch.arange(0, d, 2)),
)
sinusoidal_positions.mistake(
    "another-base",
    (
        "All your speeds but the first are wrong, as if the base were not 10000. Count its zeros.",
        "If you go by way of exp and a logarithm: it has to be the natural one, and the log of 10000 is about 9.21.",
    ),
    _table(base=1000.0),
    _table(base=100000.0),
    _table(base=math.e**4),
)
sinusoidal_positions.mistake(
    "angle-not-scaled",
    (
        "All pairs of columns turn at the same speed. What makes each pair slower than the one before?",
        "Print row 1: the sines in columns 0, 2 and 4 should be 0.84, then smaller and smaller. Where does the column "
        "come into your angle?",
    ),
    _table(lambda column: 0 * column),
)
sinusoidal_positions.mistake(
    "axes-exchanged",
    (
        "The table lies on its side: a row belongs to a position, a column to a feature.",
        "For 5 positions and d_model 8 the table is 5 by 8. Which of your two counts stands upright, as a column?",
    ),
    _table(turn=torch.t),
)
sinusoidal_positions.together(
    _table,
    {  # some name an option only to be kept apart from what would give the same numbers
        "exponent-doubled": {"exponent": lambda column: 2 * column},
        "exponent-halved": {"exponent": lambda column: column / 2},
        "sine-and-cosine-differ": {"step": 1},
        "halves-not-interleaved": {"order": lambda sines, cosines: torch.cat([sines, cosines], -1)},
        "cosine-first": {"order": lambda sines, cosines: _interleaved(cosines, sines)},
        "no-cosine": {"order": lambda sines, cosines: sines.repeat_interleave(2, -1), "step": 0},
        "starts-at-one": {"start": 1},
        "degrees": {"factor": math.pi / 180},
        "full-turns": {"factor": 2 * math.pi},
        "multiplied-by-the-power": {"exponent": lambda column: -column},
        "another-base": {"base": 1000.0},
        "angle-not-scaled": {"exponent": lambda column: 0 * column, "base": 10000.0, "step": 0},
        "axes-exchanged": {"turn": torch.t},
    },
)


@sinusoidal_positions.sight
def _(candidate):
    from lesson_kit import show

    table, apart = candidate(40, 64), [0, 1, 2, 4, 8]
    products = torch.stack([torch.stack([table[p] @ table[p + k] for k in apart]) for p in (0, 10, 30)])
    rows = [f"position {p}" for p in (0, 10, 30)]
    columns = ["itself", *(f"{k} further on" for k in apart[1:])]
    title = "Your rows, multiplied with one another: what counts is how far apart they are, not where"
    return show.matrix(products, rows, columns, title)


def _rows(x, positions):
    return positions[: x.shape[-2]]


def _concatenated(x, rows):
    return torch.cat([x, rows.expand_as(x)], dim=-1)


def _scaled(x):
    return x * x.shape[-1] ** 0.5


def _added(rows=_rows, join=torch.add, word=_same):
    """Which rows of the table, how they meet x, and what is done to x before."""
    return lambda x, positions: join(word(x), rows(x, positions))


add_positions.mistake(
    "along-the-batch-axis",
    (
        "The position changes from sequence to sequence, not from token to token. Which axis counts the tokens?",
        "Put the same sentence into a batch twice. Both should come out the same; yours differ. Print the shape of "
        "what you add: which of its axes stands below the tokens of x, counted from the right?",
    ),
    _added(lambda x, positions: positions[: x.shape[0], None]),
    _added(lambda x, positions: positions[: x.shape[0]].unsqueeze(1)),
    _added(lambda x, positions: positions[: len(x)]),
)
add_positions.mistake(
    "length-from-axis-1",
    (
        "Right for (batch, length, d_model). There may be more leading axes, or none: count the axes from the end.",
        "Write down the shapes (4, 6), (2, 4, 6) and (2, 3, 4, 6), all with 4 tokens. From the right, which place is "
        "it in all three?",
    ),
    _added(lambda x, positions: positions[: x.shape[1]]),
)
add_positions.mistake(
    "length-from-the-features",
    (
        "You cut the table to as many rows as x has features. It wants as many as x has tokens.",
        "For x of shape (2, 5, 6), print the shape of the rows that you add: are there 5 or 6?",
    ),
    _added(lambda x, positions: positions[: x.shape[-1]]),
)
add_positions.mistake(
    "one-row-for-all",
    (
        "Every token gets the same row of the table, so the order still leaves no trace.",
        "Print the shape of what you add: for 5 tokens there should be 5 rows. A colon in the square brackets makes "
        "the difference between row 5 and the rows before it.",
    ),
    _added(lambda x, positions: positions[0]),
    _added(lambda x, positions: positions[x.shape[-2] - 1]),
    _added(lambda x, positions: positions[x.shape[-2]]),
)
add_positions.mistake(
    "multiplied",
    (
        "The table is multiplied in. Where it holds a 0, the word is lost.",
        "Row 0 of a table of sines and cosines is 0, 1, 0, 1 and so on. What is left of a word at position 0?",
    ),
    _added(join=torch.mul),
)
add_positions.mistake(
    "x-scaled",
    (
        "You multiply x before adding. The paper does so when it embeds words; here x is taken as it is.",
        "With a table of zeros you should get x back. What do you get?",
    ),
    _added(word=_scaled),
    lambda x, positions: (x + _rows(x, positions)) * x.shape[-1] ** 0.5,
)
add_positions.mistake(
    "table-not-cut",
    (
        "The table may be longer than the text. How many of its rows are needed?",
        "A table of 9 rows meets 5 tokens. Which 5 rows belong to the tokens 0 to 4?",
    ),
    _added(lambda x, positions: positions),
)
add_positions.mistake(
    "wrong-rows",
    (
        "The first token needs the first row of the table. Yours start later.",
        "With 2 tokens and a table of 5 rows, which rows do you take? They should be 0 and 1.",
    ),
    _added(lambda x, positions: positions[-x.shape[-2] :]),
    _added(lambda x, positions: positions[1 : 1 + x.shape[-2]]),
)
add_positions.mistake(
    "rows-backwards",
    (
        "The right rows, in the wrong order: your last token gets row 0.",
        "With 2 tokens, which row does the first one get?",
    ),
    _added(lambda x, positions: _rows(x, positions).flip(0)),
)
add_positions.mistake(
    "concatenated",
    (
        "You put the position beside the word, and the vectors grow. Add them: the width stays.",
        "A token of 6 features and a row of 6 numbers make a vector of 6. How long is yours?",
    ),
    _added(join=_concatenated),
)
add_positions.mistake(
    "positions-forgotten",
    (
        "The result is x itself.",
        "Change the numbers of positions: nothing changes. Is the sum what you return, or only computed on the way?",
    ),
    lambda x, positions: x,
)
add_positions.together(
    _added,
    {
        "along-the-batch-axis": {"rows": lambda x, positions: positions[: x.shape[0], None]},
        "length-from-axis-1": {"rows": lambda x, positions: positions[: x.shape[1]]},
        "length-from-the-features": {"rows": lambda x, positions: positions[: x.shape[-1]]},
        "one-row-for-all": {"rows": lambda x, positions: positions[0]},
        "multiplied": {"join": torch.mul},
        "x-scaled": {"word": _scaled},
        "table-not-cut": {"rows": lambda x, positions: positions},
        "wrong-rows": {"rows": lambda x, positions: positions[1 : 1 + x.shape[-2]]},
        "rows-backwards": {"rows": lambda x, positions: _rows(x, positions).flip(0)},
        "concatenated": {"join": _concatenated},
    },
)


@add_positions.sight
def _(candidate):
    from lesson_kit import show

    same = torch.tensor([[0.5, -1.0, 2.0, 1.0]]).expand(3, -1)
    rows = candidate(same.clone(), sinusoidal_positions.reference(8, 4))
    names = [f"bank, position {t}" for t in range(3)]
    return show.matrix(rows, names, title="Your sum: three times the same word, three different vectors")
