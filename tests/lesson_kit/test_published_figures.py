"""The boxes *With bert-base-uncased*, whose weights are not here: a random model of its shape takes its place."""

import copy
import math
from pathlib import Path

import nbformat
import pytest
import torch
import yaml
from transformers import BertConfig, BertModel

from lesson_kit import data, examples, hub, load_bert, pretrained, published_figures, show
from lesson_kit.languages.english import generate
from lesson_kit.measures import relations

ROOT = Path(__file__).parents[2]
LESSONS = {name[:2]: name for name in ("08_meet_bert", "10_what_bank_means", "11_seeing_attention")}
CELLS = {
    number: [cell.source for cell in nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", 4).cells]
    for number, name in LESSONS.items()
}


@pytest.fixture(scope="session")
def lookalike(tmp_path_factory):
    """bert-base-uncased in the hub's cache, one thirtieth of its size: 12 layers and 12 heads, random weights."""
    folder = tmp_path_factory.mktemp("bert-base")
    torch.manual_seed(0)
    sizes = {"hidden_size": 48, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 96}
    BertModel(BertConfig(initializer_range=0.4, **sizes)).save_pretrained(folder)
    load_bert("all-MiniLM-L6-v2").tokenizer.save_pretrained(folder)  # its vocabulary is bert-base-uncased's
    return folder


@pytest.fixture
def base(lookalike, monkeypatch):
    monkeypatch.setattr(hub, "in_cache", lambda repository: lookalike)
    return published_figures.bert_base_or_none()


def the_cell(lesson, text):
    (cell,) = [source for source in CELLS[lesson] if text in source]
    return cell


def box(lesson, **names):
    """Runs a lesson's box; returns what it displayed."""
    shown = []
    names |= {"examples": examples, "show": show, "torch": torch, "display": shown.append}
    exec(the_cell(lesson, "base = bert_base_or_none()"), names)
    return shown


def as_printed(values, digits):
    return [[f"{value:.{digits}f}" for value in row] for row in values.tolist()]


@pytest.fixture
def figures(monkeypatch):
    """The published figures, to be changed."""
    changed = copy.deepcopy(examples.published())
    monkeypatch.setattr(examples, "published", lambda: changed)
    return changed


@pytest.fixture
def banks(base):
    """The hidden states of the three banks: (13, 3, 48)."""
    with torch.no_grad():
        states = base.bert(**base.tokenizer(examples.BANK_SENTENCE, return_tensors="pt")).hidden_states
    return torch.stack(states)[:, 0, [6, 10, 19]]


def test_the_box_of_lesson_08(banks, figures):
    with pytest.raises(AssertionError, match="bank at 6, value 0: published 0.0769, here "):
        box("08")
    figures["bank_embedding_first_six"]["value"] = as_printed(banks[0, :, :6], 4)
    with pytest.raises(AssertionError, match="bank at 6, value 0: published 0.9001, here "):
        box("08")
    figures["bank_last_layer_first_six"]["value"] = as_printed(banks[-1, :, :6], 4)
    first, last = map(str, box("08"))
    assert "hidden state 0" in first and "bank at 19, published" in first and "bank at 19, here" in last
    assert first.count(f"{banks[0, 2, 5]:.4f}") >= 2


def box_10(claim):
    names = {"torch": torch, "show": show, "cosine_similarity": torch.nn.functional.cosine_similarity, "claim": claim}
    names |= {"x": {}}
    exec(the_cell("10", "def published_cosines"), names)
    exec(the_cell("10", "def by_state"), names)
    return box("10", **names)


def test_the_box_of_lesson_10(banks):
    vault, robber, river = banks.unbind(1)
    cosine = torch.nn.functional.cosine_similarity
    found = torch.stack([cosine(robber, vault, dim=-1), cosine(robber, river, dim=-1)], dim=1)
    right = [as_printed(found[[0]], 4)[0], as_printed(found[[-1]], 2)[0]]
    table, by_state = map(str, box_10(right))
    assert "last layer, published" in table and table.count(right[1][0]) >= 2 and "state 12" in by_state
    wrong = [right[0], [f"{float(right[1][0]) + 0.01:.2f}", right[1][1]]]
    with pytest.raises(AssertionError, match="last layer, robber and vault: published"):
        box_10(wrong)


@pytest.fixture
def lesson_11(base):
    """What lesson 11 has at hand when its box runs, with fewer sentences."""
    sentences = list(generate(12, seed=2024, split="held_out"))
    names = {"torch": torch, "examples": examples, "relations": relations, "sentences": sentences, "models": {}}
    names |= {"published": examples.published(), "best": {}, "measured": {}, "head_map": None}
    names["head_entropy"] = lambda weights: -(weights * weights.clamp_min(1e-30).log()).sum(-1)
    names["texts"] = [list(sentence.words) for sentence in sentences]
    for text in ("def word_attention", "NAMES = {", "OFFSETS = ", "they, names =", "others = ["):
        exec(the_cell("11", text), names)
    return names


@pytest.mark.parametrize("most", [True, False])
def test_the_box_of_lesson_11(lesson_11, base, capsys, most):
    """With the two words that *they* looks at most in the random head, and with the two that it looks at least."""
    words, they = lesson_11["words"], lesson_11["they"]
    with torch.no_grad():
        looks = lesson_11["word_attention"](base.bert, base.tokenizer, [words])[0][0][8, 9, they]
        lesson_11["names"] = looks.topk(2, largest=most).indices.tolist()
        if not most:
            with pytest.raises(AssertionError, match="less than if all tokens got the same"):
                box("11", **lesson_11)
            return
        (table,) = map(str, box("11", **lesson_11))
    assert f"they gives {looks.topk(2).values.sum():.2f} to John and Paul" in capsys.readouterr().out
    assert "7-9" in table and "7-10" in table and "86.8" in table and "94.3" in table


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_box_without_the_model_says_so_and_goes_on(lesson, monkeypatch, capsys):
    def nothing(repository, say):
        raise ConnectionError("the Hugging Face hub did not answer")

    monkeypatch.setattr(hub, "folder_of", nothing)
    assert box(lesson) == []
    assert capsys.readouterr().out == (
        "This box needs bert-base-uncased, which is not on this machine, and the Hugging Face hub did not answer: "
        "it stays empty.\n"
    )
    monkeypatch.setenv("COURSE_BOXES", "required")
    with pytest.raises(ConnectionError, match="did not answer"):
        box(lesson)


def test_the_weekly_workflow_requires_the_boxes_of_all_three_lessons():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "bert-base.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert job["env"]["COURSE_BOXES"] == "required" and workflow["concurrency"]["cancel-in-progress"]
    assert workflow[True]["schedule"]  # YAML reads "on" as true
    run = " ".join(step.get("run", "") for step in job["steps"])
    notebooks = (ROOT / "notebooks").glob("*.ipynb")
    with_boxes = {path.name for path in notebooks if "bert_base_or_none()" in path.read_text("utf-8")}
    assert with_boxes == {f"{name}.ipynb" for name in LESSONS.values()}
    assert all(f"notebooks/{name}" in run for name in with_boxes)


@pytest.mark.parametrize(
    "value, fits", [(0.9549, True), (0.9451, True), (0.9558, True), (0.9562, False), (0.94, False), (math.nan, False)]
)
def test_a_value_fits_if_it_rounds_to_what_was_printed(value, fits):
    if fits:
        table = published_figures.beside([["0.95"]], [[value]], ["last"], ["vault"], "Cosine")
        assert table.cells[0] == ["0.95"] and table.rows == ["last, published", "last, here"]
    else:
        with pytest.raises(AssertionError, match="last, vault: published 0.95, here .*"):
            published_figures.beside([["0.95"]], [[value]], ["last"], ["vault"], "Cosine")


def test_tables_of_different_shapes_are_not_compared():
    with pytest.raises(ValueError, match=r"printed has rows of \[2\], measured of \[1\]"):
        published_figures.beside([["0.95", "0.70"]], [[0.95]], ["last"], ["vault", "river"], "Cosine")


def test_the_published_figures_have_the_digits_that_were_printed():
    figures = examples.published()
    assert figures["bank_cosine_last_river"]["value"] == "0.70"
    assert figures["clark_object"]["value"] == ["7", "9", "86.8", "40.0"]
    assert data.data_path("published_figures.json").exists() and pretrained.BERT_BASE == "bert-base-uncased"
