"""Exercises of lesson 13: the decoder."""

import torch

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import LOOK_UNDER_THE_ROOT, SAME_NUMBER, WIDTHS, matrices


@exercise(
    lambda: [
        matrices((1, 3, 4), (1, 5, 4), (4, 6), (4, 6), (4, 5), size=0.8),
        matrices((3, 3, 4), (3, 3, 4), (4, 4), (4, 4), (4, 4), size=0.8),
        matrices((5, 6), (2, 6), (6, 3), (6, 3), (6, 6), size=0.8),
        matrices((2, 3, 4), (2, 1, 4), (4, 3), (4, 3), (4, 5), size=0.8),  # one token to look at: its weight is 1
        matrices((2, 3, 4, 5), (2, 3, 6, 5), (5, 2), (5, 2), (5, 4), dtype=torch.float64),
    ]
)
def cross_attention(decoder_x, encoder_x, w_q, w_k, w_v):
    """One head, no mask: (..., target, d_model), (..., source, d_model), three matrices -> (..., target, d_v)."""
    query, key, value = decoder_x @ w_q, encoder_x @ w_k, encoder_x @ w_v
    return torch.softmax(query @ key.transpose(-2, -1) / w_q.shape[-1] ** 0.5, dim=-1) @ value


def _cross(
    *, sides="dee", project=None, scale=None, hide=None, axis=-1, softmax=torch.softmax, mix=torch.matmul, finish=None
):
    """Cross-attention with its parts open.

    ``sides``: where queries, keys and values come from, the decoder or the encoder. ``hide``: the shape of a causal
    mask, from the lengths of target and source. ``scale``: from the two inputs, the query and the value.
    """

    def way(decoder_x, encoder_x, *weights):
        weights = weights if project is None else project(*weights)
        from_side = {"d": decoder_x, "e": encoder_x}
        query, key, value = (from_side[side] @ w for side, w in zip(sides, weights, strict=True))
        scores = query @ key.transpose(-2, -1)
        scores = scores / (query.shape[-1] ** 0.5 if scale is None else scale(decoder_x, encoder_x, query, value))
        if hide:
            mask = torch.ones(hide(*scores.shape[-2:]), dtype=torch.bool).tril()
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        output = mix(softmax(scores, axis), value)
        return output if finish is None else finish(output, decoder_x, query)

    return way


def _attend(query, key, value):
    return torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, dim=-1) @ value


def _transposed(transpose):
    """Attention with another idea of how to transpose the keys."""
    return lambda d, e, w_q, w_k, w_v: (
        torch.softmax(d @ w_q @ transpose(e @ w_k) / w_q.shape[-1] ** 0.5, dim=-1) @ (e @ w_v)
    )


def _of_both(d, e, w_q, w_k, w_v):
    both = torch.cat([e, d], dim=-2)
    return _attend(d @ w_q, both @ w_k, both @ w_v)


def _flattened(d, e, w_q, w_k, w_v):
    """All sentences of the batch as one: every target token sees every source."""
    source = e.reshape(-1, e.shape[-1])
    return _attend(d @ w_q, source @ w_k, source @ w_v)


def _keys_ask(d, e, w_q, w_k, w_v):
    scores = e @ w_k @ (d @ w_q).transpose(-2, -1) / w_q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ (e @ w_v)


def _unscaled(d, e, query, value):
    return 1.0


def _scaled_mix(weights, value):
    return weights / value.shape[-1] ** 0.5 @ value


def _plus_decoder(output, decoder_x, query):
    return decoder_x + output


