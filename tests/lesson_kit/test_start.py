"""``python -m lesson_kit start``: working copies that are never written over, and JupyterLab as the lessons want it."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty
from unittest.mock import AsyncMock, MagicMock
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from browsing import cut_off

from lesson_kit import _files, working_copies
from lesson_kit.__main__ import main
from lesson_kit._files import MARKER
from lesson_kit.working_copies import cleared, make, make_fresh, only_draws

ROOT = Path(__file__).parents[2]


def notebook(*sources: str) -> str:
    """A lesson that has been run: a title, then code."""
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": ["# 03 · Masks"]}
    output = {"output_type": "stream", "name": "stdout", "text": ["42\n"]}
    code = [
        {"cell_type": "code", "id": f"c{n}", "execution_count": n, "metadata": {}, "outputs": [output], "source": [s]}
        for n, s in enumerate(sources, start=1)
    ]
    return json.dumps({"cells": [title, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


@pytest.fixture
def checkout(tmp_path):
    """A course of two lessons."""
    (tmp_path / "notebooks").mkdir()
    for name in ("00_start_here", "03_masks"):
        (tmp_path / "notebooks" / f"{name}.ipynb").write_text(notebook("6 * 7", "x = 1"), encoding="utf-8")
    return tmp_path


@pytest.fixture
def here(checkout, monkeypatch):
    """The same, for the command."""
    monkeypatch.setattr(working_copies, "CHECKOUT", checkout)
    for function in (working_copies.make, working_copies.make_fresh, working_copies.originals):
        defaults = tuple(checkout if value == ROOT else value for value in function.__defaults__)
        monkeypatch.setattr(function, "__defaults__", defaults)
    return checkout


def text(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


# --- the copies --------------------------------------------------------------------------------


def test_the_copies_are_cleared_and_else_the_same(checkout):
    report = make(checkout=checkout)
    assert report == (checkout / "my_lessons", ["00_start_here", "03_masks"], [])
    copy, original = text(report.folder / "03_masks.ipynb"), text(checkout / "notebooks" / "03_masks.ipynb")
    assert original["cells"][1]["outputs"] and original["cells"][1]["execution_count"] == 1
    for cell in original["cells"][1:]:
        cell.update(outputs=[], execution_count=None)
    assert copy == original


def test_every_lesson_can_be_copied(tmp_path):
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks", ignore=shutil.ignore_patterns(".*"))
    report = make(checkout=tmp_path)
    assert len(report.new) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    for copy in report.folder.glob("*.ipynb"):
        code = [cell for cell in text(copy)["cells"] if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    assert report.folder.parent == tmp_path, "beside notebooks/: links lead where they led"


def test_what_is_there_is_never_written_over(checkout):
    place = make(checkout=checkout).folder
    (place / "03_masks.ipynb").write_text("mine", encoding="utf-8")
    (place / "00_start_here.ipynb").unlink()
    assert make(checkout=checkout) == (place, ["00_start_here"], [])
    assert (place / "03_masks.ipynb").read_text(encoding="utf-8") == "mine"


def test_a_lesson_that_has_changed_upstream_is_named_until_a_fresh_one_is_made(checkout):
    place = make(checkout=checkout).folder
    mine = (place / "03_masks.ipynb").read_bytes()
    (checkout / "notebooks" / "03_masks.ipynb").write_text(notebook("6 * 7", "x = 2"), encoding="utf-8")
    assert make(checkout=checkout) == (place, [], ["03_masks"])
    assert make(checkout=checkout).changed == ["03_masks"], "said again, for nothing was done about it"
    fresh, new = make_fresh("3", checkout=checkout)
    assert new and fresh == place / "03_masks.new.ipynb" and text(fresh)["cells"][2]["source"] == ["x = 2"]
    assert (place / "03_masks.ipynb").read_bytes() == mine
    assert make(checkout=checkout).changed == []
    fresh.write_text("mine too", encoding="utf-8")
    assert make_fresh("03_masks", checkout=checkout) == (place / "03_masks.new2.ipynb", True)
    assert fresh.read_text(encoding="utf-8") == "mine too"


def test_fresh_copies_that_are_the_same_do_not_pile_up(checkout):
    place = make(checkout=checkout).folder
    first = make_fresh("03", checkout=checkout)
    saved = text(first.path)
    saved["metadata"] = {"language_info": {"name": "python"}}  # as JupyterLab saves it
    first.path.write_text(json.dumps(saved), encoding="utf-8")
    assert make_fresh("03", checkout=checkout) == (first.path, False)
    (checkout / "notebooks" / "03_masks.ipynb").write_text(notebook("6 * 7", "x = 2"), encoding="utf-8")
    second = make_fresh("03", checkout=checkout)
    assert second == (place / "03_masks.new2.ipynb", True), "the lesson has changed since the first"
    second.path.write_text(notebook("6 * 7", "x = 2"), encoding="utf-8")
    assert make_fresh("03", checkout=checkout) == (place / "03_masks.new3.ipynb", True), "the second has been run"
    (checkout / "notebooks" / "03_masks.ipynb").write_text(notebook("6 * 7", "x = 1"), encoding="utf-8")
    assert make(checkout=checkout).changed == ["03_masks"]
    assert make_fresh("03", checkout=checkout) == (first.path, False)
    assert make(checkout=checkout).changed == [], "what was asked for is there: nothing more to say"


def test_a_lesson_that_was_only_run_again_has_not_changed(checkout):
    make(checkout=checkout)
    original = text(checkout / "notebooks" / "03_masks.ipynb")
    original["cells"][1].update(outputs=[], execution_count=7)
    original["metadata"] = {"language_info": {"name": "python"}}
    (checkout / "notebooks" / "03_masks.ipynb").write_text(json.dumps(original), encoding="utf-8")
    assert make(checkout=checkout).changed == []


def test_the_marker_says_what_the_copies_were_made_from(checkout):
    place = make(checkout=checkout).folder
    assert MARKER == ".attention-by-hand" and text(place / MARKER)["made_from"].keys() == {"00_start_here", "03_masks"}
    (place / MARKER).write_text("{damaged", encoding="utf-8")
    assert make(checkout=checkout).changed == ["00_start_here", "03_masks"], "nothing is known of these two"


# --- what is collapsed -------------------------------------------------------------------------

PLOT = "fig, ax = show.subplots()\nax.plot(xs)\nax.set_title('x')\nshow.figure(fig, alt='a line')"


@pytest.mark.parametrize(
    "cells, collapsed",
    [
        ([PLOT, "print(1)"], True),
        ([PLOT, "fig, ax = show.subplots()\nax.plot([1])"], True),  # the next one makes its own names
        ([PLOT, PLOT], True),
        (["ax.plot(xs)\nshow.figure(fig, alt='a line')"], False),  # two lines need no collapsing
        ([PLOT.replace("show.figure(fig", "show.heat_map(fig")], False),
        ([f"assert xs\n{PLOT}"], False),
        ([f"print(xs)\n{PLOT}"], False),
        ([f"ys = [x + 1 for x in xs]\n{PLOT}", "print(ys)"], False),  # a later cell needs what it computes
        ([f"def curve(): ...\n{PLOT}", "curve()"], False),
        (["%timeit f()\n" + PLOT], False),
        ([PLOT + "\nx ="], False),
    ],
)
def test_cells_that_only_draw_are_collapsed(cells, collapsed):
    code = [{"source": [cell]} for cell in cells]
    assert only_draws(code, 0) == collapsed


def test_a_collapsed_cell_is_collapsed_as_jupyterlab_says(tmp_path):
    (tmp_path / "03_masks.ipynb").write_text(notebook("xs = [1]", PLOT), encoding="utf-8")
    _, compute, plot = json.loads(cleared(tmp_path / "03_masks.ipynb"))["cells"]
    assert compute["metadata"] == {} and plot["metadata"] == {"jupyter": {"source_hidden": True}}


def test_folded_text_is_not_editable(tmp_path):
    lesson = json.loads(notebook("6 * 7"))
    folded = {
        "cell_type": "markdown",
        "id": "h",
        "metadata": {},
        "source": ["<details><summary>Hint 1</summary>\n", "x"],
    }
    lesson["cells"].append(folded)
    (tmp_path / "03_masks.ipynb").write_text(json.dumps(lesson), encoding="utf-8")
    title, _, hint = json.loads(cleared(tmp_path / "03_masks.ipynb"))["cells"]
    assert hint["metadata"] == {"editable": False} and title["metadata"] == {}


# --- bad input ---------------------------------------------------------------------------------


def said(capsys, *arguments: str) -> str:
    """The one sentence of a command that fails."""
    assert main(["start", *arguments]) == 1
    out, error = capsys.readouterr()
    assert error.count("\n") == 1 and not out
    return error


def test_without_lessons_there_is_nothing_to_copy(monkeypatch, capsys, here):
    shutil.rmtree(here / "notebooks")
    assert "There are no lessons in" in said(capsys) and not (here / "my_lessons").exists()


def test_a_wheel_has_no_lessons(tmp_path):
    """Of the packages alone, as pip installs them."""
    shutil.copytree(ROOT / "lesson_kit", tmp_path / "lesson_kit", ignore=shutil.ignore_patterns("__pycache__"))
    run = subprocess.run(
        [sys.executable, "-m", "lesson_kit", "start"], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert run.returncode == 1 and run.stderr == (
        f"There are no lessons in {tmp_path}: download or clone the whole course, and type this in its folder.\n"
    )


@pytest.mark.parametrize("name", ["", "..", "a/b", "/x"])
def test_a_folder_elsewhere_would_break_the_links(capsys, here, name):
    assert "give one name, such as my_lessons" in said(capsys, "--folder", name)


def test_a_file_of_that_name(capsys, here):
    (here / "my_lessons").write_text("")
    assert "my_lessons is a file" in said(capsys)


def test_a_folder_with_something_else_in_it(capsys, here):
    assert "holds something else" in said(capsys, "--folder", "notebooks")
    assert not (here / "notebooks" / MARKER).exists()


@pytest.mark.parametrize("arguments", [[], ["strat"], ["--fresh", "03"]])
def test_without_a_known_command_it_says_what_to_type(capsys, arguments):
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert not out and error.startswith("What shall it do? Type one of these:\n\n")
    assert f"    {sys.executable} -m lesson_kit start " in error and "usage:" not in error


def test_the_command_line_itself_is_read():
    run = subprocess.run([sys.executable, "-m", "lesson_kit"], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2 and run.stderr.startswith("What shall it do?")


def test_a_fresh_one_of_no_lesson(capsys, here):
    assert said(capsys, "--fresh") == "There is no lesson '': the lessons are 00, 03.\n"


@pytest.mark.parametrize("lesson", ["99", "masks", "000", "3x"])
def test_an_unknown_lesson(capsys, here, lesson):
    assert f"There is no lesson {lesson!r}: the lessons are 00, 03." in said(capsys, "--fresh", lesson)


def test_a_lesson_asked_for_by_its_number_is_told_where_it_is(capsys, here):
    assert said(capsys, "03") == "03_masks is among your copies: type this without 03, and open it from the side bar.\n"
    assert "There is no lesson '77'" in said(capsys, "77")


def test_a_folder_that_cant_be_written(capsys, here, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied", str(here / "my_lessons"))

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert said(capsys) == f"Nothing can be written there (Permission denied: {here / 'my_lessons'}).\n"


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("at", [MARKER, "00_start_here.ipynb", "03_masks.ipynb"])
def test_an_interrupted_first_start_is_taken_up(checkout, monkeypatch, stop, at):
    write = working_copies.write_whole

    def interrupted(path, content):
        if path.name == at:
            (path.parent / f".{at}.half").write_text(content[:10], encoding="utf-8")
            raise stop
        write(path, content)

    with monkeypatch.context() as patch, pytest.raises(stop):
        patch.setattr(working_copies, "write_whole", interrupted)
        make(checkout=checkout)
    made = ["00_start_here"] if at == "03_masks.ipynb" else []
    missing = [name for name in ("00_start_here", "03_masks") if name not in made]
    assert [path.stem for path in (checkout / "my_lessons").glob("*.ipynb") if path.name[0] != "."] == made
    (checkout / "notebooks" / "03_masks.ipynb").write_text(notebook("6 * 7", "x = 2"), encoding="utf-8")
    assert make(checkout=checkout) == (checkout / "my_lessons", missing, [])
    assert make(checkout=checkout) == (checkout / "my_lessons", [], [])


def test_the_servers_own_errors_are_not_taken_for_a_full_disk(here, monkeypatch):
    """JupyterLab, say, may not open its port."""
    lab = pytest.importorskip("lesson_kit.lab")

    def serve(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(lab, "serve", serve)
    with pytest.raises(PermissionError):
        main(["start"])


def test_settings_that_cant_be_written(capsys, here):
    place = make(checkout=here).folder
    (place / ".jupyterlab").write_text("a file")
    error = said(capsys, "--no-server")
    assert error.startswith("Nothing can be written there (") and str(place / ".jupyterlab") in error


def test_the_kernel_that_warms_up_too_long_is_let_go():
    """No connection is left open, and no traceback falls among the server's lines."""
    lab = pytest.importorskip("lesson_kit.lab")
    client, server = MagicMock(), MagicMock()
    client.get_shell_msg = AsyncMock(side_effect=Empty)
    server.session_manager.create_session = AsyncMock(return_value={"kernel": {"id": "k"}})
    server.kernel_manager.get_kernel.return_value.client.return_value = client
    asyncio.run(lab._warm_up(server, "my_lessons/00_start_here.ipynb"))
    client.stop_channels.assert_called_once_with()


