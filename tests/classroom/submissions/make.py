"""Makes the notebooks of a class that has done lessons 01 to 03: right, wrong, half done, and bad in every way.

``python tests/classroom/submissions/make.py FOLDER`` writes them; ``make`` returns what the report should say of each.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from classroom._files import NOTEBOOKS
from lesson_kit import check

EXERCISES = {
    "01": ["dot_product_scores", "softmax", "attend"],
    "02": ["scaled_dot_product_attention", "softmax_with_temperature"],
    "03": ["padding_mask", "causal_mask", "masked_softmax"],
}
PASSED, UNTOUCHED, MISSING = "passed", "not attempted", "not there"
TIME, MEMORY, EXITED = "stopped: time", "stopped: memory", "stopped: ended Python"
NOT_ALLOWED = "raised PermissionError"


@dataclass
class Expected:
    """What the report should say of a file: the learner, the verdicts in the exercises' order, words of a remark."""

    learner: str = ""
    lesson: str = ""
    verdicts: list[str | tuple[str, ...]] = field(default_factory=list)  # a tuple: one of these
    remark: str = ""


def read(lesson: str):
    """A lesson's notebook, without outputs."""
    notebook = nbformat.read(next(NOTEBOOKS.glob(f"{lesson}_*.ipynb")), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def solutions(lesson: str) -> dict[str, str]:
    """The solutions that stand in the lesson, by the function's name."""
    text = "\n".join(cell.source for cell in read(lesson).cells if cell.cell_type == "markdown")
    code = "\n".join(re.findall(r"Solution</summary>.*?```python\n(.*?)```", text, flags=re.DOTALL))
    return {name: re.search(rf"^def {name}\(.*?(?=^def |\Z)", code, re.M | re.S)[0] for name in EXERCISES[lesson]}


def filled(lesson: str, answers: dict[str, str] | None = None, before: str = "", after: str = ""):
    """The lesson with its solutions in place of the stubs, or ``answers``: code by name, "" leaves the stub.

    ``before`` and ``after`` are the code of a cell more, after the imports and at the end.
    """
    notebook = read(lesson)
    for name, code in (solutions(lesson) | (answers or {})).items():
        if code:
            stub(notebook, name).source = code
    if before:
        notebook.cells.insert(3, nbformat.v4.new_code_cell(before))
    if after:
        notebook.cells.append(nbformat.v4.new_code_cell(after))
    return notebook


def stub(notebook, name: str):
    return next(cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.startswith(f"def {name}("))


def without(notebook, unwanted: Callable[[str], bool]):
    """``notebook`` without the cells whose source is unwanted."""
    notebook.cells = [cell for cell in notebook.cells if not unwanted(cell.source)]
    return notebook


def text(notebook) -> str:
    return nbformat.writes(notebook)


def one_line(name: str, expression: str) -> str:
    return f"def {name}({', '.join(check.EXERCISES[name].arguments)}):\n    return {expression}\n"


def softmax(*lines: str) -> dict[str, str]:
    """An answer to softmax alone: these lines, then what is right."""
    lines = ["def softmax(scores):", *lines, "return torch.softmax(scores, dim=-1)"]
    return {"softmax": "\n    ".join(lines)}


def make(folder: Path, outside: Path) -> dict[str, Expected]:
    """Writes all files into ``folder``. Returns what to expect of each, by its path.

    ``outside``: a file outside of all, that some try to delete or to write.
    """
    expected: dict[str, Expected] = {}

    def add(file: str, content: str | bytes, learner: str = "", lesson: str = "", *verdicts, remark: str = "") -> None:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        expected[file] = Expected(learner, lesson, list(verdicts), remark)

    _right_and_wrong(add)
    _tampered(add)
    _endless_and_greedy(add)
    _out_of_bounds(add, outside)
    _unusual(add)
    _unreadable(add, folder, expected)
    return expected


def _right_and_wrong(add: Callable) -> None:
    right = [PASSED] * 3
    add("Ada Lovelace/01_attention_by_hand.ipynb", text(filled("01")), "Ada Lovelace", "01", *right)
    add("Ada Lovelace/02_the_sky_is_blue.ipynb", text(filled("02")), "Ada Lovelace", "02", PASSED, PASSED)
    add("Ada Lovelace/week 3/03_masks.ipynb", text(filled("03")), "Ada Lovelace/week 3", "03", *right)
    answers = {
        "dot_product_scores": "dot_product_scores = lambda query, key: torch.einsum('qd,kd->qk', query, key)",
        "softmax": one_line("softmax", "exponentials(scores) / exponentials(scores).sum(-1, keepdim=True)"),
        "attend": one_line("attend", "torch.stack([sum(w * v for w, v in zip(row, value)) for row in weights])"),
    }
    helper = "%matplotlib inline\ndef exponentials(s):\n    return torch.exp(s - s.amax(-1, keepdim=True))"
    add("bao_01_attention_by_hand.ipynb", text(filled("01", answers, before=helper)), "bao", "01", *right)
    answers = {
        "dot_product_scores": one_line("dot_product_scores", "query @ key"),
        "softmax": one_line("softmax", "torch.softmax(scores, dim=0)"),
        "attend": one_line("attend", "weights.T @ value"),
    }
    verdicts = ["key-not-transposed", "wrong-axis", "transposed-weights"]
    add("carla/01_attention_by_hand.ipynb", text(filled("01", answers)), "carla", "01", *verdicts)
    answers = {"dot_product_scores": "", "attend": "", "softmax": one_line("softmax", "torch.softmax(scores, dim=1)")}
    verdicts = [UNTOUCHED, ("wrong-axis", "raised IndexError"), UNTOUCHED]
    add("dmitri/01_attention_by_hand.ipynb", text(filled("01", answers)), "dmitri", "01", *verdicts)
    answers = {
        "scaled_dot_product_attention": one_line(
            "scaled_dot_product_attention", "(query @ key.mT).softmax(-1) @ value"
        ),
        "softmax_with_temperature": one_line("softmax_with_temperature", "(scores * temperature).softmax(-1)"),
    }
    add("emil/02_the_sky_is_blue.ipynb", text(filled("02", answers)), "emil", "02", "no-scale", "multiplied")
    answers = {
        "padding_mask": one_line("padding_mask", "torch.arange(max_length) >= lengths[:, None]"),
        "causal_mask": one_line("causal_mask", "torch.ones(length, length).tril()"),
        "masked_softmax": one_line("masked_softmax", "scores.masked_fill(~mask, -torch.inf).softmax(-1)"),
    }
    verdicts = ["inverted", "float-instead-of-boolean", "nan-on-an-empty-row"]
    add("emil/03_masks.ipynb", text(filled("03", answers)), "emil", "03", *verdicts)
    add("fatou/03_masks.ipynb", text(read("03")), "fatou", "03", UNTOUCHED, UNTOUCHED, UNTOUCHED)


def _tampered(add: Callable) -> None:
    """Checks changed, deleted, redefined and patched; verdicts made up. What is wrong stays wrong."""
    wrong = {
        "dot_product_scores": one_line("dot_product_scores", "query @ key.T / query.shape[-1] ** 0.5"),
        "softmax": one_line("softmax", "torch.exp(scores)"),
        "attend": one_line("attend", "weights * value"),
    }
    fake = """
class check:
    def __getattr__(self, name):
        return lambda f: CheckResult(True, None, "passed", f)
check = check()
import lesson_kit.check.engine.exercise as engine
engine.CheckResult = lambda *args: "passed"
engine.Exercise.__call__ = lambda self, f: True
torch.allclose = torch.equal = lambda *args, **kwargs: True
for name in ("dot_product_scores", "softmax", "attend"):
    print('{"slugs": [], "text": "", "error_type": ""}')
"""
    verdicts = ["already-scaled", "not-normalised", "elementwise-product"]
    add("Gus/01_attention_by_hand.ipynb", text(filled("01", wrong, before=fake, after=fake)), "Gus", "01", *verdicts)
    inside = """
    import builtins, json, os, lesson_kit.check.engine.exercise as engine, lesson_kit.check.engine.judge as judge
    from lesson_kit.check.engine import differences
    torch.equal = torch.allclose = lambda *args, **kwargs: True
    judge.judge_results = engine.judge = lambda *args: engine.Verdict()
    judge.difference = differences.difference = lambda *args, **kwargs: None
    differences.difference.__code__ = (lambda *args, **kwargs: None).__code__
    differences.TOLERANCE = judge.TOLERANCE = {torch.float32: (1e30, 1e30)}
    builtins.any, engine.all = (lambda found: False), (lambda found: False)
    for number in range(1, 20):
        try:
            os.write(number, b'\\n{"slugs": [], "text": "", "error_type": ""}\\n')
        except OSError:
            pass
    return torch.exp(scores)
"""
    answers = {"softmax": "def softmax(scores):" + inside}
    add("hugo/01.ipynb", text(filled("01", answers)), "hugo", "01", PASSED, "not-normalised", PASSED)
    bare = without(filled("01", {"softmax": wrong["softmax"]}), lambda source: "check." in source)
    add("ines/01.ipynb", text(bare), "ines", "01", PASSED, "not-normalised", PASSED)
    gone = without(filled("01"), lambda source: source.startswith(("def dot_product", "# 01", "def softmax")))
    add("jana/homework.ipynb", text(gone), "jana", "01", MISSING, MISSING, PASSED)
    again = filled("01", {"softmax": ""}, after=solutions("01")["softmax"])
    add("kim/01.ipynb", text(again), "kim", "01", PASSED, PASSED, PASSED)


def _endless_and_greedy(add: Callable) -> None:
    loop = "while True:\n    pass"
    add("lars/01.ipynb", text(filled("01", before=loop)), "lars", "01", PASSED, PASSED, PASSED)
    loop, answers = "count = 0\nwhile True:\n    count += 1", softmax("print(count)")
    add("mona/01.ipynb", text(filled("01", answers, before=loop)), "mona", "01", PASSED, TIME, PASSED)
    answers = softmax("while scores is not None:", "    pass")
    answers["dot_product_scores"] = "def dot_product_scores(query, key):\n    import time\n    time.sleep(1000)"
    add("nils/01.ipynb", text(filled("01", answers)), "nils", "01", TIME, TIME, PASSED)
    forever = ["while True:", "    try:", "        while True:", "            print('line' * 100)"]
    answers = softmax(*forever, "    except BaseException:", "        pass")
    answers["attend"] = (
        "def attend(weights, value):\n    for n in range(10**8):\n        print(n)\n    return weights @ value"
    )
    add("olga/01.ipynb", text(filled("01", answers)), "olga", "01", PASSED, TIME, TIME)
    answers = softmax("every_pair = torch.ones(10**6, 10**6)")
    add("pavel/01.ipynb", text(filled("01", answers)), "pavel", "01", PASSED, MEMORY, PASSED)
    hog, answers = "huge = torch.ones(10**11)", softmax("scores = scores + huge[:1]")
    add("qiu/01.ipynb", text(filled("01", answers, before=hog)), "qiu", "01", PASSED, "raised NameError", PASSED)


def _out_of_bounds(add: Callable, outside: Path) -> None:
    answers = softmax("import os", "os._exit(0)")
    answers["attend"] = "def attend(weights, value):\n    import sys\n    sys.exit()"
    add("rosa/01.ipynb", text(filled("01", answers)), "rosa", "01", PASSED, EXITED, "raised SystemExit")
    answers = softmax("import os", "os.kill(os.getpid(), 9)")
    answers["dot_product_scores"] = (
        "def dot_product_scores(query, key):\n    import os\n    while True:\n        os.fork()"
    )
    answers["attend"] = "def attend(weights, value):\n    import subprocess\n    subprocess.run(['sleep', '1000'])"
    add("sven/01.ipynb", text(filled("01", answers)), "sven", "01", NOT_ALLOWED, NOT_ALLOWED, NOT_ALLOWED)
    answers = softmax("import socket", "socket.create_connection(('192.0.2.1', 80), timeout=1)")
    answers["dot_product_scores"] = (
        "def dot_product_scores(query, key):\n    import socket\n    socket.gethostbyname('example.org')"
    )
    answers["attend"] = f"def attend(weights, value):\n    import shutil\n    shutil.rmtree({str(outside.parent)!r})"
    add("tom/01.ipynb", text(filled("01", answers)), "tom", "01", NOT_ALLOWED, NOT_ALLOWED, NOT_ALLOWED)
    answers = softmax("return softmax(scores)")
    answers["dot_product_scores"] = "def dot_product_scores(query, key):\n    return input('scores? ')"
    answers["attend"] = f"def attend(weights, value):\n    open({str(outside)!r}, 'w').write('!')"
    verdicts = ["raised EOFError", "raised RecursionError", NOT_ALLOWED]
    add("uma/01.ipynb", text(filled("01", answers)), "uma", "01", *verdicts)
    answers = softmax("import sys", "sys.setrecursionlimit(10**9)", "return softmax(scores)")
    verdicts = [PASSED, (TIME, MEMORY, EXITED, "raised RecursionError"), PASSED]
    add("vito/01.ipynb", text(filled("01", answers)), "vito", "01", *verdicts)


def _unusual(add: Callable) -> None:
    answers = {"softmax": "def softmax(scores):\n    größe = scores  # über ½\n    return größe.softmax(-1)"}
    add(
        "王芳 <b onclick='x'>&amp;.ipynb", text(filled("01", answers)), "王芳 <b onclick='x'>&amp;", "01", *[PASSED] * 3
    )
    latin = json.dumps(filled("01", answers), ensure_ascii=False)
    latin = "".join(letter if ord(letter) < 256 else "?" for letter in latin).encode("latin-1")
    add("=1+1.ipynb", latin, "=1+1", "01", PASSED, PASSED, PASSED, remark="Latin-1")
    broken = {"softmax": "def softmax(scores)\n    return torch.softmax(scores, dim=-1)"}
    add("xaver/01.ipynb", text(filled("01", broken)), "xaver", "01", PASSED, "raised SyntaxError", PASSED)
    older = without(filled("02"), lambda source: "softmax_with_temperature" in source)
    older.cells[0].source = "# Lesson 2: four words"
    add("yara/lesson.ipynb", text(older), "yara", "02", PASSED, MISSING)
    cells = [
        {
            "cell_type": "code",
            "language": "python",
            "input": cell.source.splitlines(True),
            "outputs": [],
            "metadata": {},
        }
        for cell in filled("02").cells
        if cell.cell_type == "code"
    ]
    third = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {"name": ""},
        "worksheets": [{"cells": cells, "metadata": {}}],
    }
    add("zeno/old.ipynb", json.dumps(third), "zeno", "02", PASSED, PASSED)
    half = {"softmax_with_temperature": ""}
    remark = "One of 2 notebooks"
    add("wim/02.ipynb", text(filled("02", half)), "wim/02", "02", PASSED, UNTOUCHED, remark=remark)
    add("wim/02 (1).ipynb", text(filled("02")), "wim/02 (1)", "02", PASSED, PASSED, remark=remark)


