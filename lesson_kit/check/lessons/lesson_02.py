"""Exercises of lesson 02: scaled dot-product attention."""

import torch

from course_utils import attention
from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import LOOK_UNDER_THE_ROOT, SAME_NUMBER, WIDTHS, matrices, normal


@exercise(
    lambda: [
        matrices((3, 4), (5, 4), (5, 6)),
        matrices((2, 3, 8), (2, 5, 8), (2, 5, 6), size=0.8),
        matrices((2, 4, 3, 6), (2, 4, 5, 6), (2, 4, 5, 7)),
        matrices((4, 4), (4, 4), (4, 4)),
        matrices((3, 4), (4, 4), (4, 6)),
        matrices((1, 3, 4), (1, 3, 4), (1, 3, 2)),
        matrices((2, 3, 5), (2, 1, 5), (2, 1, 3)),  # a single key: its weight is 1
        matrices((3, 2, 5), (3, 7, 5), (3, 7, 4), dtype=torch.float64),
    ]
)
def scaled_dot_product_attention(query, key, value):
    """softmax(Q K^T / sqrt(d_k)) V: (..., queries, d_k), (..., keys, d_k), (..., keys, d_v) -> (..., queries, d_v)."""
    return attention.scaled_dot_product_attention(query, key, value)[0]


@exercise(
    lambda: [
        (normal(3, 5), 0.5),
        (normal(3, 5), 2.0),
        (normal(4), 0.7),
        (normal(1, 3, 4) + torch.tensor([0.0, -400.0, 1.0, -400.0]), 1.5),  # far apart within each row
        (normal(2, 3, 4, dtype=torch.float64), 3.0),
        (normal(2, 3) + torch.tensor([[300.0], [-300.0]]), 0.8),
    ]
)
def softmax_with_temperature(scores, temperature):
    """Softmax over the last axis, flatter for a temperature above 1, sharper below: (..., n) -> (..., n)."""
    return torch.softmax(scores / temperature, dim=-1)


def _same(x):
    return x


def _scores(query, key):
    return query @ key.transpose(-2, -1)


def _with_transpose(transpose):
    """Scores with another idea of how to transpose the keys."""
    return lambda query, key: query @ transpose(key)


def _softmax_then_mix(scores, value, axis):
    return torch.softmax(scores, dim=axis) @ value


def _root(query, key, value):
    return query.shape[-1] ** 0.5


def _attention(dot=_scores, width=_root, axis=-1, mix=_softmax_then_mix, late=None, mixed="value"):
    """Attention in its steps: the products, what divides them, softmax and mixing, what divides afterwards."""

    def attention(query, key, value):
        result = mix(dot(query, key) / width(query, key, value), {"value": value, "key": key}[mixed], axis)
        return result / late(query, key, value) if late else result

    return attention


def _scaled_by(width):
    return _attention(width=width)


def _one(query, key, value):
    return 1


