"""``import course_utils`` against ``import torch``: ``python tests/benchmarks/import_time.py [--rounds 15]``.

A fresh process for each import, in turn; the ratio is the median over the rounds, with the quartiles beside it.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def seconds(module: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True, cwd=ROOT)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    seconds("course_utils")  # warms the disk cache
    ratios = [seconds("course_utils") / seconds("torch") for _ in range(rounds)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"import course_utils / import torch: {middle:.3f} (quartiles {low:.3f} to {high:.3f}, {rounds} rounds)")


if __name__ == "__main__":
    main()
