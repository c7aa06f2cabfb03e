import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close
from torch_twins import shake, stack_pairs, torch_transformer

from course_utils import (
    Transformer,
    beam_search,
    causal_mask,
    greedy_decode,
    padding_mask,
    post_norm,
    pre_norm,
    sinusoidal_positions,
)

ACCURACY = {torch.float32: 1e-5, torch.float64: 1e-12}
BOS, EOS = 1, 2
ENDS = {"bos_id": BOS, "eos_id": EOS}
LANGUAGES = {"source_vocab_size": 9, "target_vocab_size": 7}
SMALL = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "max_length": 12, "dropout": 0.0}


def small(source=9, target=7, **options):
    """A small model in float64 whose choices vary: large weights, no zero bias, no unit gain."""
    model = Transformer(source_vocab_size=source, target_vocab_size=target, **(SMALL | options)).double().eval()
    shake(model)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                weight *= 2
    return model


def batch_of(rows, length, vocab_size):
    """Ids, and a mask with at least one real token in each row, all of them in the first."""
    lengths = torch.randint(1, length + 1, (rows,))
    lengths[0] = length
    return torch.randint(0, vocab_size, (rows, length)), padding_mask(lengths, length)


# The model


@settings(max_examples=12)
@given(n_layers=st.integers(1, 3), n_heads=st.integers(1, 3), source=st.integers(1, 6), target=st.integers(1, 6))
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("dtype", ACCURACY)
def test_equals_torchs_transformer(dtype, norm_first, n_layers, n_heads, source, target):
    ours = Transformer(
        **(LANGUAGES | SMALL | {"n_layers": n_layers, "d_model": 4 * n_heads, "n_heads": n_heads}),
        norm_first=norm_first,
    ).to(dtype)
    shake(ours)
    theirs = torch_transformer(ours)
    source_ids, source_mask = batch_of(3, source, 9)
    target_ids, target_mask = batch_of(3, target, 7)

    def embed(ids, table):
        x = table.weight[ids] * (4 * n_heads) ** 0.5
        return x + sinusoidal_positions(ids.shape[1], 4 * n_heads).to(dtype)

    decoded = theirs(
        embed(source_ids, ours.source_embedding),
        embed(target_ids, ours.target_embedding),
        tgt_mask=~causal_mask(target),  # over there, True = may not attend
        src_key_padding_mask=~source_mask,
        tgt_key_padding_mask=~target_mask,
        memory_key_padding_mask=~source_mask,
    )
    scores = ours(source_ids, target_ids, target_mask=target_mask, source_mask=source_mask)
    assert scores.shape == (3, target, 7) and scores.dtype == dtype
    assert_close(scores, decoded @ ours.output.weight.T, atol=ACCURACY[dtype], rtol=0)


def test_the_defaults_are_the_papers_base_model():
    model = Transformer(source_vocab_size=9)
    assert model.max_length == 512 and model.dropout.p == 0.1
    assert model.target_embedding.weight.shape == (9, 512)
    tables = [model.source_embedding.weight, model.target_embedding.weight, model.output.weight]
    assert len({id(table) for table in tables}) == 3
    for layers in (model.encoder.layers, model.decoder.layers):
        assert len(layers) == 6
        for layer in layers:
            assert layer.feed_forward.w_1.weight.shape == (2048, 512) and layer.feed_forward.activation == "relu"
            assert layer.dropout.p == 0.1 and layer.add_and_norm is post_norm
    assert model.encoder.layers[0].attention.n_heads == model.decoder.layers[0].cross_attention.n_heads == 8


def test_both_stacks_get_the_settings():
    model = Transformer(**LANGUAGES, **(SMALL | {"dropout": 0.3}), activation="gelu", norm_first=True)
    for layer in (*model.encoder.layers, *model.decoder.layers):
        assert layer.dropout.p == 0.3 and layer.feed_forward.activation == "gelu" and layer.add_and_norm is pre_norm


