"""What every lesson has in common, and every number in its prose."""

import html
import json
import re
from decimal import Decimal
from pathlib import Path

import nbformat
import pytest
import torch

from lesson_kit import check, examples
from lesson_kit.data import data_path
from tools.set_up import begin

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4) for path in LESSONS}
lessons = pytest.mark.parametrize("name", NOTEBOOKS)
taught = pytest.mark.parametrize("name", [name for name in NOTEBOOKS if not name.startswith("00")])


def cells(name: str, kind: str) -> list:
    return [cell for cell in NOTEBOOKS[name].cells if cell.cell_type == kind]


def markdown(name: str) -> str:
    return "\n\n".join(cell.source for cell in cells(name, "markdown"))


def prose(name: str) -> str:
    """The Markdown without fenced code."""
    return re.sub(r"```.*?```", "", markdown(name), flags=re.DOTALL)


def test_the_lessons_are_all_there():
    numbers = [int(name[:2]) for name in NOTEBOOKS]
    assert numbers == sorted(set(numbers)) and set(range(9)) <= set(numbers)


@lessons
def test_is_valid_and_executed_in_order(name):
    nbformat.validate(NOTEBOOKS[name])
    counts = [cell.execution_count for cell in cells(name, "code")]
    assert counts == list(range(1, len(counts) + 1))


@lessons
def test_stores_no_errors_no_scripts_and_nothing_on_stderr(name):
    for cell in cells(name, "code"):
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
            data = output.get("data", {})
            assert "application/javascript" not in data
            assert not re.search(r"<script|<iframe", data.get("text/html", ""))


@lessons
def test_is_small(name):
    assert (ROOT / "notebooks" / f"{name}.ipynb").stat().st_size < 1_500_000


@lessons
def test_has_one_title_and_skips_no_heading_level(name):
    levels = [len(marks) for marks in re.findall(r"^(#{1,6}) ", prose(name), flags=re.MULTILINE)]
    assert levels[0] == 1 and levels.count(1) == 1
    for above, below in zip(levels, levels[1:], strict=False):
        assert below <= above + 1, f"a heading of level {below} follows one of level {above}"


@lessons
def test_headings_are_plain_in_the_table_of_contents(name):
    """JupyterLab's contents set no formulas: they would show ``$d_k$`` as it is typed. Code and emphasis they set."""
    headings = re.findall(r"^#{1,6} (.+)", prose(name), flags=re.MULTILINE)
    assert headings and [heading for heading in headings if re.search(r"[$<>\\]|&\w+;", heading)] == []


@lessons
def test_starts_with_promise_links_time_needs_and_goals(name):
    first = NOTEBOOKS[name].cells[0]
    assert first.cell_type == "markdown" and first.source.startswith(f"# {name[:2]} · ")
    for part in ("mybinder.org", "colab.research.google.com", "**Time**", "**You need**"):
        assert part in first.source
    assert 3 <= len(re.findall(r"^[-*] ", first.source, flags=re.MULTILINE)) <= 6


@lessons
def test_links_open_this_lesson_of_this_repository(name):
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    repository = re.search(r'Repository = "https://github.com/([^"]+)"', project)[1]
    links = re.findall(r"https://(?:mybinder\.org/v2|colab\.research\.google\.com/github)[^)\s]+", markdown(name))
    assert len(links) == 2
    for link in links:
        assert repository in link and f"/{name}.ipynb" in link
    assert "![" not in NOTEBOOKS[name].cells[0].source, "without a network a picture is a broken one"


@lessons
def test_links_to_files_lead_somewhere(name):
    for target in re.findall(r"\]\((?!https?://|#)([^)\s]+)\)", prose(name)):
        assert (ROOT / "notebooks" / target).exists(), target


