"""Exercises of lesson 11: how widely a head looks."""

import math

import torch

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import normal

SMALL = (1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # what is added in the log by those who don't like its minus infinity


def _cases():
    a = normal(4, 5, size=2).softmax(-1)
    b = normal(2, 3, 4, 4, seed=1).softmax(-1)
    c = normal(3, 4, seed=2, dtype=torch.float64).softmax(-1)
    c = torch.cat([c, torch.tensor([[0.9995, 4e-4, 9.8e-5, 2e-6]], dtype=c.dtype)])  # small, but not 0
    hidden = (a * torch.tensor([1.0, 1, 0, 1, 0])) / (a[:, [0, 1, 3]].sum(-1, keepdim=True))
    causal = b.tril() / b.tril().sum(-1, keepdim=True)  # the first row looks at one token only: entropy 0
    return [(hidden,), (causal,), (b,), (normal(1, 3, 5, seed=3).softmax(-1),), (c,), (torch.eye(3)[:2],)]


# The slope of w log w at w = 0 is infinite, and some formulations divide by the row's sum: gradients may differ.
@exercise(_cases, gradients="reach")
def head_entropy(weights):
    """The entropy of each row of weights in nats, 0 log 0 being 0: (..., queries, keys) -> (..., queries)."""
    return torch.special.entr(weights).sum(dim=-1)


def _terms(weights):
    return torch.special.entr(weights)


def _naive(weights):
    return -weights * weights.log()


def _plus(number):
    """The terms with a number added in the log."""
    return lambda weights: -weights * (weights + number).log()


def _itself(x):
    return x


def _entropy(*, prepare=_itself, terms=_terms, gather=torch.sum, axis=-1, sign=1, base=math.e, finish=_itself):
    """The entropy with its parts open."""
    return lambda weights: finish(sign * gather(terms(prepare(weights)), dim=axis) / math.log(base))


head_entropy.mistake(
    "nan-at-zero",
    (
        "The log of 0 is minus infinity, and 0 times that is NaN. A weight of 0 adds nothing to the entropy: give log "
        "something it can take there, for instance with torch.where or torch.special.xlogy.",
        "Which number has the logarithm 0? If log sees that one wherever a weight is 0, the product is 0 as well.",
    ),
    _entropy(terms=_naive),
    _entropy(terms=_naive, base=10),
    lambda weights: -(weights * weights.log()).sum(),
    lambda weights: -(weights.log() * weights).sum(-1, keepdim=True),
)
head_entropy.mistake(
    "nan-replaced-too-late",
    (
        "You replace NaN in the sums. But one NaN has swallowed the whole sum by then, and the other keys of that "
        "query are lost: it has to be done for each key, before the sum.",
        "A query with the weights 0.5, 0.5 and 0 has the entropy log 2 = 0.69. What does yours get?",
    ),
    _entropy(terms=_naive, finish=lambda entropy: entropy.nan_to_num(0.0)),
)
head_entropy.mistake(
    "small-number-in-the-log",
    (
        "You keep the log away from 0 with a number so large that it shows in the result. Only a weight of exactly 0 "
        "needs help: torch.where and torch.special.xlogy leave all others as they are.",
        "A weight of 1 adds nothing to the entropy, since log 1 = 0. What is log(1 + your number)?",
    ),
    *(_entropy(terms=_plus(number)) for number in SMALL),
    *(lambda weights, e=e: -(weights * weights.clamp(min=e).log()).sum(-1) for e in SMALL[1:-1]),
)
head_entropy.mistake(
    "other-base",
    (
        "Your numbers differ from the wanted ones by one constant factor: that of another base of the logarithm. "
        "Nats are wanted, so the natural logarithm, torch.log.",
        "Two equal weights: 0.69 nats, 1 bit. Which of the two do you get?",
    ),
    *(_entropy(base=base) for base in (2, 10)),
)
head_entropy.mistake(
    "wrong-axis",
    (
        "Your sums run along another axis than the keys. One query shares out its attention among the keys, along the "
        "last axis; there has to be one number for each query.",
        "weights[..., q, k] says how much query q looks at key k. Over which of the two do you add?",
    ),
    *(_entropy(axis=axis) for axis in (-2, 0, 1)),
)
head_entropy.mistake(
    "sign",
    (
        "The right size with the wrong sign. The log of a weight below 1 is negative, and an entropy is not.",
        "For one weight of 0.5, what is 0.5 * log 0.5? And what should it add to the entropy?",
    ),
    _entropy(sign=-1),
)
head_entropy.mistake(
    "one-number-for-all",
    (
        "One number for each query is wanted. You went on and put the queries together, by a sum or a mean.",
        "weights has shape (..., queries, keys), the result (..., queries). Print the shape of yours.",
    ),
    lambda weights: _terms(weights).sum(),
    lambda weights: _terms(weights).mean(),
    lambda weights: _terms(weights).sum(-1).mean(),
    lambda weights: _terms(weights).sum(-1).mean(-1),
    lambda weights: _terms(weights).sum((-2, -1)),
)
head_entropy.mistake(
    "mean-not-sum",
    (
        "A mean over the keys divides by their number. The weights say already how much each key counts: add.",
        "With four equal weights of 0.25 the entropy is log 4 = 1.39. Yours is a quarter of that.",
    ),
    _entropy(gather=torch.mean),
)
head_entropy.mistake(
    "not-weighted",
    (
        "Each log has to be multiplied by its weight before they are added: a key that is hardly looked at counts "
        "little.",
        "How surprising a key is, -log of its weight, is one thing; how often it comes is another. The entropy is the "
        "mean surprise.",
    ),
    lambda weights: -weights.log().sum(-1),
    lambda weights: -weights.log().mean(-1),
)
head_entropy.mistake(
    "softmax-again",
    (
        "The weights have been through softmax. A second one flattens them, and the entropy comes out too large.",
        "A row such as (1, 0, 0) has the entropy 0. What does a softmax make of it?",
    ),
    _entropy(prepare=lambda weights: weights.softmax(-1)),
)
head_entropy.mistake(
    "share-of-the-largest",
    (
        "This is the entropy divided by the largest one possible, log of the number of keys. It is wanted as it is.",
        "With four equal weights you get 1, and log 4 = 1.39 is wanted.",
    ),
    lambda weights: _terms(weights).sum(-1) / math.log(weights.shape[-1]),
)
head_entropy.mistake(
    "distance-from-even",
    (
        "You measure how far the weights are from equal shares: log of the number of keys, minus the entropy. The "
        "entropy itself is wanted.",
        "A query that looks at one key only has the entropy 0, and equal weights have the largest. Yours is the other "
        "way round.",
    ),
    lambda weights: math.log(weights.shape[-1]) - _terms(weights).sum(-1),
)
head_entropy.mistake(
    "exponential-of-it",
    (
        "You have gone one step on: exp of the entropy, the number of keys that are looked at. The entropy is wanted.",
        "With four equal weights you get 4, and log 4 = 1.39 is wanted.",
    ),
    _entropy(finish=torch.exp),
)
head_entropy.mistake(
    "not-summed",
    (
        "These are the terms, one for each query and key. Add them up over the keys.",
        "weights has shape (..., queries, keys), the result (..., queries). Which axis has to go?",
    ),
    _terms,
)
head_entropy.mistake(
    "axis-kept",
    (
        "The sums are right, but the axis of the keys is still there, with size 1. Leave keepdim out.",
        "Print the shape of your result: what is the 1 at its end?",
    ),
    lambda weights: _terms(weights).sum(-1, keepdim=True),
)
head_entropy.together(
    _entropy,
    {
        "nan-at-zero": {"terms": _naive},
        "small-number-in-the-log": {"terms": _plus(1e-6), "gather": torch.sum},  # in a mean it is too small to see
        "other-base": {"base": 2},
        "wrong-axis": {"axis": -2},
        "sign": {"sign": -1},
        "mean-not-sum": {"gather": torch.mean, "finish": _itself},
        "softmax-again": {"prepare": lambda weights: weights.softmax(-1), "terms": _terms},  # no weight is 0 then
        "one-number-for-all": {"finish": torch.mean},
        "exponential-of-it": {"finish": torch.exp},
    },
)


@head_entropy.sight
def _from_one_key_to_all(candidate):
    from lesson_kit import show

    rows = [[1, 0, 0, 0], [0.7, 0.1, 0.1, 0.1], [0.5, 0.5, 0, 0], [0.25] * 4]
    weights = torch.tensor(rows, dtype=torch.float64)
    entropy = candidate(weights)
    numbers = torch.cat([weights, entropy[:, None], entropy.exp()[:, None]], dim=1)
    columns = ["key 1", "key 2", "key 3", "key 4", "your entropy", "exp of it"]
    return show.matrix(numbers, columns=columns, title="exp of the entropy: as if so many keys were looked at evenly")
