"""bertviz's views in a real browser with every door to the network shut: do they draw, and do they answer the mouse?"""

from importlib.util import find_spec

import nbformat
import pytest
import torch
from browsing import cut_off, wait_for_kernel

from lesson_kit import show

TOKENS = ["[CLS]", "he", "said", "<\"##ing'", "</script><!--<script>", "你好", "&amp;", "[SEP]"]
N_LAYERS, N_HEADS = 3, 12


@pytest.fixture(scope="module")
def attentions():
    torch.manual_seed(0)
    shape = (1, N_HEADS, len(TOKENS), len(TOKENS))
    return tuple(torch.softmax(2 * torch.randn(shape), dim=-1) for _ in range(N_LAYERS))


@pytest.fixture
def show_in(browser, attentions, tmp_path):
    """Puts the head view's frame into a page; gives the page, the view's frame, and all that went wrong."""
    pages = []

    def open_page(color_scheme="light", **options):
        path = tmp_path / "page.html"
        dark = "<style>:root { color-scheme: light dark }</style>"
        frame = show.head_view(attentions, TOKENS, **options).iframe
        path.write_text(f"<!doctype html><meta charset='utf-8'>{dark}{frame}", encoding="utf-8")
        page = browser.new_page(color_scheme=color_scheme)
        pages.append(page)
        wrong = cut_off(page)
        page.goto(path.as_uri())
        frame = page.frame_locator("iframe")
        frame.locator("line").first.wait_for(state="attached", timeout=10_000)
        return page, frame, wrong

    yield open_page
    for page in pages:
        page.close()


def opacities(frame):
    values = frame.locator("line").evaluate_all("lines => lines.map(line => +line.getAttribute('stroke-opacity'))")
    return torch.tensor(values, dtype=torch.float64).view(N_HEADS, len(TOKENS), len(TOKENS))


def test_the_view_draws_tokens_heads_and_weights(show_in, attentions):
    _, frame, wrong = show_in(layer=1, heads=[2, 5])
    assert frame.locator("svg #left text").all_text_contents() == TOKENS
    assert frame.locator("svg #right text").all_text_contents() == TOKENS
    assert frame.locator("select#layer").input_value() == "1"
    assert frame.locator("select#layer option").all_text_contents() == ["0", "1", "2"]
    drawn = opacities(frame)
    expected = torch.zeros_like(drawn)
    expected[[2, 5]] = attentions[1][0, [2, 5]].double() / 2  # bertviz divides by the number of heads that are on
    torch.testing.assert_close(drawn, expected, atol=3e-4, rtol=0)
    assert wrong == []


def test_everything_on_the_page_can_be_seen(show_in):
    page, frame, wrong = show_in()
    outer = page.locator("iframe").bounding_box()
    for text in [*frame.locator("svg text").all(), *frame.locator("p").all(), frame.locator("select#layer")]:
        box = text.bounding_box()
        assert outer["x"] <= box["x"] and box["x"] + box["width"] <= outer["x"] + outer["width"]
        assert outer["y"] <= box["y"] and box["y"] + box["height"] <= outer["y"] + outer["height"]
    assert wrong == []


def test_layers_and_heads_can_be_chosen(show_in, attentions):
    _, frame, wrong = show_in(heads=[0])
    frame.locator("select#layer").select_option("2")
    torch.testing.assert_close(opacities(frame)[0], attentions[2][0, 0].double(), atol=6e-4, rtol=0)
    squares = frame.locator("svg > g:last-child > rect")
    assert squares.count() == N_HEADS
    squares.nth(7).click()
    assert [bool(head.sum()) for head in opacities(frame)] == [head in (0, 7) for head in range(N_HEADS)]
    frame.locator("svg #left text").nth(1).hover()
    assert frame.locator("line[visibility='visible']").count() == N_HEADS * len(TOKENS)
    assert wrong == []


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_dark_text_on_white_in_either_scheme(show_in, color_scheme):
    page, frame, wrong = show_in(color_scheme)
    assert page.locator("iframe").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
    assert frame.locator("body").evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
    assert frame.locator("svg text").first.evaluate("e => getComputedStyle(e).fill") == "rgb(0, 0, 0)"
    assert "head view of 8 tokens" in page.locator("iframe").get_attribute("title")
    assert wrong == []


