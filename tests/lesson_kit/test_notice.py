"""A word while it takes long, and no trace of it in what is stored: cells are run by a real kernel."""

import nbformat
import pytest
from nbclient import NotebookClient

from lesson_kit.notice import waiting

SET_UP = "import time\nfrom lesson_kit import show\nfrom lesson_kit.notice import waiting"
WAIT = 'with waiting("Loading …") as notice:\n    notice.add("5 MB")'


class Watcher(NotebookClient):
    """Keeps what a reader sees meanwhile."""

    def process_message(self, message, cell, cell_index):
        content = message["content"]
        if "display" in message["msg_type"]:
            self.resources.setdefault("seen", []).append(content["data"].get("text/plain"))
        return super().process_message(message, cell, cell_index)


def run(*cells):
    """The outputs that are stored, per cell, and what was displayed meanwhile."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (SET_UP, *cells)])
    client = Watcher(notebook, kernel_name="python3", timeout=60)
    client.execute()
    return [cell.outputs for cell in notebook.cells[1:]], client.resources.get("seen", [])


@pytest.fixture
def live(monkeypatch):
    monkeypatch.delenv("COURSE_INTERACTIVE")


def test_the_word_is_seen_and_leaves_no_trace(live):
    outputs, seen = run(WAIT, WAIT + '\nprint("done")')
    assert seen == ["Loading …", "Loading … 5 MB"] * 2
    assert outputs[0] == []
    assert [output["text"] for output in outputs[1]] == ["done\n"]


def test_what_the_cell_has_shown_before_stays(live):
    outputs, seen = run(f'print("before")\n{WAIT}\nprint("after")', f'show.matrix([[1.0]])\n{WAIT}\n"end"')
    assert "Loading …" in seen
    assert [output["text"] for output in outputs[0] if "text" in output] == ["before\n", "after\n"]
    assert not any("Loading" in str(output) for cell in outputs for output in cell)


def test_a_result_takes_the_place_of_the_word(live):
    outputs, _ = run('print(1)\nwith waiting("Drawing …") as notice:\n    notice.become({"text/plain": "x"}, raw=True)')
    assert outputs[0][1:] == [{"output_type": "display_data", "data": {"text/plain": "x"}, "metadata": {}}]


def test_an_error_inside_takes_the_word_away_too(live):
    outputs, _ = run(f"try:\n    {WAIT.splitlines()[0]}\n        1 / 0\nexcept ZeroDivisionError:\n    pass")
    assert outputs == [[]]


def test_a_model_and_a_view_say_that_they_take_a_while(live):
    outputs, seen = run(
        'from lesson_kit import load_bert\nloaded = load_bert("course-bert")',
        'inputs = loaded.tokenizer("the bank", return_tensors="pt")\n'
        "attentions = loaded.hf_model(**inputs, output_attentions=True).attentions\n"
        "show.head_view(attentions, ['[CLS]', 'the', 'bank', '[SEP]'])",
    )
    assert outputs[0] == [] and seen[0] == "Loading course-bert …"
    [view] = outputs[1]
    assert sorted(view["data"]) == ["image/png", "text/html", "text/plain"]
    assert view["metadata"]["image/png"]["alt"] and "Drawing …" in seen
    assert "…" not in view["data"]["text/plain"]


def test_the_committed_outputs_have_no_words():
    assert run(WAIT) == ([[]], [])


def test_nothing_is_shown_outside_a_notebook(live, capsys):
    with waiting("Loading …") as notice:
        notice.add("5 MB")
    assert capsys.readouterr() == ("", "")
