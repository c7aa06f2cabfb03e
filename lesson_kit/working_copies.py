"""The learner's own copies of the lessons: made from the executed originals, and never overwritten."""

import ast
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lesson_kit._files import MARKER, write_whole
from lesson_kit.data import CHECKOUT

FOLDER = "my_lessons"
LONGEST_PLOT = 3  # lines of drawing that a reader may be shown


class Fresh(NamedTuple):
    """What ``make_fresh`` gives: the file, and whether it was made now or lay there untouched."""

    path: Path
    new: bool


class Report(NamedTuple):
    """What ``make`` found and did; names of lessons, such as "03_masks"."""

    folder: Path
    new: list[str]
    changed: list[str]


def originals(checkout: Path = CHECKOUT) -> dict[str, Path]:
    """The lessons of the checkout, by name.

    Raises:
        ValueError: there are none; an installed wheel has none.
    """
    found = {path.stem: path for path in sorted((checkout / "notebooks").glob("[0-9][0-9]_*.ipynb"))}
    if not found:
        raise ValueError(
            f"There are no lessons in {checkout}: download or clone the whole course, and type this in its folder."
        )
    return found


def original(lesson: str, checkout: Path = CHECKOUT) -> Path:
    """The lesson of that number or name.

    Raises:
        ValueError: there is no such lesson.
    """
    lessons = originals(checkout)
    for name, path in lessons.items():
        if lesson in (name, f"{name}.ipynb", name[:2], str(int(name[:2]))):
            return path
    raise ValueError(f"There is no lesson {lesson!r}: the lessons are {', '.join(name[:2] for name in lessons)}.")


def make(folder: str = FOLDER, checkout: Path = CHECKOUT) -> Report:
    """Copies every lesson that is not in ``folder`` yet, and says which originals have changed since theirs was made.

    ``folder`` is a name at the top of the checkout, so that links out of a lesson lead where they led before.

    Raises:
        ValueError: ``folder`` is no such name, or holds something else; or there are no lessons.
        OSError: nothing can be written there.
    """
    lessons = originals(checkout)
    place = _place(folder, checkout)
    made_from = _read(place)
    texts = {name: cleared(path) for name, path in lessons.items()}
    fingerprints = {name: _fingerprint(text) for name, text in texts.items()}
    new = [name for name, path in lessons.items() if not (place / path.name).exists()]
    changed = [name for name in lessons if name not in new and made_from.get(name) != fingerprints[name]]
    # The marker goes first: if this is interrupted, the folder is known, and the next call makes what is missing.
    _mark(place, made_from | {name: fingerprints[name] for name in new})
    for name in new:
        write_whole(place / lessons[name].name, texts[name])
    return Report(place, new, changed)


def make_fresh(lesson: str, folder: str = FOLDER, checkout: Path = CHECKOUT) -> Fresh:
    """The lesson as it is now, in a file beside the learner's own copy. ``lesson`` is its number or its name.

    If a fresh one that nobody has run or changed lies there already, it is that one, and nothing is made. (The
    learner's own may look untouched where JupyterLab holds what has not been saved yet.)

    Raises:
        ValueError: there is no such lesson, or ``folder`` will not do.
        OSError: nothing can be written there.
    """
    chosen = original(lesson, checkout)
    name, place, text = chosen.stem, _place(folder, checkout), cleared(chosen)
    made_from = _read(place) | {name: _fingerprint(text)}
    for there in sorted(place.glob(f"{name}.new*.ipynb")):
        if _is_untouched(there, text):
            _mark(place, made_from)
            return Fresh(there, new=False)
    # ".new", for in a list of files it stands right below the learner's own: "_" would go before "."
    endings = (f".new{'' if n == 1 else n}.ipynb" for n in range(1, 1000))
    fresh = next(path for path in (place / f"{name}{ending}" for ending in endings) if not path.exists())
    write_whole(fresh, text)
    _mark(place, made_from)
    return Fresh(fresh, new=True)


