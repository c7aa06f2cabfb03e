"""A word while a cell takes its time, that is gone when the work is done."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def waiting(words: str) -> Iterator["Notice"]:
    """Shows ``words`` in a notebook for as long as the block runs; what the notebook stores has no trace of them.

    In plain Python, and with COURSE_INTERACTIVE=0, nothing is shown.
    """
    notice = Notice(words)
    try:
        yield notice
    finally:
        notice.remove()


class Notice:
    """Words in a cell's output. ``add`` says more, ``become`` puts a result in their place."""

    def __init__(self, words: str):
        self.words, self._handle = words, None
        kernel = _kernel()
        count_messages()
        if kernel is not None and os.environ.get("COURSE_INTERACTIVE", "1") != "0":
            from IPython.display import display

            self._is_alone = _has_shown_nothing(kernel)
            self._handle = display(_text(words), raw=True, display_id=True)

    def add(self, more: str) -> None:
        """Shows how far the work is, behind the words."""
        if self._handle is not None:
            self._handle.update(_text(f"{self.words} {more}"), raw=True)

    def become(self, *args: object, **kwargs: object) -> None:
        """Displays something, as ``display`` would, where the words stood."""
        from IPython.display import display

        show: Callable = display if self._handle is None else self._handle.update
        show(*args, **kwargs)
        self._handle = None

    def remove(self) -> None:
        """Takes the words away, if nothing stands in their place."""
        if self._handle is None:
            return
        if self._is_alone:
            from IPython.display import clear_output

            clear_output()
        else:  # clearing takes all of a cell's output, and there is some before the words
            self._handle.update({}, raw=True)
        self._handle = None


def _text(words: str) -> dict[str, str]:
    return {"text/plain": words}


def _kernel():
    """The kernel of the notebook that this runs in, or None."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None)


# How many messages the kernel had sent when the running cell began: if there are no more now, it has shown nothing.
_sent: dict[str, int] = {}


def count_messages() -> None:
    """From the next cell on, a notebook knows whether a cell has shown something. Called when ``show`` is imported."""
    kernel = _kernel()
    if kernel is not None and _at_the_start_of_a_cell not in kernel.shell.events.callbacks["pre_run_cell"]:
        kernel.shell.events.register("pre_run_cell", _at_the_start_of_a_cell)


def _at_the_start_of_a_cell(*_: object) -> None:
    _sent["before"] = _kernel().session.message_count


def _has_shown_nothing(kernel) -> bool:
    """Has the running cell sent nothing yet? False also where that isn't known."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return _sent.get("before") == kernel.session.message_count
