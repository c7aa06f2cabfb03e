"""The neuron view: one head's queries and keys, number by number, and the attention weights that they make."""

import json

import torch

from course_utils.bert import NAME_MAP, Bert
from course_utils.generation import evaluating
from course_utils.layers import ACTIVATIONS
from lesson_kit.colours import FRAME
from lesson_kit.compare import eager_attention
from lesson_kit.show.bertviz_view import View, layers_that_fit, left_out, offline, rounded
from lesson_kit.show.expect import GET_ATTENTIONS, expect_index
from lesson_kit.show.figures import subplots
from lesson_kit.show.heatmaps import COLOUR_MAP, ink
from lesson_kit.show.links import positioned, row_in_words, strongest_links
from lesson_kit.show.numbers import number

LARGEST_DIFFERENCE = 1e-5  # of a weight: bertviz's BERT against the model
WORDS, POSITIONS = "embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight"
DIGITS = {"attn": 3, "queries": 2, "keys": 2}
NUMBER_LABELS = "document.querySelectorAll('#layer option').forEach((o, i) => {{ o.textContent = {}[i] }})"


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
        "Point at a token on the left to see where it looks; click the plus beside it to see its query, the keys, "
        "their products and the sums of these. Blue: above zero; orange: below; the stronger, the farther from zero."
        + left_out(kept, layers)
    )

    def page(front: str) -> str:
        from bertviz.neuron_view import show

        held = [{name: rounded(values[None], DIGITS[name]) for name, values in layers[i].items()} for i in kept]
        options = {"display_mode": "light", "layer": kept.index(layer), "head": head, "html_action": "return"}
        view = show(_Computed(held), "bert", tokenizer, sentence_a, sentence_b, **options)
        room = max(0, 9 * max(map(len, tokens)) - 105)  # bertviz cuts off a long token on the left
        style = f"#vis {{ margin-left: {room}px; min-width: 1000px }}"
        return offline(view.data, title, words, style, front, NUMBER_LABELS.format(json.dumps(kept)))

    def draw():
        shown = (layers[layer][name][head].numpy() for name in ("queries", "keys", "attn"))
        return _draw(*shown, tokens, row, layer, head)

    links = strongest_links([parts["attn"] for parts in layers], tokens, [layer], [head])
    return View(title, draw, links, page, height=26 * len(tokens) + 220)


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
    fig, axes = subplots(2, 4, figsize=(11, height + 1.3), gridspec_kw=ratios)
    for ax in axes[0, 1:]:
        ax.axis("off")
    largest = max(abs(query).max(), abs(keys).max())
    _strip(axes[0, 0], query, f'query of "{names[row]}"', -largest, largest)
    _strip(axes[1, 0], keys, "keys", -largest, largest)
    _strip(axes[1, 1], products, "query × key, number by number", -abs(products).max(), abs(products).max())
    _strip(axes[1, 2], scores, "score", -abs(scores).max(), abs(scores).max())
    _strip(axes[1, 3], weights, "weight", 0, weights.max())
    axes[1, 0].set_yticks(range(len(names)), names, size=9, parse_math=False)
    return fig, (
        f'Heat strips of layer {layer}, head {head}: the query of "{names[row]}" ({width} numbers), below it the '
        f"keys of {len(names)} tokens; beside them query times key number by number, the sums of these divided by the "
        f"root of {width} (scores), and their softmax (weights). {row_in_words(weights[:, 0], names, row)}."
    )


def _strip(ax, values, title: str, low: float, high: float) -> None:
    image = ax.imshow(values, COLOUR_MAP, vmin=low, vmax=high, aspect="auto")
    narrow = values.shape[1] == 1
    ax.set_title(title if narrow else f"{title}\nwhite {number(low, 1)}, dark {number(high, 1)}", size=10)
    ax.set(xticks=[], yticks=[])
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set(visible=True, color=FRAME)
    for i, value in enumerate(values[:, 0] if narrow else []):
        colour = ink(image.cmap(image.norm(value)))
        ax.text(0, i, number(value), ha="center", va="center", color=colour, size=9)
