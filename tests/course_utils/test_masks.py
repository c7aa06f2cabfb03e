import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_utils import causal_mask, padding_mask
from course_utils.masks import for_all_queries


@given(st.integers(1, 12))
def test_causal_mask_lets_each_position_see_itself_and_the_past(length):
    mask = causal_mask(length)
    assert mask.dtype == torch.bool and mask.shape == (length, length)
    for query in range(length):
        for key in range(length):
            assert mask[query, key] == (key <= query)


def test_masks_lie_where_they_are_asked_to_or_where_the_lengths_lie():
    assert causal_mask(3, "meta").device.type == "meta"
    with torch.device("meta"):
        assert causal_mask(3, "cpu").device.type == "cpu"
    lengths = torch.tensor([1, 2])
    with torch.device("meta"):
        assert padding_mask(lengths, 2).tolist() == [[True, False], [True, True]]


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), max_size=5))))
def test_padding_mask_marks_the_first_tokens(case):
    max_length, lengths = case
    mask = padding_mask(torch.tensor(lengths, dtype=torch.long), max_length)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[position < length for position in range(max_length)] for length in lengths]


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32])
def test_lengths_may_be_small_integers_and_their_maximum_need_not_be(dtype):
    mask = padding_mask(torch.tensor([1, 100], dtype=dtype), 300)
    assert mask.sum(dim=1).tolist() == [1, 100]


def test_for_all_queries():
    x, mask = torch.randn(2, 3, 4), padding_mask(torch.tensor([1, 3]), 3)
    assert for_all_queries("mask", mask, x).tolist() == [[[True, False, False]], [[True, True, True]]]
    assert for_all_queries("mask", None, x) is None
    with pytest.raises(
        ValueError, match=r"^source_mask has shape \(2, 1\); expected \(batch, length\), here \(2, 3\)$"
    ):
        for_all_queries("source_mask", mask[:, :1], x)


@pytest.mark.parametrize(
    "length, error, message",
    [(0, ValueError, "length must be at least 1, got 0"), (2.0, TypeError, "length must be an int, got float")],
)
def test_bad_causal_mask(length, error, message):
    with pytest.raises(error, match=message):
        causal_mask(length)


@pytest.mark.parametrize(
    "lengths, max_length, error, message",
    [
        (torch.tensor([1, 5]), 4, ValueError, r"lengths must lie in 0..max_length=4, got \[1, 5\]"),
        (torch.tensor([-1]), 4, ValueError, "lengths must lie in"),
        (torch.tensor([1.0]), 4, TypeError, "lengths must be an integer tensor, got torch.float32"),
        (torch.tensor([True]), 4, TypeError, "lengths must be an integer tensor, got torch.bool"),
        (torch.tensor([1j]), 4, TypeError, "lengths must be an integer tensor, got torch.complex64"),
        ([1, 2], 4, TypeError, "lengths must be an integer tensor, got list"),
        (torch.tensor([[1]]), 4, ValueError, r"lengths has shape \(1, 1\); expected one axis"),
        (torch.tensor([1]), 0, ValueError, "max_length must be at least 1, got 0"),
    ],
)
def test_bad_padding_mask(lengths, max_length, error, message):
    with pytest.raises(error, match=message):
        padding_mask(lengths, max_length)
