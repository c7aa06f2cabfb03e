"""Trains the course BERT: ``python -m lesson_kit.training.bert``.

About eleven minutes on one CPU core; a GPU is used if there is one. Interrupted, it goes on where it was when called
again, and ends with the same weights.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from course_utils.bert import Bert
from course_utils.generation import evaluating
from course_utils.masked_lm import NOT_ASKED, MaskedLanguageModel, draw_weights, mask_tokens
from lesson_kit.languages.english import Sentence, generate
from lesson_kit.languages.english.tokenizer import SPECIAL, WordTokenizer, make_tokenizer, train_vocabulary
from lesson_kit.training.checkpoint import expect_writable
from lesson_kit.training.huggingface import to_huggingface
from lesson_kit.training.loop import (
    ABOVE_0,
    ABOVE_0_TO_1,
    ANY,
    AT_LEAST_0,
    BELOW_1,
    TrainingRun,
    TrainingSettings,
    batches_of_like_length,
    run_command,
    setting,
    write_settings_and_log,
)

VOCABULARY_SENTENCES = 30_000
PROBE_SENTENCES = 24  # of each sense of "bank", watched during training


@dataclass(frozen=True)
class BertSettings(TrainingSettings):
    """What the weights depend on."""

    steps: int = 4000
    batch_size: int = 64
    learning_rate: float = setting(2e-3, ABOVE_0)
    warm_up: int = 300
    weight_decay: float = setting(0.01, AT_LEAST_0)
    seed: int = setting(1, ANY)
    n_layers: int = 4
    d_model: int = 128
    n_heads: int = 4
    d_ff: int = 512
    max_length: int = 64
    dropout: float = setting(0.0, BELOW_1)
    # BERT's is 0.15; more words asked, sooner learned (data/course-bert/notes.md)
    masked_share: float = setting(0.25, ABOVE_0_TO_1)


def batches(settings: BertSettings, tokenizer: WordTokenizer, first_step: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
    """``(inputs, labels)`` of each step from ``first_step`` on: a matter of the seed and the step alone."""

    def length(sentence: Sentence) -> int:
        return len(sentence.words)

    # The 0 is a part of the shipped weights' seed.
    for sentences, seed in batches_of_like_length(generate, length, f"{settings.seed} 0", settings, first_step):
        ids = tokenizer(sentences)
        yield mask_tokens(
            ids,
            ids < len(SPECIAL),
            mask_id=tokenizer.mask,
            vocab_size=len(tokenizer.vocabulary),
            generator=torch.Generator().manual_seed(Random(seed).getrandbits(60)),
            share=settings.masked_share,
        )


def new_model(settings: BertSettings, vocab_size: int) -> MaskedLanguageModel:
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


def probe_vectors(model: MaskedLanguageModel, tokenizer: WordTokenizer, device: torch.device) -> Tensor:
    """(sentences, layers + 1, d_model): the vectors of ``bank`` in ``probe_sentences()``, embedding output first."""
    sentences = probe_sentences()
    ids = tokenizer(sentences).to(device)
    place = torch.tensor([next(iter(sentence.senses)) + 1 for sentence in sentences], device=device)
    with evaluating(model):
        states = model.bert(ids, attention_mask=ids != tokenizer.pad).hidden_states
    rows = torch.arange(len(sentences), device=device)
    return torch.stack([state[rows, place] for state in states], dim=1).half().cpu()


def probe_steps(steps: int) -> list[int]:
    """When the vectors of ``bank`` are written down: close together at first, where most happens."""
    return sorted({steps * sixteenths // 16 for sixteenths in (0, 1, 2, 4, 6, 8, 12, 16)})


def train(
    settings: BertSettings,
    output: Path,
    vocabulary: list[str] | None = None,
    log_every: int = 50,
    **options,
) -> MaskedLanguageModel:
    """Trains, or goes on with, the model whose checkpoint is in ``output``, and exports it there when done.

    Without ``vocabulary`` one is made from the language. ``options`` are those of ``TrainingRun``.

    Raises:
        ValueError: the checkpoint in ``output`` is damaged or belongs to other settings; the loss got infinite;
            or a step asks for no word.
        OSError: ``output`` can't be written to.
        KeyboardInterrupt: it was interrupted; a checkpoint was written, and a printed line says where.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_flush_denormal(True)
    if vocabulary is None:
        vocabulary = train_vocabulary(sentence.text for sentence in generate(VOCABULARY_SENTENCES, seed=settings.seed))
    tokenizer = WordTokenizer(vocabulary)
    model = new_model(settings, len(vocabulary)).to(device).train()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=settings.weight_decay
    )
    run = TrainingRun(settings, output, model, optimizer, vocabulary, log_every, **options)
    watched = probe_steps(settings.steps)

    with closing(run.steps(batches(settings, tokenizer, run.step))) as steps:
        for step, (inputs, labels) in steps:
            if step in watched:
                run.tensors[f"probe.{step}"] = probe_vectors(model, tokenizer, device)
            _expect_questions(labels, step, settings)
            inputs, labels = inputs.to(device), labels.to(device)
            loss, accuracy = model.loss(inputs, inputs != tokenizer.pad, labels)
            run.record(loss.item(), accuracy.item())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    if run.complete:
        probes = {int(name.removeprefix("probe.")): vectors for name, vectors in run.tensors.items()}
        probes[settings.steps] = probe_vectors(model, tokenizer, device)
        with expect_writable(output):
            export(model, tokenizer, settings, output, run.log, probes)
    return model.eval()


def _expect_questions(labels: Tensor, step: int, settings: BertSettings) -> None:
    """A step that asks for no word teaches nothing."""
    if (labels == NOT_ASKED).all():
        raise ValueError(
            f"step {step + 1} asks for no word; a larger masked_share than {settings.masked_share}, or a larger "
            f"batch_size than {settings.batch_size}, is needed"
        )


def export(
    model: MaskedLanguageModel, tokenizer: WordTokenizer, settings: BertSettings, output: Path, log: list, probes: dict
) -> None:
    """Hugging Face's three files, the settings, the log for the plots, and the vectors of ``bank`` during training."""
    to_huggingface(model, tokenizer.pad).save_pretrained(output)
    make_tokenizer(tokenizer.vocabulary, settings.max_length).save_pretrained(output)
    write_settings_and_log(output, settings, log)
    senses = [next(iter(sentence.senses.values())) for sentence in probe_sentences()]
    save_file(
        {f"step_{step:05d}": vectors for step, vectors in sorted(probes.items())},
        output / "bank_vectors.safetensors",
        {"senses": json.dumps(senses), "axes": "sentence, layer (embedding output first), feature"},
    )


def main(arguments: list[str] | None = None) -> None:
    description = "Trains the course BERT; called again, it goes on where it was."
    run_command(description, BertSettings, Path("data/course-bert"), train, arguments)


if __name__ == "__main__":
    main()
