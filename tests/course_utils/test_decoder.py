import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close
from torch_twins import copy, layer_pairs, options, shake, stack_pairs, torch_decoder

from course_utils import Decoder, DecoderLayer, causal_mask, padding_mask, post_norm, pre_norm

SMALL = {"d_model": 8, "n_heads": 2, "d_ff": 16}
ACCURACY = {torch.float32: 1e-5, torch.float64: 1e-12}
sizes = st.integers(1, 6)


def lengths_mask(batch, length):
    """True for real tokens; each row has at least one."""
    return padding_mask(torch.randint(1, length + 1, (batch,)), length)


def decoder_and_input(batch=2, target=5, source=4, **sizes):
    """A small decoder in float64 with no zero bias and no unit gain, a target and a memory."""
    decoder = Decoder(**({"n_layers": 2} | SMALL | sizes)).double()
    shake(decoder)
    d_model = decoder.layers[0].feed_forward.w_1.in_features
    return decoder, *(torch.randn(batch, length, d_model, dtype=torch.float64) for length in (target, source))


@given(n_layers=st.integers(1, 3), n_heads=st.integers(1, 4), batch=st.integers(1, 3), target=sizes, source=sizes)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("dtype", ACCURACY)
def test_equals_torchs_decoder(dtype, norm_first, activation, n_layers, n_heads, batch, target, source):
    ours = Decoder(
        n_layers=n_layers, d_model=4 * n_heads, n_heads=n_heads, d_ff=24, activation=activation, norm_first=norm_first
    ).to(dtype)
    shake(ours)
    theirs = torch_decoder(ours)
    x, memory = (torch.randn(batch, length, 4 * n_heads, dtype=dtype) for length in (target, source))
    target_mask, source_mask = lengths_mask(batch, target), lengths_mask(batch, source)
    later = ~causal_mask(target)  # over there, True = may not attend
    for causal in (True, False):
        for masked in (True, False):
            hide = {"tgt_mask": later if causal else None}
            ours.causal, masks = causal, {}
            if masked:
                hide |= {"tgt_key_padding_mask": ~target_mask, "memory_key_padding_mask": ~source_mask}
                masks = {"target_mask": target_mask, "source_mask": source_mask}
            expected = theirs(x, memory, **hide)
            for need_weights in (False, True):
                output = ours(x, memory, need_weights=need_weights, **masks).last_hidden_state
                assert_close(output, expected, atol=ACCURACY[dtype], rtol=0)


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_layer_equals_torchs_under_any_mask(norm_first):
    ours = DecoderLayer(**SMALL, norm_first=norm_first).double()
    shake(ours)
    theirs = nn.TransformerDecoderLayer(8, 2, **options(ours))
    copy(layer_pairs(ours, theirs))
    x, memory = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 4, 8, dtype=torch.float64)
    mask, memory_mask = torch.rand(5, 5) < 0.5, torch.rand(5, 4) < 0.5
    mask[:, 0] = memory_mask[:, 0] = True  # torch's gives NaN for an empty row
    expected = theirs(x, memory, ~mask, ~memory_mask)
    for need_weights in (False, True):
        assert_close(
            ours(x, memory, target_mask=mask, source_mask=memory_mask, need_weights=need_weights)[0],
            expected,
            atol=1e-12,
            rtol=0,
        )


@pytest.mark.parametrize("norm_first", [False, True])
def test_gradients_in_training_equal_torchs(norm_first):
    ours, x, memory = decoder_and_input(3, norm_first=norm_first)
    theirs = torch_decoder(ours.train())
    target_mask, source_mask = lengths_mask(3, 5), lengths_mask(3, 4)
    weight = torch.randn_like(x)
    hide = {"tgt_mask": ~causal_mask(5), "tgt_key_padding_mask": ~target_mask, "memory_key_padding_mask": ~source_mask}
    (ours(x, memory, target_mask=target_mask, source_mask=source_mask).last_hidden_state * weight).sum().backward()
    (theirs(x, memory, **hide) * weight).sum().backward()
    pairs = list(stack_pairs(ours, theirs))
    assert len(pairs) == len(list(theirs.parameters()))
    for mine, other in pairs:
        assert_close(torch.cat([w.grad for w in mine]), other.grad, atol=1e-12, rtol=1e-9)


def test_what_a_decoder_returns():
    decoder, x, memory = decoder_and_input(n_layers=3)
    out = decoder(x, memory)
    assert len(out.hidden_states) == 4
    assert out.self_attention_weights is None and out.cross_attention_weights is None
    assert out.hidden_states[0] is x and out.hidden_states[-1] is out.last_hidden_state
    out = decoder(x, memory, need_weights=True)
    assert [tuple(weights.shape) for weights in out.self_attention_weights] == [(2, 2, 5, 5)] * 3
    assert [tuple(weights.shape) for weights in out.cross_attention_weights] == [(2, 2, 5, 4)] * 3
    one_by_one = x
    for layer, state in zip(decoder.layers, out.hidden_states[1:], strict=True):
        one_by_one = layer(one_by_one, memory, target_mask=causal_mask(5), need_weights=True)[0]
        assert torch.equal(one_by_one, state)


