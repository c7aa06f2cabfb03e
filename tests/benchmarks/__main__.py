"""All benchmarks, one after the other: ``python tests/benchmarks [--quick] [--output FOLDER]``.

Writes results.md, one table, and results.json, the same numbers with the machine and the versions.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import measuring

HERE = Path(__file__).parent
BENCHMARKS = [
    "attention_cost",
    "packed_batch",
    "encoder_speed",
    "generation_speed",
    "generation_huggingface",
    "training_step",
    "import_time",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two rounds each: to see that they run, not to report")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=measuring.ROOT / "build" / "benchmarks")
    parser.add_argument("only", nargs="*", metavar="NAME", help=f"some of: {', '.join(BENCHMARKS)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.only) - set(BENCHMARKS):
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")

    machine, rows, start = measuring.machine(arguments.threads), [], time.perf_counter()
    for name in arguments.only or BENCHMARKS:
        with tempfile.TemporaryDirectory() as folder:  # each in a process of its own, so that none warms the next
            path = Path(folder) / "rows.json"
            options = ["--threads", str(arguments.threads), "--json", str(path)]
            options += ["--rounds", "2"] if arguments.quick else []
            subprocess.run(measuring.child(str(HERE / f"{name}.py"), *options), check=True, cwd=measuring.ROOT)
            rows += [measuring.Row(**r) for r in json.loads(path.read_text(encoding="utf-8"))]
    seconds = round(time.perf_counter() - start)

    described = "; ".join(f"{key.replace('_', ' ')} {value}" for key, value in machine.items())
    took = f"took {seconds} s{', a quick run' * arguments.quick}"
    text = f"# Benchmarks\n\n{described}; {took}.\n\n{measuring.table(rows)}\n"
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "results.md").write_text(text, encoding="utf-8")
    record = {"machine": machine, "seconds": seconds, "quick": arguments.quick}
    record["rows"] = [r.__dict__ | {"verdict": r.verdict} for r in rows]
    (arguments.output / "results.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(text)
    print(f"written to {arguments.output}")


if __name__ == "__main__":
    main()
