"""Switches that take one thing out of a Transformer, to see what it was good for. No reference module changes.

``break_model(model, "scale")`` changes this one model, for training and use; there is no way back but a new model.
"""

from course_utils.attention import MultiHeadAttention
from course_utils.decoder import DecoderLayer
from course_utils.encoder import EncoderLayer
from course_utils.transformer import Transformer


def _no_scale(model: Transformer) -> None:
    """Scores are not divided by sqrt(d_head): queries come sqrt(d_head) times as long."""
    for attention in (module for module in model.modules() if isinstance(module, MultiHeadAttention)):
        root = (attention.w_q.out_features // attention.n_heads) ** 0.5
        attention.w_q.register_forward_hook(lambda _module, _inputs, query, root=root: query * root)


def _no_mask(model: Transformer) -> None:
    """The decoder sees the whole target, later characters too. Decode with ``use_cache=False`` then."""
    model.decoder.causal = False


def _no_positions(model: Transformer) -> None:
    """No word knows where it stands."""
    model.positions.zero_()


def _no_residual(model: Transformer) -> None:
    """Each sublayer's output replaces its input: norm(sublayer(x)) instead of norm(x + sublayer(x))."""
    for layer in (module for module in model.modules() if isinstance(module, EncoderLayer | DecoderLayer)):
        layer.add_and_norm = lambda x, sublayer, norm: norm(sublayer(x))


_BREAKS = {"scale": _no_scale, "mask": _no_mask, "positions": _no_positions, "residual": _no_residual}
SWITCHES = tuple(_BREAKS)


def break_model(model: Transformer, *without: str) -> Transformer:
    """Takes things out of ``model`` and returns it.

    No warm-up is a matter of settings: ``TranslatorSettings(warm_up=1)``.

    Raises:
        ValueError: one of ``without`` is none of ``SWITCHES``.
    """
    for name in without:
        if name not in _BREAKS:
            raise ValueError(f"without must name some of {list(SWITCHES)}, got {name!r}")
    for name in without:
        _BREAKS[name](model)
    return model
