"""Exercises of lesson 14: label smoothing and the warm-up schedule."""

import numbers

import torch
import torch.nn.functional as F
from torch import Tensor

from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import normal

# --- label_smoothed_loss -----------------------------------------------------------------------


def _loss_case(batch, length, vocab_size, smoothing, pad_id, size=1.0, **options):
    generator = torch.Generator().manual_seed(batch)
    targets = torch.randint(vocab_size, (batch, length), generator=generator)
    targets[targets == pad_id] = (pad_id + 1) % vocab_size
    for row in range(batch):  # rows of different length
        targets[row, length - row % length :] = pad_id
    return normal(batch, length, vocab_size, seed=length, size=size, **options), targets, smoothing, pad_id


def _one_row_of_tokens():
    logits, targets, smoothing, pad_id = _loss_case(3, 4, 6, 0.2, 2, size=2)
    return logits.flatten(0, 1), targets.flatten(), smoothing, pad_id


def _loss_cases():
    return [
        _loss_case(3, 5, 7, 0.1, 0, size=2),
        _loss_case(4, 4, 6, 0.3, 5),
        _one_row_of_tokens(),
        _loss_case(3, 6, 8, 0.1, 0, size=60),  # exp of these is 0 or too large, in float32
        _loss_case(2, 3, 4, 0.25, 1, dtype=torch.float64),
        _loss_case(2, 3, 5, 0.0, 0),  # no smoothing at all
        _loss_case(3, 1, 7, 0.1, 0),  # one token each, none of them padding
    ]


@exercise(_loss_cases)
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    """Cross-entropy against 1 - smoothing at the target plus smoothing spread over all classes; mean without padding.

    logits (..., vocab_size), targets (...) -> one number.
    """
    return _loss()(logits, targets, smoothing, pad_id)


def _smoothed(logits, targets, smoothing, pad_id):
    """The distribution that is aimed at: (..., vocab_size)."""
    one_hot = F.one_hot(targets, logits.shape[-1]).to(logits)
    return one_hot * (1 - smoothing) + smoothing / logits.shape[-1]


def _mean(losses, targets, pad_id):
    real = targets != pad_id
    return (losses * real).sum() / real.sum()


def _log_softmax(logits):
    return logits.log_softmax(-1)


def _loss(*, aim=_smoothed, log=_log_softmax, mean=_mean, sign=-1, finish=None):
    """The loss with its parts open."""

    def way(logits, targets, smoothing, pad_id):
        wanted = aim(logits, targets, smoothing, pad_id)
        loss = mean(sign * (wanted * log(logits)).sum(-1), targets, pad_id)
        return loss if finish is None else finish(loss)

    return way


def _uneven(target, other, pad=None):
    """Aims with a given mass at the target, at the other classes and, if not the same, at the padding class."""

    def aim(logits, targets, smoothing, pad_id):
        n = logits.shape[-1]
        hit = F.one_hot(targets, n).bool()
        wanted = torch.where(hit, target(smoothing, n), other(smoothing, n)).to(logits)
        if pad is not None:
            wanted = torch.where((torch.arange(n) == pad_id) & ~hit, pad(smoothing, n), wanted).to(logits)
        return wanted

    return aim


def _another_count(axis):
    """The smoothing shared by another number than that of the classes."""

    def aim(logits, targets, smoothing, pad_id):
        return F.one_hot(targets, logits.shape[-1]).to(logits) * (1 - smoothing) + smoothing / logits.shape[axis]

    return aim


def _not_smoothed(logits, targets, smoothing, pad_id):
    return _smoothed(logits, targets, 0.0, pad_id)


def _shares_swapped(logits, targets, smoothing, pad_id):
    return _smoothed(logits, targets, 1 - smoothing, pad_id)


def _with_padding(losses, targets, pad_id):
    return losses.mean()


def _summed(losses, targets, pad_id):
    return (losses * (targets != pad_id)).sum()


