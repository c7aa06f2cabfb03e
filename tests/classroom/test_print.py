"""What a teacher prints and shows: the worksheets hold the lessons' own numbers, the slides work without a network."""

import io
import re
import shutil
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from browsing import cut_off
from pypdf import PdfReader

from classroom._files import NOTEBOOKS, ClassroomError
from classroom.printing import markdown, slides, worksheets
from classroom.printing.sheets import SHEETS, Box, Table
from lesson_kit import examples

LESSONS = sorted((NOTEBOOKS).glob("*.ipynb"))
sheets = pytest.mark.parametrize("name", SHEETS)


def lesson(name: str) -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)


def path_of(number: str) -> Path:
    return next(path for path in LESSONS if path.stem.startswith(number))


def texts(name: str) -> list[str]:
    """All that the lesson's cells print or show as tables."""
    outputs = [output for cell in lesson(name).cells for output in cell.get("outputs", [])]
    return [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]


def tables_of(sheet) -> list[Table]:
    return [table for step in sheet.steps for table in step.tables]


def shown(entry: str | Box) -> str:
    return entry.answer if isinstance(entry, Box) else entry


def plain(name: str) -> str:
    """A row or column by the name that the lesson's table gives it."""
    return re.sub(r'[$_"]', "", name).replace("nǐ", "你")


# --- worksheets: the numbers -------------------------------------------------------------------


def printed_rows(name: str, table: Table) -> tuple[list[str], dict[str, list[str]]]:
    """The lesson's own version of a table: columns, and row name -> numbers."""
    for exact in (True, False):
        for text in texts(name):
            title, *lines = text.strip("\n").split("\n")
            if (title == table.printed if exact else title.startswith(table.printed)) and len(lines) >= 2:
                columns = re.split(r"\s{2,}", lines[0].strip())
                split = [re.split(r"\s{2,}", line.strip()) for line in lines[1:]]
                return columns, {row[0]: row[1:] for row in split}
    # no table with this title: lines of a text, or one line of a long table
    lines = [line for text in texts(name) for line in text.split("\n") if line.strip().startswith(table.printed)]
    assert lines, f"the lesson shows nothing that begins with {table.printed!r}"
    numbers = [re.findall(r"-?\d+\.\d+", line) for line in lines]
    width = len(table.columns)
    if len(numbers) == 1 and len(numbers[0]) == width * len(table.rows):
        numbers = [numbers[0][i : i + width] for i in range(0, len(numbers[0]), width)]
    return [], {plain(row): row_numbers for row, row_numbers in zip(table.rows, numbers, strict=False)}


def digits(text: str) -> int:
    return len(text.partition(".")[2])


@sheets
def test_the_sheet_holds_the_numbers_that_the_lesson_shows(name):
    compared = 0
    for table in tables_of(SHEETS[name]()):
        if not table.printed:
            continue
        columns, theirs = printed_rows(name, table)
        names = [plain(column) for column in table.columns]
        places = [names.index(column) if column in names else j for j, column in enumerate(columns)]
        for i, (row, entries) in enumerate(zip(table.rows, table.entries, strict=True)):
            numbers = theirs.get(plain(row)) or (list(theirs.values())[i] if i < len(theirs) else [])
            for j, their_number in enumerate(numbers[: len(entries)]):
                mine = shown(entries[places[j] if j < len(places) else j]).replace("\N{MINUS SIGN}", "-")
                if mine == "\N{EN DASH}":
                    continue
                tolerance = 0.51 * 10 ** -min(digits(mine), digits(their_number))
                assert abs(float(mine) - float(their_number)) <= tolerance, (table.title, row, mine, their_number)
                compared += 1
    assert compared >= 12


def row_of(name: str, title: str, row: str) -> list[float]:
    table = next(table for table in tables_of(SHEETS[name]()) if table.title == title)
    entries = table.entries[list(table.rows).index(row)]
    return [float(shown(entry).replace("\N{MINUS SIGN}", "-")) for entry in entries if shown(entry)]


