"""Exercises of lesson 01: two tokens, by hand."""

import math

import torch

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import WIDTHS, normal


def _query_key():
    return [
        (normal(2, 2), normal(2, 2, seed=1)),
        (normal(3, 4), normal(5, 4, seed=1)),
        (normal(1, 3), normal(4, 3, seed=1)),
        (normal(4, 3), normal(4, 3, seed=1)),
        (normal(3, 3, dtype=torch.float64), normal(3, 3, seed=1, dtype=torch.float64)),
    ]


@exercise(_query_key)
def dot_product_scores(query, key):
    """Every query's dot product with every key: (queries, d) and (keys, d) -> (queries, keys)."""
    return query @ key.T


@exercise(
    lambda: [
        (normal(4),),
        (normal(3, 5, size=2),),
        (normal(1, 3, 2),),
        (normal(2, 3, 4) + torch.tensor([0.0, -300.0, 1.0, -300.0]),),  # exp of a score less the row's mean: too large
        (normal(2, 5, 3, 4, dtype=torch.float64) + torch.tensor([0, -1500, 1, -1500]),),
        (normal(4, 4) + torch.tensor([[500.0], [-500.0], [0.0], [90.0]]),),
    ],
    example=(torch.tensor([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0]]),),
)
def softmax(scores):
    """Softmax over the last axis, for scores of any size: (..., n) -> (..., n)."""
    return torch.softmax(scores, dim=-1)


def _weights_value():
    return [
        (normal(3, 5).softmax(-1), normal(5, 4, seed=1)),
        (normal(1, 3).softmax(-1), normal(3, 2, seed=1)),
        (normal(3, 3).softmax(-1), normal(3, 4, seed=1)),
        (normal(4, 4).softmax(-1), normal(4, 4, seed=1)),
        (normal(2, 3, dtype=torch.float64).softmax(-1), normal(3, 2, seed=1, dtype=torch.float64)),
    ]


@exercise(_weights_value)
def attend(weights, value):
    """Mix the value rows in the proportions of each row of weights: (queries, keys), (keys, d) -> (queries, d)."""
    return weights @ value


def _same(x):
    return x


def _dots(product=lambda query, key: query @ key.T, width=lambda query: 1, end=_same):
    return lambda query, key: end(product(query, key) / width(query))


def _by_features(query, key):
    return query.T @ key


dot_product_scores.mistake(
    "key-not-transposed",
    (
        "A matrix product pairs the rows of the left matrix with the columns of the right one. Which part of key holds "
        "the vector of one token? With a square key no error tells you.",
        "Write down the key matrix of two tokens with two features each. What do you meet going down its first column: "
        "one token, or one feature of all tokens?",
    ),
    _dots(torch.matmul),
)
dot_product_scores.mistake(
    "swapped-operands",
    (
        "Rows should be queries and columns keys: entry (i, j) is what query i thinks of key j. Yours are the other "
        "way.",
        "Try one query and three keys. How many rows does your result have, and how many should it have?",
    ),
    _dots(lambda query, key: key @ query.T),
)
dot_product_scores.mistake(
    "elementwise-product",
    (
        "The star multiplies entry by entry, so a query meets one key only. Every query must meet every key.",
        "Two queries and two keys make four dot products. Count how many pairs of a query and a key your line looks "
        "at.",
    ),
    _dots(torch.mul),
    lambda query, key: (query * key).sum(-1),
    lambda query, key: (query * key).sum(-1, keepdim=True),
    lambda query, key: (query * key).sum(0),
    lambda query, key: (query * key).sum(),
)
dot_product_scores.mistake(
    "query-transposed",
    (
        "You compare features with features: the result has a row for each feature. It needs a row for each query.",
        "With 3 queries of 4 features and 5 keys of 4 features the result is 3 by 5. Which of the two matrices has to "
        "be turned so that the 4s meet?",
    ),
    _dots(_by_features),
)
dot_product_scores.mistake(
    "summed-over-the-wrong-axis",
    (
        "Every query meets every key, but then you add up along another axis than the features.",
        "Before the sum you have an axis of queries, one of keys and one of features, in some order. A dot product "
        "adds up over which of them? Print the shape before the sum.",
    ),
    lambda query, key: (query[:, None] * key).sum(1),
    lambda query, key: (query[:, None] * key).sum(0),
    lambda query, key: (query[:, None] * key).sum(),
)
dot_product_scores.mistake(
    "already-scaled",
    (
        "These are dot products divided by the root of a width. Here they are wanted as they are: the scaling comes "
        "after the scores, as its own step.",
        "For the query (1, 2) and the key (0, 1) the score is 2, a whole number. What does your function do to it "
        "after the product?",
    ),
    _dots(width=lambda query: query.shape[-1] ** 0.5),
    *(_dots(width=lambda query, width=width: width**0.5) for width in WIDTHS),
)
dot_product_scores.mistake(
    "mean-not-sum",
    (
        "Your scores are too small, by a factor that is the number of features. A dot product adds up: it does not "
        "average.",
        "For the query (1, 2) and the key (1, 1) the products are 1 and 2. Is the score 3 or 1.5?",
    ),
    _dots(width=lambda query: query.shape[-1]),
)
dot_product_scores.mistake(
    "cosines",
    (
        "No score of yours is larger than 1: the vectors have been brought to length 1. Here their lengths count.",
        "Double one query: the scores of its row should double too. Do yours change at all?",
    ),
    lambda query, key: (query / query.norm(dim=-1, keepdim=True)) @ (key / key.norm(dim=-1, keepdim=True)).T,
)
dot_product_scores.mistake(
    "softmax-already",
    (
        "These are weights already: each row adds up to 1. Scores are wanted, the numbers before softmax.",
        "A score may be negative, or larger than 1. Which step of your function makes that impossible? It belongs to "
        "the next exercise.",
    ),
    _dots(end=lambda scores: scores.softmax(-1)),
)
dot_product_scores.together(
    _dots,
    {
        "key-not-transposed": {"product": torch.matmul},
        "swapped-operands": {"product": lambda query, key: key @ query.T},
        "elementwise-product": {"product": torch.mul},
        "query-transposed": {"product": _by_features},
        "already-scaled": {"width": lambda query: query.shape[-1] ** 0.5},
        "mean-not-sum": {"width": lambda query: query.shape[-1]},
        "softmax-already": {"end": lambda scores: scores.softmax(-1)},
    },
)


