"""Masks, outlines, contrasts and lines in pictures: what they say, to the eye, in grey, in words; and bad input."""

import io
import warnings
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from PIL import Image

from lesson_kit import colours, show
from lesson_kit.measures import contrast
from lesson_kit.show import figures, heatmaps, line_plots

WORDS = ["the", "sky", "is", "blue"]
CAUSAL = torch.ones(4, 4).tril().bool()
SCORES = torch.tensor([[1.0, 2, 0, 1], [0, 3, 1, 1], [2, 2, -4, 0], [1, 0, 0, 2]])
WEIGHTS = SCORES.masked_fill(~CAUSAL, -torch.inf).softmax(-1)


@pytest.fixture
def drawn(monkeypatch):
    """The figures and alternative texts that are handed over."""
    seen = []
    for module in (heatmaps, line_plots):
        monkeypatch.setattr(module, "figure", lambda fig, alt: seen.append((fig, alt)))
    yield seen
    plt.close("all")


def hatched(ax):
    """(row, column) of each hatched cell."""
    cells = set()
    for patch in ax.patches:
        if patch.get_hatch():
            left, top, width = patch.get_x() + 0.5, patch.get_y() + 0.5, patch.get_width()
            cells |= {(round(top), round(left) + k) for k in range(round(width))}
    return cells


def framed(ax):
    return [patch.get_bbox().bounds for patch in ax.patches if not patch.get_hatch()]


def greys_of_cells(fig, ax, cells):
    """The picture in grey, cut to the inside of each cell."""
    fig.canvas.draw()
    picture = Image.fromarray(np.asarray(fig.canvas.buffer_rgba())).convert("L")
    for row, column in cells:
        (x0, y1), (x1, y0) = ax.transData.transform([(column - 0.4, row - 0.4), (column + 0.4, row + 0.4)])
        yield np.asarray(picture.crop((int(x0), int(picture.height - y1), int(x1), int(picture.height - y0))), float)


# --- masks ------------------------------------------------------------------------------------------------------


def test_what_a_mask_hides_is_hatched_and_blank(drawn):
    show.heat_map(WEIGHTS, WORDS, WORDS, mask=CAUSAL)
    fig, alt = drawn[0]
    hidden = {tuple(cell) for cell in (~CAUSAL).nonzero().tolist()}
    assert hatched(fig.axes[0]) == hidden
    texts = {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in fig.axes[0].texts}
    assert {cell for cell, text in texts.items() if not text} == hidden
    assert "6 of 16 cells are masked, and hatched" in alt


def test_a_masked_and_a_nearly_zero_cell_differ_at_a_glance_and_in_grey(drawn):
    nearly = torch.full((11, 11), 1e-9)
    nearly[:, 0] = 1
    for values, n in ((WEIGHTS * CAUSAL + ~CAUSAL * 0, 4), (nearly, 11)):
        values = values.clone()
        values[2, 1] = 1e-9
        mask = torch.ones(n, n).tril().bool()
        show.heat_map(values * mask, range(n), range(n), mask=mask, digits=0)
        fig, _ = drawn[-1]
        masked, tiny = greys_of_cells(fig, fig.axes[0], [(1, 2), (2, 1)])
        edge = tiny[:4]  # above the number, if there is one
        assert edge.std() < 3 and edge.mean() > 250
        assert masked.std() > 20 and 0.1 < (masked < 200).mean() < 0.7


def test_a_weight_where_none_may_be_is_hatched_and_told(drawn):
    """The mistake of lesson 03: masked after the softmax, or not at all."""
    show.heat_maps([SCORES.softmax(-1), WEIGHTS], ["leaks", "right"], WORDS, WORDS, mask=CAUSAL)
    leaks, right = drawn[0][0].axes
    assert hatched(leaks) == hatched(right)
    assert all(text.get_text() for text in leaks.texts)  # 0.24 and 0.00 stand in the hatched cells
    leak = next(text for text in leaks.texts if text.get_position() == (1, 0))
    assert leak.get_text() == "0.53" and leak.get_bbox_patch().get_facecolor()[:3] == (1, 1, 1)
    assert not any(text.get_text() for text in right.texts if text.get_position() == (1, 0))


