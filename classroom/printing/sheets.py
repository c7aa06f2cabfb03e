"""What stands on each worksheet: steps, formulas, and tables with boxes to fill in.

One description gives the question sheet and the answer sheet, as HTML and as PDF (``worksheets.py``). Given numbers are
those of the lesson; answers are computed here with the course's own functions. ``Table.printed`` names the table of the
lesson that shows the same numbers: a test compares the two.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from course_utils import causal_mask, scaled_dot_product_attention, sinusoidal_positions
from course_utils.layers import layer_norm
from lesson_kit import examples


@dataclass(frozen=True)
class Box:
    """An empty box; on the answer sheet it holds ``answer``."""

    answer: str


@dataclass(frozen=True)
class Table:
    """``entries`` has one list for each row; a string is given, a ``Box`` is to be filled in."""

    title: str
    columns: Sequence[str]
    rows: Sequence[str]
    entries: Sequence[Sequence[str | Box]]
    printed: str = ""


@dataclass(frozen=True)
class Step:
    """A heading, what to do, the tables side by side, how to check the result, and empty lines to write on.

    ``answer``: to what is asked in words; the answer sheet has it on the lines.
    """

    title: str
    text: str
    tables: Sequence[Table] = ()
    check: str = ""
    lines: int = 0
    answer: str = ""


@dataclass(frozen=True)
class Sheet:
    """A lesson's worksheet. Formulas stand between dollar signs, in what LaTeX and matplotlib both understand."""

    title: str
    introduction: str
    steps: Sequence[Step]


def written(value: float, digits: int = 0) -> str:
    """As on paper: the minus sign is one, and nothing is minus nought."""
    text = f"{float(value):.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "\N{MINUS SIGN}")


def given(values: Tensor, digits: int = 0) -> list[list[str]]:
    """A matrix of numbers that the learner reads."""
    return [[written(value, digits) for value in row] for row in values.tolist()]


def boxes(values: Tensor, digits: int = 0) -> list[list[Box]]:
    """A matrix of numbers that the learner finds."""
    return [[Box(value) for value in row] for row in given(values, digits)]


def lookup(title: str, steps: int, divisor: float, printed: str = "") -> Table:
    """The two weights that softmax gives for a difference n of two dot products, which are divided by ``divisor``."""
    n = torch.arange(steps, dtype=torch.float64)[:, None] / divisor
    pairs = torch.cat([n, torch.zeros_like(n)], dim=1).softmax(dim=-1)
    return Table(title, ["larger", "smaller"], [f"$n = {i}$" for i in range(steps)], given(pairs, 3), printed)


def powers(exponents: Tensor, digits: int) -> Table:
    """A table of the powers of e that a step needs."""
    exponents = torch.unique(exponents.flatten()).flip(0)
    columns = [written(value, 2).removesuffix(".00") for value in exponents]
    return Table("Powers of $e$", columns, ["$e$ to this power"], given(exponents.exp()[None], digits))


FEATURES = ["feature 1", "feature 2"]
DIFFERENCE = "Softmax sees only their difference. Let $n$ be the larger one minus the smaller one. "
PAIR = "Look up the pair of weights for your $n$; the larger weight belongs to the larger number."


# --- 01 ----------------------------------------------------------------------------------------


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


# --- 02 ----------------------------------------------------------------------------------------


