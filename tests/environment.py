"""The pytest plugin that gives every test and every notebook the same surroundings (see pyproject.toml)."""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parent

os.environ |= {
    "COURSE_INTERACTIVE": "0",  # what is committed is static
    "HF_HUB_CACHE": str(TESTS / "no-cache"),  # and no model that a developer has downloaded
    "COURSE_PROGRESS": "off",  # what the tests solve, the learner has not
    "COURSE_MY_TRANSFORMER": "off",  # nor written
    "OMP_NUM_THREADS": "1",  # two workers share the machine
    "TOKENIZERS_PARALLELISM": "false",
    "MPLBACKEND": os.environ.get("MPLBACKEND", "agg"),
    "PYTHONPATH": os.pathsep.join(
        filter(None, [str(TESTS / "offline"), str(TESTS.parent), os.environ.get("PYTHONPATH")])
    ),
}
os.environ.pop("COURSE_BERT", None)  # a developer may have set another model
sys.path.insert(0, str(TESTS / "offline"))
import sitecustomize  # noqa: E402, F401 (a kernel gets it from PYTHONPATH, this process here)


def pytest_collectstart(collector):
    """nbval: pictures, tables and stderr are looked at by other tests; text is compared."""
    if collector.fspath and collector.fspath.ext == ".ipynb":
        collector.skip_compare += ("text/html", "stderr", "image/svg+xml")
