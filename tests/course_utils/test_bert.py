import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from transformers import BertConfig, BertModel

from course_utils import Bert
from course_utils.bert import NAME_MAP

ACCURACY = {torch.float32: 1e-5, torch.float64: 1e-12}


def tiny(pooler=True, **config):
    sizes = {"vocab_size": 50, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
    sizes |= {"intermediate_size": 40, "max_position_embeddings": 16} | config
    model = BertModel(BertConfig(**sizes), add_pooling_layer=pooler).eval()
    for name, weight in model.named_parameters():  # no zero bias and no unit gain: each must be copied
        if "LayerNorm" in name or name.endswith("bias"):
            weight.data.normal_(1.0 if name.endswith("LayerNorm.weight") else 0.0, 0.2)
    return model


def padded_batch(vocab_size=50, batch=3, length=12):
    lengths = torch.randint(1, length + 1, (batch,))
    lengths[0] = length
    return {
        "input_ids": torch.randint(0, vocab_size, (batch, length)),
        "token_type_ids": torch.randint(0, 2, (batch, length)),
        "attention_mask": (torch.arange(length) < lengths[:, None]).long(),
    }


def assert_same_as(hf_model, inputs):
    """Our BERT with hf_model's weights gives its hidden states, weights and pooler output, on both paths."""
    ours = Bert.from_huggingface(hf_model)
    accuracy = ACCURACY[hf_model.embeddings.word_embeddings.weight.dtype]
    with torch.no_grad():
        for implementation, need_weights in (("sdpa", False), ("eager", True)):
            hf_model.set_attn_implementation(implementation)
            theirs = hf_model(**inputs, output_hidden_states=True, output_attentions=need_weights)
            out = ours(**inputs, need_weights=need_weights)
            for a, b in zip(out.hidden_states, theirs.hidden_states, strict=True):
                assert_close(a, b, atol=accuracy, rtol=0)
            assert torch.equal(out.last_hidden_state, out.hidden_states[-1])
            if theirs.pooler_output is not None:
                assert_close(out.pooler_output, theirs.pooler_output, atol=accuracy, rtol=0)
            if need_weights:
                for a, b in zip(out.attention_weights, theirs.attentions, strict=True):
                    assert_close(a, b, atol=accuracy, rtol=0)


@settings(max_examples=10)
@given(layers=st.integers(1, 4), heads=st.integers(1, 5), pooler=st.booleans(), act=st.sampled_from(["gelu", "relu"]))
def test_equals_a_huggingface_bert_of_any_size(layers, heads, pooler, act):
    config = {"num_hidden_layers": layers, "num_attention_heads": heads, "hidden_size": 8 * heads, "hidden_act": act}
    assert_same_as(tiny(pooler, **config), padded_batch())


def test_equals_a_random_bert_base(random_bert_base):
    assert_same_as(random_bert_base, padded_batch(vocab_size=30522, batch=2, length=24))


@pytest.mark.parametrize("dtype", ACCURACY)
def test_equals_a_real_pretrained_bert_padding_included(minilm, dtype):
    sentences = [
        "After stealing money from the bank vault, the bank robber was seen fishing.",
        "The sky is blue.",
        "Hi",
    ]
    inputs = minilm.tokenizer(sentences, padding=True, return_tensors="pt")
    model = BertModel(minilm.hf_model.config).eval()
    model.load_state_dict(minilm.hf_model.state_dict())
    assert_same_as(model.to(dtype), inputs)


def test_the_defaults_are_bert_base():
    with torch.device("meta"):
        assert sum(p.numel() for p in Bert(with_pooler=True).parameters()) == 109_482_240
        bert = Bert()
    assert bert.pooler is None
    assert bert.embeddings_norm.eps == bert.encoder.layers[-1].norm2.eps == 1e-12
    assert (
        bert.dropout.p == bert.encoder.layers[-1].dropout.p == bert.encoder.layers[-1].attention.weight_dropout == 0.1
    )
    assert bert.encoder.layers[-1].feed_forward.activation == "gelu"


def test_settings_come_from_the_config():
    model = tiny(layer_norm_eps=0.1, hidden_dropout_prob=0.25, attention_probs_dropout_prob=0.5, type_vocab_size=3)
    bert = Bert.from_huggingface(model)
    assert bert.dropout.p == bert.encoder.layers[0].dropout.p == 0.25
    assert [layer.attention.weight_dropout for layer in bert.encoder.layers] == [0.5, 0.5]
    assert_same_as(model, padded_batch() | {"token_type_ids": torch.randint(0, 3, (3, 12))})


SIZES = {"vocab_size": 50, "n_layers": 2, "d_model": 24, "n_heads": 3, "d_ff": 40, "max_length": 16}


def test_weights_are_dropped_like_the_rest_unless_told_otherwise():
    for options, rate in (({"dropout": 0.3}, 0.3), ({"dropout": 0.3, "attention_dropout": 0.0}, 0.0)):
        bert = Bert(**SIZES, **options)
        assert bert.dropout.p == 0.3 and {layer.attention.weight_dropout for layer in bert.encoder.layers} == {rate}


def test_in_training_mode_our_bert_drops_where_bert_does():
    """Same rates at the same places: over many runs, mean and spread of the output are Hugging Face's, and the share
    of weights that were dropped is.
    """
    torch.manual_seed(0)
    model = tiny(False, hidden_dropout_prob=0.2, attention_probs_dropout_prob=0.4, num_hidden_layers=1).train()
    ours, ids = Bert.from_huggingface(model), torch.randint(0, 50, (1, 12)).expand(6000, 12)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        out, theirs = ours(ids, need_weights=True), model(ids, output_attentions=True)
    for a, b in ((out.attention_weights[0], theirs.attentions[0]), (ours(ids).last_hidden_state, theirs[0])):
        assert_close(a.mean(dim=0), b.mean(dim=0), atol=0.06, rtol=0)
        assert_close(a.std(dim=0), b.std(dim=0), atol=0.06, rtol=0)
    for weights in (out.attention_weights[0], theirs.attentions[0]):
        assert (weights == 0).float().mean().item() == pytest.approx(0.4, abs=0.005)
        assert weights.sum(dim=-1).mean().item() == pytest.approx(1, abs=0.005)


@pytest.mark.parametrize("need_weights", [False, True])
def test_in_training_mode_gradients_reach_every_weight(need_weights):
    bert, inputs = Bert(**SIZES, dropout=0.3).train(), padded_batch()
    bert(**inputs, need_weights=need_weights).last_hidden_state.pow(3).sum().backward()
    assert all(weight.grad.any() and torch.isfinite(weight.grad).all() for weight in bert.parameters())


@pytest.mark.parametrize("need_weights", [False, True])
def test_without_dropout_training_mode_is_eval_mode(need_weights):
    bert, inputs = Bert(**SIZES, dropout=0.0), padded_batch()
    training, evaluating = (bert.train(mode)(**inputs, need_weights=need_weights) for mode in (True, False))
    assert torch.equal(training.last_hidden_state, evaluating.last_hidden_state)


def test_sizes_go_by_name():
    with pytest.raises(TypeError, match="positional argument"):
        Bert(50, 24)


def test_padding_does_not_change_real_tokens(minilm):
    alone = minilm.tokenizer(["the sky is blue"], return_tensors="pt")
    padded = minilm.tokenizer(["the sky is blue"], padding="max_length", max_length=20, return_tensors="pt")
    with torch.no_grad():
        expected = minilm.bert(**alone).last_hidden_state
        assert_close(minilm.bert(**padded).last_hidden_state[:, :6], expected, atol=1e-5, rtol=0)
        padded["input_ids"][:, 6:] = 1037  # whatever stands in the padding
        assert_close(minilm.bert(**padded).last_hidden_state[:, :6], expected, atol=1e-5, rtol=0)


def test_without_a_mask_all_tokens_are_real():
    bert, ids = Bert.from_huggingface(tiny()), padded_batch()["input_ids"]
    out = bert(ids)
    expected = bert(ids, torch.zeros_like(ids), torch.ones_like(ids))
    assert_close(out.last_hidden_state, expected.last_hidden_state, atol=1e-6, rtol=0)
    assert out.attention_weights is None


def test_a_boolean_attention_mask_means_the_same():
    bert, inputs = Bert.from_huggingface(tiny()), padded_batch()
    expected = bert(**inputs).last_hidden_state
    inputs["attention_mask"] = inputs["attention_mask"].bool()
    assert torch.equal(bert(**inputs).last_hidden_state, expected)


def test_the_copy_is_a_copy():
    model = tiny()
    bert = Bert.from_huggingface(model)
    before = bert.embeddings.word.weight.clone()
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.zero_()
    assert torch.equal(bert.embeddings.word.weight, before)
    assert not bert.training and Bert.from_huggingface(model.train()).training


def test_without_a_copy_both_models_hold_the_same_weights():
    model = tiny()
    shared, copied, inputs = Bert.from_huggingface(model, copy=False), Bert.from_huggingface(model), padded_batch()
    before = copied(**inputs).last_hidden_state
    assert torch.equal(shared(**inputs).last_hidden_state, before)
    theirs = {weight.data_ptr() for weight in model.parameters()}
    assert {weight.data_ptr() for weight in shared.parameters()} == theirs
    assert theirs.isdisjoint({weight.data_ptr() for weight in copied.parameters()})
    assert all(weight.requires_grad for weight in [*shared.parameters(), *copied.parameters()])
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.zero_()
    assert not torch.equal(shared(**inputs).last_hidden_state, before)
    assert torch.equal(copied(**inputs).last_hidden_state, before)


def test_every_name_of_ours_stands_once_in_the_table():
    ours = {name.replace("layers.1.", "layers.{n}.") for name in Bert.from_huggingface(tiny()).state_dict()}
    assert {name for name in ours if "layers.0." not in name} == set(NAME_MAP)
    assert len(set(NAME_MAP.values())) == len(NAME_MAP)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
        ({"attention_dropout": -0.1}, r"attention_dropout must lie in \[0, 1\), got -0.1"),
    ],
)
def test_bad_rates(options, message):
    with pytest.raises(ValueError, match=message):
        Bert(**SIZES, **options)


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: torch.nn.Linear(2, 2), TypeError, "hf_model must be a transformers BertModel, got Linear$"),
        (
            lambda: transformers.BertForMaskedLM(tiny().config),
            TypeError,
            "hf_model must be a transformers BertModel, got BertForMaskedLM; pass its .bert",
        ),
        (
            lambda: transformers.RobertaModel(transformers.RobertaConfig(num_hidden_layers=1)),
            TypeError,
            "got RobertaModel$",
        ),
        (lambda: tiny(is_decoder=True), ValueError, "^hf_model has is_decoder=True; expected False$"),
        (lambda: tiny(hidden_act="silu"), ValueError, r"hidden_act='silu'; expected one of \['gelu', 'relu'\]"),
    ],
)
def test_models_that_are_not_this_bert(make, error, message):
    with pytest.raises(error, match=message):
        Bert.from_huggingface(make())


