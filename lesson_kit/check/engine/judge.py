"""Judging: a learner's function against the reference on every input.

``judge`` asks its questions in order, and the first that finds something gives the verdict. ``trial.py`` holds what the
candidate did, ``known_mistakes.py`` knows the mistakes.
"""

import inspect
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lesson_kit.check.engine import limits, originals
from lesson_kit.check.engine.differences import Fault, difference
from lesson_kit.check.engine.errors import (
    describe_error,
    error_text,
    own_line,
    raised_on_purpose,
    stopped_by_the_learner,
)
from lesson_kit.check.engine.known_mistakes import known_mistake
from lesson_kit.check.engine.limits import TimeUp, guarded
from lesson_kit.check.engine.run import gradients, run, try_out
from lesson_kit.check.engine.source_code import attributes_in, computes, unused_arguments
from lesson_kit.check.engine.trial import Trial, try_all
from lesson_kit.check.engine.verdict import Verdict

# "Exercise" below is that of exercise.py, which stands on this module: it isn't imported.

REPEAT = (
    "Called twice with the same input, it gives two results. "
    "Does it draw random numbers, or keep something from one call to the next?"
)
# What cuts a gradient, as it is written and as it is called in code.
CUTS = {
    "detach": "`.detach()`",
    "item": "`.item()`",
    "tolist": "`.tolist()`",
    "data": "`.data`",
    "tensor": "`torch.tensor(...)`",
    "no_grad": "`torch.no_grad()`",
    "numpy": "`.numpy()`",
}


def judge(exercise: "Exercise", candidate: Any) -> Verdict:
    """What is wrong with ``candidate`` as an answer to ``exercise``, or that nothing is.

    Raises nothing but the learner's own interrupt.
    """
    try:
        with originals.kept(), warnings.catch_warnings(), torch.enable_grad(), torch.random.fork_rng(devices=[]):
            warnings.simplefilter("ignore")
            return no_function(exercise, candidate) or judge_results(try_all(exercise, candidate))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a result too strange to be looked at
        return _verdict("wrong-type", f"What your function returned can't be compared: {error_text(error)}")


def see(show: Callable[[Callable], Any] | None, candidate: Callable) -> Any:
    """What ``show`` makes of a candidate that has passed; None if nothing, since an extra must not spoil it."""
    if show is None:
        return None
    try:
        with originals.kept():
            return guarded(show, candidate)
    except BaseException as error:
        if stopped_by_the_learner(error):
            raise
        return None


def judge_results(trial: Trial) -> Verdict:
    """Ended, not begun, an input changed, a wrong result, or a fault behind right results: the first of these."""
    if trial.ended:
        return ended_early(trial)
    if verdict := nothing_returned(trial):
        return _with_prints(verdict, trial, 0)
    if changed := trial.arguments("changed"):
        text = f"Your function changes its input {changed}. Make a new tensor, and leave it alone."
        return _with_prints(_verdict("changed-input", text), trial, 0)
    for number in range(len(trial.cases)):
        if fault := trial.fault(number):
            return _with_prints(wrong_result(trial, fault, number), trial, number)
    if verdict := other_results(trial):
        return _with_prints(verdict, trial, 0)
    for number in range(len(trial.cases) if trial.exercise.gradients else 0):
        if verdict := wrong_gradient(trial, number):
            return _with_prints(verdict, trial, number)
    return _with_prints(Verdict(inputs=len(trial.cases), dtypes=_dtypes(trial.wanted)), trial, 0)


def _dtypes(results: list) -> tuple[torch.dtype, ...]:
    """Those of all tensors, each once."""
    parts = [part for result in results for part in (result if type(result) is tuple else (result,))]
    return tuple(sorted({part.dtype for part in parts if isinstance(part, Tensor)}, key=str))


def _verdict(slug: str, text: str, error: BaseException | None = None) -> Verdict:
    return Verdict((slug,), text, error_type=None if error is None else type(error).__name__)


def _with_prints(verdict: Verdict, trial: Trial, number: int) -> Verdict:
    """With what the function printed for the input that the verdict is about, and which input that is."""
    printed = trial.runs[number].printed.strip("\n").rstrip()
    if not printed.strip() or verdict.slugs == ("too-slow",):  # an endless loop prints without end
        return verdict
    where = trial.where(number)
    return replace(
        verdict, printed=f"It printed: {printed}" if where in verdict.text else f"{where}\nIt printed: {printed}"
    )


# --- without results ---


