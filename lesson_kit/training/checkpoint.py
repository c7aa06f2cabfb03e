"""Checkpoints: one safetensors file that holds all a training needs to go on, to the bit."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim import Optimizer

PIECE = bytes(2**20)  # written at a time to try for room


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
    metadata = {name: json.dumps(value) for name, value in about.items()}
    half_written = path.with_suffix(".half")
    try:
        save_file(tensors, half_written, metadata | {"checksum": _checksum(metadata, tensors)})
        os.replace(half_written, path)
    finally:
        half_written.unlink(missing_ok=True)


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
        if metadata.pop("checksum", None) != _checksum(metadata, tensors):
            raise ValueError("its checksum is another")
        about = {name: json.loads(value) for name, value in metadata.items()}
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(
            f"checkpoint={str(path)!r} is damaged ({type(error).__name__}: {error}); "
            "delete it, or start anew with --fresh"
        ) from error
    if about["settings"] != settings:
        other = {name: about["settings"].get(name) for name in settings}
        other = {name: value for name, value in other.items() if value != settings[name]}
        raise ValueError(
            f"checkpoint={str(path)!r} belongs to a training with {other}; use the same settings, or --fresh"
        )
    if about["vocabulary"] != vocabulary:
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
    _load_weights(model, weights)
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return about, extra


def _checksum(metadata: dict[str, str], tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(json.dumps(metadata, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


def _load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """``load_state_dict`` for weights of which a shared one was written once."""
    own = model.state_dict()
    name_of = {weight.data_ptr(): name for name, weight in own.items() if name in weights}
    model.load_state_dict({name: weights[name_of[weight.data_ptr()]] for name, weight in own.items()})


@contextmanager
def expect_writable(output: Path, comfort: str = "") -> Iterator[None]:
    """Turns a failed write below the folder ``output`` into one sentence, which may end in a word of ``comfort``.

    Raises:
        OSError: something could not be written: no room, no permission, no folder.
    """
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        raise OSError(
            f"output={str(output)!r} can't be written to ({reason}); make room there, or name another folder "
            f"with --output{comfort}"
        ) from error


def try_to_write(output: Path, size: int) -> None:
    """Makes the folder ``output``, and writes ``size`` bytes there for a moment: better now than after the first hour.

    Raises:
        OSError: that can't be done.
    """
    with expect_writable(output):
        output.mkdir(parents=True, exist_ok=True)
        trial = output / "checkpoint.half"
        try:
            with open(trial, "wb") as file:
                for written in range(0, size, len(PIECE)):
                    file.write(PIECE[: size - written])
        finally:
            trial.unlink(missing_ok=True)
