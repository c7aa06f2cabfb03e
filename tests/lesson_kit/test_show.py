"""Matrices, figures and heat maps, without a browser."""

import base64
import inspect
import io
import math
import re
import subprocess
import sys
import warnings
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from nbclient import NotebookClient
from PIL import Image

from lesson_kit import show
from lesson_kit.show import figures, heatmaps, scales

WORDS = ["the", "sky", "is", "blue"]
WEIGHTS = torch.tensor([[0.9, 0.1, 0, 0], [0.3, 0.5, 0.1, 0.1], [0.5, 0.001, 0.499, 0], [0.2, 0.2, 0.2, 0.4]])


@pytest.fixture
def pictures(monkeypatch):
    """Every picture displayed, in order, each with its words below."""
    shown = []

    def display(what, raw=False):
        if raw:
            assert what == {"text/html": figures.in_words(shown[-1].alt)}
        else:
            shown.append(what)

    monkeypatch.setattr(figures, "display", display)
    yield shown
    assert plt.get_fignums() == [], "a figure was left open: Jupyter would show it twice"


@pytest.fixture
def drawn(monkeypatch):
    """The matplotlib figures and alternative texts that heat maps hand over."""
    seen = []
    monkeypatch.setattr(heatmaps, "figure", lambda fig, alt: (seen.append((fig, alt)), plt.close(fig)))
    return seen


def cell_texts(fig):
    return [[text.get_text() for text in ax.texts] for ax in fig.axes]


def relative_luminance(colour):
    """WCAG 2.2, written independently of the package."""
    channels = np.array(to_rgb(colour))
    return np.dot(
        [0.2126, 0.7152, 0.0722], np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    )


def contrast(a, b):
    low, high = sorted([relative_luminance(a), relative_luminance(b)])
    return (high + 0.05) / (low + 0.05)


# Numbers


@pytest.mark.parametrize(
    ("x", "digits", "text"),
    [
        (1.234, 2, "1.23"),
        (-1.239, 2, "-1.24"),
        (-0.0, 2, "0.00"),
        (-0.004, 2, "0.00"),
        (-0.006, 2, "-0.01"),
        (-0.4, 0, "0"),
        (3, 2, "3.00"),
        (Fraction(2, 3), 3, "0.667"),
        (torch.tensor(-1e-9), 4, "0.0000"),
        (np.float32(0.5), 1, "0.5"),
        (float("nan"), 2, "NaN"),
        (float("inf"), 2, "inf"),
        (float("-inf"), 2, "-inf"),
    ],
)
def test_number(x, digits, text):
    assert show.number(x, digits) == text


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9), st.integers(0, 6))
def test_number_is_the_rounded_value_and_never_minus_zero(x, digits):
    text = show.number(x, digits)
    assert not re.fullmatch(r"-0(\.0*)?", text)
    assert math.isclose(float(text), x, abs_tol=0.500001 * 10**-digits, rel_tol=1e-15)


@pytest.mark.parametrize("x", ["1.0", None, [1, 2], torch.ones(2), 1j])
def test_number_refuses_what_is_not_one_number(x):
    with pytest.raises(TypeError, match="x must be one real number"):
        show.number(x)


# Matrices


