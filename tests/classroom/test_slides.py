"""Slides for a teacher: few, full, readable from the last row; no answer before it is asked for; no network."""

import re
from html import unescape
from pathlib import Path

import nbformat
import pytest
from browsing import cut_off
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from classroom._files import NOTEBOOKS, read_notebook
from classroom.printing import markdown, slides
from classroom.printing.moments import Moment, moments
from lesson_kit import show
from lesson_kit.show import moving

LESSONS = sorted(NOTEBOOKS.glob("*.ipynb"))
lessons = pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem[:2])
SMALLEST = 20  # pixels of 720: a letter from the last row


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides") / "deck"
    slides.build(LESSONS, folder)
    return folder


def deck(lesson: Path) -> list[Moment]:
    return slides.chosen(moments(read_notebook(lesson)))


# --- what becomes a slide ----------------------------------------------------------------------


@lessons
def test_a_lesson_has_few_slides_and_few_key_presses(lesson):
    made = deck(lesson)
    assert 10 <= len(made) <= 25
    presses = len(made) - 1 + sum(moment.asked for moment in made)
    assert presses <= 1.5 * len(made)
    assert made[0].kind == "title" and (made[-1].kind == "summary") == ("## Summary" in lesson.read_text("utf-8"))
    assert sum(moment.asked for moment in made) >= 4
    assert {"picture", "table", "moving"} & {moment.kind for moment in made}


@lessons
def test_no_answer_stands_beside_its_question(lesson):
    """What was asked shows neither results nor the lesson's word on them at once; nor do the notes of slides before."""
    for moment in deck(lesson):
        assert moment.asked or moment.kind == "list" or "**Predict" not in moment.text, moment.title
        if moment.asked:
            assert moment.outputs or moment.answer
            assert not moment.answer or moment.answer not in moment.text


@lessons
def test_hints_solutions_checks_and_set_up_are_left_out(lesson, folder):
    html = (folder / lesson.name).with_suffix(".html").read_text(encoding="utf-8")
    words = unescape(re.sub(r"<[^>]+>", "", html))
    assert not re.search(r"<summary>(Hint|Solution)|find_spec|%pip|Open in Binder", html)
    for cell in read_notebook(lesson).cells:
        for solution in re.findall(r"<summary>Solution.*?</summary>\s*```python\n(.*?)```", cell.source, flags=re.S):
            assert solution.strip() not in words


def code(source: str, *outputs) -> nbformat.NotebookNode:
    return new_code_cell(source, outputs=list(outputs))


def printed(text: str) -> nbformat.NotebookNode:
    return new_output("stream", name="stdout", text=text)


def made_of(*cells) -> list[Moment]:
    begin = new_markdown_cell("# A lesson\n\nWhat is it for?\n\nBy the end you can:\n\n- see;\n- say.\n")
    return moments(new_notebook(cells=[begin, *cells]))[1:]


def test_a_prediction_waits_with_its_result_and_with_what_is_said_of_it():
    asked = new_markdown_cell("## Part\n\nSome words.\n\n**Predict.** What is $1 + 1$?\n\nThen run the cell.")
    (found,) = made_of(asked, code("print(1 + 1)", printed("2\n")), new_markdown_cell("It is 2. The next cell adds."))
    assert (found.kind, found.section, found.title) == ("printed", "Part", "Part") and found.asked
    assert found.text == "**Predict.** What is $1 + 1$?" and found.code == "print(1 + 1)"
    assert found.answer == "It is 2." and [output.text for output in found.outputs] == ["2\n"]
    assert "Then run the cell." in found.notes and "The next cell adds." in found.notes


@pytest.mark.parametrize("place", ["with the question", "below the code"])
def test_a_folded_answer_is_unfolded_by_the_key(place):
    folded = "<details><summary>Answer</summary>\n\nTwo. Always.\n\n</details>"
    asked, below = "**Predict.** How many?", "More words."
    if place == "with the question":
        asked += f"\n\n{folded}"
    else:
        below = f"{folded}\n\n{below}"
    (found,) = made_of(new_markdown_cell(asked), code("2", printed("2")), new_markdown_cell(below))
    assert found.answer == "Two. Always." and "Two" not in found.text


