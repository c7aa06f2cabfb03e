"""The command line: ``python -m classroom COMMAND``; with ``--help`` it tells what there is."""

import argparse
import sys
from importlib import import_module

from classroom._files import CHECKOUT, NOTEBOOKS, ClassroomError

# One module for each command. It offers add_to(subparsers), which sets ``run``: a function of the arguments that
# returns an exit status, or None for 0.
COMMANDS = ["classroom.build", "classroom.grading.report", "classroom.wheelhouse.wheelhouse"]


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status: 2, with a sentence on stderr, for bad input."""
    parser = argparse.ArgumentParser(
        prog="python -m classroom", description="What a class needs, made from the lessons."
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        import_module(name).add_to(subparsers)
    chosen = parser.parse_args(arguments)
    if not NOTEBOOKS.is_dir():
        print(
            f"There are no lessons in {CHECKOUT}: run this in the folder that was cloned or downloaded.",
            file=sys.stderr,
        )
        return 2
    try:
        return chosen.run(chosen) or 0
    except ClassroomError as error:
        print(error, file=sys.stderr)
    except OSError as error:
        print(f"{error.filename or 'A file'} can't be read or written: {error.strerror or error}.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
