"""The engine of the checks: an exercise that can be called with a candidate, shows the verdict, and remembers it.

An exercise is declared in one place, in ``lesson_NN.py``: the reference, the inputs, the known mistakes. A new one
needs nothing here. ``judging.py`` finds the verdict.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from lesson_kit.check import progress as passes
from lesson_kit.check.engine.declared import Declared
from lesson_kit.check.engine.differences import TOLERANCE
from lesson_kit.check.engine.display import as_html, show_text
from lesson_kit.check.engine.errors import error_text, stopped_by_the_learner
from lesson_kit.check.engine.judging import judge
from lesson_kit.check.engine.limits import alone, in_time
from lesson_kit.check.engine.run import run

GO_ON = "Until it passes, the lesson goes on with the course's own version."
# What helps when the same verdict comes again, where no known mistake has hints of its own.
AGAIN = {
    "wrong-value": "Work this one entry out by hand, then print each step of your function for this input.",
    "constant-result": "Change one number of an input by hand and follow it: where does it get lost?",
    "wrong-shape": "Print the shape after each line: at which one does it stop being what you expect?",
    "wrong-dtype": "Print the dtype after each line: which line changes it?",
    "wrong-type": "Print type(...) of what you return.",
    "raised": "Print the shapes and dtypes right before that line.",
    "not-finite": "Print the numbers before each exp, log, sqrt and division: which is too large, or zero?",
    "gradient-cut": "Follow the input line by line: is each result a torch operation on the one before?",
    "gradient-wrong": "Follow the input along every way it takes to the result: each way must carry its gradient.",
    "gradient-not-finite": (
        "A NaN or infinity that is replaced afterwards, by `nan_to_num`, `torch.where` or `masked_fill`, still stands "
        "in the gradient: none may arise."
    ),
    "changed-input": "`+=`, `*=`, `x[...] = ` and functions that end in `_` write into their tensor.",
    "too-slow": "Which condition ends the loop, and does something in the loop bring it nearer?",
}
last_mistake: "list[tuple[Exercise, str]]" = []  # of this session, with its slug: at most one, for ``check.explain()``


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


class Exercise(Declared):
    """What is declared, and calling it with a candidate gives the verdict."""

    def __post_init__(self):
        super().__post_init__()
        self._sight = None
        self._last, self._times = None, 0  # the verdict before this one, and how often it came in a row

    def sight(self, show: Callable[[Callable], Any]) -> Callable:
        """Decorator: what is worth seeing of a function that passed, an object that Jupyter can show."""
        self._sight = show
        return show

    def __call__(self, candidate: Callable | None = None, *, record: bool = True) -> CheckResult:
        """Check ``candidate``, show the verdict and return it. Raises nothing but the learner's own interrupt.

        With ``record=False`` a pass does not count in ``check.progress()``.
        """
        try:
            with warnings.catch_warnings(), torch.enable_grad(), torch.random.fork_rng(devices=[]):
                warnings.simplefilter("ignore")
                verdict, printed = judge(self, candidate)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a result too strange to be looked at
            verdict, printed = ("wrong-type", f"What your function returned can't be compared: {error_text(error)}"), ""
        return self._passed(candidate, record, printed) if verdict is None else self._failed(*verdict, printed)

    def forget(self) -> None:
        """The next failure counts as the first of its kind."""
        self._last, self._times = None, 0

    def _passed(self, candidate: Callable, record: bool, printed: str) -> CheckResult:
        self.forget()
        if record:
            passes.record(self.name)
        message = "\n".join(filter(None, (f"{self.name}: passed. {self._proof()}", printed)))
        result, seen = CheckResult(True, None, message, candidate), self._seen(candidate)
        if seen is not None:
            result.message += f"\n{seen!r}"
        show_text(result.message, as_html(message, "passed", seen))
        return result

    def _failed(self, slug: str, text: str, printed: str) -> CheckResult:
        opening = "not attempted yet" if slug == "not-attempted" else "not yet right"
        if slug != "not-attempted":  # a stub in between is no other failure
            kind = text if slug in AGAIN else slug  # without a known mistake only the same words are the same failure
            self._times = self._times + 1 if kind == self._last else 1
            self._last = kind
            last_mistake[:] = [(self, slug)]
            text = "\n".join(filter(None, (text, printed, *self._again(slug, text), self._called(slug))))
        elif printed:
            text += f"\n{printed}"
        result = CheckResult(False, slug, f"{self.name}: {opening}. {text}\n{GO_ON}", self.reference)
        show_text(result.message, as_html(result.message, opening))
        return result

    def _known(self, slug: str) -> list[str]:
        """The known mistakes that a verdict names."""
        return [name for name in re.split(" and | or ", slug) if name in self.mistakes]

    def _again(self, slug: str, text: str) -> list[str]:
        """The next hints, for the second and every further failure of the same kind."""
        if self._times < 2:
            return []
        if slug == "raised" and not re.search("shape|size|dtype", text):
            return []
        known = self._known(slug)
        numbered = len(known) > 1 and " and " in slug  # as their first hints are
        return [
            f"One more hint{f' for {number}' if numbered else ''}: {hint}"
            for number, name in enumerate(known, start=1)
            for hint in self.mistakes[name].hints[1 : self._times]
        ] or ([] if known else [AGAIN.get(slug, "")])

    def _called(self, slug: str) -> str:
        """The name of a known mistake, and how to ask more."""
        if not self._known(slug):
            return ""
        names = re.sub(r"[\w-]+(?= and | or |$)", r"`\g<0>`", slug)
        several = " and " in slug
        which, it = ("These mistakes are called", "them") if several else ("This mistake is called", "it")
        return f"{which} {names}; `check.explain()` tells more about {it}."

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
