"""Reference implementations for the course "Attention, by Hand".

Every public name can be imported from here. What needs transformers, matplotlib or bertviz is
loaded on first use, so that ``import course_utils`` costs little more than ``import torch``.
"""

from course_utils._lazy import on_first_use
from course_utils.attention import MultiHeadAttention, scaled_dot_product_attention
from course_utils.bert import Bert
from course_utils.decoder import Decoder, DecoderLayer, KeyValueCache
from course_utils.embeddings import LearnedEmbeddings, sinusoidal_positions
from course_utils.encoder import Encoder, EncoderLayer
from course_utils.generation import beam_search, greedy_decode
from course_utils.layers import FeedForward, LayerNorm, layer_norm, post_norm, pre_norm
from course_utils.masks import causal_mask, padding_mask
from course_utils.packing import block_diagonal_mask, pack, unpack
from course_utils.tiled import tiled_attention
from course_utils.transformer import Transformer

_LAZY = {
    "load_bert": "course_utils.models:load_bert",
    "load_translator": "course_utils.translator:load_translator",
    "compare_hidden_states": "course_utils.compare:compare_hidden_states",
    "examples": "course_utils.examples",
    "check": "course_utils.checks",
    "check_machine": "course_utils.ready:check_machine",
    "show": "course_utils.show",
}

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
    "MultiHeadAttention",
    "Transformer",
    "beam_search",
    "block_diagonal_mask",
    "causal_mask",
    "greedy_decode",
    "layer_norm",
    "pack",
    "padding_mask",
    "post_norm",
    "pre_norm",
    "scaled_dot_product_attention",
    "sinusoidal_positions",
    "tiled_attention",
    "unpack",
    *_LAZY,
]

__getattr__, __dir__ = on_first_use(__name__, _LAZY)
