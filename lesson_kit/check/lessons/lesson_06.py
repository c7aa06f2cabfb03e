"""Exercises of lesson 06: what surrounds attention."""

import torch
import torch.nn.functional as F

from course_utils import layers
from lesson_kit.check.engine.exercise import exercise
from lesson_kit.check.engine.inputs import itself, matrices, mixing_function, norm_function, normal, token_function


@exercise(
    lambda: [
        (*matrices((2, 3, 6), (6,), (6,)), 0.5),
        (*matrices((4, 5), (5,), (5,)), 0.2),
        (*matrices((4, 4), (4,), (4,)), 0.3),
        (*matrices((1, 2, 3), (3,), (3,)), 0.4),
        (*matrices((2, 5, 3, 4), (4,), (4,)), 1.0),
        (*matrices((3, 2, 8), (8,), (8,), size=2, dtype=torch.float64), 0.1),
    ]
)
def layer_norm(x, gain, bias, eps):
    """Each token to mean 0 and variance 1, then times gain plus bias: (..., d_model) -> (..., d_model)."""
    return layers.layer_norm(x, gain, bias, eps)


@exercise(
    lambda: [
        matrices((2, 3, 4), (4, 7), (7,), (7, 4), (4,)),
        matrices((5, 6), (6, 6), (6,), (6, 6), (6,)),
        matrices((1, 2, 3), (3, 5), (5,), (5, 3), (3,)),
        matrices((2, 3, 5, 4), (4, 8), (8,), (8, 4), (4,), dtype=torch.float64),
    ]
)
def feed_forward(x, w1, b1, w2, b2):
    """ReLU(x W1 + b1) W2 + b2, each token on its own: (..., d_model) -> (..., d_model)."""
    return F.relu(x @ w1 + b1) @ w2 + b2


def _residual_cases():
    return [
        (normal(2, 3, 4), token_function(4), norm_function(4)),
        (normal(5, 6), mixing_function(6), norm_function(6)),
        (normal(2, 3, 4), itself, norm_function(4)),
        (normal(1, 2, 3), token_function(3), norm_function(3)),
        (normal(3, 2, 5, dtype=torch.float64), mixing_function(5), norm_function(5)),
    ]


@exercise(_residual_cases, once=True)
def post_norm(x, sublayer, norm):
    """Add, then normalise, as in the paper and in BERT. Calls sublayer and norm once each."""
    return layers.post_norm(x, sublayer, norm)


@exercise(_residual_cases, once=True)
def pre_norm(x, sublayer, norm):
    """Normalise what goes into the sublayer, then add. Calls sublayer and norm once each."""
    return layers.pre_norm(x, sublayer, norm)


def _same(x):
    return x


def _root(variance, eps):
    return torch.sqrt(variance + eps)


def _distance(x, mean, spread):
    return (x - mean) / spread


def _gain_and_bias(normal, gain, bias, eps):
    return gain * normal + bias


def _variance(x, axes, correction, keepdim):
    return x.var(axes, correction=correction, keepdim=keepdim)


def _norm(
    axes=-1,
    correction=0,
    variance=_variance,
    spread=_root,
    divide=_distance,
    finish=_gain_and_bias,
    keepdim=True,
    eps=None,
):
    """Layer norm in its steps: which axes, n or n - 1, which spread, what is divided by it, gain and bias."""

    def layer_norm(x, gain, bias, given):
        along = axes(x) if callable(axes) else axes
        mean = x.mean(along, keepdim=keepdim)
        divisor = spread(variance(x, along, correction, keepdim), given if eps is None else eps)
        return finish(divide(x, mean, divisor), gain, bias, given)

    return layer_norm


def _all_but_the_last(x):
    return tuple(range(x.dim() - 1))


def _all_but_the_first(x):
    return tuple(range(1, x.dim()))


def _eps_outside(variance, eps):
    return torch.sqrt(variance) + eps


def _variance_itself(variance, eps):
    return variance + eps


def _sum_of_squares(x, axes, correction, keepdim):
    return ((x - x.mean(axes, keepdim=keepdim)) ** 2).sum(axes, keepdim=keepdim)


def _squares_of_x(x, axes, correction, keepdim):
    return (x**2).mean(axes, keepdim=keepdim)


def _spread_forgotten(variance, eps):
    return 1


def _not_centred(x, mean, spread):
    return x / spread


