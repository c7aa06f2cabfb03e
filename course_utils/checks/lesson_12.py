"""Exercises of lesson 12: greedy decoding, label smoothing and the warm-up schedule."""

import numbers

import torch
import torch.nn.functional as F
from torch import Tensor

from course_utils.checks.engine import exercise
from course_utils.checks.inputs import normal

# --- greedy_decode -----------------------------------------------------------------------------


def _step(vocab_size: int, seed: int, eos_id: int, end: int | None, below_zero: bool = False):
    """Scores that depend on every id so far and on its place; ``eos_id`` wins once ``end`` ids are there.

    It reads any flat row of ids; a single id is refused.
    """
    table = normal(64, vocab_size, vocab_size, seed=seed)

    def step(ids):
        if isinstance(ids, numbers.Integral) or (isinstance(ids, Tensor) and ids.dim() == 0):
            raise TypeError("step wants the list of all ids so far, and got one id")
        if isinstance(ids, Tensor) and ids.dim() > 1:
            raise TypeError(f"step wants the list of all ids so far, and got a tensor of shape {tuple(ids.shape)}")
        ids = [int(each) for each in ids]
        scores = sum((table[place % 64, each] for place, each in enumerate(ids)), torch.zeros(vocab_size))
        scores[eos_id] = scores.max() + 0.5 if len(ids) == end else scores.mean()
        return scores - scores.max() - 1 if below_zero else scores

    return step


def _decode_cases():
    return [
        (_step(9, 0, eos_id=2, end=5), 1, 2, 12),  # ends by itself
        (_step(11, 1, eos_id=0, end=4, below_zero=True), 7, 0, 20),  # eos is id 0
        (_step(9, 2, eos_id=2, end=None), 1, 2, 8),  # never ends by itself
        (_step(9, 3, eos_id=2, end=6, below_zero=True), 1, 2, 7),  # ends at the last place
        (_step(9, 4, eos_id=3, end=1), 4, 3, 6),  # ends at once
        (_step(9, 5, eos_id=3, end=1), 4, 3, 1),  # room for bos alone
    ]


@exercise(_decode_cases, gradients=False)
def greedy_decode(step, bos_id, eos_id, max_length):
    """Begins with bos_id, appends the id with the highest score of step(ids), until eos_id or max_length ids."""
    return _decode(step, bos_id, eos_id, max_length)


def _decode(
    step, bos_id, eos_id, max_length, *, pick=torch.argmax, feed=list, stop=True, extra=0, finish=lambda ids: ids
):
    ids = [bos_id]
    while len(ids) < max_length + extra:
        ids.append(pick(step(feed(ids))).item())
        if stop and ids[-1] == eos_id:
            break
    return finish(ids)


def _decoding(**options):
    return lambda *args: _decode(*args, **options)


def _looked_at_afterwards(step, bos_id, eos_id, max_length):
    ids = [bos_id]
    while True:
        ids.append(step(ids).argmax().item())
        if ids[-1] == eos_id or len(ids) >= max_length:
            return ids


def _without(*ends):
    """The result without bos (0), or without eos where it was reached (-1)."""

    def way(step, bos_id, eos_id, max_length):
        ids = _decode(step, bos_id, eos_id, max_length)
        ids = ids[:-1] if -1 in ends and ids[-1] == eos_id else ids
        return ids[1:] if 0 in ends else ids

    return way


