"""Exercises of lesson 03: masks. True means "may attend"."""

import torch

from course_utils import masks
from course_utils.checks.engine import exercise
from course_utils.checks.inputs import normal


@exercise(lambda: [(4,), (1,), (2,), (7,)], gradients=False)
def causal_mask(length):
    """Who may look at whom when nobody may look ahead: boolean (length, length), rows are queries."""
    return masks.causal_mask(length)


@exercise(
    lambda: [
        (torch.tensor([2, 4, 1]), 5),
        (torch.tensor([3, 0, 5, 2, 4]), 5),
        (torch.tensor([1]), 3),
    ],
    gradients=False,
)
def padding_mask(lengths, max_length):
    """True where a token is real, False where it is padding: (batch,) -> boolean (batch, max_length)."""
    return masks.padding_mask(lengths, max_length)


def _scores_mask():
    first = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 0, 0], [1, 1, 0, 1, 1]]).bool()
    level = torch.tensor([[5.0], [5.0], [6.0], [-300.0]])
    keys = torch.tensor([[1, 1, 0, 1], [0, 0, 0, 0]]).bool()
    return [
        (normal(4, 5) + level, first),
        (normal(2, 3, 5, 4, seed=1) + 5, keys[:, None, None, :]),
        (normal(2, 4, 5, seed=2, dtype=torch.float64) + level, first),
        (normal(3, 4, seed=3) + torch.tensor([[5.0], [150.0], [6.0]]), keys[0]),
    ]


@exercise(_scores_mask)
def masked_softmax(scores, mask):
    """Softmax over the last axis among the True entries only; a row without any gives zeros. The mask broadcasts."""
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)


def _lower(length, diagonal=0):
    return torch.ones(length, length).tril(diagonal)


_float = "A mask of this course is boolean. Which question, with yes or no as its answer, does each entry answer?"

_declare = causal_mask.mistake
_declare(
    "inverted",
    "Your True means hidden. In this course True means: may attend.",
    lambda length: _lower(length) == 0,
)
_declare(
    "diagonal-hidden",
    "A position must see itself. In yours the first one sees nothing at all.",
    lambda length: _lower(length, -1).bool(),
)
_declare(
    "upper-triangle",
    "Rows are queries, columns are keys. In yours, the first token sees all that follows and the last only itself.",
    lambda length: _lower(length).T.bool(),
)
_declare(
    "one-too-many",
    "Your diagonal is moved by one: a position sees the one after it.",
    lambda length: _lower(length, 1).bool(),
)
_declare(
    "float-instead-of-boolean",
    _float,
    _lower,
    lambda length: (1 - _lower(length)) * 1.0,
    lambda length: torch.zeros(length, length).masked_fill(_lower(length) == 0, -torch.inf),
    lambda length: torch.zeros(length, length).masked_fill(_lower(length) == 0, -1e9),
)


def _steps(max_length):
    return torch.arange(max_length)


_declare = padding_mask.mistake
_declare(
    "inverted",
    "Your True marks the padding. In this course True means: may be looked at.",
    lambda lengths, m: _steps(m) >= lengths[:, None],
)
_declare(
    "off-by-one",
    "Count again: a sequence of length 2 has real tokens at positions 0 and 1. Yours has one too many or too few.",
    lambda lengths, m: _steps(m) <= lengths[:, None],
    lambda lengths, m: _steps(m) < lengths[:, None] - 1,
    lambda lengths, m: _steps(m) + 1 < lengths[:, None],
)
_declare(
    "one-length-for-all",
    "All your rows are alike. Every sequence has its own length.",
    lambda lengths, m: (_steps(m) < lengths[0]).expand(len(lengths), m),
    lambda lengths, m: (_steps(m) < lengths[-1]).expand(len(lengths), m),
    lambda lengths, m: (_steps(m) < lengths.max()).expand(len(lengths), m),
    lambda lengths, m: (_steps(m) < lengths.min()).expand(len(lengths), m),
)
_declare(
    "no-second-axis",
    "You compare the positions with the lengths one by one. Every position should meet every length: give lengths a "
    "second axis, of size 1.",
    lambda lengths, m: _steps(m) < lengths,
    lambda lengths, m: _steps(m) >= lengths,
    lambda lengths, m: _steps(m) <= lengths,
)
_declare(
    "max-length-ignored",
    "Your mask is as wide as the longest sequence. The batch may be padded further: how wide is asked for?",
    lambda lengths, m: _steps(int(lengths.max())) < lengths[:, None],
)
_declare(
    "padding-in-front",
    "Your rows start with the padding. Here the real tokens come first.",
    lambda lengths, m: _steps(m) >= m - lengths[:, None],
)
_declare(
    "float-instead-of-boolean",
    _float,
    lambda lengths, m: (_steps(m) < lengths[:, None]).float(),
    lambda lengths, m: (_steps(m) >= lengths[:, None]).float(),
    lambda lengths, m: torch.zeros(len(lengths), m).masked_fill(_steps(m) >= lengths[:, None], -torch.inf),
)


