"""The worked numbers of the lessons, loaded from ``data/``."""

import json
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

BANK_SENTENCE = (
    "After stealing money from the bank vault, the bank robber was seen fishing on the Mississippi river bank."
)
SONGS_SENTENCE = "John and Paul wrote several songs when they were inspired."
BLUE_SENTENCE = "Tom was crying because he was blue."


def data_path(name: str) -> Path:
    """The file ``name`` of ``data/``: inside an installed package, or beside it in a checkout.

    Raises:
        FileNotFoundError: no such file.
    """
    package = Path(__file__).parent
    for folder in (package / "data", package.parent / "data"):
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"name={name!r}: no such file in the course's data folder; is the checkout complete?")


def _load(name: str) -> dict:
    return json.loads(data_path(name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class TwoTokens:
    """Lesson 01's example. Rows are tokens; all tensors are 2x2, float64."""

    tokens: list[str]
    x: Tensor
    w_q: Tensor
    w_k: Tensor
    w_v: Tensor


def two_tokens() -> TwoTokens:
    """The two tokens that can be followed with a pencil, and their projections."""
    data = _load("two_tokens.json")
    return TwoTokens(
        data["tokens"], *(torch.tensor(data[name], dtype=torch.float64) for name in ("x", "w_q", "w_k", "w_v"))
    )


def published() -> dict[str, dict]:
    """Figures somebody printed: key -> {"value": ..., "source": ...}."""
    return _load("published_figures.json")
