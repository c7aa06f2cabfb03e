"""The worksheet of lesson 13, The decoder."""

import math

import torch

from classroom.printing.sheets.parts import FEATURES, Box, Sheet, Step, Table, boxes, given, lookup, powers, written
from classroom.printing.sheets.small_network import B_1, HIDDEN, W_1, W_2, normed
from course_utils import causal_mask, scaled_dot_product_attention
from lesson_kit import examples


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
