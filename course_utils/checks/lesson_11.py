"""Exercises of lesson 11: the decoder."""

import torch

from course_utils.checks.engine import exercise
from course_utils.checks.inputs import matrices


@exercise(
    lambda: [
        matrices((1, 3, 4), (1, 5, 4), (4, 6), (4, 6), (4, 5), size=0.8),
        matrices((3, 3, 4), (3, 3, 4), (4, 4), (4, 4), (4, 4), size=0.8),
        matrices((5, 6), (2, 6), (6, 3), (6, 3), (6, 6), size=0.8),
        matrices((2, 3, 4, 5), (2, 3, 6, 5), (5, 2), (5, 2), (5, 4), dtype=torch.float64),
    ]
)
def cross_attention(decoder_x, encoder_x, w_q, w_k, w_v):
    """One head, no mask: (..., target, d_model), (..., source, d_model), three matrices -> (..., target, d_v)."""
    query, key, value = decoder_x @ w_q, encoder_x @ w_k, encoder_x @ w_v
    return torch.softmax(query @ key.transpose(-2, -1) / w_q.shape[-1] ** 0.5, dim=-1) @ value


def _attend(query, key, value, *, scale=None, causal=None, axis=-1, softmax=torch.softmax, mix=torch.matmul):
    """Attention with its parts open; ``causal``: the shape of a mask, from the lengths of target and source."""
    scores = query @ key.transpose(-2, -1) / (query.shape[-1] ** 0.5 if scale is None else scale)
    if causal:
        mask = torch.ones(causal(*scores.shape[-2:]), dtype=torch.bool).tril()
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return mix(softmax(scores, axis), value)


def _from(query, key, value):
    """Attention whose three inputs come from elsewhere; d is the decoder's x, e the encoder's."""

    def way(decoder_x, encoder_x, w_q, w_k, w_v):
        x = {"d": decoder_x, "e": encoder_x}
        return _attend(x[query] @ w_q, x[key] @ w_k, x[value] @ w_v)

    return way


def _with(**options):
    """The right query, key and value, and another attention."""
    return lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, **options)


def _transposed(transpose):
    """Attention with another idea of how to transpose the keys."""
    return lambda d, e, w_q, w_k, w_v: (
        torch.softmax(d @ w_q @ transpose(e @ w_k) / w_q.shape[-1] ** 0.5, dim=-1) @ (e @ w_v)
    )


def _together(d, e, w_q, w_k, w_v):
    both = torch.cat([e, d], dim=-2)
    return _attend(d @ w_q, both @ w_k, both @ w_v)


def _flattened(d, e, w_q, w_k, w_v):
    """All sentences of the batch as one: every target token sees every source."""
    source = e.reshape(-1, e.shape[-1])
    return _attend(d @ w_q, source @ w_k, source @ w_v)


