"""bertviz's head view without a network, after a static figure of the same weights."""

import json
import os
from html import escape
from importlib.metadata import distribution

import torch
from IPython.display import HTML, display

from course_utils.show.figures import heat_maps

MOST_WEIGHTS = 200_000  # with more than this (about 1.2 MB of HTML) only the chosen layer goes into the view


def head_view(attentions, tokens, layer: int | None = None, heads=None) -> None:
    """Attention weights of one layer as heat maps, then bertviz's interactive head view.

    attentions: a tuple of (1, heads, tokens, tokens), one per layer; or one tensor (heads, tokens, tokens).
    Layers and heads count from 0; by default layer 0 and all heads. With the environment variable
    COURSE_INTERACTIVE=0 only the heat maps are shown.
    """
    attentions, tokens = _expect_attentions(attentions, list(tokens))
    layer = 0 if layer is None else layer
    if not 0 <= layer < len(attentions):
        raise ValueError(f"layer must lie in 0..{len(attentions) - 1}, got {layer}")
    n_heads = attentions[layer].shape[0]
    heads = list(range(n_heads)) if heads is None else list(heads)
    if not heads or not all(0 <= head < n_heads for head in heads):
        raise ValueError(f"heads must be a list of numbers in 0..{n_heads - 1}, got {heads}")
    heat_maps([attentions[layer][head] for head in heads], [f"layer {layer}, head {h}" for h in heads], tokens, tokens)
    if os.environ.get("COURSE_INTERACTIVE", "1") != "0":
        display(HTML(_iframe(attentions, tokens, layer, heads)))


def _expect_attentions(attentions, tokens):
    if isinstance(attentions, torch.Tensor):
        attentions = (attentions,)
    if len(attentions) == 0:
        raise ValueError(
            "attentions is empty: load the model with attn_implementation=\"eager\", call it with "
            "output_attentions=True, and give outputs.attentions"
        )
    layers = []
    for index, weights in enumerate(attentions):
        if weights.dim() == 4 and weights.shape[0] == 1:
            weights = weights[0]
        if weights.dim() != 3 or tuple(weights.shape[1:]) != (len(tokens), len(tokens)):
            raise ValueError(
                f"attentions[{index}] has shape {tuple(weights.shape)}; expected (1, heads, {len(tokens)}, "
                f"{len(tokens)}), one sentence and {len(tokens)} tokens"
            )
        layers.append(weights.detach().cpu())
    return layers, tokens


def _iframe(attentions, tokens, layer, heads) -> str:
    import bertviz  # slow to import, and needed only here

    small = sum(weights.numel() for weights in attentions) <= MOST_WEIGHTS
    html = bertviz.head_view(
        [weights[None].double().nan_to_num(0).mul(1000).round().div(1000) for weights in attentions],
        tokens,
        layer=layer,
        heads=heads,
        include_layers=list(range(len(attentions))) if small else [layer],
        html_action="return",
    ).data
    page = _offline(html)
    height = min(len(tokens) * 23 + 90, 900)
    return (
        f'<div><iframe title="bertviz head view of {len(tokens)} tokens" '
        f'style="width: 100%; height: {height}px; border: 1px solid #ccc; background: white" '
        f'srcdoc="{escape(page)}"></iframe></div>'
    )


def _offline(html: str) -> str:
    """bertviz's page with its scripts inside: no require.js, d3 and jQuery from installed packages."""
    view = html[html.index("</script>") + len("</script>"):]  # the first script is require.js from a CDN
    before, rest = view.split("const params = ", 1)
    parameters, end = json.JSONDecoder().raw_decode(rest)
    after = rest[end:].split("\n", 1)[1]  # the rest of that line is a comment that repeats the parameters
    data = json.dumps(parameters, separators=(",", ":")).replace("<", "\\u003c")
    scripts = [
        distribution("mpld3").locate_file("mpld3/js/d3.v5.min.js").read_text(encoding="utf-8"),
        distribution("XStatic-jQuery").locate_file("xstatic/pkg/jquery/data/jquery.min.js").read_text(encoding="utf-8"),
        "window.require = {config() {}}; window.requirejs = (names, run) => run(window.jQuery, window.d3);",
    ]
    head = "".join(f"<script>{script}</script>" for script in scripts)
    style = "<style>body { background: white; color: black; margin: 8px } svg { overflow: visible }</style>"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Head view</title>{style}{head}</head>'
        f"<body>{before}const params = {data};\n{after}</body></html>"
    )
