"""The report on a class: every verdict on thirty notebooks, what it keeps bad ones from, and what it writes."""

import csv
import errno
import html.parser
import io
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import nbformat
import psutil
import pytest
from PIL import Image
from submissions.make import EXERCISES, filled, make, read

from classroom.__main__ import main
from classroom._files import CHECKOUT
from classroom.grading import confinement, process, report, report_page, summary
from classroom.grading.process import Cancelled, Grade, Limits, Worker, grade
from classroom.grading.slicing import moment, needed, parse, statements
from classroom.grading.submissions import LESSONS, Remark, Submission, collect

SECONDS = 12  # a third of it for one exercise: long enough for a right answer on a busy machine


def command(*arguments) -> int:
    return main(["report", *map(str, arguments)])


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The thirty, graded once: where they lie, what is expected, what was found, and how long it took."""
    root = tmp_path_factory.mktemp("classroom")
    outside = root / "outside" / "file"
    outside.parent.mkdir()
    outside.write_text("untouched")
    expected = make(root / "returned", outside)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", io.StringIO())
        patch.setenv("PYTHONPATH", "")  # the network is cut by the report itself
        began = time.monotonic()
        found = report.report(root / "returned", root / "report", Limits(SECONDS, 512), jobs=2)
        return root, expected, *found, time.monotonic() - began


def test_there_are_thirty_and_more(graded):
    _, expected, submissions, _, seconds = graded
    assert len(submissions) >= 30 and len(expected) >= 40
    assert {each.lesson for each in submissions} == set(EXERCISES)
    assert seconds < 300


def test_every_verdict(graded):
    _, expected, submissions, _, _ = graded
    found = {each.file: each for each in submissions}
    wanted = {file: each for file, each in expected.items() if each.verdicts}
    assert found.keys() == wanted.keys()
    wrong = []
    for file, each in wanted.items():
        got = found[file]
        assert (got.learner, got.lesson, list(got.grades)) == (each.learner, each.lesson, EXERCISES[each.lesson])
        for (name, verdict), words in zip(got.grades.items(), each.verdicts, strict=True):
            said = summary.in_short(name, verdict)
            if said not in ([words] if isinstance(words, str) else words):
                wrong.append(f"{file}, {name}: {said}, expected {words}. {verdict.text}")
    assert not wrong, "\n".join(wrong)


def test_every_file_is_accounted_for(graded):
    _, expected, _, remarks, _ = graded
    said = {each.file: each for each in remarks}
    assert said.keys() == {file for file, each in expected.items() if each.remark}
    for file, remark in said.items():
        assert expected[file].remark in remark.text
        assert remark.left_out is not bool(expected[file].verdicts)


def test_nothing_outside_was_touched_and_nothing_still_runs(graded):
    root = graded[0]
    assert (root / "outside" / "file").read_text() == "untouched"
    running = [each.cmdline() for each in psutil.Process().children(recursive=True)]
    assert not [line for line in running if "classroom.grading.sandbox" in line or "sleep" in line]


def test_the_report_comes_again_in_the_same_words(graded, capsys):
    root, _, submissions, remarks, _ = graded
    before = {path.name: path.read_bytes() for path in (root / "report").iterdir()}
    report._write(root / "report", list(submissions), list(remarks))
    assert before == {path.name: path.read_bytes() for path in (root / "report").iterdir()}
    assert before.keys() == {"report.html", "report.csv", "report.png"}
    printed = capsys.readouterr().out
    assert "Lesson 03" in printed and "nan-on-an-empty-row" in printed and "Files to look at" in printed


def test_files_are_read_in_the_same_order_each_time(graded):
    root, _, submissions, _, _ = graded
    again, _ = collect(root / "returned")
    assert [(each.lesson, each.learner) for each in again] == [(each.lesson, each.learner) for each in submissions]
    assert [each.lesson for each in again] == sorted(each.lesson for each in again)


def test_the_table_for_spreadsheets(graded):
    root, _, submissions, remarks, _ = graded
    with (root / "report" / "report.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    graded_rows = [row for row in rows if row["exercise"]]
    assert len(graded_rows) == sum(len(each.grades) for each in submissions)
    assert len(rows) - len(graded_rows) == sum(each.left_out for each in remarks)
    assert {row["outcome"] for row in graded_rows} <= set(summary.OUTCOMES)
    assert not any(report.FORMULA.search(cell) for row in rows for cell in row.values())
    assert {row["learner"] for row in rows if row["file"] == "'=1+1.ipynb"} == {"'=1+1"}


class Page(html.parser.HTMLParser):
    """Collects the tags of a page, and finds those that are closed in another order than opened."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def all(self, name: str) -> list[dict]:
        return [attributes for tag, attributes in self.tags if tag == name]


