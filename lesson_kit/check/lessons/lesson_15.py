"""Exercise of lesson 15: greedy decoding."""

import numbers

import torch
from torch import Tensor

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import normal

# --- greedy_decode -----------------------------------------------------------------------------


def _step(vocab_size: int, seed: int, eos_id: int, end: int | None, below_zero: bool = False, last: int | None = None):
    """Scores that depend on every id so far and on its place; ``eos_id`` wins once ``end`` ids are there.

    Once ``last`` are there it has the lowest score. It reads any flat row of ids; a single id is refused.
    """
    table = normal(64, vocab_size, vocab_size, seed=seed)

    def step(ids):
        if isinstance(ids, numbers.Integral) or (isinstance(ids, Tensor) and ids.dim() == 0):
            raise TypeError("step wants the list of all ids so far, and got one id")
        if isinstance(ids, Tensor) and ids.dim() > 1:
            raise TypeError(f"step wants the list of all ids so far, and got a tensor of shape {tuple(ids.shape)}")
        ids = [int(each) for each in ids]
        scores = sum((table[place % 64, each] for place, each in enumerate(ids)), torch.zeros(vocab_size))
        scores[eos_id] = scores.max() + 0.5 if len(ids) == end else scores.mean()
        if len(ids) == last:
            scores[eos_id] = scores.min() - 0.5
        return scores - scores.max() - 1 if below_zero else scores

    return step


def _decode_cases():
    return [
        (_step(9, 0, eos_id=2, end=5), 1, 2, 12),  # ends by itself
        (_step(11, 1, eos_id=0, end=4, below_zero=True), 7, 0, 20),  # eos is id 0
        (_step(9, 2, eos_id=2, end=None, last=4), 1, 2, 8),  # never ends by itself
        (_step(9, 3, eos_id=2, end=6, below_zero=True), 1, 2, 7),  # ends at the last place
        (_step(9, 4, eos_id=3, end=1), 4, 3, 6),  # ends at once
        (_step(9, 5, eos_id=3, end=1), 4, 3, 1),  # room for bos alone
    ]


@exercise(_decode_cases, gradients=False)
def greedy_decode(step, bos_id, eos_id, max_length):
    """Begins with bos_id, appends the id with the highest score of step(ids), until eos_id or max_length ids."""
    return _decoding()(step, bos_id, eos_id, max_length)


def _decoding(*, pick=torch.argmax, feed=list, stop=True, extra=0, finish=None):
    """Greedy decoding with its parts open. ``finish``: what is returned, from the ids and eos_id."""

    def way(step, bos_id, eos_id, max_length):
        ids = [bos_id]
        while len(ids) < max_length + extra:
            ids.append(pick(step(feed(ids))).item())
            if stop and ids[-1] == eos_id:
                break
        return ids if finish is None else finish(ids, eos_id)

    return way


def _looked_at_afterwards(step, bos_id, eos_id, max_length):
    ids = [bos_id]
    while True:
        ids.append(step(ids).argmax().item())
        if ids[-1] == eos_id or len(ids) >= max_length:
            return ids


def _without_eos(ids, eos_id):
    return ids[:-1] if ids[-1] == eos_id else ids


