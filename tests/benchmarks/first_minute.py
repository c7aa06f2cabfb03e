"""From the command to the first result: ``python tests/benchmarks/first_minute.py``.

``python -m lesson_kit start`` as after the installation, with a home that has never seen JupyterLab, and a browser of
its own each time. Seconds from the command to the address, to a page that can be read, to the set-up cells run, to
``42`` in lesson 00; nobody reads in between. Needs Playwright and Chromium.
"""

import argparse
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
FOLDER = "build_first_minute"  # beside notebooks/, as my_lessons is
STEPS = ["address", "readable", "set up", "42"]
SAYS_42 = "[...document.querySelectorAll('.jp-OutputArea-output')].some(e => e.innerText.trim() == '42')"


def once(playwright, screenshot: Path | None) -> list[float]:
    with tempfile.TemporaryDirectory() as home:
        shutil.rmtree(ROOT / FOLDER, ignore_errors=True)
        command = [sys.executable, "-m", "lesson_kit", "start", "--no-browser", "--folder", FOLDER, "--allow-root"]
        environment = os.environ | {"HOME": home, "USERPROFILE": home, "PYTHONUNBUFFERED": "1"}
        start = time.perf_counter()
        server = subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        try:
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://127\S+", line)))
            times = [time.perf_counter() - start]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            times += [moment - start for moment in _first_result(page, address)]
            if screenshot:
                time.sleep(2)
                page.screenshot(path=screenshot)
            browser.close()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(20)
            shutil.rmtree(ROOT / FOLDER, ignore_errors=True)
    return times


def _first_result(page: Page, address: str) -> list[float]:
    page.goto(address, wait_until="commit")
    page.wait_for_selector(".jp-NotebookPanel .jp-RenderedMarkdown h1", timeout=90_000)
    moments = [time.perf_counter()]
    page.locator(".jp-NotebookPanel .jp-RenderedMarkdown").first.click()
    for _ in range(3):  # the text, the collapsed set-up, the visible one
        page.keyboard.press("Shift+Enter")
    page.locator(".jp-CodeCell .jp-InputPrompt", has_text="[2]").wait_for(timeout=90_000)
    moments.append(time.perf_counter())
    page.locator(".jp-CodeCell", has_text="6 * 7").locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(SAYS_42, timeout=90_000)
    return [*moments, time.perf_counter()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--screenshots", type=Path)
    asked = parser.parse_args()
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; seconds since the command")
    print(*(f"{step:>9}" for step in STEPS))
    rounds = []
    with sync_playwright() as playwright:
        for n in range(asked.rounds):
            rounds.append(once(playwright, asked.screenshots and asked.screenshots / f"first_minute_{n}.png"))
            print(*(f"{moment:9.1f}" for moment in rounds[-1]), flush=True)
    print(*(f"{statistics.median(column):9.1f}" for column in zip(*rounds, strict=True)), "  median")


if __name__ == "__main__":
    main()
