"""Grading from outside: a process (``sandbox.py``) for each exercise of a submission, watched, and ended in time."""

import contextlib
import json
import os
import queue
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from typing import Any

import psutil

from classroom._files import CHECKOUT

STARTS_WITHIN = 120.0  # seconds for Python and torch, on a slow machine with much to do
LOOK_EVERY = 0.2  # seconds
ENDS_WITHIN = 10.0  # seconds, once it is killed
NOBODY = b""  # the word of what the course itself tells
LONGEST_LINE = 100_000
MOST_EVENTS = 100  # that wait to be looked at: two are sent for an exercise
TOO_LONG, TOO_LARGE, ENDED_PYTHON = "too-much-time", "too-much-memory", "ended-python"
STOPPED = {
    TOO_LONG: "It was still running when its time was over, and was stopped.",
    TOO_LARGE: "It wanted more memory than it may have.",
    ENDED_PYTHON: "It ended Python itself, or crashed it.",
}
KEPT = (  # of the teacher's environment: what Python needs to start, and no tokens, keys or addresses
    "PATH HOME USERPROFILE SYSTEMROOT TEMP TMP TMPDIR LANG LC_ALL LC_CTYPE LD_LIBRARY_PATH DYLD_LIBRARY_PATH"
).split()


@dataclass(frozen=True)
class Limits:
    """For one submission: ``seconds`` of its own running time, ``memory`` in MB beyond what torch takes anyway."""

    seconds: float = 60
    memory: int = 2048


@dataclass(frozen=True)
class Grade:
    """The outcome of one exercise, as the check's verdict has it: slugs (none if passed), and what it says.

    Several slugs are mistakes made at once if ``together``, else such as can't be told apart.
    """

    slugs: tuple[str, ...] = ()
    text: str = ""
    error_type: str = ""
    together: bool = False

    @property
    def passed(self) -> bool:
        return not self.slugs

    @property
    def name(self) -> str:
        """The slugs in words."""
        return (" and " if self.together else " or ").join(self.slugs)


class Cancelled(Exception):
    """Somebody asked to stop."""


def grade(cells: list[str], exercises: list[str], limits: Limits, worker: "Worker") -> dict[str, Grade]:
    """The grade of every exercise, for the code cells of one notebook. It takes little more than ``limits.seconds``.

    Each exercise has a process of its own, and an equal share of the time that is left.

    Raises:
        Cancelled: somebody asked to stop.
        RuntimeError: Python did not start.
    """
    found: dict[str, Grade] = {}
    left = limits.seconds
    for place, name in enumerate(exercises):
        job = {
            "cells": cells or [""],
            "exercise": name,
            "given": [each for each, grade in found.items() if not grade.passed],
            "seconds": limits.seconds,
            "call_seconds": limits.seconds / len(exercises) / 3,
            "memory": limits.memory * 2**20,
        }
        found[name], spent = worker.judge(job, left / (len(exercises) - place), job["memory"])
        left = max(left - spent, 0.0)
    return found


