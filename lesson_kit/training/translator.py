"""Trains the course's translator, English to Chinese: ``python -m lesson_kit.training.translator``.

Under three minutes on two CPU cores. Interrupted, it goes on where it was when called again, and ends with the same
weights. ``fit`` is the same training inside a notebook: no files, a callback for curves, any schedule.

Source: Vaswani et al. 2017, section 5: Adam with betas 0.9 and 0.98, warm-up, label smoothing 0.1. Unlike there, the
learning rate falls in a straight line to 0, and dropout is 0: pairs are drawn anew at each step.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from random import Random

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from safetensors.torch import save_file
from torch import Tensor

from course_utils.transformer import Transformer
from lesson_kit.languages.pairs import Pair, generate_pairs
from lesson_kit.languages.pairs.vocabulary import Vocabulary
from lesson_kit.training.loop import (
    linear_schedule,
    load_checkpoint,
    run_command,
    save_checkpoint,
    set_learning_rate,
    take_steps,
    write_settings_and_log,
)

BLOCK = 8  # so many batches are sorted by length together: less padding
VOCABULARY_PAIRS = 30_000
SIZES = ("n_layers", "d_model", "n_heads", "d_ff", "max_length")


@dataclass(frozen=True)
class Settings:
    """What the weights depend on."""

    steps: int = 1000
    batch_size: int = 128
    learning_rate: float = 2e-3
    warm_up: int = 200
    label_smoothing: float = 0.1
    seed: int = 0
    n_layers: int = 2
    d_model: int = 128
    n_heads: int = 4
    d_ff: int = 256
    max_length: int = 64
    dropout: float = 0.0

    def __post_init__(self):
        for name in ("steps", "batch_size", "warm_up", *SIZES):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError(f"label_smoothing must lie in [0, 1), got {self.label_smoothing}")


def learning_rate(step: int, settings: Settings) -> float:
    """Rises in a straight line during the warm-up, then falls in one to 0 at the last step. Steps count from 0."""
    return linear_schedule(step, settings.learning_rate, settings.warm_up, settings.steps)


@cache
def vocabularies() -> tuple[Vocabulary, Vocabulary]:
    """English words and Chinese characters of the pairs."""
    pairs = list(generate_pairs(VOCABULARY_PAIRS, seed="vocabulary"))
    return Vocabulary.of(pair.english for pair in pairs), Vocabulary.of(pair.chinese for pair in pairs)


@dataclass(frozen=True)
class Batch:
    """Ids, padded. ``inputs`` are the targets shifted right: they begin with ``[BOS]``; ``labels`` end with ``[EOS]``.

    A source ends with ``[EOS]`` too.
    """

    source: Int[Tensor, "batch source"]
    inputs: Int[Tensor, "batch target"]
    labels: Int[Tensor, "batch target"]
    pad_id: int

    @property
    def source_mask(self) -> Tensor:
        """True for words, False for padding."""
        return self.source != self.pad_id

    @property
    def target_mask(self) -> Tensor:
        """True for ``[BOS]`` and characters, False for padding."""
        return self.inputs != self.pad_id


def _pad(rows: list[list[int]], pad: int) -> Tensor:
    length = max(map(len, rows))
    return torch.tensor([row + [pad] * (length - len(row)) for row in rows])


def make_batch(pairs: list[Pair], english: Vocabulary, chinese: Vocabulary) -> Batch:
    """One batch of these pairs."""
    pad, bos, eos = (chinese.id[token] for token in ("[PAD]", "[BOS]", "[EOS]"))
    targets = [chinese.encode(pair.chinese) for pair in pairs]
    return Batch(
        _pad([[*english.encode(pair.english), eos] for pair in pairs], pad),
        _pad([[bos, *target] for target in targets], pad),
        _pad([[*target, eos] for target in targets], pad),
        pad,
    )


def batches(settings: Settings, english: Vocabulary, chinese: Vocabulary, first_step: int = 0) -> Iterator[Batch]:
    """The batch of each step from ``first_step`` on: a matter of the seed and the step alone."""
    for block in range(first_step // BLOCK, math.ceil(settings.steps / BLOCK)):
        seed = f"{settings.seed} {block}"
        pairs = sorted(
            generate_pairs(BLOCK * settings.batch_size, seed), key=lambda p: (len(p.chinese), len(p.english))
        )
        order = list(range(BLOCK))
        Random(seed).shuffle(order)
        for place, part in enumerate(order):
            if first_step <= block * BLOCK + place < settings.steps:
                yield make_batch(pairs[part * settings.batch_size : (part + 1) * settings.batch_size], english, chinese)


def new_model(settings: Settings, english: Vocabulary, chinese: Vocabulary) -> Transformer:
    """The model as it is before the first step: post-norm, sinusoids, the paper's but for its size."""
    torch.manual_seed(settings.seed)
    return Transformer(
        source_vocab_size=len(english),
        target_vocab_size=len(chinese),
        n_layers=settings.n_layers,
        d_model=settings.d_model,
        n_heads=settings.n_heads,
        d_ff=settings.d_ff,
        max_length=settings.max_length,
        dropout=settings.dropout,
        tie_output=True,
    )