_upside_down = _with_transpose(lambda k: k.permute(*range(k.dim() - 1, -1, -1)))
scaled_dot_product_attention.mistake(
    "no-scale",
    (
        "The scores are not scaled. Their variance grows with d_k, and softmax saturates: what brings it back to 1?",
        "If each of d_k products has variance 1, their sum has variance d_k. With d_k = 64 a typical score is 8, not "
        "1. Where in your function does d_k appear?",
    ),
    _scaled_by(_one),
)
scaled_dot_product_attention.mistake(
    "divided-by-d-k",
    (
        "You divide by too much: the weights come out too even. If the variance is d_k, what is the standard "
        "deviation?",
        "With d_k = 64 a typical score is 8. You divide by 64 (or twice by 8) and are left with 0.125; it should be 1.",
    ),
    _scaled_by(lambda q, k, v: q.shape[-1]),
)
scaled_dot_product_attention.mistake(
    "scaled-by-value-width",
    (
        "You scale by the width of the values. A score is a sum over the features of which two vectors?",
        "Print the shapes of query, key and value for an input whose values are wider than its keys. Which of the "
        "three has not been touched yet when the scores are made?",
    ),
    _scaled_by(lambda q, k, v: v.shape[-1] ** 0.5),
)
scaled_dot_product_attention.mistake(
    "scaled-by-number-of-keys",
    (
        "You scale by the number of keys. A score is one dot product: how many terms does it add up?",
        "Give it ten more keys: the scores that were there before must not change. In yours all of them shrink.",
    ),
    _scaled_by(lambda q, k, v: k.shape[-2] ** 0.5),
)
scaled_dot_product_attention.mistake(
    "scaled-by-first-axis",
    (
        "You scale by a size that counts queries, keys or batches: len(x) and shape[0] look at the first axis. "
        "Which axis holds the features?",
        "Print query.shape for 2 sentences of 3 tokens with 8 features. Which of the three numbers do you use, and at "
        "which end does the one that you want stand, however many axes there are?",
    ),
    _scaled_by(lambda q, k, v: q.shape[-2] ** 0.5),
    _scaled_by(lambda q, k, v: len(q) ** 0.5),
    _scaled_by(lambda q, k, v: len(k) ** 0.5),
    _scaled_by(lambda q, k, v: q.shape[1] ** 0.5),
)
scaled_dot_product_attention.mistake(
    "fixed-width",
    (
        SAME_NUMBER,
        "Try queries and keys of 4 features, then of 64: what do you divide by each time? " + LOOK_UNDER_THE_ROOT,
    ),
    *(_scaled_by(lambda q, k, v, width=width: width**0.5) for width in WIDTHS),
)
scaled_dot_product_attention.mistake(
    "scaled-after-softmax",
    (
        "You scale the weights, so they no longer add up to 1. Scaling is there to help softmax: when must it happen?",
        "Set all values to 1: a mixture of ones is 1. What do you get, and which step made it smaller?",
    ),
    _attention(width=_one, late=_root),
)
scaled_dot_product_attention.mistake(
    "multiplied-by-root",
    (
        "You make the scores larger. Scaling is there to make them smaller; check the order of operations too.",
        "With d_k = 4 a score of 3 should become 1.5. What does yours become? Python works through * and / from left "
        "to right.",
    ),
    _scaled_by(lambda q, k, v: q.shape[-1] ** -0.5),
)
scaled_dot_product_attention.mistake(
    "wrong-axis",
    (
        "Your softmax runs along the wrong axis. The weights of one query, over all keys, add up to 1.",
        "Print the weights for 2 queries and 3 keys and add them up along each axis. The scores have a row for each "
        "query: along which axis do the keys lie? With axes in front, count from the end.",
    ),
    _attention(axis=0),
    _attention(axis=1),
    _attention(axis=-2),
    # torch's guess when F.softmax is told no axis
    lambda q, k, v: _attention(axis=0 if q.dim() in (1, 3) else 1)(q, k, v),
)
scaled_dot_product_attention.mistake(
    "value-inside-softmax",
    (
        "The values went into the softmax. First decide how much to look where, then mix: V comes last.",
        "A row of the result is a mixture of value rows: with all values equal to 7 it must be 7. In yours each row "
        "adds up to 1. What stands inside the brackets of your softmax?",
    ),
    _attention(mix=lambda scores, value, axis: torch.softmax(scores @ value, dim=axis)),
)
scaled_dot_product_attention.mistake(
    "transpose-ignores-the-batch",
    (
        "Your transpose is right for one matrix, but the inputs may have batch axes in front. Swap the last two axes "
        "only.",
        "Print the shape of your transposed keys for 2 sentences, 5 keys, 8 features. The 2 should still stand in "
        "front, and the other two be exchanged. Axes can be counted from the end, too: -1 is the last.",
    ),
    _attention(_upside_down),
    _attention(_with_transpose(lambda k: k.transpose(0, 1))),
    _attention(_with_transpose(lambda k: k.transpose(1, 2))),
    _attention(_with_transpose(lambda k: k.t())),
)
scaled_dot_product_attention.mistake(
    "key-not-transposed",
    (
        "The keys are not transposed. With square matrices no error tells you; what does entry (i, j) of q @ k mean?",
        "A matrix product walks along a row on the left and down a column on the right. Going down a column of the "
        "keys, do you meet the features of one token?",
    ),
    _attention(_with_transpose(_same)),
)
scaled_dot_product_attention.mistake(
    "roles-swapped",
    (
        "The keys ask and the queries are asked. Each row of the scores should belong to one query.",
        "With 3 queries and 5 keys the scores are 3 by 5. Print the shape of yours; with as many queries as keys only "
        "the numbers tell.",
    ),
    _attention(lambda q, k: _scores(k, q)),
)
scaled_dot_product_attention.mistake(
    "no-softmax",
    (
        "The scores go straight to the values. What turns a row of scores into shares that add up to 1?",
        "Set all values to 1: a mixture of ones is 1. Yours is the sum of a row of scores, which may be anything.",
    ),
    _attention(mix=lambda scores, value, axis: scores @ value),
)
scaled_dot_product_attention.mistake(
    "softmax-twice",
    (
        "The weights go through softmax a second time. It flattens them.",
        "A row of weights (0, 1) would become about (0.27, 0.73). Count the calls of softmax, also in functions that "
        "you call.",
    ),
    _attention(mix=lambda scores, value, axis: torch.softmax(scores, axis).softmax(axis) @ value),
)
scaled_dot_product_attention.mistake(
    "mixes-the-keys",
    (
        "The weights are right, but it is the keys that you mix. Keys are there to be found; what is it that a query "
        "carries home?",
        "One of your three arguments has no effect on the result. Change its numbers and see.",
    ),
    _attention(mixed="key"),
)
scaled_dot_product_attention.mistake(
    "returns-the-weights",
    (
        "These are the attention weights, and they are right. One step is left: what are they weights of?",
        "The result should have as many columns as value has. Yours has a column for each key: what is each of those "
        "numbers a share of?",
    ),
    _attention(mix=lambda scores, value, axis: torch.softmax(scores, dim=axis)),
)
scaled_dot_product_attention.together(
    _attention,
    {  # some name an option only to be kept apart from what would give the same numbers, or make no sense
        "no-scale": {"width": _one},
        "divided-by-d-k": {"width": lambda q, k, v: q.shape[-1]},
        "scaled-by-value-width": {"width": lambda q, k, v: v.shape[-1] ** 0.5},
        "scaled-by-number-of-keys": {"width": lambda q, k, v: k.shape[-2] ** 0.5, "dot": _scores},
        "scaled-by-first-axis": {"width": lambda q, k, v: q.shape[-2] ** 0.5},
        "fixed-width": {"width": lambda q, k, v: 64**0.5},
        "scaled-after-softmax": {"width": _one, "late": _root},
        "multiplied-by-root": {"width": lambda q, k, v: q.shape[-1] ** -0.5},
        "wrong-axis": {"axis": -2},
        "value-inside-softmax": {"mix": lambda scores, value, axis: torch.softmax(scores @ value, dim=axis)},
        "transpose-ignores-the-batch": {"dot": _upside_down},
        "key-not-transposed": {"dot": _with_transpose(_same)},
        "roles-swapped": {"dot": lambda q, k: _scores(k, q)},
        "no-softmax": {"mix": lambda scores, value, axis: scores @ value, "axis": -1, "late": None},
        "softmax-twice": {"mix": lambda scores, value, axis: torch.softmax(scores, axis).softmax(axis) @ value},
        "mixes-the-keys": {"mixed": "key"},
        "returns-the-weights": {
            "mix": lambda scores, value, axis: torch.softmax(scores, dim=axis),
            "mixed": "value",
        },
    },
)


