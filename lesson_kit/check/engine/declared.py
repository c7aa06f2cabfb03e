"""What an exercise declares: its reference, its inputs and its known mistakes."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Literal

from torch import Tensor


@dataclass(frozen=True)
class Mistake:
    """A known mistake: hints, the next one each time that it is made again, and ways in which it is made."""

    hints: tuple[str, ...]
    ways: tuple[Callable, ...]


@dataclass
class Declared:
    """A reference, inputs and known mistakes.

    ``cases`` builds the inputs, a list of argument tuples. ``gradients``: must they reach every floating
    input? With "reach" they must, but right formulations may differ in their values.
    ``once``: may each input that is a function be called only once? ``shares``: for results drawn at random from a
    ``torch.Generator`` among the arguments. It gives shares, a sentence with a number each, from a result and the
    arguments; they are compared in place of the result, which must be the same for the same seed only.
    ``example``: one input more, for the stories of its mistakes: small and clear, and not checked.
    ``right_too``: is this result for these arguments right as well, though the reference gives another?
    """

    reference: Callable
    cases: Callable[[], list[tuple]]
    gradients: bool | Literal["reach"] = True
    once: bool = False
    shares: Callable[[Any, tuple], dict[str, float]] | None = None
    right_too: Callable[[Any, tuple], bool] | None = None
    example: tuple | None = None
    mistakes: dict[str, Mistake] = field(default_factory=dict)

    def __post_init__(self):
        self.name, self.__doc__ = self.reference.__name__, self.reference.__doc__
        self.arguments = list(inspect.signature(self.reference).parameters)
        self.call = f"{self.name}({', '.join(self.arguments)})"
        self._build, self._options = None, {}

    def mistake(self, slug: str, hints: str | tuple[str, ...], *ways: Callable) -> None:
        """Declare a known mistake: its name, hints that teach, and one or more ways in which it is made."""
        self.mistakes[slug] = Mistake((hints,) if isinstance(hints, str) else hints, ways)

    def together(self, build: Callable[..., Callable], options: dict[str, dict[str, Any]]) -> None:
        """Declare mistakes that can be made two at a time.

        ``build(**options)`` gives a formulation; without options the right one. ``options[slug]`` makes that mistake.
        Two are tried together unless they need the same option.
        """
        self._build, self._options = build, options

    def inputs(self) -> list[tuple]:
        """The cases, smallest first: the smallest that shows a difference is the one to tell."""
        return sorted(self.cases(), key=lambda args: sum(arg.numel() for arg in args if isinstance(arg, Tensor)))

    def pairs(self) -> Iterator[tuple[tuple[str, str], Callable]]:
        """The slugs of each two mistakes that ``together`` allows, and a function that makes both."""
        for one, other in combinations(self._options, 2):
            if not self._options[one].keys() & self._options[other].keys():
                yield (one, other), self._build(**self._options[one], **self._options[other])