def _over_all(losses, targets, pad_id):
    return (losses * (targets != pad_id)).mean()


def _per_sentence(losses, targets, pad_id):
    return _summed(losses, targets, pad_id) / len(targets)


def _row_by_row(losses, targets, pad_id):
    real = targets != pad_id
    return ((losses * real).sum(-1) / real.sum(-1)).mean()


def _kl(logits, targets, smoothing, pad_id):
    aim = _smoothed(logits, targets, smoothing, pad_id)
    return _mean((torch.xlogy(aim, aim) - aim * logits.log_softmax(-1)).sum(-1), targets, pad_id)


_target_left_out = _uneven(lambda s, n: 1 - s, lambda s, n: s / (n - 1))


def _squeezed(mean):
    """Takes the target's number out, and every axis of length 1 with it."""

    def way(logits, targets, smoothing, pad_id):
        log_p = logits.log_softmax(-1)
        of_target = log_p.gather(-1, targets[..., None]).squeeze()
        return mean(-(1 - smoothing) * of_target - smoothing * log_p.mean(-1), targets != pad_id)

    return way


label_smoothed_loss.mistake(
    "padding-counted",
    (
        "The padding has a loss, too. Nobody wants to know how well the model writes padding: leave out the positions "
        "whose target is pad_id.",
        "Take three real targets and two of padding: how many losses should be in your sum, and by how many do you "
        "divide it?",
    ),
    _loss(mean=_with_padding),
    _loss(mean=lambda losses, targets, pad_id: losses.sum() / (targets != pad_id).sum()),
    _loss(mean=lambda losses, targets, pad_id: losses.sum()),
)
label_smoothed_loss.mistake(
    "padding-in-the-mean",
    (
        "The padding's losses are 0, but you divide by the number of all positions. Divide by the number of real "
        "targets.",
        "Three real targets with a loss of 2 each and two of padding: the mean is 2. What does yours give?",
    ),
    _loss(mean=_over_all),
)
label_smoothed_loss.mistake(
    "sum-not-mean",
    (
        "You add the losses up. With a sum, a longer batch has a larger loss and takes a larger step: divide by the "
        "number of real targets.",
        "How many entries of targets are not pad_id? A comparison makes a tensor of yes and no, and those can be "
        "counted.",
    ),
    _loss(mean=_summed),
)
label_smoothed_loss.mistake(
    "divided-by-the-number-of-sentences",
    (
        "You divide by the number of sentences. Every real target counts the same, so divide by their number.",
        "len(targets) is the first axis. With two sentences of three words each, six losses are added up.",
    ),
    _loss(mean=_per_sentence),
)
label_smoothed_loss.mistake(
    "not-averaged",
    (
        "You return a loss for each position. One number is wanted: their mean over the real targets.",
        "Print the shape of what you return. A loss that is to be trained with has no axis left.",
    ),
    _loss(mean=lambda losses, targets, pad_id: losses),
    _loss(mean=lambda losses, targets, pad_id: losses * (targets != pad_id)),
    _loss(mean=lambda losses, targets, pad_id: (losses * (targets != pad_id)).flatten()),
    _loss(mean=lambda losses, targets, pad_id: losses[targets != pad_id]),
)
label_smoothed_loss.mistake(
    "mean-of-row-means",
    (
        "You average each sentence first, and then the sentences, so that a word in a short sentence counts more. "
        "Each real target counts the same: one mean over all of them.",
        "One sentence with a single word and loss 4, one with three words and loss 0 each: the mean is 1. What does "
        "yours give?",
    ),
    _loss(mean=_row_by_row),
)
label_smoothed_loss.mistake(
    "smoothing-leaves-the-target-out",
    (
        "You share the smoothing among the other classes. It goes to all classes in equal parts, the target among "
        "them: smoothing / vocab_size each, and the target has 1 - smoothing on top.",
        "Five classes, smoothing 0.1: each of the others is aimed at with 0.02, the target with 0.92. Print yours.",
    ),
    _loss(aim=_target_left_out),
)
label_smoothed_loss.mistake(
    "smoothing-leaves-the-padding-class-out",
    (
        "The class of the padding gets no part of the smoothing. (Some books do that.) Here, as in F.cross_entropy, "
        "smoothing / vocab_size goes to every class; pad_id only says which positions don't count.",
        "pad_id plays two parts: as a target it marks a position to skip, as a class it is one like any other. Which "
        "of the two did you treat?",
    ),
    _loss(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / (n - 2), lambda s, n: 0.0)),
    _loss(aim=_uneven(lambda s, n: 1 - s + s / (n - 1), lambda s, n: s / (n - 1), lambda s, n: 0.0)),
    _loss(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / (n - 1), lambda s, n: 0.0)),
    _loss(aim=_uneven(lambda s, n: 1 - s + s / n, lambda s, n: s / n, lambda s, n: 0.0)),
)
label_smoothed_loss.mistake(
    "another-number-of-classes",
    (
        "You share the smoothing by another number than that of the classes. They lie along the last axis of the "
        "logits.",
        "Add up your aimed-at distribution over the classes of one position: it should give 1.",
    ),
    _loss(aim=_another_count(1)),
    _loss(aim=_another_count(0)),
    _loss(aim=_another_count(-2)),
)
label_smoothed_loss.mistake(
    "mass-missing",
    (
        "Your aimed-at distribution does not sum to 1. The target has 1 - smoothing and, like every class, "
        "smoothing / vocab_size on top.",
        "Five classes, smoothing 0.1: the four others get 0.02 each. How much is left for the target?",
    ),
    _loss(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / n)),
    _loss(aim=_uneven(lambda s, n: 1.0, lambda s, n: s / n)),
    _loss(aim=_uneven(lambda s, n: 1 + s / n, lambda s, n: s / n)),
)
label_smoothed_loss.mistake(
    "whole-smoothing-for-each-class",
    (
        "Every class gets the whole smoothing. It is shared: smoothing / vocab_size each.",
        "Add up your aimed-at distribution over the classes of one position: it should give 1. Is there a sum in your "
        "code where a mean belongs?",
    ),
    _loss(aim=_uneven(lambda s, n: 1.0, lambda s, n: s)),
    _loss(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s)),
)
label_smoothed_loss.mistake(
    "shares-swapped",
    (
        "The target gets the small share and the rest the large one: 1 - smoothing belongs to the target.",
        "With a smoothing of 0 this must be the plain cross-entropy. Which of your two terms vanishes then?",
    ),
    _loss(aim=_shares_swapped),
)
label_smoothed_loss.mistake(
    "not-smoothed",
    (
        "This is the plain cross-entropy. Where does smoothing come in?",
        "Besides the target's log-probability there is a second term, the mean of all log-probabilities. How are the "
        "two weighed?",
    ),
    _loss(aim=_not_smoothed),
)
label_smoothed_loss.mistake(
    "probabilities-not-logs",
    (
        "You weigh the probabilities. The cross-entropy weighs their logarithms: log_softmax in place of softmax.",
        "A model that is sure and right has the loss 0. For a probability of 1, what do you get? And its logarithm?",
    ),
    _loss(log=lambda logits: logits.softmax(-1)),
    _loss(log=lambda logits: logits.softmax(-1), sign=1),
)
label_smoothed_loss.mistake(
    "log-of-softmax",
    (
        "The log of a softmax is minus infinity as soon as a probability is too small for its floats. log_softmax "
        "takes both steps at once, and is safe. (A small number inside the log hides the infinity, and gives a wrong "
        "loss.)",
        "Try the logits 0 and 200: print their softmax, its log, and their log_softmax.",
    ),
    _loss(log=lambda logits: logits.softmax(-1).log()),
    *(_loss(log=lambda logits, eps=eps: (logits.softmax(-1) + eps).log()) for eps in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)),
)
label_smoothed_loss.mistake(
    "logits-not-logs",
    (
        "You weigh the logits as they are. They become log-probabilities by log_softmax.",
        "exp of your numbers, added up over the classes, should give 1. Does it?",
    ),
    _loss(log=lambda logits: logits),
)
label_smoothed_loss.mistake(
    "sign",
    (
        "The right size with the wrong sign: a log-probability is below 0, a loss above.",
        "Training makes the loss small. Should the log-probability of the right word become smaller, or larger?",
    ),
    _loss(sign=1),
)
label_smoothed_loss.mistake(
    "perplexity",
    (
        "You have gone one step on: exp of the loss is the perplexity. The loss itself is wanted.",
        "A model that guesses evenly among five words has the loss log 5 = 1.61. What do you get?",
    ),
    _loss(finish=torch.exp),
)
label_smoothed_loss.mistake(
    "wrong-axis",
    (
        "Your softmax runs along another axis than the classes, the last one.",
        "At each position the probabilities of all words sum to 1. Print that sum for one position.",
    ),
    _loss(log=lambda logits: logits.log_softmax(0)),
    _loss(log=lambda logits: logits.log_softmax(-2)),
)
label_smoothed_loss.mistake(
    "classes-not-on-axis-1",
    (
        "F.cross_entropy looks for the classes on axis 1, and here they are on the last one. Flatten the leading axes: "
        "logits.flatten(0, -2) and targets.flatten().",
        "Print both shapes right before the call. The first should be (positions, classes), the second (positions,).",
    ),
    lambda logits, targets, smoothing, pad_id: F.cross_entropy(
        logits, targets, label_smoothing=smoothing, ignore_index=pad_id
    ),
)
label_smoothed_loss.mistake(
    "mean-over-classes",
    (
        "You take the mean over the classes, too. Along the classes it is a sum, weighted by the aimed-at "
        "distribution.",
        "The weights of the classes sum to 1 already. Divide by the number of classes as well, and what does a loss "
        "of 2 become?",
    ),
    _loss(log=lambda logits: _log_softmax(logits) / logits.shape[-1]),
)
label_smoothed_loss.mistake(
    "kl-divergence",
    (
        "This is the Kullback-Leibler divergence, which lacks the entropy of the aimed-at distribution. That is a "
        "constant, so the gradient is the same; but the cross-entropy is wanted.",
        "F.kl_div adds p log p to each term. Which part of it is the cross-entropy?",
    ),
    _kl,
)
label_smoothed_loss.mistake(
    "squeeze-without-an-axis",
    (
        "`.squeeze()` without an axis drops every axis of length 1, also that of sentences of one token, or of a batch "
        "of one. Say which axis has to go.",
        "With targets of shape (3, 1), print the shape of what you squeeze, before and after. How many axes does it "
        "have more than the targets?",
    ),
    _squeezed(lambda losses, real: losses[real].mean()),
    _squeezed(lambda losses, real: (losses * real).sum() / real.sum()),
)
label_smoothed_loss.together(
    _loss,
    {
        "padding-counted": {"mean": _with_padding},
        "padding-in-the-mean": {"mean": _over_all},
        "sum-not-mean": {"mean": _summed},
        "divided-by-the-number-of-sentences": {"mean": _per_sentence},
        "smoothing-leaves-the-target-out": {"aim": _target_left_out},
        "mass-missing": {"aim": _uneven(lambda s, n: 1 - s, lambda s, n: s / n)},
        "shares-swapped": {"aim": _shares_swapped},
        "not-smoothed": {"aim": _not_smoothed},
        "probabilities-not-logs": {"log": lambda logits: logits.softmax(-1), "sign": -1},
        "log-of-softmax": {"log": lambda logits: logits.softmax(-1).log()},
        "logits-not-logs": {"log": lambda logits: logits},
        "sign": {"sign": 1},
        "wrong-axis": {"log": lambda logits: logits.log_softmax(-2)},
    },
)


