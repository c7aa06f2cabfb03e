import copy

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_decoder import ACCURACY, SMALL, decoder_and_input, lengths_mask
from torch.testing import assert_close

from course_utils import Decoder, KeyValueCache, cached_decode


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
    target_mask, source_mask = (lengths_mask(2, total), lengths_mask(2, 4)) if masked else (None, None)
    masks = {"source_mask": source_mask, "need_weights": need_weights}
    expected = decoder(x, memory, target_mask=target_mask, **masks)
    cache, end = KeyValueCache(n_layers=2, max_length=total), 0
    for part in parts:
        start, end = end, end + part
        so_far = None if target_mask is None else target_mask[:, :end]
        out = cached_decode(decoder, cache, x[:, start:end], memory, target_mask=so_far, **masks)
        assert cache.length == end
        assert need_weights or out.self_attention_weights is out.cross_attention_weights is None
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
    cached_decode(decoder, cache, x[:, :1], memory)
    places = [(layer.keys.data_ptr(), layer.values.data_ptr()) for layer in cache.layers]
    old = [layer.keys[:, :, :1].clone() for layer in cache.layers]
    for step in range(1, 5):
        cached_decode(decoder, cache, x[:, step : step + 1], memory)
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
    cached_decode(decoder, cache, x[:, :seen], memory)
    cache.reorder(rows)
    with pytest.raises(ValueError, match="another memory"):
        cached_decode(decoder, cache, x[:, seen : seen + 1], memory)
    decoder.layers[0].cross_attention.w_k.register_forward_hook(lambda *_: pytest.fail("projects the memory again"))
    out = cached_decode(decoder, cache, x[rows, seen : seen + 1], memory[rows]).last_hidden_state
    assert_close(out, expected, atol=1e-12, rtol=0)
    assert not torch.allclose(out, unmoved)


@torch.no_grad()
def test_it_takes_the_wiring_that_the_layers_have():
    decoder, x, memory = decoder_and_input()
    for layer in decoder.layers:
        layer.add_and_norm = lambda x, sublayer, norm: norm(sublayer(x))
    expected = decoder(x, memory).last_hidden_state
    out = cached_decode(decoder, KeyValueCache(2, 5), x, memory)
    assert_close(out.last_hidden_state, expected)
    assert out.self_attention_weights is None  # unless asked for


@torch.no_grad()
def test_a_memory_is_the_same_if_its_numbers_are():
    decoder, x, memory = decoder_and_input()
    cache = KeyValueCache(2, 2)
    cached_decode(decoder, cache, x[:, :1], memory)
    out = cached_decode(decoder, cache, x[:, 1:2], memory.clone()).last_hidden_state
    assert_close(out, decoder(x[:, :2], memory).last_hidden_state[:, 1:], atol=1e-12, rtol=0)


@torch.no_grad()
def test_what_is_refused_leaves_the_cache_as_it_was():
    decoder, x, memory = decoder_and_input()
    cache = KeyValueCache(2, 2)
    cached_decode(decoder, cache, x[:, :1], memory)
    before = copy.deepcopy(cache)
    with pytest.raises(ValueError, match="another memory"):
        cached_decode(decoder, cache, x[:, 1:2], memory + 1)
    assert cache.length == before.length == 1 and torch.equal(cache.memory, before.memory)
    out, again = (cached_decode(decoder, each, x[:, 1:2], memory).last_hidden_state for each in (cache, before))
    assert torch.equal(out, again)


def cached(source=4, n_layers=2, steps=1, max_length=3, change=None, other=None, **options):
    """Uses a cache for ``steps`` tokens, then once more, for what ``change`` makes of memory and newest token."""
    decoder, x, memory = decoder_and_input(n_layers=2, n_heads=4)
    cache = KeyValueCache(n_layers, max_length)
    with torch.no_grad():
        cached_decode(decoder, cache, x[:, :steps], memory)
        x, memory = (x, memory) if change is None else (change(x), change(memory))
        return cached_decode(other or decoder, cache, x[:, :1], memory[:, :source], **options)


def not_causal():
    decoder, x, memory = decoder_and_input()
    decoder.causal = False
    return cached_decode(decoder, KeyValueCache(2, 3), x[:, :1], memory)


OTHER_HEADS = Decoder(n_layers=2, d_model=8, n_heads=2, d_ff=16).double()
WIDER = Decoder(n_layers=2, d_model=16, n_heads=4, d_ff=16).double()
ONE_LAYER, X = Decoder(n_layers=1, **SMALL), torch.ones(2, 5, 8)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: KeyValueCache(2, 0), ValueError, "max_length must be at least 1, got 0"),
        (lambda: KeyValueCache(0, 2), ValueError, "n_layers must be at least 1, got 0"),
        (lambda: cached(change=lambda x: x[:1]), ValueError, r"cache was filled .*\(2, 4, 8\) and \(1, 4, 8\)"),
        (
            lambda: cached(source=3),
            ValueError,
            r"\(2, 4, 8\) and \(2, 3, 8\)\); expected a new cache for each$",
        ),
        (
            lambda: cached(change=lambda x: x.flip(0)),
            ValueError,
            "cache was filled with another memory, or by",
        ),
        (lambda: cached(steps=3), ValueError, "cache has room for 3 tokens and holds 3; got 1 more"),
        (lambda: cached(steps=5), ValueError, "cache has room for 3 tokens and holds 0; got 5 more"),
        (lambda: cached(n_layers=3), ValueError, "cache has 3 layers, the decoder 2; expected the same"),
        (lambda: cached(other=OTHER_HEADS), ValueError, "cache was filled with another memory, or by another decoder"),
        (
            lambda: cached(other=WIDER, change=lambda x: x.repeat(1, 1, 2)),
            ValueError,
            r"cache was filled .*\(2, 4, 8\) and \(2, 4, 16\)",
        ),
        (
            lambda: cached_decode(OTHER_HEADS, KeyValueCache(2, 3), X.double(), X),
            TypeError,
            "memory has dtype torch.float32, but x has torch.float64; expected the same",
        ),
        (lambda: cached(change=torch.Tensor.float), TypeError, "w_q has dtype torch.float64, but x has torch.float32"),
        (not_causal, ValueError, "^cache needs causal=True: without it, earlier tokens change when a later one comes$"),
        (lambda: cached(target_mask=torch.ones(2, 1).bool()), ValueError, r"target_mask has shape \(2, 1\).*\(2, 2\)"),
        (lambda: cached(source_mask=torch.ones(2, 3).bool()), ValueError, r"source_mask has shape \(2, 3\).*\(2, 4\)"),
        (lambda: cached_decode(ONE_LAYER, 3, X, X), TypeError, "cache must be a KeyValueCache, got int"),
        (
            lambda: cached_decode(ONE_LAYER, KeyValueCache(1, 9), X, X),
            ValueError,
            r"^a cache .* under torch.no_grad\(\)$",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
