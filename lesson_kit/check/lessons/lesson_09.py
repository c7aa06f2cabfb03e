"""Exercises of lesson 09: masking for masked-language modelling. Random, so shares are compared, not tokens."""

import torch
from torch import Tensor

from lesson_kit.check.engine.exercise import exercise

MASK, VOCABULARY = 4, 1000
NOT_ASKED = -100


def _sentences(seed: int) -> tuple:
    """Rows like a tokenizer's: [CLS] = 2 in front, [SEP] = 3 at the end, then padding, 0."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(5, VOCABULARY, (240, 250), generator=generator)
    ends = torch.randint(200, 250, (240, 1), generator=generator)
    place = torch.arange(250).expand_as(ids)
    ids = torch.where(place == ends, 3, ids.masked_fill(place > ends, 0))
    ids[:, 0] = 2
    return ids, ids < 5, MASK, VOCABULARY, generator


def _anywhere(seed: int) -> tuple:
    """The same, but the positions to leave alone are not to be known from their ids; another [MASK], other sizes."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 400, (300, 200), generator=generator)
    special = torch.rand(ids.shape, generator=generator) < 0.2
    return ids.masked_fill(ids == 103, 104), special, 103, 400, generator


def _nothing_to_mask() -> tuple:
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(5, VOCABULARY, (1, 150), generator=generator)
    return ids, torch.ones_like(ids).bool(), MASK, VOCABULARY, generator


def _share(hits: Tensor) -> float:
    return hits.double().mean().item() if hits.numel() else 0.0


def _one_for_all(asked: Tensor, word: Tensor) -> float:
    """The share of rows and columns in which all of the ordinary tokens, or none, have a label."""
    found = []
    for axis in (0, 1):
        words, chosen = word.sum(axis), (asked & word).sum(axis)
        found.append(((chosen == 0) | (chosen == words))[words > 60])
    return _share(torch.cat(found))


def _shares(result: tuple[Tensor, Tensor], args: tuple) -> dict[str, float]:
    (inputs, labels), (ids, special, mask_id, vocab_size, _) = result, args
    asked, word = labels != NOT_ASKED, ~special
    now, before = inputs[asked & word], ids[asked & word]
    drawn = now[(now != mask_id) & (now != before)].double()
    return {
        "Special tokens with a label": _share(asked[special]),
        "Special tokens whose input is changed": _share((inputs != ids)[special]),
        "Ordinary tokens with a label": _share(asked[word]),
        "Labels that are the token's true id": _share((labels == ids)[asked]),
        "Tokens without a label whose input is changed all the same": _share((inputs != ids)[~asked & word]),
        "Chosen tokens that become [MASK]": _share(now == mask_id),
        "Chosen tokens that become some other word": _share((now != mask_id) & (now != before)),
        "Inputs outside the vocabulary": _share((inputs < 0) | (inputs >= vocab_size)),
        "Rows and columns in which all tokens, or none, are chosen": _one_for_all(asked, word),
        "Tenths of the vocabulary in which random words occur": len((drawn * 10 / vocab_size).long().unique()) / 10,
    }


@exercise(lambda: [_sentences(1), _anywhere(2), _nothing_to_mask()], gradients=False, shares=_shares)
def mask_tokens(ids, special, mask_id, vocab_size, generator):
    """Chooses 15% of the ordinary tokens; 80% of these become [MASK], 10% a random word. Returns (inputs, labels)."""
    return _masking()(ids, special, mask_id, vocab_size, generator)


def _special(ids, special):
    return special


def _nobody(ids, special):
    return torch.zeros_like(special)


def _true_ids(ids, inputs, chosen, special):
    return torch.where(chosen, ids, NOT_ASKED)


def _all_ids(ids, inputs, chosen, special):
    return ids.clone()


def _what_stands_there(ids, inputs, chosen, special):
    return torch.where(chosen, inputs, NOT_ASKED)


def _masking(*, share=0.15, masked=0.8, random=0.1, never=_special, label=_true_ids, empty=NOT_ASKED, swap=False):
    """The masking with its parts open.

    ``never(ids, special)``: what is not chosen; ``label(ids, inputs, chosen, special)``: the labels; ``empty``: the
    label of the tokens that are not asked.
    """

    def way(ids, special, mask_id, vocab_size, generator):
        def chance():
            return torch.rand(ids.shape, generator=generator)

        chosen = ~never(ids, special) & (chance() < share)
        what = chance()
        words = torch.randint(vocab_size, ids.shape, generator=generator)
        inputs = torch.where(chosen & (what < masked), mask_id, ids)
        inputs = torch.where(chosen & (what >= masked) & (what < masked + random), words, inputs)
        labels = label(ids, inputs, chosen, special)
        labels = labels.masked_fill(labels == NOT_ASKED, empty)
        return (labels, inputs) if swap else (inputs, labels)

    return way


_masked = _masking()


