"""The diagrams: their parts, their numbers, their words, bad input, and how they look in a real browser."""

import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import nbformat
import pytest
import torch

from course_utils import scaled_dot_product_attention
from lesson_kit import colours, examples, show
from lesson_kit.show import diagram
from lesson_kit.show.diagram.display import RULES

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<script>alert(1)</script>", "&amp;", "\"'>", "שלום", "天空是蓝色的", "\x00\ud800\u202eabc"]


def step(**changes):
    return diagram.attention_step(**vars(examples.two_tokens()) | changes)


def sky(**changes):
    given = {name: value for name, value in vars(examples.sky_is_blue()).items() if name != "published_weights"}
    return diagram.attention_step(**given | changes)


def many(n, **changes):
    torch.manual_seed(n)
    return diagram.attention_step(
        query=torch.randn(n, 5), key=torch.randn(n, 5), value=99 * torch.randn(n, 7), **changes
    )


ALL = {
    "attention_step": step,
    "attention_step of four": lambda **more: sky(row=1, **more),
    "attention_step of 200": lambda **more: many(200, row=77, **more),
    "attention_step of one": lambda **more: many(1, **more),
    "multi_head": diagram.multi_head,
    "multi_head of four": lambda **more: diagram.multi_head(4, **more),
    "encoder_layer": diagram.encoder_layer,
    "encoder_layer, pre-norm": lambda **more: diagram.encoder_layer("pre-norm", **more),
    "encoder_layer, both": lambda **more: diagram.encoder_layer("post-norm", "pre-norm", **more),
    "decoder_layer": diagram.decoder_layer,
    "decoder_layer, pre-norm": lambda **more: diagram.decoder_layer("pre-norm", **more),
    "stack": diagram.stack,
    "stack of one token": lambda **more: diagram.stack(["one"], n_layers=1, **more),
    "stack of hostile tokens": lambda **more: diagram.stack(HOSTILE, n_layers=3, **more),
    "bert": diagram.bert,
    "bert of 200": lambda **more: diagram.bert([f"token{i}" for i in range(200)], **more),
    "transformer": diagram.transformer,
    "gpt_and_bert": diagram.gpt_and_bert,
}
every = pytest.mark.parametrize("name", ALL)


def parse(drawn) -> ElementTree.Element:
    return ElementTree.fromstring(drawn.svg)


def texts(drawn) -> list[str]:
    return [" ".join("".join(text.itertext()).split()) for text in parse(drawn).iter(f"{SVG}text")]


def groups(drawn) -> list[tuple[list[str], str]]:
    """Of each group: the parts it belongs to, and its class."""
    return [(g.get("data-part", "").split(), g.get("class", "")) for g in parse(drawn).iter(f"{SVG}g")]


# --- what every diagram has --------------------------------------------------------------------


@every
def test_has_a_title_words_and_every_part_it_names(name):
    drawn = ALL[name]()
    root = parse(drawn)
    assert root.get("role") == "img" and root.get("class") == "course-diagram"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert root[0].text == drawn.title and root[1].text == drawn.words
    assert 60 <= len(drawn.words) <= 800 and drawn.words.endswith(".") and len(drawn.parts) >= 4
    assert {part for parts, _ in groups(drawn) for part in parts} >= {*drawn.parts} - {"masked-word-head"}
    html = drawn._repr_html_()
    assert html.count("<details><summary>This figure in words</summary>") == 1
    assert repr(drawn) == f"[diagram: {drawn.words}]"


@every
def test_each_part_can_be_highlighted_and_fades_all_others(name):
    for part in ALL[name]().parts:
        lit = groups(ALL[name](highlight=part))
        assert all(state == ("on" if part in parts else "off" if parts else "") for parts, state in lit)
    assert {state for _, state in groups(ALL[name]())} == {""}
    first, last = ALL[name]().parts[0], ALL[name]().parts[-1]
    drawn = ALL[name](highlight=[first, last])
    assert all((state == "on") == bool({first, last} & {*parts}) for parts, state in groups(drawn))
    assert sum(not parts for parts, _ in groups(drawn)) <= 2  # only the titles of two wirings belong to no part
    assert drawn.words.endswith(f"Highlighted: {first}, {last}.")


