"""The longer story of a known mistake: its hints, what it does to the numbers, and its patient in the bug clinic."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from html import escape
from typing import Any

import torch
from torch import Tensor

from lesson_kit.check.engine.differences import difference, first
from lesson_kit.check.engine.display import as_html, as_paragraphs
from lesson_kit.check.engine.errors import error_text
from lesson_kit.check.engine.exercise import AGAIN, Exercise
from lesson_kit.check.engine.run import Run, describe, run, tells_apart
from lesson_kit.check.where_taught import PLACES, link

CLINIC = "19_bug_clinic.ipynb"
# Verdicts that name no known mistake.
NO_MISTAKE = {*AGAIN, "not-attempted", "returns-nothing", "not-a-function", "called-twice", "not-repeatable"}
NO_MISTAKE |= {"seed-ignored", "wrong-device"}
SHOWN = 6  # so many rows and columns of a table
INPUTS = 60  # so many numbers of inputs, all together, are still shown


@dataclass(frozen=True)
class Patient:
    """A bug of lesson 19: its heading there, the mistakes of the checks that are this bug, and its story in short.

    ``kin``: mistakes of the same family, of which that story is not true; each has one of its own.
    """

    heading: str
    slugs: tuple[str, ...]
    story: str
    kin: dict[str, str] = field(default_factory=dict)

    def story_of(self, slug: str) -> str:
        return self.kin.get(slug, self.story)


PATIENTS = [
    Patient(
        "Patient 1: The missing square root",
        ("no-scale",),
        "A score adds up d_k products, so its variance grows with d_k. Without the root, in wide models, softmax puts "
        "nearly all weight on one key and hardly any gradient comes through. Small examples hide it: with two features "
        "nothing looks wrong.",
        {
            "divided-by-d-k": (
                "The standard deviation of a score is the root of d_k. Divided by d_k itself, the scores come out too "
                "small, and the wider the model, the nearer all weights are to equal shares: attention hardly chooses."
            ),
            "multiplied-by-root": (
                "The standard deviation of a score is the root of d_k. Multiplied by it instead of divided, the scores "
                "come out d_k times too large, and softmax gives nearly all weight to one key."
            ),
        },
    ),
    Patient(
        "Patient 2: The wrong width under the root",
        ("scaled-by-d-model",),
        "With one head d_model and d_head are the same, so a test with one head sees nothing. With eight, the "
        "scores come out too small by a factor of almost three, and the weights too even.",
        {
            "scaled-by-value-width": (
                "Values are often as wide as queries and keys, and then nobody sees it. Where they are wider, the "
                "scores come out too small; where they are narrower, too large."
            ),
            "scaled-by-number-of-keys": (
                "With as many keys as features nobody sees it. Otherwise each further word changes all scores, and "
                "padding does, too."
            ),
            "scaled-by-first-axis": (
                "In a small example the first axis may be as long as the last, and then nobody sees it. Otherwise the "
                "weights of a sentence change with the number of its words, or with what else is in the batch."
            ),
            "fixed-width": (
                "A number that is right for one model is right in every test with that model. With another width the "
                "scores come out too large or too small, and nothing raises an error."
            ),
        },
    ),
    Patient(
        "Patient 3: The values inside the softmax",
        ("value-inside-softmax",),
        "The brackets of the formula are easily misread. The softmax decides how much to look where; the values "
        "are mixed afterwards. Rows of the result that add up to 1 look like weights, and are not.",
    ),
    Patient(
        "Patient 6: Hide or show",
        ("inverted",),
        "There are four conventions for the same mask, and each is right somewhere. With the wrong one the model "
        "attends to the padding, or to the future, and to nothing else. Nothing raises an error.",
        {
            "float-instead-of-boolean": (
                "PyTorch's scaled_dot_product_attention takes two kinds of masks. A boolean one says who may be looked "
                "at; one of floats is added to the scores. Ones and zeros, taken for the second kind, hide nothing."
            ),
            "upper-triangle": (
                "Which triangle is meant depends on what rows and columns stand for, and on whether True shows or "
                "hides. Taken for the other, it lets each word see itself and the future, and not the past."
            ),
        },
    ),
    Patient(
        "Patient 7: The row that may look nowhere",
        ("nan-on-an-empty-row",),
        "A row of minus infinities is 0 divided by 0. One such row in one sentence fills the whole model with NaN"
        " after a step of training.",
        {
            "empty-row-attends": (
                "Filled with a large negative number instead of minus infinity, a row without visible keys gives no "
                "NaN. Softmax sees only differences, so the hidden keys share out the weight among themselves."
            ),
        },
    ),
    Patient(
        "Patient 8: The mask that came too late",
        ("mask-after-softmax", "filled-with-zero", "small-negative-fill"),
        "What a mask hides must not take part in the sum. Hidden afterwards, or filled with a number that is "
        "merely small, it still changes the weights of the others.",
        {
            "mask-added": (
                "A mask that is added must hold 0 where a key is seen and minus infinity where it is hidden. With True "
                "and False, 1 and 0, it is a small bonus: the hidden keys keep their places in the sum."
            ),
            "renormalised": (
                "To share out anew what the mask has left mends the sums of the rows, and on paper it is the same as "
                "masking first. But a hidden score that is high enough takes everything, the rest is rounded to 0, and "
                "there is nothing left to share out."
            ),
        },
    ),
    Patient(
        "Patient 9: Heads cut without a transpose",
        ("view-without-transpose", "split-by-view", "merged-by-view"),
        "`view` can give the right shape with the wrong numbers in it: words and heads are mixed up. It even "
        "trains. Shuffle the words, and the output no longer shuffles with them.",
        {
            "not-transposed": (
                "Attention works on the last two axes. If these are heads and features, the heads of one token look at "
                "each other, and no token sees another. With as many tokens as heads even the shape is right."
            ),
            "heads-and-features-swapped": (
                "Which features belong to which head is a convention. A model that is trained with another one learns "
                "all the same; one whose weights are loaded gives wrong numbers."
            ),
        },
    ),
    Patient(
        "Patient 10: The sequence split among the heads",
        ("splits-the-sequence",),
        "Every head sees all words, and a part of the features. Split the other way, many words never meet.",
        {
            "attends-across-heads": (
                "Every head sees all words, and a part of the features. Here the heads of one word see each other "
                "instead, and no two words ever meet."
            ),
        },
    ),
    Patient(
        "Patient 12: The output projection that nobody missed",
        ("no-output-projection",),
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
        ("over-length-and-features",),
        "LayerNorm looks at one token at a time. Over more axes than the features, tokens leak into each other, also "
        "from the future.",
        {
            "over-the-batch": (
                "LayerNorm looks at one token at a time. Over the batch, the result for a sentence depends on which "
                "other sentences happen to stand beside it."
            ),
            "over-the-length": (
                "LayerNorm looks at one token at a time. Over the tokens, each one depends on all others, also on "
                "those of the future and on the padding."
            ),
        },
    ),
    Patient(
        "Patient 16: The norm with n - 1",
        ("unbiased-variance",),
        "For four features the difference is large, for 768 it is so small that a loose test passes. Loaded "
        "weights then give other numbers, layer after layer.",
        {
            "eps-outside-the-root": (
                "For features with a spread near 1 and a tiny eps nobody sees it. Where all features of a token are "
                "nearly equal, eps decides the result, and there it makes a difference where it stands."
            ),
        },
    ),
    Patient(
        "Patient 17: Divided by the variance",
        ("divided-by-variance",),
        "For inputs with a variance near 1, as randn makes them, nobody can see it. Try inputs ten times as large.",
    ),
    Patient(
        "Patient 18: The residual from the normalised x",
        ("residual-from-normalised-x", "norm-on-the-residual"),
        "The residual is the way on which x passes by untouched. With a norm on it, every layer brings x to one size "
        "before it adds anything. The shapes are right all the same.",
    ),
    Patient(
        "Patient 20: The doubled exponent",
        ("exponent-doubled",),
        "A loop that counts in steps of two has doubled the index already. The table looks like waves all the "
        "same, but more of its features stand still.",
        {
            "exponent-halved": (
                "A loop that counts the pairs has not doubled the index yet. The table looks like waves all the same, "
                "but the slowest of them come round far too soon."
            ),
            "sine-and-cosine-differ": (
                "A sine and a cosine of one speed are a clock hand: a step of so many positions turns it by the same "
                "angle everywhere. With two speeds the table still looks like waves, but there is no hand to turn."
            ),
            "exponent-not-divided": (
                "The exponent is a share of the way from the fastest to the slowest wave. Not divided by d_model, it "
                "grows so large that all waves but the first stand still."
            ),
        },
    ),
    Patient(
        "Patient 21: Positions along the batch axis",
        ("along-the-batch-axis", "position-along-the-batch"),
        "Each sentence gets the position of its place in the batch. It trains, and it knows nothing of word "
        "order. Shuffle the batch, and the answers change.",
    ),
    Patient(
        "Patient 22: The decoder that saw the answer",
        (),
        "A causal mask belongs to the decoder's self-attention, and only there. Without it the training loss is "
        "splendid, because the answer stands in the input.",
        {
            "causal-mask": (
                "A causal mask hides words that are not written yet, where a whole sentence is given at once. Neither "
                "the source nor a cache holds any such word: there it hides what ought to be seen. (The patient is the "
                "opposite case: a mask that is missing.)"
            ),
        },
    ),
    Patient(
        "Patient 23: The step that could not see itself",
        ("diagonal-hidden",),
        "With inputs shifted right, a position may see itself. If it may not, the newest word is not looked at, "
        "and the first row has nothing to look at.",
    ),
    Patient(
        "Patient 24: Cross-attention the wrong way round",
        ("query-and-key-value-swapped",),
        "The decoder asks, the encoder answers: queries from the target, keys and values from the source. With "
        "equal lengths the swap raises no error.",
        {
            "all-from-the-decoder": (
                "The decoder asks, the encoder answers. Here the decoder asks itself: the shape is always right, and "
                "the translation cannot depend on the sentence that is to be translated."
            ),
            "all-from-the-encoder": (
                "The decoder asks, the encoder answers. Here the encoder asks itself: with equal lengths nothing "
                "raises an error, and what has been written so far has no influence."
            ),
        },
    ),
    Patient(
        "Patient 25: Targets that were never shifted",
        ("not-shifted",),
        "If input and target are the same, the best a model can do is to copy, and it learns that quickly. The "
        "loss goes to zero, and nothing can be generated.",
        {
            "shifted-left": (
                "Position t is fed the token after the one it must predict. Whoever writes a sentence word by word "
                "does not have that token yet: what was learned cannot be used."
            ),
            "shifted-twice": (
                "Position t is not fed the token right before the one it must predict, which often says most about it. "
                "The loss stays higher than it need be, and no shape says why."
            ),
        },
    ),
    Patient(
        "Patient 26: The loss on every token",
        ("labels-everywhere",),
        "Most tokens are not hidden, so a model that copies what it sees has a fine loss. Only the hidden ones "
        "tell whether it has learned anything.",
        {
            "padding-counted": (
                "That padding follows padding is soon learned. Its small losses then make the mean look better than "
                "the model is, and the more so, the more padding a batch happens to have."
            ),
            "padding-in-the-mean": (
                "The padding adds nothing to the sum, but it is counted: the mean looks better than the model is, and "
                "the more so, the more padding a batch happens to have."
            ),
        },
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
    """What ``check.explain`` returns: paragraphs, tables, and where to read on, in a lesson and in the bug clinic.

    Of several mistakes each has a part, a story of its own.
    """

    slug: str | None
    paragraphs: list[str] = field(default_factory=list)
    tables: list = field(default_factory=list)
    patient: Patient | None = None
    exercise: str | None = None
    parts: "list[Story]" = field(default_factory=list)

    def _read_on(self) -> Iterator[tuple[str, str, str, str]]:
        """For each place, the lesson's own first: before the link, its notebook, its heading, after it."""
        if self.exercise in PLACES:
            notebook, heading = PLACES[self.exercise]
            after = "If the page opens at its top, look for that heading."
            yield f"Read on in lesson {notebook[:2]}:", notebook, heading, after
        told = set()
        for part in self.parts or [self]:
            if part.patient and part.patient.heading not in told:
                heading = part.patient.heading
                told.add(heading)
                what = "a related bug" if part.slug in part.patient.kin else "the whole story"
                number = heading.split(":")[0]
                after = (
                    f"If the page opens at its top, choose {number} in the list there. Run all cells above it first."
                )
                yield f"Later, {what} in the bug clinic, lesson 19:", CLINIC, heading, after

    def __repr__(self) -> str:
        lines = [line for part in self.parts or [self] for line in (*part.paragraphs, *map(repr, part.tables))]
        for before, notebook, heading, _ in self._read_on():
            lines.append(f"{before.removesuffix(':')}, {notebook}: {heading.removesuffix('?')}.")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        body = ""
        for part in self.parts or [self]:
            body += as_paragraphs("\n".join(part.paragraphs))
            if part.tables:
                tables = "".join(table._repr_html_() for table in part.tables)
                style = "display: flex; flex-wrap: wrap; gap: 0.5em 2em; align-items: start"
                body += f'<div style="{style}">{tables}</div>'
        for before, notebook, heading, after in self._read_on():
            there = f'<a href="{link(notebook, heading)}">{escape(heading)}</a>'
            body += f'<p style="margin: 0.3em 0">{before} {there}. {after}</p>'
        return as_html(body=body)


