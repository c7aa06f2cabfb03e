"""From a source to a target, token by token: greedy search and beam search.

The model runs in evaluation mode and without gradients, and is then as it was before.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from course_utils._expect import expect_int_from, expect_number
from course_utils.cache import KeyValueCache, cached_decode
from course_utils.transformer import Transformer


@dataclass
class Generated:
    """What a search returns, one row for each source.

    ``ids``: without the start symbol; a row that is done goes on with ``eos_id`` up to the longest row's end.
    ``log_probability``: natural logarithm of P(ids | source), up to and including the first ``eos_id``.
    ``score``: what the search ranked by, the same number after the length penalty.
    ``self_attention_weights``, ``cross_attention_weights``: as in ``DecoderOutput``; row t is the step that chose
    ``ids[:, t]`` (if ``decoder.causal`` is False, of one pass over all of ``ids`` instead). None if not asked for.
    """

    ids: Int[Tensor, "batch length"]
    log_probability: Float[Tensor, "batch"]
    score: Float[Tensor, "batch"]
    self_attention_weights: tuple[Tensor, ...] | None = None
    cross_attention_weights: tuple[Tensor, ...] | None = None


def greedy_decode(
    model: Transformer,
    source_ids: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None = None,
    *,
    bos_id: int,
    eos_id: int,
    max_length: int,
    use_cache: bool = True,
    need_weights: bool = False,
) -> Generated:
    """At each step the most probable token, until every row has its ``eos_id`` or ``max_length`` tokens.

    The ids are the same with and without the cache, unless two tokens are equally probable.

    Raises:
        TypeError: ids, ``bos_id``, ``eos_id`` or ``max_length`` are not integers, or ``source_mask`` is not boolean.
        ValueError: as for ``Transformer.encode``; ``bos_id`` or ``eos_id`` lies outside the target vocabulary, or
            ``max_length`` outside 1..``model.max_length``; or the decoder is not causal, and the cache is used.
    """
    _expect_search(model, bos_id, eos_id, max_length)
    with evaluating(model):
        memory = model.encode(source_ids, source_mask).last_hidden_state
        batch = len(source_ids)
        ids = torch.full((batch, max_length + 1), eos_id, device=source_ids.device)
        ids[:, 0] = bos_id
        total = memory.new_zeros(batch)
        done = torch.zeros(batch, dtype=torch.bool, device=source_ids.device)
        next_token = _NextToken(model, memory, source_mask, max_length, use_cache)

        for length in range(1, max_length + 1):
            log_probability, chosen = next_token(ids[:, :length]).max(dim=-1)
            total += log_probability.masked_fill(done, 0.0)
            ids[:, length] = chosen.masked_fill(done, eos_id)
            done |= chosen == eos_id
            if done.all():
                break
        ids = ids[:, : length + 1]
        return Generated(ids[:, 1:], total, total, *_weights(model, ids, memory, source_mask, need_weights))


def beam_search(
    model: Transformer,
    source_ids: Int[Tensor, "batch source"],
    source_mask: Bool[Tensor, "batch source"] | None = None,
    *,
    bos_id: int,
    eos_id: int,
    max_length: int,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    use_cache: bool = True,
    need_weights: bool = False,
) -> Generated:
    """Keeps the ``beam_size`` best beginnings of each row, and returns the best of them at the end.

    They are ranked by log P(ids | source) / lp, with lp = ((5 + length) / 6) ** length_penalty; the length counts
    ``eos_id``. Without the penalty (0) short targets win, for each further token makes a target less probable. A
    target that is done stays in the beam as long as no ``beam_size`` others are better; one that reaches
    ``max_length`` without ``eos_id`` is ranked like the others.

    Source: Wu et al. 2016, "Google's Neural Machine Translation System", section 7, equation 14, without its coverage
    penalty; 4 and 0.6 are the values of Vaswani et al. 2017, section 6.1.

    Raises:
        TypeError, ValueError: as for ``greedy_decode``; ``beam_size`` is not a positive int, or ``length_penalty`` is
            negative or infinite.
    """
    _expect_search(model, bos_id, eos_id, max_length)
    expect_int_from("beam_size", beam_size, 1)
    expect_number("length_penalty", length_penalty, below=math.inf)

    def penalty(length: Float[Tensor, "*shape"] | int) -> Float[Tensor, "*shape"] | float:
        return ((5 + length) / 6) ** length_penalty

    with evaluating(model):
        memory = model.encode(source_ids, source_mask).last_hidden_state
        batch, device = len(source_ids), source_ids.device
        # Beam j of source i is row i * beam_size + j of the decoder's batch.
        memory = memory.repeat_interleave(beam_size, dim=0)
        row_mask = None if source_mask is None else source_mask.repeat_interleave(beam_size, dim=0)
        first_row = torch.arange(batch, device=device)[:, None] * beam_size
        ids = torch.full((batch * beam_size, max_length + 1), eos_id, device=device)
        ids[:, 0] = bos_id
        total = memory.new_full((batch, beam_size), -torch.inf)
        total[:, 0] = 0  # all beams are the same at first: only one may go on
        lengths = memory.new_zeros(batch, beam_size)
        done = torch.zeros(batch, beam_size, dtype=torch.bool, device=device)
        next_token = _NextToken(model, memory, row_mask, max_length, use_cache)

        for length in range(1, max_length + 1):
            # 1. Every continuation of every beam; one that is done goes on with eos_id only, at no cost.
            step = next_token(ids[:, :length]).unflatten(0, (batch, beam_size))
            step = step.masked_fill(done[..., None], -torch.inf)
            step[..., eos_id].masked_fill_(done, 0.0)
            candidates = total[..., None] + step
            new_lengths = lengths + ~done
            scores = candidates / penalty(new_lengths)[..., None]

            # 2. The best of them are the new beams.
            score, best = scores.flatten(1).topk(beam_size)
            parent, chosen = best // step.shape[-1], best % step.shape[-1]
            rows = (first_row + parent).flatten()
            ids = ids[rows]
            ids[:, length] = chosen.flatten()
            total, lengths = candidates.flatten(1).gather(1, best), new_lengths.gather(1, parent)
            done = done.gather(1, parent) | (chosen == eos_id)

            # 3. Enough, if no unfinished beam can overtake: it only gets less probable, and its penalty is bounded.
            finished = score.masked_fill(~done, -torch.inf).amax(1)
            hope = (total / penalty(max_length)).masked_fill(done, -torch.inf).amax(1)
            if (hope <= finished).all():
                break
            next_token.reorder(rows)

        rows = first_row[:, 0]  # topk gives the best beam first
        ids, total, score = ids[rows, : int(lengths[:, 0].max()) + 1], total[:, 0], score[:, 0]
        return Generated(ids[:, 1:], total, score, *_weights(model, ids, memory[rows], source_mask, need_weights))


class _NextToken:
    """Called with the tokens so far: log P(next token | tokens so far, source), (batch, target_vocab)."""

    def __init__(self, model: Transformer, memory: Tensor, source_mask: Tensor | None, max_length: int, cached: bool):
        self.model, self.memory, self.source_mask = model, memory, source_mask
        self.cache = KeyValueCache(len(model.decoder.layers), max_length) if cached else None

    def __call__(self, ids: Tensor) -> Tensor:
        model, mask = self.model, self.source_mask
        if self.cache is None:
            scores, _ = model.decode(ids, self.memory, source_mask=mask)
        else:  # it has seen all but the newest
            x = model.embed("target_ids", ids[:, -1:], model.target_embedding, start=self.cache.length)
            out = cached_decode(model.decoder, self.cache, x, self.memory, source_mask=mask)
            scores = model.output(out.last_hidden_state)
        return scores[:, -1].log_softmax(dim=-1)

    def reorder(self, rows: Tensor) -> None:
        if self.cache is not None:
            self.cache.reorder(rows)


def _weights(model: Transformer, ids: Tensor, memory: Tensor, source_mask: Tensor | None, need_weights: bool) -> tuple:
    # A second pass, over the finished target. If no token sees a later one, its row t is what step t saw; and the steps
    # need not keep the weights of beams that were dropped later.
    if not need_weights:
        return None, None
    out = model.decode(ids[:, :-1], memory, source_mask=source_mask, need_weights=True)[1]
    return out.self_attention_weights, out.cross_attention_weights


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode and no gradients, as long as it lasts; then each part of ``model`` has its own mode again."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, training in modes.items():
            module.training = training


def _expect_search(model: Transformer, bos_id: int, eos_id: int, max_length: int) -> None:
    vocab_size = model.output.out_features
    expect_int_from("bos_id", bos_id, 0, below=vocab_size)
    expect_int_from("eos_id", eos_id, 0, below=vocab_size)
    expect_int_from("max_length", max_length, 1, below=model.max_length + 1)
