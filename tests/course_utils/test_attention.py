import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from course_utils import (
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    scaled_dot_product_attention,
    sinusoidal_positions,
    split_heads,
)
from lesson_kit import examples

sizes = st.integers(1, 6)
TOLERANCE = {torch.float32: 2e-6, torch.float64: 1e-14}


def random_mask(*shape):
    return torch.rand(shape) < 0.6


@given(batch=sizes, heads=sizes, queries=sizes, keys=sizes, d_head=sizes, d_value=sizes, masked=st.booleans())
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_equals_torch_with_and_without_a_mask(dtype, batch, heads, queries, keys, d_head, d_value, masked):
    query = torch.randn(batch, heads, queries, d_head, dtype=dtype)
    key = torch.randn(batch, heads, keys, d_head, dtype=dtype)
    value = torch.randn(batch, heads, keys, d_value, dtype=dtype)
    mask = random_mask(batch, 1, queries, keys) if masked else None
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert_close(output, F.scaled_dot_product_attention(query, key, value, mask), atol=TOLERANCE[dtype], rtol=0)
    reached = torch.ones(batch, 1, queries) if mask is None else mask.any(-1).float()
    assert_close(weights.sum(-1), reached.expand(batch, heads, queries).to(dtype))
    if masked:
        assert not weights.masked_select(~mask).any()


def test_the_two_tokens_of_lesson_01():
    two = examples.two_tokens()
    output, weights = scaled_dot_product_attention(two.x @ two.w_q, two.x @ two.w_k, two.x @ two.w_v)
    e = torch.tensor(2**-0.5, dtype=torch.float64).exp()
    first = torch.stack([torch.ones_like(e), e]) / (1 + e)
    half = torch.full((2,), 0.5, dtype=torch.float64)
    assert_close(weights, torch.stack([first, half]), atol=1e-15, rtol=0)
    assert_close(output, weights)  # the two values are (1, 0) and (0, 1)


def test_a_constant_added_to_a_row_of_scores_changes_nothing():
    query, key, value = torch.randn(3, 2, 5, 4, dtype=torch.float64)
    # A key component that is 1 everywhere turns a query component into a constant for its whole row.
    key[..., 0] = 1
    shifted = query.clone()
    shifted[..., 0] += 7
    assert_close(
        scaled_dot_product_attention(query, key, value)[1], scaled_dot_product_attention(shifted, key, value)[1]
    )


def test_huge_scores_do_not_overflow():
    query = torch.tensor([[1e4, 0.0]])
    output, weights = scaled_dot_product_attention(query, torch.eye(2), torch.eye(2))
    assert_close(weights, torch.tensor([[1.0, 0.0]]))
    assert torch.isfinite(output).all()


def test_a_query_that_may_attend_to_nothing_gets_zeros_and_a_finite_gradient():
    query, key, value = (torch.randn(1, 3, 4, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, True, False], [False, False, False], [True, False, True]])
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert not output[0, 1].any() and not weights[0, 1].any()
    output.sum().backward()
    for x in (query, key, value):
        assert torch.isfinite(x.grad).all()
    assert not query.grad[0, 1].any()


@pytest.mark.parametrize("masked", [False, True])
def test_gradients(masked):
    query, key, value = (torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mask = torch.tensor([[True, False, True], [False, False, False], [True, True, True]]) if masked else None
    assert torch.autograd.gradcheck(lambda *qkv: scaled_dot_product_attention(*qkv, mask), (query, key, value))


def test_changing_a_later_token_leaves_earlier_outputs_alone_under_a_causal_mask():
    x = torch.randn(1, 6, 4)
    changed = x.clone()
    changed[:, 4:] += 1
    before, after = (scaled_dot_product_attention(x, x, x, causal_mask(6))[0] for x in (x, changed))
    assert torch.equal(before[:, :4], after[:, :4])
    assert not torch.equal(before[:, 4:], after[:, 4:])


@given(batch=sizes, queries=sizes, keys=sizes, n_heads=sizes, d_head=sizes, masked=st.booleans())
def test_multi_head_fused_and_by_hand_and_torch_agree(batch, queries, keys, n_heads, d_head, masked):
    d_model = n_heads * d_head
    ours = MultiHeadAttention(d_model, n_heads).double()
    theirs = nn.MultiheadAttention(d_model, n_heads, batch_first=True).double()
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([ours.w_q.weight, ours.w_k.weight, ours.w_v.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.w_q.bias, ours.w_k.bias, ours.w_v.bias]))
        theirs.out_proj.load_state_dict(ours.w_o.state_dict())
    query = torch.randn(batch, queries, d_model, dtype=torch.float64)
    source = torch.randn(batch, keys, d_model, dtype=torch.float64)
    mask = random_mask(batch, queries, keys) if masked else None
    if masked:
        mask[..., 0] = True  # torch's module gives NaN for an empty row
    by_hand, weights = ours(query, source, source, mask, need_weights=True)
    fused, none = ours(query, source, source, mask)
    hide = None if mask is None else ~mask.repeat_interleave(n_heads, dim=0)  # True = ignore over there
    expected, expected_weights = theirs(query, source, source, attn_mask=hide, average_attn_weights=False)
    assert none is None
    for output in (by_hand, fused):
        assert_close(output, expected, atol=1e-12, rtol=0)
    assert_close(weights, expected_weights, atol=1e-12, rtol=0)


