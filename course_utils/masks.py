"""Masks: who may look at whom. Boolean, and True means "may attend"."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from course_utils._expect import expect_positive_int


def causal_mask(length: int, device: torch.device | str | None = None) -> Bool[Tensor, "length length"]:
    """Each position may attend to itself and to what came before: True on and below the diagonal.

    Source: Vaswani et al. 2017, section 3.2.3.

    Raises:
        TypeError, ValueError: ``length`` is not an int of at least 1.
    """
    expect_positive_int(length=length)
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def padding_mask(lengths: Int[Tensor, "batch"], max_length: int) -> Bool[Tensor, "batch {max_length}"]:
    """True where a token is real: the first ``lengths[i]`` positions of row i.

    As a mask for attention it needs an axis for the queries: ``padding_mask(...)[:, None, :]``.

    Raises:
        TypeError: ``lengths`` is not an integer tensor, or ``max_length`` not an int.
        ValueError: ``lengths`` is not 1-D, or a length lies outside 0..max_length.
    """
    expect_positive_int(max_length=max_length)
    if not isinstance(lengths, Tensor) or lengths.is_floating_point() or lengths.dtype == torch.bool:
        came = lengths.dtype if isinstance(lengths, Tensor) else type(lengths).__name__
        raise TypeError(f"lengths must be an integer tensor, got {came}")
    if lengths.dim() != 1:
        raise ValueError(f"lengths has shape {tuple(lengths.shape)}; expected one axis, (batch,)")
    if lengths.numel() and (lengths.min() < 0 or lengths.max() > max_length):
        raise ValueError(f"lengths must lie in 0..max_length={max_length}, got {lengths.tolist()}")
    return torch.arange(max_length, device=lengths.device) < lengths[:, None]
