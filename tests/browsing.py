"""A real browser for the tests that need one, and a JupyterLab to look at in it: fixtures for ``conftest.py``."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


@pytest.fixture(scope="module")
def browser():
    """Chromium; without it, or without Playwright, the test is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium, chromium-browser or google-chrome is installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory):
    """A JupyterLab server (Notebook 7 is another page of it), and its folder."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    folder = tmp_path_factory.mktemp("jupyter")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    settings = {f"JUPYTER{kind}_DIR": str(folder / ".jupyter") for kind in ("_CONFIG", "_DATA", "_RUNTIME")}
    settings |= {f"JUPYTERLAB_{kind}_DIR": str(folder / ".jupyter") for kind in ("SETTINGS", "WORKSPACES")}
    path = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    options = [f"--ServerApp.{o}" for o in ("ip=127.0.0.1", f"port={port}", "port_retries=0", f"root_dir={folder}")]
    options += ["--IdentityProvider.token=", "--allow-root", "--no-browser", "--LabApp.news_url="]
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            env=os.environ | settings | {"COURSE_INTERACTIVE": "1", "PYTHONPATH": path},
            stdout=log,
            stderr=log,
            cwd=folder,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            try:
                urlopen(f"{address}/api/status", timeout=1).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "server.log").read_text()
                time.sleep(0.25)
        yield address, folder
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def cut_off(page):
    """Shuts every door to the network; gives a list of all that goes wrong from now on."""
    wrong = []

    def gate(route):
        local = route.request.url.startswith(("file:", "about:", "data:", "blob:", "http://127.0.0.1:"))
        if not local:
            wrong.append(f"asked the network for {route.request.url}")
        route.continue_() if local else route.abort()

    page.route("**/*", gate)
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return wrong


def wait_for_kernel(page, seconds=120):
    """Until the notebook's kernel has answered JupyterLab (or Notebook 7).

    The circle that shows what the kernel does says "idle" from the start; a cell that is run before a kernel is named
    beside it makes JupyterLab ask for one, in a dialog that covers the page, and a cell that is run before it is
    connected is dropped. Once it is named, "idle" is the kernel's own word.
    """
    page.locator(".jp-Toolbar-kernelName", has_text="Python 3").wait_for(timeout=1000 * seconds)
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for(timeout=1000 * seconds)
