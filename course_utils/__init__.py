"""Reference implementations for the course "Attention, by Hand", to be read after you have written your own.

In reading order, with the lessons that teach them:

    attention (01, 02, 04), masks (03), embeddings (05), layers (06), encoder (07), bert (08), masked_lm (09),
    decoder, transformer (13), generation (15), tiled, cache, packing, in_place (18)

They import torch, jaxtyping and one another, nothing else of this project. ``_expect`` words the errors.
"""

from course_utils.attention import MultiHeadAttention, merge_heads, scaled_dot_product_attention, split_heads
from course_utils.bert import Bert
from course_utils.cache import KeyValueCache, cached_decode
from course_utils.decoder import Decoder, DecoderLayer
from course_utils.embeddings import LearnedEmbeddings, sinusoidal_positions
from course_utils.encoder import Encoder, EncoderLayer
from course_utils.generation import beam_search, greedy_decode
from course_utils.in_place import activate_in_place
from course_utils.layers import FeedForward, LayerNorm, layer_norm, post_norm, pre_norm
from course_utils.masked_lm import MaskedLanguageModel, draw_weights, mask_tokens
from course_utils.masks import causal_mask, padding_mask
from course_utils.packing import attend_within, block_diagonal_mask, encode_packed, pack, unpack
from course_utils.tiled import tiled_attention
from course_utils.transformer import Transformer

__all__ = [
    "Bert",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "EncoderLayer",
    "FeedForward",
    "KeyValueCache",
    "LayerNorm",
    "LearnedEmbeddings",
    "MaskedLanguageModel",
    "MultiHeadAttention",
    "Transformer",
    "activate_in_place",
    "attend_within",
    "beam_search",
    "block_diagonal_mask",
    "cached_decode",
    "causal_mask",
    "draw_weights",
    "encode_packed",
    "greedy_decode",
    "layer_norm",
    "mask_tokens",
    "merge_heads",
    "pack",
    "padding_mask",
    "post_norm",
    "pre_norm",
    "scaled_dot_product_attention",
    "sinusoidal_positions",
    "split_heads",
    "tiled_attention",
    "unpack",
]
