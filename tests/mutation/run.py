"""One mutation run over the reference modules: totals of each module, and what every survivor changed.

    python tests/mutation/run.py                        all mutants, from nothing
    python tests/mutation/run.py 'course_utils.masks*'  only these, again; the others keep their result

Ends with an error if fewer than 97 of 100 mutants were killed.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
MUTMUT = str(Path(sys.executable).with_name("mutmut"))
ENOUGH = 0.97
KILLED, OUT_OF_TIME, SURVIVED = (1, 3), (24, -24, 36, 152), 0  # exit codes of a mutant's tests


def outcomes() -> dict[str, dict[str, int | None]]:
    """The exit code of each mutant's tests, by module."""
    files = sorted((ROOT / "mutants" / "course_utils").glob("*.py.meta"))
    found = {file.name.removesuffix(".py.meta"): json.loads(file.read_text())["exit_code_by_key"] for file in files}
    return {module: codes for module, codes in found.items() if codes}  # __init__ has nothing to change


def report() -> float:
    """Prints the totals, then what is not killed; returns the share that is."""
    print(f"\n{'module':12} mutants  killed  (by timeout)  survived  other  share")
    total, alive = [0, 0, 0, 0, 0], []
    for module, codes in outcomes().items():
        timeouts = sum(code in OUT_OF_TIME for code in codes.values())
        killed = sum(code in KILLED for code in codes.values()) + timeouts
        survived = sum(code == SURVIVED for code in codes.values())
        row = [len(codes), killed, timeouts, survived, len(codes) - killed - survived]
        total = [a + b for a, b in zip(total, row, strict=True)]
        alive += [name for name, code in codes.items() if code not in (*KILLED, *OUT_OF_TIME, None)]  # None: not asked
        print_row(module, row)
    print_row("all", total)
    for name in alive:
        change = subprocess.run([MUTMUT, "show", name], capture_output=True, text=True, cwd=ROOT).stdout
        print(f"\n{name}")
        print(*(line for line in change.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")), sep="\n")
    return total[1] / total[0]


def print_row(module: str, row: list[int]) -> None:
    mutants, killed, timeouts, survived, other = row
    share = f"{100 * killed / mutants:.1f} %"
    print(f"{module:12} {mutants:7} {killed:7} {timeouts:13} {survived:9} {other:6}  {share:>7}")


if __name__ == "__main__":
    only = sys.argv[1:]
    if not only:
        shutil.rmtree(ROOT / "mutants", ignore_errors=True)
    surroundings = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    subprocess.run([MUTMUT, "run", *only], cwd=ROOT, env=surroundings, check=True)
    sys.exit(report() < ENOUGH)
