"""my_transformer.py: what is passed stands there, imports, runs and passes again; what the learner wrote stays."""

import ast
import importlib.util
import json
import linecache
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lesson_kit import check
from lesson_kit._files import MARKER, write_whole
from lesson_kit.check import collect
from lesson_kit.check.where_taught import PLACES

NOTEBOOKS = sorted((Path(__file__).parents[3] / "notebooks").glob("*.ipynb"))
SET_UP = "import math\nimport torch\nimport torch.nn.functional as F\nfrom lesson_kit import check\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder as ``python -m lesson_kit start`` makes it; we stand in it."""
    monkeypatch.delenv("COURSE_MY_TRANSFORMER", raising=False)
    (tmp_path / MARKER).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Kernel:
    """A notebook's names; its cells can be read as in Jupyter."""

    def __init__(self):
        self.names = {"__name__": "__main__"}
        self.run(SET_UP)

    def run(self, code):
        file = f"<cell {len(linecache.cache)}>"
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        exec(compile(code, file, "exec"), self.names)

    def check(self, name, code):
        """The check's message, after this cell."""
        self.run(code)
        result = getattr(check, name)(self.names[name])
        assert result.passed, result.message
        return result.message


def written(folder):
    return (folder / collect.NAME).read_text(encoding="utf-8")


def module(folder):
    spec = importlib.util.spec_from_file_location("mine", folder / collect.NAME)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


SOFTMAX = "def softmax(scores):\n    return torch.softmax(scores, dim=-1)\n"
ATTEND = "def attend(weights, value):\n    return weights @ value\n"


def test_all_solutions_make_a_module_that_imports_and_passes_again(folder):
    solved = set()
    for notebook in NOTEBOOKS:
        kernel = Kernel()
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            for block in re.findall(r"```python\n(.*?)```", "".join(cell["source"]), flags=re.DOTALL):
                functions = [node.name for node in ast.walk(ast.parse(block)) if isinstance(node, ast.FunctionDef)]
                for name in filter(PLACES.__contains__, functions):
                    kernel.check(name, block)
                    solved.add(name)
    assert solved == PLACES.keys()
    text = written(folder)
    order = re.findall(r"^# --- (\w+) \(lesson", text, flags=re.MULTILINE)
    assert order == list(PLACES) and "lesson_kit" not in text
    code = "import my_transformer as mine\nfrom lesson_kit import check\nfor name in check.progress().exercises:\n"
    code += "    assert getattr(check, name)(getattr(mine, name), record=False, sight=False), name\n"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=folder)
    assert sorted(path.name for path in folder.iterdir() if path.suffix) == [collect.NAME]


def test_a_piece_stands_at_its_place_and_is_replaced(folder):
    kernel = Kernel()
    kernel.check("attend", ATTEND)
    assert "It stands in my_transformer.py now." in kernel.check("softmax", SOFTMAX)
    text = written(folder)
    assert text.index("def softmax") < text.index("def attend") and text.startswith('"""My Transformer')
    assert re.search(r"^# --- softmax \(lesson 01, passed \d{4}-\d\d-\d\d\) ---$", text, flags=re.MULTILINE)
    kernel.check("softmax", "def softmax(scores):\n    return scores.softmax(-1)\n")
    again = written(folder)
    assert "torch.softmax" not in again and again.count("def softmax") == again.count("def attend") == 1


def test_what_the_learner_adds_stays(folder):
    kernel = Kernel()
    kernel.check("attend", ATTEND)
    mine = "# my own remark\ndef extra():\n    return 5\n"
    before = written(folder)
    (folder / collect.NAME).write_text(f"{before}\n\n{mine}")
    kernel.check("softmax", SOFTMAX)
    kernel.check("attend", ATTEND.replace("weights @ value", "torch.matmul(weights, value)"))
    assert mine in written(folder) and module(folder).extra() == 5


