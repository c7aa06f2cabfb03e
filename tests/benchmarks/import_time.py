"""How long one waits: ``python tests/benchmarks/import_time.py [--rounds 10]``.

``import course_utils`` against ``import torch``, each in a fresh process, in turn; and the first result of lesson 01,
from starting a kernel to the first cell with an output, against a kernel that imports torch and says which.
"""

import json
import subprocess
from collections.abc import Iterator

import measuring
from jupyter_client.manager import start_new_kernel

LESSON = measuring.ROOT / "notebooks" / "01_attention_by_hand.ipynb"


def imported(module: str) -> None:
    subprocess.run(measuring.child("-c", f"import {module}"), check=True, cwd=measuring.ROOT)


def first_result(cells: list[str]) -> None:
    """Starts a kernel and runs cells until one of them shows something."""
    manager, client = start_new_kernel(cwd=str(LESSON.parent))
    shown = []
    try:
        for cell in cells:
            reply = client.execute_interactive(cell, output_hook=lambda message: shown.append(message["msg_type"]))
            assert reply["content"]["status"] == "ok", reply["content"]
            if {"stream", "display_data", "execute_result"} & set(shown):
                return
        raise AssertionError("no cell showed anything")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def measure(rounds: int) -> Iterator[measuring.Row]:
    candidates = {module: lambda m=module: imported(m) for module in ("course_utils", "torch")}
    times = measuring.in_turns(candidates, rounds, warm_up=1)  # which warms the disk's cache
    yield measuring.row("time, import course_utils", "import torch", times["course_utils"], times["torch"], 1.05)

    lesson = [
        "".join(cell["source"])
        for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    candidates = {
        "lesson": lambda: first_result(lesson),
        "torch": lambda: first_result(["import torch", "torch.__version__"]),
    }
    times = measuring.in_turns(candidates, rounds, warm_up=1)
    what, against = "time, a kernel's first result, lesson 01", "a kernel that imports torch"
    yield measuring.row(what, against, times["lesson"], times["torch"], 1.3)


if __name__ == "__main__":
    measuring.main(measure, __doc__, rounds=10)