def test_a_copy_is_whole_or_not_there(checkout, monkeypatch):
    """The disk fills up in the middle of a lesson, after the marker and lesson 00."""
    sync, calls = os.fsync, []

    def full(file):
        calls.append(file)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        sync(file)

    with monkeypatch.context() as patch, pytest.raises(OSError):
        patch.setattr(_files.os, "fsync", full)
        make(checkout=checkout)
    assert {path.name for path in (checkout / "my_lessons").iterdir()} == {MARKER, "00_start_here.ipynb"}
    assert make(checkout=checkout).new == ["03_masks"]


def test_the_command_says_what_it_did(capsys, here):
    assert main(["start", "--no-server"]) == 0
    assert capsys.readouterr().out.startswith("2 lessons are new in ")
    (here / "notebooks" / "03_masks.ipynb").write_text(notebook("x = 3"), encoding="utf-8")
    assert main(["start", "--no-server"]) == 0
    out = capsys.readouterr().out
    assert "Changed since your copy was made: 03_masks." in out and "python -m lesson_kit start --fresh 03" in out
    assert main(["start", "--fresh", "03"]) == 0
    fresh = here / "my_lessons" / "03_masks.new.ipynb"
    assert capsys.readouterr().out == f"Lesson 03, as it is now: {fresh}\n"
    assert main(["start", "--fresh", "03"]) == 0
    assert capsys.readouterr().out == f"Lesson 03 lies there already as it is now, not yet run or changed: {fresh}\n"


