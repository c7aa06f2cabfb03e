"""Inputs for the checks: random, and the same every time, without touching torch's global generator."""

import torch
from torch import Tensor

WIDTHS = (2, 3, 4, 5, 6, 8, 16, 32, 64, 128, 512, 768)  # what is written into code where the input's own width belongs
SAME_NUMBER = (
    "You divide by the same number for every input. The next query may be wider or narrower: "
    "who knows how wide this one is?"
)
LOOK_UNDER_THE_ROOT = "Look for a number, or a name from outside the function, under your root."


def normal(*shape: int, seed: int = 0, size: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
    """Normally distributed numbers with standard deviation ``size``."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator, dtype=torch.float64) * size).to(dtype)


def matrices(*shapes: tuple[int, ...], **options) -> tuple[Tensor, ...]:
    """One tensor for each shape, all different."""
    return tuple(normal(*shape, seed=seed, **options) for seed, shape in enumerate(shapes))


def norm_function(d_model: int, seed: int = 0):
    """A layer norm with a gain, a bias and a large eps: a factor before it, or a gain left out, shows."""
    gain, bias = normal(d_model, seed=seed + 100), normal(d_model, seed=seed + 200)

    def norm(x: Tensor) -> Tensor:
        return torch.nn.functional.layer_norm(x, (d_model,), gain.to(x), bias.to(x), eps=0.5)

    return norm


def token_function(d_model: int, seed: int = 0):
    """A small function of each token on its own, not linear."""
    weight = normal(d_model, d_model, seed=seed + 300)
    return lambda x: torch.tanh(x @ weight.to(x))


def mixing_function(d_model: int, seed: int = 0):
    """A small function that lets every token see the mean of all."""
    weight = normal(d_model, d_model, seed=seed + 400)
    return lambda x: torch.tanh((x + x.mean(dim=-2, keepdim=True)) @ weight.to(x))


def itself(x: Tensor) -> Tensor:
    """A sublayer may return its own input."""
    return x
