"""The engine of the checks: judge a learner's function against the reference, and name the mistake.

An exercise is declared in one place, in ``lesson_NN.py``: the reference, the inputs, the known mistakes. A mistake is
a few lines of code that make it; a candidate that does the same on every input has made it too. A new exercise needs
nothing here.
"""

import dis
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, Literal

import torch
from torch import Tensor

from course_utils.checks import limits, passes
from course_utils.checks.differences import TOLERANCE, Verdict, difference, shares_differ
from course_utils.checks.limits import TimeUp, alone, in_time
from course_utils.checks.output import as_html, show_text
from course_utils.checks.runs import (
    Run,
    agree,
    describe,
    describe_error,
    error_text,
    gradients,
    own_line,
    raised_on_purpose,
    run,
    stopped_by_the_learner,
    tells_apart,
    try_out,
)

GO_ON = "Until it passes, the lesson goes on with the course's own version."
# What helps when the same verdict comes again, where no known mistake has hints of its own.
AGAIN = {
    "wrong-value": "Work this one entry out by hand, then print each step of your function for this input.",
    "wrong-shape": "Print the shape after each line: at which one does it stop being what you expect?",
    "wrong-dtype": "Print the dtype after each line: which line changes it?",
    "wrong-type": "Print type(...) of what you return.",
    "raised": "Print the shapes and dtypes right before that line.",
    "not-finite": "Print the numbers before each exp, log, sqrt and division: which is too large, or zero?",
    "gradient-cut": "Follow the input line by line: is each result a torch operation on the one before?",
    "gradient-wrong": "Follow the input along every way it takes to the result: each way must carry its gradient.",
    "gradient-not-finite": "The gradient passes through every branch, also through one that torch.where leaves out.",
    "changed-input": "`+=`, `*=`, `x[...] = ` and functions that end in `_` write into their tensor.",
    "too-slow": "Which condition ends the loop, and does something in the loop bring it nearer?",
}
REPEAT = (
    "Called twice with the same input, it gives two results. "
    "Does it draw random numbers, or keep something from one call to the next?"
)


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
        """The verdict is shown already: show nothing more at the end of a cell."""