def test_a_question_without_an_answer_is_shown_all_the_same_and_takes_one_press():
    (found,) = made_of(new_markdown_cell("## Part\n\n**Predict.** What now?"))
    assert found.kind == "nothing" and not found.asked and found.text == "**Predict.** What now?"


def test_an_exercise_shows_its_task_and_its_stub_and_nothing_of_its_help():
    task = "### Exercise 1.1 · add (4 minutes, difficulty ●○○)\n\nAdd two numbers.\n\n- `a` is one;\n- `b` is another."
    help_ = "<details><summary>{}</summary>\n\n{}\n\n</details>\n"
    help_ = help_.format("Hint 1", "Plus.") + help_.format("Solution", "a + b")
    cells = [
        new_markdown_cell(task),
        code("def add(a, b):\n    ..."),
        code("add = check.add(add).function", printed("no")),
    ]
    found = made_of(
        *cells, new_markdown_cell(help_), code("1 + 1", printed("2")), new_markdown_cell("It is 2, as it has been.")
    )
    assert [moment.kind for moment in found] == ["exercise", "printed"]
    assert found[0].title == "Exercise 1.1 · add" and found[0].where == "4 minutes, difficulty ●○○"
    assert found[0].code == "def add(a, b):\n    ..." and "`b` is another" in found[0].text
    assert not re.search("Plus|a \\+ b", "".join(moment.text + moment.notes for moment in found))


def test_a_quiz_question_shows_its_options_and_then_the_right_one():
    source = (
        "**Question 1.** Why?\n\n<details><summary>A. So</summary>\n\n**Not this one.** No.\n\n</details>\n"
        "<details><summary>B. Thus</summary>\n\n**Right.** Because. It is.\n\n</details>"
    )
    (found,) = made_of(new_markdown_cell(source, metadata={"tags": ["quiz"]}))
    assert found.text == "**Question 1.** Why?\n\n- A. So\n- B. Thus" and found.answer == "**B.** Because. It is."


def test_tags_of_a_cell_overrule_what_it_is_worth():
    cells = [new_markdown_cell(f"## Part {i}\n\nThese are words of {i}.") for i in range(40)]
    cells = [each for n, cell in enumerate(cells) for each in (cell, code("0", printed(f"{n}")))]
    plain = slides.chosen(made_of(*cells))
    assert len(plain) == slides.MOST and plain[0].title == "Part 0"
    cells[1].metadata["tags"], cells[79].metadata["tags"] = ["no-slide"], ["slide"]
    tagged = [moment.title for moment in slides.chosen(made_of(*cells))]
    assert "Part 0" not in tagged and tagged[-1] == "Part 39" and len(tagged) == slides.MOST


def test_what_cannot_be_read_from_the_last_row_or_went_wrong_is_no_result():
    long, wide = printed("line\n" * 15), printed("m" * 93)
    wrong = new_output("error", ename="ValueError", evalue="no", traceback=["no"])
    for output in (long, wide, wrong, printed(" \n")):
        assert made_of(new_markdown_cell("Words that say something."), code("0", output)) == []
    assert len(made_of(new_markdown_cell("Words that say something."), code("0", printed("line\n" * 14)))) == 1


def test_words_that_stand_on_no_slide_are_notes_of_the_slide_before():
    cells = [
        new_markdown_cell("## Part\n\nFirst, then."),
        code("1", printed("1")),
        new_markdown_cell("Second to none here.\n\nThird."),
    ]
    (found,) = made_of(*cells)
    assert found.text == "Second to none here." and "Third." in found.notes


# --- Markdown ----------------------------------------------------------------------------------


