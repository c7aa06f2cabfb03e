"""The worksheet of lesson 04, Multi-head attention."""

import torch
from torch import Tensor

from classroom.printing.sheets.parts import DIFFERENCE, PAIR, Sheet, Step, Table, boxes, given, lookup, written
from course_utils import scaled_dot_product_attention
from lesson_kit import examples


def one_row(sums: Tensor) -> str:
    """Could rows with these sums be one softmax row's doing?"""
    if torch.allclose(sums, torch.ones_like(sums)):
        raise ValueError(f"sums are {sums.flatten().tolist()}; expected rows that one softmax row can't give")
    return f"No: the rows sum to {' and '.join(written(value, 2) for value in sums.flatten())}, not to 1."


def multi_head_attention() -> Sheet:
    two = examples.two_tokens()
    query, key, value = two.x @ two.w_q, two.x @ two.w_k, two.x @ two.w_v
    tokens = ["$x_1$", "$x_2$"]
    steps = [
        Step(
            "What is given",
            "The queries, keys and values of lesson 01. Head 0 gets the first column of each, head 1 the second. "
            r"A head has one feature, so it divides by $\sqrt{1} = 1$.",
            [
                Table(name, ["head 0", "head 1"], tokens, given(matrix), name.strip("$"))
                for name, matrix in (("$Q$", query), ("$K$", key), ("$V$", value))
            ]
            + [lookup("Weights for a difference $n$", 3, 1)],
        )
    ]
    heads = []
    for h in (0, 1):
        q, k, v = (matrix[:, h : h + 1] for matrix in (query, key, value))
        output, weights = scaled_dot_product_attention(q, k, v)
        heads.append(output)
        steps.append(
            Step(
                f"Step {h + 1}: head {h}",
                "A score is query times key, one product. " + DIFFERENCE + PAIR
                if h == 0
                else "The same with the second column of each.",
                [
                    Table("Scores", ["on $x_1$", "on $x_2$"], tokens, boxes(q @ k.T)),
                    Table("Weights", ["on $x_1$", "on $x_2$"], tokens, boxes(weights, 2), f"Weights of head {h}"),
                    Table("Output", [f"head {h}"], tokens, boxes(output, 2)),
                ],
                "each row of weights sums to 1.",
            )
        )
    joined = torch.cat(heads, dim=1)
    sums = joined.sum(dim=1, keepdim=True)
    entries = [a + b for a, b in zip(boxes(joined, 2), boxes(sums, 2), strict=True)]
    address = 10 * torch.arange(4)[:, None] + torch.arange(6)
    split = address.view(4, 2, 3).transpose(0, 1)
    rows = [f"token {i}" for i in range(4)]
    steps += [
        Step(
            "Step 3: put the heads side by side",
            "Write the two outputs next to each other, and add up each row. In this example one head alone would give "
            "rows that sum to 1. Could one softmax row have given yours?",
            [Table("Concatenated", ["head 0", "head 1", "sum"], tokens, entries, "Two heads of one feature")],
            lines=1,
            answer=one_row(sums),
        ),
        Step(
            "Step 4: cut six features into two heads",
            "Each number tells its address: the tens digit is the token, the ones digit is the feature. Every head "
            "gets three features of all four tokens.",
            [
                Table("Before", [f"f {j}" for j in range(6)], rows, given(address), "Addresses"),
                *(
                    Table(f"Head {h}", [f"f {j}" for j in range(3 * h, 3 * h + 3)], rows, boxes(split[h]))
                    for h in (0, 1)
                ),
            ],
            "the tens digits are 0, 1, 2, 3 going down in both heads.",
        ),
        Step(
            "Step 5: the tempting line, and the way back",
            "First: view(2, 4, 3) reads the numbers row by row, as they lie in memory, and never moves one. What "
            "does its head 0 hold? Then: reshape(4, 6) of your two right heads, without a transpose, reads head 0 "
            "row by row, then head 1. What comes out?",
            [
                Table(
                    "Head 0 after view",
                    ["a", "b", "c"],
                    [f"row {i}" for i in range(4)],
                    boxes(address.view(2, 4, 3)[0]),
                    "Head 0 after view",
                ),
                Table(
                    "Merged with reshape alone",
                    list("abcdef"),
                    [f"row {i}" for i in range(4)],
                    boxes(split.reshape(4, 6)),
                    "Merged with reshape",
                ),
            ],
            "both are wrong. Which tokens does this head 0 never see? Which row mixes which tokens?",
            lines=2,
            answer="Head 0 after view holds tokens 0 and 1; it never sees tokens 2 and 3. Merged with reshape alone, "
            "rows 0 and 2 mix tokens 0 and 1, rows 1 and 3 mix tokens 2 and 3.",
        ),
    ]
    return Sheet(
        "04 · Multi-head attention",
        "Two tokens, two heads; then six features are cut into two heads and merged again. You need no calculator.",
        steps,
    )