class Table(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.caption, self.heads, self.cells, self.open = None, [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, attributes = self.open[-1]
        if tag == "caption":
            self.caption = data
        elif tag == "th":
            self.heads.append((attributes["scope"], data))
        else:
            self.cells.append(data)


def test_matrix_is_an_accessible_table():
    table = Table(show.matrix(WEIGHTS[:2, :2], ["the", "<b>"], ["a & b", '"'], title="Weights < 1")._repr_html_())
    assert table.caption == "Weights < 1"
    assert table.heads == [("col", "a & b"), ("col", '"'), ("row", "the"), ("row", "<b>")]
    assert table.cells == ["0.90", "0.10", "0.30", "0.50"]


def test_matrix_shows_strings_as_they_are():
    strings = ["<i>", "&lt;", "-0.00", ""]
    table = show.matrix([[string] for string in strings])
    assert table.cells == [[string] for string in strings]
    assert Table(table._repr_html_()).cells == ["<i>", "&lt;", "-0.00"]


def test_matrix_without_names_is_a_table_of_cells():
    html = show.matrix([[1, 2], [3, 4]])._repr_html_()
    assert Table(html).cells == ["1", "2", "3", "4"]
    assert "<th" not in html and "<caption" not in html and "<td></td>" not in html


def test_matrix_in_a_terminal_is_aligned():
    shown = repr(
        show.matrix([[0.5, -10.25], [100, 0]], rows=["the", "天空"], columns=["a", "long name"], title="Scores")
    )
    assert shown.splitlines() == [
        "Scores",
        "           a  long name",
        "the     0.50     -10.25",
        "天空  100.00       0.00",
    ]


@pytest.mark.parametrize(
    ("values", "cells"),
    [
        (torch.tensor([1.0, -0.001]), [["1.00", "0.00"]]),
        (torch.ones(1, 2, requires_grad=True), [["1.00", "1.00"]]),
        (torch.tensor([[1, 2]], dtype=torch.bfloat16), [["1.00", "2.00"]]),
        (torch.tensor([[True, False]]), [["yes", "no"]]),
        (torch.tensor(2), [["2"]]),
        (np.arange(3), [["0", "1", "2"]]),
        ([Fraction(1, 2), Fraction(3)], [["1/2", "3"]]),
        ([["heads", 12, 0.5], ["d_head", 64, 1]], [["heads", "12", "0.50"], ["d_head", "64", "1.00"]]),
        ([torch.tensor([1.5]), torch.tensor([2.5])], [["1.50"], ["2.50"]]),
        ([torch.tensor(1.5), np.float64(-0.0), np.int64(3)], [["1.50", "0.00", "3"]]),
        ([float("nan"), float("-inf")], [["NaN", "-inf"]]),
    ],
)
def test_matrix_takes_any_cells(values, cells):
    assert show.matrix(values).cells == cells


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"values": torch.ones(2, 2, 2)}, ValueError, r"one or two axes.*got shape \(2, 2, 2\)"),
        ({"values": [[[1]]]}, ValueError, "lists nested otherwise"),
        ({"values": [[1, 2], [3]]}, ValueError, r"rows of one length.*\[2, 1\]"),
        ({"values": []}, ValueError, "at least 1"),
        ({"values": [[1, 2]], "rows": ["a", "b"]}, ValueError, "rows has 2 names, but values has 1 rows"),
        ({"values": [[1, 2]], "columns": ["a"]}, ValueError, "columns has 1 names, but values has 2 columns"),
        ({"values": [[1, 2]], "columns": "ab"}, TypeError, "columns must be a list of words, got the string 'ab'"),
    ],
)
def test_matrix_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        show.matrix(**arguments)


# Figures


def test_figure_carries_its_text_and_is_closed(pictures):
    fig, ax = show.subplots(figsize=(4, 3))
    ax.plot([1, 2, 3])
    alt = "A line that rises from one to three in equal steps."
    assert show.figure(fig, alt) is None
    data, metadata = pictures[0]._repr_mimebundle_()
    assert metadata["image/png"]["alt"] == alt
    assert repr(pictures[0]) == data["text/plain"] == f"[figure: {alt}]"
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    assert image.format == "PNG" and image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    assert 300 < metadata["image/png"]["width"] < 450 < image.width


@pytest.mark.parametrize("alt", [None, "", "too short", " " * 40])
def test_figure_needs_a_text(alt, pictures):
    fig, _ = show.subplots()
    with pytest.raises(ValueError, match="alt must say in at least 30 characters"):
        show.figure(fig, alt)
    assert pictures == []


def test_lines_differ_in_more_than_colour_and_the_style_stays_inside():
    fig, ax = show.subplots()
    lines = [ax.plot([0, 1], [i, i])[0] for i in range(6)]
    for property_of in (plt.Line2D.get_color, plt.Line2D.get_marker, lambda line: str(line._unscaled_dash_pattern)):
        assert len({property_of(line) for line in lines}) == 6
    assert all(contrast(line.get_color(), "white") >= 3 for line in lines)
    ax.bar([0, 1], [1, 2])
    ax.hist([1, 2, 2])
    ax.fill_between([0, 1], [1, 2])
    ax.scatter([0, 1], [1, 2])
    ax.errorbar([0, 1], [1, 2], yerr=[0.1, 0.1])
    assert fig.get_facecolor() == ax.get_facecolor() == (1, 1, 1, 1)
    fig.canvas.draw()
    plt.close(fig)
    assert all(plt.rcParams[name] == mpl.rcParamsOrig[name] for name in figures.RC_PARAMS)


