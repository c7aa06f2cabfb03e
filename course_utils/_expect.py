"""One-line checks of arguments, shared by the reference modules.

Every message names the argument, what came and what was expected.
"""

import torch
from torch import Tensor


def expect_float(**tensors: Tensor) -> None:
    """Each keyword must be a floating-point tensor, all of one dtype and on one device."""
    first_name, first = next(iter(tensors.items()))
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a torch.Tensor, got {type(tensor).__name__}")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must have a floating-point dtype, got {tensor.dtype}")
        if tensor.dtype != first.dtype:
            raise TypeError(f"{name} has dtype {tensor.dtype}, but {first_name} has {first.dtype}; expected the same")
        if tensor.device != first.device:
            raise ValueError(f"{name} is on {tensor.device}, but {first_name} is on {first.device}; expected the same")


def expect_ids(name: str, ids: Tensor, below: int) -> None:
    """Integer tensor with 0 <= ids < below."""
    if not isinstance(ids, Tensor) or ids.dtype not in (torch.int64, torch.int32):
        came = ids.dtype if isinstance(ids, Tensor) else type(ids).__name__
        raise TypeError(f"{name} must be an int64 or int32 tensor, got {came}")
    if ids.numel() and (ids.min() < 0 or ids.max() >= below):
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
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"mask must be a boolean tensor (True = may attend), got {came}")
    if mask.device != device:
        raise ValueError(f"mask is on {mask.device}, but query is on {device}; expected the same")
    fits = mask.dim() <= len(shape) and all(
        m in (1, s) for m, s in zip(reversed(mask.shape), reversed(shape), strict=False)
    )
    if not fits:
        raise ValueError(f"mask has shape {tuple(mask.shape)}; expected one that broadcasts to {tuple(shape)}")


def expect_padding_mask(name: str, mask: Tensor, shape: tuple[int, int]) -> None:
    """Boolean, True for a real token, and exactly of ``shape``, (batch, length)."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} must be a boolean tensor (True = a real token), got {came}")
    if mask.shape != shape:
        raise ValueError(f"{name} has shape {tuple(mask.shape)}; expected (batch, length), here {tuple(shape)}")


def expect_positive_int(**numbers: int) -> None:
    """Each keyword must be an integer of at least 1."""
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(f"{name} must be an int, got {type(number).__name__}")
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")


def expect_probability(**numbers: float) -> None:
    """Each keyword must lie in [0, 1)."""
    for name, number in numbers.items():
        if not 0 <= number < 1:
            raise ValueError(f"{name} must lie in [0, 1), got {number}")


def expect_query_key_value(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Floating point, (..., length, features) each, with the same batch axes and one value for each key."""
    expect_float(query=query, key=key, value=value)
    for name, x in (("query", query), ("key", key), ("value", value)):
        if x.dim() < 2:
            raise ValueError(f"{name} has shape {tuple(x.shape)}; expected (..., length, features)")
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


def expect_width(name: str, x: Tensor, width: int, **weights: Tensor) -> None:
    """``x`` must fit ``weights`` in dtype and device, and its last axis must have size ``width``."""
    expect_float(**{name: x}, **weights)
    if x.dim() == 0 or x.shape[-1] != width:
        raise ValueError(f"{name} has shape {tuple(x.shape)}; expected its last axis to be {width}")
