"""Exercises of lesson 05: word order."""

import torch

from course_utils import embeddings
from course_utils.checks.engine import exercise
from course_utils.checks.inputs import matrices


@exercise(lambda: [(10, 8), (5, 2), (1, 6), (60, 16)], gradients=False)
def sinusoidal_positions(length, d_model):
    """The paper's table of positions: float32 (length, d_model), sines in even columns, cosines in odd ones."""
    return embeddings.sinusoidal_positions(length, d_model)


@exercise(
    lambda: [
        matrices((2, 5, 6), (9, 6)),
        matrices((5, 5, 6), (7, 6)),
        matrices((4, 6), (4, 6)),
        matrices((2, 3, 4, 6), (8, 6)),
        matrices((3, 4, 2), (5, 2), dtype=torch.float64),
    ]
)
def add_positions(x, positions):
    """Add row t of the table to token t: (..., length, d_model), (at least length, d_model) -> the shape of x."""
    return x + positions[: x.shape[-2]]
