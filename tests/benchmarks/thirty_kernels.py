"""The memory of a class on one machine: ``python tests/benchmarks/thirty_kernels.py [--kernels 30] [--lesson 03]``.

Starts a kernel for each learner, runs the lesson in it from top to bottom, a few kernels at a time, and keeps all of
them alive, as a class does. What counts is their proportional shares (PSS): memory that several kernels map together,
such as PyTorch's libraries, is divided between them, so the shares add up to what they take. Beside it stands what the
machine had available before and after. Linux only. Browsers and JupyterLab's server are not in it.
"""

import argparse
import os
import queue
import statistics
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import nbformat
from lessons import memory
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"


def available() -> float:
    """MiB that this machine could still give away."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable")) / 1024


def learner(path: Path, kernels: ExitStack) -> int:
    """Runs the lesson in a kernel that lives as long as ``kernels``; gives its process."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}})
    kernels.enter_context(client.setup_kernel())
    for index, cell in enumerate(notebook.cells):
        client.execute_cell(cell, index)
    return client.km.provisioner.process.pid


def run_class(path: Path, count: int, at_once: int, kernels: ExitStack) -> list[int]:
    """The processes of ``count`` kernels that have run the lesson, ``at_once`` of them at a time."""
    waiting, processes, failed = queue.SimpleQueue(), [], []
    for _ in range(count):
        waiting.put(None)

    def work() -> None:
        while not failed:
            try:
                waiting.get_nowait()
            except queue.Empty:
                return
            try:
                processes.append(learner(path, kernels))
            except Exception as error:
                failed.append(error)
            print(f"\r{len(processes)} of {count} kernels have run {path.stem}", end="", flush=True, file=sys.stderr)

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(file=sys.stderr)
    if failed:
        raise failed[0]
    return processes


def main() -> None:
    """Reads the command line, runs the class and prints what it took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=int, default=30, help="how many learners (30)")
    parser.add_argument("--lesson", default="03", help="the lesson's number (03)")
    parser.add_argument("--at-once", type=int, default=2, help="how many run at the same time (2)")
    arguments = parser.parse_args()
    if arguments.kernels < 1 or arguments.at_once < 1:
        parser.error("--kernels and --at-once must be at least 1")
    path = next(NOTEBOOKS.glob(f"{arguments.lesson}_*.ipynb"), None)
    if path is None:
        parser.error(f"--lesson must be a number such as 03, got {arguments.lesson!r}")
    os.environ |= {"COURSE_PROGRESS": "off"}

    before, start = available(), time.perf_counter()
    with ExitStack() as kernels:
        processes = run_class(path, arguments.kernels, arguments.at_once, kernels)
        seconds, after = time.perf_counter() - start, available()
        used = [memory(process) for process in processes]
    shares = [each["share"] for each in used]
    print(f"{len(used)} kernels, each of which has run {path.stem}; all were done after {seconds:.0f} s")
    print(f"shares (PSS), together      {sum(shares):7.0f} MiB")
    print(f"share of one, median        {statistics.median(shares):7.0f} MiB")
    print(f"one alone would hold (RSS)  {statistics.median(each['now'] for each in used):7.0f} MiB")
    print(f"peak of one, the highest    {max(each['peak'] for each in used):7.0f} MiB")
    print(f"available before and after  {before:7.0f} {after:7.0f} MiB, {before - after:.0f} less")


if __name__ == "__main__":
    main()
