"""The course language: English sentences whose truth is known."""

from lesson_kit.languages.english.sentences import RESERVED, Sentence, generate, is_held_out, is_reserved

__all__ = ["RESERVED", "Sentence", "generate", "is_held_out", "is_reserved"]
