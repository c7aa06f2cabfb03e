"""Exercises of lesson 08: BERT's embeddings."""

import torch

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import matrices, norm_function


def _case(batch, length, d_model, **options):
    generator = torch.Generator().manual_seed(batch)
    ids = torch.randint(7, (batch, length), generator=generator)
    segments = torch.randint(2, (batch, length), generator=generator)
    return ids, segments, *matrices((7, d_model), (9, d_model), (2, d_model), **options), norm_function(d_model)


def _one_sentence(*shape):
    """No second segment, and the last word of the table does not occur."""
    ids, segments, *tables = _case(*shape)
    return ids.clamp(max=5), torch.zeros_like(segments), *tables


@exercise(lambda: [_case(2, 5, 4), _case(4, 4, 6), _one_sentence(1, 8, 4), _case(3, 6, 5, dtype=torch.float64)])
def bert_embeddings(ids, segments, word, position, segment, norm):
    """norm(word + position + segment), looked up in three tables: ids (batch, length) -> (batch, length, d_model)."""
    return norm(word[ids] + position[: ids.shape[-1]] + segment[segments])


def _word_rows(ids, segments, word):
    return word[ids]


def _first_rows(ids, segments, position):
    return position[: ids.shape[1]]


def _segment_rows(ids, segments, segment):
    return segment[segments]


def _none(ids, segments, table):
    """Nothing is added."""
    return 0


def _norm_of_the_sum(norm, *parts):
    return norm(sum(parts))


def _embeddings(*, words=_word_rows, places=_first_rows, parts=_segment_rows, finish=_norm_of_the_sum):
    """The embeddings with their parts open: what is taken from each table, and how it is put together."""

    def way(ids, segments, word, position, segment, norm):
        rows = words(ids, segments, word), places(ids, segments, position), parts(ids, segments, segment)
        return finish(norm, *rows)

    return way


def _scaled_words(ids, segments, word):
    return word[ids] * word.shape[1] ** 0.5


