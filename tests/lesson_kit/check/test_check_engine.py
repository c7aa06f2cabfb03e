"""What every check does, whatever the exercise: functions that misbehave, errors in plain words, hints, progress."""

import _thread
import builtins
import contextlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import course_utils
from lesson_kit import check
from lesson_kit.check import clinic, progress_file, stories
from lesson_kit.check.engine import differences, errors, limits, originals, source_code
from lesson_kit.check.engine import display as output
from lesson_kit.check.engine.exercise import Exercise, exercise
from lesson_kit.check.engine.limits import TimeUp, in_time
from lesson_kit.check.engine.verdict import Verdict
from lesson_kit.check.where_taught import PLACES, TITLES, next_exercise


@pytest.fixture(autouse=True)
def first_failure():
    for each in check.EXERCISES.values():
        each.forget()


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 0.3)


# Endless loops


def forever(scores):
    while True:
        pass


def forever_with_except(scores):
    while True:
        try:  # noqa: SIM105
            torch.exp(scores)
        except Exception:
            pass


def forever_with_bare_except(scores):
    while True:
        try:  # noqa: SIM105
            sum(range(100))
        except:  # noqa: E722
            pass


def forever_printing(scores):
    while True:
        print("still", "here")


def forever_calling(scores):
    def step():
        return [number for number in range(50)]

    while step():
        scores = scores + 1


@pytest.mark.parametrize(
    "candidate", [forever, forever_with_except, forever_with_bare_except, forever_printing, forever_calling]
)
def test_an_endless_loop_is_ended_and_the_line_named(candidate, soon, capsys):
    start = time.monotonic()
    result = check.softmax(candidate)
    assert result.mistake == "too-slow" and time.monotonic() - start < 3
    assert "still running after 0.3 seconds" in result.message
    assert "It had come to your line" in result.message
    assert "still here" not in capsys.readouterr().out


def test_an_endless_loop_where_a_gradient_is_needed(soon):
    def candidate(scores):
        while scores.requires_grad:
            pass
        return scores.softmax(-1)

    result = check.softmax(candidate)
    assert result.mistake == "too-slow" and "inputs that need a gradient" in result.message


def test_nothing_of_a_time_limit_is_left_over():
    threads = _thread._count()
    for _ in range(30):
        with pytest.raises(TimeUp):
            in_time(lambda: forever(None), seconds=0.01)
        for _ in range(20_000):  # a late one would be raised here
            pass
    assert in_time(lambda: 5) == 5
    assert _thread._count() == threads


def test_a_time_limit_that_comes_at_any_moment_leaves_nothing_over():
    """Also between two of its own steps: before the function has begun, while it ends, and as all is tidied up."""
    threads = _thread._count()
    for step in range(300):
        with contextlib.suppress(TimeUp):
            in_time(lambda: None, seconds=step * 1e-6)
        for _ in range(1000):
            pass
    assert _thread._count() == threads


def test_the_stop_button_ends_a_time_limit_too(monkeypatch):
    """Pressed while the limit tidies up: it is heard, and nothing goes on after it."""
    settrace, threads = sys.settrace, _thread._count()

    def pressed(trace):
        monkeypatch.setattr(sys, "settrace", settrace)
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "settrace", pressed)
    with pytest.raises(KeyboardInterrupt):
        in_time(lambda: None, seconds=0.05)
    end = time.monotonic() + 0.2
    while time.monotonic() < end:  # a late one would be raised here
        pass
    assert _thread._count() == threads


def test_where_no_thread_can_start_nobody_waits_for_it(monkeypatch):
    def refused(*args):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refused)
    with pytest.raises(RuntimeError, match="new thread"):
        in_time(lambda: 5)


# Functions that are no plain functions, or answer with something else


class Softmax:
    """A class that computes nothing."""

    def __init__(self, scores):
        self.scores = scores


def keyword_only(*, scores):
    return scores.softmax(-1)


def prints(scores):
    print("the scores are", scores)
    return scores.softmax(0)


def deletes(scores):
    result = scores * 0
    del scores
    return result


def empties(scores):
    result = scores.softmax(-1)
    scores.resize_(0)
    return result


def stops_the_kernel(scores):
    sys.exit(1)


def for_ever_deeper(scores):
    return for_ever_deeper(scores)


@pytest.mark.parametrize(
    "candidate, mistake, says",
    [
        (lambda scores: scores, "wrong-value", "got"),
        (Softmax, "not-a-function", "not a class: `check.softmax(softmax)`"),
        (nn.Softmax, "not-a-function", "not a class"),
        (len, "wrong-type", "It returned a value of type int, wanted a torch.Tensor."),
        (print, "not-attempted", ""),
        (keyword_only, "raised", "calls your function as `softmax(scores)`, its arguments by position"),
        (lambda: 1, "raised", "calls your function as `softmax(scores)`, its arguments by position"),
        (prints, "wrong-axis", ""),
        (lambda scores: (scores.softmax(-1),), "wrong-type", "a comma after `return` makes a tuple"),
        (lambda scores: scores.softmax(-1).numpy(), "wrong-type", "Stay with torch all the way"),
        (lambda scores: np.float64(1), "wrong-type", "type float64"),
        (lambda scores: [row.softmax(-1) for row in scores], "wrong-type", "`torch.stack` makes one tensor of a list"),
        (deletes, "constant-result", "whatever numbers its inputs hold. The first difference is at index (0,): got 0"),
        (empties, "changed-input", "scores"),
        (stops_the_kernel, "raised", "SystemExit: 1.\nYour line"),
        (for_ever_deeper, "raised", "calls itself without end"),
        ("softmax", "not-a-function", "not its result"),
    ],
)
def test_a_sentence_for_whatever_comes(candidate, mistake, says):
    result = check.softmax(candidate)
    assert not result.passed
    assert says in result.message, result.message
    assert mistake == result.mistake


@pytest.mark.parametrize(
    "candidate",
    [
        nn.Softmax(dim=-1),
        lambda x, dim=-1: x.softmax(dim),
        lambda *args, **kwargs: args[0].softmax(-1),
        staticmethod(lambda scores: scores.softmax(-1)),
    ],
)
def test_whatever_can_be_called_with_the_arguments_may_pass(candidate):
    assert check.softmax(candidate).passed


def test_what_it_printed_is_told_once_and_for_the_input_that_failed(capsys):
    def candidate(scores):
        print("shape", tuple(scores.shape))
        return scores.softmax(-1) + 0.1 * (scores.dim() == 3)

    result = check.softmax(candidate)
    assert result.mistake == "wrong-value"
    assert result.message.count("It printed: shape (") == 1 and "float64" not in result.message.split("It printed")[1]
    assert capsys.readouterr().out == result.message + "\n"


def and_prints(function):
    """The same function, with a print of the shape in it."""

    def candidate(scores):
        print("shape", tuple(scores.shape))
        return function(scores)

    return candidate