def tell(slug: str | None, exercise: str | None, exercises: dict[str, Exercise]) -> Story:
    """The story of ``slug`` in ``exercise``, or in the first that knows it. Raises ValueError if there is none."""
    if slug is None and exercise is None:
        return Story(slug, ["No check has found a mistake yet, since this kernel was started."])
    if slug is None or slug in NO_MISTAKE:
        says = AGAIN.get(slug, "The verdict itself says all that there is to say.")
        return Story(slug, [f"{exercise}: {says}" if exercise in exercises else says])
    if isinstance(slug, str) and len(names := re.split(" and | or ", slug)) > 1:  # as a verdict names several
        parts = [tell(name, exercise, exercises) for name in names]
        return Story(slug, exercise=parts[0].exercise, parts=parts)
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
    patient = next((each for each in PATIENTS if slug in each.slugs or slug in each.kin), None)
    told, *others = knowing
    numbers, tables = _numbers(told, slug)
    paragraphs = [f"{slug}." if patient is None else f"{slug}. {patient.story_of(slug)}"]
    paragraphs.append(f"In `{told.name}`: {' '.join(told.mistakes[slug].hints)}")
    if others:
        paragraphs.append(f"Also a mistake in {', '.join(f'`{each.name}`' for each in others)}.")
    return Story(slug, paragraphs + numbers, tables, patient, told.name)