@pytest.mark.parametrize(
    ("mask", "counts"),
    [
        ([None, CAUSAL], [0, 6]),
        (CAUSAL, [6, 6]),
        (CAUSAL.numpy(), [6, 6]),
        (torch.tensor([True, True, False, False]), [8, 8]),  # a padding mask, for every query
        (torch.tensor([[True, True, False, False]]), [8, 8]),
        (torch.stack([CAUSAL, ~CAUSAL]), [6, 10]),
        ([CAUSAL.tolist(), CAUSAL], [6, 6]),
    ],
)
def test_masks_for_all_maps_or_one_for_each(mask, counts, drawn):
    show.heat_maps([WEIGHTS, WEIGHTS], ["a", "b"], WORDS, WORDS, mask=mask)
    assert [len(hatched(ax)) for ax in drawn[0][0].axes] == counts


def test_masked_scores_keep_their_minus_infinity_and_their_scale(drawn):
    show.heat_map(SCORES.masked_fill(~CAUSAL, -torch.inf), WORDS, WORDS, mask=CAUSAL)
    ax = drawn[0][0].axes[0]
    assert ax.images[0].get_clim() == (-4, 4) and [t.get_text() for t in ax.texts].count("-inf") == 6


def test_a_mask_itself_is_hatched_where_it_hides(drawn):
    show.heat_map(CAUSAL, WORDS, WORDS)
    assert hatched(drawn[0][0].axes[0]) == {tuple(cell) for cell in (~CAUSAL).nonzero().tolist()}


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        (CAUSAL.float(), TypeError, "mask must hold booleans, True = may attend; got torch.float32"),
        (CAUSAL.int(), TypeError, "got torch.int32"),
        (CAUSAL.numpy().astype(float), TypeError, "got float64"),
        ("causal", TypeError, "mask must hold booleans"),
        (CAUSAL[:3, :3], ValueError, r"mask must have shape \(4, 4\), or one that broadcasts to it; got \(3, 3\)"),
        (CAUSAL[:, :, None, None], ValueError, r"got \(4, 4, 1, 1\)"),
    ],
)
def test_masks_that_fit_not(mask, error, message, drawn):
    with pytest.raises(error, match=message):
        show.heat_map(WEIGHTS, WORDS, WORDS, mask=mask)
    with pytest.raises(ValueError, match="mask must be one, or one for each of 2 maps; got 1"):
        show.heat_maps([WEIGHTS] * 2, ["a", "b"], WORDS, WORDS, mask=[CAUSAL])
    assert drawn == []


# --- outlines ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outline", "bounds", "words"),
    [
        ("sky", [(-0.5, 0.5, 4, 1)], 'Framed: row "sky".'),
        (3, [(-0.5, 2.5, 4, 1)], 'row "blue"'),
        (("sky", "blue"), [(2.5, 0.5, 1, 1)], 'cell "sky" -> "blue"'),
        ((1, 3), [(2.5, 0.5, 1, 1)], 'cell "sky" -> "blue"'),
        ((None, "the"), [(-0.5, -0.5, 1, 4)], 'column "the"'),
        (["is", ("sky", 0), (None, 1)], [(-0.5, 1.5, 4, 1), (-0.5, 0.5, 1, 1), (0.5, -0.5, 1, 4)], 'row "is", cell'),
        (torch.tensor([1]).numpy()[0], [(-0.5, 0.5, 4, 1)], 'row "sky"'),
    ],
)
def test_outlines_frame_cells_rows_and_columns(outline, bounds, words, drawn):
    show.heat_map(WEIGHTS, WORDS, WORDS, outline=outline)
    fig, alt = drawn[0]
    assert framed(fig.axes[0]) == bounds and words in alt


