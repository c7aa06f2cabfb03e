"""JupyterLab as the lessons want it. A learner's own settings, and JupyterLab elsewhere, are left alone.

What differs from JupyterLab's own defaults is handed to this one server: defaults in ``overrides.json`` (what a
learner has set in JupyterLab goes before them) and the layout of the page, in a hidden folder beside the copies.
"""

import json
import os
import sys
import webbrowser
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from queue import Empty

sys.modules.setdefault("rfc3987_syntax", None)  # takes a second to load, and checks addresses that nobody gives here

from jupyter_server.serverapp import ServerApp, list_running_servers  # noqa: E402 (after the line above)
from jupyterlab.labapp import LabApp  # noqa: E402
from jupyterlab_server.workspaces_handler import WorkspacesManager  # noqa: E402

SETTINGS = ".jupyterlab"  # in the folder of the copies
PROCESS = "process"  # in there: the number of the process that serves the folder, or did
PATIENCE = 5  # seconds; a running server answers within a few hundredths of one
FIRST = "00_start_here.ipynb"
OVERRIDES = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/filebrowser-extension:browser": {"showLastModifiedColumn": False},  # the names need its room
    "@jupyterlab/notebook-extension:tracker": {"showEditorForReadOnlyMarkdown": False},  # a fold keeps its solution
}
PAGE = {  # what no lesson uses, and a page without it opens sooner
    "buildAvailable": False,
    "buildCheck": False,
    "disabledExtensions": [
        "@jupyterlab/apputils-extension:announcements",
        "@jupyterlab/debugger-extension",
        "@jupyterlab/extensionmanager-extension",
        "@jupyterlab/fileeditor-extension:language-server",
        "@jupyterlab/lsp-extension",
        "@jupyterlab/notebook-extension:export",
        "@jupyterlab/notebook-extension:language-server",
        "@jupyterlab/notebook-extension:update-raw-mimetype",
    ],
}
STYLE = """\
html:root { --jp-sidebar-min-width: 278px; } /* the longest name of a lesson */
.jp-RenderedMarkdown a { overflow-wrap: anywhere; } /* an address longer than the page is wide */
"""
LAYOUT = {
    "left": {
        "collapsed": False,
        "visible": True,
        "current": "@jupyterlab/toc:plugin",
        "widgets": ["filebrowser", "running-sessions", "@jupyterlab/toc:plugin", "extensionmanager.main-view"],
    },
    "relativeSizes": [0.2, 0.8, 0],
}
WARM_UP = "__import__('lesson_kit').check, __import__('lesson_kit').show, __import__('lesson_kit').examples"


class _Lessons(LabApp):
    """JupyterLab and its terminals; the other extensions of the server take time to load, and no lesson uses them."""

    serverapp_config = {"jpserver_extensions": {"jupyter_server_terminals": True}}

    @classmethod
    def get_extension_package(cls) -> str:
        return "jupyterlab"


def prepare(folder: Path) -> None:
    """Writes what JupyterLab shall know into a hidden folder of the copies; the layout only if there is none."""
    ours = folder / SETTINGS
    (ours / "settings").mkdir(parents=True, exist_ok=True)
    for name, content in (("overrides", OVERRIDES), ("page_config", PAGE)):
        (ours / "settings" / f"{name}.json").write_text(json.dumps(content, indent=1), encoding="utf-8")
    (ours / "settings" / "custom.css").write_text(STYLE, encoding="utf-8")
    if not (ours / "workspaces").exists():
        layout = {"data": {"layout-restorer:data": LAYOUT}, "metadata": {"id": "default"}}
        WorkspacesManager(str(ours / "workspaces")).save("default", json.dumps(layout))


