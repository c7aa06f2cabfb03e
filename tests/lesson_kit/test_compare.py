import pytest
import torch
from transformers import BertConfig, BertModel

from course_utils import Bert
from lesson_kit import compare_hidden_states
from lesson_kit.compare import SUBSTEPS


@pytest.fixture
def sentences(minilm):
    return minilm.tokenizer(["The bank robber was seen fishing.", "Hi"], padding=True, return_tensors="pt")


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_a_real_bert_is_within_tolerance_everywhere(minilm, sentences, implementation):
    minilm.hf_model.set_attn_implementation(implementation)
    report = compare_hidden_states(minilm.bert, minilm.hf_model, sentences, substeps=True)
    assert minilm.hf_model.config._attn_implementation == implementation
    minilm.hf_model.set_attn_implementation("eager")
    assert report.first_divergence is None
    assert len(report.max_abs_diff) == 7 and max(report.max_abs_diff) <= 1e-5
    assert [row.place for row in report.substeps] == ["embeddings"] + [
        f"layer {n}: {substep}" for n in range(6) for substep in SUBSTEPS
    ]
    assert all(row.within for row in report.substeps)


BREAKS = {
    "attention.w_q.weight": "Q",
    "attention.w_k.weight": "K",
    "attention.w_v.bias": "V",
    "attention.w_o.weight": "output projection",
    "norm1.gain": "add & norm 1",
    "feed_forward.w_1.weight": "feed-forward",
    "feed_forward.w_2.bias": "feed-forward",
    "norm2.bias": "add & norm 2",
}


@pytest.mark.parametrize("layer", [0, 5])
@pytest.mark.parametrize("name, substep", BREAKS.items())
def test_one_broken_weight_is_located(minilm, sentences, layer, name, substep):
    broken = Bert.from_huggingface(minilm.hf_model)
    with torch.no_grad():
        broken.encoder.layers[layer].get_parameter(name).view(-1)[7] += 0.25
    report = compare_hidden_states(broken, minilm.hf_model, sentences)
    assert report.first_divergence == f"layer {layer}: {substep}"
    assert report.max_abs_diff[layer] <= 1e-5 < report.max_abs_diff[layer + 1]
    assert report.first_divergence in str(report) and "NO" in str(report)


def test_a_broken_scale_shows_in_the_scores(minilm, sentences, monkeypatch):
    monkeypatch.setattr("course_utils.attention.math.sqrt", lambda d_head: d_head)
    report = compare_hidden_states(Bert.from_huggingface(minilm.hf_model), minilm.hf_model, sentences)
    assert report.first_divergence == "layer 0: scores"


def test_broken_embeddings_and_nan_are_located(minilm, sentences):
    broken = Bert.from_huggingface(minilm.hf_model)
    with torch.no_grad():
        broken.embeddings.position.weight[0, 0] = float("nan")
    assert compare_hidden_states(broken, minilm.hf_model, sentences).first_divergence == "embeddings"


def test_the_report_as_text_and_as_a_table(minilm, sentences):
    report = compare_hidden_states(minilm.bert, minilm.hf_model, sentences)
    lines = str(report).splitlines()
    assert len(lines) == 1 + 7 + 1 and lines[-1] == "Every place is within 1e-05."
    html = report._repr_html_()
    assert html.count("<tr>") == 8 and html.count('scope="row"') == 7 and "<caption>" in html
    assert len(str(compare_hidden_states(minilm.bert, minilm.hf_model, sentences, substeps=True)).splitlines()) == 63


def test_float64_has_its_own_tolerance():
    model = (
        BertModel(BertConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2)).eval().double()
    )
    inputs = {"input_ids": torch.tensor([[1, 2]])}
    report = compare_hidden_states(Bert.from_huggingface(model), model, inputs)
    assert report.first_divergence is None and report.hidden_states[0].tolerance == 1e-12
    assert (
        compare_hidden_states(Bert.from_huggingface(model), model, inputs, tolerance=-1).first_divergence
        == "embeddings"
    )


def small(**config):
    sizes = {"vocab_size": 9, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    return BertModel(BertConfig(**sizes | config)).eval()


def ours(**config):
    return Bert.from_huggingface(small(**config))


GOOD = {"input_ids": torch.tensor([[1, 2]])}


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ((small(), small(), GOOD), TypeError, "bert must be a Bert, got BertModel"),
        ((ours(), ours(), GOOD), TypeError, "hf_model must be a BertModel, got Bert"),
        ((ours().train(), small(), GOOD), ValueError, r"bert is in training mode.*expected bert.eval\(\)"),
        (
            (ours(), small(), GOOD["input_ids"]),
            TypeError,
            "inputs must be what a tokenizer returns, a mapping, got Ten",
        ),
        ((ours(), small(), {}), ValueError, "expected input_ids"),
        ((ours(), small(), GOOD | {"labels": 1}), ValueError, r"inputs has \['input_ids', 'labels'\]"),
        ((ours().double(), small(), GOOD), TypeError, "bert has dtype torch.float64, but hf_model has torch.float32"),
        (
            (ours(), small(num_hidden_layers=2), GOOD),
            ValueError,
            "bert has {'n_layers': 1.*hf_model has {'n_layers': 2",
        ),
        ((ours().half(), small().half(), GOOD), ValueError, "tolerance must be given for torch.float16"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        compare_hidden_states(*arguments)
