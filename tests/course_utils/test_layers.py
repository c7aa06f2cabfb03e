import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from course_utils import FeedForward, LayerNorm, layer_norm, layers, post_norm, pre_norm
from course_utils.layers import AttentionSublayer

sizes = st.integers(1, 6)


@given(batch=sizes, length=sizes, d_model=st.integers(2, 8), eps=st.sampled_from([1e-12, 1e-5, 0.1]))
def test_layer_norm_equals_torchs(batch, length, d_model, eps):
    ours, theirs = LayerNorm(d_model, eps).double(), nn.LayerNorm(d_model, eps).double()
    with torch.no_grad():
        theirs.weight.copy_(ours.gain.normal_())
        theirs.bias.copy_(ours.bias.normal_())
    x = 3 * torch.randn(batch, length, d_model, dtype=torch.float64) + 5
    assert_close(ours(x), theirs(x), atol=1e-12, rtol=0)
    assert_close(layer_norm(x, ours.gain, ours.bias, eps), theirs(x), atol=1e-9, rtol=0)


def test_eps_is_torchs_unless_told_otherwise():
    x = 0.01 * torch.randn(3, 4)  # small enough for eps to matter
    assert_close(LayerNorm(4)(x), nn.LayerNorm(4)(x), atol=1e-6, rtol=0)


def test_the_variance_is_the_biased_one():
    ramp = torch.arange(4.0)
    assert round(layer_norm(ramp, torch.ones(4), torch.zeros(4), 1e-5)[0].item(), 3) == -1.342


def test_each_token_is_normalised_on_its_own():
    norm, x = LayerNorm(4), torch.randn(2, 3, 4)
    changed = x.clone()
    changed[0, 1] += torch.arange(4)
    different = (norm(x) != norm(changed)).any(-1)
    assert different.tolist() == [[False, True, False], [False, False, False]]


@pytest.mark.parametrize("activation, function", [("relu", F.relu), ("gelu", F.gelu)])
def test_feed_forward_is_two_linear_maps(activation, function):
    ffn, x = FeedForward(4, 16, activation), torch.randn(2, 3, 4)
    hidden = function(x @ ffn.w_1.weight.T + ffn.w_1.bias)
    assert_close(ffn(x), hidden @ ffn.w_2.weight.T + ffn.w_2.bias, atol=1e-6, rtol=0)
    assert_close(ffn(x)[:, 1], ffn(x[:, 1]))  # position by position


def test_an_activation_may_be_added(monkeypatch):
    monkeypatch.setitem(layers.ACTIVATIONS, "tanh", torch.tanh)
    ffn, x = FeedForward(4, 16, "tanh"), torch.randn(2, 3, 4)
    assert_close(ffn(x), ffn.w_2(ffn.w_1(x).tanh()))


def test_residual_wiring():
    x, norm = torch.randn(3, 4), LayerNorm(4)
    assert_close(post_norm(x, torch.sin, norm), norm(x + x.sin()))
    assert_close(pre_norm(x, torch.sin, norm), x + norm(x).sin())


def test_attention_as_a_sublayer_drops_its_output_and_keeps_its_weights():
    dropout, weights, x = nn.Dropout(0.5), torch.rand(2, 2), torch.ones(1000)
    sublayer = AttentionSublayer(lambda x: (3 * x, weights), dropout)
    assert sublayer.weights is None
    assert set(sublayer(x).tolist()) == {0.0, 6.0} and sublayer.weights is weights
    dropout.eval()
    assert torch.equal(sublayer(x), 3 * x)


def test_gradients():
    x = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    norm, ffn = LayerNorm(4).double(), FeedForward(4, 8, "gelu").double()
    assert torch.autograd.gradcheck(lambda x: layer_norm(x, norm.gain, norm.bias, 1e-5), x)
    for wiring in (post_norm, pre_norm):
        assert torch.autograd.gradcheck(lambda x, wiring=wiring: wiring(x, ffn, norm), x)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: LayerNorm(0), ValueError, "d_model must be at least 1, got 0"),
        (lambda: LayerNorm(4)(torch.ones(2, 3)), ValueError, r"x has shape \(2, 3\); expected its last axis to be 4"),
        (lambda: LayerNorm(4)(torch.tensor(1.0)), ValueError, r"x has shape \(\); expected its last axis to be 4"),
        (lambda: LayerNorm(4)(torch.ones(2, 4).long()), TypeError, "x must have a floating-point dtype"),
        (
            lambda: layer_norm(torch.ones(3), torch.ones(4), torch.ones(4), 1e-5),
            ValueError,
            r"gain has shape \(4,\), bias \(4,\) and x \(3,\); expected one gain and one bias for each number of x",
        ),
        (lambda: layer_norm(torch.ones(2, 4), torch.ones(4), torch.ones(1), 1e-5), ValueError, r"bias \(1,\) and x"),
        (lambda: layer_norm(torch.ones(4), torch.ones(4), torch.ones(3, 1, 4), 1e-5), ValueError, r"bias \(3, 1, 4\)"),
        (
            lambda: layer_norm(torch.ones(4), torch.ones(2, 4), torch.ones(2, 4), 1e-5),
            ValueError,
            r"gain has shape \(2",
        ),
        (lambda: layer_norm(torch.ones(4), torch.tensor(1.0), torch.ones(4), 1e-5), ValueError, r"gain has shape \(\)"),
        (lambda: layer_norm(torch.tensor(1.0), torch.tensor(1.0), torch.tensor(1.0), 0), ValueError, r"and x \(\)"),
        (lambda: layer_norm(torch.ones(4), [1.0] * 4, torch.ones(4), 1e-5), TypeError, "gain must be a torch.Tensor"),
        (
            lambda: layer_norm(torch.ones(4), torch.ones(4).double(), torch.ones(4), 1e-5),
            TypeError,
            "gain has dtype torch.float64, but x has torch.float32",
        ),
        (
            lambda: layer_norm(torch.ones(4), torch.ones(4), torch.ones(4).double(), 1e-5),
            TypeError,
            "bias has dtype torch.float64, but x has torch.float32",
        ),
        (
            lambda: LayerNorm(4)(torch.ones(4).double()),
            TypeError,
            "gain has dtype torch.float32, but x has torch.float",
        ),
        (lambda: FeedForward(4, 8, "tanh"), ValueError, r"activation must be one of \['gelu', 'relu'\], got 'tanh'"),
        (lambda: FeedForward(0, 8), ValueError, "d_model must be at least 1, got 0"),
        (lambda: FeedForward(4, -8), ValueError, "d_ff must be at least 1, got -8"),
        (lambda: FeedForward(4, 8)(torch.ones(2, 8)), ValueError, r"x has shape \(2, 8\); expected its last axis"),
        (
            lambda: FeedForward(4, 8)(torch.ones(4).double()),
            TypeError,
            "w_1 has dtype torch.float32, but x has torch.f",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