def _no_brackets(x, mean, spread):
    return x - mean / spread


def _bias_too_early(normal, gain, bias, eps):
    return gain * (normal + bias)


_forgotten = (
    "One argument has not been used.",
    "Change the numbers of gain, of bias and of eps, one after the other: with which of them does your result stay the "
    "same?",
)
layer_norm.mistake(
    "unbiased-variance",
    (
        "Your variance divides by n - 1, torch's default. LayerNorm describes these n numbers; it estimates nothing.",
        "For the token (0, 2) the mean of the squared distances is 1. What does your variance give? var and std both "
        "have an argument for this.",
    ),
    _norm(correction=1),
)
layer_norm.mistake(
    "eps-outside-the-root",
    (
        "Your eps is added to the standard deviation. It belongs to the variance, before the root.",
        "With a variance of 1 and an eps of 3 you should divide by 2, the root of 4. You divide by 4. Does std leave "
        "you a place to put eps in?",
    ),
    _norm(spread=_eps_outside),
)
layer_norm.mistake(
    "eps-forgotten",
    (
        "The result does not depend on eps. What happens to a token whose features are all equal?",
        "Such a token has variance 0, and 0 / 0 is NaN. Is eps in your formula, or a number of your own?",
    ),
    _norm(eps=0),
    _norm(eps=1e-5),
)
layer_norm.mistake(
    "eps-added-at-the-end",
    (
        "You add eps to what has been divided already. It should keep the divisor from being 0.",
        "Python divides before it adds: what does 6 / 2 + 1 give, and where would brackets have to stand for 2?",
    ),
    _norm(eps=0, finish=lambda normal, gain, bias, eps: gain * (normal + eps) + bias),
    _norm(eps=0, finish=lambda normal, gain, bias, eps: gain * normal + eps + bias),
)
layer_norm.mistake(
    "over-the-batch",
    (
        "Your mean runs over the first axis: over other sequences, as in BatchNorm. Each token is normalised on its "
        "own.",
        "Give it a batch of one, then the same sentence together with another one: its result must not change. For x "
        "of shape (2, 3, 6) there are 2 times 3 means; print the shape of yours.",
    ),
    _norm(0),
    _norm(_all_but_the_last),
)
layer_norm.mistake(
    "over-length-and-features",
    (
        "Your mean runs over several axes, so tokens leak into each other. Each token is normalised on its own.",
        "For x of shape (2, 3, 6) there are 2 times 3 means, one for each token. How many do you get? Print their "
        "shape.",
    ),
    _norm((-2, -1)),
    _norm(_all_but_the_first),
    _norm(lambda x: tuple(range(x.dim()))),
)
layer_norm.mistake(
    "over-the-length",
    (
        "Your mean runs over the tokens, feature by feature. Each token is normalised on its own.",
        "Change one token of a sentence: the others must come out as before. Along which axis do the features of one "
        "token lie, counted from the end?",
    ),
    _norm(-2),
    _norm(1),
)
layer_norm.mistake(
    "divided-by-variance",
    (
        "You divide by the variance. After that the spread is not 1: which power of the variance has the unit of x?",
        "For the token (0, 4) the distances are -2 and 2, the variance 4. Divided by what do they become -1 and 1?",
    ),
    _norm(spread=_variance_itself),
)
layer_norm.mistake(
    "not-divided",
    (
        "The mean is gone, but the spread is what it was. Half of the norm is missing.",
        "Print mean and variance of a token before the gain: the mean is 0, and the variance should be near 1.",
    ),
    _norm(spread=_spread_forgotten),
)
layer_norm.mistake(
    "brackets-forgotten",
    (
        "You divide only the mean, and then take it from x. Division comes before subtraction.",
        "8 - 4 / 2 is 6. What would you have to write for 2?",
    ),
    _norm(divide=_no_brackets),
)
layer_norm.mistake(
    "gain-and-bias-forgotten",
    (
        "Normalised, and nothing more. Two of your arguments have not been used.",
        "After the norm every token has mean 0 and variance 1. With what may the model give each feature a size and a "
        "level of its own again?",
    ),
    _norm(finish=lambda normal, gain, bias, eps: normal),
)
layer_norm.mistake("gain-forgotten", _forgotten, _norm(finish=lambda normal, gain, bias, eps: normal + bias))
layer_norm.mistake("bias-forgotten", _forgotten, _norm(finish=lambda normal, gain, bias, eps: normal * gain))
layer_norm.mistake(
    "bias-before-gain",
    (
        "You multiply the bias by the gain as well. Check the order.",
        "With a gain of 10, a bias of 1 and a normalised feature of 0, the result is 1. What do you get?",
    ),
    _norm(finish=_bias_too_early),
)
layer_norm.mistake(
    "mean-not-subtracted",
    (
        "The spread is right, but the tokens are not centred.",
        "Add 100 to all features of a token: the result must not change. Which step should notice?",
    ),
    _norm(divide=_not_centred),
)
layer_norm.mistake(
    "squares-of-x",
    (
        "You average the squares of x itself. The variance is the mean of the squared distances from the mean.",
        "For the token (3, 5) the distances from the mean are -1 and 1, so the variance is 1. What do you average?",
    ),
    _norm(variance=_squares_of_x),
)
layer_norm.mistake(
    "variance-is-a-sum",
    (
        "Your variance adds up the squared distances. It is their mean: which number is left to divide by?",
        "For the token (0, 2, 0, 2) the squared distances are 1, 1, 1, 1. Their mean is 1; what is your variance?",
    ),
    _norm(variance=_sum_of_squares),
)
layer_norm.mistake(
    "gain-before-the-norm",
    (
        "The gain comes too early. First mean 0 and variance 1, and only then times gain.",
        "Multiply the whole gain by 10: each number without its bias should grow tenfold. Does the norm take it away "
        "again in yours?",
    ),
    lambda x, gain, bias, eps: _norm()(gain * x, 1, bias, eps),
    lambda x, gain, bias, eps: _norm(divide=lambda x, mean, spread: (gain * x - mean) / spread)(x, 1, bias, eps),
)
layer_norm.mistake(
    "gain-and-bias-exchanged",
    (
        "Gain and bias have changed places: you multiply by the bias and add the gain.",
        "With all gains 1 and all biases 0 only the norm is left. What do you get with these?",
    ),
    _norm(finish=lambda normal, gain, bias, eps: bias * normal + gain),
)
layer_norm.mistake(
    "keepdim-forgotten",
    (
        "After the mean the last axis is gone, so broadcasting meets the wrong axis. Keep it, with size 1.",
        "For x of shape (2, 3, 6), print the shape of your mean. Shapes are lined up from the right: (2, 3) does not "
        "fit (2, 3, 6), and (2, 3, 1) does.",
    ),
    _norm(keepdim=False),
    lambda x, gain, bias, eps: gain * (x - x.mean(-1)) / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + bias,
    lambda x, gain, bias, eps: gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0) + eps).sqrt() + bias,
)
layer_norm.together(
    _norm,
    {  # some name an option only to be kept apart from what would give the same numbers, or make no sense
        "unbiased-variance": {"correction": 1},
        "eps-outside-the-root": {"spread": _eps_outside, "eps": None},
        "eps-forgotten": {"eps": 0},
        "over-the-batch": {"axes": 0},
        "over-length-and-features": {"axes": (-2, -1)},
        "over-the-length": {"axes": -2},
        "divided-by-variance": {"spread": _variance_itself},
        "not-divided": {
            "spread": _spread_forgotten,
            "correction": 0,
            "eps": None,
            "variance": _variance,
            "divide": _distance,
        },
        "brackets-forgotten": {"divide": _no_brackets},
        "gain-and-bias-forgotten": {"finish": lambda normal, gain, bias, eps: normal},
        "gain-forgotten": {"finish": lambda normal, gain, bias, eps: normal + bias},
        "bias-forgotten": {"finish": lambda normal, gain, bias, eps: normal * gain},
        "bias-before-gain": {"finish": _bias_too_early},
        "mean-not-subtracted": {"divide": _not_centred},
        "squares-of-x": {"variance": _squares_of_x, "correction": 0},
        "variance-is-a-sum": {"variance": _sum_of_squares, "correction": 0},
        "gain-and-bias-exchanged": {"finish": lambda normal, gain, bias, eps: bias * normal + gain},
        "keepdim-forgotten": {"keepdim": False, "axes": -1},
    },
)