def test_the_page_needs_nothing_and_can_be_read_by_ear(graded):
    text = (graded[0] / "report" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not page.all("script") and not page.all("link") and "http" not in text
    assert not [attributes for _, attributes in page.tags if any(name.startswith("on") for name in attributes)]
    assert [each["src"][:22] for each in page.all("img")] == ["data:image/png;base64,"]
    assert "softmax 1" in page.all("img")[0]["alt"] and "wrong-axis in softmax (2)" in page.all("img")[0]["alt"]
    assert all(each["scope"] in ("col", "row") for each in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table")) == 7
    assert page.all("html") == [{"lang": "en"}] and "color-scheme: light dark" in text and "light-dark(" in text
    for table in text.split("<tbody>")[1:]:
        rows = table.split("</tbody>")[0].split("<tr>")[1:]
        assert all(row.count('<th scope="row"') == 1 for row in rows)


def test_names_and_messages_are_escaped(graded):
    text = (graded[0] / "report" / "report.html").read_text(encoding="utf-8")
    assert "王芳 &lt;b onclick=&#x27;x&#x27;&gt;&amp;amp;" in text
    assert "<b " not in text


def test_the_picture_is_one(graded):
    with Image.open(graded[0] / "report" / "report.png") as image:
        assert image.format == "PNG" and image.width > 900 and image.height > 900
        assert len(image.convert("L").getcolors(256)) > 5


def test_the_looks_can_be_told_apart_in_grey():
    """Two outcomes of the same hatching differ in lightness."""
    looks = [
        (hatch, Image.new("RGB", (1, 1), colour).convert("L").getpixel((0, 0)))
        for colour, _, hatch in report_page.LOOKS.values()
    ]
    for one in range(len(looks)):
        for other in range(one):
            assert looks[one][0] != looks[other][0] or abs(looks[one][1] - looks[other][1]) > 25


def test_the_commonest_mistakes_come_with_a_hint_and_a_question():
    def row(learner, *grades):
        return Submission("", learner, "01", [], dict(zip(LESSONS["01"], grades, strict=True)))

    right, wrong = Grade(), Grade(("wrong-axis",), "Text.")
    two = Grade(("wrong-axis", "overflow"), "Text.", together=True)
    either = Grade(("overflow", "wrong-axis"), "Text.")
    raised = Grade(("raised",), "Text.", "KeyError")
    rows = [
        row("a", right, wrong, raised),
        row("b", right, two, right),
        row("c", Grade(("not-there",)), Grade(("not-attempted",)), right),
        row("d", right, either, right),
    ]
    found = [(each.count, each.exercise, each.name) for each in summary.commonest(rows)]
    assert found[0] == (2, "softmax", "wrong-axis") and sorted(found[1:]) == [
        (1, "attend", "raised KeyError"),
        (1, "softmax", "overflow"),
        (1, "softmax", "overflow or wrong-axis"),
    ]
    first = summary.commonest(rows)[0]
    assert next(each for each in summary.commonest(rows) if each.exercise == "attend").discuss == ""
    assert first.hint.startswith("Your sums run along") and first.discuss.startswith("Give it the scores")
    assert summary.counts(rows, "01")["softmax"] == dict(zip(summary.OUTCOMES, (0, 3, 0, 0, 0, 1, 0), strict=True))


def test_a_zip_is_to_be_unpacked(tmp_path):
    (tmp_path / "all.zip").write_bytes(b"PK")
    found, remarks = collect(tmp_path)
    assert found == [] and remarks[0].left_out and remarks[0].text.endswith("Unpack it first.")


# What needs a notebook of its own.

RIGHT = ["import torch", "def softmax(scores):\n    return torch.softmax(scores, dim=-1)"]


@pytest.fixture(scope="module")
def worker():
    """Loads the course once for all tests that grade a few lines."""
    with pytest.MonkeyPatch.context() as patch, Worker(threading.Event()) as worker:
        patch.setenv("SECRET_TOKEN", "hunter2")
        yield worker


def softmax_with(worker, *lines: str) -> Grade:
    """The grade of these lines as the body of softmax."""
    cells = [RIGHT[0], "\n    ".join(["def softmax(scores):", *lines])]
    return grade(cells, ["softmax"], Limits(12, 512), worker)["softmax"]


def test_memory_is_watched_from_outside_too(worker):
    """As on a system without limits of its own."""
    lines = "import time\n    kept = torch.ones(10**8)\n    time.sleep(1000)"
    job = {"cells": [RIGHT[0], f"def softmax(scores):\n    {lines}"], "exercise": "softmax", "given": []}
    job |= {"seconds": 60, "call_seconds": 20, "memory": 2**60}
    assert summary.in_short("softmax", worker.judge(job, 60, 256 * 2**20)[0]) == "stopped: memory"


def test_whoever_interrupts_the_report_need_not_wait():
    cancel = threading.Event()
    threading.Timer(0.5, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled), Worker(cancel) as worker:
        softmax_with(worker, "import time", "time.sleep(1000)")
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_notebook_that_cannot_be_graded_is_a_remark(monkeypatch, seconds):
    """Whether Python has ended before the first exercise is sent to it, or after."""
    start = Worker._start
    monkeypatch.setattr(Worker, "_start", lambda self: (start(self), time.sleep(seconds)))
    monkeypatch.setattr("sys.executable", "/bin/false")
    submission = Submission("a.ipynb", "a", "01", RIGHT)
    assert report.grade_all([submission], Limits(), 1) == [
        Remark("a.ipynb", "Could not be graded: Python did not start, or could not import the course.")
    ]
    assert submission.grades == {}


# What an attacker found.

OUTSIDE = {
    "torch.save": "torch.save(scores, {path!r})",
    "safetensors": "from safetensors.torch import save_file; save_file({{'s': scores}}, {path!r})",
    "sqlite": "import sqlite3; sqlite3.connect({path!r}).execute('create table a(b)')",
    "a folder's descriptor": "import os; os.open('new', os.O_WRONLY | os.O_CREAT, dir_fd=os.open({folder!r}, 0))",
    "mknod": "import os; os.mknod({path!r})",
    "mkfifo": "import os; os.mkfifo({path!r})",
    "fchmod": "import os; os.fchmod(os.open({victim!r}, 0), 0)",
    "fchown": "import os; os.fchown(os.open({victim!r}, 0), 1, 1)",
    "shared memory": "torch.from_file({victim!r}, shared=True, size=4).fill_(0)",
    "reading": "open({victim!r}).read()",
    "pidfd": "import os, signal; signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)",
    "prlimit": "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (1, 1))",
    "psutil": "import os, psutil; psutil.Process(os.getppid()).rlimit(psutil.RLIMIT_AS, (1, 1))",
    "priority": "import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "_posixsubprocess": (
        "import sys; sys.modules.pop('_posixsubprocess', None); import subprocess, _posixsubprocess; "
        "subprocess._fork_exec = _posixsubprocess.fork_exec; sys.audit = None; subprocess.run(['true'])"
    ),
    "a socket": "import socket; socket.socket()",
    "a file of its own": "open('notes.txt', 'w')",
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux confines; elsewhere Python alone refuses")
@pytest.mark.parametrize("way", OUTSIDE)
def test_nothing_outside_is_touched_by_libraries_either(worker, way, tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"untouched 123456")
    before = victim.stat().st_mode
    line = OUTSIDE[way].format(path=str(tmp_path / "new"), folder=str(tmp_path), victim=str(victim))
    found = softmax_with(worker, line, "return torch.softmax(scores, dim=-1)")
    assert worker.confined, "this kernel has neither Landlock nor seccomp: run the tests on one that has"
    assert found.slugs in (("raised",), ("not-repeatable",)), f"{found}"  # an error may name a file, each time another
    assert [path.name for path in tmp_path.iterdir()] == ["victim"]
    assert victim.stat().st_mode == before and victim.read_bytes() == b"untouched 123456"
    assert summary._hints("softmax", "", found)[1] or found.error_type != "PermissionError"


OLDEST = """
import ctypes, os, struct, sys
from pathlib import Path
from classroom.grading import confinement

folder = Path(sys.argv[1])
readable = folder / "readable"
libc = ctypes.CDLL(None, use_errno=True)  # as one that was loaded before Python refuses it
confinement.RIGHTS = {{1: 13}}  # Linux 5.13: no word of emptying files, of devices or of signals
assert confinement.confine([sys.prefix, sys.base_prefix, *sys.path, readable, readable / "lib"])
path, column = bytes(readable), confinement.PROCESSORS[os.uname().machine][1]

def call(numbers, *arguments):
    if numbers[column] is None:
        raise PermissionError
    result = libc.syscall(numbers[column], *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result

def for_reading():
    return os.open(readable, os.O_RDONLY)

try:
    {line}
except PermissionError:
    sys.exit(11)
except OSError as error:
    print(error)
    sys.exit(12)
"""
ON_AN_OLD_KERNEL = {
    "open": "call((2, None), path, os.O_TRUNC)",
    "openat": "call((257, 56), -100, path, os.O_TRUNC)",
    "os.open": "os.open(readable, os.O_TRUNC)",
    "with neither access": "call((257, 56), -100, path, os.O_TRUNC | 3)",
    "to write": "open(readable, 'w')",
    "ftruncate": "os.ftruncate(os.open(readable, os.O_RDWR), 0)",
    "creat": "call((85, None), path, 0o600)",
    "a handle": "call((304, 265), -100, path, os.O_TRUNC)",
    "its owner": "import fcntl; fcntl.fcntl(for_reading(), fcntl.F_SETOWN, os.getppid())",
    "its owners": "call((72, 25), for_reading(), 15, struct.pack('ii', 1, os.getppid()))",
    "a lease": "import fcntl; fcntl.fcntl(for_reading(), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
    "its flags": "import fcntl; fcntl.ioctl(for_reading(), 0x40086602, struct.pack('l', 0x80))",
    "its attributes": "call((463, 463), -100, path, 0, b'user.a', struct.pack('QII', 0, 0, 0), 16)",
}
UNKNOWN = {
    "openat2": "call((437, 437), -100, path, struct.pack('QQQ', os.O_TRUNC, 0, 0), 24)",
    "clone3": "call((435, 435), bytes(64), 64)",
}
HARMLESS = {
    "nothing": "open(os.devnull, 'w').write('gone')",
    "a terminal?": "os.isatty(for_reading())",
    "reading": "readable.read_bytes()",
    "a copy of it": "import fcntl; fcntl.fcntl(for_reading(), fcntl.F_DUPFD_CLOEXEC, 0)",
    "a thread": "import threading; thread = threading.Thread(target=int); thread.start(); thread.join()",
}
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="system calls of Linux")


def status_on_an_old_kernel(folder, line: str) -> int:
    """The exit status of ``line``, with a Landlock as in Linux 5.13: 11 for EPERM or EACCES, 12 for another error."""
    (folder / "readable").write_text("untouched")
    script = [sys.executable, "-c", OLDEST.format(line=line), str(folder)]
    return subprocess.run(script, env=os.environ | {"PYTHONPATH": str(CHECKOUT)}, timeout=60).returncode


@linux_only
@pytest.mark.parametrize("way", ON_AN_OLD_KERNEL)
def test_an_old_kernel_empties_no_file_and_tells_no_other_process(way, tmp_path):
    assert status_on_an_old_kernel(tmp_path, ON_AN_OLD_KERNEL[way]) == 11
    assert (tmp_path / "readable").read_text() == "untouched"


@linux_only
@pytest.mark.parametrize("way", UNKNOWN)
def test_calls_whose_flags_cannot_be_seen_are_not_there(way, tmp_path):
    line = f"""try:
        {UNKNOWN[way]}
    except OSError as error:
        sys.exit(error.errno)"""
    assert status_on_an_old_kernel(tmp_path, line) == errno.ENOSYS
    assert (tmp_path / "readable").read_text() == "untouched"


@linux_only
@pytest.mark.parametrize("way", HARMLESS)
def test_what_python_needs_is_not_refused(way, tmp_path):
    assert status_on_an_old_kernel(tmp_path, HARMLESS[way]) == 0


@linux_only
def test_every_system_call_of_the_table_is_refused(tmp_path):
    """With arguments that none of them takes, should one get through."""
    line = """for name, numbers in confinement.REFUSED.items():
        try:
            call(numbers, -1, -1, -1, -1, -1) if name not in ("fork", "vfork") else os.fork()
        except PermissionError:
            continue
        sys.exit(f"{name} is not refused")
    sys.exit(11)"""
    assert status_on_an_old_kernel(tmp_path, line) == 11


def decided(processor: str, number: int, *arguments: int, on: str = "") -> int:
    """What the filter for ``processor`` decides, worked out as the kernel does: 0, or the number of the error."""
    steps = confinement._filter(*confinement.PROCESSORS[processor])
    seen = {0: number, 4: confinement.PROCESSORS[on or processor][0]}
    seen |= {16 + 8 * place: argument for place, argument in enumerate([*arguments, 0, 0, 0][:3])}
    place = 0
    while True:
        what, if_true, if_not, value = steps[place]
        place += 1
        if what == confinement.RETURN:
            return 0 if value == confinement.ALLOW else value - confinement.REFUSE
        if what == confinement.LOAD:
            held = seen[value]
        elif what == confinement.KEEP_BITS:
            held &= value
        else:
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[what]
            place += if_true if true else if_not


@pytest.mark.parametrize("processor, column", [("x86_64", 0), ("aarch64", 1)])
def test_the_filter_of_each_processor(processor, column):
    def of(numbers, *arguments):
        return decided(processor, numbers[column], *arguments)

    for numbers in confinement.REFUSED.values():
        assert numbers[column] is None or of(numbers) == errno.EPERM
    assert {of(numbers) for numbers in confinement.UNKNOWN.values()} == {errno.ENOSYS}
    assert of(confinement.CLONE, 0x3D0F00) == 0 and of(confinement.CLONE, 0x1200011) == errno.EPERM
    for numbers in confinement.OF_OTHERS.values():
        assert of(numbers, 0) == 0 and of(numbers, 7) == errno.EPERM
    flags = {0: 0, 0o1: 0, 0o1101: 0, 0o1000: errno.EPERM, 0o2001000: errno.EPERM, 0o1003: errno.EPERM, 3: errno.EPERM}
    assert {each: of(confinement.OPENAT, 0, 5, each) for each in flags} == flags
    if column == 0:
        assert {each: of(confinement.OPEN, 5, each) for each in flags} == flags
        assert decided(processor, 0x40000000 + 1) == errno.EPERM
    asked = {1: 0, 3: 0, 8: errno.EPERM, 15: errno.EPERM, 1024: errno.EPERM, 1030: 0}
    assert {each: of(confinement.FCNTL, 3, each) for each in asked} == asked
    asked = {0x5401: 0, 0x541B: 0, 0x40086602: errno.EPERM, 0x15401: errno.EPERM, 0x8901: errno.EPERM}
    assert {each: of(confinement.IOCTL, 3, each) for each in asked} == asked
    other = next(each for each in confinement.PROCESSORS if each != processor)
    assert decided(processor, 0, on=other) == errno.EPERM


@pytest.mark.parametrize("column, header", [(0, "x86_64-linux-gnu/asm/unistd_64.h"), (1, "asm-generic/unistd.h")])
def test_the_system_calls_have_the_kernels_numbers(column, header):
    header = Path("/usr/include", header)
    if not header.exists():
        pytest.skip(f"needs {header}, of the package linux-libc-dev")
    kernels = dict(re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text(), flags=re.MULTILINE))
    tables = confinement.REFUSED | confinement.OF_OTHERS | confinement.UNKNOWN | {"clone": confinement.CLONE}
    tables |= {"open": confinement.OPEN, "openat": confinement.OPENAT}
    tables |= {"fcntl": confinement.FCNTL, "ioctl": confinement.IOCTL}
    youngest = max(map(int, kernels.values()))
    for name, numbers in tables.items():
        if numbers[column] is None:
            assert name not in kernels, name
        elif numbers[column] <= youngest:
            assert int(kernels[name]) == numbers[column], name


