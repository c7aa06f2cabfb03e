"""Batches without padding: the tokens of all sentences in one row, end to end.

A token-wise layer (linear maps, norms, the feed-forward network) doesn't care where a sentence ends. Attention does:
in ``encode_packed`` each token attends to its own sentence only.
"""

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from course_utils._expect import expect_lengths, expect_padding_mask, expect_sequences, expect_shape, expect_tensor
from course_utils.attention import MultiHeadAttention, merge_heads, split_heads
from course_utils.encoder import Encoder, EncoderLayer, EncoderOutput


def pack(
    x: Shaped[Tensor, "batch length *features"], real: Bool[Tensor, "batch length"]
) -> tuple[Shaped[Tensor, "1 tokens *features"], list[int]]:
    """The real tokens of ``x``, one sentence after the other, in one row; and how many each sentence has.

    ``real`` is True for a token and False for padding, wherever it stands.

    Raises:
        TypeError: ``x`` is not a tensor, or ``real`` is not boolean.
        ValueError: ``real`` has not the first two axes of ``x``.
    """
    expect_tensor("x", x)
    expect_shape("x", x, x.dim() >= 2, "(batch, length, ...)")
    expect_padding_mask("real", real, x.shape[:2])
    return x[real][None], real.sum(dim=1).tolist()


def unpack(
    packed: Shaped[Tensor, "1 tokens *features"], real: Bool[Tensor, "batch length"]
) -> Shaped[Tensor, "batch length *features"]:
    """``pack`` undone: each token goes back to its place, and zeros stand where padding stood.

    Raises:
        TypeError: ``packed`` is not a tensor, or ``real`` is not boolean.
        ValueError: ``real`` is not (batch, length), or does not mark as many tokens as ``packed`` holds.
    """
    expect_tensor("packed", packed)
    expect_shape("packed", packed, packed.dim() >= 2 and packed.shape[0] == 1, "one row, (1, tokens, ...)")
    expect_padding_mask("real", real, getattr(real, "shape", ()))
    if real.dim() != 2 or real.sum() != packed.shape[1]:
        raise ValueError(
            f"real has shape {tuple(real.shape)} and marks {int(real.sum())} tokens; expected (batch, length) "
            f"and {packed.shape[1]}, as many as packed holds"
        )
    x = packed.new_zeros(*real.shape, *packed.shape[2:])
    x[real] = packed[0]
    return x


def block_diagonal_mask(lengths: list[int], device: torch.device | str | None = None) -> Bool[Tensor, "tokens tokens"]:
    """The mask that says the same as ``lengths``: each token may attend to those of its own sentence.

    It costs what ``lengths`` saves, (sum of the lengths) squared: for looking at, and for tests.

    Raises:
        TypeError, ValueError: ``lengths`` is not a list of ints of at least 0, or holds no token at all.
    """
    expect_lengths(lengths)
    sentence = torch.arange(len(lengths), device=device).repeat_interleave(torch.tensor(lengths, device=device))
    return sentence[:, None] == sentence


def attend_within(
    attention: MultiHeadAttention, x: Float[Tensor, "1 tokens d_model"], lengths: list[int]
) -> Float[Tensor, "1 tokens d_model"]:
    """Self-attention in a row of packed sentences: the first ``lengths[0]`` tokens attend to each other, and so on.

    The same as ``attention`` under ``block_diagonal_mask(lengths)``, without the scores from one sentence to another.

    Raises:
        TypeError: ``x`` is not floating point or of another dtype, or ``lengths`` is not a list of ints.
        ValueError: ``x`` does not fit, or ``lengths`` do not add up to its tokens.
    """
    expect_sequences(attention.w_q.weight, x=x)
    expect_shape("x", x, len(x) == 1, f"one packed row, (1, tokens, {x.shape[-1]})")
    expect_lengths(lengths, x.shape[1])
    projected = (split_heads(w(x), attention.n_heads) for w in (attention.w_q, attention.w_k, attention.w_v))
    sentences = zip(*(each.split(lengths, dim=2) for each in projected), strict=True)
    # One call for each: their lengths differ, and with a mask over all of them most scores would be for nothing.
    dropout = attention.weight_dropout if attention.training else 0.0
    context = [F.scaled_dot_product_attention(*qkv, dropout_p=dropout) for qkv in sentences if qkv[0].shape[2]]
    return attention.w_o(merge_heads(torch.cat(context, dim=2)))


def encode_packed(encoder: Encoder, x: Float[Tensor, "1 tokens d_model"], lengths: list[int]) -> EncoderOutput:
    """What ``encoder`` gives for the sentences in ``x`` (see ``pack``), each as if it were alone. It has no weights.

    Raises:
        TypeError, ValueError: as for ``attend_within``.
    """
    hidden_states = [x]
    for layer in encoder.layers:
        x = _packed_layer(layer, x, lengths)
        hidden_states.append(x)
    hidden_states[-1] = x = encoder.final_norm(x)
    return EncoderOutput(x, tuple(hidden_states), None)


def _packed_layer(layer: EncoderLayer, x: Tensor, lengths: list[int]) -> Tensor:
    """``EncoderLayer.forward``, except for who attends to whom."""
    x = layer.add_and_norm(x, lambda x: layer.dropout(attend_within(layer.attention, x, lengths)), layer.norm1)
    return layer.add_and_norm(x, lambda x: layer.dropout(layer.feed_forward(x)), layer.norm2)
