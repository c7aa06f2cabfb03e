"""Exercises of lesson 08: BERT's embeddings."""

import torch

from course_utils.checks.engine import exercise
from course_utils.checks.inputs import matrices, norm_function


def _case(batch, length, d_model, **options):
    generator = torch.Generator().manual_seed(batch)
    ids = torch.randint(7, (batch, length), generator=generator)
    segments = torch.randint(2, (batch, length), generator=generator)
    return ids, segments, *matrices((7, d_model), (9, d_model), (2, d_model), **options), norm_function(d_model)


@exercise(lambda: [_case(2, 5, 4), _case(4, 4, 6), _case(1, 8, 4), _case(3, 6, 5, dtype=torch.float64)])
def bert_embeddings(ids, segments, word, position, segment, norm):
    """norm(word + position + segment), looked up in three tables: ids (batch, length) -> (batch, length, d_model)."""
    return norm(word[ids] + position[: ids.shape[-1]] + segment[segments])


_declare = bert_embeddings.mistake
_declare(
    "segment-forgotten",
    "Word and position are there. What tells sentence A from sentence B? (The segment's number itself, added to all "
    "features, is taken off again by the norm: add a row of the table.)",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[: ids.shape[1]]),
)
_declare(
    "position-from-ids",
    "You look the positions up by the ids. A position does not depend on which word stands there.",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[ids] + segment[segments]),
)
_declare(
    "position-forgotten",
    "Word and segment are there. The order of the words is lost. (The position's number itself, added to all features, "
    "is taken off again by the norm: add a row of the table.)",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + segment[segments]),
)
_declare(
    "norm-forgotten",
    "The sum is right. One argument has not been used.",
    lambda ids, segments, word, position, segment, norm: word[ids] + position[: ids.shape[1]] + segment[segments],
)
_declare(
    "positions-from-one",
    "Your first token gets row 1 of the table. Positions count from 0.",
    lambda ids, segments, word, position, segment, norm: norm(
        word[ids] + position[1 : ids.shape[1] + 1] + segment[segments]
    ),
)
_declare(
    "position-along-the-batch",
    "The position changes from sentence to sentence, not from token to token.",
    lambda ids, segments, word, position, segment, norm: norm(
        word[ids] + position[: ids.shape[0], None] + segment[segments]
    ),
)
_declare(
    "one-position-for-all",
    "Every token gets the same row of the position table. They need the first `length` rows, one each.",
    *(
        lambda ids, segments, word, position, segment, norm, shift=shift: norm(
            word[ids] + position[ids.shape[1] + shift] + segment[segments]
        )
        for shift in (0, -1)
    ),
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[0] + segment[segments]),
)
_declare(
    "whole-position-table",
    "The position table has more rows than the sentence has tokens. Take the first `length` of them.",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position + segment[segments]),
)
_declare(
    "batch-for-length",
    "You took as many positions as there are sentences. len(ids) counts sentences; ids.shape[1] counts tokens.",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[: ids.shape[0]] + segment[segments]),
)
_declare(
    "word-scaled",
    "BERT adds the three rows as they are, without a factor.",
    lambda ids, segments, word, position, segment, norm: norm(
        word[ids] * word.shape[1] ** 0.5 + position[: ids.shape[1]] + segment[segments]
    ),
    lambda ids, segments, word, position, segment, norm: norm(
        (word[ids] + position[: ids.shape[1]] + segment[segments]) / 3
    ),
)
_declare(
    "word-only",
    "Only the word table is used. Two more rows are to be added.",
    lambda ids, segments, word, position, segment, norm: norm(word[ids]),
)
_declare(
    "added-after-the-norm",
    "One of the three comes after the norm. All three are added first, and the norm comes once, at the end.",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + segment[segments]) + position[: ids.shape[1]],
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[: ids.shape[1]]) + segment[segments],
)
_declare(
    "position-from-segments",
    "The positions are looked up by the segments, or one table is used for both.",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[segments] + segment[segments]),
    lambda ids, segments, word, position, segment, norm: norm(
        word[ids] + position[: ids.shape[1]] + position[segments]
    ),
)
_declare(
    "norm-of-each-part",
    "You normalise the parts. The three are added first, and the norm comes once, at the end.",
    lambda ids, segments, word, position, segment, norm: (
        norm(word[ids]) + norm(position[: ids.shape[1]]) + norm(segment[segments])
    ),
    lambda ids, segments, word, position, segment, norm: norm(word[ids]) + position[: ids.shape[1]] + segment[segments],
)
_declare(
    "one-segment-for-all",
    "Every token gets the same segment. It may change in the middle of a row.",
    *(
        lambda ids, segments, word, position, segment, norm, row=row: norm(
            word[ids] + position[: ids.shape[1]] + segment[row]
        )
        for row in (0, 1)
    ),
)
