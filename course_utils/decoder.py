"""The decoder: one layer, a stack of them, and the cache that spares it work done before.

Source: Vaswani et al. 2017, section 3.1 and figure 1, right half.
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_utils._expect import expect_float, expect_padding_mask, expect_positive_int, expect_probability
from course_utils.attention import MultiHeadAttention
from course_utils.layers import FeedForward, LayerNorm, post_norm, pre_norm
from course_utils.masks import causal_mask


@dataclass
class DecoderOutput:
    """What a decoder returns.

    ``hidden_states``: n_layers + 1 tensors (batch, target, d_model), the input first.
    ``self_attention_weights``, ``cross_attention_weights``: n_layers tensors each, (batch, heads, target, target)
    and (batch, heads, target, source), or None if not asked for.
    """

    last_hidden_state: Float[Tensor, "batch target d_model"]
    hidden_states: tuple[Tensor, ...]
    self_attention_weights: tuple[Tensor, ...] | None
    cross_attention_weights: tuple[Tensor, ...] | None


class LayerCache:
    """One layer's share of a ``KeyValueCache``; tensors are (batch, heads, length, d_head)."""

    def __init__(self, max_length: int):
        self.max_length, self.length = max_length, 0
        self.keys = self.values = None  # of self-attention; room for max_length from the first step on
        self.memory_keys_values = None  # of cross-attention: the memory stays the same, so they do too

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Adds the newest keys and values, and returns all so far. The old ones are not copied.

        Raises:
            ValueError: no room is left, the batch is another one, or a gradient is asked for.
        """
        if keys.requires_grad:
            raise ValueError("a cache overwrites itself and passes no gradient; use it under torch.no_grad()")
        if self.keys is None:
            self.keys, self.values = (x.new_empty(*x.shape[:2], self.max_length, x.shape[-1]) for x in (keys, values))
        if keys.shape[0] != self.keys.shape[0]:
            raise ValueError(f"cache holds a batch of {self.keys.shape[0]}, got a batch of {keys.shape[0]}")
        start, end = self.length, self.length + keys.shape[2]
        if end > self.max_length:
            raise ValueError(
                f"cache has room for {self.max_length} tokens and holds {start}; no room for {end - start} more"
            )
        self.keys[:, :, start:end], self.values[:, :, start:end] = keys, values
        self.length = end
        return self.keys[:, :, :end], self.values[:, :, :end]


class KeyValueCache:
    """What a decoder need not compute again for its next token: each layer's keys and values of the tokens so far,
    and those of the memory.

    Hand a new one to each generation, then only the newest token at each step. Under a causal mask no token sees a
    later one, so its keys and values never change.

    Raises:
        TypeError, ValueError: a size is not a positive int.
    """

    def __init__(self, n_layers: int, max_length: int):
        expect_positive_int(n_layers=n_layers, max_length=max_length)
        self.layers = [LayerCache(max_length) for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """How many tokens it holds."""
        return self.layers[0].length

    def reorder(self, rows: Int[Tensor, "batch"]) -> None:
        """Row i of the batch becomes what row ``rows[i]`` was: beam search drops some beginnings and doubles others."""
        for layer in self.layers:
            for stored in (layer.keys, layer.values):
                stored[:, :, : layer.length] = stored[rows, :, : layer.length]
            layer.memory_keys_values = tuple(stored[rows] for stored in layer.memory_keys_values)


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to the encoder's output, then the feed-forward network.

    Each has its residual and its norm; dropout acts on each sublayer's output, before it is added
    (Vaswani et al. 2017, section 5.4).

    Raises:
        TypeError, ValueError: as for ``EncoderLayer``.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: str = "relu",
        norm_first: bool = False,
        eps: float = 1e-5,
    ):
        super().__init__()
        expect_probability(dropout=dropout)
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.norm1 = LayerNorm(d_model, eps)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.norm2 = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.norm3 = LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = False,
        cache: LayerCache | None = None,
    ) -> tuple[Float[Tensor, "batch target d_model"], Tensor | None, Tensor | None]:
        """Returns ``(x, self_weights, cross_weights)``.

        ``mask`` says which target tokens may attend to which (this layer makes none causal by itself), ``memory_mask``
        which may attend to which source token. Both, and the errors raised, are those of ``MultiHeadAttention``.
        With a ``cache``, ``x`` holds only the tokens it has not seen, and ``mask`` has a column for each one it has.
        """
        self_weights = cross_weights = None

        def attend_to_target(x: Tensor) -> Tensor:
            nonlocal self_weights
            if cache is None:
                output, self_weights = self.self_attention(x, x, x, mask, need_weights)
            else:
                keys, values = cache.append(*self.self_attention.project_key_value(x, x))
                output, self_weights = self.self_attention.attend(x, keys, values, mask, need_weights)
            return self.dropout(output)

        def attend_to_source(x: Tensor) -> Tensor:
            nonlocal cross_weights
            if cache is None:
                output, cross_weights = self.cross_attention(x, memory, memory, memory_mask, need_weights)
            else:
                if cache.memory_keys_values is None:
                    cache.memory_keys_values = self.cross_attention.project_key_value(memory, memory)
                keys, values = cache.memory_keys_values
                output, cross_weights = self.cross_attention.attend(x, keys, values, memory_mask, need_weights)
            return self.dropout(output)

        def feed_forward(x: Tensor) -> Tensor:
            return self.dropout(self.feed_forward(x))

        add_and_norm = pre_norm if self.norm_first else post_norm
        x = add_and_norm(x, attend_to_target, self.norm1)
        x = add_and_norm(x, attend_to_source, self.norm2)
        x = add_and_norm(x, feed_forward, self.norm3)
        return x, self_weights, cross_weights


class Decoder(nn.Module):
    """``n_layers`` decoder layers, one after the other; each attends to the same memory, the encoder's output.

    With ``norm_first`` a last norm follows the stack, as in ``Encoder``.

    Raises:
        TypeError, ValueError: as for ``EncoderLayer``.
    """

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: str = "relu",
        norm_first: bool = False,
        eps: float = 1e-5,
    ):
        super().__init__()
        expect_positive_int(n_layers=n_layers)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, n_heads, d_ff, dropout, activation, norm_first, eps) for _ in range(n_layers)
        )
        self.final_norm = LayerNorm(d_model, eps) if norm_first else nn.Identity()
        self.d_model = d_model

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        target_mask: Bool[Tensor, "batch target_so_far"] | None = None,
        memory_mask: Bool[Tensor, "batch source"] | None = None,
        need_weights: bool = False,
        cache: KeyValueCache | None = None,
        causal: bool = True,
    ) -> DecoderOutput:
        """Runs the stack. No token attends to a later one, unless ``causal`` is switched off to see what happens.

        ``target_mask`` and ``memory_mask`` are True for real tokens, False for padding. With a ``cache``, ``x`` holds
        only the tokens it has not seen; ``target_mask`` then covers those it has seen as well.

        Raises:
            TypeError: a tensor is not floating point, dtypes differ, or a mask is not boolean.
            ValueError: shapes do not fit together, tensors lie on different devices, or the cache is full or of
                another batch, memory or number of layers; or it is used with ``causal=False``.
        """
        self._expect(x, memory, cache, causal)
        seen = 0 if cache is None else cache.length
        batch, length = x.shape[0], seen + x.shape[1]
        # One newest token may attend to all there is: it needs no mask, and saves its time.
        mask = causal_mask(length, x.device)[seen:] if causal and x.shape[1] > 1 else None
        if target_mask is not None:
            expect_padding_mask("target_mask", target_mask, (batch, length))
            mask = target_mask[:, None, :] if mask is None else target_mask[:, None, :] & mask
        if memory_mask is not None:
            expect_padding_mask("memory_mask", memory_mask, (batch, memory.shape[1]))
            memory_mask = memory_mask[:, None, :]

        hidden_states, self_weights, cross_weights = [x], [], []
        for n, layer in enumerate(self.layers):
            layer_cache = None if cache is None else cache.layers[n]
            x, to_target, to_source = layer(x, memory, mask, memory_mask, need_weights, layer_cache)
            hidden_states.append(x)
            self_weights.append(to_target)
            cross_weights.append(to_source)
        hidden_states[-1] = x = self.final_norm(x)
        weights = (tuple(self_weights), tuple(cross_weights)) if need_weights else (None, None)
        return DecoderOutput(x, tuple(hidden_states), *weights)

    def _expect(self, x: Tensor, memory: Tensor, cache: KeyValueCache | None, causal: bool) -> None:
        expect_float(x=x, memory=memory)
        for name, tensor in (("x", x), ("memory", memory)):
            if tensor.dim() != 3 or tensor.shape[-1] != self.d_model or 0 in tensor.shape:
                came = f"{name} has shape {tuple(tensor.shape)}"
                raise ValueError(f"{came}; expected (batch, length, d_model={self.d_model}), nothing empty")
        if len(memory) != len(x):
            raise ValueError(f"memory holds a batch of {len(memory)}, x a batch of {len(x)}; expected the same")
        if cache is None:
            return
        if not causal:
            raise ValueError("cache needs causal=True: without it, earlier tokens change when a later one comes")
        if len(cache.layers) != len(self.layers):
            raise ValueError(f"cache has {len(cache.layers)} layers, the decoder {len(self.layers)}; expected the same")
        stored = cache.layers[0].memory_keys_values
        if stored is not None and stored[0].shape[2] != memory.shape[1]:
            raise ValueError(
                f"cache holds a memory of length {stored[0].shape[2]}, got one of {memory.shape[1]}; "
                "expected a new cache for each memory"
            )
