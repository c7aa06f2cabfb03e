"""Who can't see the figures, the colours or the mouse pointer: can they follow every lesson?

Every colour's contrast is computed; the notebooks are read for what a program can tell about their words. That
axe-core finds nothing on any page of the web site, tests/tools/test_site.py sees to.
"""

import ast
import re
from itertools import combinations
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib.colors import is_color_like, to_hex

from lesson_kit import colours, show
from lesson_kit.show.scales import ink

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = {path.stem: nbformat.read(path, as_version=4) for path in LESSONS}
lessons = pytest.mark.parametrize("name", NOTEBOOKS)

# --- contrast: each colour, what it stands on, and what WCAG's level AA asks -------------------

TEXT, GRAPHICS = 4.5, 3
WHITE, JUPYTER_DARK = "#ffffff", "#111111"
BLOCKS = (colours.ATTENTION, colours.FEED_FORWARD, colours.NORM, colours.EMBEDDING, colours.HEAD)
ROLES = (colours.QUERY, colours.KEY, colours.VALUE, colours.OUTPUT, colours.WEIGHT)
WRITTEN_OUT = [  # slides and worksheets: always light; the darkest ground that each stands on
    *((colour, "#efefef", TEXT) for colour in ("#1a1a1a", "#0b3d70", "#0b5394", "#555555")),
    *((code, "#f3f3f3", TEXT) for code in ("#0b4a8f", "#8a1f11", "#4b5d4b", "#6b3a00", "#4b2a7b")),
    ("#1a1a1a", "#f6f6f6", TEXT),
    ("#767676", WHITE, GRAPHICS),
    ("#4d4d4d", WHITE, TEXT),
]  # fmt: skip
USES = [
    (colours.INK, colours.PAPER, TEXT),
    (colours.INK, colours.MISSING, TEXT),
    (colours.FRAME, colours.PAPER, GRAPHICS),
    (colours.HATCH, colours.PAPER, GRAPHICS),
    *((strongest, colours.PAPER, TEXT) for strongest in (colours.ABOVE[-1], colours.BELOW[-1])),
    *((colours.darkened(line, colours.PAPER, TEXT), colours.PAPER, TEXT) for line in colours.LINES),
    *((line, colours.PAPER, GRAPHICS) for line in colours.LINES),
    *((bar, ground, GRAPHICS) for bar in (colours.PASSED, colours.NOT_ATTEMPTED, colours.NOT_YET_RIGHT)
      for ground in (WHITE, JUPYTER_DARK)),
    *((word[theme], on[theme], TEXT) for word in (colours.TEXT, colours.LINK, colours.QUIET, colours.KEY)
      for on in (colours.GROUND, colours.SOFT, colours.TINT) for theme in (0, 1)),
    *((colours.TEXT[theme], colours.CODE_GROUND[theme], TEXT) for theme in (0, 1)),
    *((colours.BORDER[theme], on[theme], GRAPHICS) for theme in (0, 1)
      for on in (colours.GROUND, colours.CODE_GROUND, colours.SOFT, colours.TINT)),
    *((pair[theme], colours.CODE_GROUND[theme], TEXT) for pair in colours.CODE.values() for theme in (0, 1)),
    *((role[theme], on[theme], TEXT)
      for role in ROLES for on in (colours.GROUND, colours.CODE_GROUND) for theme in (0, 1)),
    # diagrams: an edge on the ground, words on a tinted box, and what is faded
    *((block[theme], colours.GROUND[theme], TEXT) for block in BLOCKS for theme in (0, 1)),
    *((colours.TEXT[theme], colours.tint(hue)[theme], TEXT) for hue in (*ROLES, *BLOCKS) for theme in (0, 1)),
    *((colours.BORDER[theme], colours.GROUND[theme], TEXT) for theme in (0, 1)),
    *((word[theme], colours.GROUND[theme], TEXT)
      for word in (colours.GOOD, colours.BAD, colours.QUIET) for theme in (0, 1)),
    *((written, bar, TEXT) for bar, written in colours.BARS.values()),
    (colours.EDGE, colours.PAPER, GRAPHICS),
    *WRITTEN_OUT,
    # heat maps: each shade with the number in it
    *((ink(shade), shade, TEXT) for shade in (*colours.ABOVE, *colours.BELOW)),
    # moving pictures: a number on the strongest weight
    *((colours.TEXT[theme], colours.tint(colours.WEIGHT, 0.4)[theme], TEXT) for theme in (0, 1)),
]  # fmt: skip
# Lines that say nothing which is not said.
DECORATION = {*colours.HAIRLINE, colours.GRID, colours.BETWEEN_CELLS, "#d0d0d0", "#999999"}
BERTVIZ = {"#0c36d8", "#478be8", "#ff6318"}  # its own colours, which lesson_kit/show/neurons.py puts ours in place of
SOURCES = ("course_utils", "lesson_kit", "classroom", "tools")