def _filled(scores, mask, number):
    return torch.softmax(scores.masked_fill(~mask, number), dim=-1)


def _zero_when_empty(weights, mask):
    return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)


_declare = masked_softmax.mistake
_declare(
    "inverted",
    "You look exactly where looking is forbidden. True means: may attend.",
    lambda scores, mask: masked_softmax.reference(scores, ~mask),
    lambda scores, mask: _filled(scores, ~mask, -torch.inf),
    lambda scores, mask: _filled(scores, ~mask, -1e9),
)
_declare(
    "mask-after-softmax",
    "You mask the finished weights, so what is left of a row no longer adds up to 1. "
    "Hidden keys must not take part in the competition.",
    lambda scores, mask: torch.softmax(scores, dim=-1) * mask,
)
_declare(
    "filled-with-zero",
    "A score of 0 is no zero weight: exp(0) is 1. Which score has an exponential of 0?",
    lambda scores, mask: _filled(scores, mask, 0.0),
    lambda scores, mask: _filled(scores, mask, 0.0) * mask,
    lambda scores, mask: _zero_when_empty(_filled(scores, mask, 0.0), mask),
)
_declare(
    "small-negative-fill",
    "Your fill is negative, but not enough: in a row of very low scores the hidden keys win. "
    "What is below every number?",
    lambda scores, mask: _filled(scores, mask, -10.0),
    lambda scores, mask: _filled(scores, mask, -10.0) * mask,
    lambda scores, mask: _zero_when_empty(_filled(scores, mask, -10.0), mask),
    lambda scores, mask: torch.softmax(scores + ~mask * -10.0, dim=-1),
    lambda scores, mask: torch.softmax(scores + ~mask * -10.0, dim=-1) * mask,
    lambda scores, mask: _zero_when_empty(torch.softmax(scores + ~mask * -10.0, dim=-1), mask),
)
_declare(
    "nan-on-an-empty-row",
    "A row with nothing to attend to becomes 0 / 0. It should give zeros: which step needs to know about it?",
    lambda scores, mask: _filled(scores, mask, -torch.inf),
)
_declare(
    "empty-row-attends",
    "No NaN, but a row with nothing to attend to still hands out weights, to hidden keys. It should give zeros.",
    lambda scores, mask: _filled(scores, mask, torch.finfo(scores.dtype).min),
    *(  # added, the fill keeps some of the scores
        lambda scores, mask, number=number: torch.softmax(scores + ~mask * number, dim=-1)
        for number in (-100.0, -1e4, -1e9)
    ),
)
_declare(
    "exp-times-mask",
    "On paper this is the formula. In float numbers exp overflows for high scores and vanishes for low ones, before "
    "you divide. Take away the largest visible score of each row first, or hide the scores and leave exp to softmax.",
    *(  # where exp overflows, the product with the mask and the filled one differ
        lambda scores, mask, visible=visible, share=share: share(visible(scores, mask))
        for visible in (lambda s, m: s.exp() * m, lambda s, m: s.exp().masked_fill(~m, 0.0))
        for share in (
            lambda e: e / e.sum(-1, keepdim=True),
            lambda e: e / e.sum(-1, keepdim=True).clamp(min=1e-9),
            lambda e: e / e.sum(-1, keepdim=True).clamp(min=torch.finfo(e.dtype).tiny),
            lambda e: (e / e.sum(-1, keepdim=True)).nan_to_num(0.0),
        )
    ),
)
_declare(
    "mask-added",
    "You add the mask as numbers: True counts 1, False 0. That is a small bonus for the visible keys, not a ban.",
    lambda scores, mask: torch.softmax(scores + mask, dim=-1),
)
_declare(
    "mask-ignored",
    "The result does not depend on the mask. Does masked_fill return a new tensor, or change the old one?",
    lambda scores, mask: torch.softmax(scores, dim=-1),
)
_declare(
    "wrong-axis",
    "Your softmax runs along another axis than the last.",
    *(
        lambda scores, mask, axis=axis: torch.softmax(
            scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=axis
        ).masked_fill(~mask, 0.0)
        for axis in (0, 1, -2)
    ),
)
