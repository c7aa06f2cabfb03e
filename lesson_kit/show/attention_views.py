"""The head view (one layer, its heads over each other) and the model view (all layers and heads side by side)."""

import numpy as np
from matplotlib.patches import Rectangle

from lesson_kit.colours import FRAME, PAPER
from lesson_kit.show.bertviz_view import STRONGEST, View, layers_that_fit, left_out, offline, rounded
from lesson_kit.show.expect import expect_attentions, expect_index, expect_indices, expect_tokens
from lesson_kit.show.figures import subplots
from lesson_kit.show.heatmaps import HeatMaps
from lesson_kit.show.links import strongest_links
from lesson_kit.show.scales import COLOUR_MAP, Scale


def head_view(attentions, tokens, layer: int | None = None, heads=None, outline=None) -> View:
    """One layer's attention weights as heat maps, in words, and as bertviz's interactive head view.

    attentions: one (1, heads, tokens, tokens) per layer, as in ``outputs.attentions``; or one such tensor.
    tokens: the words. layer, heads: counted from 0; by default layer 0 and all its heads.
    outline: what the still picture frames, as in ``heat_map``.
    In the view one can go to another layer; of a very long sentence it holds only the nearest layers.

    Raises:
        TypeError, ValueError: no attentions, not one square per token and head, or no such layer or head.
    """
    tokens = expect_tokens(tokens)
    attentions = expect_attentions(attentions, len(tokens))
    layer = expect_index("layer", 0 if layer is None else layer, len(attentions))
    n_heads = len(attentions[layer])
    heads = expect_indices("heads", heads, n_heads)
    kept = layers_that_fit(len(attentions), attentions[0].numel(), layer)
    title = f"Interactive head view of {len(tokens)} tokens: layer {layer} at first, {n_heads} heads"
    words = (
        "Point at a token to see where it looks. Each square is a head: a click turns it on or off, a double click "
        f"leaves it alone on. Several: their mean.{left_out(kept, attentions)}"
    )

    def page(front: str) -> str:
        import bertviz

        weights = [rounded(weights[None]) for weights in attentions]
        options = {"layer": layer, "heads": heads, "include_layers": kept, "html_action": "return"}
        view = bertviz.head_view(weights, tokens, **options)
        return offline(view.data, title, words, front, "head", _head_view_in_its_frame(tokens))

    def draw():
        titles = [f"layer {layer}, head {head}" for head in heads]
        return HeatMaps([attentions[layer][head] for head in heads], titles, tokens, tokens, outline=outline).draw()

    links = strongest_links(attentions, tokens, [layer], heads)
    return View(title, draw, links, page, height=23 * len(tokens) + 130)


def _head_view_in_its_frame(tokens: list[str]) -> dict[str, str]:
    """Patches: one colour for weights, columns as wide and rows as high as the frame has room for."""
    room = f"(innerHeight - 122) / {len(tokens)}"
    return {
        "let config = {}": "const config = window.bertviz = {}",
        "const TEXT_SIZE = 15": f"const TEXT_SIZE = Math.min(15, 0.7 * {room})",
        "const BOXHEIGHT = 22.5": f"const BOXHEIGHT = Math.min(22.5, {room})",
        "const BOXWIDTH = 110": f"const BOXWIDTH = {_width_of_a_token(tokens)}",
        "const MATRIX_WIDTH = 115": "const MATRIX_WIDTH = Math.max(60, Math.min(480, innerWidth - 30 - 2 * BOXWIDTH))",
        "const CHECKBOX_SIZE = 20": "const CHECKBOX_SIZE = 24",
        "d3.scaleOrdinal(d3.schemeCategory10)": f'd3.scaleOrdinal(["{STRONGEST}"])',
    }


