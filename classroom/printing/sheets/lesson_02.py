"""The worksheet of lesson 02, The sky is blue."""

from classroom.printing.sheets.parts import Box, Sheet, Step, Table, given, powers, written
from course_utils import scaled_dot_product_attention
from lesson_kit import examples


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