@layer_norm.sight
def _(candidate):
    from lesson_kit import show

    x = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [101.0, 102.0, 103.0, 104.0]])
    y = candidate(x, torch.ones(4), torch.zeros(4), 1e-5)
    numbers = [x.mean(-1), x.std(-1, correction=0), y.mean(-1).abs(), y.std(-1, correction=0)]
    columns = ["mean before", "spread before", "mean after", "spread after"]
    title = "Your norm on three tokens: level and size are gone"
    return show.matrix(torch.stack(numbers, -1), ["1, 2, 3, 4", "ten times that", "100 more"], columns, title)


def _relu_between(product, bias):
    return F.relu(product + bias)


def _nothing_between(product, bias):
    return product + bias


def _two_steps(
    first=_same,
    use=_same,
    biases=1,
    between=_relu_between,
    second=lambda hidden, w2, b2: hidden @ w2 + b2,
    last=_same,
    residual=False,
):
    """Both steps, and where else an activation may stand. ``biases``: 0 leaves them out."""

    def feed_forward(x, w1, b1, w2, b2):
        hidden = between(first(x) @ use(w1), biases * b1)
        result = last(second(hidden, use(w2), biases * b2))
        return x + result if residual else result

    return feed_forward


def _another(activation):
    return lambda product, bias: activation(product + bias)


