"""The head view, the model view and the neuron view, without a browser."""

import json
import re
from html import escape, unescape
from types import SimpleNamespace

import IPython.display
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from course_utils import Bert
from lesson_kit import show
from lesson_kit.show import bertviz_view, figures, neurons
from lesson_kit.show.in_words import IN_WORDS
from lesson_kit.show.links import strongest_links

WORDS = ["the", "sky", "is", "blue"]
SENTENCE = "john and paul wrote songs when they met"
NETWORK = re.compile(r"(?:src|href)\s*=\s*.https?:|cdnjs|require\.config|@import")


def random_attentions(n_layers=2, n_heads=3, n_tokens=4):
    generator = torch.Generator().manual_seed(0)
    shape = (1, n_heads, n_tokens, n_tokens)
    return tuple(torch.softmax(torch.randn(shape, generator=generator), dim=-1) for _ in range(n_layers))


GOOD = random_attentions()


@pytest.fixture(scope="module")
def tokenizer():
    from transformers import BertTokenizer

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(SENTENCE.split()), "song", "##s", "."]
    return BertTokenizer(vocab={word: i for i, word in enumerate(words)})


@pytest.fixture(scope="module")
def small_bert(tokenizer):
    return random_bert(len(tokenizer))


def random_bert(vocab_size, n_layers=3, n_heads=4, d_model=32, **options):
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=d_model,
        num_hidden_layers=n_layers,
        num_attention_heads=n_heads,
        intermediate_size=64,
        max_position_embeddings=24,
        initializer_range=0.3,
        **options,
    )
    return BertModel(config).eval()


@pytest.fixture
def shown(monkeypatch):
    """Everything displayed, in order."""
    monkeypatch.setenv("COURSE_INTERACTIVE", "1")
    seen = []
    monkeypatch.setattr(figures, "display", seen.append)
    for place in (bertviz_view, IPython.display):  # a notice takes it from there
        monkeypatch.setattr(place, "display", lambda what, **options: seen.append(what))
    yield seen
    assert plt.get_fignums() == [], "a figure was left open: Jupyter would show it twice"


def inner_page(view):
    return unescape(re.search(r'srcdoc="([^"]*)"', view.iframe)[1])


def params_of(page):
    data = re.split(r"(?:const params|window\.bertviz_params) = (?=\{)", page, maxsplit=1)[1]
    return json.JSONDecoder().raw_decode(data)[0]


# All three


@pytest.fixture(params=["head", "model", "neuron"])
def view(request, tokenizer, small_bert):
    if request.param == "neuron":
        return show.neuron_view(small_bert, tokenizer, SENTENCE, layer=1, head=2)
    return {"head": show.head_view, "model": show.model_view}[request.param](GOOD, WORDS)


def test_a_view_shows_its_frame_and_folds_the_still_picture_and_the_words(view, shown):
    assert shown == []
    view._ipython_display_()
    (bundle,) = shown
    assert bundle["image/png"] == view.picture._repr_mimebundle_()[0]["image/png"] and len(view.picture.alt) > 100
    frame, folded = bundle["text/html"].split("</iframe></div>")
    assert frame.count("<iframe") == 1 and "<script" not in frame and 'title="Interactive' in frame
    assert re.fullmatch(r"<details><summary>[^<]*</summary><img [^>]*><p>[^<]*</p><pre>[^<]*</pre></details>", folded)
    assert escape(view.links) in folded and " attends 0." in view.links
    assert view.links in bundle["text/plain"] and view.picture.alt in repr(view)
    assert int(re.search(r"height: (\d+)px", frame)[1]) <= 520


def test_a_view_can_be_static(view, shown, monkeypatch):
    monkeypatch.setenv("COURSE_INTERACTIVE", "0")
    view._ipython_display_()
    picture, words = shown
    assert picture is view.picture
    assert words["text/plain"] == view.links and escape(view.links) in words["text/html"]
    assert words["text/html"].startswith(IN_WORDS)


def test_a_page_is_complete_and_asks_the_network_for_nothing(view, tmp_path):
    path = tmp_path / "view.html"
    view.save_html(path)
    page = path.read_text(encoding="utf-8")
    assert page == view.data and page.startswith("<!doctype html>")
    assert page.index('<img alt="') < page.index("<pre>") < page.index("bertviz-")
    for html in (page, inner_page(view)):
        assert not NETWORK.search(html)
        assert html.count('"attn"') == 1  # the weights are held once
    assert "<img" not in inner_page(view)


