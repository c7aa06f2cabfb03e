"""English-Chinese sentence pairs, made by a small grammar: what translates what is known.

What a rule is stands in ``rules``, the words in ``lexicon``. ``phrases`` are made from them, ``clauses`` from these,
and whole sentences in ``grammar``.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from lesson_kit.languages.pairs.grammar import KINDS, LONGER

SPLITS = ("train", "held_out", "longer")
HELD_OUT_SHARE = 8  # one combination in eight is never trained on
SMALLEST_HELD_OUT = 3  # content words; what two words make of each other (好喝, 好吃) has to be learnt somewhere
MAX_WORDS = 12  # the longest English sentence of "train" and "held_out"
MAX_WORDS_LONGER = 22
# The lessons' sentences. They are trained on.
TAUGHT = (("why do we work", "为什么要工作"), ("hello world", "你好世界"), ("the sky is blue", "天空是蓝色的"))


@dataclass(frozen=True)
class Pair:
    """A sentence in both languages. Positions count from 0.

    ``english``: words in lower case, no punctuation. ``chinese``: characters, no punctuation. ``alignment``: for each
    character the positions of the words it translates; none for a character that only Chinese needs. ``combination``
    names the content words, and decides whether the sentence is held out.
    """

    english: tuple[str, ...]
    chinese: str
    alignment: tuple[tuple[int, ...], ...]
    kind: str
    combination: str

    @property
    def text(self) -> str:
        """The English words with spaces between them."""
        return " ".join(self.english)


def is_held_out(combination: str) -> bool:
    """Whether sentences of this combination are kept from training: the same answer everywhere, for all seeds."""
    if len(combination.split("+")) < SMALLEST_HELD_OUT:
        return False
    return zlib.crc32(combination.encode()) % HELD_OUT_SHARE == 0


def generate_pairs(n: int, seed: int | str = 0, split: str = "train") -> Iterator[Pair]:
    """``n`` pairs, one by one; the same for the same seed. Of a large language: some come twice.

    ``split`` is "train", "held_out" (the content words, three or more, are never together those of a sentence of
    "train", in any tense or kind of clause; but each word and each kind of clause is in "train") or "longer" (more
    words than any sentence of "train").

    Raises:
        TypeError: ``n`` is not an int.
        ValueError: ``n`` is negative, or ``split`` none of the three.
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"n must be an int, got {type(n).__name__}")
    if n < 0:
        raise ValueError(f"n must be at least 0, got {n}")
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    return _generate(n, seed, split)


def _generate(n: int, seed: int | str, split: str) -> Iterator[Pair]:
    random = Random(f"{split} {seed}")
    kinds = LONGER if split == "longer" else KINDS
    names, weights = list(kinds), [weight for weight, _ in kinds.values()]
    while n > 0:
        kind = random.choices(names, weights)[0]
        part = kinds[kind][1](random)
        combination = "+".join(sorted(set(part.content)))
        if split == "longer":
            wanted = MAX_WORDS < len(part.words) <= MAX_WORDS_LONGER
        else:
            wanted = len(part.words) <= MAX_WORDS and is_held_out(combination) == (split == "held_out")
        if wanted:
            yield Pair(part.words, part.characters, part.links, kind, combination)
            n -= 1