def serve(folder: Path, browser: bool = True, options: tuple[str, ...] = ()) -> None:
    """Runs JupyterLab on ``folder``, copies at the top of a checkout, until Ctrl+C; ``options`` are JupyterLab's own.

    ``prepare(folder)`` goes before. If such a server runs already, its page is opened, and this returns at once.
    The first time lesson 00 is open; later the page is as it was left.
    """
    if address := running(folder):
        _open_running(address, browser, options)
        return
    ours = folder / SETTINGS
    page, lesson = _page(folder)
    server = _Lessons.initialize_server(
        [
            f"--ServerApp.root_dir={folder.parent}",
            f"--ServerApp.open_browser={browser}",
            "--ServerApp.answer_yes=True",
            f"--LabApp.default_url=/{page}",
            f"--LabApp.app_settings_dir={ours / 'settings'}",
            f"--LabApp.workspaces_dir={ours / 'workspaces'}",
            "--LabApp.custom_css=True",
            "--KernelManager.transport_encryption=auto",
            "--LabApp.extension_manager=readonly",
            "--Application.log_level=ERROR",
            *options,
        ],
        tornado_settings={"static_custom_path": [str(ours / "settings")]},
    )
    (ours / PROCESS).write_text(str(os.getpid()), encoding="utf-8")
    server.io_loop.add_callback(_warm_up, server, lesson)
    print("JupyterLab opens in your browser, or at the address below.")
    print("Ctrl+C here ends it; what you saved (Ctrl+S) is kept.")
    server.start()


def running(folder: Path) -> str | None:
    """The address of the page if ``serve`` runs on this folder already, in another process; else None.

    Among Jupyter's running servers ours is known by its process and its root: one that was started in another way
    has not our settings. One that gives no answer, because it was halted with Ctrl+Z, say, doesn't count.
    """
    try:
        ours = int((folder / SETTINGS / PROCESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):  # there never was one
        return None
    for server in list_running_servers():
        if server["pid"] == ours and Path(server["root_dir"]) == folder.parent and _answers(server):
            token = f"?token={server['token']}" if server["token"] else ""
            return f"{server['url']}{_page(folder)[0]}{token}"
    return None


def _answers(server: dict) -> bool:
    connection = HTTPConnection(server["hostname"], server["port"], timeout=PATIENCE)
    try:
        connection.request("GET", f"{server['base_url']}api")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _open_running(address: str, browser: bool, options: tuple[str, ...]) -> None:
    print(f"JupyterLab is running already, with these lessons:\n    {address}")
    if options:
        print(f"Nothing became of {' '.join(options)}: end that JupyterLab first (Ctrl+C in its terminal).")
    if browser:
        webbrowser.open(address)


def _page(folder: Path) -> tuple[str, str]:
    """The page to open, as a path at the server; and the notebook on it, as a path in the checkout."""
    left_open = _left_open(folder / SETTINGS)
    lesson = left_open or f"{folder.name}/{FIRST}"
    return "lab" if left_open else f"lab/tree/{lesson}", lesson


def _left_open(ours: Path) -> str | None:
    """The notebook that was in front when the page was last left, as a path in the checkout."""
    try:
        data = WorkspacesManager(str(ours / "workspaces")).load("default")["data"]
        kind, _, path = data["layout-restorer:data"]["main"]["current"].partition(":")
    except (KeyError, TypeError, AttributeError, ValueError):  # nothing was open
        return None
    return path if kind == "notebook" and (ours.parent.parent / path).is_file() else None


async def _warm_up(server: ServerApp, lesson: str) -> None:
    """Starts the lesson's kernel and lets it import what the set-up cell asks for, while the page still loads."""
    session = await server.session_manager.create_session(
        path=lesson, name=Path(lesson).name, type="notebook", kernel_name="python3"
    )
    client = server.kernel_manager.get_kernel(session["kernel"]["id"]).client()
    client.start_channels(iopub=False, stdin=False, hb=False, control=False)
    try:
        client.execute(WARM_UP, silent=True, store_history=False)
        await client.get_shell_msg(timeout=60)
    except Empty:  # a slow machine; the lesson's own cells will wait for it
        pass
    finally:
        client.stop_channels()
