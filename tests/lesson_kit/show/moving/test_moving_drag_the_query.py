"""Drag the query: the browser's numbers are the course's own at every setting, and the picture answers and teaches."""

import math

import pytest
import torch
from driver import HOSTILE, expect_numbers, expect_text_only, expect_well_made, play  # noqa: F401 (fixture)

from course_utils import scaled_dot_product_attention
from lesson_kit.show import moving


def expected(picture, example, d_k=2) -> dict:
    """One attention step by the course's own function, for the query that the picture says it has."""
    query = [picture.state["x"], picture.state["y"]]
    q, k, v = (torch.tensor(rows, dtype=torch.float64) for rows in ([query], example["keys"], example["values"]))
    assert d_k == 2, "scaled_dot_product_attention divides by the root of the keys' features"
    output, weights = scaled_dot_product_attention(q, k, v)
    dots = (q @ k.T)[0]
    powers = torch.exp(dots / math.sqrt(2))
    return {
        "query": query, "dots": dots.tolist(), "scores": (dots / math.sqrt(2)).tolist(),
        "powers": powers.tolist(), "sum": powers.sum().item(),
        "weights": weights[0].tolist(), "output": output[0].tolist(),
    }  # fmt: skip


def check(picture, made):
    expect_numbers(picture, expected(picture, made.data["examples"][picture.state["keys"] - 2]))


def test_it_begins_with_the_two_tokens_of_lesson_01(play):  # noqa: F811
    picture = play(moving.drag_the_query())
    check(picture, moving.drag_the_query())
    assert picture.shown() | {"weights.0": "0.33", "weights.1": "0.67", "dots.1": "2.00"} == picture.shown()
    assert "(0.33, 0.67)" in picture.page.locator(".stage").text_content()
    assert "Its direction fits x2 best: weight 0.67." in picture.said()


def test_the_arrow_keys_move_the_query(play):  # noqa: F811
    made = moving.drag_the_query()
    picture = play(made)
    for key, times, where in [
        ("ArrowRight", 3, (1.3, 2)), ("ArrowDown", 5, (1.3, 1.5)), ("Shift+ArrowLeft", 4, (-0.7, 1.5)),
        ("ArrowUp", 2, (-0.7, 1.7)), ("Shift+ArrowDown", 7, (-0.7, -1.8)), ("ArrowLeft", 1, (-0.8, -1.8)),
    ]:  # fmt: skip
        picture.nudge("query", key, times)
        assert (picture.state["x"], picture.state["y"]) == pytest.approx(where)
        check(picture, made)
    point = picture.page.locator("[data-handle=query]")
    assert point.get_attribute("aria-valuetext") == "−0.80 and −1.80, length 1.97"
    assert picture.page.evaluate("document.activeElement.dataset.handle") == "query"
    picture.nudge("query", "Shift+ArrowUp", 12)
    picture.nudge("query", "Shift+ArrowRight", 12)
    x, y = picture.state["x"], picture.state["y"]
    assert 2.8 < math.hypot(x, y) <= 3, "as far as it goes"
    assert (x, y) == pytest.approx((round(x, 1), round(y, 1))), "and still in steps: a tie can be reached"
    check(picture, made)


def test_the_mouse_drags_the_query(play):  # noqa: F811
    made = moving.drag_the_query()
    picture = play(made)
    for across, down in [(40, 0), (0, 60), (-90, 10), (-20, 50), (30, -100)]:
        before = picture.state
        picture.drag("query", across, down)
        after = picture.state
        assert math.copysign(1, after["x"] - before["x"]) == math.copysign(1, across) or not across
        assert math.copysign(1, before["y"] - after["y"]) == math.copysign(1, down) or not down
        check(picture, made)
    box = picture.page.locator("[data-field=query]").bounding_box()
    picture.page.mouse.click(box["x"] + box["width"] - 5, box["y"] + box["height"] / 2)
    assert (picture.state["x"], picture.state["y"]) == pytest.approx((3, 0), abs=0.11), "no further than its reach"
    check(picture, made)