class Worker:
    """A Python that has loaded the course. On Linux each exercise gets a copy of it, elsewhere a new one.

    To be used in a ``with`` block, by one thread; leaving it ends the Python and all that it started.
    """

    def __init__(self, cancel: threading.Event):
        self.cancel, self.process, self.word = cancel, None, ""
        self.confined = True  # does the kernel confine what runs there? Known after the first exercise

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process:
            _end(self.process.pid)
            self.process.wait()
            with contextlib.suppress(OSError):
                self.process.stdin.close()
            self.folder.cleanup()
            self.process = self.events = None

    def judge(self, job: dict, seconds: float, memory: int) -> tuple[Grade, float]:
        """The grade of one exercise, and the seconds that it took. ``memory``: bytes beyond what torch takes."""
        if self.process is None or self.process.poll() is not None:
            self._start()
        self.word = secrets.token_hex(16)
        with contextlib.suppress(OSError):  # it has ended already: _watch will see
            self.process.stdin.write(json.dumps(job | {"word": self.word}).encode() + b"\n")
            self.process.stdin.flush()
        self.child, self.ended = None, False
        try:
            return self._watch(seconds, memory)
        finally:
            self._finish()

    def _start(self) -> None:
        self.__exit__()
        self.events = queue.Queue(MOST_EVENTS)
        self.folder = tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "classroom.grading.sandbox"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=kept
            | {
                "PYTHONPATH": os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")])),
                "PYTHONDONTWRITEBYTECODE": "1",
                "COURSE_PROGRESS": "off",
                "HF_HUB_OFFLINE": "1",
                "OMP_NUM_THREADS": "1",
                "MPLBACKEND": "agg",
            },
            start_new_session=True,  # so that Ctrl-C is for this process alone
        )
        threading.Thread(target=self._read, args=(self.process, self.events), daemon=True).start()

    def _read(self, process: subprocess.Popen, events: queue.Queue) -> None:
        """Passes on the lines that begin with the word; a learner's code may write anything."""
        with process.stdout as lines:
            for line in iter(lambda: lines.readline(LONGEST_LINE), b""):
                word, _, text = line.partition(b" ")
                if word == self.word.encode() and events is self.events:
                    with contextlib.suppress(ValueError, RecursionError, queue.Full):
                        events.put((word, json.loads(text)), timeout=ENDS_WITHIN)  # whoever sends too many waits
        with contextlib.suppress(subprocess.TimeoutExpired):  # who is told of the end can start a new one
            process.wait(ENDS_WITHIN)
        with contextlib.suppress(queue.Full):
            events.put((NOBODY, {"ended": True}), timeout=ENDS_WITHIN)  # true whatever the word is by now

    def _next(self) -> Any:
        """What it tells; {} if it tells nothing for a moment, or nonsense; None if it has ended."""
        if self.cancel.is_set():
            raise Cancelled
        try:
            word, event = self.events.get(timeout=LOOK_EVERY)
        except queue.Empty:
            return {}
        if type(event) is not dict or word not in (NOBODY, self.word.encode()):  # that of an exercise before
            return {}
        if event.get("ended") is True:
            self.ended = True
            return None
        return event

    def _watch(self, seconds: float, memory: int) -> tuple[Grade, float]:
        began, base, looked = time.monotonic(), 0, 0.0
        while True:
            event = self._next()
            spent = time.monotonic() - began
            if event is None:
                if self.child is None:
                    raise RuntimeError("Python did not start, or could not import the course")
                return Grade((ENDED_PYTHON,), STOPPED[ENDED_PYTHON]), spent
            if self.child is None:  # so far nothing of the learner's has run: the events are ours
                if "begun" in event:
                    self.child, base, self.confined = event["begun"], event["memory"], event["confined"]
                    began = time.monotonic()
                elif spent > STARTS_WITHIN:
                    raise RuntimeError(f"Python did not start within {STARTS_WITHIN:g} seconds")
                continue
            if found := _as_grade(event):
                return found, spent
            stopped = TOO_LONG if spent > seconds else None
            if not stopped and spent - looked >= LOOK_EVERY:  # not for each of many events
                looked = spent
                stopped = TOO_LARGE if _memory(self.child) - base > memory else None
            if stopped:
                return Grade((stopped,), STOPPED[stopped]), spent

    def _finish(self) -> None:
        """Ends what runs for this exercise. The Python that it was copied from says when that is done."""
        if self.child not in (None, self.process.pid) and not self.cancel.is_set():
            _end(self.child)
            until = time.monotonic() + ENDS_WITHIN
            while not self.ended and time.monotonic() < until:
                self._next()
        if not self.ended:
            self.__exit__()


def _as_grade(event: dict) -> Grade | None:
    """What an event says, if it is a verdict: a learner's code may have sent it."""
    slugs, text, error = event.get("slugs"), event.get("text"), event.get("error_type")
    if type(slugs) is not list or type(text) is not str or type(error) is not str:
        return None
    if not all(type(slug) is str and re.fullmatch("[a-z-]{1,40}", slug) for slug in slugs) or len(slugs) > 5:
        return None
    error = error if re.fullmatch(r"\w{1,40}", error) else ""
    return Grade(tuple(slugs), printable(text), error, event.get("together") is True)


def printable(text: str) -> str:
    """Without escape codes, which a terminal would obey."""
    shown = (letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text)
    return "".join(shown)


def _memory(pid: int) -> int:
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])
    return 0


def _end(pid: int) -> None:
    """Kills a process, and all that it started."""
    family = []
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
    for each in family:
        with contextlib.suppress(psutil.Error):
            each.kill()