# Heat maps


def test_heat_map_writes_its_numbers_and_words(drawn):
    show.heat_map(WEIGHTS, WORDS, WORDS, title="Weights")
    fig, _ = drawn[0]
    (ax,) = fig.axes
    # what is exactly 0 looks different from what is rounded to it
    assert cell_texts(fig) == [["0" if x == 0 else show.number(x) for x in WEIGHTS.flatten()]]
    assert [label.get_text() for label in ax.get_yticklabels()] == WORDS
    assert [label.get_text() for label in ax.get_xticklabels()] == WORDS
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key (is looked at)", "query (looks)")
    assert ax.get_title() == "Weights"


def test_numbers_stand_in_at_most_a_hundred_cells(drawn):
    show.heat_map(torch.rand(10, 10), range(10), range(10))
    show.heat_map(torch.rand(10, 11), range(10), range(11))
    assert len(drawn[0][0].axes) == 1 and len(drawn[0][0].axes[0].texts) == 100
    assert len(drawn[1][0].axes) == 2 and len(drawn[1][0].axes[0].texts) == 0  # a colour bar instead


def test_every_number_contrasts_with_its_cell(drawn):
    show.heat_map(torch.linspace(-3, 5, 100).view(10, 10), range(10), range(10))
    ax, _ = drawn[0][0].axes
    (image,) = ax.images
    for text in ax.texts:
        j, i = text.get_position()
        cell = image.cmap(image.norm(image.get_array()[i, j]))
        assert contrast(text.get_color(), cell) >= 4.5
    assert {text.get_color() for text in ax.texts} == {"#000000", "#ffffff"}


@pytest.mark.parametrize("below_zero", [False, True])
def test_the_colours_read_in_grey_and_ink_reads_on_each(below_zero):
    around = [scales.DIVERGING(i / 510) for i in range(511)]
    colours = around[255::-1] if below_zero else [scales.COLOUR_MAP(i) for i in range(256)]
    luminances = [relative_luminance(colour) for colour in colours]
    assert all(a > b for a, b in pairwise(luminances))
    assert luminances[0] > 0.9 and luminances[-1] < 0.06
    assert all(contrast(scales.ink(colour), colour) >= 4.5 for colour in [*colours, scales.COLOUR_MAP(np.nan)])
    greys = [(level / 255,) * 3 for level in range(256)]
    assert all(contrast(scales.ink(grey), grey) >= 4.5 for grey in greys)
    assert np.allclose(around[255:], [scales.COLOUR_MAP(i / 255) for i in range(256)], atol=0.02)  # one blue for both


def test_masks_are_drawn_with_words(drawn):
    show.heat_map(torch.ones(3, 3).tril().bool(), WORDS[:3], WORDS[:3], title="Causal")
    fig, alt = drawn[0]
    assert cell_texts(fig) == [["may", "", "", "may", "may", "", "may", "may", "may"]]
    assert '"the": "the"; "sky": "the", "sky"; "is"' in alt
    show.heat_map(torch.zeros(1, 3).bool(), ["the"], WORDS[:3])
    assert cell_texts(drawn[1][0]) == [[""] * 3]
    assert '"the": none' in drawn[1][1]


def test_alt_text_says_what_a_reader_sees(drawn):
    show.heat_map(WEIGHTS, WORDS, WORDS, title="Weights")
    assert drawn[0][1] == (
        "Heat map, 4 by 4; rows: query (looks), columns: key (is looked at). Weights, largest in each row: "
        '"the": "the" (0.90); "sky": "sky" (0.50); "is": "the", "is" (0.50); "blue": "blue" (0.40).'
    )
    big = torch.zeros(20, 20)
    big[3, 7] = 1
    show.heat_map(big, range(20), range(20), row_label="position", column_label="dimension")
    assert drawn[1][1] == 'Heat map, 20 by 20; rows: position, columns: dimension. largest of all: "3": "7" (1.00).'
    show.heat_map(WEIGHTS, WORDS, WORDS, alt="my own words")
    assert drawn[2][1] == "my own words"