@lessons
def test_begins_as_every_lesson_does(name):
    """One visible line of set-up, and what JupyterLab would write into the metadata: ``python -m tools.set_up``."""
    text = (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    assert begin(json.loads(text), name) == json.loads(text)
    install, visible = cells(name, "code")[:2]
    assert NOTEBOOKS[name].cells[1:3] == [install, visible]
    assert install.metadata.jupyter.source_hidden and len(visible.source.splitlines()) == 1


@lessons
def test_code_cells_are_short(name):
    long = [cell.source for cell in cells(name, "code") if len(cell.source.splitlines()) > 20]
    assert not long, long[0]


@lessons
def test_most_outputs_are_compared(name):
    code = cells(name, "code")
    ignored = [cell for cell in code if "nbval-ignore-output" in cell.metadata.get("tags", [])]
    assert len(ignored) <= len(code) / 3
    assert not any("NBVAL" in cell.source for cell in code), "use the cell tag"


@lessons
def test_every_figure_has_an_alt_text(name):
    for cell in cells(name, "code"):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                alt = output.metadata.get("image/png", {}).get("alt", "")
                assert len(alt) >= 30, f"this cell's figure has the alt text {alt!r}: {cell.source}"


@taught
def test_closes_with_in_the_wild_a_summary_and_links(name):
    text = prose(name)
    assert re.search(r"^## In the wild", text, flags=re.MULTILINE)
    summary = text[text.index("\n## Summary") :]
    assert 3 <= len(re.findall(r"[(<]https://", summary)) <= 8


# --- exercises ---------------------------------------------------------------------------------

STUB_CALL = re.compile(r"check\.(\w+)\((\w+)\)")
EXERCISES = {
    "01": ["dot_product_scores", "softmax", "attend"],
    "02": ["scaled_dot_product_attention", "softmax_with_temperature"],
    "03": ["causal_mask", "padding_mask", "masked_softmax"],
    "04": ["split_heads", "merge_heads", "multi_head_attention"],
    "05": ["sinusoidal_positions", "add_positions"],
    "06": ["layer_norm", "feed_forward", "post_norm", "pre_norm"],
    "07": ["encoder_layer"],
    "08": ["bert_embeddings"],
    "10": ["cosine_similarity"],
    "11": ["head_entropy"],
    "13": ["cross_attention", "shift_right"],
    "14": ["label_smoothed_loss", "learning_rate"],
    "15": ["greedy_decode"],
    "09": ["mask_tokens"],
    "18": ["online_softmax_sum", "cached_step"],
    "19": [],  # its patients are the exercises
}


def solutions(name: str) -> str:
    """The solutions of a lesson, in order: a later one may use an earlier one, as it may in the lesson."""
    blocks = re.findall(r"<summary>Solution</summary>\s*```python\n(.*?)```", markdown(name), flags=re.DOTALL)
    return "\n".join(blocks)


@taught
def test_has_its_exercises_as_untouched_stubs(name):
    calls = {}
    for cell in cells(name, "code"):
        for exercise, candidate in STUB_CALL.findall(cell.source):
            calls[exercise] = "".join(output["data"]["text/plain"] for output in cell.outputs)
            assert exercise == candidate
    for exercise in EXERCISES[name[:2]]:
        assert "not attempted" in calls[exercise].lower()


@pytest.mark.parametrize("name, exercise", [(n, e) for n in NOTEBOOKS for e in EXERCISES.get(n[:2], [])])
def test_the_solution_in_the_notebook_passes(name, exercise, capsys):
    namespace = {}
    exec("import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn", namespace)
    exec(solutions(name), namespace)
    assert getattr(check, exercise)(namespace[exercise]).passed
    assert markdown(name).count("<details>") == markdown(name).count("</details>") >= 2


# --- numbers in prose --------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?!\.?\d)")
CITATION = re.compile(
    r"(?:sections?|version|versions|Python|torch|PyTorch|transformers|bertviz|JupyterLab|exercise|figure|equation|table)"
    r"\s+\d+(?:\.\d+)+",
    flags=re.IGNORECASE,
)


def numbers(text: str) -> set[Decimal]:
    return {Decimal(number) for number in NUMBER.findall(text)}


def evidence(name: str) -> set[Decimal]:
    """Every decimal number that the notebook computed or was given."""
    texts = [json.dumps(examples.published())]
    for cell in cells(name, "code"):
        texts.append(cell.source)
        for output in cell.outputs:
            texts.append(output.get("text", ""))
            for kind, data in output.get("data", {}).items():
                if kind.startswith("text/"):
                    texts.append(html.unescape(re.sub(r"<[^>]+>", " ", data)))
    return numbers("\n".join(texts)) | {Decimal(n) for n in re.findall(r"\d\.\d+e-\d+", "\n".join(texts))}


def is_traced(number: Decimal, found: set[Decimal]) -> bool:
    """Some number found, rounded to as many places as the prose gives, is this one."""
    half_a_unit = Decimal(5).scaleb(number.as_tuple().exponent - 1)
    return any(abs(other - number) <= half_a_unit for other in found)


@lessons
def test_every_decimal_number_in_the_prose_is_traced(name):
    text = CITATION.sub("", re.sub(r"https?://[^\s)>]+", "", prose(name)))
    found = evidence(name)
    untraced = sorted(number for number in numbers(text) if not is_traced(number, found))
    assert not untraced, f"neither computed in the lesson nor listed in data/published_figures.json: {untraced}"


def test_an_invented_number_would_be_found():
    assert not is_traced(Decimal("0.123"), {Decimal("0.1221"), Decimal("12.3")})
    assert is_traced(Decimal("0.12"), {Decimal("0.1221")})
    assert numbers("0.33, 3.14 and lesson 02, v1.2.3") == {Decimal("0.33"), Decimal("3.14")}


def strings(value) -> list[str]:
    return [value] if isinstance(value, str) else [each for part in value for each in strings(part)]


def test_published_figures_name_their_source():
    for key, figure in examples.published().items():
        assert set(figure) == {"value", "source", "checked"} and len(figure["source"]) > 8, key
        assert all(Decimal(value).is_finite() for value in strings(figure["value"])), f"{key}: not as it was printed"
        assert re.match(r"computed in lesson \d\d|seen also in .{8}|one source only", figure["checked"]), key
        for number in re.findall(r"computed in lesson (\d\d)", figure["checked"]):
            (name,) = [name for name in NOTEBOOKS if name.startswith(number)]
            outputs = " ".join(str(cell.outputs) for cell in cells(name, "code"))
            assert all(value in outputs for value in strings(figure["value"])), f"{key} is not printed in {name}"


ATTRIBUTION = re.compile(r"tutorial|paper|print|publish|page|text|says|et al\.|measured")


def test_a_figure_with_one_source_only_is_not_told_as_certain():
    told = 0
    once = [figure for figure in examples.published().values() if figure["checked"].startswith("one source only")]
    values = {value.lstrip("-") for figure in once for value in strings(figure["value"])}
    values = {value for value in values if len(value.replace(".", "").lstrip("0")) >= 3}  # a short one may be another
    for name in NOTEBOOKS:
        for paragraph in re.split(r"\n\s*\n", prose(name)):
            if found := values & set(NUMBER.findall(paragraph)):
                assert ATTRIBUTION.search(paragraph), f"{name}: {found} without a word on who says so: {paragraph}"
                told += 1
    assert told >= 3


def test_the_worked_examples_are_the_published_ones():
    sky = examples.sky_is_blue()
    assert sky.x[:, [0, 1, -1]].tolist() == [
        [3.23, 0.65, 4.78], [1.26, 6.35, 7.99], [9.25, 1.68, 4.26], [6.84, 2.98, 11.48]
    ]  # fmt: skip
    weights = ((sky.x @ sky.w_q) @ (sky.x @ sky.w_k).T / 8).softmax(-1)
    assert (weights - sky.published_weights).abs().max() <= 5e-9
    with pytest.raises(FileNotFoundError, match="name='nothing.json'"):
        data_path("nothing.json")
    assert torch.linalg.matrix_rank(sky.x) == 4