def _first_step_only(hidden, w2, b2):
    return hidden


feed_forward.mistake(
    "no-activation",
    (
        "ReLU is missing. Without it between them, two matrix products are one matrix product.",
        "Print the hidden numbers, right before they meet w2: is any of them negative?",
    ),
    _two_steps(between=_nothing_between),
)
feed_forward.mistake(
    "activation-last",
    (
        "ReLU comes at the end, so the result can never be negative. It belongs between the two matrix products.",
        "Print the hidden numbers, right before they meet w2: none should be negative. Which of your tensors goes "
        "through ReLU?",
    ),
    _two_steps(between=_nothing_between, last=F.relu),
)
feed_forward.mistake(
    "activation-twice",
    (
        "The ReLU between the two products is right. The second one, at the end, is too many: the output may be "
        "negative.",
        "With w2 of zeros and a bias b2 of -1 the result is -1. What do you get?",
    ),
    _two_steps(last=F.relu),
)
feed_forward.mistake(
    "activation-first",
    (
        "ReLU comes before the first matrix product, so half of x is lost at the door. It belongs between the two "
        "products.",
        "A token of negative features only: does it leave any trace in your result?",
    ),
    _two_steps(first=F.relu, between=_nothing_between),
    _two_steps(first=F.relu),
)
feed_forward.mistake(
    "bias-forgotten",
    (
        "There are two biases. Is each of them added?",
        "Give it an x of zeros: what is left is what the biases make, and b2 is in it. What is left in yours?",
    ),
    _two_steps(biases=0),
    lambda x, w1, b1, w2, b2: _two_steps()(x, w1, 0 * b1, w2, b2),
    lambda x, w1, b1, w2, b2: _two_steps()(x, w1, b1, w2, 0 * b2),
)
feed_forward.mistake(
    "activation-before-bias",
    (
        "ReLU comes before the first bias. Add the bias first: it decides from where on ReLU lets a number through.",
        "A product of -1 and a bias of 3 make 2, and ReLU lets it through. What do you make of them?",
    ),
    _two_steps(between=lambda product, bias: F.relu(product) + bias),
)
feed_forward.mistake(
    "gelu-instead-of-relu",
    (
        "A different activation: this exercise wants the paper's. BERT's comes later.",
        "Print the hidden numbers: a few are slightly negative. The paper's activation makes them exactly 0.",
    ),
    _two_steps(between=_another(F.gelu)),
    _two_steps(between=_another(lambda hidden: F.gelu(hidden, approximate="tanh"))),
)
feed_forward.mistake(
    "another-activation",
    (
        "Something stands between the two products, but it is not ReLU.",
        "ReLU leaves a positive number as it is, and makes every negative one 0. What does yours make of 2 and of -2?",
    ),
    *(_two_steps(between=_another(f)) for f in (torch.sigmoid, torch.tanh, F.leaky_relu, F.silu, F.elu, torch.abs)),
    _two_steps(between=_another(lambda hidden: hidden.softmax(-1))),
    _two_steps(between=_another(lambda hidden: -F.relu(-hidden))),
)
feed_forward.mistake(
    "second-step-missing",
    (
        "Your result is the hidden layer: w2 and b2 have not been used.",
        "The result has the shape of x. How wide is yours, d_model or d_ff?",
    ),
    _two_steps(second=_first_step_only),
)
feed_forward.mistake(
    "weights-transposed",
    (
        "Rows are tokens: the matrices are used as they are. nn.Linear and F.linear keep them transposed.",
        "A token with the features (1, 0), seen through the matrix with the rows (1, 2) and (3, 4), becomes (1, 2): "
        "the first row. What does yours become?",
    ),
    _two_steps(use=torch.t),
)
feed_forward.mistake(
    "residual-added",
    (
        "You add x at the end. The residual comes in the next exercise, around this function.",
        "With w2 and b2 of zeros the result is zero. What do you get?",
    ),
    _two_steps(residual=True),
)
feed_forward.together(
    _two_steps,
    {  # some name an option only to be kept apart from what would give the same numbers
        "no-activation": {"between": _nothing_between, "last": _same},
        "activation-last": {"between": _nothing_between, "last": F.relu},
        "activation-twice": {"last": F.relu},
        "activation-first": {"first": F.relu, "between": _nothing_between},
        "bias-forgotten": {"biases": 0},
        "activation-before-bias": {"between": lambda product, bias: F.relu(product) + bias, "biases": 1},
        "gelu-instead-of-relu": {"between": _another(F.gelu)},
        "another-activation": {"between": _another(torch.sigmoid)},
        "second-step-missing": {"second": _first_step_only, "last": _same},
        "weights-transposed": {"use": torch.t},
        "residual-added": {"residual": True},
    },
)