def test_nan_and_infinity_are_said_in_words(drawn):
    values = [[float("nan"), float("-inf")], [1.0, float("inf")]]
    show.heat_map(values, ["a", "b"], ["a", "b"])
    fig, alt = drawn[0]
    assert cell_texts(fig) == [["NaN", "-inf", "1.00", "inf"]]
    assert {text.get_color() for text in fig.axes[0].texts[:2]} == {"#000000"}
    assert '"a": none; "b": "a" (1.00)' in alt
    for words in ("not a number", "minus infinity", "infinity"):
        assert f"1 of 4 values: {words}" in alt
    large = torch.zeros(11, 11)
    large[2, 3] = float("nan")
    show.heat_map(large, range(11), range(11))
    assert cell_texts(drawn[1][0])[0] == ["x"]  # not by colour alone


def test_minus_zero_is_printed_nowhere(drawn):
    tiny = torch.full((3, 3), -1e-6)
    show.heat_map(tiny, WORDS[:3], WORDS[:3])
    fig, alt = drawn[0]
    table = show.matrix(tiny)
    assert "-0.00" not in str(cell_texts(fig)) + alt + repr(table) + table._repr_html_()


def test_heat_maps_share_one_scale(drawn):
    show.heat_maps(torch.stack([WEIGHTS, 3 * WEIGHTS]), ["one", "three"], WORDS, WORDS)
    fig, alt = drawn[0]
    assert [ax.images[0].get_clim() for ax in fig.axes[:2]] == [pytest.approx((0, 2.7))] * 2
    assert [ax.get_title() for ax in fig.axes[:2]] == ["one", "three"]
    assert "2 heat maps" in alt and "one, largest" in alt and "three, largest" in alt


@pytest.mark.parametrize(
    ("values", "ends", "clim", "bar"),
    [
        (WEIGHTS, {}, (0, 1), None),
        (WEIGHTS / 10, {}, (0, 1), None),
        (WEIGHTS * 1.0000005 / 0.9, {}, (0, 1), None),  # a softmax in float32
        (torch.zeros(4, 4), {}, (0, 1), None),
        (WEIGHTS * 4, {}, (0, 3.6), ["0.00", "0.90", "1.80", "2.70", "3.60"]),
        (WEIGHTS - 0.5, {}, (-1, 1), ["-1.00", "-0.50", "0.00", "0.50", "1.00"]),
        (4 - 10 * WEIGHTS, {}, (-5, 5), ["-5.00", "-2.50", "0.00", "2.50", "5.00"]),
        (WEIGHTS, {"vmax": 0.5}, (0, 0.5), ["0.00", "0.12", "0.25", "0.38", "0.50"]),
        (WEIGHTS, {"vmin": 0.9}, (0.9, 1), ["0.9000", "0.9250", "0.9500", "0.9750", "1.0000"]),
        (WEIGHTS - 0.5, {"vmax": 2}, (-2, 2), ["-2.00", "-1.00", "0.00", "1.00", "2.00"]),
        (WEIGHTS, {"vmin": -1}, (-1, 1), ["-1.00", "-0.50", "0.00", "0.50", "1.00"]),
        (torch.full((4, 4), torch.nan), {}, (0, 1), None),
    ],
)
def test_a_scale_is_of_weights_or_its_bar_says_otherwise(values, ends, clim, bar, drawn):
    show.heat_map(values, WORDS, WORDS, **ends)
    fig, alt = drawn[0]
    assert fig.axes[0].images[0].get_clim() == pytest.approx(clim)
    labels = [label.get_text() for label in fig.axes[1].get_yticklabels()] if len(fig.axes) == 2 else None
    assert labels == bar
    assert ("Colours from" in alt) == (bar is not None) and ("white is 0" in alt) == (clim[0] < 0)
    middle = fig.axes[0].images[0].cmap(fig.axes[0].images[0].norm(0))
    assert clim[0] > 0 or relative_luminance(middle[:3]) > 0.99  # 0 is white wherever it is on the scale


