"""Runs notebooks in a fresh kernel and writes their outputs back: ``python tests/execute_notebooks.py [FILE ...]``.

Without arguments: all of them. The model is all-MiniLM-L6-v2 and only static figures are stored, so
that everybody commits the same outputs.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
import nbformat
from nbclient import NotebookClient

from tools.set_up import METADATA

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
ENVIRONMENT = {"COURSE_INTERACTIVE": "0"}


def execute(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, coalesce_streams=True, resources=folder).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when each cell ran: noise in a diff
    notebook.metadata = METADATA  # whatever the Python that ran it
    nbformat.write(notebook, path)
    print(f"executed {path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    os.environ.pop("COURSE_BERT", None)
    os.environ.update(ENVIRONMENT, MPLCONFIGDIR=matplotlib.get_configdir())
    home = TemporaryDirectory()  # a learner who has passed nothing yet
    os.environ.update(HOME=home.name, USERPROFILE=home.name)
    for path in [Path(name) for name in sys.argv[1:]] or sorted(NOTEBOOKS.glob("*.ipynb")):
        execute(path)
