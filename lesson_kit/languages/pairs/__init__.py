"""English sentences and their Chinese translations, from one grammar."""

from lesson_kit.languages.pairs.generate import MAX_WORDS, TAUGHT, Pair, generate_pairs

__all__ = ["MAX_WORDS", "TAUGHT", "Pair", "generate_pairs"]