def test_a_bar_points_to_what_lies_beyond_it(drawn):
    for vmax, extend in [(0.5, "max"), (1, "neither")]:
        show.heat_map(torch.rand(12, 12).clamp(max=0.9) + 0.01, range(12), range(12), vmax=vmax)
        assert drawn[-1][0].axes[0].images[0].get_clim() == (0, vmax)
        assert drawn[-1][0].axes[1]._colorbar.extend == extend


def test_the_grid_of_many_names_its_edges_only(drawn):
    show.heat_maps(torch.rand(5, 4, 4), list("abcde"), WORDS, WORDS)
    axes = drawn[0][0].axes
    named = [(len(ax.get_yticks()) > 0, len(ax.get_xticks()) > 0) for ax in axes[:5]]
    assert named == [(True, False), (False, False), (False, True), (True, True), (False, True)]
    assert [ax.axison for ax in axes[:6]] == [True] * 5 + [False]
    for n, size in [(3, 8), (2, 10), (3, 40), (2, 128)]:  # what is compared never goes below
        show.heat_maps(torch.rand(n, size, size), list("abc")[:n], range(size), range(size))
        assert len({ax.get_subplotspec().rowspan.start for ax in drawn[-1][0].axes[:n]}) == 1


def test_long_words_are_turned_and_strange_ones_drawn_as_they_are(pictures, drawn, monkeypatch):
    show.heat_map(WEIGHTS, WORDS, ["mississippi", r"$\frac$", "你好", "a_b"])
    assert {label.get_rotation() for label in drawn[0][0].axes[0].get_xticklabels()} == {45}
    show.heat_map(WEIGHTS, WORDS, WORDS)
    assert {label.get_rotation() for label in drawn[1][0].axes[0].get_xticklabels()} == {0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures.figure(*drawn[0])


def test_columns_never_overlap(drawn):
    tokens = ["[CLS]", "after", "stealing", "money", "from", "the", "bank", "mississippi", ",", "."] * 2
    show.heat_maps(torch.rand(12, 20, 20), list("abcdefghijkl"), tokens, tokens)
    show.heat_map(torch.rand(4, 6), WORDS, tokens[:6])
    show.heat_map(torch.rand(64, 64), range(64), range(64))
    show.heat_maps(torch.rand(3, 40, 40), list("abc"), range(40), range(40))
    for fig, _ in drawn:
        fig.canvas.draw()
        for ax in fig.axes:
            if ax.images and ax.get_xticklabels() and ax.get_xticklabels()[0].get_rotation() != 45:
                boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
                assert all(a.x1 <= b.x0 + 1 for a, b in pairwise(boxes))


def test_pictures_are_small(pictures):
    torch.manual_seed(0)
    show.heat_map(torch.rand(10, 10), range(10), range(10))
    show.heat_map(torch.softmax(2 * torch.randn(22, 22), -1), range(22), range(22))
    show.heat_maps(torch.rand(4, 4, 4), list("abcd"), WORDS, WORDS)
    assert all(len(picture.png) < 60_000 for picture in pictures)


@pytest.mark.parametrize("function", [show.heat_map, show.heat_maps])
def test_the_keywords_of_heat_maps_stand_once_and_are_seen_everywhere(function, drawn):
    described = inspect.getdoc(function).partition("By keyword:")[2].partition("Raises:")[0]
    names = ", ".join(re.findall(r"^([a-z_, ]+):", described, re.MULTILINE)).split(", ")
    keywords = [name for name, part in inspect.signature(function).parameters.items() if part.kind is part.KEYWORD_ONLY]
    assert names == keywords and "mask" in names


def test_keywords_are_drawn_and_told(drawn):
    show.heat_map(WEIGHTS, WORDS, WORDS, digits=1, row_label="from", column_label="to", vmin=-2, vmax=2)
    ((fig, alt),) = drawn
    ax, _ = fig.axes
    assert (ax.get_ylabel(), ax.get_xlabel(), ax.images[0].get_clim()) == ("from", "to", (-2, 2))
    assert "rows: from, columns: to." in alt and cell_texts(fig)[0][:3] == ["0.9", "0.1", "0"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: show.heat_map(WEIGHTS, WORDS[:3], WORDS), ValueError, "rows has 3 names, but values has 4 rows"),
        (lambda: show.heat_map(WEIGHTS, WORDS, WORDS * 2), ValueError, "columns has 8 names"),
        (lambda: show.heat_map(WEIGHTS[None], WORDS, WORDS), ValueError, "one or two axes"),
        (lambda: show.heat_map([["a"]], ["a"], ["a"]), TypeError, "values must be numbers, got str"),
        (lambda: show.heat_map(WEIGHTS, WORDS, WORDS, vmin=1, vmax=0), ValueError, "vmin must be less than vmax"),
        (lambda: show.heat_map(WEIGHTS, WORDS, WORDS, alt="short"), ValueError, "alt must say"),
        (lambda: show.heat_maps([WEIGHTS], ["a", "b"], WORDS, WORDS), ValueError, "got 2 titles for 1 matrices"),
        (lambda: show.heat_maps([], [], WORDS, WORDS), ValueError, "titles must name each matrix"),
        (lambda: show.heat_map(WEIGHTS, WORDS, WORDS, vmin=-1, vmax=2), ValueError, "vmin .* opposite of vmax"),
        (lambda: show.heat_map(WEIGHTS, WORDS, WORDS, vmin=float("nan")), ValueError, "vmin must be less than vmax"),
        (lambda: show.heat_map(WEIGHTS, WORDS, WORDS, hue=1), TypeError, "unexpected keyword argument 'hue'"),
        (lambda: show.heat_maps([WEIGHTS], ["a"], WORDS, WORDS, title=""), TypeError, "keyword argument 'title'"),
        (lambda: show.heat_maps([WEIGHTS, WEIGHTS[:3]], ["a", "b"], WORDS, WORDS), ValueError, "rows has 4 names"),
    ],
)
def test_heat_map_errors(call, error, message, pictures):
    with pytest.raises(error, match=message):
        call()
    assert pictures == []