@pytest.mark.parametrize(
    "function, mistake, shape",
    [
        (lambda scores: scores.softmax(0), "wrong-axis", (1, 3, 2)),
        (lambda scores: scores @ scores.sofmax(-1), "raised", (4,)),
        (lambda scores: scores.softmax(-1), None, (4,)),
        (lambda scores: scores.detach().softmax(-1), "gradient-cut", (4,)),
        (lambda scores: scores.add_(1).softmax(-1), "changed-input", (4,)),
        (lambda scores: None, "returns-nothing", (4,)),
    ],
)
def test_what_it_printed_is_told_with_every_verdict(function, mistake, shape, capsys):
    result = check.softmax(and_prints(function))
    assert result.mistake == mistake
    assert result.message.count("It printed: ") == 1 and f"\nIt printed: shape {shape}\n" in result.message
    assert result.message.count(f"of 6: `scores` {shape} float32.)") == 1
    assert capsys.readouterr().out == result.message + "\n"


def test_prints_that_change_do_not_hide_that_the_failure_is_the_same():
    first = check.softmax(lambda scores: scores + 0.1)
    again = check.softmax(and_prints(lambda scores: scores + 0.1))
    assert "by hand" not in first.message and "by hand" in again.message and "It printed: shape" in again.message


def test_long_prints_are_cut_off():
    def candidate(scores):
        print("long " * 10_000)
        return scores.softmax(0)

    assert 1000 < len(check.softmax(candidate).message) < limits.PRINTED + 1000


def test_switches_that_a_function_turns_are_turned_back():
    def candidate(scores):
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        torch.manual_seed(123)
        sys.setrecursionlimit(5000)
        return scores

    before, depth = torch.get_rng_state(), sys.getrecursionlimit()
    check.softmax(candidate)
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before) and sys.getrecursionlimit() == depth


def replaces_softmax():
    torch.softmax = torch.Tensor.softmax = nn.functional.softmax = lambda scores, dim=None: scores * 7


def replaces_isclose():
    torch.isclose = lambda *args, **options: torch.tensor(True)


def replaces_a_built_in():
    builtins.len = lambda x: 0


def makes_the_tolerance_huge():
    differences.TOLERANCE = {torch.float32: (1e30, 1e30), torch.float64: (1e30, 1e30)}


def changes_the_code_of_the_comparison():
    differences.difference.__code__ = (lambda *args, **options: None).__code__


def changes_the_code_of_the_reference():
    check.softmax.reference.__code__ = (lambda scores: scores * 7).__code__


def replaces_the_reference():
    check.softmax.reference = lambda scores: scores * 7


