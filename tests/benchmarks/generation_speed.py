"""What the key-value cache saves: ``python tests/benchmarks/generation_speed.py [--rounds 8]``.

A Transformer with random weights goes on token by token, batch 1, float32:

- the time of one step at length 512 over that of one at length 32, with the cache; both in the same generation, each
  the median of 16 steps;
- the same for the mean of the first 512 tokens over that of the first 32;
- 128 tokens with the cache over the same without it, in turns.
"""

import statistics
import time
from collections.abc import Iterator

import measuring
import torch

from course_utils import KeyValueCache, Transformer, cached_decode

SOURCE_LENGTH, LONG, SHORT, WINDOW, BOTH_WAYS = 16, 512, 32, 16, 128
SIZES = {"translator": (128, 4, 2, 512), "mid": (256, 8, 3, 1024), "the paper's": (512, 8, 6, 2048)}


def generate(model: Transformer, memory: torch.Tensor, tokens: int, cached: bool = True) -> list[float]:
    """Greedily, without an end symbol. Returns the seconds of each step."""
    ids = torch.ones(len(memory), tokens + 1, dtype=torch.long)
    cache = KeyValueCache(len(model.decoder.layers), tokens) if cached else None
    seconds = []
    for length in range(1, tokens + 1):
        start = time.perf_counter()
        if cached:
            x = model.embed("ids", ids[:, length - 1 : length], model.target_embedding, start=cache.length)
            scores = model.output(cached_decode(model.decoder, cache, x, memory).last_hidden_state)
        else:
            scores, _ = model.decode(ids[:, :length], memory)
        ids[:, length] = scores[:, -1].argmax(-1)
        seconds.append(time.perf_counter() - start)
    return seconds


@torch.inference_mode()
def measure(rounds: int) -> Iterator[measuring.Row]:
    for name, (d_model, n_heads, n_layers, d_ff) in SIZES.items():
        sizes = {"n_layers": n_layers, "d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
        model = Transformer(source_vocab_size=1000, **sizes, max_length=LONG + WINDOW).eval()
        memory = model.encode(torch.randint(0, 1000, (1, SOURCE_LENGTH))).last_hidden_state
        generate(model, memory, SHORT)
        runs = [generate(model, memory, LONG + WINDOW // 2) for _ in range(rounds)]
        step = {
            at: [statistics.median(run[at - WINDOW // 2 : at + WINDOW // 2]) for run in runs] for at in (SHORT, LONG)
        }
        what = f"time, a cached step at length {LONG}, {name} size"
        yield measuring.row(what, f"a step at length {SHORT}", step[LONG], step[SHORT], 1.3)
        mean = {tokens: [statistics.mean(run[:tokens]) for run in runs] for tokens in (SHORT, LONG)}
        what = f"time per token, {LONG} tokens with the cache, {name} size"
        yield measuring.row(what, f"{SHORT} tokens", mean[LONG], mean[SHORT], 1.3)
        candidates = {
            "cached": lambda m=model, memory=memory: generate(m, memory, BOTH_WAYS),
            "uncached": lambda m=model, memory=memory: generate(m, memory, BOTH_WAYS, cached=False),
        }
        times = measuring.in_turns(candidates, max(2, rounds // 2), warm_up=0)
        yield measuring.row(
            f"time, {BOTH_WAYS} tokens, cached, {name} size", "uncached", times["cached"], times["uncached"]
        )


if __name__ == "__main__":
    measuring.main(measure, __doc__, rounds=8)