@dataclass(frozen=True)
class Mistake:
    """A known mistake: hints, the next one each time that it is made again, and ways in which it is made."""

    hints: tuple[str, ...]
    ways: tuple[Callable, ...]


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
    mistakes: dict[str, Mistake] = field(default_factory=dict)

    def __post_init__(self):
        self.name, self.__doc__ = self.reference.__name__, self.reference.__doc__
        self.arguments = list(inspect.signature(self.reference).parameters)
        self.call = f"{self.name}({', '.join(self.arguments)})"
        self._build, self._options, self._sight = None, {}, None
        self._last, self._times = None, 0  # the verdict before this one, and how often it came in a row

    def mistake(self, slug: str, hints: str | tuple[str, ...], *ways: Callable) -> None:
        """Declare a known mistake: its name, hints that teach, and one or more ways in which it is made."""
        self.mistakes[slug] = Mistake((hints,) if isinstance(hints, str) else hints, ways)

    def together(self, build: Callable[..., Callable], options: dict[str, dict[str, Any]]) -> None:
        """Declare mistakes that can be made two at a time.

        ``build(**options)`` gives a formulation; without options the right one. ``options[slug]`` makes that mistake.
        Two are tried together unless they need the same option.
        """
        self._build, self._options = build, options

    def sight(self, show: Callable[[Callable], Any]) -> Callable:
        """Decorator: what is worth seeing of a function that passed, an object that Jupyter can show."""
        self._sight = show
        return show

    def inputs(self) -> list[tuple]:
        """The cases, smallest first: the smallest that shows a difference is the one to tell."""
        return sorted(self.cases(), key=lambda args: sum(arg.numel() for arg in args if isinstance(arg, Tensor)))

    def pairs(self) -> Iterator[tuple[tuple[str, str], Callable]]:
        """The slugs of each two mistakes that ``together`` allows, and a function that makes both."""
        for one, other in combinations(self._options, 2):
            if not self._options[one].keys() & self._options[other].keys():
                yield (one, other), self._build(**self._options[one], **self._options[other])

    def __call__(self, candidate: Callable | None = None, *, record: bool = True) -> CheckResult:
        """Check ``candidate``, show the verdict and return it. Raises nothing but the learner's own interrupt.

        With ``record=False`` a pass does not count in ``check.progress()``.
        """
        try:
            with warnings.catch_warnings(), torch.enable_grad(), torch.random.fork_rng(devices=[]):
                warnings.simplefilter("ignore")
                verdict = self._judge(candidate)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a result too strange to be looked at
            verdict = "wrong-type", f"What your function returned can't be compared: {error_text(error)}"
        return self._passed(candidate, record) if verdict is None else self._failed(*verdict)

    def forget(self) -> None:
        """The next failure counts as the first of its kind."""
        self._last, self._times = None, 0

    def _passed(self, candidate: Callable, record: bool) -> CheckResult:
        self.forget()
        if record:
            passes.record(self.name)
        message = f"{self.name}: passed. {self._proof()}"
        result, seen = CheckResult(True, None, message, candidate), self._seen(candidate)
        if seen is not None:
            result.message += f"\n{seen!r}"
        show_text(result.message, as_html(message, "passed", seen))
        return result

    def _failed(self, slug: str, text: str) -> CheckResult:
        if slug != "not-attempted":  # a stub in between is no other failure
            kind = text if slug in AGAIN else slug  # without a known mistake only the same words are the same failure
            self._times = self._times + 1 if kind == self._last else 1
            self._last = kind
        if again := self._again(slug, text):
            text = f"{text}\n{again}"
        opening = "not attempted yet" if slug == "not-attempted" else "not yet right"
        result = CheckResult(False, slug, f"{self.name}: {opening}. {text}\n{GO_ON}", self.reference)
        show_text(result.message, as_html(result.message, opening))
        return result

    def _again(self, slug: str, text: str) -> str:
        """The next hint, for the second and every further failure of the same kind."""
        if self._times < 2 or slug == "not-attempted":
            return ""
        known = [name for name in slug.replace(" and ", " or ").split(" or ") if name in self.mistakes]
        hints = [f"One more hint: {hint}" for name in known for hint in self.mistakes[name].hints[1 : self._times]]
        stories = [f'The longer story: `check.explain("{name}", "{self.name}")`.' for name in known]
        if slug == "raised" and not re.search("shape|size|dtype", text):
            return ""
        return "\n".join(hints + stories) or AGAIN.get(slug, "")

    def _seen(self, candidate: Callable) -> Any:
        if self._sight is None:
            return None
        try:
            with alone():
                return in_time(lambda: self._sight(candidate))
        except BaseException as error:  # the check has passed; an extra must not spoil it
            if stopped_by_the_learner(error):
                raise
            return None

    def _judge(self, candidate: Callable | None) -> Verdict | None:
        if candidate is None or candidate is Ellipsis:
            return "not-attempted", "There is no function yet."
        if candidate is self.reference:
            return "not-attempted", (
                f"This is the course's own {self.name}, which took the place of yours when the check ran before. "
                "Run the cell with your function first, then this one."
            )
        if not callable(candidate) or inspect.isclass(candidate):
            what = "a class" if inspect.isclass(candidate) else "its result"
            right = f"`check.{self.name}({self.name})`"
            return "not-a-function", f"Give the check the function itself, not {what}: {right}."
        cases = self.inputs()
        runs: list[Run] = []
        for args in cases:
            runs.append(try_out(candidate, args))
            if isinstance(runs[-1].error, TimeUp | KeyboardInterrupt):
                return self._ended(runs[-1], len(runs), cases)
        if verdict := self._not_attempted(candidate, runs):
            return verdict
        wanted = [run(self.reference, args).output for args in cases]  # only now: the candidate can't have touched it
        if changed := self._names(runs, "changed"):
            return "changed-input", f"Your function changes its input {changed}. Make a new tensor, and leave it alone."
        for number, (args, r, right) in enumerate(zip(cases, runs, wanted, strict=True), start=1):
            if fault := self._fault(args, r, right):
                if known := self._known_mistake(cases, runs, wanted):
                    return known[0], f"{fault[1]} {known[1]}" if r.error else known[1]
                if not self.shares and self._fault(args, try_out(candidate, args), right) != fault:
                    return "not-repeatable", REPEAT
                text = f"{fault[1]}{self._dtype_hint(fault, args, right)} {self._where(number, cases)}"
                return fault[0], text + (f"\nIt printed: {r.printed.rstrip()}" if r.printed.strip() else "")
        return self._quiet_fault(candidate, cases, runs, wanted)

    def _fault(self, args: tuple, r: Run, right: Any) -> Verdict | None:
        """What is wrong with one result."""
        if r.error:
            return "raised", f"It raised {describe_error(r.error, self.call)}"
        if self.right_too and self.right_too(r.output, args):
            return None
        return self._difference(args, r.output, right)

    def _quiet_fault(self, candidate: Callable, cases: list[tuple], runs: list[Run], wanted: list) -> Verdict | None:
        """What can be wrong though every result is right."""
        if self.shares:
            return self._seed_fault(candidate, cases, runs)
        if self.once and (repeated := self._names(runs, "repeated")):
            return "called-twice", f"The values are right, but {repeated} is called more than once. Keep its result."
        if self._fault(cases[0], try_out(candidate, cases[0]), wanted[0]):
            return "not-repeatable", REPEAT
        if self.gradients:
            return next(filter(None, (self._gradient_fault(candidate, args) for args in cases)), None)
        return None

    def _ended(self, r: Run, number: int, cases: list[tuple]) -> Verdict:
        """A call that did not come back: stopped after its time, or by the function itself."""
        where = self._where(number, cases)
        if isinstance(r.error, KeyboardInterrupt):
            return "raised", f"It raised KeyboardInterrupt, which stops a cell. {own_line(r.error)} {where}"
        return "too-slow", f"{self._too_slow(r.error)} {where}"

    def _too_slow(self, late: TimeUp) -> str:
        line = own_line(late).replace("Your line", "It had come to your line")
        return (
            f"It was still running after {limits.SECONDS:g} seconds and was stopped; a fraction of one is plenty. "
            f"Is there a loop that never ends? {line}"
        )

    def _where(self, number: int, cases: list[tuple]) -> str:
        named = zip(self.arguments, cases[number - 1], strict=True)
        inputs = ", ".join(f"{name} {describe(arg)}" for name, arg in named)
        return f"(Input {number} of {len(cases)}: {inputs}.)"

    def _not_attempted(self, candidate: Callable, runs: list[Run]) -> Verdict | None:
        empty = [(r.output is None or r.output is Ellipsis) and r.error is None for r in runs]
        put_off = [isinstance(r.error, NotImplementedError) and raised_on_purpose(r.error) for r in runs]
        if not all(e or p for e, p in zip(empty, put_off, strict=True)):
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
            again = try_out(candidate, args)
            if again.error or difference(again.output, r.output):
                return "not-repeatable", (
                    "The shares are right, but called twice with the same seed it gives two results. "
                    "Is every random number drawn from the generator that you were given?"
                )
        others = [
            tuple(torch.Generator().manual_seed(99) if isinstance(arg, torch.Generator) else arg for arg in args)
            for args in cases
        ]
        drawn = [try_out(candidate, args).output for args in others]
        if all(difference(other, r.output) is None for other, r in zip(drawn, runs, strict=True)):
            return (
                "seed-ignored",
                "The shares are right, but another seed gives the same result. Draw from the generator.",
            )
        return None

    def _known_mistake(self, cases: list[tuple], runs: list[Run], wanted: list) -> Verdict | None:
        made = partial(self._is_made, cases, runs, wanted)
        found = [slug for slug, mistake in self.mistakes.items() if any(map(made, mistake.ways))]
        if found:  # more than one where they give the same numbers
            return " or ".join(found), "\nOr: ".join(self.mistakes[slug].hints[0] for slug in found)
        for slugs, way in self.pairs():
            if made(way):
                hints = "\n".join(f"{n}. {self.mistakes[slug].hints[0]}" for n, slug in enumerate(slugs, start=1))
                return " and ".join(slugs), f"Two things at once:\n{hints}"
        return None

    def _is_made(self, cases: list[tuple], runs: list[Run], wanted: list, way: Callable) -> bool:
        """Does the candidate do on every input what ``way`` does, and on one of them not what is right?"""
        proven = False
        for r, args, right in zip(runs, cases, wanted, strict=True):
            mistaken, compare = run(way, args), partial(self._difference, args)
            if not agree(r, mistaken, compare):
                return False
            proven = proven or tells_apart(r, mistaken, right, compare)
        return proven

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
            with alone():
                got = in_time(lambda: gradients(candidate, args))
        except BaseException as error:
            if stopped_by_the_learner(error):
                raise
            if isinstance(error, TimeUp):
                return (
                    "too-slow",
                    f"The values are right, but not with inputs that need a gradient. {self._too_slow(error)}",
                )
            why = describe_error(error, self.call)
            return "gradient-cut", f"The values are right, but with inputs that need a gradient it raised {why}"
        for i, wanted in gradients(self.reference, args).items():
            if got[i] is None and isinstance(wanted, Tensor) and not wanted.any():
                continue  # this input has no influence here, so no way need lead to it
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
        cases = self.inputs()
        if self.shares:
            return f"The shares are right on {len(cases)} inputs, the seed decides, and no input was changed."
        outputs = [run(self.reference, args).output for args in cases]
        parts = [part for output in outputs for part in (output if type(output) is tuple else (output,))]
        dtypes = sorted({part.dtype for part in parts if isinstance(part, Tensor)}, key=str)
        within = [f"{str(d).removeprefix('torch.')} to {TOLERANCE[d][1]:.0e}" for d in dtypes if d in TOLERANCE]
        exactly = " exactly" if dtypes and not within else ""
        extra = {True: ", the gradients too", "reach": ", gradients pass through"}.get(self.gradients, "")
        dtypes = f" ({', '.join(within)})" if within else ""
        return f"Equal{exactly} to the course's version on {len(cases)} inputs{dtypes}{extra}; no input was changed."


def exercise(cases: Callable[[], list[tuple]], **options) -> Callable[[Callable], Exercise]:
    """Decorator: makes the function below it the reference of an Exercise."""
    return lambda reference: Exercise(reference, cases, **options)
