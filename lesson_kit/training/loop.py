"""What all trainings of the course share: steps, log, checkpoints that survive an interruption, command line."""

import argparse
import csv
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer
from tqdm import tqdm

LOG_COLUMNS = ["step", "loss", "accuracy", "learning_rate", "seconds"]


def linear_schedule(step: int, peak: float, warm_up: int, steps: int) -> float:
    """Rises in a straight line during the warm-up, then falls in one to 0 at the last step. Steps count from 0."""
    rising = (step + 1) / warm_up
    falling = (steps - step) / max(1, steps - warm_up)
    return peak * min(1.0, rising, falling)


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """The rate of the next step."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def save_checkpoint(path: Path, model: nn.Module, optimizer: Optimizer, about: dict, extra: dict[str, Tensor]) -> None:
    """Writes everything needed to go on. The old checkpoint stays whole until the new one is complete.

    ``about`` is written as JSON, ``extra`` are more tensors.
    """
    shared: set[int] = set()  # a table that two layers share is written once
    tensors = {}
    for name, weight in model.state_dict().items():
        if weight.data_ptr() not in shared:
            tensors[f"model.{name}"] = weight
            shared.add(weight.data_ptr())
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors |= extra
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    half_written = path.with_suffix(".half")
    save_file(tensors, half_written, {name: json.dumps(value) for name, value in about.items()})
    os.replace(half_written, path)


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: Optimizer, settings: dict, vocabulary: list
) -> tuple[dict, dict[str, Tensor]]:
    """Puts weights and optimizer back; returns what ``save_checkpoint`` got as ``about`` and ``extra``.

    Raises:
        ValueError: the file is damaged, or belongs to a training with other settings or another vocabulary.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        about = {name: json.loads(value) for name, value in metadata.items()}
        saved, words, _, _ = (about[name] for name in ("settings", "vocabulary", "step", "log"))
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise ValueError(
            f"checkpoint={str(path)!r} is damaged ({type(error).__name__}: {error}); "
            "delete it, or start anew with --fresh"
        ) from error
    if saved != settings:
        other = {name: saved.get(name) for name, value in settings.items() if saved.get(name) != value}
        raise ValueError(
            f"checkpoint={str(path)!r} belongs to a training with {other}; use the same settings, or --fresh"
        )
    if words != vocabulary:
        raise ValueError(f"checkpoint={str(path)!r} belongs to another vocabulary; start anew with --fresh")
    state: dict[int, dict[str, Tensor]] = {}
    weights, extra = {}, {}
    for name, tensor in tensors.items():
        kind, _, rest = name.partition(".")
        if kind == "model":
            weights[rest] = tensor
        elif kind == "optimizer":
            number, _, what = rest.partition(".")
            state.setdefault(int(number), {})[what] = tensor
        else:
            extra[name] = tensor
    load_weights(model, weights)
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return about, extra


def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """``load_state_dict`` for weights of which a shared one was written once.

    Raises:
        ValueError: names or shapes are not the model's.
    """
    own = model.state_dict()
    by_place: dict[int, str] = {}
    for name, weight in own.items():
        if name in weights:
            by_place[weight.data_ptr()] = name
    full = {name: weights.get(by_place.get(weight.data_ptr(), name)) for name, weight in own.items()}
    if missing := sorted(name for name, weight in full.items() if weight is None):
        raise ValueError(f"weights lack {missing[:3]}; expected all of the model's")
    if unknown := sorted(set(weights) - set(own)):
        raise ValueError(f"weights have {unknown[:3]}, which the model does not know")
    for name, weight in own.items():
        if full[name].shape != weight.shape:
            came = tuple(full[name].shape)
            raise ValueError(f"weights have {name} of shape {came}; expected {tuple(weight.shape)}")
    model.load_state_dict(full)


class Interrupted:
    """Set by Ctrl-C or a kernel's interrupt: the step under way is finished first, so that nothing is half done."""

    def __init__(self):
        self.asked = False

    def __call__(self, *_):
        if self.asked:  # asked twice: now
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def finish_the_step(active: bool = True) -> Iterator[Interrupted]:
    """Catches an interrupt, where signals can be caught: in the main thread."""
    interrupted = Interrupted()
    if not active or threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def take_steps(
    batches: Iterable,
    take_step: Callable[[int, object], tuple[float, float, float]],
    save: Callable[[int], None] | None,
    log: list[dict],
    first_step: int,
    last_step: int,
    steps: int,
    *,
    log_every: int = 50,
    checkpoint_seconds: float = 45.0,
    progress: bool = True,
    catch_interrupts: bool = True,
    where: Path | None = None,
    callback: Callable[[dict], None] | None = None,
) -> None:
    """Takes the steps ``first_step`` to ``last_step - 1`` of ``steps``; adds to ``log``.

    ``take_step(step, batch)`` returns loss, accuracy and learning rate. ``save(step)`` writes a checkpoint to
    ``where``: from time to time, after the last step, and when interrupted. ``callback`` gets each new row of the log.

    Raises:
        KeyboardInterrupt: it was interrupted; the step under way is finished and saved, and a printed line says where.
    """
    bar = tqdm(total=steps, initial=first_step, disable=not progress, unit="step")
    written, losses, accuracies = time.monotonic(), [], []
    started, before = time.monotonic(), log[-1]["seconds"] if log else 0.0
    with finish_the_step(catch_interrupts) as interrupted:
        for step, batch in enumerate(batches, start=first_step):
            if step >= last_step:
                break
            loss, accuracy, rate = take_step(step, batch)
            losses.append(loss)
            accuracies.append(accuracy)
            bar.update()
            if (step + 1) % log_every == 0:
                log.append(
                    {
                        "step": step + 1,
                        "loss": round(sum(losses) / len(losses), 4),
                        "accuracy": round(sum(accuracies) / len(accuracies), 4),
                        "learning_rate": round(rate, 7),
                        "seconds": round(before + time.monotonic() - started, 1),
                    }
                )
                bar.set_postfix(loss=log[-1]["loss"], accuracy=log[-1]["accuracy"])
                losses, accuracies = [], []
                if callback is not None:
                    callback(log[-1])
            if interrupted.asked:
                bar.close()
                raise KeyboardInterrupt(_leave(save, step + 1, steps, where))
            if save is not None and ((step + 1) == last_step or time.monotonic() - written > checkpoint_seconds):
                save(step + 1)
                written = time.monotonic()
    bar.close()


def _leave(save: Callable[[int], None] | None, step: int, steps: int, where: Path | None) -> str:
    if save is None:
        message = f"interrupted after step {step} of {steps}; no checkpoint was asked for"
    else:
        save(step)
        message = f"interrupted after step {step} of {steps}; called again, it goes on from the checkpoint in {where}"
    print(message, flush=True)
    return message


def write_settings_and_log(output: Path, settings: object, log: list[dict]) -> None:
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
    for setting in fields(settings):
        option = "--" + setting.name.replace("_", "-")
        parser.add_argument(
            option, type=type(setting.default), default=setting.default, help=f"default {setting.default}"
        )
    options = vars(parser.parse_args(arguments))
    output, fresh = options.pop("output"), options.pop("fresh")
    try:
        train(settings(**options), output, fresh=fresh)
    except ValueError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
