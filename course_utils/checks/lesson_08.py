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
