"""Drag the query: its direction says whom it chooses, its length how firmly; the output moves among the values."""

import math
from collections.abc import Sequence

import torch

from course_utils import scaled_dot_product_attention
from lesson_kit.show.expect import expect_tokens
from lesson_kit.show.moving.page import Moving

FEWEST, MOST = 2, 4  # keys
LENGTHS = (0, 1, 2, 4)  # of the query in the picture that stands still
REACH = 3  # how far the query can be dragged, at least
# Chosen by hand: "river" is about water, "money" about money, "bank" about both and "the" about neither.
WORDS = {"river": ([2, -1], [4, 0]), "bank": ([2, 2], [3, 3]), "money": ([-1, 2], [0, 4]), "the": ([-2, -2], [0, 0])}
TOKENS = {"x1": ([1, 0], [1, 0]), "x2": ([0, 1], [0, 1])}  # the two of lesson 01


def drag_the_query(
    query: Sequence[float] | None = None,
    keys=None,
    values=None,
    names: Sequence[str] | None = None,
    d_k: int = 2,
    features: Sequence[str] = ("feature 1", "feature 2"),
) -> Moving:
    """A query that can be dragged among two, three or four keys, with its weights and its output.

    keys, values: two to four rows of two numbers, for ``names``; without them the two tokens of lesson 01. query: two
    numbers, where it begins. d_k: dot products are divided by its square root. features: what the keys' axes mean.
    The picture begins with this example; for the other numbers of keys it offers examples of its own.

    Raises:
        TypeError, ValueError: not two finite numbers in each row, not as many values and names as keys, or d_k < 1.
    """
    if isinstance(d_k, bool) or not isinstance(d_k, int) or d_k < 1:
        raise ValueError(f"d_k must be a positive int, got {d_k!r}")
    if keys is None and (values is not None or names is not None):
        raise ValueError("keys is None; expected the keys that the values and names belong to")
    examples = [
        _example(TOKENS, [1, 2], 2, ["feature 1", "feature 2"]),
        _example({name: WORDS[name] for name in ("river", "bank", "money")}, [1, 0.5], 2, ["water", "money"]),
        _example(WORDS, [1, 0.5], 2, ["water", "money"]),
    ]
    start = FEWEST
    if keys is not None:
        keys = _pairs("keys", keys)
        start = len(keys)
        if not FEWEST <= start <= MOST:
            raise ValueError(f"keys must be two, three or four, got {start}")
        names = [f"x{i + 1}" for i in range(start)] if names is None else expect_tokens(names)
        values = keys if values is None else _pairs("values", values)
        for what, rows in (("values", values), ("names", names)):
            if len(rows) != start:
                raise ValueError(f"{what} must be as many as keys: got {len(rows)} for {start} keys")
        given = {"names": names, "keys": keys, "values": values, "query": [1.0, 1.0]}
        examples[start - FEWEST] = given
    own = examples[start - FEWEST]
    features = expect_tokens(features)
    if len(features) != 2:
        raise ValueError(f"features must name the two axes, got {len(features)} names")
    own |= {"d_k": d_k} | ({"features": features} if keys is not None else {})
    if query is not None:
        own["query"] = _pairs("query", [query])[0]
    for example in examples:
        longest = max(math.hypot(*row) for row in [*example["keys"], example["query"]])
        example["reach"] = max(REACH, math.ceil(1.25 * longest))
    return Moving("drag_the_query", {"start": start, "examples": examples}, lambda: _draw(own))


def _example(words: dict, query: list, d_k: int, features: list[str]) -> dict:
    keys, values = zip(*words.values(), strict=True)
    return {
        "names": [*words], "keys": [*keys], "values": [*values], "query": query, "d_k": d_k, "features": features,
    }  # fmt: skip


def _pairs(name: str, rows) -> list[list[float]]:
    try:
        numbers = [[float(number) for number in row] for row in rows]
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold two numbers in each row, got {rows!r}") from None
    for row in numbers:
        if len(row) != 2 or not all(abs(number) <= 1e6 for number in row):
            raise ValueError(f"{name} must hold two numbers between -1e6 and 1e6 in each row, got {row}")
    return numbers


def step(example: dict, query: Sequence[float]) -> dict[str, list]:
    """The numbers of one attention step for ``query`` among an example's keys, by the course's own function."""
    q, k, v = (torch.tensor(rows, dtype=torch.float64) for rows in ([query], example["keys"], example["values"]))
    scale = math.sqrt(example["d_k"])
    output, weights = scaled_dot_product_attention(q * math.sqrt(2) / scale, k, v)  # it divides by the root of 2
    dots = (q @ k.T)[0]
    return {
        "query": [*map(float, query)], "dots": dots.tolist(), "scores": (dots / scale).tolist(),
        "weights": weights[0].tolist(), "output": output[0].tolist(),
    }  # fmt: skip