def _one_word_for_all(ids, special, mask_id, vocab_size, generator):
    inputs, labels = _masked(ids, special, mask_id, vocab_size, generator)
    drawn = (labels != NOT_ASKED) & (inputs != mask_id) & (inputs != ids)
    return torch.where(drawn, torch.randint(vocab_size, (1,), generator=generator), inputs), labels


def _whole_lines(axis):
    """Chooses rows (0) or columns (1), and in them all."""

    def way(ids, special, mask_id, vocab_size, generator):
        shape = (len(ids), 1) if axis == 0 else (1, ids.shape[1])
        lines = (torch.rand(shape, generator=generator) < 0.15).expand_as(ids)
        whole = _masking(share=1.0, never=lambda ids, special: special | ~lines)
        return whole(ids, special, mask_id, vocab_size, generator)

    return way


def _overwritten(ids, special, mask_id, vocab_size, generator):
    """Random words for a tenth of the chosen ones, those that have become [MASK] among them."""
    inputs, labels = _masking(random=0.0)(ids, special, mask_id, vocab_size, generator)
    tenth = (labels != NOT_ASKED) & (torch.rand(ids.shape, generator=generator) < 0.1)
    return torch.where(tenth, torch.randint(vocab_size, ids.shape, generator=generator), inputs), labels


def _only_masked_asked(ids, special, mask_id, *rest):
    inputs, _ = _masked(ids, special, mask_id, *rest)
    return inputs, torch.where(inputs == mask_id, ids, NOT_ASKED)


