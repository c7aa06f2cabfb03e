"""Exercises of lesson 04: many heads."""

import torch

from course_utils import attention
from course_utils.checks.engine import exercise
from course_utils.checks.inputs import matrices, normal


@exercise(
    lambda: [
        (normal(2, 5, 12), 3),
        (normal(2, 3, 12), 3),
        (normal(3, 4, 6), 2),
        (normal(1, 6, 8, dtype=torch.float64), 4),
    ]
)
def split_heads(x, n_heads):
    """Give each head its own features: (batch, length, d_model) -> (batch, heads, length, d_head)."""
    batch, length, d_model = x.shape
    return x.view(batch, length, n_heads, d_model // n_heads).transpose(1, 2)


@exercise(
    lambda: [
        (normal(2, 3, 5, 4),),
        (normal(2, 3, 3, 4),),
        (normal(3, 2, 4, 5, dtype=torch.float64),),
    ]
)
def merge_heads(x):
    """Put the heads side by side again: (batch, heads, length, d_head) -> (batch, length, d_model)."""
    return x.transpose(1, 2).flatten(-2)


@exercise(
    lambda: [
        (*matrices((2, 5, 12), *[(12, 12)] * 4, size=0.4), 3),
        (*matrices((3, 4, 6), *[(6, 8)] * 3, (8, 5), size=0.6), 2),
        (*matrices((1, 3, 8), *[(8, 8)] * 4, size=0.5, dtype=torch.float64), 4),
    ]
)
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    """Self-attention with several heads: x (batch, length, d_model); weights used as x @ w, no bias, no mask."""
    query, key, value = (split_heads.reference(x @ w, n_heads) for w in (w_q, w_k, w_v))
    heads, _ = attention.scaled_dot_product_attention(query, key, value)
    return merge_heads.reference(heads) @ w_o
