"""What surrounds attention: layer norm, the feed-forward network, and the residual wiring."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from course_utils._expect import expect_float, expect_positive_int, expect_width

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


def layer_norm(
    x: Float[Tensor, "*batch d_model"], gain: Float[Tensor, "d_model"], bias: Float[Tensor, "d_model"], eps: float
) -> Float[Tensor, "*batch d_model"]:
    """gain * (x - mean) / sqrt(variance + eps) + bias, each token on its own.

    Mean and variance run over the last axis; the variance divides by d_model, not by d_model - 1,
    and eps stands inside the root. Source: Ba et al. 2016, "Layer Normalization", section 3.

    Raises:
        TypeError: ``x`` is not floating point, or dtypes differ.
        ValueError: gain and bias are not (d_model,), the last axis of ``x``, or tensors lie on different devices.
    """
    expect_float(x=x, gain=gain, bias=bias)
    if not gain.shape == bias.shape == x.shape[-1:] or x.dim() == 0:
        raise ValueError(
            f"gain has shape {tuple(gain.shape)}, bias {tuple(bias.shape)} and x {tuple(x.shape)}; "
            "expected one gain and one bias for each number of x's last axis"
        )
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, keepdim=True, unbiased=False)
    return gain * (x - mean) / torch.sqrt(variance + eps) + bias


class LayerNorm(nn.Module):
    """``layer_norm`` with its own gain (ones at first) and bias (zeros at first).

    Calls torch's kernel for the same formula, which reads ``x`` once instead of five times.

    Raises:
        TypeError, ValueError: ``d_model`` is not a positive int.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        expect_positive_int(d_model=d_model)
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Same shape out. Raises ValueError or TypeError if ``x`` does not fit."""
        expect_width(x, self.gain.shape[0], gain=self.gain)
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)


class FeedForward(nn.Module):
    """FFN(x) = activation(x W_1 + b_1) W_2 + b_2, each token on its own.

    Source: Vaswani et al. 2017, section 3.3, equation 2 (with ReLU); BERT uses GELU.

    Raises:
        TypeError, ValueError: a size is not a positive int, or the activation is unknown.
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu"):
        super().__init__()
        expect_positive_int(d_model=d_model, d_ff=d_ff)
        if activation not in list(ACTIVATIONS):  # a list: a dict would choke on what can't be hashed
            raise ValueError(f"activation must be one of {sorted(ACTIVATIONS)}, got {activation!r}")
        self.w_1 = nn.Linear(d_model, d_ff)
        self.w_2 = nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Same shape out. Raises ValueError or TypeError if ``x`` does not fit."""
        expect_width(x, self.w_1.in_features, w_1=self.w_1.weight)
        return self.w_2(ACTIVATIONS[self.activation](self.w_1(x)))


def post_norm(x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]) -> Tensor:
    """LayerNorm(x + Sublayer(x)): the paper's "Add & Norm". Source: Vaswani et al. 2017, section 3.1."""
    return norm(x + sublayer(x))


def pre_norm(x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]) -> Tensor:
    """x + Sublayer(LayerNorm(x)): the residual path stays free of norms. Source: Xiong et al. 2020, figure 1b."""
    return x + sublayer(norm(x))


class AttentionSublayer:
    """Attention as ``post_norm`` and ``pre_norm`` want it, a function of one tensor; its weights stay here.

    ``attend`` returns ``(output, weights)``. Dropout acts on the output, before it is added (Vaswani et al. 2017,
    section 5.4).
    """

    def __init__(self, attend: Callable[[Tensor], tuple[Tensor, Tensor | None]], dropout: nn.Dropout):
        self.attend, self.dropout, self.weights = attend, dropout, None

    def __call__(self, x: Tensor) -> Tensor:
        """The output alone."""
        output, self.weights = self.attend(x)
        return self.dropout(output)