_declare = greedy_decode.mistake
_declare(
    "does-not-stop-at-eos",
    "You go on after eos_id. It is the model's way to say that the sentence is over: append it, and stop.",
    _decoding(stop=False),
)
_declare(
    "feeds-only-the-last-id",
    "step gets the last id alone. It needs all ids so far: what comes next depends on the whole beginning.",
    _decoding(feed=lambda ids: ids[-1:]),
    _decoding(feed=lambda ids: ids[-1]),
    _decoding(feed=lambda ids: torch.tensor(ids[-1:])),
)
_declare(
    "always-feeds-the-beginning",
    "step gets the same ids each time, so it gives the same scores each time. Hand it what you have appended, too.",
    _decoding(feed=lambda ids: ids[:1]),
)
_declare(
    "picks-the-minimum",
    "You take the id with the lowest score. Greedy takes the highest.",
    _decoding(pick=torch.argmin),
)
_declare(
    "picks-the-largest-size",
    "You take the score that is farthest from 0. Scores may be below 0: log-probabilities always are.",
    _decoding(pick=lambda scores: scores.abs().argmax()),
    _decoding(pick=lambda scores: scores.square().argmax()),
)
_declare(
    "one-too-many",
    "Your list can get one id too long: at most max_length ids, and bos_id counts as one of them.",
    _decoding(extra=1),
    _looked_at_afterwards,
)
_declare(
    "one-too-few",
    "You stop one id too early: max_length ids are allowed, and bos_id counts as one of them.",
    _decoding(extra=-1),
)
_declare(
    "no-limit",
    "A model may never say eos_id, and then your loop never ends. Stop at max_length ids, too.",
    _decoding(extra=10**6),
)
_declare(
    "bos-left-out",
    "bos_id is missing at the front of your list.",
    _without(0),
)
_declare(
    "eos-left-out",
    "You stop at eos_id, but it is missing in your list. Append first, then look: eos_id at the end shows that the "
    "sentence is complete, and was not cut off at max_length.",
    _without(-1),
)
_declare(
    "bos-and-eos-left-out",
    "Both ends are missing: the list begins with bos_id, and ends with eos_id where it was reached.",
    _without(0, -1),
)
_declare(
    "bos-not-fed",
    "step never sees bos_id. The list that it gets begins with it, as every sentence did in training.",
    _decoding(feed=lambda ids: ids[1:]),
)
_declare(
    "only-the-last-id-returned",
    "You return one id. The whole list is wanted.",
    _decoding(finish=lambda ids: ids[-1]),
    _decoding(finish=lambda ids: ids[-1:]),
)
_declare(
    "a-tensor-of-ids",
    "The ids are right, but in a tensor. A plain list is wanted; .tolist() makes one.",
    _decoding(finish=torch.tensor),
    _decoding(finish=lambda ids: torch.tensor([ids])),
)

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
    ]


@exercise(_loss_cases)
def label_smoothed_loss(logits, targets, smoothing, pad_id):
    """Cross-entropy against 1 - smoothing at the target plus smoothing spread over all classes; mean without padding.

    logits (..., vocab_size), targets (...) -> one number.
    """
    return _loss(logits, targets, smoothing, pad_id)


def _smoothed(logits, targets, smoothing, pad_id):
    """The distribution that is aimed at: (..., vocab_size)."""
    one_hot = F.one_hot(targets, logits.shape[-1]).to(logits)
    return one_hot * (1 - smoothing) + smoothing / logits.shape[-1]


def _mean(losses, targets, pad_id):
    real = targets != pad_id
    return (losses * real).sum() / real.sum()


def _log_softmax(logits):
    return logits.log_softmax(-1)


def _loss(logits, targets, smoothing, pad_id, *, aim=_smoothed, log=_log_softmax, mean=_mean, sign=-1):
    wanted = aim(logits, targets, smoothing, pad_id)
    return mean(sign * (wanted * log(logits)).sum(-1), targets, pad_id)


def _with(**options):
    return lambda *args: _loss(*args, **options)


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


def _summed(losses, targets, pad_id):
    return (losses * (targets != pad_id)).sum()


def _over_all(losses, targets, pad_id):
    return (losses * (targets != pad_id)).mean()


def _row_by_row(losses, targets, pad_id):
    real = targets != pad_id
    return ((losses * real).sum(-1) / real.sum(-1)).mean()


def _kl(logits, targets, smoothing, pad_id):
    aim = _smoothed(logits, targets, smoothing, pad_id)
    return _mean((torch.xlogy(aim, aim) - aim * logits.log_softmax(-1)).sum(-1), targets, pad_id)


