"""The worksheet of lesson 01, Attention by hand."""

import math

import torch
from torch import Tensor

from classroom.printing.sheets.parts import (
    DIFFERENCE,
    FEATURES,
    PAIR,
    Box,
    Sheet,
    Step,
    Table,
    boxes,
    given,
    lookup,
    written,
)
from course_utils import scaled_dot_product_attention
from lesson_kit import examples

FIRST_PART = {"q": "Q: what", "k": "K: how", "v": "V: what", "dots": "Dot products", "weights": "", "b": "b_"}
SECOND_PART = dict.fromkeys("qkv", "Step 1") | {
    "dots": "Step 2: dot",
    "weights": "Step 3: weights",
    "b": "Step 4: output",
}


def attention_by_hand() -> Sheet:
    two = examples.two_tokens()
    new_x = torch.tensor([[2, 0], [0, 1]], dtype=torch.float64)
    matrices = [
        Table("$X$: the tokens", FEATURES, ["$x_1$", "$x_2$"], given(two.x)),
        Table("$W_Q$", ["to 1", "to 2"], ["from 1", "from 2"], given(two.w_q)),
        Table("$W_K$ and $W_V$", ["to 1", "to 2"], ["from 1", "from 2"], given(two.w_k)),
        lookup("Weights for a difference $n$", 6, math.sqrt(2), "The two weights for a difference n"),
    ]
    steps = [
        Step(
            "What is given",
            "The two tokens of the lesson, one in each row; three small matrices; and a list of weights for step 3, "
            r"which has divided $n$ by $\sqrt{d_k} = \sqrt{2}$ already.",
            matrices,
        ),
        *one_attention(two.x, two, "", FIRST_PART),
        Step(
            "The same without rounding",
            r"A third stays a third on paper. Write $r$ for $e^{1 / \sqrt{2}}$, and each weight as a fraction. "
            "(The larger weight is $r$ times the smaller one if $n$ is 1.)",
            [Table("Weights, exact", ["on $x_1$", "on $x_2$"], ["$x_1$", "$x_2$"], exact_weights(two))],
            "with $r = 2.028$ the fractions give the decimals of step 3.",
        ),
        Step(
            "Part 2: two new tokens",
            "The matrices and the list of weights stay as they are. Before you begin: will $x_1$ look more at itself "
            "or at $x_2$? Can the first feature of $b_1$ be 2, as it is in $x_1$?",
            [Table("$X$: the new tokens", FEATURES, ["$x_1$", "$x_2$"], given(new_x))],
            lines=2,
            answer=foreseen(new_x, two),
        ),
        *one_attention(new_x, two, "Part 2, ", SECOND_PART),
    ]
    return Sheet(
        "01 · Attention by hand",
        "Two tokens go through one attention step. Part 1 has the numbers of the lesson, part 2 is the lesson's "
        "pencil sheet. You need no calculator.",
        steps,
    )


def foreseen(x: Tensor, two: examples.TwoTokens) -> str:
    """What the numbers of part 2 answer."""
    values = x @ two.w_v
    _, weights = scaled_dot_product_attention(x @ two.w_q, x @ two.w_k, values)
    first = values[:, 0]
    more = "itself" if weights[0, 0] > weights[0, 1] else "$x_2$"
    can = "Yes" if first.min() < 2 < first.max() else "No"
    return (
        f"At {more}: {written(weights[0].max(), 3)} against {written(weights[0].min(), 3)}. {can}: it lies between the "
        f"values' first features, {written(first.min())} and {written(first.max())}, and both weights are above 0."
    )


def exact_weights(two: examples.TwoTokens) -> list[list[Box]]:
    """The weights of lesson 01 as fractions; r is e^(1/sqrt 2)."""
    fractions = {0: "1/2", 1: "r / (1 + r)", -1: "1 / (1 + r)"}
    dots = (two.x @ two.w_q) @ (two.x @ two.w_k).T
    return [[Box(fractions[int(mine - other)]) for mine, other in ((a, b), (b, a))] for a, b in dots.tolist()]


def one_attention(x: Tensor, two: examples.TwoTokens, part: str, printed: dict[str, str]) -> list[Step]:
    """The four steps of lesson 01, for the tokens ``x``."""
    q, k, v = x @ two.w_q, x @ two.w_k, x @ two.w_v
    dots = q @ k.T
    output, weights = scaled_dot_product_attention(q, k, v)
    differences = dots.max(dim=1, keepdim=True).values - dots.min(dim=1, keepdim=True).values
    tokens = ["$x_1$", "$x_2$"]
    projections = [
        Table(
            f"${big} = X W_{big}$",
            FEATURES,
            [f"${small}_1$", f"${small}_2$"],
            boxes(matrix),
            printed[small],
        )
        for small, big, matrix in (("q", "Q", q), ("k", "K", k), ("v", "V", v))
    ]
    return [
        Step(
            f"{part}step 1: queries, keys, values".capitalize(),
            "Each row is the token's row times the matrix: row times column, multiply and add.",
            projections,
        ),
        Step(
            f"{part}steps 2 and 3: dot products and weights".capitalize(),
            r"Compare each query with each key by their dot product, $q_i \cdot k_j$. " + DIFFERENCE + PAIR,
            [
                Table(
                    "Row looks at column",
                    ["dot with $k_1$", "dot with $k_2$", "$n$"],
                    tokens,
                    boxes(torch.cat([dots, differences], dim=1)),
                    printed["dots"],
                ),
                Table("Weights", ["on $x_1$", "on $x_2$"], tokens, boxes(weights, 3), printed["weights"]),
            ],
            "the two weights of a row sum to 1.",
        ),
        Step(
            f"{part}step 4: mix the values".capitalize(),
            r"$b_1 = a_{11} v_1 + a_{12} v_2$, and $b_2$ likewise. Two decimals are enough.",
            [
                Table(
                    "$B$: the output",
                    FEATURES,
                    ["$b_1$", "$b_2$"],
                    boxes(output, 2),
                    printed["b"],
                )
            ],
            "each feature lies between the two values' features, for it is an average of them.",
            lines=2,
        ),
    ]