def test_the_picture_is_made_once_and_not_before_it_is_needed(view, monkeypatch):
    assert "picture" not in vars(view)
    assert view.picture is view.picture and view.data is view.data


@pytest.mark.parametrize("function", [show.head_view, show.model_view])
def test_twelve_layers_of_twelve_heads_weigh_less_than_a_megabyte(function):
    view = function(random_attentions(12, 12, 16), [f"token{i}" for i in range(16)])
    assert len(view.data.encode()) < 1e6 and len(view.iframe.encode()) < 1e6
    assert np.shape(params_of(view.data)["attention"][0]["attn"]) == (12, 12, 16, 16)


def test_a_neuron_view_of_bert_base_weighs_less_than_a_megabyte(random_bert_base, minilm):
    sentence = "the bank raised its rates while the river ran past the old town again"
    view = show.neuron_view(random_bert_base, minilm.tokenizer, sentence, layer=11, head=11)
    held = params_of(view.data)["attention"]["all"]
    assert np.shape(held["queries"]) == (len(held["attn"]), 12, 16, 64) and held["left_text"][1:3] == ["the", "bank"]
    assert len(held["attn"]) >= 3 and "it holds only layers 9, 10, 11" in view.data
    assert len(view.data.encode()) < 1e6 and len(view.iframe.encode()) < 1e6


def test_a_long_sentence_keeps_the_nearest_layers(monkeypatch):
    monkeypatch.setattr(bertviz_view, "MOST_NUMBERS", 100)  # a layer has 48
    attentions = random_attentions(4)
    params = params_of(show.head_view(attentions, WORDS, layer=3).data)
    assert params["include_layers"] == [2, 3] and len(params["attention"][0]["attn"]) == 2
    view = show.model_view(attentions, WORDS, layers=[1, 2, 3])
    assert params_of(view.data)["include_layers"] == [1, 2] and "it holds only layers 1, 2." in view.data
    monkeypatch.setattr(bertviz_view, "MOST_NUMBERS", 1)
    assert params_of(show.head_view(attentions, WORDS, layer=1).data)["include_layers"] == [1]


@pytest.mark.parametrize("function", [show.head_view, show.model_view])
def test_strange_tokens_stay_inside_their_string(function):
    tokens = ['"></iframe><script>', "</script><!--<script>", "你好", "; // HACK: const params = {"]
    view = function(GOOD, tokens)
    assert view.iframe.count("<iframe") == view.iframe.count("</iframe>") == 1 and "<script" not in view.iframe
    assert params_of(inner_page(view))["attention"][0]["left_text"] == tokens
    assert inner_page(view).count("</script>") == 5  # d3, jQuery, the shim, the view and its numbers


@pytest.mark.parametrize("function", [show.head_view, show.model_view])
def test_views_survive_nan_and_later_changes(function):
    weights = torch.full((1, 2, 4, 4), float("nan"))
    view = function(weights, WORDS)
    weights[:] = 1
    assert "the attends to nothing" in view.links
    assert not re.search("NaN|[^0]1", json.dumps(params_of(view.data)["attention"][0]["attn"]))
    assert view.picture.alt


@pytest.mark.parametrize("function", [show.head_view, show.model_view])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"attentions": ()}, ValueError, 'attentions is empty: .*attn_implementation="eager".*outputs.attentions'),
        ({"attentions": None}, ValueError, "attentions is empty"),
        ({"attentions": (None, None)}, ValueError, "attentions is empty"),
        ({"attentions": {"last_hidden_state": 0}}, TypeError, "attentions is a dict.*give outputs.attentions"),
        ({"attentions": [np.ones((3, 4, 4))]}, TypeError, r"attentions\[0\] is a ndarray; expected a torch.Tensor"),
        ({"tokens": WORDS[:3]}, ValueError, r"attentions\[0\] has shape \(1, 3, 4, 4\); .*\(1, heads, 3, 3\) for 3"),
        ({"tokens": []}, ValueError, "tokens is empty"),
        ({"attentions": (torch.rand(2, 3, 4, 4),)}, ValueError, "a batch of 2; expected one sentence"),
        ({"attentions": torch.rand(4, 4)}, ValueError, r"has shape \(4, 4\); expected \(1, heads, 4, 4\)"),
        ({"attentions": (GOOD[0], GOOD[1][:, :2])}, ValueError, r"attentions\[1\] .* expected \(1, 3, 4, 4\)"),
        ({"layer": 2}, ValueError, r"layers? must lie in 0\.\.1, counted from 0; got 2"),
        ({"layer": -1}, ValueError, r"layers? must lie in 0\.\.1"),
        ({"layer": 0.5}, TypeError, "layers? must be counted in whole numbers, got float"),
        ({"heads": [0, 3]}, ValueError, r"heads must lie in 0\.\.2, counted from 0; got 3"),
        ({"heads": []}, ValueError, "heads is empty"),
        ({"heads": ["a"]}, TypeError, "heads must be counted in whole numbers"),
        ({"tokens": "the sky"}, TypeError, "tokens must be a list of strings"),
        ({"tokens": [101, 102, 103, 104]}, TypeError, "tokens must be a list of strings"),
    ],
)
def test_errors(function, arguments, error, message):
    if function is show.model_view and "layer" in arguments:
        arguments = {"layers": [arguments["layer"]]}
    with pytest.raises(error, match=message):
        function(**{"attentions": GOOD, "tokens": WORDS} | arguments)


