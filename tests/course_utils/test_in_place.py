"""Activations over their input: the same numbers, one wide tensor less, and gradients as before."""

import pytest
import torch
from torch.testing import assert_close

from course_utils import Encoder, FeedForward, activate_in_place, layers
from course_utils.in_place import InPlaceFeedForward


def in_place(*sizes):
    ffn = FeedForward(*sizes)
    activate_in_place(ffn)
    return ffn


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_same_with_one_wide_tensor_less_and_the_input_left_alone(activation):
    ffn, x = FeedForward(4, 16, activation), torch.randn(2, 3, 4)
    before, expected = x.clone(), ffn(x).detach()
    activate_in_place(ffn)
    places = []
    ffn.w_1.register_forward_hook(lambda module, arguments, output: places.append(output.data_ptr()))
    ffn.w_2.register_forward_hook(lambda module, arguments, output: places.append(arguments[0].data_ptr()))
    with torch.no_grad():
        assert torch.equal(ffn(x), expected)
    assert torch.equal(x, before)
    ffn(x)
    assert places[0] == places[1] and places[2] != places[3]  # the widest tensor stands in memory once, or twice


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_gradients(activation):
    ffn, x = in_place(4, 8, activation).double(), torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(ffn, (x,))


def test_an_activation_may_be_added(monkeypatch):
    monkeypatch.setitem(layers.ACTIVATIONS, "tanh", torch.tanh)
    ffn, x = in_place(4, 16, "tanh"), torch.randn(2, 3, 4)
    with torch.no_grad():
        assert_close(ffn(x), ffn.w_2(ffn.w_1(x).tanh()))


def test_every_layer_of_a_model_and_only_the_feed_forward_networks():
    encoder = Encoder(n_layers=2, d_model=8, n_heads=2, d_ff=16)
    other = [type(module) for module in encoder.modules() if type(module) is not FeedForward]
    names, x = list(encoder.state_dict()), torch.randn(2, 3, 8)
    expected = encoder(x).last_hidden_state
    activate_in_place(encoder)
    assert all(type(layer.feed_forward) is InPlaceFeedForward for layer in encoder.layers)
    assert [type(module) for module in encoder.modules() if type(module) is not InPlaceFeedForward] == other
    assert list(encoder.state_dict()) == names and torch.equal(encoder(x).last_hidden_state, expected)


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        (torch.randn(2, 5), ValueError, r"x has shape \(2, 5\); expected its last axis to be 4"),
        (torch.randn(2, 4).double(), TypeError, "w_1 has dtype torch.float32, but x has torch.float64"),
    ],
)
def test_bad_input(x, error, words):
    with pytest.raises(error, match=words):
        in_place(4, 16)(x)
