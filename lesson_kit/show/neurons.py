"""The neuron view: one head's queries and keys, number by number, and the attention weights that they make."""

import numpy as np
import torch
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from course_utils.bert import NAME_MAP, Bert
from course_utils.generation import evaluating
from course_utils.layers import ACTIVATIONS
from lesson_kit.colours import ABOVE, BELOW, FRAME
from lesson_kit.compare import eager_attention
from lesson_kit.show.bertviz_view import View, layers_that_fit, left_out, offline, rounded
from lesson_kit.show.expect import GET_ATTENTIONS, expect_index
from lesson_kit.show.figures import subplots
from lesson_kit.show.links import positioned, row_in_words, strongest_links
from lesson_kit.show.names import printed
from lesson_kit.show.numbers import number
from lesson_kit.show.scales import DIVERGING, ink

LARGEST_DIFFERENCE = 1e-5  # of a weight: bertviz's BERT against the model
WORDS, POSITIONS = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
DIGITS = {"attn": 3, "queries": 2, "keys": 2}
STRENGTH = 4  # bertviz draws a number x as strong as tanh(|x| / 4)


def neuron_view(model, tokenizer, sentence_a: str, sentence_b: str | None = None, layer: int | None = None,
                head: int | None = None, token: str | int | None = None) -> View:  # fmt: skip
    """How one head's weights come about: the query of one token, all keys, their products, the weights.

    As heat strips for one token, in words, and as bertviz's interactive neuron view for every token.
    model: a BertModel of transformers, what ``load_bert`` gives, or our ``Bert``. layer, head: counted from 0, by
    default 0. token: whose query the strips show, a token or its position; by default the first after [CLS].

    bertviz has a BERT of its own, which gives it queries and keys; it gets this model's weights here, and its attention
    weights must equal the model's. Nothing is downloaded. Of a large model the view holds only the nearest layers.

    Raises:
        TypeError: ``model`` is no BERT.
        ValueError: a sentence is empty or longer than the model's positions, there is no such layer, head or token,
            the token occurs more than once, or bertviz's BERT does not agree with the model.
    """
    model = getattr(model, "hf_model", model)
    model = model if isinstance(model, Bert) else getattr(model, "bert", model)
    weights, n_heads, activation, eps = _weights(model)
    ids, segments, tokens = _tokenise(tokenizer, sentence_a, sentence_b, weights)
    layers = _attend(weights, n_heads, activation, eps, ids, segments)
    _expect_agreement([parts["attn"] for parts in layers], _attentions(model, ids, segments))
    layer = expect_index("layer", 0 if layer is None else layer, len(layers))
    head = expect_index("head", 0 if head is None else head, n_heads)
    row = _expect_token(token, tokens)
    size = sum(parts.numel() for parts in layers[0].values()) * (3 if sentence_b else 1)  # bertviz repeats pairs' parts
    kept = layers_that_fit(len(layers), size, layer)
    title = f"Interactive neuron view of {len(tokens)} tokens: layer {layer}, head {head} at first"
    words = (
        "Point at a token on the left to see its query, the keys, their products, scores and weights, or at a square "
        "for its number. Blue: above zero; orange: below. The minus beside a token leaves the weights alone."
        + left_out(kept, layers)
    )

    def page(front: str) -> str:
        from bertviz.neuron_view import show

        held = [{name: rounded(values[None], DIGITS[name]) for name, values in layers[i].items()} for i in kept]
        options = {"display_mode": "light", "layer": kept.index(layer), "head": head, "html_action": "return"}
        view = show(_Computed(held), "bert", tokenizer, sentence_a, sentence_b, **options)
        return offline(view.data, title, words, front, "neuron", _in_its_frame(tokens, row, kept))

    def draw():
        shown = (layers[layer][name][head].numpy() for name in ("queries", "keys", "attn"))
        return _draw(*shown, tokens, row, layer, head)

    links = strongest_links([parts["attn"] for parts in layers], tokens, [layer], [head])
    return View(title, draw, links, page, height=26 * len(tokens) + 150)