_declare = cross_attention.mistake
_declare(
    "query-and-key-value-swapped",
    "Here the source asks and the translation answers: one vector for each source token comes out. "
    "Who needs to know something, and who has it?",
    _from("e", "d", "d"),
)
_declare(
    "all-from-the-decoder",
    "This is self-attention: the encoder's output is not used, so the translation never sees the sentence. "
    "What is looked at, and what is carried back, comes from encoder_x.",
    _from("d", "d", "d"),
)
_declare(
    "all-from-the-encoder",
    "This is the encoder's self-attention: the decoder's tokens are not used. Who asks here?",
    _from("e", "e", "e"),
)
_declare(
    "key-and-value-from-different-sides",
    "A key and its value belong to the same token. One of yours comes from the decoder and one from the encoder.",
    _from("d", "d", "e"),
    _from("d", "e", "d"),
    _from("e", "d", "e"),
    _from("e", "e", "d"),
)
_declare(
    "causal-mask",
    "You hide a part of the source. It was there, whole, before the first word was written: nothing has to be hidden.",
    _with(causal=lambda target, source: (target, source)),
    _with(causal=lambda target, source: (target, target)),
    _with(causal=lambda target, source: (source, source)),
)
_declare(
    "attends-to-both",
    "Keys and values hold the decoder's tokens as well as the encoder's. The decoder looks at its own in "
    "self-attention; this step looks at the source only.",
    _together,
)
_declare(
    "mixes-the-batch",
    "You made one long source of the whole batch. Each sentence looks at its own source only.",
    _flattened,
)
_declare(
    "no-scale",
    "The scores are not scaled. Cross-attention is scaled like any other: divide by the root of d_k.",
    _with(scale=1.0),
)
_declare(
    "scaled-by-another-size",
    "You scale by another size than d_k, the width of a query: by d_model, the value's width, or a length.",
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, scale=d.shape[-1] ** 0.5),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, scale=w_v.shape[-1] ** 0.5),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, scale=e.shape[-2] ** 0.5),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, scale=d.shape[-2] ** 0.5),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, scale=len(d) ** 0.5),
)
_declare(
    "divided-by-d-k",
    "You divide by d_k itself. It is the root of d_k that brings the variance back to 1.",
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, scale=w_q.shape[-1]),
)
_declare(
    "scaled-after-softmax",
    "You scale the weights, so they no longer add up to 1. Scale the scores.",
    _with(scale=1.0, mix=lambda weights, value: weights / (value.shape[-1] ** 0.5) @ value),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_v, scale=1.0) / w_q.shape[-1] ** 0.5,
)
_declare(
    "wrong-axis",
    "Your softmax runs along the wrong axis. For one target token, the weights on all source tokens add up to 1.",
    _with(axis=-2),
    _with(axis=0),
    _with(axis=1),
)
_declare(
    "no-softmax",
    "The scores go straight to the values. What turns a row of scores into shares that add up to 1?",
    _with(softmax=lambda scores, axis: scores),
)
_declare(
    "returns-the-weights",
    "These are the attention weights, and they are right. One step is left: what are they weights of?",
    _with(mix=lambda weights, value: weights),
)
_declare(
    "key-projection-for-both",
    "Keys and values come from the same tokens, but through two matrices: w_k for the keys, w_v for the values.",
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e @ w_k),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_v, e @ w_v),
)
_declare(
    "projections-exchanged",
    "The matrices are mixed up. w_q makes queries, w_k keys, w_v values.",
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_k, e @ w_q, e @ w_v),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_v, e @ w_k),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_q, e @ w_v),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_k, e @ w_k, e @ w_v),
)
_declare(
    "projection-forgotten",
    "A projection is missing: queries, keys and values are x times a matrix, each with its own.",
    lambda d, e, w_q, w_k, w_v: _attend(d, e, e),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e),
    lambda d, e, w_q, w_k, w_v: _attend(d, e, e @ w_v),
)
_declare(
    "weights-transposed",
    "Rows are tokens, so a projection is x @ w. With square matrices x @ w.T gives no error; nn.Linear stores the "
    "transpose, we don't.",
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q.T, e @ w_k.T, e @ w_v.T),
)
_declare(
    "transpose-ignores-the-batch",
    "Your transpose is right for one matrix, but the inputs may have batch axes in front. Swap the last two axes only.",
    _transposed(lambda k: k.permute(*range(k.dim() - 1, -1, -1))),
    _transposed(lambda k: k.transpose(0, 1)),
    _transposed(lambda k: k.transpose(1, 2)),
    _transposed(lambda k: k.t()),
)
_declare(
    "key-not-transposed",
    "The keys are not transposed. With square matrices no error tells you; what does entry (i, j) of q @ k mean?",
    _transposed(lambda k: k),
)
_declare(
    "residual-added",
    "The sum with decoder_x comes later, in add & norm. Return what attention gathered.",
    lambda d, e, *w: d + cross_attention.reference(d, e, *w),
)


def _targets(batch, length, seed, dtype=torch.int64):
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randperm(40, generator=generator)[:length] + 10 for _ in range(batch)]).to(dtype)


@exercise(
    lambda: [
        (_targets(1, 5, 0), 1),
        (_targets(3, 4, 1), 2),
        (_targets(3, 3, 2), 7),
        (_targets(2, 1, 3), 1),
        (_targets(2, 6, 4, torch.int32), 5),
    ],
    gradients=False,
)
def shift_right(targets, bos_id):
    """The start symbol in front, the last token gone: (batch, length) -> (batch, length), same integers."""
    start = torch.full_like(targets[:, :1], bos_id)
    return torch.cat([start, targets[:, :-1]], dim=1)


def _start(targets, bos_id):
    return torch.full_like(targets[:, :1], bos_id)


def _long_start(targets, bos_id):
    """As torch.full makes it: int64, whatever the targets are."""
    return torch.full((len(targets), 1), bos_id)


def _put(place, start=None, shift=lambda targets: targets.roll(1, dims=1)):
    """A shifted copy in which ``place`` holds the start symbol, or another number."""

    def way(targets, bos_id):
        shifted = shift(targets).clone()
        shifted[place] = bos_id if start is None else start
        return shifted

    return way


def _smeared(first):
    """A loop from left to right that reads what it has just overwritten."""

    def way(targets, bos_id):
        shifted = targets.clone()
        if first:
            shifted[:, 0] = bos_id
        for t in range(1, shifted.shape[1]):
            shifted[:, t] = shifted[:, t - 1]
        shifted[:, 0] = bos_id
        return shifted

    return way


