import pytest
import torch
from torch.testing import assert_close
from transformers import BertConfig, BertModel

from course_utils import Bert, MaskedLanguageModel, draw_weights, mask_tokens
from course_utils.masked_lm import NOT_ASKED
from lesson_kit.training.huggingface import to_huggingface


def random_masked_lm(**sizes):
    sizes = {"vocab_size": 40, "d_model": 12, "n_layers": 2, "n_heads": 3, "d_ff": 20, "max_length": 16} | sizes
    model = MaskedLanguageModel(Bert(**sizes)).eval()
    for name, weight in model.named_parameters():  # no zero bias and no unit gain: each must be copied
        if name.endswith(("gain", "bias")):
            weight.data.normal_(1.0 if name.endswith("gain") else 0.0, 0.2)
    return model


# Masking


@pytest.mark.parametrize("asked_for, expected", [({}, 0.15), ({"share": 0.25}, 0.25)])
def test_masking_takes_its_share_and_80_10_10_of_it(asked_for, expected):
    ids = torch.randint(5, 1000, (400, 50))
    special = torch.zeros_like(ids, dtype=torch.bool)
    special[:, 0] = True
    before = ids.clone()
    inputs, labels = mask_tokens(
        ids, special, mask_id=4, vocab_size=1000, generator=torch.Generator().manual_seed(0), **asked_for
    )
    asked = labels != NOT_ASKED
    assert torch.equal(ids, before) and not asked[:, 0].any()
    assert torch.equal(labels[asked], ids[asked]) and torch.equal(inputs[~asked], ids[~asked])
    assert abs(asked[:, 1:].float().mean() - expected) < 0.01
    kept, masked = inputs[asked] == ids[asked], inputs[asked] == 4
    assert abs(masked.float().mean() - 0.8) < 0.03 and abs(kept.float().mean() - 0.1) < 0.03


def test_masking_repeats_with_its_generator():
    ids, special = torch.randint(5, 50, (8, 20)), torch.zeros(8, 20, dtype=torch.bool)
    first, second = (
        mask_tokens(ids, special, mask_id=4, vocab_size=50, generator=torch.Generator().manual_seed(7))
        for _ in range(2)
    )
    assert torch.equal(first[0], second[0]) and torch.equal(first[1], second[1])


def test_masking_stays_on_the_device_of_the_ids():
    ids = torch.ones(2, 3, dtype=torch.long, device="meta")  # a device that every machine has
    inputs, labels = mask_tokens(ids, ids < 0, mask_id=4, vocab_size=50, generator=torch.Generator())
    assert inputs.is_meta and labels.is_meta


def test_masking_says_what_it_wants():
    with pytest.raises(TypeError, match="special must be a boolean tensor, got torch.int64"):
        mask_tokens(torch.ones(2, 3).long(), torch.ones(2, 3).long(), mask_id=4, vocab_size=50)
    with pytest.raises(ValueError, match=r"special has shape \(3,\); expected that of ids, \(2, 3\)"):
        mask_tokens(torch.ones(2, 3).long(), torch.ones(3).bool(), mask_id=4, vocab_size=50)
    for share in (0, 1.5, 15):
        with pytest.raises(ValueError, match=rf"^share must lie in \(0, 1\], got {share}$"):
            mask_tokens(torch.ones(2, 3).long(), torch.ones(2, 3).bool(), mask_id=4, vocab_size=50, share=share)


def test_all_may_be_asked_any_word_may_stand_in_and_the_dtype_stays():
    ids = torch.full((300, 100), 5, dtype=torch.int32)
    inputs, labels = mask_tokens(ids, ids < 0, mask_id=4, vocab_size=8, share=1)
    assert torch.equal(labels, ids) and inputs.dtype == torch.int32
    assert inputs.unique().tolist() == [*range(8)]  # the vocabulary's first word and its last too


# The model


@pytest.mark.parametrize("sizes", [{}, {"activation": "relu", "n_layers": 1}, {"d_model": 32, "n_heads": 1}])
def test_equals_huggingfaces_bert_for_masked_lm(sizes):
    model = random_masked_lm(**sizes)
    hf_model = to_huggingface(model)
    ids = torch.randint(0, 40, (3, 10))
    mask = (torch.arange(10) < torch.tensor([10, 4, 7])[:, None]).long()
    with torch.no_grad():
        theirs = hf_model(ids, attention_mask=mask, output_hidden_states=True)
        ours = model.bert(ids, attention_mask=mask)
        assert_close(model(ids, mask), theirs.logits, atol=1e-5, rtol=0)
    for a, b in zip(ours.hidden_states, theirs.hidden_states, strict=True):
        assert_close(a, b, atol=1e-5, rtol=0)


