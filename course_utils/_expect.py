"""Checks of arguments, shared by the reference modules: each is one line at a public door.

Every message names the argument, what it got and what was expected.
"""

import torch
from torch import Tensor

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def expect_attention_mask(name: str, mask: Tensor, x: Tensor) -> None:
    """Boolean, True for "may attend", and (batch or 1, queries or 1, keys) for the self-attention of ``x``."""
    expect_dtype(name, mask, "a boolean tensor (True = may attend)", (torch.bool,))
    batch, length = x.shape[:2]
    fits = mask.dim() == 3 and mask.shape[0] in (1, batch) and mask.shape[1] in (1, length) and mask.shape[2] == length
    expect_shape(name, mask, fits, f"(batch or 1, queries or 1, keys), here ({batch} or 1, {length} or 1, {length})")


def expect_dtype(name: str, x: Tensor, kind: str, dtypes: tuple[torch.dtype, ...]) -> None:
    """``x`` must be a tensor of one of ``dtypes``, which ``kind`` puts into words."""
    got = x.dtype if isinstance(x, Tensor) else type(x).__name__
    if got not in dtypes:
        raise TypeError(f"{name} must be {kind}, got {got}")


def expect_float(**tensors: Tensor) -> None:
    """Each keyword must be a floating-point tensor, all of one dtype and on one device."""
    first_name, first = next(iter(tensors.items()))
    for name, tensor in tensors.items():
        expect_tensor(name, tensor)
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must have a floating-point dtype, got {tensor.dtype}")
        if tensor.dtype != first.dtype:
            raise TypeError(f"{name} has dtype {tensor.dtype}, but {first_name} has {first.dtype}; expected the same")
        if tensor.device != first.device:
            raise ValueError(f"{name} is on {tensor.device}, but {first_name} is on {first.device}; expected the same")


def expect_ids(name: str, ids: Tensor, below: int, max_length: int, start: int = 0) -> None:
    """(batch, length) of integers in 0..below - 1, nothing empty, and no longer than ``max_length`` with ``start``."""
    expect_dtype(name, ids, "an int64 or int32 tensor", INTEGERS[:2])
    expect_shape(name, ids, ids.dim() == 2 and 0 not in ids.shape, "(batch, length), nothing empty")
    if (end := start + ids.shape[1]) > max_length:
        most = f"at most {max_length}, the length of the position table"
        raise ValueError(f"{name} is {end} tokens long; expected {most}")
    if ids.min() < 0 or ids.max() >= below:
        raise ValueError(f"{name} must lie in 0..{below - 1}, got values from {int(ids.min())} to {int(ids.max())}")


def expect_lengths(lengths: list[int], tokens: int | None = None) -> None:
    """How many tokens each packed sentence has: ints of at least 0, some token among them, ``tokens`` in all."""
    if not isinstance(lengths, list | tuple) or any(isinstance(n, bool) or not isinstance(n, int) for n in lengths):
        raise TypeError(f"lengths must be a list of ints, got {lengths!r}")
    if min(lengths, default=-1) < 0 or not any(lengths):
        raise ValueError(f"lengths must be at least 0, and not all 0, got {lengths}")
    if tokens is not None and sum(lengths) != tokens:
        raise ValueError(f"lengths add up to {sum(lengths)}, but x holds {tokens} tokens; expected the same")


def expect_mask(mask: Tensor, shape: tuple[int, ...], device: torch.device) -> None:
    """Boolean, on the right device, and broadcastable to ``shape`` without enlarging it."""
    expect_dtype("mask", mask, "a boolean tensor (True = may attend)", (torch.bool,))
    if mask.device != device:
        raise ValueError(f"mask is on {mask.device}, but query is on {device}; expected the same")
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    fits = mask.dim() <= len(shape) and all(m in (1, s) for m, s in sizes)
    expect_shape("mask", mask, fits, f"one that broadcasts to {tuple(shape)}")


def expect_padding_mask(name: str, mask: Tensor, shape: tuple[int, ...]) -> None:
    """Boolean, True for a real token, and exactly of ``shape``, (batch, length)."""
    expect_dtype(name, mask, "a boolean tensor (True = a real token)", (torch.bool,))
    expect_shape(name, mask, mask.shape == shape, f"(batch, length), here {tuple(shape)}")


def expect_positive_int(**numbers: int) -> None:
    """Each keyword must be an integer of at least 1."""
    for name, number in numbers.items():
        expect_int_from(name, number, 1)


def expect_int_from(name: str, number: int, least: int, below: int | None = None) -> None:
    """An integer of at least ``least``, and less than ``below`` if that is given."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{name} must be an int, got {type(number).__name__}")
    if below is not None and not least <= number < below:
        raise ValueError(f"{name} must lie in {least}..{below - 1}, got {number}")
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")


def expect_number(name: str, number: float | int, below: float | int) -> None:
    """A number in [0, below)."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise TypeError(f"{name} must be a number, got {type(number).__name__}")
    if not 0 <= number < below:
        raise ValueError(f"{name} must lie in [0, {below}), got {number}")


def expect_query_key_value(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Floating point, (..., length, features) each, with the same batch axes and one value for each key."""
    expect_float(query=query, key=key, value=value)
    for name, x in (("query", query), ("key", key), ("value", value)):
        expect_shape(name, x, x.dim() >= 2, "(..., length, features)")
    if query.shape[-1] == 0:
        raise ValueError("query has 0 features per row; expected at least 1")
    if key.shape[-1] != query.shape[-1]:
        raise ValueError(f"key has {key.shape[-1]} features per row, query has {query.shape[-1]}; expected the same")
    if value.shape[-2] != key.shape[-2]:
        raise ValueError(f"value has {value.shape[-2]} rows, key has {key.shape[-2]}; expected one value for each key")
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(
            f"query, key and value have batch axes {tuple(query.shape[:-2])}, {tuple(key.shape[:-2])} "
            f"and {tuple(value.shape[:-2])}; expected the same"
        )


def expect_sequences(w_q: Tensor, **tensors: Tensor) -> None:
    """Each keyword must be (batch, length, d_model), of one batch, with the dtype, device and width of ``w_q``."""
    expect_float(**tensors, w_q=w_q)
    first_name, first = next(iter(tensors.items()))
    for name, x in tensors.items():
        fits = x.dim() == 3 and x.shape[-1] == w_q.shape[1]
        expect_shape(name, x, fits, f"(batch, length, d_model={w_q.shape[1]})")
        if len(x) != len(first):
            raise ValueError(f"{name} has a batch of {len(x)}, {first_name} one of {len(first)}; expected the same")


def expect_shape(name: str, x: Tensor, fits: bool, expected: str) -> None:
    """Words the error if the shape of ``x`` does not fit."""
    if not fits:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected {expected}")


def expect_tensor(name: str, x: Tensor) -> None:
    """``x`` must be a tensor."""
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, got {type(x).__name__}")


def expect_width(x: Tensor, width: int, **weights: Tensor) -> None:
    """``x`` must fit ``weights`` in dtype and device, and its last axis must have size ``width``."""
    expect_float(x=x, **weights)
    expect_shape("x", x, x.shape[-1:] == (width,), f"its last axis to be {width}")
