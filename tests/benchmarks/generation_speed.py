"""What the key-value cache saves: ``python tests/benchmarks/generation_speed.py [--rounds 10] [--batch 1]``.

A Transformer with random weights goes on token by token, in float32, on two threads (``--threads``). Printed are, as
medians over the rounds with the quartiles beside them:

- the time of one step at length 256 over that of one at length 32, with the cache; both in the same generation, each
  the median of 16 steps;
- the same for 256 whole tokens over 32 whole tokens, per token;
- 64 and 256 tokens with the cache over the same without it, in turns.
"""

import argparse
import platform
import statistics
import time

import torch

from course_utils import KeyValueCache, Transformer

SOURCE_LENGTH, LONG, SHORT, WINDOW = 16, 256, 32, 16
SIZES = {"translator": (128, 4, 2, 512), "mid": (256, 8, 3, 1024), "the paper's": (512, 8, 6, 2048)}


def generate(model: Transformer, memory: torch.Tensor, tokens: int, cached: bool) -> list[float]:
    """Greedily, without an end symbol. Returns the seconds of each step."""
    ids = torch.ones(len(memory), tokens + 1, dtype=torch.long)
    cache = KeyValueCache(len(model.decoder.layers), tokens) if cached else None
    seconds = []
    for length in range(1, tokens + 1):
        start = time.perf_counter()
        new = ids[:, length - 1 : length] if cached else ids[:, :length]
        ids[:, length] = model.decode(new, memory, cache=cache)[0][:, -1].argmax(-1)
        seconds.append(time.perf_counter() - start)
    return seconds


def report(name: str, ratios: list[float]) -> None:
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"  {name:<50} {middle:.3f}   (quartiles {low:.3f} to {high:.3f})")


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--size", choices=list(SIZES))
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"torch {torch.__version__}, {platform.machine()}, {arguments.threads} threads, batch {arguments.batch}")
    for name, (d_model, n_heads, n_layers, d_ff) in SIZES.items():
        if arguments.size not in (None, name):
            continue
        torch.manual_seed(0)
        model = Transformer(1000, None, d_model, n_heads, n_layers, d_ff).eval()
        memory = model.encode(torch.randint(0, 1000, (arguments.batch, SOURCE_LENGTH))).last_hidden_state
        generate(model, memory, SHORT, True)
        generate(model, memory, SHORT, False)
        at_once, whole, saved, medians = [], [], {64: [], LONG: []}, []
        for _ in range(arguments.rounds):
            steps = generate(model, memory, LONG + WINDOW // 2, True)
            early, late = (statistics.median(steps[at - WINDOW // 2 : at + WINDOW // 2]) for at in (SHORT, LONG))
            at_once.append(late / early)
            medians.append(late)
            long, short = sum(generate(model, memory, LONG, True)), sum(generate(model, memory, SHORT, True))
            whole.append(long / LONG / (short / SHORT))
            for tokens, ratios in saved.items():
                cached, plain = (sum(generate(model, memory, tokens, cached)) for cached in (True, False))
                ratios.append(cached / plain)
        print(f"{name}: d_model {d_model}, {n_layers} layers; {1000 * statistics.median(medians):.2f} ms at {LONG}")
        report(f"a step at length {LONG} / a step at length {SHORT}", at_once)
        report(f"per token, {LONG} tokens / {SHORT} tokens", whole)
        for tokens, ratios in saved.items():
            report(f"{tokens} tokens, cached / uncached", ratios)


if __name__ == "__main__":
    main()
