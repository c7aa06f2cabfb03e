"""pip, as if it ran on another machine: ``python pip_elsewhere.py '{"sys_platform": "win32", ...}' download ...``.

``pip download --platform`` chooses the wheels of another platform, but reads the conditions of a requirement, such as
``pywinpty; os_name == "nt"``, on the machine where it runs (pip's documentation says so). Here they are read as given.
It is a program of its own because pip is not made to be imported by others.
"""

import json
import sys

from pip._internal.cli.main import main
from pip._vendor.packaging import markers


def pretend(surroundings: dict[str, str]) -> None:
    """Conditions are read with ``surroundings`` from now on; SystemExit if this pip reads them in another way."""
    true = markers.default_environment()
    markers.default_environment = lambda: {**true, **surroundings}
    for name, value in surroundings.items():
        if not markers.Marker(f"{name} == '{value}'").evaluate():
            sys.exit(f"This pip can't collect for another platform: it reads {name} in a way not known here.")


if __name__ == "__main__":
    pretend(json.loads(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