# The head view


def test_head_view_begins_with_layer_0_and_all_heads():
    view = show.head_view(GOOD, WORDS)
    params = params_of(view.data)
    assert (params["layer"], params["heads"], params["include_layers"]) == (0, [0, 1, 2], [0, 1])
    assert "3 heat maps" in view.picture.alt and "layer 0, head 0" in view.picture.alt


def test_head_view_shows_what_was_chosen():
    view = show.head_view(GOOD, WORDS, layer=1, heads=[2, 0])
    params = params_of(view.data)
    assert (params["layer"], params["heads"], params["include_layers"]) == (1, [2, 0], [0, 1])
    assert "layer 1, head 2, largest in each row" in view.picture.alt
    assert "Interactive head view of 4 tokens" in view.iframe


@pytest.mark.parametrize("axes", [3, 4])
def test_head_view_takes_one_tensor(axes):
    weights = random_attentions()[0].requires_grad_()
    view = show.head_view(weights[0] if axes == 3 else weights, tuple(WORDS), heads=1)
    assert "Heat map, 4 by 4" in view.picture.alt and "layer 0, head 1" in view.picture.alt
    assert len(params_of(view.data)["attention"][0]["attn"]) == 1


def test_a_page_holds_the_rounded_weights():
    page = show.head_view(GOOD, WORDS).data
    held = torch.tensor(params_of(page)["attention"][0]["attn"], dtype=torch.float64)
    torch.testing.assert_close(held, torch.cat(GOOD).double(), atol=0.5001e-3, rtol=0)
    data = page.split("const params = ", 1)[1].split("\n", 1)[0]
    assert max(len(number) for number in re.findall(r"\d+\.\d+", data)) <= len("0.123")


# The model view


def test_model_view_holds_the_chosen_layers_and_heads():
    attentions = random_attentions(4, 3)
    view = show.model_view(attentions, WORDS, layers=[3, 1], heads=[2, 0])
    params = params_of(view.data)
    assert (params["include_layers"], params["include_heads"]) == ([3, 1], [2, 0])
    held = torch.tensor(params["attention"][0]["attn"], dtype=torch.float64)
    expected = torch.stack([attentions[layer][0, [2, 0]] for layer in (3, 1)]).double()
    torch.testing.assert_close(held, expected, atol=0.5001e-3, rtol=0)
    assert "2 layers, a column for each of 2 heads; each 4 by 4" in view.picture.alt


def test_model_view_draws_every_map_on_one_scale():
    view = show.model_view(GOOD, WORDS)
    fig, _ = view._draw()
    images = fig.axes[0].images
    assert len(images) == 6 and {image.get_clim() for image in images} == {(0, 1)}
    drawn = torch.tensor(np.array([image.get_array() for image in images])).view(2, 3, 4, 4)
    torch.testing.assert_close(drawn, torch.cat(GOOD), check_dtype=False)
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == ["0", "1"]
    plt.close(fig)


# The neuron view


