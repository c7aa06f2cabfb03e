"""Trains the course BERT: ``python -m lesson_kit.training.bert``.

About ten minutes on two CPU cores. Interrupted, it goes on where it was when called again, and ends with the same
weights. With a GPU it uses it; with several processes, ``torchrun --nproc-per-node 2 -m lesson_kit.training.bert``,
each one trains on its own sentences and the gradients are averaged.
"""

import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from random import Random

import torch
from safetensors.torch import save_file
from torch import Tensor, distributed
from torch.nn.parallel import DistributedDataParallel

from course_utils.bert import Bert
from course_utils.masked_lm import MaskedLanguageModel, draw_weights, mask_tokens
from lesson_kit.languages.english import Sentence, generate
from lesson_kit.languages.english.tokenizer import SPECIAL, make_tokenizer, train_vocabulary
from lesson_kit.training.huggingface import to_huggingface
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
    seed: int = 1
    n_layers: int = 4
    d_model: int = 128
    n_heads: int = 4
    d_ff: int = 512
    max_length: int = 64
    dropout: float = 0.0
    masked_share: float = 0.25  # BERT's is 0.15; more words asked, sooner learned (data/course-bert/notes.md)

    def __post_init__(self):
        for name in ("steps", "batch_size", "warm_up", "n_layers", "d_model", "n_heads", "d_ff", "max_length"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")


def learning_rate(step: int, settings: Settings) -> float:
    """Rises in a straight line during the warm-up, then falls in one to 0 at the last step. Steps count from 0."""
    return linear_schedule(step, settings.learning_rate, settings.warm_up, settings.steps)


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
                yield mask_tokens(
                    ids,
                    ids < len(SPECIAL),
                    mask_id=encoder.mask,
                    vocab_size=len(encoder.vocabulary),
                    generator=generator,
                    share=settings.masked_share,
                )


def new_model(settings: Settings, vocab_size: int) -> MaskedLanguageModel:
    """The model as it is before the first step."""
    torch.manual_seed(settings.seed)
    bert = Bert(
        vocab_size=vocab_size,
        n_layers=settings.n_layers,
        d_model=settings.d_model,
        n_heads=settings.n_heads,
        d_ff=settings.d_ff,
        max_length=settings.max_length,
        dropout=settings.dropout,
    )
    return draw_weights(MaskedLanguageModel(bert))


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
    """When the vectors of ``bank`` are written down: close together at first, where most happens."""
    return sorted({steps * sixteenths // 16 for sixteenths in (0, 1, 2, 4, 6, 8, 12, 16)})


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
        KeyboardInterrupt: it was interrupted; a checkpoint was written, and a printed line says where.
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
        about, extra = load_checkpoint(checkpoint, model, optimizer, asdict(settings), vocabulary)
        first_step, log = about["step"], about["log"]
        probes = {int(name.removeprefix("probe.")): vectors for name, vectors in extra.items()}
    parallel = DistributedDataParallel(model, [device] if device.type == "cuda" else None) if world > 1 else model
    parallel.train()

    last_step = settings.steps if stop_at is None else min(stop_at, settings.steps)
    watched = probe_steps(settings.steps)

    def take_step(step: int, batch: tuple[Tensor, Tensor]) -> tuple[float, float, float]:
        if step in watched and rank == 0:
            probes[step] = probe_vectors(model, encoder, device)
        torch.manual_seed(settings.seed * 1_000_003 + step * 1009 + rank)  # dropout: the same after a resume
        rate = learning_rate(step, settings)
        set_learning_rate(optimizer, rate)
        inputs, labels = (part.to(device) for part in batch)
        loss, accuracy = parallel(inputs, inputs != encoder.pad, labels)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item(), accuracy.item(), rate

    def save(step: int) -> None:
        about = {"settings": asdict(settings), "step": step, "log": log, "vocabulary": vocabulary}
        save_checkpoint(checkpoint, model, optimizer, about, {f"probe.{at}": v for at, v in probes.items()})

    take_steps(
        batches(settings, encoder, first_step, rank),
        take_step,
        save if rank == 0 else None,
        log,
        first_step,
        last_step,
        settings.steps,
        log_every=log_every,
        checkpoint_seconds=checkpoint_seconds,
        progress=progress and rank == 0,
        catch_interrupts=world == 1,  # several processes must stop at the same step: torchrun sees to that
        where=checkpoint,
    )
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
    write_settings_and_log(output, settings, log)
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
    description = "Trains the course BERT; called again, it goes on where it was."
    run_command(description, Settings, Path("data/course-bert"), train, arguments)


if __name__ == "__main__":
    main()
