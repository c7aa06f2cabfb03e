"""Exercises of lesson 18: softmax block by block, and the cache of keys and values."""

import torch
import torch.nn.functional as F

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import LOOK_UNDER_THE_ROOT, SAME_NUMBER, WIDTHS, matrices, normal

# --- online_softmax_sum ------------------------------------------------------------------------


def _cut(scores, value, *sizes):
    """The keys in blocks of these sizes."""
    return list(scores.split(sizes, dim=-1)), list(value.split(sizes))


def _random_blocks(queries, d_v, *sizes, **options):
    return _cut(*matrices((queries, sum(sizes)), (sum(sizes), d_v), **options), *sizes)


def _blocks_cases():
    far = normal(3, 6, size=2)
    return [
        _random_blocks(1, 2, 3),  # one block is the softmax of lesson 01
        _random_blocks(2, 3, 2, 2, size=2),
        _random_blocks(3, 4, 1, 4, 2, 3, size=2),
        _random_blocks(3, 3, 3, 3, 3, size=3, dtype=torch.float64),
        # Where exp of a score, or of a difference of two, is 0 or too large in float32:
        _cut(far + torch.tensor([-120.0, -120, 0, 0, 120, 120]), normal(6, 2, seed=1), 2, 2, 2),  # climbs
        _cut(far + torch.tensor([120.0, 120, 0, 0, -120, -120]), normal(6, 2, seed=2), 2, 2, 2),  # falls
        _cut(far + torch.tensor([[120.0], [0], [60]]), normal(6, 2, seed=3), 3, 3),  # each query at its own height
        _cut(far - 120, normal(6, 2, seed=4), 4, 2),  # all far below 0
        _cut(far + torch.tensor([120.0, -120, -120, 120, 120, -120]), normal(6, 2, seed=5), 2, 2, 2),  # in each block
    ]


@exercise(_blocks_cases)
def online_softmax_sum(scores_blocks, value_blocks):
    """Softmax over all scores, times all values, one block after the other.

    Lists of (queries, block) and (block, d_v), blocks of any sizes -> (queries, d_v).
    """
    return _blockwise()(scores_blocks, value_blocks)


def _fade(old, new):
    """What the old sum and the old output are multiplied by."""
    return torch.exp(old - new), torch.exp(old - new)


def _fade_backwards(old, new):
    return torch.exp(new - old), torch.exp(new - old)


def _no_fade(old, new):
    return 1, 1


def _highest(scores):
    return scores.amax(dim=-1, keepdim=True)


def _one_of(number):
    """Another number of each query's scores than the largest."""
    return lambda scores: number(scores, dim=-1, keepdim=True)


def _larger(old, scores, highest):
    return torch.maximum(old, highest(scores))


def _blockwise(
    *,
    fade=_fade,
    start=None,
    highest=_highest,
    move=_larger,
    axis=-1,
    every_time=False,
    divide=True,
    keepdim=True,
):
    """The one pass over the blocks with its parts open; ``move``: the next maximum, from the old one and the scores."""

    def way(scores_blocks, value_blocks):
        maximum = highest(scores_blocks[0])
        if start is not None:
            maximum = torch.full_like(maximum, start)
        total = output = torch.zeros_like(maximum)
        for scores, value in zip(scores_blocks, value_blocks, strict=True):
            new = move(maximum, scores, highest)
            sum_fades, output_fades = fade(maximum, new)
            weights = torch.exp(scores - new)
            total = total * sum_fades + weights.sum(dim=axis, keepdim=keepdim)
            output = output * output_fades + weights @ value
            maximum = new
            if every_time:
                output = output / total
        return output / total if divide and not every_time else output

    return way


def _new_fades_too(scores_blocks, value_blocks):
    """The new block is added first, then everything is multiplied."""
    maximum, total, output = _highest(scores_blocks[0]), 0, 0
    for scores, value in zip(scores_blocks, value_blocks, strict=True):
        new = _larger(maximum, scores, _highest)
        weights, fade = torch.exp(scores - new), torch.exp(maximum - new)
        total, output, maximum = (total + weights.sum(-1, keepdim=True)) * fade, (output + weights @ value) * fade, new
    return output / total