def test_each_map_may_have_its_own_outline(drawn):
    show.heat_maps([WEIGHTS] * 3, ["a", "b", "c"], WORDS, WORDS, outline={"a": "is", "c": [("sky", "the")]})
    assert [len(framed(ax)) for ax in drawn[0][0].axes] == [1, 0, 1]
    assert drawn[0][1].count("Framed") == 2


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_an_outline_is_seen_on_dark_and_light_cells_in_grey(weight, drawn):
    show.heat_map(torch.full((12, 12), weight), range(12), range(12), outline=(0, 1))
    fig, _ = drawn[0]
    fig.canvas.draw()
    picture = np.asarray(Image.fromarray(np.asarray(fig.canvas.buffer_rgba())).convert("L"), float)
    x, y = fig.axes[0].transData.transform((0.5, 0))  # the frame's left side, between two cells of one colour
    across = picture[int(picture.shape[0] - y), int(x) - 5 : int(x) + 6]
    assert across.min() < 30 and across.max() > 220  # black with a white rim


@pytest.mark.parametrize(
    ("outline", "error", "message"),
    [
        ("green", ValueError, "outline names 'green', which must be one of the rows; it is not there"),
        (("sky", "green"), ValueError, "one of the columns"),
        ("the", ValueError, r"'the'.*stands at \[0, 2\]: give its position"),
        (4, ValueError, r"outline must name positions in 0\.\.3 of the rows, got 4"),
        (-1, ValueError, "got -1"),
        (1.5, TypeError, "outline must name rows by positions or names, got float"),
        (True, TypeError, "got bool"),
        ((1, 2, 3), ValueError, "outline must name a row, or"),
        ({"other": "sky"}, ValueError, "outline must give titles their cells; there is no 'other'"),
    ],
)
def test_outlines_of_what_is_not_there(outline, error, message, drawn):
    with pytest.raises(error, match=message):
        show.heat_map(WEIGHTS, ["the", "sky", "the", "blue"], WORDS, title="one", outline=outline)
    assert drawn == []


# --- contrast ---------------------------------------------------------------------------------------------------


def test_contrast_is_the_weight_minus_the_mean_of_the_other_rows():
    weights = torch.rand(2, 5, 4, dtype=torch.float64)
    found = contrast(weights)
    for b, i, j in np.ndindex(2, 5, 4):
        others = [weights[b, k, j] for k in range(5) if k != i]
        assert found[b, i, j] == pytest.approx(float(weights[b, i, j] - sum(others) / 4))
    popular = torch.tensor([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])  # a column that everybody looks at
    torch.testing.assert_close(contrast(popular), torch.zeros(3, 2))


def test_contrast_asks_only_the_rows_that_may_look():
    weights = torch.rand(4, 4, dtype=torch.float64) * CAUSAL
    found = contrast(weights, CAUSAL)
    assert found[3, 2] == pytest.approx(float(weights[3, 2] - weights[2, 2]))
    assert found[~CAUSAL].isnan().all() and found[3, 3].isnan()  # no other row sees the last token
    assert found[CAUSAL].isnan().sum() == 1
    padding = torch.tensor([True, True, False, True])  # broadcasts over the rows
    torch.testing.assert_close(contrast(weights, padding)[:, [0, 1, 3]], contrast(weights)[:, [0, 1, 3]])


def test_a_contrast_shows_both_numbers_on_a_signed_scale(drawn):
    weights = torch.tensor([[0.7, 0.3], [0.1, 0.9], [0.3, 0.7]])
    show.contrast(weights, ["a", "b", "c"], ["x", "y"], "who asks?", outline=("a", "x"))
    fig, alt = drawn[0]
    ax, _ = fig.axes
    assert [t.get_text() for t in ax.texts][:4] == ["0.50", "0.70 − 0.20", "-0.50", "0.30 − 0.80"]
    assert ax.images[0].get_clim() == (-1, 1) and ax.get_title() == "who asks?"
    assert 'cell "a" -> "x"' in alt
    show.contrast(WEIGHTS, WORDS, WORDS, mask=CAUSAL)
    assert len(hatched(drawn[1][0].axes[0])) == 6


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: contrast(torch.rand(1, 4)), ValueError, r"weights must have shape .* and two rows; got \(1, 4\)"),
        (lambda: contrast(torch.rand(4)), ValueError, r"got \(4,\)"),
        (lambda: contrast(torch.rand(4, 4), CAUSAL.float()), TypeError, "mask must hold booleans"),
        (lambda: show.contrast([[1.0]], ["a"], ["a"]), ValueError, "two rows"),
        (lambda: show.contrast(WEIGHTS, WORDS[:2], WORDS), ValueError, "rows has 2 names"),
        (lambda: show.contrast([["a"], ["b"]], ["a", "b"], ["a"]), TypeError, "values must be numbers"),
    ],
)
def test_contrast_errors(call, error, message, drawn):
    with pytest.raises(error, match=message):
        call()
    assert drawn == []