def test_neuron_view_holds_the_models_own_queries_keys_and_weights(tokenizer, small_bert):
    view = show.neuron_view(small_bert, tokenizer, SENTENCE, layer=1, head=2)
    params = params_of(view.data)
    held = params["attention"]["all"]
    assert (params["layer"], params["head"]) == (1, 2)
    assert held["left_text"] == ["[CLS]", *SENTENCE.split(), "[SEP]"]
    bert = Bert.from_huggingface(small_bert).eval()
    out = bert(tokenizer(SENTENCE, return_tensors="pt")["input_ids"], need_weights=True)
    weights = torch.cat(out.attention_weights).double()
    torch.testing.assert_close(torch.tensor(held["attn"], dtype=torch.float64), weights, atol=0.5001e-3, rtol=0)
    attention, x = bert.encoder.layers[1].attention, out.hidden_states[1]
    for name, linear in (("queries", attention.w_q), ("keys", attention.w_k)):
        expected = linear(x)[0].unflatten(-1, (4, 8)).transpose(0, 1).double()
        here = torch.tensor(held[name][1], dtype=torch.float64)
        torch.testing.assert_close(here, expected, atol=0.502e-2, rtol=0)


def test_neuron_view_takes_every_kind_of_bert(tokenizer, small_bert):
    from transformers import BertForMaskedLM, BertModel

    views = [
        show.neuron_view(model, tokenizer, SENTENCE, "they met", layer=2)
        for model in (
            small_bert,
            Bert.from_huggingface(small_bert),
            SimpleNamespace(hf_model=small_bert, bert=None),
            BertModel(small_bert.config, add_pooling_layer=False).eval(),
            BertForMaskedLM(small_bert.config).double(),
        )
    ]
    assert views[0].links == views[1].links == views[2].links != views[3].links
    pair = params_of(views[0].data)["attention"]
    assert set(pair) == {"all", "aa", "bb", "ab", "ba"} and pair["bb"]["left_text"] == ["they", "met", "[SEP]"]


def test_neuron_view_leaves_the_model_as_it_was(tokenizer):
    model = random_bert(len(tokenizer), attn_implementation="sdpa").train()
    before = {name: values.clone() for name, values in model.state_dict().items()}
    show.neuron_view(model, tokenizer, SENTENCE)
    assert model.training and model.config._attn_implementation == "sdpa"
    assert all(values.requires_grad for values in model.parameters())
    assert all(torch.equal(values, before[name]) for name, values in model.state_dict().items())


def test_neuron_view_of_another_activation(tokenizer):
    model = random_bert(len(tokenizer), hidden_act="gelu_new")
    assert show.neuron_view(model, tokenizer, SENTENCE).links


def test_neuron_view_shows_the_query_of_one_token(tokenizer, small_bert):
    first = show.neuron_view(small_bert, tokenizer, SENTENCE)
    assert 'the query of "john" (8 numbers)' in first.picture.alt and "john attends 0." in first.picture.alt
    assert 'the query of "they"' in show.neuron_view(small_bert, tokenizer, SENTENCE, token="they").picture.alt
    view = show.neuron_view(small_bert, tokenizer, "they met and they met", token=4)
    assert 'the query of "they (4)"' in view.picture.alt and "they (4) attends" in view.picture.alt


def test_the_strips_are_query_times_key_and_their_softmax(tokenizer, small_bert):
    fig, _ = show.neuron_view(small_bert, tokenizer, SENTENCE, layer=1, head=3, token=2)._draw()
    *strips, weights = (torch.tensor(np.array(ax.images[0].get_array())) for ax in fig.axes if ax.images)
    query, keys, products, scores = (strip.double().atanh() * 4 for strip in strips)  # bertviz's tanh, undone
    torch.testing.assert_close(products, query * keys, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(scores[:, 0], keys @ query[0] / 8**0.5, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(weights[:, 0].double(), scores[:, 0].softmax(0), atol=1e-4, rtol=1e-4)
    texts = next(ax for ax in fig.axes if ax.get_title() == "weight").texts
    assert [text.get_text() for text in texts] == [show.number(weight) for weight in weights[:, 0]]
    plt.close(fig)


def test_a_bertviz_with_another_script_is_told_by_name(monkeypatch):
    import bertviz

    draw = bertviz.head_view

    def of_another_version(*args, **kwargs):
        return SimpleNamespace(data=draw(*args, **kwargs).data.replace("BOXHEIGHT = 22.5", "BOXHEIGHT = 23"))

    monkeypatch.setattr(bertviz, "head_view", of_another_version)
    with pytest.raises(RuntimeError, match="bertviz .* has another head view than .*BOXHEIGHT = 22.5"):
        show.head_view(GOOD, WORDS).save_html("never written")


def with_hook(model):
    model = random_bert(model.config.vocab_size)
    model.encoder.layer[0].register_forward_hook(lambda module, inputs, output: output * 1.1)
    return model


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sentence_a": ""}, ValueError, "sentence_a is empty; expected words, got ''"),
        ({"sentence_b": " "}, ValueError, "sentence_b is empty"),
        ({"sentence_a": None}, TypeError, "sentence_a must be a string, got NoneType"),
        ({"sentence_a": ["they"]}, TypeError, "sentence_a must be a string, got list"),
        ({"sentence_a": "they " * 23}, ValueError, "the sentence has 25 tokens; the model has 24 positions"),
        ({"layer": 3}, ValueError, r"layer must lie in 0\.\.2"),
        ({"head": 4}, ValueError, r"head must lie in 0\.\.3"),
        ({"token": "zebra"}, ValueError, r"token 'zebra' is not in the sentence; its tokens are \['\[CLS\]', 'john'"),
        ({"sentence_a": "they met they", "token": "they"}, ValueError, r"occurs 2 times; .* positions \[1, 3\]"),
        ({"token": 10}, ValueError, r"token must lie in 0\.\.9"),
        ({"model": torch.nn.Linear(2, 2)}, TypeError, "must be a BertModel of transformers or our Bert, got Linear"),
        ({"model": None}, TypeError, "got NoneType"),
        ({"model": random_bert(16).half()}, ValueError, r"model is in torch.float16; expected float32"),
        ({"model": random_bert(6)}, ValueError, "tokenizer gives the id .* but model knows 6 tokens"),
    ],
)
def test_neuron_view_errors(arguments, error, message, tokenizer, small_bert):
    with pytest.raises(error, match=message):
        show.neuron_view(**{"model": small_bert, "tokenizer": tokenizer, "sentence_a": SENTENCE} | arguments)