def the_sky_is_blue() -> Sheet:
    sky = examples.sky_is_blue()
    query, key, value = sky.x @ sky.w_q, sky.x @ sky.w_k, sky.x @ sky.w_v
    scores = query @ key.T
    output, weights = scaled_dot_product_attention(query, key, value)
    words = [f'"{word}"' for word in sky.tokens]
    shapes = [("$X$", sky.x), ("$W_Q$", sky.w_q), ("$Q$", query), ("$V$", value), ("$Q K^\\top$", scores)]
    shapes += [("weights", weights), ("$Z$", output)]
    steps = [
        Step(
            "Step 1: shapes",
            "Four words, 512 features each; one head of width 64. Write each shape as rows × columns.",
            [
                Table(
                    "Shapes",
                    [name for name, _ in shapes],
                    ["shape"],
                    [[Box(f"{m.shape[0]}×{m.shape[1]}") if i else "4×512" for i, (_, m) in enumerate(shapes)]],
                )
            ],
            "in a product of two matrices the inner sizes agree and vanish.",
        ),
        Step(
            "What is given: the scores",
            r"$Q K^\top$: rows look, columns are looked at. The sums behind them have 64 terms each: a computer's job. "
            "From here on a pencil will do.",
            [Table("Scores", words, words, given(scores, 2), "scores Q K^T")],
        ),
    ]
    for number, i in enumerate((0, 1)):
        row = scores[i].round(decimals=2)
        from_largest = row - row.max()
        divided = (from_largest / 8).round(decimals=2)
        shares = divided.exp()
        rows = ["score", "1. minus the largest", "2. divided by 8", "3. $e$ to this power", "4. weight"]
        entries = [
            [written(s, 2) for s in row] + [""],
            *([Box(written(s, 2)) for s in values] + [""] for values in (from_largest, divided)),
            [Box(written(s, 4)) for s in shares] + [Box(written(shares.sum(), 4))],
            [Box(written(w, 2)) for w in weights[i]] + [Box(written(weights[i].sum(), 2))],
        ]
        steps.append(
            Step(
                f"Step {number + 2}: the row of {words[i]}",
                r"Softmax forgets a constant, so subtract the largest score first. Then divide by $\sqrt{64} = 8$, "
                "look up the powers, add them, and divide each by the sum: "
                "$w_{j} = e^{s_j} / (e^{s_1} + e^{s_2} + e^{s_3} + e^{s_4})$. Round line 2 to two decimals.",
                [Table(f"{words[i]} looks at", [*words, "sum"], rows, entries), powers(divided, 4)],
                "the four weights sum to 1. Rounded to two decimals, they may miss it by 0.01.",
                lines=2,
            )
        )
    steps.append(
        Step(
            "Step 4: a question to end with",
            'Add 100 to every score in the row of "The". Which of your numbers change, and which don\'t?',
            lines=2,
            answer="Only the scores. Subtracting the largest one takes the 100 away again: line 1 stays as it was, and "
            "with it every line below.",
        )
    )
    return Sheet(
        "02 · The sky is blue",
        "Four words look at each other. You work out two rows of the 4×4 weights; they are the published ones.",
        steps,
    )


# --- 04 ----------------------------------------------------------------------------------------


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
                    Table(f"Head {h}", [f"f {j}" for j in range(3 * h, 3 * h + 3)], rows, boxes(split[h]), f"Head {h}")
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


# --- 05 ----------------------------------------------------------------------------------------


def word_order() -> Sheet:
    positions = torch.arange(4, dtype=torch.float64)[:, None]
    angles = torch.cat([positions, positions / 100], dim=1)
    table = sinusoidal_positions(4, 4).double()
    fast = torch.tensor([[f(p) for p in (1.0, 2.0, 3.0)] for f in (math.sin, math.cos)])
    rows = [f"position {p}" for p in range(4)]
    products = table @ table.T
    turn = torch.tensor([[math.cos(1), -math.sin(1)], [math.sin(1), math.cos(1)]], dtype=torch.float64)
    pairs = [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3)]
    steps = [
        Step(
            "Step 1: where the hands stand",
            r"For $d_{\mathrm{model}} = 4$ there are two hands. Hand 0 turns by $\omega_0 = 1 / 10000^{0/4}$ with each "
            r"word, hand 1 by $\omega_1 = 1 / 10000^{2/4}$. Work out both speeds, then each angle: speed times "
            "position, in radians.",
            [
                Table("Speed", ["speed"], [r"$\omega_0$", r"$\omega_1$"], [[Box("1")], [Box("1/100")]]),
                Table(
                    "Angle",
                    ["hand 0", "hand 1"],
                    rows,
                    [[Box(written(p)), Box(written(a, 2))] for p, a in angles.tolist()],
                ),
            ],
        ),
        Step(
            "Step 2: the table",
            "Write the sine and the cosine of each angle, four decimals. Hand 0: look them up. Hand 1: the sine of a "
            r"small angle $a$ is close to $a$, and its cosine close to $1 - a^2 / 2$. Radians, not degrees.",
            [
                Table("To look up", ["1", "2", "3"], ["sine of", "cosine of"], given(fast, 4)),
                Table(
                    r"Sinusoidal positions, $d_{\mathrm{model}} = 4$",
                    ["sin, hand 0", "cos, hand 0", "sin, hand 1", "cos, hand 1"],
                    rows,
                    boxes(table, 4),
                    "sinusoidal positions, d_model = 4",
                ),
            ],
            "sine squared plus cosine squared is 1, for each hand in each row.",
            lines=2,
        ),
        Step(
            "Step 3: what two positions have in common",
            r"Take the dot product of two rows: multiply column by column, and add. Two decimals. Then compare with "
            r"$\cos(k\,\omega_0) + \cos(k\,\omega_1)$ for a distance of $k$ words.",
            [
                Table(
                    "Dot products",
                    [f"rows {a} and {b}" for a, b in pairs],
                    ["distance $k$", "dot product"],
                    [
                        [Box(str(b - a)) for a, b in pairs],
                        [Box(written(products[a, b], 2)) for a, b in pairs],
                    ],
                )
            ],
            "equal distances give equal dot products, wherever the two rows stand.",
            lines=3,
        ),
        Step(
            "Step 4: one word further is a turn",
            "Multiply the first two numbers of position 1, as a row, with this matrix. Four decimals.",
            [
                Table("The turn by 1", ["to sin", "to cos"], ["from sin", "from cos"], given(turn, 4)),
                Table("Position 1 times the turn", ["sin", "cos"], ["result"], boxes(table[1:2, :2] @ turn, 4)),
            ],
            "it is the beginning of the row of position 2.",
            lines=2,
        ),
        Step(
            "Step 5: how long is a turn?",
            r"A hand comes round after $2\pi / \omega$ words, with $2\pi = 6.283$. One decimal.",
            [
                Table(
                    "Words for a full turn",
                    ["words"],
                    ["hand 0", "hand 1"],
                    [[Box(written(2 * math.pi, 1))], [Box(written(200 * math.pi, 1))]],
                )
            ],
        ),
    ]
    return Sheet(
        "05 · Word order",
        "The table of positions for a model of width 4: two clock hands, one fast and one slow.",
        steps,
    )


