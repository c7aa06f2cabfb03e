"""Decoding with a key-value cache: each step feeds only the newest token, and gets what the whole pass would give it.

Under a causal mask no token sees a later one, so its keys and values never change: they are computed once and kept.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_utils._expect import expect_padding_mask, expect_positive_int, expect_sequences
from course_utils.attention import (
    MultiHeadAttention,
    mask_for_heads,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from course_utils.decoder import Decoder, DecoderLayer, DecoderOutput
from course_utils.layers import AttentionSublayer
from course_utils.masks import causal_mask, for_all_queries


class LayerCache:
    """One layer's share of a ``KeyValueCache``; tensors are (batch, heads, length, d_head)."""

    def __init__(self, max_length: int):
        self.max_length, self.length = max_length, 0
        self.keys = self.values = None  # of self-attention; room for max_length from the first step on
        self.memory_keys_values = None  # of cross-attention: the memory stays the same, so they do too

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Adds the newest keys and values, and returns all so far. The old ones are not copied."""
        if self.keys is None:
            self.keys, self.values = (x.new_empty(*x.shape[:2], self.max_length, x.shape[-1]) for x in (keys, values))
        start, self.length = self.length, self.length + keys.shape[2]
        self.keys[:, :, start : self.length], self.values[:, :, start : self.length] = keys, values
        return self.keys[:, :, : self.length], self.values[:, :, : self.length]


class KeyValueCache:
    """What a decoder need not compute again for its next token: each layer's keys and values of the tokens so far,
    and those of the memory.

    Make a new one for each generation, and hand it to ``cached_decode`` with the newest token at each step.

    Raises:
        TypeError, ValueError: a size is not a positive int.
    """

    def __init__(self, n_layers: int, max_length: int):
        expect_positive_int(n_layers=n_layers, max_length=max_length)
        self.layers = [LayerCache(max_length) for _ in range(n_layers)]
        self.memory = None  # the one it was filled for

    @property
    def length(self) -> int:
        """How many tokens it holds."""
        return self.layers[0].length

    def reorder(self, rows: Int[Tensor, "batch"]) -> None:
        """Row i of the batch becomes what row ``rows[i]`` was: beam search drops some beginnings and doubles others."""
        if self.length == 0:
            return
        self.memory = self.memory[rows]
        for layer in self.layers:
            for stored in (layer.keys, layer.values):
                stored[:, :, : layer.length] = stored[rows, :, : layer.length]
            layer.memory_keys_values = tuple(stored[rows] for stored in layer.memory_keys_values)


def cached_decode(
    decoder: Decoder,
    cache: KeyValueCache,
    x: Float[Tensor, "batch new d_model"],
    memory: Float[Tensor, "batch source d_model"],
    *,
    target_mask: Bool[Tensor, "batch target_so_far"] | None = None,
    source_mask: Bool[Tensor, "batch source"] | None = None,
    need_weights: bool = False,
) -> DecoderOutput:
    """``decoder(...)`` for the tokens that ``cache`` has not seen, ``x``; afterwards it has seen them.

    ``target_mask`` covers the tokens seen before as well. The weights have a column for each of them.

    Raises:
        TypeError: as for ``Decoder``, or ``cache`` is not a ``KeyValueCache``.
        ValueError: as for ``Decoder``; the cache is full, of another decoder, batch or memory, or a gradient is asked
            for; or the decoder is not causal.
    """
    _expect_cache(decoder, cache, x, memory)
    new, length = x.shape[1], cache.length + x.shape[1]
    source_mask = for_all_queries("source_mask", source_mask, memory)
    # A single newest token may attend to all there is: it needs no mask, and saves its time.
    mask = causal_mask(length, x.device)[-new:] if new > 1 else None
    if target_mask is not None:
        expect_padding_mask("target_mask", target_mask, (len(x), length))
        mask = target_mask[:, None, :] if mask is None else target_mask[:, None, :] & mask

    cache.memory = memory
    hidden_states, self_weights, cross_weights = [x], [], []
    for layer, kept in zip(decoder.layers, cache.layers, strict=True):
        if kept.memory_keys_values is None:
            kept.memory_keys_values = _keys_values(layer.cross_attention, memory)
        x, to_target, to_source = _cached_layer(layer, kept, x, mask, source_mask, need_weights)
        hidden_states.append(x)
        self_weights.append(to_target)
        cross_weights.append(to_source)
    hidden_states[-1] = x = decoder.final_norm(x)
    weights = (tuple(self_weights), tuple(cross_weights)) if need_weights else (None, None)
    return DecoderOutput(x, tuple(hidden_states), *weights)


def _cached_layer(
    layer: DecoderLayer,
    kept: LayerCache,
    x: Tensor,
    target_mask: Tensor | None,
    source_mask: Tensor | None,
    need_weights: bool,
) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """``DecoderLayer.forward``, except that the keys and values of earlier tokens, and of the memory, are there."""

    def look_back(x: Tensor) -> tuple[Tensor, Tensor | None]:
        keys, values = kept.append(*_keys_values(layer.self_attention, x))
        return _attend(layer.self_attention, x, keys, values, target_mask, need_weights)

    def look_over(x: Tensor) -> tuple[Tensor, Tensor | None]:
        return _attend(layer.cross_attention, x, *kept.memory_keys_values, source_mask, need_weights)

    back, over = AttentionSublayer(look_back, layer.dropout), AttentionSublayer(look_over, layer.dropout)
    x = layer.add_and_norm(x, back, layer.norm1)
    x = layer.add_and_norm(x, over, layer.norm2)
    x = layer.add_and_norm(x, lambda x: layer.dropout(layer.feed_forward(x)), layer.norm3)
    return x, back.weights, over.weights


def _keys_values(attention: MultiHeadAttention, x: Tensor) -> tuple[Tensor, Tensor]:
    """K W_K and V W_V, in heads: what a cache keeps of ``x``."""
    return split_heads(attention.w_k(x), attention.n_heads), split_heads(attention.w_v(x), attention.n_heads)


def _attend(
    attention: MultiHeadAttention, x: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, need_weights: bool
) -> tuple[Tensor, Tensor | None]:
    """The rest of ``MultiHeadAttention.forward``."""
    query = split_heads(attention.w_q(x), attention.n_heads)
    if mask is not None:
        mask = mask_for_heads(mask, query, keys)
    if need_weights:
        context, weights = scaled_dot_product_attention(query, keys, values, mask)
    else:
        context, weights = F.scaled_dot_product_attention(query, keys, values, mask), None
    return attention.w_o(merge_heads(context)), weights


def _expect_cache(decoder: Decoder, cache: KeyValueCache, x: Tensor, memory: Tensor) -> None:
    if not isinstance(cache, KeyValueCache):
        raise TypeError(f"cache must be a KeyValueCache, got {type(cache).__name__}")
    first = decoder.layers[0].self_attention
    expect_sequences(first.w_q.weight, x=x, memory=memory)
    if not decoder.causal:
        raise ValueError("cache needs causal=True: without it, earlier tokens change when a later one comes")
    if torch.is_grad_enabled() and any(t.requires_grad for t in (x, memory, *decoder.parameters())):
        raise ValueError("a cache overwrites itself and passes no gradient; use it under torch.no_grad()")
    if len(cache.layers) != len(decoder.layers):
        raise ValueError(f"cache has {len(cache.layers)} layers, the decoder {len(decoder.layers)}; expected the same")
    room = cache.layers[0].max_length
    if cache.length + x.shape[1] > room:
        raise ValueError(f"cache has room for {room} tokens and holds {cache.length}; got {x.shape[1]} more")
    if cache.memory is None:
        return
    shapes = tuple(cache.memory.shape), tuple(memory.shape)
    same = cache.memory is memory or (shapes[0] == shapes[1] and torch.equal(cache.memory, memory))
    if not same or cache.layers[0].keys.shape[1] != first.n_heads:
        raise ValueError(
            f"cache was filled with another memory, or by another decoder (memories of shape {shapes[0]} and "
            f"{shapes[1]}); expected a new cache for each"
        )
