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
