"""The worked numbers of the lessons, loaded from ``data/``."""

import json
import random
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from lesson_kit.data import data_path

BANK_SENTENCE = (
    "After stealing money from the bank vault, the bank robber was seen fishing on the Mississippi river bank."
)
SONGS_SENTENCE = "John and Paul wrote several songs when they were inspired."
BLUE_SENTENCE = "Tom was crying because he was blue."


def _load(name: str) -> dict:
    return json.loads(data_path(name).read_text(encoding="utf-8"))


@dataclass(frozen=True)
class TwoTokens:
    """Lesson 01's example. Rows are tokens; all tensors are float64."""

    tokens: list[str]
    x: Float[Tensor, "2 2"]
    w_q: Float[Tensor, "2 2"]
    w_k: Float[Tensor, "2 2"]
    w_v: Float[Tensor, "2 2"]


def two_tokens() -> TwoTokens:
    """The two tokens that can be followed with a pencil, and their projections."""
    data = _load("two_tokens.json")
    return TwoTokens(
        data["tokens"], *(torch.tensor(data[name], dtype=torch.float64) for name in ("x", "w_q", "w_k", "w_v"))
    )


@dataclass(frozen=True)
class SkyIsBlue:
    """Four words, one head with the sizes of the original Transformer; all tensors are float64."""

    tokens: list[str]
    x: Float[Tensor, "4 512"]
    w_q: Float[Tensor, "512 64"]
    w_k: Float[Tensor, "512 64"]
    w_v: Float[Tensor, "512 64"]
    published_weights: Float[Tensor, "4 4"]


def sky_is_blue() -> SkyIsBlue:
    """The example "The sky is blue": ``softmax(Q K^T / 8)`` is the published 4x4 matrix to its last digit.

    Published were three entries of each row of X and the weights (``data/sky_is_blue.json`` names the
    source). The other entries are drawn once and for all. W_Q and W_K are then solved for, as lesson 02
    shows step by step:

    1. scores: ``8 ln(weight)``, known up to one constant per row; we take the one that gives mean 0.
    2. Q is drawn at random; K solves ``Q K^T = scores``; W_Q and W_K solve ``X W_Q = Q``, ``X W_K = K``.
    3. Each solution gets a random part that changes nothing (K: orthogonal to Q; W: orthogonal to X),
       so that its entries look like ordinary weights.
    """
    data = _load("sky_is_blue.json")
    n_tokens, d_model, d_head = len(data["tokens"]), data["d_model"], data["d_head"]
    generator = random.Random(data["seed"])  # Python promises the same numbers in every version

    # X: two decimals like the published entries, which lie between 0 and 12.
    x = (_draw(generator, n_tokens, d_model, low=0.0, high=12.0) * 100).round() / 100
    x[:, data["visible_x"]["columns"]] = torch.tensor(data["visible_x"]["rows"], dtype=torch.float64)

    scores = torch.tensor(data["scores_up_to_a_constant_per_row"], dtype=torch.float64)
    scores = scores - scores.mean(dim=-1, keepdim=True)
    spread = 3**0.5  # uniform in -sqrt(3)..sqrt(3): variance 1
    query = _draw(generator, n_tokens, d_head, low=-spread, high=spread)
    key = _solve(query, scores, _draw(generator, d_head, n_tokens, low=-spread, high=spread)).T

    # Free parts of the usual size of new weights (Glorot and Bengio 2010).
    bound = (6 / (d_model + d_head)) ** 0.5
    w_q = _solve(x, query, _draw(generator, d_model, d_head, low=-bound, high=bound))
    w_k = _solve(x, key, _draw(generator, d_model, d_head, low=-bound, high=bound))
    w_v = _draw(generator, d_model, d_head, low=-bound, high=bound)
    weights = torch.tensor(data["published_weights"], dtype=torch.float64)
    return SkyIsBlue(data["tokens"], x, w_q, w_k, w_v, weights)


def _solve(a: Float[Tensor, "m n"], b: Float[Tensor, "m p"], free: Float[Tensor, "n p"]) -> Float[Tensor, "n p"]:
    """The solution of ``a @ solution = b`` that lies nearest to ``free``; ``a`` has full row rank."""
    return free + torch.linalg.pinv(a) @ (b - a @ free)


def _draw(generator: random.Random, rows: int, columns: int, low: float, high: float) -> Tensor:
    """A matrix of numbers between ``low`` and ``high``, filled row by row."""
    numbers = torch.tensor([generator.random() for _ in range(rows * columns)], dtype=torch.float64)
    return (low + (high - low) * numbers).reshape(rows, columns)


def published() -> dict[str, dict]:
    """Figures somebody printed: key -> {"value": ..., "source": ..., "checked": ...}.

    Values are strings, or lists of them, with as many digits as were printed; ``checked`` says where else they stand.
    """
    return _load("published_figures.json")