def numbers(frame, where):
    return [float(text.replace("\u2212", "-")) for text in frame.locator(f"{where} .number").all_text_contents()]


def test_the_head_view_says_its_numbers(show_in, attentions):
    _, frame, wrong = show_in(layer=1, heads=[2])
    weights, said = attentions[1][0].double(), frame.locator("#said")
    frame.locator("svg #left text").nth(1).hover()
    assert numbers(frame, "#right") == pytest.approx(weights[2, 1].tolist(), abs=0.0061)
    strongest = int(weights[2, 1].argmax())
    start = f"he looks at: {TOKENS[strongest]} {show.number(weights[2, 1, strongest])}"
    assert said.text_content().startswith(start) and said.text_content().endswith("(head 2)")
    frame.locator("svg #right text:not(.number)").nth(2).hover()
    assert numbers(frame, "#left") == pytest.approx(weights[2, :, 2].tolist(), abs=0.0061)
    assert said.text_content().startswith("said is looked at by: ")
    frame.locator("svg > g:last-child > rect").nth(5).click()
    assert frame.locator("#left .number, #right .number").count() == 0 and said.text_content() == ""
    frame.locator("svg #left text:not(.number)").nth(3).hover()
    assert numbers(frame, "#right") == pytest.approx(weights[[2, 5], 3].mean(0).tolist(), abs=0.0061)
    assert said.text_content().endswith("(mean of 2 heads)")
    assert frame.locator("svg .name").all_text_contents() == [str(head) for head in range(N_HEADS)]
    colours = {line.get_attribute("stroke") for line in frame.locator("line").all()[:: len(TOKENS) ** 2]}
    assert colours == {"#08306b"}  # blue is weight, as in the still picture, in every head
    assert wrong == []


def with_minus(value):
    return show.number(value).replace("-", "\u2212")


def put_in_a_frame(browser, view, width, path):
    page = browser.new_page(viewport={"width": width, "height": 700})
    wrong = cut_off(page)
    path.write_text(f"<!doctype html><meta charset='utf-8'><body style='margin: 0'>{view.iframe}", encoding="utf-8")
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("svg line").first.wait_for(state="attached", timeout=10_000)
    return page, frame, wrong


LONG = [f"token{i}" for i in range(24)]