def test_what_a_function_needs_comes_along(folder):
    kernel = Kernel()
    kernel.run("from torch import Tensor\nimport numpy as np\nEPS, KIND = 0.0, torch.float32\ntable = torch.zeros(1)\n")
    kernel.run("def largest(x: Tensor) -> Tensor:\n    return x.amax(-1, keepdim=True)\n")
    kernel.run("def exps(x):\n    return torch.exp(x - largest(x)) + EPS\n")
    message = kernel.check(
        "softmax",
        "def mine(scores: Tensor) -> Tensor:\n    e = exps(scores)\n    return e / e.sum(-1, keepdim=True) + table[0]\n"
        "softmax = mine\n",
    )
    text = written(folder)
    for line in ("import torch", "from torch import Tensor", "EPS = 0.0", "softmax = mine"):
        assert f"\n{line}\n" in text, line
    assert text.index("def largest") < text.index("def exps") < text.index("def mine")
    assert "it needs `table` from your notebook" in message and "numpy" not in text
    made = module(folder)
    made.table = kernel.names["table"]
    assert check.softmax(made.softmax, record=False).passed


def test_a_class_comes_along(folder):
    kernel = Kernel()
    kernel.run(
        "from torch import nn\nclass Shares(nn.Module):\n    def forward(self, x):\n        return F.softmax(x, -1)\n"
    )
    kernel.check("softmax", "def softmax(scores):\n    return Shares()(scores)\n")
    assert "import torch.nn as nn\nimport torch.nn.functional as F" in written(folder)
    assert check.softmax(module(folder).softmax, record=False).passed


def test_another_exercise_is_taken_from_its_piece_or_from_the_course(folder):
    kernel = Kernel()
    kernel.run("softmax = check.softmax(None).function\n")
    code = "def masked_softmax(scores, mask):\n    none = ~mask.any(-1, keepdim=True)\n"
    code += "    return softmax(scores.masked_fill(~mask & ~none, -torch.inf)).masked_fill(none | ~mask, 0.0)\n"
    kernel.check("masked_softmax", code)
    assert "softmax = check.softmax.reference" in written(folder)
    assert check.masked_softmax(module(folder).masked_softmax, record=False).passed
    kernel.check("softmax", SOFTMAX)
    assert "check.softmax.reference" not in written(folder)
    assert check.masked_softmax(module(folder).masked_softmax, record=False).passed


def test_a_helper_of_the_same_name_but_another_kind_is_told(folder):
    kernel = Kernel()
    kernel.run("def helper(x):\n    return x\n")
    kernel.check("softmax", "def softmax(scores):\n    return helper(scores).softmax(-1)\n")
    kernel.run("def helper(x):\n    return x * 1\n")
    message = kernel.check("attend", "def attend(weights, value):\n    return helper(weights) @ value\n")
    assert "`helper` is defined in another way in the piece of softmax" in message


@pytest.mark.parametrize("damage", ["def broken(:\n", "return 5\n", "# --- end of softmax ---\n"])
def test_a_damaged_file_is_left_alone_and_told(folder, damage):
    kernel = Kernel()
    kernel.check("softmax", SOFTMAX)
    text = written(folder)
    text = text.replace(damage, "") if damage in text else text + damage
    (folder / collect.NAME).write_text(text)
    assert "Not added to my_transformer.py: " in kernel.check("attend", ATTEND) and written(folder) == text


def test_what_has_no_source_or_is_not_the_learners_is_not_taken(folder):
    assert "source could not be read" in check.softmax(eval("lambda scores: scores.softmax(-1)")).message
    assert check.attend(__import__("torch").matmul).passed
    assert not (folder / collect.NAME).exists()


def test_a_pass_that_does_not_count_is_not_taken(folder):
    kernel = Kernel()
    kernel.run(SOFTMAX)
    check.softmax(kernel.names["softmax"], record=False)
    check.softmax(lambda scores: scores)
    assert not (folder / collect.NAME).exists()


