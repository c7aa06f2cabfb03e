"""View and transpose: shapes, strides, memory and numbers are torch's at every step of every way."""

import pytest
import torch
from driver import expect_numbers, expect_well_made, play  # noqa: F401 (fixture)

from course_utils.attention import merge_heads, split_heads
from lesson_kit.show import moving

X = torch.tensor([[[10 * token + feature for feature in range(6)] for token in range(4)]])


def steps(task: str, n_heads: int) -> dict[str, list[torch.Tensor]]:
    """What torch makes at each step: with transpose, and without."""
    d_head = 6 // n_heads
    cut = X.view(1, 4, n_heads, d_head)
    heads = cut.transpose(1, 2)
    if task == "split":
        tempting = X.view(1, n_heads, 4, d_head)
        return {"right": [X, cut, heads], "wrong": [X, tempting, tempting]}
    back = heads.transpose(1, 2)
    tempting = heads.reshape(1, 4, 6)
    return {"right": [heads, back, back.reshape(1, 4, 6)], "wrong": [heads, tempting, tempting]}


def expected(state: dict) -> dict:
    found = {}
    for way, tensors in steps(state["task"], state["heads"]).items():
        tensor = tensors[state["step"]]
        values = tensor.flatten()
        index = torch.unravel_index(torch.tensor(state["place"]), tensor.shape)
        at = sum(int(i) * stride for i, stride in zip(index, tensor.stride(), strict=True))
        found[way] = {
            "shape": list(tensor.shape), "strides": list(tensor.stride()), "values": values.tolist(), "at": at,
            "memory": tensor.as_strided((24,), (1,)).tolist(), "number": values[state["place"]].item(),
        }  # fmt: skip
        assert found[way]["memory"][at] == found[way]["number"]
    return found


def expect_torch(picture) -> None:
    expect_numbers(picture, expected(picture.state), 0)
    assert len(picture.shown()) == 4 * 24, "both ways, the numbers as they are read and in memory"


@pytest.mark.parametrize("task", ["split", "merge"])
@pytest.mark.parametrize("heads", [2, 3])
def test_every_step_is_torchs(play, task, heads):  # noqa: F811
    picture = play(moving.view_and_transpose())
    picture.choose("task", task)
    picture.choose("heads", str(heads))
    for turn, button in enumerate([None, "Next", "Next", "Back", "Back"]):
        if button:
            picture.button(button)
        assert picture.state["step"] == [0, 1, 2, 1, 0][turn]
        expect_torch(picture)
    assert picture.control("step") == "1 of 3"


def test_pointing_gives_the_place_in_memory(play):  # noqa: F811
    picture = play(moving.view_and_transpose())
    picture.button("Next")
    picture.button("Next")
    for place in (1, 5, 6, 17, 23):
        picture.slide("place", place)
        expect_torch(picture)
    picture.slide("place", 6)
    text = picture.page.locator(".stage").text_content()
    assert "20: [0, 0, 2, 0] → 0·3 + 2·6 + 0·1 = 12" in text and "10: [0, 0, 2, 0] → 0·12 + 2·3 + 0·1 = 6" in text
    assert "x.view(1, 4, 2, 3).transpose(1, 2)" in text and "strides (24, 3, 6, 1)" in text
    picture.choose_by_key("task", 1)
    assert picture.state["task"] == "merge" and picture.state["step"] == 0


def test_the_last_steps_are_the_courses(play):  # noqa: F811
    """split_heads and merge_heads make what the way with transpose makes; only reshape alone writes a new memory."""
    picture = play(moving.view_and_transpose(n_heads=3))
    picture.page.evaluate("picture.set({step: 2})")
    heads = split_heads(X, 3)
    assert picture.numbers()["right"]["values"] == heads.flatten().tolist()
    assert picture.numbers()["right"]["memory"] == picture.numbers()["wrong"]["memory"] == X.flatten().tolist()
    picture.choose("task", "merge")
    picture.page.evaluate("picture.set({step: 2})")
    assert picture.numbers()["right"]["values"] == merge_heads(heads).flatten().tolist() == X.flatten().tolist()
    assert picture.numbers()["wrong"]["values"] == picture.numbers()["wrong"]["memory"] == heads.flatten().tolist()


def test_the_puzzles_can_be_solved(play):  # noqa: F811
    picture = play(moving.view_and_transpose())
    picture.slide("place", 12)
    assert picture.solved() == [False, False, False], "nothing is split yet"
    picture.button("Next")
    assert picture.solved() == [True, False, False]
    assert "head 0 gets tokens 0 and 1, head 1 gets tokens 2 and 3" in picture.said()
    picture.choose("heads", "3")
    assert picture.solved() == [True, True, False]
    assert "head 1 gets tokens 1 and 2, head 2 gets tokens 2 and 3" in picture.said()
    picture.choose("task", "merge")
    picture.choose("heads", "2")
    picture.button("Next")
    picture.slide("place", 15)
    assert picture.solved() == [True, True, True]
    assert "row 0 holds tokens 0 and 1. Number 15 is 23 with transpose, 13 without." in picture.said()


@pytest.mark.parametrize("n_heads", [2, 3])
@pytest.mark.parametrize("task, step", [("split", 0), ("split", 1), ("split", 2), ("merge", 2)])
def test_it_is_well_made(play, n_heads, task, step):  # noqa: F811
    made = moving.view_and_transpose(n_heads, task)
    made.document = made.document.replace('"step":0', f'"step":{step}')
    expect_well_made(play, made)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_heads": 4}, "n_heads must be 2 or 3, got 4"),
        ({"n_heads": "2"}, "n_heads must be 2 or 3, got '2'"),
        ({"task": "join"}, "task must be 'split' or 'merge', got 'join'"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        moving.view_and_transpose(**options)


def test_the_still_pictures_say_who_gets_what():
    assert "head 0 gets tokens 0 and 1 only, head 1 gets tokens 2 and 3 only" in moving.view_and_transpose().picture.alt
    alt = moving.view_and_transpose(3, "merge").picture.alt
    assert "row 0 mixes tokens 0, 1 and 2, row 1 mixes" in alt and "each row is a token again" in alt
