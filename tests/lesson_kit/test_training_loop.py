"""What all trainings share, tried on a model of a few numbers: checkpoints, interrupts, folders one can't write to."""

import itertools
import json
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import nn

from course_utils.masked_lm import NOT_ASKED
from lesson_kit.languages.english.tokenizer import SPECIAL
from lesson_kit.languages.pairs.vocabulary import SPECIAL_TOKENS, Vocabulary
from lesson_kit.training import bert, checkpoint, loop
from lesson_kit.training import translator as translator_training

IDS = torch.tensor([[2, 4, 3]])  # [CLS] [MASK] [SEP]


@dataclass(frozen=True)
class Settings(loop.TrainingSettings):
    steps: int = 6
    batch_size: int = 2
    learning_rate: float = loop.setting(0.1, loop.ABOVE_0)
    warm_up: int = 2
    weight_decay: float = loop.setting(0.0, loop.AT_LEAST_0)
    masked_share: float = loop.setting(0.5, loop.ABOVE_0_TO_1)
    dropout: float = loop.setting(0.0, loop.BELOW_1)
    seed: int = loop.setting(0, loop.ANY)


def batches(first_step):
    for step in range(first_step, Settings().steps):
        yield torch.randn(2, 3, generator=torch.Generator().manual_seed(step))


def train(output, settings=Settings(), in_step=lambda step: None, **options):  # noqa: B008 (frozen)
    """Returns the run and its model."""
    torch.manual_seed(0)
    model = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(model.parameters())
    run = loop.TrainingRun(settings, output, model, optimizer, ["a", "b"], 2, progress=False, **options)
    for step, batch in run.steps(batches(run.step)):
        loss = nn.functional.mse_loss(nn.functional.dropout(model(batch)), batch)
        in_step(step)
        run.record(loss.item(), step / 6)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return run, model


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("stop_at", [0, 1, 4, 6])
def test_a_resumed_run_ends_with_the_same_weights(tmp_path, stop_at):
    whole, one = train(tmp_path / "whole")
    train(tmp_path / "parts", stop_at=stop_at)
    parts, other = train(tmp_path / "parts")
    assert whole.complete and parts.complete and parts.step == 6
    assert torch.equal(one.weight, other.weight) and torch.equal(one.bias, other.bias)
    for column in ("step", "loss", "accuracy", "learning_rate"):
        assert [row[column] for row in parts.log] == [row[column] for row in whole.log]


def test_dropout_is_drawn_anew_at_each_step_and_alike_after_a_resume(tmp_path):
    whole, parts = [], []
    train(tmp_path / "whole", in_step=lambda step: whole.append(torch.rand(1).item()))
    for stop_at in (2, None):
        train(tmp_path / "parts", in_step=lambda step: parts.append(torch.rand(1).item()), stop_at=stop_at)
    assert whole == parts and len(set(whole)) == 6


def test_the_seconds_go_on_after_a_resume(tmp_path, monkeypatch):
    clock = itertools.count(step=10)
    monkeypatch.setattr(loop.time, "monotonic", lambda: next(clock))
    train(tmp_path, stop_at=4)
    before = next(clock)
    run, _ = train(tmp_path)
    seconds = [row["seconds"] for row in run.log]
    assert seconds == sorted(seconds) and before - 40 < seconds[1] < seconds[2]