def test_a_system_that_cannot_confine_says_so(monkeypatch, capsys):
    monkeypatch.setattr(Worker, "confined", property(lambda self: False, lambda self, value: None), raising=False)
    report.grade_all([], Limits(), 1)
    assert "This system can't confine the learners' code" in capsys.readouterr().err


def test_an_old_kernel_is_left_as_it_is(monkeypatch):
    monkeypatch.setattr(confinement.platform, "machine", lambda: "riscv64")
    assert confinement.confine([]) is False


PRETENDING = {
    "the tolerance": "from lesson_kit.check.engine import differences\n"
    "    differences.TOLERANCE = {torch.float32: (1e30, 1e30)}",
    "code of the checks": "from lesson_kit.check.engine import differences\n"
    "    differences.difference.__code__ = (lambda *args, **kwargs: None).__code__",
    "code of the reference": "from lesson_kit import check\n"
    "    check.EXERCISES['softmax'].reference.__code__ = (lambda scores: scores * 7).__code__",
    "torch": "torch.softmax = torch.Tensor.softmax = lambda s, dim: s * 7\n    torch.isclose = torch.ne",
    "a function mode": "from torch.overrides import TorchFunctionMode\n"
    "    class Mode(TorchFunctionMode):\n"
    "        def __torch_function__(self, function, types, args=(), kwargs=None):\n"
    "            close = 'isclose' in str(function)\n"
    "            return torch.ones(1, dtype=torch.bool) if close else function(*args, **(kwargs or {}))\n"
    "    Mode().__enter__()",
    "a device": "torch.set_default_device('meta')",
}