def test_multi_head_mask_shapes_mean_the_same():
    attention = MultiHeadAttention(8, 2)
    x = torch.randn(3, 5, 8)
    mask = causal_mask(5)
    expected = attention(x, x, x, mask)[0]
    for same in (mask[None], mask.expand(3, 5, 5), mask[None, None], mask.expand(3, 2, 5, 5)):
        assert torch.equal(attention(x, x, x, same)[0], expected)


@pytest.mark.parametrize("need_weights", [False, True])
def test_padding_does_not_reach_real_tokens(need_weights):
    attention = MultiHeadAttention(8, 2)
    x = torch.randn(1, 5, 8)
    garbage = torch.cat([x, 100 * torch.randn(1, 3, 8)], dim=1)
    mask = torch.arange(8)[None, None] < 5
    expected = attention(x, x, x, need_weights=need_weights)[0]
    assert_close(attention(garbage, garbage, garbage, mask, need_weights)[0][:, :5], expected, atol=1e-6, rtol=0)


def test_an_empty_row_is_the_same_on_both_paths():
    attention = MultiHeadAttention(8, 2)
    x = torch.randn(1, 3, 8)
    mask = torch.tensor([[True, True, True], [False, False, False], [True, False, False]])
    fused, by_hand = attention(x, x, x, mask)[0], attention(x, x, x, mask, need_weights=True)[0]
    assert_close(fused, by_hand, atol=1e-6, rtol=0)
    assert_close(fused[0, 1], attention.w_o.bias)  # zeros, through W_O


def test_without_positions_attention_does_not_know_the_order():
    attention = MultiHeadAttention(16, 4).double()
    x = torch.randn(2, 7, 16, dtype=torch.float64)
    order = torch.randperm(7)
    output = attention(x, x, x)[0]
    shuffled = attention(*[x[:, order]] * 3)[0]
    assert_close(shuffled, output[:, order], atol=1e-12, rtol=0)
    placed, moved = x + sinusoidal_positions(7, 16), x[:, order] + sinusoidal_positions(7, 16)
    difference = attention(*[moved] * 3)[0] - attention(*[placed] * 3)[0][:, order]
    assert difference.abs().max() > 1e-3


def test_multi_head_attention_may_do_without_biases():
    assert [name for name, _ in MultiHeadAttention(8, 2, bias=False).named_parameters()] == [
        f"w_{role}.weight" for role in "qkvo"
    ]


def test_heads_are_split_and_merged_again():
    x = torch.arange(24.0).view(1, 2, 12)
    heads = split_heads(x, 3)
    assert heads.shape == (1, 3, 2, 4) and heads[0, 1, 0].tolist() == [4, 5, 6, 7]
    assert torch.equal(merge_heads(heads), x)


@pytest.mark.parametrize("mask", [True, [True, False, True, True, False]])
def test_a_mask_with_fewer_than_two_axes_is_the_same_on_both_paths(mask):
    attention, x, mask = MultiHeadAttention(8, 2), torch.randn(2, 5, 8), torch.tensor(mask)
    fused, by_hand = attention(x, x, x, mask)[0], attention(x, x, x, mask, need_weights=True)[0]
    assert_close(fused, by_hand, atol=1e-6, rtol=0)
    assert_close(fused, attention(x, x, x, mask.expand(2, 5, 5))[0], atol=1e-6, rtol=0)


def dropping(rate, length=12):
    """Attention that drops weights, and whose output is the weights: the values are the rows of the unit matrix."""
    attention = MultiHeadAttention(length, 1).double()
    with torch.no_grad():
        for linear in (attention.w_v, attention.w_o):
            linear.weight.copy_(torch.eye(length))
            linear.bias.zero_()
    attention.weight_dropout = rate
    return (
        attention,
        torch.randn(500, length, length, dtype=torch.float64),
        torch.eye(length).expand(500, -1, -1).double(),
    )


@pytest.mark.parametrize("need_weights", [False, True])
def test_dropped_weights_are_0_and_the_others_larger_by_what_is_lost(need_weights):
    attention, x, value = dropping(0.25)
    kept_all = attention.eval()(x, x, value, need_weights=True)[1][:, 0]
    output, weights = attention.train()(x, x, value, need_weights=need_weights)
    assert (output == 0).double().mean().item() == pytest.approx(0.25, abs=0.01)
    assert_close(output, torch.where(output == 0, 0, kept_all / 0.75), atol=1e-12, rtol=0)
    assert output.sum(dim=-1).mean().item() == pytest.approx(1, abs=0.01)  # a row sums to 1 on average
    assert weights is None or torch.equal(weights[:, 0], output)  # what is returned is what was used