def test_gradients_of_a_training_step_equal_torchs():
    ours = small(norm_first=True).train()
    theirs = torch_transformer(ours)
    source_ids, source_mask = batch_of(3, 5, 9)
    target_ids, target_mask = batch_of(3, 6, 7)
    weight = torch.randn(3, 6, 7, dtype=torch.float64)
    (ours(source_ids, target_ids, target_mask=target_mask, source_mask=source_mask) * weight).sum().backward()
    with torch.no_grad():
        x, y = (
            ours.embed("ids", ids, table)
            for ids, table in ((source_ids, ours.source_embedding), (target_ids, ours.target_embedding))
        )
    hide = {"src_key_padding_mask": ~source_mask, "tgt_key_padding_mask": ~target_mask}
    decoded = theirs(x, y, tgt_mask=~causal_mask(6), memory_key_padding_mask=~source_mask, **hide)
    (decoded @ ours.output.weight.detach().T * weight).sum().backward()
    pairs = [*stack_pairs(ours.encoder, theirs.encoder), *stack_pairs(ours.decoder, theirs.decoder)]
    assert len(pairs) == len(list(theirs.parameters()))
    for mine, other in pairs:
        assert_close(torch.cat([w.grad for w in mine]), other.grad, atol=1e-11, rtol=1e-9)
    assert all(torch.isfinite(p.grad).all() and p.grad.any() for p in ours.parameters())


def test_embeddings_are_scaled_and_get_positions_and_dropout():
    model = Transformer(**LANGUAGES, **(SMALL | {"dropout": 0.5}))
    ids = torch.tensor([[3, 0, 3]])
    expected = model.source_embedding.weight[ids] * 4 + sinusoidal_positions(3, 16)
    model.eval()
    assert_close(model.encode(ids).hidden_states[0], expected)
    model.train()
    kept = model.encode(ids).hidden_states[0]
    assert 0 < (kept == 0).float().mean() < 1
    assert_close(kept[kept != 0], 2 * expected[kept != 0])


def test_new_weights_have_the_right_size_tied_or_not():
    for tied in (False, True):
        model = Transformer(source_vocab_size=500, d_model=64, n_heads=4, n_layers=1, d_ff=96, tie_output=tied)
        assert model.source_embedding.weight is not model.target_embedding.weight
        assert (model.output.weight is model.target_embedding.weight) == tied
        for table in (model.source_embedding.weight, model.target_embedding.weight):
            assert table.std().item() == pytest.approx(1 / 8, rel=0.03)
        scores = model.eval()(torch.randint(0, 500, (4, 8)), torch.randint(0, 500, (4, 8)))
        if tied:
            assert scores.std().item() == pytest.approx(1, rel=0.2)
        else:
            assert model.output.weight.abs().max().item() == pytest.approx(math.sqrt(6 / 564), rel=0.01)
        w_1 = model.decoder.layers[0].feed_forward.w_1
        assert w_1.weight.abs().max().item() == pytest.approx(math.sqrt(6 / 160), rel=0.01) and not w_1.bias.any()


def test_weights_can_be_saved_and_loaded_and_stay_tied():
    first, second = (small(7, 7, tie_output=True) for _ in range(2))
    assert "positions" not in first.state_dict()
    second.load_state_dict(first.state_dict())
    assert second.output.weight is second.target_embedding.weight
    ids = torch.randint(0, 7, (2, 4))
    assert torch.equal(first(ids, ids), second(ids, ids))


@pytest.mark.parametrize("norm_first", [False, True])
def test_padding_changes_nothing(norm_first):
    model = small(norm_first=norm_first)
    source_ids, target_ids = torch.randint(0, 9, (2, 4)), torch.randint(0, 7, (2, 5))
    expected = model(source_ids, target_ids)
    longer_source = torch.cat([source_ids, torch.randint(0, 9, (2, 3))], dim=1)
    longer_target = torch.cat([target_ids, torch.randint(0, 7, (2, 2))], dim=1)
    source_mask, target_mask = torch.arange(7).expand(2, 7) < 4, torch.arange(7).expand(2, 7) < 5
    padded = model(longer_source, longer_target, target_mask=target_mask, source_mask=source_mask)[:, :5]
    assert_close(padded, expected, atol=1e-12, rtol=0)
    assert (model(longer_source, longer_target)[:, :5] - expected).abs().max() > 1e-3


