"""Moving pictures in a real browser: turns their controls as a reader does, and reads what they show.

A picture's test module imports the fixture ``play`` from here: ``picture = play(show.moving.NAME(...))``.
"""

import math
import re
from pathlib import Path

import pytest
from browsing import cut_off

from lesson_kit.show.moving.page import LARGEST

SERIOUS = ("serious", "critical")
WIDTHS = (1000, 700, 548, 390, 360)  # 548: a cell of JupyterLab in a window of 1000 by 700
PAUSE = 450  # milliseconds: the sentence is read aloud, and puzzles are ticked, when nothing has changed for 400
BOUNDS = {"<0.0001": (0, 0.0001), ">0.9999": (0.9999, 1), ">99999": (99999, math.inf)}  # what a text can't hold


@pytest.fixture
def play(browser, tmp_path):
    """Opens a picture's page, without its frame; ends with no error and nothing asked of the network."""
    pages, all_wrong = [], []

    def open_page(moving, width=1000, height=None, color_scheme="light", **options):
        path = tmp_path / f"{len(pages)}.html"
        path.write_text(moving.document, encoding="utf-8")
        size = {"width": width, "height": height or room(moving, width)}
        page = browser.new_page(viewport=size, color_scheme=color_scheme, **options)
        page.set_default_timeout(5_000)
        pages.append(page)
        all_wrong.append(cut_off(page))
        page.goto(path.as_uri())
        page.wait_for_function("window.picture")
        return Player(page)

    yield open_page
    for page in pages:
        page.close()
    assert not any(all_wrong), all_wrong


def room(moving, width: int) -> int:
    """The height of the picture's frame at this width."""
    from lesson_kit.show.moving.page import NARROW
    from lesson_kit.show.moving.registry import KINDS

    kind = KINDS[moving.name]
    return kind.height if width >= NARROW else kind.narrow_height


class Player:
    """One picture that is open in a page."""

    def __init__(self, page):
        self.page = page

    # --- reading ---

    @property
    def state(self) -> dict:
        return self.page.evaluate("window.picture.state")

    def numbers(self) -> dict:
        """What the picture has computed. NaN and infinities arrive as Python's."""
        return self.page.evaluate("window.picture.numbers()")

    def shown(self) -> dict[str, str]:
        """The texts on the screen that show a number, by the number's path: {"weights.0": "0.33"}."""
        texts = "all => all.map(one => [one.dataset.shows, one.textContent])"
        return dict(self.page.locator("[data-shows]").evaluate_all(texts))

    def control(self, key: str) -> str:
        """The value that stands beside a slider or step buttons."""
        return self.page.locator(f"output[data-control='{key}']").text_content()

    def said(self) -> str:
        """The live sentence: the same on the screen and, after a pause, for a screen reader."""
        self.page.wait_for_timeout(PAUSE)
        seen = self.page.locator(".say").text_content()
        assert self.page.locator(".announced").text_content() == seen
        return seen

    def solved(self, wait: bool = True) -> list[bool]:
        """Which puzzles are ticked, after a rest or (not ``wait``) at this moment."""
        if wait:
            self.page.wait_for_timeout(PAUSE)
        return self.page.locator(".puzzles li").evaluate_all("all => all.map(one => one.classList.contains('solved'))")

    # --- turning the controls ---

    def slide(self, key: str, value: float) -> None:
        """Moves a slider to ``value`` with the keyboard."""
        slider = self.page.locator(f"#control-{key}")
        low, high, step, now = slider.evaluate("e => [e.min, e.max, e.step, e.value].map(Number)")
        ends = {abs(value - now): None, abs(value - low): "Home", abs(value - high): "End"}
        slider.focus()
        if end := ends[min(ends)]:
            slider.press(end)
            now = low if end == "Home" else high
        for _ in range(round(abs(value - now) / step)):
            slider.press("ArrowRight" if value > now else "ArrowLeft")
        assert float(slider.input_value()) == pytest.approx(value, abs=step / 2)

    def choose(self, key: str, text: str) -> None:
        """Clicks one of a choice's options."""
        options = self.page.locator(f"fieldset:has(input[name='{key}'])")
        options.get_by_role("radio", name=text, exact=True).click()

    def choose_by_key(self, key: str, presses: int) -> None:
        """Goes on by so many options with the arrow keys."""
        self.page.locator(f"input[name='{key}']:checked").focus()
        for _ in range(presses):
            self.page.keyboard.press("ArrowRight")

    def button(self, text: str) -> None:
        self.page.get_by_role("button", name=text, exact=True).click()

    def cell(self, row: int, column: int) -> None:
        """Clicks a cell of a grid."""
        self.page.locator(f"[data-cell='{row} {column}']").click()

    def nudge(self, handle: str, key: str, times: int = 1) -> None:
        """Presses a key, such as "ArrowUp" or "Shift+ArrowUp", on a point that can be dragged."""
        point = self.page.locator(f"[data-handle='{handle}']")
        for _ in range(times):
            point.press(key)

    def drag(self, handle: str, across: float, down: float) -> None:
        """Drags a point with the mouse by so many pixels."""
        box = self.page.locator(f"[data-handle='{handle}'] .mark").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + across / 2, y + down / 2)
        self.page.mouse.move(x + across, y + down)
        self.page.mouse.up()