_declare = label_smoothed_loss.mistake
_declare(
    "padding-counted",
    "The padding has a loss, too. Nobody wants to know how well the model writes padding: leave out the positions "
    "whose target is pad_id.",
    _with(mean=lambda losses, targets, pad_id: losses.mean()),
    _with(mean=lambda losses, targets, pad_id: losses.sum() / (targets != pad_id).sum()),
    _with(mean=lambda losses, targets, pad_id: losses.sum()),
)
_declare(
    "padding-in-the-mean",
    "The padding's losses are 0, but you divide by the number of all positions. Divide by the number of real targets.",
    _with(mean=_over_all),
)
_declare(
    "sum-not-mean",
    "You add the losses up. With a sum, a longer batch has a larger loss and takes a larger step: divide by the number "
    "of real targets.",
    _with(mean=_summed),
)
_declare(
    "not-averaged",
    "You return a loss for each position. One number is wanted: their mean over the real targets.",
    _with(mean=lambda losses, targets, pad_id: losses),
    _with(mean=lambda losses, targets, pad_id: losses * (targets != pad_id)),
    _with(mean=lambda losses, targets, pad_id: losses[targets != pad_id]),
)
_declare(
    "mean-of-row-means",
    "You average each sentence first, and then the sentences, so that a word in a short sentence counts more. "
    "Each real target counts the same: one mean over all of them.",
    _with(mean=_row_by_row),
)
_declare(
    "smoothing-leaves-the-target-out",
    "You share the smoothing among the other classes. It goes to all classes in equal parts, the target among them: "
    "smoothing / vocab_size each, and the target has 1 - smoothing on top.",
    _with(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / (n - 1))),
    _with(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / (n - 1)), log=lambda logits: logits.softmax(-1).log()),
)
_declare(
    "smoothing-leaves-the-padding-class-out",
    "The class of the padding gets no part of the smoothing. (Some books do that.) Here, as in F.cross_entropy, "
    "smoothing / vocab_size goes to every class; pad_id only says which positions don't count.",
    _with(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / (n - 2), lambda s, n: 0.0)),
    _with(aim=_uneven(lambda s, n: 1 - s + s / (n - 1), lambda s, n: s / (n - 1), lambda s, n: 0.0)),
    _with(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / (n - 1), lambda s, n: 0.0)),
    _with(aim=_uneven(lambda s, n: 1 - s + s / n, lambda s, n: s / n, lambda s, n: 0.0)),
)
_declare(
    "mass-missing",
    "Your aimed-at distribution does not sum to 1. The target has 1 - smoothing and, like every class, "
    "smoothing / vocab_size on top.",
    _with(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s / n)),
    _with(aim=_uneven(lambda s, n: 1.0, lambda s, n: s / n)),
    _with(aim=_uneven(lambda s, n: 1 + s / n, lambda s, n: s / n)),
)
_declare(
    "whole-smoothing-for-each-class",
    "Every class gets the whole smoothing. It is shared: smoothing / vocab_size each.",
    _with(aim=_uneven(lambda s, n: 1.0, lambda s, n: s)),
    _with(aim=_uneven(lambda s, n: 1 - s, lambda s, n: s)),
)
_declare(
    "shares-swapped",
    "The target gets the small share and the rest the large one: 1 - smoothing belongs to the target.",
    _with(aim=lambda logits, targets, s, pad_id: _smoothed(logits, targets, 1 - s, pad_id)),
)
_declare(
    "not-smoothed",
    "This is the plain cross-entropy. Where does smoothing come in?",
    _with(aim=lambda logits, targets, smoothing, pad_id: _smoothed(logits, targets, 0.0, pad_id)),
)
_declare(
    "probabilities-not-logs",
    "You weigh the probabilities. The cross-entropy weighs their logarithms: log_softmax in place of softmax.",
    _with(log=lambda logits: logits.softmax(-1)),
    _with(log=lambda logits: logits.softmax(-1), sign=1),
)
_declare(
    "log-of-softmax",
    "The log of a softmax is minus infinity as soon as a probability is too small for its floats. log_softmax takes "
    "both steps at once, and is safe. (A small number inside the log hides the infinity, and gives a wrong loss.)",
    _with(log=lambda logits: logits.softmax(-1).log()),
    *(_with(log=lambda logits, eps=eps: (logits.softmax(-1) + eps).log()) for eps in (1e-6, 1e-8, 1e-9, 1e-10, 1e-12)),
)
_declare(
    "logits-not-logs",
    "You weigh the logits as they are. They become log-probabilities by log_softmax.",
    _with(log=lambda logits: logits),
)
_declare(
    "sign",
    "The right size with the wrong sign: a log-probability is below 0, a loss above.",
    _with(sign=1),
)
_declare(
    "wrong-axis",
    "Your softmax runs along another axis than the classes, the last one.",
    _with(log=lambda logits: logits.log_softmax(0)),
    _with(log=lambda logits: logits.log_softmax(-2)),
)
_declare(
    "classes-not-on-axis-1",
    "F.cross_entropy looks for the classes on axis 1, and here they are on the last one. Flatten the leading axes: "
    "logits.flatten(0, -2) and targets.flatten().",
    lambda logits, targets, smoothing, pad_id: F.cross_entropy(
        logits, targets, label_smoothing=smoothing, ignore_index=pad_id
    ),
)
_declare(
    "mean-over-classes",
    "You take the mean over the classes, too. Along the classes it is a sum, weighted by the aimed-at distribution.",
    _with(
        mean=lambda losses, targets, pad_id: _mean(losses, targets, pad_id), log=lambda x: _log_softmax(x) / x.shape[-1]
    ),
)
_declare(
    "kl-divergence",
    "This is the Kullback-Leibler divergence, which lacks the entropy of the aimed-at distribution. That is a "
    "constant, so the gradient is the same; but the cross-entropy is wanted.",
    _kl,
)

