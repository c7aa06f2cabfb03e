"""What all moving pictures share: the page and its policy, the frame, what a notebook shows and stores, the themes."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape, unescape

import nbformat
import pytest
from browsing import cut_off
from driver import play  # noqa: F401 (fixture)
from nbconvert import HTMLExporter

from lesson_kit import show
from lesson_kit.show.moving import page as pages
from lesson_kit.show.moving.registry import KINDS

made = pytest.fixture(lambda: show.moving.drag_the_query())


def outputs(monkeypatch, moving, interactive: str) -> list:
    """What a notebook gets to show: (data, metadata) of each output."""
    shown = []
    monkeypatch.setenv("COURSE_INTERACTIVE", interactive)
    monkeypatch.setattr(
        "IPython.display.display", lambda data, metadata=None, raw=False: shown.append((data, metadata))
    )
    moving._ipython_display_()
    return shown


def test_one_output_is_live_and_has_the_static_picture_with_its_words(monkeypatch, made):
    ((data, _),) = outputs(monkeypatch, made, "1")
    assert {*data} == {"text/html", "image/png", "text/plain"}
    html = data["text/html"]
    assert made.frame in html and html.index("<iframe") < html.index("<details>") < html.index("<img alt=")
    assert f"<p>{escape(made.picture.alt)}</p>" in html
    assert data["text/plain"] == f"[figure: {made.picture.alt}]"


def test_what_is_stored_holds_no_script_and_can_be_made_live_again(monkeypatch, made):
    (static, metadata), (words, _) = outputs(monkeypatch, made, "0")
    assert {*static} == {"image/png", "text/plain"}
    assert metadata["image/png"]["alt"] == made.picture.alt
    assert "This figure in words" in words["text/html"]
    stored = json.dumps([static, metadata, words])
    assert "<script" not in stored and "<iframe" not in stored
    assert show.moving.live(json.loads(json.dumps(metadata))) == made.frame


@pytest.mark.parametrize(
    "metadata, message",
    [
        ({}, "metadata must be"),
        ({"moving": "drag_the_query"}, "metadata must be"),
        ({"moving": {"name": "drag_the_query"}}, "metadata must be"),
        ({"moving": {"name": "../../etc/passwd", "data": {}}}, "name must be one of .*drag_the_query.*got '../../etc"),
        ({"moving": {"name": "drag_the_query", "data": {"a": float("nan")}}}, "data must be plain JSON"),
        ({"moving": {"name": "drag_the_query", "data": {"a": "x" * 100_000}}}, "expected at most 100000"),
    ],
)
def test_only_what_the_registry_knows_becomes_live(metadata, message):
    with pytest.raises(ValueError, match=message):
        show.moving.live(metadata)


@pytest.mark.parametrize("name", KINDS)
def test_every_picture_can_be_called_by_its_name(name):
    assert callable(getattr(show.moving, name)) and getattr(show.moving, name).__doc__
    assert KINDS[name].height <= 600, "more than a screen of 1000 x 700 with the question above"


def test_the_page_runs_one_script_and_fetches_nothing(made):
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", made.document, flags=re.DOTALL)
    assert json.loads(data) == made.data
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made.document)[1]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|\b(eval|fetch|localStorage|innerHTML|import)\b", script)
    assert not re.search(r"#[0-9a-fA-F]{3,6}\b|url\((?!#)", pages._read("harness.css") + script), "a colour of its own"
    assert f"const NARROW = {pages.NARROW};" in script
    assert f"(max-width: {pages.NARROW - 1}px)" in pages._read("harness.css")


def test_the_policy_stops_another_script(browser, made):
    injected = made.document.replace("</body>", "<script>window.hit = 1</script><img src=x onerror='hit = 2'></body>")
    page = browser.new_page()
    wrong = cut_off(page)
    page.set_content(injected)
    page.wait_for_function("window.picture")
    assert page.evaluate("window.hit") is None
    assert len([text for text in wrong if "Content Security Policy" in text]) >= 2, wrong
    assert page.evaluate("window.picture.numbers().weights.length") == 2, "its own script runs"
    page.close()


AROUND = {
    "JupyterLab": ("<html>", "<body data-jp-theme-light='{jp}'>"),
    "the site": ("<html data-theme='{theme}'>", "<body>"),
    "VS Code": ("<html>", "<body data-vscode-theme-kind='vscode-{theme}'>"),
}
GROUNDS = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 17, 17)"}


def framed(play, made, around=("<html>", "<body>"), theme="light", **options):  # noqa: F811
    """The frame in a page like that of some surroundings; gives the page and the frame within."""
    page = play(made, **options).page
    words = {"theme": theme, "jp": str(theme == "light").lower()}
    html, body = (part.format(**words) for part in around)
    page.set_content(f"<!doctype html>{html}{body.replace('>', ' style=margin:0>', 1)}{made.frame}</body></html>")
    frame = page.frames[-1]
    frame.wait_for_function("window.picture")
    return page, frame


@pytest.mark.parametrize("around", AROUND)
def test_it_follows_the_theme_around_it(play, made, around):  # noqa: F811
    ground = "getComputedStyle(document.body).backgroundColor"
    for theme, system in (("dark", "light"), ("light", "dark")):
        page, frame = framed(play, made, AROUND[around], theme, color_scheme=system)
        assert frame.evaluate(ground) == GROUNDS[theme], f"{theme} in a {system} system"
    other = "dark"
    page.evaluate(
        """([jp, theme]) => { for (const e of [document.documentElement, document.body]) {
            if ('jpThemeLight' in e.dataset) e.dataset.jpThemeLight = jp
            if ('theme' in e.dataset) e.dataset.theme = theme
            if ('vscodeThemeKind' in e.dataset) e.dataset.vscodeThemeKind = 'vscode-' + theme } }""",
        ["false", other],
    )
    frame.wait_for_function(f"{ground} === '{GROUNDS[other]}'")


def test_without_a_theme_around_it_follows_the_system(play, made):  # noqa: F811
    for system in GROUNDS:
        _, frame = framed(play, made, color_scheme=system)
        assert frame.evaluate("getComputedStyle(document.body).backgroundColor") == GROUNDS[system]


@pytest.mark.parametrize("width", [1000, 500, 499, 360])
def test_the_frame_is_as_high_as_its_page(play, made, width):  # noqa: F811
    page, frame = framed(play, made, width=width)
    kind = KINDS[made.name]
    height = page.locator("iframe").bounding_box()["height"]
    assert height == (kind.height if width >= pages.NARROW else kind.narrow_height)
    assert frame.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


NO_REST = "window.kept = setTimeout; window.setTimeout = () => 0"  # however slow the machine, no pause is over
REST = "window.setTimeout = kept; window.picture.set({})"


def test_the_sentence_is_seen_at_once_and_read_aloud_after_a_pause(play, made):  # noqa: F811
    picture = play(made)
    seen, aloud = (picture.page.locator(each) for each in (".say", ".announced"))
    before = aloud.text_content()
    assert before == seen.text_content()
    picture.page.evaluate(NO_REST)
    picture.nudge("query", "ArrowRight", 3)
    picture.page.evaluate("window.picture.set({x: 2})")
    assert "Query (2.00, 2.00)" in seen.text_content(), "never behind the picture"
    assert aloud.text_content() == before, "not for each key"
    picture.page.evaluate(REST)
    assert picture.said() != before
    assert aloud.get_attribute("aria-live") == "polite" and seen.get_attribute("aria-hidden") == "true"
    box = aloud.bounding_box()
    assert box["width"] <= 1 and box["height"] <= 1


def test_a_puzzle_is_ticked_on_release_or_rest_not_in_passing(play, made):  # noqa: F811
    picture = play(made)
    picture.page.evaluate(NO_REST)
    handle = picture.page.locator("[data-handle=query] .mark").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    mouse = picture.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 80, y + 80)  # x1 wins
    assert picture.state["x"] > picture.state["y"] and picture.solved(wait=False)[0] is False
    mouse.move(x, y)
    mouse.up()
    assert picture.solved(wait=False)[0] is False, "only passed"
    picture.drag("query", 80, 80)
    assert picture.solved(wait=False)[0] is True, "let go"
    picture.button("Reset")
    picture.nudge("query", "Shift+ArrowRight", 3)
    assert picture.solved(wait=False)[0] is False
    picture.page.evaluate(REST)
    assert picture.solved()[0] is True, "rested"


def test_reduced_motion_glides_nowhere(play, made):  # noqa: F811
    for wish, expected in (("no-preference", True), ("reduce", False)):
        picture = play(made, reduced_motion=wish)
        picture.choose("keys", "three")
        seconds = picture.page.locator("rect.weight").first.evaluate("e => getComputedStyle(e).transitionDuration")
        assert any(float(time.strip(" s")) > 0 for time in seconds.split(",")) is expected


def test_it_lives_in_an_exported_notebook(made, monkeypatch):
    ((data, metadata),) = outputs(monkeypatch, made, "1")
    shown = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("...", outputs=[shown])])
    exported, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    assert unescape(re.search(r'srcdoc="([^"]*)"', exported)[1]) == made.document