@pytest.mark.parametrize("where", ["no marker", "a folder of that name", "off"])
def test_elsewhere_nothing_is_written(folder, where, monkeypatch):
    if where == "off":
        monkeypatch.setenv("COURSE_MY_TRANSFORMER", "off")
    else:
        (folder / MARKER).unlink()
    if where == "a folder of that name":  # as in the home folder
        (folder / MARKER).mkdir()
    Kernel().check("softmax", SOFTMAX)
    assert not (folder / collect.NAME).exists() and collect.path() is None


def test_a_setting_names_the_file(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_MY_TRANSFORMER", str(tmp_path / "deep" / "mine.py"))
    assert "It stands in mine.py now." in Kernel().check("softmax", SOFTMAX)
    assert "def softmax" in (tmp_path / "deep" / "mine.py").read_text()


def test_a_folder_that_cannot_be_written_to_disturbs_nobody(folder, monkeypatch):
    (folder / "a_file").touch()
    monkeypatch.setenv("COURSE_MY_TRANSFORMER", str(folder / "a_file" / "mine.py"))
    assert "Not added to my_transformer.py" in Kernel().check("softmax", SOFTMAX)


def test_an_empty_line_among_the_imports_does_no_harm(folder):
    kernel = Kernel()
    kernel.check("softmax", SOFTMAX)
    (folder / collect.NAME).write_text(written(folder).replace("import torch\n", "import torch\n\n"))
    assert "It stands in my_transformer.py now." in kernel.check("attend", ATTEND)


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    file = tmp_path / "file"
    write_whole(file, "one\n")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "two\n" * 10_000 + "\ud800")
    assert file.read_bytes() == b"one\n" and [*tmp_path.iterdir()] == [file]
    safe = []
    monkeypatch.setattr(os, "fsync", lambda number: safe.append(os.fstat(number).st_size))
    write_whole(file, "three\n")
    assert safe == [6], "all of it lies on the disk before it takes the other's place"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_file_behind_a_link_is_written_and_the_link_stays(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch()
    link.symlink_to(file)
    write_whole(link, "one\n")
    assert link.is_symlink() and file.read_text() == "one\n"


def test_the_guard_of_a_dead_kernel_is_taken_over_and_that_of_a_live_one_is_not(folder, monkeypatch):
    monkeypatch.setattr(collect, "PATIENCE", 0.2)
    guard, kernel = folder / f".{collect.NAME}.lock", Kernel()
    guard.write_text("another's")
    assert "another notebook is writing there" in kernel.check("softmax", SOFTMAX)
    assert guard.read_text() == "another's" and not (folder / collect.NAME).exists()
    os.utime(guard, (time.time() - 2 * collect.STALE,) * 2)
    assert "It stands in" in kernel.check("softmax", SOFTMAX) and not guard.exists()


def test_a_guard_that_another_has_taken_over_is_not_taken_away(folder):
    file = folder / collect.NAME
    guard = file.with_name(f".{file.name}.lock")
    with collect._alone_with(file):
        assert guard.exists()
        guard.write_text("another's")
    assert guard.read_text() == "another's"


def test_where_no_guard_can_be_made_the_wait_has_an_end(folder, monkeypatch):
    """Windows refuses with PermissionError while another takes it away."""

    def refused(*args, **options):
        raise PermissionError

    monkeypatch.setattr(collect, "PATIENCE", 0.1)
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(collect._CannotCollect), collect._alone_with(folder / collect.NAME):
        pass


def test_several_kernels_can_write_at_once(folder):
    code = """
import sys
from lesson_kit._files import write_whole
from lesson_kit.check.collect import Piece, _alone_with, _with_piece, path
for n in range(30):
    for name in sys.argv[1:]:
        with _alone_with(path()):
            old = path().read_text() if path().exists() else ""
            write_whole(path(), _with_piece(old, name, Piece({"import math"}, {name: f"{name} = {n}\\n"}))[0])
"""
    halves = [list(PLACES)[::2], list(PLACES)[1::2]]
    kernels = [subprocess.Popen([sys.executable, "-c", code, *names]) for names in halves]
    assert [kernel.wait() for kernel in kernels] == [0, 0]
    assert {name: vars(module(folder))[name] for name in PLACES} == dict.fromkeys(PLACES, 29)
