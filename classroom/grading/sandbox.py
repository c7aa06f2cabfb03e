"""One exercise after the other, each in a process of its own: ``process.py`` starts this, and reads it.

What is run. Not the notebook: a lesson takes up to a minute, and prints, draws and trains. Only the statements run
that the exercise's function needs (``slicing.py``): its definition, the names that it uses, and so on, in order. One
that raises is left behind, as a learner would leave it. The notebook's own calls of ``check`` never run. The course's
checks, imported here before anything of the learner's, judge the function by its name, at the place of its last check.
An exercise that is not passed goes on as the course's own version, as in the lesson.

What is hindered. On Linux the kernel refuses to read other files than Python's and the course's, to write any, to reach
the network, to start processes and to signal them (``confinement.py``). Elsewhere Python refuses the last four, and a
library written in C can get by. Everywhere time and memory are limited, and an exercise that does harm to its process
does none to the next, which gets another. What a cell or a function changes in torch, in Python's built-ins or in the
checks is put back before anything is judged. What it prints goes nowhere; a verdict counts only with a word that no
learner is told.

What is not. The check and the function are in one process: code that means to can find that word and pass by itself.
There is little to gain, since the solutions stand in the lessons.
"""

import contextlib
import functools
import json
import linecache
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import psutil
import torch

from classroom._files import CHECKOUT
from classroom.grading.confinement import confine
from classroom.grading.process import TOO_LARGE
from classroom.grading.slicing import Statement, moment, needed, statements
from lesson_kit import check as checks
from lesson_kit import show
from lesson_kit.check.engine import errors, limits, originals
from lesson_kit.check.engine.exercise import Exercise
from lesson_kit.check.engine.judge import judge

try:
    import resource
except ImportError:  # Windows
    resource = None

FORKS = sys.platform == "linux"  # elsewhere a copy of a process that holds torch is not safe, or not to be had
FORBIDDEN = (  # by the beginnings of their names in Python's table of audit events
    "socket.connect socket.bind socket.send socket.getaddrinfo socket.gethostby socket.getnameinfo socket.__new__ "
    "subprocess. os.fork os.exec os.posix_spawn os.spawn os.system os.startfile os.kill pty. signal.pthread_kill "
    "ctypes.dlopen ctypes.dlsym _winapi.CreateProcess webbrowser. sqlite3.connect shutil. "
    "os.remove os.rename os.rmdir os.mkdir os.link os.symlink os.truncate os.chmod os.lchmod os.chown os.lchown "
    "os.utime os.setxattr os.removexattr"
).split()
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
SYSTEM = "/usr /lib /lib64 /etc /opt /proc/cpuinfo /proc/meminfo /sys/devices/system/cpu /dev/urandom /dev/zero".split()
TEXT = 3000  # so many characters of a verdict are kept
NO_ROOM = re.compile(
    "MemoryError|[Cc]an(?:'t|not) allocate|not enough memory|Unable to allocate|can't start new thread"
)


def main() -> None:
    """Reads jobs from standard input, a line each, and writes a line for each thing that happens."""
    torch.set_num_threads(1)
    limits.in_time(lambda: None)  # looks up now what ctypes is not allowed to look up later
    errors.LIBRARIES += (str(CHECKOUT),)  # no line in it is the learner's
    checks.EXERCISES, show.subplots  # noqa: B018 (loaded now: once for all, and while matplotlib may still write)
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    for line in sys.stdin.buffer:
        job = json.loads(line)
        send = functools.partial(_send, channel, job["word"])
        if FORKS and (child := os.fork()):
            os.waitpid(child, 0)
            send(ended=True)
            continue
        _one(job, send)
        os._exit(0)  # the learner's threads and farewells are not waited for


def _send(channel: Any, word: str, **event: Any) -> None:
    channel.write(f"\n{word} {json.dumps(event)}\n")
    channel.flush()