@pytest.mark.parametrize("way", PRETENDING)
def test_what_a_function_changes_in_place_makes_no_wrong_answer_pass(worker, way):
    cells = [RIGHT[0], f"def softmax(scores):\n    {PRETENDING[way]}\n    return scores * 7"]
    cells += ["def attend(weights, value):\n    return weights * 7", "attend = check.attend(attend).function"]
    found = grade(cells, ["softmax", "attend"], Limits(12, 512), worker)
    assert not found["softmax"].passed and not found["attend"].passed
    cells[2] = "def attend(weights, value):\n    return weights @ value"
    assert grade(cells, ["softmax", "attend"], Limits(12, 512), worker)["attend"].passed


SEND = """import functools, gc
    send = next(f for f in gc.get_objects() if type(f) is functools.partial and f.func.__name__ == '_send')
    {}
    return scores * 7"""


@pytest.mark.parametrize(
    "event",
    [
        "send(slugs=5, text=None, error_type='')",
        "send(slugs=[5], text='', error_type='')",
        "send(slugs=['$\\\\frac{{$'], text='', error_type='')",
        "send(slugs=['a'] * 100, text='', error_type='')",
        "[send(end=True, ended=1, begun=1, memory=-1) for _ in range(1000)]",
    ],
)
def test_events_are_not_trusted(worker, event):
    found = softmax_with(worker, SEND.format(event))
    assert found.slugs and all(slug in ("not-normalised", "wrong-value", "raised") for slug in found.slugs)