# --- one server for a folder -------------------------------------------------------------------


@pytest.fixture
def listed(checkout, monkeypatch):
    """A server that runs on the checkout, as Jupyter lists it; gives the entry and the socket at which it listens."""
    lab = pytest.importorskip("lesson_kit.lab")
    monkeypatch.setattr(lab, "PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
        server = {"pid": 42, "root_dir": str(checkout), "hostname": "127.0.0.1", "port": port, "base_url": "/b/"}
        server |= {"url": f"http://127.0.0.1:{port}/b/", "token": "abc"}
        monkeypatch.setattr(lab, "list_running_servers", lambda: [server])
        make(checkout=checkout)
        lab.prepare(checkout / "my_lessons")
        (checkout / "my_lessons" / lab.SETTINGS / lab.PROCESS).write_text("42")
        yield server, door


def answer(door: socket.socket, status: str = "200 OK") -> None:
    """To the next question there, from a thread."""

    def once():
        try:
            asked, _ = door.accept()
        except OSError:  # nobody asked, and the door is shut
            return
        with asked:
            assert asked.recv(10_000).startswith(b"GET /b/api HTTP")
            asked.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}".encode())

    threading.Thread(target=once, daemon=True).start()


def test_a_running_server_is_found(checkout, listed):
    from lesson_kit.lab import running

    server, door = listed
    answer(door)
    page = f"{server['url']}lab/tree/my_lessons/00_start_here.ipynb"
    assert running(checkout / "my_lessons") == f"{page}?token=abc"
    answer(door)
    server["token"] = ""
    assert running(checkout / "my_lessons") == page