def _numbers(exercise: Exercise, slug: str) -> tuple[list[str], list]:
    """What the mistake gives on the input that shows it best, and what is right: in words, and as tables."""
    way = exercise.mistakes[slug].ways[0]
    examples = [] if exercise.example is None else [exercise.example]
    for args in examples + sorted(exercise.inputs(), key=_hard_to_see):  # else the smallest first, as they come
        right, wrong = run(exercise.reference, args).output, run(way, args)
        if tells_apart(wrong, wrong, right):
            named = dict(zip(exercise.arguments, args, strict=True))
            return _compared(slug, named, right, wrong)
    return [], []


def _hard_to_see(args: tuple) -> bool:
    """Not one matrix each, of several rows and columns: a single row or a batch of one can hide what goes wrong."""
    shapes = [arg.shape for arg in args if isinstance(arg, Tensor) and arg.dim() > 1]
    few = sum(arg.numel() for arg in args if isinstance(arg, Tensor)) <= INPUTS
    return not (few and shapes and all(len(shape) == 2 and min(shape) > 1 for shape in shapes))


def _compared(slug: str, named: dict[str, Any], right: Any, wrong: Run) -> tuple[list[str], list]:
    tensors = {name: arg for name, arg in named.items() if isinstance(arg, Tensor) and arg.dim() > 0}
    if sum(map(Tensor.numel, tensors.values())) > INPUTS:
        tensors = {}
    tables = [_table(arg, f"input {name}") for name, arg in tensors.items()]
    inputs = ", ".join(f"`{name}` {describe(arg)}" for name, arg in named.items())
    if wrong.error:
        text = f"For {inputs}: with this mistake it is {error_text(wrong.error)}."
        return [text], [*tables, *(_table(part, "right") for _, part in _parts(right) if isinstance(part, Tensor))]
    wrong_parts = dict(_parts(wrong.output))
    for name, part in _parts(right):
        mine = wrong_parts.get(name)
        if not isinstance(part, Tensor) or not isinstance(mine, Tensor):
            if part is not mine and difference(mine, part):
                text = f"For {inputs}: right is {part!r}{name}; with this mistake it is {mine!r}."
                return [text], tables
        elif fault := difference(mine, part):
            tables += _side_by_side(part, mine, name, slug, fault[0])
    return [f"For {inputs}: what is right, and what comes with this mistake."], tables