def test_a_verdict_is_not_lost_behind_a_thousand_events(monkeypatch):
    monkeypatch.setattr(process, "MOST_EVENTS", 1)  # as if the report were slow to look at them
    with Worker(threading.Event()) as worker:
        found = softmax_with(worker, SEND.format("[send(end=True, begun=1, memory=-1) for _ in range(1000)]"))
        assert found.slugs == ("wrong-value",), found


def test_an_end_that_is_claimed_ends_that_exercise_and_no_other(worker):
    assert softmax_with(worker, SEND.format("[send(ended=True) for _ in range(50)]")).slugs == ("ended-python",)
    assert softmax_with(worker, "return torch.softmax(scores, dim=-1)").passed


def test_the_teachers_environment_is_not_handed_on(worker):
    assert os.environ["SECRET_TOKEN"] == "hunter2"
    found = softmax_with(worker, "import os", "raise ValueError(os.environ.get('SECRET_TOKEN', 'nothing there'))")
    assert "nothing there" in found.text


def test_escape_codes_do_not_reach_the_terminal(worker):
    found = softmax_with(worker, r"raise ValueError('\x1b[2J\x07 gone')")
    assert "\x1b" not in found.text and "\x07" not in found.text and "gone" in found.text


def test_empty_lines_cost_no_time(tmp_path):
    code = nbformat.v4.new_code_cell("\n" * 300_000 + RIGHT[1])
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# 01 · Attention by hand"), code])
    nbformat.write(notebook, tmp_path / "a.ipynb")
    began = time.process_time()
    assert len(collect(tmp_path)[0]) == 1
    assert time.process_time() - began < 5