def _each_block(mix=sum):
    """A softmax of its own for each block."""
    return lambda scores_blocks, value_blocks: mix(
        [torch.softmax(s, dim=-1) @ v for s, v in zip(scores_blocks, value_blocks, strict=True)]
    )


online_softmax_sum.mistake(
    "no-rescaling-when-the-maximum-moves",
    (
        "Your maximum moves, but what was added up before stays as it was. It was measured from the old maximum: what "
        "makes it comparable with what comes now?",
        "Take two blocks with one score each, 1 and then 3. After the first the sum is exp(1 - 1) = 1. Measured from "
        "3 it should be exp(1 - 3): what must the 1 be multiplied by?",
    ),
    _blockwise(fade=_no_fade),
)
online_softmax_sum.mistake(
    "running-sum-not-rescaled",
    (
        "Your weighted values move with the maximum, but the sum that you divide by stays behind. Both were measured "
        "from the old maximum.",
        "Put 1 in place of every value: the result must be 1 for each query, because the weights sum to 1. Print the "
        "sum and the weighted values after each block, and see which of the two goes astray.",
    ),
    _blockwise(fade=lambda old, new: (1, torch.exp(old - new))),
)
online_softmax_sum.mistake(
    "weighted-values-not-rescaled",
    (
        "Your running sum moves with the maximum, but the weighted values that were added up before stay behind. Both "
        "were measured from the old maximum.",
        "Put 1 in place of every value: the result must be 1 for each query. Which of your two running numbers is too "
        "large when the second block has the larger scores?",
    ),
    _blockwise(fade=lambda old, new: (torch.exp(old - new), 1)),
)
online_softmax_sum.mistake(
    "rescaled-the-wrong-way",
    (
        "You rescale, but the wrong way round. When the maximum grows, what was gathered before must count less.",
        "Old maximum 1, new maximum 3: is your factor larger or smaller than 1? And if the old one is minus infinity, "
        "because nothing has come yet?",
    ),
    _blockwise(fade=_fade_backwards),
    _blockwise(fade=_fade_backwards, start=-torch.inf),
)
online_softmax_sum.mistake(
    "new-block-rescaled-too",
    (
        "You rescale after adding the new block. That block is measured from the new maximum already; only what was "
        "there before needs the factor.",
        "Two blocks with one score each, 1 and then 3: what do you get for the weight of the 3, measured from 3?",
    ),
    _new_fades_too,
)
online_softmax_sum.mistake(
    "normalised-per-block",
    (
        "Each block has a softmax of its own, so the weights sum to 1 in each block. They must sum to 1 over all "
        "blocks together: keep the sum, and divide once, at the end.",
        "Two blocks with one score each, 1 and then 3: a softmax over one score is always 1. Which weights should the "
        "two have?",
    ),
    _each_block(),
    _each_block(lambda outputs: sum(outputs) / len(outputs)),
)
online_softmax_sum.mistake(
    "own-maximum-in-each-block",
    (
        "Each block is measured from its own maximum, and then all are added as if they had the same. One scale for "
        "all is needed: the largest score so far.",
        "A block with scores 1 and 1 and one with 9 and 9: measured from its own maximum each gives the exponentials 1 "
        "and 1. Should they have the same weights?",
    ),
    _blockwise(fade=_no_fade, move=lambda old, scores, highest: highest(scores)),
)
online_softmax_sum.mistake(
    "maximum-may-fall",
    (
        "Your maximum follows each block, also down. Then the old part is multiplied by a huge number, and that "
        "overflows: keep the largest score so far.",
        "First a block at 120, then one at -120. What is the factor for the old part, and can float32 hold it? "
        "(The largest number is about 3e38, exp of 88.7.)",
    ),
    _blockwise(move=lambda old, scores, highest: highest(scores)),
)
online_softmax_sum.mistake(
    "no-maximum-subtracted",
    (
        "Right for small scores, but exp(120) is more than float32 can hold. Which number can be subtracted from all "
        "scores of a query without changing its softmax?",
        "In lesson 01 the row's maximum was subtracted. Here you know only the largest score so far; when it grows, "
        "what you have gathered has to follow.",
    ),
    _blockwise(move=lambda old, scores, highest: 0 * old),
)
online_softmax_sum.mistake(
    "one-maximum-for-all-queries",
    (
        "You use one maximum for all queries. Where one query's scores are far below another's, all its exponentials "
        "become 0: each query needs its own.",
        "The maximum belongs to a row of scores: for (queries, block) there is one for each query. Print its shape.",
    ),
    _blockwise(highest=lambda scores: scores.max()),
    _blockwise(highest=lambda scores: scores.amax(dim=0, keepdim=True).amax(dim=1, keepdim=True)),
)
online_softmax_sum.mistake(
    "not-the-largest-subtracted",
    (
        "You subtract a number of each block, but it is the block's mean or its smallest score. A score that lies far "
        "above it still overflows: exp(120) is more than float32 can hold.",
        "A block with the scores 120 and -120 has the mean 0: what goes into exp for the first of them? After which "
        "number has been subtracted is nothing above 0?",
    ),
    *(_blockwise(highest=_one_of(number)) for number in (torch.mean, torch.amin)),
)
online_softmax_sum.mistake(
    "maximum-starts-at-zero",
    (
        "Your maximum begins at 0. If all scores of a query are at -120, it stays there, every exponential is 0, and "
        "0 / 0 is not a number.",
        "Which number is smaller than every score? `torch.maximum` wants it in a tensor, as `torch.full` makes one. Or "
        "take the first block's maximum to begin with.",
    ),
    _blockwise(start=0.0),
)
online_softmax_sum.mistake(
    "divided-at-every-step",
    (
        "You divide by the sum after each block, and go on adding to the divided numbers. Divide once, at the end, "
        "or undo the division before you add.",
        "After the first block your output is divided by the first sum. When the second block comes, what are the two "
        "parts measured in?",
    ),
    _blockwise(every_time=True),
)
online_softmax_sum.mistake(
    "not-normalised",
    (
        "The weighted values are right, but they are not divided by the sum of the weights.",
        "Put 1 in place of every value: what comes out, and what should a weighted mean of ones be?",
    ),
    _blockwise(divide=False),
)
online_softmax_sum.mistake(
    "wrong-axis",
    (
        "Your sum runs over the queries. The weights of one query, over all keys, sum to 1: one sum for each query.",
        "For scores of shape (queries, block), which axis holds the keys? Print the shape of your running sum.",
    ),
    _blockwise(axis=0),
    lambda scores_blocks, value_blocks: torch.softmax(torch.cat(scores_blocks, -1), dim=0) @ torch.cat(value_blocks),
)
online_softmax_sum.mistake(
    "one-block-only",
    (
        "Only one of the blocks is in your result: something is overwritten each time round the loop, or the `return` "
        "stands inside it.",
        "Print how many times your loop runs, and the running sum after each time.",
    ),
    lambda scores_blocks, value_blocks: torch.softmax(scores_blocks[0], dim=-1) @ value_blocks[0],
    lambda scores_blocks, value_blocks: torch.softmax(scores_blocks[-1], dim=-1) @ value_blocks[-1],
)
online_softmax_sum.mistake(
    "keepdim-forgotten",
    (
        "After a sum or a maximum the last axis is gone, so broadcasting lines the numbers up with the wrong axis. "
        "Keep it, with size 1.",
        "For a block of shape (3, 4), print the shape of its maxima and of its sums. (3, 4) and (3,) don't fit, (3, 4) "
        "and (3, 1) do.",
    ),
    _blockwise(keepdim=False),
    _blockwise(highest=lambda scores: scores.amax(dim=-1)),
    _blockwise(highest=lambda scores: scores.amax(dim=-1), keepdim=False),
)
online_softmax_sum.together(
    _blockwise,
    {
        "no-rescaling-when-the-maximum-moves": {"fade": _no_fade},
        # Without the division the sum is not used, so these two would look like others: not combined with it.
        "running-sum-not-rescaled": {"fade": lambda old, new: (1, torch.exp(old - new)), "divide": True},
        "weighted-values-not-rescaled": {"fade": lambda old, new: (torch.exp(old - new), 1), "divide": True},
        "rescaled-the-wrong-way": {"fade": _fade_backwards},
        "one-maximum-for-all-queries": {"highest": lambda scores: scores.max()},
        "maximum-starts-at-zero": {"start": 0.0},
        "not-normalised": {"divide": False},
    },
)


