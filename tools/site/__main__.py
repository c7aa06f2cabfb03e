"""``python -m tools.site``: the web site of the course, in the folder ``site``; with ``--help`` it tells more."""

import argparse
import sys
from pathlib import Path

from classroom._files import ClassroomError
from classroom.versions.lesson import find_lessons
from tools.site.build import build

OUTPUT = Path("site")
LESSON_MB, SITE_MB = 1.5, 40


def main(arguments: list[str] | None = None) -> int:
    """Builds the site and returns its exit status: 2, with a sentence on stderr, for bad input."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Makes the lessons into a web site.")
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"the folder to write into (default: {OUTPUT})")
    parser.add_argument("--lessons", nargs="+", metavar="NN", help="which lessons, such as 01 03 (default: all)")
    parser.add_argument("--notebooks", type=Path, help="the folder of the lessons (default: the course's own)")
    parser.add_argument(
        "--without-solutions",
        action="store_true",
        help="for a class: no solutions, and no links to Binder and Colab, which have them",
    )
    parser.add_argument("--force", action="store_true", help="write into a folder that this command did not make")
    chosen = parser.parse_args(arguments)
    try:
        built = build(
            find_lessons(chosen.lessons, chosen.notebooks), chosen.output, not chosen.without_solutions, chosen.force
        )
    except ClassroomError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename or 'A file'} can't be read or written: {error.strerror or error}.", file=sys.stderr)
        return 2
    name, (own, whole) = max(built.pages.items(), key=lambda page: page[1][1])
    print(f"{built.files} files, {built.size / 1e6:.1f} MB, in {built.folder}.")
    print(f"The heaviest page, {name}.html: {own / 1e6:.2f} MB, and {whole / 1e6:.2f} MB with all that it loads.")
    print(f"Open {built.folder / 'index.html'} in a browser.")
    if whole > LESSON_MB * 1e6 or built.size > SITE_MB * 1e6:
        print(f"That is more than a page ({LESSON_MB} MB) or the site ({SITE_MB} MB) may weigh.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
