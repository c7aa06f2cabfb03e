"""The knob: how the width of queries and keys, the divisor and the temperature freeze the rows of a softmax."""

import math

import torch

from lesson_kit.show.moving.page import Moving

WIDTHS = [2**i for i in range(11)]  # of queries and keys
ROWS, KEYS = 128, 6
FROZEN = 0.01  # a row whose Jacobian is smaller can hardly change any more
DIVISORS = {"nothing": lambda d_k: 1.0, "√d_k": math.sqrt, "d_k": float}
TEMPERATURES = [10 ** (i / 10) for i in range(-10, 21)]  # 0.1 to 100


def knob(d_k: int = 64, divisor: str = "nothing", seed: int = 0) -> Moving:
    """Scores of random queries and keys as d_k grows, what softmax makes of them, and how many rows are frozen.

    Every entry is drawn from a normal distribution with mean 0 and variance 1: 128 queries, each with 6 keys of its
    own. d_k, divisor: where the picture begins; a power of 2 up to 1024, and "nothing", "√d_k" or "d_k".
    A row is frozen if its Jacobian, the derivatives of its weights by its scores, is smaller than 0.01.

    Raises:
        ValueError: no such d_k or divisor.
    """
    if d_k not in WIDTHS:
        raise ValueError(f"d_k must be a power of 2 from 1 to {WIDTHS[-1]}, got {d_k!r}")
    if divisor not in DIVISORS:
        raise ValueError(f"divisor must be one of {', '.join(DIVISORS)}, got {divisor!r}")
    dots = dot_products(seed)
    data = {
        "hundredths": [hundredths(rows) for rows in dots],  # a string for each width: short, and a line in a notebook
        "keys": KEYS, "widths": WIDTHS, "temperatures": TEMPERATURES, "frozen": FROZEN,
        "start": {"width": WIDTHS.index(d_k), "divisor": divisor},
    }  # fmt: skip
    return Moving("knob", data, lambda: _draw(dots.double(), d_k))


def dot_products(seed: int) -> torch.Tensor:
    """(widths, rows, keys): q·k over the first d_k entries of the same random vectors, to two decimals."""
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(ROWS, 1, WIDTHS[-1], generator=generator, dtype=torch.float64)
    key = torch.randn(ROWS, KEYS, WIDTHS[-1], generator=generator, dtype=torch.float64)
    so_far = (query * key).cumsum(dim=-1)
    return torch.stack([so_far[..., d_k - 1] for d_k in WIDTHS]).mul(100).round() / 100


def hundredths(rows: torch.Tensor) -> str:
    """The rows one after the other, as whole hundredths."""
    return " ".join(map(str, (100 * rows).round().long().flatten().tolist()))


def jacobian_sizes(weights: torch.Tensor) -> torch.Tensor:
    """The Frobenius norm of each row's derivatives, diag(w) - w wᵀ."""
    return (torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]).norm(dim=(-2, -1))


def _draw(dots: torch.Tensor, d_k: int):
    """The picture standing still: the same scores, undivided and divided."""
    from lesson_kit.colours import KEY
    from lesson_kit.show.figures import subplots
    from lesson_kit.show.scales import COLOUR_MAP

    fig, axes = subplots(2, 2, figsize=(8.4, 5.4), width_ratios=[1.5, 1])
    words = []
    rows = dots[WIDTHS.index(d_k)]
    for (left, right), (name, by) in zip(axes, [("q·k", 1.0), (f"q·k / √{d_k}", math.sqrt(d_k))], strict=True):
        scores = rows / by
        weights = scores.softmax(dim=-1)
        frozen = (jacobian_sizes(weights) < FROZEN).double().mean().item()
        left.hist(scores.flatten().numpy(), bins=[*range(-50, 51, 2)], color=KEY[0])
        left.set(title=f"{name}: standard deviation {scores.std():.1f}", xlim=(-50, 50), ylabel="scores")
        right.imshow(weights[:KEYS].numpy(), COLOUR_MAP, vmin=0, vmax=1)
        for (i, j), weight in zip(torch.ones(KEYS, KEYS).nonzero().tolist(), weights[:KEYS].flatten(), strict=True):
            colour = "white" if weight > 0.5 else "black"
            right.text(j, i, f"{weight:.2f}", ha="center", va="center", fontsize=8, color=colour)
        right.set(title=f"{frozen:.0%} of the rows frozen", xticks=[], yticks=[], xlabel="keys", ylabel="queries")
        right.grid(False)
        words.append(f"{name} has a standard deviation of {scores.std():.1f}, and {frozen:.0%} of the rows are frozen")
    alt = (
        f"Random queries and keys of width {d_k}: histograms of their scores, and the weights of six queries as heat "
        f"maps from 0 to 1. Above, {words[0]}: most rows are nearly 0 and 1. Below, {words[1]}: each row is shared out."
    )
    return fig, alt