def _in_its_frame(tokens: list[str], row: int, kept: list[int]) -> dict[str, str]:
    """Patches: the still picture's colours; as wide and high as the frame; open at first, at the query of ``row``."""
    room = f"(innerHeight - 158) / {len(tokens)}"
    wide = min(62 + 8 * max(map(len, tokens)), 190)
    vectors = "(innerWidth - 22 - 2 * BOXWIDTH - BOXHEIGHT - 5.5 * PADDING_WIDTH) / 3"
    line, opened = "\n" + 12 * " ", f"config.expanded = true; config.index = {row}"
    return {
        "const config = {};": "const config = window.bertviz = {};",
        "const TEXT_SIZE = 15": f"const TEXT_SIZE = Math.min(14, 0.65 * {room})",
        "const PADDING_WIDTH = 25;": "",
        "const MATRIX_WIDTH = 200;": "",
        "const BOXWIDTH = TEXT_SIZE * 8;": f"const PADDING_WIDTH = Math.min(25, innerWidth / 50), BOXWIDTH = {wide};",
        "const BOXHEIGHT = 26": f"const BOXHEIGHT = Math.min(26, {room}), MATRIX_WIDTH = Math.min(200, {vectors})",
        "const HEIGHT_PADDING = 100": "const HEIGHT_PADDING = 50",
        "'attn': 'blue'": f"'attn': '{ABOVE[-1]}'",
        "'connector': \"blue\"": f"'connector': '{ABOVE[-1]}'",
        "'text_highlight_right': \"#478be8\"": f"'text_highlight_right': '{ABOVE[-1]}'",
        f"'neg': '#ff6318',{line}    'pos': '#0c36d8'": f"'neg': '{BELOW[-1]}', 'pos': '{ABOVE[-1]}'",
        "posQueries + 68": "posQueries",
        "posKeys + 73": "posKeys",
        "posProduct + 28": "posProduct",
        "posProduct + 55": "posProduct",
        "q \\u00D7 k (elementwise)": "q \\u00D7 k",
        '.text("Softmax")': '.text("Weight")',
        '20 + "px"': '14 + "px"',
        f".val(i).text(i));{line}}}{line}layerSelect": f".val(i).text({kept}[i])); }} layerSelect",
        f"config.index = null;{line}        unhigh": "if (config.expanded) return; config.index = null; unhigh",
        f"config.expanded = false;{line}config.bidirectional": f"{opened}; config.bidirectional",
    }


class _Computed:
    """In place of a model: hands out what was computed before."""

    def __init__(self, layers):
        self.layers = layers

    def eval(self) -> None:
        pass

    def __call__(self, *args, **kwargs):
        return (self.layers,)


def _weights(model):
    """A BERT's weights under today's Hugging Face names, which are bertviz's too; its heads, activation and epsilon."""
    weights = {name: values.detach().cpu() for name, values in getattr(model, "state_dict", dict)().items()}
    if isinstance(model, Bert):
        layers = model.encoder.layers
        names = {ours.format(n=n): theirs.format(n=n) for ours, theirs in NAME_MAP.items() for n in range(len(layers))}
        weights = {names[name]: values for name, values in weights.items()}
        n_heads, eps = layers[0].attention.n_heads, model.embeddings_norm.eps
        activation = ACTIVATIONS[layers[0].feed_forward.activation]
    elif getattr(getattr(model, "config", None), "model_type", None) == "bert":
        from transformers.activations import ACT2FN

        n_heads, eps, activation = (
            getattr(model.config, name) for name in ("num_attention_heads", "layer_norm_eps", "hidden_act")
        )
        activation = ACT2FN[activation] if isinstance(activation, str) else activation
    else:
        raise TypeError(f"model must be a BertModel of transformers or our Bert, got {type(model).__name__}")
    if (dtype := weights[WORDS].dtype) not in (torch.float32, torch.float64):
        raise ValueError(f"model is in {dtype}; expected float32, as model.float() gives it")
    return {name: values for name, values in weights.items() if "pooler" not in name}, n_heads, activation, eps


def _tokenise(tokenizer, sentence_a, sentence_b, weights):
    for name, sentence in (("sentence_a", sentence_a), ("sentence_b", sentence_b)):
        if not isinstance(sentence, str) and (name == "sentence_a" or sentence is not None):
            raise TypeError(f"{name} must be a string, got {type(sentence).__name__}")
        if sentence is not None and not sentence.strip():
            raise ValueError(f"{name} is empty; expected words, got {sentence!r}")
    inputs = tokenizer(sentence_a, sentence_b, return_tensors="pt", return_token_type_ids=True, verbose=False)
    ids, n_positions, n_words = inputs["input_ids"], len(weights[POSITIONS]), len(weights[WORDS])
    if ids.shape[1] > n_positions:
        raise ValueError(f"the sentence has {ids.shape[1]} tokens; the model has {n_positions} positions: shorten it")
    if ids.max() >= n_words:
        raise ValueError(f"tokenizer gives the id {ids.max()}, but model knows {n_words} tokens; expected its own")
    return ids, inputs["token_type_ids"], tokenizer.convert_ids_to_tokens(ids[0])


