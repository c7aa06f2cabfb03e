"""Exercises of lesson 05: word order."""

import math

import torch

from course_utils import embeddings
from course_utils.checks.engine import exercise
from course_utils.checks.inputs import matrices


@exercise(lambda: [(10, 8), (5, 2), (1, 6), (60, 16)], gradients=False)
def sinusoidal_positions(length, d_model):
    """The paper's table of positions: float32 (length, d_model), sines in even columns, cosines in odd ones."""
    return embeddings.sinusoidal_positions(length, d_model)


@exercise(
    lambda: [
        matrices((2, 5, 6), (9, 6)),
        matrices((5, 5, 6), (7, 6)),
        matrices((4, 6), (4, 6)),
        matrices((2, 3, 4, 6), (8, 6)),
        matrices((3, 4, 2), (5, 2), dtype=torch.float64),
    ]
)
def add_positions(x, positions):
    """Add row t of the table to token t: (..., length, d_model), (at least length, d_model) -> the shape of x."""
    return x + positions[: x.shape[-2]]


def _table(length, d_model, exponent=lambda column: column, start=0, factor=1.0, base=10000.0):
    """The table with ``exponent(first column of the pair)`` where the right one has that column."""
    position = torch.arange(start, start + length, dtype=torch.float64)[:, None]
    angle = position * factor / base ** (exponent(torch.arange(0, d_model, 2, dtype=torch.float64)) / d_model)
    return angle.sin(), angle.cos()


def _interleave(sines, cosines):
    return torch.stack([sines, cosines], dim=-1).flatten(-2).float()


def _fast(length, speeds):
    angle = torch.arange(length)[:, None] * speeds
    return _interleave(angle.sin(), angle.cos())


_declare = sinusoidal_positions.mistake
_declare(
    "exponent-doubled",
    "Your waves slow down twice as fast as the paper's. Does your i count columns by twos, and is it doubled again?",
    lambda length, d: _interleave(*_table(length, d, lambda column: 2 * column)),
)
_declare(
    "exponent-halved",
    "Your waves slow down too little: does your i count pairs, with the 2 of the formula missing?",
    lambda length, d: _interleave(*_table(length, d, lambda column: column / 2)),
)
_declare(
    "sine-and-cosine-differ",
    "A sine and the cosine beside it must share one frequency. In yours the cosine's exponent has moved on.",
    lambda length, d: _interleave(_table(length, d)[0], _table(length, d, lambda column: column + 1)[1]),
    lambda length, d: _interleave(_table(length, d)[0], _table(length, d, lambda column: column + 2)[1]),
    lambda length, d: _interleave(
        _table(length, d, lambda column: 2 * column)[0], _table(length, d, lambda column: 2 * (column + 1))[1]
    ),
    lambda length, d: _interleave(
        _table(length, d, lambda column: 2 * column)[0], _table(length, d, lambda column: 2 * column + 1)[1]
    ),
)
_declare(
    "halves-not-interleaved",
    "All sines first, then all cosines: some models do so, but the paper puts each cosine beside its sine.",
    lambda length, d: torch.cat(_table(length, d), dim=-1).float(),
)
_declare(
    "cosine-first",
    "Sines belong in the even columns, cosines in the odd ones. Count the columns from 0.",
    lambda length, d: _interleave(*_table(length, d)[::-1]),
)
_declare(
    "starts-at-one",
    "Your first row belongs to position 1. Positions count from 0.",
    lambda length, d: _interleave(*_table(length, d, start=1)),
)
_declare(
    "degrees",
    "Your angles are turned from degrees, or into them. torch.sin takes radians, and the formula gives radians.",
    lambda length, d: _interleave(*_table(length, d, factor=math.pi / 180)),
    lambda length, d: _interleave(*_table(length, d, factor=180 / math.pi)),
)
_declare(
    "multiplied-by-the-power",
    "Your hands turn faster from pair to pair. They should turn more slowly: is the power divided by, or its exponent "
    "negative?",
    lambda length, d: _interleave(*_table(length, d, lambda column: -column)),
    lambda length, d: _fast(length, 10000 ** (torch.arange(0, d, 2) / d)),  # such angles show float32's rounding
    lambda length, d: _fast(length, torch.exp(torch.arange(0, d, 2) * (math.log(10000) / d))),
)
_declare(
    "exponent-not-divided",
    "Your first hand turns, the others hardly move. The exponent is 2i divided by d_model: it stays below 1.",
    lambda length, d: _interleave(*_table(length, d, lambda column: column * d * d)),
    lambda length, d: _interleave(*_table(length, d, lambda column: column * d)),
)
_declare(
    "another-base",
    "All your speeds but the first are wrong, as if the base were not 10000. Count its zeros.",
    lambda length, d: _interleave(*_table(length, d, base=1000.0)),
    lambda length, d: _interleave(*_table(length, d, base=100000.0)),
)
_declare(
    "angle-not-scaled",
    "All pairs of columns turn at the same speed. What makes each pair slower than the one before?",
    lambda length, d: _interleave(*_table(length, d, lambda column: 0 * column)),
)


def _rows(x, positions, start=0):
    return positions[start : start + x.shape[-2]]


_declare = add_positions.mistake
_declare(
    "along-the-batch-axis",
    "The position changes from sequence to sequence, not from token to token. Which axis counts the tokens?",
    lambda x, positions: x + positions[: x.shape[0], None],
    lambda x, positions: x + positions[: x.shape[0]].unsqueeze(1),
    lambda x, positions: x + positions[: len(x)],
)
_declare(
    "length-from-axis-1",
    "Right for (batch, length, d_model). There may be more leading axes, or none: count the axes from the end.",
    lambda x, positions: x + positions[: x.shape[1]],
)
_declare(
    "multiplied",
    "The table is multiplied in. Where it holds a 0, the word is lost.",
    lambda x, positions: x * _rows(x, positions),
)
_declare(
    "x-scaled",
    "You multiply x before adding. The paper does so when it embeds words; here x is taken as it is.",
    lambda x, positions: x * x.shape[-1] ** 0.5 + _rows(x, positions),
    lambda x, positions: (x + _rows(x, positions)) * x.shape[-1] ** 0.5,
)
_declare(
    "table-not-cut",
    "The table may be longer than the text. How many of its rows are needed?",
    lambda x, positions: x + positions,
)
_declare(
    "wrong-rows",
    "The first token needs the first row of the table. Yours start later.",
    lambda x, positions: x + positions[-x.shape[-2] :],
    lambda x, positions: x + _rows(x, positions, start=1),
)
_declare(
    "concatenated",
    "You put the position beside the word, and the vectors grow. Add them: the width stays.",
    lambda x, positions: torch.cat([x, _rows(x, positions).expand_as(x)], dim=-1),
)
_declare(
    "positions-forgotten",
    "The result is x itself.",
    lambda x, positions: x,
)