cross_attention.mistake(
    "query-and-key-value-swapped",
    (
        "Here the source asks and the translation answers: one vector for each source token comes out. "
        "Who needs to know something, and who has it?",
        "With 3 target and 5 source tokens, how many vectors should come out? There is one for each query.",
    ),
    _cross(sides="edd"),
)
cross_attention.mistake(
    "all-from-the-decoder",
    (
        "This is self-attention: the encoder's output is not used, so the translation never sees the sentence. "
        "What is looked at, and what is carried back, comes from encoder_x.",
        "Three projections, two inputs. The query belongs to the one who asks; what about the other two?",
    ),
    _cross(sides="ddd"),
)
cross_attention.mistake(
    "all-from-the-encoder",
    (
        "This is the encoder's self-attention: the decoder's tokens are not used. Who asks here?",
        "There must be one result for each target token. Which of your three projections decides how many rows come "
        "out?",
    ),
    _cross(sides="eee"),
)
cross_attention.mistake(
    "key-and-value-from-different-sides",
    (
        "A key and its value belong to the same token. One of yours comes from the decoder and one from the encoder.",
        "A key says what a token can be found by, the value what it hands over once it is found. With 5 source tokens "
        "there are 5 of each: print both shapes.",
    ),
    *(_cross(sides=sides) for sides in ("dde", "ded", "ede", "eed")),
)
cross_attention.mistake(
    "causal-mask",
    (
        "You hide a part of the source. It was there, whole, before the first word was written: nothing has to be "
        "hidden.",
        "The mask is for words that are still to be written. Which of the two sentences has such words?",
    ),
    _cross(hide=lambda target, source: (target, source)),
    _cross(hide=lambda target, source: (target, target)),
    _cross(hide=lambda target, source: (source, source)),
)
cross_attention.mistake(
    "attends-to-both",
    (
        "Keys and values hold the decoder's tokens as well as the encoder's. The decoder looks at its own in "
        "self-attention; this step looks at the source only.",
        "With 3 target and 5 source tokens, each query should have 5 weights. Print the shape of yours.",
    ),
    _of_both,
)
cross_attention.mistake(
    "mixes-the-batch",
    (
        "You made one long source of the whole batch. Each sentence looks at its own source only.",
        "Print the shape of your scores: the batch axes stand in front, and the last two are (target, source).",
    ),
    _flattened,
)
cross_attention.mistake(
    "no-scale",
    (
        "The scores are not scaled. Cross-attention is scaled like any other: divide by the root of d_k.",
        "Compare your lines with those of lesson 02: what happens between the product and softmax?",
    ),
    _cross(scale=_unscaled),
)
cross_attention.mistake(
    "scaled-by-another-size",
    (
        "You scale by another size than d_k, the width of a query: by d_model, the value's width, or a length.",
        "A score adds up products of a query's and a key's numbers: how many? Print query.shape and the number that "
        "you use.",
    ),
    _cross(scale=lambda d, e, query, value: d.shape[-1] ** 0.5),
    _cross(scale=lambda d, e, query, value: value.shape[-1] ** 0.5),
    _cross(scale=lambda d, e, query, value: e.shape[-2] ** 0.5),
    _cross(scale=lambda d, e, query, value: d.shape[-2] ** 0.5),
    _cross(scale=lambda d, e, query, value: len(d) ** 0.5),
)
cross_attention.mistake(
    "fixed-width",
    (
        SAME_NUMBER,
        "Try a query of 4 features, then a wider one: what do you divide by each time? " + LOOK_UNDER_THE_ROOT,
    ),
    *(_cross(scale=lambda d, e, query, value, width=width: width**0.5) for width in WIDTHS),
)
cross_attention.mistake(
    "divided-by-d-k",
    (
        "You divide by d_k itself. It is the root of d_k that brings the variance back to 1.",
        "The variance of a score grows to d_k. Divide a number by c, and its variance is divided by the square of c.",
    ),
    _cross(scale=lambda d, e, query, value: query.shape[-1]),
)
cross_attention.mistake(
    "scaled-after-softmax",
    (
        "You scale the weights, so they no longer add up to 1. Scale the scores.",
        "Print the sums of the rows of your weights right before they are multiplied by the values.",
    ),
    _cross(scale=_unscaled, mix=_scaled_mix),
    _cross(scale=_unscaled, finish=lambda output, decoder_x, query: output / query.shape[-1] ** 0.5),
)
cross_attention.mistake(
    "wrong-axis",
    (
        "Your softmax runs along the wrong axis. For one target token, the weights on all source tokens add up to 1.",
        "Scores have the shape (..., target, source). Which of the two do you share the attention out among?",
    ),
    *(_cross(axis=axis) for axis in (-2, 0, 1)),
)
cross_attention.mistake(
    "no-softmax",
    (
        "The scores go straight to the values. What turns a row of scores into shares that add up to 1?",
        "Print one row of your scores: are there numbers below 0? Can a share be that?",
    ),
    _cross(softmax=lambda scores, axis: scores),
)
cross_attention.mistake(
    "value-inside-softmax",
    (
        "The values went into the softmax. First decide how much to look where, then mix: the values come last.",
        "Look at your brackets: what stands inside those of softmax? Only scores belong there.",
    ),
    _cross(softmax=lambda scores, axis: scores, finish=lambda output, *rest: torch.softmax(output, dim=-1)),
)
cross_attention.mistake(
    "returns-the-weights",
    (
        "These are the attention weights, and they are right. One step is left: what are they weights of?",
        "Each row says how much to take from each source token. Which of your three projections is it that is taken?",
    ),
    _cross(mix=lambda weights, value: weights),
)
cross_attention.mistake(
    "keys-times-queries",
    (
        "Your product has the keys on the left, so its rows are source tokens. One row for each target token is "
        "wanted: who asks stands on the left.",
        "With 3 target and 5 source tokens the scores have the shape (3, 5). Print yours.",
    ),
    _keys_ask,
)
cross_attention.mistake(
    "key-projection-for-both",
    (
        "Keys and values come from the same tokens, but through two matrices: w_k for the keys, w_v for the values.",
        "Tick off the five arguments in your function: which matrix is not used, or used twice?",
    ),
    _cross(project=lambda w_q, w_k, w_v: (w_q, w_k, w_k)),
    _cross(project=lambda w_q, w_k, w_v: (w_q, w_v, w_v)),
)
cross_attention.mistake(
    "projections-exchanged",
    (
        "The matrices are mixed up. w_q makes queries, w_k keys, w_v values.",
        "Say for each of your three products which tokens it takes, what it makes of them, and with which matrix.",
    ),
    _cross(project=lambda w_q, w_k, w_v: (w_k, w_q, w_v)),
    _cross(project=lambda w_q, w_k, w_v: (w_q, w_v, w_k)),
    _cross(project=lambda w_q, w_k, w_v: (w_q, w_q, w_v)),
    _cross(project=lambda w_q, w_k, w_v: (w_k, w_k, w_v)),
)
cross_attention.mistake(
    "projection-forgotten",
    (
        "A projection is missing: queries, keys and values are x times a matrix, each with its own.",
        "Tick off the five arguments in your function: which matrix is not used?",
    ),
    lambda d, e, w_q, w_k, w_v: _attend(d, e, e),
    lambda d, e, w_q, w_k, w_v: _attend(d @ w_q, e @ w_k, e),
    lambda d, e, w_q, w_k, w_v: _attend(d, e, e @ w_v),
)
cross_attention.mistake(
    "weights-transposed",
    (
        "Rows are tokens, so a projection is x @ w. With square matrices x @ w.T gives no error; nn.Linear stores the "
        "transpose, we don't.",
        "w_q has shape (d_model, d_k). Which of its axes must meet the last axis of x?",
    ),
    _cross(project=lambda *weights: [w.T for w in weights]),
)
cross_attention.mistake(
    "transpose-ignores-the-batch",
    (
        "Your transpose is right for one matrix, but the inputs may have batch axes in front. Swap the last two axes "
        "only.",
        "For keys of shape (2, 3, 5, 4) the transpose is (2, 3, 4, 5). Counted from the end, which two axes moved?",
    ),
    _transposed(lambda k: k.permute(*range(k.dim() - 1, -1, -1))),
    _transposed(lambda k: k.transpose(0, 1)),
    _transposed(lambda k: k.transpose(1, 2)),
    _transposed(lambda k: k.t()),
)
cross_attention.mistake(
    "key-not-transposed",
    (
        "The keys are not transposed. With square matrices no error tells you; what does entry (i, j) of q @ k mean?",
        "The score of target token i and source token j compares two rows. In a product of matrices, what does row i "
        "of the left side meet?",
    ),
    _transposed(lambda k: k),
)
cross_attention.mistake(
    "residual-added",
    (
        "The sum with decoder_x comes later, in add & norm. Return what attention gathered.",
        "Does decoder_x appear in your function a second time, besides in the queries?",
    ),
    _cross(finish=_plus_decoder),
)
cross_attention.together(
    _cross,
    {
        "query-and-key-value-swapped": {"sides": "edd", "finish": None},
        "all-from-the-decoder": {"sides": "ddd"},
        "all-from-the-encoder": {"sides": "eee", "finish": None},
        "causal-mask": {"hide": lambda target, source: (target, source)},
        "no-scale": {"scale": _unscaled},
        "divided-by-d-k": {"scale": lambda d, e, query, value: query.shape[-1]},
        "fixed-width": {"scale": lambda d, e, query, value: 64**0.5},
        "scaled-after-softmax": {"scale": _unscaled, "mix": _scaled_mix},
        "wrong-axis": {"axis": -2},
        "no-softmax": {"softmax": lambda scores, axis: scores, "axis": -1, "hide": None},
        "returns-the-weights": {"mix": lambda weights, value: weights, "finish": None},
        "key-projection-for-both": {"project": lambda w_q, w_k, w_v: (w_q, w_k, w_k), "mix": torch.matmul},
        "weights-transposed": {"project": lambda *weights: [w.T for w in weights]},
        "residual-added": {"finish": _plus_decoder},
    },
)


