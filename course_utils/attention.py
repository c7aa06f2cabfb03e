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
    expect_float,
    expect_lengths,
    expect_mask,
    expect_positive_int,
    expect_query_key_value,
    expect_width,
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

    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W_O, with
    head_i = Attention(Q W_Q_i, K W_K_i, V W_V_i). Source: Vaswani et al. 2017, section 3.2.2.

    The projections of all heads are stored side by side, in one ``nn.Linear`` per role.

    Raises:
        TypeError, ValueError: a size is not a positive int, or ``n_heads`` does not divide ``d_model``.
    """

    def __init__(self, d_model: int, n_heads: int, bias: bool = True):
        super().__init__()
        expect_positive_int(d_model=d_model, n_heads=n_heads)
        if d_model % n_heads:
            raise ValueError(f"d_model must be a multiple of n_heads, got d_model={d_model} and n_heads={n_heads}")
        self.d_model, self.n_heads = d_model, n_heads
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

        ``mask`` has shape (queries, keys), (batch or 1, queries or 1, keys) for all heads alike, or
        (batch or 1, heads or 1, queries or 1, keys). A padding mask of shape (batch, keys) is passed
        as ``mask[:, None, :]``. Without ``need_weights`` torch's fused attention is used, which never
        stores the weights; the output is the same.

        Raises:
            TypeError: a tensor is not floating point, dtypes differ, or ``mask`` is not boolean.
            ValueError: shapes do not fit together, or tensors lie on different devices.
        """
        expect_float(query=query, key=key, value=value, w_q=self.w_q.weight)
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.dim() != 3 or x.shape[-1] != self.d_model:
                raise ValueError(f"{name} has shape {tuple(x.shape)}; expected (batch, length, d_model={self.d_model})")
        expect_query_key_value(query, key, value)
        return self.attend(query, *self.project_key_value(key, value), mask, need_weights)

    def project_key_value(
        self, key: Float[Tensor, "batch keys d_model"], value: Float[Tensor, "batch keys d_model"]
    ) -> tuple[Float[Tensor, "batch heads keys d_head"], Float[Tensor, "batch heads keys d_head"]]:
        """K W_K and V W_V, split into heads: the part of ``forward`` that a cache keeps."""
        return self._split(self.w_k(key)), self._split(self.w_v(value))

    def attend(
        self,
        query: Float[Tensor, "batch queries d_model"],
        k: Float[Tensor, "batch heads keys d_head"],
        v: Float[Tensor, "batch heads keys d_head"],
        mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch queries d_model"], Float[Tensor, "batch heads queries keys"] | None]:
        """The rest of ``forward``: attention to keys and values that ``project_key_value`` made, perhaps earlier."""
        q = self._split(self.w_q(query))
        mask = self._mask_for_heads(mask, q, k)
        if need_weights:
            context, weights = scaled_dot_product_attention(q, k, v, mask)
        else:
            context, weights = F.scaled_dot_product_attention(q, k, v, attn_mask=mask), None
        return self.w_o(self._merge(context)), weights

    def attend_within(
        self, x: Float[Tensor, "1 tokens d_model"], lengths: list[int]
    ) -> Float[Tensor, "1 tokens d_model"]:
        """Self-attention in a row of packed sentences: the first ``lengths[0]`` tokens attend to each other, and so on.

        The same as ``forward`` with ``block_diagonal_mask(lengths)``, without the scores from one sentence to another.

        Raises:
            TypeError: ``x`` is not floating point or of another dtype, or ``lengths`` is not a list of ints.
            ValueError: ``x`` does not fit, or ``lengths`` do not add up to its tokens.
        """
        expect_width("x", x, self.d_model, w_q=self.w_q.weight)
        if x.dim() != 3 or x.shape[0] != 1:
            raise ValueError(f"x has shape {tuple(x.shape)}; expected one packed row, (1, tokens, {self.d_model})")
        expect_lengths(lengths, x.shape[1])
        q, k, v = (self._split(w(x)).split(lengths, dim=2) for w in (self.w_q, self.w_k, self.w_v))
        sentences = zip(q, k, v, strict=True)
        # One call for each: their lengths differ, and with a mask over all of them most scores would be for nothing.
        context = [self._merge(F.scaled_dot_product_attention(*qkv)) for qkv in sentences if qkv[0].shape[2]]
        return self.w_o(torch.cat(context, dim=1))

    def _split(self, x: Tensor) -> Tensor:
        # (batch, length, d_model) -> (batch, length, heads, d_head) -> (batch, heads, length, d_head)
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def _merge(self, x: Tensor) -> Tensor:
        # (batch, heads, length, d_head) -> (batch, length, heads, d_head) -> (batch, length, d_model)
        return x.transpose(1, 2).flatten(-2)

    def _mask_for_heads(self, mask: Tensor | None, q: Tensor, k: Tensor) -> Tensor | None:
        if mask is None:
            return None
        batch, heads, queries, keys = *q.shape[:3], k.shape[2]
        if isinstance(mask, Tensor) and mask.dim() == 4:
            expect_mask(mask, (batch, heads, queries, keys), q.device)
            return mask
        expect_mask(mask, (batch, queries, keys), q.device)
        return mask[:, None] if mask.dim() == 3 else mask