@dot_product_scores.sight
def _(candidate):
    from lesson_kit import examples, show

    two = examples.two_tokens()
    scores = candidate(two.x @ two.w_q, two.x @ two.w_k)
    return show.matrix(scores, ["q1", "q2"], ["k1", "k2"], "Your scores of the two tokens: who looks for whom", 0)


def _stable(scores, axis=-1):
    return torch.exp(scores - scores.amax(axis, keepdim=True))


def _naive(scores, axis=-1):
    return torch.exp(scores)


def _one_maximum(scores, axis=-1):
    return torch.exp(scores - scores.max())


def _less(number):
    """The exponentials after another number of each row than its largest was taken away."""
    return lambda scores, axis: torch.exp(scores - number(scores, dim=axis, keepdim=True))


def _no_exponential(scores, axis=-1):
    return scores


def _everything(e, axis):
    return e.sum()


def _without_keepdim(e, axis):
    return e.sum(axis)


def _maximum_without_keepdim(scores, axis=-1):
    return torch.exp(scores - scores.amax(axis))


def _shares(axis=-1, exponential=_stable, total=lambda e, axis: e.sum(axis, keepdim=True)):
    """Softmax in three parts: along which axis, which numbers, divided by which sums."""

    def shares(scores):
        e = exponential(scores, axis)
        return e / total(e, axis)

    return shares


