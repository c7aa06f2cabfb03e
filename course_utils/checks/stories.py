"""The longer story of a known mistake: its hints, what it does to the numbers, and its patient in the bug clinic."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from html import escape
from typing import Any
from urllib.parse import quote

import torch
from torch import Tensor

from course_utils.checks.engine import AGAIN, Exercise
from course_utils.checks.output import as_html
from course_utils.checks.runs import describe, error_text, run, tells_apart

CLINIC = "15_bug_clinic.ipynb"
# Verdicts that name no known mistake.
NO_MISTAKE = {*AGAIN, "not-attempted", "returns-nothing", "not-a-function", "called-twice", "not-repeatable"}
NO_MISTAKE |= {"seed-ignored", "wrong-device"}
SHOWN = 6  # so many numbers of a result are shown


@dataclass(frozen=True)
class Patient:
    """A bug of lesson 15: its heading there, the mistakes of the checks that are this bug, and its story in short."""

    heading: str
    slugs: tuple[str, ...]
    story: str


PATIENTS = [
    Patient(
        "Patient 1: The missing square root",
        ("no-scale", "divided-by-d-k", "multiplied-by-root"),
        "A score adds up d_k products, so its variance grows with d_k. Without the root, softmax puts nearly all "
        "weight on one key and hardly any gradient comes through. Small examples hide it: with two features "
        "nothing looks wrong.",
    ),
    Patient(
        "Patient 2: The wrong width under the root",
        ("scaled-by-d-model", "scaled-by-value-width", "scaled-by-number-of-keys", "scaled-by-first-axis"),
        "With one head d_model and d_head are the same, so a test with one head sees nothing. With eight, the "
        "scores come out too small by a factor of almost three, and the weights too even.",
    ),
    Patient(
        "Patient 3: The values inside the softmax",
        ("value-inside-softmax", "no-softmax"),
        "The brackets of the formula are easily misread. The softmax decides how much to look where; the values "
        "are mixed afterwards. Rows of the result that add up to 1 look like weights, and are not.",
    ),
    Patient(
        "Patient 6: Hide or show",
        ("inverted", "float-instead-of-boolean", "upper-triangle"),
        "There are four conventions for the same mask, and each is right somewhere. With the wrong one the model "
        "attends to the padding, or to the future, and to nothing else. Nothing raises an error.",
    ),
    Patient(
        "Patient 7: The row that may look nowhere",
        ("nan-on-an-empty-row", "empty-row-attends"),
        "A row of minus infinities is 0 divided by 0. One such row in one sentence fills the whole model with NaN"
        " after a step of training.",
    ),
    Patient(
        "Patient 8: The mask that came too late",
        (
            "mask-after-softmax",
            "filled-with-zero",
            "small-negative-fill",
            "mask-added",
        ),
        "What a mask hides must not take part in the sum. Hidden afterwards, or filled with a number that is "
        "merely small, it still changes the weights of the others.",
    ),
    Patient(
        "Patient 9: Heads cut without a transpose",
        ("view-without-transpose", "not-transposed", "split-by-view", "merged-by-view", "heads-and-features-swapped"),
        "`view` can give the right shape with the wrong numbers in it: words and heads are mixed up. It even "
        "trains. Shuffle the words, and the output no longer shuffles with them.",
    ),
    Patient(
        "Patient 10: The sequence split among the heads",
        ("splits-the-sequence", "attends-across-heads"),
        "Every head sees all words, and a part of the features. Split the other way, most words never meet.",
    ),
    Patient(
        "Patient 12: The output projection that nobody missed",
        ("no-output-projection", "projection-forgotten"),
        "Without it the heads lie side by side and never mix. Shapes are right, the loss falls, and a whole "
        "weight matrix gets no gradient.",
    ),
    Patient(
        "Patient 14: Weights on the wrong side",
        ("weights-transposed",),
        "Rows are tokens, so the weights stand on the right. nn.Linear stores them turned round, which makes it "
        "easy to turn them once too often. Square matrices raise no error.",
    ),
    Patient(
        "Patient 15: The norm over length and features",
        ("over-length-and-features", "over-the-batch", "over-the-length"),
        "LayerNorm looks at one token at a time. Over more axes than that, tokens leak into each other, also from"
        " the future, and the layer fits one length only.",
    ),
    Patient(
        "Patient 16: The norm with n - 1",
        ("unbiased-variance", "eps-outside-the-root"),
        "For four features the difference is large, for 768 it is so small that a loose test passes. Loaded "
        "weights then give other numbers, layer after layer.",
    ),
    Patient(
        "Patient 17: Divided by the variance",
        ("divided-by-variance",),
        "For inputs with a variance near 1, as randn makes them, nobody can see it. Try inputs ten times as large.",
    ),
    Patient(
        "Patient 18: The residual from the normalised x",
        ("residual-from-normalised-x", "norm-on-the-residual"),
        "The residual is the way on which x passes by untouched. Taken from the normalised x, pre-norm quietly "
        "turns into something else.",
    ),
    Patient(
        "Patient 20: The doubled exponent",
        ("exponent-doubled", "exponent-halved", "sine-and-cosine-differ", "exponent-not-divided"),
        "A loop that counts in steps of two has doubled the index already. The table looks like waves all the "
        "same, but more of its features stand still.",
    ),
    Patient(
        "Patient 21: Positions along the batch axis",
        ("along-the-batch-axis", "position-along-the-batch", "along-the-batch"),
        "Each sentence gets the position of its place in the batch. It trains, and it knows nothing of word "
        "order. Shuffle the batch, and the answers change.",
    ),
    Patient(
        "Patient 22: The decoder that saw the answer",
        ("causal-mask",),
        "A causal mask belongs to the decoder's self-attention, and only there. Without it the training loss is "
        "splendid, because the answer stands in the input.",
    ),
    Patient(
        "Patient 23: The step that could not see itself",
        ("diagonal-hidden",),
        "With inputs shifted right, a position may see itself. If it may not, the newest word is not looked at, "
        "and the first row has nothing to look at.",
    ),
    Patient(
        "Patient 24: Cross-attention the wrong way round",
        ("query-and-key-value-swapped", "all-from-the-decoder", "all-from-the-encoder"),
        "The decoder asks, the encoder answers: queries from the target, keys and values from the source. With "
        "equal lengths the swap raises no error.",
    ),
    Patient(
        "Patient 25: Targets that were never shifted",
        ("not-shifted", "shifted-left", "shifted-twice"),
        "If input and target are the same, the best a model can do is to copy, and it learns that quickly. The "
        "loss goes to zero, and nothing can be generated.",
    ),
    Patient(
        "Patient 26: The loss on every token",
        ("labels-everywhere", "padding-counted", "padding-in-the-mean"),
        "Most tokens are not hidden, so a model that copies what it sees has a fine loss. Only the hidden ones "
        "tell whether it has learned anything.",
    ),
    Patient(
        "Patient 28: ReLU in BERT",
        ("gelu-instead-of-relu",),
        "The paper's feed-forward network has ReLU, BERT's has GELU. The weights load without a word either way; "
        "only the numbers drift.",
    ),
]


@dataclass(repr=False)
class Story:
    """What ``check.explain`` returns: paragraphs of text, and the patient of lesson 15 to read on with, if any."""

    slug: str
    paragraphs: list[str]
    patient: Patient | None

    def __repr__(self) -> str:
        read_on = [f"Read on in lesson 15, {CLINIC}: {self.patient.heading}."] if self.patient else []
        return "\n".join(self.paragraphs + read_on)

    def _repr_html_(self) -> str:
        if self.patient is None:
            return as_html("\n".join(self.paragraphs))
        heading = escape(self.patient.heading)
        link = f'<a href="{CLINIC}#{quote(self.patient.heading.replace(" ", "-"), safe=":")}">{heading}</a>'
        where = "If the page opens at its top, click again; run all cells above the patient first."
        paragraph = f'<p style="margin: 0.3em 0">Read on in the bug clinic: {link}. {where}</p>'
        return as_html("\n".join(self.paragraphs)).removesuffix("</div>") + paragraph + "</div>"


def tell(slug: str | None, exercise: str | None, exercises: dict[str, Exercise]) -> Story:
    """The story of ``slug`` in ``exercise``, or in the first that knows it. Raises ValueError if there is none."""
    if slug is None or slug in NO_MISTAKE:
        return Story(str(slug), [AGAIN.get(slug, "The verdict itself says all that there is to say.")], None)
    if isinstance(slug, str) and len(names := re.split(" and | or ", slug)) > 1:  # as a verdict names several
        parts = [tell(name, exercise, exercises) for name in names]
        patient = next((part.patient for part in parts if part.patient), None)
        return Story(slug, [paragraph for part in parts for paragraph in part.paragraphs], patient)
    if exercise is not None and exercise not in exercises:
        raise ValueError(f"exercise must be one of {', '.join(exercises)}, got {exercise!r}")
    knowing = [each for each in exercises.values() if slug in each.mistakes and exercise in (None, each.name)]
    if not knowing:
        known = sorted({name for each in exercises.values() for name in each.mistakes})
        near = get_close_matches(str(slug), known)
        raise ValueError(
            f"slug must be a mistake that {f'the check of {exercise}' if exercise else 'a check'} knows, got {slug!r}"
            + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")
        )
    patient = next((each for each in PATIENTS if slug in each.slugs), None)
    paragraphs = [f"{slug}." if patient is None else f"{slug}. {patient.story}"]
    told, *others = knowing
    paragraphs += [f"In {told.name}: {' '.join(told.mistakes[slug].hints)}", *_numbers(told, slug)]
    if others:
        paragraphs.append(f"Also a mistake in {', '.join(each.name for each in others)}.")
    return Story(slug, paragraphs, patient)


def _numbers(exercise: Exercise, slug: str) -> list[str]:
    """What the mistake gives on the smallest input that shows it, and what is right."""
    way = exercise.mistakes[slug].ways[0]
    for args in exercise.inputs():
        right, wrong = run(exercise.reference, args).output, run(way, args)
        if not tells_apart(wrong, wrong, right):
            continue
        inputs = ", ".join(f"{name} {describe(arg)}" for name, arg in zip(exercise.arguments, args, strict=True))
        got = error_text(wrong.error) if wrong.error else _first_numbers(wrong.output)
        return [f"For {inputs}: right is {_first_numbers(right)}; with this mistake it is {got}."]
    return []


def _first_numbers(result: Any) -> str:
    """The first few numbers of a result, and its shape."""
    if type(result) is tuple:
        return " and ".join(map(_first_numbers, result))
    if not isinstance(result, Tensor):
        return f"{result:.4g}" if isinstance(result, float) else repr(result)
    numbers = [f"{x:.4g}" if torch.is_floating_point(result) else str(x) for x in result.flatten()[:SHOWN].tolist()]
    more = ", ..." if result.numel() > SHOWN else ""
    return f"({', '.join(numbers)}{more}) of shape {tuple(result.shape)}"