@cross_attention.sight
def _who_looks_where(candidate):
    from lesson_kit import show

    target, source = torch.tensor([[3.0, 0, 0], [0, 4, 0], [0, 1, 2]]), torch.eye(3)  # one-hot, so that one can read it
    output = candidate(target, source, torch.eye(3), torch.eye(3), torch.eye(3))
    title = "Your output where the values are one-hot: how much of each source token arrives."
    return show.matrix(output, ["target 1", "target 2", "target 3"], ["source 1", "source 2", "source 3"], title)


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


def _right(start, targets):
    return torch.cat([start, targets[:, :-1]], dim=1)


def _left(start, targets):
    return torch.cat([targets[:, 1:], start], dim=1)


def _at_the_end(start, targets):
    return torch.cat([targets[:, :-1], start], dim=1)


def _grown(start, targets):
    return torch.cat([start, targets], dim=1)


def _shifted(*, move=_right, bos=None, dtype=None):
    """The shift with its parts open: ``bos`` in place of bos_id, and the start symbol's own ``dtype``."""

    def way(targets, bos_id):
        start = torch.full_like(targets[:, :1], bos_id if bos is None else bos, dtype=dtype)
        return move(start, targets)

    return way


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
shift_right.mistake(
    "shifted-left",
    (
        "You shifted to the left: position t now holds the token after the one it must predict. The decoder is fed "
        "what came before.",
        "Write the targets and your result below each other, for 11, 12, 13. Above which token does 12 stand?",
    ),
    _shifted(move=_left),
    lambda targets, bos_id: torch.cat([targets[:, 1:], targets[:, -1:]], dim=1),
    lambda targets, bos_id: targets.roll(-1, dims=1),
    lambda targets, bos_id: targets[:, 1:],
    _put(_first, None, lambda targets: targets.roll(-1, dims=1)),
)
shift_right.mistake(
    "not-shifted",
    (
        "The tokens have not moved: at position t the decoder is fed the very token it must predict.",
        "The first thing that the decoder is fed is the start symbol. What does yours begin with?",
    ),
    lambda targets, bos_id: targets.clone(),
)
shift_right.mistake(
    "start-overwrites-the-first-token",
    (
        "The start symbol stands where the first token stood, and the others have not moved. They all move one place "
        "to the right; it is the last one that goes.",
        "For the targets 11, 12, 13 your first token, 11, is lost. It should be fed where 12 is to be predicted.",
    ),
    _put(_first, shift=lambda targets: targets),
)
shift_right.mistake(
    "start-at-the-end",
    (
        "The start symbol stands at the end. It is the first thing that the decoder is fed.",
        "The first target has nothing before it in the sentence. What is fed there?",
    ),
    _shifted(move=_at_the_end),
    lambda targets, bos_id: torch.cat([targets, torch.full_like(targets[:, :1], bos_id)], dim=1),
    _put(_last),
)
shift_right.mistake(
    "length-grown",
    (
        "Your result is one token longer than the targets. Nothing follows the last token here, so it needn't be fed: "
        "leave it out.",
        "The start symbol is in front, that is right. For targets of shape (3, 4) print the shape of your result.",
    ),
    _shifted(move=_grown),
)
shift_right.mistake(
    "length-shrunk",
    (
        "The last token is gone, but the start symbol is missing in front. (Dropping the last token is enough "
        "where the targets begin with the start symbol. Ours don't.)",
        "For targets of shape (3, 4) a result of the same shape is wanted. What should stand in the missing column?",
    ),
    lambda targets, bos_id: targets[:, :-1],
)
shift_right.mistake(
    "wraps-around",
    (
        "The last token comes back in at the front, as torch.roll does it. There stands the start symbol.",
        "The decoder would be told the last word of the sentence before it has written the first. Which column is to "
        "be replaced?",
    ),
    lambda targets, bos_id: targets.roll(1, dims=1),
)
shift_right.mistake(
    "leaks-from-the-row-above",
    (
        "You shifted the whole table as one long row, so a sentence begins with the end of the one above.",
        "torch.roll without an axis flattens its input first. And which entries get the start symbol: one, or one for "
        "each sentence?",
    ),
    lambda targets, bos_id: targets.roll(1),
    _put((0, 0), shift=lambda targets: targets.roll(1)),
)
shift_right.mistake(
    "only-the-first-row",
    (
        "Only the first sentence of the batch is right. x[0] is a row; a column is x[:, 0].",
        "Try it on three sentences and print the first column of your result: bos_id should stand there three times.",
    ),
    _put((0, 0)),
    _put((0, 0), shift=lambda targets: torch.cat([targets[:1].roll(1, dims=1), targets[1:]])),
    lambda targets, bos_id: torch.cat([shift_right.reference(targets[:1], bos_id), targets[1:]]),
    lambda targets, bos_id: shift_right.reference(targets[:1], bos_id),
)
shift_right.mistake(
    "along-the-batch",
    (
        "You shifted from sentence to sentence. The tokens of one sentence lie along the second axis.",
        "For two sentences, 11 12 13 and 21 22 23, does 11 stand before 12 in your result, or above it?",
    ),
    lambda targets, bos_id: torch.cat([torch.full_like(targets[:1], bos_id), targets[:-1]], dim=0),
    lambda targets, bos_id: targets.roll(1, dims=0),
    _put(0, shift=lambda targets: targets),
    _put(_first, shift=lambda targets: targets.roll(1, dims=0)),
)
shift_right.mistake(
    "another-start",
    (
        "The tokens have moved, but the first column does not hold bos_id. Use the argument: vocabularies differ.",
        "Call your function twice, with bos_id 1 and with bos_id 7. What changes in the result?",
    ),
    *(_shifted(bos=bos) for bos in (0, 1, -1, 2, -100)),
    lambda targets, bos_id: torch.cat([targets[:, :1], targets[:, :-1]], dim=1),
)
shift_right.mistake(
    "shifted-twice",
    (
        "The tokens moved by two. One is enough: position t is fed the token before the one it predicts.",
        "For the targets 11, 12, 13 your result begins with two start symbols. Where should 11 stand?",
    ),
    lambda targets, bos_id: shift_right.reference(shift_right.reference(targets, bos_id), bos_id),
)
shift_right.mistake(
    "overwritten-on-the-way",
    (
        "One token is smeared over the whole row: your loop reads what it wrote a step before. Read from the "
        "targets, or go from right to left.",
        "Play it with 11, 12, 13 on paper: after place 1 has got 11, what does place 2 find there?",
    ),
    _smeared(True),
    _smeared(False),
)
shift_right.mistake(
    "reversed",
    (
        "You turned the sentences round. Shifting keeps the order, and moves every token one place to the right.",
        "For the targets 11, 12, 13 the start symbol comes first, and then which two, in which order?",
    ),
    lambda targets, bos_id: targets.flip(1),
    lambda targets, bos_id: shift_right.reference(targets.flip(1), bos_id),
)
shift_right.mistake(
    "one-axis-missing",
    (
        "You took the targets for one sentence. They are a batch: shape (batch, length).",
        "Each sentence needs a start symbol of its own, so it takes a column of them. Which shape has a column for "
        "three sentences?",
    ),
    lambda targets, bos_id: torch.cat([torch.tensor([bos_id]), targets[:-1]]),
    lambda targets, bos_id: torch.cat([torch.tensor([bos_id]), targets[:, :-1]], dim=1),
    lambda targets, bos_id: torch.cat([torch.tensor([[bos_id]]), targets[:, :-1]], dim=1),
)
shift_right.mistake(
    "start-has-another-dtype",
    (
        "The ids are right, but they changed their dtype: your start symbol has its own. "
        "Which ways to make a tensor take the dtype of another one?",
        "torch.full and torch.tensor make int64 of whole numbers, and int32 joined with int64 is int64. Print the "
        "dtypes of what you join.",
    ),
    _shifted(dtype=torch.int64),
    lambda targets, bos_id: shift_right.reference(targets, bos_id).long(),
)
shift_right.mistake(
    "changed-to-numbers-with-a-point",
    (
        "Your result holds numbers with a point. Ids are whole numbers, rows of a table: torch.ones and torch.zeros "
        "make the others unless they are told.",
        "Print the dtypes of what you join. Which of them is not the targets' own?",
    ),
    _shifted(dtype=torch.float32),
)
shift_right.together(
    _shifted,
    {
        "shifted-left": {"move": _left},
        "start-at-the-end": {"move": _at_the_end},
        "length-grown": {"move": _grown},
        "another-start": {"bos": 0},
        "start-has-another-dtype": {"dtype": torch.int64},
        "changed-to-numbers-with-a-point": {"dtype": torch.float32},
    },
)


@shift_right.sight
def _fed_and_wanted(candidate):
    from lesson_kit import show

    words = ["<bos>", "the", "cat", "sleeps", "<eos>"]
    targets = torch.tensor([[1, 2, 3, 4]])
    rows = [[words[each] for each in ids[0]] for ids in (candidate(targets, 0), targets)]
    places = ["place 0", "1", "2", "3"]
    return show.matrix(rows, ["the decoder is fed", "and must say"], places, "Your shift of one sentence:")
