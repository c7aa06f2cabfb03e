import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from course_utils import (
    Bert,
    Encoder,
    MultiHeadAttention,
    attend_within,
    block_diagonal_mask,
    encode_packed,
    pack,
    padding_mask,
    unpack,
)

SMALL = {"d_model": 8, "n_heads": 2, "d_ff": 16}
lengths_of_rows = st.lists(st.integers(0, 7), min_size=1, max_size=5).filter(any)


def tiny_bert(**changes):
    return Bert(
        **{"vocab_size": 50, "d_model": 24, "n_layers": 3, "n_heads": 3, "d_ff": 40, "max_length": 16} | changes
    )


def ragged(lengths, *features):
    """A padded batch with garbage in the padding, and which of its tokens are real."""
    real = padding_mask(torch.tensor(lengths), max(lengths))
    return torch.randn(*real.shape, *features).masked_fill(~real[(...,) + (None,) * len(features)], 100.0), real


@given(lengths=lengths_of_rows, features=st.lists(st.integers(1, 3), max_size=2))
def test_pack_puts_the_sentences_end_to_end_and_unpack_brings_them_back(lengths, features):
    x, real = ragged(lengths, *features)
    packed, counted = pack(x, real)
    assert counted == lengths and packed.shape == (1, sum(lengths), *features)
    assert torch.equal(packed[0], torch.cat([row[:length] for row, length in zip(x, lengths, strict=True)]))
    back = unpack(packed, real)
    assert torch.equal(back[real], x[real]) and not back[~real].any()


def test_padding_may_stand_anywhere():
    x, real = torch.arange(8.0).view(2, 4), torch.tensor([[False, True, False, True], [True, True, True, False]])
    packed, lengths = pack(x, real)
    assert packed.tolist() == [[1.0, 3.0, 4.0, 5.0, 6.0]] and lengths == [2, 3]
    assert unpack(packed, real).tolist() == [[0.0, 1.0, 0.0, 3.0], [4.0, 5.0, 6.0, 0.0]]


def test_block_diagonal_mask():
    mask = block_diagonal_mask([2, 0, 1])
    assert mask.tolist() == [[True, True, False], [True, True, False], [False, False, True]]
    assert block_diagonal_mask([3]).all()


@given(lengths=lengths_of_rows, n_heads=st.integers(1, 3))
def test_attention_within_sentences_is_attention_under_the_block_diagonal_mask(lengths, n_heads):
    attention = MultiHeadAttention(4 * n_heads, n_heads).double()
    x = torch.randn(1, sum(lengths), 4 * n_heads, dtype=torch.float64)
    expected = attention(x, x, x, block_diagonal_mask(lengths))[0]
    assert_close(attend_within(attention, x, lengths), expected, atol=1e-14, rtol=0)


@given(lengths=lengths_of_rows)
@pytest.mark.parametrize("norm_first", [False, True])
def test_a_packed_encoder_gives_the_padded_hidden_states(norm_first, lengths):
    encoder = Encoder(n_layers=3, **SMALL, norm_first=norm_first).eval()
    x, real = ragged(lengths, 8)
    padded = encoder(x, real)
    packed = encode_packed(encoder, *pack(x, real))
    assert packed.attention_weights is None and len(packed.hidden_states) == 4
    for ours, theirs in zip(packed.hidden_states, padded.hidden_states, strict=True):
        assert_close(ours[0], theirs[real], atol=1e-5, rtol=0)


@given(lengths=lengths_of_rows)
def test_a_sentence_does_not_see_its_neighbours(lengths):
    encoder = Encoder(n_layers=2, **SMALL).double()
    x, real = ragged(lengths, 8)
    together = unpack(encode_packed(encoder, *pack(x.double(), real)).last_hidden_state, real)
    for row, output, length in zip(x.double(), together, lengths, strict=True):
        if length:
            alone = encoder(row[None, :length]).last_hidden_state[0]
            assert_close(output[:length], alone, atol=1e-12, rtol=0)