def test_later_target_tokens_change_nothing_and_the_source_changes_everything():
    model = small()
    source_ids, target_ids = torch.randint(0, 9, (2, 4)), torch.randint(0, 7, (2, 5))
    expected = model(source_ids, target_ids)
    later, other = target_ids.clone(), source_ids.clone()
    later[:, 3:] = (later[:, 3:] + 1) % 7
    other[:, 3] = (other[:, 3] + 1) % 9
    assert_close(model(source_ids, later)[:, :3], expected[:, :3], atol=1e-12, rtol=0)
    assert ((model(source_ids, later)[:, 3:] - expected[:, 3:]).abs().amax(-1) > 1e-6).all()
    assert ((model(other, target_ids) - expected).abs().amax(-1) > 1e-6).all()
    memory = model.encode(source_ids).last_hidden_state
    scores, out = model.decode(target_ids, memory)
    assert torch.equal(scores, expected) and out.self_attention_weights is None is out.cross_attention_weights
    model.decoder.causal = False
    free = model.decode(target_ids, memory)[0] - model.decode(later, memory)[0]
    assert (free.abs().amax(-1) > 1e-6).all()


def test_it_learns_to_turn_sequences_round():
    model = Transformer(source_vocab_size=8, **(SMALL | {"d_model": 32, "n_layers": 1, "d_ff": 64}), tie_output=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _ in range(200):
        source = torch.randint(3, 8, (32, 5))
        target = torch.cat([torch.full((32, 1), BOS), source.flip(1), torch.full((32, 1), EOS)], dim=1)
        loss = F.cross_entropy(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    source = torch.randint(3, 8, (64, 5))
    for search in (greedy_decode, beam_search):
        ids = search(model, source, **ENDS, max_length=10).ids
        assert ids.shape == (64, 6) and (ids[:, 5] == EOS).all()
        assert (ids[:, :5] == source.flip(1)).all(-1).float().mean() > 0.9


# The searches


def log_probabilities(model, source_ids, source_mask, targets):
    """log P(target | source) of each row, from the model's own forward pass: each token up to the first EOS."""
    shifted = torch.cat([torch.full_like(targets[:, :1], BOS), targets[:, :-1]], dim=1)
    with torch.no_grad():
        scores = model(source_ids, shifted, source_mask=source_mask).log_softmax(-1)
    chosen = scores.gather(-1, targets[..., None])[..., 0]
    before_the_end = ((targets == EOS).cumsum(-1) - (targets == EOS).long()) == 0
    return (chosen * before_the_end).sum(-1), before_the_end.sum(-1).double()


SEARCHES = {
    "greedy": greedy_decode,
    "beam of 1": lambda *arguments, **more: beam_search(*arguments, beam_size=1, **more),
    "beam of 3": lambda *arguments, **more: beam_search(*arguments, beam_size=3, **more),
    "beam of 9": lambda *arguments, **more: beam_search(*arguments, beam_size=9, **more),  # more than there are words
}


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 4), source=st.integers(1, 5), max_length=st.integers(1, 8))
@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("dtype", ACCURACY)
@settings(max_examples=10)
def test_with_and_without_a_cache_the_same(dtype, search, norm_first, seed, rows, source, max_length):
    torch.manual_seed(seed)
    model = small(norm_first=norm_first).to(dtype)
    source_ids, source_mask = batch_of(rows, source, 9)
    out, plain = (
        SEARCHES[search](
            model, source_ids, source_mask, **ENDS, max_length=max_length, use_cache=use_cache, need_weights=True
        )
        for use_cache in (True, False)
    )
    assert torch.equal(out.ids, plain.ids)
    again, lengths = log_probabilities(model, source_ids, source_mask, out.ids)
    for mine in (out, plain):
        assert_close(mine.log_probability, again, atol=ACCURACY[dtype], rtol=ACCURACY[dtype])
    penalty = 1.0 if search == "greedy" else ((5 + lengths) / 6) ** 0.6
    assert_close(out.score, (again / penalty).to(dtype), atol=ACCURACY[dtype], rtol=ACCURACY[dtype])
    assert out.ids.shape == (rows, int(lengths.max()))
    for row, length in zip(out.ids, lengths.long(), strict=True):
        assert (row[length:] == EOS).all() and (length == max_length or row[length - 1] == EOS)
    shifted = torch.cat([torch.full((rows, 1), BOS), out.ids[:, :-1]], dim=1)
    memory = model.encode(source_ids, source_mask).last_hidden_state
    decoded = model.decode(shifted, memory, source_mask=source_mask, need_weights=True)[1]
    for kind in ("self_attention_weights", "cross_attention_weights"):
        for a, b in zip(getattr(out, kind), getattr(decoded, kind), strict=True):
            assert_close(a, b, atol=ACCURACY[dtype], rtol=0)


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
def test_a_search_hands_the_decoder_only_the_newest_token_unless_told_otherwise(search):
    model, source_ids, handed = small(), torch.randint(0, 9, (2, 4)), []
    model.decoder.layers[0].norm1.register_forward_hook(lambda module, x, output: handed.append(x[0].shape[1]))
    search(model, source_ids, **ENDS, max_length=5)
    with_cache = handed.copy()
    handed.clear()
    search(model, source_ids, **ENDS, max_length=5, use_cache=False)
    assert len(with_cache) > 1 and set(with_cache) == {1}
    assert handed == list(range(1, len(with_cache) + 1))


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
@pytest.mark.parametrize("bos_id, eos_id", [(0, 6), (6, 0)])
def test_any_word_may_be_the_first_or_the_last_and_a_target_may_fill_the_positions(search, bos_id, eos_id):
    model = small()
    with torch.no_grad():
        model.output.weight[eos_id] = 0
        model.decoder.layers[-1].norm3.bias[:] = 9 * model.output.weight[1]  # word 1 again and again
    out = search(model, torch.randint(0, 9, (2, 12)), bos_id=bos_id, eos_id=eos_id, max_length=12)
    assert out.ids.tolist() == [[1] * 12] * 2