def no_function(exercise: "Exercise", candidate: Any) -> Verdict | None:
    """What can be said without calling it."""
    if candidate is None or candidate is Ellipsis:
        return _verdict("not-attempted", f"There is no function yet.{_after_a_syntax_error()}")
    if candidate is exercise.reference:
        return _verdict(
            "not-attempted",
            (
                f"The name holds the course's own {exercise.name}, which took the place of yours after a check before, "
                "so that the lesson could go on. Run the cell that defines your function again, and then this one."
                f"{_after_a_syntax_error()}"
            ),
        )
    if not callable(candidate) or inspect.isclass(candidate):
        what = "a class" if inspect.isclass(candidate) else "its result"
        right = f"`check.{exercise.name}({exercise.name})`"
        return _verdict("not-a-function", f"Give the check the function itself, not {what}: {right}.")
    return None


def _after_a_syntax_error() -> str:
    """Python keeps the last error that nobody caught."""
    last = getattr(sys, "last_value", None)
    if not isinstance(last, SyntaxError):
        return ""
    return (
        f"\nThe last error here was {type(last).__name__}, in line {last.lineno} of its cell: such a cell does nothing "
        "at all, so it defines no function either. Mend that line and run the cell again."
    )


def ended_early(trial: Trial) -> Verdict:
    """A call that did not come back: stopped after its time, or by the function itself."""
    number = len(trial.runs) - 1
    error, where = trial.runs[number].error, trial.where(number)
    if isinstance(error, TimeUp):
        return _verdict("too-slow", f"{_too_slow(error)}\n{where}")
    text = f"It raised KeyboardInterrupt, which stops a cell.\n{own_line(error)}\n{where}"
    return _with_prints(_verdict("raised", text, error), trial, number)


def _too_slow(late: TimeUp) -> str:
    line = own_line(late).replace("Your line", "It had come to your line")
    return (
        f"It was still running after {limits.SECONDS:g} seconds and was stopped; a fraction of one is plenty. "
        f"Is there a loop that never ends?\n{line}"
    )


def nothing_returned(trial: Trial) -> Verdict | None:
    """No call gave a result or tried to: a stub, or a function without its ``return``."""
    empty = [(r.output is None or r.output is Ellipsis) and r.error is None for r in trial.runs]
    put_off = [isinstance(r.error, NotImplementedError) and raised_on_purpose(r.error) for r in trial.runs]
    if not all(e or p for e, p in zip(empty, put_off, strict=True)):
        return None
    nothing = all(e and r.output is None for e, r in zip(empty, trial.runs, strict=True))
    if computes(trial.candidate) and nothing:
        return _verdict("returns-nothing", "Your function computes something, but ends without returning it.")
    how = "Write the body, run the cell that defines it, then run the check."
    return _verdict("not-attempted", how + _after_a_syntax_error())


# --- a wrong result ---


def wrong_result(trial: Trial, fault: Fault, number: int) -> Verdict:
    """The mistake behind ``fault``, which the result for input ``number`` shows; if none is known, the fault itself."""
    error, unused = trial.runs[number].error, _unused(trial)
    error_type = None if error is None else type(error).__name__
    if known := known_mistake(trial):
        text = f"{fault.text}\n{known.hints}" if error else known.hints
        return Verdict(known.slugs, text + unused, known.together, error_type)
    if not trial.exercise.shares and trial.fault_again(number) != fault:
        return _verdict("not-repeatable", REPEAT)
    if fault.slug in ("wrong-value", "wrong-shape") and (constant := _constant(trial)):
        fault = Fault("constant-result", f"{constant} {fault.text}")
    between = "\n" if error else " "
    text = f"{fault.text}{_dtype_hint(trial, fault, number)}{between}{trial.where(number)}{unused}"
    return _verdict(fault.slug, text, error)


def _unused(trial: Trial) -> str:
    unused = unused_arguments(trial.candidate)
    return f"\nYour function never uses {' and '.join(f'`{name}`' for name in unused)}." if unused else ""


def _constant(trial: Trial) -> str | None:
    """Does the result hang on nothing that comes in?"""
    outputs = [r.output for r in trial.runs]
    if any(r.error for r in trial.runs) or not all(isinstance(output, Tensor) for output in outputs):
        return None
    first, *others = outputs
    if others and all(other.shape == first.shape and other.equal(first.to(other)) for other in others):
        return "It returns the same for every input."
    reference = trial.exercise.reference
    for args, output in zip(trial.cases, outputs, strict=True):
        shifted = tuple(_other_numbers(arg) for arg in args)
        again, right = try_out(trial.candidate, shifted), run(reference, shifted)
        if again.error or right.error or difference(again.output, output):
            return None
        if not difference(right.output, run(reference, args).output):
            return None
    return "It returns the same whatever numbers its inputs hold."


