"""Exercises of lesson 09: how alike two vectors are."""

import torch

from course_utils.checks.engine import exercise
from course_utils.checks.inputs import matrices


def _case(*shape, **options):
    a, b = matrices(shape, shape, **options)
    return a, b + 0.5 * a  # neither at a right angle nor of the same length


@exercise(lambda: [_case(4, 4), _case(6), _case(2, 3, 5), _case(5, 3, dtype=torch.float64), _case(3, 4, size=1e-3)])
def cosine_similarity(a, b):
    """The cosine of the angle between a and b, over the last axis: (..., d), (..., d) -> (...)."""
    return (a * b).sum(dim=-1) / (a.norm(dim=-1) * b.norm(dim=-1))


_declare = cosine_similarity.mistake
_declare(
    "not-divided-by-norms",
    "This is the dot product. It grows when a vector gets longer, and a cosine doesn't: divide by both lengths.",
    lambda a, b: (a * b).sum(-1),
)
_declare(
    "squared-norms",
    "You divide by the squared lengths. The length of a vector is the square root of the sum of its squares.",
    lambda a, b: (a * b).sum(-1) / (a.square().sum(-1) * b.square().sum(-1)),
)
_declare(
    "one-norm-only",
    "You divide by the length of one vector. The other one's length is still in your number.",
    lambda a, b: (a * b).sum(-1) / a.norm(dim=-1),
    lambda a, b: (a * b).sum(-1) / b.norm(dim=-1),
)
_declare(
    "divided-then-multiplied",
    "In x / y * z only y divides. Put the product of the two lengths in brackets.",
    lambda a, b: (a * b).sum(-1) / a.norm(dim=-1) * b.norm(dim=-1),
    lambda a, b: (a * b).sum(-1) / b.norm(dim=-1) * a.norm(dim=-1),
)
_declare(
    "norms-added",
    "You divide by the sum of the two lengths. The dot product carries their product.",
    lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1) + b.norm(dim=-1)),
)
_declare(
    "norm-over-everything",
    "Your lengths are taken over the whole batch at once. Each vector has its own: give the norm an axis.",
    lambda a, b: (a * b).sum(-1) / (a.norm() * b.norm()),
)
_declare(
    "wrong-axis",
    "You compare along the first axis. The numbers of one vector lie along the last.",
    lambda a, b: (a * b).sum(0) / (a.norm(dim=0) * b.norm(dim=0)),
)
_declare(
    "distance",
    "This is 1 minus the cosine, the cosine distance: 0 for two vectors that point the same way.",
    lambda a, b: 1 - (a * b).sum(-1) / (a.norm(dim=-1) * b.norm(dim=-1)),
)
_declare(
    "mean-not-sum",
    "A mean over the features divides by their number, and the lengths don't. A dot product adds.",
    lambda a, b: (a * b).mean(-1) / (a.norm(dim=-1) * b.norm(dim=-1)),
)
_declare(
    "default-axis",
    "F.cosine_similarity compares along axis 1 unless it is told otherwise. The numbers of one vector lie along the "
    "last axis: dim=-1.",
    lambda a, b: torch.nn.functional.cosine_similarity(a, b),
)
_declare(
    "matrix-product",
    "For two plain vectors a @ b is the dot product, for anything larger it is a matrix product. Multiply element by "
    "element, and add along the last axis.",
    lambda a, b: a @ b / (a.norm(dim=-1) * b.norm(dim=-1)),
    lambda a, b: a @ b / (a.norm() * b.norm()),
    lambda a, b: a @ b,
)
_declare(
    "not-summed",
    "Your products are not added up: one number per feature came out, and one number per pair was asked.",
    lambda a, b: a * b / (a.norm(dim=-1, keepdim=True) * b.norm(dim=-1, keepdim=True)),
)
_declare(
    "all-pairs",
    "You compare each vector of a with each of b. Only those at the same place belong together.",
    lambda a, b: torch.nn.functional.normalize(a, dim=-1) @ torch.nn.functional.normalize(b, dim=-1).transpose(-2, -1),
    lambda a, b: torch.nn.functional.normalize(a, dim=-1) @ torch.nn.functional.normalize(b, dim=-1).mT,
    lambda a, b: torch.nn.functional.normalize(a, dim=-1) @ torch.nn.functional.normalize(b, dim=-1).T,
    lambda a, b: a @ b.mT / (a.norm(dim=-1) * b.norm(dim=-1)),
    lambda a, b: a @ b.T / (a.norm(dim=-1) * b.norm(dim=-1)),
)
_declare(
    "centred",
    "This is the correlation: you took each vector's own mean away first. The cosine takes the numbers as they are.",
    lambda a, b: torch.nn.functional.cosine_similarity(
        a - a.mean(-1, keepdim=True), b - b.mean(-1, keepdim=True), dim=-1
    ),
)
