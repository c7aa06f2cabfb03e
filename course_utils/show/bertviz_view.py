"""bertviz's head view, made to draw without a network, after a static figure of the same weights."""

import json
import os
import re
from html import escape
from importlib.metadata import distribution
from operator import index

import torch
from IPython.display import HTML, display

from course_utils.show.heatmaps import heat_maps

MOST_WEIGHTS = 200_000  # about 1.2 MB of page; with more, only the chosen layer goes into the view
DIGITS = 3
HIGHEST = 900  # pixels; a longer view scrolls
GET_ATTENTIONS = (
    'load the model with attn_implementation="eager", call it with output_attentions=True and give outputs.attentions'
)
STYLE = """:root { color-scheme: light } body { background: white; color: black; margin: 10px }
body, p { font: 14px/1.4 Helvetica, Arial, sans-serif } p { margin: 0 0 8px } svg { overflow: visible }"""
SHIM = "window.require = {config() {}}; window.requirejs = (names, run) => run(window.jQuery, window.d3);"


def head_view(attentions, tokens, layer: int | None = None, heads=None) -> None:
    """Displays one layer's attention weights as heat maps, then bertviz's interactive head view.

    attentions: one (1, heads, tokens, tokens) per layer, as in ``outputs.attentions``; or one such tensor.
    tokens: the words. layer, heads: counted from 0; by default layer 0 and all its heads.
    In the view one can go to another layer, unless all of them together would make the page too heavy.
    With the environment variable COURSE_INTERACTIVE=0 only the heat maps are shown.

    Raises:
        TypeError, ValueError: no attentions, not one square per token and head, or no such layer or head.
    """
    tokens = _expect_tokens(tokens)
    attentions = _expect_attentions(attentions, len(tokens))
    layer = _expect_index("layer", 0 if layer is None else layer, len(attentions))
    n_heads = attentions[layer].shape[0]
    heads = range(n_heads) if heads is None else [heads] if isinstance(heads, int) else heads
    heads = [_expect_index("heads", head, n_heads) for head in heads]
    if not heads:
        raise ValueError(f"heads is empty; expected numbers in 0..{n_heads - 1}, or None for all")
    titles = [f"layer {layer}, head {head}" for head in heads]
    heat_maps([attentions[layer][head] for head in heads], titles, tokens, tokens)
    if os.environ.get("COURSE_INTERACTIVE", "1") != "0":
        display(HTML(iframe(attentions, tokens, layer, heads)))


def iframe(attentions, tokens, layer: int, heads) -> str:
    """bertviz's head view as an ``<iframe>`` that needs nothing from outside."""
    import bertviz

    all_layers = sum(weights.numel() for weights in attentions) <= MOST_WEIGHTS
    scale = 10**DIGITS
    view = bertviz.head_view(
        [(weights[None].double().nan_to_num() * scale).round() / scale for weights in attentions],
        tokens,
        layer=layer,
        heads=heads,
        include_layers=list(range(len(attentions))) if all_layers else [layer],
        html_action="return",
    )
    n_heads = attentions[layer].shape[0]
    words = (
        f"Point at a token to see where it looks. Each square is a head, 0 to {n_heads - 1} from the left: "
        "a click turns it on or off, a double click leaves it alone on."
    )
    room = max(0, 9 * max(map(len, tokens)) - 110)  # bertviz cuts off a long token on the left
    page = offline(view.data, title="bertviz head view", words=words, style=f"#vis {{ margin-left: {room}px }}")
    height = min(23 * len(tokens) + 130, HIGHEST)
    style = f"width: 100%; height: {height}px; border: 1px solid #999; background: white; color-scheme: light"
    title = f"Interactive head view of {len(tokens)} tokens: layer {layer} at first, {n_heads} heads"
    return f'<div><iframe title="{title}" style="{style}" srcdoc="{escape(page)}"></iframe></div>'


def offline(html: str, title: str, words: str, style: str) -> str:
    """A bertviz view as a page of its own, with d3 and jQuery from installed packages instead of a CDN."""
    html = re.sub(r'<script src="http[^>]*></script>', "", html)
    html = re.sub(r"require\.config\(\{.*?\}\);", "", html, flags=re.DOTALL)
    html = html.replace('<select id="layer">', '<select id="layer" aria-label="Layer">')
    before, after = html.split("const params = ", 1)
    params, end = json.JSONDecoder().raw_decode(after)
    after = after[end:].split("\n", 1)[1]  # what else is on that line is a comment that repeats all the weights
    data = json.dumps(params, separators=(",", ":")).replace("<", "\\u003c")  # no token can end the script
    libraries = [("mpld3", "mpld3/js/d3.v5.min.js"), ("XStatic-jQuery", "xstatic/pkg/jquery/data/jquery.min.js")]
    scripts = [distribution(name).locate_file(path).read_text(encoding="utf-8") for name, path in libraries]
    scripts = "".join(f"<script>{script}</script>" for script in [*scripts, SHIM])
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE} {style}</style>{scripts}'
    body = f"<p>{escape(words)}</p>{before}const params = {data};\n{after}"
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'


def _expect_tokens(tokens) -> list[str]:
    if isinstance(tokens, str) or not all(isinstance(token, str) for token in tokens):
        raise TypeError("tokens must be a list of strings, as tokenizer.convert_ids_to_tokens gives it")
    return list(tokens)


def _expect_attentions(attentions, n_tokens: int) -> list[torch.Tensor]:
    """One (heads, tokens, tokens) per layer."""
    if isinstance(attentions, torch.Tensor):
        attentions = [attentions]
    if attentions is None or len(attentions) == 0 or any(weights is None for weights in attentions):
        raise ValueError(f"attentions is empty: {GET_ATTENTIONS}")
    layers = []
    for layer, weights in enumerate(attentions):
        if not isinstance(weights, torch.Tensor):
            came = f"attentions[{layer}] is a {type(weights).__name__}" if isinstance(attentions, (list, tuple)) else (
                f"attentions is a {type(attentions).__name__}")  # fmt: skip
            raise TypeError(f"{came}; expected a torch.Tensor for each layer: {GET_ATTENTIONS}")
        came = f"attentions[{layer}] has shape {tuple(weights.shape)}"
        if weights.dim() == 4 and weights.shape[0] != 1:
            raise ValueError(f"{came}: a batch of {weights.shape[0]}; expected one sentence, such as weights[:1]")
        weights = weights[0] if weights.dim() == 4 else weights
        n_heads = layers[0].shape[0] if layers else "heads"
        if weights.dim() != 3 or weights.shape[1:] != (n_tokens, n_tokens) or n_heads not in ("heads", len(weights)):
            raise ValueError(f"{came}; expected (1, {n_heads}, {n_tokens}, {n_tokens}) for {n_tokens} tokens")
        layers.append(weights.detach().cpu())
    return layers


def _expect_index(name: str, number, length: int) -> int:
    try:
        number = index(number)
    except TypeError:
        raise TypeError(f"{name} must be counted in whole numbers, got {type(number).__name__}: {number!r}") from None
    if not 0 <= number < length:
        raise ValueError(f"{name} must lie in 0..{length - 1}, counted from 0; got {number}")
    return number
