"""Exercises of lesson 01: two tokens, by hand."""

import torch

from course_utils.checks.engine import exercise
from course_utils.checks.inputs import normal


def _query_key():
    return [
        (normal(2, 2), normal(2, 2, seed=1)),
        (normal(3, 4), normal(5, 4, seed=1)),
        (normal(4, 3), normal(4, 3, seed=1)),
        (normal(3, 3, dtype=torch.float64), normal(3, 3, seed=1, dtype=torch.float64)),
    ]


@exercise(_query_key)
def dot_product_scores(query, key):
    """Every query's dot product with every key: (queries, d) and (keys, d) -> (queries, keys)."""
    return query @ key.T


@exercise(
    lambda: [
        (normal(4),),
        (normal(3, 5, size=2),),
        (normal(2, 3, 4),),
        (normal(2, 5, 3, 4, dtype=torch.float64),),
        (normal(4, 3) + torch.tensor([[500.0], [-500.0], [0.0], [90.0]]),),
    ]
)
def softmax(scores):
    """Softmax over the last axis, for scores of any size: (..., n) -> (..., n)."""
    return torch.softmax(scores, dim=-1)


def _weights_value():
    return [
        (normal(3, 5).softmax(-1), normal(5, 4, seed=1)),
        (normal(3, 3).softmax(-1), normal(3, 4, seed=1)),
        (normal(4, 4).softmax(-1), normal(4, 4, seed=1)),
        (normal(2, 3, dtype=torch.float64).softmax(-1), normal(3, 2, seed=1, dtype=torch.float64)),
    ]


@exercise(_weights_value)
def attend(weights, value):
    """Mix the value rows in the proportions of each row of weights: (queries, keys), (keys, d) -> (queries, d)."""
    return weights @ value
