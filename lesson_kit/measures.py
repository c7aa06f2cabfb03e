"""Measures of what a model knows: do the senses of a word lie apart, and which relations does a sentence hold?"""

from collections import Counter
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from lesson_kit.languages.english import Sentence


def centroid_accuracy(vectors: Tensor, senses: Sequence[str]) -> float:
    """How often a vector lies nearest to the mean of its own sense, itself left out of that mean.

    ``vectors``: (n, d). Raises ValueError if a sense has fewer than two vectors or there is one sense only.
    """
    counts = Counter(senses)
    if len(counts) < 2 or min(counts.values()) < 2:
        raise ValueError(f"senses must be at least two, with at least two vectors each, got {dict(counts)}")
    names = sorted(counts)
    member = torch.tensor([[sense == name for name in names] for sense in senses])
    sums, size = member.T.to(vectors.dtype) @ vectors, member.sum(0)
    right = 0
    for vector, own in zip(vectors, member, strict=True):
        centroids = (sums - own[:, None] * vector) / (size - own.long())[:, None]
        right += bool(own[(centroids - vector).norm(dim=-1).argmin()])
    return right / len(senses)


def cosine_gap(vectors: Tensor, senses: Sequence[str], centred: bool = False, times: Tensor | None = None) -> float:
    """Mean cosine of pairs of the same sense, minus that of pairs of different senses; all pairs.

    ``centred``: the mean vector of the word is taken away first. ``times``: how often each vector counts.
    """
    times = torch.ones(len(vectors)) if times is None else times
    if centred:
        vectors = vectors - (times[:, None] * vectors).sum(0) / times.sum()
    vectors = F.normalize(vectors, dim=-1)
    names = sorted(set(senses))
    code = torch.tensor([names.index(sense) for sense in senses])
    same = code[:, None] == code
    pairs = (times[:, None] * times).fill_diagonal_(0)  # a vector is no pair with itself
    cosines = pairs * (vectors @ vectors.T)
    return float(cosines[same].sum() / pairs[same].sum() - cosines[~same].sum() / pairs[~same].sum())


def contrast(weights: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention weights minus the mean of what the other rows give to the same column: (..., rows, columns).

    A large weight in a column that every row looks at has no contrast: that query asks nothing of its own.
    ``mask``: (rows, columns) or what broadcasts to it, True = may attend; rows that may not look at a column are left
    out of its mean. NaN where the mask hides a cell, or leaves no other row. Raises ValueError for fewer than two rows
    and TypeError for a mask that is not boolean.
    """
    if weights.dim() < 2 or weights.shape[-2] < 2:
        raise ValueError(f"weights must have shape (..., rows, columns) and two rows; got {tuple(weights.shape)}")
    if mask is not None and mask.dtype != torch.bool:
        raise TypeError(f"mask must hold booleans, True = may attend; got {mask.dtype}")
    may = torch.ones_like(weights, dtype=torch.bool) if mask is None else mask.expand_as(weights)
    seen = weights * may
    others = (seen.sum(-2, keepdim=True) - seen) / (may.sum(-2, keepdim=True) - 1)
    return (weights - others).masked_fill(~may | (may.sum(-2, keepdim=True) < 2), torch.nan)


def relations(sentence: Sentence) -> dict[str, list[tuple[int, tuple[int, ...]]]]:
    """For each relation: (who looks, the words that count as right)."""
    words = sentence.words
    return {
        "pronoun -> an earlier mention": list(sentence.pronouns.items()),
        "verb -> its subject": [(v, (s,)) for s, v, _ in sentence.subject_verb_object if s is not None],
        "object -> its verb": [(o, (v,)) for _, v, o in sentence.subject_verb_object],
        "verb -> its object": [(v, (o,)) for _, v, o in sentence.subject_verb_object],
        "determiner -> its noun": [(d, (n,)) for d, n in sentence.determiner_noun],
        "adjective -> its noun": [(a, (n,)) for a, n in sentence.adjective_noun],
        "word -> the next word": [(i, (i + 1,)) for i in range(len(words) - 1)],
        "word -> the previous word": [(i, (i - 1,)) for i in range(1, len(words))],
    }
