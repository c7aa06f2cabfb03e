"""Reading a lesson and making a folder, with errors a teacher can act on."""

from collections.abc import Iterable
from pathlib import Path

import nbformat


def expect_lessons(lessons: Iterable[Path | str]) -> list[Path]:
    """The lessons as paths that are there.

    Raises:
        TypeError: ``lessons`` is a single path.
        ValueError: there are none.
        FileNotFoundError: one is not there.
    """
    if isinstance(lessons, str | Path):
        raise TypeError(f"lessons is one path, {str(lessons)!r}; expected a list of them")
    paths = [Path(lesson) for lesson in lessons]
    if not paths:
        raise ValueError("lessons is empty; expected the paths of one notebook or more")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"lessons: there is no notebook {path}")
    return paths


def read_lesson(path: Path) -> nbformat.NotebookNode:
    """The notebook in ``path``.

    Raises:
        ValueError: the file is no notebook.
    """
    try:
        return nbformat.read(path, as_version=4)
    except Exception as error:  # nbformat raises many kinds, and a half-written file yet others
        raise ValueError(f"lessons: {path} is not a notebook that can be read ({error})") from error


def make_folder(folder: Path | str) -> Path:
    """``folder``, made if it was not there, after a try at writing into it.

    Raises:
        OSError: it can't be made, or written to.
    """
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".can-be-written"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OSError(f"folder {folder} can't be written to ({error.strerror}); choose another one") from error
    return folder
