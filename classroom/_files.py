"""What all commands share: where the course lies, reading a lesson, making a folder; errors a teacher can act on."""

from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lesson_kit.data import CHECKOUT

NOTEBOOKS = CHECKOUT / "notebooks"


class ClassroomError(ValueError):
    """The input can't be used; the message is a sentence for a teacher, shown without a traceback."""


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


def read_notebook(path: Path) -> NotebookNode:
    """The notebook in ``path``.

    Raises:
        ClassroomError: it is not there, can't be read, or is no notebook.
    """
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        nbformat.validate(notebook)
    except FileNotFoundError:
        raise ClassroomError(f"{path}: there is no such notebook.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ClassroomError(f"{path} can't be read: {error}.") from error
    except Exception as error:  # nbformat's errors have no class in common
        raise ClassroomError(f"{path} is not a notebook: {str(error).splitlines()[0]}") from error
    return notebook


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


def counted(number: int, what: str) -> str:
    """ "1 lesson", "2 lessons"."""
    return f"{number} {what}{'' if number == 1 else 's'}"