def test_the_words_of_lesson_02_have_the_published_weights():
    name = "02_the_sky_is_blue"
    recovered = next(text for text in texts(name) if text.startswith("recovered scores divided by 8"))
    published = examples.sky_is_blue().published_weights
    for i, word in enumerate(("The", "sky")):
        line = next(line for line in recovered.split("\n") if line.startswith(word))
        assert row_of(name, f'"{word}" looks at', "2. divided by 8") == [float(n) for n in line.split()[1:]]
        *weights, total = row_of(name, f'"{word}" looks at', "4. weight")
        assert weights == [round(weight, 2) for weight in published[i].tolist()] and total == 1
        *powers, total = row_of(name, f'"{word}" looks at', "3. $e$ to this power")
        assert [round(power / total, 2) for power in powers] == weights, "what a pencil gets from the rounded powers"


def test_means_and_roots_of_lesson_06():
    text = "\n".join(texts("06_add_norm_feed_forward"))
    found = re.findall(r"(x\d): features.*mean ([\d.]+), root of the variance ([\d.]+)", text)
    assert len(found) == 2
    for token, mean, root in found:
        row = row_of("06_add_norm_feed_forward", "Norm", f"$x_{token[1]}$")
        assert row[:2] == [float(mean), float(root)]
    ramp = re.search(r"^ramp +(.*)", text, flags=re.MULTILINE)[1]
    assert row_of("06_add_norm_feed_forward", "The ramp", "result") == [float(number) for number in ramp.split()]


def test_the_fractions_of_lesson_01_are_its_weights():
    table = next(table for table in tables_of(SHEETS["01_attention_by_hand"]()) if table.title == "Weights, exact")
    found = next(text for text in texts("01_attention_by_hand") if text.startswith("Weights, exact and decimal"))
    decimals = [float(line.split()[-1]) for line in found.strip().split("\n")[2:]]
    values = [eval(box.answer, {"r": 2.0281149816}) for row in table.entries for box in row]
    assert values == pytest.approx(decimals, abs=5e-5)
    rounded = [*row_of("01_attention_by_hand", "Weights", "$x_1$"), *row_of("01_attention_by_hand", "Weights", "$x_2$")]
    assert rounded == [round(decimal, 3) for decimal in decimals]


# --- worksheets: the pages ---------------------------------------------------------------------


def n_boxes(sheet) -> int:
    return sum(isinstance(entry, Box) for table in tables_of(sheet) for row in table.entries for entry in row)


BOXES = """() => [...document.querySelectorAll('td.box')].map(box => {
    const { x, y, width, height } = box.getBoundingClientRect();
    return [x, y, width, height].map(number => Math.round(number * 10) / 10);
})"""
PAPER = {"width": 688, "height": 1017}  # A4 without its margins, in CSS pixels: 182 mm x 269 mm
MILLIMETRE = 96 / 25.4


@pytest.fixture
def open_sheet(browser, tmp_path):
    """Opens a sheet in the browser; all pages are closed at the end."""
    pages = []

    def opened(name: str, answers: bool, width: int = PAPER["width"], media: str = "print"):
        path = tmp_path / f"{len(pages)}.html"
        path.write_text(worksheets.as_html(SHEETS[name](), answers), encoding="utf-8")
        pages.append(browser.new_page(viewport={"width": width, "height": PAPER["height"]}))
        pages[-1].emulate_media(media=media)
        pages[-1].goto(path.as_uri())
        return pages[-1]

    yield opened
    for page in pages:
        page.close()


