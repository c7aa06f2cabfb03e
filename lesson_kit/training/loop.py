"""What all trainings of the course share: settings, batches, steps and their log, an interrupt, the command line."""

import argparse
import csv
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, field, fields
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from tqdm import tqdm

from lesson_kit.training.checkpoint import expect_writable, load_checkpoint, save_checkpoint, try_to_write

BLOCK = 8  # so many batches are sorted by length together: less padding
LOG_COLUMNS = ["step", "loss", "accuracy", "learning_rate", "seconds"]

Row, Batch = TypeVar("Row"), TypeVar("Batch")


class Range(NamedTuple):
    """What a setting may be. NaN lies in no range."""

    said: str
    holds: Callable[[float], bool]


ANY = Range("be any number", lambda value: True)
AT_LEAST_1 = Range("be at least 1", lambda value: value >= 1)
AT_LEAST_0 = Range("be a number of at least 0", lambda value: 0 <= value < math.inf)
ABOVE_0 = Range("be a number above 0", lambda value: 0 < value < math.inf)
ABOVE_0_TO_1 = Range("lie in (0, 1]", lambda value: 0 < value <= 1)
BELOW_1 = Range("lie in [0, 1)", lambda value: 0 <= value < 1)


def setting(default: float, allowed: Range) -> Any:
    """A field of a ``TrainingSettings``, with its range."""
    return field(default=default, metadata={"range": allowed})


class TrainingSettings:
    """What the settings of each training, a dataclass, inherit: the checks and the schedule.

    A field's range stands beside it, as ``setting``; without one the number must be at least 1.

    Raises:
        TypeError: a whole number is asked for, and this is none.
        ValueError: a number lies outside its range.
    """

    def __post_init__(self):
        for each in fields(self):
            value, allowed = getattr(self, each.name), each.metadata.get("range", AT_LEAST_1)
            if each.type is int and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"{each.name} must be an int, got {value!r}")
            if not allowed.holds(value):
                raise ValueError(f"{each.name} must {allowed.said}, got {value}")

    def learning_rate_at(self, step: int) -> float:
        """Rises in a straight line during the warm-up, then falls in one to 0 at the last step. Steps count from 0."""
        rising = (step + 1) / self.warm_up
        falling = (self.steps - step) / max(1, self.steps - self.warm_up)
        return self.learning_rate * min(1.0, rising, falling)


