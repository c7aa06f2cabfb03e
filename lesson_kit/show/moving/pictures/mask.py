"""The mask: click who may look at whom, hide before or after the softmax, choose what hidden scores are filled with."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from course_utils import causal_mask
from lesson_kit import examples
from lesson_kit.show.expect import expect_tokens
from lesson_kit.show.moving.page import Moving

MOST = 6  # words
LARGEST = 1000  # score


def mask(scores=None, tokens: Sequence[str] | None = None, may_attend=None) -> Moving:
    """A mask whose cells can be clicked, with the weights that follow from it.

    scores: a square of numbers for ``tokens``, rows look at columns; without them those of "The sky is blue", and a
    padding token of zeros. may_attend: booleans of that shape, where the picture begins; without it the padding is
    hidden, and "sky" may look at "The" and "sky" only. If the last token is "[PAD]", its mask can be chosen.

    Raises:
        TypeError, ValueError: not a square of 2 to 6 rows, not finite or beyond 1000, not as many tokens, or a mask of
            another shape or type.
    """
    if scores is None and (tokens is not None or may_attend is not None):
        raise ValueError("scores is None; expected the scores that the tokens and the mask belong to")
    if scores is None:
        scores, tokens, may_attend = _sky_is_blue()
    try:
        scores = torch.as_tensor(scores, dtype=torch.float64)
    except (TypeError, ValueError):
        raise TypeError(f"scores must be a square of numbers, got {scores!r}") from None
    if scores.dim() != 2 or scores.shape[0] != scores.shape[1] or not 2 <= len(scores) <= MOST:
        raise ValueError(f"scores must be square with 2 to {MOST} rows, got the shape {tuple(scores.shape)}")
    if not (scores.abs() <= LARGEST).all():
        raise ValueError(f"scores must be numbers between -{LARGEST} and {LARGEST}")
    tokens = [f"x{i + 1}" for i in range(len(scores))] if tokens is None else expect_tokens(tokens)
    if len(tokens) != len(scores):
        raise ValueError(f"tokens must be as many as rows: got {len(tokens)} for {len(scores)}")
    may_attend = torch.ones(scores.shape, dtype=torch.bool) if may_attend is None else torch.as_tensor(may_attend)
    if may_attend.dtype != torch.bool:
        raise TypeError(f"may_attend must be boolean, True = may attend; got {may_attend.dtype}")
    if may_attend.shape != scores.shape:
        raise ValueError(
            f"may_attend must have the shape of scores, {tuple(scores.shape)}, got {tuple(may_attend.shape)}"
        )
    data = {"tokens": tokens, "scores": scores.tolist(), "mask": may_attend.tolist(), "row": min(1, len(tokens) - 1)}
    return Moving("mask", data, lambda: _draw(scores, tokens))


def _sky_is_blue() -> tuple[Tensor, list[str], Tensor]:
    """Lesson 03's example: the four words' scores, and a token of zeros, whose scores are all 0."""
    example = examples.sky_is_blue()
    scores = torch.zeros(5, 5, dtype=torch.float64)
    scores[:4, :4] = (example.x @ example.w_q) @ (example.x @ example.w_k).T / math.sqrt(64)
    may_attend = torch.ones(5, 5, dtype=torch.bool)
    may_attend[:, 4] = False
    may_attend[1, 2:] = False
    return scores, [*example.tokens, "[PAD]"], may_attend


def _draw(scores: Tensor, tokens: list[str]):
    """What stands still: no mask, a causal mask before the softmax, and the same after it."""
    from lesson_kit.show.heatmaps import HeatMaps

    causal = causal_mask(len(tokens))
    plain = scores.softmax(dim=-1)
    before = scores.masked_fill(~causal, -math.inf).softmax(dim=-1)
    after = plain * causal
    titles = ["no mask", "causal mask before the softmax", "after it: rows don't sum to 1"]
    sums = ", ".join(f"{token} {total:.2f}" for token, total in zip(tokens, after.sum(dim=-1).tolist(), strict=True))
    alt = (
        f"Three heat maps of weights from 0 to 1 for {', '.join(tokens)}. Left without a mask; in the middle with a "
        "causal mask before the softmax: hatched above the diagonal, and each row sums to 1. Right with the same mask "
        f"after the softmax: the visible weights stay as on the left, so the rows sum to: {sums}."
    )
    return HeatMaps([plain, before, after], titles, tokens, tokens, mask=[None, causal, causal], alt=alt).draw()
