"""One submission graded: a process of its own (``sandbox.py``), watched from outside and ended in time."""

import contextlib
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

STARTS_WITHIN = 120.0  # seconds for Python and torch, on a slow machine with much to do
LOOK_EVERY = 0.2  # seconds
LONGEST_LINE = 100_000
TOO_LONG, TOO_LARGE = "too-much-time", "too-much-memory"
STOPPED = {
    TOO_LONG: "It was still running when its time was over, and was stopped.",
    TOO_LARGE: "It wanted more memory than it may have.",
    "ended-python": "It ended Python itself, or crashed it.",
}


@dataclass(frozen=True)
class Limits:
    """For one submission: ``seconds`` of its own running time, ``memory`` in MB beyond what torch takes anyway."""

    seconds: float = 60
    memory: int = 2048


@dataclass(frozen=True)
class Verdict:
    """What came of one exercise: the slug of the check's verdict, None if passed, and what it says."""

    slug: str | None
    text: str


class Cancelled(Exception):
    """Somebody asked to stop."""


def grade(cells: list[str], exercises: list[str], limits: Limits, cancel: threading.Event) -> dict[str, Verdict]:
    """Every exercise's verdict, for the code cells of one notebook. It takes little more than ``limits.seconds``.

    All exercises are judged in one process. If one of them brings it down, the others get another. If a statement
    between them does, each of the others gets a process of its own, with what it needs and no more. Each exercise has
    an equal share of the time that is left.

    Raises:
        Cancelled: ``cancel`` was set from another thread.
        RuntimeError: Python did not start.
    """
    found: dict[str, Verdict] = {}
    left, one_by_one = limits.seconds, False
    batch = list(exercises)
    while batch:
        given = [name for name, verdict in found.items() if verdict.slug is not None]
        with _Process(cells or [""], batch, given, limits, cancel) as process:
            current, reason, left = process.judge(found, len(exercises) - len(found), left)
        if reason and (current or len(batch) == 1):
            found[current or batch[0]] = Verdict(reason, STOPPED[reason])
        one_by_one = one_by_one or bool(reason and not current)
        batch = [name for name in exercises if name not in found][: 1 if one_by_one else None]
    return {name: found[name] for name in exercises}


class _Process:
    """A sandbox at work on some exercises of a submission; leaving the ``with`` block ends it and all it started."""

    def __init__(self, cells: list[str], exercises: list[str], given: list[str], limits: Limits, cancel):
        self.limits, self.cancel, self.events = limits, cancel, queue.Queue()
        self.word = secrets.token_hex(16)
        self.job = {
            "word": self.word,
            "cells": cells,
            "exercises": exercises,
            "given": given,
            "seconds": limits.seconds,
            "call_seconds": limits.seconds / len(exercises) / 3,
            "memory": limits.memory * 2**20,
        }

    def __enter__(self) -> "_Process":
        self.folder = tempfile.TemporaryDirectory(prefix="grading-", ignore_cleanup_errors=True)
        package = str(Path(__file__).parents[2])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "classroom.grading.sandbox"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self.folder.name,
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")])),
                "PYTHONDONTWRITEBYTECODE": "1",
                "COURSE_PROGRESS": "off",
                "HF_HUB_OFFLINE": "1",
                "OMP_NUM_THREADS": "1",
                "MPLBACKEND": "agg",
                "MPLCONFIGDIR": self.folder.name,
            },
            start_new_session=True,  # so that all it starts can be ended with it
        )
        threading.Thread(target=self._read, daemon=True).start()
        with contextlib.suppress(OSError):  # it has ended already: judge() will see
            self.process.stdin.write(json.dumps(self.job).encode())
            self.process.stdin.close()
        return self

    def __exit__(self, *_: Any) -> None:
        family = []
        with contextlib.suppress(psutil.Error):
            family = psutil.Process(self.process.pid).children(recursive=True)
        if os.name == "posix":
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        for each in [*family, self.process]:
            with contextlib.suppress(psutil.Error, OSError):
                each.kill()
        self.process.wait()
        self.folder.cleanup()

    def _read(self) -> None:
        word = self.word.encode()
        for line in iter(lambda: self.process.stdout.readline(LONGEST_LINE), b""):
            if line.startswith(word):
                with contextlib.suppress(ValueError):
                    self.events.put(json.loads(line[len(word) :]))
        self.events.put(None)

    def _follow(self) -> Iterator[dict | None]:
        """What it tells, and None each time that there was nothing to tell for a moment."""
        while True:
            if self.cancel.is_set():
                raise Cancelled
            try:
                event = self.events.get(timeout=LOOK_EVERY)
            except queue.Empty:
                yield None
                continue
            yield {"ended": True} if event is None else event

    def judge(self, found: dict[str, Verdict], open_ones: int, left: float) -> tuple[str | None, str | None, float]:
        """Puts verdicts into ``found``. Returns the exercise it was at, why it was stopped, and the time left."""
        base, current, began, share = None, None, time.monotonic(), STARTS_WITHIN
        for event in self._follow():
            now = time.monotonic()
            if event is None:
                if now - began > share:
                    if base is None:
                        raise RuntimeError(f"Python did not start within {STARTS_WITHIN:g} seconds")
                    return current, TOO_LONG, left - (now - began)
                if base is not None and self._memory() - base > self.limits.memory * 2**20:
                    return current, TOO_LARGE, left - (now - began)
                continue
            if "ready" in event:
                base = event["ready"]
            elif base is None:
                raise RuntimeError("Python did not start, or could not import the course")
            else:
                left -= now - began
            began = now
            if "begin" in event:
                current = event["begin"]
            elif "verdict" in event:
                slug = event["slug"]
                found[current], current = Verdict(slug, event["text"]), None
                open_ones -= 1
                if slug == TOO_LARGE:  # what it holds would be missing for the next one
                    return None, None, left
            elif "end" in event:
                return None, None, left
            elif "ended" in event:
                return current, "ended-python", left
            share = max(left, 0.0) / max(open_ones, 1)
        raise AssertionError("unreachable")

    def _memory(self) -> int:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.process.pid)
            return sum(each.memory_info().rss for each in [process, *process.children(recursive=True)])
        return 0
