import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.testing import assert_close

from course_utils import Encoder, EncoderLayer, causal_mask, padding_mask, post_norm, pre_norm

SMALL = {"d_model": 8, "n_heads": 2, "d_ff": 16}


def torch_encoder(ours: Encoder, activation: str, norm_first: bool) -> nn.TransformerEncoder:
    """nn.TransformerEncoder with the weights of ours."""
    layer = ours.layers[0]
    d_model, d_ff = layer.feed_forward.w_1.in_features, layer.feed_forward.w_1.out_features
    theirs_layer = nn.TransformerEncoderLayer(
        d_model, layer.attention.n_heads, d_ff, activation=activation, batch_first=True, norm_first=norm_first
    )
    norm = nn.LayerNorm(d_model) if norm_first else None
    theirs = nn.TransformerEncoder(theirs_layer, len(ours.layers), norm, enable_nested_tensor=False)
    theirs.to(dtype=layer.norm1.gain.dtype)
    with torch.no_grad():
        for a, b in zip(ours.layers, theirs.layers, strict=True):
            for kind in ("weight", "bias"):
                parts = [getattr(w, kind) for w in (a.attention.w_q, a.attention.w_k, a.attention.w_v)]
                getattr(b.self_attn, f"in_proj_{kind}").copy_(torch.cat(parts))
            b.self_attn.out_proj.load_state_dict(a.attention.w_o.state_dict())
            b.linear1.load_state_dict(a.feed_forward.w_1.state_dict())
            b.linear2.load_state_dict(a.feed_forward.w_2.state_dict())
            for mine, other in ((a.norm1, b.norm1), (a.norm2, b.norm2)):
                other.weight.copy_(mine.gain.normal_(1, 0.1))
                other.bias.copy_(mine.bias.normal_(0, 0.1))
    return theirs.eval()


@given(n_layers=st.integers(1, 3), n_heads=st.integers(1, 4), batch=st.integers(1, 3), length=st.integers(1, 6))
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_equals_torchs_encoder(norm_first, activation, n_layers, n_heads, batch, length):
    ours = (
        Encoder(
            n_layers=n_layers,
            d_model=4 * n_heads,
            n_heads=n_heads,
            d_ff=24,
            activation=activation,
            norm_first=norm_first,
        )
        .double()
        .eval()
    )
    theirs = torch_encoder(ours, activation, norm_first)
    x = torch.randn(batch, length, 4 * n_heads, dtype=torch.float64)
    real = padding_mask(torch.randint(1, length + 1, (batch,)), length)
    causal = causal_mask(length)
    backward = causal.T  # under which padding at the end is seen by all, unless it is hidden
    for masks, hide in (
        ({}, {}),
        ({"mask": real}, {"src_key_padding_mask": ~real}),
        ({"attention_mask": real[:, None, :]}, {"src_key_padding_mask": ~real}),
        ({"attention_mask": causal[None]}, {"mask": ~causal}),
        ({"mask": real, "attention_mask": backward[None]}, {"src_key_padding_mask": ~real, "mask": ~backward}),
    ):
        expected = theirs(x, **hide)
        for need_weights in (False, True):
            output = ours(x, need_weights=need_weights, **masks).last_hidden_state
            assert_close(output[real], expected[real], atol=1e-12, rtol=0)


def test_what_an_encoder_returns():
    encoder = Encoder(n_layers=3, **SMALL)
    x = torch.randn(2, 5, 8)
    out = encoder(x)
    assert len(out.hidden_states) == 4 and out.attention_weights is None
    assert out.hidden_states[0] is x and out.hidden_states[-1] is out.last_hidden_state
    out = encoder(x, need_weights=True)
    assert [tuple(weights.shape) for weights in out.attention_weights] == [(2, 2, 5, 5)] * 3
    one_by_one = x
    for layer, state in zip(encoder.layers, out.hidden_states[1:], strict=True):
        one_by_one = layer(one_by_one, need_weights=True)[0]
        assert torch.equal(one_by_one, state)


def test_pre_norm_ends_with_a_norm():
    encoder = Encoder(n_layers=2, **SMALL, norm_first=True)
    out = encoder(100 * torch.randn(1, 3, 8)).last_hidden_state
    assert_close(out.mean(-1), torch.zeros(1, 3), atol=1e-6, rtol=0)


def test_shuffling_the_tokens_shuffles_the_output():
    encoder = Encoder(n_layers=2, **SMALL).double()
    x, order = torch.randn(2, 6, 8, dtype=torch.float64), torch.randperm(6)
    shuffled = encoder(x[:, order]).last_hidden_state
    assert_close(shuffled, encoder(x).last_hidden_state[:, order], atol=1e-12, rtol=0)


def test_the_wiring_is_an_attribute():
    encoder, x = Encoder(n_layers=2, **SMALL), torch.randn(1, 3, 8)
    for layer in encoder.layers:
        layer.add_and_norm = lambda x, sublayer, norm: x  # no sublayer at all
    assert torch.equal(encoder(x).last_hidden_state, x)


