"""Exercises of lesson 03: masks. True means "may attend"."""

import torch

from course_utils import masks
from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import normal


@exercise(lambda: [(4,), (1,), (2,), (7,)], gradients=False)
def causal_mask(length):
    """Who may look at whom when nobody may look ahead: boolean (length, length), rows are queries."""
    return masks.causal_mask(length)


@exercise(
    lambda: [
        (torch.tensor([2, 4, 1]), 5),
        (torch.tensor([3, 0, 5, 2, 4]), 5),
        (torch.tensor([2, 3, 0]), 4),
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
    extremes = torch.tensor([[1, 1, 1], [0, 0, 0], [0, 1, 0]]).bool()
    high = normal(3, 4, seed=3) + torch.tensor([[5.0], [150.0], [6.0]])
    high[0, 2] += 300  # hidden, and far above all that can be seen
    return [
        (normal(4, 5) + level, first),
        (normal(2, 3, 5, 4, seed=1) + 5, keys[:, None, None, :]),
        (normal(2, 4, 5, seed=2, dtype=torch.float64) + level, first),
        (high, keys[0]),
        (normal(1, 3, 3, seed=4), extremes[None]),
    ]


@exercise(_scores_mask)
def masked_softmax(scores, mask):
    """Softmax over the last axis among the True entries only; a row without any gives zeros. The mask broadcasts."""
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(dim=-1).masked_fill(~mask, 0.0)


def _same(x):
    return x


def _lower(length, diagonal=0):
    return torch.ones(length, length).tril(diagonal).bool()


def _triangle(diagonal=0, turn=_same, kind=_same):
    """A triangle: how far it reaches, what is done to it, and of which kind its entries are."""
    return lambda length: kind(turn(_lower(length, diagonal)))


_float = (
    "A mask of this course is boolean. Which question, with yes or no as its answer, does each entry answer?",
    "Print the dtype. The -inf or 0 and 1 of other courses come later, when the mask is used; a comparison gives yes "
    "and no by itself.",
)
_integers = (
    "A mask of this course is boolean, yes and no, not 1 and 0. It is more than a matter of taste: `~` turns yes into "
    "no, but 1 into -2.",
    "Print the dtype after each line. Numbers can be turned into yes and no at the end, or never come up: a comparison "
    "gives booleans by itself.",
)

causal_mask.mistake(
    "inverted",
    (
        "Your True means hidden. In this course True means: may attend.",
        "The first token may look at itself only. Read your first row aloud with 'may attend' for each True.",
    ),
    _triangle(turn=torch.logical_not),
)
causal_mask.mistake(
    "diagonal-hidden",
    (
        "A position must see itself. In yours the first one sees nothing at all.",
        "How many entries of row 0 should be True, and how many of row 1? Print both rows and count.",
    ),
    _triangle(-1),
)
causal_mask.mistake(
    "upper-triangle",
    (
        "Rows are queries, columns are keys. In yours, the first token sees all that follows and the last only itself.",
        "Print your mask for four words and lay a finger on row 0, the first word. Which words has it read so far?",
    ),
    _triangle(turn=torch.t),
)
causal_mask.mistake(
    "one-too-many",
    (
        "Your diagonal is moved by one: a position sees the one after it.",
        "Row 0 should have one True. Yours has two: which number shifts the edge of the triangle, or is a comparison "
        "off by one?",
    ),
    _triangle(1),
)
causal_mask.mistake(
    "nothing-hidden",
    (
        "Every entry is True: everybody sees everything. Is the triangle cut, and is the cut one what you return?",
        "Most functions of torch return a new tensor and leave the old one as it was. Print your tensor before and "
        "after the line that should cut it.",
    ),
    lambda length: torch.ones(length, length).bool(),
)
causal_mask.mistake(
    "only-itself",
    (
        "Only the diagonal is True: every token sees itself and forgets what came before.",
        "The third word may look at the first, the second and itself. How many True does your third row have?",
    ),
    lambda length: torch.eye(length).bool(),
)
causal_mask.mistake(
    "float-instead-of-boolean",
    _float,
    _triangle(kind=torch.Tensor.float),
    lambda length: torch.zeros(length, length).masked_fill(~_lower(length), -torch.inf),
    lambda length: torch.zeros(length, length).masked_fill(~_lower(length), -1e9),
)
causal_mask.mistake(
    "integers-instead-of-boolean",
    _integers,
    _triangle(kind=torch.Tensor.long),
    _triangle(kind=torch.Tensor.int),
    _triangle(kind=lambda mask: mask.to(torch.uint8)),
)
causal_mask.together(
    _triangle,
    {  # any two of the first three make the third one, so they share an option
        "inverted": {"turn": torch.logical_not},
        "diagonal-hidden": {"diagonal": -1, "turn": _same},
        "upper-triangle": {"turn": torch.t},
        "one-too-many": {"diagonal": 1},
        "float-instead-of-boolean": {"kind": torch.Tensor.float},
        "integers-instead-of-boolean": {"kind": torch.Tensor.long},
    },
)


@causal_mask.sight
def _(candidate):
    from lesson_kit import show

    words = ["The", "sky", "is", "blue"]
    return show.matrix(candidate(4), words, words, "Your mask: may the word of the row look at that of the column?")


def _column(lengths):
    return lengths[:, None]


def _rows(
    compare=torch.lt,
    column=_column,
    each=_same,
    width=lambda lengths, max_length: max_length,
    shift=0,
    in_front=False,
    turn=_same,
    kind=_same,
):
    """A padding mask in its parts: positions, compared with where each sequence ends."""

    def padding_mask(lengths, max_length):
        steps, ends = torch.arange(width(lengths, max_length)), column(each(lengths)) + shift
        mask = steps >= max_length - ends if in_front else compare(steps, ends)
        return kind(turn(mask))

    return padding_mask


def _all_have(one):
    """One length for all sequences, the one that ``one`` takes from the lengths."""
    return lambda lengths: one(lengths).expand(len(lengths))


def _longest(lengths, max_length):
    return int(lengths.max())


padding_mask.mistake(
    "inverted",
    (
        "Your True marks the padding. In this course True means: may be looked at.",
        "A sequence of length 2, padded to 3, begins with True, True. What does your row say?",
    ),
    _rows(torch.ge),
)
padding_mask.mistake(
    "off-by-one",
    (
        "Count again: a sequence of length 2 has real tokens at positions 0 and 1. Yours has one too many or too few.",
        "How many True has a row of length 0, and how many one of length 2? Print both and count. Then look at your "
        "comparison: what does it say when position and length are equal?",
    ),
    _rows(shift=1),
    _rows(shift=-1),
)
padding_mask.mistake(
    "one-length-for-all",
    (
        "All your rows are alike. Every sequence has its own length.",
        "Try the lengths 1 and 3, padded to 4. Which of the two does your function look at, for both rows?",
    ),
    *(_rows(each=_all_have(one)) for one in (lambda n: n[0], lambda n: n[-1], torch.max, torch.min)),
)
padding_mask.mistake(
    "no-second-axis",
    (
        "You compare the positions with the lengths one by one. Every position should meet every length: give lengths "
        "a second axis, of size 1.",
        "Two lengths and three positions should make 2 by 3 answers. Shapes are lined up from the right: (2,) and (3,) "
        "don't fit. Which shape of the lengths makes rows of them?",
    ),
    _rows(column=_same),
)
padding_mask.mistake(
    "max-length-ignored",
    (
        "Your mask is as wide as the longest sequence. The batch may be padded further: how wide is asked for?",
        "Try the lengths 1 and 2 with a max_length of 4. How many columns do you get?",
    ),
    _rows(width=_longest),
)
padding_mask.mistake(
    "padding-in-front",
    (
        "Your rows start with the padding. Here the real tokens come first.",
        "A sequence of length 1, padded to 3, is True, False, False. Print yours: at which end do you count?",
    ),
    _rows(in_front=True),
)
padding_mask.mistake(
    "axes-exchanged",
    (
        "Rows and columns are exchanged: here every sequence has a row, with its positions side by side.",
        "For 2 sequences padded to 5 the mask is 2 by 5. Which of your two parts, positions or lengths, stands "
        "upright?",
    ),
    _rows(turn=torch.t),
)
padding_mask.mistake(
    "float-instead-of-boolean",
    _float,
    _rows(kind=torch.Tensor.float),
    _rows(kind=lambda mask: torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)),
)
padding_mask.mistake(
    "integers-instead-of-boolean",
    _integers,
    _rows(kind=torch.Tensor.long),
    _rows(kind=torch.Tensor.int),
    _rows(kind=lambda mask: mask.to(torch.uint8)),
)
padding_mask.mistake(
    "extra-axes",
    (
        "The mask is right, but it has axes of size 1 that are not asked for. They come when a mask meets the scores.",
        "Print the shape. Which line adds an axis, and would the shape be right without it?",
    ),
    _rows(kind=lambda mask: mask[:, None]),
    _rows(kind=lambda mask: mask[:, None, None]),
    _rows(kind=lambda mask: mask[..., None]),
)
padding_mask.together(
    _rows,
    {
        "inverted": {"compare": torch.ge},
        "off-by-one": {"shift": 1},
        "one-length-for-all": {"each": _all_have(lambda lengths: lengths[0])},
        "no-second-axis": {"column": _same, "each": _same},
        "max-length-ignored": {"width": _longest},
        "padding-in-front": {"in_front": True, "compare": torch.lt},
        "axes-exchanged": {"turn": torch.t, "column": _column},
        "float-instead-of-boolean": {"kind": torch.Tensor.float},
        "integers-instead-of-boolean": {"kind": torch.Tensor.long},
        "extra-axes": {"kind": lambda mask: mask[:, None, None]},
    },
)


@padding_mask.sight
def _(candidate):
    from lesson_kit import show

    sentences = ["The sky is blue", "Read", "It is late"]
    lengths = [len(sentence.split()) for sentence in sentences]
    columns = [f"position {t}" for t in range(5)]
    return show.matrix(candidate(torch.tensor(lengths), 5), sentences, columns, "Your mask: is there a real word?")


def _lowest(scores):
    return torch.finfo(scores.dtype).min


def _by_fill(scores, mask, number):
    return scores.masked_fill(~mask, number)


def _by_sum(scores, mask, number):
    return scores + ~mask * number


def _by_index(scores, mask, number):
    scores[mask]  # an index does not broadcast: raises where the shapes differ
    return scores.masked_fill(~mask, number)


def _zero_hidden(weights, mask):
    return weights.masked_fill(~mask, 0.0)


def _zero_empty(weights, mask):
    return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)


