"""View and transpose: 24 numbers in memory, and what each reshaping makes of them, on the way to the heads and back."""

import torch
from torch import Tensor

from course_utils.attention import merge_heads, split_heads
from lesson_kit.show.moving.page import Moving

LENGTH, D_MODEL = 4, 6
N_HEADS = [2, 3]
TASKS = ["split", "merge"]


def view_and_transpose(n_heads: int = 2, task: str = "split") -> Moving:
    """Four tokens of six features, split into heads or merged again: step by step, with ``transpose`` and without.

    Each number is its own address: its tens digit is the token, its ones digit the feature. n_heads: 2 or 3,
    task: "split" or "merge"; where the picture begins.

    Raises:
        ValueError: no such n_heads or task.
    """
    if n_heads not in N_HEADS:
        raise ValueError(f"n_heads must be 2 or 3, got {n_heads!r}")
    if task not in TASKS:
        raise ValueError(f"task must be 'split' or 'merge', got {task!r}")
    start = {"heads": int(n_heads), "task": task, "step": 0, "place": 0}
    return Moving("view_and_transpose", {"x": addresses()[0].tolist(), "start": start}, lambda: _draw(n_heads, task))


def addresses() -> Tensor:
    """(1, 4, 6): ten times the token plus the feature."""
    return (10 * torch.arange(LENGTH)[:, None] + torch.arange(D_MODEL))[None]


def _draw(n_heads: int, task: str):
    """The numbers in memory, and the last step of both ways."""
    from lesson_kit.show.figures import subplots

    x, d_head = addresses(), D_MODEL // n_heads
    heads = split_heads(x, n_heads)
    if task == "split":
        results = [heads[0], x.view(1, n_heads, LENGTH, d_head)[0]]
        calls = [f"view(1, 4, {n_heads}, {d_head}).transpose(1, 2)", f"view(1, {n_heads}, 4, {d_head}) alone"]
        whose = [_tokens(head) for head in results[1]]
        seen = ", ".join(f"head {i} gets {tokens} only" for i, tokens in enumerate(whose))
        words = f"With transpose, every head gets features of all four tokens. Without, {seen}."
    else:
        results = [merge_heads(heads), heads.reshape(1, LENGTH, D_MODEL)]
        calls = ["transpose(1, 2).reshape(1, 4, 6)", "reshape(1, 4, 6) alone"]
        mixed = ", ".join(f"row {i} mixes {_tokens(row)}" for i, row in enumerate(results[1][0]))
        words = f"With transpose, each row is a token again, its features from 0 to 5. Without, {mixed}."
    fig, axes = subplots(2, 2, figsize=(9, 3.4), height_ratios=[1, 4])
    strip = fig.add_subplot(axes[0, 0].get_gridspec()[0, :])
    for ax in axes[0]:
        ax.remove()
    _cells(strip, x.reshape(1, 1, -1), "x in memory, one line of 24 numbers")
    for ax, result, call in zip(axes[1], results, calls, strict=True):
        _cells(ax, result, call)
    alt = (
        "24 numbers in memory, four tokens of six features; the tens digit of each is its token, which also gives its "
        f"colour. Below, {'split into' if task == 'split' else 'merged from'} {n_heads} heads in two ways: left by "
        f"{calls[0]}, right by {calls[1]}. {words}"
    )
    return fig, alt


def _tokens(numbers: Tensor) -> str:
    first, *others = (numbers // 10).unique().tolist()
    return f"token {first}" if not others else f"tokens {', '.join(map(str, [first, *others[:-1]]))} and {others[-1]}"


def _cells(ax, blocks: Tensor, title: str) -> None:
    """(blocks, rows, columns), the blocks side by side."""
    from matplotlib.patches import Rectangle

    from lesson_kit.colours import KEY, OUTPUT, QUERY, VALUE

    colours = [QUERY[0], KEY[0], VALUE[0], OUTPUT[0]]
    n_blocks, n_rows, n_columns = blocks.shape
    for block in range(n_blocks):
        left = block * (n_columns + 0.6)
        if n_blocks > 1:
            ax.text(left + n_columns / 2, -0.25, f"head {block}", ha="center")
        for row in range(n_rows):
            for column in range(n_columns):
                number = int(blocks[block, row, column])
                token, feature = divmod(number, 10)
                ax.add_patch(
                    Rectangle((left + column, row), 0.92, 0.92, color=colours[token], alpha=0.1 + 0.07 * feature)
                )
                ax.text(left + column + 0.46, row + 0.48, f"{number:02d}", ha="center", va="center", fontsize=9)
    ax.set(xlim=(-0.1, n_blocks * (n_columns + 0.6) - 0.5), ylim=(n_rows, -0.7 if n_blocks > 1 else -0.1))
    ax.set_title(title, size=10)
    ax.set_aspect("equal")
    ax.axis("off")