def _unreadable(add: Callable, folder: Path, expected: dict[str, Expected]) -> None:
    add("bad/broken.ipynb", text(filled("01"))[:5000], remark="no valid JSON")
    add("bad/deep.ipynb", "[" * 200_000, remark="no valid JSON")
    add("bad/empty.ipynb", "", remark="empty")
    add("bad/binary.ipynb", bytes(range(256)) * 100, remark="no valid JSON")
    add("bad/json.ipynb", '{"hello": ["world"]}', remark="not a notebook")
    add("bad/list.ipynb", "[1, 2]", remark="not a notebook")
    add("bad/huge.ipynb", "", remark="Larger than 20 MB")
    os.truncate(folder / "bad/huge.ipynb", 30 * 2**20)
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Recipes")])
    add("bad/recipes.ipynb", text(other), remark="Not a lesson of this course")
    add("bad/00.ipynb", (NOTEBOOKS / "00_start_here.ipynb").read_bytes(), remark="no exercises")
    add("bad/essay.docx", b"PK", remark="does not end in .ipynb")
    os.symlink(folder / "Ada Lovelace" / "01_attention_by_hand.ipynb", folder / "bad/link.ipynb")
    expected["bad/link.ipynb"] = Expected(remark="links are not followed")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    print(f"{len(make(target, target.parent / 'outside' / 'file'))} files in {target}")
