"""``python -m classroom report FOLDER``: who passed what, and which mistakes were common."""

import argparse
import contextlib
import csv
import queue
import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from classroom.grading.process import Cancelled, Limits, Worker, grade
from classroom.grading.submissions import LESSONS, Remark, Submission, collect

NOT_CONFINED = (
    "This system can't confine the learners' code: Python refuses it the network, other programs and writing, but a "
    "library written in C can get by, and it can read your files. See Trust in classroom/README.md."
)
SMALLEST = 256  # MB; with less than this a right answer may not have room
# A spreadsheet would work out what begins so; some take a semicolon or a tab for the end of a cell.
FORMULA = re.compile(r"(^|[;\t])(?=\s*[=+\-@\t＝＋－＠])")


def add_to(subparsers) -> None:
    """Adds the subcommand ``report`` to ``python -m classroom``."""
    parser = subparsers.add_parser(
        "report",
        help="grade a folder of returned notebooks: who passed what, and which mistakes were common",
        description="Grades every notebook in FOLDER and in the folders in it, each in a process of its own, without "
        "a network. Writes report.html, report.csv and report.png, and a table to the terminal. A learner's name is "
        "the name of the folder that the notebook lies in, or of the file if it lies in FOLDER itself.",
    )
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="the returned notebooks")
    parser.add_argument(
        "--output", metavar="FOLDER", type=Path, default=Path("build/report"), help="default: build/report"
    )
    parser.add_argument("--seconds", type=float, default=60, help="for one notebook, default 60")
    parser.add_argument("--memory", type=int, default=2048, help="MB for one notebook beside torch, default 2048")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks at a time, default 2")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """The subcommand. Returns its exit status: 2, after one sentence, if there is nothing to grade or to write to."""
    try:
        report(arguments.folder, arguments.output, Limits(arguments.seconds, arguments.memory), arguments.jobs)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def report(folder: Path, output: Path, limits: Limits, jobs: int = 2) -> tuple[list[Submission], list[Remark]]:
    """Grades all notebooks in ``folder``, writes the report into ``output``, and prints a table.

    Raises:
        ValueError: ``folder`` is no folder or has no notebooks in it, ``output`` is a file, or a limit is too small.
        OSError: ``folder`` can't be read, or ``output`` can't be written.
    """
    if limits.seconds <= 0 or limits.memory < SMALLEST or jobs < 1:
        raise ValueError(
            f"--seconds must be more than 0, --memory at least {SMALLEST} and --jobs at least 1, "
            f"got {limits.seconds:g}, {limits.memory} and {jobs}."
        )
    if not folder.is_dir():
        raise ValueError(f"{folder} is {'not a folder' if folder.exists() else 'not there'}.")
    submissions, remarks = collect(folder, leave_out=output)
    if not submissions and not any(each.file.lower().endswith(".ipynb") for each in remarks):
        raise ValueError(f"There are no notebooks in {folder}.")
    _prepare(output)
    remarks += grade_all(submissions, limits, jobs)
    submissions = [each for each in submissions if each.grades]
    _write(output, submissions, remarks)
    return submissions, remarks


def _prepare(output: Path) -> None:
    """Makes the folder, and finds out before the grading whether it can be written to."""
    if output.exists() and not output.is_dir():
        raise ValueError(f"--output must be a folder, and {output} is a file.")
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name in ("report.csv", "report.html", "report.png"):
            with (output / name).open("ab"):
                pass
    except OSError as error:
        raise OSError(f"The report can't be written into {output}: {error.strerror or error}.") from None


def grade_all(submissions: list[Submission], limits: Limits, jobs: int) -> list[Remark]:
    """Gives each submission its verdicts, ``jobs`` at a time; remarks on those that could not be graded."""
    remarks, cancel, workers = [], threading.Event(), queue.SimpleQueue()

    def one(submission: Submission) -> None:
        worker = workers.get()
        try:
            submission.grades = grade(submission.cells, LESSONS[submission.lesson], limits, worker)
        except Cancelled:
            pass
        except Exception as error:  # one submission never spoils the report
            remarks.append(Remark(submission.file, f"Could not be graded: {error or type(error).__name__}."))
        finally:
            workers.put(worker)
        done = sum(bool(each.grades) for each in submissions)
        if sys.stderr.isatty():
            print(f"\r{done} of {len(submissions)} graded", end="", file=sys.stderr, flush=True)

    with contextlib.ExitStack() as stack, ThreadPoolExecutor(jobs) as pool:
        all_workers = [stack.enter_context(Worker(cancel)) for _ in range(min(jobs, max(len(submissions), 1)))]
        for worker in all_workers:
            workers.put(worker)
        try:
            list(pool.map(one, submissions))
        except BaseException:  # Ctrl-C: what still runs is ended at once
            cancel.set()
            pool.shutdown(cancel_futures=True)
            raise
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if not all(worker.confined for worker in all_workers):
        print(NOT_CONFINED, file=sys.stderr)
    return sorted(remarks, key=lambda remark: remark.file)


def _write(output: Path, submissions: list[Submission], remarks: list[Remark]) -> None:
    from classroom.grading import report_page, summary  # matplotlib comes with it: not at import

    common = summary.commonest(submissions)
    image = report_page.draw(submissions, common) if submissions else None
    page = report_page.page(submissions, remarks, common, image)
    (output / "report.html").write_text(page, encoding="utf-8", errors="backslashreplace")
    if image:
        (output / "report.png").write_bytes(image.png)
    else:
        (output / "report.png").unlink()
    _write_csv(output / "report.csv", submissions, remarks)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may lack a letter of a name
    print(_text(submissions, remarks, common))
    print(f"\nThe report: {output / 'report.html'}, report.csv and report.png beside it.")


def _write_csv(path: Path, submissions: list[Submission], remarks: list[Remark]) -> None:
    """One line for each learner and exercise, and one for each file that was left out."""
    from classroom.grading.summary import outcome

    rows = [
        [each.lesson, each.learner, each.file, name, outcome(name, grade), grade.name, grade.text]
        for each in submissions
        for name, grade in each.grades.items()
    ]
    rows += [["", "", each.file, "", "left out", "", each.text] for each in remarks if each.left_out]
    with path.open("w", encoding="utf-8-sig", errors="backslashreplace", newline="") as file:  # spreadsheets ask for it
        table = csv.writer(file)
        table.writerow(["lesson", "learner", "file", "exercise", "outcome", "verdict", "message"])
        table.writerows([[FORMULA.sub(r"\1'", cell) for cell in row] for row in rows])


def _text(submissions: list[Submission], remarks: list[Remark], common: list) -> str:
    from classroom.grading.summary import in_short
    from lesson_kit import show

    parts = []
    for lesson in sorted({each.lesson for each in submissions}):
        group = [each for each in submissions if each.lesson == lesson]
        cells = [[in_short(name, grade) for name, grade in each.grades.items()] for each in group]
        rows = [each.learner for each in group]
        parts.append(repr(show.matrix(cells, rows=rows, columns=LESSONS[lesson], title=f"Lesson {lesson}")))
    if common:
        lines = [f"{each.count:3} {each.exercise}: {each.name}. {each.hint}" for each in common[:10]]
        parts.append("\n".join(["The commonest mistakes", *lines]))
    if remarks:
        parts.append("\n".join(["Files to look at", *(f"{each.file}: {each.text}" for each in remarks)]))
    return "\n\n".join(parts)