@every
def test_an_unknown_part_is_refused_with_a_list_of_the_parts(name):
    parts = ALL[name]().parts
    with pytest.raises(
        ValueError, match=f"^highlight must name parts of this diagram: {', '.join(parts)}; got 'soul'$"
    ):
        ALL[name](highlight="soul")


@every
def test_is_small_the_same_each_time_and_holds_nothing_that_runs_or_loads(name):
    html = ALL[name]()._repr_html_()
    assert html == ALL[name]()._repr_html_()
    assert len(html.encode("utf-8")) < 25_000
    live = re.sub(r'<img class="course-still".*?">', "", html, flags=re.DOTALL)
    assert live != html
    still = re.search(r'src="data:image/svg\+xml,([^"]*)"', html)[1]
    shapes = [[e.tag for e in ElementTree.fromstring(svg).iter()] for svg in (unquote(still), ALL[name]().svg)]
    assert "#" not in still and shapes[0] == shapes[1][:1] + shapes[1][3:], "the still picture is the live one"
    assert not re.search(r"<script|<iframe|<foreignObject|<use|<a\b|href|url\(|@import|\bon\w+=|\bid=", live)


TIP = re.compile(r"([-\d]+) ([-\d]+)m-?\d+ -?\d+l-?\d+ -?\d+l-?\d+ -?\d+$")


@every
def test_every_arrow_ends_at_a_box_a_circle_or_a_word(name):
    root, count = parse(ALL[name]()), 0
    ends = [tuple(float(r.get(k)) for k in ("x", "y", "width", "height")) for r in root.iter(f"{SVG}rect")]
    for circle in root.iter(f"{SVG}circle"):
        x, y, r = (float(circle.get(k)) for k in ("cx", "cy", "r"))
        ends.append((x - r, y - r, 2 * r, 2 * r))
    words = [(float(t.get("x")), float(t.get("y"))) for t in root.iter(f"{SVG}text") if t.get("x")]
    for path in root.iter(f"{SVG}path"):
        if tip := TIP.search(path.get("d")):
            x, y, count = float(tip[1]), float(tip[2]), count + 1
            at_edge = any(
                left - 2 <= x <= left + wide + 2 and top - 2 <= y <= top + high + 2
                and min(abs(x - left), abs(x - left - wide), abs(y - top), abs(y - top - high)) <= 2
                for left, top, wide, high in ends
            )  # fmt: skip
            assert at_edge or any(abs(y - words_y) <= 16 and abs(x - words_x) <= 180 for words_x, words_y in words)
    assert count >= 4


# --- what each one shows -----------------------------------------------------------------------


def test_the_attention_step_shows_the_numbers_that_course_utils_computes():
    two = examples.two_tokens()
    shown = texts(step())
    output, weights = scaled_dot_product_attention(two.x @ two.w_q, two.x @ two.w_k, two.x @ two.w_v)
    scaled = (two.x @ two.w_q) @ (two.x @ two.w_k).T / 2**0.5
    for rows, digits in ((two.x @ two.w_q, 0), (scaled, 2), (weights, 2), (output, 2)):
        for row in rows.tolist():
            assert " ".join(show.number(value, digits) for value in row) in shown
    assert {"x", "Q", "K", "V", "scores", "scaled", "weights", "output", "÷ √d_head = ÷ 1.41"} <= {*shown}
    assert shown.count("(2, 2)") == 8
    assert "x1 gives its largest weight, 0.67, to x2." in step().words


def test_the_attention_step_takes_lists_and_ready_queries_and_tells_wide_matrices_by_their_ends():
    lists = step(**{name: getattr(examples.two_tokens(), name).tolist() for name in ("x", "w_q", "w_k", "w_v")})
    assert lists.svg == step().svg
    ready = many(2)
    assert "x" not in ready.parts and "x" not in texts(ready) and "(2, 5)" in texts(ready)
    shown = texts(sky())
    assert {"(4, 512)", "(4, 64)", "(4, 4)", "⋯"} <= {*shown} and "1.26 7.99" in shown
    assert texts(many(200)).count("⋮") == 7 and "row 199" in " ".join(texts(many(200, row=199)))


