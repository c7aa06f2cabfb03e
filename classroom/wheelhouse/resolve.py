"""Which packages another machine needs, worked out by uv.

``pip download --platform`` chooses the wheels of another platform, but reads a condition such as
``pywinpty; os_name == "nt"`` on the machine where it runs (pip's documentation of ``download`` says so).
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# pip's settings, as `pip config list` names them, and uv's options for the same: uv does not read pip's configuration.
OPTIONS = {
    "index-url": "--index-url",
    "extra-index-url": "--extra-index-url",
    "find-links": "--find-links",
    "constraint": "--constraint",
    "trusted-host": "--allow-insecure-host",
}
VARIABLES = {
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
    "retries": "UV_HTTP_RETRIES",
    "timeout": "UV_HTTP_TIMEOUT",
}
MACOS = "14.0"  # the oldest macOS that the tested PyTorch runs on; pip's tags say the same


def resolve(requirements: Iterable[str], pins: Path, wheels: Path, platform: str, python: str) -> str:
    """Writes ``requirements``, and all that they need on ``platform`` (uv's name of it), to ``pins``, one version each.

    Only wheels count, those in the folder ``wheels`` too. Packages are looked for where pip looks for them; uv's own
    settings are left aside.

    Returns:
        What uv wrote on stderr if it failed, in one line, else "".
    """
    settings = _settings_of_pip()
    command = [sys.executable, "-m", "uv", "pip", "compile", "-", "--output-file", str(pins)]
    command += ["--python-platform", platform, "--python-version", python, "--only-binary", ":all:"]
    command += ["--python", sys.executable]  # it need not search for others
    command += ["--index-strategy", "unsafe-best-match"]  # the best version of all indexes, as pip
    command += ["--find-links", str(wheels), "--no-config", "--no-cache", "--no-header", "--no-annotate", "--quiet"]
    for name, option in OPTIONS.items():
        command += [part for value in settings.get(name, "").split() for part in (option, value)]
    command += ["--no-index"] if settings.get("no-index", "").lower() in ("1", "true", "yes", "on") else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    environment |= {variable: settings[name] for name, variable in VARIABLES.items() if name in settings}
    environment |= {"MACOSX_DEPLOYMENT_TARGET": MACOS, "UV_PYTHON_DOWNLOADS": "never"}
    result = subprocess.run(
        command, input="\n".join(requirements), capture_output=True, encoding="utf-8", errors="replace", env=environment
    )
    return (" ".join(result.stderr.split()) or "uv said nothing") if result.returncode else ""


def _settings_of_pip() -> dict[str, str]:
    """Those that hold for ``pip download``: its own beat those for all commands, the environment beats both."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, encoding="utf-8", errors="replace"
    )
    lines = [line.partition("=") for line in listed.stdout.splitlines()]
    return {
        name.removeprefix(section): ast.literal_eval(value)
        for section in ("global.", "download.", ":env:.")
        for name, _, value in lines
        if name.startswith(section)
    }
