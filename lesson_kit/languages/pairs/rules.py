"""Rules that write two languages at once, and know what translates what.

A rule has an English and a Chinese side. ``{s} did1 not1 {v} {t}`` with ``{s} {t} 没1 {v}`` moves the time before
the verb and makes one character out of two words. A digit links a word with its characters; a slot is filled with the
result of another rule.
"""

import re
from functools import cache
from typing import NamedTuple


class Part(NamedTuple):
    """A piece of a sentence in both languages. ``links``: for each character, the words it translates."""

    words: tuple[str, ...] = ()
    characters: str = ""
    links: tuple[tuple[int, ...], ...] = ()
    content: tuple[str, ...] = ()


NOTHING = Part()


@cache
def _compile(english: str, chinese: str) -> tuple[list, list]:
    """Both sides as lists of (slot, text, tag); a slot has no text, a text has no slot."""
    left, right = [], []
    for token in english.split():
        slot, word, tag = re.fullmatch(r"(?:\{(\w+)\}|([a-z']+)(\d?))", token).groups()
        left.append((slot, word, tag))
    for token in re.findall(r"\{\w+\}|[^\s{}\d:]+(?:\d|:[a-z])?", chinese):
        slot, text, tag = re.fullmatch(r"(?:\{(\w+)\}|([^\d:]+)(\d|:[a-z])?)", token).groups()
        right.append((slot, text, tag))
    return left, right


def build(english: str, chinese: str, content: tuple[str, ...] = (), **parts: Part) -> Part:
    """Applies a rule. ``没1`` translates the words with tag 1, ``了:v`` those of the slot v."""
    left, right = _compile(english, chinese)
    words: list[str] = []
    places: dict[str, list[int]] = {}
    for slot, word, tag in left:
        if slot is None:
            places.setdefault(tag, []).append(len(words))
            words.append(word)
        else:
            part = parts[slot]
            places[":" + slot] = list(range(len(words), len(words) + len(part.words)))
            words += part.words
            content += part.content
    characters, links = "", []
    for slot, text, tag in right:
        if slot is None:
            links += [tuple(places[tag]) if tag else ()] * len(text)
            characters += text
        elif part := parts[slot]:
            start = places[":" + slot][0] if part.words else 0
            links += [tuple(start + place for place in link) for link in part.links]
            characters += part.characters
    return Part(tuple(words), characters, tuple(links), content)


EMPTY_WORDS = {"a", "the", "in", "at", "on", "by", "under", "to", "for", "up", "with", "of", "near"}


@cache
def fixed_part(english: str, chinese: str) -> Part:
    """A fixed piece of the lexicon; its words are content, but for the small ones."""
    part = build(english, chinese)
    return part._replace(content=tuple(word for word in part.words if word not in EMPTY_WORDS))
