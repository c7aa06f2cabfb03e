"""Exercises of lesson 06: what surrounds attention."""

import torch
import torch.nn.functional as F

from course_utils import layers
from course_utils.checks.engine import exercise
from course_utils.checks.inputs import itself, matrices, mixing_function, norm_function, normal, token_function


@exercise(
    lambda: [
        (*matrices((2, 3, 6), (6,), (6,)), 0.5),
        (*matrices((4, 5), (5,), (5,)), 0.2),
        (*matrices((2, 5, 3, 4), (4,), (4,)), 1.0),
        (*matrices((3, 2, 8), (8,), (8,), size=2, dtype=torch.float64), 0.1),
    ]
)
def layer_norm(x, gain, bias, eps):
    """Each token to mean 0 and variance 1, then times gain plus bias: (..., d_model) -> (..., d_model)."""
    return layers.layer_norm(x, gain, bias, eps)


@exercise(
    lambda: [
        matrices((2, 3, 4), (4, 7), (7,), (7, 4), (4,)),
        matrices((5, 6), (6, 6), (6,), (6, 6), (6,)),
        matrices((2, 3, 5, 4), (4, 8), (8,), (8, 4), (4,), dtype=torch.float64),
    ]
)
def feed_forward(x, w1, b1, w2, b2):
    """ReLU(x W1 + b1) W2 + b2, each token on its own: (..., d_model) -> (..., d_model)."""
    return F.relu(x @ w1 + b1) @ w2 + b2


def _residual_cases():
    return [
        (normal(2, 3, 4), token_function(4), norm_function(4)),
        (normal(5, 6), mixing_function(6), norm_function(6)),
        (normal(2, 3, 4), itself, norm_function(4)),
        (normal(3, 2, 5, dtype=torch.float64), mixing_function(5), norm_function(5)),
    ]


@exercise(_residual_cases, once=True)
def post_norm(x, sublayer, norm):
    """Add, then normalise, as in the paper and in BERT. Calls sublayer and norm once each."""
    return layers.post_norm(x, sublayer, norm)


@exercise(_residual_cases, once=True)
def pre_norm(x, sublayer, norm):
    """Normalise what goes into the sublayer, then add. Calls sublayer and norm once each."""
    return layers.pre_norm(x, sublayer, norm)


def _normalised(x, eps, axes=-1, unbiased=False):
    mean = x.mean(axes, keepdim=True)
    return (x - mean) / torch.sqrt(x.var(axes, keepdim=True, unbiased=unbiased) + eps)


def _centred(x):
    return x - x.mean(-1, keepdim=True)


def _root(x, eps):
    return torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + eps)


