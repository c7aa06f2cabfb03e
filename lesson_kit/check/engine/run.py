"""Running a function that is not ours on inputs, and keeping what comes: the checks' lower half."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lesson_kit.check.engine.differences import difference
from lesson_kit.check.engine.errors import error_text, stopped_by_the_learner
from lesson_kit.check.engine.limits import TimeUp, guarded

CALLS = 200  # of a function among the inputs, in one run; no exercise needs a quarter of it


@dataclass
class Call:
    """One call of a function on its own copy of the inputs: what came back, or what was raised."""

    output: Any = None
    error: BaseException | None = None
    changed: tuple[int, ...] = ()  # the places of the inputs that were changed
    repeated: tuple[int, ...] = ()  # the places of the inputs that are functions and were called more than once
    printed: str = ""


class Counted:
    """A function that counts its calls, and ends a loop that would never end."""

    def __init__(self, function: Callable):
        self.function, self.calls = function, 0

    def __call__(self, *args):
        self.calls += 1
        if self.calls > CALLS:
            raise RuntimeError(f"stopped after {CALLS} calls of one function, in a loop that seems to have no end")
        return self.function(*args)


def run(function: Callable, args: tuple) -> Call:
    """Call ``function`` on a copy of ``args``, and keep whatever it raises."""
    mine = [Counted(arg) if callable(arg) else copy.deepcopy(arg) for arg in args]
    try:
        output, error = function(*mine), None
    except BaseException as raised:
        output, error = None, raised
    output = _own_copy(output)
    changed = [i for i, arg in enumerate(args) if not _unchanged(arg, mine[i])]
    repeated = [i for i, arg in enumerate(mine) if isinstance(arg, Counted) and arg.calls > 1]
    return Call(output, error, tuple(changed), tuple(repeated))


def try_out(function: Callable, args: tuple) -> Call:
    """``run`` for a function that is not ours: in a limited time, and without traces in anything but the ``Call``.

    Raises KeyboardInterrupt where the learner stopped the cell, not where the function raises it itself.
    """
    printed: list[str] = []
    try:
        r = guarded(lambda cleaned: run(cleaned, args), function, printed)
    except TimeUp as late:  # it came between the function and the end of ``run``
        r = Call(error=late)
    if stopped_by_the_learner(r.error):
        raise r.error
    r.printed = "".join(printed)
    return r


def _own_copy(output: Any) -> Any:
    """Tensors copied, also inside a tuple: they may share memory with something that changes later."""
    if type(output) is tuple:
        return tuple(_own_copy(part) for part in output)
    return output.detach().clone() if isinstance(output, Tensor) else output


def _unchanged(before: Any, after: Any) -> bool:
    """Are the tensors still the same, also in a list or tuple, and as many? Anything else counts as unchanged."""
    if isinstance(before, Tensor):
        return isinstance(after, Tensor) and before.dtype == after.dtype and torch.equal(before, after)
    if type(before) in (list, tuple):
        return type(after) is type(before) and len(after) == len(before) and all(map(_unchanged, before, after))
    return True


def _floating(value: Any) -> Iterator[Tensor]:
    """The floating tensors in it: itself, or those in a list or tuple, in order."""
    if isinstance(value, Tensor) and value.is_floating_point():
        yield value
    elif type(value) in (list, tuple):
        for part in value:
            yield from _floating(part)


def gradients(function: Callable, args: tuple) -> dict[int, Tensor | tuple[Tensor, ...] | None]:
    """The gradient of a fixed mixture of the outputs for each floating input (by its place), None where none comes.

    A list or tuple of tensors has a tuple of gradients; None if one of its tensors has none.
    """
    mine = copy.deepcopy(args)
    floating = {i: tensors for i, arg in enumerate(mine) if (tensors := list(_floating(arg)))}
    inputs = [tensor.requires_grad_() for tensors in floating.values() for tensor in tensors]
    output = torch.cat([part.flatten() for part in _floating(function(*mine))])
    if not output.requires_grad:
        return dict.fromkeys(floating)
    mixture = (output * torch.arange(1, output.numel() + 1).cos().to(output)).sum()
    found = iter(torch.autograd.grad(mixture, inputs, allow_unused=True))
    reached = {i: tuple(next(found) for _ in tensors) for i, tensors in floating.items()}
    for i, parts in reached.items():
        if any(part is None for part in parts):
            reached[i] = None
        elif isinstance(mine[i], Tensor):
            reached[i] = parts[0]
    return reached


def agree(r: Call, mistake: Call, compare: Callable = difference) -> bool:
    """Did the candidate do on this input what the mistake does?"""
    if r.error or mistake.error:
        return bool(r.error and mistake.error)
    return compare(r.output, mistake.output) is None


def tells_apart(r: Call, mistake: Call, right: Any, compare: Callable = difference) -> bool:
    """Does agreeing on this input tell the mistake from the right answer? An error must be the same, word for word."""
    if mistake.error:
        return error_text(r.error) == error_text(mistake.error)
    return compare(mistake.output, right) is not None


def describe(arg: Any) -> str:
    """An input in a few words: a tensor by its shape and dtype, also in a list or tuple."""
    if isinstance(arg, Tensor):
        return f"{tuple(arg.shape)} {str(arg.dtype).removeprefix('torch.')}"
    if type(arg) in (list, tuple):
        parts = ", ".join(map(describe, arg))
        return f"[{parts}]" if type(arg) is list else f"({parts})"
    if isinstance(arg, torch.Generator):
        return f"seeded with {arg.initial_seed()}"
    return "a function" if callable(arg) else repr(arg)
