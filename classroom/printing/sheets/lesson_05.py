"""The worksheet of lesson 05, Word order."""

import math

import torch

from classroom.printing.sheets.parts import Box, Sheet, Step, Table, boxes, given, written
from course_utils import sinusoidal_positions


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
