"""The engine of the checks: run a learner's function, compare it with the reference, name the mistake.

An exercise is declared in one place, in ``lesson_NN.py``: the reference, the inputs, the known mistakes.
A mistake is a few lines of code that make it; a candidate whose outputs equal theirs has made it too.
"""

import copy
import dis
import inspect
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

# (relative, absolute). Loose enough for every sound formulation: float32 through log-sum-exp is 1e-4 off at scores
# of 100. Gradients get ten times as much.
TOLERANCE = {torch.float32: (2e-4, 2e-4), torch.float64: (1e-6, 1e-6)}
GO_ON = "Until it passes, the lesson goes on with the course's own version."
Verdict = tuple[str, str]  # (slug, sentences)


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
class Run:
    """One call of a function on its own copy of the inputs: what came back, or what was raised."""

    output: Any = None
    error: BaseException | None = None
    changed: tuple[int, ...] = ()  # which inputs were changed in place
    calls: tuple[int, ...] = ()  # how often each input that is a function was called


class Counted:
    """A function that counts its calls."""

    def __init__(self, function: Callable):
        self.function, self.calls = function, 0

    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)


@dataclass
class Exercise:
    """A reference, inputs and known mistakes; calling it with a candidate gives the verdict.

    ``cases`` builds the inputs, a list of argument tuples. ``gradients``: must they reach every floating input?
    ``once``: may each input that is a function be called only once?
    """

    reference: Callable
    cases: Callable[[], list[tuple]]
    gradients: bool = True
    once: bool = False
    mistakes: list[tuple[str, str, tuple[Callable, ...]]] = field(default_factory=list)

    def __post_init__(self):
        self.name, self.__doc__ = self.reference.__name__, self.reference.__doc__
        self.arguments = list(inspect.signature(self.reference).parameters)

    def mistake(self, slug: str, hint: str, *ways: Callable) -> None:
        """Declare a known mistake: its name, a hint that teaches, and the ways in which it is made."""
        self.mistakes.append((slug, hint, ways))

    def __call__(self, candidate: Callable) -> CheckResult:
        """Check ``candidate``, print the verdict and return it. Never raises, except to let the learner interrupt."""
        try:
            with warnings.catch_warnings(), torch.enable_grad():
                warnings.simplefilter("ignore")
                verdict = self._judge(candidate)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a result too strange to be looked at
            verdict = "wrong-type", f"What your function returned can't be compared ({type(error).__name__})."
        if verdict is None:
            result = CheckResult(True, None, f"{self.name}: passed. {self._proof()}", candidate)
        else:
            slug, text = verdict
            opening = "not attempted yet" if slug == "not-attempted" else "not yet right"
            result = CheckResult(False, slug, f"{self.name}: {opening}. {text}\n{GO_ON}", self.reference)
        print(result.message)
        return result

    def _judge(self, candidate: Callable) -> Verdict | None:
        if candidate is None or candidate is Ellipsis or not callable(candidate):
            return "not-a-function", f"Give the check the function itself: check.{self.name}({self.name})."
        cases = self.cases()
        runs = [run(candidate, args) for args in cases]
        if all(
            r.output is None or r.output is Ellipsis if r.error is None else type(r.error) is NotImplementedError
            for r in runs
        ):
            return self._empty(candidate, runs)
        wanted = [run(self.reference, args).output for args in cases]
        for r in runs:
            if r.changed:
                names = " and ".join(self.arguments[i] for i in r.changed)
                return "changed-input", f"Your function changes its input {names}. Work on a new tensor instead."
        faults = [self._fault(candidate, *each) for each in zip(runs, wanted, strict=True)]
        if any(faults):
            number = next(i for i, fault in enumerate(faults) if fault)
            slug, text = faults[number]
            where = f"Input {number + 1} of {len(cases)} was {self._describe(cases[number])}."
            return self._known_mistake(cases, runs, wanted) or (slug, f"{text} {where}")
        if self.once and any(n > 1 for r in runs for n in r.calls):
            return "called-twice", "The values are right, but a function you were given is called more than once."
        if self.gradients:
            return next(filter(None, (self._gradient_fault(candidate, args) for args in cases)), None)
        return None

    def _empty(self, candidate: Callable, runs: list[Run]) -> Verdict:
        works = hasattr(candidate, "__code__") and any(
            step.opname.startswith(("CALL", "BINARY")) for step in dis.get_instructions(candidate)
        )
        if works and all(r.output is None and r.error is None for r in runs):
            return "returns-nothing", "Your function computes something, but ends without returning it."
        return "not-attempted", "Write the body of the function, then run this cell again."

    def _fault(self, candidate: Callable, r: Run, wanted: Tensor) -> Verdict | None:
        if r.error is not None:
            return "raised", f"It raised {describe_error(r.error, candidate)}"
        return difference(r.output, wanted)

    def _known_mistake(self, cases: list[tuple], runs: list[Run], wanted: list[Tensor]) -> Verdict | None:
        found = {}
        for slug, hint, ways in self.mistakes:
            for way in ways:
                pairs = [(r, run(way, args), right) for r, args, right in zip(runs, cases, wanted, strict=True)]
                if all(agree(r, m) for r, m, _ in pairs) and any(proves(r, m, right) for r, m, right in pairs):
                    found[slug] = hint
        return (" or ".join(found), " Or: ".join(found.values())) if found else None

    def _gradient_fault(self, candidate: Callable, args: tuple) -> Verdict | None:
        try:
            got = gradients(candidate, args)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            why = describe_error(error, candidate)
            return "gradient-cut", f"The values are right, but with inputs that need a gradient it raised {why}"
        for i, wanted in gradients(self.reference, args).items():
            name = self.arguments[i]
            if got[i] is None:
                cut = "Look for .detach(), .item(), .numpy(), .tolist(), torch.tensor(...) or torch.no_grad()."
                return "gradient-cut", f"The values are right, but no gradient reaches {name}. {cut}"
            if not got[i].isfinite().all():
                return "gradient-not-finite", f"The values are right, but the gradient of {name} holds NaN or infinity."
            if fault := difference(got[i], wanted, slack=10):
                part = "Is a part of the computation cut off from it?"
                return "gradient-wrong", f"The values are right, but not the gradient of {name}. {part} {fault[1]}"
        return None

    def _describe(self, args: tuple) -> str:
        return ", ".join(f"{name} {describe(arg)}" for name, arg in zip(self.arguments, args, strict=True))

    def _proof(self) -> str:
        cases = self.cases()
        dtypes = {str(run(self.reference, args).output.dtype).removeprefix("torch.") for args in cases}
        extra = ", gradients included" if self.gradients else ""
        return f"Equal to the course's version on {len(cases)} inputs ({', '.join(sorted(dtypes))}){extra}."


