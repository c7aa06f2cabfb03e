"""The worksheet of lesson 06, Add & norm, and the feed-forward network."""

from collections.abc import Sequence

import torch
from torch import Tensor

from classroom.printing.sheets.parts import FEATURES, Box, Sheet, Step, Table, boxes, given, written
from classroom.printing.sheets.small_network import B_1, HIDDEN, W_1, W_2, normed
from course_utils import scaled_dot_product_attention
from lesson_kit import examples


def norm_table(title: str, rows: Sequence[str], x: Tensor, printed: str = "") -> Table:
    """Mean, root of the variance and result for tokens of two features."""
    middle = torch.stack([x.mean(dim=-1), x.var(dim=-1, unbiased=False).sqrt()], dim=1)
    entries = [a + b for a, b in zip(boxes(middle, 2), boxes(normed(x)), strict=True)]
    return Table(title, ["mean", "root of variance", *FEATURES], rows, entries, printed)


def add_norm_feed_forward() -> Sheet:
    two = examples.two_tokens()
    tokens = ["$x_1$", "$x_2$"]
    attended, _ = scaled_dot_product_attention(two.x @ two.w_q, two.x @ two.w_k, two.x @ two.w_v)
    added = two.x + attended
    after = normed(added)
    before_relu = after @ W_1 + B_1
    hidden = before_relu.clamp(min=0)
    out = hidden @ W_2
    second = after + out
    ramp = torch.tensor([[1.0, 2, 3, 4]])
    centred = ramp - ramp.mean()
    steps = [
        Step(
            "Step 1: add",
            "The residual connection: what went into attention plus what came out. Two decimals.",
            [
                Table("$X$: what went in", FEATURES, tokens, given(two.x, 2), "x: what went in"),
                Table("What came out", FEATURES, tokens, given(attended, 2), "attended: what came out"),
                Table("The sum", FEATURES, tokens, boxes(added, 2), "x + attended"),
            ],
        ),
        Step(
            "Step 2: norm",
            r"For each token: the mean of its two features; the variance, which is the mean of the squared distances "
            r"from it; its root; then $(x - \mathrm{mean}) / \sqrt{\mathrm{variance}}$. "
            "(The tiny eps under the root is left out here.)",
            [norm_table("Norm", tokens, added, "after the first add & norm")],
            "the two results of a token sum to 0. With two features, which numbers can come out at all?",
            lines=3,
            answer=r"Only 1 and $-1$ (or 0 and 0, if both are equal): both lie equally far from their mean, and the "
            "root of the variance is that distance.",
        ),
        Step(
            "Step 3: the feed-forward network, first half",
            r"$x W_1 + b_1$ for both tokens. Then ReLU: cross out what is negative, and write 0.",
            [
                Table(
                    "$W_1$ and $b_1$",
                    HIDDEN,
                    ["feature 1", "feature 2", "$b_1$"],
                    given(torch.cat([W_1, B_1[None]])),
                    "W_1: each",
                ),
                Table("$x W_1 + b_1$", HIDDEN, tokens, boxes(before_relu), "x W_1 + b_1"),
                Table("After ReLU", HIDDEN, tokens, boxes(hidden), "after ReLU"),
            ],
            "hidden 1 and hidden 2 ask opposite questions: ReLU lets one of the two through.",
        ),
        Step(
            "Step 4: the second half, and add",
            r"Multiply what is left with $W_2$ (its bias is 0). Add what went into the network: your result of step 2.",
            [
                Table("$W_2$", FEATURES, HIDDEN, given(W_2), "W_2: each"),
                Table(r"$\mathrm{FFN}(x)$", FEATURES, tokens, boxes(out), "FFN(x)"),
                Table("The sum", FEATURES, tokens, boxes(second), "plus the feed-forward network"),
            ],
        ),
        Step(
            "Step 5: norm again",
            "This is what the layer gives out.",
            [norm_table("Norm", tokens, second, "after the second add & norm")],
            "compare with step 2. What has the norm kept of the numbers before it?",
            lines=2,
            answer="Which of the two features is larger, and nothing else.",
        ),
        Step(
            "Step 6: a token with four features",
            "The mean is the same sum over four, and so is the variance. Root and results with three decimals. "
            r"($\sqrt{1.25} = 1.118$)",
            [
                Table(
                    "The ramp",
                    list("abcd"),
                    ["$x$", r"$x - \mathrm{mean}$", "squared", "result"],
                    [
                        given(ramp)[0],
                        boxes(centred, 1)[0],
                        boxes(centred**2, 2)[0],
                        boxes(normed(ramp), 3)[0],
                    ],
                ),
                Table(
                    "On the way",
                    ["value"],
                    ["mean", "variance"],
                    [[Box(written(ramp.mean(), 1))], [Box(written((centred**2).mean(), 2))]],
                ),
            ],
            "the four results sum to 0. What would change if you added 7 to every feature?",
            lines=1,
            answer="The mean: it grows by 7 too. The distances from it, the variance and the results stay.",
        ),
    ]
    return Sheet(
        "06 · Add & norm, and the feed-forward network",
        "The two tokens of lesson 01 go through the rest of an encoder layer.",
        steps,
    )