@pytest.mark.parametrize(
    "entry", [{"pid": 43}, {"root_dir": "/elsewhere"}, {"status": "404 Not Found"}, {"status": "nonsense"}]
)
def test_another_server_is_not_ours(checkout, listed, entry):
    from lesson_kit.lab import running

    server, door = listed
    answer(door, entry.get("status", "200 OK"))
    server |= entry
    assert running(checkout / "my_lessons") is None


def test_a_server_that_was_halted_does_not_count(checkout, listed):
    """As by Ctrl+Z: its socket takes the question, and no answer follows."""
    from lesson_kit.lab import running

    assert running(checkout / "my_lessons") is None


def test_a_folder_that_was_never_served(checkout, listed):
    from lesson_kit.lab import PROCESS, SETTINGS, running

    answer(listed[1])
    (checkout / "my_lessons" / SETTINGS / PROCESS).write_text("")
    assert running(checkout / "my_lessons") is None
    (checkout / "my_lessons" / SETTINGS / PROCESS).unlink()
    assert running(checkout / "my_lessons") is None


@pytest.mark.parametrize("browser_too", [True, False])
def test_the_running_servers_page_is_opened_and_no_second_server(capsys, here, monkeypatch, browser_too):
    lab = pytest.importorskip("lesson_kit.lab")
    opened = []
    monkeypatch.setattr(lab, "running", lambda folder: f"http://there/{folder.name}")
    monkeypatch.setattr(lab.webbrowser, "open", opened.append)
    monkeypatch.setattr(lab._Lessons, "initialize_server", lambda *a, **o: pytest.fail("a second server"))
    assert main(["start", "--port=9000", *([] if browser_too else ["--no-browser"])]) == 0
    assert opened == (["http://there/my_lessons"] if browser_too else [])
    out = capsys.readouterr().out
    assert "JupyterLab is running already, with these lessons:\n    http://there/my_lessons\n" in out
    assert "Nothing became of --port=9000: end that JupyterLab first" in out


