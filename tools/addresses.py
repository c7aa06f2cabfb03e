"""Where the course lies on the Internet: one address, in pyproject.toml, from which every badge and link is made.

python -m tools.addresses address                                    print it
python -m tools.addresses address https://github.com/you/your-copy   change it, here and wherever it stands
python -m tools.addresses link 03 --hub https://hub.example.org      a link that opens lesson 03 in a JupyterHub
"""

import argparse
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

CHECKOUT = Path(__file__).parent.parent
BRANCH = "main"
OWN_HIDDEN_FOLDERS = {".ci", ".devcontainer", ".github"}
MADE_BY_TOOLS = {"__pycache__", "build", "dist", "mutants", "node_modules"}

# What comes before an address: on GitHub itself, in Binder's badges, in Colab's, in Codespaces'. In a link inside a
# link the slashes are written %2F.
_PLACES = r"(?:github\.com|mybinder\.org/v2/gh|colab\.research\.google\.com/github|codespaces\.new)"
_OPENS_OURS = r"(?:git\+https://github\.com|mybinder\.org/v2/gh|colab\.research\.google\.com/github|codespaces\.new)"
_NAME = r"[\w-](?:[\w.-]*[\w-])?"
_ADDRESS = re.compile(rf"https://github\.com/({_NAME})/({_NAME})")


def address(checkout: Path = CHECKOUT) -> str:
    """The repository's public address, as pyproject.toml gives it.

    Raises:
        FileNotFoundError: ``checkout`` holds no pyproject.toml; an installed package is no checkout.
    """
    project = checkout / "pyproject.toml"
    if not project.is_file():
        raise FileNotFoundError(
            f"{checkout} is no checkout of the course: it has no pyproject.toml. Clone or download the repository, "
            "and run this in its folder"
        )
    return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["urls"]["Repository"]


def slug(url: str) -> str:
    """ "owner/name" of a repository on GitHub.

    Raises:
        ValueError: ``url`` is not https://github.com/OWNER/NAME (Binder, Colab and Codespaces open such ones).
    """
    match = _ADDRESS.fullmatch(url.removesuffix("/").removesuffix(".git"))
    if match is None:
        raise ValueError(f"url={url!r}: expected https://github.com/OWNER/NAME, and nothing behind it")
    return f"{match[1]}/{match[2]}"


def rewrite(url: str, checkout: Path = CHECKOUT) -> list[Path]:
    """Puts ``url`` wherever the checkout names its address: pyproject.toml, badges, links, the set-up cells.

    Every other byte stays. Gives the files that it changed.

    Raises:
        ValueError: ``url`` is no address of a repository on GitHub.
        FileNotFoundError: ``checkout`` is no checkout.
    """
    old, new = slug(address(checkout)), slug(url)
    pattern = _names(old)
    changed = []
    for path in files(checkout):
        before = path.read_bytes()
        after = pattern.sub(lambda match: match[1] + new.replace("/", match[2].decode()).encode(), before)
        if after != before:
            path.write_bytes(after)
            changed.append(path)
    return changed


def _names(of: str) -> re.Pattern[bytes]:
    """Finds this repository's "owner/name", or its "owner%2Fname", wherever it is part of an address."""
    owner, name = (re.escape(part) for part in of.split("/"))
    places = _PLACES.replace("/", "(?:/|%2F)")
    end = r"(?![\w-]|\.(?!git\b)\w)"  # a longer name is another repository; "name.git" and "name." are this one
    return re.compile(rf"({places}(?:/|%2F)){owner}(/|%2F){name}{end}".encode())


def disagreements(checkout: Path = CHECKOUT) -> list[str]:
    """Badges, installations and "open an issue" links that lead to another repository than the address says."""
    ours = slug(address(checkout))
    leads = re.compile(
        rf"{_OPENS_OURS}/({_NAME}/{_NAME}?)(?=[/?@#\s\"'\\)>`]|\.git\b|$)"
        rf"|https://github\.com/({_NAME}/{_NAME})/issues(?!/\d)",
        flags=re.MULTILINE,
    )
    found = []
    for path in files(checkout):
        for match in leads.finditer(path.read_bytes().decode()):
            if (match[1] or match[2]).removesuffix(".git") != ours:
                found.append(f"{path.relative_to(checkout).as_posix()}: {match[0]}")
    return found