def _other_numbers(arg: Any) -> Any:
    """A tensor with other numbers, each of its own distance from the old; anything else as it is."""
    if not isinstance(arg, Tensor) or not arg.is_floating_point():
        return arg
    return arg + torch.arange(1, arg.numel() + 1).view(arg.shape).to(arg).sin()


def _dtype_hint(trial: Trial, fault: Fault, number: int) -> str:
    right = trial.wanted[number]
    if fault.slug != "wrong-dtype" or not isinstance(right, Tensor) or not right.is_floating_point():
        return ""
    named = zip(trial.exercise.arguments, trial.cases[number], strict=True)
    name = next((name for name, arg in named if getattr(arg, "dtype", None) == right.dtype), None)
    if name is None:
        return ""
    return f" torch.zeros and torch.ones make torch.float32 unless told otherwise: `dtype={name}.dtype`."


# --- every result is right ---


def other_results(trial: Trial) -> Verdict | None:
    """Right this time, but by calling a function twice, or not the next time."""
    if trial.exercise.shares:
        return not_from_the_seed(trial)
    if trial.exercise.once and (repeated := trial.arguments("repeated")):
        text = f"The values are right, but {repeated} is called more than once. Keep its result."
        return _verdict("called-twice", text)
    return _verdict("not-repeatable", REPEAT) if trial.fault_again(0) else None


def not_from_the_seed(trial: Trial) -> Verdict | None:
    """The same seed must give the same result, and another seed another one."""
    for first, args in zip(trial.runs, trial.cases, strict=True):
        again = try_out(trial.candidate, args)
        if again.error or difference(again.output, first.output):
            return _verdict(
                "not-repeatable",
                "The shares are right, but called twice with the same seed it gives two results. "
                "Is every random number drawn from the generator that you were given?",
            )
    others = [
        tuple(torch.Generator().manual_seed(99) if isinstance(arg, torch.Generator) else arg for arg in args)
        for args in trial.cases
    ]
    drawn = [try_out(trial.candidate, args).output for args in others]
    if all(difference(other, first.output) is None for other, first in zip(drawn, trial.runs, strict=True)):
        text = "The shares are right, but another seed gives the same result. Draw from the generator."
        return _verdict("seed-ignored", text)
    return None


def wrong_gradient(trial: Trial, number: int) -> Verdict | None:
    """A gradient that does not reach an input, or not with the right values."""
    exercise, args, where = trial.exercise, trial.cases[number], trial.where(number)
    try:
        got = guarded(lambda cleaned: gradients(cleaned, args), trial.candidate)
    except BaseException as error:
        if stopped_by_the_learner(error):
            raise
        if isinstance(error, TimeUp):
            text = f"The values are right, but not with inputs that need a gradient. {_too_slow(error)}\n{where}"
            return _verdict("too-slow", text)
        why = f"{describe_error(error, exercise.call)}\n{where}"
        return _verdict(
            "gradient-cut", f"The values are right, but with inputs that need a gradient it raised {why}", error
        )
    for place, wanted in gradients(exercise.reference, args).items():
        name = f"`{exercise.arguments[place]}`"
        if got[place] is None and isinstance(wanted, Tensor) and not wanted.any():
            continue  # this input has no influence here, so no way need lead to it
        if got[place] is None:
            text = f"The values are right, but no gradient reaches {name}. {_cut(trial.candidate)}"
            return _verdict("gradient-cut", text)
        if exercise.gradients != "reach" and (fault := difference(got[place], wanted, slack=10)):
            where = f"the gradient with respect to {name}"
            if fault.slug == "not-finite":
                return _verdict("gradient-not-finite", f"The values are right, but {where} holds NaN or infinity.")
            text = f"The values are right, but {where} is not: is a part of the way cut off?"
            return _verdict("gradient-wrong", text)
    return None


def _cut(candidate: Callable) -> str:
    """What in the learner's own code may have cut the gradient."""
    used = attributes_in(candidate)
    if mine := [written for name, written in CUTS.items() if name in used]:
        return f"Your function has {' and '.join(mine)}: no gradient passes there."
    return f"Look for {', '.join(list(CUTS.values())[:-1])} or {list(CUTS.values())[-1]}, also in what it calls."
