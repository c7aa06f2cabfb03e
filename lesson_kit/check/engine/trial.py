"""A candidate tried out: what it did with each input of an exercise, beside what is right."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lesson_kit.check.engine.differences import Fault, difference, shares_differ
from lesson_kit.check.engine.errors import describe_error
from lesson_kit.check.engine.limits import TimeUp
from lesson_kit.check.engine.run import Call, describe, run, try_out

# "Exercise" below is that of exercise.py, which stands on this module: it isn't imported.


@dataclass
class Trial:
    """The exercise, the candidate, and, input by input, the arguments, the call and what is right.

    ``ended``: the last call did not come back by itself. The inputs after it were not tried, and ``wanted`` is empty.
    """

    exercise: "Exercise"
    candidate: Callable
    cases: list[tuple]
    runs: list[Call] = field(default_factory=list)
    wanted: list = field(default_factory=list)

    @property
    def ended(self) -> bool:
        return isinstance(self.runs[-1].error, TimeUp | KeyboardInterrupt)

    def fault(self, number: int) -> Fault | None:
        """What is wrong with the result for input ``number``, counted from 0."""
        return self.fault_of(self.runs[number], number)

    def fault_again(self, number: int) -> Fault | None:
        """The same, of one more call."""
        return self.fault_of(try_out(self.candidate, self.cases[number]), number)

    def fault_of(self, call: Call, number: int) -> Fault | None:
        if call.error:
            return Fault("raised", f"It raised {describe_error(call.error, self.exercise.call)}")
        args = self.cases[number]
        if self.exercise.right_too and self.exercise.right_too(call.output, args):
            return None
        return self.difference(args, call.output, self.wanted[number])

    def difference(self, args: tuple, got: Any, wanted: Any) -> Fault | None:
        """In what ``got`` is not ``wanted``; for random results, in what its shares are not."""
        shares = self.exercise.shares
        fault = difference(got, wanted, values=shares is None)
        return fault or (shares_differ(shares(got, args), shares(wanted, args)) if shares else None)

    def where(self, number: int) -> str:
        """Which input it is, in brackets."""
        named = zip(self.exercise.arguments, self.cases[number], strict=True)
        inputs = ", ".join(f"`{name}` {describe(arg)}" for name, arg in named)
        return f"(Input {number + 1} of {len(self.cases)}: {inputs}.)"

    def arguments(self, what: str) -> str:
        """The names of the arguments that were "changed" or "repeated" in any call."""
        places = sorted({place for each in self.runs for place in getattr(each, what)})
        return " and ".join(f"`{self.exercise.arguments[place]}`" for place in places)


def try_all(exercise: "Exercise", candidate: Callable) -> Trial:
    """The candidate on every input, up to the first where it does not come back; then the reference."""
    trial = Trial(exercise, candidate, exercise.inputs())
    for args in trial.cases:
        trial.runs.append(try_out(candidate, args))
        if trial.ended:
            return trial
    trial.wanted = [run(exercise.reference, args).output for args in trial.cases]  # only now: nothing to copy from
    return trial
