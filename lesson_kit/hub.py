"""A model's files from the Hugging Face hub, or a ConnectionError soon: a hub that hangs never hangs the lesson."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from pathlib import Path

from lesson_kit._models import NEEDED_FILES, REVISIONS, WANTED_FILES

ANSWER_PATIENCE = 5  # seconds until the hub's first answer
PROGRESS_PATIENCE = 60  # seconds in which a download may bring nothing new; it is written in pieces of 10 MB
LOOK = 0.5  # seconds between two looks at a download


def folder_of(repository: str, say: Callable[[str], None]) -> Path:
    """The folder with the files of the model's commit in ``REVISIONS``: in the hub's cache here, else downloaded there.

    ``say`` is told how far a download is. Whatever asks the network runs in a thread that is left behind when
    patience is at its end: a name server that is cut off, or a server that dribbles, can't be interrupted.

    Raises:
        ConnectionError: no files, and the reason, as the second half of a sentence.
    """
    from huggingface_hub import constants

    if (folder := in_cache(repository)) is not None:
        return folder
    if constants.HF_HUB_OFFLINE:
        raise ConnectionError("HF_HUB_OFFLINE forbids asking the Hugging Face hub")
    _expect_an_answer(_in_a_thread(_ask, repository))
    _watch(_in_a_thread(_download, repository), repository, say)
    folder = in_cache(repository)
    if folder is None:
        raise ConnectionError("its download is not whole")
    return folder


def in_cache(repository: str) -> Path | None:
    """The folder in the hub's cache, if all that is needed is there. Looks at the disk only."""
    from huggingface_hub import try_to_load_from_cache

    found = [try_to_load_from_cache(repository, file, revision=REVISIONS[repository]) for file in NEEDED_FILES]
    return Path(found[0]).parent if all(isinstance(file, str) for file in found) else None


def _in_a_thread(job: Callable, *args: object) -> Future:
    future: Future = Future()

    def run() -> None:
        try:
            future.set_result(job(*args))
        except Exception as error:  # who waits for it will see
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def _ask(repository: str) -> bool:
    """Asks for one small header. Is it the hub that answers? A login page in its place answers too."""
    import huggingface_hub

    url = huggingface_hub.hf_hub_url(repository, "config.json", revision=REVISIONS[repository])
    return huggingface_hub.get_hf_file_metadata(url, timeout=ANSWER_PATIENCE).commit_hash is not None


def _expect_an_answer(asked: Future) -> None:
    wait([asked], timeout=ANSWER_PATIENCE)
    error = asked.exception() if asked.done() else TimeoutError()
    if "Timeout" in type(error).__name__:  # ours, or that of whatever library asked
        raise ConnectionError("the Hugging Face hub did not answer") from error
    if error:
        raise ConnectionError(f"asking the Hugging Face hub failed ({type(error).__name__})") from error
    if not asked.result():
        raise ConnectionError("something else answered in the Hugging Face hub's place (a login page?)")


def _download(repository: str) -> None:
    import huggingface_hub
    from huggingface_hub import utils

    utils.disable_progress_bars()  # ``say`` tells how far it is
    utils.logging.set_verbosity_error()  # "Trying to resume" would go on after the lesson has
    for file in WANTED_FILES:
        huggingface_hub.hf_hub_download(repository, file, revision=REVISIONS[repository])


def _watch(download: Future, repository: str, say: Callable[[str], None]) -> None:
    size, last = -1, time.monotonic()
    while not download.done():
        if (now_there := _bytes_of(repository)) != size:
            size, last = now_there, time.monotonic()
            say(f"{size / 1e6:.0f} MB so far")
        elif time.monotonic() - last > PROGRESS_PATIENCE:
            raise ConnectionError(f"its download stands still: nothing new for {PROGRESS_PATIENCE} seconds")
        wait([download], timeout=LOOK)
    if error := download.exception():
        raise ConnectionError(f"its download broke off ({type(error).__name__})") from error


def _bytes_of(repository: str) -> int:
    """What the hub's cache holds of a model, whole or not. A link counts nothing: what it leads to is there too."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    place = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repository, repo_type="model")
    size = 0
    for file in place.rglob("*"):
        try:
            size += file.lstat().st_size if file.is_file() and not file.is_symlink() else 0
        except OSError:  # just renamed
            continue
    return size