@online_softmax_sum.sight
def _however_cut(candidate):
    from lesson_kit import show

    scores, value = torch.tensor([[1.0, 3.0, 2.0, 120.0, 118.0, 119.0]]), torch.arange(1.0, 13.0).view(6, 2)
    cuts = [(6,), (3, 3), (2, 2, 2), (1, 1, 1, 1, 1, 1)]
    results = torch.cat([candidate(*_cut(scores, value, *sizes)) for sizes in cuts])
    names = ["6 at once", "3 and 3", "2, 2 and 2", "one by one"]
    return show.matrix(results, names, ["first feature", "second"], "Your output for six keys, however they are cut:")


# --- cached_step -------------------------------------------------------------------------------


def _step_case(batch, time, d_model, d_head, **options):
    """One token, the cache of ``time`` earlier ones (None for 0), and three projections."""
    size = {"size": 0.8} | options
    x_t, *weights = matrices((batch, 1, d_model), *[(d_model, d_head)] * 3, **size)
    cache = (normal(batch, time, d_head, seed=10, **size), normal(batch, time, d_head, seed=11, **size))
    return x_t, cache if time else None, *weights


@exercise(
    lambda: [
        _step_case(1, 0, 3, 4),
        _step_case(3, 1, 4, 2),
        _step_case(2, 3, 5, 4, size=1.2),
        _step_case(1, 4, 4, 3),
        _step_case(3, 5, 4, 4),
        _step_case(2, 0, 4, 1, dtype=torch.float64),
        _step_case(3, 4, 6, 5, dtype=torch.float64),
    ]
)
def cached_step(x_t, cache, w_q, w_k, w_v):
    """One step of causal self-attention, one head, with the keys and values of earlier tokens at hand.

    x_t (batch, 1, d_model), cache None or (keys, values), each (batch, time, d_head)
    -> output (batch, 1, d_head), (keys, values), each (batch, time + 1, d_head).
    """
    return _step()(x_t, cache, w_q, w_k, w_v)


