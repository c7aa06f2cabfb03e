import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close
from torch_twins import copy, layer_pairs, options, shake, stack_pairs, torch_decoder

from course_utils import Decoder, DecoderLayer, KeyValueCache, causal_mask, padding_mask

ACCURACY = {torch.float32: 1e-5, torch.float64: 1e-12}
sizes = st.integers(1, 6)


def lengths_mask(batch, length):
    """True for real tokens; each row has at least one."""
    return padding_mask(torch.randint(1, length + 1, (batch,)), length)


def decoder_and_input(batch=2, target=5, source=4, **sizes):
    """A small decoder in float64 with no zero bias and no unit gain, a target and a memory."""
    decoder = Decoder(**({"n_layers": 2, "d_model": 8, "n_heads": 2, "d_ff": 16} | sizes)).double()
    shake(decoder)
    x = torch.randn(batch, target, decoder.d_model, dtype=torch.float64)
    return decoder, x, torch.randn(batch, source, decoder.d_model, dtype=torch.float64)


@given(n_layers=st.integers(1, 3), n_heads=st.integers(1, 4), batch=st.integers(1, 3), target=sizes, source=sizes)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("dtype", ACCURACY)
def test_equals_torchs_decoder(dtype, norm_first, activation, n_layers, n_heads, batch, target, source):
    ours = Decoder(n_layers, 4 * n_heads, n_heads, 24, activation=activation, norm_first=norm_first).to(dtype)
    shake(ours)
    theirs = torch_decoder(ours)
    x, memory = (torch.randn(batch, length, 4 * n_heads, dtype=dtype) for length in (target, source))
    target_mask, memory_mask = lengths_mask(batch, target), lengths_mask(batch, source)
    later = ~causal_mask(target)  # over there, True = may not attend
    for causal in (True, False):
        for masked in (True, False):
            hide = {"tgt_mask": later if causal else None}
            masks = {"causal": causal}
            if masked:
                hide |= {"tgt_key_padding_mask": ~target_mask, "memory_key_padding_mask": ~memory_mask}
                masks |= {"target_mask": target_mask, "memory_mask": memory_mask}
            expected = theirs(x, memory, **hide)
            for need_weights in (False, True):
                output = ours(x, memory, need_weights=need_weights, **masks).last_hidden_state
                assert_close(output, expected, atol=ACCURACY[dtype], rtol=0)