def test_the_row_of_one_token_is_outlined_all_the_way_up():
    def outlined(drawn):
        root = parse(drawn)
        return [
            g.get("data-part") for g in root.iter(f"{SVG}g") for r in g.iter(f"{SVG}rect") if r.get("class") == "q r"
        ]

    assert outlined(step()) == []
    assert outlined(step(row=1)) == ["x", "query", "scores", "scaled", "weights", "output"]
    assert outlined(many(200, row=77)) == ["query", "scores", "scaled", "weights", "output"]


def test_the_wirings_differ_in_where_the_norms_stand():
    """On the residual path in post-norm, beside it in pre-norm."""
    for wiring, beside in (("post-norm", 0), ("pre-norm", 2)):
        root = parse(diagram.encoder_layer(wiring))
        norms = [float(r.get("x")) for r in root.iter(f"{SVG}rect") if r.get("class") == "norm"]
        path = min(float(c.get("cx")) for c in root.iter(f"{SVG}circle"))
        assert sum(x > path for x in norms) == beside and len(norms) == 2
    assert [text for text in texts(diagram.encoder_layer("post-norm", "pre-norm")) if "Sublayer" in text] == [
        "LayerNorm(x + Sublayer(x))",
        "x + Sublayer(LayerNorm(x))",
    ]


def test_the_others_name_what_they_are_made_of():
    assert [t for t in texts(diagram.multi_head(4)) if t.startswith("head")] == [f"head {i}" for i in range(4)]
    assert {"hidden_states[0]", "hidden_states[12]", "layer 11"} <= {*texts(diagram.stack(n_layers=12))}
    assert "hidden_states[2]" in texts(diagram.stack(n_layers=2)) and "⋮" not in texts(diagram.stack(n_layers=2))
    assert {"[MASK]", "word", "position", "segment", "Pooler", "Masked-word head"} <= {*texts(diagram.bert())}
    assert "Masked-word head" not in texts(diagram.bert(["no", "gap"]))
    assert {"Encoder, × 2", "Decoder, × 2", "memory", "k", "v", "Softmax"} <= {*texts(diagram.transformer(n_layers=2))}
    assert {"BERT", "GPT", "final norm", "× 24 layers"} <= {*texts(diagram.gpt_and_bert(n_layers=24))}


def test_tokens_are_text_and_nothing_else():
    drawn = diagram.stack(HOSTILE)
    assert {"<s…", "&a…", "\"'>", "שלום", "天…"} <= {*texts(drawn)}
    assert any("�" in text for text in texts(drawn))
    named = step(tokens=["<b>&", "ב"])
    assert {"<b>&", "ב"} <= {*texts(named)} and named.words.endswith("<b>& gives its largest weight, 0.67, to ב.")
    for html in (drawn._repr_html_(), named._repr_html_(), step(tokens=[HOSTILE[0], HOSTILE[5]])._repr_html_()):
        assert not re.search("<script|<b>|\x00|\ud800|\u202e", html)


def test_the_lessons_store_diagrams_in_the_present_style():
    found = 0
    for path in sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                html = output.get("data", {}).get("text/html", "")
                if "course-diagram" in html:
                    assert RULES in html and len(html.encode("utf-8")) < 25_000, f"run {path.name} again"
                    ElementTree.fromstring(html[html.index("<svg") : html.index("</svg>", html.index("<svg")) + 6])
                    assert output.data["text/plain"].startswith("[diagram: ") and "show.diagram." in cell.source
                    found += 1
    assert found >= 10


# --- bad input ---------------------------------------------------------------------------------

NAN = torch.tensor([[1.0, float("nan")], [0.0, 1.0]])


