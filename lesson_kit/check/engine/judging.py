"""Judging: a learner's function against the reference on every input, and by which mistake the two differ.

A mistake is a few lines of code that make it; a candidate that does the same on every input has made it too.
"""

import inspect
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lesson_kit.check.engine import limits
from lesson_kit.check.engine.declared import Declared
from lesson_kit.check.engine.differences import Verdict, difference, shares_differ
from lesson_kit.check.engine.errors import describe_error, own_line, raised_on_purpose, stopped_by_the_learner
from lesson_kit.check.engine.limits import TimeUp, alone, in_time
from lesson_kit.check.engine.run import Run, agree, describe, gradients, run, tells_apart, try_out
from lesson_kit.check.engine.source_code import attributes_in, computes, unused_arguments

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


def judge(exercise: Declared, candidate: Callable | None) -> tuple[Verdict | None, str]:
    """The slug of what is wrong and the sentences that say so, or None if nothing is; and what was printed, or ""."""
    if verdict := _no_function(exercise, candidate):
        return verdict, ""
    judgement = _Judgement(exercise, candidate)
    verdict = judgement.verdict()
    return verdict, judgement.printed(verdict)


def _no_function(exercise: Declared, candidate: Any) -> Verdict | None:
    """What can be said without calling it."""
    if candidate is None or candidate is Ellipsis:
        return "not-attempted", f"There is no function yet.{_after_a_syntax_error()}"
    if candidate is exercise.reference:
        return "not-attempted", (
            f"This is the course's own {exercise.name}, which took the place of yours when the check ran before. "
            f"Run the cell with your function first, then this one.{_after_a_syntax_error()}"
        )
    if not callable(candidate) or inspect.isclass(candidate):
        what = "a class" if inspect.isclass(candidate) else "its result"
        right = f"`check.{exercise.name}({exercise.name})`"
        return "not-a-function", f"Give the check the function itself, not {what}: {right}."
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