@sheets
def test_questions_and_answers_have_the_same_boxes_in_the_same_places(open_sheet, name):
    questions, answers = open_sheet(name, False), open_sheet(name, True)
    boxes = questions.evaluate(BOXES)
    assert boxes == answers.evaluate(BOXES)
    assert len(boxes) == n_boxes(SHEETS[name]()) >= 20
    for x, y, width, height in boxes:
        assert width >= 15 * MILLIMETRE and height >= 7 * MILLIMETRE
        assert x >= 0 and x + width <= PAPER["width"]
        for other_x, other_y, other_width, other_height in boxes:
            apart = x + width <= other_x + 2.5 or other_x + other_width <= x + 2.5  # they share their borders
            apart = apart or y + height <= other_y + 2.5 or other_y + other_height <= y + 2.5
            assert apart or (x, y) == (other_x, other_y)
    for page in (questions, answers):
        pdf = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True)))
        assert len(pdf.pages) == 2 and [round(float(side)) for side in pdf.pages[0].mediabox[2:]] == [595, 842]


@sheets
def test_an_answer_in_words_fits_on_its_lines(open_sheet, name):
    page = open_sheet(name, True)
    too_high = page.evaluate("[...document.querySelectorAll('.lines p')].map(p => p.scrollHeight - p.clientHeight)")
    assert max(too_high, default=0) <= 0


@sheets
def test_every_question_in_words_is_answered_on_the_answer_sheet_alone(name):
    asked = [step for step in SHEETS[name]().steps if "?" in step.text + step.check]
    questions, answers = (worksheets.as_html(SHEETS[name](), on_it) for on_it in (False, True))
    for step in asked:
        assert step.answer and step.lines, f"{step.title} asks, and nothing answers"
        words = re.split(r"\$", step.answer)[0]
        assert worksheets.escape(words) in answers and worksheets.escape(words) not in questions
    assert bool(asked) == (name != "05_word_order")


@sheets
@pytest.mark.parametrize("answers", [False, True])
def test_a_sheet_fits_a_phone(open_sheet, name, answers):
    page = open_sheet(name, answers, width=390, media="screen")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


class Page(HTMLParser):
    """Counts tags, and collects what is in boxes and what is loaded from elsewhere."""

    def __init__(self, source):
        super().__init__()
        self.tags, self.labels, self.loaded, self.alts, self.in_box, self.open = Counter(), [], [], [], [], False
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags[tag] += 1
        self.open = "box" in (attributes.get("class") or "").split()
        if tag == "input":
            self.labels.append(attributes.get("aria-label"))
        if tag == "img":
            self.alts.append(attributes.get("alt"))
        if tag == "link" or "src" in attributes:
            self.loaded.append(attributes.get("href") or attributes.get("src"))

    def handle_data(self, data):
        if self.open and data.strip():
            self.in_box.append(data)


@sheets
def test_the_html_pages_are_accessible_and_hold_the_same_boxes(name):
    sheet = SHEETS[name]()
    questions, answers = Page(worksheets.as_html(sheet, False)), Page(worksheets.as_html(sheet, True))
    wanted = n_boxes(sheet)
    assert questions.tags["input"] == len(answers.in_box) == wanted and answers.tags["input"] == 0
    assert questions.in_box == []
    assert len(set(questions.labels)) > wanted / 2 and not any(re.search(r"[$\\{]", text) for text in questions.labels)
    for page in (questions, answers):
        assert page.tags["h1"] == page.tags["title"] == 1 and page.tags["math"] > 5
        assert page.tags["table"] == page.tags["caption"] == page.tags["thead"] and page.tags["th"] > wanted / 4
        assert page.loaded == []
    assert worksheets.as_html(sheet, False).startswith('<!DOCTYPE html>\n<html lang="en">')


def test_build_writes_four_files_for_a_lesson(tmp_path):
    if worksheets.find_browser() is None:
        pytest.skip("no Chromium, Chrome or Edge is installed")
    made = worksheets.build([path_of("13")], tmp_path / "new" / "folder")
    assert [path.name for path in made] == [
        f"13_the_decoder{ending}" for ending in (".html", ".pdf", "_answers.html", "_answers.pdf")
    ]
    for path in made[1::2]:
        reader = PdfReader(path)
        title = f"13 · The decoder: {'answers' if 'answers' in path.name else 'worksheet'}"
        assert reader.metadata.title == title and len(reader.pages) == 2
        first = reader.pages[0].extract_text()
        assert title in first and "Step 1: masked self-attention" in first and "page 1 of 2" in first
        assert ("0.673" in first.split("Step 3")[1]) == ("answers" in path.name)