def _keep(weights, mask):
    return weights


def _masked(visible=_same, put=_by_fill, fill=None, axis=-1, after=_zero_hidden):
    """Masked softmax: which keys are visible, how the others are filled and with what, what happens after softmax."""

    def masked_softmax(scores, mask):
        mask = visible(mask)
        weights = torch.softmax(put(scores, mask, _lowest(scores) if fill is None else fill), dim=axis)
        return after(weights, mask)

    return masked_softmax


# What is done about a row whose sum is 0.
_RESCUES = (
    lambda weights, total: weights / total,
    lambda weights, total: (weights / total).nan_to_num(0.0),
    lambda weights, total: torch.where(total > 0, weights / total, 0.0),
    lambda weights, total: weights / total.masked_fill(total == 0, 1.0),
    *(lambda weights, total, least=least: weights / total.clamp(min=least) for least in (1e-12, 1e-9, 1e-6)),
)


def _shared_out_anew(rescue):
    def after(weights, mask):
        visible = _zero_hidden(weights, mask)
        return rescue(visible, visible.sum(-1, keepdim=True))

    return after


def _without_keepdim(fill, after, of_maximum, of_sum):
    """Softmax by hand in which a maximum or a sum loses its axis."""

    def masked_softmax(scores, mask):
        filled = scores.masked_fill(~mask, _lowest(scores) if fill is None else fill)
        e = torch.exp(filled - filled.amax(-1, keepdim=of_maximum))
        return after(e / e.sum(-1, keepdim=of_sum), mask)

    return masked_softmax


