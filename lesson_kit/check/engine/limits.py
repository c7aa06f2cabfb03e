"""Limits for a function that is not ours: on its time, on what it prints, on what it may change for others."""

import _thread
import contextlib
import ctypes
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

SECONDS = 5.0  # for one call; the inputs are tiny, a thousandth of it is usual
PRINTED = 2000  # so many characters of what a function prints are kept


class TimeUp(BaseException):
    """Raised inside the function when its time is over. No Exception: ``except Exception`` must not swallow it."""


def in_time(function: Callable[[], Any], seconds: float | None = None) -> Any:
    """``function()``, ended with ``TimeUp`` after ``seconds`` (default ``SECONDS``), on every platform.

    Python raises it in the calling thread between two steps of the program. A single long step, such as a sleep,
    is waited for. It is raised again and again, because a bare ``except`` swallows it. A trace or profile function that
    ``function`` leaves on, as ``breakpoint()`` does, is put back.
    """
    seconds = SECONDS if seconds is None else seconds
    caller, trace, profile = ctypes.c_ulong(threading.get_ident()), sys.gettrace(), sys.getprofile()
    running, watching = threading.Lock(), threading.Lock()
    running.acquire()
    watching.acquire()

    def watch() -> None:
        wait = seconds
        while not running.acquire(timeout=wait):
            wait = 0.001
            ctypes.pythonapi.PyThreadState_SetAsyncExc(caller, ctypes.py_object(TimeUp))
        watching.release()

    def stop() -> None:
        while True:  # until no TimeUp is on its way any more; each step may be repeated, for one may end any of them
            try:
                sys.settrace(trace)
                sys.setprofile(profile)
                with contextlib.suppress(RuntimeError):  # it is released already
                    running.release()
                while watching.locked():
                    time.sleep(0.0001)
                # The last one comes now. (To take it back, with NULL, hangs Python 3.11 under a trace function.)
                for _ in range(100):
                    pass
                return
            except TimeUp:
                continue

    _thread.start_new_thread(watch, ())  # threading.Thread would wait until it runs, and a TimeUp could end that
    try:
        try:
            return function()
        finally:
            stop()
    except TimeUp:
        stop()
        raise


class _Kept(io.StringIO):
    """Keeps the first ``PRINTED`` characters: a loop that prints must not fill the memory."""

    def write(self, text: str) -> int:
        room = PRINTED - self.tell()
        super().write(text[: max(room, 0)])
        return len(text)


@contextlib.contextmanager
def alone() -> Iterator[io.StringIO]:
    """What happens inside stays inside: prints are kept, switches are put back after."""
    dtype, grad, depth = torch.get_default_dtype(), torch.is_grad_enabled(), sys.getrecursionlimit()
    try:
        with contextlib.redirect_stdout(_Kept()) as printed:
            yield printed
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        sys.setrecursionlimit(depth)