@given(target=st.integers(2, 6), cut=st.integers(1, 5), norm_first=st.booleans(), need_weights=st.booleans())
def test_a_token_does_not_depend_on_later_ones(target, cut, norm_first, need_weights):
    cut = min(cut, target - 1)
    decoder, x, memory = decoder_and_input(target=target, norm_first=norm_first)
    changed = x.clone()
    changed[:, cut:] += 1 + torch.rand_like(changed[:, cut:])
    before = decoder(x, memory, need_weights=need_weights).last_hidden_state
    for other in (changed, x[:, :cut]):
        after = decoder(other, memory, need_weights=need_weights).last_hidden_state[:, :cut]
        assert_close(after, before[:, :cut], atol=1e-12, rtol=0)
    decoder.causal = False
    seen, unseen = (decoder(y, memory).last_hidden_state[:, :cut] for y in (x, changed))
    assert (seen - unseen).abs().max() > 1e-3


@given(batch=st.integers(1, 3), target=sizes, source=sizes)
def test_weights_sum_to_1_and_respect_the_masks(batch, target, source):
    decoder, x, memory = decoder_and_input(batch, target, source)
    target_mask, source_mask = lengths_mask(batch, target), lengths_mask(batch, source)
    out = decoder(x, memory, target_mask=target_mask, source_mask=source_mask, need_weights=True)
    for weights in (*out.self_attention_weights, *out.cross_attention_weights):
        assert_close(weights.sum(-1), torch.ones(batch, 2, target, dtype=torch.float64))
    for weights in out.self_attention_weights:
        assert not weights.triu(1).any()
        assert not weights.masked_select(~target_mask[:, None, None]).any()
        assert (weights.diagonal(dim1=-2, dim2=-1).masked_select(target_mask[:, None]) > 0).all()
    for weights in out.cross_attention_weights:
        assert not weights.masked_select(~source_mask[:, None, None]).any()


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_source_of_padding_only_and_a_target_that_starts_with_padding_give_no_nan(need_weights):
    decoder, x, memory = decoder_and_input()
    x.requires_grad_()
    memory.requires_grad_()
    target_mask, source_mask = torch.ones(2, 5).bool(), torch.ones(2, 4).bool()
    source_mask[0], target_mask[1, :2] = False, False
    out = decoder(x, memory, target_mask=target_mask, source_mask=source_mask, need_weights=need_weights)
    out.last_hidden_state.sum().backward()
    assert all(torch.isfinite(tensor).all() for tensor in (out.last_hidden_state, x.grad, memory.grad))
    assert not memory.grad[0].any() and memory.grad[1].any()
    if need_weights:
        assert not out.cross_attention_weights[0][0].any()


def test_dropout_acts_on_each_of_the_three_sublayers_and_only_in_training():
    layer = DecoderLayer(**SMALL, dropout=0.5)
    x, memory = torch.randn(1, 4, 8), torch.randn(1, 3, 8)
    dropped, outputs = [], []
    layer.dropout.register_forward_hook(lambda module, arguments, output: dropped.append(arguments[0]))
    for sublayer in (layer.self_attention, layer.cross_attention):
        sublayer.register_forward_hook(lambda module, arguments, output: outputs.append(output[0]))
    layer.feed_forward.register_forward_hook(lambda module, arguments, output: outputs.append(output))
    first = layer(x, memory)[0]
    assert len(dropped) == 3 and all(a is b for a, b in zip(dropped, outputs, strict=True))
    assert not torch.equal(first, layer(x, memory)[0])
    layer.eval()
    assert torch.equal(layer(x, memory)[0], layer(x, memory)[0])


@pytest.mark.parametrize("need_weights", [False, True])
def test_an_empty_memory_is_one_that_nobody_may_attend_to(need_weights):
    decoder, x, memory = decoder_and_input()
    expected = decoder(x, memory, source_mask=torch.zeros(2, 4).bool(), need_weights=need_weights).last_hidden_state
    assert_close(decoder(x, memory[:, :0], need_weights=need_weights).last_hidden_state, expected)


def test_the_wiring_is_an_attribute():
    decoder, x, memory = decoder_and_input()
    for layer in decoder.layers:
        layer.add_and_norm = lambda x, sublayer, norm: x  # no sublayer at all
    assert torch.equal(decoder(x, memory).last_hidden_state, x)


def norms(layer):
    return layer.norm1, layer.norm2, layer.norm3