def batches_of_like_length(
    draw: Callable[[int, str], Iterable[Row]], length: Callable, seed: str, settings: TrainingSettings, first_step: int
) -> Iterator[tuple[list[Row], str]]:
    """The rows of each step from ``first_step`` on, and a seed of its own: a matter of ``seed`` and the step alone.

    ``draw(n, seed)`` gives n rows. Those of ``BLOCK`` steps are sorted by ``length``, and the batches then shuffled.
    """
    size = settings.batch_size
    for block in range(first_step // BLOCK, math.ceil(settings.steps / BLOCK)):
        block_seed = f"{seed} {block}"
        rows = sorted(draw(BLOCK * size, block_seed), key=length)
        order = list(range(BLOCK))
        Random(block_seed).shuffle(order)
        for place, part in enumerate(order):
            if first_step <= block * BLOCK + place < settings.steps:
                yield rows[part * size : (part + 1) * size], f"{block_seed} {place}"


class TrainingRun:
    """A training under way: taken up from the checkpoint in ``output``, if there is one, or begun.

    ``step``: so many are taken. ``log``: a row for each ``log_every`` of them. ``tensors``: what the training wants to
    keep in its checkpoint besides weights and optimizer. ``fresh``: no matter what checkpoint there is. ``stop_at``:
    leaves off before this step. ``checkpoint_seconds``: so much is lost if the power fails.

    Raises:
        ValueError: the checkpoint is damaged, or belongs to other settings or another vocabulary.
        OSError: ``output`` can't be written to, or has no room for what will be written.
    """

    def __init__(
        self,
        settings: TrainingSettings,
        output: Path,
        model: nn.Module,
        optimizer: Optimizer,
        vocabulary: list,
        log_every: int,
        *,
        fresh: bool = False,
        stop_at: int | None = None,
        checkpoint_seconds: float = 30.0,
        progress: bool = True,
    ):
        self.settings, self.model, self.optimizer, self.vocabulary = settings, model, optimizer, vocabulary
        self.output, self.checkpoint = output, output / "checkpoint.safetensors"
        self.last_step = settings.steps if stop_at is None else min(stop_at, settings.steps)
        self.log_every, self.checkpoint_seconds, self.progress = log_every, checkpoint_seconds, progress
        self.step, self.log = 0, []
        self.tensors: dict[str, Tensor] = {}
        self._losses, self._accuracies = [], []
        # Weights and Adam's two averages of each; twice, for the old checkpoint stays until the new one is whole; and
        # the weights once more, exported.
        weights = sum(weight.numel() * weight.element_size() for weight in model.parameters())
        there = os.path.exists(self.checkpoint)  # False, too, where one may not look
        try_to_write(output, (4 if there else 7) * weights)
        if there and not fresh:
            about, self.tensors = load_checkpoint(self.checkpoint, model, optimizer, asdict(settings), vocabulary)
            self.step, self.log = about["step"], about["log"]
            self._losses, self._accuracies = about["unlogged"]

    @property
    def complete(self) -> bool:
        """Whether all steps are taken."""
        return self.step == self.settings.steps

    def steps(self, batches: Iterable[Batch]) -> Iterator[tuple[int, Batch]]:
        """Each step, counted from 0, with its batch. The learning rate is set, and dropout's seed.

        A checkpoint is written from time to time, after the last step, and when interrupted.

        Raises:
            KeyboardInterrupt: it was interrupted; the step under way is finished and saved, and a printed line says
                where.
            OSError: a checkpoint can't be written.
        """
        bar = tqdm(total=self.settings.steps, initial=self.step, disable=not self.progress, unit="step")
        written = started = time.monotonic()
        before = self.log[-1]["seconds"] if self.log else 0.0
        with bar, finish_the_step() as interrupted:
            for step, batch in zip(range(self.step, self.last_step), batches, strict=False):
                torch.manual_seed(self.settings.seed * 1_000_003 + step)  # dropout: the same after a resume
                rate = self.settings.learning_rate_at(step)
                for group in self.optimizer.param_groups:
                    group["lr"] = rate
                yield step, batch
                self.step = step + 1
                bar.update()
                if self.step % self.log_every == 0:
                    self._add_to_log(rate, before + time.monotonic() - started)
                    bar.set_postfix(loss=self.log[-1]["loss"], accuracy=self.log[-1]["accuracy"])
                if interrupted.asked:
                    bar.close()
                    raise KeyboardInterrupt(self._leave())
                if self.step == self.last_step or time.monotonic() - written > self.checkpoint_seconds:
                    self.save()
                    written = time.monotonic()

    def record(self, loss: float, accuracy: float) -> None:
        """For the log.

        Raises:
            ValueError: the loss is no number any more.
        """
        if not math.isfinite(loss):
            raise ValueError(
                f"the loss of step {self.step + 1} is {loss}; a smaller learning_rate than "
                f"{self.settings.learning_rate}, or a larger batch_size than {self.settings.batch_size}, may help"
            )
        self._losses.append(loss)
        self._accuracies.append(accuracy)

    def save(self) -> None:
        """Writes the checkpoint."""
        about = {
            "settings": asdict(self.settings),
            "step": self.step,
            "log": self.log,
            "unlogged": [self._losses, self._accuracies],
            "vocabulary": self.vocabulary,
        }
        with expect_writable(self.output, " (an older checkpoint stays whole: called again, it goes on from there)"):
            save_checkpoint(self.checkpoint, self.model, self.optimizer, about, self.tensors)

    def _add_to_log(self, rate: float, seconds: float) -> None:
        row = {
            "step": self.step,
            "loss": round(sum(self._losses) / len(self._losses), 4),
            "accuracy": round(sum(self._accuracies) / len(self._accuracies), 4),
            "learning_rate": round(rate, 7),
            "seconds": round(seconds, 1),
        }
        self.log.append(row)
        self._losses, self._accuracies = [], []

    def _leave(self) -> str:
        self.save()
        message = (
            f"interrupted after step {self.step} of {self.settings.steps}; called again, it goes on from the "
            f"checkpoint in {self.checkpoint}"
        )
        print(message, flush=True)
        return message


class Interrupted:
    """Set by Ctrl-C or a kernel's interrupt: the step under way is finished first, so that nothing is half done."""

    def __init__(self):
        self.asked = False

    def __call__(self, *_):
        if self.asked:  # asked twice: now
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def finish_the_step() -> Iterator[Interrupted]:
    """Catches an interrupt, where signals can be caught: in the main thread."""
    interrupted = Interrupted()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def write_settings_and_log(output: Path, settings: TrainingSettings, log: list[dict]) -> None:
    """``training_settings.json`` and ``training_log.csv``."""
    (output / "training_settings.json").write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")
    with open(output / "training_log.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, LOG_COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(log)


def run_command(
    description: str, settings: type, output: Path, train: Callable, arguments: list[str] | None = None
) -> None:
    """The command line of a training: an option for each setting, ``--output`` and ``--fresh``."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--output", type=Path, default=output, help="folder for checkpoint and export")
    parser.add_argument("--fresh", action="store_true", help="start anew even if there is a checkpoint")
    for each in fields(settings):
        option = "--" + each.name.replace("_", "-")
        parser.add_argument(option, type=type(each.default), default=each.default, help=f"default {each.default}")
    options = vars(parser.parse_args(arguments))
    output, fresh = options.pop("output"), options.pop("fresh")
    try:
        train(settings(**options), output, fresh=fresh)
    except (ValueError, OSError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
