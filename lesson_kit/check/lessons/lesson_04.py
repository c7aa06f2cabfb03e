"""Exercises of lesson 04: many heads."""

import torch

from course_utils import attention
from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import LOOK_UNDER_THE_ROOT, SAME_NUMBER, WIDTHS, matrices, normal


@exercise(
    lambda: [
        (normal(2, 5, 12), 3),
        (normal(2, 3, 12), 3),
        (normal(3, 4, 6), 2),
        (normal(1, 6, 8, dtype=torch.float64), 4),
    ],
    example=(torch.arange(12.0).view(1, 3, 4), 2),
)
def split_heads(x, n_heads):
    """Give each head its own features: (batch, length, d_model) -> (batch, heads, length, d_head)."""
    batch, length, d_model = x.shape
    return x.view(batch, length, n_heads, d_model // n_heads).transpose(1, 2)


@exercise(
    lambda: [
        (normal(2, 3, 5, 4),),
        (normal(2, 3, 3, 4),),
        (normal(1, 2, 3, 4),),
        (normal(3, 2, 4, 5, dtype=torch.float64),),
    ],
    example=(torch.arange(12.0).view(1, 2, 3, 2),),
)
def merge_heads(x):
    """Put the heads side by side again: (batch, heads, length, d_head) -> (batch, length, d_model)."""
    return x.transpose(1, 2).flatten(-2)


@exercise(
    lambda: [
        (*matrices((2, 5, 12), *[(12, 12)] * 4, size=0.4), 3),
        (*matrices((3, 4, 6), *[(6, 8)] * 3, (8, 5), size=0.6), 2),
        (*matrices((1, 3, 8), *[(8, 8)] * 4, size=0.5, dtype=torch.float64), 4),
    ]
)
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    """Self-attention with several heads: x (batch, length, d_model); weights used as x @ w, no bias, no mask."""
    query, key, value = (split_heads.reference(x @ w, n_heads) for w in (w_q, w_k, w_v))
    heads, _ = attention.scaled_dot_product_attention(query, key, value)
    return merge_heads.reference(heads) @ w_o


def _same(x):
    return x


def _cut(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def _view(x, n):
    return x.reshape(x.shape[0], n, x.shape[1], -1)


def _tokens_dealt(x, n):
    return x.reshape(x.shape[0], n, x.shape[1] // n, x.shape[2])


def _every_other(x, n):
    """Head 0 gets features 0, n, 2n, ..."""
    return x.unflatten(-1, (-1, n)).permute(0, 3, 1, 2)


def _batch_in_front(heads):
    return heads.flatten(0, 1)


def _split_by(cut=_cut, end=_same):
    return lambda x, n: end(cut(x, n))


split_heads.mistake(
    "view-without-transpose",
    (
        "The shape is right, the numbers are not: view only counts through memory, so a head gets a stretch of the "
        "sentence instead of a part of each token. First cut the last axis in two, then move an axis.",
        "Fill x with the numbers 0 to 11 as 3 tokens of 4 features, and split it into 2 heads. Head 0 should hold 0, 1 "
        "and 4, 5 and 8, 9. What does yours hold?",
    ),
    _split_by(_view),
)
split_heads.mistake(
    "not-transposed",
    (
        "The features are cut rightly, but the heads stand behind the tokens. Which axes have to change places?",
        "Your axes are batch, length, heads, d_head, in this order. Number them from 0 and compare with the order "
        "that is asked for.",
    ),
    _split_by(lambda x, n: x.unflatten(-1, (n, -1))),
)
split_heads.mistake(
    "splits-the-sequence",
    (
        "You deal the tokens out to the heads. Every head sees all tokens, and a part of their features.",
        "With 6 tokens of 8 features and 2 heads, each head has 6 rows of 4. What shape has one of your heads?",
    ),
    _split_by(_tokens_dealt),
    lambda x, n: torch.stack(x.chunk(n, dim=1), dim=1),
)
split_heads.mistake(
    "heads-and-features-swapped",
    (
        "Head and feature axes are swapped: head 0 should get the first d_head features, side by side.",
        "Give it one token with the features 0, 1, 2, 3 and 2 heads: head 0 gets 0 and 1. If yours gets 0 and 2, look "
        "at the order of the two numbers that you cut the last axis into; if the shape is wrong, at the order of the "
        "axes.",
    ),
    _split_by(_every_other),
    _split_by(lambda x, n: x.unflatten(-1, (n, -1)).permute(0, 3, 1, 2)),
    _split_by(lambda x, n: x.unflatten(-1, (n, -1)).permute(0, 2, 3, 1)),
)
split_heads.mistake(
    "heads-and-width-exchanged",
    (
        "You make heads of n_heads features, and as many of them as d_head says. It should be the other way round.",
        "With d_model 12 and 3 heads, each head is 4 wide. How many heads do you have, and how wide are they?",
    ),
    _split_by(lambda x, n: x.unflatten(-1, (-1, n)).transpose(1, 2)),
)
split_heads.mistake(
    "batch-and-heads-in-one",
    (
        "The heads are right, but batch and heads share one axis. They are wanted as two.",
        "For 2 sentences and 3 heads your first axis has 6 entries. Which line puts the two axes together, or never "
        "separates them?",
    ),
    _split_by(end=_batch_in_front),
    lambda x, n: _cut(x, n).transpose(0, 1).flatten(0, 1),
)
split_heads.mistake(
    "every-head-gets-everything",
    (
        "Each of your heads holds all features: it is the same tensor n_heads times. The features are shared out.",
        "With d_model 12 and 3 heads, how many features are left for each?",
    ),
    lambda x, n: x[:, None].expand(-1, n, -1, -1),
)
split_heads.together(
    _split_by,
    {
        "view-without-transpose": {"cut": _view},
        "not-transposed": {"cut": lambda x, n: x.unflatten(-1, (n, -1))},
        "splits-the-sequence": {"cut": _tokens_dealt},
        "heads-and-features-swapped": {"cut": _every_other},
        "heads-and-width-exchanged": {"cut": lambda x, n: x.unflatten(-1, (-1, n)).transpose(1, 2)},
        "batch-and-heads-in-one": {"end": _batch_in_front},
    },
)


@split_heads.sight
def _(candidate):
    from lesson_kit import show

    x = 10.0 * torch.arange(1, 4)[:, None] + torch.arange(1, 5)  # token 1 has the features 11, 12, 13, 14
    heads = candidate(x[None], 2)[0]
    rows = [f"head {head}, token {token}" for head in (0, 1) for token in (1, 2, 3)]
    title = "Your heads: every token (tens digit), a part of its features (ones digit)"
    return show.matrix(heads.flatten(0, 1), rows, title=title, digits=0)


def _merged_by(axes=(0, 2, 1, 3), end=lambda heads: heads.flatten(-2)):
    return lambda x: end(x.permute(axes))


merge_heads.mistake(
    "view-without-transpose",
    (
        "The shape is right, the numbers are not: in memory the heads come before the tokens. Move an axis first.",
        "Split the numbers 0 to 11 (3 tokens of 4 features) into 2 heads and merge them again. You should be back at "
        "0, 1, 2, 3 in the first row. Where does your first row take its numbers from?",
    ),
    lambda x: x.reshape(x.shape[0], x.shape[2], -1),
)
merge_heads.mistake(
    "sum-over-heads",
    (
        "You add the heads up, and d_model shrinks to d_head. Put them side by side: each keeps its own features.",
        "3 heads of 4 features make rows of 12. How long are yours, and which heads do you find in the first number?",
    ),
    lambda x: x.sum(1),
)
merge_heads.mistake(
    "mean-over-heads",
    (
        "You average the heads, and d_model shrinks to d_head. Put them side by side: each keeps its own features.",
        "3 heads of 4 features make rows of 12. How long are yours, and which heads do you find in the first number?",
    ),
    lambda x: x.mean(1),
)
merge_heads.mistake(
    "heads-and-features-swapped",
    (
        "Head and feature axes are swapped: all features of head 0 come first, then all of head 1.",
        "Let head 0 hold 0 and 1, and head 1 hold 2 and 3. The merged token is 0, 1, 2, 3. If yours is 0, 2, 1, 3: "
        "which axis stood last before you merged?",
    ),
    _merged_by((0, 2, 3, 1)),
)
merge_heads.mistake(
    "not-merged",
    (
        "The axes are in the right order, but heads and features are two axes still.",
        "Your result has four axes and three are wanted. What must become of the last two?",
    ),
    _merged_by(end=_same),
)
merge_heads.mistake(
    "heads-one-after-another",
    (
        "You put the heads one below the other: the sequence gets longer, and each token stands there once for each "
        "head. They belong side by side.",
        "2 heads, 3 tokens, 4 features: the result has 3 rows of 8. Yours has 6 of 4. Along which axis do you put them "
        "together?",
    ),
    lambda x: x.flatten(1, 2),
    lambda x: x.transpose(1, 2).flatten(1, 2),
)
merge_heads.mistake(
    "other-axes-exchanged",
    (
        "You exchange two axes before the merging, but not the right two: tokens and features get mixed up.",
        "Name the four axes of x in their order, then write down the order in which heads and features can be joined "
        "token by token. Which two names have changed places?",
    ),
    lambda x: x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1),
    lambda x: x.transpose(1, 3).reshape(x.shape[0], x.shape[2], -1),
)
merge_heads.together(
    _merged_by,
    {
        "heads-and-features-swapped": {"axes": (0, 2, 3, 1)},
        "not-merged": {"end": _same},
    },
)


@merge_heads.sight
def _(candidate):
    from lesson_kit import show

    heads = torch.tensor([[[11.0, 12.0], [21.0, 22.0]], [[13.0, 14.0], [23.0, 24.0]]])
    columns = ["of head 0", "of head 0", "of head 1", "of head 1"]
    title = "Your tokens, whole again: the features of head 0, then those of head 1"
    return show.matrix(candidate(heads[None])[0], ["token 1", "token 2"], columns, title, digits=0)


def _weigh(scores, axis):
    return torch.softmax(scores, dim=axis)


def _merge(heads):
    return heads.transpose(1, 2).flatten(-2)


def _keep(x, w):
    return x @ w


def _heads(
    use=_same,
    project=_keep,
    split=_cut,
    roles="qkv",
    width=lambda x, query, n: query.shape[-1],
    axis=-1,
    weigh=_weigh,
    late=False,
    merge=_merge,
    out=lambda heads, w_o, n: heads @ w_o,
):
    """Multi-head attention in its steps. ``roles``: which of the three projections asks, is asked and is mixed."""

    def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
        parts = {role: split(project(x, use(w)), n_heads) for role, w in zip("qkv", (w_q, w_k, w_v), strict=True)}
        query, key, value = (parts[role] for role in roles)
        weights = weigh(query @ key.mT / width(x, query, n_heads) ** 0.5, axis)
        heads = merge(weights @ value / (query.shape[-1] ** 0.5 if late else 1))
        return out(heads, use(w_o), n_heads)

    return multi_head_attention


def _no_out(heads, w_o, n):
    return heads


def _own_rows(heads, w_o, n):
    return heads @ w_o[: heads.shape[-1]]


def _one(x, query, n):
    return 1


def _unweighed(scores, axis):
    return scores


def _one_head(x, n):
    return x[:, None]


def _scaled_by(width):
    return _heads(width=width)


def _merged_by_view(heads):
    return heads.reshape(heads.shape[0], heads.shape[2], -1)


multi_head_attention.mistake(
    "no-output-projection",
    (
        "The heads stand side by side, each in its own features. What lets them mix is missing.",
        "One of your six arguments has no effect on the result. Change its numbers and see which.",
    ),
    _heads(out=_no_out),
)
multi_head_attention.mistake(
    "scaled-by-d-model",
    (
        "You scale by the full width. A head's score is a dot product of how many features?",
        "With d_model 12 and 3 heads, how many products does one score add up? Print the shape of one head's queries.",
    ),
    _scaled_by(lambda x, query, n: x.shape[-1]),
    _scaled_by(lambda x, query, n: query.shape[-1] * n),
)
multi_head_attention.mistake(
    "d-head-from-d-model",
    (
        "Right when W_Q is square. It may be rectangular: which tensor tells how wide a head is?",
        "With x of 6 features, W_Q of 6 by 8 and 2 heads, the queries have 8 features, 4 in each head. You get 3: from "
        "which shape?",
    ),
    _scaled_by(lambda x, query, n: x.shape[-1] // n),
)
multi_head_attention.mistake(
    "divided-by-d-head",
    (
        "You divide by too much: the weights come out too even. If the variance of a score is d_head, what is its "
        "standard deviation?",
        "With d_head = 4 a score of 6 should become 3. What does yours become?",
    ),
    _scaled_by(lambda x, query, n: query.shape[-1] ** 2),
)
multi_head_attention.mistake(
    "fixed-width",
    (
        SAME_NUMBER,
        "Try heads of 4 features, then a wider one: what do you divide by each time? " + LOOK_UNDER_THE_ROOT,
    ),
    *(_scaled_by(lambda x, query, n, width=width: width) for width in WIDTHS),
)
multi_head_attention.mistake(
    "scaled-by-number-of-heads",
    (
        "You scale by the number of heads. A score adds up products over features: how many has one head?",
        "Print the shape of one head's queries, and the number that you take the root of.",
    ),
    _scaled_by(lambda x, query, n: n),
)
multi_head_attention.mistake(
    "no-scale",
    (
        "The scores of the heads are not scaled.",
        "Lesson 02 had a divisor below the product of queries and keys. What is its d_k here, where each head has its "
        "own features?",
    ),
    _scaled_by(_one),
)
multi_head_attention.mistake(
    "scaled-after-softmax",
    (
        "You scale the weights, so they no longer add up to 1. Scaling is there to help softmax: when must it happen?",
        "Print the weights of one head and add up a row, right before they meet the values.",
    ),
    _heads(width=_one, late=True),
)
multi_head_attention.mistake(
    "wrong-axis",
    (
        "Your softmax runs along the wrong axis. The weights of one query, over all keys, add up to 1.",
        "Your scores have four axes: batch, heads, queries, keys. Which of them do the shares of one query lie along?",
    ),
    _heads(axis=0),
    _heads(axis=1),
    _heads(axis=-2),
)
multi_head_attention.mistake(
    "no-softmax",
    (
        "The scores go straight to the values. What turns a row of scores into shares that add up to 1?",
        "Print one row of what you multiply the values with: can shares be negative?",
    ),
    _heads(weigh=_unweighed),
)
multi_head_attention.mistake(
    "value-not-used",
    (
        "You mix the keys or the queries, not the values. Q and K decide how much to look where; what is mixed is V.",
        "One of the four matrices has no effect on your result. Change its numbers and see which, then follow its name "
        "through your lines.",
    ),
    _heads(roles="qkk"),
    _heads(roles="qkq"),
)
multi_head_attention.mistake(
    "key-not-used",
    (
        "You compare queries with queries, or keys with keys. A query looks for keys, and each has its own matrix.",
        "Print the scores of one head: yours are symmetric, entry (i, j) is entry (j, i). Why is that?",
    ),
    _heads(roles="qqv"),
    _heads(roles="kkv"),
)
multi_head_attention.mistake(
    "roles-swapped",
    (
        "The keys ask and the queries are asked: your scores are transposed. A row of them belongs to one query.",
        "Entry (0, 1) should be query 0 times key 1. Work it out for one head by hand, and find it in your scores.",
    ),
    _heads(roles="kqv"),
)
multi_head_attention.mistake(
    "projections-not-used",
    (
        "The heads are cut from x itself. Queries, keys and values are x seen through three matrices.",
        "Change the numbers of w_q: does your result change?",
    ),
    _heads(project=lambda x, w: x),
)
multi_head_attention.mistake(
    "heads-summed",
    (
        "You add the heads up, or average them. Put them side by side: W_O has a row for every feature of every head.",
        "Print the shape right before W_O. 3 heads of 4 features need 12 columns there.",
    ),
    _heads(merge=lambda heads: heads.sum(1), out=_no_out),
    _heads(merge=lambda heads: heads.mean(1), out=_no_out),
    _heads(merge=lambda heads: heads.sum(1)),
    _heads(merge=lambda heads: heads.sum(1), out=_own_rows),
    _heads(merge=lambda heads: heads.mean(1), out=_own_rows),
)
multi_head_attention.mistake(
    "weights-transposed",
    (
        "Rows are tokens: this course multiplies with the matrix as it is. nn.Linear keeps it transposed.",
        "A token with the features (1, 0), seen through the matrix with the rows (1, 2) and (3, 4), becomes (1, 2): "
        "the first row. What does yours become?",
    ),
    _heads(use=torch.t),
    lambda x, w_q, w_k, w_v, w_o, n: _heads(use=torch.t)(x, w_q, w_k, w_v, w_o.T, n),
    lambda x, w_q, w_k, w_v, w_o, n: _heads()(x, w_q, w_k, w_v, w_o.T, n),
)
multi_head_attention.mistake(
    "attends-across-heads",
    (
        "Within one token, the heads attend to each other: no token sees another. Which axis must stand next to last?",
        "Print the shape of your scores for 2 sentences, 5 tokens and 3 heads. Each head needs a 5 by 5 table.",
    ),
    _heads(split=lambda x, n: x.unflatten(-1, (n, -1)), merge=lambda heads: heads.flatten(-2)),
)
multi_head_attention.mistake(
    "split-by-view",
    (
        "The heads are cut out by view or reshape alone: a head gets a stretch of the sentence instead of a part of "
        "each token. Your split_heads does it rightly.",
        "Fill x with the numbers 0 to 11 as 3 tokens of 4 features, and look at what head 0 of 2 gets: it should have "
        "the first half of every token.",
    ),
    _heads(split=_view),
)
multi_head_attention.mistake(
    "merged-by-view",
    (
        "The heads are put together by view or reshape alone: the tokens are mixed up. Your merge_heads does it "
        "rightly.",
        "Right before W_O, the first row should hold what each head found for the first token. Which tokens are in "
        "yours?",
    ),
    _heads(merge=_merged_by_view),
)
multi_head_attention.mistake(
    "one-head-only",
    (
        "The result does not depend on n_heads: this is one wide head.",
        "Three heads make three tables of scores for a sentence. How many do you make? Print their shape.",
    ),
    _heads(split=_one_head),
    _heads(split=_one_head, width=lambda x, query, n: query.shape[-1] // n),
)
multi_head_attention.together(
    _heads,
    {  # some name an option only to be kept apart from what would give the same numbers, or make no sense
        "no-output-projection": {"out": _no_out},
        "scaled-by-d-model": {"width": lambda x, query, n: x.shape[-1]},
        "d-head-from-d-model": {"width": lambda x, query, n: x.shape[-1] // n, "use": _same, "project": _keep},
        "divided-by-d-head": {"width": lambda x, query, n: query.shape[-1] ** 2},
        "fixed-width": {"width": lambda x, query, n: 64},
        "scaled-by-number-of-heads": {"width": lambda x, query, n: n},
        "no-scale": {"width": _one},
        "scaled-after-softmax": {"width": _one, "late": True},
        "wrong-axis": {"axis": -2},
        "no-softmax": {"weigh": _unweighed, "axis": -1, "late": False},
        "value-not-used": {"roles": "qkk"},
        "key-not-used": {"roles": "qqv"},
        "roles-swapped": {"roles": "kqv"},
        "projections-not-used": {"project": lambda x, w: x, "roles": "qkv"},
        "heads-summed": {"merge": lambda heads: heads.sum(1), "out": _no_out},
        "weights-transposed": {"use": torch.t},
        "attends-across-heads": {
            "split": lambda x, n: x.unflatten(-1, (n, -1)),
            "merge": lambda heads: heads.flatten(-2),
        },
        "split-by-view": {"split": _view},
        "merged-by-view": {"merge": _merged_by_view},
        "one-head-only": {"split": _one_head, "merge": _merge},
    },
)


@multi_head_attention.sight
def _(candidate):
    from lesson_kit import show

    x, *weights = matrices((1, 3, 8), *[(8, 8)] * 4, size=0.7)
    outputs = torch.cat([candidate(x, *weights, n)[0, :1, :5] for n in (1, 2, 4, 8)])
    rows = ["1 head", "2 heads", "4 heads", "8 heads"]
    title = "One token through the same four matrices: the cut into heads alone makes these outputs differ"
    return show.matrix(outputs, rows, [f"feature {i}" for i in range(5)], title)
