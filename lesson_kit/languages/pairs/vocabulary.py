"""Words and characters as ids, for the translator."""

from collections.abc import Iterable, Sequence
from functools import cached_property

PAD, BOS, EOS, UNK = "[PAD]", "[BOS]", "[EOS]", "[UNK]"
SPECIAL_TOKENS = (PAD, BOS, EOS, UNK)


class Vocabulary:
    """Tokens and their ids; a token's id is its place. The first four are ``[PAD] [BOS] [EOS] [UNK]``.

    Raises:
        ValueError: ``tokens`` does not begin with these four, or holds a token twice.
    """

    def __init__(self, tokens: Sequence[str]):
        if tuple(tokens[: len(SPECIAL_TOKENS)]) != SPECIAL_TOKENS:
            raise ValueError(
                f"tokens must begin with {list(SPECIAL_TOKENS)}, got {list(tokens[: len(SPECIAL_TOKENS)])}"
            )
        if len(set(tokens)) < len(tokens):
            twice = next(token for place, token in enumerate(tokens) if token in tokens[:place])
            raise ValueError(f"tokens must be different ones, got {twice!r} twice")
        self.tokens = list(tokens)

    @classmethod
    def of(cls, sentences: Iterable[Iterable[str]]) -> "Vocabulary":
        """Of all tokens in ``sentences``, in alphabetical order."""
        return cls([*SPECIAL_TOKENS, *sorted({token for sentence in sentences for token in sentence})])

    @cached_property
    def id(self) -> dict[str, int]:
        """Token -> id."""
        return {token: number for number, token in enumerate(self.tokens)}

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return token in self.id

    def encode(self, tokens: Iterable[str]) -> list[int]:
        """The ids; an unknown token becomes ``[UNK]``."""
        unknown = self.id[UNK]
        return [self.id.get(token, unknown) for token in tokens]

    def decode(self, ids: Iterable[int]) -> list[str]:
        """The tokens up to ``[EOS]``, without ``[PAD]`` and ``[BOS]``."""
        tokens = []
        for number in ids:
            token = self.tokens[number]
            if token == EOS:
                break
            if token not in (PAD, BOS):
                tokens.append(token)
        return tokens