def exercise(cases: Callable[[], list[tuple]], **options) -> Callable[[Callable], Exercise]:
    """Decorator: makes the function below it the reference of an Exercise."""
    return lambda reference: Exercise(reference, cases, **options)


def run(function: Callable, args: tuple) -> Run:
    """Call ``function`` on a copy of ``args``."""
    mine = [Counted(arg) if callable(arg) else copy.deepcopy(arg) for arg in args]
    try:
        output, error = function(*mine), None
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        output, error = None, raised
    if isinstance(output, Tensor):
        output = output.detach().clone()
    changed = [i for i, arg in enumerate(args) if isinstance(arg, Tensor) and not torch.equal(arg, mine[i])]
    return Run(output, error, tuple(changed), tuple(f.calls for f in mine if isinstance(f, Counted)))


def gradients(function: Callable, args: tuple) -> dict[int, Tensor | None]:
    """The gradient of a fixed mixture of the outputs, for each floating input (by its place)."""
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


def difference(got: Any, wanted: Any, slack: float = 1) -> Verdict | None:
    """The first respect in which ``got`` is not ``wanted``: type, device, dtype, shape, NaN, values."""
    if not isinstance(got, Tensor) or not isinstance(wanted, Tensor):
        return "wrong-type", f"It returned {type(got).__name__}, wanted a torch.Tensor."
    for slug, what in (("wrong-device", "device"), ("wrong-dtype", "dtype"), ("wrong-shape", "shape")):
        mine, right = getattr(got, what), getattr(wanted, what)
        if mine != right:
            mine, right = (tuple(mine), tuple(right)) if what == "shape" else (mine, right)
            return slug, f"The {what} is {mine}, wanted {right}."
    if wanted.isfinite().all() and not got.isfinite().all():
        return "not-finite", f"The result holds NaN or infinity, first at index {first(~got.isfinite())}."
    relative, absolute = TOLERANCE.get(wanted.dtype, (0, 0))
    close = torch.isclose(got, wanted, rtol=slack * relative, atol=slack * absolute, equal_nan=True)
    if close.all():
        return None
    index = first(~close)
    mine, right = (f"{t[index].item():.5g}" if t.is_floating_point() else t[index].item() for t in (got, wanted))
    return "wrong-value", f"The first difference is at index {index}: got {mine}, wanted {right}."


def agree(r: Run, mistake: Run) -> bool:
    """Did the candidate do on this input what the mistake does?"""
    if r.error or mistake.error:
        return bool(r.error and mistake.error)
    return difference(r.output, mistake.output) is None


def proves(r: Run, mistake: Run, right: Tensor) -> bool:
    """Does agreeing on this input tell the mistake from the right answer? An error must be the same, word for word."""
    if mistake.error:
        return type(r.error) is type(mistake.error) and str(r.error) == str(mistake.error)
    return difference(mistake.output, right) is not None


def first(where: Tensor) -> tuple[int, ...]:
    return tuple(where.nonzero()[0].tolist())


def describe(arg: Any) -> str:
    if isinstance(arg, Tensor):
        return f"{tuple(arg.shape)} {str(arg.dtype).removeprefix('torch.')}"
    return "(a function)" if callable(arg) else repr(arg)


def describe_error(error: BaseException, candidate: Callable) -> str:
    """Error type, message, and the last of the learner's own lines on the way to it."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
    code = getattr(candidate, "__code__", None)
    own = [f for f in frames if code and f.filename == code.co_filename] or frames[:1]
    line = f"\nYour line {own[-1].lineno}: {own[-1].line}\n" if own else ""
    return f"{type(error).__name__}: {str(error)[:300]}.{line}"
