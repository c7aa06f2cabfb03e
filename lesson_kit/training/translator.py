"""Trains the course's translator, English to Chinese: ``python -m lesson_kit.training.translator``.

Measured: 94 seconds on two idle CPU cores; 566 for the shipped one, on one core of a machine that had other work too.
Interrupted, it goes on where it was when called again, and ends with the same weights.

Source: Vaswani et al. 2017, section 5: Adam with betas 0.9 and 0.98, warm-up, label smoothing 0.1. Unlike there, the
learning rate falls in a straight line to 0, and dropout is 0: pairs are drawn anew at each step.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from safetensors.torch import save_file
from torch import Tensor, nn

from course_utils.transformer import Transformer
from lesson_kit.languages.pairs import Pair, generate_pairs
from lesson_kit.languages.pairs.vocabulary import Vocabulary
from lesson_kit.training.checkpoint import expect_writable
from lesson_kit.training.loop import (
    ABOVE_0,
    ANY,
    BELOW_1,
    TrainingRun,
    TrainingSettings,
    batches_of_like_length,
    run_command,
    setting,
    write_settings_and_log,
)

VOCABULARY_PAIRS = 30_000
SIZES = ("n_layers", "d_model", "n_heads", "d_ff", "max_length")


@dataclass(frozen=True)
class TranslatorSettings(TrainingSettings):
    """What the weights depend on."""

    steps: int = 1000
    batch_size: int = 128
    learning_rate: float = setting(2e-3, ABOVE_0)
    warm_up: int = 200
    label_smoothing: float = setting(0.1, BELOW_1)
    seed: int = setting(0, ANY)
    n_layers: int = 2
    d_model: int = 128
    n_heads: int = 4
    d_ff: int = 256
    max_length: int = 64
    dropout: float = setting(0.0, BELOW_1)


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

    def to(self, device: torch.device) -> "Batch":
        """The same batch there."""
        return Batch(self.source.to(device), self.inputs.to(device), self.labels.to(device), self.pad_id)


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


def batches(
    settings: TranslatorSettings, english: Vocabulary, chinese: Vocabulary, first_step: int = 0
) -> Iterator[Batch]:
    """The batch of each step from ``first_step`` on: a matter of the seed and the step alone."""

    def length(pair: Pair) -> tuple[int, int]:
        return len(pair.chinese), len(pair.english)

    for pairs, _ in batches_of_like_length(generate_pairs, length, f"{settings.seed}", settings, first_step):
        yield make_batch(pairs, english, chinese)


def new_model(settings: TranslatorSettings, english: Vocabulary, chinese: Vocabulary) -> Transformer:
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


def train(
    settings: TranslatorSettings,
    output: Path,
    vocabulary: tuple[Vocabulary, Vocabulary] | None = None,
    log_every: int = 20,
    **options,
) -> Transformer:
    """Trains, or goes on with, the model whose checkpoint is in ``output``, and exports it there when done.

    ``options`` are those of ``TrainingRun``.

    Raises:
        ValueError: the checkpoint in ``output`` is damaged or belongs to other settings; or the loss got infinite.
        OSError: ``output`` can't be written to.
        KeyboardInterrupt: it was interrupted; a checkpoint was written, and a printed line says where.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_flush_denormal(True)
    english, chinese = vocabulary or vocabularies()
    model = new_model(settings, english, chinese).to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    run = TrainingRun(settings, output, model, optimizer, [english.tokens, chinese.tokens], log_every, **options)

    with closing(run.steps(batches(settings, english, chinese, run.step))) as steps:
        for _, batch in steps:
            batch = batch.to(device)
            # Behind its last character a target is all padding, and no real token sees a later one: it needs no mask.
            logits = model(batch.source, batch.inputs, source_mask=batch.source_mask)
            loss, accuracy = loss_and_accuracy(logits, batch, settings.label_smoothing)
            run.record(loss.item(), accuracy.item())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()

    if run.complete:
        with expect_writable(output):
            export(model, english, chinese, settings, output, run.log)
    return model.eval()


def export(
    model: Transformer,
    english: Vocabulary,
    chinese: Vocabulary,
    settings: TranslatorSettings,
    output: Path,
    log: list[dict],
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
    run_command(description, TranslatorSettings, Path("data/translator"), train, arguments)


if __name__ == "__main__":
    main()
