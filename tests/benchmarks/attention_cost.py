"""``tiled_attention`` against torch's and the course's own: ``python tests/benchmarks/attention_cost.py [--rounds 8]``.

12 heads of 64, batch 1, float32. Time: forward at n = 4096 without gradients, forward and backward at n = 2048; the
candidates take turns in one process. Memory: each case in a fresh process that has its inputs and has run once on 64
tokens; what counts is the peak resident set from there on, minus what it was there (Linux only). The slope is that of
log(memory) against log(n), for n from 2048 to 16384.
"""

import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import measuring
import torch
import torch.nn.functional as F

from course_utils import scaled_dot_product_attention, tiled_attention

HEADS, D_HEAD, LENGTH, MEMORY_RUNS = 12, 64, 4096, 3
ATTENTION: dict[str, Callable] = {
    "tiled_attention": tiled_attention,
    "torch's SDPA": F.scaled_dot_product_attention,
    "the course's function": lambda *qkv: scaled_dot_product_attention(*qkv)[0],
}
AIMS = {"torch's SDPA": (1.5, 1.5), "the course's function": (0.6, 0.1)}  # time, memory


def random_qkv(length: int, grad: bool = False) -> list[torch.Tensor]:
    return [torch.randn(1, HEADS, length, D_HEAD, requires_grad=grad) for _ in range(3)]


def status(key: str) -> float:
    """One line of /proc/self/status, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) / 1024


def print_extra_memory(name: str, length: int) -> None:
    with torch.inference_mode():
        ATTENTION[name](*random_qkv(64))
        qkv = random_qkv(length)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
        before = status("VmRSS")
        output = ATTENTION[name](*qkv)  # noqa: F841 (it is part of the memory)
        print(status("VmHWM") - before)


def extra_memory(name: str, length: int) -> float:
    command = measuring.child(__file__, "--memory", name, str(length))
    return float(subprocess.check_output(command, cwd=measuring.ROOT, text=True))


def slope(xs: list[float], ys: list[float]) -> float:
    return statistics.linear_regression([math.log(x) for x in xs], [math.log(y) for y in ys]).slope


def measure(rounds: int) -> Iterator[measuring.Row]:
    ours = "tiled_attention"
    with torch.inference_mode():
        qkv = random_qkv(LENGTH)
        expected = F.scaled_dot_product_attention(*qkv)
        for attend in ATTENTION.values():
            torch.testing.assert_close(attend(*qkv), expected, atol=2e-6, rtol=0)
        times = measuring.in_turns({name: lambda f=f: f(*qkv) for name, f in ATTENTION.items()}, rounds, warm_up=1)
    for other, (aim, _) in AIMS.items():
        yield measuring.row(f"time, {ours}, n={LENGTH}", other, times[ours], times[other], aim)

    qkv = random_qkv(LENGTH // 2, grad=True)

    def there_and_back(attend: Callable) -> None:
        attend(*qkv).sum().backward()

    times = measuring.in_turns({name: lambda f=f: there_and_back(f) for name, f in ATTENTION.items()}, rounds, 1)
    for other in AIMS:
        what = f"time, {ours}, n={LENGTH // 2}, forward and backward"
        yield measuring.row(what, other, times[ours], times[other])

    runs = min(rounds, MEMORY_RUNS)
    memory = {name: [extra_memory(name, LENGTH) for _ in range(runs)] for name in ATTENTION}
    for other, (_, aim) in AIMS.items():
        yield measuring.row(f"memory, {ours}, n={LENGTH}", other, memory[ours], memory[other], aim, "MiB")
    lengths = [LENGTH // 2, LENGTH, 2 * LENGTH, 4 * LENGTH]
    slopes = [slope(lengths, [extra_memory(ours, n) for n in lengths]) for _ in range(runs)]
    yield measuring.spread(f"memory slope, {ours}", "linear (1)", slopes, 1.1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        torch.set_num_threads(2)
        print_extra_memory(sys.argv[2], int(sys.argv[3]))
    else:
        measuring.main(measure, __doc__, rounds=8)
