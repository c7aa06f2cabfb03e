"""``greedy_decode`` against Hugging Face's ``generate``: ``python tests/benchmarks/generation_huggingface.py``.

Both with their caches, from source ids to 64 target tokens, float32. The model on the other side is transformers'
MarianMTModel, which has the paper's architecture (post-norm, sinusoidal positions, scaled embeddings, ReLU), with our
weights and our table of positions in it; that scores agree to 1e-4, and the ids exactly, is checked first. The row of
the end symbol in the last map is zero, so that no text ends early.
"""

from collections.abc import Iterator

import measuring
import torch
from torch import nn
from transformers import GenerationConfig, MarianConfig, MarianMTModel

from course_utils import Decoder, Encoder, LayerNorm, MultiHeadAttention, Transformer, greedy_decode

VOCABULARY, SOURCE_LENGTH, TOKENS, BOS, EOS = 4000, 16, 64, 1, 0
SIZES = {"translator": (128, 4, 2, 512), "the paper's": (512, 8, 6, 2048)}
BATCHES = (1, 8)


def copy_attention(ours: MultiHeadAttention, theirs: nn.Module) -> None:
    for mine, other in (("w_q", "q_proj"), ("w_k", "k_proj"), ("w_v", "v_proj"), ("w_o", "out_proj")):
        getattr(theirs, other).load_state_dict(getattr(ours, mine).state_dict())


def copy_norm(ours: LayerNorm, theirs: nn.LayerNorm) -> None:
    theirs.load_state_dict({"weight": ours.gain, "bias": ours.bias})


def copy_stack(ours: Encoder | Decoder, theirs: nn.Module) -> None:
    for mine, other in zip(ours.layers, theirs.layers, strict=True):
        norms = [mine.norm1, mine.norm2]
        if isinstance(ours, Encoder):
            copy_attention(mine.attention, other.self_attn)
        else:
            copy_attention(mine.self_attention, other.self_attn)
            copy_attention(mine.cross_attention, other.encoder_attn)
            copy_norm(norms.pop(1), other.encoder_attn_layer_norm)
            norms.append(mine.norm3)
        copy_norm(norms[0], other.self_attn_layer_norm)
        copy_norm(norms[1], other.final_layer_norm)
        other.fc1.load_state_dict(mine.feed_forward.w_1.state_dict())
        other.fc2.load_state_dict(mine.feed_forward.w_2.state_dict())


def marian_twin(ours: Transformer, n_heads: int) -> MarianMTModel:
    """transformers' model with the weights of ours, which shares its embeddings and does not tie its output."""
    vocab_size, d_model = ours.source_embedding.weight.shape
    n_layers, d_ff = len(ours.encoder.layers), ours.encoder.layers[0].feed_forward.w_1.out_features
    sizes = {"vocab_size": vocab_size, "d_model": d_model, "max_position_embeddings": ours.max_length}
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": n_layers, f"{side}_ffn_dim": d_ff, f"{side}_attention_heads": n_heads}
    config = MarianConfig(
        **sizes,
        activation_function="relu",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=False,
        pad_token_id=EOS,
        eos_token_id=EOS,
        forced_eos_token_id=None,
        decoder_start_token_id=BOS,
    )
    theirs = MarianMTModel(config).eval()
    theirs.set_attn_implementation("sdpa")
    with torch.no_grad():
        for side, stack in (("encoder", ours.encoder), ("decoder", ours.decoder)):
            other = getattr(theirs.model, side)
            other.embed_tokens.weight.copy_(ours.source_embedding.weight)
            other.embed_positions.weight.copy_(ours.positions)
            copy_stack(stack, other)
        theirs.lm_head.weight.copy_(ours.output.weight)
        theirs.final_logits_bias.zero_()
    return theirs


@torch.inference_mode()
def measure(rounds: int) -> Iterator[measuring.Row]:
    settings = GenerationConfig(
        max_new_tokens=TOKENS,
        do_sample=False,
        num_beams=1,
        use_cache=True,
        bos_token_id=BOS,
        eos_token_id=EOS,
        pad_token_id=EOS,
        decoder_start_token_id=BOS,
    )
    for name, (d_model, n_heads, n_layers, d_ff) in SIZES.items():
        sizes = {"n_layers": n_layers, "d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
        ours = Transformer(source_vocab_size=VOCABULARY, **sizes).eval()
        ours.target_embedding = ours.source_embedding  # as Marian has it
        ours.output.weight[EOS] = 0
        theirs = marian_twin(ours, n_heads)
        for batch in BATCHES:
            source = torch.randint(2, VOCABULARY, (batch, SOURCE_LENGTH))
            mask = torch.ones_like(source)
            candidates = {
                "ours": lambda m=ours, s=source: greedy_decode(m, s, bos_id=BOS, eos_id=EOS, max_length=TOKENS).ids,
                "theirs": lambda m=theirs, s=source, a=mask: m.generate(
                    input_ids=s, attention_mask=a, generation_config=settings
                ),
            }
            ids = candidates["theirs"]()
            assert ids.shape == (batch, TOKENS + 1) and torch.equal(candidates["ours"](), ids[:, 1:])
            scores = theirs(input_ids=source, attention_mask=mask, decoder_input_ids=ids[:, :-1]).logits
            torch.testing.assert_close(ours(source, ids[:, :-1]), scores, atol=1e-4, rtol=1e-5)
            times = measuring.in_turns(candidates, rounds, warm_up=1)
            what = f"time, {TOKENS} tokens with the cache, {name} size, batch {batch}"
            yield measuring.row(what, "transformers' generate", times["ours"], times["theirs"], 1.0)


if __name__ == "__main__":
    measuring.main(measure, __doc__, rounds=10)
