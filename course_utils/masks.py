"""Masks: who may look at whom. Boolean, and True means "may attend"."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from course_utils._expect import INTEGERS, expect_dtype, expect_padding_mask, expect_positive_int, expect_shape


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

    The stacks (``Encoder``, ``Decoder``, ``Bert``, ``Transformer``) take it as it is. Attention itself, and a single
    layer, wants an axis for the queries: ``padding_mask(...)[:, None, :]``.

    Raises:
        TypeError: ``lengths`` is not an integer tensor, or ``max_length`` not an int.
        ValueError: ``lengths`` is not 1-D, or a length lies outside 0..max_length.
    """
    expect_positive_int(max_length=max_length)
    expect_dtype("lengths", lengths, "an integer tensor", INTEGERS)
    expect_shape("lengths", lengths, lengths.dim() == 1, "one axis, (batch,)")
    lengths = lengths.long()  # max_length may not fit into a smaller type
    if ((lengths < 0) | (lengths > max_length)).any():
        raise ValueError(f"lengths must lie in 0..max_length={max_length}, got {lengths.tolist()}")
    return torch.arange(max_length, device=lengths.device) < lengths[:, None]


def for_all_queries(
    name: str, mask: Bool[Tensor, "batch length"] | None, x: Float[Tensor, "batch length d_model"]
) -> Bool[Tensor, "batch 1 length"] | None:
    """The padding mask of ``x`` as a mask for attention to ``x``, the same for every query; None stays None.

    Raises:
        TypeError, ValueError: the mask, called ``name`` in the message, is not boolean or not (batch, length).
    """
    if mask is None:
        return None
    expect_padding_mask(name, mask, x.shape[:2])
    return mask[:, None, :]
