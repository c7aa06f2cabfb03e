"""The learner's own Transformer: the source of all that has passed, in ``my_transformer.py``, in reading order.

It lies in the folder that ``python -m lesson_kit start`` has made and marked; elsewhere nothing is written. The
environment variable ``COURSE_MY_TRANSFORMER`` names another file, or says "off". A piece stands between two lines that
name its exercise and is replaced when that passes anew; all other text in the file is the learner's, and stays.
"""

import ast
import builtins
import contextlib
import datetime
import inspect
import linecache
import os
import re
import sys
import textwrap
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import torch

from lesson_kit._files import MARKER, write_whole
from lesson_kit.check.engine.source_code import globals_in
from lesson_kit.check.where_taught import PLACES, lesson

NAME = "my_transformer.py"
HEADER = '''"""My Transformer, written by hand: every exercise that has passed its check.

What stands between the marked lines is written by the checks, and anew when an exercise passes again. Everything else
in this file is yours and stays as it is.
"""
'''
COURSES_OWN = "  # the course's own, until yours has passed"
PATIENCE = 3.0  # seconds for another kernel that writes the same file; it needs a thousandth of it
STALE = 30.0  # seconds after which nobody can still be writing


@dataclass
class Piece:
    """What one exercise adds to the file: the imports it needs, its source with its helpers, and what is missing."""

    imports: set[str] = field(default_factory=set)
    sources: dict[str, str] = field(default_factory=dict)  # in the order in which they must stand
    missing: list[str] = field(default_factory=list)


def path() -> Path | None:
    """The file, or None where none is kept."""
    setting = os.environ.get("COURSE_MY_TRANSFORMER", "").strip()
    if setting.lower() in ("off", "0"):
        return None
    if setting:
        return Path(setting).expanduser()
    return Path.cwd() / NAME if (Path.cwd() / MARKER).is_file() else None


def collect(exercise: str, function: Any) -> str:
    """Puts the source of ``function``, which has passed, at its place in the file. Says in a sentence what it did.

    Says nothing, "", where no file is kept or the function is not the learner's. Raises nothing.
    """
    try:
        file = path()
        if file is None or exercise not in PLACES or _not_the_learners(function, file):
            return ""
        piece = _piece(exercise, function)
        with _alone_with(file):
            old = file.read_text(encoding="utf-8") if file.exists() else ""
            new, clash = _with_piece(old, exercise, piece)
            if new != old:
                write_whole(file, new)
    except _CannotCollect as why:
        return f"Not added to {NAME}: {why}"
    except Exception as error:  # the check has passed; this must not spoil it
        return f"Not added to {NAME}: {type(error).__name__}."
    needs = [f"it needs {', '.join(f'`{name}`' for name in piece.missing)} from your notebook"] if piece.missing else []
    but = "; ".join([*needs, *clash])
    return f"It stands in {file.name} now{f', but {but}' if but else ''}."


class _CannotCollect(Exception):
    pass


def _not_the_learners(function: Any, file: Path) -> bool:
    module = getattr(function, "__module__", None) or ""
    if module.split(".")[0] in ("course_utils", "lesson_kit", "torch"):
        return True
    code = getattr(inspect.unwrap(function) if callable(function) else function, "__code__", None)
    return code is not None and Path(code.co_filename).resolve() == file.resolve()


# --- what belongs to a function ---


def _piece(exercise: str, function: Callable) -> Piece:
    piece = Piece()
    name = _add(piece, function, {exercise})
    if name != exercise:
        piece.sources[exercise] = f"{exercise} = {name}\n"
    return piece


def _add(piece: Piece, thing: Any, known: set[str]) -> str:
    """Adds the source of a function or class, after that of everything it needs. Returns the name that it defines."""
    try:
        source = textwrap.dedent(_source(thing))
        (statement,) = ast.parse(source).body
    except (OSError, TypeError, SyntaxError, ValueError):
        raise _CannotCollect("its source could not be read. Write it as a `def` in a cell of its own.") from None
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        name = statement.name
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        name = statement.targets[0].id  # name = lambda ...
    else:
        raise _CannotCollect("its source could not be read. Write it as a `def` in a cell of its own.")
    known = known | {name}
    space = _namespace(thing)
    for each in sorted(globals_in(compile(source, NAME, "exec"))):
        if each not in known and each not in piece.sources and (each in space or not hasattr(builtins, each)):
            _add_needed(piece, each, space, known)
    piece.sources[name] = source.rstrip() + "\n"
    return name


