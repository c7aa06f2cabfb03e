"""Exercises of lesson 10: how widely a head looks."""

import math

import torch

from course_utils.checks.engine import exercise
from course_utils.checks.inputs import normal

SMALL = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # what is added in the log by those who don't like its minus infinity


def _cases():
    a = normal(4, 5, size=2).softmax(-1)
    b = normal(2, 3, 4, 4, seed=1).softmax(-1)
    c = normal(3, 4, seed=2, dtype=torch.float64).softmax(-1)
    c = torch.cat([c, torch.tensor([[0.9995, 4e-4, 9.8e-5, 2e-6]], dtype=c.dtype)])  # small, but not 0
    hidden = (a * torch.tensor([1.0, 1, 0, 1, 0])) / (a[:, [0, 1, 3]].sum(-1, keepdim=True))
    causal = b.tril() / b.tril().sum(-1, keepdim=True)  # the first row looks at one token only: entropy 0
    return [(hidden,), (causal,), (b,), (c,), (torch.eye(3)[:2],)]


# The slope of w log w at w = 0 is infinite, and some formulations divide by the row's sum: gradients may differ.
@exercise(_cases, gradients="reach")
def head_entropy(weights):
    """The entropy of each row of weights in nats, 0 log 0 being 0: (..., queries, keys) -> (..., queries)."""
    return torch.special.entr(weights).sum(dim=-1)


def _naive(weights, axis=-1, log=torch.log):
    return -(weights * log(weights)).sum(axis)


def _terms(weights):
    return torch.special.entr(weights)


_declare = head_entropy.mistake
_declare(
    "nan-at-zero",
    "The log of 0 is minus infinity, and 0 times that is NaN. A weight of 0 adds nothing to the entropy: give log "
    "something it can take there, for instance with torch.where or torch.special.xlogy.",
    *(
        lambda weights, sign=sign, axis=axis, log=log: sign * _naive(weights, axis, log)
        for sign in (1, -1)
        for axis in (-1, -2)
        for log in (torch.log, torch.log2, torch.log10)
    ),
    lambda weights: -(weights * weights.log()).mean(-1),
    lambda weights: -(weights * weights.log()).sum(),
    lambda weights: -(weights.log() * weights).sum(-1, keepdim=True),
)
_declare(
    "small-number-in-the-log",
    "You keep the log away from 0 with a number so large that it shows in the result. Only a weight of exactly 0 "
    "needs help: torch.where and torch.special.xlogy leave all others as they are.",
    *(lambda weights, e=e: -(weights * (weights + e).log()).sum(-1) for e in SMALL),
    *(lambda weights, e=e: -(weights * weights.clamp(min=e).log()).sum(-1) for e in SMALL[:-1]),
)
_declare(
    "other-base",
    "Your numbers differ from the wanted ones by one constant factor: that of another base of the logarithm. "
    "Nats are wanted, so the natural logarithm, torch.log.",
    *(lambda weights, base=base: _terms(weights).sum(-1) / math.log(base) for base in (2, 10)),
)
_declare(
    "wrong-axis",
    "Your sums run along another axis than the keys. One query shares out its attention among the keys, along the "
    "last axis; there has to be one number for each query.",
    *(lambda weights, axis=axis: _terms(weights).sum(axis) for axis in (-2, 0, 1)),
)
_declare(
    "sign",
    "The right size with the wrong sign. The log of a weight below 1 is negative, and an entropy is not.",
    lambda weights: -_terms(weights).sum(-1),
)
_declare(
    "one-number-for-all",
    "One number for each query is wanted. You went on and put the queries together, by a sum or a mean.",
    lambda weights: _terms(weights).sum(),
    lambda weights: _terms(weights).mean(),
    lambda weights: _terms(weights).sum(-1).mean(),
    lambda weights: _terms(weights).sum(-1).mean(-1),
    lambda weights: _terms(weights).sum((-2, -1)),
)
_declare(
    "mean-not-sum",
    "A mean over the keys divides by their number. The weights say already how much each key counts: add.",
    lambda weights: _terms(weights).mean(-1),
)
_declare(
    "not-weighted",
    "Each log has to be multiplied by its weight before they are added: a key that is hardly looked at counts little.",
    lambda weights: -weights.log().sum(-1),
    lambda weights: -weights.log().mean(-1),
)
_declare(
    "softmax-again",
    "The weights have been through softmax. A second one flattens them, and the entropy comes out too large.",
    lambda weights: _terms(weights.softmax(-1)).sum(-1),
)
_declare(
    "share-of-the-largest",
    "This is the entropy divided by the largest one possible, log of the number of keys. It is wanted as it is.",
    lambda weights: _terms(weights).sum(-1) / math.log(weights.shape[-1]),
)
_declare(
    "exponential-of-it",
    "You have gone one step on: exp of the entropy, the number of keys that are looked at. The entropy is wanted.",
    lambda weights: _terms(weights).sum(-1).exp(),
)
_declare(
    "not-summed",
    "These are the terms, one for each query and key. Add them up over the keys.",
    _terms,
)
_declare(
    "axis-kept",
    "The sums are right, but the axis of the keys is still there, with size 1. Leave keepdim out.",
    lambda weights: _terms(weights).sum(-1, keepdim=True),
)
