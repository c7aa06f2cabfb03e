"""Limits for a function that is not ours: on its time, on what it prints, on what it may change for others."""

import contextlib
import ctypes
import io
import sys
import threading
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
    is waited for. It is raised again and again, because a bare ``except`` swallows it.
    """
    seconds = SECONDS if seconds is None else seconds
    caller, over, lock = ctypes.c_ulong(threading.get_ident()), threading.Event(), threading.Lock()
    raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            wait = 0.001
            with lock:
                if not over.is_set():
                    raise_in(caller, ctypes.py_object(TimeUp))

    def stop() -> None:
        while True:  # until no TimeUp is on its way any more
            try:
                over.set()
                with lock:
                    raise_in(caller, None)
                return
            except TimeUp:
                continue

    threading.Thread(target=watch, daemon=True).start()
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
