"""Limits for a function that is not ours: on its time, on what it prints, on what it may change for others."""

import _signal
import _thread
import contextlib
import ctypes
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import NoneType
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
    caller, trace, profile = ctypes.c_ulong(threading.get_ident()), sys.gettrace(), sys.getprofile()
    raise_late = partial(ctypes.pythonapi.PyThreadState_SetAsyncExc, caller, ctypes.py_object(TimeUp))
    running, watching = threading.Lock(), threading.Lock()
    running.acquire()
    watching.acquire()
    over, ended, thread = False, False, None

    def watch() -> None:
        nonlocal ended
        wait, raised = SECONDS if seconds is None else seconds, 0
        while not running.acquire(timeout=wait) and not over:  # no thread can come between this look and the next line
            raise_late()
            raised += 1
            wait = 0.001 if raised < 2000 else 0.05  # a step that swallows each may last longer than a millisecond
        ended = True
        watching.release()

    try:
        thread = _thread.start_new_thread(watch, ())  # threading.Thread would wait, and a TimeUp could end that
        return function()
    finally:
        over, stopped = True, None  # at once: from here on at most one TimeUp is on its way
        while True:  # each step may be repeated, for it may end any of them, as the Stop button may
            try:
                sys.settrace(trace)
                sys.setprofile(profile)
                with contextlib.suppress(RuntimeError):  # it is released already
                    running.release()
                while thread is not None and not ended:
                    watching.acquire(timeout=0.01)
                # The last one comes now. (To take it back, with NULL, hangs Python 3.11 under a trace function.)
                for _ in range(100):
                    pass
                break
            except TimeUp:
                pass
            except KeyboardInterrupt as interrupt:
                stopped = interrupt
        if stopped is not None:
            raise stopped


class _Kept(io.StringIO):
    """Keeps the first ``PRINTED`` characters: a loop that prints must not fill the memory."""

    def write(self, text: str) -> int:
        room = PRINTED - self.tell()
        super().write(text[: max(room, 0)])
        return len(text)


@contextlib.contextmanager
def alone(tidy: Callable[[], None] | None = None) -> Iterator[io.StringIO]:
    """What happens inside stays inside: prints are kept, switches and originals are put back after, nobody leaves.

    ``tidy`` puts them back, by default as they are now.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    with contextlib.ExitStack() as after:  # the last first, and each of them whatever becomes of the others
        if shell is not None:
            after.callback(vars(shell).pop, "ask_exit", None)
            shell.ask_exit = _leave  # quit() and exit() would end the kernel a moment later
        if tidy is None:
            after.callback(originals.put_back)
        after.callback(tidy or _switches())
        yield after.enter_context(contextlib.redirect_stdout(_Kept()))


def guarded(use: Callable[[Callable], Any], function: Callable, printed: list[str] | None = None) -> Any:
    """``use(function)``, for a function that is not ours: ``in_time`` and ``alone``.

    What the function leaves changed is put back before anybody looks at its result. What it prints is added to
    ``printed``.

    Raises:
        TimeUp: its time was over, and ``use`` did not catch that.
    """
    put_back_switches, tidied = _switches(), False

    def tidy() -> None:
        if not tidied:
            try:
                put_back_switches()
            finally:
                originals.put_back()

    def cleaned(*args):
        nonlocal tidied
        tidied = False
        try:
            result = function(*args)
        except TimeUp:  # another one is on its way: ``alone`` will do it
            raise
        except BaseException:
            tidy()
            raise
        tidy()
        tidied = _plain(result) and all(map(_plain, args))
        return result

    with alone(tidy) as text:
        try:
            return in_time(lambda: use(cleaned))
        finally:
            if printed is not None:
                printed.append(text.getvalue())


def _plain(value: Any) -> bool:
    """Can nothing of the learner's run any more, whatever is done with it? Not so where it has a gradient's hooks."""
    if type(value) in (tuple, list):
        return all(map(_plain, value))
    return type(value) in (int, float, bool, str, NoneType) or (type(value) is torch.Tensor and not value.requires_grad)


def _leave() -> None:
    raise SystemExit


def _switches() -> Callable[[], None]:
    """A function that turns all switches back to where they are now: torch's, Python's and the process's."""
    before = [look() for look, _ in SWITCHES]

    def put_back() -> None:
        if all(look() == was for (look, _), was in zip(SWITCHES, before, strict=True)):
            return
        with contextlib.ExitStack() as each:  # each of them, whatever becomes of the others
            for (look, put), was in reversed([*zip(SWITCHES, before, strict=True)]):
                each.callback(lambda look=look, put=put, was=was: None if look() == was else put(was))

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


def _put_back_folder(was: str | None) -> None:
    with contextlib.suppress(OSError):  # it has been deleted
        if was is not None:
            os.chdir(was)


def _put_back_environment(was: dict) -> None:
    for key in ENVIRONMENT._data.keys() - was.keys():
        del ENVIRONMENT[ENVIRONMENT.decodekey(key)]
    for key in [key for key, value in was.items() if ENVIRONMENT._data.get(key) != value]:
        ENVIRONMENT[ENVIRONMENT.decodekey(key)] = ENVIRONMENT.decodevalue(was[key])


def _put_back_interrupt(was: Any) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, was)


# How to look at each switch, and how to turn it back to what was seen. The modes first: they see what is done with
# torch, also here.
ENVIRONMENT = os.environ  # its entries as the system has them, in ``_data``: to decode them all takes long
SMALLEST = sys.float_info.min  # of the normal numbers
FUNCTION_MODES = torch._C._len_torch_function_stack, torch._C._pop_torch_function_stack
DISPATCH_MODES = torch._C._len_torch_dispatch_stack, torch._C._pop_torch_dispatch_stack
PRINT_OPTIONS = torch._tensor_str.PRINT_OPTS
SWITCHES = (
    (FUNCTION_MODES[0], _pop_modes(*FUNCTION_MODES)),  # entered, and never left
    (DISPATCH_MODES[0], _pop_modes(*DISPATCH_MODES)),
    (torch.get_default_device, lambda was: torch.set_default_device(None if was.type == "cpu" else was)),
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    (torch.get_num_threads, torch.set_num_threads),
    (lambda: SMALLEST / 2 == 0, torch.set_flush_denormal),
    (lambda: dict(vars(PRINT_OPTIONS)), vars(PRINT_OPTIONS).update),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (partial(_signal.getsignal, signal.SIGINT), _put_back_interrupt),
    (lambda: dict(ENVIRONMENT._data), _put_back_environment),
    (_folder, _put_back_folder),
)
