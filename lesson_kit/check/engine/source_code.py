"""What the code of a learner's function says about it, without running it."""

import dis
import re
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any


def steps(code: CodeType) -> Iterator[dis.Instruction]:
    """The steps of a function, and of the functions inside it."""
    yield from dis.get_instructions(code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from steps(constant)


def globals_in(code: CodeType) -> set[str]:
    """The names that compiled source takes from outside of it, or may take."""
    return {step.argval for step in steps(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def attributes_in(function: Callable) -> set[str]:
    """Every name that stands behind a dot or comes from outside the function, such as ``detach`` in ``x.detach()``."""
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return set()
    return {step.argval for step in steps(code) if step.opname in ("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL")}


def unused_arguments(function: Callable) -> list[str]:
    """Its own arguments that it never reads."""
    if not isinstance(code := getattr(function, "__code__", None), CodeType):
        return []
    read = {name for step in steps(code) for name in _read(step.opname, step.argval)}
    return [name for name in code.co_varnames[: code.co_argcount] if name not in read]


def _read(opname: str, argval: Any) -> list[Any]:
    """What a step reads. Newer Pythons do two things in one: STORE_FAST_LOAD_FAST writes the first name only."""
    if opname == "LOAD_FAST_AND_CLEAR":  # saves a name from a comprehension that has one like it
        return []
    names = argval if isinstance(argval, tuple) else (argval,)
    return [name for what, name in zip(re.findall("LOAD|STORE", opname), names, strict=False) if what == "LOAD"]


def computes(function: Callable) -> bool:
    """Does it call or reckon anything, or is it a stub?"""
    if not hasattr(function, "__code__"):
        return False
    return any(step.opname.startswith(("CALL", "BINARY")) for step in dis.get_instructions(function))