def test_batches_of_like_length():
    def draw(n, seed):
        return [f"{seed}:{'x' * (7 * place % 50)}" for place in range(n)]

    settings = Settings(steps=19, batch_size=4)
    all_of_them = list(loop.batches_of_like_length(draw, len, "s", settings, 0))
    assert len(all_of_them) == 19 and all(len(rows) == 4 for rows, _ in all_of_them)
    assert len({seed for _, seed in all_of_them}) == 19
    first_block = [row for rows, _ in all_of_them[:8] for row in rows]
    assert sorted(first_block) == sorted(draw(32, "s 0"))
    assert all(max(map(len, rows)) - min(map(len, rows)) <= 6 for rows, _ in all_of_them[:8])
    lengths = [len(rows[0]) for rows, _ in all_of_them[:8]]
    assert lengths != sorted(lengths), "the batches are shuffled"
    for first in (1, 7, 8, 18):
        assert list(loop.batches_of_like_length(draw, len, "s", settings, first)) == all_of_them[first:]


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"weight_decay": float("nan")}, "weight_decay must be a number of at least 0, got nan"),
        ({"weight_decay": -0.1}, "weight_decay must be a number of at least 0, got -0.1"),
        ({"masked_share": 0.0}, r"masked_share must lie in \(0, 1\], got 0.0"),
        ({"masked_share": 1.1}, r"masked_share must lie in \(0, 1\], got 1.1"),
        ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), got 1.0"),
        ({"dropout": float("nan")}, r"dropout must lie in \[0, 1\), got nan"),
        ({"learning_rate": 0.0}, "learning_rate must be a number above 0, got 0.0"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
    ],
)
def test_wrong_settings(wrong, message):
    with pytest.raises(ValueError, match=message):
        Settings(**wrong)
    assert Settings(seed=-1, masked_share=1.0, weight_decay=2.0)


# A folder that can't be written to


@pytest.fixture
def a_file(tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    return path


@pytest.mark.parametrize("below", ["", "folder"])
def test_an_output_that_is_no_folder(a_file, below):
    steps = []
    with pytest.raises(
        OSError, match=r"^output='.*file.*' can't be written to \(.*\); make room there, or name another"
    ):
        train(a_file / below, in_step=steps.append)
    assert not steps and a_file.read_text() == "mine"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_a_full_disk_is_found_before_the_first_step(tmp_path):
    steps = []
    (tmp_path / "checkpoint.half").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"can't be written to \(No space left on device\)"):
        train(tmp_path, in_step=steps.append)
    assert not steps and files(tmp_path) == []


def test_room_is_tried_for_all_that_will_be_written(tmp_path, monkeypatch):
    """Two checkpoints of three tensors a weight and an export; beside an old checkpoint, a new one and an export."""
    tried = []
    monkeypatch.setattr(loop, "try_to_write", lambda output, size: tried.append(size))
    train(tmp_path, stop_at=1)
    train(tmp_path)
    assert tried == [7 * 12 * 4, 4 * 12 * 4]
    monkeypatch.undo()
    checkpoint.try_to_write(tmp_path / "new" / "folder", 1000)
    assert files(tmp_path / "new" / "folder") == []


@pytest.mark.parametrize("size", [0, 1000, 2**20, 2**21 + 5])
def test_the_trial_is_as_large_as_it_says(tmp_path, monkeypatch, size):
    sizes, unlink = [], Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda path, **options: sizes.append(path.stat().st_size) or unlink(path))
    checkpoint.try_to_write(tmp_path, size)
    assert sizes == [size] and files(tmp_path) == []


def test_a_disk_that_fills_up_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    train(tmp_path, stop_at=2)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()

    def full(tensors, path, metadata):
        path.write_bytes(b"half of it")
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(checkpoint, "save_file", full)
    with pytest.raises(
        OSError, match=r"output='.*' can't be written to \(I/O error: No space left.*older checkpoint stays whole"
    ):
        train(tmp_path)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before and files(tmp_path) == [
        "checkpoint.safetensors"
    ]
    monkeypatch.undo()
    whole, one = train(tmp_path / "whole")
    _, other = train(tmp_path)
    assert torch.equal(one.weight, other.weight)