softmax.mistake(
    "wrong-axis",
    (
        "Your sums run along another axis than the last. Which numbers compete for the attention of one query? "
        "Those have to add up to 1.",
        "Give it the scores of 2 queries and 3 keys and add up your result along each axis. Which sums are 1: "
        "those of the 2 rows, or those of the 3 columns? Inputs with more axes in front come too: count from the end.",
    ),
    *(_shares(axis) for axis in (0, 1, -2)),
    *(_shares(axis, _naive) for axis in (1, -2)),
    lambda scores: torch.softmax(scores, dim=0 if scores.dim() in (1, 3) else 1),  # torch's guess when none is given
)
softmax.mistake(
    "overflow",
    (
        "Right for small scores, but exp(500) is more than float32 can hold. Softmax does not change when the same "
        "number is taken from all scores of a row: which number makes exp safe?",
        "For the scores (500, 499): exp of both is inf, and inf / inf is NaN. For (0, -1) the weights would be the "
        "same two numbers. How do you get from the first pair to the second, in any row?",
    ),
    _shares(exponential=_naive),
)
softmax.mistake(
    "not-normalised",
    (
        "The exponentials are there, but a row does not add up to 1 yet.",
        "Say the exponentials of a row come out as 1, 2 and 5. They should share out 100%: what do you do with each "
        "to get 1/8, 2/8 and 5/8?",
    ),
    _naive,
    _stable,
    _one_maximum,
)
softmax.mistake(
    "one-sum-over-everything",
    (
        "You divide by one sum over all rows. Each row shares out its own 100%: it needs its own sum.",
        "Print your sum for 2 rows of 3 scores. It is one number; how many should there be, and along which axis do "
        "you add up?",
    ),
    _shares(total=_everything),
    _shares(exponential=_one_maximum, total=_everything),
)
softmax.mistake(
    "one-maximum-for-everything",
    (
        "You take away the largest score of all. A row that lies far below it becomes 0 / 0. What is safe for every "
        "row?",
        "Take a row of scores near 500 and one near -500. After taking away 500, the second row stands at -1000: what "
        "is exp(-1000)? Which number would you like to take from that row?",
    ),
    _shares(exponential=_one_maximum),
)
softmax.mistake(
    "not-the-largest-taken-away",
    (
        "You take a number away from each row, and that changes no weight; but it is the mean or the smallest of the "
        "row. A score that lies far above it still overflows.",
        "The scores (2, -300) have the mean -149: what goes into exp for the first of them? After which number has "
        "been taken away is nothing above 0?",
    ),
    *(_shares(exponential=_less(number)) for number in (torch.mean, torch.amin)),
    _shares(exponential=lambda scores, axis: torch.exp(scores - scores.mean())),
)
softmax.mistake(
    "smallest-score-wins",
    (
        "Your order is turned round: the lowest score gets the largest weight. Look for a minus sign, or for a "
        "difference taken the wrong way round.",
        "For the scores (0, 1) the weights are about (0.27, 0.73). Print what you give to exp for these two: the "
        "larger score should have the larger number there.",
    ),
    lambda scores: torch.softmax(-scores, dim=-1),
    lambda scores: _shares(exponential=lambda s, axis: torch.exp(s.amax(axis, keepdim=True) - s))(scores),
)
softmax.mistake(
    "no-exponential",
    (
        "Scores divided by their sum: negative scores give negative weights. What makes every number positive first?",
        "Try the scores (1, -1): their sum is 0. The step that is missing turns them into about 2.72 and 0.37.",
    ),
    _shares(exponential=_no_exponential),
    _shares(exponential=lambda scores, axis: scores - scores.amax(axis, keepdim=True)),
)
softmax.mistake(
    "positive-by-another-way",
    (
        "Your weights are positive and add up to 1, but it was not exp that made the scores positive. Squares and "
        "absolute values forget which scores were low, and cutting at 0 loses them.",
        "Adding 1 to a score multiplies its weight by e, compared with the others. Try the scores (0, 1) and (-1, 0): "
        "the weights must be the same.",
    ),
    *(
        _shares(exponential=lambda scores, axis, positive=positive: positive(scores))
        for positive in (torch.square, torch.abs, torch.relu)
    ),
    _shares(exponential=lambda scores, axis: scores - scores.amin(axis, keepdim=True)),
)
softmax.mistake(
    "each-score-alone",
    (
        "That is the sigmoid: each score becomes a number between 0 and 1 by itself. In a softmax the scores of a row "
        "compete: if one rises, the others fall.",
        "Three equal scores get a third each. What do yours get, and what is their sum?",
    ),
    torch.sigmoid,
)
softmax.mistake(
    "logarithms",
    (
        "These are the logarithms of the weights. All of yours are negative; weights lie between 0 and 1.",
        "Which function undoes a logarithm?",
    ),
    lambda scores: scores.log_softmax(-1),
)
softmax.mistake(
    "keepdim-forgotten",
    (
        "After a sum or a maximum the last axis is gone, so broadcasting lines the numbers up with the wrong axis. "
        "Keep it, with size 1.",
        "With scores of shape (3, 5), print the shape of your maxima and of your sums. Shapes are lined up from the "
        "right: (3, 5) and (3,) don't fit, (3, 5) and (3, 1) do.",
    ),
    _shares(total=_without_keepdim),
    _shares(exponential=_one_maximum, total=_without_keepdim),
    _shares(exponential=_maximum_without_keepdim),
    _shares(exponential=_maximum_without_keepdim, total=_without_keepdim),
)
softmax.mistake(
    "max-returns-two-things",
    (
        "With dim, scores.max gives back two things: the largest values and where they stand. Which one do you want to "
        "take away?",
        "Print what max gives you for one row of three scores: each of the two parts has a name there.",
    ),
    lambda scores: torch.exp(scores - scores.max(dim=-1)),
)
softmax.together(
    _shares,
    {  # an axis of -1: this mistake and the wrong axis make no sense together
        "wrong-axis": {"axis": 0},
        "overflow": {"exponential": _naive},
        "one-sum-over-everything": {"total": _everything, "axis": -1},
        "one-maximum-for-everything": {"exponential": _one_maximum, "axis": -1},
        "no-exponential": {"exponential": _no_exponential},
        "keepdim-forgotten": {"total": _without_keepdim, "axis": -1},
    },
)


@softmax.sight
def _(candidate):
    from lesson_kit import show

    scores = torch.tensor([[1.0, 2.0], [1.0, 1.0], [1001.0, 1002.0]])
    scores[:2] /= math.sqrt(2)
    weights = candidate(scores)
    names = ["x1", "x2", "scores above 1000"]
    return show.matrix(
        torch.cat([weights, weights.sum(-1, keepdim=True)], -1),
        names,
        ["x1", "x2", "sum"],
        "Your weights: the two tokens, and a row that would overflow",
    )


