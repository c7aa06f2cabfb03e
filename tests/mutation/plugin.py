"""The pytest plugin of a mutation run (see pyproject.toml): asks a mutant only what belongs to it, shortest first."""

import gc
import json
import os
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "mutation",
    deadline=None,
    max_examples=25,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],  # a failure is enough: no search for a smaller one
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine kills no mutant
)

# A module is held to account by the file of its own name; _expect, which has none, is shown to all.
TESTED_BY = {"generation": "transformer"}


def pytest_collection_modifyitems(items):
    mutant = os.environ.get("MUTANT_UNDER_TEST", "")
    if mutant.startswith("course_utils."):
        module = mutant.split(".")[1]
        own = f"test_{TESTED_BY.get(module, module)}.py"
        items[:] = [item for item in items if module == "_expect" or item.path.name == own]
    measured = Path("mutmut-stats.json")  # seconds of each test, once the run has gone through all of them
    if measured.is_file():
        seconds = json.loads(measured.read_text())["duration_by_test"]
        items.sort(key=lambda item: seconds.get(item.nodeid, 0))


def pytest_unconfigure():
    gc.freeze()  # what is loaded by now stays: the processes forked from here on need not look through it