def test_without_a_browser_there_are_the_pages_and_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(worksheets.shutil, "which", lambda name: None)
    made = worksheets.build([path_of("02")], tmp_path)
    assert [path.suffix for path in made] == [".html", ".html"]
    assert capsys.readouterr().out.startswith("No PDF, because no Chromium, Chrome or Edge was found")


@pytest.mark.parametrize("browser_that", ["fails", "is-not-there", "writes-nothing"])
def test_a_browser_that_cannot_print_is_a_sentence(tmp_path, monkeypatch, browser_that):
    there = {"fails": shutil.which("false"), "is-not-there": "/no/browser", "writes-nothing": shutil.which("true")}
    monkeypatch.setattr(worksheets, "find_browser", lambda: there[browser_that])
    with pytest.raises(ClassroomError, match=r"could not print 02_the_sky_is_blue.html"):
        worksheets.build([path_of("02")], tmp_path)


def test_a_lesson_without_a_pencil_part_is_skipped_with_a_sentence(tmp_path, capsys):
    assert worksheets.build([path_of("03")], tmp_path) == [] and list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == "03_masks: no worksheet, because this lesson has no pencil part.\n"


# --- both: bad input ---------------------------------------------------------------------------

both = pytest.mark.parametrize("build", [slides.build, worksheets.build], ids=["slides", "worksheets"])


@both
def test_lessons_that_are_not_there(build, tmp_path):
    with pytest.raises(ValueError, match="lessons is empty; expected the paths of one notebook or more"):
        build([], tmp_path)
    with pytest.raises(TypeError, match="lessons is one path, 'a.ipynb'; expected a list"):
        build("a.ipynb", tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no notebook .*99_none.ipynb"):
        build([tmp_path / "99_none.ipynb"], tmp_path)


@both
def test_a_folder_that_cannot_be_written_to(build, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OSError, match="file.* can't be written to .*; choose another one"):
            build([path_of("05")], folder)


@pytest.mark.parametrize("text", ["", "{", '{"cells": 3}'])
def test_slides_of_something_that_is_no_notebook(text, tmp_path):
    (tmp_path / "01_broken.ipynb").write_text(text)
    with pytest.raises(ValueError, match="01_broken.ipynb is not a notebook"):
        slides.build([tmp_path / "01_broken.ipynb"], tmp_path / "slides")


def test_slides_of_an_empty_notebook(tmp_path):
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "empty.ipynb")
    with pytest.raises(ValueError, match="empty.ipynb has nothing to show"):
        slides.build([tmp_path / "empty.ipynb"], tmp_path / "slides")