def test_relative_positions_are_refused():
    model = tiny()
    model.config.position_embedding_type = "relative_key"
    with pytest.raises(ValueError, match="position_embedding_type='relative_key'; expected 'absolute'"):
        Bert.from_huggingface(model)


def test_weights_that_do_not_fit_the_table():
    model = tiny()
    model.extra = torch.nn.Linear(1, 1)
    with pytest.raises(ValueError, match="weights that NAME_MAP does not know: .*extra"):
        Bert.from_huggingface(model)
    model = tiny()
    model.encoder.layer[1].output.dense.bias = None
    with pytest.raises(ValueError, match="lacks weights that NAME_MAP expects: .*layer.1.output.dense.bias"):
        Bert.from_huggingface(model)


@pytest.mark.parametrize(
    "change, error, message",
    [
        ({"input_ids": torch.full((3, 12), 50)}, ValueError, "input_ids must lie in 0..49, got values from 50 to 50"),
        ({"input_ids": torch.ones(3, 17).long()}, ValueError, "input_ids is 17 tokens long; expected at most 16"),
        ({"token_type_ids": torch.full((3, 12), 2)}, ValueError, "token_type_ids must lie in 0..1"),
        (
            {"attention_mask": torch.ones(3, 11).long()},
            ValueError,
            r"attention_mask has shape \(3, 11\); expected \(batch, length\), here \(3, 12\)",
        ),
        (
            {"attention_mask": torch.ones(3, 12)},
            TypeError,
            "attention_mask must be a boolean or integer tensor, got torch.float32",
        ),
        (
            {"attention_mask": torch.full((3, 12), -9)},
            ValueError,
            "^attention_mask must hold only 0 .padding. and 1 .a token.$",
        ),
        ({"input_ids": torch.ones(3, 0).long()}, ValueError, r"input_ids has shape \(3, 0\); .* nothing empty"),
        ({"attention_mask": torch.ones(3, 12) + 0j}, TypeError, "boolean or integer tensor, got torch.complex64"),
        ({"attention_mask": [1]}, TypeError, "attention_mask must be a boolean or integer tensor, got list"),
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        Bert.from_huggingface(tiny())(**padded_batch() | change)