@scaled_dot_product_attention.sight
def _(candidate):
    from lesson_kit import examples, show

    sky = examples.sky_is_blue()
    one_hot = torch.eye(4, dtype=torch.float64)  # values that show whose they are: the outputs are the weights
    weights = candidate(sky.x @ sky.w_q, sky.x @ sky.w_k, one_hot)
    title = "Your function reads the sky: how much each word (row) takes from each"
    return show.matrix(weights, sky.tokens, sky.tokens, title)


def _stable(scores):
    return torch.exp(scores - scores.amax(-1, keepdim=True))


def _divided(scores, temperature):
    return scores / temperature


def _ignored(scores, temperature):
    return scores


def _hot(heat=_divided, axis=-1, softmax=torch.softmax, late=None):
    """Softmax with a temperature: what it does to the scores, along which axis, what divides the weights."""

    def softmax_with_temperature(scores, temperature):
        weights = softmax(heat(scores, temperature), axis)
        return weights / late(temperature) if late else weights

    return softmax_with_temperature


def _less(number):
    """Softmax by hand, after another number of each row than its largest was taken away."""

    def softmax(scores, axis):
        e = torch.exp(scores - number(scores, dim=axis, keepdim=True))
        return e / e.sum(axis, keepdim=True)

    return softmax


def _overflowing(scores, axis):
    e = torch.exp(scores)
    return e / e.sum(axis, keepdim=True)


def _without_keepdim(scores, axis, of_maximum=True, of_sum=False):
    e = torch.exp(scores - scores.amax(axis, keepdim=of_maximum))
    return e / e.sum(axis, keepdim=of_sum)