@pytest.mark.parametrize("module", [bert, translator_training])
@pytest.mark.parametrize(
    "wrong, message",
    [
        (["--output", "{file}"], "error: output='{file}' can't be written to (File exists); make room there"),
        (["--learning-rate", "nan"], "error: learning_rate must be a number above 0, got nan"),
        (["--n-layers", "0"], "error: n_layers must be at least 1, got 0"),
    ],
)
def test_the_command_line_says_it_in_one_line(a_file, capsys, monkeypatch, module, wrong, message):
    monkeypatch.setattr(bert, "train_vocabulary", lambda texts: ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    with pytest.raises(SystemExit) as left:
        module.main(["--d-model", "8", *(word.format(file=a_file) for word in wrong)])
    err = capsys.readouterr().err
    assert left.value.code == 2 and message.format(file=a_file) in err and err.count("\n") == 1


# Checkpoints that were tampered with


def tampered(path, change):
    """Applies ``change(metadata, tensors)`` to a checkpoint, whose checksum stays what it was."""
    with safe_open(path, framework="pt") as file:
        metadata, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(metadata, tensors)
    save_file(tensors, path, metadata)


CHANGES = {
    "step is a word": lambda about, tensors: about.update(step='"x"'),
    "step is no whole number": lambda about, tensors: about.update(step="7.5"),
    "step is null": lambda about, tensors: about.update(step="null"),
    "step is negative": lambda about, tensors: about.update(step="-5"),
    "step lies beyond the end": lambda about, tensors: about.update(step="1000000000"),
    "the unlogged are null": lambda about, tensors: about.update(unlogged="null"),
    "step is missing": lambda about, tensors: about.pop("step"),
    "log is null": lambda about, tensors: about.update(log="null"),
    "log has no seconds": lambda about, tensors: about.update(log='[{"step": 2}]'),
    "settings are null": lambda about, tensors: about.update(settings="null"),
    "settings are a list": lambda about, tensors: about.update(settings="[]"),
    "an optimizer tensor is missing": lambda about, tensors: tensors.pop("optimizer.0.exp_avg"),
    "all optimizer tensors are missing": lambda about, tensors: [
        tensors.pop(name) for name in list(tensors) if name.startswith("optimizer")
    ],
    "an optimizer tensor has another shape": lambda about, tensors: tensors.update(
        {"optimizer.0.exp_avg": torch.zeros(2)}
    ),
    "a weight has another dtype": lambda about, tensors: tensors.update(
        {"model.weight": tensors["model.weight"].double()}
    ),
    "a weight is NaN": lambda about, tensors: tensors["model.weight"].fill_(float("nan")),
    "an unknown tensor": lambda about, tensors: tensors.update({"more": torch.zeros(2)}),
    "no checksum": lambda about, tensors: about.pop("checksum"),
    "another checksum": lambda about, tensors: about.update(checksum="0"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_checkpoint_is_damaged(tmp_path, change):
    train(tmp_path, stop_at=2)
    tampered(tmp_path / "checkpoint.safetensors", change)
    with pytest.raises(ValueError, match=r"^checkpoint='.*checkpoint\.safetensors' is damaged .*--fresh"):
        train(tmp_path)


def test_every_flipped_byte_is_found(tmp_path):
    train(tmp_path, stop_at=2)
    path = tmp_path / "checkpoint.safetensors"
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(ValueError, match="is damaged"):
            train(tmp_path)
    path.write_bytes(whole)
    assert train(tmp_path)[0].complete


def test_an_untouched_checkpoint_passes_the_same_hands(tmp_path):
    """So the changes above are found for what they are."""
    train(tmp_path, stop_at=2)
    tampered(tmp_path / "checkpoint.safetensors", lambda about, tensors: None)
    assert train(tmp_path)[0].complete


def test_a_checkpoint_of_another_training(tmp_path):
    train(tmp_path, stop_at=2)
    with pytest.raises(
        ValueError, match=r"belongs to a training with \{'seed': 0\}; use the same settings, or --fresh"
    ):
        train(tmp_path, Settings(seed=1))
    assert train(tmp_path, Settings(seed=1), fresh=True)[0].complete


# In the middle of a step


def test_a_loss_that_is_no_number_stops_before_the_weights_are_spoiled(tmp_path):
    train(tmp_path, stop_at=2)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    model = nn.Linear(3, 3)
    run = loop.TrainingRun(
        Settings(), tmp_path, model, torch.optim.Adam(model.parameters()), ["a", "b"], 2, progress=False
    )
    with pytest.raises(ValueError, match=r"the loss of step 3 is nan; a smaller learning_rate than 0.1, or a larger"):
        for _ in run.steps(batches(run.step)):
            run.record(float("nan"), 0.5)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before


def test_an_error_in_a_step_gives_ctrl_c_back(tmp_path):
    def fails(step):
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        raise RuntimeError("in the step")

    with pytest.raises(RuntimeError, match="in the step"):
        train(tmp_path, in_step=fails)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_each_training_gives_ctrl_c_back_though_its_steps_live_on(tmp_path, monkeypatch):
    """A debugger, say, keeps the generator."""
    kept, steps = [], loop.TrainingRun.steps

    def keep(run, batches):
        kept.append(steps(run, batches))
        return kept[-1]

    def fails(run, loss, accuracy):
        assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        raise ValueError("in the step")

    monkeypatch.setattr(loop.TrainingRun, "steps", keep)
    monkeypatch.setattr(loop.TrainingRun, "record", fails)
    monkeypatch.setattr(bert, "probe_steps", lambda steps: [])
    monkeypatch.setattr(bert, "batches", lambda *_: [(IDS, IDS)])
    monkeypatch.setattr(translator_training, "vocabularies", lambda: 2 * (Vocabulary(SPECIAL_TOKENS),))
    tiny = {"batch_size": 4, "n_layers": 1, "d_model": 8, "n_heads": 2, "d_ff": 8}
    for train_it in (
        lambda: bert.train(bert.BertSettings(**tiny), tmp_path / "bert", SPECIAL, progress=False),
        lambda: translator_training.train(
            translator_training.TranslatorSettings(**tiny), tmp_path / "translator", progress=False
        ),
    ):
        with pytest.raises(ValueError, match="in the step"):
            train_it()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert len(kept) == 2


def test_a_batch_that_asks_for_no_word_is_not_the_learning_rates_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(bert, "probe_steps", lambda steps: [])
    monkeypatch.setattr(bert, "batches", lambda *_: [(IDS, torch.full_like(IDS, NOT_ASKED))])
    settings = bert.BertSettings(batch_size=1, masked_share=0.01, n_layers=1, d_model=8, n_heads=2, d_ff=8)
    with pytest.raises(
        ValueError, match="step 1 asks for no word; a larger masked_share than 0.01, or a larger batch_size than 1"
    ):
        bert.train(settings, tmp_path, SPECIAL, progress=False)


def test_an_interrupt_lets_the_step_end_and_a_second_one_does_not(tmp_path, capsys):
    def once(step):
        if step == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="interrupted after step 4 of 6; called again, it goes on from the"):
        train(tmp_path, in_step=once)
    assert "checkpoint.safetensors" in capsys.readouterr().out
    with safe_open(tmp_path / "checkpoint.safetensors", framework="pt") as file:
        assert json.loads(file.metadata()["step"]) == 4

    def twice(step):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt, match="^$"):
        train(tmp_path, in_step=twice)
    assert train(tmp_path)[0].complete


@pytest.mark.parametrize(
    "module, settings", [(bert, bert.BertSettings), (translator_training, translator_training.TranslatorSettings)]
)
def test_the_command_line_hands_on_what_it_was_told(tmp_path, monkeypatch, module, settings):
    told = []
    monkeypatch.setattr(module, "train", lambda *args, **options: told.append((args, options)))
    module.main(["--output", str(tmp_path), "--seed", "3", "--learning-rate", "0.5", "--fresh"])
    module.main([])
    assert told[0] == ((settings(seed=3, learning_rate=0.5), tmp_path), {"fresh": True})
    assert told[1][0][0] == settings() and told[1][1] == {"fresh": False}


def test_every_setting_is_an_option(capsys):
    with pytest.raises(SystemExit):
        bert.main(["--help"])
    said = capsys.readouterr().out
    assert all(f"--{name.replace('_', '-')} " in said for name in bert.BertSettings.__dataclass_fields__)
    assert "--fresh" in said and "--output" in said