_first, _last = (slice(None), 0), (slice(None), -1)
_declare = shift_right.mistake
_declare(
    "shifted-left",
    "You shifted to the left: position t now holds the token after the one it must predict. The decoder is fed what "
    "came before.",
    lambda targets, bos_id: torch.cat([targets[:, 1:], _start(targets, bos_id)], dim=1),
    lambda targets, bos_id: torch.cat([targets[:, 1:], targets[:, -1:]], dim=1),
    lambda targets, bos_id: torch.cat([targets[:, 1:], _long_start(targets, bos_id)], dim=1),
    lambda targets, bos_id: targets.roll(-1, dims=1),
    lambda targets, bos_id: targets[:, 1:],
    _put(_last, 0, lambda targets: targets.roll(-1, dims=1)),
    _put(_first, None, lambda targets: targets.roll(-1, dims=1)),
)
_declare(
    "not-shifted",
    "The tokens have not moved: at position t the decoder is fed the very token it must predict.",
    lambda targets, bos_id: targets.clone(),
)
_declare(
    "start-overwrites-the-first-token",
    "The start symbol stands where the first token stood, and the others have not moved. They all move one place to "
    "the right; it is the last one that goes.",
    _put(_first, shift=lambda targets: targets),
)
_declare(
    "start-at-the-end",
    "The start symbol stands at the end. It is the first thing that the decoder is fed.",
    lambda targets, bos_id: torch.cat([targets[:, :-1], _start(targets, bos_id)], dim=1),
    lambda targets, bos_id: torch.cat([targets[:, :-1], _long_start(targets, bos_id)], dim=1),
    lambda targets, bos_id: torch.cat([targets, _start(targets, bos_id)], dim=1),
    lambda targets, bos_id: torch.cat([targets, _long_start(targets, bos_id)], dim=1),
    _put(_last),
)
_declare(
    "length-grown",
    "Your result is one token longer than the targets. Nothing follows the last token here, so it needn't be fed: "
    "leave it out.",
    lambda targets, bos_id: torch.cat([_start(targets, bos_id), targets], dim=1),
    lambda targets, bos_id: torch.cat([_long_start(targets, bos_id), targets], dim=1),
)
_declare(
    "length-shrunk",
    "The last token is gone, but the start symbol is missing in front. (targets[:, :-1] alone is right where the "
    "targets begin with it. Ours don't.)",
    lambda targets, bos_id: targets[:, :-1],
)
_declare(
    "wraps-around",
    "The last token comes back in at the front, as torch.roll does it. There stands the start symbol.",
    lambda targets, bos_id: targets.roll(1, dims=1),
)
_declare(
    "leaks-from-the-row-above",
    "You shifted the whole table as one long row, so a sentence begins with the end of the one above.",
    lambda targets, bos_id: targets.roll(1),
    _put((0, 0), shift=lambda targets: targets.roll(1)),
)
_declare(
    "only-the-first-row",
    "Only the first sentence of the batch is right. x[0] is a row; a column is x[:, 0].",
    _put((0, 0)),
    _put((0, 0), shift=lambda targets: torch.cat([targets[:1].roll(1, dims=1), targets[1:]])),
    lambda targets, bos_id: torch.cat([shift_right.reference(targets[:1], bos_id), targets[1:]]),
    lambda targets, bos_id: shift_right.reference(targets[:1], bos_id),
)
_declare(
    "along-the-batch",
    "You shifted from sentence to sentence. The tokens of one sentence lie along the second axis.",
    lambda targets, bos_id: torch.cat([torch.full_like(targets[:1], bos_id), targets[:-1]], dim=0),
    lambda targets, bos_id: targets.roll(1, dims=0),
    _put(0, shift=lambda targets: targets),
    _put(_first, shift=lambda targets: targets.roll(1, dims=0)),
)
_declare(
    "another-start",
    "The tokens have moved, but the first column does not hold bos_id. Use the argument: vocabularies differ.",
    *(_put(_first, start) for start in (0, 1, -1, 2, -100)),
    lambda targets, bos_id: torch.cat([targets[:, :1], targets[:, :-1]], dim=1),
)
_declare(
    "shifted-twice",
    "The tokens moved by two. One is enough: position t is fed the token just before the one it predicts.",
    lambda targets, bos_id: shift_right.reference(shift_right.reference(targets, bos_id), bos_id),
)
_declare(
    "overwritten-on-the-way",
    "One token is smeared over the whole row: your loop reads what it has just written. Read from the targets, or go "
    "from right to left.",
    _smeared(True),
    _smeared(False),
)
_declare(
    "one-axis-missing",
    "You took the targets for one sentence. They are a batch: shape (batch, length).",
    lambda targets, bos_id: torch.cat([torch.tensor([bos_id]), targets[:-1]]),
    lambda targets, bos_id: torch.cat([torch.tensor([bos_id]), targets[:, :-1]], dim=1),
    lambda targets, bos_id: torch.cat([torch.tensor([[bos_id]]), targets[:, :-1]], dim=1),
)
_declare(
    "start-has-another-dtype",
    "The ids are right, but they changed their dtype: your start symbol has its own. "
    "targets.new_full(...) and torch.full_like(...) take that of the targets.",
    lambda targets, bos_id: torch.cat([_long_start(targets, bos_id), targets[:, :-1]], dim=1),
    lambda targets, bos_id: shift_right.reference(targets, bos_id).long(),
)