def _one(job: dict, send: Callable[..., None]) -> None:
    """One exercise, in this process, which is confined for good."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nowhere, each)
    if FORKS:
        os.setsid()  # no terminal any more
    limits.SECONDS = min(limits.SECONDS, job["call_seconds"])
    _limit(job["memory"], job["seconds"])
    libraries = [sys.prefix, sys.base_prefix, *filter(None, sys.path)]
    memory = psutil.Process().memory_info().rss
    confined = confine([*SYSTEM, *libraries, CHECKOUT])
    _forbid()
    send(begun=os.getpid(), memory=memory, confined=confined)
    send(**_grade(job))


def _limit(memory: int, seconds: float) -> None:
    """``memory``: bytes beyond what Python and torch take. Elsewhere than on Linux only the parent watches it."""
    if resource is None:
        return
    used = psutil.Process()
    wanted = {"RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0}
    wanted["RLIMIT_CPU"] = int(used.cpu_times().user + 4 * seconds) + 60  # if the parent is gone
    if sys.platform == "linux":
        wanted["RLIMIT_AS"] = used.memory_info().vms + memory
    for name, most in wanted.items():
        with contextlib.suppress(ValueError, OSError):  # a stricter limit than ours is there already
            resource.setrlimit(getattr(resource, name), (most, most))


def _forbid() -> None:
    """Python's own doors: no network, no other processes, no file written, with a sentence that says so."""

    forbidden, nowhere = tuple(FORBIDDEN), os.devnull

    def hook(event: str, args: tuple) -> None:
        if event == "open":
            path, _, flags = args
            refused = not isinstance(path, int) and flags and flags & WRITES and path != nowhere
        else:
            refused = event.startswith(forbidden)
        if refused:
            raise PermissionError(f"not allowed while grading: {event}")

    if "_posixsubprocess" in sys.modules:  # the one way to a new process that is not in the table

        def fork_exec(*args):
            raise PermissionError("not allowed while grading: a new process")

        sys.modules["_posixsubprocess"].fork_exec = fork_exec
    sys.dont_write_bytecode = True
    sys.addaudithook(hook)


def _grade(job: dict) -> dict[str, Any]:
    """The verdict on one exercise, as ``process.Grade`` has it."""
    cells, name = job["cells"], job["exercise"]
    everything, broken = statements(cells)
    for number, source in enumerate(cells):  # for the lines that a verdict quotes
        linecache.cache[f"<cell {number}>"] = (len(source), None, source.splitlines(keepends=True), f"<cell {number}>")
    names = {"__name__": "__main__", "display": lambda *args, **kwargs: None, "get_ipython": lambda: None}
    names |= {each: checks.EXERCISES[each].reference for each in job["given"]}
    failed: dict[str, tuple[str, str]] = {}
    place = moment(everything, name)
    if place is None:
        return _not_bound(name, cells, broken)
    with originals.kept(), limits.alone():  # what is changed for others is put back before anything is judged
        for each in needed(everything, [name], job["given"]):
            if each.cell <= place or place == -1:
                _run(each, names, failed)
    if name not in names:
        text, error_type = failed.get(name, ("an error", ""))
        return _found(["raised"], f"Its cell ends with {text}", error_type)
    return _judge(checks.EXERCISES[name], names[name])


def _found(slugs: list[str], text: str, error_type: str = "", together: bool = False) -> dict[str, Any]:
    return {"slugs": slugs, "text": text[:TEXT], "error_type": error_type, "together": together}


def _not_bound(name: str, cells: list[str], broken: dict[int, str]) -> dict[str, Any]:
    for number, error in broken.items():
        if re.search(rf"^[ \t]*(def[ \t]+{name}\b|{name}[ \t]*=)", cells[number], flags=re.MULTILINE):
            return _found(["raised"], f"Its cell is not Python. {error}.", error.split(":")[0])
    return _found(["not-there"], "No cell defines it.")


def _run(statement: Statement, names: dict, failed: dict[str, tuple[str, str]]) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement.code, names)
    except BaseException as error:  # as in Jupyter, what has failed is not there
        text = traceback.format_exception_only(error)[-1].strip()[:300]
        for name in statement.binds:
            failed[name] = text, type(error).__name__


def _judge(exercise: Exercise, candidate: Any) -> dict[str, Any]:
    try:
        verdict = judge(exercise, candidate)
    except BaseException as error:  # an interrupt that the learner's code sent itself
        return _found(["raised"], f"It raised {type(error).__name__}, which stops a cell.", type(error).__name__)
    known = all(slug in exercise.mistakes for slug in verdict.slugs)
    slugs = [TOO_LARGE] if NO_ROOM.search(verdict.text) and not known else list(verdict.slugs)
    return _found(slugs, verdict.text, verdict.error_type or "", verdict.together)


if __name__ == "__main__":
    main()