@pytest.mark.parametrize(
    "wrong, error, message",
    [
        ({"x": NAN}, ValueError, "x holds NaN or infinity"),
        ({"w_k": NAN / 0}, ValueError, "w_k holds NaN or infinity"),
        ({"x": torch.ones(2)[None, None]}, ValueError, r"x has shape \(1, 1, 2\); expected two axes"),
        ({"w_q": [[1, 2], [3]]}, ValueError, "w_q must have rows of one length"),
        ({"w_v": [["a", "b"], ["c", "d"]]}, TypeError, "w_v must be numbers, got str"),
        ({"w_q": torch.ones(3, 2)}, ValueError, r"w_q has shape \(3, 2\); expected 2 rows, one for each column of x"),
        ({"w_k": torch.ones(2, 3)}, ValueError, "w_k has 3 columns, w_q has 2; expected the same"),
        ({"w_v": None}, TypeError, "give either x, w_q, w_k, w_v or query, key, value; got x, w_q, w_k"),
        ({"tokens": ["a"]}, ValueError, "tokens has 1 names; expected 2, one for each row"),
        ({"tokens": "ab"}, TypeError, "tokens must be a list of strings"),
        ({"row": 2}, ValueError, r"row must lie in 0\.\.1"),
        ({"row": 0.5}, TypeError, "row must be counted in whole numbers"),
    ],
)
def test_the_attention_step_names_what_is_wrong(wrong, error, message):
    with pytest.raises(error, match=message):
        step(**wrong)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"key": torch.ones(3, 4)}, r"key has shape \(3, 4\); expected 2 rows, as many as query"),
        ({"value": torch.ones(1, 4)}, r"value has shape \(1, 4\); expected 2 rows, as many as query"),
        ({"key": torch.ones(2, 5)}, "key has 5 columns, query has 4; expected the same"),
    ],
)
def test_queries_keys_and_values_must_fit(wrong, message):
    with pytest.raises(ValueError, match=message):
        diagram.attention_step(
            **{"query": torch.ones(2, 4), "key": torch.ones(2, 4), "value": torch.ones(2, 4)} | wrong
        )


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: diagram.multi_head(1), ValueError, r"n_heads must lie in 2\.\.4"),
        (lambda: diagram.multi_head("3"), TypeError, "n_heads must be an int, got str"),
        (lambda: diagram.encoder_layer("mid-norm"), ValueError, "wirings must be 'post-norm', .* got 'mid-norm'"),
        (lambda: diagram.decoder_layer("mid-norm"), ValueError, "wirings must be .* got 'mid-norm'"),
        (lambda: diagram.stack([]), ValueError, "tokens is empty"),
        (lambda: diagram.stack(n_layers=0), ValueError, "n_layers must be at least 1, got 0"),
        (lambda: diagram.bert("[CLS]"), TypeError, "tokens must be a list of strings"),
        (lambda: diagram.transformer(n_layers=1.5), TypeError, "n_layers must be an int, got float"),
        (lambda: diagram.gpt_and_bert(n_layers=0), ValueError, "n_layers must be at least 1"),
    ],
)  # fmt: skip
def test_the_others_name_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- in a browser ------------------------------------------------------------------------------

# Of each text: its place, its size on the screen, its colour and what it stands on; all in the picture's units.
MEASURE = """svg => {
    const inside = (p, b) => p.x >= b.x && p.x <= b.x + b.width && p.y >= b.y && p.y <= b.y + b.height
    const shapes = [...svg.querySelectorAll('rect, .h')].map(e => ({e, box: e.getBBox(), style: getComputedStyle(e)}))
    const view = svg.viewBox.baseVal, whole = svg.getBoundingClientRect(), scale = whole.width / view.width
    const words = [...svg.querySelectorAll('text')].flatMap(t => t.children.length ? [...t.children] : [t])
    return words.filter(t => t.textContent.trim()).map(t => {
        const seen = t.getBoundingClientRect(), style = getComputedStyle(t)
        const b = {x: view.x + (seen.x - whole.x) / scale, y: view.y + (seen.y - whole.y) / scale,
                   width: seen.width / scale, height: seen.height / scale}
        const middle = {x: b.x + b.width / 2, y: b.y + b.height / 2}
        const below = shapes.filter(s => s.style.fill !== 'none' && inside(middle, s.box)
            && s.e.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING)
        const boxes = below.filter(s => s.e.localName === 'rect' && !s.e.classList.contains('p'))
        const box = boxes.length ? boxes[boxes.length - 1].box : view
        return {words: t.textContent, x: b.x, y: b.y, width: b.width, height: b.height,
            left: b.x - box.x, right: box.x + box.width - b.x - b.width, size: parseFloat(style.fontSize) * scale,
            colour: style.fill, on: below.map(s => [s.style.fill, parseFloat(s.style.opacity)])}
    })
}"""


