"""The knob: the browser's spread, weights and frozen rows are PyTorch's at every setting."""

import math

import pytest
import torch
from driver import expect_numbers, expect_well_made, play  # noqa: F401 (fixture)

from course_utils import scaled_dot_product_attention
from lesson_kit.show import moving


def expected(picture, made) -> dict:
    """From the numbers on the page, by torch; the Jacobians by autograd."""
    state, data = picture.state, made.data
    d_k, temperature = data["widths"][state["width"]], data["temperatures"][state["temperature"]]
    dots = numbers(data["hundredths"][state["width"]])
    scores = dots / {"nothing": 1, "√d_k": math.sqrt(d_k), "d_k": d_k}[state["divisor"]] / temperature
    weights = scores.softmax(dim=-1)
    jacobians = [torch.autograd.functional.jacobian(lambda row: row.softmax(dim=-1), row) for row in scores]
    counts = torch.histc(scores.clamp(-100, 100 - 1e-9), 50, -100, 100)
    return {
        "spread": scores.std().item(), "weights": weights[:6].tolist(),
        "largest": weights.max(dim=-1).values.mean().item(),
        "frozen": sum(jacobian.norm().item() < 0.01 for jacobian in jacobians) / len(scores),
        "bins": (counts / counts.sum()).tolist(),
    }  # fmt: skip


def numbers(text: str) -> torch.Tensor:
    return torch.tensor([*map(int, text.split())], dtype=torch.float64).view(-1, 6) / 100


def test_each_knob_turns_the_numbers(play):  # noqa: F811
    made = moving.knob()
    picture = play(made)
    for place in (0, 2, 5, 8, 10):
        picture.slide("width", place)
        assert picture.control("width") == str(2**place)
        for divisor in ("√d_k", "d_k", "nothing"):
            picture.choose("divisor", divisor)
            expect_numbers(picture, expected(picture, made))
    for place in (0, 7, 14, 22, 30):
        picture.slide("temperature", place)
        expect_numbers(picture, expected(picture, made))
    picture.slide("temperature", 0)
    assert picture.control("temperature") == "0.10"


def test_the_dot_products_are_those_of_longer_and_longer_vectors():
    made = moving.knob()
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(128, n, 1024, generator=generator, dtype=torch.float64) for n in (1, 6))
    for place, d_k in enumerate(made.data["widths"]):
        q, k = query[0, :, :d_k], key[0, :, :d_k]
        dots = numbers(made.data["hundredths"][place])[0]
        torch.testing.assert_close(dots, (q @ k.T)[0], atol=0.00501, rtol=0)
        weights = scaled_dot_product_attention(q, k, k)[1][0]
        torch.testing.assert_close((dots / math.sqrt(d_k)).softmax(dim=-1), weights, atol=0.01, rtol=0)


def test_the_puzzles_can_be_solved(play):  # noqa: F811
    picture = play(moving.knob())
    picture.slide("width", 10)
    assert picture.solved() == [True, False, False] and picture.numbers()["frozen"] > 0.5
    picture.choose("divisor", "√d_k")
    assert picture.numbers()["frozen"] < 0.02 and picture.solved()[1] is False, "the root did it, not the temperature"
    picture.choose("divisor", "nothing")
    picture.slide("temperature", 25)  # 31.6, about the root of 1024
    picture.slide("width", 10)
    assert picture.solved() == [True, True, False]
    picture.slide("temperature", 10)
    picture.choose("divisor", "d_k")
    assert all(picture.solved()) and "flat" in picture.said()


@pytest.mark.parametrize("options", [{}, {"d_k": 1024}, {"d_k": 1, "divisor": "d_k"}])
def test_it_is_well_made(play, options):  # noqa: F811
    expect_well_made(play, moving.knob(**options))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"d_k": 100}, "d_k must be a power of 2 from 1 to 1024, got 100"),
        ({"d_k": "64"}, "d_k must be a power of 2 from 1 to 1024, got '64'"),
        ({"divisor": 8}, "divisor must be one of nothing, √d_k, d_k, got 8"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        moving.knob(**options)


def test_the_still_picture_says_its_numbers():
    alt = moving.knob().picture.alt
    assert "q·k has a standard deviation of 8.3, and 34% of the rows are frozen" in alt
    assert "q·k / √64 has a standard deviation of 1.0, and 0% of the rows are frozen" in alt