_declare = layer_norm.mistake
_declare(
    "unbiased-variance",
    "Your variance divides by n - 1, torch's default. LayerNorm describes these n numbers; it estimates nothing.",
    lambda x, gain, bias, eps: gain * _normalised(x, eps, unbiased=True) + bias,
)
_declare(
    "eps-outside-the-root",
    "Your eps is added to the standard deviation. It belongs to the variance, before the root.",
    lambda x, gain, bias, eps: gain * (x - x.mean(-1, True)) / (x.std(-1, unbiased=False, keepdim=True) + eps) + bias,
)
_declare(
    "unbiased-and-eps-outside",
    "Two things at once, and both come with std(): it divides by n - 1, and eps joins the standard deviation instead "
    "of the variance.",
    lambda x, gain, bias, eps: gain * (x - x.mean(-1, True)) / (x.std(-1, keepdim=True) + eps) + bias,
)
_declare(
    "eps-forgotten",
    "The result does not depend on eps. What happens to a token whose features are all equal?",
    lambda x, gain, bias, eps: gain * _normalised(x, 0) + bias,
    lambda x, gain, bias, eps: gain * _normalised(x, 1e-5) + bias,
)
_declare(
    "over-the-batch",
    "Your mean runs over the first axis: over other sequences, as in BatchNorm. Each token is normalised on its own.",
    lambda x, gain, bias, eps: gain * _normalised(x, eps, 0) + bias,
    lambda x, gain, bias, eps: gain * _normalised(x, eps, tuple(range(x.dim() - 1))) + bias,
)
_declare(
    "over-length-and-features",
    "Your mean runs over several axes, so tokens leak into each other. Each token is normalised on its own.",
    lambda x, gain, bias, eps: gain * _normalised(x, eps, (-2, -1)) + bias,
    lambda x, gain, bias, eps: gain * _normalised(x, eps, tuple(range(1, x.dim()))) + bias,
    lambda x, gain, bias, eps: gain * _normalised(x, eps, tuple(range(x.dim()))) + bias,
)
_declare(
    "over-the-length",
    "Your mean runs over the tokens, feature by feature. Each token is normalised on its own.",
    lambda x, gain, bias, eps: gain * _normalised(x, eps, -2) + bias,
    lambda x, gain, bias, eps: gain * _normalised(x, eps, 1) + bias,
)
_declare(
    "divided-by-variance",
    "You divide by the variance. After that the spread is not 1: which power of the variance has the unit of x?",
    lambda x, gain, bias, eps: gain * (x - x.mean(-1, True)) / (x.var(-1, unbiased=False, keepdim=True) + eps) + bias,
)
_declare(
    "gain-and-bias-forgotten",
    "Normalised, and nothing more. Two of your arguments have not been used.",
    lambda x, gain, bias, eps: _normalised(x, eps),
)
_declare("gain-forgotten", "One argument has not been used.", lambda x, gain, bias, eps: _normalised(x, eps) + bias)
_declare("bias-forgotten", "One argument has not been used.", lambda x, gain, bias, eps: _normalised(x, eps) * gain)
_declare(
    "bias-before-gain",
    "You multiply the bias by the gain as well. Check the order.",
    lambda x, gain, bias, eps: gain * (_normalised(x, eps) + bias),
)
_declare(
    "mean-not-subtracted",
    "The spread is right, but the tokens are not centred.",
    lambda x, gain, bias, eps: gain * x / torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + eps) + bias,
)
_declare(
    "squares-of-x",
    "You average the squares of x itself. The variance is the mean of the squared distances from the mean.",
    lambda x, gain, bias, eps: gain * _centred(x) / torch.sqrt((x**2).mean(-1, True) + eps) + bias,
    lambda x, gain, bias, eps: gain * x / torch.sqrt((x**2).mean(-1, True) + eps) + bias,
)
_declare(
    "variance-is-a-sum",
    "Your variance adds up the squared distances. It is their mean: which number is left to divide by?",
    lambda x, gain, bias, eps: gain * _centred(x) / torch.sqrt((_centred(x) ** 2).sum(-1, True) + eps) + bias,
)
_declare(
    "gain-before-the-norm",
    "The gain comes too early. First mean 0 and variance 1, and only then times gain.",
    lambda x, gain, bias, eps: _normalised(gain * x, eps) + bias,
    lambda x, gain, bias, eps: (gain * x - x.mean(-1, True)) / _root(x, eps) + bias,
)
_declare(
    "gain-and-bias-exchanged",
    "Gain and bias have changed places: you multiply by the bias and add the gain.",
    lambda x, gain, bias, eps: bias * _normalised(x, eps) + gain,
)
_declare(
    "keepdim-forgotten",
    "After the mean the last axis is gone, so broadcasting meets the wrong axis. Keep it, with size 1.",
    lambda x, gain, bias, eps: gain * (x - x.mean(-1)) / torch.sqrt(x.var(-1, unbiased=False) + eps) + bias,
)


