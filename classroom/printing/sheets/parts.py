"""What a worksheet is made of: steps, formulas, and tables with boxes to fill in.

One description gives the question sheet and the answer sheet. Given numbers are those of the lesson; answers are
computed with the course's own functions. ``Table.printed`` names the table of the lesson that shows the same numbers:
a test compares the two.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Box:
    """An empty box; on the answer sheet it holds ``answer``."""

    answer: str


@dataclass(frozen=True)
class Table:
    """``entries`` has one list for each row; a string is given, a ``Box`` is to be filled in."""

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    entries: Sequence[Sequence[str | Box]]
    printed: str = ""


@dataclass(frozen=True)
class Step:
    """A heading, what to do, the tables side by side, how to check the result, and empty lines to write on.

    ``answer``: to what is asked in words; the answer sheet has it on the lines.
    """

    title: str
    text: str
    tables: Sequence[Table] = ()
    check: str = ""
    lines: int = 0
    answer: str = ""


@dataclass(frozen=True)
class Sheet:
    """A lesson's worksheet. Formulas stand between dollar signs, in LaTeX."""

    title: str
    introduction: str
    steps: Sequence[Step]


def written(value: float, digits: int = 0) -> str:
    """As on paper: the minus sign is one, and nothing is minus nought."""
    text = f"{float(value):.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def given(values: Tensor, digits: int = 0) -> list[list[str]]:
    """A matrix of numbers that the learner reads."""
    return [[written(value, digits) for value in row] for row in values.tolist()]


def boxes(values: Tensor, digits: int = 0) -> list[list[Box]]:
    """A matrix of numbers that the learner finds."""
    return [[Box(value) for value in row] for row in given(values, digits)]


def lookup(title: str, steps: int, divisor: float, printed: str = "") -> Table:
    """The two weights that softmax gives for a difference n of two dot products, which are divided by ``divisor``."""
    n = torch.arange(steps, dtype=torch.float64)[:, None] / divisor
    pairs = torch.cat([n, torch.zeros_like(n)], dim=1).softmax(dim=-1)
    return Table(title, ["larger", "smaller"], [f"$n = {i}$" for i in range(steps)], given(pairs, 3), printed)


def powers(exponents: Tensor, digits: int) -> Table:
    """A table of the powers of e that a step needs."""
    exponents = torch.unique(exponents.flatten()).flip(0)
    columns = [written(value, 2).removesuffix(".00") for value in exponents]
    return Table("Powers of $e$", columns, ["$e$ to this power"], given(exponents.exp()[None], digits))


FEATURES = ["feature 1", "feature 2"]
DIFFERENCE = "Softmax sees only their difference. Let $n$ be the larger one minus the smaller one. "
PAIR = "Look up the pair of weights for your $n$; the larger weight belongs to the larger number."
