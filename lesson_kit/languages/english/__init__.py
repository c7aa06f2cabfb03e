"""The course language: English sentences whose truth is known."""

from course_utils.language.sentences import RESERVED, Sentence, generate, is_held_out, is_reserved

__all__ = ["RESERVED", "Sentence", "generate", "is_held_out", "is_reserved"]