def test_the_word_for_a_broken_cell_costs_no_time_either(worker):
    cells = [RIGHT[0], "\n" * 200_000 + "def softmax(scores:"]
    found = grade(cells, ["softmax"], Limits(12, 512), worker)["softmax"]
    assert found.slugs == ("raised",) and found.error_type == "SyntaxError"


def test_folders_in_folders(tmp_path):
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=place)
        inner = os.open("d", os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    (tmp_path / "a.ipynb").write_text("")
    assert [each.file for each in collect(tmp_path)[1]] == ["a.ipynb"]
    deep = tmp_path  # pytest would remove it by itself, and in vain
    subprocess.run(["rm", "-rf", str(deep / "d")], check=True)


def submitted(folder, name: str, *numbers: str):
    cells = [cell for number in numbers for cell in filled(number).cells]
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / name)


def test_the_same_names_are_said(tmp_path):
    for name in ("wim/a.ipynb", "wim/b.ipynb", "wim/a/01.ipynb", "Jose\u0301/a.ipynb", "Jos\u00e9/a.ipynb"):
        submitted(tmp_path, name, "01")
    found, remarks = collect(tmp_path)
    assert Counter(each.learner for each in found) == {"wim/a": 2, "wim/b": 1, "Jos\u00e9/a": 2}
    same = [each.file for each in remarks if "Another notebook has the same name" in each.text]
    assert len(same) == 4
    assert "from 3 learners" in report_page.page(found, [], [], None)