@label_smoothed_loss.sight
def _how_sure(candidate):
    from lesson_kit import show

    sure = [1.0, 3.0, 10.0]
    logits, targets = torch.eye(5)[:1] * torch.tensor(sure)[:, None], torch.zeros(3, dtype=torch.long)
    numbers = [[candidate(logits[i : i + 1], targets[:1], s, 4).item() for s in (0.0, 0.1)] for i in range(3)]
    names = ["fairly sure, and right", "sure, and right", "very sure, and right"]
    return show.matrix(numbers, names, ["no smoothing", "smoothing 0.1"], "Your loss, five classes:")


# --- learning_rate -----------------------------------------------------------------------------


def _rate_cases():
    steps = [(1, 512, 4000), (1000, 512, 4000), (4000, 512, 4000), (20000, 512, 4000), (30, 4, 10), (7, 64, 10)]
    return [*steps, (0, 512, 4000)]


def _nothing_yet(result, args):
    """At step 0, which the paper does not have, a rate of 0 is as good as that of step 1."""
    return args[0] == 0 and isinstance(result, numbers.Real | Tensor) and bool(result == 0)


@exercise(_rate_cases, gradients=False, right_too=_nothing_yet)
def learning_rate(step, d_model, warmup):
    """The paper's schedule (section 5.3): up in a straight line for warmup steps, then down as 1 / sqrt(step).

    Steps count from 1; at step 0 it gives the value of step 1.
    """
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def _fall(step, warmup):
    return step**-0.5


