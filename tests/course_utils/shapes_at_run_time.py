"""Calls the public functions with their shape annotations checked. Run by tests/test_package.py in its own process."""

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
        EncoderLayer,
        FeedForward,
        KeyValueCache,
        LayerNorm,
        LearnedEmbeddings,
        MaskedLanguageModel,
        MultiHeadAttention,
        Transformer,
        activate_in_place,
        attend_within,
        beam_search,
        block_diagonal_mask,
        cached_decode,
        causal_mask,
        encode_packed,
        greedy_decode,
        layer_norm,
        mask_tokens,
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
SIZES = {"d_model": 8, "n_heads": 2, "d_ff": 16}
BERT = Bert(vocab_size=9, n_layers=2, max_length=6, with_pooler=True, **SIZES)
attend_within(MultiHeadAttention(8, 2), packed, lengths)
encode_packed(Encoder(n_layers=2, **SIZES), packed, lengths)
inputs, labels = mask_tokens(ids, ~real, mask_id=0, vocab_size=9)
MaskedLanguageModel(BERT)(inputs, real)
MaskedLanguageModel(BERT).loss(inputs, real, labels)
for need_weights in (False, True):
    MultiHeadAttention(8, 2)(x, x[:, :3], x[:, :3], torch.ones(5, 3).bool(), need_weights)
    EncoderLayer(**SIZES)(x, real[:, None, :], need_weights)
    for mask in (real[:, None, :], causal_mask(5)[None]):
        Encoder(n_layers=2, **SIZES)(x, real, need_weights, mask)
    BERT(ids, ids % 2, real, need_weights)
    BERT(ids, attention_mask=real.long(), need_weights=need_weights)
    DecoderLayer(**SIZES)(
        x, x[:, :3], target_mask=causal_mask(5), source_mask=torch.ones(5, 3).bool(), need_weights=need_weights
    )
    decoder = Decoder(n_layers=2, **SIZES)
    decoder(x, x[:, :3], target_mask=real, source_mask=real[:, :3], need_weights=need_weights)
    model = Transformer(source_vocab_size=9, target_vocab_size=7, n_layers=2, max_length=6, **SIZES)
    target_ids, cache = ids[:, :3] % 7, KeyValueCache(2, 5)
    model(ids, target_ids, target_mask=real[:, :3], source_mask=real)
    with torch.no_grad():
        memory = model.encode(ids, real).last_hidden_state
        model.decode(target_ids, memory, target_mask=real[:, :3], source_mask=real, need_weights=need_weights)
        masks = {"source_mask": real[:, :3], "need_weights": need_weights}
        for end in (2, 3):
            new = x[:, cache.length : end]
            cached_decode(decoder, cache, new, x[:, :3], target_mask=real[:, :end], **masks)
    for use_cache in (False, True):
        options = {"bos_id": 1, "eos_id": 2, "max_length": 6, "use_cache": use_cache, "need_weights": need_weights}
        greedy_decode(model, ids, real, **options)
        beam_search(model, ids, real, beam_size=3, **options)
cache.reorder(torch.tensor([1, 0]))
sinusoidal_positions(5, 8)
LearnedEmbeddings(vocab_size=9, d_model=8, max_length=6)(ids)
layer_norm(x, torch.ones(8), torch.zeros(8), 1e-5)
LayerNorm(8)(x[0])
ffn = FeedForward(8, 16)
ffn(x)
activate_in_place(ffn)
ffn(x)

try:
    EncoderOutput(x[0], (), None)  # two axes where three are annotated
except Exception:
    print("every shape holds; a wrong one is noticed")