def _parts(result: Any, name: str = "") -> list[tuple[str, Any]]:
    """The parts of a tuple, also of one in it, each with its name."""
    if type(result) is not tuple:
        return [(name, result)]
    return [part for n, each in enumerate(result, start=1) for part in _parts(each, f"{name or ', part'} {n}".rstrip())]


def _side_by_side(right: Tensor, wrong: Tensor, name: str, slug: str, fault: str) -> list:
    """Both, at the first place where they differ, with as many digits as tell them apart."""
    at = None
    if right.shape == wrong.shape and right.dim() > 0 and fault in ("wrong-value", "not-finite"):
        at = first(~torch.isclose(wrong, right, rtol=2e-4, atol=2e-4, equal_nan=True))
    titles = f"right{name}", f"with {slug}{name}"
    for digits in (2, 4, 6):
        tables = [_table(tensor, title, at, digits) for tensor, title in zip((right, wrong), titles, strict=True)]
        if at is None or tables[0].cells != tables[1].cells:
            break
    return tables


def _table(tensor: Tensor, title: str, at: tuple[int, ...] | None = None, digits: int = 2):
    """The part of a tensor around one place: a matrix of at most ``SHOWN`` rows and columns."""
    from lesson_kit.show import matrix  # matplotlib comes with it: not at import

    whole = tuple(tensor.shape)
    if tensor.numel() == 0:
        return matrix([["none"]], columns=["entries"], title=f"{title} {whole}")
    at = at or (0,) * tensor.dim()
    tensor = tensor.detach()[at[:-2]] if tensor.dim() > 2 else tensor.detach().reshape(-1, whole[-1] if whole else 1)
    row, column = (0, 0, *at)[-2:]
    starts = [place - place % SHOWN for place in (row, column)]
    shown = tensor[tuple(slice(start, start + SHOWN) for start in starts)]
    cells = (
        shown.tolist()
        if shown.is_floating_point() or shown.dtype == torch.bool
        else [[str(number) for number in line] for line in shown.tolist()]
    )
    part = "" if shown.numel() == torch.Size(whole).numel() else ", a part"
    rows, columns = (range(start, start + n) for start, n in zip(starts, shown.shape, strict=True))  # as Python counts
    return matrix(cells, rows, columns, title=f"{title} {whole}{part}", digits=digits)
