"""Comparing what was returned with what was wanted, and saying in words what the first difference is."""

import math
import numbers
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import Tensor

# (relative, absolute). Loose enough for every sound formulation: float32 through log-sum-exp is 1e-4 off at scores
# of 100. Gradients get ten times as much. Any other dtype must be equal exactly.
TOLERANCE = MappingProxyType({torch.float32: (2e-4, 2e-4), torch.float64: (1e-6, 1e-6)})
NUMBER_TOLERANCE = 1e-5  # relative, of a result that is a plain number: float32 inside is welcome
SHARE_TOLERANCE = 0.025  # of a share that was drawn at random, some 10,000 times: more than five standard deviations
WHOLE_TENSORS = (
    "Operations such as `*` and `@`, `torch.exp` and `.sum(dim=...)` work on a whole tensor at once: no loop is needed."
)


class Fault(NamedTuple):
    """One thing that is wrong: its slug, and the sentences that say so."""

    slug: str
    text: str


def difference(got: Any, wanted: Any, slack: float = 1, values: bool = True, whole: str = "the result") -> Fault | None:
    """The first respect in which ``got`` is not ``wanted``: type, device, dtype, shape, NaN or infinity, values.

    A tuple is compared part by part, and so is a tuple in it. Without ``values`` they may be any, as long as they are
    finite. ``whole``: how to call what is compared.
    """
    if type(wanted) is tuple:
        if type(got) is not tuple or len(got) != len(wanted):
            return Fault("wrong-type", f"It returned {describe_type(got)}, wanted a tuple of {len(wanted)}.")
        for number, (mine, right) in enumerate(zip(got, wanted, strict=True), start=1):
            part = f"part {number} of {whole}"
            if fault := difference(mine, right, slack, values, part):
                return fault if fault.text.startswith("In part") else Fault(fault.slug, f"In {part}: {fault.text}")
        return None
    if got is None and wanted is None:  # where a mistake puts it
        return None
    if type(wanted) is list:
        return _ids_differ(got, wanted)
    if type(wanted) in (int, float):
        return _number_differs(got, wanted)
    if not isinstance(got, Tensor) or not isinstance(wanted, Tensor):
        return Fault("wrong-type", f"It returned {describe_type(got)}, wanted a torch.Tensor.{_type_remark(got)}")
    for slug, what in (("wrong-device", "device"), ("wrong-dtype", "dtype"), ("wrong-shape", "shape")):
        mine, right = getattr(got, what), getattr(wanted, what)
        if mine != right:
            mine, right = (tuple(mine), tuple(right)) if what == "shape" else (mine, right)
            remark = _shape_remark(got, wanted) if what == "shape" else ""
            return Fault(slug, f"The {what} of the result is {mine}, wanted {right}.{remark}")
    if wanted.isfinite().all() and not got.isfinite().all():
        return Fault("not-finite", f"The result holds NaN or infinity, first at index {first(~got.isfinite())}.")
    if not values:
        return None
    close = _close(got, wanted, slack)
    if close.all():
        return None
    index = first(~close)
    mine, right = got[index].item(), wanted[index].item()
    if wanted.is_floating_point():
        digits = next((n for n in (5, 8, 11) if f"{mine:.{n}g}" != f"{right:.{n}g}"), 17)  # as many as tell them apart
        mine, right = f"{mine:.{digits}g}", f"{right:.{digits}g}"
    return Fault("wrong-value", f"The first difference is at index {index}: got {mine}, wanted {right}.")


def _close(got: Tensor, wanted: Tensor, slack: float = 1) -> Tensor:
    relative, absolute = TOLERANCE.get(wanted.dtype, (0, 0))
    return torch.isclose(got, wanted, rtol=slack * relative, atol=slack * absolute, equal_nan=True)


