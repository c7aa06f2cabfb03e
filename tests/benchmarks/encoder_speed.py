"""Our encoder's time as a ratio: ``python tests/benchmarks/encoder_speed.py [--rounds 12]``.

A bert-base encoder (12 layers, 768, 12 heads) on 8x128 and on 32x64 tokens, float32, no gradients.
All candidates hold the same weights and take turns in one process; that their outputs agree is checked first.
"""

from collections.abc import Callable, Iterator

import measuring
import torch
from torch import nn
from transformers import BertConfig, BertModel

from course_utils import Bert, activate_in_place

SHAPES = ((8, 128), (32, 64))
AIMS = {"transformers, SDPA": 0.96, "nn.TransformerEncoder": None, "bare matrix products": 1.08}


def torch_encoder(hf_model: BertModel) -> nn.TransformerEncoder:
    """nn.TransformerEncoder with the same weights."""
    config = hf_model.config
    layer = nn.TransformerEncoderLayer(
        config.hidden_size,
        config.num_attention_heads,
        config.intermediate_size,
        activation="gelu",
        layer_norm_eps=config.layer_norm_eps,
        batch_first=True,
    )
    encoder = nn.TransformerEncoder(layer, config.num_hidden_layers)
    for theirs, hf in zip(encoder.layers, hf_model.encoder.layer, strict=True):
        attention = hf.attention.self
        for kind in ("weight", "bias"):
            parts = [getattr(module, kind) for module in (attention.query, attention.key, attention.value)]
            getattr(theirs.self_attn, f"in_proj_{kind}").data = torch.cat(parts).data
        theirs.self_attn.out_proj.load_state_dict(hf.attention.output.dense.state_dict())
        theirs.norm1.load_state_dict(hf.attention.output.LayerNorm.state_dict())
        theirs.linear1.load_state_dict(hf.intermediate.dense.state_dict())
        theirs.linear2.load_state_dict(hf.output.dense.state_dict())
        theirs.norm2.load_state_dict(hf.output.LayerNorm.state_dict())
    return encoder.eval()


def matrix_products(hf_model: BertModel, x: torch.Tensor) -> Callable[[], None]:
    """Only the products no encoder can do without: six linear maps and two batched products a layer."""
    config = hf_model.config
    layer = hf_model.encoder.layer[0]
    square, wide, narrow = layer.attention.self.query, layer.intermediate.dense, layer.output.dense
    batch, length = x.shape[:2]
    heads = x.view(batch, length, config.num_attention_heads, -1).transpose(1, 2).contiguous()
    scores = torch.rand(batch, config.num_attention_heads, length, length)
    flat, hidden = x.view(-1, config.hidden_size), torch.rand(batch * length, config.intermediate_size)

    def run() -> None:
        for _ in range(config.num_hidden_layers):
            for _ in range(4):
                square(flat)
            heads @ heads.transpose(-2, -1)
            scores @ heads
            wide(flat)
            narrow(hidden)

    return run


@torch.inference_mode()
def measure(rounds: int) -> Iterator[measuring.Row]:
    hf_model = BertModel(BertConfig(), add_pooling_layer=False).eval()
    hf_model.set_attn_implementation("sdpa")
    ours, theirs = Bert.from_huggingface(hf_model).encoder, torch_encoder(hf_model)
    activate_in_place(ours)
    for batch, length in SHAPES:
        x = torch.randn(batch, length, hf_model.config.hidden_size)
        reference = hf_model.encoder(x).last_hidden_state
        for output in (ours(x).last_hidden_state, theirs(x)):
            torch.testing.assert_close(output, reference, atol=1e-5, rtol=0)
        candidates = {
            "ours": lambda x=x: ours(x),
            "transformers, SDPA": lambda x=x: hf_model.encoder(x),
            "nn.TransformerEncoder": lambda x=x: theirs(x),
            "bare matrix products": matrix_products(hf_model, x),
        }
        times = measuring.in_turns(candidates, rounds, warm_up=1)
        for other, aim in AIMS.items():
            yield measuring.row(f"time, bert-base's encoder, {batch}x{length}", other, times["ours"], times[other], aim)


if __name__ == "__main__":
    measuring.main(measure, __doc__, rounds=12)
