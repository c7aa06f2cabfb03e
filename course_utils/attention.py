"""Scaled dot-product attention and multi-head attention.

Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.2.1 and 3.2.2.
Rows are tokens: ``Q = X @ W_Q``. Masks are boolean and True means "may attend".
"""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_utils._expect import (
    expect_mask,
    expect_number,
    expect_positive_int,
    expect_query_key_value,
    expect_sequences,
    expect_shape,
)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch queries d_head"],
    key: Float[Tensor, "*batch keys d_head"],
    value: Float[Tensor, "*batch keys d_value"],
    mask: Bool[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "*batch queries d_value"], Float[Tensor, "*batch queries keys"]]:
    """Attention(Q, K, V) = softmax(Q K^T / sqrt(d_head)) V, with the weights it used.

    ``mask`` broadcasts to (*batch, queries, keys). A query that may attend to no key gets weights
    and output 0, never NaN, and passes a zero gradient.

    Returns ``(output, weights)``. Source: Vaswani et al. 2017, section 3.2.1, equation 1.

    Raises:
        TypeError: a tensor is not floating point, dtypes differ, or ``mask`` is not boolean.
        ValueError: shapes do not fit together, or tensors lie on different devices.
    """
    expect_query_key_value(query, key, value)

    # 1. How well does each query match each key?
    scale = 1 / math.sqrt(query.shape[-1])
    scores = query @ key.transpose(-2, -1) * scale
    if mask is not None:
        expect_mask(mask, scores.shape, scores.device)
        # The lowest finite number rather than -inf: an empty row stays free of NaN, backwards too.
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)

    # 2. Turn each row of scores into weights that sum to 1.
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)

    # 3. Mix the values in these proportions.
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each on its own ``d_model / n_heads`` features.

    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W_O, with head_i = Attention(Q W_Q_i, K W_K_i, V W_V_i).
    The matrices of all heads stand side by side in one ``nn.Linear``. Source: Vaswani et al. 2017, section 3.2.2.
    ``weight_dropout`` is the share of the weights that training sets to 0: BERT does so, the paper does not.

    Raises TypeError or ValueError if a size is not a positive int, ``n_heads`` does not divide ``d_model``, or
    ``weight_dropout`` lies outside [0, 1).
    """

    def __init__(self, d_model: int, n_heads: int, *, bias: bool = True, weight_dropout: float = 0.0):
        super().__init__()
        expect_positive_int(d_model=d_model, n_heads=n_heads)
        expect_number("weight_dropout", weight_dropout, below=1)
        if d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got d_model={d_model} and n_heads={n_heads}")
        self.d_model, self.n_heads, self.weight_dropout = d_model, n_heads, weight_dropout
        self.w_q = nn.Linear(d_model, d_model, bias)
        self.w_k = nn.Linear(d_model, d_model, bias)
        self.w_v = nn.Linear(d_model, d_model, bias)
        self.w_o = nn.Linear(d_model, d_model, bias)

    def forward(
        self,
        query: Float[Tensor, "batch queries d_model"],
        key: Float[Tensor, "batch keys d_model"],
        value: Float[Tensor, "batch keys d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch queries d_model"], Float[Tensor, "batch heads queries keys"] | None]:
        """Returns ``(output, weights)``; the weights are None unless ``need_weights``.

        ``mask`` broadcasts to (batch, queries, keys), for all heads alike, or to (batch, heads, queries, keys). A
        padding mask, (batch, keys), is passed as ``mask[:, None, :]``. Without ``need_weights`` torch's fused attention
        gives the same output and stores no weights.

        Raises TypeError and ValueError as ``scaled_dot_product_attention`` does.
        """
        expect_sequences(self.w_q.weight, query=query, key=key, value=value)
        expect_shape("value", value, value.shape[1] == key.shape[1], f"one row for each of the {key.shape[1]} keys")
        # 1. Queries, keys and values of every head: (batch, heads, length, d_head).
        q = split_heads(self.w_q(query), self.n_heads)
        k = split_heads(self.w_k(key), self.n_heads)
        v = split_heads(self.w_v(value), self.n_heads)

        # 2. Attention in each head: by hand if the weights are wanted, else fused.
        if mask is not None:
            mask = mask_for_heads(mask, q, k)
        dropout = self.weight_dropout if self.training else 0.0
        if need_weights:
            context, weights = scaled_dot_product_attention(q, k, v, mask)
            if dropout:
                weights = F.dropout(weights, dropout)
                context = weights @ v
        else:
            context, weights = F.scaled_dot_product_attention(q, k, v, mask, dropout), None

        # 3. The heads side by side again, and mixed.
        return self.w_o(merge_heads(context)), weights


def split_heads(x: Float[Tensor, "batch length d_model"], n_heads: int) -> Float[Tensor, "batch heads length d_head"]:
    """Each head gets its own d_model / n_heads features, next to each other in ``x``."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # by way of (batch, length, heads, d_head)


def merge_heads(x: Float[Tensor, "batch heads length d_head"]) -> Float[Tensor, "batch length d_model"]:
    """``split_heads`` undone: the heads side by side again."""
    return x.transpose(1, 2).flatten(2)


def mask_for_heads(
    mask: Bool[Tensor, "..."],
    q: Float[Tensor, "batch heads queries d_head"],
    k: Float[Tensor, "batch heads keys d_head"],
) -> Bool[Tensor, "..."]:
    """A mask for (batch, queries, keys) gets an axis for the heads; one that has it stays.

    Raises:
        TypeError, ValueError: as for ``MultiHeadAttention``.
    """
    batch, heads, queries, keys = *q.shape[:3], k.shape[2]
    if getattr(mask, "ndim", 0) == 4:
        expect_mask(mask, (batch, heads, queries, keys), q.device)
        return mask
    expect_mask(mask, (batch, queries, keys), q.device)
    mask = torch.atleast_2d(mask)  # torch's kernel wants at least the axes of queries and keys
    return mask[:, None] if mask.dim() == 3 else mask