def paths(numbers, path=""):
    """Every number with its path: ("weights.0", 0.33), ..."""
    if isinstance(numbers, (dict, list)):
        for key, value in numbers.items() if isinstance(numbers, dict) else enumerate(numbers):
            yield from paths(value, f"{path}{key}.")
    else:
        yield path[:-1], numbers


def expect_numbers(picture: Player, expected: dict, digits: int | dict[str, int] = 2) -> None:
    """The picture's numbers are the expected ones to 1e-6, and its texts are these, rounded.

    digits: the decimals of the texts, or those of each kind: {"weights": 2}.
    """
    found = dict(paths(picture.numbers()))
    for path, number in paths(expected):
        assert found[path] == pytest.approx(number, abs=1e-6, rel=1e-6, nan_ok=True), f"{path} in {picture.state}"
    shown = picture.shown()
    assert shown, "no text on the screen has data-shows"
    for path, text in shown.items():
        kind = path.split(".")[0]
        decimals = digits if isinstance(digits, int) else digits[kind]
        expect_text(path, text, found[path], decimals)


def expect_text(path: str, text: str, number: float, digits: int) -> None:
    """The text is the number with so many decimals, or "0" if it is 0; an exact half may be rounded either way.

    A positive number that these decimals would round to 0 or 1 may have four, or stand as one of BOUNDS.
    """
    if not math.isfinite(number):
        assert text == ("NaN" if math.isnan(number) else "∞" if number > 0 else "−∞"), path
        return
    if text == "0":  # without decimals: exactly
        assert number == 0, path
        return
    if text in BOUNDS:
        low, high = BOUNDS[text]
        assert low < number < high, path
        return
    if digits < 4 and re.fullmatch(r"0\.\d{4}", text):
        assert number != 0 and round(number, digits) in (0, 1), f"{path} shows {text!r}, with too many decimals"
        digits = 4
    assert re.fullmatch(rf"−?\d+\.\d{{{digits}}}" if digits else r"−?\d+", text), f"{path} shows {text!r}"
    assert float(text.replace("−", "-")) == pytest.approx(number, abs=0.5 * 10**-digits + 1e-9), path
    assert not re.fullmatch(r"−[0.]+", text), f"{path} shows a negative zero"


# --- what every picture must be ---

CUT_OFF = """() => [...document.querySelectorAll('main *')].filter(e => {
    if (!e.getClientRects().length || e.matches('.handle *, .handle, line, path, .say')) return false;
    const box = e.getBoundingClientRect();
    return box.left < -0.5 || box.top < -0.5 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5;
}).map(e => e.outerHTML.slice(0, 160))"""
SMALL = """() => [...document.querySelectorAll('button, .segments label, input[type=range]')].filter(e => {
    const box = e.getBoundingClientRect();
    return box.width && (box.width < 24 || box.height < 24);
}).map(e => e.outerHTML.slice(0, 160))"""
OVER_EACH_OTHER = """() => {
    const texts = [...document.querySelectorAll('.stage text')].map(e => [e, e.getBoundingClientRect()]);
    const hits = [];
    texts.forEach(([one, a], i) => texts.slice(i + 1).forEach(([other, b]) => {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > 4) hits.push(one.textContent + ' / ' + other.textContent);
    }));
    return hits;
}"""


def expect_well_made(play, moving, overlaps: bool = False) -> None:
    """At five widths nothing is cut off, too small to touch or written over; axe finds nothing serious in either theme.

    overlaps: texts may stand over each other (where the reader can put them there).
    """
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    axe = (Path(package.__path__[0]) / "axe.min.js").read_text(encoding="utf-8")
    assert len(moving.document.encode()) <= LARGEST
    page = play(moving).page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": room(moving, width)})
        page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"scrolls at {width}"
        assert page.evaluate(CUT_OFF) == [], f"cut off at {width}"
        assert page.evaluate(SMALL) == [], f"too small at {width}"
        if not overlaps:
            assert page.evaluate(OVER_EACH_OTHER) == [], f"over each other at {width}"
    page.evaluate(axe)
    for color_scheme in ("light", "dark"):
        page.emulate_media(color_scheme=color_scheme)
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        serious = [f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in found if v["impact"] in SERIOUS]
        assert serious == [], color_scheme


HOSTILE = ["<script>document.title='hit'</script>", '<img src=x onerror="document.title=1">', "&amp;", "</script>"]


def expect_text_only(picture: Player, words) -> None:
    """None of the words has become an element, and each (or its beginning) can be read."""
    assert picture.page.locator("script").count() == 2, "the data and our own script"
    assert picture.page.locator("img").count() == 0
    text = picture.page.evaluate("document.querySelector('main').textContent")
    for word in words:
        assert word[:8] in text, word