def test_a_beam_is_4_wide_and_its_penalty_is_0_6_unless_told_otherwise():
    model, source_ids = small(), torch.randint(0, 9, (100, 4))
    default, same, wider, harder = (
        beam_search(model, source_ids, **ENDS, max_length=8, **options).score
        for options in (
            {},
            {"beam_size": 4, "length_penalty": 0.6},
            {"beam_size": 5, "length_penalty": 0.6},
            {"beam_size": 4, "length_penalty": 1.6},
        )
    )
    assert torch.equal(default, same) and not torch.allclose(default, wider) and not torch.allclose(default, harder)


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
def test_a_search_lies_where_the_source_does_whatever_the_default_device(search):
    model, source_ids = small(), torch.randint(0, 9, (2, 4))
    expected = search(model, source_ids, **ENDS, max_length=5)
    with torch.device("meta"):
        out = search(model, source_ids, **ENDS, max_length=5)
    assert torch.equal(out.ids, expected.ids) and torch.equal(out.score, expected.score)


@given(seed=st.integers(0, 10**6), length_penalty=st.sampled_from([0.0, 0.6]))
def test_a_beam_of_1_is_greedy(seed, length_penalty):
    torch.manual_seed(seed)
    model = small()
    source_ids, source_mask = batch_of(3, 5, 9)
    greedy = greedy_decode(model, source_ids, source_mask, **ENDS, max_length=8)
    beam = beam_search(model, source_ids, source_mask, **ENDS, max_length=8, beam_size=1, length_penalty=length_penalty)
    assert torch.equal(beam.ids, greedy.ids)
    assert_close(beam.log_probability, greedy.log_probability, atol=1e-12, rtol=0)


