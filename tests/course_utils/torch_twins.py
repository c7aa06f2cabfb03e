"""torch's own decoder and Transformer with the weights of ours, and which weight is which."""

import warnings
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from course_utils import Decoder, DecoderLayer, EncoderLayer, LayerNorm, MultiHeadAttention, Transformer, pre_norm

Pairs = Iterator[tuple[list[Tensor], Tensor]]


def attention_pairs(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> Pairs:
    for kind in ("weight", "bias"):
        yield [getattr(w, kind) for w in (ours.w_q, ours.w_k, ours.w_v)], getattr(theirs, f"in_proj_{kind}")
        yield [getattr(ours.w_o, kind)], getattr(theirs.out_proj, kind)


def norm_pairs(ours: LayerNorm, theirs: nn.LayerNorm) -> Pairs:
    yield [ours.gain], theirs.weight
    yield [ours.bias], theirs.bias


def layer_pairs(ours: EncoderLayer | DecoderLayer, theirs: nn.Module) -> Pairs:
    """One layer's: ours, several where torch packs them into one tensor, and torch's."""
    if isinstance(ours, EncoderLayer):
        yield from attention_pairs(ours.attention, theirs.self_attn)
        norms = ["norm1", "norm2"]
    else:
        yield from attention_pairs(ours.self_attention, theirs.self_attn)
        yield from attention_pairs(ours.cross_attention, theirs.multihead_attn)
        norms = ["norm1", "norm2", "norm3"]
    for a, b in ((ours.feed_forward.w_1, theirs.linear1), (ours.feed_forward.w_2, theirs.linear2)):
        yield [a.weight], b.weight
        yield [a.bias], b.bias
    for name in norms:
        yield from norm_pairs(getattr(ours, name), getattr(theirs, name))


def stack_pairs(ours: nn.Module, theirs: nn.Module) -> Pairs:
    """An encoder's or a decoder's."""
    for a, b in zip(ours.layers, theirs.layers, strict=True):
        yield from layer_pairs(a, b)
    if isinstance(ours.final_norm, LayerNorm):
        yield from norm_pairs(ours.final_norm, theirs.norm)


@torch.no_grad()
def copy(pairs: Pairs) -> None:
    for ours, theirs in pairs:
        theirs.copy_(torch.cat(ours))


@torch.no_grad()
def shake(ours: nn.Module) -> None:
    """No zero bias and no unit gain: each must be copied and used."""
    for weight in ours.parameters():
        if weight.dim() == 1:
            weight += 0.2 * torch.randn_like(weight)


def options(layer: DecoderLayer) -> dict:
    return {
        "dim_feedforward": layer.feed_forward.w_1.out_features,
        "dropout": layer.dropout.p,
        "activation": layer.feed_forward.activation,
        "layer_norm_eps": layer.norm1.eps,
        "batch_first": True,
        "norm_first": layer.add_and_norm is pre_norm,
        "dtype": layer.norm1.gain.dtype,
    }


def torch_decoder(ours: Decoder) -> nn.TransformerDecoder:
    layer = ours.layers[0]
    theirs = nn.TransformerDecoderLayer(len(layer.norm1.gain), layer.self_attention.n_heads, **options(layer))
    norm = nn.LayerNorm(len(layer.norm1.gain), dtype=layer.norm1.gain.dtype) if layer.add_and_norm is pre_norm else None
    theirs = nn.TransformerDecoder(theirs, len(ours.layers), norm)
    copy(stack_pairs(ours, theirs))
    return theirs.train(ours.training)


def torch_transformer(ours: Transformer) -> nn.Transformer:
    """torch's has no embeddings and no output; its last norms, which the paper lacks, go unless ours has them too."""
    layer, n_layers = ours.decoder.layers[0], len(ours.decoder.layers)
    d_model, n_heads = ours.output.in_features, layer.self_attention.n_heads
    with warnings.catch_warnings(action="ignore"):  # "nested tensors are not used"
        theirs = nn.Transformer(d_model, n_heads, n_layers, n_layers, **options(layer))
    if layer.add_and_norm is not pre_norm:
        theirs.encoder.norm = theirs.decoder.norm = None
    copy(stack_pairs(ours.encoder, theirs.encoder))
    copy(stack_pairs(ours.decoder, theirs.decoder))
    return theirs.train(ours.training)
