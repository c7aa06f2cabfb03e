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


dot_product_scores.mistake(
    "key-not-transposed",
    "A matrix product pairs the rows of the left matrix with the columns of the right one. Which part of key holds "
    "the vector of one token? With a square key no error tells you.",
    lambda query, key: query @ key,
)
dot_product_scores.mistake(
    "swapped-operands",
    "Rows should be queries and columns keys: entry (i, j) is what query i thinks of key j. Yours are the other way.",
    lambda query, key: key @ query.T,
)
dot_product_scores.mistake(
    "elementwise-product",
    "The star multiplies entry by entry, so a query meets one key only. Every query must meet every key.",
    lambda query, key: query * key,
    lambda query, key: (query * key).sum(-1),
)
dot_product_scores.mistake(
    "query-transposed",
    "You compare features with features: the result has a row for each feature. It needs a row for each query.",
    lambda query, key: query.T @ key,
)
dot_product_scores.mistake(
    "already-scaled",
    "These are dot products divided by the root of their length. Here they are wanted as they are; lesson 02 scales.",
    lambda query, key: query @ key.T / query.shape[-1] ** 0.5,
)
dot_product_scores.mistake(
    "softmax-already",
    "These are weights already: each row adds up to 1. Scores are wanted, the numbers before softmax.",
    lambda query, key: torch.softmax(query @ key.T, -1),
    lambda query, key: torch.softmax(query @ key.T / query.shape[-1] ** 0.5, -1),
)


def _stable(scores):
    return torch.exp(scores - scores.amax(-1, keepdim=True))


def _naive(scores):
    return torch.exp(scores)


softmax.mistake(
    "wrong-axis",
    "Your sums run along another axis than the last. Which numbers compete for the attention of one query? "
    "Those have to add up to 1.",
    lambda scores: torch.softmax(scores, 0),
    lambda scores: torch.softmax(scores, 1),
    lambda scores: torch.softmax(scores, -2),
    lambda scores: _naive(scores) / _naive(scores).sum(0, keepdim=True),
    lambda scores: _naive(scores) / _naive(scores).sum(1, keepdim=True),
    lambda scores: _naive(scores) / _naive(scores).sum(-2, keepdim=True),
    lambda scores: _stable(scores) / _stable(scores).sum(0, keepdim=True),
    lambda scores: _stable(scores) / _stable(scores).sum(1, keepdim=True),
    lambda scores: _stable(scores) / _stable(scores).sum(-2, keepdim=True),
)
softmax.mistake(
    "overflow",
    "Right for small scores, but exp(500) is more than float32 can hold. Softmax does not change when the same number "
    "is taken from all scores of a row: which number makes exp safe?",
    lambda scores: _naive(scores) / _naive(scores).sum(-1, keepdim=True),
)
softmax.mistake(
    "not-normalised",
    "The exponentials are there, but a row does not add up to 1 yet.",
    _naive,
    _stable,
    lambda scores: torch.exp(scores - scores.max()),
)
softmax.mistake(
    "one-sum-over-everything",
    "You divide by one sum over all rows. Each row shares out its own 100%: it needs its own sum.",
    lambda scores: _naive(scores) / _naive(scores).sum(),
    lambda scores: _stable(scores) / _stable(scores).sum(),
    lambda scores: torch.softmax(scores.flatten(), 0).view_as(scores),
)
softmax.mistake(
    "one-maximum-for-everything",
    "You take away the largest score of all. A row that lies far below it becomes 0 / 0. What is safe for every row?",
    lambda scores: (e := torch.exp(scores - scores.max())) / e.sum(-1, keepdim=True),
)
softmax.mistake(
    "no-exponential",
    "Scores divided by their sum: negative scores give negative weights. What makes every number positive first?",
    lambda scores: scores / scores.sum(-1, keepdim=True),
)
softmax.mistake(
    "keepdim-forgotten",
    "After the sum the last axis is gone, so broadcasting lines the sums up with the wrong axis. Keep it, with size 1.",
    lambda scores: _naive(scores) / _naive(scores).sum(-1),
    lambda scores: _stable(scores) / _stable(scores).sum(-1),
    lambda scores: (e := torch.exp(scores - scores.amax(-1))) / e.sum(-1),
)
softmax.mistake(
    "max-returns-two-things",
    "With dim, scores.max gives back two things: the largest values and where they stand. Which one do you want to "
    "take away? Write .values behind it, or use amax.",
    lambda scores: torch.exp(scores - scores.max(dim=-1)),
)


attend.mistake(
    "transposed-weights",
    "Row i of weights says how query i shares out its attention. You used column i.",
    lambda weights, value: weights.T @ value,
)
attend.mistake(
    "mean-not-weighted-sum",
    "Your result is a mean. The weights add up to 1 already: take each value row as often as its weight says, and add.",
    lambda weights, value: value.mean(0, keepdim=True).expand(len(weights), -1),
    lambda weights, value: value.mean(0),
    lambda weights, value: weights @ value / len(value),
)
attend.mistake(
    "swapped-operands",
    "In a matrix product the order matters. The result needs one row for each query: which matrix has those rows?",
    lambda weights, value: value @ weights,
)
attend.mistake(
    "elementwise-product",
    "The star multiplies entry by entry. Each output row mixes all value rows.",
    lambda weights, value: weights * value,
)
attend.mistake(
    "largest-weight-only",
    "You take the value with the largest weight and drop the others. Attention mixes: small weights count a little.",
    lambda weights, value: value[weights.argmax(-1)],
)
attend.mistake(
    "softmax-again",
    "The weights you are given have been through softmax. A second one flattens them.",
    lambda weights, value: weights.softmax(-1) @ value,
)