def test_two_lessons_in_one_notebook_are_said(tmp_path):
    submitted(tmp_path, "a.ipynb", "01", "02")
    found, remarks = collect(tmp_path)
    assert [each.lesson for each in found] == ["01"]
    assert [each.text for each in remarks] == ["Lesson 02 is in it too; graded for lesson 01 only."]


def test_more_cells_than_a_lesson_can_have(tmp_path):
    nbformat.write(
        nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("") for _ in range(3000)]), tmp_path / "a.ipynb"
    )
    assert [each.text for each in collect(tmp_path)[1]] == ["3000 cells; a lesson has about a hundred."]


@pytest.mark.parametrize("cell", ["=1+1", " =1+1", "＝1+1", "a;=1+1", "a\t@x", "+1", "-1", "\t=1"])
def test_no_spreadsheet_works_out_a_cell(cell, tmp_path):
    report._write_csv(tmp_path / "a.csv", [], [Remark(cell, "Text.")])
    with (tmp_path / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        row = list(csv.DictReader(file))[0]
    assert row["file"].replace("'", "") == cell and not report.FORMULA.search(row["file"])


def test_the_name_of_an_error_is_kept_short(worker):
    found = softmax_with(worker, "class " + "错" * 80 + "Error(Exception): pass", "raise " + "错" * 80 + "Error")
    assert summary.in_short("softmax", found) == "raised an error"


def test_a_report_without_any_notebook_that_can_be_read(tmp_path, capsys):
    (tmp_path / "returned").mkdir()
    (tmp_path / "returned" / "a.ipynb").write_text("")
    assert command(tmp_path / "returned", "--output", tmp_path / "out") == 0
    assert "a.ipynb: An empty file." in capsys.readouterr().out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.csv", "report.html"]


def test_a_report_among_the_notebooks_is_not_taken_for_one(tmp_path, capsys):
    (tmp_path / "a.ipynb").write_text("")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "a-checkpoint.ipynb").write_text("")
    for _ in range(2):
        assert command(tmp_path, "--output", tmp_path) == 0
        assert capsys.readouterr().out.count(".ipynb:") == 1


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["nowhere"], "nowhere is not there."),
        (["file"], "file is not a folder."),
        (["empty"], "There are no notebooks in empty."),
        (["full", "--output", "file"], "--output must be a folder, and file is a file."),
        (["full", "--output", "file/inside"], "The report can't be written into file/inside: Not a directory."),
        (["full", "--output", "taken"], "The report can't be written into taken: Is a directory."),
        (["full", "--seconds", "0"], "--seconds must be more than 0, --memory at least 256 and --jobs at least 1"),
        (["full", "--memory", "10"], "got 60, 10 and 2."),
        (["full", "--jobs", "0"], "got 60, 2048 and 0."),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(arguments, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.ipynb").write_text("")
    (tmp_path / "taken" / "report.csv").mkdir(parents=True)
    assert command(*arguments) == 2
    printed = capsys.readouterr()
    assert words in printed.err and printed.err.count("\n") == 1 and printed.out == ""


# Which statements an exercise needs.


def taken(cells: list[str], *names: str, given: tuple[str, ...] = ()) -> list[int]:
    """The cells of the statements that ``names`` need."""
    return [each.cell for each in needed(statements(cells)[0], list(names), list(given))]


def test_only_what_the_functions_need_is_taken():
    cells = [
        "import math",
        "scale = math.sqrt(4)",
        "table = []",
        "for n in range(3):\n    table.append(n)",
        "print(table, scale)",
        "def helper(x):\n    return x / scale",
        "def f(x):\n    y = helper(x)\n    return y + table[0]",
        "y = train_for_hours()",
        "f = check.softmax(f).function",
        "math.sqrt = None",
    ]
    assert taken(cells, "f") == [0, 1, 2, 3, 5, 6]
    assert taken(cells, "f", given=("helper",)) == [2, 3, 6]
    assert taken(cells, "nothing") == []


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx = 1",
        "!pip install nothing\nx = 1",
        "if True:\n    %pip install -q nothing\n    x = 1",
        "try:\n    import torch\nexcept ImportError:\n    %pip install 'a>=1' \\\n      b \\\n      c\nx = 1",
        "torch?\nx = 1",
        "%%time\nx = 1",
        "x = (7\n% 2)",
        "from math import *\nx = 1",
    ],
)
def test_jupyters_own_commands_are_no_syntax_errors(cell):
    found, broken = statements([cell])
    assert not broken and "x" in set().union(*(each.binds for each in found))


