"""``python -m lesson_kit start``: working copies of the lessons, and the first of them open in JupyterLab."""

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lesson_kit import ready, working_copies

USAGE = """\
What shall it do? Type one of these:

    {python} -m lesson_kit start              opens your own copies of the lessons in JupyterLab
    {python} -m lesson_kit start --fresh 03   puts a fresh lesson 03 beside yours
    {python} -m lesson_kit start --help       says what else there is
"""


def main(arguments: list[str] | None = None) -> int:
    """The command: 0, or 1 with one sentence on stderr if what was asked for can't be done, 2 if nothing known was."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] not in (["start"], ["-h"], ["--help"]):
        print(USAGE.format(python=ready.this_python()), end="", file=sys.stderr)
        return 2
    parser = argparse.ArgumentParser(prog="python -m lesson_kit", description="The lessons, to work in.")
    start = parser.add_subparsers(dest="command", required=True).add_parser(
        "start", help="make your own copies of the lessons, where there are none yet, and open them in JupyterLab"
    )
    start.add_argument("--folder", default=working_copies.FOLDER, metavar="NAME", help="where (default: %(default)s)")
    fresh = "only write lesson NN as it is now beside your copy of it"
    start.add_argument("--fresh", nargs="?", const="", metavar="NN", help=fresh)
    start.add_argument("--no-browser", action="store_true", help="print the address; don't open it")
    start.add_argument("--no-server", action="store_true", help="only make the copies and JupyterLab's settings")
    start.epilog = "Further options are handed to JupyterLab, such as --port=9000."
    asked, options = parser.parse_known_args(arguments)
    try:
        if lesson := next((word for word in options if re.fullmatch(r"\d\d?", word)), None):
            name = working_copies.original(lesson).stem
            raise ValueError(f"{name} is among your copies: type this without {lesson}, and open it from the side bar.")
        with _expect_writable():
            if asked.fresh is not None:
                print(_fresh(asked.fresh, asked.folder))
                return 0
            folder = _copies(asked.folder)
        from lesson_kit import lab

        with _expect_writable():
            lab.prepare(folder)
        if not asked.no_server:
            lab.serve(folder, browser=not asked.no_browser, options=options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        print(f"{error.name} is not installed: python3 lesson_kit/ready.py says what to type.", file=sys.stderr)
        return 1
    return 0


@contextmanager
def _expect_writable() -> Iterator[None]:
    """A failed write becomes a ValueError; the server's own OSErrors are other matters."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"Nothing can be written there ({error.strerror}: {error.filename}).") from error


def _fresh(lesson: str, folder: str) -> str:
    copy = working_copies.make_fresh(lesson, folder)
    if copy.new:
        return f"Lesson {lesson}, as it is now: {copy.path}"
    return f"Lesson {lesson} lies there already as it is now, not yet run or changed: {copy.path}"


def _copies(folder: str) -> Path:
    report = working_copies.make(folder)
    if report.new:
        count = "One lesson is" if len(report.new) == 1 else f"{len(report.new)} lessons are"
        print(f"{count} new in {report.folder}. They are your own copies: nothing here writes over them.")
    if report.changed:
        print(f"Changed since your copy was made: {', '.join(report.changed)}.")
        again = f"{ready.this_python()} -m lesson_kit start --fresh {report.changed[0][:2]}"
        print(f"Your copies stay as they are. A fresh one beside yours: {again}")
    return report.folder


if __name__ == "__main__":
    sys.exit(main())