def _appended(old, new):
    return torch.cat([old, new], dim=1)


def _everything(cache, new, both):
    """What a step looks at, or leaves in the cache: the cached ones, those of the new token, or both."""
    return both


def _only_new(cache, new, both):
    return new


def _only_old(cache, new, both):
    return new if cache is None else cache


def _step(
    *, join=_appended, look_at=_everything, keep=_everything, scale=None, axis=-1, softmax=torch.softmax, finish=None
):
    """The step with its parts open. ``finish``: what is returned, from output, keys, values and the query."""

    def way(x_t, cache, w_q, w_k, w_v):
        query, new = x_t @ w_q, (x_t @ w_k, x_t @ w_v)
        both = new if cache is None else (join(cache[0], new[0]), join(cache[1], new[1]))
        keys, values = look_at(cache, new, both)
        scores = query @ keys.transpose(-2, -1) / (query.shape[-1] ** 0.5 if scale is None else scale(x_t, keys))
        output = softmax(scores, dim=axis) @ values
        keys, values = keep(cache, new, both)
        return (output, (keys, values)) if finish is None else finish(output, keys, values, query)

    return way


def _none_not_handled(x_t, cache, w_q, w_k, w_v):
    keys, values = cache
    return _step()(x_t, (keys, values), w_q, w_k, w_v)


def _zeros_at_first(x_t, cache, w_q, w_k, w_v):
    output, kept = _step(look_at=_only_old)(x_t, cache, w_q, w_k, w_v)
    return (torch.zeros_like(output) if cache is None else output), kept