# --- in a browser ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """The command as README gives it, in a copy of the checkout; gives its address, its home and the copy."""
    pytest.importorskip("jupyterlab")
    place, home = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("home")
    for name in ("notebooks", "lesson_kit", "course_utils", "data"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    surroundings = os.environ | {"HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": str(place)}
    command = [sys.executable, "-u", "-m", "lesson_kit", "start", "--no-browser", "--allow-root"]
    server = subprocess.Popen(
        command, cwd=place, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = []
    for line in server.stdout:
        lines.append(line)
        if found := re.search(r"http://127\S+", line):
            yield found[0], home, place
            break
    else:
        pytest.fail("".join(lines))
    server.send_signal(signal.SIGTERM)
    assert server.wait(20) == 0


def test_a_fresh_copy_stands_below_the_learners_own(checkout, browser):
    """As JupyterLab sorts files, by the browser's own rules, and as a terminal does."""
    place = make(checkout=checkout).folder
    for n in range(1, 12):
        make_fresh("03", checkout=checkout).path.write_text(f"mine {n}", encoding="utf-8")
    names = ["03_masks.ipynb", "03_masks.new.ipynb", *(f"03_masks.new{n}.ipynb" for n in range(2, 12))]
    there = [path.name for path in place.glob("03*.ipynb")]
    assert sorted(there) == sorted(names) and min(there) == names[0]
    page = browser.new_page()
    assert page.evaluate("n => n.sort((a, b) => a.localeCompare(b, 'en', {numeric: true}))", there) == names
    page.close()


def test_started_again_it_finds_the_running_one(started):
    address, home, place = started
    command = [sys.executable, "-m", "lesson_kit", "start", "--no-browser"]
    surroundings = os.environ | {"HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": str(place)}
    again = subprocess.run(command, cwd=place, env=surroundings, capture_output=True, text=True, timeout=60)
    assert again.returncode == 0 and not again.stderr
    (found,) = re.findall(r"http://\S+", again.stdout)
    one, other = urlsplit(found), urlsplit(address)
    assert (one.port, one.path, one.query) == (other.port, other.path, other.query), "the same server, and its key"
    assert urlopen(found, timeout=10).status == 200


@pytest.fixture
def page(browser, started):
    page = browser.new_page(viewport={"width": 1000, "height": 700})
    wrong = cut_off(page)
    page.goto(started[0])
    page.wait_for_selector(".jp-NotebookPanel .jp-RenderedMarkdown h1", timeout=90_000)
    yield page
    assert not [line for line in wrong if "asked the network" in line]
    page.close()


def test_a_learner_stands_in_lesson_00(page, started):
    assert page.locator(".jp-NotebookPanel h1").first.inner_text().startswith("00 · Start here")
    page.locator(".jp-TableOfContents-tree", has_text="Running cells").wait_for()
    page.locator(".jp-RunningSessions, .jp-Notebook-ExecutionIndicator").first.wait_for(state="attached")
    assert not page.locator(".jp-NotebookPanel .jp-OutputArea-output").count(), "cleared"
    assert page.locator("#jp-left-stack").bounding_box()["width"] < 300
    page.locator(".jp-NotebookPanel .jp-RenderedMarkdown").first.click()
    for _ in range(3):
        page.keyboard.press("Shift+Enter")
    page.locator(".jp-CodeCell", has_text="6 * 7").locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    page.locator(".jp-OutputArea-output", has_text="42").wait_for(timeout=60_000)
    page.wait_for_timeout(1000)
    assert not page.locator(".Toastify__toast").count(), "no news, no question"
    assert page.locator(".jp-CodeCell", has_text="Installs the course on Colab").locator(".cm-content").count() == 0
    assert not (started[1] / ".jupyter").exists(), "a learner's own settings are left alone"


def test_names_of_lessons_stand_whole_in_the_side_bar(page):
    page.locator('.lm-TabBar-tab[data-id="filebrowser"]').click()
    names = page.locator(".jp-DirListing-itemName")
    names.first.wait_for()
    page.wait_for_timeout(500)
    cut = "e => [e.innerText, e.scrollWidth > e.clientWidth + 1]"
    assert [name for name, is_cut in names.evaluate_all(f"all => all.map({cut})") if is_cut] == []
    assert names.count() == len(list((ROOT / "notebooks").glob("*.ipynb")))
    page.locator('.lm-TabBar-tab[data-id="table-of-contents"]').click()


def test_a_long_address_makes_no_page_wider(page):
    """The last cell of lesson 00 has links; one of them gets 300 letters more."""
    link = page.locator(".jp-NotebookPanel .jp-RenderedMarkdown a[href*='://']").first
    link.scroll_into_view_if_needed()
    link.evaluate("a => a.append('x'.repeat(300))")
    text = link.locator("xpath=ancestor::div[contains(@class, 'jp-RenderedMarkdown')]")
    assert text.evaluate("text => text.scrollWidth <= text.clientWidth")


def test_a_double_click_shows_no_solution(page):
    """On text it shows the source; on a folded hint it opens and closes the hint, and no more."""
    summaries = [page.locator(".jp-NotebookPanel summary", has_text=word).first for word in ("Hint 1", "Solution")]
    hint, solution = summaries
    hint.scroll_into_view_if_needed()
    hint.dblclick()
    page.wait_for_timeout(500)
    assert [summary.evaluate("s => s.parentElement.open") for summary in summaries] == [False, False]
    hint.click()
    assert [summary.evaluate("s => s.parentElement.open") for summary in summaries] == [True, False]
    page.locator(".jp-NotebookPanel h1").first.dblclick()
    page.locator(".jp-NotebookPanel .jp-MarkdownCell .cm-content", has_text="# 00 · Start here").wait_for()
    page.keyboard.press("Shift+Enter")


def test_a_link_leads_to_the_next_lesson(page):
    link = page.locator(".jp-NotebookPanel a", has_text="01 · Attention by hand").last
    link.scroll_into_view_if_needed()
    link.click()
    page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) h1", has_text="01 · Attention by hand").wait_for(timeout=60_000)


def test_looking_at_an_original_changes_no_byte(page, started):
    """Opened from ``notebooks/`` and saved: the metadata are those that JupyterLab would write."""
    address, _, place = started
    original = place / "notebooks" / "01_attention_by_hand.ipynb"
    before = original.read_bytes()
    alone = address.replace(
        "/lab/tree/my_lessons/00_start_here.ipynb", f"/lab/workspaces/alone/tree/notebooks/{original.name}"
    )
    page.goto(alone)
    page.locator("h1", has_text="01 · Attention by hand").click(timeout=60_000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    with page.expect_response(lambda r: r.request.method == "PUT" and "notebooks/" in r.url, timeout=30_000):
        page.keyboard.press("Control+s")
    assert original.read_bytes() == before
