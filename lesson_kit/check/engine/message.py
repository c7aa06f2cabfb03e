"""A verdict in words: the sentences around what it says, with the next hints, and showing it."""

import re
from typing import Any

from lesson_kit.check.engine.differences import TOLERANCE
from lesson_kit.check.engine.display import as_html, show_text
from lesson_kit.check.engine.verdict import Verdict
from lesson_kit.check.engine.worked_example import WorkedExample, worked_example
from lesson_kit.check.where_taught import explained_in, next_exercise

# "Exercise" below is that of exercise.py, which stands on this module: it isn't imported.

STUCK = 3  # the same failure so often in a row: the hints are told, and numbers are shown
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


def opening(verdict: Verdict) -> str:
    """How the message begins, after the exercise's name."""
    if verdict.passed:
        return "passed"
    return "not yet right" if verdict.attempted else "not attempted yet"


def passed_message(exercise: "Exercise", verdict: Verdict, kept: str = "") -> str:
    """``kept``: what became of its source."""
    proof, exactness = _proof(exercise, verdict)
    coming = " ".join(filter(None, (kept, next_exercise(exercise.name))))
    return _lines(f"{exercise.name}: {opening(verdict)}. {proof}", coming, exactness, verdict.printed)


def wrong_message(exercise: "Exercise", verdict: Verdict, times: int, replaced: bool = False) -> str:
    """``times``: how often in a row this failure has happened; each time tells one hint more.

    ``replaced``: it was the course's own function, and not the learner's, that was given to the check.
    """
    more = [*_more_hints(exercise, verdict, times), _where_to_look(exercise, verdict, times)]
    text = _lines(verdict.text, verdict.printed, *more, _called(exercise, verdict))
    return f"{exercise.name}: {'nothing of yours to check' if replaced else opening(verdict)}. {text}\n{GO_ON}"


def example_when_stuck(exercise: "Exercise", verdict: Verdict, times: int) -> WorkedExample | None:
    """When the hints have not helped: what the known mistake does to a small input. Of two, the first one alone."""
    known = _known(exercise, verdict)
    return worked_example(exercise, known[0]) if known and times >= STUCK else None


def show_verdict(verdict: Verdict, message: str, seen: Any = None) -> str:
    """Shows the message, and below it ``seen``. Returns what can be read of both."""
    text = message if seen is None else f"{message}\n{seen!r}"
    show_text(text, as_html(message, opening(verdict), seen))
    return text


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines))


def _known(exercise: "Exercise", verdict: Verdict) -> list[str]:
    """The known mistakes that a verdict names."""
    return [slug for slug in verdict.slugs if slug in exercise.mistakes]


def _more_hints(exercise: "Exercise", verdict: Verdict, times: int) -> list[str]:
    """The next hints, for the second and every further failure of the same kind."""
    if times < 2 or not verdict.attempted:
        return []
    known = _known(exercise, verdict)
    if not known:
        (slug,) = verdict.slugs
        about_shapes = slug != "raised" or re.search("shape|size|dtype", verdict.text)
        return [AGAIN.get(slug, "")] if about_shapes else []
    numbered = len(known) > 1 and verdict.together  # as their first hints are
    return [
        f"One more hint{f' for {number}' if numbered else ''}: {hint}"
        for number, slug in enumerate(known, start=1)
        for hint in exercise.mistakes[slug].hints[1:times]
    ]


def _where_to_look(exercise: "Exercise", verdict: Verdict, times: int) -> str:
    """What a teacher says to one whom the hints have not helped."""
    if times < STUCK or not verdict.attempted:
        return ""
    where = explained_in(exercise.name)
    if not _known(exercise, verdict):
        return where
    which = "the first mistake alone" if verdict.together else "this mistake"
    below = f"Stuck? The tables below show what {which} does to a small input. Follow one number that differs."
    return f"{below} {where}".rstrip()


def _called(exercise: "Exercise", verdict: Verdict) -> str:
    """The name of a known mistake, and how to ask more."""
    if not _known(exercise, verdict):
        return ""
    which, it = ("These mistakes are", "them") if verdict.together else ("This mistake is", "it")
    names = verdict.joined(tuple(f"`{slug}`" for slug in verdict.slugs))
    return f"{which} called {names}; `check.explain()` tells more about {it}."


def _proof(exercise: "Exercise", verdict: Verdict) -> tuple[str, str]:
    """What has been shown, in plain words; and how exactly."""
    if exercise.shares:
        return (
            f"On {verdict.inputs} inputs the shares are right, the seed alone decides what is drawn, and your function "
            "leaves its inputs as they are.",
            "",
        )
    gradients = {
        True: ", the gradients that flow back through it are right too",
        "reach": ", gradients flow back through it to every input",
    }.get(exercise.gradients, "")
    right = f"It gives the right answer on all {verdict.inputs} inputs{gradients}"
    within = [f"{TOLERANCE[d][1]:.0e} in {str(d).removeprefix('torch.')}" for d in verdict.dtypes if d in TOLERANCE]
    exactness = f"(Compared with the course's version to within {' and '.join(within)}.)" if within else ""
    return f"{right}, and it leaves its inputs as they are.", exactness
