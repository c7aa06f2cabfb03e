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
    "Word and position are there. What tells sentence A from sentence B?",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[: ids.shape[1]]),
)
_declare(
    "position-from-ids",
    "You look the positions up by the ids. A position does not depend on which word stands there.",
    lambda ids, segments, word, position, segment, norm: norm(word[ids] + position[ids] + segment[segments]),
)
_declare(
    "position-forgotten",
    "Word and segment are there. The order of the words is lost.",
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
