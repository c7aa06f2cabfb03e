"""For each exercise, random inputs within its contract: what the check's own few inputs can be measured by.

``within(name, number)`` gives the arguments, the same for the same number. Sizes, leading axes, dtypes and heights are
drawn; a function that no such input tells from the reference is taken for equivalent to it.
"""

import random

import torch
from torch import Tensor

from lesson_kit.check.engine.inputs import itself, mixing_function, norm_function, token_function
from lesson_kit.check.lessons.lesson_15 import _step

DRAW = {}


def within(name: str, number: int) -> tuple:
    """Arguments for the exercise ``name``."""
    return DRAW[name](_Chance(number))


class _Chance(random.Random):
    """Draws sizes and tensors; one dtype for all tensors of one call."""

    def __init__(self, number: int):
        super().__init__(number)
        self.generator = torch.Generator().manual_seed(number)
        self.dtype = self.choice([torch.float32, torch.float64])

    def size(self, low: int = 1, high: int = 6) -> int:
        return self.randint(low, high)

    def leading(self, most: int = 2, least: int = 0) -> tuple[int, ...]:
        return tuple(self.size(1, 3) for _ in range(self.randint(least, most)))

    def normal(self, *shape: int, size: float | None = None) -> Tensor:
        size = self.choice([0.3, 1.0, 2.0]) if size is None else size
        return (torch.randn(*shape, generator=self.generator, dtype=torch.float64) * size).to(self.dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.generator)

    def booleans(self, *shape: int, share: float = 0.6) -> Tensor:
        return torch.rand(*shape, generator=self.generator) < share

    def high(self, *shape: int) -> Tensor:
        """Scores whose rows, and whose numbers within a row, are of very different size."""
        scores = self.normal(*shape)
        if self.random() < 0.5:
            scores = scores + self.normal(*shape[:-1], 1, size=self.choice([10, 100, 300]))
        if self.random() < 0.3:
            scores = scores + self.normal(*shape, size=self.choice([10, 100, 1000]))
        return scores


def _draws(name):
    def remember(draw):
        DRAW[name] = draw
        return draw

    return remember


@_draws("dot_product_scores")
def _(chance):
    width = chance.size()
    return chance.normal(chance.size(), width), chance.normal(chance.size(), width)


@_draws("softmax")
def _(chance):
    return (chance.high(*chance.leading(), chance.size()),)


@_draws("attend")
def _(chance):
    keys = chance.size()
    return chance.normal(chance.size(), keys).softmax(-1), chance.normal(keys, chance.size())


@_draws("scaled_dot_product_attention")
def _(chance):
    leading, width, keys = chance.leading(), chance.size(1, 9), chance.size()
    value = chance.normal(*leading, keys, chance.size(1, 9))
    return chance.normal(*leading, chance.size(), width), chance.normal(*leading, keys, width), value


@_draws("softmax_with_temperature")
def _(chance):
    return chance.high(*chance.leading(), chance.size()), chance.choice([0.3, 0.5, 0.9, 1.0, 1.5, 2.0, 4.0])


@_draws("causal_mask")
def _(chance):
    return (chance.size(1, 9),)


@_draws("padding_mask")
def _(chance):
    longest = chance.size(1, 7)
    return chance.integers(0, longest + 1, chance.size()), longest


@_draws("masked_softmax")
def _(chance):
    leading, queries, keys = chance.leading(), chance.size(), chance.size()
    shape = chance.choice([(*leading, queries, keys), (queries, keys), (1, keys), (keys,)])
    mask = chance.booleans(*shape, share=chance.choice([0.2, 0.6, 0.9]))
    return chance.high(*leading, queries, keys), mask


@_draws("split_heads")
def _(chance):
    heads = chance.size(1, 5)
    return chance.normal(chance.size(), chance.size(), heads * chance.size()), heads


@_draws("merge_heads")
def _(chance):
    return (chance.normal(*(chance.size() for _ in range(4))),)


@_draws("multi_head_attention")
def _(chance):
    heads, d_model = chance.size(1, 4), chance.size(1, 8)
    width, d_v = heads * chance.size(1, 4), heads * chance.size(1, 4)
    d_v = chance.choice([width, width, d_v])
    x = chance.normal(chance.size(), chance.size(), d_model)
    into = [chance.normal(d_model, size, size=0.6) for size in (width, width, width)]
    return x, *into, chance.normal(width, chance.size(), size=0.6), heads


@_draws("sinusoidal_positions")
def _(chance):
    return chance.size(1, 80), 2 * chance.size(1, 20)


@_draws("add_positions")
def _(chance):
    length, width = chance.size(), chance.size()
    return chance.normal(*chance.leading(), length, width), chance.normal(length + chance.size(0, 3), width)


@_draws("layer_norm")
def _(chance):
    width, size = chance.size(2, 7), chance.choice([0.1, 1.0, 3.0])
    x = chance.normal(*chance.leading(least=1), width, size=size) + chance.choice([0, 1, 3]) * size
    return x, chance.normal(width), chance.normal(width), chance.choice([1e-5, 1e-3, 0.1, 0.5, 1.0, 2.0])


@_draws("feed_forward")
def _(chance):
    width, hidden = chance.size(), chance.size(1, 9)
    x = chance.normal(*chance.leading(least=1), width)
    return x, chance.normal(width, hidden), chance.normal(hidden), chance.normal(hidden, width), chance.normal(width)


