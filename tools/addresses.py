"""Where the course lies on the Internet: one address, in pyproject.toml, from which every link is made.

python -m tools.addresses                                    print it
python -m tools.addresses https://github.com/you/your-copy   change it, here and wherever it stands
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from lesson_kit.data import CHECKOUT

BRANCH = "main"


def address(checkout: Path = CHECKOUT) -> str:
    """The repository's public address, as pyproject.toml gives it."""
    project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    return project["project"]["urls"]["Repository"]


def slug(url: str) -> str:
    """ "owner/name" of a repository on GitHub.

    Raises:
        ValueError: ``url`` is not https://github.com/OWNER/NAME (Binder, Colab and Codespaces open such ones).
    """
    match = re.fullmatch(r"https://github\.com/([\w.-]*[\w-]/[\w.-]*[\w-])", url.removesuffix("/").removesuffix(".git"))
    if match is None:
        raise ValueError(f"url={url!r}: expected https://github.com/OWNER/NAME, and nothing behind it")
    return match[1]


def rewrite(url: str, checkout: Path = CHECKOUT) -> list[Path]:
    """Puts ``url`` wherever a file that git knows names the address. Gives the files that it changed.

    Raises:
        ValueError: ``url`` is no address of a repository on GitHub.
    """
    old, new = slug(address(checkout)), slug(url)
    search = ["git", "grep", "-Il", "--fixed-strings", "-e", old, "-e", site(old)]
    found = subprocess.run(search, cwd=checkout, capture_output=True, text=True, check=True).stdout
    changed = [checkout / name for name in found.splitlines()]
    for path in changed:
        content = path.read_bytes().replace(site(old).encode(), site(new).encode())
        path.write_bytes(re.sub(rb"\b%s(?![\w-])" % re.escape(old.encode()), new.encode(), content))
    return changed


def site(repository: str) -> str:
    """Where GitHub Pages shows the web site of a repository, given as "owner/name"."""
    owner, name = repository.split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def binder_link(lesson: str) -> str:
    """The address that opens a copy of ``lesson``, such as "03_masks", in Binder."""
    return f"https://mybinder.org/v2/gh/{slug(address())}/{BRANCH}?urlpath=lab/tree/my_lessons/{lesson}.ipynb"


def colab_link(lesson: str) -> str:
    """The address that opens ``lesson`` in Colab."""
    return f"https://colab.research.google.com/github/{slug(address())}/blob/{BRANCH}/notebooks/{lesson}.ipynb"


def worksheet_link(lesson: str) -> str:
    """The address of the worksheet of ``lesson`` on the web site."""
    return f"{site(slug(address()))}worksheets/{lesson}.html"


def main(arguments: list[str]) -> int:
    """The command: 0, or 1 with one line on stderr if what was asked for makes no sense."""
    try:
        if arguments:
            print(f"{len(rewrite(*arguments[:1]))} files changed.")
        print(f"The address is {address()}.")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
