"""The encoder: one layer, and a stack of them.

Source: Vaswani et al. 2017, section 3.1 and figure 1, left half.
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_utils._expect import (
    expect_attention_mask,
    expect_float,
    expect_number,
    expect_positive_int,
    expect_shape,
)
from course_utils.attention import MultiHeadAttention
from course_utils.layers import AttentionSublayer, FeedForward, LayerNorm, post_norm, pre_norm
from course_utils.masks import for_all_queries


@dataclass
class EncoderOutput:
    """What an encoder returns.

    ``hidden_states``: n_layers + 1 tensors (batch, length, d_model), the input first. The last one is
    ``last_hidden_state``, after the final norm if there is one.
    ``attention_weights``: n_layers tensors (batch, heads, queries, keys), or None if not asked for.
    """

    last_hidden_state: Float[Tensor, "batch length d_model"]
    hidden_states: tuple[Tensor, ...]
    attention_weights: tuple[Tensor, ...] | None


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each with its residual and its norm.

    ``add_and_norm`` is the wiring: ``post_norm``, or ``pre_norm`` with ``norm_first``. ``dropout`` acts on the outputs
    of the two sublayers, ``weight_dropout`` on the attention weights.

    Raises:
        TypeError, ValueError: a size is not a positive int, ``n_heads`` does not divide ``d_model``,
            a dropout lies outside [0, 1), or the activation is unknown.
    """

    def __init__(
        self,
        *,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        weight_dropout: float = 0.0,
        activation: str = "relu",
        norm_first: bool = False,
        eps: float = 1e-5,
    ):
        super().__init__()
        expect_number("dropout", dropout, below=1)
        self.attention = MultiHeadAttention(d_model, n_heads, weight_dropout=weight_dropout)
        self.norm1 = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.norm2 = LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.add_and_norm = pre_norm if norm_first else post_norm

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = False,
    ) -> tuple[Float[Tensor, "batch length d_model"], Float[Tensor, "batch heads length length"] | None]:
        """Returns ``(x, weights)``. ``mask`` and the errors raised are those of ``MultiHeadAttention``."""
        # The wiring wants a function of x alone: this one keeps the weights aside.
        attend = AttentionSublayer(lambda x: self.attention(x, x, x, mask, need_weights), self.dropout)
        x = self.add_and_norm(x, attend, self.norm1)
        x = self.add_and_norm(x, lambda x: self.dropout(self.feed_forward(x)), self.norm2)
        return x, attend.weights


class Encoder(nn.Module):
    """``n_layers`` encoder layers, one after the other; the output of one is the input of the next.

    With ``norm_first`` a last norm follows the stack, because no sublayer's norm does (Xiong et al. 2020).

    Raises:
        TypeError, ValueError: ``n_layers`` is not a positive int; else as for ``EncoderLayer``.
    """

    def __init__(
        self,
        *,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        dropout: float = 0.0,
        weight_dropout: float = 0.0,
        activation: str = "relu",
        norm_first: bool = False,
        eps: float = 1e-5,
    ):
        super().__init__()
        expect_positive_int(n_layers=n_layers)
        sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
        dropouts = {"dropout": dropout, "weight_dropout": weight_dropout}
        self.layers = nn.ModuleList(
            EncoderLayer(**sizes, **dropouts, activation=activation, norm_first=norm_first, eps=eps)
            for _ in range(n_layers)
        )
        self.final_norm = LayerNorm(d_model, eps) if norm_first else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        need_weights: bool = False,
        attention_mask: Bool[Tensor, "#batch #length length"] | None = None,
    ) -> EncoderOutput:
        """Runs the stack. ``mask`` is a padding mask, True for real tokens. ``attention_mask``, (batch or 1, queries or
        1, keys), says who may attend to whom: ``causal_mask(length)[None]``. Given both, both must allow it. (``Bert``
        calls its padding mask ``attention_mask``, as Hugging Face does.)

        Raises:
            TypeError, ValueError: as for ``MultiHeadAttention``.
        """
        expect_float(x=x)  # of which dtype, each layer sees to
        width = self.layers[0].attention.w_q.in_features
        expect_shape("x", x, x.dim() == 3 and x.shape[-1] == width, f"(batch, length, d_model={width})")
        mask = for_all_queries("mask", mask, x)
        if attention_mask is not None:
            expect_attention_mask("attention_mask", attention_mask, x)
            mask = attention_mask if mask is None else mask & attention_mask
        hidden_states, attention_weights = [x], []
        for layer in self.layers:
            x, weights = layer(x, mask, need_weights)
            hidden_states.append(x)
            attention_weights.append(weights)
        hidden_states[-1] = x = self.final_norm(x)
        return EncoderOutput(x, tuple(hidden_states), tuple(attention_weights) if need_weights else None)