def test_a_sentence_does_not_end_in_a_formula_a_bracket_or_an_abbreviation():
    text = "One ($x. Y$ is it. Really) is one. Smith et al. Two `a. B` follow: see. **Bold. All** of it?"
    assert markdown.sentences(text) == [
        "One ($x. Y$ is it. Really) is one.", "Smith et al. Two `a. B` follow: see.", "**Bold. All** of it?",
    ]  # fmt: skip
    assert markdown.first_sentences("One is. Two are. Three too.", 16) == "One is. Two are."
    assert markdown.first_sentences("One is very long.", 3) == "One is very long."
    assert markdown.first_sentences("It is so. As you see:", 99) == "It is so."
    assert markdown.first_sentences("The cell does it. So.", 99, re.compile("cell")) == "So."


def test_a_paragraph_holds_a_formula_or_a_block_of_code_whole():
    text = "# A\nwords\n\n```python\na\n\nb\n```\n$$x\n\ny$$\n\n- one\n- two"
    assert list(markdown.paragraphs(text)) == ["# A", "words", "```python\na\n\nb\n```", "$$x\n\ny$$", "- one\n- two"]


def formulas(text: str) -> list[str]:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    return [a or b for a, b in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", text, flags=re.DOTALL)]


def test_the_formulas_of_all_lessons_can_be_converted():
    sources = [cell.source for path in LESSONS for cell in read_notebook(path).cells if cell.cell_type == "markdown"]
    found = [formula for source in sources for formula in formulas(source)]
    assert len(found) > 900
    for latex in found:
        converted = markdown.formula(latex, "inline")
        assert converted.startswith("<math") and "\\" not in re.sub(r"<mo[^>]*>&#x0005C;</mo>", "", converted), latex
    assert markdown.formula(r"a < \sqrt", "inline") == r"<code>a &lt; \sqrt</code>"


def test_pictures_from_the_web_become_their_alt_text_and_dead_links_plain_text():
    reader = slides.MarkdownWithMath(renderer=markdown.Renderer({"01_a"}))
    html = reader.render("![a cat](https://example.org/cat.png) [one](01_a.ipynb) [two](02_b.ipynb) [up](#top)")
    assert html.strip() == '<p>a cat <a href="01_a.html">one</a> two up</p>'


# --- the pages ---------------------------------------------------------------------------------


def test_a_result_is_text_and_never_markup():
    html = slides.as_output(printed("<script>alert(1)</script> & more"))
    assert html == '<pre class="line">&lt;script&gt;alert(1)&lt;/script&gt; &amp; more</pre>'
    picture = new_output("display_data", {"image/png": "aGk=\n"}, metadata={"image/png": {"alt": 'a "b" <c>'}})
    assert slides.as_output(picture) == '<img alt="a &quot;b&quot; &lt;c&gt;" src="data:image/png;base64,aGk=">'
    html = show.diagram.stack(highlight="layers")._repr_html_()
    drawn = slides.as_output(new_output("display_data", {"text/html": html, "text/plain": "words"}))
    assert re.fullmatch('<img class="course-still" alt="[^"]+Highlighted: layers.*" src="data:image/svg[^"]+">', drawn)


@lessons
def test_every_picture_has_an_alternative_text_and_every_formula_is_mathml(lesson, folder):
    html = (folder / lesson.name).with_suffix(".html").read_text(encoding="utf-8")
    assert all(len(alt) >= 30 for alt in re.findall(r"<img([^>]*)src", html))
    assert not re.search(r"\\(frac|sqrt|cdot|begin|mathrm|left)\b|<code>\\", html)
    assert html.count("<section") == html.count("</section>") == len(deck(lesson))


def test_nothing_is_loaded_from_elsewhere(folder):
    pages = sorted(folder.glob("*.html"))
    assert [path.stem for path in pages] == [*(path.stem for path in LESSONS), "index"]
    for path in pages:
        html = re.sub(r'srcdoc="[^"]*"', "", path.read_text(encoding="utf-8"))
        for address in re.findall(r'<(?:script|link|img|iframe)[^>]* (?:src|href)="([^"]*)"', html):
            assert address.startswith(("data:image/png", "data:image/svg")) or (folder / address).is_file(), address
        for target in re.findall(r'<a [^>]*href="([^"]+)"', html):
            assert target.startswith(("https://", "http://")) or (folder / target).is_file(), target
    for path in (folder / "assets").glob("*.css"):
        for address in re.findall(r"@import\s+\S+|url\(['\"]?([^'\")]+)", path.read_text(encoding="utf-8")):
            assert address.startswith("data:") or (folder / "assets" / address).is_file(), address


@pytest.mark.parametrize("text", ["", "{", '{"cells": 3}'])
def test_slides_of_something_that_is_no_notebook(text, tmp_path):
    (tmp_path / "01_broken.ipynb").write_text(text)
    with pytest.raises(ValueError, match="01_broken.ipynb is not a notebook"):
        slides.build([tmp_path / "01_broken.ipynb"], tmp_path / "slides")


def test_slides_of_an_empty_notebook(tmp_path):
    nbformat.write(new_notebook(), tmp_path / "empty.ipynb")
    with pytest.raises(ValueError, match="empty.ipynb has nothing to show"):
        slides.build([tmp_path / "empty.ipynb"], tmp_path / "slides")


def test_slides_without_the_package_that_carries_reveal(monkeypatch, tmp_path):
    monkeypatch.setattr(slides, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'attention-by-hand\[classroom\]'"):
        slides.build(LESSONS[:1], tmp_path / "slides")
    assert not (tmp_path / "slides").exists()


# --- in a browser ------------------------------------------------------------------------------

MEASURE = """() => Reveal.getSlides().map((page, n) => {
    Reveal.slide(n);
    page.querySelectorAll('.fragment').forEach((each) => each.classList.add('visible'));
    const box = page.getBoundingClientRect(), found = [], tiles = new Set();
    const walk = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
    let smallest = 99;
    while (walk.nextNode()) {
        const parent = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || parent.closest('.notes')) continue;
        if (!parent.closest('math')) smallest = Math.min(smallest, parseFloat(getComputedStyle(parent).fontSize));
        const range = document.createRange();
        range.selectNodeContents(walk.currentNode);
        found.push(...range.getClientRects());
    }
    page.querySelectorAll('img, iframe').forEach((each) => found.push(each.getBoundingClientRect()));
    const across = (x) => 32 * (x - box.left) / box.width, down = (y) => 18 * (y - box.top) / box.height;
    const outside = found.filter((r) => r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1
        || r.bottom > box.bottom + 1).length;
    for (const r of found)
        for (let x = Math.floor(across(r.left)); x < across(r.right); x++)
            for (let y = Math.floor(down(r.top)); y < down(r.bottom); y++) tiles.add(32 * y + x);
    const seen = box.left >= -1 && box.top >= -1 && box.right <= innerWidth + 1 && box.bottom <= innerHeight + 1;
    const pictures = [...page.querySelectorAll('img')].map((i) => i.complete && i.naturalWidth > 50);
    return {title: page.querySelector('h1, h2').innerText, full: page.classList.contains('full'), seen, outside,
            smallest, filled: tiles.size / (32 * 18), pictures: pictures.every(Boolean)};
})"""


def opened(browser, path: Path, width: int = 1280, height: int = 720):
    page = browser.new_page(viewport={"width": width, "height": height})
    wrong = cut_off(page)
    page.goto(path.as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()", timeout=60_000)
    return page, wrong


@lessons
def test_every_slide_is_full_and_nothing_is_cut_off(browser, folder, lesson):
    page, wrong = opened(browser, (folder / lesson.name).with_suffix(".html"))
    for width, height in ((1280, 720), (1000, 700)):
        page.set_viewport_size({"width": width, "height": height})
        measured = page.evaluate(MEASURE)
        assert len(measured) == len(deck(lesson))
        for slide in measured:
            assert not slide["full"] and slide["seen"] and slide["pictures"] and slide["outside"] == 0, slide
            assert slide["smallest"] >= SMALLEST, slide
            assert slide["filled"] >= 0.2, slide
    assert wrong == []
    page.close()


def test_the_answer_comes_with_the_next_key_press(browser, folder):
    page, wrong = opened(browser, folder / "03_masks.html")
    n = page.evaluate("Reveal.getSlides().findIndex((page) => page.querySelector('.shown.fragment'))")
    for _ in range(n):
        page.evaluate("Reveal.slide(Reveal.getIndices().h + 1)")
    parts = page.locator("section.present .fragment")
    hidden = "e => getComputedStyle(e).visibility == 'hidden'"
    assert parts.count() == 2 and all(part.evaluate(hidden) for part in parts.all())
    page.keyboard.press("Space")
    for part in parts.all():
        page.wait_for_function("e => getComputedStyle(e).visibility == 'visible'", arg=part.element_handle())
    assert page.evaluate("Reveal.getIndices().h") == n
    page.keyboard.press("Space")
    assert page.evaluate("Reveal.getIndices().h") == n + 1
    assert wrong == []
    page.close()


def test_the_speaker_notes_open_beside_the_slides(browser, folder):
    page, _ = opened(browser, folder / "01_attention_by_hand.html")
    page.evaluate("Reveal.slide(2)")
    with page.expect_popup() as popup:
        page.keyboard.press("s")
    said = page.evaluate("Reveal.getCurrentSlide().querySelector('.notes p').textContent")
    popup.value.wait_for_function("text => document.body.textContent.includes(text)", arg=said[:40], timeout=60_000)
    page.close()


def test_a_moving_picture_takes_the_place_of_its_question(browser, tmp_path):
    shown = moving.drag_the_query()
    data, metadata = shown.picture._repr_mimebundle_()
    output = new_output("display_data", data, metadata=metadata | {"moving": {"name": shown.name, "data": shown.data}})
    cells = [new_markdown_cell("# A lesson\n\nWords."), new_markdown_cell("## Part\n\n**Predict.** Where does it go?")]
    cells += [code("show.moving.drag_the_query()", output), new_markdown_cell("There it goes.")]
    nbformat.write(new_notebook(cells=cells), tmp_path / "01_moving.ipynb")
    slides.build([tmp_path / "01_moving.ipynb"], tmp_path / "slides")
    page, wrong = opened(browser, tmp_path / "slides" / "01_moving.html")
    page.keyboard.press("Space")
    words, frame = page.locator("section.present .words"), page.locator("section.present iframe")
    assert words.is_visible() and not frame.is_visible()
    page.keyboard.press("Space")
    frame.wait_for(state="visible")
    page.wait_for_function("e => getComputedStyle(e).visibility == 'hidden'", arg=words.element_handle())
    inside = frame.element_handle().content_frame()
    assert inside.evaluate("Object.keys(window.picture.numbers()).length") > 0
    assert inside.evaluate("document.documentElement.scrollHeight <= innerHeight + 1")
    assert all(not slide["full"] and slide["outside"] == 0 for slide in page.evaluate(MEASURE))
    assert wrong == []
    page.close()


def test_a_moving_picture_that_nobody_knows_stops_the_build(tmp_path):
    output = new_output("display_data", {"text/plain": "x"}, metadata={"moving": {"name": "none", "data": {}}})
    cells = [new_markdown_cell("# A lesson\n\nWords.\n\n## Part"), code("0", output)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "01_moving.ipynb")
    with pytest.raises(ValueError, match="name must be one of .*drag_the_query.*; got 'none'"):
        slides.build([tmp_path / "01_moving.ipynb"], tmp_path / "slides")