def _draw(example: dict):
    """The picture as it begins, standing still."""
    from matplotlib.patches import Polygon

    from lesson_kit.colours import FRAME, KEY, OUTPUT, PAPER, QUERY, VALUE, WEIGHT
    from lesson_kit.show.figures import subplots

    found, names = step(example, example["query"]), example["names"]
    fig, (left, middle, right) = subplots(1, 3, figsize=(9.6, 3.3), width_ratios=[1, 0.9, 1])
    arrow = {"arrowstyle": "-|>", "lw": 2, "shrinkA": 0, "shrinkB": 0}
    label = {"textcoords": "offset points", "ha": "center", "va": "center", "parse_math": False, "fontsize": 11}
    arrows: list = [
        *zip(names, example["keys"], [KEY[0]] * len(names), strict=True),
        ("query", example["query"], QUERY[0]),
    ]
    for name, tip, colour in arrows:
        left.annotate("", tip, (0, 0), arrowprops=arrow | {"color": colour})
        length = math.hypot(*tip) or 1
        left.annotate(name, tip, (16 * tip[0] / length, 11 * tip[1] / length), color=colour, **label)
    ends = max(max(map(abs, tip)) for _, tip, _ in arrows) * 1.35 or 1
    left.set(xlim=(-ends, ends), ylim=(-ends, ends), aspect="equal", title="The query among the keys")
    left.set(xlabel=example["features"][0], ylabel=example["features"][1])

    places = range(len(names))
    middle.barh(places, found["weights"], color=WEIGHT[0], height=0.5)
    for place, weight in zip(places, found["weights"], strict=True):
        middle.annotate(f"{weight:.2f}", (weight, place), (5, 0), textcoords="offset points", va="center")
    middle.set(xlim=(0, 1.18), ylim=(len(names) - 0.5, -0.5), xticks=[0, 0.5, 1], title="Its weights")
    middle.set_yticks(places, names, parse_math=False)

    region = Polygon(_around(example["values"]), facecolor=VALUE[0] + "1f", edgecolor=VALUE[0], linewidth=1.5)
    right.add_patch(region)
    centre = [sum(feature) / len(names) for feature in zip(*example["values"], strict=True)]
    for name, value in zip(names, example["values"], strict=True):
        right.scatter(*value, s=70, marker="s", color=VALUE[0], zorder=3)
        away = [value[i] - centre[i] for i in (0, 1)]
        length = math.hypot(*away) or 1
        right.annotate(name, value, (20 * away[0] / length, 14 * away[1] / length), color=VALUE[0], **label)
    for times in LENGTHS:
        place = step(example, [times * number for number in example["query"]])["output"]
        face = OUTPUT[0] if times == 1 else PAPER
        right.scatter(*place, s=80 if times == 1 else 36, facecolor=face, edgecolor=OUTPUT[0], zorder=4)
        words = "1 × query: output" if times == 1 else f"{times} × query"
        right.annotate(words, place, (9, 3), color=OUTPUT[0], **label | {"ha": "left", "va": "bottom", "fontsize": 10})
    right.margins(0.3)
    right.set(title="The output among the values", aspect="equal", adjustable="datalim")
    for ax in (left, right):
        ax.axhline(0, color=FRAME, lw=0.8, zorder=0)
        ax.axvline(0, color=FRAME, lw=0.8, zorder=0)
    shares = ", ".join(f"{weight:.2f} on {name}" for name, weight in zip(names, found["weights"], strict=True))
    best = max(range(len(names)), key=found["weights"].__getitem__)
    where = {2: "segment", 3: "triangle"}.get(len(names), "region")
    alt = (
        f"Left: the query ({example['query'][0]:g}, {example['query'][1]:g}) among {len(names)} keys, as arrows. "
        f"Middle: its weights as bars, {shares}. Right: the output, ({found['output'][0]:.2f}, "
        f"{found['output'][1]:.2f}), inside the {where} of the values, and where it goes when the query is 0, 2 and 4 "
        f"times as long: from the values' average ever closer to the value of {names[best]}."
    )
    return fig, alt


def _around(points: list[list[float]]) -> list[list[float]]:
    """The corners of the smallest convex region that holds all points, in order (Andrew's monotone chain)."""
    ordered = sorted(map(list, points))
    halves = []
    for sweep in (ordered, ordered[::-1]):
        half: list = []
        for point in sweep:
            while len(half) > 1 and _turn(half[-2], half[-1], point) <= 0:
                half.pop()
            half.append(point)
        halves += half[:-1]
    return halves or ordered[:1]


def _turn(a, b, c) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
