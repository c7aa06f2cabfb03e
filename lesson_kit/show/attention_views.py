"""The head view (one layer, its heads over each other) and the model view (all layers and heads side by side)."""

from matplotlib.patches import Rectangle

from lesson_kit.colours import FRAME, PAPER
from lesson_kit.show.bertviz_view import View, layers_that_fit, left_out, offline, rounded
from lesson_kit.show.expect import expect_attentions, expect_index, expect_indices, expect_tokens
from lesson_kit.show.figures import subplots
from lesson_kit.show.heatmaps import COLOUR_MAP, draw_heat_maps
from lesson_kit.show.links import strongest_links


def head_view(attentions, tokens, layer: int | None = None, heads=None) -> View:
    """One layer's attention weights as heat maps, in words, and as bertviz's interactive head view.

    attentions: one (1, heads, tokens, tokens) per layer, as in ``outputs.attentions``; or one such tensor.
    tokens: the words. layer, heads: counted from 0; by default layer 0 and all its heads.
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
        f"Point at a token to see where it looks. Each square is a head, 0 to {n_heads - 1} from the left: "
        f"a click turns it on or off, a double click leaves it alone on.{left_out(kept, attentions)}"
    )

    def page(front: str) -> str:
        import bertviz

        weights = [rounded(weights[None]) for weights in attentions]
        options = {"layer": layer, "heads": heads, "include_layers": kept, "html_action": "return"}
        view = bertviz.head_view(weights, tokens, **options)
        room = max(0, 9 * max(map(len, tokens)) - 110)  # bertviz cuts off a long token on the left
        return offline(view.data, title, words, f"#vis {{ margin-left: {room}px }}", front)

    def draw():
        titles = [f"layer {layer}, head {head}" for head in heads]
        return draw_heat_maps([attentions[layer][head] for head in heads], titles, tokens, tokens)

    links = strongest_links(attentions, tokens, [layer], heads)
    return View(title, draw, links, page, height=23 * len(tokens) + 130)


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
        "Each small picture is one head: tokens look from left to right, the darker the line the more. "
        "Click one to enlarge it, then point at a token on its left to see where that one looks."
        + left_out(kept, layers)
    )
    across = max(len(heads), 6)  # or bertviz would draw few heads very large

    def page(front: str) -> str:
        import bertviz

        options = {"include_layers": kept, "include_heads": heads, "display_mode": "light", "html_action": "return"}
        view = bertviz.model_view([rounded(weights[None]) for weights in attentions], tokens, **options)
        style = f"#vis {{ min-width: 980px }} rect.detail {{ fill: {PAPER} }}"
        return offline(view.data, title, words, style, front, total_heads=across)

    links = strongest_links(attentions, tokens, layers, heads)
    height = max(len(kept) * (len(tokens) * 84 / across + 10), len(tokens) * 18 + 60) + 150
    return View(title, lambda: _draw_grid(attentions, len(tokens), layers, heads), links, page, height)


def _draw_grid(attentions, n_tokens: int, layers: list[int], heads: list[int]):
    side = min(max(9 / len(heads), 0.6), 2.2)  # of a map, in inches
    fig, ax = subplots(figsize=(len(heads) * side + 1.6, len(layers) * side + 0.8))
    largest = max(float(attentions[layer][heads].nan_to_num().max()) for layer in layers) or 1
    for i, layer in enumerate(layers):
        for j, head in enumerate(heads):
            place = (j - 0.46, j + 0.46, i + 0.46, i - 0.46)
            image = ax.imshow(attentions[layer][head].float().numpy(), COLOUR_MAP, vmin=0, vmax=largest, extent=place)
            ax.add_patch(Rectangle((place[0], place[3]), 0.92, 0.92, fill=False, edgecolor=FRAME, linewidth=0.6))
    ax.set(xlim=(-0.5, len(heads) - 0.5), ylim=(len(layers) - 0.5, -0.5), xlabel="head", ylabel="layer")
    ax.set_xticks(range(len(heads)), heads)
    ax.set_yticks(range(len(layers)), layers)
    ax.tick_params(length=0)
    ax.spines[:].set(visible=False)
    ax.grid(False)
    fig.colorbar(image, ax=ax, shrink=min(1, 3 / len(layers)), anchor=(0, 1), aspect=25, pad=0.02)
    alt = (
        f"Grid of attention maps: a row for each of {len(layers)} layers, a column for each of {len(heads)} heads; "
        f"each {n_tokens} by {n_tokens} tokens (rows: look, columns: are looked at), the darker the larger. "
        "The strongest links stand in the text below."
    )
    return fig, alt
