"""The course's WordPiece vocabulary: its words whole, and every ASCII letter, so that any English text has pieces."""

import string
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
from torch import Tensor
from transformers import BertTokenizer

from lesson_kit.languages.english.sentences import Sentence

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MAX_VOCABULARY = 2000


def train_vocabulary(sentences: Iterable[str], size: int = MAX_VOCABULARY) -> list[str]:
    """A WordPiece vocabulary of at most ``size`` pieces; a piece's id is its place.

    Lower-cased. Every ASCII letter, digit and punctuation mark is a piece, at the start of a word and inside it.

    Raises:
        ValueError: ``size`` has no room for the single characters.
    """
    inside = string.ascii_lowercase + string.digits
    characters = [*inside, *string.punctuation, *(f"##{character}" for character in inside)]
    if size < len(SPECIAL) + len(characters):
        raise ValueError(f"size must be at least {len(SPECIAL) + len(characters)}, got {size}")
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        # The characters too: their order decides between equally frequent pairs, and else changes from run to run.
        special_tokens=[*SPECIAL, *characters],
        show_progress=False,
    )
    words = sorted({word for sentence in sentences for word in sentence.split()})  # each word once: none too rare
    tokenizer.train_from_iterator(words, trainer)
    learned = sorted(set(tokenizer.get_vocab()) - set(SPECIAL) - set(characters))
    return [*SPECIAL, *characters, *learned]


def make_tokenizer(vocabulary: list[str], max_length: int = 64) -> BertTokenizer:
    """transformers' tokenizer with this vocabulary. The network is not needed."""
    ids = {piece: number for number, piece in enumerate(vocabulary)}
    return BertTokenizer(vocab=ids, do_lower_case=True, model_max_length=max_length)


class WordTokenizer:
    """From sentences of the course language to ids, one piece a word: what BERT's tokenizer does, without its detours.

    ``pad``, ``cls``, ``sep`` and ``mask`` are the ids of the special tokens.
    """

    def __init__(self, vocabulary: list[str]):
        self.vocabulary = vocabulary
        self.id = {piece: number for number, piece in enumerate(vocabulary)}
        self.pad, self.cls, self.sep, self.mask = (self.id[f"[{name}]"] for name in ("PAD", "CLS", "SEP", "MASK"))

    def __call__(self, sentences: Sequence[Sentence]) -> Int[Tensor, "batch length"]:
        """Padded. A word at position p of its sentence stands at p + 1, after [CLS]."""
        length = max(len(sentence.words) for sentence in sentences) + 2
        rows = []
        for sentence in sentences:
            row = [self.cls, *(self.id[word] for word in sentence.words), self.sep]
            rows.append(row + [self.pad] * (length - len(row)))
        return torch.tensor(rows)