def _mixed(turn=_same, turn_value=_same, again=_same, product=torch.matmul, end=lambda result, value: result):
    return lambda weights, value: end(product(turn(again(weights)), turn_value(value)), value)


def _transposed(x):
    return x.T


def _soft(weights):
    return weights.softmax(-1)


attend.mistake(
    "transposed-weights",
    (
        "Row i of weights says how query i shares out its attention. You used column i.",
        "With the weights (1, 0) and (1, 0) both queries look at the first value only. Which values does your function "
        "give them?",
    ),
    _mixed(turn=_transposed),
    lambda weights, value: torch.einsum("kq,kd->qd", weights, value),  # stretches an axis of length 1
)
attend.mistake(
    "value-transposed",
    (
        "Value is used with its rows and columns exchanged. Its rows are what is mixed: are they rows when you "
        "multiply?",
        "The result of 3 queries, 5 keys and values of 4 features is 3 by 4. Write the two shapes side by side: the 5s "
        "must meet in the middle.",
    ),
    _mixed(turn_value=_transposed),
)
attend.mistake(
    "mean-not-weighted-sum",
    (
        "Your result is a mean. The weights add up to 1 already: take each value row as often as its weight says, and "
        "add.",
        "With the weights (0.25, 0.75) and the values (4,) and (8,) the result is 1 + 6 = 7. Which of your steps "
        "divides by a count, or forgets the weights?",
    ),
    lambda weights, value: value.mean(0, keepdim=True).expand(len(weights), -1),
    lambda weights, value: value.mean(0),
    _mixed(end=lambda result, value: result / len(value)),
)
attend.mistake(
    "swapped-operands",
    (
        "In a matrix product the order matters. The result needs one row for each query: which matrix has those rows?",
        "Weights are (queries, keys) and value is (keys, features). In which order of the two do the keys meet in the "
        "middle?",
    ),
    _mixed(product=lambda weights, value: value @ weights),
)
attend.mistake(
    "elementwise-product",
    (
        "The star multiplies entry by entry. Each output row mixes all value rows.",
        "The first weight of a row is meant for the whole first value row, all its features. What does it meet in "
        "yours?",
    ),
    _mixed(product=torch.mul),
)
attend.mistake(
    "largest-weight-only",
    (
        "You take the value with the largest weight and drop the others. Attention mixes: small weights count a "
        "little.",
        "With the weights (0.49, 0.51) the result lies almost in the middle of the two values. Where does yours lie?",
    ),
    lambda weights, value: value[weights.argmax(-1)],
)
attend.mistake(
    "softmax-again",
    (
        "The weights you are given have been through softmax. A second one flattens them.",
        "The row (0, 1) would become about (0.27, 0.73). Which line of yours does that to weights that were right?",
    ),
    _mixed(again=_soft),
)
attend.mistake(
    "softmax-at-the-end",
    (
        "Your mixture goes through a softmax at the end. It shares out attention among keys; what you return are "
        "features, and they may be negative.",
        "Add up one row of your result. It is 1; should it be?",
    ),
    _mixed(end=lambda result, value: result.softmax(-1)),
)
attend.mistake(
    "divided-by-the-root",
    (
        "The mixture is right, and then divided by the root of a width. A mixture needs no scaling: its weights add up "
        "to 1.",
        "If all value rows are the same, every mixture of them is that row again. Is yours smaller?",
    ),
    _mixed(end=lambda result, value: result / value.shape[-1] ** 0.5),
    _mixed(end=lambda result, value: result / value.shape[0] ** 0.5),
)
attend.together(
    _mixed,
    {
        "transposed-weights": {"turn": _transposed},
        "value-transposed": {"turn_value": _transposed},
        "mean-not-weighted-sum": {"end": lambda result, value: result / len(value)},
        "swapped-operands": {"product": lambda weights, value: value @ weights},
        "elementwise-product": {"product": torch.mul},
        "softmax-again": {"again": _soft},
        "softmax-at-the-end": {"end": lambda result, value: result.softmax(-1)},
        "divided-by-the-root": {"end": lambda result, value: result / value.shape[-1] ** 0.5},
    },
)


@attend.sight
def _(candidate):
    from lesson_kit import examples, show

    two = examples.two_tokens()
    query, key, value = (two.x @ w for w in (two.w_q, two.w_k, two.w_v))
    mixed = candidate((query @ key.T / math.sqrt(2)).softmax(-1), value)
    title = "Your outputs of the two tokens: x1 asked more for x2, x2 for both alike"
    return show.matrix(mixed, ["x1", "x2"], ["feature 1", "feature 2"], title)