@pytest.mark.parametrize("width", [548, 948])  # JupyterLab's cells in a window of 1000 by 700 and of 1400 by 900
@pytest.mark.parametrize(("tokens", "n_layers"), [(TOKENS, 6), (LONG, 12)])
def test_the_model_view_fits_with_all_its_heads_and_says_its_numbers(browser, width, tokens, n_layers, tmp_path):
    shape = (1, 12, len(tokens), len(tokens))
    attentions = [torch.softmax(3 * torch.randn(shape), dim=-1) for _ in range(n_layers)]
    page, frame, wrong = put_in_a_frame(browser, show.model_view(attentions, tokens), width, tmp_path / "page.html")
    room = page.locator("iframe").bounding_box()
    assert room["height"] <= 522
    groups = frame.locator("svg > g:not(.detail)")
    assert groups.count() == 12 * n_layers
    for number in (0, 11, 12 * n_layers - 1, 17, 5):
        small = groups.nth(number).locator("rect").last
        box = small.bounding_box()
        assert box["x"] + box["width"] <= room["width"] and box["y"] + box["height"] <= room["y"] + room["height"] + 1
        small.click()
        enlarged = frame.locator("rect.detail").bounding_box()
        assert enlarged["x"] >= 0 and enlarged["x"] + enlarged["width"] <= room["width"]
        assert enlarged["y"] + enlarged["height"] <= room["y"] + room["height"] + 1
        frame.locator("g.detail").first.locator("text").nth(1).hover()
        weights = attentions[number // 12][0, number % 12, 1]
        assert numbers(frame, "g.detail") == pytest.approx(weights.tolist(), abs=0.0061)
        small.click(force=True) if enlarged["x"] > box["x"] + box["width"] else small.dispatch_event("click")
    small.hover()
    map_ = attentions[0][0, 5]
    assert frame.locator("#said").text_content().startswith("Layer 0, head 5: strongest is ")
    assert frame.locator("#said").text_content().endswith(show.number(map_.max()))
    assert wrong == []
    page.close()


@pytest.mark.parametrize("width", [548, 948])
def test_the_neuron_view_fits_and_says_its_numbers(browser, width, tmp_path):
    from transformers import BertTokenizer

    from course_utils import Bert

    words = "john and paul wrote songs when they met".split()
    tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])})
    bert = Bert(vocab_size=len(tokenizer), d_model=96, n_layers=2, n_heads=3, d_ff=32).eval()
    view = show.neuron_view(bert, tokenizer, " ".join(words), layer=1, head=2, token="paul")
    page, frame, wrong = put_in_a_frame(browser, view, width, tmp_path / "page.html")
    room = page.locator("iframe").bounding_box()
    right = frame.locator("#expanded #rightText rect").last.bounding_box()
    assert right["x"] + right["width"] <= room["width"] and right["y"] + right["height"] <= room["y"] + room["height"]
    state = frame.locator("body").evaluate("() => ({at: bertviz.index, map: bertviz.attention.all.attn[1][2]})")
    assert state["at"] == 3  # open at the token of the still picture
    assert numbers(frame, "#expanded #rightText") == pytest.approx(state["map"][3], abs=0.0061)
    frame.locator("#expanded #leftText text").nth(5).hover()
    assert numbers(frame, "#expanded #rightText") == pytest.approx(state["map"][5], abs=0.0061)
    square = frame.locator("#product .vector").nth(2).locator(".element").nth(7)
    value = float(square.get_attribute("data-value"))
    square.hover()
    said = frame.locator("#said")
    assert said.text_content() == f"query × key, and, number 7: {with_minus(value)}"
    frame.locator(".dotproduct").nth(4).hover()
    score = float(frame.locator(".dotproduct").nth(4).get_attribute("data-value"))
    assert said.text_content() == f"score, wrote: {with_minus(score)}"
    fill = frame.locator("#keys .element").evaluate_all("e => e.map(e => [+e.dataset.value >= 0, e.style.fill])")
    assert {tuple(pair) for pair in fill} == {(True, "rgb(8, 48, 107)"), (False, "rgb(127, 39, 4)")}
    assert wrong == []
    page.close()


# All three views and a moving picture: in JupyterLab, in Notebook 7, in a page exported from there, and in saved pages

CELLS = [
    """
import torch
from transformers import BertTokenizer
from course_utils import Bert
from lesson_kit import show
words = "john and paul wrote songs when they met".split()
tokenizer = BertTokenizer(vocab={word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])})
torch.manual_seed(0)
bert = Bert(vocab_size=len(tokenizer), d_model=24, n_layers=2, n_heads=3, d_ff=32).eval()
inputs = tokenizer(" ".join(words), return_tensors="pt")
attentions = bert(inputs["input_ids"], need_weights=True).attention_weights
tokens = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
""".strip(),
    """
display(show.head_view(attentions, tokens, layer=1))
display(show.model_view(attentions, tokens))
display(show.moving.drag_the_query())
show.neuron_view(bert, tokenizer, " ".join(words), layer=1, head=2)
""".strip(),
]
N_WORDS, THEY = 10, 7  # tokens, and where "they" stands


