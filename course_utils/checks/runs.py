"""Running a function on inputs and comparing what came back: the checks' lower half."""

import copy
import math
import numbers
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

# (relative, absolute). Loose enough for every sound formulation: float32 through log-sum-exp is 1e-4 off at scores
# of 100. Gradients get ten times as much. Any other dtype must be equal exactly.
TOLERANCE = {torch.float32: (2e-4, 2e-4), torch.float64: (1e-6, 1e-6)}
LIBRARIES = tuple(os.path.dirname(f) for f in (os.path.dirname(__file__), os.path.dirname(torch.__file__), os.__file__))
NUMBER_TOLERANCE = 1e-5  # relative, of a result that is a plain number: float32 inside is welcome
SHARE_TOLERANCE = 0.025  # of a share that was drawn at random, some 10,000 times: more than five standard deviations
CALLS = 200  # of a function among the inputs, in one run; no exercise needs a quarter of it
Verdict = tuple[str, str]  # (slug, sentences)


@dataclass
class Run:
    """One call of a function on its own copy of the inputs: what came back, or what was raised."""

    output: Any = None
    error: BaseException | None = None
    changed: tuple[int, ...] = ()  # the places of the inputs that were changed
    repeated: tuple[int, ...] = ()  # the places of the inputs that are functions and were called more than once


class Counted:
    """A function that counts its calls, and ends a loop that would never end."""

    def __init__(self, function: Callable):
        self.function, self.calls = function, 0

    def __call__(self, *args):
        self.calls += 1
        if self.calls > CALLS:
            raise RuntimeError(f"stopped after {CALLS} calls of one function, in a loop that seems to have no end")
        return self.function(*args)


def run(function: Callable, args: tuple) -> Run:
    """Call ``function`` on a copy of ``args``. Whatever it raises is kept, except the learner's own interrupt."""
    mine = [Counted(arg) if callable(arg) else copy.deepcopy(arg) for arg in args]
    try:
        output, error = function(*mine), None
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        output, error = None, raised
    output = _own_copy(output)
    changed = [i for i, arg in enumerate(args) if isinstance(arg, Tensor) and not torch.equal(arg, mine[i])]
    repeated = [i for i, arg in enumerate(mine) if isinstance(arg, Counted) and arg.calls > 1]
    return Run(output, error, tuple(changed), tuple(repeated))


def _own_copy(output: Any) -> Any:
    """Tensors copied, also inside a tuple: they may share memory with something that changes later."""
    if type(output) is tuple:
        return tuple(_own_copy(part) for part in output)
    return output.detach().clone() if isinstance(output, Tensor) else output


def gradients(function: Callable, args: tuple) -> dict[int, Tensor | None]:
    """The gradient of a fixed mixture of the outputs for each floating input (by its place), None where none comes."""
    mine = list(copy.deepcopy(args))
    floating = [i for i, arg in enumerate(mine) if isinstance(arg, Tensor) and arg.is_floating_point()]
    for i in floating:
        mine[i].requires_grad_()
    output = function(*mine)
    if not output.requires_grad:
        return dict.fromkeys(floating)
    mixture = (output * torch.arange(1, output.numel() + 1).cos().to(output).reshape(output.shape)).sum()
    found = torch.autograd.grad(mixture, [mine[i] for i in floating], allow_unused=True)
    return dict(zip(floating, found, strict=True))


def difference(got: Any, wanted: Any, slack: float = 1, values: bool = True) -> Verdict | None:
    """The first respect in which ``got`` is not ``wanted``: type, device, dtype, shape, NaN or infinity, values.

    A tuple is compared part by part. Without ``values`` they may be any, as long as they are finite.
    """
    if type(wanted) is tuple:
        if type(got) is not tuple or len(got) != len(wanted):
            return "wrong-type", f"It returned {describe_type(got)}, wanted a tuple of {len(wanted)}."
        for number, (mine, right) in enumerate(zip(got, wanted, strict=True), start=1):
            if fault := difference(mine, right, slack, values):
                return fault[0], f"In part {number} of the result: {fault[1]}"
        return None
    if type(wanted) is list:
        return _ids_differ(got, wanted)
    if type(wanted) in (int, float):
        return _number_differs(got, wanted)
    if not isinstance(got, Tensor) or not isinstance(wanted, Tensor):
        return "wrong-type", f"It returned {describe_type(got)}, wanted a torch.Tensor."
    for slug, what in (("wrong-device", "device"), ("wrong-dtype", "dtype"), ("wrong-shape", "shape")):
        mine, right = getattr(got, what), getattr(wanted, what)
        if mine != right:
            mine, right = (tuple(mine), tuple(right)) if what == "shape" else (mine, right)
            return slug, f"The {what} of the result is {mine}, wanted {right}."
    if wanted.isfinite().all() and not got.isfinite().all():
        return "not-finite", f"The result holds NaN or infinity, first at index {first(~got.isfinite())}."
    if not values:
        return None
    relative, absolute = TOLERANCE.get(wanted.dtype, (0, 0))
    close = torch.isclose(got, wanted, rtol=slack * relative, atol=slack * absolute, equal_nan=True)
    if close.all():
        return None
    index = first(~close)
    mine, right = got[index].item(), wanted[index].item()
    if wanted.is_floating_point():
        digits = next((n for n in (5, 8, 11) if f"{mine:.{n}g}" != f"{right:.{n}g}"), 17)  # as many as tell them apart
        mine, right = f"{mine:.{digits}g}", f"{right:.{digits}g}"
    return "wrong-value", f"The first difference is at index {index}: got {mine}, wanted {right}."