def files(checkout: Path) -> Iterator[Path]:
    """The checkout's own text files; not git's, not those of a virtual environment, not what tools have made."""
    for folder, subfolders, names in os.walk(checkout):
        subfolders[:] = sorted(
            name
            for name in subfolders
            if name not in MADE_BY_TOOLS
            and (not name.startswith(".") or name in OWN_HIDDEN_FOLDERS)
            and not (Path(folder) / name / "pyvenv.cfg").exists()
        )
        for path in sorted(Path(folder) / name for name in names):
            if path.suffix != ".safetensors" and _is_text(path):
                yield path


def _is_text(path: Path) -> bool:
    try:
        path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return False
    return True


def lesson_name(lesson: str, checkout: Path = CHECKOUT) -> str:
    """The full name of a lesson, such as "03_masks", from it or from its number.

    Raises:
        ValueError: there is no such lesson.
    """
    names = sorted(path.stem for path in (checkout / "notebooks").glob("[0-9]*.ipynb"))
    for name in names:
        if lesson in (name, f"{name}.ipynb", name[:2], str(int(name[:2]))):
            return name
    raise ValueError(f"lesson={lesson!r}: expected a number from 00 to {len(names) - 1:02} or one of {names}")


def binder_link(lesson: str, checkout: Path = CHECKOUT) -> str:
    """The address that opens ``lesson`` in Binder."""
    page = f"notebooks/{lesson_name(lesson, checkout)}.ipynb"
    return f"https://mybinder.org/v2/gh/{slug(address(checkout))}/{BRANCH}?urlpath=lab/tree/{page}"


def colab_link(lesson: str, checkout: Path = CHECKOUT) -> str:
    """The address that opens ``lesson`` in Colab."""
    page = f"notebooks/{lesson_name(lesson, checkout)}.ipynb"
    return f"https://colab.research.google.com/github/{slug(address(checkout))}/blob/{BRANCH}/{page}"


def hub_link(lesson: str, hub: str, checkout: Path = CHECKOUT) -> str:
    """The address that brings the course into a learner's place in a JupyterHub, or up to date, and opens ``lesson``.

    The hub needs nbgitpuller (https://nbgitpuller.readthedocs.io/en/latest/topic/url-options.html).

    Raises:
        ValueError: there is no such lesson, or ``hub`` is not the address of a hub.
    """
    parts = urlsplit(hub)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ValueError(f"hub={hub!r}: expected a JupyterHub's address, such as https://hub.example.org")
    repository = f"https://github.com/{slug(address(checkout))}"
    folder = repository.rsplit("/", 1)[1]  # nbgitpuller clones into a folder of the repository's name
    page = f"lab/tree/{folder}/notebooks/{lesson_name(lesson, checkout)}.ipynb"
    options = urlencode({"repo": repository, "urlpath": page, "branch": BRANCH})
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{options}"


def main(arguments: list[str] | None = None) -> int:
    """The command: 0, or 1 with one line on stderr if what was asked for makes no sense."""
    parser = argparse.ArgumentParser(prog="python -m tools.addresses", description="Addresses and links.")
    commands = parser.add_subparsers(dest="command", required=True)
    where = commands.add_parser("address", help="print the repository's public address, or change it everywhere")
    where.add_argument("new", nargs="?", metavar="URL", help="the new address: https://github.com/OWNER/NAME")
    link = commands.add_parser("link", help="print a link that opens a lesson in a JupyterHub (with nbgitpuller)")
    link.add_argument("lesson", help="its number or its name: 03 or 03_masks")
    link.add_argument("--hub", required=True, metavar="URL", help="the JupyterHub: https://hub.example.org")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "link":
            print(hub_link(asked.lesson, asked.hub))
        elif asked.new is None:
            print(address())
        else:
            changed = rewrite(asked.new)
            print(f"The address is {address()} now; {len(changed)} files changed.")
    except (ValueError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