def enters_a_mode():
    class Yes(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            return torch.tensor(True) if function is torch.isclose else function(*args, **(kwargs or {}))

    Yes().__enter__()


def surroundings():
    """What a function might leave changed in the process and in torch."""
    modes = torch._C._len_torch_function_stack(), torch._C._len_torch_dispatch_stack()
    switches = torch.get_default_device(), torch.is_anomaly_enabled(), torch.are_deterministic_algorithms_enabled()
    switches += torch.get_num_threads(), dict(vars(torch._tensor_str.PRINT_OPTS)), float(torch.tensor(1e-40) / 2)
    process = os.getcwd(), dict(os.environ), signal.getsignal(signal.SIGINT), sys.gettrace(), sys.getprofile()
    return modes, switches, process


@pytest.mark.parametrize(
    "do",
    [
        replaces_softmax,
        replaces_isclose,
        replaces_a_built_in,
        makes_the_tolerance_huge,
        changes_the_code_of_the_comparison,
        changes_the_code_of_the_reference,
        replaces_the_reference,
        enters_a_mode,
        lambda: torch.set_default_device("meta"),
        lambda: torch.autograd.set_detect_anomaly(True),
        lambda: torch._C._set_deterministic_algorithms(True),
        lambda: os.chdir("/"),
        lambda: os.environ.update(COURSE_TRIES="1"),
        lambda: os.environ.pop("PATH"),
        lambda: torch.set_num_threads(torch.get_num_threads() + 1),
        lambda: torch.set_printoptions(precision=1, sci_mode=True),
        lambda: torch.set_flush_denormal(True),
        lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        lambda: sys.settrace(lambda *args: None),
        lambda: sys.setprofile(lambda *args: None),
    ],
)
def test_what_a_function_changes_is_put_back_and_no_verdict_hangs_on_it(do):
    def right(scores):
        e = torch.exp(scores - scores.amax(-1, keepdim=True))
        result = e / e.sum(-1, keepdim=True)
        do()
        return result

    def wrong(scores):
        do()
        return scores * 7

    before = surroundings()
    for _ in range(2):
        assert check.softmax(wrong).mistake == check.softmax(lambda scores: scores * 7).mistake == "wrong-value"
        assert check.softmax(right).passed
        assert surroundings() == before


def test_while_built_ins_are_put_back_none_is_missing():
    """Other threads use them too."""
    memory, missing, put_back = originals.Memory(builtins), [], threading.Event()

    def look():
        while not put_back.is_set():
            missing.extend(name for name in ("len", "print") if name not in vars(builtins))

    print("warm")
    thread = threading.Thread(target=look)
    thread.start()
    for number in range(2000):
        builtins.abs = builtins.new_of_mine = number
        memory.put_back()
    put_back.set()
    thread.join()
    del builtins.new_of_mine
    assert not missing and abs(-5) == 5
    assert not any(table is vars(builtins) for table, _ in originals._foreign.tables)


def test_a_table_gets_its_entries_back(monkeypatch):
    module = types.ModuleType("lesson_kit.check.of_a_test")
    module.table = {"one": 1, "two": 2}
    memory = originals.Memory(module)
    del module.table["one"]
    module.table.update(two=22, three=3)
    memory.put_back()
    assert module.table == {"one": 1, "two": 2} and memory.still_true()


def test_an_object_that_says_it_equals_everything_is_put_back_too():
    class Same:
        def __eq__(self, other):
            return True

        def __call__(self, *args, **options):
            return torch.tensor(True)

    def candidate(scores):
        torch.isclose = torch.equal = Same()
        return scores * 7

    assert check.softmax(candidate).mistake == "wrong-value" and not isinstance(torch.equal, Same)


def test_one_thing_that_cannot_be_put_back_keeps_nothing_else_from_it(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)

    def candidate(scores):
        os.chdir("/")
        shutil.rmtree(gone, ignore_errors=True)
        torch.set_default_dtype(torch.float64)
        torch.isclose = lambda *args, **options: torch.tensor(True)
        return scores * 7

    assert check.softmax(candidate).mistake == "wrong-value" and torch.get_default_dtype() == torch.float32

    def refuses(was):
        raise OSError

    state = iter(range(10**6))
    monkeypatch.setattr(limits, "SWITCHES", ((lambda: next(state), refuses), *limits.SWITCHES))
    isclose, dtype = torch.isclose, torch.get_default_dtype()
    with originals.kept(), pytest.raises(OSError), limits.alone():  # noqa: PT012
        torch.set_default_dtype(torch.float64)
        torch.isclose = None
    assert torch.isclose is isclose and torch.get_default_dtype() == dtype


@pytest.mark.parametrize("do", [replaces_softmax, replaces_isclose])
def test_what_a_cell_has_replaced_in_torch_does_not_count(do):
    do()
    assert check.softmax(lambda scores: scores * 7).mistake == "wrong-value"
    assert torch.softmax(torch.zeros(2), -1).tolist() == [0.5, 0.5]


def test_the_tolerance_cannot_be_changed_in_place():
    with pytest.raises(TypeError, match="does not support item assignment"):
        differences.TOLERANCE[torch.float32] = (1.0, 1.0)


@pytest.mark.parametrize("turn_on", [sys.settrace, sys.setprofile])
def test_a_time_limit_holds_under_a_trace_function_and_leaves_it_on(turn_on):
    """In a process of its own: Python 3.11 once hung there."""
    code = f"""
import sys
from lesson_kit.check.engine.limits import TimeUp, in_time
def trace(*args): return trace
def forever():
    sys.{turn_on.__name__}(trace)
    while True:
        pass
for _ in range(2):
    try:
        in_time(forever, 0.2)
    except TimeUp:
        print("ended", sys.gettrace(), sys.getprofile())
sys.{turn_on.__name__}(trace)
print(in_time(lambda: 5), trace in (sys.gettrace(), sys.getprofile()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["ended None None"] * 2 + ["5 True"], done.stderr


def test_quit_is_a_verdict_and_does_not_end_the_kernel(monkeypatch):
    import IPython

    class Shell:
        left = False

        def ask_exit(self):
            self.left = True

    shell = Shell()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr(output, "in_notebook", lambda: False)
    result = check.softmax(lambda scores: shell.ask_exit())
    assert result.mistake == "raised" and "SystemExit" in result.message and not shell.left
    shell.ask_exit()
    assert shell.left


def test_a_huge_message_is_cut_off():
    def candidate(scores):
        raise ValueError("m " * 1_000_000)

    start = time.monotonic()
    assert len(check.softmax(candidate).message) < 2000 and time.monotonic() - start < 5


# Other verdicts


def test_a_verdict_is_data():
    double = doubled()
    passed, both = double(lambda x: x + x).verdict, double(lambda x: 1 - x - x).verdict
    assert passed == Verdict() and passed.passed and passed.name is None
    assert both.slugs == ("negative", "shifted") and both.together and both.name == "negative and shifted"
    assert both.text.startswith("Two things at once:\n1. Look at the sign.") and not both.passed
    either = Verdict(("a", "b"))
    assert either.name == "a or b" and either.joined(("x", "y")) == "x or y"


@pytest.mark.parametrize(
    "candidate, error_type",
    [
        (lambda scores: scores.sofmax(-1), "AttributeError"),
        (lambda scores: sys.exit(), "SystemExit"),
        (lambda scores: torch.from_numpy(scores.numpy()).softmax(-1), "RuntimeError"),
        (lambda scores: scores, None),
    ],
)
def test_a_verdict_knows_the_type_of_the_error(candidate, error_type):
    verdict = check.softmax(candidate).verdict
    assert verdict.error_type == error_type and verdict.text in check.softmax(candidate).message


def test_the_courses_own_function_in_place_of_the_learners_is_told_plainly():
    name = check.softmax(lambda scores: scores).function
    message = check.softmax(name).message
    assert message.startswith("softmax: nothing of yours to check. The name holds the course's own softmax")
    assert "Run the cell that defines your function again" in message and "not attempted" not in message


def test_a_pass_says_what_comes_next():
    names = list(PLACES)
    message = check.softmax(lambda scores: scores.softmax(-1)).message
    first, second, *_ = message.splitlines()
    assert first.startswith("softmax: passed. It gives the right answer on all 6 inputs") and "float" not in first
    assert second == "Next exercise: `attend`."
    assert next_exercise("attend") == f"Next exercise: `{names[3]}`, in lesson 02, The sky is blue."
    assert next_exercise(names[-1]) == "That was the last exercise of the course." and next_exercise("double") == ""


@pytest.mark.parametrize("noise", [torch.randn, torch.rand])
def test_a_result_that_depends_on_the_global_generator(noise):
    result = check.softmax(lambda scores: scores.softmax(-1) + noise(scores.shape))
    assert result.mistake == "not-repeatable" and "gives two results" in result.message


def test_a_function_that_remembers_the_call_before():
    calls = []

    def candidate(scores):
        calls.append(scores)
        return scores.softmax(-1) if len(calls) <= len(check.softmax.cases()) else scores

    assert check.softmax(candidate).mistake == "not-repeatable"


@pytest.mark.parametrize(
    "change, says",
    [
        (lambda t: t.transpose(-2, -1), "The numbers are right, but axes 1 and 2 have changed places."),
        (lambda t: t.flatten(), "The numbers are right, and in the right order: only the axes"),
        (lambda t: t[None], "The numbers are right, and in the right order: only the axes"),
        (lambda t: 2 * t.transpose(-2, -1), "Axes 1 and 2 seem to have changed places."),
        (lambda t: t[..., :-1], "wanted (3, 4, 6)."),
    ],
)
def test_a_wrong_shape_is_explained(change, says):
    @exercise(lambda: [(torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0)),)])
    def double(x):
        """Twice x."""
        return 2 * x

    result = double(lambda x: change(2 * x))
    assert result.mistake == "wrong-shape" and says in result.message


def test_a_mean_over_a_single_row_is_not_called_right():
    @exercise(lambda: [(torch.randn(1, 3, generator=torch.Generator().manual_seed(0)),)])
    def double(x):
        """Twice x."""
        return 2 * x

    message = double(lambda x: (2 * x).mean(dim=0)).message
    assert "It lacks an axis of length 1" in message and "numbers are right" not in message


def test_not_implemented_is_no_attempt_only_where_the_learner_says_so():
    def in_whole_numbers(scores):
        return scores.long().softmax(-1)  # PyTorch's own NotImplementedError

    result = check.softmax(in_whole_numbers)
    assert result.mistake == "raised" and "needs numbers with a point" in result.message


# Errors in plain words


@pytest.mark.parametrize(
    "line, says",
    [
        ("query @ key", "Here 4 meets 5. The last axes of both are 4 long: does the right side want to be transposed?"),
        ("query.T @ key", "Here 3 meets 5."),
        ("query.T @ torch.ones(4, 5)", "Both begin with 4: does the left side want to be transposed?"),
        ("query[None] @ key[None]", "`@` multiplies the last axis of its left side"),
        ("query.expand(2, 3, 4) @ key.T.expand(3, 4, 5)", "Along axis 0 one tensor has 2 entries and the other 3."),
        ("query * key", "Along axis 0 one tensor has 3 entries and the other 5."),
        ("query @ key.T.double()", "Two kinds of numbers meet."),
        ("query.view(5, 5)", "The new shape (5, 5) must hold exactly 12 entries."),
        ("query.T.view(12)", "after a transpose the memory is in another order"),
        ("query if query > 0 else key", "want one yes or no"),
        ("float(query)", "want one number"),
        ("query.sum(2)", "The tensor has 2 axes, -2 to 1; there is no axis 2."),
        ("query[9]", "Axis 0 has 3 entries, counted from 0; there is no number 9."),
        ("query[0, 0, 0]", "It has 2 axes"),
        ("quer @ key.T", "Python doesn't know `quer`"),
        ("query[None].t()", "`.t()` knows matrices only."),
        ("torch.sqrt(4)", "`torch.sqrt` wants a tensor."),
        ("torch.softmax(query)", "say dim=..."),
        ("torch.einsum('ij,jk->ik', query, key)", "In einsum each letter is one axis"),
        ("torch.cat([query, key[:, :2]])", "put equal shapes together"),
        ("query.masked_fill(query, 0)", "A mask is yes and no"),
        ("query(key)", "Round brackets call a function, and this is a Tensor."),
        ("query.dott(key)", "A Tensor has nothing called `dott`"),
        ("query @ [1.0] ", "A Tensor and a list can't be put together"),
        ("None @ key.T", "Something is None where a tensor should be"),
        ("1 / 0", "A divisor is 0"),
    ],
)  # fmt: skip
def test_an_error_is_read_in_plain_words(line, says):
    one = Exercise(check.dot_product_scores.reference, lambda: [(torch.randn(3, 4), torch.randn(5, 4))])
    result = one(lambda query, key: eval(line, {"torch": torch, "query": query, "key": key}))
    assert result.mistake == "raised"
    assert says in result.message, result.message


def test_a_call_inside_the_function_is_not_taken_for_the_checks_own():
    def helper(scores, axis):
        return scores.softmax(axis)

    def candidate(scores):
        return helper(scores)

    message = check.softmax(candidate).message
    assert "missing 1 required positional argument" in message and "The check calls your function" not in message


def test_numpy_where_a_gradient_is_needed_is_read_in_plain_words():
    result = check.softmax(lambda scores: torch.from_numpy(scores.numpy()).softmax(-1))
    assert result.mistake == "gradient-cut" and "NumPy knows no gradients" in result.message


# Hints: the next one each time


def doubled() -> Exercise:
    @exercise(lambda: [(torch.tensor([1.0, 3.0]),), (torch.tensor([[2.5]]),)], gradients=False)
    def double(x):
        """Twice x."""
        return 2 * x

    double.mistake("squared", ("Hint one.", "Hint two.", "Hint three."), lambda x: x * x)
    double.mistake("negative", "Look at the sign.", lambda x: -2 * x)
    double.mistake("shifted", "Look at zero.", lambda x: 2 * x + 1)
    double.together(
        lambda sign=1, shift=0: lambda x: sign * 2 * x + shift, {"negative": {"sign": -1}, "shifted": {"shift": 1}}
    )
    return double


def test_each_failure_of_the_same_kind_gives_the_next_hint():
    double = doubled()
    messages = [double(lambda x: x**2).message for _ in range(4)]
    assert [[f"Hint {n}." in message for n in ("one", "two", "three")] for message in messages] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
        [True, True, True],
    ]
    assert all("called `squared`; `check.explain()` tells more about it." in message for message in messages)
    assert "Hint two." not in (double(lambda x: -2 * x).message + double(lambda x: x**2).message)


def test_a_stub_in_between_does_not_start_the_hints_anew():
    double = doubled()
    double(lambda x: x**2)
    assert "Hint" not in double(double.reference).message
    assert "Hint two." in double(lambda x: x**2).message


def test_a_pass_or_forget_starts_the_hints_anew():
    double = doubled()
    for anew in (lambda: double(lambda x: x + x), double.forget):
        double(lambda x: x**2)
        anew()
        assert "Hint two." not in double(lambda x: x**2).message


def test_the_same_unknown_failure_twice_gives_a_way_to_find_it():
    double = doubled()
    assert "by hand" not in double(lambda x: 3 * x).message
    assert "by hand" in double(lambda x: 3 * x).message


def test_two_mistakes_at_once_are_both_named():
    result = doubled()(lambda x: 1 - x - x)
    assert result.mistake == "negative and shifted"
    assert "1. Look at the sign." in result.message and "2. Look at zero." in result.message


def test_mistakes_that_need_the_same_option_are_not_put_together():
    double = doubled()
    double.together(lambda sign=1: lambda x: 2 * sign * x, {"negative": {"sign": -1}, "shifted": {"sign": 2}})
    assert list(double.pairs()) == []


# What is shown


def test_a_pass_says_what_was_proved_and_shows_something():
    double = doubled()

    @double.sight
    def _(function):
        from lesson_kit import show

        return show.matrix(function(torch.tensor([4.0])), title="twice 4")

    result = double(lambda x: x + x)
    first, second, *_ = result.message.splitlines()
    proof = "It gives the right answer on all 2 inputs, and it leaves its inputs as they are."
    assert first == f"double: passed. {proof}"
    assert second == "(Compared with the course's version to within 2e-04 in float32.)"
    assert "twice 4" in result.message and "8.00" in result.message


@pytest.mark.parametrize("sight", [lambda function: 1 / 0, lambda function: sys.exit()])
def test_a_sight_that_fails_spoils_nothing(sight):
    double = doubled()
    double.sight(sight)
    assert double(lambda x: x + x).passed


def test_in_a_notebook_text_and_html_are_published(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(output, "in_notebook", lambda: True)
    monkeypatch.setattr(IPython.display, "publish_display_data", shown.append)
    result = doubled()(lambda x: x + (1 if x.numel() > 1 else 0) * x)
    (data,) = shown
    assert data["text/plain"] == result.message
    html = data["text/html"]
    assert 'role="status"' in html and "<strong>double: not yet right.</strong>" in html


def test_a_verdict_cannot_smuggle_html():
    html = output.as_html("name: passed. <script>alert(1)</script> `a < b`", "passed")
    assert "<script>" not in html and "<code>a &lt; b</code>" in html


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return sum(
        w * (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4)
        for w, p in zip((0.2126, 0.7152, 0.0722), parts, strict=True)
    )


@pytest.mark.parametrize("background", ["#ffffff", "#111111"])
@pytest.mark.parametrize("bar", output.OPENING_BARS.values())
def test_the_bars_can_be_seen_on_light_and_dark(bar, background):
    """WCAG 2.1, 1.4.11: 3 to 1 for graphics. Text has the page's own colour."""
    lighter, darker = sorted((luminance(bar.split()[1]), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 3


def test_a_verdict_is_told_by_more_than_colour():
    assert len({bar.split()[0] for bar in output.OPENING_BARS.values()}) == len(output.OPENING_BARS)


# Progress


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "somewhere" / "progress.jsonl"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    return path


def test_a_pass_is_written_down_once(file):
    assert not check.softmax(lambda scores: scores).passed and not file.exists()
    for _ in range(2):
        check.softmax(lambda scores: scores.softmax(-1))
    (line,) = filter(None, file.read_text().splitlines())
    entry = json.loads(line)
    assert entry["exercise"] == "softmax" and re.fullmatch(r"\d{4}-\d\d-\d\d", entry["passed"])
    assert check.progress().passed == {"softmax": entry["passed"]}


def test_a_demonstration_does_not_count(file):
    assert check.softmax(lambda scores: scores.softmax(-1), record=False).passed and not file.exists()


def test_progress_lists_every_exercise_with_its_lesson(file):
    check.attend(torch.matmul)
    seen = check.progress()
    assert seen.exercises.keys() == check.EXERCISES.keys() and seen.exercises["softmax"] == "01"
    assert f"1 of {len(check.EXERCISES)} exercises passed." in repr(seen) and str(file) in repr(seen)
    html = seen._repr_html_()
    assert "<th" in html and "not yet" in html


def test_damaged_lines_cost_nothing_but_themselves(file):
    file.parent.mkdir()
    good = json.dumps({"exercise": "softmax", "passed": "2026-01-01"})
    file.write_bytes(b'\xff\xfe{"exerc\n[1, 2]\n{"passed": 3}\n' + good.encode() + b'\n{"exercise": "att')
    progress_file.record_pass("attend")
    assert progress_file.passed().keys() == {"softmax", "attend"}


def test_several_kernels_can_write_at_once(file):
    code = "from lesson_kit.check import progress_file; [progress_file.record_pass(f'{n}') for n in range(40)]"
    kernels = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [kernel.wait() for kernel in kernels] == [0, 0]
    assert progress_file.passed().keys() == {str(n) for n in range(40)}


@pytest.mark.parametrize("setting", ["off", "OFF", "0"])
def test_nothing_is_written_where_it_is_switched_off(setting, monkeypatch, tmp_path):
    monkeypatch.setattr(progress_file, "DEFAULT", tmp_path / "progress.jsonl")
    monkeypatch.setenv("COURSE_PROGRESS", setting)
    progress_file.record_pass("softmax")
    assert list(tmp_path.iterdir()) == [] and progress_file.path() is None
    assert "Nothing is written down" in repr(check.progress())


def test_without_a_setting_the_file_lies_in_the_home_folder(monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    assert progress_file.path() == Path.home() / ".attention-by-hand" / "progress.jsonl"


def test_a_file_that_cannot_be_written_or_read_disturbs_nobody(tmp_path, monkeypatch):
    (tmp_path / "a_file").write_text("no folder")
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "a_file" / "progress.jsonl"))
    assert check.softmax(lambda scores: scores.softmax(-1)).passed
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    assert check.softmax(lambda scores: scores.softmax(-1)).passed
    assert "can't be read" in repr(check.progress())


# The longer story


def test_the_story_of_a_mistake_shows_what_it_does_to_the_numbers():
    story = check.explain("no-scale")
    assert "In `scaled_dot_product_attention`:" in repr(story)
    titles = [table.title.split(" (")[0] for table in story.tables]
    assert titles == ["input query", "input key", "input value", "right", "with no-scale"]
    query, key, value, right, wrong = (torch.tensor([[float(x) for x in row] for row in t.cells]) for t in story.tables)
    torch.testing.assert_close((query @ key.T / 2).softmax(-1) @ value, right, atol=0.02, rtol=0)
    torch.testing.assert_close((query @ key.T).softmax(-1) @ value, wrong, atol=0.02, rtol=0)
    html = story._repr_html_()
    assert html.startswith("<div") and html.count("<table") == 5


@pytest.mark.parametrize("slug", sorted({slug for each in check.EXERCISES.values() for slug in each.mistakes}))
def test_every_known_mistake_has_a_story(slug):
    knowing = [each for each in check.EXERCISES.values() if slug in each.mistakes]
    for each in knowing:
        story = repr(check.explain(slug, each.name))
        assert f"In `{each.name}`:" in story and each.mistakes[slug].hints[0] in story
        assert "with this mistake" in story and "Read on in" in story
    assert all(each.name in repr(check.explain(slug)) for each in knowing)


@pytest.mark.parametrize("slug, near", [("no-scal", "did you mean 'no-scale'"), ("qqqq", "got 'qqqq'"), (5, "got 5")])
def test_a_mistake_that_nobody_knows(slug, near):
    with pytest.raises(ValueError, match="slug must be a mistake that a check knows") as error:
        check.explain(slug)
    assert near in str(error.value)


@pytest.mark.parametrize("slug", [None, "raised", "not-attempted", "returns-nothing"])
def test_a_verdict_that_is_no_known_mistake_gets_a_sentence(slug):
    assert len(repr(check.explain(slug, "softmax"))) > 20


def test_two_mistakes_at_once_are_both_told():
    story = repr(check.explain(("no-scale", "wrong-axis"), "scaled_dot_product_attention"))
    assert story.count("with this mistake.") == 2


def test_of_two_mistakes_each_has_its_words_and_tables_together():
    story = check.explain(("no-scale", "wrong-axis"), "scaled_dot_product_attention")
    for shown in (repr(story), story._repr_html_()):
        places = [shown.index(each) for each in ("A score adds up", "with no-scale", "runs along", "with wrong-axis")]
        assert places == sorted(places)
        assert shown.count("02_the_sky_is_blue.ipynb") == shown.count("Patient 1: The missing square root") == 1
    html = story._repr_html_()
    assert html.count('role="status"') == 1
    assert "<strong>no-scale.</strong>" in html and "<strong>wrong-axis.</strong>" in html


def test_two_mistakes_lead_to_both_their_patients():
    html = check.explain(("no-scale", "value-inside-softmax"), "scaled_dot_product_attention")._repr_html_()
    assert html.index("02_the_sky_is_blue.ipynb#") < html.index("#Patient-1:") < html.index("#Patient-3:")


def test_the_first_example_has_two_queries_and_three_keys_as_its_hint():
    story = check.explain("wrong-axis", "softmax")
    scores, right, wrong = (torch.tensor([[float(x) for x in row] for row in t.cells]) for t in story.tables)
    assert scores.shape == (2, 3) and not torch.allclose(right, wrong, atol=0.1)
    torch.testing.assert_close(right.sum(1), torch.ones(2), atol=0.02, rtol=0)
    torch.testing.assert_close(wrong.sum(0), torch.ones(3), atol=0.02, rtol=0)


def test_a_story_prefers_matrices_to_a_single_row_and_a_batch():
    @exercise(lambda: [(torch.ones(3),), (torch.ones(1, 2, 2),), (torch.ones(1, 5),), (torch.ones(3, 2),)])
    def double(x):
        """Twice x."""
        return 2 * x

    double.mistake("squared", ("Hint one.", "Hint two."), lambda x: x * x)
    double.mistake("flat", ("Hint one.", "Hint two."), lambda x: 2 * x if x.dim() > 1 else x)
    told = [repr(stories.tell((slug,), "double", {"double": double})) for slug in ("squared", "flat")]
    assert "For `x` (3, 2) float32" in told[0] and "For `x` (3,) float32" in told[1]


def test_an_example_is_for_the_story_only():
    @exercise(lambda: [(torch.ones(3, 2),)], example=(torch.full((2, 2), 5.0),))
    def double(x):
        """Twice x."""
        return 2 * x

    double.mistake("squared", ("Hint one.", "Hint two."), lambda x: x * x)
    assert "For `x` (2, 2) float32" in repr(stories.tell(("squared",), "double", {"double": double}))
    assert "on all 1 inputs" in double(lambda x: x + x).message
    assert double(lambda x: torch.full_like(x, 10.0) if x.shape == (2, 2) else x * x).mistake == "squared"


def test_a_random_exercise_keeps_its_prints_too(capsys):
    def candidate(*args):
        print("here")
        return check.mask_tokens.reference(*args)

    result = check.mask_tokens(candidate)
    assert result.passed and result.message.count("here") == 1 and "It printed: here\n" in result.message
    assert capsys.readouterr().out == result.message + "\n"


def test_a_misspelt_name_is_not_told_to_print_shapes():
    messages = [check.softmax(lambda scores: scoress).message for _ in range(2)]  # noqa: F821
    assert all("Print the shapes" not in message for message in messages)


def test_a_mistake_that_this_exercise_does_not_know():
    with pytest.raises(ValueError, match="that the check of softmax knows, got 'no-scale'"):
        check.explain("no-scale", "softmax")
    with pytest.raises(ValueError, match="exercise must be one of .*attend.*, got 'softmaxx'"):
        check.explain("no-scale", "softmaxx")


def headings() -> list[str]:
    lesson = json.loads((Path(__file__).parents[3] / "notebooks" / clinic.CLINIC).read_text(encoding="utf-8"))
    text = "\n".join("".join(cell["source"]) for cell in lesson["cells"] if cell["cell_type"] == "markdown")
    return re.findall(r"^### (Patient .*)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("patient", clinic.PATIENTS, ids=lambda patient: patient.heading)
def test_every_patient_is_in_the_bug_clinic_and_its_mistakes_are_known(patient):
    assert patient.heading in headings()
    assert {*patient.slugs, *patient.kin} <= {slug for each in check.EXERCISES.values() for slug in each.mistakes}


def test_no_mistake_has_two_patients():
    slugs = [slug for patient in clinic.PATIENTS for slug in (*patient.slugs, *patient.kin)]
    assert len(slugs) == len(set(slugs))


@pytest.mark.parametrize(
    "slug, exercise, says, never",
    [
        ("divided-by-d-k", "scaled_dot_product_attention", "equal shares", "nearly all weight"),
        ("multiplied-by-root", "scaled_dot_product_attention", "Multiplied by it", "Without the root"),
        ("scaled-by-value-width", "scaled_dot_product_attention", "as wide as queries and keys", "eight"),
        ("no-softmax", "scaled_dot_product_attention", "scores go straight to the values", "add up to 1 look like"),
        ("float-instead-of-boolean", "padding_mask", "is added to the scores", "to nothing else"),
        ("empty-row-attends", "masked_softmax", "gives no NaN", "fills the whole model"),
        ("not-transposed", "split_heads", "no token sees another", "the right shape with the wrong numbers"),
        ("projection-forgotten", "cross_attention", "A projection is missing", "heads lie side by side"),
        ("exponent-halved", "sinusoidal_positions", "far too soon", "stand still"),
        ("along-the-batch", "shift_right", "You shifted from sentence to sentence", "word order"),
        ("shifted-left", "shift_right", "does not have that token yet", "goes to zero"),
        ("padding-counted", "label_smoothed_loss", "padding follows padding", "copies what it sees"),
        ("residual-from-normalised-x", "post_norm", "brings x to one size", "pre-norm quietly"),
    ],
)
def test_a_mistake_is_not_told_the_story_of_another(slug, exercise, says, never):
    story = repr(check.explain(slug, exercise))
    assert says in story and never not in story, story


def test_a_story_says_what_the_numbers_do():
    """Of the two that go opposite ways: too even, and too much on one key, against what is right."""
    query, key = torch.randn(2, 6, 256, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    one_hot = torch.eye(6, dtype=torch.float64)  # values whose mixtures are the weights
    mistakes = check.scaled_dot_product_attention.mistakes
    right = check.scaled_dot_product_attention.reference(query, key, one_hot).amax(-1).mean()
    even, *sharp = (
        mistakes[slug].ways[0](query, key, one_hot).amax(-1).mean()
        for slug in ("divided-by-d-k", "no-scale", "multiplied-by-root")
    )
    assert even < 0.25 < right < 0.7 and min(sharp) > 0.9


def test_the_story_links_to_its_patient():
    html = check.explain("no-scale")._repr_html_()
    assert 'href="19_bug_clinic.ipynb#Patient-1:-The-missing-square-root"' in html
    assert "Patient 1: The missing square root." in repr(check.explain("no-scale"))


def test_the_story_links_to_its_own_lesson_first():
    html = check.explain("divided-by-d-k", "scaled_dot_product_attention")._repr_html_()
    own, clinic = html.index('href="02_the_sky_is_blue.ipynb#Four-words,-512-numbers-each"'), html.index("Patient-1:")
    assert html.index("Read on in lesson 02:") < own < html.index("Later, a related bug in the bug clinic") < clinic
    assert "Later, the whole story in the bug clinic" in repr(check.explain("no-scale"))


def test_importing_the_checks_needs_no_progress_file():
    environment = {**os.environ, "COURSE_PROGRESS": "/nowhere/at/all"}
    subprocess.run([sys.executable, "-c", "import lesson_kit.check"], check=True, env=environment)


# After a newcomer's reading


def test_the_last_mistake_is_explained_without_arguments():
    check.softmax(lambda scores: scores.softmax(0))
    assert repr(check.explain()) == repr(check.explain("wrong-axis", "softmax"))
    double = doubled()  # no exercise of a lesson
    double(lambda x: x**2)
    check.softmax(lambda scores: scores.softmax(-1))
    check.softmax(check.softmax.reference)
    assert "In `double`: Hint one. Hint two." in repr(check.explain())
    double(lambda x: 3 * x)
    assert "by hand" in repr(check.explain())


def test_before_the_first_mistake_there_is_nothing_to_explain(monkeypatch):
    monkeypatch.setattr(check, "last_mistake", [])
    assert "No check has found a mistake yet" in repr(check.explain())


@pytest.mark.parametrize(
    "line, says, never",
    [
        ("np.max(query)", "Here a tensor goes to NumPy. Stay with torch", "None where a tensor"),
        ("numpy.sum(query, axis=-1)", "Here a tensor goes to NumPy. Stay with torch", "knows no"),
        ("querry @ key.T", "Did you mean `query`?", ""),
        ("torch.sofmax(query, -1)", "`torch` has nothing called `sofmax`: is it spelled right? Did you mean", ""),
        ("query.sofmax(-1)", "Did you mean `softmax`?", ""),
        ("query.dott(key)", "A Tensor has nothing called `dott`", "`query`?"),
        ("query @ key.t", "round brackets call it, as in `x.t()`", "can't be put together"),
        ("torch.matmul(query, key.t)", "round brackets call it, as in `x.t()`", "plain number"),
        ("query.transpose[0]", "round brackets call it", ""),
        ("query - query.max(-1)", "give back two things: the numbers, `.values`", "can't be put together"),
        ("torch.exp(query.max(dim=-1))", "give back two things: the numbers, `.values`", "plain number"),
        ("query.shape()", "Round brackets call a function, and this is a torch.Size.", ""),
        ("query.sum(-1, keepdims=True, dims=3)", "It knows no `", ""),
        ("torch.exp([1.0])", "`torch.exp` wants a tensor, and this is a list.", "plain number"),
        ("torch.softmax(None, -1)", "Something is None where a tensor should be", ""),
        ("query / query.sum(-1)", "Along axis 1 one tensor has 4 entries and the other 3.", "`@`"),
        ("torch.ones(1, 2)[0, 0, 0]", "It has 2 axes,", ""),
        ("torch.ones(2)[0, 0]", "It has 1 axis,", "axes,"),
        ("torch.ones(1)[3]", "Axis 0 has 1 entry,", ""),
        ("torch.ones(1).view(2)", "must hold exactly 1 entry.", ""),
        ("query @ torch.ones(5, 4).T.T", "one of them turned that should not be", "want to be transposed"),
        ("query @@ key", "Python can't read this line", ""),
    ],
)  # fmt: skip
def test_a_slip_of_the_pen_is_read_in_plain_words(line, says, never, tmp_path):
    """In a file of their own, because the learner's line is read too."""
    one = Exercise(check.dot_product_scores.reference, lambda: [(torch.randn(3, 4), torch.randn(5, 4))])
    path, space = tmp_path / "cell.py", {}
    wrapped = f"return {line}" if "@@" not in line else f"return eval({line!r})"
    path.write_text(f"import numpy\nimport numpy as np\nimport torch\ndef mine(query, key):\n    {wrapped}\n")
    exec(compile(path.read_text(), path, "exec"), space)
    result = one(space["mine"])
    assert result.mistake == "raised"
    assert says in result.message, result.message
    assert not never or never not in result.message, result.message
    if "@@" not in line:
        assert f"\nYour line 5: `return {line}`.\n" in result.message


def helper_of_the_lesson(scores):
    return scores.sofmax(-1)


def test_the_learners_own_line_comes_before_that_of_a_helper():
    def candidate(scores):
        return helper_of_the_lesson(scores)

    message = check.softmax(candidate).message
    own, helper = message.index("`return helper_of_the_lesson(scores)`"), message.index("`return scores.sofmax(-1)`")
    assert message.index("Your line") < own < message.index("of `helper_of_the_lesson`") < helper
    assert message.count("Your line") == 1


def test_a_line_of_the_course_is_not_the_learners():
    message = check.softmax(lambda scores: course_utils.causal_mask("three")).message
    assert "Your line" in message and "It led to" not in message, message
    assert all(folder.endswith(os.sep) for folder in errors.LIBRARIES)


def test_an_error_is_told_in_paragraphs():
    message = check.softmax(lambda scores: scores.sofmax(-1)).message
    first, line, meaning, where, *_ = message.splitlines()
    assert first.startswith("softmax: not yet right. It raised AttributeError") and line.startswith("Your line")
    assert meaning.startswith("A Tensor has nothing") and where == "(Input 1 of 6: `scores` (4,) float32.)"


def test_a_gradient_that_raises_says_for_which_input():
    message = check.softmax(lambda scores: torch.from_numpy(scores.numpy()).softmax(-1)).message
    assert "(Input 1 of 6: `scores` (4,) float32.)" in message


def test_what_cuts_a_gradient_is_named_only_where_it_stands():
    message = check.softmax(lambda scores: torch.tensor(scores.tolist(), dtype=scores.dtype).softmax(-1)).message
    assert "Your function has `.tolist()` and `torch.tensor(...)`: no gradient passes there." in message
    inner = torch.no_grad()(check.softmax.reference)
    assert "Look for `.detach()`" in check.softmax(lambda scores: inner(scores)).message


def test_an_argument_that_is_never_used_is_named():
    assert "Your function never uses `mask`." in check.masked_softmax(lambda scores, mask: scores.softmax(-1)).message
    unknown = check.dot_product_scores(lambda query, key: query @ query.T * 7)
    assert unknown.mistake == "wrong-value" and "Your function never uses `key`." in unknown.message
    inside = check.masked_softmax(lambda scores, mask: (lambda: scores.masked_fill(~mask, 0.0).softmax(0))()).message
    assert "never uses" not in inside
    assert "never uses" not in check.masked_softmax(lambda *both: both[0].softmax(-1)).message


@pytest.mark.parametrize(
    "opname, argval, read",
    [
        ("LOAD_FAST", "x", ["x"]),
        ("LOAD_FAST_LOAD_FAST", ("x", "y"), ["x", "y"]),
        ("STORE_FAST_LOAD_FAST", ("x", "y"), ["y"]),
        ("STORE_FAST_STORE_FAST", ("x", "y"), []),
        ("LOAD_FAST_AND_CLEAR", "x", []),
        ("RETURN_VALUE", None, []),
    ],
)
def test_a_name_that_is_written_is_not_read(opname, argval, read):
    """The steps of newer Pythons do two things in one."""
    assert source_code._read(opname, argval) == read


@pytest.mark.parametrize(
    "candidate, says",
    [
        (lambda query, key: torch.ones(2, 2), "It returns the same for every input."),
        (lambda query, key: torch.ones(len(query), len(key)).to(query), "the same whatever numbers its inputs hold."),
    ],
)
def test_a_constant_result_is_told(candidate, says):
    for again in (False, True):
        result = check.dot_product_scores(candidate)
        assert result.mistake == "constant-result" and says in result.message
        assert ("where does it get lost?" in result.message) is again


def test_lists_of_lists_get_advice():
    message = check.dot_product_scores(lambda query, key: [[q @ k for k in key] for q in query]).message
    assert "each inner list" in message and "one matrix product" in message


def softmax_of_row(row):
    """As lesson 01 writes it."""
    exponentials = [math.exp(score - max(row)) for score in row]
    return [exponential / sum(exponentials) for exponential in exponentials]


@pytest.mark.parametrize(
    "candidate, says",
    [
        (softmax_of_row, "It holds plain numbers. Operations"),
        (lambda scores: [softmax_of_row(row) for row in scores[None]], "It holds plain numbers. Operations"),
        (lambda scores: torch.stack(softmax_of_row(scores)), "here it is plain numbers. Operations"),
        (lambda scores: torch.stack([softmax_of_row(scores)]), "here it is plain numbers. Operations"),
        (lambda scores: math.exp(scores), "torch has such functions for whole tensors"),
    ],
)
def test_a_loop_over_plain_numbers_is_told_that_none_is_needed(candidate, says):
    message = check.softmax(candidate).message
    assert says in message and "no loop is needed" in message, message
    assert "`torch.stack` makes one tensor" not in message


def test_scores_that_are_scaled_too_early_are_sent_to_no_other_lesson():
    message = check.dot_product_scores(lambda query, key: query @ key.T / query.shape[-1] ** 0.5).message
    assert "as its own step" in message and "lesson 02" not in message


@pytest.mark.parametrize("candidate", [None, check.softmax.reference, lambda scores: None])
def test_a_cell_with_a_syntax_error_defines_nothing(candidate, monkeypatch):
    assert "SyntaxError" not in check.softmax(candidate).message
    with pytest.raises(SyntaxError) as error:
        compile("x = 1\ndef softmax(scores)\n", "cell", "exec")
    monkeypatch.setattr(sys, "last_value", error.value, raising=False)
    message = check.softmax(candidate).message
    assert "The last error here was SyntaxError, in line 2 of its cell" in message


def test_two_mistakes_get_numbered_further_hints():
    double = doubled()
    double.mistake("negative", ("Look at the sign.", "A further look."), lambda x: -2 * x)
    messages = [double(lambda x: 1 - x - x).message for _ in range(2)]
    assert "One more hint" not in messages[0] and "One more hint for 1: A further look." in messages[1]
    assert "These mistakes are called `negative` and `shifted`; `check.explain()` tells more about them." in messages[0]


def test_the_third_time_numbers_are_shown_and_where_it_is_explained():
    check.softmax.forget()
    messages = [check.softmax(lambda scores: scores.softmax(0)).message for _ in range(4)]
    assert "One more hint" in messages[1] and "Stuck?" not in messages[1] and "input scores" not in messages[1]
    assert messages[2].startswith(messages[1].splitlines()[0]), "nothing is taken away"
    assert "what this mistake does to a small input. Follow one number that differs." in messages[2]
    assert 'Lesson 01 explains it under "Step 3: from scores to shares".' in messages[2]
    tables = messages[2].split("input scores (2, 3)\n")[1]
    assert re.search(r"right \(2, 3\)\n.*\n0 +0\.09 +0\.24 +0\.67\n", tables)
    assert re.search(r"with wrong-axis \(2, 3\)\n.*\n0 +0\.12 +0\.73 +0\.88\n", tables)
    assert messages[3] == messages[2]
    check.softmax(lambda scores: scores.exp())
    assert "Stuck?" not in check.softmax(lambda scores: scores.softmax(0)).message, "another mistake was in between"


def test_the_third_time_of_two_mistakes_the_first_is_shown():
    double = doubled()
    double.mistake("negative", ("Look at the sign.", "A further look."), lambda x: -2 * x)
    message = [double(lambda x: 1 - x - x).message for _ in range(3)][2]
    assert "what the first mistake alone does to a small input. Follow one number that differs.\n" in message
    assert "with negative (" in message and "with shifted (" not in message
    assert "explains it under" not in message, "this exercise stands in no lesson"


def test_the_third_time_without_a_known_mistake():
    messages = [check.softmax(lambda scores: scores * 2 + 1).message for _ in range(3)]
    assert 'under "Step 3' not in messages[1] and "Stuck?" not in messages[2] and "input scores" not in messages[2]
    assert 'Lesson 01 explains it under "Step 3: from scores to shares".' in messages[2]


def test_the_numbers_of_split_heads_are_those_of_its_hint():
    """Head 0 holds 0, 1 and 4, 5 and 8, 9; cut by view alone, it holds 0 to 5."""
    right, wrong = check.explain("view-without-transpose", "split_heads").tables[-2:]
    assert [[float(x) for x in row] for row in right.cells] == [[0, 1], [4, 5], [8, 9]]
    assert [[float(x) for x in row] for row in wrong.cells] == [[0, 1], [2, 3], [4, 5]]


def test_a_stub_is_no_one_stuck():
    assert all("explains it" not in check.softmax(lambda scores: None).message for _ in range(4))


def test_a_renormalised_mask_leads_to_patient_8():
    def candidate(scores, mask):
        weights = scores.softmax(-1) * mask
        return weights / weights.sum(-1, keepdim=True)

    result = check.masked_softmax(candidate)
    assert result.mistake == "renormalised" and "Patient 8" in repr(check.explain())


def test_masked_weights_show_where_they_are_exactly_zero():
    message = check.masked_softmax(lambda scores, mask: check.masked_softmax.reference(scores, mask)).message
    assert re.search(r"^sky +0\.50 +0\.50 +0 +0$", message, flags=re.MULTILINE)


def test_progress_keeps_the_lessons_order_and_links_to_them(file):
    seen = check.progress()
    notebooks = Path(__file__).parents[3] / "notebooks"
    checked = [re.findall(r"check\.(\w+)\(\1\)", path.read_text("utf-8")) for path in sorted(notebooks.glob("*.ipynb"))]
    assert list(seen.exercises) == [name for names in checked for name in names]
    assert f'<a href="{next(notebooks.glob("03*")).name}">03 · Masks</a>' in seen._repr_html_()


def test_progress_names_each_lesson_once_before_its_exercises(file):
    check.attend(torch.matmul)
    seen = check.progress()
    html, (_, *lines) = seen._repr_html_(), repr(seen).splitlines()
    for lesson, title in TITLES.items():
        assert html.count(f">{lesson} · ") == 1 and lines.count(f"{lesson} · {title}") == 1
    assert lines[:2] == ["01 · Attention by hand", f"    {'dot_product_scores':28}  not yet"]
    assert lines[3].split() == ["attend", seen.passed["attend"]]
    groups = re.findall(r'<tbody><tr><th scope="rowgroup" rowspan="(\d+)".*?</tbody>', html)
    assert len(groups) == len(TITLES) and sum(map(int, groups)) == len(check.EXERCISES)
    assert html.count('scope="row"') == html.count("<td") == len(check.EXERCISES) and html.count('scope="col"') == 3


def test_the_lessons_are_called_by_their_titles():
    notebooks = Path(__file__).parents[3] / "notebooks"
    assert {notebook[:2] for notebook, _ in PLACES.values()} == TITLES.keys()
    for lesson, title in TITLES.items():
        (path,) = notebooks.glob(f"{lesson}_*.ipynb")
        assert f'"# {lesson} · {title}' in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", check.EXERCISES)
def test_every_exercise_has_a_place_in_the_lessons(name):
    notebook, heading = PLACES[name]
    cells = json.loads((Path(__file__).parents[3] / "notebooks" / notebook).read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert re.search(rf"^##+ {re.escape(heading)}$", text, flags=re.MULTILINE)
    assert f"check.{name}(" in json.dumps(cells)


def test_a_story_without_a_patient_links_to_its_lesson():
    html = check.explain("wrong-axis", "softmax")._repr_html_()
    assert 'href="01_attention_by_hand.ipynb#Step-3:-from-scores-to-shares"' in html


def test_a_lessons_checks_are_loaded_when_they_are_used():
    code = """
import sys
from lesson_kit import check
loaded = lambda: sorted(name[-2:] for name in sys.modules if name.startswith("lesson_kit.check.lessons.lesson_"))
print(loaded(), "softmax" in dir(check), callable(check.softmax), loaded())
try:
    check.sofmax
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "[] True True ['01']",
        "module 'lesson_kit.check' has no attribute 'sofmax'",
    ]


def test_the_index_of_the_clinic_leads_to_every_patient():
    lesson = json.loads((Path(__file__).parents[3] / "notebooks" / clinic.CLINIC).read_text(encoding="utf-8"))
    cells = {cell["id"]: "".join(cell["source"]) for cell in lesson["cells"]}
    index = next(text for text in cells.values() if text.startswith("## The thirty-two patients"))
    links = re.findall(r"\[(.*?)\]\(#cell-id=(\w+)\)", index)
    assert [f"Patient {title}" for title, _ in links] == headings() and len(links) == 32
    assert all(f"### Patient {title}\n" in cells[cell] for title, cell in links)