def test_the_defaults_are_the_papers():
    for layer in (DecoderLayer(**SMALL), *Decoder(n_layers=2, **SMALL).layers):
        assert [norm.eps for norm in norms(layer)] == [1e-5] * 3 and layer.dropout.p == 0
        assert layer.feed_forward.activation == "relu" and layer.add_and_norm is post_norm
    assert isinstance(Decoder(n_layers=2, **SMALL).final_norm, nn.Identity)
    assert DecoderLayer(**SMALL)(torch.randn(1, 3, 8), torch.randn(1, 2, 8))[1:] == (None, None)


def test_every_layer_gets_the_settings():
    decoder = Decoder(n_layers=2, **SMALL, dropout=0.3, activation="gelu", norm_first=True, eps=0.1)
    for layer in decoder.layers:
        assert [norm.eps for norm in norms(layer)] == [0.1] * 3 and layer.dropout.p == 0.3
        assert layer.feed_forward.activation == "gelu" and layer.add_and_norm is pre_norm
    assert decoder.final_norm.eps == 0.1


def test_the_causal_mask_lies_where_the_target_does_whatever_the_default_device():
    decoder, x, memory = decoder_and_input()
    expected = decoder(x, memory).last_hidden_state
    with torch.device("meta"):
        assert torch.equal(decoder(x, memory).last_hidden_state, expected)


@pytest.mark.parametrize("norm_first", [False, True])
def test_gradients(norm_first):
    decoder, x, memory = decoder_and_input(1, 3, 2, d_model=4, d_ff=6, activation="gelu", norm_first=norm_first)
    x.requires_grad_()
    memory.requires_grad_()
    assert torch.autograd.gradcheck(lambda x, memory: decoder(x, memory).last_hidden_state, (x, memory))


X = torch.ones(2, 5, 8)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: Decoder(n_layers=0, **SMALL), ValueError, "n_layers must be at least 1, got 0"),
        (
            lambda: Decoder(n_layers=1, d_model=8, n_heads=3, d_ff=16),
            ValueError,
            "multiple of n_heads, got d_model=8 and n_heads=3",
        ),
        (lambda: DecoderLayer(**SMALL, dropout=1.5), ValueError, r"dropout must lie in \[0, 1\), got 1.5"),
        (lambda: DecoderLayer(**SMALL, activation="swish"), ValueError, "activation must be one of"),
        (lambda: Decoder(n_layers=1, **SMALL)(X[0], X), ValueError, r"x has shape \(5, 8\); expected \(batch"),
        (
            lambda: Decoder(n_layers=1, **SMALL)(X, X[..., :6]),
            ValueError,
            r"memory has shape \(2, 5, 6\); .* d_model=8",
        ),
        (lambda: Decoder(n_layers=1, **SMALL)(X.double(), X.double()), TypeError, "w_q has dtype torch.float32, but x"),
        (lambda: Decoder(2, 8, 2, 16), TypeError, "positional argument"),
        (lambda: DecoderLayer(8, 2, 16), TypeError, "positional argument"),
        (lambda: Decoder(n_layers=1, **SMALL)(X, X, causal_mask(5)), TypeError, "positional argument"),
        (
            lambda: Decoder(n_layers=1, **SMALL)(X, X[:1]),
            ValueError,
            "memory has a batch of 1, x one of 2; expected the same",
        ),
        (lambda: Decoder(n_layers=1, **SMALL)(X, X.double()), TypeError, "memory has dtype torch.float64, but x has"),
        (lambda: Decoder(n_layers=1, **SMALL)(X, None), TypeError, "memory must be a torch.Tensor, got NoneType"),
        (
            lambda: Decoder(n_layers=1, **SMALL)(X, X, target_mask=causal_mask(5)),
            ValueError,
            r"target_mask has shape \(5, 5\); expected \(batch, length\), here \(2, 5\)",
        ),
        (
            lambda: Decoder(n_layers=1, **SMALL)(X, X, target_mask=[[True] * 5] * 2),
            TypeError,
            r"target_mask must be a boolean tensor \(True = a real token\), got list",
        ),
        (
            lambda: Decoder(n_layers=1, **SMALL)(X, X, source_mask=torch.ones(2, 5)),
            TypeError,
            r"source_mask must be a boolean tensor \(True = a real token\), got torch.float32",
        ),
        (
            lambda: Decoder(n_layers=1, **SMALL)(X, X, source_mask=torch.ones(2, 4).bool()),
            ValueError,
            r"source_mask has shape \(2, 4\); expected \(batch, length\), here \(2, 5\)",
        ),
        (
            lambda: DecoderLayer(**SMALL)(X, X, target_mask=torch.ones(5, 4).bool()),
            ValueError,
            r"mask has shape \(5, 4\)",
        ),
        (lambda: DecoderLayer(**SMALL)(X, X[..., :6]), ValueError, r"key has shape \(2, 5, 6\)"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
