"""Online softmax: after each key the browser has what softmax over the keys so far gives at once."""

import pytest
import torch
from driver import HOSTILE, expect_numbers, expect_text_only, expect_well_made, play  # noqa: F401 (fixture)

from course_utils import scaled_dot_product_attention, tiled_attention
from lesson_kit.show import moving


def expected(picture, made) -> dict:
    """By the course's attention: a query of 1, keys that are the scores; all keys at once, nothing carried along."""
    state, data = picture.state, made.data
    example, step = data["examples"][state["example"]], state["step"]
    score, value = (torch.tensor(example[name], dtype=torch.float64)[:, None] for name in ("scores", "values"))
    score = score + data["shifts"][state["shift"]]
    one = torch.ones(1, 1, dtype=torch.float64)
    found = {"scores": score[:, 0].tolist(), "end": tiled_attention(one, score, value, block=3).item()}
    if step == 0:
        return found | {"m": None, "l": 0, "o": 0, "factor": 1, "parts": [], "output": None}
    seen = score[:step, 0]
    m, before = seen.max(), seen[:-1].max() if step > 1 else seen.max()
    output, weights = scaled_dot_product_attention(one, score[:step], value[:step])
    l = 1 / weights[0, seen.argmax()]  # noqa: E741 (the paper's letter)
    return found | {
        "m": m.item(), "l": l.item(), "o": (output[0, 0] * l).item(), "factor": (before - m).exp().item(),
        "parts": (weights[0] * l).tolist(), "output": output.item(),
    }  # fmt: skip


def check(picture, made):
    digits = {"scores": 1} | dict.fromkeys("m l o factor parts output".split(), 2)
    expect_numbers(picture, expected(picture, made), digits)


def test_each_key_that_arrives(play):  # noqa: F811
    made = moving.online_softmax()
    picture = play(made)
    for name in ("mixed", "rising", "falling"):
        picture.choose("example", name)
        picture.button("Back")
        picture.button("Back")
        assert picture.state["step"] == 0 and picture.said().startswith("No key has arrived")
        for step in range(1, 9):
            picture.button("Next")
            assert picture.state["step"] == step
            check(picture, made)
        assert "That is softmax over all 8 at once" in picture.said()
        for _ in range(6):
            picture.button("Back")


def test_a_constant_added_to_all_scores_changes_only_m(play):  # noqa: F811
    made = moving.online_softmax()
    picture = play(made)
    before = picture.numbers()
    for place, shift in enumerate([0, 10, 30, 60, 100]):
        picture.choose("shift", f"+{shift}")
        check(picture, made)
        now = picture.numbers()
        assert now["m"] == pytest.approx(before["m"] + shift)
        assert now["parts"] == pytest.approx(before["parts"]) and now["output"] == pytest.approx(before["output"])
        plain = torch.tensor(now["scores"][:2], dtype=torch.float32).exp().sum()
        assert (now["plain"] is None) == bool(plain.isinf()) == (place == 4)
    assert "Without m the sum would be ∞ in float32." in picture.said()


def test_the_puzzles_can_be_solved(play):  # noqa: F811
    picture = play(moving.online_softmax())
    assert picture.solved() == [False, False, False]
    for _ in range(4):
        picture.button("Next")
    assert picture.solved() == [True, False, False], "k6 shrinks the past by exp(2.1 - 3.6)"
    picture.choose("shift", "+100")
    picture.button("Next")
    picture.button("Next")
    assert all(picture.solved())


def test_it_is_well_made(play):  # noqa: F811
    expect_well_made(play, moving.online_softmax())


def test_names_stay_text(play):  # noqa: F811
    made = moving.online_softmax([0.5] * len(HOSTILE), [*range(len(HOSTILE))], HOSTILE)
    expect_text_only(play(made), HOSTILE)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (([1.0],), ValueError, "scores must be two to 12 numbers, got 1"),
        (([1.0] * 13,), ValueError, "scores must be two to 12 numbers, got 13"),
        (("ab",), TypeError, "scores must be numbers, got 'ab'"),
        (([1, float("nan")],), ValueError, "scores must lie between -1000 and 1000"),
        (([1, 2], [1]), ValueError, "values must be as many as scores: got 1 for 2 scores"),
        (([1, 2], [1, 2], ["a"]), ValueError, "names must be as many as scores: got 1 for 2 scores"),
        ((None, [1, 2]), ValueError, "scores is None; expected the scores that the values and names belong to"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        moving.online_softmax(*arguments)