def _token(chance, width):
    return chance.choice([token_function(width, chance.size()), mixing_function(width, chance.size()), itself])


@_draws("post_norm")
@_draws("pre_norm")
def _(chance):
    width = chance.size(2, 6)
    x = chance.normal(*chance.leading(), chance.size(), width)
    return x, _token(chance, width), norm_function(width, chance.size())


@_draws("encoder_layer")
def _(chance):
    width = chance.size(2, 6)
    x = chance.normal(*chance.leading(), chance.size(), width)
    norms = norm_function(width, chance.size()), norm_function(width, 10 + chance.size())
    return x, _token(chance, width), _token(chance, width), *norms


@_draws("bert_embeddings")
def _(chance):
    shape, words, width = (chance.size(), chance.size()), chance.size(2, 9), chance.size(2, 6)
    tables = chance.normal(words, width), chance.normal(shape[1] + chance.size(0, 3), width), chance.normal(2, width)
    return chance.integers(0, words, *shape), chance.integers(0, 2, *shape), *tables, norm_function(width)


@_draws("mask_tokens")
def _(chance):
    vocabulary, shape = chance.size(50, 2000), (chance.size(150, 400), chance.size(150, 400))
    mask_id = chance.randrange(vocabulary)
    ids, special = chance.integers(0, vocabulary, *shape), chance.booleans(*shape, share=chance.choice([0, 0.1, 0.4]))
    return ids.masked_fill(ids == mask_id, (mask_id + 1) % vocabulary), special, mask_id, vocabulary, chance.generator


@_draws("cosine_similarity")
def _(chance):
    shape, size = (*chance.leading(), chance.size(1, 7)), chance.choice([0.1, 1.0, 10.0])
    return chance.normal(*shape, size=size), chance.normal(*shape, size=size)


@_draws("head_entropy")
def _(chance):
    shape = (*chance.leading(), chance.size(), chance.size())
    weights = chance.normal(*shape, size=chance.choice([1.0, 3.0, 8.0])).softmax(-1)
    hidden = chance.booleans(*shape, share=chance.choice([0, 0.4]))
    hidden[..., 0] = False
    weights = weights.masked_fill(hidden, 0.0)
    return (weights / weights.sum(-1, keepdim=True),)


@_draws("cross_attention")
def _(chance):
    leading, d_model, d_k = chance.leading(), chance.size(1, 6), chance.size(1, 9)
    x = (
        chance.normal(*leading, chance.size(), d_model, size=0.8),
        chance.normal(*leading, chance.size(), d_model, size=0.8),
    )
    return *x, *(chance.normal(d_model, width, size=0.8) for width in (d_k, d_k, chance.size(1, 9)))


@_draws("shift_right")
def _(chance):
    dtype = chance.choice([torch.int64, torch.int32])
    return chance.integers(0, 9, chance.size(), chance.size()).to(dtype), chance.size(0, 9)


@_draws("label_smoothed_loss")
def _(chance):
    classes, shape = chance.size(3, 9), (*chance.leading(), chance.size(1, 6))
    pad_id, targets = chance.randrange(classes), chance.integers(0, classes, *shape)
    targets.view(-1)[0] = (pad_id + 1) % classes  # the mean of nothing is no number
    logits = chance.normal(*shape, classes, size=chance.choice([1.0, 3.0, 60.0]))
    return logits, targets, chance.choice([0.0, 0.1, 0.3, 0.5]), pad_id


@_draws("learning_rate")
def _(chance):
    warmup = chance.choice([1, 2, 10, 400, 4000])
    return (
        chance.choice([0, 1, 2, 3, warmup - 1, warmup, warmup + 1, 10 * warmup, chance.size(1, 9999)]),
        chance.size(1, 1024),
        warmup,
    )


@_draws("greedy_decode")
def _(chance):
    words, longest = chance.size(3, 12), chance.size(1, 20)
    eos_id, bos_id = chance.sample(range(words), 2)
    end = chance.choice([None, *range(1, longest + 2)])
    return _step(words, chance.size(0, 99), eos_id, end, chance.random() < 0.5), bos_id, eos_id, longest


@_draws("online_softmax_sum")
def _(chance):
    sizes = [chance.size(1, 4) for _ in range(chance.size(1, 5))]
    scores = chance.normal(chance.size(), sum(sizes))
    if chance.random() < 0.7:
        heights = torch.cat(
            [chance.normal(1, 1, size=chance.choice([5, 60])).clamp(-120, 120).expand(1, n) for n in sizes], 1
        )
        scores = scores + heights
    if chance.random() < 0.3:
        scores = scores + chance.normal(len(scores), 1, size=50).clamp(-120, 120)
    if chance.random() < 0.3:
        scores = scores + chance.normal(1, sum(sizes), size=100).clamp(-120, 120)
    return list(scores.split(sizes, -1)), list(chance.normal(sum(sizes), chance.size()).split(sizes))


@_draws("cached_step")
def _(chance):
    batch, time, d_model, d_head = chance.size(), chance.size(0, 5), chance.size(), chance.size()
    x_t, size = chance.normal(batch, 1, d_model), 0.8
    cache = (chance.normal(batch, time, d_head), chance.normal(batch, time, d_head)) if time else None
    return x_t, cache, *(chance.normal(d_model, d_head, size=size) for _ in range(3))