def _unfilled(scores, mask, number):
    return scores


def _mask_added(scores, mask, number):
    return scores + mask


masked_softmax.mistake(
    "inverted",
    (
        "You look exactly where looking is forbidden. True means: may attend.",
        "With the mask (True, False) all weight belongs to the first key. Where does yours go? Say aloud which scores "
        "your line fills: those where the mask is ...",
    ),
    _masked(torch.logical_not),
)
masked_softmax.mistake(
    "mask-after-softmax",
    (
        "You mask the finished weights, so what is left of a row no longer adds up to 1. "
        "Hidden keys must not take part in the competition.",
        "With equal scores and the mask (True, False) the weights are (1, 0). Yours are (0.5, 0): when did the hidden "
        "key take its half?",
    ),
    _masked(put=_unfilled),
)
masked_softmax.mistake(
    "renormalised",
    (
        "Every key takes part first, then the hidden shares are struck out and the rest is shared out anew. On paper "
        "that is the same. In float numbers a hidden score far above the others leaves them nothing to share.",
        "Try the scores (0, 1000) with the second one hidden, and print the row after softmax. What can be shared out "
        "after the hidden 1 is struck out? When must the hidden key leave?",
    ),
    *(_masked(put=_unfilled, after=_shared_out_anew(rescue)) for rescue in _RESCUES),
)
masked_softmax.mistake(
    "filled-with-zero",
    (
        "A score of 0 is no zero weight: exp(0) is 1. Which score has an exponential of 0?",
        "Take the scores (-3, 5) and hide the second: with a 0 in its place it still wins against -3. How low would it "
        "have to be?",
    ),
    _masked(fill=0.0, after=_keep),
    _masked(fill=0.0),
    _masked(fill=0.0, after=_zero_empty),
)
masked_softmax.mistake(
    "small-negative-fill",
    (
        "Your fill is negative, but not enough: in a row of very low scores the hidden keys win. "
        "What is below every number?",
        "Try a row of scores near -300. Is your fill lower than that?",
    ),
    *(
        _masked(put=put, fill=-10.0, after=after)
        for put in (_by_fill, _by_sum)
        for after in (_keep, _zero_hidden, _zero_empty)
    ),
)
masked_softmax.mistake(
    "minus-forgotten",
    (
        "The hidden keys get a very high score, so they win everything, or the row becomes NaN. On which side of zero "
        "is the score of a key that nobody should see?",
        "exp of your fill should be 0. What is exp(1000), and what exp(-1000)?",
    ),
    *(_masked(fill=number, after=after) for number in (1e9, torch.inf) for after in (_keep, _zero_hidden)),
)
masked_softmax.mistake(
    "zero-times-infinity",
    (
        "Minus infinity times 0 is NaN, not 0, so multiplying it with the mask spoils the visible scores. How can the "
        "number be put in at the hidden places only?",
        "Print the product of the mask (or what you made of it) and -inf for one row. Where should a 0 stand, and what "
        "stands there?",
    ),
    _masked(put=_by_sum, fill=-torch.inf, after=_keep),
    _masked(put=_by_sum, fill=-torch.inf),
    _masked(put=_by_sum, fill=-torch.inf, after=lambda weights, mask: weights.nan_to_num(0.0)),
)
masked_softmax.mistake(
    "nan-on-an-empty-row",
    (
        "A row with nothing to attend to becomes 0 / 0. It should give zeros: which step needs to know about it?",
        "Print the row (-inf, -inf) before and after softmax. Softmax can't share out nothing; which other fill, or "
        "which step afterwards, would leave zeros?",
    ),
    _masked(fill=-torch.inf, after=_keep),
)
masked_softmax.mistake(
    "empty-row-attends",
    (
        "No NaN, but a row with nothing to attend to still hands out weights, to hidden keys. It should give zeros.",
        "Print the row whose keys are all hidden. Its scores are all equally low, so softmax makes equal shares. What "
        "do you know about hidden keys, whatever softmax says?",
    ),
    _masked(after=_keep),
    # added, the fill keeps some of the scores
    *(_masked(put=_by_sum, fill=number, after=_keep) for number in (-100.0, -1e4, -1e9)),
)
masked_softmax.mistake(
    "exp-times-mask",
    (
        "On paper this is the formula. In float numbers exp overflows for high scores and vanishes for low ones, "
        "before you divide. Take away the largest visible score of each row first, or hide the scores and leave exp "
        "to softmax.",
        "Try a row of scores near 150 and one near -300, and print what exp makes of them.",
    ),
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
masked_softmax.mistake(
    "mask-added",
    (
        "You add the mask as numbers: True counts 1, False 0. That is a small bonus for the visible keys, not a ban.",
        "With equal scores and the mask (True, False) your weights are about (0.73, 0.27). Which number, instead of 0, "
        "would leave nothing to the second key?",
    ),
    _masked(put=_mask_added, after=_keep),
    _masked(put=_mask_added),
)
masked_softmax.mistake(
    "mask-ignored",
    (
        "The result does not depend on the mask. Is it used, and does what you make with it go into softmax?",
        "Print the scores right before softmax: are the hidden ones filled? Functions such as masked_fill return a new "
        "tensor and leave the old one as it was: which name holds the new one?",
    ),
    _masked(put=_unfilled, after=_keep),
)
masked_softmax.mistake(
    "mask-does-not-broadcast",
    (
        "Square brackets with a mask inside want a mask of exactly the same shape. Here it may be smaller and be "
        "stretched.",
        "Print both shapes in the case that fails. Which functions of this lesson stretch an axis of "
        "length 1, as + does?",
    ),
    _masked(put=_by_index),
)
masked_softmax.mistake(
    "wrong-axis",
    (
        "Your softmax runs along another axis than the last.",
        "Add up your result for 2 queries and 3 keys along both axes: which sums are 1? With axes in front, count "
        "from the end.",
    ),
    _masked(axis=0),
    _masked(axis=1),
    _masked(axis=-2),
    # torch's guess when F.softmax is told no axis
    lambda scores, mask: _masked(axis=0 if scores.dim() in (1, 3) else 1)(scores, mask),
)
masked_softmax.mistake(
    "keepdim-forgotten",
    (
        "After a sum or a maximum the last axis is gone, so broadcasting lines the numbers up with the wrong axis. "
        "Keep it, with size 1.",
        "With scores of shape (4, 5), print the shape of your maxima and of your sums. (4, 5) and (4,) don't fit, "
        "(4, 5) and (4, 1) do.",
    ),
    *(
        _without_keepdim(fill, after, of_maximum, of_sum)
        for fill in (None, -1e9, -torch.inf)
        for after in (_zero_hidden, _keep, lambda weights, mask: weights.nan_to_num(0.0))
        for of_maximum, of_sum in ((True, False), (False, True), (False, False))
    ),
)
masked_softmax.together(
    _masked,
    {  # some name an option only to be kept apart from what would give the same numbers, or make no sense
        "inverted": {"visible": torch.logical_not},
        "mask-after-softmax": {"put": _unfilled, "fill": None, "after": _zero_hidden},
        "filled-with-zero": {"fill": 0.0, "after": _keep},
        "small-negative-fill": {"fill": -10.0, "after": _keep},
        "minus-forgotten": {"fill": 1e9, "after": _keep},
        "nan-on-an-empty-row": {"fill": -torch.inf, "after": _keep},
        "empty-row-attends": {"after": _keep},
        "mask-added": {"put": _mask_added, "fill": None, "after": _keep},
        "mask-ignored": {"put": _unfilled, "fill": None, "after": _keep, "visible": _same},
        "mask-does-not-broadcast": {"put": _by_index},
        "wrong-axis": {"axis": -2},
    },
)


@masked_softmax.sight
def _(candidate):
    from lesson_kit import show

    words = ["The", "sky", "is", "blue"]
    mask = torch.ones(4, 4).tril().bool()
    mask[3] = False
    weights = candidate(torch.zeros(4, 4), mask)
    cells = [["0" if weight == 0 else f"{weight:.2f}" for weight in row] for row in weights.tolist()]
    names = [*words[:3], "blue, seeing nobody"]
    return show.matrix(cells, names, words, "Your weights for equal scores: a row shares 1 among those it may see")