def run_all(page, address, where, path):
    """Opens a notebook that never ran, runs all its cells and saves it; returns what was asked of the network."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, path)
    wrong = cut_off(page)
    page.goto(f"{address}/{where}/{path.name}")
    wait_for_kernel(page)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    page.locator("iframe[title*='neuron view']").wait_for(timeout=180_000)
    page.keyboard.press("Control+s")
    return [message for message in wrong if message.startswith("asked")]


def look_at_the_views(page):
    """Each view draws its lines, and pointing at "they" leaves the lines of "they" alone; the moving picture moves."""
    frames = [page.frame_locator(f"iframe[title*='{kind} view']") for kind in ("head", "model", "neuron")]
    head, model, neuron = frames
    for frame in frames:
        frame.locator("svg line").first.wait_for(state="attached", timeout=10_000)

    assert head.locator("svg line").count() == 3 * N_WORDS**2
    head.locator("#left text").nth(THEY).hover()
    assert head.locator("line[visibility='visible']").count() == 3 * N_WORDS

    assert model.locator("svg line").count() == 2 * 3 * N_WORDS**2
    assert model.locator(".detail").count() == 0
    model.locator("svg > g > rect:last-child").nth(4).click()
    assert model.locator("text.detail").text_content() == "Layer 1, Head 1"
    model.locator("g.detail").first.locator("text").nth(THEY).hover()
    seen = model.locator(".attn-line-group").evaluate_all("groups => groups.map(group => +group.style.opacity)")
    assert seen == [float(i == THEY) for i in range(N_WORDS)]

    chosen = [neuron.locator(f"select#{name}").input_value() for name in ("layer", "att_head")]
    assert chosen == ["1", "2"]
    neuron.locator("#expanded #leftText text").nth(THEY).hover()
    scores = neuron.locator(".dotproduct").evaluate_all("squares => squares.map(square => +square.dataset.value)")
    lit = neuron.locator("#expanded #rightText .highlight").evaluate_all("e => e.map(e => +e.style.opacity)")
    torch.testing.assert_close(torch.tensor(scores).softmax(0), torch.tensor(lit), atol=0.02, rtol=0)
    neuron.locator("#expanded #leftText > g").nth(THEY).locator("rect").nth(1).click()
    neuron.locator("#collapsed #leftText text").nth(THEY).hover()
    groups = neuron.locator("#collapsed .attn-line-group")
    seen = groups.evaluate_all("groups => groups.map(group => +group.style.opacity)")
    assert seen == [float(i == THEY) for i in range(N_WORDS)]

    moving = page.frame_locator("iframe[title='Drag the query']")
    weight = moving.locator("[data-shows='weights.1']")
    assert weight.text_content() == "0.67"
    moving.locator("[data-handle=query]").press("ArrowDown")
    assert weight.text_content() == "0.65"
    assert page.locator("iframe[title='Drag the query']").evaluate(
        "e => e.contentDocument.documentElement.scrollHeight <= e.clientHeight"
    )


@pytest.mark.parametrize("where", ["lab/tree", "notebooks"])
def test_the_views_live_in_jupyter(where, browser, jupyter):
    if where == "notebooks" and find_spec("notebook") is None:
        pytest.skip("Notebook 7 is not installed (pip install notebook)")
    address, folder = jupyter
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    assert run_all(page, address, where, folder / "views.ipynb") == []
    look_at_the_views(page)
    page.close()


def test_the_views_live_in_an_exported_page(browser, jupyter):
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    _, folder = jupyter
    if not (folder / "views.ipynb").exists():
        pytest.skip("needs the notebook that test_the_views_live_in_jupyter runs and saves")
    notebook = nbformat.read(folder / "views.ipynb", as_version=4)
    outputs = notebook.cells[1].outputs
    assert [output.output_type for output in outputs] == ["display_data"] * 4
    (folder / "exported.html").write_text(nbconvert.HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    cut_off(page)  # nbconvert's own template asks for MathJax; without it the page is as good
    page.goto((folder / "exported.html").as_uri())
    look_at_the_views(page)
    page.close()


def test_saved_pages_draw_too(browser, attentions, tmp_path):
    for function in (show.head_view, show.model_view):
        function(attentions, TOKENS).save_html(tmp_path / "view.html")
        page = browser.new_page()
        wrong = cut_off(page)
        page.goto((tmp_path / "view.html").as_uri())
        assert page.locator("svg line").count() % len(TOKENS) ** 2 == 0 < page.locator("svg line").count()
        assert page.locator("img").evaluate("image => image.complete && image.naturalWidth > 300")
        assert wrong == []
        page.close()