def _is_untouched(copy: Path, text: str) -> bool:
    """Has it the cells of ``text``, and has none been run? JupyterLab may have saved it: metadata don't count."""
    try:
        found = copy.read_text(encoding="utf-8")
        ran = any(cell.get("outputs") or cell.get("execution_count") for cell in json.loads(found)["cells"])
        return not ran and _fingerprint(found) == _fingerprint(text)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # no notebook any more
        return False


def cleared(lesson: Path) -> str:
    """The notebook's text without outputs and counts; cells that only draw are collapsed.

    Text that holds something folded, such as hints with their solution, is set not editable: else a double click on
    the fold shows the cell's source, solution and all. (JupyterLab must be told to mean it: ``lab.OVERRIDES``.)
    """
    notebook = json.loads(lesson.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and "<details>" in "".join(cell["source"]):
            cell["metadata"]["editable"] = False
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for n, cell in enumerate(code):
        cell.update(outputs=[], execution_count=None)
        if only_draws(code, n):
            cell["metadata"].setdefault("jupyter", {})["source_hidden"] = True
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def only_draws(cells: list[dict], n: int) -> bool:
    """Does a reader lose nothing but drawing if code cell ``n`` is collapsed?

    Yes if it is longer than three lines, ends in ``show.figure(...)``, asserts and prints nothing, and makes no name
    that a later cell reads, other drawings aside.
    """
    if not _draws(cells[n]):
        return False
    _, handed_on = _names(cells[n])
    for later in cells[n + 1 :]:
        read, made = _names(later)
        if handed_on & (read - made) and not _draws(later):
            return False
        handed_on -= made
    return True


def _draws(cell: dict) -> bool:
    source = "".join(cell["source"])
    tree = _parsed(source)
    if not tree.body or len(source.strip().splitlines()) <= LONGEST_PLOT:
        return False
    if any(isinstance(node, ast.Assert) or _calls(node, "print") for node in ast.walk(tree)):
        return False
    return isinstance(tree.body[-1], ast.Expr) and _calls(tree.body[-1].value, "show.figure")


def _calls(node: ast.AST, function: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == function


def _names(cell: dict) -> tuple[frozenset[str], frozenset[str]]:
    return _names_in("".join(cell["source"]))


@cache
def _names_in(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a cell reads, and those that it makes."""
    read, made = set(), set()
    for node in ast.walk(_parsed(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
    return frozenset(read), frozenset(made)


@cache
def _parsed(source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError:  # a line for IPython, such as %timeit
        return ast.Module([], [])


def _place(folder: str, checkout: Path) -> Path:
    """The folder of the copies, made if need be."""
    if folder in ("", ".", "..") or Path(folder).name != folder:
        raise ValueError(
            f"--folder {folder!r} will not do: give one name, such as {FOLDER}, for a folder in {checkout}."
        )
    place = checkout / folder
    if place.exists() and not place.is_dir():
        raise ValueError(
            f"{place} is a file, so no folder of that name can be made: move it, or give another --folder."
        )
    if place.is_dir() and not (place / MARKER).is_file() and any(place.glob("[!.]*")):  # hidden files are nobody's work
        raise ValueError(f"{place} holds something else than copies of the lessons: move it, or give another --folder.")
    place.mkdir(exist_ok=True)
    return place


def _read(place: Path) -> dict[str, str]:
    """For each copy the fingerprint of the original; a damaged marker knows none."""
    try:
        return dict(json.loads((place / MARKER).read_text(encoding="utf-8"))["made_from"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _mark(place: Path, made_from: dict[str, str]) -> None:
    write_whole(place / MARKER, json.dumps({"made_from": made_from}, indent=1))


def _fingerprint(text: str) -> str:
    """Of what a learner reads: cells, in order. Outputs and metadata may change and nobody need hear of it."""
    cells = [[cell["cell_type"], "".join(cell["source"])] for cell in json.loads(text)["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()