@pytest.fixture(scope="module", params=[(360, "light"), (360, "dark"), (1000, "light"), (1000, "dark")])
def measured(browser, request):
    """Of each diagram, whole and with its first part highlighted, the texts as a real browser lays them out."""
    width, scheme = request.param
    page = browser.new_page(viewport={"width": width, "height": 700}, color_scheme=scheme)
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda asked: None if asked.url.startswith("data:") else wrong.append(asked.url))
    drawn = {name: ALL[name]() for name in ALL}
    drawn |= {f"{name}, faded": ALL[name](highlight=drawn[name].parts[0]) for name in ALL}
    body = "".join(f"<div>{one._repr_html_()}</div>" for one in drawn.values())
    page.set_content(f'<html lang="en" style="color-scheme: light dark"><body>{body}</body></html>')
    seen = page.locator("svg.course-diagram")
    assert seen.count() == len(drawn) and page.locator("img:visible").count() == 0
    layouts = dict(zip(drawn, [svg.evaluate(MEASURE) for svg in seen.all()], strict=True))
    sizes = dict(zip(drawn, [svg.bounding_box() for svg in seen.all()], strict=True))
    overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    page.close()
    return width, layouts, sizes, overflow, wrong


def test_nothing_is_asked_for_nothing_runs_and_nothing_is_wider_than_the_page(measured):
    _, _, _, overflow, wrong = measured
    assert wrong == [] and overflow <= 0


def test_every_word_fits_its_box_and_covers_no_other(measured):
    _, layouts, _, _, _ = measured
    for name, layout in layouts.items():
        for text in layout:
            assert text["left"] >= 0 and text["right"] >= 0, f"{name}: {text['words']!r} is wider than its box"
        for i, one in enumerate(layout):
            for two in layout[i + 1 :]:
                across = min(one["x"] + one["width"], two["x"] + two["width"]) - max(one["x"], two["x"])
                down = min(one["y"] + one["height"], two["y"] + two["height"]) - max(one["y"], two["y"])
                assert across <= 1 or down <= 4, f"{name}: {one['words']!r} and {two['words']!r} overlap"


def test_words_are_large_enough_to_read_and_a_picture_fits_a_screen(measured):
    width, layouts, sizes, _, _ = measured
    for name, layout in layouts.items():
        assert min(text["size"] for text in layout) >= (9 if width == 360 else 10), name
        if "step of" not in name:  # with four rows of numbers it is higher
            assert sizes[name]["height"] <= 700, name


def test_every_word_can_be_told_from_what_it_stands_on(measured):
    _, layouts, _, _, _ = measured
    for name, layout in layouts.items():
        for text in layout:
            ground = (1.0, 1.0, 1.0)
            for fill, opacity in text["on"]:
                ground = tuple(opacity * a + (1 - opacity) * b for a, b in zip(rgb(fill), ground, strict=True))
            assert colours.contrast(rgb(text["colour"]), ground) >= 4.5, f"{name}: {text}"


def rgb(css: str) -> tuple[float, ...]:
    return tuple(int(c) / 255 for c in re.findall(r"\d+", css)[:3])


def test_jupyterlab_shows_the_picture_of_a_notebook_that_it_does_not_trust(browser, jupyter):
    """It takes the SVG and the style away; the same picture as an image stands in, and no loose words."""
    address, folder = jupyter
    html = diagram.encoder_layer()._repr_html_()
    cell = nbformat.v4.new_code_cell("1", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("display_data", data={"text/html": html})]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    (folder / "untrusted.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    page = browser.new_page()
    page.goto(f"{address}/lab/tree/untrusted.ipynb")
    still = page.locator("img.course-still")
    still.wait_for(timeout=60_000)
    assert still.get_attribute("alt") == diagram.encoder_layer().words
    assert still.evaluate("image => image.naturalWidth") > 100
    assert page.locator(".jp-OutputArea-output svg").count() == 0
    assert page.locator(".jp-OutputArea-output").inner_text().strip() == "This figure in words"
    page.close()