# --- lines ------------------------------------------------------------------------------------------------------


def labels(ax):
    return {text.get_text(): text for text in ax.texts}


@pytest.mark.parametrize("yscale", ["linear", "log"])
def test_each_line_has_its_name_at_its_end_and_none_covers_another(yscale, drawn):
    x = np.linspace(1, 10, 30)
    curves = {"one": x, "two": x + 0.01, "three": x + 0.02, "far": x * 0 + 1, "four": x - 0.01, "short": x[:30] / 2}
    show.lines(curves, x, alt="Six lines, four of them almost the same.", xlabel="x", yscale=yscale)
    fig, _ = drawn[0]
    (ax,) = fig.axes
    fig.canvas.draw()
    assert ax.get_legend() is None and set(labels(ax)) == set(curves)
    boxes = sorted((text.get_window_extent() for text in ax.texts), key=lambda box: box.y0)
    assert all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))
    ends = {line.get_label(): line.get_ydata()[-1] for line in ax.lines}
    order = sorted(labels(ax), key=lambda name: labels(ax)[name].get_window_extent().y0)
    assert [ends[name] for name in order] == sorted(ends.values())  # in the order of the lines
    for name in ("far", "short"):  # nothing pushes these away
        at = ax.transData.transform((10, ends[name]))
        box = labels(ax)[name].get_window_extent()
        assert abs((box.y0 + box.y1) / 2 - at[1]) < 4 and 0 < box.x0 - at[0] < 25
    for line in ax.lines:
        assert colours.contrast(labels(ax)[line.get_label()].get_color(), colours.PAPER) >= 4.5


def test_a_line_with_gaps_is_named_at_its_last_value_and_one_alone_not_at_all(drawn):
    show.lines({"a": [1, 2, np.nan], "b": [3, 2, 1]}, alt="Two lines, one of which ends early.")
    ax = drawn[0][0].axes[0]
    assert labels(ax)["a"].xy == (1, 2) and labels(ax)["b"].xy == (2, 1)
    show.lines({"alone": [1, 2]}, alt="One line that rises, and needs no name.")
    assert not drawn[1][0].axes[0].texts


def test_a_line_that_leaves_the_axes_is_named_where_it_was_last_seen(drawn):
    show.lines({"falls": [3, 2, 1, -50], "stays": [2, 2, 2, 2]}, alt="One line falls out of the picture.", ylim=(0, 4))
    ax = drawn[0][0].axes[0]
    assert labels(ax)["falls"].xy == (2, 1) and labels(ax)["stays"].xy == (3, 2)


def test_names_of_lines_on_the_axis_stand_above_it(drawn):
    curves = {name: [1, 0.001 * k] for k, name in enumerate("abcd")}
    show.lines(curves, alt="Four lines that all end on the lower axis.", ylim=(0, 1))
    fig, _ = drawn[0]
    fig.canvas.draw()
    boxes = [labels(fig.axes[0])[name].get_window_extent() for name in "abcd"]
    assert boxes[0].y0 >= fig.axes[0].bbox.y0 and all(low.y1 <= high.y0 + 1 for low, high in pairwise(boxes))


