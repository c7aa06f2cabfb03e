"""Which statements of a notebook a few of its names need, found without running anything."""

import ast
import dis
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from lesson_kit.check.engine.source_code import steps

READ = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
# A line for Jupyter, with those that a \\ at its end joins to it.
COMMAND = re.compile(r"^([ \t]*)([%!?](?:.*\\\n)*.*|[\w.]+\?+[ \t]*)$", flags=re.MULTILINE)
TIMED = ("%%time", "%%timeit", "%%capture")  # what stands below these is Python


@dataclass(frozen=True)
class Statement:
    """One statement outside all functions, and the names that it deals with.

    ``binds``: those it gives a value. ``changes``: those whose value it may change in place, by a method or by an
    index. ``reads``: those it needs. ``checks``: the exercises whose check it calls.
    """

    cell: int
    code: CodeType
    binds: frozenset[str]
    changes: frozenset[str]
    reads: frozenset[str]
    checks: frozenset[str]
    imports: bool
    star: bool  # from ... import *


def parse(source: str) -> ast.Module:
    """A cell's code without Jupyter's own commands. Raises what ``ast.parse`` raises."""
    first = source.lstrip().split("\n", 1)[0]
    if first.startswith("%%"):
        source = source.lstrip()[len(first) :] if first.startswith(TIMED) else ""
    try:
        return ast.parse(source)
    except SyntaxError:  # only now, because a line of a long formula may begin with % too
        kept = COMMAND.sub(lambda found: f"{found[1]}pass" + "\n" * found[2].count("\n"), source)
        return ast.parse(kept)


def statements(cells: list[str]) -> tuple[list[Statement], dict[int, str]]:
    """All statements in order, and the cells that are no Python, each with its error in a line."""
    found, broken = [], {}
    for number, source in enumerate(cells):
        try:
            tree = parse(source)
            compile(tree, f"<cell {number}>", "exec")
            found += [_statement(number, each) for each in tree.body]
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            place = f" in line {error.lineno} of the cell" if getattr(error, "lineno", None) else ""
            broken[number] = f"{type(error).__name__}: {getattr(error, 'msg', error)}{place}"
    return found, broken


def _statement(cell: int, tree: ast.stmt) -> Statement:
    code = compile(ast.Module([tree], []), f"<cell {cell}>", "exec")
    binds = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
    binds |= {step.argval for step in steps(code) if step.opname == "STORE_GLOBAL"}
    checks = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "check"
    }
    defines = isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    return Statement(
        cell,
        code,
        frozenset(binds),
        frozenset(() if defines else _changes(tree)),
        frozenset(step.argval for step in steps(code) if step.opname in READ),
        frozenset(() if defines else checks),
        isinstance(tree, ast.Import | ast.ImportFrom),
        isinstance(tree, ast.ImportFrom) and tree.names[0].name == "*",
    )


def _changes(tree: ast.stmt) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            place = node.func.value
        elif isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            place = node.value
        else:
            continue
        while isinstance(place, ast.Subscript | ast.Attribute):
            place = place.value
        if isinstance(place, ast.Name):
            yield place.id


def needed(all_of_them: list[Statement], names: list[str], given: list[str]) -> list[Statement]:
    """The statements that ``names`` need, in order: those that bind them, and whatever these read, in turn.

    ``given``: names that are there already. Calls of checks are left out, and so is whatever changes a module.
    """
    imported = {name for each in all_of_them if each.imports for name in each.binds}
    wanted, taken = set(names), set()
    while True:
        more = {
            place
            for place, each in enumerate(all_of_them)
            if place not in taken
            and not each.checks
            and (each.star or ((each.binds - set(given)) | (each.changes - imported)) & wanted)
        }
        if not more:
            return [all_of_them[place] for place in sorted(taken)]
        taken |= more
        wanted |= {name for place in more for name in all_of_them[place].reads}


def moment(all_of_them: list[Statement], name: str) -> int | None:
    """After which cell ``name`` is to be judged: that of its last check, -1 for the last cell, None if not there.

    The last cell also if the name is bound once more after its check.
    """
    bound = [each.cell for each in all_of_them if name in each.binds and not each.checks]
    checked = [each.cell for each in all_of_them if name in each.checks]
    if not bound:
        return None
    return checked[-1] if checked and checked[-1] >= bound[-1] else -1