softmax_with_temperature.mistake(
    "multiplied",
    (
        "Your temperature works backwards: hotter should mean flatter, closer to equal shares.",
        "At temperature 100 the weights of the scores (1, 2) should be almost equal. What do yours do at 100, and at "
        "0.01?",
    ),
    _hot(lambda scores, t: scores * t),
)
softmax_with_temperature.mistake(
    "applied-after-softmax",
    (
        "You apply the temperature to the weights, so a row no longer adds up to 1. It belongs to the scores.",
        "Add up a row of your result at temperature 2. A factor on all weights of a row cannot make them flatter or "
        "sharper: what is left to be changed?",
    ),
    _hot(_ignored, late=lambda t: t),
    _hot(_ignored, late=lambda t: 1 / t),
)
softmax_with_temperature.mistake(
    "powers-not-shared-out",
    (
        "You raise finished weights to a power. That does flatten them, but a row no longer adds up to 1.",
        "(0.9, 0.1) to the power 1/2 is about (0.95, 0.32), together 1.27. What would make shares of these two?",
    ),
    lambda scores, t: torch.softmax(scores, dim=-1) ** (1 / t),
)
softmax_with_temperature.mistake(
    "temperature-ignored",
    (
        "The result does not depend on the temperature.",
        "If you use it: a factor above and below the fraction line cancels out, and softmax forgets a number that is "
        "added to a whole row. And does the name that goes into softmax hold the changed scores, or the old ones?",
    ),
    _hot(_ignored),
    lambda scores, t: torch.softmax(scores - t, dim=-1),
    lambda scores, t: _stable(scores) / t / (_stable(scores) / t).sum(-1, keepdim=True),
)
softmax_with_temperature.mistake(
    "temperature-in-one-place",
    (
        "The temperature changes the exponentials above the fraction line or those below it, not both. A row no longer "
        "adds up to 1.",
        "Give the changed scores a name before any exp, and look at each later line: does it use that name, or scores?",
    ),
    lambda scores, t: _stable(scores / t) / _stable(scores).sum(-1, keepdim=True),
    lambda scores, t: _stable(scores) / _stable(scores / t).sum(-1, keepdim=True),
    lambda scores, t: torch.exp(scores / t) / torch.exp(scores).sum(-1, keepdim=True),
    lambda scores, t: torch.exp(scores) / torch.exp(scores / t).sum(-1, keepdim=True),
)
softmax_with_temperature.mistake(
    "root-of-the-temperature",
    (
        "You divide by the root of the temperature. The root belongs to d_k; the temperature is used as it is.",
        "At temperature 4 the scores (4, 8) become (1, 2). What do you make of them?",
    ),
    _hot(lambda scores, t: scores / t**0.5),
)
softmax_with_temperature.mistake(
    "wrong-axis",
    (
        "Your softmax runs along another axis than the last.",
        "Add up your result for 2 rows of 3 scores along both axes: which sums are 1? There may be more axes in front: "
        "count from the end.",
    ),
    _hot(axis=0),
    _hot(axis=1),
    _hot(axis=-2),
    lambda scores, t: _hot(axis=0 if scores.dim() in (1, 3) else 1)(scores, t),  # F.softmax told no axis
)
softmax_with_temperature.mistake(
    "keepdim-forgotten",
    (
        "After a sum or a maximum the last axis is gone, so broadcasting lines the numbers up with the wrong axis. "
        "Keep it, with size 1.",
        "With scores of shape (3, 5), print the shape of your maxima and of your sums. (3, 5) and (3,) don't fit, "
        "(3, 5) and (3, 1) do.",
    ),
    _hot(softmax=_without_keepdim),
    _hot(softmax=lambda scores, axis: _without_keepdim(scores, axis, False, True)),
    _hot(softmax=lambda scores, axis: _without_keepdim(scores, axis, False, False)),
)
softmax_with_temperature.mistake(
    "overflow",
    (
        "Right for small scores, but the exponential of a large one is more than float32 can hold. "
        "Your softmax of lesson 01 was safe.",
        "Scores of 300 and a temperature of 0.5 make exp(600), which is inf. What did you take away from each row in "
        "lesson 01? Here it is wanted from the row that goes into exp.",
    ),
    _hot(softmax=_overflowing),
)
softmax_with_temperature.mistake(
    "not-the-largest-taken-away",
    (
        "You take a number away from each row, and that changes no weight; but it is the mean or the smallest of the "
        "row. A score that lies far above it still overflows.",
        "The scores (2, -400) have the mean -199: what goes into exp for the first of them, at temperature 1.5? After "
        "which number has been taken away is nothing above 0?",
    ),
    *(_hot(softmax=_less(number)) for number in (torch.mean, torch.amin)),
)
softmax_with_temperature.together(
    _hot,
    {
        "multiplied": {"heat": lambda scores, t: scores * t},
        "applied-after-softmax": {"heat": _ignored, "late": lambda t: t},
        "temperature-ignored": {"heat": _ignored},
        "root-of-the-temperature": {"heat": lambda scores, t: scores / t**0.5},
        "wrong-axis": {"axis": 0},
        "overflow": {"softmax": _overflowing},
        "keepdim-forgotten": {"softmax": _without_keepdim, "axis": -1},
    },
)


@softmax_with_temperature.sight
def _(candidate):
    from lesson_kit import show

    temperatures = [0.1, 0.5, 1.0, 2.0, 10.0]
    weights = torch.stack([candidate(torch.tensor([1.0, 2.0, 3.0]), t) for t in temperatures])
    rows = [f"temperature {t:g}" for t in temperatures]
    return show.matrix(weights, rows, ["score 1", "score 2", "score 3"], "Your weights, from cold to hot")