@pytest.mark.parametrize("colour, ground, least", USES)
def test_every_colour_can_be_told_from_what_it_stands_on(colour, ground, least):
    assert colours.contrast(colour, ground) >= least


def test_darkened_is_the_colour_itself_where_that_will_do():
    assert colours.darkened("#000000", colours.PAPER, TEXT) == "#000000"
    assert colours.contrast(colours.darkened("#009E73", colours.PAPER, TEXT), colours.PAPER) < 4.7
    with pytest.raises(ValueError, match="ground #333333 is too dark for a contrast of 4.5"):
        colours.darkened("#777777", "#333333", TEXT)


# What colour-blind readers see, from linear red, green and blue (Machado, Oliveira and Fernandes, 2009, severity 1).
AS_SEEN = {
    "everyone": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def lab(colour: str, seen: list) -> np.ndarray:
    """CIELAB, in which a distance of 2.3 can just be seen."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ (np.array(seen) @ linear).clip(0, 1) / [0.9505, 1, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eyes", AS_SEEN)
def test_query_key_value_output_and_weight_are_five_colours_to_all_eyes(eyes):
    for theme in (0, 1):
        for one, other in combinations([role[theme] for role in ROLES], 2):
            apart = np.linalg.norm(lab(one, AS_SEEN[eyes]) - lab(other, AS_SEEN[eyes]))
            assert apart > 14, f"{one} and {other}: {apart:.1f}"
    red_green = [lab(colour, AS_SEEN["deuteranopia"]) for colour in ("#a05a00", "#5a7800")]
    assert np.linalg.norm(red_green[0] - red_green[1]) < 14  # the measure sees what colour-blind readers don't


def test_contrast_is_wcags():
    assert colours.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert colours.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # the well-known near miss
    assert (
        colours.contrast("#ff0000", "#ffffff")
        == colours.contrast((1, 1, 1), (1, 0, 0))
        == pytest.approx(4.0, abs=0.005)
    )


def literals(source: str, is_python: bool) -> set[str]:
    """The colours that a source file names: #hex and rgb(1, 2, 3) anywhere, words where a colour is expected."""
    found = set(re.findall(r"(?<![&\w])#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b", source))
    found |= set(re.findall(r"(?:color|background|fill|stroke|border[\w-]*|outline):\s*(?:[\w.]+ )*([a-z]+)\b", source))
    found |= set(re.findall(r"""(?:color|background|fill|stroke)(?:Style)?['"]?\s*[=:,]\s*['"]([a-z]+)['"]""", source))
    if is_python:
        found |= {value for _, value, _ in colour_arguments(ast.parse(source))}
    mixed = set(re.findall(r"\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(\s*[\d.][^)]*\)", source))
    return mixed | {to_hex(colour).lower() for colour in found if colour != "none" and is_color_like(colour)}


def named_colours() -> dict[str, set[str]]:
    """For each file that names colours of its own, from the repository's root: which."""
    files = [path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.*"))]
    files = [path for path in files if path.suffix in (".py", ".css", ".js", ".html", ".j2", ".jinja", ".svg")]
    named = {path: literals(path.read_text(encoding="utf-8"), path.suffix == ".py") for path in files}
    return {path.relative_to(ROOT).as_posix(): found for path, found in named.items() if found}


def colour_arguments(tree: ast.AST):
    """Each string given as ``...color...=`` or under such a key: the name, the string, and all names beside it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            named = [(keyword.arg or "", keyword.value) for keyword in node.keywords]
        elif isinstance(node, ast.Dict):
            named = [(getattr(key, "value", ""), value) for key, value in zip(node.keys, node.values, strict=True)]
        else:
            continue
        beside = {name for name, _ in named}
        for name, value in named:
            if isinstance(name, str) and re.search(r"colou?r|^[ef]c$", name) and "colorbar" not in name:
                for constant in ast.walk(value):
                    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                        yield name, constant.value, beside


def test_no_colour_is_left_untested():
    tested = {to_hex(colour) for use in USES for colour in use[:2]} | {*DECORATION, *BERTVIZ}
    named = named_colours()
    for path, found in named.items():
        assert found <= tested, f"{path}: give each of these a line in USES: {sorted(found - tested)}"
    for path in ("lesson_kit/colours.py", "classroom/printing/slides.css", "tools/site/theme/static/icon.svg"):
        assert len(named[path]) > 4, f"{path} has colours: they were not looked at"


def test_no_colour_is_tested_that_nothing_has():
    named = set().union(*named_colours().values())
    assert {colour for use in WRITTEN_OUT for colour in use[:2]} <= named


def test_an_untested_colour_would_be_found():
    assert literals('ax.plot(x, color="0.6"); box = {"edgecolor": "tomato"}', True) == {"#999999", "#ff6347"}
    assert literals("a { color: #ABC; border: 1px solid gold } b { background: none }", False) == {"#aabbcc", "#ffd700"}
    assert literals('words = ["blue", "sky"]', True) == set()
    assert literals('<path fill="none" stroke="gold"/>', False) == {"#ffd700"}
    assert literals("mark.setAttribute('fill', 'tomato'); brush.fillStyle = 'gold'", False) == {"#ff6347", "#ffd700"}
    assert literals("a { stroke: gold; color: rgb(1 2 3) } to_rgba([1])", False) == {"#ffd700", "rgb(1 2 3)"}


@lessons
def test_the_colours_of_a_lessons_own_figures_can_be_seen(name):
    """On white, whatever has no edge or hatching of its own."""
    for cell in NOTEBOOKS[name].cells:
        if cell.cell_type != "code" or cell.source.lstrip().startswith(("%", "!")) or "%pip" in cell.source:
            continue
        for argument, value, beside in colour_arguments(ast.parse(cell.source)):
            filled = argument.startswith(("fc", "face")) and beside & {"ec", "edgecolor", "hatch"}
            if value in ("none", "white") or filled or not is_color_like(value):
                continue
            number = re.fullmatch(r"C(\d)", value)
            colour = colours.LINES[int(number[1]) % len(colours.LINES)] if number else to_hex(value)
            assert colours.contrast(colour, WHITE) >= GRAPHICS, f"{value} is too faint: {cell.source}"


# --- words: alternative texts, tables, links ---------------------------------------------------


def figures(name: str):
    for place, cell in enumerate(NOTEBOOKS[name].cells):
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                yield place, output.metadata.get("image/png", {}).get("alt", "")


@lessons
def test_every_alternative_text_says_what_is_seen(name):
    alts = [alt for _, alt in figures(name)]
    assert len(set(alts)) == len(alts), "two figures have the same text"
    for alt in alts:
        assert 60 <= len(alt) <= 800 and alt.endswith("."), alt
        assert not re.match(r"(an? |the )?(figure|image|picture|plot|graphic)\b", alt, flags=re.IGNORECASE), alt


@lessons
def test_every_figure_has_words_near_it(name):
    cells = NOTEBOOKS[name].cells
    for place, alt in figures(name):
        near = [cell.source for cell in cells[max(place - 3, 0) : place + 4] if cell.cell_type == "markdown"]
        paragraphs = [line for source in near for line in source.splitlines() if not line.startswith(("#", "|", "<"))]
        assert any(len(line.split()) >= 6 for line in paragraphs), f"no sentence near the figure: {alt}"


def tables(html: str) -> list[str]:
    return re.findall(r"<table.*?</table>", html, flags=re.DOTALL)


def expect_headers(table: str) -> None:
    headers = re.findall(r"<th\b[^>]*>(.*?)</th>", table, flags=re.DOTALL)
    assert headers, f"a table without headers: {table[:300]}"
    assert all(header.strip() for header in headers), f"an empty header: {table[:300]}"
    assert len(re.findall(r'<th scope="(?:col|row)(?:group)?"', table)) == len(headers), (
        f"headers of what? {table[:300]}"
    )


@lessons
def test_every_table_has_headers(name):
    for cell in NOTEBOOKS[name].cells:
        for output in cell.get("outputs", []):
            for table in tables(output.get("data", {}).get("text/html", "")):
                expect_headers(table)
        if cell.cell_type == "markdown":
            for head in re.findall(r"^(\|.*)\n\|[-: |]+\|$", cell.source, flags=re.MULTILINE):
                assert all(word.strip() for word in re.split(r"(?<!\\)\|", head)[1:-1]), f"an empty header: {head}"


def test_a_table_names_its_rows_its_columns_and_itself():
    html = show.matrix([[1, 2]], ["a"], ["b", "c"], "A title")._repr_html_()
    expect_headers(html)
    assert re.findall(r'scope="(\w+)"', html) == ["col", "col", "row"] and "A title</caption>" in html


@lessons
def test_links_say_where_they_lead(name):
    for cell in NOTEBOOKS[name].cells:
        leads = {}
        for words, target in (
            re.findall(r"(?<!!)\[([^\]\[]+)\]\(([^)]+)\)", cell.source) if cell.cell_type == "markdown" else ()
        ):
            assert words.strip().lower() not in ("here", "this", "link", "click here", "this page", "read more")
            assert leads.setdefault(words, target) == target, f"[{words}] leads to two places in one cell"
