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


_declare = split_heads.mistake
_declare(
    "view-without-transpose",
    "The shape is right, the numbers are not: view only counts through memory, so a head gets a stretch of the "
    "sentence instead of a part of each token. First cut the last axis in two, then move an axis.",
    lambda x, n: x.reshape(x.shape[0], n, x.shape[1], -1),
)
_declare(
    "not-transposed",
    "The features are cut rightly, but the heads stand behind the tokens. Which axes have to change places?",
    lambda x, n: x.unflatten(-1, (n, -1)),
)
_declare(
    "splits-the-sequence",
    "You deal the tokens out to the heads. Every head sees all tokens, and a part of their features.",
    lambda x, n: x.reshape(x.shape[0], n, x.shape[1] // n, x.shape[2]),
    lambda x, n: torch.stack(x.chunk(n, dim=1), dim=1),
)
_declare(
    "heads-and-features-swapped",
    "Head and feature axes are swapped: head 0 should get the first d_head features, side by side.",
    lambda x, n: x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2),
    lambda x, n: x.unflatten(-1, (n, -1)).permute(0, 3, 1, 2),
    lambda x, n: x.unflatten(-1, (n, -1)).permute(0, 2, 3, 1),
)


_declare = merge_heads.mistake
_declare(
    "view-without-transpose",
    "The shape is right, the numbers are not: in memory the heads come before the tokens. Move an axis first.",
    lambda x: x.reshape(x.shape[0], x.shape[2], -1),
)
_declare(
    "sum-over-heads",
    "You add the heads up, and d_model shrinks to d_head. Put them side by side: each keeps its own features.",
    lambda x: x.sum(1),
)
_declare(
    "mean-over-heads",
    "You average the heads, and d_model shrinks to d_head. Put them side by side: each keeps its own features.",
    lambda x: x.mean(1),
)
_declare(
    "heads-and-features-swapped",
    "Head and feature axes are swapped: all features of head 0 come first, then all of head 1.",
    lambda x: x.permute(0, 2, 3, 1).flatten(-2),
)
_declare(
    "not-merged",
    "The axes are in the right order, but heads and features are two axes still.",
    lambda x: x.transpose(1, 2),
)


def _attend(query, key, value, width, axis=-1):
    return torch.softmax(query @ key.transpose(-2, -1) / width**0.5, dim=axis) @ value


def _heads(x, w_q, w_k, w_v, n, width=None, split=split_heads.reference, axis=-1):
    query, key, value = (split(x @ w, n) for w in (w_q, w_k, w_v))
    return _attend(query, key, value, width or query.shape[-1], axis)


def _along(axis):
    """Multi-head attention whose softmax runs along another axis of (batch, heads, queries, keys)."""
    return lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n, axis=axis)) @ w_o


def _view(x, n):
    return x.reshape(x.shape[0], n, x.shape[1], -1)


def _across(x, w_q, w_k, w_v, w_o, n):
    heads = _heads(x, w_q, w_k, w_v, n, split=lambda x, n: x.unflatten(-1, (n, -1)))
    return heads.flatten(-2) @ w_o


_split, _merge = split_heads.reference, merge_heads.reference
_declare = multi_head_attention.mistake
_declare(
    "no-output-projection",
    "The heads stand side by side, each in its own features. What lets them mix is missing.",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n)),
)
_declare(
    "scaled-by-d-model",
    "You scale by the full width. A head's score is a dot product of how many features?",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n, width=x.shape[-1])) @ w_o,
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n, width=w_q.shape[-1])) @ w_o,
)
_declare(
    "d-head-from-d-model",
    "Right when W_Q is square. It may be rectangular: which tensor tells how wide a head is?",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n, width=x.shape[-1] // n)) @ w_o,
)
_declare(
    "no-scale",
    "The scores of the heads are not scaled.",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n, width=1)) @ w_o,
)
_declare(
    "scaled-after-softmax",
    "You scale the weights, so they no longer add up to 1. Scaling is there to help softmax: when must it happen?",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n, width=1)) @ w_o / (w_q.shape[-1] // n) ** 0.5,
)
_declare(
    "wrong-axis",
    "Your softmax runs along the wrong axis. The weights of one query, over all keys, add up to 1.",
    _along(0),
    _along(1),
    _along(-2),
)
_declare(
    "no-softmax",
    "The scores go straight to the values. What turns a row of scores into shares that add up to 1?",
    lambda x, w_q, w_k, w_v, w_o, n: (
        _merge((q := _split(x @ w_q, n)) @ _split(x @ w_k, n).mT / q.shape[-1] ** 0.5 @ _split(x @ w_v, n)) @ w_o
    ),
)
_declare(
    "value-not-used",
    "You mix the keys or the queries, not the values. Q and K decide how much to look where; what is mixed is V.",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_k, n)) @ w_o,
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_q, n)) @ w_o,
)
_declare(
    "heads-summed",
    "You add the heads up, or average them. Put them side by side: W_O has a row for every feature of every head.",
    lambda x, w_q, w_k, w_v, w_o, n: _heads(x, w_q, w_k, w_v, n).sum(1),
    lambda x, w_q, w_k, w_v, w_o, n: _heads(x, w_q, w_k, w_v, n).mean(1),
    lambda x, w_q, w_k, w_v, w_o, n: _heads(x, w_q, w_k, w_v, n).sum(1) @ w_o,
    lambda x, w_q, w_k, w_v, w_o, n: _heads(x, w_q, w_k, w_v, n).sum(1) @ w_o[: w_q.shape[-1] // n],
    lambda x, w_q, w_k, w_v, w_o, n: _heads(x, w_q, w_k, w_v, n).mean(1) @ w_o[: w_q.shape[-1] // n],
)
_declare(
    "weights-transposed",
    "Rows are tokens: this course multiplies with the matrix as it is. nn.Linear keeps it transposed.",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q.T, w_k.T, w_v.T, n)) @ w_o.T,
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q.T, w_k.T, w_v.T, n)) @ w_o,
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n)) @ w_o.T,
)
_declare(
    "attends-across-heads",
    "Within one token, the heads attend to each other: no token sees another. Which axis must stand next to last?",
    _across,
)
_declare(
    "split-by-view",
    "The heads are cut out by view or reshape alone: a head gets a stretch of the sentence instead of a part of each "
    "token. Your split_heads does it rightly.",
    lambda x, w_q, w_k, w_v, w_o, n: _merge(_heads(x, w_q, w_k, w_v, n, split=_view)) @ w_o,
    lambda x, w_q, w_k, w_v, w_o, n: _heads(x, w_q, w_k, w_v, n, split=_view).reshape(*x.shape[:2], -1) @ w_o,
)
_declare(
    "merged-by-view",
    "The heads are put together by view or reshape alone: the tokens are mixed up. Your merge_heads does it rightly.",
    lambda x, w_q, w_k, w_v, w_o, n: _heads(x, w_q, w_k, w_v, n).reshape(*x.shape[:2], -1) @ w_o,
)
_declare(
    "one-head-only",
    "The result does not depend on n_heads: this is one wide head.",
    lambda x, w_q, w_k, w_v, w_o, n: _attend(x @ w_q, x @ w_k, x @ w_v, w_q.shape[-1]) @ w_o,
    lambda x, w_q, w_k, w_v, w_o, n: _attend(x @ w_q, x @ w_k, x @ w_v, w_q.shape[-1] // n) @ w_o,
)
