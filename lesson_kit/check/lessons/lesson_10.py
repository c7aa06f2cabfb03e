"""Exercises of lesson 10: how alike two vectors are."""

import torch
import torch.nn.functional as F

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import matrices


def _case(*shape, **options):
    a, b = matrices(shape, shape, **options)
    return a, b + 0.5 * a  # neither at a right angle nor of the same length


def _cases():
    double = _case(5, 3, dtype=torch.float64)
    a, b = _case(3, 5)
    return [_case(4, 4), _case(6), _case(1, 5), _case(2, 3, 5), double, _case(3, 4, size=1e-3), (a, b - 1.5 * a)]


@exercise(_cases)
def cosine_similarity(a, b):
    """The cosine of the angle between a and b, over the last axis: (..., d), (..., d) -> (...)."""
    return (a * b).sum(dim=-1) / (a.norm(dim=-1) * b.norm(dim=-1))


def _by_both(dot, length_a, length_b):
    return dot / (length_a * length_b)


def _itself(x):
    return x


def _centred(x):
    return x - x.mean(dim=-1, keepdim=True)


def _cosine(*, prepare=_itself, gather=torch.sum, length=torch.norm, divide=_by_both, finish=_itself, axis=-1):
    """The cosine with its parts open."""

    def way(a, b):
        a, b = prepare(a), prepare(b)
        return finish(divide(gather(a * b, dim=axis), length(a, dim=axis), length(b, dim=axis)))

    return way


def _all_pairs(transpose):
    """Each of a with each of b, with an idea of how to transpose."""
    return lambda a, b: F.normalize(a, dim=-1) @ transpose(F.normalize(b, dim=-1))


