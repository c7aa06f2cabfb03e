"""Names that are imported at their first use, so that a package opens as fast as the part of it that is used."""

from collections.abc import Callable, Mapping
from pkgutil import resolve_name


def on_first_use(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` (PEP 562) for the module ``package``.

    ``homes`` says where each name lives, as ``"module:name"``, or ``"module"`` for a whole module.
    """

    def __getattr__(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return resolve_name(homes[name])

    def __dir__() -> list[str]:
        return sorted({*vars(resolve_name(package)), *homes})

    return __getattr__, __dir__