def _rise(step, warmup):
    return step * warmup**-1.5


def _rate(*, power=-0.5, choose=min, fall=_fall, rise=_rise, first=1, late=0):
    """The schedule with its parts open. ``first``: the step that smaller ones count as; ``late``: added to each."""

    def way(step, d_model, warmup):
        step = max(step, first) + late
        return d_model**power * choose(fall(step, warmup), rise(step, warmup))

    return way


def _ways(*formulas):
    """Each formula, and the same with 0 at step 0."""
    for formula in formulas:
        yield formula
        yield lambda step, *sizes, formula=formula: formula(step, *sizes) if step else 0.0


def _one_branch(fall, rise):
    """d_model in the branches instead of before them, with these powers."""
    return lambda step, d_model, warmup: min(
        d_model**fall * _fall(max(step, 1), warmup), d_model**rise * _rise(max(step, 1), warmup)
    )


learning_rate.mistake(
    "step-0-divides-by-zero",
    (
        "At step 0, step ** -0.5 divides by zero. Many loops count from 0: take max(step, 1), or return 0 there.",
        "step ** -0.5 is 1 over the root of step. Call your function with step 0: which line stops?",
    ),
    _rate(first=0),
    lambda step, d_model, warmup: min(1 / step**0.5, step / warmup**1.5) / d_model**0.5,
    lambda step, d_model, warmup: min(1 / torch.tensor(step).sqrt().item(), step / warmup**1.5) / d_model**0.5,
)
learning_rate.mistake(
    "max-not-min",
    (
        "You take the larger of the two. Then the rate starts high, falls during the warm-up, and grows from there on.",
        "At step 1 one of the two is 1 and the other tiny. With which of them should a training begin?",
    ),
    *_ways(_rate(choose=max)),
)
learning_rate.mistake(
    "times-root-of-d-model",
    (
        "You multiply by the square root of d_model. The exponent is -0.5: a wider model takes smaller steps.",
        "For d_model 64, is your factor 8 or one eighth?",
    ),
    *_ways(_rate(power=0.5)),
)
learning_rate.mistake(
    "d-model-forgotten",
    (
        "The shape of the curve is right, its height is not: d_model ** -0.5 is missing.",
        "Call your function with two values of d_model and everything else the same. A wider model should take "
        "smaller steps.",
    ),
    *_ways(_rate(power=0)),
)
learning_rate.mistake(
    "divided-by-d-model",
    (
        "You divide by d_model, and not by its square root.",
        "For d_model 64 the factor is one eighth. What is yours?",
    ),
    *_ways(_rate(power=-1)),
)
learning_rate.mistake(
    "d-model-in-one-branch",
    (
        "d_model ** -0.5 multiplies one of the two only. It stands before the min, and multiplies both.",
        "Look at your brackets: is the factor inside those of min, or before them?",
    ),
    *_ways(_one_branch(-0.5, 0), _one_branch(0, -0.5)),
)
learning_rate.mistake(
    "warm-up-exponent",
    (
        "The two branches do not meet at step = warmup. There step ** -0.5 must be step * warmup ** -1.5.",
        "Print both branches for step = warmup = 100: one is 0.1. What must 100 be multiplied by to give that?",
    ),
    *_ways(
        _rate(rise=lambda step, warmup: step * warmup**-0.5),
        _rate(rise=lambda step, warmup: step / warmup),
        _rate(rise=lambda step, warmup: step**-1.5 * warmup),
        _rate(rise=lambda step, warmup: step * warmup**-2.0),
    ),
)
learning_rate.mistake(
    "no-decay",
    (
        "After the warm-up your rate stays, or goes on growing. From there on it falls: step ** -0.5, with a minus.",
        "Print your rate at the end of the warm-up and at four times that step: the second should be half the first.",
    ),
    *_ways(_rate(fall=lambda step, warmup: warmup**-0.5), _rate(fall=lambda step, warmup: step**0.5)),
)
learning_rate.mistake(
    "falls-too-fast",
    (
        "After the warm-up your rate falls as 1 over step. It should fall as 1 over the root of step.",
        "From step 100 to step 400 the rate should be halved. What does yours do?",
    ),
    *_ways(
        _rate(fall=lambda step, warmup: step**-1.0),
        _rate(fall=lambda step, warmup: warmup**0.5 / step),
        _rate(fall=lambda step, warmup: step**-1.5),
    ),
)
learning_rate.mistake(
    "no-warm-up",
    (
        "There is no warm-up: your rate falls from the first step on.",
        "Which of your two branches depends on warmup? For the first steps it has to be the smaller one.",
    ),
    *_ways(_rate(rise=_fall)),
)
learning_rate.mistake(
    "sizes-exchanged",
    (
        "d_model and warmup have changed places. The width sets the height of the curve, warmup the step of its peak.",
        "The arguments come in the order step, d_model, warmup. Which number do you raise to -1.5?",
    ),
    *_ways(lambda step, d_model, warmup: _rate()(step, warmup, d_model)),
)
learning_rate.mistake(
    "counts-from-zero",
    (
        "You use step + 1. Here steps are counted from 1 already, as in the paper.",
        "The peak should be at step = warmup. Where is yours?",
    ),
    lambda step, d_model, warmup: learning_rate.reference(step + 1, d_model, warmup),
    *_ways(_rate(late=1)),
)
learning_rate.together(
    _rate,
    {
        "step-0-divides-by-zero": {"first": 0},
        "max-not-min": {"choose": max},
        "times-root-of-d-model": {"power": 0.5},
        "d-model-forgotten": {"power": 0},
        "divided-by-d-model": {"power": -1},
        "warm-up-exponent": {"rise": lambda step, warmup: step * warmup**-0.5},
        # These three do not divide by step, or not by 0.
        "no-decay": {"fall": lambda step, warmup: warmup**-0.5, "first": 1},
        "no-warm-up": {"rise": _fall, "choose": min},
        "counts-from-zero": {"late": 1, "first": 1},
    },
)


@learning_rate.sight
def _up_and_down(candidate):
    from lesson_kit import show

    steps = [1, 1000, 4000, 16000, 64000]
    rows = [[f"{float(candidate(step, 512, 4000)):.1e}"] for step in steps]
    return show.matrix(rows, [f"step {n}" for n in steps], ["rate"], "Your rate for d_model 512 and 4000 warm-up steps")