def run_packed(bert, input_ids, token_type_ids=None, attention_mask=None):
    """BERT without time spent on padding: its embeddings, then its encoder on one packed row."""
    x = bert.embed(input_ids, token_type_ids)
    return encode_packed(bert.encoder, *pack(x, attention_mask.bool()))


def bert_input(lengths):
    length = max(lengths)
    ids, segments = torch.randint(0, 50, (len(lengths), length)), torch.randint(0, 2, (len(lengths), length))
    return {"input_ids": ids, "token_type_ids": segments, "attention_mask": padding_mask(torch.tensor(lengths), length)}


@given(lengths=st.lists(st.integers(1, 16), min_size=1, max_size=5))
def test_a_packed_bert_gives_the_padded_hidden_states(lengths):
    bert, inputs = tiny_bert().eval(), bert_input(lengths)
    padded, packed = bert(**inputs), run_packed(bert, **inputs)
    for ours, theirs in zip(packed.hidden_states, padded.hidden_states, strict=True):
        assert_close(ours, pack(theirs, inputs["attention_mask"])[0], atol=1e-5, rtol=0)
    assert torch.equal(packed.last_hidden_state, packed.hidden_states[-1])


def test_padding_on_the_left_keeps_its_positions():
    bert, inputs = tiny_bert().eval(), bert_input([5, 8, 1])
    real = inputs["attention_mask"].flip(1)
    padded = bert(inputs["input_ids"], attention_mask=real)
    packed = run_packed(bert, inputs["input_ids"], attention_mask=real)
    assert_close(packed.last_hidden_state[0], padded.last_hidden_state[real], atol=1e-5, rtol=0)


def test_a_row_without_tokens_is_left_out():
    bert, inputs = tiny_bert().eval(), bert_input([3, 0, 2])
    real = inputs["attention_mask"]
    padded, packed = bert(**inputs), run_packed(bert, **inputs)
    assert_close(packed.last_hidden_state[0], padded.last_hidden_state[real], atol=1e-5, rtol=0)


def test_a_packed_bert_learns_the_same():
    bert, inputs = tiny_bert(dropout=0.0).double().train(), bert_input([5, 2, 7])
    real, gradients = inputs["attention_mask"], []
    for packed in (False, True):
        bert.zero_grad()
        out = (run_packed if packed else Bert.__call__)(bert, **inputs).last_hidden_state
        (out if packed else out[real]).pow(3).sum().backward()
        gradients.append([weight.grad.clone() for weight in bert.parameters()])
    assert_close(*gradients, atol=1e-10, rtol=1e-10)
    assert all(grad.any() for grad in gradients[1] if grad.dim() == 2)


def test_dropout_falls_on_the_same_places_packed_or_not():
    encoder, x = Encoder(n_layers=2, **SMALL, dropout=0.5), torch.randn(1, 6, 8)
    outputs = []
    for encode in (encoder, lambda x: encode_packed(encoder, x, [6])):
        torch.manual_seed(1)
        outputs.append(encode(x).last_hidden_state)
    assert_close(*outputs, atol=1e-6, rtol=0)


def test_attention_weights_are_dropped_in_training_only():
    attention, x = MultiHeadAttention(8, 2).double(), torch.randn(1, 5, 8, dtype=torch.float64)
    expected = attend_within(attention, x, [2, 3])
    attention.weight_dropout = 0.5
    assert not torch.equal(attend_within(attention, x, [2, 3]), attend_within(attention, x, [2, 3]))
    mean = torch.stack([attend_within(attention, x, [2, 3]) for _ in range(4000)]).mean(dim=0)
    assert_close(mean, expected, atol=0.05, rtol=0)
    assert torch.equal(attend_within(attention.eval(), x, [2, 3]), expected)


def test_dropout_acts_in_training_only():
    bert, inputs = tiny_bert(dropout=0.5), bert_input([5, 2, 7])
    first, second = (run_packed(bert, **inputs).last_hidden_state for _ in range(2))
    assert not torch.equal(first, second)
    bert.eval()
    first, second = (run_packed(bert, **inputs).last_hidden_state for _ in range(2))
    assert torch.equal(first, second)