@torch.no_grad()
def best_first(model, source_ids, max_length, beam_size, length_penalty):
    """Beam search over one source, with lists, and the model's whole forward pass at each step."""
    beam = [([], 0.0)]

    def done(ids):
        return EOS in ids

    def score(ids, log_probability):
        return log_probability / ((5 + len(ids)) / 6) ** length_penalty

    for _ in range(max_length):
        candidates = []
        for ids, total in beam:
            if done(ids):
                candidates.append((ids, total))
            else:
                step = model(source_ids, torch.tensor([[BOS, *ids]]))[0, -1].log_softmax(-1).tolist()
                candidates += [([*ids, token], total + step[token]) for token in range(len(step))]
        beam = sorted(candidates, key=lambda candidate: score(*candidate), reverse=True)[:beam_size]
    return beam[0][0], score(*beam[0])


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), beam_size=st.integers(1, 6), length_penalty=st.sampled_from([0.0, 0.6, 2.0]))
@pytest.mark.parametrize("use_cache", [True, False])
def test_equals_a_beam_search_with_lists_one_sentence_at_a_time(use_cache, seed, beam_size, length_penalty):
    torch.manual_seed(seed)
    model = small()
    source_ids = torch.randint(0, 9, (3, 4))
    out = beam_search(
        model, source_ids, **ENDS, max_length=6, beam_size=beam_size, length_penalty=length_penalty, use_cache=use_cache
    )
    for row in range(3):
        ids, score = best_first(model, source_ids[row : row + 1], 6, beam_size, length_penalty)
        assert out.ids[row, : len(ids)].tolist() == ids
        assert out.score[row].item() == pytest.approx(score, abs=1e-12)


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), length_penalty=st.sampled_from([0.0, 0.6, 1.0]))
def test_a_beam_wide_enough_finds_the_best_of_all_targets(seed, length_penalty):
    torch.manual_seed(seed)
    model = small(target=4)
    source_ids, source_mask = batch_of(2, 3, 9)
    targets = torch.tensor(list(itertools.product(range(4), repeat=4)))
    out = beam_search(
        model, source_ids, source_mask, **ENDS, max_length=4, beam_size=len(targets), length_penalty=length_penalty
    )
    for row in range(2):
        every = [x[row : row + 1].expand(len(targets), -1) for x in (source_ids, source_mask)]
        total, lengths = log_probabilities(model, *every, targets)
        best = (total / ((5 + lengths) / 6) ** length_penalty).max()
        assert_close(out.score[row], best, atol=1e-12, rtol=0)


class Scripted(Transformer):
    """Tokens 0, 1, and the end; ``table`` has P(next token) after the start symbol, after 0 and after 1."""

    def __init__(self, table):
        super().__init__(source_vocab_size=9, target_vocab_size=3, **SMALL)
        self.table = torch.tensor(table)

    def decode(self, target_ids, memory, **more):
        after = target_ids + 1
        after[:, 0] = 0
        return (self.table[after.clamp(max=2)] + 1e-9).log(), None


ONE_SOURCE = torch.zeros(1, 1, dtype=torch.long)


def test_a_wider_beam_finds_what_greedy_misses():
    """The likelier first token leads to unlikely targets, the other to a certain one."""
    model = Scripted([[0.55, 0.45, 0.0], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]])
    greedy = greedy_decode(model, ONE_SOURCE, **ENDS, max_length=2, use_cache=False)
    beam = beam_search(model, ONE_SOURCE, **ENDS, max_length=2, beam_size=2, length_penalty=0.0, use_cache=False)
    assert greedy.ids.tolist() == [[0, EOS]] and greedy.log_probability.exp().item() == pytest.approx(0.22)
    assert beam.ids.tolist() == [[1, EOS]] and beam.log_probability.exp().item() == pytest.approx(0.45)