# --- 06 ----------------------------------------------------------------------------------------

W_1 = torch.tensor([[1, -1, 1, -1], [-1, 1, 1, -1]], dtype=torch.float64)
B_1 = torch.tensor([0, 0, 1, -1], dtype=torch.float64)
W_2 = torch.tensor([[1, 0], [0, 2], [-1, 1], [1, 1]], dtype=torch.float64)
HIDDEN = ["hidden 1", "hidden 2", "hidden 3", "hidden 4"]


def normed(x: Tensor) -> Tensor:
    """Layer norm as a pencil does it: gain 1, bias 0, and no eps."""
    return layer_norm(x, torch.ones(x.shape[-1]).to(x), torch.zeros(x.shape[-1]).to(x), eps=0.0)


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


# --- 13 ----------------------------------------------------------------------------------------


def the_decoder() -> Sheet:
    two = examples.two_tokens()
    swap = torch.tensor([[0, 1], [1, 0]], dtype=torch.float64)
    fed, sources = ["start", "nǐ"], ["source 1", "source 2", "source 3"]
    memory = torch.tensor([[-1, 1], [1, -1], [-1, 1]], dtype=torch.float64)
    alike = ["sources 1, 3", "source 2"]  # 1 and 3 are the same vector: one row for both saves space
    query, key, value = two.x @ two.w_q, two.x @ two.w_k, two.x @ two.w_v
    attended, self_weights = scaled_dot_product_attention(query, key, value, causal_mask(2))
    first = two.x + attended @ swap
    h = normed(first)
    h_query, m_key, m_value = h @ two.w_q, memory @ two.w_k, memory @ two.w_v
    crossed, cross_weights = scaled_dot_product_attention(h_query, m_key, m_value)
    cross_scores = (h_query @ m_key.T).round() / math.sqrt(2)  # the norm's epsilon is none of a pencil's business
    projected = crossed @ (3 * swap)
    second = h + projected
    g = normed(second)
    hidden = (g @ W_1 + B_1).clamp(min=0)
    network = hidden @ W_2
    third = g + network
    y = normed(third)
    vocabulary = ["start", "nǐ", "hǎo", "end"]
    w_vocabulary = torch.tensor([[0, 1, -1, -1], [0, -1, 1, 0]], dtype=torch.float64)
    scores = y @ w_vocabulary
    after = ["start", "start nǐ"]
    inputs = [f"${name}$, {part}" for name in "XQKV" for part in (1, 2)]
    hidden_key = "\N{EN DASH}"  # a pencil writes nothing where the mask hides
    self_entries = [[Box(written(self_weights[0, 0], 2)), hidden_key], boxes(self_weights, 2)[1]]
    sums = scores.exp().sum(dim=-1, keepdim=True)
    steps = [
        Step(
            "What is given",
            "The decoder is fed two tokens, start and nǐ (you), with the numbers of lesson 01. The memory is what the "
            "encoder gave out for three source tokens. All matrices are those of lessons 01 and 06.",
            [
                Table("The two tokens", inputs, fed, given(torch.cat([two.x, query, key, value], dim=1))),
                lookup("Weights for $n$", 3, math.sqrt(2)),
                Table("Memory $M$", FEATURES, alike, given(memory[:2]), "The memory"),
                Table("$W_Q$", ["to 1", "to 2"], ["from 1", "from 2"], given(two.w_q)),
                Table("$W_K$ and $W_V$", ["to 1", "to 2"], ["from 1", "from 2"], given(two.w_k)),
            ],
        ),
        Step(
            "Step 1: masked self-attention",
            "The start symbol may look at itself only, nǐ at both. Weights, then outputs, two decimals. "
            r"($n$ is the larger dot product minus the smaller one; the list has divided it by $\sqrt{2}$ already.)",
            [
                Table("Weights", ["on start", "on nǐ"], fed, self_entries),
                Table("Output", FEATURES, fed, boxes(attended, 2)),
            ],
            "each row of weights sums to 1, also the row with one weight.",
        ),
        Step(
            "Step 2: swap, add, norm",
            r"$W_O$ swaps the two features of the output. Add $X$. Then the norm: with two features the larger one "
            r"becomes 1, the smaller one $-1$.",
            [
                Table("Swapped", FEATURES, fed, boxes(attended @ swap, 2), "self-attention: output"),
                Table("Plus $X$", FEATURES, fed, boxes(first, 2)),
                Table("$H$: after the norm", FEATURES, fed, boxes(h), "H: after masked"),
            ],
        ),
        Step(
            "Step 3: cross-attention",
            r"The queries come from the decoder, $H W_Q$; keys and values from the memory, $M W_K$ and $M W_V$. Divide "
            r"each dot product by $\sqrt{2}$: it is then 0.71 or $-0.71$. Take its power of $e$, and divide it by the "
            "sum of the three powers in its row.",
            [
                Table("$H W_Q$", FEATURES, fed, boxes(h_query)),
                Table("$M W_K = M W_V$", FEATURES, alike, boxes(m_key[:2])),
                Table("Dot products", sources, fed, boxes(h_query @ m_key.T)),
                powers(cross_scores, 3),
                Table("Weights", sources, fed, boxes(cross_weights, 3), "Cross-attention: weights"),
                Table("Output", FEATURES, fed, boxes(crossed, 2), "Cross-attention: output"),
            ],
            "one row of weights for each target token, one column for each source token. A row sums to 1 or 1.001.",
        ),
        Step(
            "Step 4: swap and triple, add, norm",
            r"This $W_O$ swaps the two features and triples them. Add $H$, then the norm.",
            [
                Table("Swapped, tripled", FEATURES, fed, boxes(projected, 2), "cross-attention: output"),
                Table("Plus $H$", FEATURES, fed, boxes(second, 2)),
                Table("$G$: after the norm", FEATURES, fed, boxes(g), "add & norm 2"),
            ],
            "the answers were not rounded on the way. Yours may be off by 0.01; the norm takes no notice.",
        ),
        Step(
            "Step 5: feed-forward, add, norm",
            r"$\mathrm{ReLU}(G W_1 + b_1)\, W_2$, as in lesson 06. Add $G$, then the norm.",
            [
                Table("$W_1$ and $b_1$", HIDDEN, [*FEATURES, "$b_1$"], given(torch.cat([W_1, B_1[None]]))),
                Table("$W_2$", FEATURES, HIDDEN, given(W_2)),
                Table("After ReLU", HIDDEN, fed, boxes(hidden)),
                Table("Times $W_2$", FEATURES, fed, boxes(network), "feed-forward"),
                Table("Plus $G$", FEATURES, fed, boxes(third)),
                Table("$Y$: after the norm", FEATURES, fed, boxes(y), "add & norm 3"),
            ],
        ),
        Step(
            "Step 6: the next token",
            r"Multiply $Y$ with the matrix of the vocabulary (hǎo means good). Look up the powers of $e$, add up each "
            "row, and divide each power by the sum. Two decimals.",
            [
                Table("The matrix", vocabulary, FEATURES, given(w_vocabulary), "The matrix of the vocabulary"),
                powers(scores.round(), 3),
                Table("Scores after ...", vocabulary, after, boxes(scores)),
                Table(
                    "Powers of $e$, and their sum",
                    [*vocabulary, "sum"],
                    after,
                    [a + b for a, b in zip(boxes(scores.exp(), 3), boxes(sums, 3), strict=True)],
                ),
                Table(
                    "Probability of the next token",
                    vocabulary,
                    after,
                    boxes(scores.softmax(dim=-1), 2),
                    "Probability of the next",
                ),
            ],
            "each row of probabilities sums to 1 (rounded, it may miss by 0.01). What does the model say after start?",
            lines=1,
            answer=f"{vocabulary[int(scores[0].argmax())]}, at {written(scores[0].softmax(-1).max(), 2)}.",
        ),
    ]
    return Sheet(
        "13 · The decoder",
        "Two tokens go through a decoder layer, until they become the probability of the next token.",
        steps,
    )


SHEETS = {
    "01_attention_by_hand": attention_by_hand,
    "02_the_sky_is_blue": the_sky_is_blue,
    "04_multi_head_attention": multi_head_attention,
    "05_word_order": word_order,
    "06_add_norm_feed_forward": add_norm_feed_forward,
    "13_the_decoder": the_decoder,
}
