"""Exercises of lesson 07: the encoder."""

import torch
import torch.nn.functional as F

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import itself, mixing_function, norm_function, normal, token_function


def _layer_cases():
    return [
        (normal(2, 3, 4), mixing_function(4), token_function(4), norm_function(4), norm_function(4, seed=1)),
        (normal(5, 6), mixing_function(6), token_function(6), norm_function(6), norm_function(6, seed=1)),
        (normal(2, 3, 4), itself, itself, norm_function(4), norm_function(4, seed=1)),
        (normal(1, 4, 4), mixing_function(4, seed=1), token_function(4), norm_function(4), norm_function(4, seed=1)),
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


def _in_order(one, other):
    return one, other


def _swapped(one, other):
    return other, one


def _from_first(x, middle):
    return x


def _from_middle(x, middle):
    return middle


def _from_nowhere(x, middle):
    return 0


def _layer(
    *, norms=_in_order, sublayers=_in_order, pre=False, first=_from_first, second=_from_middle, read=_from_middle
):
    """The layer with its parts open.

    ``first``, ``second``: what is added to what the two sublayers give; ``read``: what the second sublayer gets.
    """

    def half(x, past, sublayer, norm):
        return past + sublayer(norm(x)) if pre else norm(past + sublayer(x))

    def layer(x, attention, feed_forward, norm1, norm2):
        norm1, norm2 = norms(norm1, norm2)
        attention, feed_forward = sublayers(attention, feed_forward)
        middle = half(x, first(x, x), attention, norm1)
        return half(read(x, middle), second(x, middle), feed_forward, norm2)

    return layer


def _residual_before_the_norm(x, attention, feed_forward, norm1, norm2):
    x = x + attention(x)
    return norm2(x + feed_forward(norm1(x)))


def _norm_inside(x, attention, feed_forward, norm1, norm2):
    x = x + norm1(attention(x))
    return x + norm2(feed_forward(x))


def _nothing(x):
    """In place of a norm."""
    return x


encoder_layer.mistake(
    "one-norm-used-twice",
    (
        "One of the two norms is used twice. Each has its own gain and bias, learned for its place.",
        "Go through your function and tick off the five arguments. Which norm is left over?",
    ),
    _layer(norms=lambda one, other: (one, one)),
    _layer(norms=lambda one, other: (other, other)),
)
encoder_layer.mistake(
    "norms-swapped",
    (
        "Both norms are used, but in each other's place.",
        "norm1 belongs to the first half of the layer, the one with attention. Which of yours runs first?",
    ),
    _layer(norms=_swapped),
)
encoder_layer.mistake(
    "pre-norm",
    (
        "You normalise before each sublayer. The paper and BERT add first and normalise the sum.",
        "What is the last thing that happens to your result, an addition or a norm? The layer's name says it: add & "
        "norm.",
    ),
    _layer(pre=True),
)
encoder_layer.mistake(
    "second-residual-from-the-first-input",
    (
        "The second sum goes back to the layer's input and skips the first half. What went into the feed-forward "
        "network?",
        "Follow the arrow that bypasses the feed-forward network in the figure, backwards: where does it start?",
    ),
    _layer(second=_from_first),
)
encoder_layer.mistake(
    "second-residual-from-before-the-norm",
    (
        "The feed-forward network reads the normalised sum, but the second residual takes the sum from before the "
        "norm. Both start at the same place.",
        "In post-norm nothing goes past a norm: name what leaves the first norm, and use that name in both places.",
    ),
    _residual_before_the_norm,
)
encoder_layer.mistake(
    "feed-forward-of-the-first-input",
    (
        "The feed-forward network gets the layer's input. It should work on what attention has gathered.",
        "After the first half there is a new vector for each token. Does your second line mention it twice?",
    ),
    _layer(read=_from_first),
)
encoder_layer.mistake(
    "side-by-side",
    (
        "Both sublayers read the layer's input, side by side. Here they come one after the other, each with its own "
        "add & norm. (Some later models do put them side by side.)",
        "How many sums are in the figure, and how many norms? The second half begins where the first norm ends.",
    ),
    lambda x, attention, feed_forward, norm1, norm2: norm2(x + attention(x) + feed_forward(x)),
    lambda x, attention, feed_forward, norm1, norm2: norm1(x + attention(x) + feed_forward(x)),
    lambda x, attention, feed_forward, norm1, norm2: norm2(norm1(x + attention(x) + feed_forward(x))),
)
encoder_layer.mistake(
    "no-residual",
    (
        "A residual is missing: each of the two sublayers has its way past it.",
        "Suppose both sublayers gave zeros. A token should still be there after each half: is it, in yours?",
    ),
    _layer(first=_from_nowhere),
    _layer(second=_from_nowhere),
    _layer(first=_from_nowhere, second=_from_nowhere),
)
encoder_layer.mistake(
    "norm-of-the-sublayer-only",
    (
        "You normalise what the sublayer gives, and add x afterwards. Then the sum itself is never normalised.",
        "Which is inside the brackets of your norm: one thing, or a sum of two?",
    ),
    _norm_inside,
)
encoder_layer.mistake(
    "a-norm-is-missing",
    (
        "There are two sums, and each is normalised.",
        "Tick off the five arguments in your function: which norm has not been called?",
    ),
    _layer(norms=lambda one, other: (one, _nothing)),
    _layer(norms=lambda one, other: (_nothing, other)),
    _layer(norms=lambda one, other: (_nothing, _nothing)),
)
encoder_layer.mistake(
    "sublayers-swapped",
    (
        "First the feed-forward network, then attention: the other order is wanted.",
        "A token should first gather what the others know, and then think about it. Which of the two does each?",
    ),
    _layer(sublayers=_swapped),
)
encoder_layer.mistake(
    "half-a-layer",
    (
        "One of the two halves is missing: attention gathers, the feed-forward network thinks about it.",
        "Four functions come in, and each is called once. Which of them do you call?",
    ),
    lambda x, attention, feed_forward, norm1, norm2: norm1(x + attention(x)),
    lambda x, attention, feed_forward, norm1, norm2: norm2(x + feed_forward(x)),
)
encoder_layer.together(
    _layer,
    {
        "one-norm-used-twice": {"norms": lambda one, other: (one, one)},
        "norms-swapped": {"norms": _swapped},
        "pre-norm": {"pre": True},
        "second-residual-from-the-first-input": {"second": _from_first},
        # With the residual from the first input too, only half a layer is left.
        "feed-forward-of-the-first-input": {"read": _from_first, "second": _from_middle},
        "no-residual": {"first": _from_nowhere, "second": _from_nowhere},
        "a-norm-is-missing": {"norms": lambda one, other: (one, _nothing)},
        "sublayers-swapped": {"sublayers": _swapped},
    },
)


@encoder_layer.sight
def _in_which_order(candidate):
    from lesson_kit import show

    steps = []

    def spread(x):
        return f"{x.std(dim=-1, correction=0).mean():.2f}"

    def watched(name, function):
        def call(x):
            y = function(x)
            steps.append((name, spread(x), spread(y)))
            return y

        return call

    norm = watched("norm1", lambda x: F.layer_norm(x, (4,))), watched("norm2", lambda x: F.layer_norm(x, (4,)))
    sublayers = watched("attention", mixing_function(4)), watched("feed_forward", token_function(4))
    candidate(2 * normal(3, 4), *sublayers, *norm)
    names = [f"{number}. {name}" for number, (name, *_) in enumerate(steps, start=1)]
    title = "What your layer calls, and how far the numbers of a token spread (standard deviation):"
    return show.matrix([numbers for _, *numbers in steps], names, ["going in", "coming out"], title)
