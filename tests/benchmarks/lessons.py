"""Time and peak memory of each lesson, run from top to bottom: ``python tests/benchmarks/lessons.py [LESSON ...]``.

Each lesson gets a fresh process and, in it, a fresh kernel. The time includes starting the kernel; the
memory is the kernel's peak resident set.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"


def run(path: Path) -> str:
    """Executes one lesson in this process's only child and says what it took."""
    folder = {"metadata": {"path": str(path.parent)}}
    start = time.perf_counter()
    NotebookClient(nbformat.read(path, as_version=4), timeout=600, resources=folder).execute()
    seconds = time.perf_counter() - start
    kibibytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return f"{path.stem:<30} {seconds:5.1f} s   {kibibytes / 1024:5.0f} MiB"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(run(Path(sys.argv[2])))
    else:
        for path in [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
            subprocess.run([sys.executable, __file__, "--one", str(path)], check=True)
