"""An exercise: what is declared of it, and how it is called with a candidate.

An exercise is declared in one place, in ``lessons/lesson_NN.py``: the reference, the inputs, the known mistakes. A new
one needs nothing here. ``judge.py`` finds the verdict, ``message.py`` puts it into words.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

from torch import Tensor

from lesson_kit.check.collect import collect
from lesson_kit.check.engine import originals
from lesson_kit.check.engine.judge import judge, see
from lesson_kit.check.engine.message import example_when_stuck, passed_message, show_verdict, wrong_message
from lesson_kit.check.engine.verdict import Verdict
from lesson_kit.check.progress_file import record_pass


@dataclass(frozen=True)
class Mistake:
    """A known mistake: hints, the next one each time that it is made again, and ways in which it is made."""

    hints: tuple[str, ...]
    ways: tuple[Callable, ...]


@dataclass
class CheckResult:
    """What a check found, and said. ``function`` is the candidate when it passed, else the course's reference, so that
    a lesson can go on."""

    verdict: Verdict
    message: str
    function: Callable = field(repr=False)

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    @property
    def mistake(self) -> str | None:
        """The name of the verdict, such as "wrong-axis"; None when passed."""
        return self.verdict.name

    def __bool__(self) -> bool:
        return self.passed

    def _ipython_display_(self) -> None:
        """The verdict is shown already: show nothing more at the end of a cell."""


@dataclass(repr=False)
class Exercise:
    """A reference, inputs and known mistakes; calling it with a candidate gives the verdict.

    ``cases`` builds the inputs, a list of argument tuples. ``gradients``: must they reach every floating
    input? With "reach" they must, but right formulations may differ in their values.
    ``once``: may each input that is a function be called only once? ``shares``: for results drawn at random from a
    ``torch.Generator`` among the arguments. It gives shares, a sentence with a number each, from a result and the
    arguments; they are compared in place of the result, which must be the same for the same seed only.
    ``example``: one input more, for the stories of its mistakes: small and clear, and not checked.
    ``right_too``: is this result for these arguments right as well, though the reference gives another?
    """

    reference: Callable
    cases: Callable[[], list[tuple]]
    gradients: bool | Literal["reach"] = True
    once: bool = False
    shares: Callable[[Any, tuple], dict[str, float]] | None = None
    right_too: Callable[[Any, tuple], bool] | None = None
    example: tuple | None = None
    mistakes: dict[str, Mistake] = field(default_factory=dict)
    build: Callable[..., Callable] | None = field(default=None, init=False)
    options: dict[str, dict[str, Any]] = field(default_factory=dict, init=False)
    show: Callable[[Callable], Any] | None = field(default=None, init=False)

    def __post_init__(self):
        self.name, self.__doc__ = self.reference.__name__, self.reference.__doc__
        self.arguments = list(inspect.signature(self.reference).parameters)
        self.call = f"{self.name}({', '.join(self.arguments)})"
        self._row: list[Any] = []  # the kind of the last failure, as often as it has happened in a row

    def __repr__(self) -> str:
        return f"<the check of {self.call}>"

    # --- how authors declare the rest ---

    def mistake(self, slug: str, hints: str | tuple[str, ...], *ways: Callable) -> None:
        """Declare a known mistake: its name, hints that teach, and one or more ways in which it is made."""
        self.mistakes[slug] = Mistake((hints,) if isinstance(hints, str) else hints, ways)

    def together(self, build: Callable[..., Callable], options: dict[str, dict[str, Any]]) -> None:
        """Declare mistakes that can be made two at a time.

        ``build(**options)`` gives a formulation; without options the right one. ``options[slug]`` makes that mistake.
        Two are tried together unless they need the same option.
        """
        self.build, self.options = build, options

    def sight(self, show: Callable[[Callable], Any]) -> Callable:
        """Decorator: what is worth seeing of a function that passed, an object that Jupyter can show."""
        self.show = show
        return show

    # --- what is declared ---

    def inputs(self) -> list[tuple]:
        """The cases, smallest first: the smallest that shows a difference is the one to tell."""
        return sorted(self.cases(), key=lambda args: sum(arg.numel() for arg in args if isinstance(arg, Tensor)))

    def pairs(self) -> Iterator[tuple[tuple[str, str], Callable]]:
        """The slugs of each two mistakes that ``together`` allows, and a function that makes both."""
        for one, other in combinations(self.options, 2):
            if not self.options[one].keys() & self.options[other].keys():
                yield (one, other), self.build(**self.options[one], **self.options[other])

    # --- the check ---

    def __call__(self, candidate: Callable | None = None, *, record: bool = True, sight: bool = True) -> CheckResult:
        """Check ``candidate``, show the verdict and return it. Raises nothing but the learner's own interrupt.

        With ``record=False`` a pass counts nowhere; with ``sight=False`` nothing of a function that passed is shown.
        """
        with originals.kept():  # once for both looks at it
            verdict = judge(self, candidate)
            if verdict.passed:
                self.forget()
                kept = self._record(candidate) if record else ""
                seen = see(self.show, candidate) if sight else None
        if verdict.passed:
            return CheckResult(verdict, show_verdict(verdict, passed_message(self, verdict, kept), seen), candidate)
        if verdict.attempted:  # a stub in between is no other failure
            self._count(verdict)
        message = wrong_message(self, verdict, self.times, candidate is self.reference)
        example = example_when_stuck(self, verdict, self.times)
        return CheckResult(verdict, show_verdict(verdict, message, example), self.reference)

    def forget(self) -> None:
        """The next failure counts as the first of its kind."""
        self._row.clear()

    @property
    def times(self) -> int:
        """How often in a row the last failure has happened."""
        return len(self._row)

    def _record(self, candidate: Callable) -> str:
        """Writes the pass down, and the source with those passed before. Says in a sentence what became of it."""
        record_pass(self.name)
        return collect(self.name, candidate)

    def _count(self, verdict: Verdict) -> None:
        known = all(slug in self.mistakes for slug in verdict.slugs)
        kind = verdict.slugs if known else verdict.text  # without a known mistake only the same words are the same
        if kind not in self._row:
            self.forget()
        self._row.append(kind)
        last_mistake[:] = [(self, verdict)]


last_mistake: list[tuple[Exercise, Verdict]] = []  # of this session: at most one, for ``check.explain()``


def exercise(cases: Callable[[], list[tuple]], **options) -> Callable[[Callable], Exercise]:
    """Decorator: makes the function below it the reference of an Exercise."""
    return lambda reference: Exercise(reference, cases, **options)
