"""Our encoder's time as a ratio: ``python tests/benchmarks/encoder_speed.py [--rounds 30]``.

A bert-base encoder (12 layers, 768, 12 heads) on 8x128 tokens, two threads, float32, no gradients.
All candidates hold the same weights and take turns in one process; each ratio is the median over the
rounds of (ours / theirs) in the same round, with the quartiles beside it.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable

import torch
import transformers
from torch import nn
from transformers import BertConfig, BertModel

from course_utils import Bert

BATCH, LENGTH, THREADS = 8, 128, 2


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
    heads = x.view(BATCH, LENGTH, config.num_attention_heads, -1).transpose(1, 2).contiguous()
    scores = torch.rand(BATCH, config.num_attention_heads, LENGTH, LENGTH)
    flat, hidden = x.view(-1, config.hidden_size), torch.rand(BATCH * LENGTH, config.intermediate_size)

    def run() -> None:
        for _ in range(config.num_hidden_layers):
            for _ in range(4):
                square(flat)
            heads @ heads.transpose(-2, -1)
            scores @ heads
            wide(flat)
            narrow(hidden)

    return run


def measure(candidates: dict[str, Callable], rounds: int) -> dict[str, list[float]]:
    """Seconds per round; the order turns every round so that nobody always runs first."""
    times = {name: [] for name in candidates}
    names = list(candidates)
    for turn in range(rounds + 2):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.perf_counter()
            candidates[name]()
            if turn >= 2:  # the first two rounds warm up
                times[name].append(time.perf_counter() - start)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    hf_model = BertModel(BertConfig(), add_pooling_layer=False).eval()
    hf_model.set_attn_implementation("sdpa")
    ours, theirs = Bert.from_huggingface(hf_model).encoder, torch_encoder(hf_model)
    x = torch.randn(BATCH, LENGTH, hf_model.config.hidden_size)
    with torch.inference_mode():
        reference = hf_model.encoder(x).last_hidden_state
        for output in (ours(x).last_hidden_state, theirs(x)):
            torch.testing.assert_close(output, reference, atol=1e-5, rtol=0)
        candidates = {
            "ours": lambda: ours(x),
            "transformers, SDPA": lambda: hf_model.encoder(x),
            "nn.TransformerEncoder": lambda: theirs(x),
            "bare matrix products": matrix_products(hf_model, x),
        }
        times = measure(candidates, rounds)

    print(
        f"torch {torch.__version__}, transformers {transformers.__version__}, {platform.machine()}, {THREADS} threads"
    )
    print(f"ours: median {statistics.median(times['ours']):.3f} s over {rounds} rounds")
    for name in list(candidates)[1:]:
        low, middle, high = statistics.quantiles([a / b for a, b in zip(times["ours"], times[name], strict=True)], n=4)
        print(f"ours / {name:<22} {middle:.3f}   (quartiles {low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