def test_there_and_back():
    model = random_masked_lm()
    again = MaskedLanguageModel.from_huggingface(to_huggingface(model))
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name]), name
    with pytest.raises(TypeError, match="must be a transformers BertForMaskedLM, got BertModel"):
        MaskedLanguageModel.from_huggingface(
            BertModel(BertConfig(vocab_size=9, hidden_size=12, num_hidden_layers=1, intermediate_size=4))
        )


def test_the_bert_it_is_given_keeps_its_weights():
    bert = random_masked_lm().bert
    before = {name: weight.clone() for name, weight in bert.state_dict().items()}
    model = MaskedLanguageModel(bert)
    assert model.bert is bert
    for name, weight in bert.state_dict().items():
        assert torch.equal(weight, before[name]), name


def test_new_weights_are_drawn_as_berts():
    model = random_masked_lm(vocab_size=400, d_model=96, d_ff=200)
    assert draw_weights(model) is model
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            assert weight.mean().abs().item() < 2e-3 and weight.std().item() == pytest.approx(0.02, rel=0.1), name
        else:
            assert (weight == (1 if name.endswith("gain") else 0)).all(), name


def test_a_copy_has_the_dtype_the_mode_and_the_rates_of_the_original():
    hf_model = to_huggingface(random_masked_lm(dropout=0.3, attention_dropout=0.4)).double().train()
    model = MaskedLanguageModel.from_huggingface(hf_model)
    assert model.training and model.bias.dtype == model.dense.weight.dtype == torch.float64
    assert model.bert.dropout.p == 0.3 and model.bert.encoder.layers[1].attention.weight_dropout == 0.4
    assert not MaskedLanguageModel.from_huggingface(hf_model.eval()).training


def test_the_loss_is_huggingfaces():
    model = random_masked_lm()
    ids = torch.randint(0, 40, (3, 10))
    mask = (torch.arange(10) < torch.tensor([10, 4, 7])[:, None]).long()
    labels = torch.full_like(ids, NOT_ASKED)
    guess = model(ids, mask).argmax(-1)
    labels[0, :3], labels[1, 2] = guess[0, :3], guess[1, 2]  # four of the five asked words are guessed right,
    labels[2, 1] = (guess[2, 1] + 1) % 40  # and one is not
    loss, accuracy = model.loss(ids, mask, labels)
    assert_close(loss, to_huggingface(model)(ids, attention_mask=mask, labels=labels).loss, atol=1e-5, rtol=0)
    assert accuracy.item() == pytest.approx(0.8)
    assert not torch.isclose(loss, model.loss(ids, None, labels)[0])  # the padding would be seen


def test_the_loss_of_one_word_is_its_own():
    model, ids = random_masked_lm(), torch.randint(0, 40, (1, 4))
    labels = torch.tensor([[NOT_ASKED, 7, NOT_ASKED, NOT_ASKED]])
    assert_close(model.loss(ids, None, labels)[0], -model(ids)[0, 1].log_softmax(-1)[7], atol=1e-6, rtol=0)


@pytest.mark.parametrize("model", [torch.nn.Linear(2, 2), "bert"])
def test_a_copy_of_something_else(model):
    with pytest.raises(TypeError, match=f"hf_model must be a transformers BertForMaskedLM, got {type(model).__name__}"):
        MaskedLanguageModel.from_huggingface(model)


def test_a_head_alone_is_no_masked_language_model():
    hf_model = to_huggingface(random_masked_lm())
    hf_model.cls = None
    with pytest.raises(TypeError, match="hf_model must be a transformers BertForMaskedLM"):
        MaskedLanguageModel.from_huggingface(hf_model)


def test_the_loss_of_nothing_is_0_and_changes_nothing():
    model, ids = random_masked_lm(), torch.randint(0, 40, (3, 10))
    loss, accuracy = model.loss(ids, None, torch.full_like(ids, NOT_ASKED))
    assert loss == 0 and accuracy == 0
    loss.backward()
    assert not any(weight.grad.any() for weight in model.parameters() if weight.grad is not None)


@pytest.mark.parametrize(
    "labels, error, message",
    [
        (torch.ones(3, 9).long(), ValueError, r"labels has shape \(3, 9\); expected that of input_ids, \(3, 10\)"),
        (torch.ones(3, 10), TypeError, "labels must be an int64 tensor, got torch.float32"),
    ],
)
def test_bad_labels(labels, error, message):
    with pytest.raises(error, match=message):
        random_masked_lm().loss(torch.ones(3, 10).long(), None, labels)