def test_a_search_does_not_stop_while_a_longer_target_may_still_overtake():
    """To end at once is best without a penalty; with one, six certain tokens make up for their first."""
    model = Scripted([[0.45, 0.05, 0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for length_penalty, best in ((0.0, [EOS]), (2.0, [0] * 6)):
        beam = beam_search(
            model, ONE_SOURCE, **ENDS, max_length=6, beam_size=2, length_penalty=length_penalty, use_cache=False
        )
        assert beam.ids.tolist() == [best]


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
def test_a_search_stops_as_soon_as_no_other_target_can_be_better(search):
    model, steps = Scripted([[0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]), []
    decode = model.decode
    model.decode = lambda *arguments, **more: (steps.append(1), decode(*arguments, **more))[1]
    out = search(model, ONE_SOURCE, **ENDS, max_length=9, use_cache=False)
    assert out.ids.tolist() == [[EOS]] and len(steps) == 1


def test_a_larger_length_penalty_prefers_longer_targets():
    lengths = {0.0: 0, 3.0: 0}
    for seed in range(8):
        torch.manual_seed(seed)
        model, source_ids = small(), torch.randint(0, 9, (4, 4))
        for length_penalty in lengths:
            ids = beam_search(model, source_ids, **ENDS, max_length=10, length_penalty=length_penalty).ids
            lengths[length_penalty] += int(((ids == EOS).cumsum(-1) == 0).sum())
    assert lengths[3.0] > lengths[0.0] > 0


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
def test_a_row_does_not_depend_on_its_batch(search):
    model = small()
    source_ids, source_mask = batch_of(4, 5, 9)
    together = search(model, source_ids, **ENDS, max_length=8, source_mask=source_mask)
    for row in range(4):
        real = source_ids[row : row + 1, source_mask[row]]
        alone = search(model, real, **ENDS, max_length=8)
        assert together.ids[row, : alone.ids.shape[1]].tolist() == alone.ids[0].tolist()
        assert_close(together.log_probability[row], alone.log_probability[0], atol=1e-12, rtol=0)


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
def test_a_search_drops_nothing_keeps_no_gradient_and_leaves_the_mode_as_it_was(search):
    model = small(dropout=0.5).train()
    source_ids = torch.randint(0, 9, (2, 4))
    first, second = (search(model, source_ids, **ENDS, max_length=6) for _ in range(2))
    assert torch.equal(first.log_probability, second.log_probability)
    assert model.training and model.dropout.training and not first.log_probability.requires_grad
    assert first.self_attention_weights is None and first.cross_attention_weights is None
    with pytest.raises(ValueError, match="source_mask"):
        search(model, source_ids, **ENDS, max_length=6, source_mask=torch.ones(2, 3).bool())
    assert model.training
    model.encoder.eval()  # a frozen part
    search(model, source_ids, **ENDS, max_length=6)
    assert model.training and model.decoder.training and not any(part.training for part in model.encoder.modules())
    search(model.eval(), source_ids, **ENDS, max_length=6)
    assert not model.training


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
@pytest.mark.parametrize("need_weights", [False, True])
def test_a_source_of_padding_only_gives_no_nan(search, need_weights):
    model = small()
    source_mask = torch.tensor([[True, True], [False, False]])
    source_ids = torch.randint(0, 9, (2, 2))
    out = search(model, source_ids, **ENDS, max_length=5, source_mask=source_mask, need_weights=need_weights)
    assert torch.isfinite(out.log_probability).all()
    scores = model.train()(source_ids, torch.randint(0, 7, (2, 3)), source_mask=source_mask)
    scores.sum().backward()
    assert torch.isfinite(scores).all() and all(torch.isfinite(p.grad).all() for p in model.parameters())


MODEL = Transformer(**LANGUAGES, **SMALL).eval()
SOURCE, TARGET = torch.ones(2, 4, dtype=torch.long), torch.ones(2, 3, dtype=torch.long)
MEMORY = torch.ones(2, 4, 16)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: Transformer(source_vocab_size=0), ValueError, "source_vocab_size must be at least 1, got 0"),
        (
            lambda: Transformer(source_vocab_size=9, target_vocab_size=7.0),
            TypeError,
            "target_vocab_size must be an int, got float",
        ),
        (lambda: Transformer(source_vocab_size=9, d_model=15, n_heads=3), ValueError, "d_model must be even"),
        (lambda: Transformer(source_vocab_size=9, d_model=10, n_heads=4), ValueError, "multiple of n_heads"),
        (lambda: Transformer(source_vocab_size=9, dropout=1.0), ValueError, r"dropout must lie in \[0, 1\), got 1.0"),
        (lambda: Transformer(9), TypeError, "positional argument"),
        (lambda: MODEL(SOURCE, TARGET, TARGET.bool()), TypeError, "positional argument"),
        (lambda: MODEL.encode(SOURCE[:, :0]), ValueError, r"source_ids has shape \(2, 0\); .* nothing empty"),
        (lambda: MODEL.encode(SOURCE[0]), ValueError, r"source_ids has shape \(4,\); expected \(batch, length\)"),
        (lambda: MODEL.encode(SOURCE + 8), ValueError, r"source_ids must lie in 0..8, got values from 9 to 9"),
        (lambda: MODEL.encode(SOURCE.short()), TypeError, "must be an int64 or int32 tensor, got torch.int16"),
        (lambda: MODEL.encode(SOURCE.float()), TypeError, "source_ids must be an int64 or int32 tensor"),
        (lambda: MODEL.encode(SOURCE.repeat(1, 4)), ValueError, "source_ids is 16 tokens long; expected at most 12"),
        (lambda: MODEL.encode(SOURCE, SOURCE), TypeError, r"source_mask must be a boolean tensor .*got torch.int64"),
        (lambda: MODEL.encode(SOURCE, TARGET.bool()), ValueError, r"source_mask has shape \(2, 3\).*here \(2, 4\)"),
        (lambda: MODEL(SOURCE, TARGET[:, :0]), ValueError, r"target_ids has shape \(2, 0\)"),
        (lambda: MODEL(SOURCE, TARGET + 7), ValueError, "target_ids must lie in 0..6, got values from 8 to 8"),
        (lambda: MODEL(SOURCE, TARGET - 2), ValueError, "target_ids must lie in 0..6, got values from -1 to -1"),
        (lambda: MODEL(SOURCE, TARGET.repeat(1, 5)), ValueError, "target_ids is 15 tokens long; expected at most 12"),
        (
            lambda: MODEL.embed("ids", TARGET, MODEL.target_embedding, start=10),
            ValueError,
            "ids is 13 tokens long; expected at most 12, the length of the position table",
        ),
        (lambda: MODEL(SOURCE, TARGET[:1]), ValueError, "memory has a batch of 2, x one of 1; expected the same"),
        (lambda: MODEL(SOURCE, TARGET, target_mask=SOURCE.bool()), ValueError, r"target_mask has shape \(2, 4\)"),
        (lambda: MODEL.decode(TARGET, MEMORY[..., :8]), ValueError, r"memory has shape \(2, 4, 8\); .*d_model=16"),
        (lambda: MODEL.decode(TARGET, MEMORY, source_mask=TARGET.bool()), ValueError, r"source_mask has shape \(2, 3"),
        (lambda: MODEL.decode(TARGET, MEMORY, SOURCE.bool()), TypeError, "positional argument"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("search", [greedy_decode, beam_search])
@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"max_length": 0}, ValueError, r"max_length must lie in 1..12, got 0"),
        ({"max_length": 2.0}, TypeError, "max_length must be an int, got float"),
        ({"max_length": 13}, ValueError, "max_length must lie in 1..12, got 13"),
        ({"bos_id": 7}, ValueError, "bos_id must lie in 0..6, got 7"),
        ({"bos_id": 1.5}, TypeError, "bos_id must be an int, got float"),
        ({"bos_id": None}, TypeError, "bos_id must be an int, got NoneType"),
        ({"eos_id": -1}, ValueError, "eos_id must lie in 0..6, got -1"),
        ({"eos_id": 2.5}, TypeError, "eos_id must be an int, got float"),
        ({"source_ids": SOURCE[:, :0]}, ValueError, r"source_ids has shape \(2, 0\)"),
        ({"source_ids": SOURCE[:0]}, ValueError, r"source_ids has shape \(0, 4\)"),
        ({"source_ids": SOURCE.repeat(1, 4)}, ValueError, "source_ids is 16 tokens long; expected at most 12"),
    ],
)
def test_bad_search(search, arguments, error, message):
    with pytest.raises(error, match=message):
        search(MODEL, **({"source_ids": SOURCE, "max_length": 5} | ENDS | arguments))


def test_the_cache_refuses_a_decoder_that_is_not_causal():
    model = small()
    model.decoder.causal = False
    with pytest.raises(ValueError, match="^cache needs causal=True"):
        greedy_decode(model, SOURCE, **ENDS, max_length=5)
    assert greedy_decode(model, SOURCE, **ENDS, max_length=5, use_cache=False).ids.shape[0] == 2


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"beam_size": 0}, ValueError, "beam_size must be at least 1, got 0"),
        ({"beam_size": 2.0}, TypeError, "beam_size must be an int, got float"),
        ({"length_penalty": -0.5}, ValueError, r"length_penalty must lie in \[0, inf\), got -0.5"),
        ({"length_penalty": float("nan")}, ValueError, r"length_penalty must lie in \[0, inf\), got nan"),
        ({"length_penalty": float("inf")}, ValueError, r"length_penalty must lie in \[0, inf\), got inf"),
        ({"length_penalty": None}, TypeError, "length_penalty must be a number, got NoneType"),
    ],
)
def test_bad_beam(options, error, message):
    with pytest.raises(error, match=message):
        beam_search(MODEL, SOURCE, **ENDS, max_length=5, **options)