def _source(thing: Any) -> str:
    """``inspect.getsource``, which doesn't find the classes of a notebook: they are where their methods are."""
    if not inspect.isclass(thing):
        return inspect.getsource(thing)
    code = _a_method(thing).__code__
    lines = linecache.getlines(code.co_filename)
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.ClassDef) and node.name == thing.__name__:
            start = min(each.lineno for each in [node, *node.decorator_list])
            if start <= code.co_firstlineno <= node.end_lineno:
                return "".join(lines[start - 1 : node.end_lineno])
    raise OSError


def _a_method(thing: type) -> FunctionType:
    for each in vars(thing).values():
        if isinstance(each, FunctionType):
            return each
    raise OSError


def _namespace(thing: Any) -> dict[str, Any]:
    if inspect.isclass(thing):
        return _a_method(thing).__globals__
    function = inspect.unwrap(thing)
    return function.__globals__ | inspect.getclosurevars(function).nonlocals


def _add_needed(piece: Piece, name: str, space: dict[str, Any], known: set[str]) -> None:
    value = space.get(name, piece)
    if isinstance(value, ModuleType):
        piece.imports.add(f"import {name}" if value.__name__ == name else f"import {value.__name__} as {name}")
    elif name in PLACES and _is_reference(value):
        piece.imports.add("from lesson_kit import check")
        piece.sources[name] = f"{name} = check.{name}.reference{COURSES_OWN}\n"
    elif imported := _import_of(name, value):
        piece.imports.add(imported)
    elif name in PLACES and callable(value):
        pass  # it has a piece of its own, or will have one
    elif inspect.isfunction(value) or inspect.isclass(value):
        if (defined := _add(piece, value, known)) != name:
            piece.sources[name] = f"{name} = {defined}\n"
    elif _is_plain(value):
        piece.sources[name] = f"{name} = {value!r}\n"
    else:
        piece.missing.append(name)