def test_the_set_up_cell_of_a_lesson_is_read():
    found, broken = statements([cell.source for cell in read("01").cells if cell.cell_type == "code"])
    assert not broken and "check" in set().union(*(each.binds for each in found if each.cell == 1))


def test_lines_keep_their_numbers():
    tree = parse("%pip install a \\\n  b\n\n!ls\nx = 1")
    assert tree.body[-1].lineno == 5


def test_a_cell_that_is_no_python_does_not_stop_the_others():
    found, broken = statements(["def f(:", "x = 1", "return 3", "%%html\n<b>", "x = \0", "(" * 100_000])
    assert [each.cell for each in found] == [1] and broken.keys() == {0, 2, 4, 5}
    assert broken[0].startswith("SyntaxError: ") and broken[0].endswith(" in line 1 of the cell")


@pytest.mark.parametrize(
    "cells, where",
    [
        (["def f(): ...", "f = check.f(f).function", "f = 3"], -1),
        (["def f(): ...", "f = check.f(f).function", "x = 3"], 1),
        (["def f(): ...", "check.f(f)", "def f(): ...", "check.f(f)"], 3),
        (["def f(): ...", "check.f(f)", "def f(): ..."], -1),
        (["def f(): ..."], -1),
        (["f = check.f(f).function"], None),
    ],
)
def test_a_function_is_judged_where_its_last_check_stands(cells, where):
    assert moment(statements(cells)[0], "f") == where