def _shape_remark(got: Tensor, wanted: Tensor) -> str:
    """Does a swap of two axes, or a reshape, explain the shape?"""
    if got.numel() != wanted.numel():
        return ""
    if got.dim() < wanted.dim() and got.squeeze().shape == wanted.squeeze().shape:
        # Equal numbers prove nothing here: a mean over one row is that row.
        return " It lacks an axis of length 1: what becomes of that axis in your function when it is longer?"
    swaps = [pair for pair in combinations(range(got.dim()), 2) if got.transpose(*pair).shape == wanted.shape]
    for i, j in swaps:
        if _close(got.transpose(i, j), wanted).all():
            return f" The numbers are right, but axes {i} and {j} have changed places."
    if _close(got.reshape(wanted.shape), wanted).all():
        return " The numbers are right, and in the right order: only the axes are not cut as wanted."
    return f" Axes {swaps[0][0]} and {swaps[0][1]} seem to have changed places." if swaps else ""


def _type_remark(got: Any) -> str:
    """A way back to tensors, from what often comes in their place."""
    if type(got) is tuple:
        return " Return one result alone: a comma after `return` makes a tuple."
    if type(got) is list:
        if _plain_numbers(got):
            return f" It holds plain numbers. {WHOLE_TENSORS}"
        if any(type(each) is list for each in got):
            return (
                " It holds lists: `torch.stack` makes one tensor of each inner list of tensors, and then of all. Or "
                "does one matrix product do the work of both loops?"
            )
        return " `torch.stack` makes one tensor of a list of tensors."
    if type(got).__module__ == "numpy":
        return " Stay with torch all the way: NumPy knows no gradients."
    return ""


def _plain_numbers(got: list) -> bool:
    """Is it a list of plain numbers, or of such lists?"""
    return bool(got) and all(
        isinstance(each, numbers.Real) or (type(each) is list and _plain_numbers(each)) for each in got
    )


def _ids_differ(got: Any, wanted: list[int]) -> Fault | None:
    """Lists of ids. An id may be any whole number, also a tensor's."""
    if type(got) is not list:
        return Fault("wrong-type", f"It returned {describe_type(got)}, wanted a list of ids.")
    if not all(_is_whole(each) for each in got):
        return Fault("wrong-type", "The list that it returned holds something else than ids, whole numbers.")
    got = [int(each) for each in got]
    return None if got == wanted else Fault("wrong-value", f"It returned {got}, wanted {wanted}.")


def _is_whole(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dim() == 0 and not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _number_differs(got: Any, wanted: int | float) -> Fault | None:
    """Plain numbers, or tensors that hold one."""
    if isinstance(got, Tensor) and got.dim() == 0 and not got.is_complex():
        got = got.item()
    if not isinstance(got, numbers.Real):
        return Fault("wrong-type", f"It returned {describe_type(got)}, wanted a number.")
    if not math.isfinite(got):
        return Fault("not-finite", f"It returned {float(got)}, wanted {wanted:.5g}.")
    close = math.isclose(got, wanted, rel_tol=NUMBER_TOLERANCE)
    return None if close else Fault("wrong-value", f"It returned {float(got):.5g}, wanted {wanted:.5g}.")


def shares_differ(got: dict[str, float], wanted: dict[str, float]) -> Fault | None:
    """The first share that is not as wanted: one of 0 or 1 must be so exactly, any other within ``SHARE_TOLERANCE``."""
    for name, right in wanted.items():
        exactly = right in (0.0, 1.0)
        if not abs(got[name] - right) <= (0.0 if exactly else SHARE_TOLERANCE):
            return Fault("wrong-value", f"{name}: {got[name]:.1%}, wanted {'' if exactly else 'about '}{right:.0%}.")
    return None


def first(where: Tensor) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(where.nonzero()[0].tolist())


def describe_type(value: Any) -> str:
    """The type in words; the value itself is left alone, it may be an iterator or refuse to be shown."""
    if value is None:
        return "nothing (None)"
    return f"a tuple of {len(value)}" if type(value) is tuple else f"a value of type {type(value).__name__}"
