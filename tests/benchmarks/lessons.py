"""Each lesson from top to bottom, in a fresh kernel: ``python tests/benchmarks/lessons.py [LESSON ...]``.

Per lesson: seconds from starting the kernel to the first cell with an output, and to the end; the kernel's
memory at the end, its share of it (what several kernels map together is divided between them; Linux only)
and its peak; the notebook's size.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"
HEADER = f"{'lesson':<30} {'first':>6} {'all':>7} {'at the end':>11} {'share':>6} {'peak':>6}   {'size':>7}"


def memory(process: int) -> dict[str, float]:
    """MiB now, its share (PSS) and the peak, of a process of this machine."""
    texts = [Path(f"/proc/{process}/{name}").read_text() for name in ("status", "smaps_rollup")]
    lines = dict(line.split(":", 1) for text in texts for line in text.splitlines() if ":" in line)
    names = {"now": "VmRSS", "share": "Pss", "peak": "VmHWM"}
    return {key: int(lines[name].split()[0]) / 1024 for key, name in names.items()}


def run(path: Path) -> str:
    """Executes one lesson and says what it took."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}})
    start, first = time.perf_counter(), None
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
            if first is None and cell.get("outputs"):
                first = time.perf_counter() - start
        total = time.perf_counter() - start
        used = memory(client.km.provisioner.process.pid)
    size = path.stat().st_size / 1024
    return (
        f"{path.stem:<30} {first:4.1f} s {total:5.1f} s {used['now']:7.0f} MiB {used['share']:6.0f} {used['peak']:6.0f}"
        f"   {size:4.0f} KiB"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(run(Path(sys.argv[2])), flush=True)
    else:
        print(HEADER, flush=True)
        surroundings = {"COURSE_PROGRESS": "off"} | os.environ
        for path in [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
            subprocess.run([sys.executable, __file__, "--one", str(path)], check=True, env=surroundings)
