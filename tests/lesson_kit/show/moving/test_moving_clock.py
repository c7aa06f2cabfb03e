"""The clock: rows, angles and dot products are those of course_utils' table, at every setting."""

import math

import pytest
import torch
from driver import expect_numbers, expect_well_made, play  # noqa: F401 (fixture)

from course_utils import sinusoidal_positions
from lesson_kit.show import moving

DIGITS = {"row": 2, "other": 2, "turns": 1, "gaps": 1, "products": 2, "dot": 2}


def expected(state: dict) -> dict:
    """From the course's table, and angles from its tips; the turns from the paper's formula."""
    p, k, d_model = state["p"], state["k"], state["d_model"]
    table = sinusoidal_positions(300, d_model).double()
    first, second = (table[position].unflatten(0, (-1, 2)) for position in (p, p + k))
    two_i = torch.arange(0, d_model, 2, dtype=torch.float64)
    return {
        "row": table[p].tolist(), "other": table[p + k].tolist(),
        "products": (first * second).sum(dim=-1).tolist(), "dot": (table[p] @ table[p + k]).item(),
        "curve": (table[p : p + 65] @ table[p]).tolist(), "turns": (2 * math.pi * 10000 ** (two_i / d_model)).tolist(),
    }  # fmt: skip


def angles(state: dict) -> list[float]:
    """Degrees between the hands of p and p + k, from the tips in the table (float32, so to a thousandth)."""
    table = sinusoidal_positions(300, state["d_model"]).double().unflatten(-1, (-1, 2))
    a, b = table[state["p"]], table[state["p"] + state["k"]]
    across = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return torch.atan2(across, (a * b).sum(dim=-1)).abs().rad2deg().tolist()


def expect_clock(picture) -> None:
    expect_numbers(picture, expected(picture.state), DIGITS)
    assert picture.numbers()["gaps"] == pytest.approx(angles(picture.state), abs=1e-3)


def test_the_position_moves_the_row(play):  # noqa: F811
    picture = play(moving.clock())
    for p in (1, 6, 31, 120, 200):
        picture.slide("position", p)
        expect_clock(picture)
        assert picture.control("position") == str(p)
    for presses, p in ((1, 199), (2, 197), (1, 196)):
        for _ in range(presses):
            picture.button("Back")
        assert picture.state["p"] == p
        expect_clock(picture)
    picture.button("Next")
    assert picture.state["p"] == 197
    for d_model in (4, 16, 8, 4, 16):
        picture.choose("d_model", str(d_model))
        expect_clock(picture)
    assert {"row.15", "turns.7"} <= picture.shown().keys() and "dot" not in picture.shown()


def test_the_offset_alone_moves_angles_and_products(play):  # noqa: F811
    picture = play(moving.clock(p=3, k=5))
    found = []
    for k in (0, 1, 12, 44, 64):
        picture.slide("k", k)
        expect_clock(picture)
        found.append(picture.numbers()["dot"])
    assert found[0] == pytest.approx(4) and len({round(dot, 3) for dot in found}) == 5
    before = picture.shown()
    for p in (4, 60, 110, 160, 200):
        picture.slide("position", p)
        expect_clock(picture)
        now = picture.shown()
        stay = [path for path in before if path.startswith(("gaps", "products", "dot"))]
        assert len(stay) == 9 and {path: now[path] for path in stay} == {path: before[path] for path in stay}
        assert now["row.0"] != before["row.0"]
    picture.choose("positions", "p")
    assert "dot" not in picture.shown()
    picture.choose_by_key("positions", 1)
    assert picture.state["positions"] == 2 and "dot" in picture.shown()


def test_play_goes_word_by_word(play):  # noqa: F811
    picture = play(moving.clock(p=197))
    picture.button("Play")
    picture.page.locator("output[data-control='position']", has_text="200").wait_for()
    assert picture.page.get_by_role("button", name="Play").count() == 1, "it stops at the end"


def test_the_puzzles_of_one_position(play):  # noqa: F811
    picture = play(moving.clock())
    picture.slide("position", 31)
    assert picture.solved() == [True, False, False]
    picture.slide("position", 44)
    assert picture.solved() == [True, True, False]
    table = sinusoidal_positions(201, 8)
    assert (table[1:] @ table[0]).max() < 3.99, "the third can't be solved: no later row is the first"
    assert "hand 0 has made 7.003 turns" in picture.said() and "the slowest, 0.007" in picture.said()


def test_the_puzzles_of_two_positions(play):  # noqa: F811
    picture = play(moving.clock(p=3, k=5))
    picture.slide("position", 53)
    assert picture.solved() == [True, False, False]
    assert "Positions 53 and 58: the angles between their hands are 73.5°, 28.6°, 2.9°, 0.3°" in picture.said()
    picture.slide("k", 12)
    assert picture.solved() == [True, False, True]
    picture.slide("k", 44)
    assert picture.solved() == [True, True, True]
    picture.button("Reset")
    assert picture.solved() == [False, False, False] and picture.state["p"] == 3


@pytest.mark.parametrize("d_model", [4, 8, 16])
@pytest.mark.parametrize("k", [None, 44])
def test_it_is_well_made(play, d_model, k):  # noqa: F811
    expect_well_made(play, moving.clock(d_model=d_model, p=200, k=k))


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"d_model": 6}, ValueError, "d_model must be one of 4, 8, 16; got 6"),
        ({"p": -1}, ValueError, "p must be from 0 to 200, got -1"),
        ({"p": 201}, ValueError, "p must be from 0 to 200, got 201"),
        ({"p": 1.0}, TypeError, "p must be an int, got 1.0"),
        ({"p": None}, TypeError, "p must be an int, got None"),
        ({"k": 65}, ValueError, "k must be from 0 to 64, got 65"),
        ({"k": True}, TypeError, "k must be an int, got True"),
    ],
)
def test_bad_input(options, error, message):
    with pytest.raises(error, match=message):
        moving.clock(**options)


def test_the_still_pictures_say_their_numbers():
    assert "hand 0 7.96, hand 1 0.80, hand 2 0.08, hand 3 0.01" in moving.clock().picture.alt
    assert "4.00 at 0, 3.16 at 5" in moving.clock(p=3, k=5).picture.alt
