"""What a check found, as data: what is shown of it is written elsewhere, and nobody has to read it back."""

from dataclasses import dataclass, field

import torch


@dataclass(frozen=True)
class Verdict:
    """``slugs`` name what is wrong, such as "wrong-axis"; there are none if nothing is.

    There are several only where they name known mistakes: made at once if ``together``, else such as can't be told
    apart. ``text``: the sentences that say what is wrong, with the first hint. ``error_type``: the class of the error
    that the candidate raised, such as "RuntimeError". ``printed``: what it printed for the input that ``text`` is
    about, in a sentence. ``inputs`` and ``dtypes``: on how many inputs it passed, and of what the right results are.
    """

    slugs: tuple[str, ...] = ()
    text: str = ""
    together: bool = False
    error_type: str | None = None
    printed: str = ""
    inputs: int = field(default=0, compare=False)
    dtypes: tuple[torch.dtype, ...] = field(default=(), compare=False)

    @property
    def passed(self) -> bool:
        return not self.slugs

    @property
    def attempted(self) -> bool:
        return self.slugs != ("not-attempted",)

    @property
    def name(self) -> str | None:
        """The slugs in words, None if passed: "this and that" if both were made, "this or that" if one of them was."""
        return self.joined(self.slugs) or None

    def joined(self, words: tuple[str, ...]) -> str:
        """``words``, one for each slug, put together as the slugs belong together."""
        return (" and " if self.together else " or ").join(words)
