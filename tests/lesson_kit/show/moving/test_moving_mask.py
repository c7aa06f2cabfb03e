"""The mask: at every setting the browser's weights are PyTorch's and the course's, NaN and leaks included."""

import math

import pytest
import torch
from driver import HOSTILE, expect_numbers, expect_text_only, expect_well_made, play  # noqa: F401 (fixture)

from course_utils import causal_mask, scaled_dot_product_attention
from lesson_kit import examples
from lesson_kit.show import moving

FILLS = {"−∞": -math.inf, "−1e9": -1e9, "−10": -10.0, "0": 0.0}


def expected(picture, made) -> dict:
    """Weights by PyTorch, as the lesson's cells compute them; sums, and what lands on hidden keys."""
    state = picture.state
    scores = torch.tensor(made.data["scores"], dtype=torch.float64) + state["shift"]
    may_attend = torch.tensor(state["mask"])
    if state["when"] == "after":
        weights = scores.softmax(dim=-1) * may_attend
    elif state["fill"] == "course":  # scores as a query times keys: an identity, which d_head = 5 divides by its root
        n = len(scores)
        _, weights = scaled_dot_product_attention(scores * math.sqrt(n), torch.eye(n).double(), scores, may_attend)
    else:
        fill = FILLS[state["fill"].replace("-", "−").replace("inf", "∞")]
        weights = scores.masked_fill(~may_attend, fill).softmax(dim=-1)
    leaks = weights.masked_fill(may_attend, 0).sum(dim=-1)
    row = {"weights": weights[state["row"]].tolist(), "scores": scores[state["row"]].tolist()}
    return {"weights": weights.tolist(), "sums": weights.sum(dim=-1).tolist(), "leaks": leaks.tolist(), "row": row}


def check(picture, made):
    expect_numbers(picture, expected(picture, made))


def test_it_begins_with_the_lessons_numbers(play):  # noqa: F811
    made = moving.mask()
    picture = play(made)
    check(picture, made)
    numbers = picture.numbers()["weights"]
    assert numbers[1] == pytest.approx([0.3775, 0.6225, 0, 0, 0], abs=5e-5), "the row of lesson 03"
    published = examples.sky_is_blue().published_weights
    for word in (0, 2, 3):
        assert numbers[word][:4] == pytest.approx(published[word].tolist(), abs=1e-6)
    assert picture.shown()["weights.1.2"] == "0", "hidden: exactly 0"
    assert picture.shown()["weights.0.3"] == "0.00", "small: not exactly"


def test_cells_open_and_close_by_mouse_and_by_key(play):  # noqa: F811
    made = moving.mask()
    picture = play(made)
    for row, column in [(1, 2), (0, 1), (3, 3), (4, 4), (2, 0), (1, 2)]:
        before = picture.state["mask"][row][column]
        picture.cell(row, column)
        assert picture.state["mask"][row][column] is not before
        assert picture.state["row"] == row
        check(picture, made)
    cells = picture.page.locator("[data-cell]")
    assert cells.evaluate_all("all => all.filter(e => e.tabIndex === 0).length") == 1, "one stop for Tab"
    for key, cell in [("ArrowDown", "2 2"), ("ArrowRight", "2 3"), ("ArrowUp", "1 3"), ("ArrowLeft", "1 2")]:
        picture.page.keyboard.press(key)
        assert picture.page.evaluate("document.activeElement.dataset.cell") == cell
    assert picture.state["row"] == 1
    for key in ("Space", "Enter", "Space"):
        before = picture.state["mask"][1][2]
        picture.page.keyboard.press(key)
        assert picture.state["mask"][1][2] is not before
        check(picture, made)
    pressed = picture.page.locator("[data-cell='1 2']").get_attribute("aria-pressed")
    assert pressed == str(picture.state["mask"][1][2]).lower()


def test_ready_made_masks(play):  # noqa: F811
    made = moving.mask()
    picture = play(made)
    real = torch.tensor([True, True, True, True, False])
    everything = torch.ones(5, 5, dtype=torch.bool)
    masks = {"Causal": causal_mask(5), "Padding": everything & real, "Both": causal_mask(5) & real, "All": everything}
    for text, mask in masks.items():
        picture.button(text)
        assert torch.tensor(picture.state["mask"]).equal(mask)
        check(picture, made)
        hatched = picture.page.locator("[data-cell].hatched").count()
        assert hatched == (~mask).sum()


