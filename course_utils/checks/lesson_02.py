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
