"""Where the course's own files are."""

from pathlib import Path

CHECKOUT = Path(__file__).parent.parent  # where the course was cloned; site-packages where a wheel was installed


def data_path(name: str) -> Path:
    """The file ``name`` of ``data/``: inside an installed package, or at the top of a checkout.

    Raises:
        FileNotFoundError: no such file.
    """
    for folder in (Path(__file__).parent / "shipped", CHECKOUT / "data"):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"name={name!r}: no such file in the course's data folder; is the checkout complete?")
