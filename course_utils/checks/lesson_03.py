"""Exercises of lesson 03: masks. True means "may attend"."""

import torch

from course_utils import masks
from course_utils.checks.engine import exercise
from course_utils.checks.inputs import normal


@exercise(lambda: [(4,), (1,), (2,), (7,)], gradients=False)
def causal_mask(length):
    """Who may look at whom when nobody may look ahead: boolean (length, length), rows are queries."""
    return masks.causal_mask(length)


@exercise(
    lambda: [
        (torch.tensor([2, 4, 1]), 5),
        (torch.tensor([3, 0, 5, 2, 4]), 5),
        (torch.tensor([1]), 3),
        (torch.tensor([2, 3], dtype=torch.int32), 4),
    ],
    gradients=False,
)
def padding_mask(lengths, max_length):
    """True where a token is real, False where it is padding: (batch,) -> boolean (batch, max_length)."""
    return masks.padding_mask(lengths, max_length)


def _scores_mask():
    first = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 0, 0], [1, 1, 0, 1, 1]]).bool()
    level = torch.tensor([[5.0], [5.0], [6.0], [-300.0]])
    keys = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0]]).bool()
    return [
        (normal(4, 5) + level, first),
        (normal(2, 3, 5, 4, seed=1) + 5, keys[:, None, None, :]),
        (normal(2, 4, 5, seed=2, dtype=torch.float64) + level, first),
        (normal(3, 4, seed=3) + 5, keys[0]),
    ]


@exercise(_scores_mask)
def masked_softmax(scores, mask):
    """Softmax over the last axis among the True entries only; a row without any gives zeros. The mask broadcasts."""
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)
