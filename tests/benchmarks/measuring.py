"""What the benchmarks share: runs that take turns, ratios with their spread, and how a result is written down."""

import argparse
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

ROOT = Path(__file__).parent.parent.parent


@dataclass
class Row:
    """One ratio: the median over the rounds, and the quartiles. Without an aim it is there to be looked at."""

    what: str
    against: str
    ratio: float
    low: float
    high: float
    rounds: int
    aim: float | None = None
    ours: str = ""  # the median of our side, with its unit

    @property
    def verdict(self) -> str:
        return "" if self.aim is None else ("reached" if self.ratio <= self.aim else "missed")


def row(what: str, against: str, ours: list[float], theirs: list[float], aim: float | None = None, unit="s") -> Row:
    """The ratios ours / theirs, round by round."""
    middle = statistics.median(ours)
    shown = f"{1000 * middle:.1f} ms" if unit == "s" and middle < 1 else f"{middle:.3g} {unit}"
    return spread(what, against, [a / b for a, b in zip(ours, theirs, strict=True)], aim, shown)


def spread(what: str, against: str, ratios: list[float], aim: float | None = None, ours: str = "") -> Row:
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Row(what, against, middle, low, high, len(ratios), aim, ours)


def in_turns(candidates: dict[str, Callable[[], object]], rounds: int, warm_up: int = 2) -> dict[str, list[float]]:
    """Seconds per round; the order turns every round so that nobody always runs first."""
    times = {name: [] for name in candidates}
    names = list(candidates)
    for turn in range(rounds + warm_up):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.perf_counter()
            candidates[name]()
            if turn >= warm_up:
                times[name].append(time.perf_counter() - start)
    return times


def machine(threads: int) -> dict[str, str | int | float]:
    """What the ratios depend on, apart from the code."""
    import transformers

    names = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = [int(line.split()[1]) / 2**20 for line in _lines("/proc/meminfo") if line.startswith("MemTotal")]
    return {
        "processor": names[0] if names else platform.processor() or platform.machine(),
        "vector_instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": os.cpu_count() or 0,
        "memory_gib": round(memory[0], 1) if memory else 0,
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else -1,
        "threads": threads,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if Path(path).exists() else []


def table(rows: list[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| What | Against | Ratio | Quartiles | Rounds | Aim | | Ours |", "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        aim = "" if r.aim is None else f"at most {r.aim:.2f}"
        spread = f"{r.low:.3f} to {r.high:.3f}"
        lines.append(
            f"| {r.what} | {r.against} | {r.ratio:.3f} | {spread} | {r.rounds} | {aim} | {r.verdict} | {r.ours} |"
        )
    return "\n".join(lines)


def main(measure: Callable[[int], Iterator[Row]], doc: str, rounds: int) -> None:
    """A benchmark's command line. ``measure`` takes the number of rounds and yields rows."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds, help=f"at least 2; {rounds} unless told")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write the rows there")
    arguments = parser.parse_args()
    if arguments.rounds < 2:
        parser.error("--rounds must be at least 2: one round has no spread")
    torch.set_num_threads(arguments.threads)
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # for the processes that a benchmark starts
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    rows = []
    for r in measure(arguments.rounds):
        rows.append(r)
        aim = "" if r.aim is None else f", aim {r.aim:.2f}: {r.verdict}"
        print(f"{r.what} / {r.against}: {r.ratio:.3f} ({r.low:.3f} to {r.high:.3f}{aim}) {r.ours}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(r) for r in rows]), encoding="utf-8")


def child(*arguments: str) -> list[str]:
    """The command for a fresh process of this Python."""
    return [sys.executable, *arguments]
