"""Calls the public functions with their shape annotations switched on. Run by test_package.py in its own process."""

import sys
from pathlib import Path

import torch
from jaxtyping import install_import_hook

sys.path.insert(0, str(Path(__file__).parents[2]))
with install_import_hook("course_utils", "beartype.beartype"):
    from course_utils import (
        Bert,
        Decoder,
        DecoderLayer,
        Encoder,
        FeedForward,
        KeyValueCache,
        LayerNorm,
        LearnedEmbeddings,
        MultiHeadAttention,
        Transformer,
        beam_search,
        block_diagonal_mask,
        causal_mask,
        greedy_decode,
        layer_norm,
        pack,
        padding_mask,
        scaled_dot_product_attention,
        sinusoidal_positions,
        tiled_attention,
        unpack,
    )
    from course_utils.encoder import EncoderOutput

x, ids = torch.randn(2, 5, 8), torch.randint(0, 9, (2, 5))
real = padding_mask(torch.tensor([3, 5]), 5)
scaled_dot_product_attention(x, x[:, :3], torch.randn(2, 3, 4))
scaled_dot_product_attention(x[0], x[0], x[0], causal_mask(5))
for block in (2, (3, 100)):
    tiled_attention(x, x[:, :3], torch.randn(2, 3, 4), block=block)
    tiled_attention(x[0], x[0], x[0], causal_mask(5), block)
packed, lengths = pack(x, real)
unpack(packed, real)
unpack(pack(ids, real)[0], real)
block_diagonal_mask(lengths)
MultiHeadAttention(8, 2).attend_within(packed, lengths)
Encoder(n_layers=2, d_model=8, n_heads=2, d_ff=16)(packed, lengths=lengths)
Bert(9, 8, 2, 2, 16, 6, with_pooler=True)(ids, ids % 2, real, packed=True)
for need_weights in (False, True):
    MultiHeadAttention(8, 2)(x, x[:, :3], x[:, :3], torch.ones(5, 3).bool(), need_weights)
    Encoder(n_layers=2, d_model=8, n_heads=2, d_ff=16)(x, real[:, None, :], need_weights)
    Bert(9, 8, 2, 2, 16, 6, with_pooler=True)(ids, ids % 2, real, need_weights)
    Bert(9, 8, 2, 2, 16, 6)(ids, attention_mask=real.long(), need_weights=need_weights)
    DecoderLayer(d_model=8, n_heads=2, d_ff=16)(x, x[:, :3], causal_mask(5), torch.ones(5, 3).bool(), need_weights)
    Decoder(n_layers=2, d_model=8, n_heads=2, d_ff=16)(x, x[:, :3], real, real[:, :3], need_weights)
    model = Transformer(9, 7, 8, 2, 2, 16, 6)
    target_ids, cache = ids[:, :3] % 7, KeyValueCache(2, 3)
    model(ids, target_ids, real, real[:, :3])
    with torch.no_grad():
        memory = model.encode(ids, real).last_hidden_state
        for end in (2, 3):
            model.decode(target_ids[:, cache.length : end], memory, real, real[:, :end], need_weights, cache)
        cache.reorder(torch.tensor([1, 0]))
    for use_cache in (False, True):
        greedy_decode(model, ids, 1, 2, 6, real, use_cache, need_weights)
        beam_search(model, ids, 1, 2, 6, 3, 0.6, real, use_cache, need_weights)
sinusoidal_positions(5, 8)
LearnedEmbeddings(9, 8, 6)(ids)
layer_norm(x, torch.ones(8), torch.zeros(8), 1e-5)
LayerNorm(8)(x[0])
FeedForward(8, 16)(x)
lesson_kit.examples.sky_is_blue()
lesson_kit.examples.two_tokens()

try:
    EncoderOutput(x[0], (), None)  # two axes where three are annotated
except Exception:
    print("every shape holds; a wrong one is noticed")
