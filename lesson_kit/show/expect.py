"""The attention views' arguments: each function returns one ready for use, or says what is wrong with it."""

from operator import index

import torch

GET_ATTENTIONS = (
    'load the model with attn_implementation="eager", call it with output_attentions=True and give outputs.attentions'
)


def expect_tokens(tokens) -> list[str]:
    """At least one string, as a list."""
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
        raise TypeError("tokens must be a list of strings, as tokenizer.convert_ids_to_tokens gives it")
    if not len(tokens):
        raise ValueError("tokens is empty; expected at least one")
    return list(tokens)


def expect_attentions(attentions, n_tokens: int) -> list[torch.Tensor]:
    """One (heads, tokens, tokens) per layer, copied to the CPU."""
    if isinstance(attentions, torch.Tensor):
        attentions = [attentions]
    if attentions is not None and not isinstance(attentions, (list, tuple)):
        raise TypeError(
            f"attentions is a {type(attentions).__name__}; expected a torch.Tensor for each layer: {GET_ATTENTIONS}"
        )
    if attentions is None or len(attentions) == 0 or any(weights is None for weights in attentions):
        raise ValueError(f"attentions is empty: {GET_ATTENTIONS}")
    layers = []
    for layer, weights in enumerate(attentions):
        if not isinstance(weights, torch.Tensor):
            got = f"attentions[{layer}] is a {type(weights).__name__}"
            raise TypeError(f"{got}; expected a torch.Tensor for each layer: {GET_ATTENTIONS}")
        got = f"attentions[{layer}] has shape {tuple(weights.shape)}"
        if weights.dim() == 4 and weights.shape[0] != 1:
            raise ValueError(f"{got}: a batch of {weights.shape[0]}; expected one sentence, such as weights[:1]")
        weights = weights[0] if weights.dim() == 4 else weights
        n_heads = layers[0].shape[0] if layers else "heads"
        if weights.dim() != 3 or weights.shape[1:] != (n_tokens, n_tokens) or n_heads not in ("heads", len(weights)):
            raise ValueError(f"{got}; expected (1, {n_heads}, {n_tokens}, {n_tokens}) for {n_tokens} tokens")
        layers.append(weights.detach().to("cpu", copy=True))
    return layers


def expect_index(name: str, number, length: int) -> int:
    """``number`` as an int in 0..length - 1."""
    try:
        number = index(number)
    except TypeError:
        raise TypeError(f"{name} must be counted in whole numbers, got {type(number).__name__}: {number!r}") from None
    if not 0 <= number < length:
        raise ValueError(f"{name} must lie in 0..{length - 1}, counted from 0; got {number}")
    return number


def expect_indices(name: str, numbers, length: int) -> list[int]:
    """At least one number in 0..length - 1; None stands for all of them."""
    numbers = range(length) if numbers is None else [numbers] if isinstance(numbers, int) else numbers
    numbers = [expect_index(name, number, length) for number in numbers]
    if not numbers:
        raise ValueError(f"{name} is empty; expected numbers in 0..{length - 1}, or None for all")
    return numbers
