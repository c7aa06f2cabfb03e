"""Trains the course BERT: ``python -m course_utils.training.bert``.

About ten minutes on two CPU cores. Interrupted, it goes on where it was when called again, and ends with the same
weights. With a GPU it uses it; with several processes, ``torchrun --nproc-per-node 2 -m course_utils.training.bert``,
each one trains on its own sentences and the gradients are averaged.
"""

import argparse
import csv
import json
import math
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from random import Random

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, distributed
from torch.nn.parallel import DistributedDataParallel
from tqdm import tqdm

from course_utils.bert import Bert
from course_utils.language import Sentence, generate
from course_utils.language.tokenizer import SPECIAL, make_tokenizer, train_vocabulary
from course_utils.training.masked_lm import MaskedLanguageModel, mask_tokens, to_huggingface

BLOCK = 8  # so many batches are sorted by length together: less padding
VOCABULARY_SENTENCES = 30_000
PROBE_SENTENCES = 24  # of each sense of "bank", watched during training


@dataclass(frozen=True)
class Settings:
    """What the weights depend on. ``batch_size`` counts sentences per process."""

    steps: int = 4000
    batch_size: int = 64
    learning_rate: float = 2e-3
    warm_up: int = 300
    weight_decay: float = 0.01
    seed: int = 0
    n_layers: int = 4
    d_model: int = 128
    n_heads: int = 4
    d_ff: int = 512
    max_length: int = 64
    dropout: float = 0.0

    def __post_init__(self):
        for name in ("steps", "batch_size", "warm_up", "n_layers", "d_model", "n_heads", "d_ff", "max_length"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")


def learning_rate(step: int, settings: Settings) -> float:
    """Rises in a straight line during the warm-up, then falls in one to 0 at the last step. Steps count from 0."""
    rising = (step + 1) / settings.warm_up
    falling = (settings.steps - step) / max(1, settings.steps - settings.warm_up)
    return settings.learning_rate * min(1.0, rising, falling)


class Encoder:
    """From sentences to ids, one piece a word: what the tokenizer does, without its detours."""

    def __init__(self, vocabulary: list[str]):
        self.vocabulary = vocabulary
        self.id = {piece: number for number, piece in enumerate(vocabulary)}
        self.pad, self.cls, self.sep, self.mask = (self.id[f"[{name}]"] for name in ("PAD", "CLS", "SEP", "MASK"))

    def __call__(self, sentences: list[Sentence]) -> Tensor:
        """(batch, length), padded. A word at position p of its sentence stands at p + 1, after [CLS]."""
        length = max(len(sentence.words) for sentence in sentences) + 2
        rows = []
        for sentence in sentences:
            row = [self.cls, *(self.id[word] for word in sentence.words), self.sep]
            rows.append(row + [self.pad] * (length - len(row)))
        return torch.tensor(rows)


def batches(settings: Settings, encoder: Encoder, first_step: int, rank: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
    """``(inputs, labels)`` of each step from ``first_step`` on: a matter of the seed, the step and the rank alone."""
    for block in range(first_step // BLOCK, math.ceil(settings.steps / BLOCK)):
        seed = f"{settings.seed} {rank} {block}"
        sentences = sorted(generate(BLOCK * settings.batch_size, seed=seed), key=lambda s: len(s.words))
        order = list(range(BLOCK))
        Random(seed).shuffle(order)
        for place, part in enumerate(order):
            step = block * BLOCK + place
            if first_step <= step < settings.steps:
                ids = encoder(sentences[part * settings.batch_size : (part + 1) * settings.batch_size])
                generator = torch.Generator().manual_seed(Random(f"{seed} {place}").getrandbits(60))
                yield mask_tokens(ids, ids < len(SPECIAL), encoder.mask, len(encoder.vocabulary), generator)


def new_model(settings: Settings, vocab_size: int) -> MaskedLanguageModel:
    """The model as it is before the first step."""
    torch.manual_seed(settings.seed)
    bert = Bert(
        vocab_size,
        settings.d_model,
        settings.n_layers,
        settings.n_heads,
        settings.d_ff,
        settings.max_length,
        dropout=settings.dropout,
    )
    return MaskedLanguageModel(bert)


@cache
def probe_sentences() -> list[Sentence]:
    """Held-out sentences with one ``bank`` each, money and river in turn: the same ones at every checkpoint."""
    found = {"bank/money": [], "bank/river": []}
    for sentence in generate(1000, seed=99, split="held_out", word="bank"):
        senses = list(sentence.senses.values())
        if len(senses) == 1 and len(found[senses[0]]) < PROBE_SENTENCES:
            found[senses[0]].append(sentence)
    return [sentence for pair in zip(*found.values(), strict=True) for sentence in pair]


def probe_vectors(model: MaskedLanguageModel, encoder: Encoder, device: torch.device) -> Tensor:
    """(sentences, layers + 1, d_model): the vectors of ``bank`` in ``probe_sentences()``, embedding output first."""
    sentences = probe_sentences()
    ids = encoder(sentences).to(device)
    place = torch.tensor([next(iter(sentence.senses)) + 1 for sentence in sentences], device=device)
    training = model.training
    model.eval()
    with torch.no_grad():
        states = model.bert(ids, attention_mask=ids != encoder.pad).hidden_states
    model.train(training)
    rows = torch.arange(len(sentences), device=device)
    return torch.stack([state[rows, place] for state in states], dim=1).half().cpu()


def probe_steps(steps: int) -> list[int]:
    """When the vectors of ``bank`` are written down: at the start, the end, and each halving in between."""
    return sorted({0, *(steps >> halving for halving in range(7))})


def save_checkpoint(path: Path, model: MaskedLanguageModel, optimizer, settings, step, log, probes, vocabulary) -> None:
    """Writes everything needed to go on. The old checkpoint stays whole until the new one is complete."""
    tensors = {f"model.{name}": weight for name, weight in model.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors |= {f"probe.{at}": vectors for at, vectors in probes.items()}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    half_written = path.with_suffix(".half")
    about = {"settings": asdict(settings), "step": step, "log": log, "vocabulary": vocabulary}
    save_file(tensors, half_written, {name: json.dumps(value) for name, value in about.items()})
    os.replace(half_written, path)


def load_checkpoint(
    path: Path, model: MaskedLanguageModel, optimizer, settings: Settings, vocabulary: list[str]
) -> tuple[int, list, dict]:
    """Puts weights and optimizer back; returns the step to go on with, the log and the probes.

    Raises:
        ValueError: the file is damaged, or belongs to a training with other settings or another vocabulary.
    """
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
        step, log, saved, words = (json.loads(about[name]) for name in ("step", "log", "settings", "vocabulary"))
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise ValueError(
            f"checkpoint={str(path)!r} is damaged ({type(error).__name__}: {error}); "
            "delete it, or start anew with --fresh"
        ) from error
    if saved != asdict(settings):
        other = {name: saved.get(name) for name, value in asdict(settings).items() if saved.get(name) != value}
        raise ValueError(
            f"checkpoint={str(path)!r} belongs to a training with {other}; use the same settings, or --fresh"
        )
    if words != vocabulary:
        raise ValueError(f"checkpoint={str(path)!r} belongs to another vocabulary; start anew with --fresh")
    state: dict[int, dict[str, Tensor]] = {}
    probes = {}
    for name, tensor in tensors.items():
        kind, _, rest = name.partition(".")
        if kind == "optimizer":
            number, _, what = rest.partition(".")
            state.setdefault(int(number), {})[what] = tensor
        elif kind == "probe":
            probes[int(rest)] = tensor
    model.load_state_dict({name.removeprefix("model."): t for name, t in tensors.items() if name.startswith("model.")})
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return step, log, probes


def train(
    settings: Settings,
    output: Path,
    vocabulary: list[str] | None = None,
    checkpoint_seconds: float = 45.0,
    fresh: bool = False,
    stop_at: int | None = None,
    log_every: int = 50,
    progress: bool = True,
) -> MaskedLanguageModel:
    """Trains, or goes on with, the model whose checkpoint is in ``output``, and exports it there when done.

    ``stop_at`` leaves off before this step, with a checkpoint. Without ``vocabulary`` one is made from the language.

    Raises:
        ValueError: the checkpoint in ``output`` is damaged or belongs to other settings.
    """
    rank, world, device = _processes()
    torch.set_flush_denormal(True)
    if vocabulary is None:
        vocabulary = train_vocabulary(sentence.text for sentence in generate(VOCABULARY_SENTENCES, seed=settings.seed))
    encoder = Encoder(vocabulary)
    model = new_model(settings, len(vocabulary)).to(device)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=settings.weight_decay
    )
    output.mkdir(parents=True, exist_ok=True)
    checkpoint = output / "checkpoint.safetensors"
    first_step, log, probes = 0, [], {}
    if checkpoint.exists() and not fresh:
        first_step, log, probes = load_checkpoint(checkpoint, model, optimizer, settings, vocabulary)
    parallel = DistributedDataParallel(model, [device] if device.type == "cuda" else None) if world > 1 else model
    parallel.train()

    last_step = settings.steps if stop_at is None else min(stop_at, settings.steps)
    watched = probe_steps(settings.steps)
    bar = tqdm(total=settings.steps, initial=first_step, disable=not progress or rank > 0, unit="step")
    written, losses, accuracies = time.monotonic(), [], []
    started, before = time.monotonic(), log[-1]["seconds"] if log else 0.0
    for step, (inputs, labels) in enumerate(batches(settings, encoder, first_step, rank), start=first_step):
        if step >= last_step:
            break
        if step in watched and rank == 0:
            probes[step] = probe_vectors(model, encoder, device)
        torch.manual_seed(settings.seed * 1_000_003 + step * 1009 + rank)  # dropout: the same after a resume
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, settings)
        inputs, labels = inputs.to(device), labels.to(device)
        loss, accuracy = parallel(inputs, inputs != encoder.pad, labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        accuracies.append(accuracy.item())
        bar.update()
        if (step + 1) % log_every == 0:
            seconds = before + time.monotonic() - started
            log.append(
                {
                    "step": step + 1,
                    "loss": round(sum(losses) / len(losses), 4),
                    "accuracy": round(sum(accuracies) / len(accuracies), 4),
                    "learning_rate": round(learning_rate(step, settings), 7),
                    "seconds": round(seconds, 1),
                }
            )
            bar.set_postfix(loss=log[-1]["loss"], accuracy=log[-1]["accuracy"])
            losses, accuracies = [], []
        if rank == 0 and ((step + 1) == last_step or time.monotonic() - written > checkpoint_seconds):
            save_checkpoint(checkpoint, model, optimizer, settings, step + 1, log, probes, vocabulary)
            written = time.monotonic()
    bar.close()
    if last_step == settings.steps and rank == 0:
        probes[settings.steps] = probe_vectors(model, encoder, device)
        export(model, encoder, settings, output, log, probes)
    if world > 1:
        distributed.barrier()
        distributed.destroy_process_group()
    return model.eval()


def export(
    model: MaskedLanguageModel, encoder: Encoder, settings: Settings, output: Path, log: list, probes: dict
) -> None:
    """Hugging Face's three files, the settings, the log for the plots, and the vectors of ``bank`` during training."""
    to_huggingface(model, encoder.pad).save_pretrained(output)
    make_tokenizer(encoder.vocabulary, settings.max_length).save_pretrained(output)
    (output / "training_settings.json").write_text(json.dumps(asdict(settings), indent=2) + "\n", encoding="utf-8")
    with open(output / "training_log.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["step", "loss", "accuracy", "learning_rate", "seconds"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(log)
    senses = [next(iter(sentence.senses.values())) for sentence in probe_sentences()]
    save_file(
        {f"step_{step:05d}": vectors for step, vectors in sorted(probes.items())},
        output / "bank_vectors.safetensors",
        {"senses": json.dumps(senses), "axes": "sentence, layer (embedding output first), feature"},
    )


def _processes() -> tuple[int, int, torch.device]:
    """Rank, number of processes, device: torchrun says the first two."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    cuda = torch.cuda.is_available()
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if world > 1:
        distributed.init_process_group("nccl" if cuda else "gloo")
    if cuda:
        torch.cuda.set_device(local)
    return int(os.environ.get("RANK", "0")), world, torch.device("cuda", local) if cuda else torch.device("cpu")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Trains the course BERT; called again, it goes on where it was.")
    parser.add_argument(
        "--output", type=Path, default=Path("data/course-bert"), help="folder for checkpoint and export"
    )
    parser.add_argument("--fresh", action="store_true", help="start anew even if there is a checkpoint")
    for setting in fields(Settings):
        option = "--" + setting.name.replace("_", "-")
        parser.add_argument(
            option, type=type(setting.default), default=setting.default, help=f"default {setting.default}"
        )
    options = vars(parser.parse_args(arguments))
    output, fresh = options.pop("output"), options.pop("fresh")
    try:
        train(Settings(**options), output, fresh=fresh)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