@pytest.mark.parametrize("norm_first", [False, True])
def test_a_layer_equals_torchs_under_any_mask(norm_first):
    ours = DecoderLayer(8, 2, 16, norm_first=norm_first).double()
    shake(ours)
    theirs = nn.TransformerDecoderLayer(8, 2, **options(ours))
    copy(layer_pairs(ours, theirs))
    x, memory = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 4, 8, dtype=torch.float64)
    mask, memory_mask = torch.rand(5, 5) < 0.5, torch.rand(5, 4) < 0.5
    mask[:, 0] = memory_mask[:, 0] = True  # torch's gives NaN for an empty row
    expected = theirs(x, memory, ~mask, ~memory_mask)
    for need_weights in (False, True):
        assert_close(ours(x, memory, mask, memory_mask, need_weights)[0], expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("norm_first", [False, True])
def test_gradients_in_training_equal_torchs(norm_first):
    ours, x, memory = decoder_and_input(3, norm_first=norm_first)
    theirs = torch_decoder(ours.train())
    target_mask, memory_mask = lengths_mask(3, 5), lengths_mask(3, 4)
    weight = torch.randn_like(x)
    hide = {"tgt_mask": ~causal_mask(5), "tgt_key_padding_mask": ~target_mask, "memory_key_padding_mask": ~memory_mask}
    (ours(x, memory, target_mask, memory_mask).last_hidden_state * weight).sum().backward()
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
        one_by_one = layer(one_by_one, memory, causal_mask(5), need_weights=True)[0]
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
    seen, unseen = (decoder(y, memory, causal=False).last_hidden_state[:, :cut] for y in (x, changed))
    assert (seen - unseen).abs().max() > 1e-3


@given(batch=st.integers(1, 3), target=sizes, source=sizes)
def test_weights_sum_to_1_and_respect_the_masks(batch, target, source):
    decoder, x, memory = decoder_and_input(batch, target, source)
    target_mask, memory_mask = lengths_mask(batch, target), lengths_mask(batch, source)
    out = decoder(x, memory, target_mask, memory_mask, need_weights=True)
    for weights in (*out.self_attention_weights, *out.cross_attention_weights):
        assert_close(weights.sum(-1), torch.ones(batch, 2, target, dtype=torch.float64))
    for weights in out.self_attention_weights:
        assert not weights.triu(1).any()
        assert not weights.masked_select(~target_mask[:, None, None]).any()
        assert (weights.diagonal(dim1=-2, dim2=-1).masked_select(target_mask[:, None]) > 0).all()
    for weights in out.cross_attention_weights:
        assert not weights.masked_select(~memory_mask[:, None, None]).any()


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_source_of_padding_only_and_a_target_that_starts_with_padding_give_no_nan(need_weights):
    decoder, x, memory = decoder_and_input()
    x.requires_grad_()
    memory.requires_grad_()
    target_mask, memory_mask = torch.ones(2, 5).bool(), torch.ones(2, 4).bool()
    memory_mask[0], target_mask[1, :2] = False, False
    out = decoder(x, memory, target_mask, memory_mask, need_weights)
    out.last_hidden_state.sum().backward()
    assert all(torch.isfinite(tensor).all() for tensor in (out.last_hidden_state, x.grad, memory.grad))
    assert not memory.grad[0].any() and memory.grad[1].any()
    if need_weights:
        assert not out.cross_attention_weights[0][0].any()


def test_dropout_acts_on_each_of_the_three_sublayers_and_only_in_training():
    layer = DecoderLayer(8, 2, 16, dropout=0.5)
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


def norms(layer):
    return layer.norm1, layer.norm2, layer.norm3


def test_the_defaults_are_the_papers():
    for layer in (DecoderLayer(8, 2, 16), *Decoder(2, 8, 2, 16).layers):
        assert [norm.eps for norm in norms(layer)] == [1e-5] * 3 and layer.dropout.p == 0
        assert layer.feed_forward.activation == "relu" and not layer.norm_first
    assert isinstance(Decoder(2, 8, 2, 16).final_norm, nn.Identity)
    assert DecoderLayer(8, 2, 16)(torch.randn(1, 3, 8), torch.randn(1, 2, 8))[1:] == (None, None)


def test_every_layer_gets_the_settings():
    decoder = Decoder(2, 8, 2, 16, dropout=0.3, activation="gelu", norm_first=True, eps=0.1)
    for layer in decoder.layers:
        assert [norm.eps for norm in norms(layer)] == [0.1] * 3 and layer.dropout.p == 0.3
        assert layer.feed_forward.activation == "gelu" and layer.norm_first
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


# The cache


@given(
    parts=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    masked=st.booleans(),
    norm_first=st.booleans(),
    need_weights=st.booleans(),
)
@pytest.mark.parametrize("dtype", ACCURACY)
@torch.no_grad()
def test_with_a_cache_the_tokens_may_come_in_parts(dtype, parts, masked, norm_first, need_weights):
    total = sum(parts)
    decoder, x, memory = decoder_and_input(target=total, norm_first=norm_first)
    decoder, x, memory = decoder.to(dtype), x.to(dtype), memory.to(dtype)
    target_mask, memory_mask = (lengths_mask(2, total), lengths_mask(2, 4)) if masked else (None, None)
    expected = decoder(x, memory, target_mask, memory_mask, need_weights)
    cache, end = KeyValueCache(n_layers=2, max_length=total), 0
    for part in parts:
        start, end = end, end + part
        so_far = None if target_mask is None else target_mask[:, :end]
        out = decoder(x[:, start:end], memory, so_far, memory_mask, need_weights, cache)
        assert cache.length == end
        for a, b in zip(out.hidden_states, expected.hidden_states, strict=True):
            assert_close(a, b[:, start:end], atol=ACCURACY[dtype], rtol=0)
        if need_weights:
            for a, b in zip(out.self_attention_weights, expected.self_attention_weights, strict=True):
                assert_close(a, b[:, :, start:end, :end], atol=ACCURACY[dtype], rtol=0)
            for a, b in zip(out.cross_attention_weights, expected.cross_attention_weights, strict=True):
                assert_close(a, b[:, :, start:end], atol=ACCURACY[dtype], rtol=0)


@torch.no_grad()
def test_a_step_copies_no_old_keys_and_projects_the_memory_once():
    decoder, x, memory = decoder_and_input(source=3)
    cache = KeyValueCache(2, 5)
    projected = []
    decoder.layers[0].cross_attention.w_k.register_forward_hook(lambda *_: projected.append(1))
    decoder(x[:, :1], memory, cache=cache)
    places = [(layer.keys.data_ptr(), layer.values.data_ptr()) for layer in cache.layers]
    old = [layer.keys[:, :, :1].clone() for layer in cache.layers]
    for step in range(1, 5):
        decoder(x[:, step : step + 1], memory, cache=cache)
    assert [(layer.keys.data_ptr(), layer.values.data_ptr()) for layer in cache.layers] == places
    assert all(torch.equal(layer.keys[:, :, :1], keys) for layer, keys in zip(cache.layers, old, strict=True))
    assert len(projected) == 1


@pytest.mark.parametrize("seen", [1, 3])
@torch.no_grad()
def test_reordered_rows_go_on_from_the_row_they_were(seen):
    decoder, x, memory = decoder_and_input(batch=3)
    rows = torch.tensor([2, 0, 0])
    expected = decoder(x[rows, : seen + 1], memory[rows]).last_hidden_state[:, seen:]
    unmoved = decoder(x[:, : seen + 1], memory).last_hidden_state[:, seen:]
    cache = KeyValueCache(2, 5)
    cache.reorder(rows)  # still empty: nothing to reorder
    decoder(x[:, :seen], memory, cache=cache)
    cache.reorder(rows)
    decoder.layers[0].cross_attention.w_k.register_forward_hook(lambda *_: pytest.fail("projects the memory again"))
    out = decoder(x[rows, seen : seen + 1], memory[rows], cache=cache).last_hidden_state
    assert_close(out, expected, atol=1e-12, rtol=0)
    assert not torch.allclose(out, unmoved)


def cached(batch=2, source=4, n_layers=2, steps=1, max_length=3, **options):
    """Uses a cache for ``steps`` tokens, then once more for another batch or memory."""
    decoder, x, memory = decoder_and_input(n_layers=2, n_heads=4)
    cache = KeyValueCache(n_layers, max_length)
    with torch.no_grad():
        decoder(x[:, :steps], memory, cache=cache)
        other = torch.randn(batch, source, 8, dtype=torch.float64)
        return decoder(other[:, :1], other, cache=cache, **options)


X = torch.ones(2, 5, 8)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: Decoder(0, 8, 2, 16), ValueError, "n_layers must be at least 1, got 0"),
        (lambda: Decoder(1, 8, 3, 16), ValueError, "multiple of n_heads, got d_model=8 and n_heads=3"),
        (lambda: DecoderLayer(8, 2, 16, dropout=1.5), ValueError, r"dropout must lie in \[0, 1\), got 1.5"),
        (lambda: DecoderLayer(8, 2, 16, activation="swish"), ValueError, "activation must be one of"),
        (lambda: Decoder(1, 8, 2, 16)(X[0], X), ValueError, r"x has shape \(5, 8\); expected \(batch"),
        (lambda: Decoder(1, 8, 2, 16)(X, X[..., :6]), ValueError, r"memory has shape \(2, 5, 6\); .* d_model=8"),
        (lambda: Decoder(1, 8, 2, 16)(X, X[:, :0]), ValueError, r"memory has shape \(2, 0, 8\); .* nothing empty"),
        (lambda: Decoder(1, 8, 2, 16)(X[:, :0], X), ValueError, r"x has shape \(2, 0, 8\); .* nothing empty"),
        (lambda: Decoder(1, 8, 2, 16)(X, X[:1]), ValueError, "memory holds a batch of 1, x a batch of 2"),
        (lambda: Decoder(1, 8, 2, 16)(X, X.double()), TypeError, "memory has dtype torch.float64, but x has"),
        (lambda: Decoder(1, 8, 2, 16)(X, None), TypeError, "memory must be a torch.Tensor, got NoneType"),
        (
            lambda: Decoder(1, 8, 2, 16)(X, X, target_mask=causal_mask(5)),
            ValueError,
            r"target_mask has shape \(5, 5\); expected \(batch, length\), here \(2, 5\)",
        ),
        (
            lambda: Decoder(1, 8, 2, 16)(X, X, target_mask=[[True] * 5] * 2),
            TypeError,
            r"target_mask must be a boolean tensor \(True = a real token\), got list",
        ),
        (
            lambda: Decoder(1, 8, 2, 16)(X, X, memory_mask=torch.ones(2, 5)),
            TypeError,
            r"memory_mask must be a boolean tensor \(True = a real token\), got torch.float32",
        ),
        (
            lambda: Decoder(1, 8, 2, 16)(X, X, memory_mask=torch.ones(2, 4).bool()),
            ValueError,
            r"memory_mask has shape \(2, 4\); expected \(batch, length\), here \(2, 5\)",
        ),
        (lambda: DecoderLayer(8, 2, 16)(X, X, torch.ones(5, 4).bool()), ValueError, r"mask has shape \(5, 4\)"),
        (lambda: DecoderLayer(8, 2, 16)(X, X[..., :6]), ValueError, r"key has shape \(2, 5, 6\)"),
        (lambda: KeyValueCache(2, 0), ValueError, "max_length must be at least 1, got 0"),
        (lambda: KeyValueCache(0, 2), ValueError, "n_layers must be at least 1, got 0"),
        (lambda: cached(batch=3), ValueError, "cache holds a batch of 2, got a batch of 3"),
        (lambda: cached(steps=3), ValueError, "cache has room for 3 tokens and holds 3; got 1 more"),
        (lambda: cached(steps=5), ValueError, "cache has room for 3 tokens and holds 0; got 5 more"),
        (lambda: cached(n_layers=3), ValueError, "cache has 3 layers, the decoder 2; expected the same"),
        (lambda: cached(source=3), ValueError, "length 4, got one of 3; expected a new cache for each memory$"),
        (lambda: cached(causal=False), ValueError, "^cache needs causal=True"),
        (lambda: cached(target_mask=torch.ones(2, 1).bool()), ValueError, r"target_mask has shape \(2, 1\).*\(2, 2\)"),
        (
            lambda: Decoder(1, 8, 2, 16)(X, X, cache=KeyValueCache(1, 9)),
            ValueError,
            r"^a cache .* under torch.no_grad\(\)$",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