_declare = feed_forward.mistake
_declare(
    "no-activation",
    "ReLU is missing. Without it between them, two matrix products are one matrix product.",
    lambda x, w1, b1, w2, b2: (x @ w1 + b1) @ w2 + b2,
)
_declare(
    "activation-last",
    "ReLU comes at the end, so the result can never be negative. It belongs between the two matrix products.",
    lambda x, w1, b1, w2, b2: F.relu((x @ w1 + b1) @ w2 + b2),
)
_declare(
    "activation-twice",
    "The ReLU between the two products is right. The second one, at the end, is too many: the output may be negative.",
    lambda x, w1, b1, w2, b2: F.relu(F.relu(x @ w1 + b1) @ w2 + b2),
)
_declare(
    "bias-forgotten",
    "There are two biases. Is each of them added?",
    lambda x, w1, b1, w2, b2: F.relu(x @ w1) @ w2,
    lambda x, w1, b1, w2, b2: F.relu(x @ w1) @ w2 + b2,
    lambda x, w1, b1, w2, b2: F.relu(x @ w1 + b1) @ w2,
)
_declare(
    "activation-before-bias",
    "ReLU comes before the first bias. Add the bias first: it decides from where on ReLU lets a number through.",
    lambda x, w1, b1, w2, b2: (F.relu(x @ w1) + b1) @ w2 + b2,
)
_declare(
    "gelu-instead-of-relu",
    "A different activation: this exercise wants the paper's. BERT's comes later.",
    lambda x, w1, b1, w2, b2: F.gelu(x @ w1 + b1) @ w2 + b2,
    lambda x, w1, b1, w2, b2: F.gelu(x @ w1 + b1, approximate="tanh") @ w2 + b2,
)
_declare(
    "weights-transposed",
    "Rows are tokens: the matrices are used as they are. nn.Linear and F.linear keep them transposed.",
    lambda x, w1, b1, w2, b2: F.relu(x @ w1.T + b1) @ w2.T + b2,
    lambda x, w1, b1, w2, b2: F.linear(F.relu(F.linear(x, w1, b1)), w2, b2),
)
_declare(
    "residual-added",
    "You add x at the end. The residual comes in the next exercise, around this function.",
    lambda x, w1, b1, w2, b2: x + F.relu(x @ w1 + b1) @ w2 + b2,
)


_no_residual = "No residual: x itself never reaches the sum. What lets a deep stack keep what it has?"
_other = "This is the other order. Where does the norm stand: after the sum, or before the sublayer?"
_normed = "The residual comes from the normalised x. The path past the sublayer should carry x itself."
_no_norm = "The norm has not been used."
_part = "Only the sublayer's output is normalised. What does this order normalise: a part, or the sum?"

_declare = post_norm.mistake
_declare("the-other-one", _other, layers.pre_norm)
_declare(
    "residual-from-normalised-x",
    _normed,
    lambda x, sublayer, norm: norm(x) + sublayer(x),
    lambda x, sublayer, norm: norm(x) + sublayer(norm(x)),
    lambda x, sublayer, norm: norm(norm(x) + sublayer(x)),
    lambda x, sublayer, norm: norm(norm(x) + sublayer(norm(x))),
)
_declare(
    "no-residual", _no_residual, lambda x, sublayer, norm: norm(sublayer(x)), lambda x, sublayer, norm: sublayer(x)
)
_declare("norm-of-the-sublayer-only", _part, lambda x, sublayer, norm: x + norm(sublayer(x)))
_declare("no-norm", _no_norm, lambda x, sublayer, norm: x + sublayer(x))
_declare(
    "both-orders",
    "You normalise before the sublayer and after the sum. Post-norm does one of the two.",
    lambda x, sublayer, norm: norm(x + sublayer(norm(x))),
)

_declare = pre_norm.mistake
_declare("the-other-one", _other, layers.post_norm)
_declare("residual-from-normalised-x", _normed, lambda x, sublayer, norm: norm(x) + sublayer(norm(x)))
_declare(
    "norm-on-the-residual",
    "The norm stands on the path past the sublayer. Its place is on the way into the sublayer.",
    lambda x, sublayer, norm: norm(x) + sublayer(x),
)
_declare(
    "sum-goes-through-the-sublayer",
    "You add before the sublayer, so everything goes through it. Which path leads past it?",
    lambda x, sublayer, norm: sublayer(x + norm(x)),
)
_declare(
    "no-residual", _no_residual, lambda x, sublayer, norm: sublayer(norm(x)), lambda x, sublayer, norm: sublayer(x)
)
_declare("norm-of-the-sublayer-only", _part, lambda x, sublayer, norm: x + norm(sublayer(x)))
_declare("no-norm", _no_norm, lambda x, sublayer, norm: x + sublayer(x))
_declare(
    "both-orders",
    "You normalise before the sublayer and after the sum. Pre-norm does one of the two.",
    lambda x, sublayer, norm: norm(x + sublayer(norm(x))),
)
