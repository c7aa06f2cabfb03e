"""Writing into the learner's folder."""

import os
from pathlib import Path

MARKER = ".attention-by-hand"  # in the folder of the working copies: what they were made from


def write_whole(path: Path, text: str) -> None:
    """Puts ``text`` into the file, all of it or nothing, should the disk be full or the power go.

    Where ``path`` is a symbolic link, the file that it leads to is written. Lines end in ``\\n`` on every platform.

    Raises:
        OSError: it can't be written. What stood there stands there still, and nothing new lies beside it.
    """
    path = path.resolve()
    half = path.with_name(f".{path.name}.{os.getpid()}.half")
    try:
        with half.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)
