"""How fast moving pictures answer: ``python tests/benchmarks/moving_pictures.py [--presses 20]``.

Milliseconds from a key press (the browser's own time stamp of it) until the frame that it changed has been painted,
on the first slider, point or cell of each picture. Half of a 60th of a second is waiting for the next frame.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent.parent)]
from browsing import CHROMIUM  # noqa: E402

from lesson_kit.show import moving  # noqa: E402
from lesson_kit.show.moving.registry import KINDS  # noqa: E402

AIM = 50
# The control that is measured: the first of these that there is, and two keys that take turns on it.
CONTROLS = [
    ("input[type=range]", ("ArrowLeft", "ArrowRight")),
    ("[data-handle]", ("ArrowLeft", "ArrowRight")),
    ("[data-cell]", ("Space", "Space")),
    ("main button:not(#reset)", ("Enter", "Enter")),
]
MEASURE = """() => { window.waited = []; addEventListener('keydown', event => {
    requestAnimationFrame(() => setTimeout(() => window.waited.push(performance.now() - event.timeStamp)));
}, true) }"""


def presses(browser, name: str, times: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(getattr(moving, name)().document, encoding="utf-8")
        page = browser.new_page(viewport={"width": 1000, "height": KINDS[name].height})
        page.goto(path.as_uri())
        page.wait_for_function("window.picture")
        page.evaluate(MEASURE)
        control, keys = next(
            (page.locator(where).first, keys) for where, keys in CONTROLS if page.locator(where).count()
        )
        control.focus()
        for i in range(times):
            control.press(keys[i % 2])
            page.wait_for_function("n => window.waited.length === n", arg=i + 1)
        waited = page.evaluate("window.waited")
        page.close()
    return waited


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presses", type=int, default=20)
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in KINDS:
            waited = presses(browser, name, arguments.presses)
            median = statistics.median(waited)
            verdict = "reached" if median <= AIM else "missed"
            print(f"{name:20} median {median:5.1f} ms, worst {max(waited):5.1f} ms, aim {AIM}: {verdict}")
        browser.close()
