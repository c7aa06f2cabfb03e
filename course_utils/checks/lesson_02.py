"""Exercises of lesson 02: scaled dot-product attention."""

import torch

from course_utils import attention
from course_utils.checks.engine import exercise
from course_utils.checks.inputs import matrices, normal


@exercise(
    lambda: [
        matrices((3, 4), (5, 4), (5, 6)),
        matrices((2, 3, 8), (2, 5, 8), (2, 5, 6), size=0.8),
        matrices((2, 4, 3, 6), (2, 4, 5, 6), (2, 4, 5, 7)),
        matrices((4, 4), (4, 4), (4, 4)),
        matrices((3, 2, 5), (3, 7, 5), (3, 7, 4), dtype=torch.float64),
    ]
)
def scaled_dot_product_attention(query, key, value):
    """softmax(Q K^T / sqrt(d_k)) V: (..., queries, d_k), (..., keys, d_k), (..., keys, d_v) -> (..., queries, d_v)."""
    return attention.scaled_dot_product_attention(query, key, value)[0]


@exercise(
    lambda: [
        (normal(3, 5), 0.5),
        (normal(3, 5), 2.0),
        (normal(4), 0.7),
        (normal(2, 3, 4, dtype=torch.float64), 3.0),
        (normal(2, 3) + torch.tensor([[300.0], [-300.0]]), 0.8),
    ]
)
def softmax_with_temperature(scores, temperature):
    """Softmax over the last axis, flatter for a temperature above 1, sharper below: (..., n) -> (..., n)."""
    return torch.softmax(scores / temperature, dim=-1)


def _scores(query, key):
    return query @ key.transpose(-2, -1)


def _scaled_by(width):
    """Attention whose scores are divided by ``width(query, key, value)``."""
    return lambda q, k, v: torch.softmax(_scores(q, k) / width(q, k, v), dim=-1) @ v


def _along(axis):
    """Attention whose softmax runs along another axis."""
    return lambda q, k, v: torch.softmax(_scores(q, k) / q.shape[-1] ** 0.5, dim=axis) @ v


def _with_transpose(transpose):
    """Attention with another idea of how to transpose the keys."""
    return lambda q, k, v: torch.softmax(q @ transpose(k) / q.shape[-1] ** 0.5, dim=-1) @ v


_declare = scaled_dot_product_attention.mistake
_declare(
    "no-scale",
    "The scores are not scaled. Their variance grows with d_k, and softmax saturates: what brings it back to 1?",
    lambda q, k, v: torch.softmax(_scores(q, k), dim=-1) @ v,
)
_declare(
    "divided-by-d-k",
    "You divide by too much: the weights come out too even. If the variance is d_k, what is the standard deviation?",
    _scaled_by(lambda q, k, v: q.shape[-1]),
)
_declare(
    "scaled-by-value-width",
    "You scale by the width of the values. A score is a sum over the features of which two vectors?",
    _scaled_by(lambda q, k, v: v.shape[-1] ** 0.5),
)
_declare(
    "scaled-by-number-of-keys",
    "You scale by the number of keys. A score is one dot product: how many terms does it add up?",
    _scaled_by(lambda q, k, v: k.shape[-2] ** 0.5),
)
_declare(
    "scaled-by-first-axis",
    "You scale by a size that counts queries, keys or batches: len(x) and shape[0] look at the first axis. "
    "Which axis holds the features?",
    _scaled_by(lambda q, k, v: q.shape[-2] ** 0.5),
    _scaled_by(lambda q, k, v: len(q) ** 0.5),
    _scaled_by(lambda q, k, v: len(k) ** 0.5),
    _scaled_by(lambda q, k, v: q.shape[1] ** 0.5),
)
_declare(
    "scaled-after-softmax",
    "You scale the weights, so they no longer add up to 1. Scaling is there to help softmax: when must it happen?",
    lambda q, k, v: torch.softmax(_scores(q, k), dim=-1) / q.shape[-1] ** 0.5 @ v,
)
_declare(
    "multiplied-by-root",
    "You make the scores larger. Scaling is there to make them smaller; check the order of operations too.",
    _scaled_by(lambda q, k, v: q.shape[-1] ** -0.5),
)
_declare(
    "wrong-axis",
    "Your softmax runs along the wrong axis. The weights of one query, over all keys, add up to 1.",
    _along(0),
    _along(1),
    _along(-2),
)
_declare(
    "value-inside-softmax",
    "The values went into the softmax. First decide how much to look where, then mix: V comes last.",
    lambda q, k, v: torch.softmax(_scores(q, k) / q.shape[-1] ** 0.5 @ v, dim=-1),
    lambda q, k, v: torch.softmax(_scores(q, k) @ v / q.shape[-1] ** 0.5, dim=-1),
)
_declare(
    "transpose-ignores-the-batch",
    "Your transpose is right for one matrix, but the inputs may have batch axes in front. Swap the last two axes only.",
    _with_transpose(lambda k: k.permute(*range(k.dim() - 1, -1, -1))),
    _with_transpose(lambda k: k.transpose(0, 1)),
    _with_transpose(lambda k: k.transpose(1, 2)),
    _with_transpose(lambda k: k.t()),
)
_declare(
    "key-not-transposed",
    "The keys are not transposed. With square matrices no error tells you; what does entry (i, j) of q @ k mean?",
    _with_transpose(lambda k: k),
)
_declare(
    "no-softmax",
    "The scores go straight to the values. What turns a row of scores into shares that add up to 1?",
    lambda q, k, v: _scores(q, k) / q.shape[-1] ** 0.5 @ v,
)
_declare(
    "returns-the-weights",
    "These are the attention weights, and they are right. One step is left: what are they weights of?",
    lambda q, k, v: torch.softmax(_scores(q, k) / q.shape[-1] ** 0.5, dim=-1),
)


_declare = softmax_with_temperature.mistake
_declare(
    "multiplied",
    "Your temperature works backwards: hotter should mean flatter, closer to equal shares.",
    lambda scores, t: torch.softmax(scores * t, dim=-1),
)
_declare(
    "applied-after-softmax",
    "You apply the temperature to the weights, so a row no longer adds up to 1. It belongs to the scores.",
    lambda scores, t: torch.softmax(scores, dim=-1) / t,
    lambda scores, t: torch.softmax(scores, dim=-1) * t,
)
_declare(
    "temperature-ignored",
    "The result does not depend on the temperature.",
    lambda scores, t: torch.softmax(scores, dim=-1),
)
_declare(
    "wrong-axis",
    "Your softmax runs along another axis than the last.",
    lambda scores, t: torch.softmax(scores / t, dim=0),
    lambda scores, t: torch.softmax(scores / t, dim=1),
    lambda scores, t: torch.softmax(scores / t, dim=-2),
)
_declare(
    "overflow",
    "Right for small scores, but the exponential of a large one is more than float32 can hold. "
    "Your softmax of lesson 01 was safe.",
    lambda scores, t: (e := torch.exp(scores / t)) / e.sum(-1, keepdim=True),
)
