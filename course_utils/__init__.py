"""Reference implementations for the course "Attention, by Hand", to be read after you have written your own.

In reading order: attention, masks, embeddings, layers, encoder, bert, masked_lm, decoder, transformer, generation,
packing, tiled. They import torch and one another, nothing else of this project.
"""

from course_utils.attention import MultiHeadAttention, scaled_dot_product_attention
from course_utils.bert import Bert
from course_utils.decoder import Decoder, DecoderLayer, KeyValueCache
from course_utils.embeddings import LearnedEmbeddings, sinusoidal_positions
from course_utils.encoder import Encoder, EncoderLayer
from course_utils.generation import beam_search, greedy_decode
from course_utils.layers import FeedForward, LayerNorm, layer_norm, post_norm, pre_norm
from course_utils.masked_lm import MaskedLanguageModel, mask_tokens
from course_utils.masks import causal_mask, padding_mask
from course_utils.packing import block_diagonal_mask, pack, unpack
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
    "beam_search",
    "block_diagonal_mask",
    "causal_mask",
    "greedy_decode",
    "layer_norm",
    "mask_tokens",
    "pack",
    "padding_mask",
    "post_norm",
    "pre_norm",
    "scaled_dot_product_attention",
    "sinusoidal_positions",
    "tiled_attention",
    "unpack",
]
