"""Exercises of lesson 13: masking for masked-language modelling. Random, so shares are compared, not tokens."""

import torch
from torch import Tensor

from course_utils.checks.engine import exercise

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
    ids = torch.randint(5, VOCABULARY, (100, 150), generator=generator)
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
    return _masked(ids, special, mask_id, vocab_size, generator)


def _masked(ids, special, mask_id, vocab_size, generator, *, chosen=0.15, masked=0.8, random=0.1, never=None):
    """The masking with its numbers open; ``never``: what is not chosen, if it is not ``special``."""

    def chance():
        return torch.rand(ids.shape, generator=generator)

    where = ~(special if never is None else never) & (chance() < chosen)
    what = chance()
    words = torch.randint(vocab_size, ids.shape, generator=generator)
    inputs = torch.where(where & (what < masked), mask_id, ids)
    inputs = torch.where(where & (what >= masked) & (what < masked + random), words, inputs)
    return inputs, torch.where(where, ids, NOT_ASKED)


def _with(**options):
    return lambda *args: _masked(*args, **options)


def _relabelled(label):
    """Right inputs; ``label(ids, inputs, chosen, special)`` makes the labels."""

    def way(ids, special, *rest):
        inputs, labels = _masked(ids, special, *rest)
        return inputs, label(ids, inputs, labels != NOT_ASKED, special)

    return way


_declare = mask_tokens.mistake
_declare(
    "labels-everywhere",
    "Tokens that were not chosen have labels too. The loss would reward copying what stands there: "
    f"their label is {NOT_ASKED}.",
    _relabelled(lambda ids, inputs, chosen, special: ids.clone()),
    _relabelled(lambda ids, inputs, chosen, special: ids.masked_fill(special, NOT_ASKED)),
)
_declare(
    "special-tokens-masked",
    "You choose among all tokens, [CLS], [SEP] and padding included. Which argument says whom to leave alone?",
    lambda ids, *rest: _masked(ids, *rest, never=torch.zeros_like(ids).bool()),
)
_declare(
    "special-looked-up-by-id",
    "You leave small ids alone, but not all that special marks. Use the argument, not the ids.",
    *(lambda ids, *rest, last=last: _masked(ids, *rest, never=ids < last) for last in (3, 4, 5)),
)
_declare(
    "always-mask",
    "Every chosen token becomes [MASK]. Of ten, one should get a random word and one should stay as it is.",
    _with(masked=1.0, random=0.0),
)
_declare(
    "no-random-words",
    "The chosen tokens become [MASK] or stay. One in ten should get a random word.",
    _with(random=0.0),
    _with(masked=0.9, random=0.0),
)
_declare(
    "none-stays",
    "No token stays as it is and has a label all the same. One in ten of the chosen ones should.",
    _relabelled(lambda ids, inputs, chosen, special: torch.where(chosen & (inputs != ids), ids, NOT_ASKED)),
    _with(random=0.2),
    _with(masked=0.9),
)
_declare(
    "ten-percent-of-the-rest",
    "80% become [MASK], but then you take 10% of the remaining fifth. 10% of all chosen tokens is half of that fifth.",
    _with(random=0.02),
)
_declare(
    "shares-swapped",
    "The shares are mixed up: 80% become [MASK], 10% a random word, 10% stay.",
    _with(masked=0.1, random=0.8),
    _with(masked=0.1),
)
_declare(
    "other-way-round",
    "You choose 85% and leave 15%. Is the comparison the right way round?",
    _with(chosen=0.85),
)
_declare(
    "only-masked-asked",
    "Only the tokens that became [MASK] have a label. Those with a random word, and those that stay, are asked too.",
    lambda ids, special, mask_id, *rest: (
        (inputs := _masked(ids, special, mask_id, *rest)[0]),
        torch.where(inputs == mask_id, ids, NOT_ASKED),
    ),
)
_declare(
    "input-and-label-swapped",
    "Inputs and labels have changed places: the model reads the masked sentence and must name the true words.",
    lambda *args: _masked(*args)[::-1],
    lambda ids, *rest: (ids.clone(), torch.where((found := _masked(ids, *rest))[1] != NOT_ASKED, found[0], NOT_ASKED)),
    lambda ids, *rest: (ids.clone(), _masked(ids, *rest)[0]),
)
_declare(
    "labels-from-the-masked-input",
    "Your labels hold what stands in the input now, [MASK] itself. They must hold the words that stood there before.",
    _relabelled(lambda ids, inputs, chosen, special: torch.where(chosen, inputs, NOT_ASKED)),
    _relabelled(lambda ids, inputs, chosen, special: inputs.clone()),
)
_declare(
    "labels-inverted",
    "The labels stand at the tokens that were not chosen, and are missing where a word must be guessed.",
    _relabelled(lambda ids, inputs, chosen, special: torch.where(chosen, NOT_ASKED, ids)),
    _relabelled(lambda ids, inputs, chosen, special: torch.where(chosen | special, NOT_ASKED, ids)),
)
_declare(
    "another-number-for-not-asked",
    f"Tokens that are not asked need the label {NOT_ASKED}. Any id from 0 on is a word, and would count.",
    *(
        lambda *args, empty=empty: tuple(part.masked_fill(part == NOT_ASKED, empty) for part in _masked(*args))
        for empty in (0, -1, 100, 1)
    ),
)
_declare(
    "one-random-word-for-all",
    "All replaced tokens get the same random word. Draw one for each.",
    lambda ids, special, mask_id, vocab_size, generator: _replaced(
        ids, special, mask_id, vocab_size, generator, torch.randint(vocab_size, (1,), generator=generator)
    ),
)
_declare(
    "whole-rows-or-columns",
    "You draw once for a whole row, or for a whole column. Draw for each token.",
    *(
        lambda ids, special, *rest, axis=axis: _masked(
            ids, special, *rest, chosen=1.0, never=special | _lines(ids, axis, rest[-1])
        )
        for axis in (0, 1)
    ),
)


def _lines(ids, axis, generator):
    """Rows (0) or columns (1) that are not chosen."""
    shape = (len(ids), 1) if axis == 0 else (1, ids.shape[1])
    return (torch.rand(shape, generator=generator) >= 0.15).expand_as(ids)


def _replaced(ids, special, mask_id, vocab_size, generator, word):
    inputs, labels = _masked(ids, special, mask_id, vocab_size, generator)
    drawn = (labels != NOT_ASKED) & (inputs != mask_id) & (inputs != ids)
    return torch.where(drawn, word, inputs), labels