greedy_decode.mistake(
    "does-not-stop-at-eos",
    (
        "You go on after eos_id. It is the model's way to say that the sentence is over: append it, and stop.",
        "Print the list each time round your loop. When eos_id turns up in it, what keeps the loop going?",
    ),
    _decoding(stop=False),
)
greedy_decode.mistake(
    "feeds-only-the-last-id",
    (
        "step gets the last id alone. It needs all ids so far: what comes next depends on the whole beginning.",
        "After 'the cat' and after 'an old cat' the last id is the same, the next word need not be. What do you hand "
        "to step?",
    ),
    _decoding(feed=lambda ids: ids[-1:]),
    _decoding(feed=lambda ids: ids[-1]),
    _decoding(feed=lambda ids: torch.tensor(ids[-1:])),
)
greedy_decode.mistake(
    "always-feeds-the-beginning",
    (
        "step gets the same ids each time, so it gives the same scores each time. Hand it what you have appended, too.",
        "Print what step gets, each time round your loop: the list should grow by one.",
    ),
    _decoding(feed=lambda ids: ids[:1]),
)
greedy_decode.mistake(
    "feeds-a-batch",
    (
        "step gets a batch of one sentence. Here it wants the ids themselves, in one flat list.",
        "Print the shape of what you hand to step: it should have one axis, one id after the other.",
    ),
    _decoding(feed=lambda ids: torch.tensor([ids])),
)
greedy_decode.mistake(
    "picks-the-minimum",
    (
        "You take the id with the lowest score. Greedy takes the highest.",
        "For the scores 0.1, 2.5, -3.0, which id comes next? And which does your function take?",
    ),
    _decoding(pick=torch.argmin),
)
greedy_decode.mistake(
    "picks-the-largest-size",
    (
        "You take the score that is farthest from 0. Scores may be below 0: log-probabilities always are.",
        "For the scores -0.1, -2.3, -5.0, the first is the highest. Which one does your function take?",
    ),
    _decoding(pick=lambda scores: scores.abs().argmax()),
    _decoding(pick=lambda scores: scores.square().argmax()),
)
greedy_decode.mistake(
    "one-too-many",
    (
        "Your list can get one id too long: at most max_length ids, and bos_id counts as one of them.",
        "With max_length 1 there is room for bos_id alone. How often may step be called then?",
    ),
    _decoding(extra=1),
    _looked_at_afterwards,
)
greedy_decode.mistake(
    "one-too-few",
    (
        "You stop one id too early: max_length ids are allowed, and bos_id counts as one of them.",
        "With max_length 3 and no eos_id in sight, the list ends with bos_id and two more. How long is yours?",
    ),
    _decoding(extra=-1),
)
greedy_decode.mistake(
    "no-limit",
    (
        "A model may never say eos_id, and then your loop never ends. Stop at max_length ids, too.",
        "Two things can end a sentence. Which of them is in the condition of your loop, and where is the other?",
    ),
    _decoding(extra=10**6),
)
greedy_decode.mistake(
    "bos-left-out",
    (
        "bos_id is missing at the front of your list.",
        "What does the list hold before the first call of step?",
    ),
    _decoding(finish=lambda ids, eos_id: ids[1:]),
)
greedy_decode.mistake(
    "eos-left-out",
    (
        "You stop at eos_id, but it is missing in your list. Append first, then look: eos_id at the end shows that the "
        "sentence is complete, and was not cut off at max_length.",
        "Which comes first in your loop, the question whether it is eos_id, or the append?",
    ),
    _decoding(finish=_without_eos),
)
greedy_decode.mistake(
    "bos-and-eos-left-out",
    (
        "Both ends are missing: the list begins with bos_id, and ends with eos_id where it was reached.",
        "Nothing has to be taken off at the end: what grew in the loop is what is wanted.",
    ),
    _decoding(finish=lambda ids, eos_id: _without_eos(ids, eos_id)[1:]),
)
greedy_decode.mistake(
    "eos-always-at-the-end",
    (
        "You put eos_id at the end even where the model has not said it. Then nobody can see any more which sentences "
        "were cut off at max_length.",
        "With max_length 3 and a model that never says eos_id, the list is bos_id and two words. What is yours?",
    ),
    _decoding(finish=lambda ids, eos_id: ids if ids[-1] == eos_id else [*ids, eos_id]),
    _decoding(finish=lambda ids, eos_id: [*ids[:-1], eos_id]),
)
greedy_decode.mistake(
    "bos-not-fed",
    (
        "step never sees bos_id. The list that it gets begins with it, as every sentence did in training.",
        "Print what step gets the first time. It should be a list with one id.",
    ),
    _decoding(feed=lambda ids: ids[1:]),
)
greedy_decode.mistake(
    "only-the-last-id-returned",
    (
        "You return one id. The whole list is wanted.",
        "You have a list that grows and an id that is new each time. Which of the two stands behind your `return`?",
    ),
    _decoding(finish=lambda ids, eos_id: ids[-1]),
    _decoding(finish=lambda ids, eos_id: ids[-1:]),
)
greedy_decode.mistake(
    "a-tensor-of-ids",
    (
        "The ids are right, but in a tensor. A plain list is wanted; .tolist() makes one.",
        "Print type(...) of what you return, and its shape if it has one: one flat list of ids is wanted.",
    ),
    _decoding(finish=lambda ids, eos_id: torch.tensor(ids)),
    _decoding(finish=lambda ids, eos_id: torch.tensor([ids])),
)
greedy_decode.together(
    _decoding,
    {
        "does-not-stop-at-eos": {"stop": False},
        "feeds-only-the-last-id": {"feed": lambda ids: ids[-1:]},
        "always-feeds-the-beginning": {"feed": lambda ids: ids[:1]},
        "picks-the-minimum": {"pick": torch.argmin},
        "picks-the-largest-size": {"pick": lambda scores: scores.abs().argmax()},
        "one-too-many": {"extra": 1},
        "one-too-few": {"extra": -1},
        "bos-left-out": {"finish": lambda ids, eos_id: ids[1:]},
        "eos-left-out": {"finish": _without_eos, "stop": True},
        "bos-not-fed": {"feed": lambda ids: ids[1:]},
        "a-tensor-of-ids": {"finish": lambda ids, eos_id: torch.tensor(ids)},
    },
)


@greedy_decode.sight
def _a_sentence(candidate):
    from lesson_kit import show

    words = ["<bos>", "the", "cat", "sleeps", "<eos>"]

    def step(ids):
        return -(torch.arange(5.0) - int(ids[-1]) - 1).abs()  # each word likes the next one best

    found = [candidate(step, 0, 4, longest) for longest in (8, 3)]
    rows = [[words[int(each)] for each in ids] + [""] * (5 - len(ids)) for ids in found]
    names = ["room for 8 ids", "room for 3 ids"]
    return show.matrix(rows, names, title="Your sentence, by a model that knows one:")