def _is_reference(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").startswith("lesson_kit.check.lessons.")


def _import_of(name: str, value: Any) -> str | None:
    """How to import something that is not the learner's; None if it can't be."""
    module, own = getattr(value, "__module__", None), getattr(value, "__name__", name)
    if isinstance(value, torch.dtype):
        module, own = "torch", str(value).removeprefix("torch.")
    if not isinstance(module, str) or module == "__main__":
        return None
    home = module.split(".")[0]
    for place in (home, module):  # from torch, rather than from where it is made there
        if place in sys.modules and getattr(sys.modules[place], own, None) is value and _is_installed(home):
            return f"from {place} import {own}" + (f" as {name}" if own != name else "")
    return None


def _is_installed(module: str) -> bool:
    """Can every program import it, and not only this notebook?"""
    file = getattr(sys.modules[module], "__file__", None) or ""
    return module in (*sys.stdlib_module_names, "course_utils", "lesson_kit") or "site-packages" in Path(file).parts


def _is_plain(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str) and repr(value) not in ("inf", "-inf", "nan")


# --- the file ---


def _begin(exercise: str) -> str:
    return f"# --- {exercise} (lesson {lesson(exercise)}"


def _block(exercise: str, body: str) -> str:
    day = datetime.date.today().isoformat()
    return f"{_begin(exercise)}, passed {day}) ---\n{body}# --- end of {exercise} ---\n"


def _find(text: str, exercise: str) -> re.Match | None:
    """The piece of ``exercise``; its group is the body."""
    begin, end = re.escape(_begin(exercise)), re.escape(f"# --- end of {exercise} ---\n")
    found = re.search(rf"^{begin}[^\n]*\n(.*?)^{end}", text, flags=re.MULTILINE | re.DOTALL)
    if found is None and re.search(rf"^{begin}", text, flags=re.MULTILINE):
        raise _CannotCollect(f"there the line `# --- end of {exercise} ---` is missing.")
    return found


def _with_piece(text: str, exercise: str, piece: Piece) -> tuple[str, list[str]]:
    """The file with this piece in it, and what is not well with that."""
    _expect_python(text, "it can't be read as Python any more. Mend it, then run the check again.")
    text = (text if text.endswith("\n") or not text else text + "\n") or HEADER
    pieces = {name: found for name in PLACES if (found := _find(text, name))}
    sources = {name: each for name, each in piece.sources.items() if name == exercise or name not in pieces}
    body = "\n\n".join(["", *sources.values()])[1:] if len(sources) > 1 else next(iter(sources.values()))
    body = body.lstrip("\n")
    clash = [
        f"`{name}` is defined in another way in the piece of {other}: give one of them another name"
        for other, found in pieces.items()
        for name, source in sources.items()
        if other != exercise and name != exercise and name in _defined(found[1]) and source.strip() not in found[1]
        if not source.rstrip().endswith(COURSES_OWN.strip())
    ]
    if exercise in pieces:
        if pieces[exercise][1] != body:
            start, end = pieces[exercise].span()
            text = text[:start] + _block(exercise, body) + text[end:]
    else:
        text = re.sub(rf"^{exercise} = check\.{exercise}\.reference{COURSES_OWN}\n\n*", "", text, flags=re.MULTILINE)
        order = list(PLACES)
        later = [_find(text, name).start() for name in order[order.index(exercise) + 1 :] if name in pieces]
        at = min(later, default=len(text))
        between = "\n\n" if at == len(text) else ""
        text = text[:at] + between + _block(exercise, body) + ("" if between else "\n\n") + text[at:]
    text = _with_imports(text, piece.imports)
    _expect_python(text, "it would not be Python any more.")
    return text, clash


def _with_imports(text: str, imports: set[str]) -> str:
    """With the imports of all pieces in one block, after the docstring."""
    found = re.search(r"^# --- imports ---\n(.*?)^# --- end of imports ---\n", text, flags=re.MULTILINE | re.DOTALL)
    lines = filter(None, imports | set(found[1].splitlines() if found else []))
    lines = sorted(lines, key=lambda line: (line.startswith("from"), line))
    block = "\n".join(["# --- imports ---", *lines, "# --- end of imports ---", ""])
    if found:
        return text[: found.start()] + block + text[found.end() :]
    first = next(iter(ast.parse(text).body), None)
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    lines = text.splitlines(keepends=True)
    at = first.end_lineno if is_docstring else 0
    return "".join([*lines[:at], "\n", block, *lines[at:]])


def _expect_python(text: str, otherwise: str) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, NAME, "exec")  # parsing alone lets a `return` outside a function pass
    except (SyntaxError, ValueError):
        raise _CannotCollect(otherwise) from None


def _defined(source: str) -> set[str]:
    """The names that a piece binds."""
    names = set()
    for node in ast.parse(source).body:
        names |= {node.name} if hasattr(node, "name") else set()
        names |= {target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)}
    return names


@contextlib.contextmanager
def _alone_with(file: Path) -> Iterator[None]:
    """No other kernel writes meanwhile: a second file says so, and says whose it is.

    One that is older than ``STALE`` was left over by a kernel that has died, and is taken over.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    guard, mine, late = file.with_name(f".{file.name}.lock"), uuid.uuid4().hex, time.monotonic() + PATIENCE
    while not _taken(guard, mine):
        if time.monotonic() > late:
            raise _CannotCollect("another notebook is writing there. Run the check again.")
        time.sleep(0.01)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # no longer there; on Windows also: being read
            if guard.read_text() == mine:
                guard.unlink()


def _taken(guard: Path, mine: str) -> bool:
    """Is ``guard`` ours now?"""
    try:
        with guard.open("x") as file:
            file.write(mine)
        return True
    except (FileExistsError, PermissionError):  # on Windows the second, while another takes it away
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if time.time() - guard.stat().st_mtime > STALE:
                write_whole(guard, mine)
                time.sleep(0.1)  # for another that has seen its age too: the last one has it
                return guard.read_text() == mine
        return False