# From outside


def test_reference_modules_need_no_pictures_and_show_no_bertviz():
    code = (
        "import sys, course_utils.bert; "
        "assert not {'matplotlib', 'bertviz', 'IPython', 'transformers'} & set(sys.modules); "
        "import lesson_kit.show; assert not {'bertviz', 'transformers', 'mpld3'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


def test_in_a_notebook_each_figure_comes_once_with_its_text(monkeypatch):
    monkeypatch.setenv("COURSE_INTERACTIVE", "1")
    cells = [
        "import torch\nfrom lesson_kit import show",
        "show.heat_map([[0.25, 0.75]], ['the'], ['sky', '蓝'])",
        "fig, ax = show.subplots()\nax.plot([1, 2])\nshow.figure(fig, 'A straight line that rises from one to two.')",
        "show.head_view(torch.full((1, 2, 2, 2), 0.5), ['the', 'sky'])",
        "show.matrix([1.0, -0.0], columns=['a', 'b'])",
        "for words in ('is blue', 'the sky'):\n    display(show.head_view(torch.full((1, 2, 2), 0.5), words.split()))",
        "view = show.model_view(torch.full((1, 2, 2, 2), 0.5), ['the', 'sky'])",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(Path(__file__).parents[2])}}).execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert [[output.output_type for output in cell] for cell in outputs] == [
        [],
        ["display_data", "display_data"],
        ["display_data", "display_data"],
        ["display_data"],
        ["execute_result"],
        ["display_data"] * 2,
        [],
    ]
    assert outputs[1][0].metadata["image/png"]["alt"].startswith("Heat map, 1 by 2")
    assert outputs[2][0].metadata["image/png"]["alt"] == "A straight line that rises from one to two."
    below = outputs[2][1].data
    assert list(below) == ["text/html"]
    assert re.search(
        "<details><summary>.*words</summary><p>A straight line that .* two.</p></details>", below["text/html"]
    )
    assert outputs[3][0].metadata["image/png"]["alt"].startswith("2 heat maps, 2 by 2")
    assert "sky attends 0.50 to the, 0.50 to sky" in outputs[3][0].data["text/plain"]
    assert outputs[3][0].data["text/html"].startswith("<div><iframe") and "image/png" in outputs[3][0].data
    assert "<table" in outputs[4][0].data["text/html"]
