import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from course_utils import LearnedEmbeddings, sinusoidal_positions


@given(length=st.integers(1, 40), half=st.integers(1, 20))
def test_sinusoids_are_the_papers_formula(length, half):
    table = sinusoidal_positions(length, 2 * half)
    assert table.shape == (length, 2 * half) and table.dtype == torch.float32
    for position in range(length):
        for i in range(half):
            angle = position / 10000 ** (2 * i / (2 * half))
            assert math.isclose(table[position, 2 * i], math.sin(angle), abs_tol=1e-7)
            assert math.isclose(table[position, 2 * i + 1], math.cos(angle), abs_tol=1e-7)


def test_the_exponent_is_not_doubled():
    assert round(sinusoidal_positions(4, 512)[3, 2].item(), 4) == 0.2451


def test_far_positions_keep_their_precision():
    assert math.isclose(sinusoidal_positions(50_001, 4)[50_000, 0], math.sin(50_000), abs_tol=1e-7)


@given(k=st.integers(0, 30), p=st.integers(0, 60))
def test_the_product_of_two_positions_depends_on_their_distance_only(k, p):
    table = sinusoidal_positions(100, 64).double()
    expected = sum(math.cos(k / 10000 ** (2 * i / 64)) for i in range(32))
    assert math.isclose(table[p] @ table[p + k], expected, abs_tol=1e-5)


@pytest.mark.parametrize(
    "length, d_model, error, message",
    [
        (4, 3, ValueError, "d_model must be even .* got 3"),
        (0, 4, ValueError, "length must be at least 1, got 0"),
        (4, 0, ValueError, "d_model must be at least 1, got 0"),
        (4.0, 4, TypeError, "length must be an int, got float"),
    ],
)
def test_bad_sinusoids(length, d_model, error, message):
    with pytest.raises(error, match=message):
        sinusoidal_positions(length, d_model)


def test_learned_embeddings_add_three_rows():
    embeddings = LearnedEmbeddings(vocab_size=7, d_model=4, max_length=5, n_segments=2)
    ids, segments = torch.tensor([[3, 3, 6], [0, 1, 2]]), torch.tensor([[0, 1, 1], [0, 0, 0]])
    out = embeddings(ids, segments)
    for row in range(2):
        for position in range(3):
            expected = (
                embeddings.word.weight[ids[row, position]]
                + embeddings.position.weight[position]
                + embeddings.segment.weight[segments[row, position]]
            )
            assert_close(out[row, position], expected)
    assert torch.equal(embeddings(ids), embeddings(ids, torch.zeros_like(ids)))


def test_a_sequence_may_fill_the_position_table():
    embeddings = LearnedEmbeddings(vocab_size=7, d_model=4, max_length=5)
    assert embeddings(torch.zeros(1, 5, dtype=torch.long)).shape == (1, 5, 4)


def test_positions_lie_where_the_ids_do_whatever_the_default_device():
    embeddings, ids = LearnedEmbeddings(vocab_size=7, d_model=4, max_length=5), torch.tensor([[3, 3, 6]])
    with torch.device("meta"):
        out = embeddings(ids)
    assert torch.equal(out, embeddings(ids))


@pytest.mark.parametrize("size", ["vocab_size", "d_model", "max_length", "n_segments"])
def test_bad_sizes(size):
    sizes = {"vocab_size": 7, "d_model": 4, "max_length": 5, "n_segments": 2}
    with pytest.raises(ValueError, match=f"^{size} must be at least 1, got 0"):
        LearnedEmbeddings(**sizes | {size: 0})


def test_sizes_go_by_name():
    with pytest.raises(TypeError, match="positional argument"):
        LearnedEmbeddings(7, 4, 5)


IDS = torch.tensor([[1, 2, 3]])


@pytest.mark.parametrize(
    "ids, segments, error, message",
    [
        (torch.tensor([[7]]), None, ValueError, r"input_ids must lie in 0..6, got values from 7 to 7"),
        (torch.tensor([[-1, 2]]), None, ValueError, "input_ids must lie in 0..6, got values from -1 to 2"),
        (
            torch.ones(1, 6, dtype=torch.long),
            None,
            ValueError,
            "6 tokens long; expected at most 5, the length of the position table",
        ),
        (torch.ones(1, 2), None, TypeError, "input_ids must be an int64 or int32 tensor, got torch.float32"),
        ([[1]], None, TypeError, "input_ids must be an int64 or int32 tensor, got list"),
        (IDS[0], None, ValueError, r"input_ids has shape \(3,\); expected \(batch, length\), nothing empty"),
        (IDS[:, :0], None, ValueError, r"input_ids has shape \(1, 0\); .* nothing empty"),
        (IDS, torch.tensor([[0, 0, 2]]), ValueError, "token_type_ids must lie in 0..1, got values from 0 to 2"),
        (IDS, torch.tensor([[0, 0]]), ValueError, r"token_type_ids has shape \(1, 2\); expected that of input_ids"),
    ],
)
def test_bad_ids(ids, segments, error, message):
    with pytest.raises(error, match=message):
        LearnedEmbeddings(vocab_size=7, d_model=4, max_length=5)(ids, segments)