cosine_similarity.mistake(
    "not-divided-by-norms",
    (
        "This is the dot product. It grows when a vector gets longer, and a cosine doesn't: divide by both lengths.",
        "Compare a vector with itself: what should come out, and what does? Then with twice itself.",
    ),
    _cosine(divide=lambda dot, *lengths: dot),
)
cosine_similarity.mistake(
    "squared-norms",
    (
        "You divide by the squared lengths. The length of a vector is the square root of the sum of its squares.",
        "The vector (3, 4) has length 5. Which number does your code have for it?",
    ),
    _cosine(length=lambda x, dim: x.square().sum(dim=dim)),
)
cosine_similarity.mistake(
    "one-norm-only",
    (
        "You divide by the length of one vector. The other one's length is still in your number.",
        "Make a ten times as long, then b: for which of them does your result change? It should for neither.",
    ),
    _cosine(divide=lambda dot, length_a, length_b: dot / length_a),
    _cosine(divide=lambda dot, length_a, length_b: dot / length_b),
)
cosine_similarity.mistake(
    "divided-then-multiplied",
    (
        "In x / y * z only y divides. Put the product of the two lengths in brackets.",
        "What is 12 / 2 * 3 in Python? And what did you mean?",
    ),
    _cosine(divide=lambda dot, length_a, length_b: dot / length_a * length_b),
    _cosine(divide=lambda dot, length_a, length_b: dot / length_b * length_a),
)
cosine_similarity.mistake(
    "norms-added",
    (
        "You divide by the sum of the two lengths. The dot product carries their product.",
        "For two vectors of length 3 that point the same way the dot product is 9. By what must it be divided to "
        "give 1?",
    ),
    _cosine(divide=lambda dot, length_a, length_b: dot / (length_a + length_b)),
)
cosine_similarity.mistake(
    "another-norm",
    (
        "Your length is another one than the usual: absolute values summed, or the largest of them. Here it is the "
        "square root of the sum of the squares.",
        "The vector (3, 4) has length 5. Yours gives 7, or 4.",
    ),
    _cosine(length=lambda x, dim: x.abs().sum(dim=dim)),
    _cosine(length=lambda x, dim: x.abs().amax(dim=dim)),
)
cosine_similarity.mistake(
    "norm-over-everything",
    (
        "Your lengths are taken over the whole batch at once. Each vector has its own: give the norm an axis.",
        "For 4 vectors there are 4 lengths. Print the shape of yours.",
    ),
    _cosine(length=lambda x, dim: x.norm()),
)
cosine_similarity.mistake(
    "wrong-axis",
    (
        "You compare along the first axis. The numbers of one vector lie along the last.",
        "Two vectors of five numbers, in a tensor of shape (2, 5): how many cosines should come out, and how many do?",
    ),
    _cosine(axis=0),
)
cosine_similarity.mistake(
    "distance",
    (
        "This is 1 minus the cosine, the cosine distance: 0 for two vectors that point the same way.",
        "A vector and itself are as alike as can be: which number should they get?",
    ),
    _cosine(finish=lambda cosine: 1 - cosine),
)
cosine_similarity.mistake(
    "sign-lost",
    (
        "None of your cosines is below 0. Two vectors that point away from each other have a negative one: look for an "
        "absolute value, or for a bound at 0.",
        "Compare a vector with its opposite, -1 times itself. Which number should they get, and which do they get?",
    ),
    _cosine(finish=torch.abs),
    _cosine(finish=torch.relu),
)
cosine_similarity.mistake(
    "angle",
    (
        "You have gone one step on: this is the angle. Its cosine is wanted.",
        "Two vectors that point the same way should get 1, at a right angle 0. Which of your steps turns 1 into 0?",
    ),
    _cosine(finish=torch.acos),
    _cosine(finish=lambda cosine: torch.rad2deg(torch.acos(cosine))),
)
cosine_similarity.mistake(
    "mean-not-sum",
    (
        "A mean over the features divides by their number, and the lengths don't. A dot product adds.",
        "Compare a vector of five numbers with itself: 1 is wanted. You get a fifth of it.",
    ),
    _cosine(gather=torch.mean),
)
cosine_similarity.mistake(
    "default-axis",
    (
        "F.cosine_similarity compares along axis 1 unless it is told otherwise. The numbers of one vector lie along "
        "the last axis: dim=-1.",
        "Look the function up with F.cosine_similarity? in a cell: which arguments does it have, and what are they if "
        "you don't say?",
    ),
    lambda a, b: F.cosine_similarity(a, b),
)
cosine_similarity.mistake(
    "matrix-product",
    (
        "For two plain vectors a @ b is the dot product, for anything larger it is a matrix product. Multiply element "
        "by element, and add along the last axis.",
        "With a and b of shape (4, 4), what is entry (0, 1) of a @ b made of? It mixes numbers of four vectors of b.",
    ),
    lambda a, b: a @ b / (a.norm(dim=-1) * b.norm(dim=-1)),
    lambda a, b: a @ b / (a.norm() * b.norm()),
    lambda a, b: a @ b,
)
cosine_similarity.mistake(
    "not-summed",
    (
        "Your products are not added up: one number per feature came out, and one number per pair was asked.",
        "a * b has the shape of a. The result has one axis less: which one has to go, and how?",
    ),
    lambda a, b: a * b / (a.norm(dim=-1, keepdim=True) * b.norm(dim=-1, keepdim=True)),
)
cosine_similarity.mistake(
    "axis-kept",
    (
        "An axis of size 1 is left over where the features were. In the result it turns up, and in a division it "
        "makes a table out of a row of numbers. Where do you say keepdim?",
        "Print the shapes of the dot products and of the lengths. For a of shape (4, 5) all three should be (4,).",
    ),
    lambda a, b: (a * b).sum(-1, keepdim=True) / (a.norm(dim=-1, keepdim=True) * b.norm(dim=-1, keepdim=True)),
    lambda a, b: (a * b).sum(-1) / (a.norm(dim=-1, keepdim=True) * b.norm(dim=-1, keepdim=True)),
    lambda a, b: (a * b).sum(-1, keepdim=True) / (a.norm(dim=-1) * b.norm(dim=-1)),
)
cosine_similarity.mistake(
    "all-pairs",
    (
        "You compare each vector of a with each of b. Only those at the same place belong together.",
        "From 4 and 4 vectors you make a table of 16 cosines. The 4 wanted ones are in it: where?",
    ),
    _all_pairs(lambda b: b.transpose(-2, -1)),
    _all_pairs(lambda b: b.mT),
    _all_pairs(lambda b: b.T),
    lambda a, b: a @ b.mT / (a.norm(dim=-1) * b.norm(dim=-1)),
    lambda a, b: a @ b.T / (a.norm(dim=-1) * b.norm(dim=-1)),
)
cosine_similarity.mistake(
    "centred",
    (
        "This is the correlation: you took each vector's own mean away first. The cosine takes the numbers as they "
        "are.",
        "The vectors (1, 2) and (2, 3) point almost the same way. What is left of them without their means?",
    ),
    _cosine(prepare=_centred),
)
cosine_similarity.together(
    _cosine,
    {
        "not-divided-by-norms": {"divide": lambda dot, *lengths: dot, "length": torch.norm},
        "squared-norms": {"length": lambda x, dim: x.square().sum(dim=dim)},
        "one-norm-only": {"divide": lambda dot, length_a, length_b: dot / length_a},
        "divided-then-multiplied": {"divide": lambda dot, length_a, length_b: dot / length_a * length_b},
        "norms-added": {"divide": lambda dot, length_a, length_b: dot / (length_a + length_b)},
        "norm-over-everything": {"length": lambda x, dim: x.norm()},
        "wrong-axis": {"axis": 0},
        "distance": {"finish": lambda cosine: 1 - cosine},
        "sign-lost": {"finish": torch.abs},
        "mean-not-sum": {"gather": torch.mean},
        "centred": {"prepare": _centred},
    },
)


@cosine_similarity.sight
def _four_directions(candidate):
    from lesson_kit import show

    a, b = torch.tensor([[1.0, 0.0]] * 4), torch.tensor([[3.0, 0.0], [2.0, 2.0], [0.0, 3.0], [-2.0, 0.0]])
    numbers = torch.stack([(a * b).sum(-1), candidate(a, b)], dim=1)
    names = ["the same way", "half-way to a right angle", "at a right angle", "the other way"]
    return show.matrix(numbers, names, ["dot product", "your cosine"], "An arrow (1, 0) and four others:")