def test_neuron_view_says_when_bertvizs_bert_is_not_the_model(tokenizer, small_bert):
    with pytest.raises(ValueError, match="attends otherwise than the model.*by hooks"):
        show.neuron_view(with_hook(small_bert), tokenizer, SENTENCE)
    small = random_bert(len(tokenizer))
    small.extra = torch.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="other weights than bertviz's BERT"):
        show.neuron_view(small, tokenizer, SENTENCE)
    with pytest.raises(ValueError, match="model gave no attention weights: load the model with"):
        neurons._expect_agreement([torch.ones(1)], ())


def test_minilm_agrees_with_bertvizs_bert(minilm):
    view = show.neuron_view(minilm, minilm.tokenizer, "John and Paul wrote songs.", layer=3, head=1, token="paul")
    assert "  paul attends 0." in view.links


# Links in words


def test_a_line_for_each_token_of_few_maps():
    weights = torch.tensor([[[0.004, 0.36, 0.29, 0.346], [0, 0, 0, 0], [0, 0, 1, 0], [0.25, 0.25, 0.25, 0.25]]])
    assert strongest_links([weights], ["they", "john", "paul", "."], [0], [0]).splitlines() == [
        "Strongest links",
        "layer 0, head 0:",
        "  they attends 0.36 to john, 0.35 to ., 0.29 to paul",
        "  john attends to nothing with 0.01 or more",
        "  paul attends 1.00 to paul",
        "  . attends 0.25 to they, 0.25 to john, 0.25 to paul",
    ]
    words = strongest_links([weights], ["they", "met", "they", "."], [0], [0])
    assert "(after a token that occurs more than once: its position, counted from 0)" in words
    assert "  they (0) attends 0.36 to met, 0.35 to ., 0.29 to they (2)" in words


def test_a_line_for_each_head_or_layer_of_many():
    tokens = ["[CLS]", "they", "met", "[SEP]"]
    weights = torch.zeros(12, 4, 4)
    weights[:, :, 0] = 0.6
    weights[3, 1, 2], weights[5, 2, 1], weights[5, 2, 2] = 0.3, 0.4, 0.5
    lines = strongest_links([weights, weights], tokens, [1], list(range(12))).splitlines()
    assert lines[0] == "Strongest links between different tokens, without [CLS] and [SEP]" and len(lines) == 13
    assert lines[4:7] == [
        "layer 1, head 3: they attends 0.30 to met",
        "layer 1, head 4: none with 0.01 or more",
        "layer 1, head 5: met attends 0.40 to they",
    ]
    lines = strongest_links([weights, weights], tokens, [0, 1], list(range(12))).splitlines()
    best = "met attends 0.40 to they (head 5); they attends 0.30 to met (head 3)"
    assert lines[1:] == [f"layer {layer}, one link of a head: {best}" for layer in (0, 1)]
