"""The lessons in an environment like Colab's: ``python tests/colab/run.py FOLDER [--python python3.13] [LESSON ...]``.

Makes a virtual environment in FOLDER with Colab's versions (several GB the first time), and runs the lessons in it,
01 and 02 if none are named, in a place where the course is not installed. So their set-up cells install it; in place
of GitHub's copy, a wheel of this checkout. Fails if a lesson does, or if pip changed anything that Colab brought.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

from lesson_kit.working_copies import original
from tools.addresses import CHECKOUT, address

VERSIONS = Path(__file__).parent / "versions.txt"


def pip(python: Path, *arguments: str) -> str:
    return subprocess.check_output([python, "-m", "pip", *arguments], text=True)


def installed(python: Path) -> dict[str, str]:
    packages = json.loads(pip(python, "list", "--format=json"))
    return {package["name"].lower(): package["version"] for package in packages}


def make(folder: Path, python: str) -> Path:
    """The environment's Python."""
    found = folder / "bin" / "python"
    if not found.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
        pip(found, "install", "-r", str(VERSIONS))
    return found


def run(python: Path, lesson: Path, wheel: Path, place: Path) -> None:
    """Runs a copy of the lesson in a fresh kernel."""
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    setup = notebook["cells"][1]
    repository = f"git+{address()}"
    assert any(repository in line for line in setup["source"]), f"{lesson.name}: no {repository} in its set-up cell"
    setup["source"] = [line.replace(repository, str(wheel)) for line in setup["source"]]
    copy = place / lesson.name
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-m", "jupyter", "execute", "--timeout=600", copy]
    subprocess.run(command, cwd=place, env=surroundings, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("lessons", nargs="*", default=["01", "02"])
    parser.add_argument("--python", default="python3.13")
    asked = parser.parse_args()
    python = make(asked.folder.resolve(), asked.python)
    wheels, place = asked.folder.resolve() / "wheel", asked.folder.resolve() / "lessons"
    place.mkdir(exist_ok=True)
    pip(python, "wheel", "-q", "--no-deps", "-w", str(wheels), str(CHECKOUT))
    (wheel,) = wheels.glob("*.whl")
    before = installed(python)
    for lesson in map(original, asked.lessons):
        run(python, lesson, wheel, place)
        after = installed(python)
        changed = {name: (version, after.get(name)) for name, version in before.items() if after.get(name) != version}
        assert not changed, f"the set-up cell changed what was there: {changed}"
        print(f"{lesson.stem} runs. New: {sorted(after.keys() - before.keys()) or 'nothing'}")
        before = after


if __name__ == "__main__":
    main()
