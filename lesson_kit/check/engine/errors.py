"""What a learner's function raised: its type and message, the learner's own line, and what it means in plain words."""

import builtins
import dis
import os
import traceback
from difflib import get_close_matches

import torch

import course_utils
import lesson_kit
from lesson_kit.check.engine.plain_words import reading

# Where code lies that is not the learner's: the course's packages, Python's own library, and what is installed beside
# torch.
LIBRARIES = tuple(
    os.path.join(folder, "")
    for folder in (
        os.path.dirname(lesson_kit.__file__),
        os.path.dirname(course_utils.__file__),
        os.path.dirname(os.path.dirname(torch.__file__)),
        os.path.dirname(os.__file__),
    )
)


def error_text(error: BaseException) -> str:
    """Type and message, as Python prints them, in one line."""
    if len(text := _said(error)) > 10_000:  # not all of it through Python's own formatting
        text = f"{type(error).__name__}: {text[:10_000]}"
    else:
        text = traceback.format_exception_only(type(error), error)[-1]
    text = " ".join(text.split())
    return text if len(text) <= 300 else text[:300] + " ..."


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return ""


def describe_error(error: BaseException, call: str) -> str:
    """Type and message, the learner's own line, and what it means where that is known: each in a line of its own.

    ``call``: how the function was called.
    """
    text, line = error_text(error), own_line(error)
    near = "" if "Did you mean" in text else did_you_mean(error)  # from 3.12 on Python may have said it
    meaning = " ".join(filter(None, (reading(text, None if line else call, line), near)))
    return "\n".join(filter(None, (text.rstrip(".") + ".", line, meaning)))


def own_line(error: BaseException) -> str:
    """The learner's line in which an error arose, quoted, and the line in a helper that it led to; or ""."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(LIBRARIES) and f.line]
    if not own:
        return ""
    said = f"Your line {own[0].lineno}: `{own[0].line}`."
    if (own[-1].filename, own[-1].lineno) == (own[0].filename, own[0].lineno):
        return said
    return f"{said} It led to line {own[-1].lineno} of `{own[-1].name}`: `{own[-1].line}`."


def did_you_mean(error: BaseException) -> str:
    """For a name that nobody knows: the known one that it is most like, or ""."""
    wanted = getattr(error, "name", None)
    if isinstance(error, AttributeError) and wanted:
        known = dir(error.obj)
    elif isinstance(error, NameError) and wanted and (place := _last_place(error)):
        frame = place.tb_frame
        known = [*frame.f_locals, *frame.f_globals, *dir(builtins)]
    else:
        return ""
    near = get_close_matches(wanted, [name for name in known if not name.startswith("_") and name != wanted], 1, 0.7)
    return f"Did you mean `{near[0]}`?" if near else ""


def _last_place(error: BaseException):
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place


def stopped_by_the_learner(error: BaseException | None) -> bool:
    """The Stop button: it ends the cell, and is no verdict."""
    return isinstance(error, KeyboardInterrupt) and not raised_on_purpose(error)


def raised_on_purpose(error: BaseException) -> bool:
    """Did a ``raise`` in the learner's code make it? PyTorch raises errors of the same types, and so do signals."""
    place = _last_place(error)
    if place is None or place.tb_frame.f_code.co_filename.startswith(LIBRARIES):
        return False
    return dis.opname[place.tb_frame.f_code.co_code[place.tb_lasti]] == "RAISE_VARARGS"
