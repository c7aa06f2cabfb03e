"""One submission, in a process of its own: ``grading.py`` starts it and reads what it writes.

What is run. Not the notebook: a lesson takes up to a minute, and prints, draws and trains. Only the statements run
that the exercises' functions need (``needed.py``): their definitions, the names those use, and so on, in order. One
that raises is left behind, as a learner would leave it. The notebook's own calls of ``check`` never run. The course's
checks, imported here before anything of the learner's, judge each function by its name, at the place of its last
check. An exercise that is not passed goes on as the course's own version, as in the lesson.

What is hindered. Other processes, signals, sockets, names of hosts, and writing outside the temporary folder raise
PermissionError; time, memory and the size of files are limited. What a function changes in torch, in Python's
built-ins or in the checks is put back after each call. What it prints goes nowhere; a verdict counts only with a
word that no learner is told.

What is not. This keeps accidents and pranks away, not an attacker: it is all one process, so code that means to can
find that word, reach the network through a library written in C, or read files. There is little to gain, since the
solutions stand in the lessons. Grade strangers' notebooks in a container.
"""

import builtins
import contextlib
import copy
import dis
import functools
import inspect
import itertools
import json
import linecache
import math
import os
import re
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import psutil
import torch

from classroom.grading.slicing import Statement, moment, needed, statements
from lesson_kit import check as checks
from lesson_kit.check.engine import limits
from lesson_kit.check.engine.exercise import GO_ON, Exercise

try:
    import resource
except ImportError:  # Windows
    resource = None

FORBIDDEN = (  # by the beginnings of their names in Python's table of audit events
    "socket.connect socket.bind socket.send socket.getaddrinfo socket.gethostby socket.getnameinfo socket.__new__ "
    "subprocess. os.fork os.exec os.posix_spawn os.spawn os.system os.startfile os.kill pty. signal.pthread_kill "
    "ctypes.dlopen ctypes.dlsym _winapi.CreateProcess webbrowser."
).split()
CHANGES = "remove rename rmdir mkdir link symlink truncate chmod lchmod chown lchown utime setxattr removexattr".split()
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LARGEST_FILE = 100 * 2**20
TEXT = 3000  # so many characters of a verdict are kept
NO_ROOM = re.compile(
    "MemoryError|[Cc]an(?:'t|not) allocate|not enough memory|Unable to allocate|can't start new thread"
)


def main() -> None:
    """Reads a job from standard input, and writes a line for each thing that happens."""
    job = json.loads(sys.stdin.buffer.read())
    send = _channel(job["word"])
    limits.in_time(lambda: None)  # looks up now what ctypes is not allowed to look up later
    limits.SECONDS = min(limits.SECONDS, job["call_seconds"])
    for exercise in checks.EXERCISES.values():
        exercise._sight = None  # what a passed function would show is for the learner
    send(ready=psutil.Process().memory_info().rss)
    put_back = _remember()
    _limit(job["memory"], job["seconds"])
    _forbid(os.path.realpath(os.getcwd()))
    _grade(job, send, put_back)
    send(end=True)
    os._exit(0)  # the learner's threads and farewells are not waited for


