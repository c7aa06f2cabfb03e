"""The hub that is there, the hub that isn't, and everything between: a server of our own plays it."""

import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import huggingface_hub
import pytest
from huggingface_hub import constants

from lesson_kit import hub, load_bert
from lesson_kit._models import REVISIONS
from lesson_kit.data import data_path

REPOSITORY = "google-bert/bert-base-uncased"
COMMIT = REVISIONS[REPOSITORY]


class Hub(BaseHTTPRequestHandler):
    """Gives course-bert in place of the large one, or misbehaves: ``server.mood`` says how."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer()

    do_GET = do_HEAD

    def answer(self):
        mood, over = self.server.mood, self.server.over
        self.server.asked.append(f"{self.command} {self.path}")
        if mood == "silent":
            over.wait()
        elif mood == "dribbling":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            while not over.wait(0.1):
                self.wfile.write(b"X")
        elif mood in ("a login page", "odd JSON"):
            self.give(b"<html>Log in!</html>" if mood == "a login page" else b'["what?"]')
        elif mood.isdigit():
            self.send_error(int(mood))
        elif "/resolve/" not in self.path:
            self.give(b"{}")
        else:
            self.file(self.path.rsplit("/", 1)[1], mood)

    def give(self, content, **headers):
        self.send_response(200)
        for name, value in {"Content-Length": len(content), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def file(self, name, mood):
        path = data_path("course-bert") / name
        content = path.read_bytes() if path.exists() else b"words"
        big = self.command == "GET" and name == "model.safetensors"
        if mood == "silent after the first answer" and len(self.server.asked) > 1:
            self.server.over.wait()
        elif mood.startswith("half a file") and big:
            self.send_response(200)
            self.send_header("Content-Length", len(content))
            self.end_headers()
            self.wfile.write(content[:1000])
            if mood == "half a file, then silence":
                self.server.over.wait()
            self.close_connection = True
        else:
            self.give(content, ETag=f'"{name}"', X_Repo_Commit=COMMIT)


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A hub at this machine's own address, an empty cache, little patience."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.daemon_threads, server.block_on_close = True, False
    server.mood, server.asked, server.over = "well", [], threading.Event()
    threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub, "ANSWER_PATIENCE", 1)
    monkeypatch.setattr(hub, "PROGRESS_PATIENCE", 1)
    monkeypatch.setattr(hub, "LOOK", 0.1)
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


def said(capsys):
    out, err = capsys.readouterr()
    assert "Traceback" not in err and "resume" not in err
    return out


def test_a_hub_that_is_well(server, capsys):
    loaded = load_bert("bert-base-uncased")
    assert loaded.name == "bert-base-uncased" and loaded.hf_model.config.hidden_size == 128
    assert said(capsys) == ""
    assert len(COMMIT) == 40 and all(f"/resolve/{COMMIT}/" in path for path in server.asked if "/resolve/" in path)
    fetched = {path.rsplit("/", 1)[1] for path in server.asked if path.startswith("GET") and "/resolve/" in path}
    assert fetched == {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt"}

    server.asked.clear()
    assert load_bert("bert-base-uncased").name == "bert-base-uncased" and server.asked == []


def test_a_download_says_how_far_it_is(server):
    words = []
    folder = hub.folder_of(REPOSITORY, words.append)
    assert (folder / "model.safetensors").stat().st_size == 4_172_128
    assert words[0] == "0 MB so far"


@pytest.mark.parametrize(
    "mood, reason",
    [
        ("silent", "the Hugging Face hub did not answer"),
        ("dribbling", "the Hugging Face hub did not answer"),
        ("500", "asking the Hugging Face hub failed (HfHubHTTPError)"),
        ("404", "asking the Hugging Face hub failed (HfHubHTTPError)"),
        ("a login page", "something else answered in the Hugging Face hub's place (a login page?)"),
        ("odd JSON", "something else answered in the Hugging Face hub's place (a login page?)"),
        ("silent after the first answer", "its download stands still: nothing new for 1 seconds"),
        ("half a file, then silence", "its download stands still: nothing new for 1 seconds"),
        ("half a file, then a break", "its download "),
    ],
)
def test_a_hub_that_is_not(server, capsys, mood, reason):
    server.mood = mood
    start = time.monotonic()
    assert load_bert("bert-base-uncased").name == "course-bert"
    assert time.monotonic() - start < 10
    out = said(capsys)
    assert out.startswith(f"bert-base-uncased is not on this machine, and {reason}")
    assert out.endswith(": going on with course-bert, which comes with the course.\n") and out.count("\n") == 1


def test_a_name_server_that_is_cut_off_is_asked_in_another_thread(server, monkeypatch, capsys):
    asking = []

    def hangs(*args, **kwargs):
        asking.append(threading.current_thread())
        server.over.wait()
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    start = time.monotonic()
    assert load_bert("bert-base-uncased").name == "course-bert"
    assert time.monotonic() - start < 10
    assert "the Hugging Face hub did not answer" in said(capsys)
    assert asking and threading.main_thread() not in asking


def test_a_hub_that_may_not_be_asked(server, monkeypatch, capsys):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert load_bert("bert-base-uncased").name == "course-bert"
    assert "HF_HUB_OFFLINE forbids asking the Hugging Face hub" in said(capsys) and server.asked == []


def test_half_a_model_in_the_cache_is_completed(server):
    huggingface_hub.hf_hub_download(REPOSITORY, "config.json", revision=COMMIT)
    huggingface_hub.hf_hub_download(REPOSITORY, "model.safetensors", revision=COMMIT)
    assert hub.in_cache(REPOSITORY) is None
    assert load_bert("bert-base-uncased").name == "bert-base-uncased"
