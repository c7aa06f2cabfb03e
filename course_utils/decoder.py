"""The decoder: one layer, and a stack of them.

Source: Vaswani et al. 2017, section 3.1 and figure 1, right half.
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_utils._expect import expect_number, expect_positive_int, expect_sequences
from course_utils.attention import MultiHeadAttention
from course_utils.layers import AttentionSublayer, FeedForward, LayerNorm, post_norm, pre_norm
from course_utils.masks import causal_mask, for_all_queries


@dataclass
class DecoderOutput:
    """What a decoder returns.

    ``hidden_states``: n_layers + 1 tensors (batch, target, d_model), the input first. The last one is
    ``last_hidden_state``, after the final norm if there is one.
    ``self_attention_weights``, ``cross_attention_weights``: n_layers tensors each, (batch, heads, target, target)
    and (batch, heads, target, source), or None if not asked for.
    """

    last_hidden_state: Float[Tensor, "batch target d_model"]
    hidden_states: tuple[Tensor, ...]
    self_attention_weights: tuple[Tensor, ...] | None
    cross_attention_weights: tuple[Tensor, ...] | None


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention to the encoder's output, then the feed-forward network.

    Each has its residual and its norm, wired as in ``EncoderLayer``.

    Raises:
        TypeError, ValueError: as for ``EncoderLayer``.
    """

    def __init__(
        self,
        *,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        activation: str = "relu",
        norm_first: bool = False,
        eps: float = 1e-5,
    ):
        super().__init__()
        expect_number("dropout", dropout, below=1)
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.norm1 = LayerNorm(d_model, eps)
        self.cross_attention = MultiHeadAttention(d_model, n_heads)
        self.norm2 = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.norm3 = LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.add_and_norm = pre_norm if norm_first else post_norm

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        *,
        target_mask: Bool[Tensor, "..."] | None = None,
        source_mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch target d_model"], Tensor | None, Tensor | None]:
        """Returns ``(x, self_weights, cross_weights)``.

        ``target_mask`` says which target tokens may attend to which (this layer makes none causal by itself),
        ``source_mask`` which may attend to which source token. Both are masks of ``MultiHeadAttention``, and so are the
        errors raised.
        """
        look_back = AttentionSublayer(lambda x: self.self_attention(x, x, x, target_mask, need_weights), self.dropout)
        look_over = AttentionSublayer(
            lambda x: self.cross_attention(x, memory, memory, source_mask, need_weights), self.dropout
        )
        x = self.add_and_norm(x, look_back, self.norm1)
        x = self.add_and_norm(x, look_over, self.norm2)
        x = self.add_and_norm(x, lambda x: self.dropout(self.feed_forward(x)), self.norm3)
        return x, look_back.weights, look_over.weights


class Decoder(nn.Module):
    """``n_layers`` decoder layers, one after the other; each attends to the same memory, the encoder's output.

    With ``norm_first`` a last norm follows the stack, as in ``Encoder``. No token attends to a later one, unless
    ``causal`` is set to False, to see what happens.

    Raises:
        TypeError, ValueError: as for ``Encoder``.
    """

    def __init__(
        self,
        *,
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
        sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
        self.layers = nn.ModuleList(
            DecoderLayer(**sizes, dropout=dropout, activation=activation, norm_first=norm_first, eps=eps)
            for _ in range(n_layers)
        )
        self.final_norm = LayerNorm(d_model, eps) if norm_first else nn.Identity()
        self.causal = True

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        *,
        target_mask: Bool[Tensor, "batch target"] | None = None,
        source_mask: Bool[Tensor, "batch source"] | None = None,
        need_weights: bool = False,
    ) -> DecoderOutput:
        """Runs the stack. ``target_mask`` and ``source_mask`` are padding masks, True for real tokens.

        Raises TypeError and ValueError as ``MultiHeadAttention`` does.
        """
        expect_sequences(self.layers[0].self_attention.w_q.weight, x=x, memory=memory)
        target_mask = for_all_queries("target_mask", target_mask, x)
        if self.causal:
            earlier = causal_mask(x.shape[1], x.device)
            target_mask = earlier if target_mask is None else target_mask & earlier
        masks = {"target_mask": target_mask, "source_mask": for_all_queries("source_mask", source_mask, memory)}
        hidden_states, self_weights, cross_weights = [x], [], []
        for layer in self.layers:
            x, to_target, to_source = layer(x, memory, **masks, need_weights=need_weights)
            hidden_states.append(x)
            self_weights.append(to_target)
            cross_weights.append(to_source)
        hidden_states[-1] = x = self.final_norm(x)
        weights = (tuple(self_weights), tuple(cross_weights)) if need_weights else (None, None)
        return DecoderOutput(x, tuple(hidden_states), *weights)
