"""Where the course's own files are."""

from pathlib import Path


def data_path(name: str) -> Path:
    """The file ``name`` of ``data/``: inside an installed package, or at the top of a checkout.

    Raises:
        FileNotFoundError: no such file.
    """
    package = Path(__file__).parent
    for folder in (package / "shipped", package.parent / "data"):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"name={name!r}: no such file in the course's data folder; is the checkout complete?")
