"""The engine of the checks: judge a learner's function against the reference, and name the mistake.

An exercise is declared in one place, in ``lesson_NN.py``: the reference, the inputs, the known mistakes. A mistake is
a few lines of code that make it; a candidate that does the same on every input has made it too. A new exercise needs
nothing here.
"""

import dis
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor

from course_utils.checks.runs import (
    Run,
    Verdict,
    agree,
    describe,
    describe_error,
    difference,
    error_text,
    gradients,
    run,
    shares_differ,
    tells_apart,
)

GO_ON = "Until it passes, the lesson goes on with the course's own version."


@dataclass
class CheckResult:
    """What a check found. ``mistake`` is None when passed, else the slug of the verdict, such as "wrong-axis".

    ``function`` is the candidate when it passed, else the course's reference, so that a lesson can go on.
    """

    passed: bool
    mistake: str | None
    message: str
    function: Callable = field(repr=False)

    def __bool__(self) -> bool:
        return self.passed

    def _ipython_display_(self) -> None:
        """The verdict is printed already: show nothing more at the end of a cell."""


@dataclass
class Exercise:
    """A reference, inputs and known mistakes; calling it with a candidate gives the verdict.

    ``cases`` builds the inputs, a list of argument tuples. ``gradients``: must they reach every floating
    input? With "reach" they must, but right formulations may differ in their values.
    ``once``: may each input that is a function be called only once? ``shares``: for results drawn at random from a
    ``torch.Generator`` among the arguments. It gives shares, a sentence with a number each, from a result and the
    arguments; they are compared in place of the result, which must be the same for the same seed only.
    ``right_too``: is this result for these arguments right as well, though the reference gives another?
    """

    reference: Callable
    cases: Callable[[], list[tuple]]
    gradients: bool | Literal["reach"] = True
    once: bool = False
    shares: Callable[[Any, tuple], dict[str, float]] | None = None
    right_too: Callable[[Any, tuple], bool] | None = None
    mistakes: dict[str, tuple[str, tuple[Callable, ...]]] = field(default_factory=dict)  # slug: (hint, ways)

    def __post_init__(self):
        self.name, self.__doc__ = self.reference.__name__, self.reference.__doc__
        self.arguments = list(inspect.signature(self.reference).parameters)

    def mistake(self, slug: str, hint: str, *ways: Callable) -> None:
        """Declare a known mistake: its name, a hint that teaches, and one or more ways in which it is made."""
        self.mistakes[slug] = hint, ways

    def __call__(self, candidate: Callable | None = None) -> CheckResult:
        """Check ``candidate``, print the verdict and return it. Raises nothing but the learner's own interrupt."""
        try:
            with warnings.catch_warnings(), torch.enable_grad():
                warnings.simplefilter("ignore")
                verdict = self._judge(candidate)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a result too strange to be looked at
            verdict = "wrong-type", f"What your function returned can't be compared: {error_text(error)}"
        if verdict is None:
            result = CheckResult(True, None, f"{self.name}: passed. {self._proof()}", candidate)
        else:
            slug, text = verdict
            opening = "not attempted yet" if slug == "not-attempted" else "not yet right"
            result = CheckResult(False, slug, f"{self.name}: {opening}. {text}\n{GO_ON}", self.reference)
        print(result.message)
        return result

    def _judge(self, candidate: Callable | None) -> Verdict | None:
        if candidate is None or candidate is Ellipsis:
            return "not-attempted", "There is no function yet."
        if candidate is self.reference:
            return "not-attempted", (
                f"This is the course's own {self.name}, which took the place of yours when the check ran before. "
                "Run the cell with your function first, then this one."
            )
        if not callable(candidate):
            return "not-a-function", f"Give the check the function itself, not its result: check.{self.name}(...)."
        cases = self.cases()
        runs = [run(candidate, args) for args in cases]
        if verdict := self._not_attempted(candidate, runs):
            return verdict
        wanted = [run(self.reference, args).output for args in cases]  # only now: the candidate can't have touched it
        if changed := self._names(runs, "changed"):
            return "changed-input", f"Your function changes its input {changed}. Make a new tensor, and leave it alone."
        for number, (args, r, right) in enumerate(zip(cases, runs, wanted, strict=True), start=1):
            raised = ("raised", f"It raised {describe_error(r.error)}") if r.error else None
            if not raised and self.right_too and self.right_too(r.output, args):
                continue
            if fault := raised or self._difference(args, r.output, right):
                inputs = ", ".join(f"{name} {describe(arg)}" for name, arg in zip(self.arguments, args, strict=True))
                where = f"(Input {number} of {len(cases)}: {inputs}.)"
                if known := self._known_mistake(cases, runs, wanted):
                    return known[0], f"{raised[1]} {known[1]}" if raised else known[1]
                return fault[0], f"{fault[1]}{self._dtype_hint(fault, args, right)} {where}"
        if self.shares and (fault := self._seed_fault(candidate, cases, runs)):
            return fault
        if self.once and (repeated := self._names(runs, "repeated")):
            return "called-twice", f"The values are right, but {repeated} is called more than once. Keep its result."
        if self.gradients:
            return next(filter(None, (self._gradient_fault(candidate, args) for args in cases)), None)
        return None

    def _not_attempted(self, candidate: Callable, runs: list[Run]) -> Verdict | None:
        empty = [(r.output is None or r.output is Ellipsis) and r.error is None for r in runs]
        if not all(e or isinstance(r.error, NotImplementedError) for e, r in zip(empty, runs, strict=True)):
            return None
        steps = dis.get_instructions(candidate) if hasattr(candidate, "__code__") else ()
        works = any(step.opname.startswith(("CALL", "BINARY")) for step in steps)
        if works and all(e and r.output is None for e, r in zip(empty, runs, strict=True)):
            return "returns-nothing", "Your function computes something, but ends without returning it."
        return "not-attempted", "Write the body, run the cell that defines it, then run the check."

    def _names(self, runs: list[Run], what: str) -> str:
        return " and ".join(self.arguments[i] for i in sorted({i for r in runs for i in getattr(r, what)}))

    def _difference(self, args: tuple, got: Any, wanted: Any) -> Verdict | None:
        fault = difference(got, wanted, values=self.shares is None)
        return fault or (shares_differ(self.shares(got, args), self.shares(wanted, args)) if self.shares else None)

    def _seed_fault(self, candidate: Callable, cases: list[tuple], runs: list[Run]) -> Verdict | None:
        """The same seed must give the same result, and another seed another one."""
        for r, args in zip(runs, cases, strict=True):
            again = run(candidate, args)
            if again.error or difference(again.output, r.output):
                return "not-repeatable", (
                    "The shares are right, but called twice with the same seed it gives two results. "
                    "Is every random number drawn from the generator that you were given?"
                )
        others = [
            tuple(torch.Generator().manual_seed(99) if isinstance(arg, torch.Generator) else arg for arg in args)
            for args in cases
        ]
        if all(difference(run(candidate, args).output, r.output) is None for args, r in zip(others, runs, strict=True)):
            return (
                "seed-ignored",
                "The shares are right, but another seed gives the same result. Draw from the generator.",
            )
        return None

    def _known_mistake(self, cases: list[tuple], runs: list[Run], wanted: list) -> Verdict | None:
        found = {}
        for slug, (hint, ways) in self.mistakes.items():
            for way in ways:
                proven = False
                for r, args, right in zip(runs, cases, wanted, strict=True):
                    mistaken, compare = run(way, args), partial(self._difference, args)
                    if not agree(r, mistaken, compare):
                        break
                    proven = proven or tells_apart(r, mistaken, right, compare)
                else:
                    found.update({slug: hint} if proven else {})
        return (" or ".join(found), "\nOr: ".join(found.values())) if found else None

    def _dtype_hint(self, fault: Verdict, args: tuple, right: Any) -> str:
        if fault[0] != "wrong-dtype" or not isinstance(right, Tensor) or not right.is_floating_point():
            return ""
        like = (n for n, arg in zip(self.arguments, args, strict=True) if getattr(arg, "dtype", None) == right.dtype)
        name = next(like, None)
        return (
            ""
            if name is None
            else f" torch.zeros and torch.ones make torch.float32 unless told otherwise: dtype={name}.dtype."
        )

    def _gradient_fault(self, candidate: Callable, args: tuple) -> Verdict | None:
        try:
            got = gradients(candidate, args)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            why = describe_error(error)
            return "gradient-cut", f"The values are right, but with inputs that need a gradient it raised {why}"
        for i, wanted in gradients(self.reference, args).items():
            if got[i] is None:
                cut = "Look for .detach(), .item(), .tolist(), .data, torch.tensor(...) and torch.no_grad()."
                return "gradient-cut", f"The values are right, but no gradient reaches {self.arguments[i]}. {cut}"
            if self.gradients != "reach" and (fault := difference(got[i], wanted, slack=10)):
                where = f"the gradient with respect to {self.arguments[i]}"
                if fault[0] == "not-finite":
                    return "gradient-not-finite", f"The values are right, but {where} holds NaN or infinity."
                return "gradient-wrong", f"The values are right, but {where} is not: is a part of the way cut off?"
        return None

    def _proof(self) -> str:
        cases = self.cases()
        if self.shares:
            return f"The shares are right on {len(cases)} inputs, the seed decides, and no input was changed."
        outputs = [run(self.reference, args).output for args in cases]
        parts = [part for output in outputs for part in (output if type(output) is tuple else (output,))]
        dtypes = {str(part.dtype).removeprefix("torch.") for part in parts if isinstance(part, Tensor)}
        dtypes = f" ({' and '.join(sorted(dtypes))})" if dtypes else ""
        extra = {True: ", and so are the gradients", "reach": ", and gradients pass through"}.get(self.gradients, "")
        return f"Equal to the course's version on {len(cases)} inputs{dtypes}{extra}; no input was changed."


def exercise(cases: Callable[[], list[tuple]], **options) -> Callable[[Callable], Exercise]:
    """Decorator: makes the function below it the reference of an Exercise."""
    return lambda reference: Exercise(reference, cases, **options)