@pytest.mark.parametrize("need_weights", [False, True])
def test_gradients_flow_through_the_weights_that_were_kept(need_weights):
    attention, x, value = dropping(0.5)
    x.requires_grad_()
    value.requires_grad_()
    output = attention(x, x, value, need_weights=need_weights)[0]
    output.square().sum().backward()
    assert torch.isfinite(x.grad).all() and x.grad.any()
    unused = (output == 0).all(dim=1)  # a key that no query kept
    assert unused.any() and not value.grad[unused].any() and (value.grad[~unused] != 0).any(dim=-1).all()


@pytest.mark.parametrize("need_weights", [False, True])
def test_nothing_is_dropped_in_eval_mode_or_at_rate_0(need_weights):
    attention, x, value = dropping(0.5)
    expected = attention.eval()(x, x, value, need_weights=need_weights)[0]
    attention.weight_dropout = 0.0
    for mode in (True, False):
        assert torch.equal(attention.train(mode)(x, x, value, need_weights=need_weights)[0], expected)


def test_multi_head_gradients():
    attention = MultiHeadAttention(4, 2).double()
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    for need_weights in (False, True):
        assert torch.autograd.gradcheck(lambda x, need=need_weights: attention(x, x, x, causal_mask(3), need)[0], x)


Q = torch.randn(2, 3, 4)
BAD_QUERY_KEY_VALUE = [
    ((Q.long(), Q, Q), TypeError, "query must have a floating-point dtype, got torch.int64"),
    (([1.0], Q, Q), TypeError, "query must be a torch.Tensor, got list"),
    ((Q, Q.double(), Q), TypeError, "key has dtype torch.float64, but query has torch.float32"),
    ((Q, Q.to("meta"), Q), ValueError, "key is on meta, but query is on cpu"),
    ((Q, Q[..., :1], Q), ValueError, "key has 1 features per row, query has 4"),
    ((Q, Q, Q[:, :1]), ValueError, "value has 1 rows, key has 3"),
    ((Q, Q[:1], Q[:1]), ValueError, r"batch axes \(2,\), \(1,\) and \(1,\)"),
    ((Q[0, 0], Q, Q), ValueError, r"query has shape \(4,\); expected \(..., length, features\)$"),
    ((Q, Q[0, 0], Q), ValueError, r"^key has shape \(4,\)"),
    ((Q, Q, Q[0, 0]), ValueError, r"^value has shape \(4,\)"),
    ((Q, Q, Q.double()), TypeError, "^value has dtype torch.float64, but query has torch.float32"),
]


@pytest.mark.parametrize("arguments, error, message", BAD_QUERY_KEY_VALUE)
def test_bad_query_key_value(arguments, error, message):
    with pytest.raises(error, match=message):
        scaled_dot_product_attention(*arguments)


BAD_MASKS = [
    (torch.ones(3, 3), TypeError, "mask must be a boolean tensor .True = may attend., got torch.float32"),
    ("causal", TypeError, "mask must be a boolean tensor .True = may attend., got str"),
    (torch.ones(3, 2, dtype=torch.bool), ValueError, r"mask has shape \(3, 2\); expected one that broadcasts to"),
    (torch.ones(5, 2, 3, 3, dtype=torch.bool)[:, :, :1, 0], ValueError, "mask has shape"),
    (torch.ones(3, 3, dtype=torch.bool, device="meta"), ValueError, "mask is on meta, but query is on cpu"),
]


@pytest.mark.parametrize("mask, error, message", BAD_MASKS)
def test_bad_mask(mask, error, message):
    with pytest.raises(error, match=message):
        scaled_dot_product_attention(Q, Q, Q, mask)
    with pytest.raises(error, match=message):
        MultiHeadAttention(4, 2)(Q, Q, Q, mask)


def test_bad_multi_head_sizes_and_inputs():
    with pytest.raises(ValueError, match="multiple of n_heads, got d_model=10 and n_heads=3"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match="n_heads must be at least 1, got 0"):
        MultiHeadAttention(8, 0)
    with pytest.raises(TypeError, match="d_model must be an int, got float"):
        MultiHeadAttention(8.0, 2)
    for rate in (1, 1.5, -0.1):
        with pytest.raises(ValueError, match=f"^weight_dropout must .*got {rate}"):
            MultiHeadAttention(8, 2, weight_dropout=rate)
    attention = MultiHeadAttention(4, 2)
    with pytest.raises(ValueError, match=r"query has shape \(3, 4\); expected \(batch, length, d_model=4\)"):
        attention(Q[0], Q, Q)
    with pytest.raises(ValueError, match=r"^key has shape \(2, 3, 2\)"):
        attention(Q, Q[..., :2], Q)
    with pytest.raises(ValueError, match=r"^value has shape \(2, 3, 2\)"):
        attention(Q, Q, Q[..., :2])
    with pytest.raises(ValueError, match=r"^value has shape \(2, 2, 4\); expected one row for each of the 3 keys$"):
        attention(Q, Q, Q[:, :2])
    for query_key_value, name in (((Q, [1.0], Q), "key"), ((Q, Q, [1.0]), "value")):
        with pytest.raises(TypeError, match=f"^{name} must be a torch.Tensor, got list"):
            attention(*query_key_value)
    with pytest.raises(TypeError, match=r"w_q has dtype torch.float32, but query has torch.float64"):
        attention(*[Q.double()] * 3)