def test_a_drag_begins_anywhere_and_goes_round_the_rim(play):  # noqa: F811
    made = moving.drag_the_query()
    picture = play(made)
    box = picture.page.locator("[data-field=query]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = picture.page.mouse
    mouse.click(x + 20, y)  # on the arrow of x1
    assert (picture.state["x"], picture.state["y"]) == pytest.approx((0.4, 0), abs=0.1)
    for across, down, degrees in [(1, 0.02, 0), (0.99, -0.98, 45), (-0.5, 1, 243), (0, -1, 90), (-1, 0, 180)]:
        mouse.move(x, y - 10)  # on the arrow of x2
        mouse.down()
        mouse.move(x + 0.99 * across * box["width"] / 2, y + 0.99 * down * box["height"] / 2)
        mouse.up()
        assert picture.numbers()["length"] == pytest.approx(3), "as long as the slider makes it"
        assert picture.state["angle"] == degrees
        check(picture, made)


def test_a_hint_where_longer_is_no_way(play):  # noqa: F811
    picture = play(moving.drag_the_query([1, 0]))
    assert "Longer, it would choose more firmly." in picture.said()
    picture.nudge("query", "Shift+ArrowRight", 5)
    assert picture.state["x"] == 3
    assert "It can't get longer here. What about towards x1 and away from x2 at once?" in picture.said()
    picture.slide("angle", 315)
    assert "Nearly all the weight is on x1: 0.9526." in picture.said()


def test_no_weight_looks_like_none(play):  # noqa: F811
    made = moving.drag_the_query()
    picture = play(made)
    picture.choose("keys", "three")
    picture.slide("length", 4)
    picture.slide("angle", 290)
    check(picture, made)
    shown = picture.shown()
    assert [shown[f"weights.{i}"] for i in range(3)] == ["0.9996", "0.0003", "<0.0001"]
    assert "(3.9996, 0.0011)" in picture.page.locator(".stage").text_content()
    assert picture.solved()[3]
    assert picture.page.locator(".puzzles li").nth(3).text_content().endswith("No: no weight is ever 0.")
    picture.choose("keys", "two")
    assert picture.solved() == [False] * 4, "ticks of its own for each number of keys"
    assert picture.page.locator(".puzzles li").nth(3).text_content().endswith("can you?")
    picture.choose("keys", "three")
    assert picture.solved()[3]
    made = moving.drag_the_query([4, 0], [[3, 0], [-3, 0]], [[1, 0], [0, 1]])
    extreme = play(made)
    check(extreme, made)
    shown = extreme.shown()
    assert [shown["weights.0"], shown["weights.1"]] == [">0.9999", "<0.0001"]
    assert "≈ (1.0000, 0.0000)" in extreme.page.locator(".stage").text_content()


def test_a_tie_shows_the_right_angle_for_any_two_keys(play):  # noqa: F811
    picture = play(moving.drag_the_query())
    text = picture.page.locator(".stage")
    for keys, angle, names in [("two", 45, None), ("three", 0, ("river", "bank")), ("four", 90, ("bank", "money"))]:
        picture.choose("keys", keys)
        assert picture.page.locator(".stage path.good").count() == 0, "no tie yet"
        picture.slide("angle", angle)
        assert picture.page.locator(".stage path.good").count() == 1
        tie, between = (picture.page.locator(f".stage line.stroke.thin.{each}").first for each in ("good", "key"))
        ends = "e => [e.x2.baseVal.value - e.x1.baseVal.value, e.y2.baseVal.value - e.y1.baseVal.value]"
        (ax, ay), (bx, by) = tie.evaluate(ends), between.evaluate(ends)
        assert math.hypot(ax, ay) > 50 and math.hypot(bx, by) > 20
        cosine = (ax * bx + ay * by) / math.hypot(ax, ay) / math.hypot(bx, by)
        assert cosine == pytest.approx(0, abs=1e-6)
        assert ("here nobody wins" if names is None else " and ".join(names) + " tie") in text.text_content()


def boxes(picture, selector) -> dict:
    read = "all => all.map(e => [e.textContent, e.getBoundingClientRect().toJSON()])"
    return dict(picture.page.locator(selector).evaluate_all(read))


@pytest.mark.parametrize("query", [(0, 0), (3, 0), (-3, 0), (0, 3), (0, -3), (2.1, 2.1), (1.5, 0), (0.3, 0.1)])
def test_the_query_s_name_is_not_under_its_point(play, query):  # noqa: F811
    picture = play(moving.drag_the_query(query), width=548)
    name = boxes(picture, ".stage text.query")["query"]
    (mark,) = boxes(picture, "[data-handle=query] .mark").values()
    across = min(name["right"], mark["right"]) - max(name["left"], mark["left"])
    down = min(name["bottom"], mark["bottom"]) - max(name["top"], mark["top"])
    # 5: a line of text is higher than its letters
    assert across < 2 or down < 5, f"covered by {across:.0f} x {down:.0f} pixels"


def test_direction_says_whom_and_length_how_firmly(play):  # noqa: F811
    made = moving.drag_the_query()
    picture = play(made)
    for degrees in (0, 90, 160, 200, 355):
        picture.slide("angle", degrees)
        assert picture.control("angle") == f"{degrees}°"
        assert picture.numbers()["length"] == pytest.approx(math.sqrt(5)), "turning leaves the length"
        check(picture, made)
    largest = []
    for length in (0, 0.5, 1.2, 2, 3):
        picture.slide("length", length)
        assert picture.control("length") == f"{length:.2f}"
        assert picture.state["angle"] == 355, "lengthening leaves the direction"
        check(picture, made)
        largest.append(max(picture.numbers()["weights"]))
    assert largest == sorted(largest) and largest[0] == 0.5


def test_two_three_and_four_keys(play):  # noqa: F811
    made = moving.drag_the_query()
    picture = play(made)
    for text, n in [("three", 3), ("four", 4), ("two", 2)]:
        picture.choose("keys", text)
        assert len(picture.numbers()["weights"]) == n
        assert len([path for path in picture.shown() if path.startswith("weights")]) == n
        check(picture, made)
    picture.choose_by_key("keys", 2)
    assert picture.state["keys"] == 4
    for degrees in (30, 120, 210, 300):
        picture.slide("angle", degrees)
        check(picture, made)


def test_the_puzzles(play):  # noqa: F811
    picture = play(moving.drag_the_query())
    assert picture.solved() == [False] * 4
    picture.slide("angle", 0)
    assert picture.solved() == [True, False, False, False]
    picture.slide("length", 3)
    assert not picture.solved()[1]
    picture.slide("angle", 320)
    assert picture.solved() == [True, True, False, True], "the fourth has an answer"
    picture.slide("length", 2)
    picture.slide("angle", 45)
    assert not picture.solved()[2], "not longer than 2"
    picture.slide("length", 2.5)
    assert all(picture.solved())
    assert "At right angles to the difference of x1 and x2" in picture.said()
    assert "here nobody wins" in picture.page.locator(".stage").text_content()
    picture.slide("length", 0)
    assert "asks nothing" in picture.said()
    picture.button("Reset")
    assert picture.solved() == [False] * 4
    assert (picture.state["x"], picture.state["y"]) == (1, 2)


def test_an_example_of_ones_own(play):  # noqa: F811
    keys, values = torch.tensor([[1.0, 0.5], [-1, 2], [0, 0]]), [[1, 2], [3, -4], [0, 0.5]]
    made = moving.drag_the_query([0.5, 1], keys, values, names=["river", "银行", "שלום"], features=["wet", "rich"])
    picture = play(made)
    assert picture.state["keys"] == 3
    check(picture, made)
    assert "银行" in picture.page.locator(".stage").text_content()
    wide = moving.drag_the_query([0.5, 1], keys, values, d_k=64)
    scores = play(wide).numbers()["scores"]
    assert scores == pytest.approx([1 / 8, 1.5 / 8, 0])


def test_it_is_well_made(play):  # noqa: F811
    expect_well_made(play, moving.drag_the_query())


def test_names_stay_text(play):  # noqa: F811
    keys = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    made = moving.drag_the_query(keys=keys, names=HOSTILE, features=["<b>x</b>", "&lt;"])
    expect_text_only(play(made), HOSTILE)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"keys": [[1, 0]]}, ValueError, "keys must be two, three or four, got 1"),
        ({"keys": [[1, 0]] * 5}, ValueError, "keys must be two, three or four, got 5"),
        ({"keys": [[1, 0, 0]] * 2}, ValueError, "keys must hold two numbers .* in each row"),
        ({"keys": [[1, "a"]] * 2}, TypeError, "keys must hold two numbers in each row"),
        ({"keys": [[1, math.nan]] * 2}, ValueError, "keys must hold two numbers between"),
        ({"keys": [[1, 0]] * 2, "values": [[1, 0]]}, ValueError, "values must be as many as keys: got 1 for 2 keys"),
        ({"keys": [[1, 0]] * 2, "names": ["a"]}, ValueError, "names must be as many as keys: got 1 for 2 keys"),
        ({"keys": [[1, 0]] * 2, "names": "ab"}, TypeError, "must be a list of strings"),
        ({"values": [[1, 0]] * 2}, ValueError, "keys is None"),
        ({"query": [1, math.inf]}, ValueError, "query must hold two numbers"),
        ({"d_k": 0}, ValueError, "d_k must be a positive int, got 0"),
        ({"keys": [[1, 0]] * 2, "features": ["one"]}, ValueError, "features must name the two axes, got 1 names"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        moving.drag_the_query(**arguments)