def loss_and_accuracy(
    logits: Float[Tensor, "batch target vocab"], batch: Batch, label_smoothing: float = 0.1
) -> tuple[Tensor, Tensor]:
    """Mean label-smoothed cross-entropy, and the share of right characters. Padding counts in neither."""
    loss = F.cross_entropy(
        logits.flatten(0, 1), batch.labels.flatten(), ignore_index=batch.pad_id, label_smoothing=label_smoothing
    )
    right = (logits.argmax(-1) == batch.labels)[batch.target_mask]
    return loss, right.float().mean()


def _new_optimizer(model: Transformer) -> torch.optim.Adam:
    return torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)


def _step_function(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    settings: Settings,
    schedule: Callable[[int], float],
    device: torch.device,
) -> Callable[[int, Batch], tuple[float, float, float]]:
    def take_step(step: int, batch: Batch) -> tuple[float, float, float]:
        torch.manual_seed(settings.seed * 1_000_003 + step)  # dropout: the same after a resume
        rate = schedule(step)
        set_learning_rate(optimizer, rate)
        batch = Batch(*(ids.to(device) for ids in (batch.source, batch.inputs, batch.labels)), batch.pad_id)
        # Behind its last character a target is all padding, and no real token sees a later one: no target mask needed.
        logits = model(batch.source, batch.inputs, batch.source_mask)
        loss, accuracy = loss_and_accuracy(logits, batch, settings.label_smoothing)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item(), accuracy.item(), rate

    return take_step


def fit(
    settings: Settings,
    model: Transformer | None = None,
    schedule: Callable[[int], float] | None = None,
    callback: Callable[[dict], None] | None = None,
    log_every: int = 20,
    progress: bool = False,
) -> tuple[Transformer, list[dict]]:
    """Trains without files, for a notebook; returns the model and its log.

    ``model`` may be one that was tampered with (see ``break_it``). ``schedule`` gives the learning rate of a step,
    counted from 0. ``callback`` gets each new row of the log: step, loss, accuracy, learning rate, seconds.

    Raises:
        KeyboardInterrupt: it was interrupted; the step under way was finished.
    """
    english, chinese = vocabularies()
    model = new_model(settings, english, chinese) if model is None else model
    device = next(model.parameters()).device
    schedule = schedule or (lambda step: learning_rate(step, settings))
    torch.set_flush_denormal(True)
    model.train()
    take_step = _step_function(model, _new_optimizer(model), settings, schedule, device)
    log: list[dict] = []
    take_steps(
        batches(settings, english, chinese),
        take_step,
        None,
        log,
        0,
        settings.steps,
        settings.steps,
        log_every=log_every,
        progress=progress,
        callback=callback,
    )
    return model.eval(), log


def train(
    settings: Settings,
    output: Path,
    vocabulary: tuple[Vocabulary, Vocabulary] | None = None,
    checkpoint_seconds: float = 30.0,
    fresh: bool = False,
    stop_at: int | None = None,
    log_every: int = 20,
    progress: bool = True,
) -> Transformer:
    """Trains, or goes on with, the model whose checkpoint is in ``output``, and exports it there when done.

    ``stop_at`` leaves off before this step, with a checkpoint.

    Raises:
        ValueError: the checkpoint in ``output`` is damaged or belongs to other settings.
        KeyboardInterrupt: it was interrupted; a checkpoint was written, and a printed line says where.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_flush_denormal(True)
    english, chinese = vocabulary or vocabularies()
    model = new_model(settings, english, chinese).to(device)
    optimizer = _new_optimizer(model)
    output.mkdir(parents=True, exist_ok=True)
    checkpoint = output / "checkpoint.safetensors"
    tokens = [english.tokens, chinese.tokens]
    first_step, log = 0, []
    if checkpoint.exists() and not fresh:
        about, _ = load_checkpoint(checkpoint, model, optimizer, asdict(settings), tokens)
        first_step, log = about["step"], about["log"]

    def save(step: int) -> None:
        about = {"settings": asdict(settings), "step": step, "log": log, "vocabulary": tokens}
        save_checkpoint(checkpoint, model, optimizer, about, {})

    model.train()
    take_steps(
        batches(settings, english, chinese, first_step),
        _step_function(model, optimizer, settings, lambda step: learning_rate(step, settings), device),
        save,
        log,
        first_step,
        settings.steps if stop_at is None else min(stop_at, settings.steps),
        settings.steps,
        log_every=log_every,
        checkpoint_seconds=checkpoint_seconds,
        progress=progress,
        where=checkpoint,
    )
    if stop_at is None or stop_at >= settings.steps:
        export(model, english, chinese, settings, output, log)
    return model.eval()


def export(
    model: Transformer, english: Vocabulary, chinese: Vocabulary, settings: Settings, output: Path, log: list[dict]
) -> None:
    """The folder ``load_translator`` reads, the settings, and the log for the plots."""
    weights = {name: weight.detach().cpu().contiguous() for name, weight in model.state_dict().items()}
    del weights["output.weight"]  # the target's table again
    save_file(weights, output / "model.safetensors")
    sizes = {name: getattr(settings, name) for name in SIZES}
    config = sizes | {"source_vocab_size": len(english), "target_vocab_size": len(chinese), "tie_output": True}
    (output / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    words = {"source": english.tokens, "target": chinese.tokens}
    (output / "vocabulary.json").write_text(json.dumps(words, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    write_settings_and_log(output, settings, log)


def main(arguments: list[str] | None = None) -> None:
    description = "Trains the course's translator; called again, it goes on where it was."
    run_command(description, Settings, Path("data/translator"), train, arguments)


if __name__ == "__main__":
    main()