def _attend(weights, n_heads: int, activation, eps: float, ids, segments) -> list[dict[str, torch.Tensor]]:
    """Runs bertviz's BERT. For each layer: queries and keys (heads, tokens, d_head), attn (heads, tokens, tokens)."""
    from bertviz.transformers_neuron_view import BertConfig, BertModel

    config = BertConfig(
        len(weights[WORDS]),
        hidden_size=weights[WORDS].shape[1],
        num_hidden_layers=sum(name.endswith("self.query.weight") for name in weights),
        num_attention_heads=n_heads,
        intermediate_size=len(weights["encoder.layer.0.intermediate.dense.bias"]),
        hidden_act=activation,
        max_position_embeddings=len(weights[POSITIONS]),
        type_vocab_size=len(weights["embeddings.token_type_embeddings.weight"]),
        layer_norm_eps=eps,
    )
    with torch.device("meta"):  # takes no memory: the weights are shared with the model
        bert = BertModel(config)
    bert.pooler = torch.nn.Identity()
    try:
        bert.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        raise ValueError(f"model has other weights than bertviz's BERT: {error}") from error
    with torch.no_grad():
        return [{name: values[0] for name, values in parts.items()} for parts in bert.eval()(ids, segments)[-1]]


def _attentions(model, ids, segments):
    """The model's own attention weights."""
    ids, segments = (x.to(next(model.parameters()).device) for x in (ids, segments))
    with evaluating(model):
        if isinstance(model, Bert):
            return model(ids, segments, need_weights=True).attention_weights
        with eager_attention(model):
            return model(input_ids=ids, token_type_ids=segments, output_attentions=True).attentions


def _expect_agreement(bertviz, attentions) -> None:
    if not attentions or len(attentions) != len(bertviz):
        raise ValueError(f"model gave no attention weights: {GET_ATTENTIONS}")
    apart = max(float((a - b[0].cpu()).abs().max()) for a, b in zip(bertviz, attentions, strict=True))
    if not apart <= LARGEST_DIFFERENCE:
        raise ValueError(
            f"bertviz's BERT with these weights attends otherwise than the model: {apart:.0e} apart, expected at most "
            f"{LARGEST_DIFFERENCE:.0e}. Was the model changed, by hooks for example?"
        )


def _expect_token(token, tokens: list[str]) -> int:
    if not isinstance(token, str):
        return expect_index("token", 1 if token is None else token, len(tokens))
    found = [i for i, name in enumerate(tokens) if name == token]
    if not found:
        raise ValueError(f"token {token!r} is not in the sentence; its tokens are {tokens}")
    if len(found) > 1:
        raise ValueError(f"token {token!r} occurs {len(found)} times; expected one of its positions {found}")
    return found[0]


def _draw(queries, keys, weights, tokens: list[str], row: int, layer: int, head: int):
    """The strips: the query on top, then for each token its key, the products, their scaled sum, the weight."""
    names, width = positioned(tokens), keys.shape[1]
    query, products, weights = queries[[row]], queries[[row]] * keys, weights[row][:, None]
    scores = products.sum(axis=1, keepdims=True) / width**0.5
    height = 0.24 * len(tokens)
    ratios = {"width_ratios": [7, 7, 1, 1], "height_ratios": [0.24, height]}
    fig, axes = subplots(2, 4, figsize=(9.5, height + 1.3), gridspec_kw=ratios)
    for ax in axes[0, 1:]:
        ax.axis("off")
    _strip(axes[0, 0], query, f'query of "{names[row]}"')
    _strip(axes[1, 0], keys, "keys")
    _strip(axes[1, 1], products, "query × key, number by number")
    _strip(axes[1, 2], scores, "score")
    _strip(axes[1, 3], weights, "weight", is_weight=True)
    axes[1, 0].set_yticks(range(len(names)), [printed(name) for name in names], size=9, parse_math=False)
    bar = fig.colorbar(ScalarMappable(Normalize(-1, 1), DIVERGING), ax=axes, aspect=25, pad=0.02)
    marks = [-8, -4, -2, 0, 2, 4, 8]
    bar.set_ticks(np.tanh(np.array(marks) / STRENGTH), labels=[str(mark).replace("-", "−") for mark in marks])
    return fig, (
        f'Heat strips of layer {layer}, head {head}: the query of "{names[row]}" ({width} numbers), below it the '
        f"keys of {len(names)} tokens; beside them query times key number by number, the sums of these divided by the "
        f"root of {width} (scores), and their softmax (weights). {row_in_words(weights[:, 0], names, row)}."
    )


def _strip(ax, values, title: str, is_weight: bool = False) -> None:
    """Numbers in bertviz's colours: as far from white as tanh(|x| / 4); weights from 0 to 1 as they are."""
    strength = values if is_weight else np.tanh(values / STRENGTH)
    image = ax.imshow(strength, DIVERGING, vmin=-1, vmax=1, aspect="auto")
    ax.set_title(title, size=10, parse_math=False)
    ax.set(xticks=[], yticks=[])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set(visible=True, color=FRAME)
    for i, value in enumerate(values[:, 0] if values.shape[1] == 1 else []):
        colour = ink(image.cmap(image.norm(strength[i, 0])))
        ax.text(0, i, number(value), ha="center", va="center", color=colour, size=9)