def test_a_real_bert(minilm):
    sentences = ["The sky is blue.", "After stealing money from the bank vault, the bank robber was seen.", "Hi", "why"]
    inputs = minilm.tokenizer(sentences, padding=True, return_tensors="pt")
    real = inputs["attention_mask"].bool()
    with torch.no_grad():
        theirs = minilm.hf_model(**inputs, output_hidden_states=True)
        ours = run_packed(minilm.bert, **inputs)
    for a, b in zip(ours.hidden_states, theirs.hidden_states, strict=True):
        assert_close(a[0], b[real], atol=1e-5, rtol=0)


X, REAL = torch.randn(2, 3, 8), torch.tensor([[True, True, False], [True, True, True]])
ROW = torch.randn(1, 5, 8)
ENCODER = Encoder(n_layers=1, **SMALL)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: pack([1], REAL), TypeError, "x must be a torch.Tensor, got list"),
        (lambda: pack(X[0, 0], REAL), ValueError, r"x has shape \(8,\); expected \(batch, length, ...\)"),
        (
            lambda: pack(X, REAL.long()),
            TypeError,
            "real must be a boolean tensor .True = a real token., got torch.int64",
        ),
        (lambda: pack(X, REAL[:1]), ValueError, r"real has shape \(1, 3\); expected \(batch, length\), here \(2, 3\)"),
        (lambda: unpack([1], REAL), TypeError, "packed must be a torch.Tensor, got list"),
        (lambda: unpack(X, REAL), ValueError, r"packed has shape \(2, 3, 8\); expected one row, \(1, tokens, ...\)"),
        (lambda: unpack(ROW, [[True]]), TypeError, "real must be a boolean tensor .True = a real token., got list"),
        (lambda: unpack(ROW, ~REAL), ValueError, r"real has shape \(2, 3\) and marks 1 tokens; expected .* and 5, as"),
        (lambda: unpack(ROW, torch.ones(5).bool()), ValueError, r"real has shape \(5,\) and marks 5 tokens; expected"),
        (lambda: block_diagonal_mask([2, -1]), ValueError, r"lengths must be at least 0, and not all 0, got \[2, -1\]"),
        (lambda: block_diagonal_mask([]), ValueError, r"lengths must be at least 0, and not all 0, got \[\]"),
        (lambda: block_diagonal_mask([0, 0]), ValueError, r"not all 0, got \[0, 0\]"),
        (lambda: block_diagonal_mask(5), TypeError, "lengths must be a list of ints, got 5"),
        (lambda: block_diagonal_mask([2.0]), TypeError, r"lengths must be a list of ints, got \[2.0\]"),
        (lambda: encode_packed(ENCODER, ROW, [2, 2]), ValueError, "lengths add up to 4, but x holds 5 tokens"),
        (lambda: encode_packed(ENCODER, ROW, [6, -1]), ValueError, "lengths must be at least 0"),
        (
            lambda: encode_packed(ENCODER, ROW, torch.tensor([2, 3])),
            TypeError,
            "lengths must be a list of ints, got tensor",
        ),
        (
            lambda: encode_packed(ENCODER, X, [3, 3]),
            ValueError,
            r"x has shape \(2, 3, 8\); expected one packed row, \(1, tokens, 8\)",
        ),
        (lambda: encode_packed(ENCODER, ROW[..., :4], [5]), ValueError, "x has shape .* d_model=8"),
        (
            lambda: encode_packed(ENCODER, ROW.double(), [5]),
            TypeError,
            "w_q has dtype torch.float32, but x has torch.float64",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_the_mask_lies_where_it_is_asked_for_whatever_the_default_device():
    with torch.device("meta"):
        mask = block_diagonal_mask([2, 1], device="cpu")
    assert mask.device.type == "cpu" and mask.sum() == 5
