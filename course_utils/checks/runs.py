"""Running a function that is not ours on inputs, and reading what it raised: the checks' lower half."""

import copy
import dis
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from course_utils.checks.differences import difference
from course_utils.checks.limits import TimeUp, alone, in_time
from course_utils.checks.readings import reading

LIBRARIES = tuple(os.path.dirname(f) for f in (os.path.dirname(__file__), os.path.dirname(torch.__file__), os.__file__))
CALLS = 200  # of a function among the inputs, in one run; no exercise needs a quarter of it


@dataclass
class Run:
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


def run(function: Callable, args: tuple) -> Run:
    """Call ``function`` on a copy of ``args``, and keep whatever it raises."""
    mine = [Counted(arg) if callable(arg) else copy.deepcopy(arg) for arg in args]
    try:
        output, error = function(*mine), None
    except BaseException as raised:
        output, error = None, raised
    output = _own_copy(output)
    changed = [i for i, arg in enumerate(args) if isinstance(arg, Tensor) and not torch.equal(arg, mine[i])]
    repeated = [i for i, arg in enumerate(mine) if isinstance(arg, Counted) and arg.calls > 1]
    return Run(output, error, tuple(changed), tuple(repeated))


def try_out(function: Callable, args: tuple) -> Run:
    """``run`` for a function that is not ours: in a limited time, and without traces in anything but the ``Run``.

    Raises KeyboardInterrupt where the learner stopped the cell, not where the function raises it itself.
    """
    with alone() as printed:
        try:
            r = in_time(lambda: run(function, args))
        except TimeUp as late:  # it came between the function and the end of ``run``
            r = Run(error=late)
    if stopped_by_the_learner(r.error):
        raise r.error
    r.printed = printed.getvalue()
    return r


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


def describe(arg: Any) -> str:
    """An input in a few words: a tensor by its shape and dtype."""
    if isinstance(arg, Tensor):
        return f"{tuple(arg.shape)} {str(arg.dtype).removeprefix('torch.')}"
    if isinstance(arg, torch.Generator):
        return f"seeded with {arg.initial_seed()}"
    return "a function" if callable(arg) else repr(arg)


def error_text(error: BaseException) -> str:
    """Type and message, as Python prints them."""
    text = traceback.format_exception_only(error)[-1].strip()
    return text if len(text) <= 300 else text[:300] + " ..."


def describe_error(error: BaseException, call: str) -> str:
    """Type, message, the learner's own line, and what it means where that is known. ``call``: how it was called."""
    text, line = error_text(error), own_line(error)
    return " ".join(filter(None, (text.rstrip(".") + ".", line, reading(text, None if line else call))))


def own_line(error: BaseException) -> str:
    """The last line outside the libraries on the way to an error, quoted, or ""."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(LIBRARIES)]
    return f"Your line {own[-1].lineno}: `{own[-1].line}`." if own and own[-1].line else ""


def stopped_by_the_learner(error: BaseException | None) -> bool:
    """The Stop button: it ends the cell, and is no verdict."""
    return isinstance(error, KeyboardInterrupt) and not raised_on_purpose(error)


def raised_on_purpose(error: BaseException) -> bool:
    """Did a ``raise`` in the learner's code make it? PyTorch raises errors of the same types, and so do signals."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or place.tb_frame.f_code.co_filename.startswith(LIBRARIES):
        return False
    return dis.opname[place.tb_frame.f_code.co_code[place.tb_lasti]] == "RAISE_VARARGS"
