"""Batches without padding: the tokens of all sentences in one row, end to end.

A token-wise layer (linear maps, norms, the feed-forward network) doesn't care where a sentence ends. Attention does:
hand ``lengths`` to ``Encoder``, and each token attends to its own sentence only.
"""

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor

from course_utils._expect import expect_lengths, expect_padding_mask


def pack(
    x: Shaped[Tensor, "batch length *features"], real: Bool[Tensor, "batch length"]
) -> tuple[Shaped[Tensor, "1 tokens *features"], list[int]]:
    """The real tokens of ``x``, one sentence after the other, in one row; and how many each sentence has.

    ``real`` is True for a token and False for padding, wherever it stands.

    Raises:
        TypeError: ``x`` is not a tensor, or ``real`` is not boolean.
        ValueError: ``real`` has not the first two axes of ``x``.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"x must be a torch.Tensor, got {type(x).__name__}")
    if x.dim() < 2:
        raise ValueError(f"x has shape {tuple(x.shape)}; expected (batch, length, ...)")
    expect_padding_mask("real", real, x.shape[:2])
    return x[real][None], real.sum(dim=1).tolist()


def unpack(
    packed: Shaped[Tensor, "1 tokens *features"], real: Bool[Tensor, "batch length"]
) -> Shaped[Tensor, "batch length *features"]:
    """``pack`` undone: each token goes back to its place, and zeros stand where padding stood.

    Raises:
        TypeError: ``packed`` is not a tensor, or ``real`` is not boolean.
        ValueError: ``real`` is not (batch, length), or does not mark as many tokens as ``packed`` holds.
    """
    if not isinstance(packed, Tensor):
        raise TypeError(f"packed must be a torch.Tensor, got {type(packed).__name__}")
    if packed.dim() < 2 or packed.shape[0] != 1:
        raise ValueError(f"packed has shape {tuple(packed.shape)}; expected one row, (1, tokens, ...)")
    expect_padding_mask("real", real, getattr(real, "shape", ()))
    if real.dim() != 2 or real.sum() != packed.shape[1]:
        raise ValueError(
            f"real has shape {tuple(real.shape)} and marks {int(real.sum())} tokens; expected (batch, length) "
            f"and {packed.shape[1]}, as many as packed holds"
        )
    x = packed.new_zeros(*real.shape, *packed.shape[2:])
    x[real] = packed[0]
    return x


def block_diagonal_mask(lengths: list[int], device: torch.device | str | None = None) -> Bool[Tensor, "tokens tokens"]:
    """The mask that says the same as ``lengths``: each token may attend to those of its own sentence.

    It costs what ``lengths`` saves, (sum of the lengths) squared: for looking at, and for tests.

    Raises:
        TypeError, ValueError: ``lengths`` is not a list of ints of at least 0, or holds no token at all.
    """
    expect_lengths(lengths)
    sentence = torch.arange(len(lengths), device=device).repeat_interleave(torch.tensor(lengths, device=device))
    return sentence[:, None] == sentence
