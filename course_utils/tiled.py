"""Attention in tiles: the same answer, without ever holding all scores at once.

Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Rabe and Staats 2021,
"Self-attention Does Not Need O(n^2) Memory"; Dao et al. 2022, "FlashAttention", algorithms 1 and 4.
"""

import math
from collections.abc import Iterator
from contextlib import nullcontext

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from course_utils._expect import expect_mask, expect_positive_int, expect_query_key_value


def tiled_attention(
    query: Float[Tensor, "*batch queries d_head"],
    key: Float[Tensor, "*batch keys d_head"],
    value: Float[Tensor, "*batch keys d_value"],
    mask: Bool[Tensor, "..."] | None = None,
    block: int | tuple[int, int] = (128, 512),
) -> Float[Tensor, "*batch queries d_value"]:
    """The output of ``scaled_dot_product_attention``, tile by tile: memory grows with the length, not with its square.

    ``block`` is the size of a tile: (queries, keys), or one number for both; what is left over makes smaller tiles.
    ``mask`` broadcasts to (*batch, queries, keys); a tile in which nobody may attend is skipped, and a query
    that may attend to no key gets output 0 and a zero gradient. float16 and bfloat16 are computed in float32 inside.

    For the backward pass only the output and one number for each query are kept; the tiles are computed again. That
    pass has no derivative of its own: with ``create_graph`` it raises RuntimeError.

    Raises:
        TypeError: a tensor is not floating point, dtypes differ, ``mask`` is not boolean, or ``block`` is no int.
        ValueError: shapes do not fit together, tensors lie on different devices, or ``block`` is not positive.
    """
    expect_query_key_value(query, key, value)
    sizes = block if isinstance(block, tuple) else (block, block)
    if len(sizes) != 2:
        raise ValueError(f"block has {len(sizes)} sizes; expected one int, or two: (queries, keys)")
    for size in sizes:
        expect_positive_int(block=size)
    if mask is not None:
        expect_mask(mask, (*query.shape[:-1], key.shape[-2]), query.device)
        mask = mask[(None,) * (2 - mask.dim())]  # at least the axes of queries and keys
    kind = query.device.type
    has_autocast = torch.amp.is_autocast_available(kind)  # it would round each tile's products
    with torch.autocast(kind, enabled=False) if has_autocast else nullcontext():
        return _TiledAttention.apply(query, key, value, mask, *sizes)


class _TiledAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, mask, query_block, key_block):
        output = query.new_empty(*query.shape[:-1], value.shape[-1])
        log_sum = query.new_empty(*query.shape[:-1], 1, dtype=_inner_dtype(query))
        for rows in _slices(query, query_block):
            q = _scaled(query[..., rows, :])
            # What is known so far of each row: its largest score, its sum of 2^(score - largest), and the values
            # mixed in these proportions. The lowest finite number rather than -inf: -inf minus -inf would be NaN.
            largest = torch.full_like(q[..., :1], torch.finfo(q.dtype).min)
            total = torch.zeros_like(largest)
            mixed = q.new_zeros(*q.shape[:-1], value.shape[-1])
            for columns, tile in _tiles(key, key_block, mask, rows):
                _take_in(largest, total, mixed, q, key[..., columns, :], value[..., columns, :], tile)
            reached = total > 0
            output[..., rows, :] = mixed.div_(total.where(reached, 1))
            # +inf where nothing may be attended to: 2^(score - inf) gives the weight 0 in the backward pass.
            log_sum[..., rows, :] = (largest + total.log2()).where(reached, torch.inf)
        ctx.save_for_backward(query, key, value, mask, output, log_sum)
        ctx.blocks = query_block, key_block
        return output

    @staticmethod
    def backward(ctx, output_grad):
        if torch.is_grad_enabled():  # somebody asked for create_graph
            raise RuntimeError("tiled_attention has no second derivative; scaled_dot_product_attention has")
        query, key, value, mask, output, log_sum = ctx.saved_tensors
        query_block, key_block = ctx.blocks
        dtype = _inner_dtype(query)
        query_grad, key_grad, value_grad = (torch.zeros_like(x, dtype=dtype) for x in (query, key, value))
        for rows in _slices(query, query_block):
            q, dy = _scaled(query[..., rows, :]), output_grad[..., rows, :].to(dtype)
            mean = (dy * output[..., rows, :].to(dtype)).sum(dim=-1, keepdim=True)
            for columns, tile in _tiles(key, key_block, mask, rows):
                k, v = key[..., columns, :].to(dtype), value[..., columns, :].to(dtype)
                weights = _scores(q, k, tile).sub_(log_sum[..., rows, :]).exp2_()
                value_grad[..., columns, :] += weights.transpose(-2, -1) @ dy
                # Through the softmax: each score gets its weight times (what it asks for - the row's mean of that).
                scores_grad = weights.mul_((dy @ v.transpose(-2, -1)).sub_(mean))
                query_grad[..., rows, :] += scores_grad @ k
                key_grad[..., columns, :] += scores_grad.transpose(-2, -1) @ q
                del weights, scores_grad  # before the next tile, not after
        query_grad *= 1 / math.sqrt(query.shape[-1])
        key_grad *= math.log(2)  # q was counted in units of ln 2
        return *(grad.to(query.dtype) for grad in (query_grad, key_grad, value_grad)), None, None, None


def _take_in(
    largest: Tensor, total: Tensor, mixed: Tensor, q: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> None:
    """The online softmax: brings what is known of each row up to date with one more tile, in place."""
    scores = _scores(q, key, mask)
    new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
    weights = scores.sub_(new_largest).exp2_()
    # If a larger score has turned up, all that was added before shrinks by the same factor.
    shrink = (largest - new_largest).exp2_()
    total.mul_(shrink).add_(weights.sum(dim=-1, keepdim=True))
    mixed.mul_(shrink).add_(weights @ value.to(q.dtype))
    largest.copy_(new_largest)


def _inner_dtype(x: Tensor) -> torch.dtype:
    return torch.promote_types(x.dtype, torch.float32)


def _scaled(query: Tensor) -> Tensor:
    """For scores counted in units of ln 2: e^x = 2^(x / ln 2), and a power of 2 takes half the time of one of e."""
    return query.to(_inner_dtype(query)) / (math.sqrt(query.shape[-1]) * math.log(2))


def _scores(q: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
    scores = q @ key.to(q.dtype).transpose(-2, -1)
    return scores if mask is None else scores.masked_fill_(~mask, -torch.inf)


def _slices(x: Tensor, block: int) -> Iterator[slice]:
    """The rows of ``x``, ``block`` at a time."""
    length = x.shape[-2]
    return (slice(start, min(start + block, length)) for start in range(0, length, block))


def _tiles(key: Tensor, block: int, mask: Tensor | None, rows: slice) -> Iterator[tuple[slice, Tensor | None]]:
    """The keys, ``block`` at a time, each with its part of the mask; without those that nobody may attend to.

    An axis of size 1 stands for all rows or all columns, and is not made longer.
    """
    for columns in _slices(key, block):
        if mask is None:
            yield columns, None
            continue
        queries, keys = mask.shape[-2:]
        tile = mask[..., rows if queries > 1 else slice(None), columns if keys > 1 else slice(None)]
        if tile.any():
            yield columns, tile