def test_dropout_acts_only_in_training():
    layer = EncoderLayer(**SMALL, dropout=0.5)
    x = torch.randn(1, 4, 8)
    assert not torch.equal(layer(x)[0], layer(x)[0])
    layer.eval()
    assert torch.equal(layer(x)[0], layer(x)[0])


def test_the_defaults_are_the_papers():
    for layer in (EncoderLayer(**SMALL), *Encoder(n_layers=2, **SMALL).layers):
        assert layer.norm1.eps == layer.norm2.eps == 1e-5 and layer.dropout.p == 0
        assert layer.feed_forward.activation == "relu" and layer.add_and_norm is post_norm
    assert isinstance(Encoder(n_layers=2, **SMALL).final_norm, nn.Identity)
    assert EncoderLayer(**SMALL)(torch.randn(1, 3, 8))[1] is None


def test_every_layer_gets_the_settings():
    encoder = Encoder(n_layers=2, **SMALL, dropout=0.3, weight_dropout=0.2, activation="gelu", norm_first=True, eps=0.1)
    for layer in encoder.layers:
        assert layer.norm1.eps == layer.norm2.eps == encoder.final_norm.eps == 0.1 and layer.dropout.p == 0.3
        assert layer.feed_forward.activation == "gelu" and layer.add_and_norm is pre_norm
        assert layer.attention.weight_dropout == 0.2


def test_dropout_acts_on_each_of_the_two_sublayers():
    layer, dropped, outputs = EncoderLayer(**SMALL, dropout=0.5), [], []
    layer.dropout.register_forward_hook(lambda module, arguments, output: dropped.append(arguments[0]))
    layer.attention.register_forward_hook(lambda module, arguments, output: outputs.append(output[0]))
    layer.feed_forward.register_forward_hook(lambda module, arguments, output: outputs.append(output))
    layer(torch.randn(1, 4, 8))
    assert len(dropped) == 2 and all(a is b for a, b in zip(dropped, outputs, strict=True))


@pytest.mark.parametrize("norm_first", [False, True])
def test_gradients(norm_first):
    encoder = Encoder(n_layers=2, d_model=4, n_heads=2, d_ff=6, activation="gelu", norm_first=norm_first).double()
    x = torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: encoder(x, attention_mask=causal_mask(3)[None]).last_hidden_state, x)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: Encoder(n_layers=0, **SMALL), ValueError, "n_layers must be at least 1, got 0"),
        (
            lambda: Encoder(n_layers=1, d_model=8, n_heads=3, d_ff=16),
            ValueError,
            "multiple of n_heads, got d_model=8 and n_heads=3",
        ),
        (lambda: EncoderLayer(**SMALL, dropout=1.5), ValueError, r"dropout must lie in \[0, 1\), got 1.5"),
        (lambda: EncoderLayer(**SMALL, activation="swish"), ValueError, "activation must be one of"),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(5, 8)),
            ValueError,
            r"^x has shape \(5, 8\); expected \(batch",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)([1.0], torch.ones(1, 5).bool()),
            TypeError,
            "^x must be a torch.Tensor, got list",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(1, 5, 8), causal_mask(5)),
            ValueError,
            r"mask has shape \(5, 5\); expected \(batch, length\), here \(1, 5\)",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(1, 5, 8), causal_mask(5)[None]),
            ValueError,
            r"^mask has shape \(1, 5, 5\); expected \(batch, length\), here \(1, 5\)",
        ),
        (  # a batch of 5: as a padding mask it would pass
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(5, 5, 8), attention_mask=causal_mask(5)),
            ValueError,
            r"attention_mask has shape \(5, 5\); expected \(batch or 1, queries or 1, keys\), here \(5 or",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(2, 5, 8), attention_mask=torch.ones(3, 5, 5).bool()),
            ValueError,
            r"attention_mask has shape \(3, 5, 5\); expected",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(2, 5, 8), attention_mask=torch.ones(2, 4, 5).bool()),
            ValueError,
            r"attention_mask has shape \(2, 4, 5\); expected",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(2, 5, 8), attention_mask=torch.ones(2, 5, 1).bool()),
            ValueError,
            r"attention_mask has shape \(2, 5, 1\); expected",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(2, 5, 8), attention_mask=torch.ones(2, 5, 5)),
            TypeError,
            r"attention_mask must be a boolean tensor \(True = may attend\), got torch.float32",
        ),
        (
            lambda: Encoder(n_layers=1, **SMALL)(torch.ones(1, 5, 8), [[True] * 5]),
            TypeError,
            r"mask must be a boolean tensor \(True = a real token\), got list",
        ),
        (lambda: EncoderLayer(**SMALL, weight_dropout=1), ValueError, r"weight_dropout must lie in \[0, 1\), got 1"),
        (lambda: EncoderLayer(**SMALL, dropout="x"), TypeError, "dropout must be a number, got str"),
        (lambda: EncoderLayer(**SMALL, dropout=None), TypeError, "dropout must be a number, got NoneType"),
        (lambda: EncoderLayer(**SMALL, activation=[]), ValueError, r"activation must be one of .* got \[\]"),
        (lambda: Encoder(2, 8, 2, 16), TypeError, "positional argument"),
        (lambda: EncoderLayer(8, 2, 16), TypeError, "positional argument"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