class _Judgement:
    """One candidate before the judge: the inputs, what it did with each of them, and what is right."""

    def __init__(self, exercise: Declared, candidate: Callable):
        self.exercise, self.candidate = exercise, candidate
        self.cases: list[tuple] = exercise.inputs()
        self.runs: list[Run] = []
        self.wanted: list = []
        self.at = 1  # the number of the input that the verdict is about

    def verdict(self) -> Verdict | None:
        for args in self.cases:
            self.runs.append(try_out(self.candidate, args))
            if isinstance(self.runs[-1].error, TimeUp | KeyboardInterrupt):
                return self._ended(self.runs[-1])
        if verdict := self._not_attempted():
            return verdict
        # Only now: the candidate can't have touched it.
        self.wanted = [run(self.exercise.reference, args).output for args in self.cases]
        if changed := self._names("changed"):
            return "changed-input", f"Your function changes its input {changed}. Make a new tensor, and leave it alone."
        for number, (args, r, right) in enumerate(zip(self.cases, self.runs, self.wanted, strict=True), start=1):
            if fault := self._fault(args, r, right):
                self.at = number
                return self._named(fault, number) or self._unnamed(fault, number)
        return self._quiet_fault()

    def printed(self, verdict: Verdict | None) -> str:
        """What the function printed for the input that the verdict is about, and which input that is."""
        slug, text = verdict or (None, "")
        printed = self.runs[self.at - 1].printed.strip("\n").rstrip()
        if not printed.strip() or slug == "too-slow":  # an endless loop prints without end
            return ""
        where = self._where(self.at)
        return f"It printed: {printed}" if where in text else f"{where}\nIt printed: {printed}"

    def _named(self, fault: Verdict, number: int) -> Verdict | None:
        """A mistake that the exercise knows."""
        known = self._known_mistake()
        if known is None:
            return None
        return known[0], "\n".join([fault[1], known[1]] if self.runs[number - 1].error else [known[1]]) + self._unused()

    def _unnamed(self, fault: Verdict, number: int) -> Verdict:
        args, r, right = (each[number - 1] for each in (self.cases, self.runs, self.wanted))
        if not self.exercise.shares and self._fault(args, try_out(self.candidate, args), right) != fault:
            return "not-repeatable", REPEAT
        if fault[0] in ("wrong-value", "wrong-shape") and (constant := self._constant()):
            fault = "constant-result", f"{constant} {fault[1]}"
        between = "\n" if r.error else " "
        text = f"{fault[1]}{self._dtype_hint(fault, args, right)}{between}{self._where(number)}"
        return fault[0], text + self._unused()

    def _fault(self, args: tuple, r: Run, right: Any) -> Verdict | None:
        """What is wrong with one result."""
        if r.error:
            return "raised", f"It raised {describe_error(r.error, self.exercise.call)}"
        if self.exercise.right_too and self.exercise.right_too(r.output, args):
            return None
        return self._difference(args, r.output, right)

    def _quiet_fault(self) -> Verdict | None:
        """What can be wrong though every result is right."""
        if self.exercise.shares:
            return self._seed_fault()
        if self.exercise.once and (repeated := self._names("repeated")):
            return "called-twice", f"The values are right, but {repeated} is called more than once. Keep its result."
        if self._fault(self.cases[0], try_out(self.candidate, self.cases[0]), self.wanted[0]):
            return "not-repeatable", REPEAT
        if self.exercise.gradients:
            for number in range(1, len(self.cases) + 1):
                if fault := self._gradient_fault(number):
                    self.at = number
                    return fault
        return None

    def _ended(self, r: Run) -> Verdict:
        """A call that did not come back: stopped after its time, or by the function itself."""
        self.at = len(self.runs)
        where = self._where(self.at)
        if isinstance(r.error, KeyboardInterrupt):
            return "raised", f"It raised KeyboardInterrupt, which stops a cell.\n{own_line(r.error)}\n{where}"
        return "too-slow", f"{_too_slow(r.error)}\n{where}"

    def _where(self, number: int) -> str:
        named = zip(self.exercise.arguments, self.cases[number - 1], strict=True)
        inputs = ", ".join(f"`{name}` {describe(arg)}" for name, arg in named)
        return f"(Input {number} of {len(self.cases)}: {inputs}.)"

    def _not_attempted(self) -> Verdict | None:
        empty = [(r.output is None or r.output is Ellipsis) and r.error is None for r in self.runs]
        put_off = [isinstance(r.error, NotImplementedError) and raised_on_purpose(r.error) for r in self.runs]
        if not all(e or p for e, p in zip(empty, put_off, strict=True)):
            return None
        nothing = all(e and r.output is None for e, r in zip(empty, self.runs, strict=True))
        if computes(self.candidate) and nothing:
            return "returns-nothing", "Your function computes something, but ends without returning it."
        how = "Write the body, run the cell that defines it, then run the check."
        return "not-attempted", how + _after_a_syntax_error()

    def _names(self, what: str) -> str:
        places = sorted({i for r in self.runs for i in getattr(r, what)})
        return " and ".join(f"`{self.exercise.arguments[i]}`" for i in places)

    def _unused(self) -> str:
        unused = unused_arguments(self.candidate)
        return f"\nYour function never uses {' and '.join(f'`{name}`' for name in unused)}." if unused else ""

    def _constant(self) -> str | None:
        """Does the result hang on nothing that comes in?"""
        outputs = [r.output for r in self.runs]
        if any(r.error for r in self.runs) or not all(isinstance(output, Tensor) for output in outputs):
            return None
        first, *others = outputs
        if others and all(other.shape == first.shape and other.equal(first.to(other)) for other in others):
            return "It returns the same for every input."
        for args, output in zip(self.cases, outputs, strict=True):
            shifted = tuple(_other_numbers(arg) for arg in args)
            again, right = try_out(self.candidate, shifted), run(self.exercise.reference, shifted)
            if again.error or right.error or difference(again.output, output):
                return None
            if not difference(right.output, run(self.exercise.reference, args).output):
                return None
        return "It returns the same whatever numbers its inputs hold."

    def _difference(self, args: tuple, got: Any, wanted: Any) -> Verdict | None:
        shares = self.exercise.shares
        fault = difference(got, wanted, values=shares is None)
        return fault or (shares_differ(shares(got, args), shares(wanted, args)) if shares else None)

    def _seed_fault(self) -> Verdict | None:
        """The same seed must give the same result, and another seed another one."""
        for r, args in zip(self.runs, self.cases, strict=True):
            again = try_out(self.candidate, args)
            if again.error or difference(again.output, r.output):
                return "not-repeatable", (
                    "The shares are right, but called twice with the same seed it gives two results. "
                    "Is every random number drawn from the generator that you were given?"
                )
        others = [
            tuple(torch.Generator().manual_seed(99) if isinstance(arg, torch.Generator) else arg for arg in args)
            for args in self.cases
        ]
        drawn = [try_out(self.candidate, args).output for args in others]
        if all(difference(other, r.output) is None for other, r in zip(drawn, self.runs, strict=True)):
            text = "The shares are right, but another seed gives the same result. Draw from the generator."
            return "seed-ignored", text
        return None

    def _known_mistake(self) -> Verdict | None:
        mistakes = self.exercise.mistakes
        found = [slug for slug, mistake in mistakes.items() if any(map(self._is_made, mistake.ways))]
        if found:  # more than one where they give the same numbers
            return " or ".join(found), "\nOr: ".join(mistakes[slug].hints[0] for slug in found)
        for slugs, way in self.exercise.pairs():
            if self._is_made(way):
                hints = "\n".join(f"{n}. {mistakes[slug].hints[0]}" for n, slug in enumerate(slugs, start=1))
                return " and ".join(slugs), f"Two things at once:\n{hints}"
        return None

    def _is_made(self, way: Callable) -> bool:
        """Does the candidate do on every input what ``way`` does, and on one of them not what is right?"""
        proven = False
        for r, args, right in zip(self.runs, self.cases, self.wanted, strict=True):
            mistaken, compare = run(way, args), partial(self._difference, args)
            if not agree(r, mistaken, compare):
                return False
            proven = proven or tells_apart(r, mistaken, right, compare)
        return proven

    def _dtype_hint(self, fault: Verdict, args: tuple, right: Any) -> str:
        if fault[0] != "wrong-dtype" or not isinstance(right, Tensor) or not right.is_floating_point():
            return ""
        named = zip(self.exercise.arguments, args, strict=True)
        name = next((name for name, arg in named if getattr(arg, "dtype", None) == right.dtype), None)
        if name is None:
            return ""
        return f" torch.zeros and torch.ones make torch.float32 unless told otherwise: `dtype={name}.dtype`."

    def _gradient_fault(self, number: int) -> Verdict | None:
        exercise, args, where = self.exercise, self.cases[number - 1], self._where(number)
        try:
            with alone():
                got = in_time(lambda: gradients(self.candidate, args))
        except BaseException as error:
            if stopped_by_the_learner(error):
                raise
            if isinstance(error, TimeUp):
                text = f"The values are right, but not with inputs that need a gradient. {_too_slow(error)}\n{where}"
                return "too-slow", text
            why = f"{describe_error(error, exercise.call)}\n{where}"
            return "gradient-cut", f"The values are right, but with inputs that need a gradient it raised {why}"
        for i, wanted in gradients(exercise.reference, args).items():
            name = f"`{exercise.arguments[i]}`"
            if got[i] is None and isinstance(wanted, Tensor) and not wanted.any():
                continue  # this input has no influence here, so no way need lead to it
            if got[i] is None:
                return "gradient-cut", f"The values are right, but no gradient reaches {name}. {self._cut()}"
            if exercise.gradients != "reach" and (fault := difference(got[i], wanted, slack=10)):
                where = f"the gradient with respect to {name}"
                if fault[0] == "not-finite":
                    return "gradient-not-finite", f"The values are right, but {where} holds NaN or infinity."
                return "gradient-wrong", f"The values are right, but {where} is not: is a part of the way cut off?"
        return None

    def _cut(self) -> str:
        """What in the learner's own code may have cut the gradient."""
        used = attributes_in(self.candidate)
        if mine := [written for name, written in CUTS.items() if name in used]:
            return f"Your function has {' and '.join(mine)}: no gradient passes there."
        return f"Look for {', '.join(list(CUTS.values())[:-1])} or {list(CUTS.values())[-1]}, also in what it calls."


def _too_slow(late: TimeUp) -> str:
    line = own_line(late).replace("Your line", "It had come to your line")
    return (
        f"It was still running after {limits.SECONDS:g} seconds and was stopped; a fraction of one is plenty. "
        f"Is there a loop that never ends?\n{line}"
    )


def _other_numbers(arg: Any) -> Any:
    """A tensor with other numbers, each of its own distance from the old; anything else as it is."""
    if not isinstance(arg, Tensor) or not arg.is_floating_point():
        return arg
    return arg + torch.arange(1, arg.numel() + 1).view(arg.shape).to(arg).sin()