def test_levels_and_ticks(drawn):
    curves = {"a": [0.5, 2, 9], "b": [1, 1, 1.5]}
    ends = {"xscale": "log", "yscale": "log", "xticks": [1, 4, 30], "ylim": (0.1, 20)}
    show.lines(curves, [1, 4, 30], levels={"the floor": 0.2}, alt="Two lines above a level, the floor.", **ends)
    fig, _ = drawn[0]
    ax = fig.axes[0]
    fig.canvas.draw()
    assert set(labels(ax)) == {"a", "b", "the floor"} and ax.lines[2].get_ydata() == [0.2, 0.2]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "4", "30"] and len(
        ax.xaxis.get_minorticklocs()
    ) == 0
    assert labels(ax)["the floor"].get_window_extent().x0 > ax.bbox.x1
    show.lines({"alone": [1, 2]}, levels={"level": 1.5}, alt="One line that crosses a level.")
    assert set(labels(drawn[1][0].axes[0])) == {"alone", "level"}


def test_lines_of_any_axes_get_their_names_and_lose_the_legend():
    fig, ax = show.subplots()
    ax.plot([0, 1], [0, 1], label="curve")
    ax.axhline(0.5, label="level")
    ax.plot([0, 1], [1, 0])
    ax.legend()
    show.label_lines(ax)
    assert set(labels(ax)) == {"curve", "level"} and ax.get_legend() is None
    plt.close(fig)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"curves": [1, 2]}, TypeError, "curves must be a dict of names and values, got list"),
        ({"curves": {}}, ValueError, "curves is empty"),
        ({"curves": {"a": [1, 2]}, "x": [1, 2, 3]}, ValueError, r"curves\['a'\] has 2 values, but x has 3"),
        ({"curves": {"a": ["b"]}}, TypeError, r"curves\['a'\] must hold real numbers"),
        ({"curves": {"a": torch.rand(2, 2)}}, TypeError, r"curves\['a'\] must hold real numbers, \(n,\)"),
        ({"curves": {"a": [float("nan")] * 2}}, ValueError, r"curves\['a'\] has no finite value"),
        ({"curves": {"a": []}}, ValueError, r"curves\['a'\] is empty"),
    ],
)
def test_lines_errors(arguments, error, message, drawn):
    with pytest.raises(error, match=message):
        show.lines(**arguments, alt="Something that is never drawn at all.")
    assert drawn == [] and plt.get_fignums() == []


# --- names of any kind ------------------------------------------------------------------------------------------

STRANGE = [
    "<script>alert(1)</script>",
    "&amp;",
    "$x_1$ \\frac",
    "你好",
    "שלום",
    "مرحبا",
    "é\u0303\u0328",
    "a\nb\t",
    "\ud800",
    "",
]


@pytest.mark.parametrize("name", STRANGE)
def test_names_of_any_kind_are_drawn_and_told_as_they_are(name, monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda what, raw=False: shown.append(what))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        show.heat_map([[0.1, 0.9], [0.5, 0.5]], [name, "b"], ["a", name], title=name, outline=[(0, 1)])
        show.lines({name: [1, 2], "b": [2, 1]}, alt="Two lines, one of them with a strange name.")
        show.contrast([[0.1, 0.9], [0.5, 0.5]], [name, "b"], ["a", name])
    pictures = [what for what in shown if hasattr(what, "png")]
    assert len(pictures) == 3
    for picture in pictures:
        assert Image.open(io.BytesIO(picture.png)).width > 100
        assert "<script" not in picture.html()
    assert "<script" not in shown[1]["text/html"] and not any(c in pictures[0].alt for c in "\n\t\ud800")


def test_two_hundred_tokens_one_token_and_a_long_name(monkeypatch):
    shown = []
    monkeypatch.setattr(figures, "display", lambda what, raw=False: shown.append(what))
    many = torch.full((200, 200), 0.005).tril()
    show.heat_map(many, [f"w{i}" for i in range(200)], range(200), mask=torch.ones(200, 200).tril().bool())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        show.heat_map([[1.0]], ["one"], ["one"], mask=torch.tensor([[True]]))
        show.heat_map([[1.0, 0.0]], ["donaudampfschifffahrtsgesellschaft"], ["a", "b"])
    large, small, long = (what for what in shown if hasattr(what, "png"))
    assert len(large.png) < 300_000 and large.width < 1100 and "19900 of 40000 cells are masked" in large.alt
    assert small.width < 400 and '"one": "one" (1.00)' in small.alt
    assert "donaudampfschifffahrtsg…" in long.alt