def _ids_differ(got: Any, wanted: list[int]) -> Verdict | None:
    """Lists of ids. An id may be any whole number, also a tensor's."""
    if type(got) is not list:
        return "wrong-type", f"It returned {describe_type(got)}, wanted a list of ids."
    if not all(_is_whole(each) for each in got):
        return "wrong-type", "The list that it returned holds something else than ids, whole numbers."
    got = [int(each) for each in got]
    return None if got == wanted else ("wrong-value", f"It returned {got}, wanted {wanted}.")


def _is_whole(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.dim() == 0 and not (value.is_floating_point() or value.is_complex() or value.dtype == torch.bool)
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _number_differs(got: Any, wanted: int | float) -> Verdict | None:
    """Plain numbers, or tensors that hold one."""
    if isinstance(got, Tensor) and got.dim() == 0 and not got.is_complex():
        got = got.item()
    if not isinstance(got, numbers.Real):
        return "wrong-type", f"It returned {describe_type(got)}, wanted a number."
    if not math.isfinite(got):
        return "not-finite", f"It returned {float(got)}, wanted {wanted:.5g}."
    close = math.isclose(got, wanted, rel_tol=NUMBER_TOLERANCE)
    return None if close else ("wrong-value", f"It returned {float(got):.5g}, wanted {wanted:.5g}.")


def shares_differ(got: dict[str, float], wanted: dict[str, float]) -> Verdict | None:
    """The first share that is not as wanted: one of 0 or 1 must be so exactly, any other within ``SHARE_TOLERANCE``."""
    for name, right in wanted.items():
        exactly = right in (0.0, 1.0)
        if not abs(got[name] - right) <= (0.0 if exactly else SHARE_TOLERANCE):
            return "wrong-value", f"{name}: {got[name]:.1%}, wanted {'' if exactly else 'about '}{right:.0%}."
    return None


def agree(r: Run, mistake: Run, compare: Callable = difference) -> bool:
    """Did the candidate do on this input what the mistake does?"""
    if r.error or mistake.error:
        return bool(r.error and mistake.error)
    return compare(r.output, mistake.output) is None


def tells_apart(r: Run, mistake: Run, right: Any, compare: Callable = difference) -> bool:
    """Does agreeing on this input tell the mistake from the right answer? An error must be the same, word for word."""
    if mistake.error:
        return error_text(r.error) == error_text(mistake.error)
    return compare(mistake.output, right) is not None


def first(where: Tensor) -> tuple[int, ...]:
    """The index of the first True."""
    return tuple(where.nonzero()[0].tolist())


def describe(arg: Any) -> str:
    """An input in a few words: a tensor by its shape and dtype."""
    if isinstance(arg, Tensor):
        return f"{tuple(arg.shape)} {str(arg.dtype).removeprefix('torch.')}"
    if isinstance(arg, torch.Generator):
        return f"seeded with {arg.initial_seed()}"
    return "a function" if callable(arg) else repr(arg)


def describe_type(value: Any) -> str:
    """The type in words; the value itself is left alone, it may be an iterator or refuse to be shown."""
    if value is None:
        return "nothing (None)"
    return f"a tuple of {len(value)}" if type(value) is tuple else f"a value of type {type(value).__name__}"


def error_text(error: BaseException) -> str:
    """Type and message, as Python prints them."""
    text = traceback.format_exception_only(error)[-1].strip()
    return text if len(text) <= 300 else text[:300] + " ..."


def describe_error(error: BaseException) -> str:
    """Type, message, and the last line outside the libraries on the way to it: the learner's own."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(LIBRARIES)]
    line = f' Your line {own[-1].lineno}: "{own[-1].line}".' if own and own[-1].line else ""
    return error_text(error).rstrip(".") + "." + line
