"""The boxes *With bert-base-uncased*: what somebody printed, beside what the same model gives here."""

import os
from collections.abc import Sequence

import torch

from lesson_kit import pretrained
from lesson_kit.show.matrices import Matrix, matrix

ROUNDING = 0.6  # of the last printed digit: half a unit, and a little for another machine's arithmetic


def bert_base_or_none() -> pretrained.PretrainedBert | None:
    """bert-base-uncased, or None and one printed sentence if it can't be had.

    Raises:
        ConnectionError: it can't be had, and the environment variable COURSE_BOXES says "required".
    """
    try:
        return pretrained.bert_base()
    except ConnectionError as reason:
        if os.environ.get("COURSE_BOXES") == "required":
            raise
        print(f"This box needs bert-base-uncased, which is not on this machine, and {reason}: it stays empty.")
        return None


def beside(printed: Sequence[Sequence[str]], measured, rows: Sequence[str], columns: Sequence[str],
           title: str) -> Matrix:  # fmt: skip
    """A table with two rows for each of ``rows``: as published, and as measured here, with as many digits.

    printed: strings as they were printed. measured: numbers, a tensor or lists, of the same shape.

    Raises:
        ValueError: the shapes differ.
        AssertionError: a measured value does not round to the printed one; the message holds the table.
    """
    measured = torch.as_tensor(measured, dtype=torch.float64).tolist()
    if [len(row) for row in printed] != [len(row) for row in measured]:
        raise ValueError(f"printed has rows of {[*map(len, printed)]}, measured of {[*map(len, measured)]}")
    cells, names, apart = [], [], []
    for name, there, here in zip(rows, printed, measured, strict=True):
        digits = [len(value.partition(".")[2]) for value in there]
        cells += [list(there), [f"{value:.{n}f}" for value, n in zip(here, digits, strict=True)]]
        names += [f"{name}, published", f"{name}, here"]
        for value, got, n, column in zip(there, here, digits, columns, strict=True):
            if not abs(got - float(value)) <= ROUNDING * 10**-n:
                apart.append(f"{name}, {column}: published {value}, here {got:.{n + 2}f}")
    table = matrix(cells, rows=names, columns=columns, title=title)
    if apart:
        raise AssertionError(f"{table}\n\nMore apart than rounding allows: {'; '.join(apart)}")
    return table