@pytest.mark.parametrize("empty", [False, True])
def test_every_fill_before_and_after_the_softmax(play, empty):  # noqa: F811
    made = moving.mask()
    picture = play(made)
    if empty:
        for column in (0, 1):
            picture.cell(1, column)
    for fill in ("−1e9", "−10", "0", "course", "−∞"):
        picture.choose("fill", fill)
        check(picture, made)
        if empty:
            row = picture.numbers()["weights"][1]
            if fill == "−∞":
                assert all(map(math.isnan, row)) and picture.shown()["weights.1.0"] == "NaN"
            else:
                assert row == [0.0] * 5 if fill == "course" else row == pytest.approx([0.2] * 5)
            said = {"−∞": "is NaN", "course": "weights of 0"}.get(fill, "equal weight to all that it may not see")
            assert said in picture.said()
    picture.choose("when", "after it")
    check(picture, made)
    assert not picture.page.get_by_role("radio", name="−10", exact=True).is_visible(), "no fill is needed"
    picture.choose_by_key("when", 1)
    assert picture.state["when"] == "before"
    picture.choose_by_key("fill", 2)
    assert picture.state["fill"] == "-10"
    check(picture, made)


def test_a_constant_moves_the_scores_but_not_the_fill(play):  # noqa: F811
    made = moving.mask()
    picture = play(made)
    before = picture.numbers()["weights"]
    picture.choose("fill", "−10")
    leaks = []
    for shift in (0, -5, -10, -20, -30):
        picture.slide("shift", shift)
        assert picture.control("shift") == (f"−{-shift}" if shift else "0")
        check(picture, made)
        leaks.append(picture.numbers()["leaks"][1])
    assert leaks == sorted(leaks) and leaks[0] < 1e-4 and leaks[-1] > 0.9999
    picture.choose("fill", "−∞")
    for row, same in zip(picture.numbers()["weights"], before, strict=True):
        assert row == pytest.approx(same), "softmax forgets a constant"


def test_the_puzzles(play):  # noqa: F811
    picture = play(moving.mask())
    assert picture.solved() == [False] * 4
    picture.button("Causal")
    assert picture.solved() == [True, False, False, False]
    picture.choose("when", "after it")
    assert picture.solved() == [True, True, False, False]
    assert "had already taken their share" in picture.said()
    picture.choose("when", "before the softmax")
    picture.cell(0, 0)
    assert picture.solved() == [True, True, True, False]
    picture.choose("fill", "−10")
    assert not picture.solved()[3], "an empty row is no leak"
    picture.slide("shift", -12)
    assert picture.solved() == [True] * 4
    picture.button("Reset")
    assert picture.solved() == [False] * 4 and picture.state["shift"] == 0


def test_an_example_of_ones_own(play):  # noqa: F811
    scores = torch.tensor([[1.0, -2, 0.5], [0, 3, 1], [2, 2, 2]])
    made = moving.mask(scores, ["猫", "坐", "שלום"], scores > 0)
    picture = play(made)
    check(picture, made)
    assert picture.page.get_by_role("button", name="Padding").count() == 0, "no token is padding"
    assert "猫" in picture.page.locator(".cells").text_content()


def test_it_is_well_made(play):  # noqa: F811
    expect_well_made(play, moving.mask())


def test_names_stay_text(play):  # noqa: F811
    expect_text_only(play(moving.mask(torch.zeros(4, 4), HOSTILE)), HOSTILE)


SQUARE = [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"scores": [[0.0]]}, ValueError, r"scores must be square with 2 to 6 rows, got the shape \(1, 1\)"),
        ({"scores": torch.zeros(7, 7)}, ValueError, r"2 to 6 rows, got the shape \(7, 7\)"),
        ({"scores": torch.zeros(2, 3)}, ValueError, r"square .* got the shape \(2, 3\)"),
        ({"scores": [["a"]]}, TypeError, "scores must be a square of numbers"),
        ({"scores": [[0, math.nan], [0, 0]]}, ValueError, "scores must be numbers between -1000 and 1000"),
        ({"scores": [[0, 1e4], [0, 0]]}, ValueError, "scores must be numbers between"),
        ({"scores": SQUARE, "tokens": ["a"]}, ValueError, "tokens must be as many as rows: got 1 for 2"),
        ({"scores": SQUARE, "tokens": "ab"}, TypeError, "tokens must be a list of strings"),
        ({"scores": SQUARE, "may_attend": SQUARE}, TypeError, "may_attend must be boolean"),
        ({"scores": SQUARE, "may_attend": [True, False]}, ValueError, r"the shape of scores, \(2, 2\), got \(2,\)"),
        ({"tokens": ["a", "b"]}, ValueError, "scores is None"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        moving.mask(**arguments)
