"""Limits for a function that is not ours: on its time, on what it prints, on what it may change for others."""

import _thread
import contextlib
import ctypes
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from lesson_kit.check.engine import originals

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
    """What happens inside stays inside: prints are kept, switches and originals are put back after, nobody leaves."""
    put_back_switches, ipython = _switches(), sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    try:
        if shell is not None:
            shell.ask_exit = _leave  # quit() and exit() would end the kernel a moment later
        with contextlib.redirect_stdout(_Kept()) as printed:
            yield printed
    finally:
        put_back_switches()
        originals.put_back()
        if shell is not None:
            vars(shell).pop("ask_exit", None)


def cleaned(function: Callable) -> Callable:
    """``function``, but what it leaves changed is put back before anybody looks at its result."""

    def call(*args):
        put_back_switches = _switches()
        try:
            return function(*args)
        finally:
            put_back_switches()
            originals.put_back()

    return call


def _leave() -> None:
    raise SystemExit


def _switches() -> Callable[[], None]:
    """A function that turns all switches back to where they are now: torch's, Python's and the process's."""
    before = [(look(), look, put_back) for look, put_back in SWITCHES]

    def put_back() -> None:
        for was, look, put in before:
            if look() != was:
                put(was)

    return put_back


def _pop_modes(depth: Callable[[], int], pop: Callable[[], Any]) -> Callable[[int], None]:
    def put_back(was: int) -> None:
        while depth() > was:
            pop()

    return put_back


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it has been deleted
        return None


def _put_back_environment(was: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(was)


def _put_back_interrupt(was: Any) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, was)


# How to look at each switch, and how to turn it back to what was seen.
FUNCTION_MODES = torch._C._len_torch_function_stack, torch._C._pop_torch_function_stack
DISPATCH_MODES = torch._C._len_torch_dispatch_stack, torch._C._pop_torch_dispatch_stack
SWITCHES = (
    (torch.get_default_device, lambda was: torch.set_default_device(None if was.type == "cpu" else was)),
    (FUNCTION_MODES[0], _pop_modes(*FUNCTION_MODES)),  # entered, and never left
    (DISPATCH_MODES[0], _pop_modes(*DISPATCH_MODES)),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (lambda: signal.getsignal(signal.SIGINT), _put_back_interrupt),
    (lambda: dict(os.environ), _put_back_environment),
    (_folder, lambda was: was is not None and os.chdir(was)),
)