def test_slides_without_the_package_that_carries_reveal(monkeypatch, tmp_path):
    monkeypatch.setattr(slides, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'attention-by-hand\[classroom\]'"):
        slides.build([path_of("05")], tmp_path / "slides")
    assert not (tmp_path / "slides").exists()


# --- slides ------------------------------------------------------------------------------------

BUILT = ["01", "03"]
built = pytest.mark.parametrize("number", BUILT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("slides") / "deck"
    slides.build([path_of(number) for number in BUILT], folder)
    return folder


def deck(folder: Path, number: str) -> str:
    return (folder / f"{path_of(number).stem}.html").read_text(encoding="utf-8")


def told(number: str) -> str:
    """The lesson's Markdown, without what slides leave out."""
    cells = [cell.source for cell in lesson(path_of(number).stem).cells if cell.cell_type == "markdown"]
    return re.sub(r"<details>\s*<summary>(Hint|Solution).*?</details>", "", "\n\n".join(cells), flags=re.DOTALL)


def formulas(text: str) -> list[str]:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    return [a or b for a, b in re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", text, flags=re.DOTALL)]


@built
def test_slides_follow_the_headings_and_the_predictions(folder, number):
    html, text = deck(folder, number), re.sub(r"```.*?```", "", told(number), flags=re.DOTALL)
    assert html.count("<section>") == 1 + len(re.findall(r"^## ", text, flags=re.MULTILINE))
    assert html.count("<section") == html.count("</section>")
    pages = re.split(r'<section class="page', html)[1:]
    assert "<h1>" in pages[0] and html.count("<h1>") == 1
    below_a_heading = False
    for page in pages[1:]:
        below_a_heading = below_a_heading or "<h2>" in page
        assert "<h2>" not in page or page.index("<h2>") < 120, "a level-2 heading stands at the top of its slide"
        assert not below_a_heading or re.search('<h[23]>|class="where"', page)
        asks = [found.start() for found in re.finditer(r"<p><strong>Predict", page)]
        assert len(asks) <= 1 and all(place < page.find('class="output"') for place in asks if "output_" in page)
    n_predictions = len(re.findall(r"^\*\*Predict", text, flags=re.MULTILINE))
    assert html.count("<p><strong>Predict") == n_predictions >= 5


@built
def test_outputs_come_after_a_key_press_or_on_a_new_slide(folder, number):
    pages = re.split(r'<section class="page', deck(folder, number))[1:]
    asked = 0
    for page in pages:
        code, output = page.find('class="input"'), page.find('class="output"')
        if -1 < code < output:
            asked += 1
            assert code < page.find('<div class="fragment">') < output
    assert asked >= 15


@built
def test_hints_solutions_checks_and_set_up_are_left_out(folder, number):
    html, notebook = deck(folder, number), lesson(path_of(number).stem)
    assert not re.search(r"<summary>(Hint|Solution)|not attempted yet|find_spec|%pip|Binder", html)
    words = unescape(re.sub(r"<[^>]+>", "", html))
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    kept = [
        cell.source.split("\n")[0] for cell in code[3:] if not re.search(r"check\.\w+\(\w+\)\.function", cell.source)
    ]
    place = 0
    for line in kept:
        place = words.index(line, place)


@built
def test_every_picture_has_its_alt_text(folder, number):
    outputs = [output for cell in lesson(path_of(number).stem).cells for output in cell.get("outputs", [])]
    alts = [o.metadata["image/png"]["alt"] for o in outputs if "image/png" in o.get("data", {})]
    assert Page(deck(folder, number)).alts == alts and len(alts) >= 3


@built
def test_every_formula_is_there_as_mathml(folder, number):
    html = re.sub(r'<div class="where">.*?</div>', "", deck(folder, number), flags=re.DOTALL)
    assert html.count("<math") == len(formulas(told(number))) > 20
    assert not re.search(r"\\(frac|sqrt|cdot|begin|mathrm|left)|<code>\\", html)


def test_the_formulas_of_all_lessons_can_be_converted():
    found = [formula for path in LESSONS for formula in formulas(told(path.stem[:2]))]
    assert len(found) > 900
    for latex in found:
        converted = markdown.formula(latex, "inline")
        assert converted.startswith("<math") and "\\" not in re.sub(r"<mo[^>]*>&#x0005C;</mo>", "", converted), latex
    assert markdown.formula(r"a < \sqrt", "inline") == r"<code>a &lt; \sqrt</code>"


def test_nothing_is_loaded_from_elsewhere(folder):
    pages = sorted(folder.glob("*.html"))
    assert [path.stem for path in pages] == [*(path_of(number).stem for number in BUILT), "index"]
    for path in pages:
        for address in Page(path.read_text(encoding="utf-8")).loaded:
            assert address.startswith("data:image/png") or (folder / address).is_file(), address
    for path in (folder / "assets").glob("*.css"):
        for address in re.findall(r"@import\s+\S+|url\(['\"]?([^'\")]+)", path.read_text(encoding="utf-8")):
            assert address.startswith("data:") or (folder / "assets" / address).is_file(), address


def test_links_lead_to_slides_that_are_there_or_to_the_web(folder):
    for path in folder.glob("*.html"):
        for target in re.findall(r'<a [^>]*href="([^"]+)"', path.read_text(encoding="utf-8")):
            assert target.startswith(("https://", "http://")) or (folder / target).is_file(), target


def test_pictures_from_the_web_become_their_alt_text_and_dead_links_plain_text():
    reader = slides.MarkdownWithMath(renderer=markdown.Renderer({"01_a"}))
    html = reader.render("![a cat](https://example.org/cat.png) [one](01_a.ipynb) [two](02_b.ipynb) [up](#top)")
    assert html.strip() == '<p>a cat <a href="01_a.html">one</a> two up</p>'


def test_long_lists_and_tables_are_cut_and_quiz_questions_stay_whole():
    cells = [
        nbformat.v4.new_markdown_cell("# Title\n\nText."),
        nbformat.v4.new_markdown_cell("## Long\n\n" + "\n".join(f"- point {i}" for i in range(40))),
        nbformat.v4.new_markdown_cell("| a |\n|---|\n" + "\n".join(f"| {i} |" for i in range(40))),
        nbformat.v4.new_markdown_cell("## Check yourself\n\nAnswer first.", metadata={"tags": ["quiz"]}),
        nbformat.v4.new_markdown_cell(
            "**Question 1.** Why?\n\n<details><summary>A. So</summary>\n\n**Right.** Yes.\n\n</details>\n"
            "<details><summary>B. Not</summary>\n\nNo.\n\n</details>",
            metadata={"tags": ["quiz"]},
        ),
    ]
    arranged = slides.arranged(nbformat.v4.new_notebook(cells=cells)).cells
    heights = [sum(map(slides.text_height, [cell.source])) for cell in arranged]
    assert max(heights) <= slides.FULL
    tables = [cell.source for cell in arranged if cell.source.startswith("|")]
    assert len(tables) > 1 and all(table.startswith("| a |\n|---|\n") for table in tables)
    assert "".join(re.findall(r"^\| (\d+) \|", "\n".join(tables), flags=re.MULTILINE)) == "".join(map(str, range(40)))
    assert arranged[-1].source == cells[-1].source
    assert [cell.metadata.slideshow["slide_type"] for cell in arranged][-1] != "slide"


# --- slides, in a browser ----------------------------------------------------------------------


HEIGHTS = """() => [...document.querySelectorAll('section.page')].map(page => {
    page.style.display = page.parentElement.style.display = 'block';
    return page.scrollHeight - page.clientHeight;
})"""


@built
def test_slides_open_from_the_disk_with_the_network_cut(browser, folder, number):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    wrong = cut_off(page)
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.url[:100]))
    page.goto((folder / f"{path_of(number).stem}.html").as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()", timeout=20_000)
    assert page.evaluate("Reveal.getTotalSlides()") == page.locator("section.page").count() > 30
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 50)")

    # a prediction, then its code, and after one more key its output
    place = page.evaluate("""() => {
        const asked = [...document.querySelectorAll('section.page')].find(page =>
            page.querySelector('.input') && page.querySelector('.fragment .output'));
        const { h, v } = Reveal.getIndices(asked);
        Reveal.slide(h, v);
        return [h, v];
    }""")
    here = page.locator("section.page.present")
    assert here.locator(".input").first.is_visible()
    output = here.locator(".fragment").first
    assert output.evaluate("e => getComputedStyle(e).visibility") == "hidden"
    page.keyboard.press("Space")
    shown = "e => getComputedStyle(e).visibility == 'visible'"
    page.wait_for_function(shown, arg=output.element_handle(), timeout=10_000)  # it fades in
    assert page.evaluate("[Reveal.getIndices().h, Reveal.getIndices().v]") == place

    too_high = page.evaluate(HEIGHTS)
    assert max(too_high) <= 60, (
        f"slide {too_high.index(max(too_high)) + 1} has to be scrolled by {max(too_high)} pixels"
    )
    assert wrong == [] and failed == []
    page.close()