bert_embeddings.mistake(
    "segment-forgotten",
    (
        "Word and position are there. What tells sentence A from sentence B? (The segment's number itself, added to "
        "all features, is taken off again by the norm: add a row of the table.)",
        "You look the word table up with ids. The segment table is looked up in the same way: with which argument?",
    ),
    _embeddings(parts=_none),
)
bert_embeddings.mistake(
    "position-from-ids",
    (
        "You look the positions up by the ids. A position does not depend on which word stands there.",
        "The fifth token of every sentence gets row 4 of the position table. Which numbers, then, belong to a sentence "
        "of five tokens, whatever its words?",
    ),
    _embeddings(places=lambda ids, segments, position: position[ids]),
)
bert_embeddings.mistake(
    "position-forgotten",
    (
        "Word and segment are there. The order of the words is lost. (The position's number itself, added to all "
        "features, is taken off again by the norm: add a row of the table.)",
        "A sentence of five tokens needs five rows of the position table, the first five. No ids are needed for that.",
    ),
    _embeddings(places=_none),
)
bert_embeddings.mistake(
    "norm-forgotten",
    (
        "The sum is right. One argument has not been used.",
        "The last argument is a function. What is it to be applied to?",
    ),
    _embeddings(finish=lambda norm, *parts: sum(parts)),
)
bert_embeddings.mistake(
    "norm-twice",
    (
        "The norm runs twice. Once is enough: over the sum of all three.",
        "The second norm changes little, but not nothing: it has its own gain and bias. Count the calls.",
    ),
    _embeddings(finish=lambda norm, *parts: norm(norm(sum(parts)))),
    _embeddings(finish=lambda norm, word, place, part: norm(norm(word + place) + part)),
    _embeddings(finish=lambda norm, word, place, part: norm(norm(word + part) + place)),
)
bert_embeddings.mistake(
    "positions-from-one",
    (
        "Your first token gets row 1 of the table. Positions count from 0.",
        "[CLS] stands at place 0. Print the first number of the rows that you take.",
    ),
    _embeddings(places=lambda ids, segments, position: position[1 : ids.shape[1] + 1]),
)
bert_embeddings.mistake(
    "position-along-the-batch",
    (
        "The position changes from sentence to sentence, not from token to token.",
        "Print the shape of what you add. It should fit (length, d_model), and be the same for every sentence.",
    ),
    _embeddings(places=lambda ids, segments, position: position[: ids.shape[0], None]),
)
bert_embeddings.mistake(
    "one-position-for-all",
    (
        "Every token gets the same row of the position table. They need the first `length` rows, one each.",
        "position[5] is one row, number 5. A slice takes several: what do you write for rows 0 to 4?",
    ),
    *(
        _embeddings(places=lambda ids, segments, position, shift=shift: position[ids.shape[1] + shift])
        for shift in (0, -1)
    ),
    _embeddings(places=lambda ids, segments, position: position[0]),
)
bert_embeddings.mistake(
    "whole-position-table",
    (
        "The position table has more rows than the sentence has tokens. Take the first `length` of them.",
        "Which axis of ids counts the tokens of a sentence? Print ids.shape, and then the shape of the rows you take.",
    ),
    _embeddings(places=lambda ids, segments, position: position),
)
bert_embeddings.mistake(
    "batch-for-length",
    (
        "You took as many positions as there are sentences. len counts the sentences. Which axis counts tokens?",
        "Two sentences of five tokens: how many rows of the position table are needed?",
    ),
    _embeddings(places=lambda ids, segments, position: position[: ids.shape[0]]),
)
bert_embeddings.mistake(
    "word-scaled",
    (
        "BERT adds the three rows as they are, without a factor.",
        "The Transformer's first layer multiplies by the root of d_model, and a mean divides by 3. BERT does neither.",
    ),
    _embeddings(words=_scaled_words),
    _embeddings(finish=lambda norm, *parts: norm(sum(parts) / 3)),
)
bert_embeddings.mistake(
    "word-only",
    (
        "Only the word table is used. Two more rows are to be added.",
        "With the words alone, a sentence and its reverse give the same vectors. Which table knows the place, and "
        "which the sentence?",
    ),
    _embeddings(places=_none, parts=_none),
)
bert_embeddings.mistake(
    "added-after-the-norm",
    (
        "One of the three comes after the norm. All three are added first, and the norm comes once, at the end.",
        "Look at your brackets: what stands inside those of the norm?",
    ),
    _embeddings(finish=lambda norm, word, place, part: norm(word + part) + place),
    _embeddings(finish=lambda norm, word, place, part: norm(word + place) + part),
)
bert_embeddings.mistake(
    "position-from-segments",
    (
        "The positions are looked up by the segments, or one table is used for both.",
        "segments holds zeros and ones only. How many rows of the position table can it reach?",
    ),
    _embeddings(places=lambda ids, segments, position: position[segments]),
    lambda ids, segments, word, position, segment, norm: norm(
        word[ids] + position[: ids.shape[1]] + position[segments]
    ),
)
bert_embeddings.mistake(
    "norm-of-each-part",
    (
        "You normalise the parts. The three are added first, and the norm comes once, at the end.",
        "A sum of three normalised vectors is not normalised itself. Look at your brackets.",
    ),
    _embeddings(finish=lambda norm, *parts: sum(map(norm, parts))),
    _embeddings(finish=lambda norm, word, place, part: norm(word) + place + part),
)
bert_embeddings.mistake(
    "one-segment-for-all",
    (
        "Every token gets the same segment. It may change in the middle of a row.",
        "segments has the shape of ids, one number for each token. Use all of them, as you use all the ids.",
    ),
    *(_embeddings(parts=lambda ids, segments, segment, row=row: segment[row]) for row in (0, 1)),
)
bert_embeddings.mistake(
    "concatenated",
    (
        "You put the three vectors side by side, so each token is three times as wide. They are added, feature by "
        "feature.",
        "The result has d_model numbers for each token, as many as a row of one table. Which operation keeps that "
        "width?",
    ),
    _embeddings(
        finish=lambda norm, word, place, part: norm(torch.cat([word, place.expand_as(word), part], dim=-1)),
    ),
    _embeddings(finish=lambda norm, word, place, part: torch.cat([word, place.expand_as(word), part], dim=-1)),
)
bert_embeddings.mistake(
    "multiplied",
    (
        "You multiply the three rows. They are added.",
        "If a feature of the position is near 0, your product forgets the word there. What would a sum do?",
    ),
    _embeddings(finish=lambda norm, word, place, part: norm(word * place * part)),
    _embeddings(finish=lambda norm, word, place, part: norm(word * (place + part))),
)
bert_embeddings.together(
    _embeddings,
    {
        "segment-forgotten": {"parts": _none},
        "position-from-ids": {"places": lambda ids, segments, position: position[ids]},
        "position-forgotten": {"places": _none, "parts": _segment_rows},  # without segments too it is "word-only"
        "norm-forgotten": {"finish": lambda norm, *parts: sum(parts)},
        "positions-from-one": {"places": lambda ids, segments, position: position[1 : ids.shape[1] + 1]},
        "one-position-for-all": {"places": lambda ids, segments, position: position[0]},
        "word-scaled": {"words": _scaled_words},
        "word-only": {"places": _none, "parts": _none},
        "one-segment-for-all": {"parts": lambda ids, segments, segment: segment[0]},
    },
)


@bert_embeddings.sight
def _three_digits(candidate):
    from lesson_kit import show

    ids, segments = torch.tensor([[4, 7, 4, 7]]), torch.tensor([[0, 0, 1, 1]])
    numbers = torch.arange(10.0)[:, None]
    sums = candidate(ids, segments, 100 * numbers, 10 * numbers, numbers[:2], lambda x: x)
    places = torch.arange(4)
    rows = torch.stack([ids[0], places, segments[0], sums[0, :, 0].long()], dim=1)
    title = "Your sum where word 4 is 400, place 2 is 20, segment 1 is 1, and the norm does nothing:"
    return show.matrix(rows, columns=["word", "place", "segment", "sum"], title=title)
