"""bertviz's head view in a real browser with every door to the network shut: does it draw?"""

import shutil

import pytest
import torch

from course_utils.show import bertviz_view

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium, chromium-browser or google-chrome is installed")

TOKENS = ["[CLS]", "he", "said", "<\"##ing'", "</script><!--<script>", "你好", "&amp;", "[SEP]"]
N_LAYERS, N_HEADS = 3, 12


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def attentions():
    torch.manual_seed(0)
    shape = (1, N_HEADS, len(TOKENS), len(TOKENS))
    return tuple(torch.softmax(2 * torch.randn(shape), dim=-1) for _ in range(N_LAYERS))


@pytest.fixture
def show_in(browser, attentions, tmp_path, monkeypatch):
    """Puts what head_view displays into a page; gives the page, the view's frame, and all that went wrong."""
    pages = []

    def open_page(color_scheme="light", **options):
        shown = []
        monkeypatch.setenv("COURSE_INTERACTIVE", "1")
        monkeypatch.setattr(bertviz_view, "heat_maps", lambda *args: None)
        monkeypatch.setattr(bertviz_view, "display", shown.append)
        bertviz_view.head_view(attentions, TOKENS, **options)
        path = tmp_path / "page.html"
        dark = "<style>:root { color-scheme: light dark }</style>"
        path.write_text(f"<!doctype html><meta charset='utf-8'>{dark}{shown[0].data}", encoding="utf-8")
        page = browser.new_page(color_scheme=color_scheme)
        pages.append(page)
        wrong = []

        def gate(route):
            if route.request.url.startswith(("file:", "about:", "data:")):
                route.continue_()
            else:
                wrong.append(f"asked the network for {route.request.url}")
                route.abort()

        page.route("**/*", gate)
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
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
    for text in [*frame.locator("svg text").all(), frame.locator("p"), frame.locator("select#layer")]:
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
