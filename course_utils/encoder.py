"""The encoder: one layer, and a stack of them.

Source: Vaswani et al. 2017, section 3.1 and figure 1, left half.
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from course_utils._expect import expect_positive_int, expect_probability
from course_utils.attention import MultiHeadAttention
from course_utils.layers import FeedForward, LayerNorm, post_norm, pre_norm


@dataclass
class EncoderOutput:
    """What an encoder returns.

    ``hidden_states``: n_layers + 1 tensors (batch, length, d_model), the input first.
    ``attention_weights``: n_layers tensors (batch, heads, queries, keys), or None if not asked for.
    """

    last_hidden_state: Float[Tensor, "batch length d_model"]
    hidden_states: tuple[Tensor, ...]
    attention_weights: tuple[Tensor, ...] | None


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each with its residual and its norm.

    Dropout acts on each sublayer's output, before it is added (Vaswani et al. 2017, section 5.4).

    Raises:
        TypeError, ValueError: a size is not a positive int, ``n_heads`` does not divide ``d_model``,
            or ``dropout`` lies outside [0, 1).
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
        self.attention = MultiHeadAttention(d_model, n_heads)
        self.norm1 = LayerNorm(d_model, eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.norm2 = LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = False,
        lengths: list[int] | None = None,
    ) -> tuple[Float[Tensor, "batch length d_model"], Float[Tensor, "batch heads length length"] | None]:
        """Returns ``(x, weights)``. ``mask`` and the errors raised are those of ``MultiHeadAttention``.

        With ``lengths``, ``x`` is one row of packed sentences (see ``pack``), and each attends to itself. That leaves
        nothing for a mask to say, and no weights to return: either of them is a ValueError then.
        """
        if lengths is not None and (mask is not None or need_weights):
            raise ValueError(
                "lengths go without mask and need_weights; use block_diagonal_mask(lengths) to see weights"
            )
        weights = None

        def attend(x: Tensor) -> Tensor:
            nonlocal weights
            if lengths is not None:
                return self.dropout(self.attention.attend_within(x, lengths))
            output, weights = self.attention(x, x, x, mask, need_weights)
            return self.dropout(output)

        def feed_forward(x: Tensor) -> Tensor:
            return self.dropout(self.feed_forward(x))

        add_and_norm = pre_norm if self.norm_first else post_norm
        x = add_and_norm(x, attend, self.norm1)
        x = add_and_norm(x, feed_forward, self.norm2)
        return x, weights


class Encoder(nn.Module):
    """``n_layers`` encoder layers, one after the other; the output of one is the input of the next.

    With ``norm_first`` a last norm follows the stack, because no sublayer's norm does (Xiong et al. 2020).

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
            EncoderLayer(d_model, n_heads, d_ff, dropout, activation, norm_first, eps) for _ in range(n_layers)
        )
        self.final_norm = LayerNorm(d_model, eps) if norm_first else nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        need_weights: bool = False,
        lengths: list[int] | None = None,
    ) -> EncoderOutput:
        """Runs the stack. ``mask`` and the errors raised are those of ``MultiHeadAttention``, ``lengths`` is that of
        ``EncoderLayer``: ``x`` is then one row of packed sentences, and so is each hidden state.
        """
        hidden_states, attention_weights = [x], []
        for layer in self.layers:
            x, weights = layer(x, mask, need_weights, lengths)
            hidden_states.append(x)
            attention_weights.append(weights)
        hidden_states[-1] = x = self.final_norm(x)
        return EncoderOutput(x, tuple(hidden_states), tuple(attention_weights) if need_weights else None)