def _causal(scores, dim):
    """The softmax behind a causal mask as one makes it for a square of scores."""
    seen = torch.ones_like(scores).tril().bool()
    return torch.softmax(scores.masked_fill(~seen, -torch.inf), dim=dim)


def _query_in_place_of_the_key(x_t, cache, w_q, w_k, w_v):
    return _step()(x_t, cache, w_q, w_q, w_v)


def _projected_again(x_t, cache, w_q, w_k, w_v):
    """Takes the cache for the tokens themselves."""
    if cache is None:
        return _step()(x_t, cache, w_q, w_k, w_v)
    keys, values = (_appended(old, x_t) @ w for old, w in zip(cache, (w_k, w_v), strict=True))
    return F.scaled_dot_product_attention(x_t @ w_q, keys, values), (keys, values)


def _value_not_appended(x_t, cache, w_q, w_k, w_v):
    keys = x_t @ w_k if cache is None else _appended(cache[0], x_t @ w_k)
    values = x_t @ w_v if cache is None else cache[1]
    weights = torch.softmax(x_t @ w_q @ keys.transpose(-2, -1) / w_q.shape[-1] ** 0.5, dim=-1)
    return weights @ values, (keys, values)


cached_step.mistake(
    "cache-overwritten",
    (
        "The cache that you return holds the new token only; all earlier ones are lost. It must grow by one at each "
        "step.",
        "Print the shape of the keys that come in and of those that you return: the second axis, time, should be "
        "longer by 1.",
    ),
    _step(keep=_only_new),
)
cached_step.mistake(
    "cache-not-grown",
    (
        "The cache that you return is the one that came in. The next step would not know this token: its key and "
        "value belong into the cache.",
        "Print the shape of the keys that come in and of those that you return: the second axis, time, should be "
        "longer by 1.",
    ),
    _step(keep=_only_old),
    lambda x_t, cache, *weights: (_step()(x_t, cache, *weights)[0], cache),
)
cached_step.mistake(
    "new-key-missing-from-its-own-step",
    (
        "The new token looks at the cached ones, but not at itself. Its key and value belong to its own step too: "
        "first append, then attend.",
        "How many weights does the query have? With 3 cached tokens there should be 4. And at the very first step it "
        "has nobody to look at but itself.",
    ),
    _step(look_at=_only_old),
    _zeros_at_first,
)
cached_step.mistake(
    "cache-not-read",
    (
        "The new token looks at itself alone, so its output is its own value. The cached keys and values are there to "
        "be looked at.",
        "How many weights does the query have? With 3 cached tokens there should be 4: append first, and attend to "
        "what that gives.",
    ),
    _step(look_at=_only_new),
)
cached_step.mistake(
    "query-cached",
    (
        "A query has gone into the cache. It asks once, for its own step, and nobody looks it up again: later tokens "
        "need the keys and the values.",
        "The cache is a pair, (keys, values). Which of your three projections does a later token compare its query "
        "with, and which does it carry home?",
    ),
    _step(finish=lambda output, keys, values, query: (output, (query, keys, values))),
    _step(finish=lambda output, keys, values, query: (output, (torch.cat([keys[:, :-1], query], dim=1), values))),
    _step(finish=lambda output, keys, values, query: (output, (query, values))),
    _query_in_place_of_the_key,
)
cached_step.mistake(
    "none-not-handled",
    (
        "At the first step there is no cache: it is None. Then the new token's key and value are all there is.",
        "None can't be taken apart into keys and values. Which question has to come before you touch the cache, and "
        "what are keys and values if the answer is that there is none?",
    ),
    _none_not_handled,
    lambda x_t, cache, *weights: _step()(x_t, (cache[0], cache[1]), *weights),
)
cached_step.mistake(
    "new-token-in-front",
    (
        "The new key and value stand in front of the old ones. Attention itself doesn't notice, but the cache is a "
        "record in the order of time: the newest comes last.",
        "Which comes first in your list for torch.cat?",
    ),
    _step(join=lambda old, new: torch.cat([new, old], dim=1)),
)
cached_step.mistake(
    "joined-along-another-axis",
    (
        "You put old and new together along another axis than time. The axes are (batch, time, d_head), and it is the "
        "time that grows.",
        "Old keys of shape (3, 5, 4) and a new key of shape (3, 1, 4) should give (3, 6, 4). Which axis is that?",
    ),
    *(_step(join=lambda old, new, axis=axis: torch.cat([old, new], dim=axis)) for axis in (0, 2)),
    _step(join=lambda old, new: torch.stack([old, new])),
)
cached_step.mistake(
    "added-not-appended",
    (
        "You add the new key and value to each of the old ones, number to number. They should stand behind them, as "
        "one more row.",
        "Old keys of shape (3, 5, 4) and a new key of shape (3, 1, 4) should give (3, 6, 4). `+` keeps 5 rows.",
    ),
    _step(join=lambda old, new: old + new),
)
cached_step.mistake(
    "value-not-appended",
    (
        "The new key has joined the old ones, its value has not: there are more weights than values.",
        "Keys and values always come in pairs. Print both shapes before you mix.",
    ),
    _value_not_appended,
)
cached_step.mistake(
    "keys-and-values-swapped",
    (
        "Keys and values have changed places in the cache that you return. The pair is (keys, values).",
        "The next step will compare its query with what stands first in the pair. Which of the two is that for?",
    ),
    _step(finish=lambda output, keys, values, query: (output, (values, keys))),
)
cached_step.mistake(
    "cache-not-a-pair",
    (
        "All parts are there, but not packed as wanted: two things come back, the output and the cache, and the cache "
        "is itself a pair of keys and values.",
        "The caller writes `output, cache = cached_step(...)` and hands this cache to the next step. How many names "
        "stand on the left?",
    ),
    _step(finish=lambda output, keys, values, query: (output, keys, values)),
    _step(finish=lambda output, keys, values, query: ((keys, values), output)),
)
cached_step.mistake(
    "cache-not-returned",
    (
        "You return the output alone. The next step needs the keys and values, this token's among them.",
        "A function keeps nothing between two calls unless it hands it out: what must the caller have in hand to call "
        "you again?",
    ),
    _step(finish=lambda output, keys, values, query: output),
)
cached_step.mistake(
    "projected-again",
    (
        "You send the cached keys and values through their matrices once more. They are projected already: sparing "
        "that work is what the cache is for.",
        "Only the new token still has to be multiplied by w_k and w_v. What is stored in the cache, x or x @ w_k?",
    ),
    _projected_again,
)
cached_step.mistake(
    "causal-mask",
    (
        "You lay a causal mask over one row of scores, and it leaves only the first key. The new token may look at "
        "everything in the cache: the future isn't there yet, so nothing has to be hidden.",
        "Print the mask: for one query and 6 keys it has one row. Which row of the 6 x 6 mask belongs to the last "
        "token?",
    ),
    _step(softmax=_causal),
)
cached_step.mistake(
    "no-scale",
    (
        "The scores are not scaled. One step is scaled like the whole: by the root of the width of a query.",
        "Compare with lesson 02: what happens to the scores between q @ k and softmax?",
    ),
    _step(scale=lambda x_t, keys: 1.0),
)
cached_step.mistake(
    "scaled-by-another-size",
    (
        "You scale by another size than d_head, the width of a query: by d_model, by the number of keys, or by d_head "
        "without the root.",
        "A score is one dot product of a query and a key: how many terms does it add up? It is the root of that "
        "number.",
    ),
    _step(scale=lambda x_t, keys: x_t.shape[-1] ** 0.5),
    _step(scale=lambda x_t, keys: keys.shape[-2] ** 0.5),
    _step(scale=lambda x_t, keys: keys.shape[-1]),
)
cached_step.mistake(
    "fixed-width",
    (
        SAME_NUMBER,
        "Try a query of 4 features, then a wider one: what do you divide by each time? " + LOOK_UNDER_THE_ROOT,
    ),
    *(_step(scale=lambda x_t, keys, width=width: width**0.5) for width in WIDTHS),
)
cached_step.mistake(
    "wrong-axis",
    (
        "Your softmax runs along another axis than the keys. There is one query, so along its axis every weight is 1.",
        "Add up the weights of one query over all keys: it should give 1. Which axis of (batch, 1, time) is that?",
    ),
    _step(axis=1),
    _step(axis=0),
)
cached_step.mistake(
    "no-softmax",
    (
        "The scores go straight to the values. What turns a row of scores into shares that add up to 1?",
        "With an empty cache there is one key only: which weight must it have, whatever its score?",
    ),
    _step(softmax=lambda scores, dim: scores),
)
cached_step.mistake(
    "weights-transposed",
    (
        "Rows are tokens, so a projection is x @ w. With square matrices x @ w.T gives no error; nn.Linear stores the "
        "transpose, we don't.",
        "w_q has shape (d_model, d_head). Which of its axes must meet the last axis of x_t?",
    ),
    lambda x_t, cache, w_q, w_k, w_v: _step()(x_t, cache, w_q.T, w_k.T, w_v.T),
)
cached_step.mistake(
    "projections-exchanged",
    (
        "The matrices are mixed up. w_q makes the query, w_k the key, w_v the value.",
        "Print the new row at the end of your keys, and x_t times each of the three matrices: which is it?",
    ),
    lambda x_t, cache, w_q, w_k, w_v: _step()(x_t, cache, w_q, w_v, w_k),
    lambda x_t, cache, w_q, w_k, w_v: _step()(x_t, cache, w_k, w_q, w_v),
    lambda x_t, cache, w_q, w_k, w_v: _step()(x_t, cache, w_q, w_k, w_k),
    lambda x_t, cache, w_q, w_k, w_v: _step()(x_t, cache, w_k, w_k, w_v),
)
cached_step.mistake(
    "time-axis-dropped",
    (
        "The numbers are right, but the axis of the one token is gone from your output: (batch, 1, d_head) is wanted.",
        "A layer on top of this one will take your output for its x_t. Which shape does x_t have?",
    ),
    _step(finish=lambda output, keys, values, query: (output.squeeze(1), (keys, values))),
    _step(finish=lambda output, keys, values, query: (output.squeeze(), (keys, values))),
)
# Where only one key is looked at its weight is 1, whatever the scale: these say that they need the right one.
cached_step.together(
    _step,
    {
        "cache-overwritten": {"keep": _only_new, "join": _appended},
        "cache-not-grown": {"keep": _only_old, "join": _appended},
        "new-key-missing-from-its-own-step": {"look_at": _only_old},
        "cache-not-read": {"look_at": _only_new, "softmax": torch.softmax, "axis": -1, "scale": None},
        "new-token-in-front": {"join": lambda old, new: torch.cat([new, old], dim=1)},
        "keys-and-values-swapped": {"finish": lambda output, keys, values, query: (output, (values, keys))},
        "causal-mask": {"softmax": _causal, "look_at": _everything, "join": _appended, "axis": -1, "scale": None},
        "no-scale": {"scale": lambda x_t, keys: 1.0},
        "fixed-width": {"scale": lambda x_t, keys: 64**0.5},
        "wrong-axis": {"axis": 1, "scale": None},
    },
)


@cached_step.sight
def _step_by_step(candidate):
    from lesson_kit import show

    x, w_q, w_k, w_v = matrices((1, 4, 4), (4, 3), (4, 3), (4, 3))
    at_once = F.scaled_dot_product_attention(x @ w_q, x @ w_k, x @ w_v, is_causal=True)
    cache, rows = None, []
    for t in range(4):
        output, cache = candidate(x[:, t : t + 1], cache, w_q, w_k, w_v)
        rows.append([str(cache[0].shape[1]), f"{output[0, 0, 0]:.2f}", f"{at_once[0, t, 0]:.2f}"])
    columns = ["keys in the cache", "your output", "causal attention, all at once"]
    return show.matrix(rows, [f"step {t}" for t in range(1, 5)], columns, "Four tokens, one after the other:")