def _channel(word: str) -> Callable[..., None]:
    """The way to the parent. From now on standard input, output and errors lead nowhere."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nowhere, each)

    def send(**event: Any) -> None:
        channel.write(f"\n{word} {json.dumps(event)}\n")
        channel.flush()

    return send


def _limit(memory: int, seconds: float) -> None:
    """``memory``: bytes beyond what Python and torch take. Elsewhere than on Linux only the parent watches it."""
    if resource is None:
        return
    wanted = {"RLIMIT_FSIZE": LARGEST_FILE, "RLIMIT_CORE": 0}
    wanted["RLIMIT_CPU"] = int(psutil.Process().cpu_times().user + 4 * seconds) + 60  # if the parent is gone
    if sys.platform == "linux":
        wanted["RLIMIT_AS"] = psutil.Process().memory_info().vms + memory
    for name, most in wanted.items():
        with contextlib.suppress(ValueError, OSError):  # a stricter limit than ours is there already
            resource.setrlimit(getattr(resource, name), (most, most))


def _forbid(folder: str) -> None:
    """No network, no other processes, no changes of files outside ``folder``, until this process ends."""
    realpath, nowhere, sep = os.path.realpath, os.devnull, os.sep
    changes = {f"os.{name}" for name in CHANGES}

    def outside(path: Any) -> bool:
        path = os.fsdecode(path)
        return path != nowhere and not (realpath(path) + sep).startswith(folder + sep)

    def hook(event: str, args: tuple) -> None:
        if event == "open":
            path, _, flags = args
            refused = not isinstance(path, int) and flags and flags & WRITES and outside(path)
        elif event in changes:
            paths = [arg for arg in args if isinstance(arg, str | bytes | os.PathLike)]
            elsewhere = event != "os.truncate" and isinstance(args[-1], int) and args[-1] != -1  # another folder
            refused = elsewhere or any(map(outside, paths))
        else:
            refused = event.startswith(tuple(FORBIDDEN))
        if refused:
            raise PermissionError(f"not allowed while grading: {event}")

    if "_posixsubprocess" in sys.modules:  # the one way to a new process that is not in the table

        def fork_exec(*args):
            raise PermissionError("not allowed while grading: a new process")

        sys.modules["_posixsubprocess"].fork_exec = fork_exec
    sys.dont_write_bytecode = True
    sys.addaudithook(hook)


def _remember() -> Callable[[], None]:
    """A function that puts back what has been changed since: in the checks, and in what the checks stand on."""
    ours = [module for name, module in sys.modules.items() if name.split(".")[0] in ("course_utils", "__main__")]
    classes = [each for module in ours for each in vars(module).values() if inspect.isclass(each)]
    ours += [each for each in classes if each.__module__.startswith("course_utils")]
    ours += [each for each in checks.EXERCISES.values() if isinstance(each, Exercise)]
    others = [builtins, math, copy, dis, functools, inspect, itertools, json, os, re, threading, traceback, warnings]
    others += [torch, torch.Tensor, torch.autograd, torch.functional, torch.nn.functional, torch.random, torch.testing]
    before = [(owner, dict(vars(owner)), owner in ours) for owner in [*ours, *others]]

    def put_back() -> None:
        for owner, old, is_ours in before:
            now = vars(owner)
            changed = [name for name, value in old.items() if name not in now or now[name] is not value]
            new = [name for name in now if name not in old] if is_ours and len(now) > len(old) else []
            for name in changed:
                with contextlib.suppress(AttributeError, TypeError):
                    setattr(owner, name, old[name])
            for name in new:
                if not isinstance(now[name], ModuleType):  # a module of the course, imported in the meantime, stays
                    delattr(owner, name)

    return put_back


class _Guarded:
    """A learner's function, as the checks see it; after each call what it has changed is put back."""

    def __init__(self, function: Callable, put_back: Callable[[], None]):
        self._function, self._put_back = function, put_back
        if hasattr(function, "__code__"):
            self.__code__ = function.__code__  # the checks look whether a function does anything at all

    def __call__(self, *args):
        try:
            return self._function(*args)
        finally:
            self._put_back()


def _grade(job: dict, send: Callable[..., None], put_back: Callable[[], None]) -> None:
    cells, wanted = job["cells"], job["exercises"]
    everything, broken = statements(cells)
    for number, source in enumerate(cells):  # for the lines that a verdict quotes
        linecache.cache[f"<cell {number}>"] = (len(source), None, source.splitlines(keepends=True), f"<cell {number}>")
    names = {"__name__": "__main__", "display": lambda *args, **kwargs: None, "get_ipython": lambda: None}
    names |= {name: checks.EXERCISES[name].reference for name in job["given"]}
    errors: dict[str, str] = {}
    moments = {name: moment(everything, name) for name in wanted}
    run = needed(everything, wanted, job["given"])
    for number in range(len(cells)):
        for each in run:
            if each.cell == number:
                _run(each, names, errors, put_back)
        for name in wanted:
            if moments[name] == number or (number == len(cells) - 1 and moments[name] in (-1, None)):
                exercise = checks.EXERCISES[name]
                send(begin=name)
                if moments[name] is None:
                    verdict = _not_bound(name, cells, broken)
                elif name not in names:
                    verdict = "raised", errors.get(name, "Its cell ends with an error.")
                else:
                    verdict = _judge(exercise, names[name], put_back)
                if verdict[0] is not None:
                    names[name] = exercise.reference  # as in the lesson
                send(verdict=name, slug=verdict[0], text=verdict[1][:TEXT])


def _not_bound(name: str, cells: list[str], broken: dict[int, str]) -> tuple[str, str]:
    for number, error in broken.items():
        if re.search(rf"^\s*(def\s+{name}\b|{name}\s*=)", cells[number], flags=re.MULTILINE):
            return "raised", f"Its cell is not Python. {error}."
    return "not-there", "No cell defines it."


def _run(statement: Statement, names: dict, errors: dict[str, str], put_back: Callable[[], None]) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement.code, names)
    except BaseException as error:  # as in Jupyter, what has failed is not there
        text = traceback.format_exception_only(error)[-1].strip()[:300]
        for name in statement.binds:
            errors[name] = f"Its cell ends with {text}"
    finally:
        put_back()


def _judge(exercise: Exercise, candidate: Any, put_back: Callable[[], None]) -> tuple[str | None, str]:
    """The slug of the verdict, None if passed, and its text."""
    exercise.forget()
    function = callable(candidate) and not inspect.isclass(candidate) and candidate is not exercise.reference
    try:
        result = exercise(_Guarded(candidate, put_back) if function else candidate, record=False)
    except BaseException as error:  # an interrupt that the learner's code sent itself
        return "raised", f"It raised {type(error).__name__}, which stops a cell."
    text = re.sub(rf"^{exercise.name}: [^.]*\. ", "", result.message.removesuffix(GO_ON).strip())
    known = result.mistake in exercise.mistakes
    return ("too-much-memory" if NO_ROOM.search(text) and not known else result.mistake), text


if __name__ == "__main__":
    main()