def _model_view_in_its_frame(tokens: list[str]) -> dict[str, str]:
    """Patches: one colour for weights; all layers and heads in the frame, and the enlarged one, too."""
    n, wide = len(tokens), _width_of_a_token(tokens)
    small = f"((innerHeight - 116) / config.numLayers - 2 * THUMBNAIL_PADDING) / {n}"
    return {
        "const config = {}": "const config = window.bertviz = {}",
        "const DIV_WIDTH = 970": "const DIV_WIDTH = Math.min(970, innerWidth - 22)",
        "const DETAIL_WIDTH = 300": f"const DETAIL_WIDTH = {2 * wide + 140}",
        "const DETAIL_BOX_WIDTH = 80": f"const DETAIL_BOX_WIDTH = {wide}",
        "const DETAIL_BOX_HEIGHT = 18": f"const DETAIL_BOX_HEIGHT = Math.min(18, (innerHeight - 170) / {n})",
        "const TEXT_SIZE = 13": f"const TEXT_SIZE = Math.min(13, 0.75 * (innerHeight - 170) / {n})",
        "= 7 * (12 / config.totalHeads)": f"= Math.max(0.5, Math.min(7 * (12 / config.totalHeads), {small}))",
        "x = leftPos + THUMBNAIL_PADDING - DETAIL_WIDTH + 8": "x = Math.max(0, leftPos + 13 - DETAIL_WIDTH)",
        "const LAYER_COLORS = d3.schemeCategory10": f'const LAYER_COLORS = Array(10).fill("{STRONGEST}")',
        '.attr("stroke-width", 1.5)': f'.attr("stroke-width", 1.5).attr("fill", "{PAPER}")',
    }


def _width_of_a_token(tokens: list[str]) -> int:
    """In pixels, with a number beside it."""
    return min(56 + 8 * max(map(len, tokens)), 190)


def model_view(attentions, tokens, layers=None, heads=None) -> View:
    """The attention weights of all layers and heads: as small heat maps, in words, and as bertviz's model view.

    attentions, tokens: as for ``head_view``. layers, heads: counted from 0; by default all.
    Of a very long sentence the interactive view holds only the first of these layers.

    Raises:
        TypeError, ValueError: as for ``head_view``.
    """
    tokens = expect_tokens(tokens)
    attentions = expect_attentions(attentions, len(tokens))
    layers = expect_indices("layers", layers, len(attentions))
    heads = expect_indices("heads", heads, len(attentions[0]))
    kept = [layers[i] for i in layers_that_fit(len(layers), len(heads) * len(tokens) ** 2)]
    title = f"Interactive model view of {len(tokens)} tokens: {len(layers)} layers by {len(heads)} heads"
    words = (
        "Each small picture is one head: tokens look from left to right, the darker the more. "
        "Click one to enlarge it, then point at a token on its left." + left_out(kept, layers)
    )
    across = max(len(heads), 6)  # or bertviz would draw few heads very large

    def page(front: str) -> str:
        import bertviz

        options = {"include_layers": kept, "include_heads": heads, "display_mode": "light", "html_action": "return"}
        view = bertviz.model_view([rounded(weights[None]) for weights in attentions], tokens, **options)
        return offline(view.data, title, words, front, "model", _model_view_in_its_frame(tokens), total_heads=across)

    links = strongest_links(attentions, tokens, layers, heads)
    height = max(len(kept) * (len(tokens) * 84 / across + 10), len(tokens) * 18 + 60) + 110
    return View(title, lambda: _draw_grid(attentions, len(tokens), layers, heads), links, page, height)


def _draw_grid(attentions, n_tokens: int, layers: list[int], heads: list[int]):
    side = min(max(9 / len(heads), 0.6), 2.2)  # of a map, in inches
    fig, ax = subplots(figsize=(len(heads) * side + 1.6, len(layers) * side + 0.8))
    for i, layer in enumerate(layers):
        for j, head in enumerate(heads):
            place = (j - 0.46, j + 0.46, i + 0.46, i - 0.46)
            ax.imshow(attentions[layer][head].float().numpy(), COLOUR_MAP, vmin=0, vmax=1, extent=place)
            ax.add_patch(Rectangle((place[0], place[3]), 0.92, 0.92, fill=False, edgecolor=FRAME, linewidth=0.6))
    ax.set(xlim=(-0.5, len(heads) - 0.5), ylim=(len(layers) - 0.5, -0.5), xlabel="head", ylabel="layer")
    ax.set_xticks(range(len(heads)), heads)
    ax.set_yticks(range(len(layers)), layers)
    ax.tick_params(length=0)
    ax.spines[:].set(visible=False)
    ax.grid(False)
    bar = {"shrink": min(1, 3 / len(layers)), "anchor": (0, 1)}
    Scale(0, 1).draw_bar(
        fig, ax, np.concatenate([attentions[layer][heads].flatten().numpy() for layer in layers]), **bar
    )
    alt = (
        f"Grid of attention maps: a row for each of {len(layers)} layers, a column for each of {len(heads)} heads; "
        f"each {n_tokens} by {n_tokens} tokens (rows: look, columns: are looked at), the darker the larger. "
        "The strongest links stand in the text below."
    )
    return fig, alt