# --- learning_rate -----------------------------------------------------------------------------


def _rate_cases():
    steps = [(1, 512, 4000), (100, 512, 4000), (4000, 512, 4000), (20000, 512, 4000), (30, 4, 10), (7, 64, 10)]
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


def _ways(formula):
    """The formula with each way of meeting step 0: dividing by zero, giving 0, going on as at step 1."""
    return (
        formula,
        lambda step, *rest: formula(step, *rest) if step else 0.0,
        lambda step, *rest: formula(max(step, 1), *rest),
    )


_declare = learning_rate.mistake
_declare(
    "step-0-divides-by-zero",
    "At step 0, step ** -0.5 divides by zero. Many loops count from 0: take max(step, 1), or return 0 there.",
    lambda step, d_model, warmup: d_model**-0.5 * min(step**-0.5, step * warmup**-1.5),
    lambda step, d_model, warmup: min(1 / step**0.5, step / warmup**1.5) / d_model**0.5,
    lambda step, d_model, warmup: min(1 / torch.tensor(step).sqrt().item(), step / warmup**1.5) / d_model**0.5,
)
_declare(
    "max-not-min",
    "You take the larger of the two. Then the rate starts high, falls during the warm-up, and grows from there on.",
    *_ways(lambda step, d_model, warmup: d_model**-0.5 * max(step**-0.5, step * warmup**-1.5)),
)
_declare(
    "times-root-of-d-model",
    "You multiply by the square root of d_model. The exponent is -0.5: a wider model takes smaller steps.",
    *_ways(lambda step, d_model, warmup: d_model**0.5 * min(step**-0.5, step * warmup**-1.5)),
)
_declare(
    "d-model-forgotten",
    "The shape of the curve is right, its height is not: d_model ** -0.5 is missing.",
    *_ways(lambda step, d_model, warmup: min(step**-0.5, step * warmup**-1.5)),
)
_declare(
    "divided-by-d-model",
    "You divide by d_model, and not by its square root.",
    *_ways(lambda step, d_model, warmup: min(step**-0.5, step * warmup**-1.5) / d_model),
)
_declare(
    "d-model-in-one-branch",
    "d_model ** -0.5 multiplies one of the two only. It stands before the min, and multiplies both.",
    *_ways(lambda step, d_model, warmup: min(d_model**-0.5 * step**-0.5, step * warmup**-1.5)),
    *_ways(lambda step, d_model, warmup: min(step**-0.5, d_model**-0.5 * step * warmup**-1.5)),
)
_declare(
    "warm-up-exponent",
    "The two branches do not meet at step = warmup. There step ** -0.5 must be step * warmup ** -1.5.",
    *_ways(lambda step, d_model, warmup: d_model**-0.5 * min(step**-0.5, step * warmup**-0.5)),
    *_ways(lambda step, d_model, warmup: d_model**-0.5 * min(step**-0.5, step / warmup)),
    *_ways(lambda step, d_model, warmup: d_model**-0.5 * min(step**-0.5, step**-1.5 * warmup)),
)
_declare(
    "no-decay",
    "After the warm-up your rate stays, or goes on growing. From there on it falls: step ** -0.5, with a minus.",
    *_ways(lambda step, d_model, warmup: d_model**-0.5 * min(warmup**-0.5, step * warmup**-1.5)),
    *_ways(lambda step, d_model, warmup: d_model**-0.5 * min(step**0.5, step * warmup**-1.5)),
)
_declare(
    "no-warm-up",
    "There is no warm-up: your rate falls from the first step on.",
    *_ways(lambda step, d_model, warmup: d_model**-0.5 * step**-0.5),
)
_declare(
    "counts-from-zero",
    "You use step + 1. Here steps are counted from 1 already, as in the paper.",
    lambda step, d_model, warmup: learning_rate.reference(step + 1, d_model, warmup),
)
