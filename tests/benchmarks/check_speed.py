"""How long a check takes to answer, and what importing the checks adds: ``python tests/benchmarks/check_speed.py``.

Every exercise with a right answer and with each of its known mistakes, in one process, output thrown away. Seconds,
not ratios: a learner waits for them.
"""

import contextlib
import io
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ["COURSE_PROGRESS"] = "off"
ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

from lesson_kit import check, show  # noqa: E402, F401  (a lesson has loaded show long before)


def seconds(exercise, candidate) -> float:
    exercise.forget()
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        exercise(candidate)
    return time.perf_counter() - start


def importing(module: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True, cwd=ROOT)
    return time.perf_counter() - start


def main() -> None:
    times = {}
    for name, exercise in check.EXERCISES.items():
        times[name, "right"] = seconds(exercise, lambda *args, right=exercise.reference: right(*args))
        for slug, mistake in exercise.mistakes.items():
            times[name, slug] = seconds(exercise, mistake.ways[0])
    slowest = max(times, key=times.get)
    print(f"{len(times)} checks: median {statistics.median(times.values()):.3f} s,", end=" ")
    print(f"slowest {times[slowest]:.3f} s ({', '.join(slowest)})")
    importing("lesson_kit.check")  # warms the disk cache
    added = [importing("lesson_kit.check") - importing("course_utils") for _ in range(11)]
    low, middle, high = statistics.quantiles(added, n=4)
    print(f"importing the checks adds {middle:.3f} s to the package (quartiles {low:.3f} to {high:.3f}, 11 rounds)")


if __name__ == "__main__":
    main()
