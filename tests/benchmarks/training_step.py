"""A training step's time as a ratio: ``python tests/benchmarks/training_step.py [--rounds 30]``.

A step is forward, loss, backward and AdamW (fused), in float32. All candidates begin with the same weights, see the
same batch and take turns in one process; that the losses and gradients of the first two agree is checked before. Our
masked language model scores only the words asked for; the loss needs no others.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import measuring
import torch
import torch.nn.functional as F
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parent.parent / "course_utils"))
from torch_twins import torch_transformer  # noqa: E402

from course_utils import Bert, Transformer, causal_mask, padding_mask  # noqa: E402
from course_utils.masked_lm import NOT_ASKED, MaskedLanguageModel, draw_weights  # noqa: E402
from lesson_kit.training.huggingface import to_huggingface  # noqa: E402

# name: vocabulary, d_model, heads, layers, d_ff, batch, length
BERT_SIZES = {"course-bert, 64x24": (1724, 128, 4, 4, 512, 64, 24), "mid, 16x64": (8000, 256, 4, 6, 1024, 16, 64)}
# name: source and target vocabulary, d_model, heads, layers, d_ff, batch, source length, target length
TRANSFORMER_SIZES = {
    "translator, 128x12 to 128x20": (449, 338, 128, 4, 2, 256, 128, 12, 20),
    "mid, 32x32 to 32x32": (4000, 4000, 256, 8, 3, 1024, 32, 32, 32),
}


class TorchTranslator(nn.Module):
    """nn.Transformer with what it lacks: the embeddings, positions and output of ours, with the same weights."""

    def __init__(self, ours: Transformer, with_last_norms: bool):
        super().__init__()
        self.transformer = torch_transformer(ours)
        if with_last_norms:  # as nn.Transformer is by default, and the paper's is not
            d_model = ours.output.in_features
            self.transformer.encoder.norm, self.transformer.decoder.norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.source_embedding = nn.Embedding.from_pretrained(ours.source_embedding.weight.detach().clone(), False)
        self.target_embedding = nn.Embedding.from_pretrained(ours.target_embedding.weight.detach().clone(), False)
        self.output = nn.Linear(*reversed(ours.output.weight.shape), bias=False)
        self.output.weight.data.copy_(ours.output.weight.data)
        self.register_buffer("positions", ours.positions.clone())
        self.scale = ours.output.in_features**0.5

    def forward(self, source_ids: Tensor, target_ids: Tensor, *, target_mask: Tensor, source_mask: Tensor) -> Tensor:
        source = self.source_embedding(source_ids) * self.scale + self.positions[: source_ids.shape[1]]
        target = self.target_embedding(target_ids) * self.scale + self.positions[: target_ids.shape[1]]
        decoded = self.transformer(
            source,
            target,
            tgt_mask=~causal_mask(target_ids.shape[1]),
            src_key_padding_mask=~source_mask,
            tgt_key_padding_mask=~target_mask,
            memory_key_padding_mask=~source_mask,
        )
        return self.output(decoded)


def lengths(batch: int, longest: int) -> Tensor:
    """From half to the whole: what a sorted batch looks like."""
    return torch.randint((longest + 1) // 2, longest + 1, (batch,)).index_fill(0, torch.tensor(0), longest)


def bert_losses(size: tuple[int, ...]) -> dict[str, tuple[nn.Module, Callable[[], Tensor]]]:
    vocab_size, d_model, n_heads, n_layers, d_ff, batch, length = size
    bert = Bert(
        vocab_size=vocab_size,
        n_layers=n_layers,
        d_model=d_model,
        n_heads=n_heads,
        d_ff=d_ff,
        max_length=length,
        dropout=0.0,
    )
    ours = draw_weights(MaskedLanguageModel(bert)).train()
    theirs = to_huggingface(ours).train()
    theirs.set_attn_implementation("sdpa")
    ids, mask = torch.randint(0, vocab_size, (batch, length)), padding_mask(lengths(batch, length), length)
    labels = torch.where(mask & (torch.rand(ids.shape) < 0.15), ids, NOT_ASKED)
    return {
        "ours": (ours, lambda: ours.loss(ids, mask, labels)[0]),
        "transformers BertForMaskedLM, SDPA": (
            theirs,
            lambda: theirs(input_ids=ids, attention_mask=mask, labels=labels).loss,
        ),
    }


def transformer_losses(size: tuple[int, ...]) -> dict[str, tuple[nn.Module, Callable[[], Tensor]]]:
    source_vocab, target_vocab, d_model, n_heads, n_layers, d_ff, batch, source, target = size
    ours = Transformer(
        source_vocab_size=source_vocab,
        target_vocab_size=target_vocab,
        n_layers=n_layers,
        d_model=d_model,
        n_heads=n_heads,
        d_ff=d_ff,
        max_length=64,
        dropout=0.0,
    ).train()
    ids = torch.randint(0, source_vocab, (batch, source)), torch.randint(0, target_vocab, (batch, target))
    source_mask = padding_mask(lengths(batch, source), source)
    target_mask = padding_mask(lengths(batch, target), target)
    masks = {"target_mask": target_mask, "source_mask": source_mask}
    wanted = torch.randint(0, target_vocab, (batch, target)).masked_fill(~target_mask, NOT_ASKED).flatten()

    def loss_of(model: nn.Module) -> Callable[[], Tensor]:
        return lambda: F.cross_entropy(model(*ids, **masks).flatten(0, 1), wanted)

    models = {
        "ours": ours,
        "nn.Transformer, its last norms off": TorchTranslator(ours, with_last_norms=False),
        "nn.Transformer as it is": TorchTranslator(ours, with_last_norms=True),
    }
    return {name: (model, loss_of(model)) for name, model in models.items()}


def steps_of(losses: dict[str, tuple[nn.Module, Callable[[], Tensor]]]) -> dict[str, Callable[[], None]]:
    """A training step of each, after a check that the first two compute the same."""

    def loss_and_gradient(name: str) -> tuple[Tensor, Tensor]:
        model, loss = losses[name]
        model.zero_grad()
        value = loss()
        value.backward()
        return value.detach(), torch.stack([p.grad.square().sum() for p in model.parameters() if p.grad is not None])

    first, second = (loss_and_gradient(name) for name in list(losses)[:2])
    torch.testing.assert_close(first[0], second[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(first[1].sum(), second[1].sum(), atol=0, rtol=1e-3)

    def step_of(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

        def step() -> None:
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()

        return step

    return {name: step_of(model, loss) for name, (model, loss) in losses.items()}


def measure(rounds: int) -> Iterator[measuring.Row]:
    for sizes, losses in ((BERT_SIZES, bert_losses), (TRANSFORMER_SIZES, transformer_losses)):
        for name, size in sizes.items():
            times = measuring.in_turns(steps_of(losses(size)), rounds)
            for other in list(times)[1:]:
                yield measuring.row(f"time, a training step, {name}", other, times["ours"], times[other], 1.0)


if __name__ == "__main__":
    measuring.main(measure, __doc__, rounds=30)
