"""Online softmax: keys arrive one by one; what is kept of the past shrinks when a larger score comes."""

from collections.abc import Sequence

import torch

from lesson_kit.show.expect import expect_tokens
from lesson_kit.show.moving.page import Moving

MOST = 12  # keys
EXAMPLES = {  # scores and values of eight keys, chosen by hand
    "mixed": ([1.0, 0.4, 2.1, 1.7, -0.5, 3.6, 2.9, 0.8], [2.0, -1.0, 3.0, 0.5, 4.0, -2.0, 1.0, 3.5]),
    "rising": ([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [2.0, -1.0, 3.0, 0.5, 4.0, -2.0, 1.0, 3.5]),
    "falling": ([5.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0, -2.0], [2.0, -1.0, 3.0, 0.5, 4.0, -2.0, 1.0, 3.5]),
}
SHIFTS = [0, 10, 30, 60, 100]  # e to the power of 89 is too large for float32


def online_softmax(
    scores: Sequence[float] | None = None, values: Sequence[float] | None = None, names: Sequence[str] | None = None
) -> Moving:
    """One query's keys arrive one by one: the running maximum m, sum l and mixture o, and the old bars that shrink.

    scores: two to twelve numbers, scaled already; values: one number for each, here of one feature. Without them,
    three examples to choose from. names: of the keys.

    Raises:
        TypeError, ValueError: not two to twelve finite numbers, or not as many values and names as scores.
    """
    if scores is None:
        if values is not None or names is not None:
            raise ValueError("scores is None; expected the scores that the values and names belong to")
        examples = EXAMPLES
    else:
        scores = _numbers("scores", scores)
        if not 2 <= len(scores) <= MOST:
            raise ValueError(f"scores must be two to {MOST} numbers, got {len(scores)}")
        values = [1.0] * len(scores) if values is None else _numbers("values", values)
        examples = {"yours": (scores, values)}
    n = len(next(iter(examples.values()))[0])
    names = [f"k{i + 1}" for i in range(n)] if names is None else expect_tokens(names)
    for what, given in (("values", next(iter(examples.values()))[1]), ("names", names)):
        if len(given) != n:
            raise ValueError(f"{what} must be as many as scores: got {len(given)} for {n} scores")
    data = {
        "examples": {name: {"scores": s, "values": v} for name, (s, v) in examples.items()},
        "names": names, "shifts": SHIFTS,
    }  # fmt: skip
    return Moving("online_softmax", data, lambda: _draw(*next(iter(examples.values())), names))


def _numbers(name: str, given) -> list[float]:
    try:
        numbers = [float(number) for number in given]
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, got {given!r}") from None
    if not all(abs(number) <= 1000 for number in numbers):
        raise ValueError(f"{name} must lie between -1000 and 1000, got {numbers}")
    return numbers


def _draw(scores: list[float], values: list[float], names: list[str]):
    """Standing still: what is kept after each key, as bars."""
    from lesson_kit.colours import OUTPUT, WEIGHT
    from lesson_kit.show.figures import subplots

    s, v = (torch.tensor(given, dtype=torch.float64) for given in (scores, values))
    fig, (above, below) = subplots(2, 1, figsize=(8.6, 4.4), height_ratios=[1.6, 1], sharex=True)
    bottom = torch.zeros(len(s), dtype=torch.float64)
    # the parts of each key lie above those of the keys before it
    for i in range(len(s)):
        heights = torch.stack([(s[i] - s[: t + 1].max()).exp() if i <= t else s.new_zeros(()) for t in range(len(s))])
        shade = 0.25 + 0.6 * (i % 2)
        above.bar(range(len(s)), heights, bottom=bottom, color=WEIGHT[0], alpha=shade, width=0.7)
        bottom = bottom + heights
    outputs = [float(s[: t + 1].softmax(dim=0) @ v[: t + 1]) for t in range(len(s))]
    above.set(ylim=(0, 1.08 * float(bottom.max())), ylabel="sum l")
    above.set_title("the sum l after each key: its parts shrink when a larger score comes")
    below.plot(range(len(s)), outputs, color=OUTPUT[0], marker="o", linestyle="-", markevery=1)
    below.set(ylabel="mixture o / l", xlabel="keys so far")
    below.set_xticks(range(len(s)), names, parse_math=False)
    last = f"m = {max(scores):g}, l = {bottom[-1]:.2f}, and o / l = {outputs[-1]:.2f}"
    alt = (
        f"Two plots over {len(s)} keys that arrive one by one. Above, the running sum l as stacked bars, one part for "
        "each key seen: at each larger score all earlier parts shrink by the same factor. Below, the mixture o / l, "
        f"which jumps towards the value of a key with a large score. At the end {last}."
    )
    return fig, alt
