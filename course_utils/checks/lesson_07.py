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


_declare = encoder_layer.mistake


def _pre(x, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x))
    return x + feed_forward(norm2(x))


def _second_from_first(x, attention, feed_forward, norm1, norm2):
    return norm2(x + feed_forward(norm1(x + attention(x))))


def _feed_forward_of_input(x, attention, feed_forward, norm1, norm2):
    return norm2(norm1(x + attention(x)) + feed_forward(x))


def _no_residual(first, second):
    """The right layer, but for the residuals: kept where ``first`` and ``second`` are 1, dropped where they are 0."""

    def layer(x, attention, feed_forward, norm1, norm2):
        x = norm1(first * x + attention(x))
        return norm2(second * x + feed_forward(x))

    return layer


_declare(
    "one-norm-used-twice",
    "One of the two norms is used twice. Each has its own gain and bias, learned for its place.",
    lambda x, attention, feed_forward, norm1, norm2: encoder_layer.reference(x, attention, feed_forward, norm1, norm1),
    lambda x, attention, feed_forward, norm1, norm2: encoder_layer.reference(x, attention, feed_forward, norm2, norm2),
)
_declare(
    "norms-swapped",
    "Both norms are used, but in each other's place.",
    lambda x, attention, feed_forward, norm1, norm2: encoder_layer.reference(x, attention, feed_forward, norm2, norm1),
)
_declare(
    "pre-norm",
    "You normalise before each sublayer. The paper and BERT add first and normalise the sum.",
    _pre,
)
_declare(
    "second-residual-from-the-first-input",
    "The second sum goes back to the layer's input and skips the first half. What went into the feed-forward network?",
    _second_from_first,
)
_declare(
    "feed-forward-of-the-first-input",
    "The feed-forward network gets the layer's input. It should work on what attention has gathered.",
    _feed_forward_of_input,
)
_declare(
    "no-residual",
    "A residual is missing: each of the two sublayers has its way past it.",
    _no_residual(0, 1),
    _no_residual(1, 0),
    _no_residual(0, 0),
)
_declare(
    "a-norm-is-missing",
    "There are two sums, and each is normalised.",
    lambda x, attention, feed_forward, norm1, norm2: encoder_layer.reference(
        x, attention, feed_forward, norm1, lambda x: x
    ),
    lambda x, attention, feed_forward, norm1, norm2: encoder_layer.reference(
        x, attention, feed_forward, lambda x: x, norm2
    ),
    lambda x, attention, feed_forward, norm1, norm2: encoder_layer.reference(
        x, attention, feed_forward, lambda x: x, lambda x: x
    ),
)
_declare(
    "sublayers-swapped",
    "First the feed-forward network, then attention: the other order is wanted.",
    lambda x, attention, feed_forward, norm1, norm2: encoder_layer.reference(x, feed_forward, attention, norm1, norm2),
)
_declare(
    "half-a-layer",
    "One of the two halves is missing: attention gathers, the feed-forward network thinks about it.",
    lambda x, attention, feed_forward, norm1, norm2: norm1(x + attention(x)),
    lambda x, attention, feed_forward, norm1, norm2: norm2(x + feed_forward(x)),
)