mask_tokens.mistake(
    "labels-everywhere",
    (
        "Tokens that were not chosen have labels too. The loss would reward copying what stands there: "
        f"their label is {NOT_ASKED}.",
        f"Count the labels that are not {NOT_ASKED}, and divide by the number of tokens: it should be a little below "
        "15%.",
    ),
    _masking(label=_all_ids),
    _masking(label=lambda ids, inputs, chosen, special: ids.masked_fill(special, NOT_ASKED)),
)
mask_tokens.mistake(
    "special-tokens-masked",
    (
        "You choose among all tokens, [CLS], [SEP] and padding included. Which argument says whom to leave alone?",
        "special is True where a token must stay. A token is chosen if the dice say so and it is not special.",
    ),
    _masking(never=_nobody),
)
mask_tokens.mistake(
    "special-looked-up-by-id",
    (
        "You leave small ids alone, but not all that special marks. Use the argument, not the ids.",
        "Which ids [CLS] and [SEP] have depends on the vocabulary. special knows them for every tokenizer.",
    ),
    *(_masking(never=lambda ids, special, last=last: ids < last) for last in (3, 4, 5)),
)
mask_tokens.mistake(
    "all-tokens-chosen",
    (
        "You choose every ordinary token. First 15% of them are chosen, and only these become [MASK], another word, or "
        "stay.",
        "There are two questions to the dice: is this token chosen at all, and if so, what becomes of it? Which number "
        "answers the first?",
    ),
    _masking(share=1.0),
)
mask_tokens.mistake(
    "always-mask",
    (
        "Every chosen token becomes [MASK]. Of ten, one should get a random word and one should stay as it is.",
        "A second draw decides what becomes of a chosen token. In which part of 0 to 1 should [MASK] come out?",
    ),
    _masking(masked=1.0, random=0.0),
)
mask_tokens.mistake(
    "no-random-words",
    (
        "The chosen tokens become [MASK] or stay. One in ten should get a random word.",
        "Of 100 chosen tokens 80 become [MASK] and 10 stay. What about the other 10?",
    ),
    _masking(random=0.0),
    _masking(masked=0.9, random=0.0),
)
mask_tokens.mistake(
    "none-stays",
    (
        "No token stays as it is and has a label all the same. One in ten of the chosen ones should.",
        "Of 100 chosen tokens, how many become [MASK] in yours, and how many another word? It should be 80 and 10.",
    ),
    _masking(label=lambda ids, inputs, chosen, special: torch.where(chosen & (inputs != ids), ids, NOT_ASKED)),
    _masking(random=0.2),
    _masking(masked=0.9),
)
mask_tokens.mistake(
    "ten-percent-of-the-rest",
    (
        "80% become [MASK], but then you take 10% of the remaining fifth. 10% of all chosen tokens is half of that "
        "fifth.",
        "Of 100 chosen tokens 80 become [MASK]; 20 are left. How many of these 20 should get a random word?",
    ),
    _masking(random=0.02),
)
mask_tokens.mistake(
    "random-words-overwrite-masks",
    (
        "Your random words also replace tokens that have become [MASK] already, so fewer than 80% are left. The three "
        "fates exclude each other.",
        "One draw per token can decide among three: cut 0 to 1 into three pieces. Or choose the words only among those "
        "that are not [MASK].",
    ),
    _overwritten,
)
mask_tokens.mistake(
    "shares-swapped",
    (
        "The shares are mixed up: 80% become [MASK], 10% a random word, 10% stay.",
        "Count, among 10,000 chosen tokens, those that became [MASK]. Which of your comparisons gives that number?",
    ),
    _masking(masked=0.1, random=0.8),
    _masking(masked=0.1),
)
mask_tokens.mistake(
    "other-way-round",
    (
        "You choose 85% and leave 15%. Is the comparison the right way round?",
        "torch.rand gives numbers between 0 and 1. How many of them are below 0.15, and how many above?",
    ),
    _masking(share=0.85),
)
mask_tokens.mistake(
    "drawn-twice",
    (
        "You throw the dice once for the inputs and once more for the labels, so tokens are changed that nobody asks "
        "about. Who is chosen is decided once.",
        "Keep the tensor that says who is chosen, and use it for both. Each new torch.rand is a new throw.",
    ),
    lambda *args: (_masked(*args)[0], _masked(*args)[1]),
)
mask_tokens.mistake(
    "only-masked-asked",
    (
        "Only the tokens that became [MASK] have a label. Those with a random word, and those that stay, are asked "
        "too.",
        "Every chosen token has a label, whatever becomes of it. Which of your tensors says who was chosen?",
    ),
    _only_masked_asked,
)
mask_tokens.mistake(
    "input-and-label-swapped",
    (
        "Inputs and labels have changed places: the model reads the masked sentence and must name the true words.",
        f"Which of your two results holds {NOT_ASKED}? That can't be an input, there is no such word.",
    ),
    _masking(swap=True),
    lambda ids, *rest: (ids.clone(), _masking(label=_what_stands_there)(ids, *rest)[1]),
    lambda ids, *rest: (ids.clone(), _masked(ids, *rest)[0]),
)
mask_tokens.mistake(
    "labels-from-the-masked-input",
    (
        "Your labels hold what stands in the input now, [MASK] itself. They must hold the words that stood there "
        "before.",
        "Did you make the labels before or after the inputs were changed, and from which of the two tensors?",
    ),
    _masking(label=_what_stands_there),
    _masking(label=lambda ids, inputs, chosen, special: inputs.clone()),
)
mask_tokens.mistake(
    "labels-inverted",
    (
        "The labels stand at the tokens that were not chosen, and are missing where a word must be guessed.",
        f"Read your line aloud: where chosen is True, which of the two stays, the id or {NOT_ASKED}?",
    ),
    _masking(label=lambda ids, inputs, chosen, special: torch.where(chosen, NOT_ASKED, ids)),
    _masking(label=lambda ids, inputs, chosen, special: torch.where(chosen | special, NOT_ASKED, ids)),
)
mask_tokens.mistake(
    "another-number-for-not-asked",
    (
        f"Tokens that are not asked need the label {NOT_ASKED}. Any id from 0 on is a word, and would count.",
        "F.cross_entropy leaves out one number unless it is told another: look up its argument ignore_index.",
    ),
    *(_masking(empty=empty) for empty in (0, -1, 100, 1)),
)
mask_tokens.mistake(
    "one-random-word-for-all",
    (
        "All replaced tokens get the same random word. Draw one for each.",
        "Print the shape of your random words. There should be one for each token that needs one, or for each token.",
    ),
    _one_word_for_all,
)
mask_tokens.mistake(
    "whole-rows-or-columns",
    (
        "You draw once for a whole row, or for a whole column. Draw for each token.",
        "Print the shape of your random numbers: it should be that of ids.",
    ),
    *(_whole_lines(axis) for axis in (0, 1)),
)
_RIGHT_LABELS = {"label": _true_ids, "empty": NOT_ASKED}  # among wrong ones it is too few to see
mask_tokens.together(
    _masking,
    {
        "labels-everywhere": {"label": _all_ids, "empty": NOT_ASKED},
        "special-tokens-masked": {"never": _nobody},
        "always-mask": {"masked": 1.0, "random": 0.0},
        "no-random-words": {"random": 0.0},
        "none-stays": {"random": 0.2, **_RIGHT_LABELS},
        "ten-percent-of-the-rest": {"random": 0.02, **_RIGHT_LABELS},
        "other-way-round": {"share": 0.85},
        "labels-from-the-masked-input": {"label": _what_stands_there},
        "another-number-for-not-asked": {"empty": 0},
    },
)


@mask_tokens.sight
def _what_became_of_them(candidate):
    from lesson_kit import show

    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(5, VOCABULARY, (200, 100), generator=generator)
    inputs, labels = candidate(ids, torch.zeros_like(ids).bool(), MASK, VOCABULARY, generator)
    asked = labels != NOT_ASKED
    now, before = inputs[asked], ids[asked]
    shares = [asked, now == MASK, (now != MASK) & (now != before), now == before]
    rows = [[f"{_share(hits):.1%}", wanted] for hits, wanted in zip(shares, ["15%", "80%", "10%", "10%"], strict=True)]
    names = ["chosen", "of these: [MASK]", "of these: another word", "of these: as it was"]
    return show.matrix(rows, names, ["yours", "wanted, about"], f"What became of {ids.numel():,} tokens:")