@feed_forward.sight
def _(candidate):
    from lesson_kit import show

    x = torch.tensor([[3.0, 1.0], [1.0, 3.0], [2.0, 2.0]])
    w1, w2 = torch.tensor([[1.0, -1.0], [-1.0, 1.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    y = candidate(x, w1, torch.zeros(2), w2, torch.zeros(2))
    columns = ["x 1", "x 2", "is 1 larger? by", "is 2 larger? by"]
    title = "Your two steps: ReLU lets one of two opposite questions through"
    return show.matrix(torch.cat([x, y], -1), [f"token {t}" for t in (1, 2, 3)], columns, title, digits=0)


_no_residual = (
    "No residual: x itself never reaches the sum. What lets a deep stack keep what it has?",
    "Let the sublayer return zeros: x should still be in the result. What is left in yours?",
)
_other = (
    "This is the other order. Where does the norm stand: after the sum, or before the sublayer?",
    "Let norm return zeros, whatever it gets. Post-norm then gives zeros; pre-norm gives x and what the sublayer "
    "makes of zeros. Which of the two does yours do?",
)
_normed = (
    "The residual comes from the normalised x. The path past the sublayer should carry x itself.",
    "Follow the name x from the top: is it still the x that came in when you add? A line that gives the name a new "
    "value changes that.",
)
_no_norm = (
    "The norm has not been used.",
    "Let norm return zeros, whatever it gets: your result does not change. Where is its place?",
)
_part = (
    "Only the sublayer's output is normalised. What does this order normalise: a part, or the sum?",
    "Which tensor do you hand to norm? Say what it holds: x, what the sublayer made, or both together.",
)
_overwritten = (
    "You add the sublayer's output to itself: x is gone when you add.",
    "Print what you add right before the sum. Did a line give the name x a new value?",
)
_twice = (
    "x is added twice.",
    "Let the sublayer return zeros: then what comes to the sum is x once. How often is it in yours?",
)


def _plain(x, norm):
    return x


def _normed_by(x, norm):
    return norm(x)


def _gone(x, norm):
    return 0 * x


def _doubled(x, norm):
    return 2 * x


def _post(into=_plain, kept=_plain, part=_plain, last=_normed_by):
    """What is done to the sublayer's input, to what goes past it, to its output, and to the sum."""
    return lambda x, sublayer, norm: last(kept(x, norm) + part(sublayer(into(x, norm)), norm), norm)


def _pre(into=_normed_by, kept=_plain, part=_plain, last=_plain):
    return _post(into, kept, part, last)


def _deep(candidate, title):
    """How large the vectors are, layer after layer."""
    from lesson_kit import show

    x, sublayer = normal(3, 8), token_function(8)
    sizes = [x.square().mean().sqrt()]
    for _ in range(16):
        x = candidate(x, sublayer, lambda x: F.layer_norm(x, x.shape[-1:]))
        sizes.append(x.square().mean().sqrt())
    depths = [0, 1, 4, 16]
    columns = ["at the start", "after 1 layer", *(f"after {depth} layers" for depth in depths[2:])]
    return show.matrix(torch.stack([sizes[depth] for depth in depths])[None], ["size of a feature"], columns, title)


post_norm.mistake("the-other-one", _other, _pre())
post_norm.mistake("residual-from-normalised-x", _normed, _post(kept=_normed_by))
post_norm.mistake("no-residual", _no_residual, _post(kept=_gone))
post_norm.mistake("norm-of-the-sublayer-only", _part, _post(part=_normed_by, last=_plain))
post_norm.mistake("no-norm", _no_norm, _post(last=_plain))
post_norm.mistake(
    "both-orders",
    (
        "You normalise before the sublayer and after the sum. Post-norm does one of the two.",
        "Count the calls of norm: one is enough. Which of the two stands on the way of the whole sum?",
    ),
    _post(into=_normed_by),
)
post_norm.mistake("x-overwritten", _overwritten, _post(kept=_gone, part=_doubled))
post_norm.mistake("x-added-twice", _twice, _post(kept=_doubled), lambda x, sublayer, norm: x + norm(x + sublayer(x)))
post_norm.together(
    _post,
    {  # some name an option only to be kept apart from what would give the same numbers
        "the-other-one": {"into": _normed_by, "last": _plain, "part": _plain},
        "residual-from-normalised-x": {"kept": _normed_by},
        "no-residual": {"kept": _gone},
        "norm-of-the-sublayer-only": {"part": _normed_by, "last": _plain, "kept": _plain},
        "no-norm": {"last": _plain, "part": _plain},
        "both-orders": {"into": _normed_by, "last": _normed_by},
        "x-overwritten": {"kept": _gone, "part": _doubled},
        "x-added-twice": {"kept": _doubled},
    },
)


@post_norm.sight
def _(candidate):
    return _deep(candidate, "Your post-norm, layer upon layer: the norm holds the vectors at one size")


pre_norm.mistake("the-other-one", _other, _post())
pre_norm.mistake("residual-from-normalised-x", _normed, _pre(kept=_normed_by))
pre_norm.mistake(
    "norm-on-the-residual",
    (
        "The norm stands on the path past the sublayer. Its place is on the way into the sublayer.",
        "Two tensors meet in the sum: what went through the sublayer, and what went past it. Which of them is "
        "normalised in yours, and which should be x untouched?",
    ),
    _pre(kept=_normed_by, into=_plain),
)
pre_norm.mistake(
    "sum-goes-through-the-sublayer",
    (
        "You add before the sublayer, so everything goes through it. Which path leads past it?",
        "Let the sublayer return zeros: x should still be in the result. What is left in yours?",
    ),
    lambda x, sublayer, norm: sublayer(x + norm(x)),
)
pre_norm.mistake("no-residual", _no_residual, _pre(kept=_gone))
pre_norm.mistake("norm-of-the-sublayer-only", _part, _pre(into=_plain, part=_normed_by))
pre_norm.mistake("no-norm", _no_norm, _pre(into=_plain))
pre_norm.mistake(
    "both-orders",
    (
        "You normalise before the sublayer and after the sum. Pre-norm does one of the two.",
        "Count the calls of norm: one is enough. Which of the two leaves the path past the sublayer untouched?",
    ),
    _pre(last=_normed_by),
)
pre_norm.mistake("x-overwritten", _overwritten, _pre(kept=_gone, part=_doubled))
pre_norm.mistake("x-added-twice", _twice, _pre(kept=_doubled))
pre_norm.together(
    _pre,
    {  # some name an option only to be kept apart from what would give the same numbers
        "the-other-one": {"into": _plain, "last": _normed_by},
        "residual-from-normalised-x": {"kept": _normed_by, "part": _plain},
        "norm-on-the-residual": {"kept": _normed_by, "into": _plain},
        "no-residual": {"kept": _gone},
        "norm-of-the-sublayer-only": {"into": _plain, "part": _normed_by, "kept": _plain},
        "no-norm": {"into": _plain, "part": _plain},
        "both-orders": {"into": _normed_by, "last": _normed_by},
        "x-overwritten": {"kept": _gone, "part": _doubled},
        "x-added-twice": {"kept": _doubled},
    },
)


@pre_norm.sight
def _(candidate):
    return _deep(candidate, "Your pre-norm, layer upon layer: nothing is lost on the way, and the vectors grow")
