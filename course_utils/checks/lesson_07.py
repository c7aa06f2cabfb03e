"""Exercises of lesson 07: the encoder."""

import torch

from course_utils.checks.engine import exercise
from course_utils.checks.inputs import itself, mixing_function, norm_function, normal, token_function


def _layer_cases():
    return [
        (normal(2, 3, 4), mixing_function(4), token_function(4), norm_function(4), norm_function(4, seed=1)),
        (normal(5, 6), mixing_function(6), token_function(6), norm_function(6), norm_function(6, seed=1)),
        (normal(2, 3, 4), itself, itself, norm_function(4), norm_function(4, seed=1)),
        (
            normal(3, 2, 5, dtype=torch.float64),
            mixing_function(5),
            token_function(5),
            norm_function(5),
            norm_function(5, seed=1),
        ),
    ]


@exercise(_layer_cases, once=True)
def encoder_layer(x, attention, feed_forward, norm1, norm2):
    """Attention, add & norm, feed-forward, add & norm (post-norm). Calls each of the four functions once."""
    x = norm1(x + attention(x))
    return norm2(x + feed_forward(x))
