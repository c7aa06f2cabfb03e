"""What a teacher prints: the worksheets hold the lessons' own numbers, and every question is answered."""

import io
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from pypdf import PdfReader

from classroom._files import NOTEBOOKS, ClassroomError
from classroom.printing import slides, worksheets
from classroom.printing.sheets import SHEETS
from classroom.printing.sheets.parts import Box, Table
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


def test_write_makes_all_sheets_and_knows_no_others(tmp_path, monkeypatch):
    monkeypatch.setattr(worksheets, "find_browser", lambda: None)
    made = worksheets.write(tmp_path)
    assert list(made) == list(SHEETS) and all(path.is_file() for paths in made.values() for path in paths)
    assert [path.name for path in made["05_word_order"]] == ["05_word_order.html", "05_word_order_answers.html"]
    with pytest.raises(ValueError, match="names must be among 01_attention_by_hand, .*; got '03_masks'"):
        worksheets.write(tmp_path, ["05_word_order", "03_masks"])


def test_on_a_web_site_a_sheet_links_to_its_lesson_and_answers_on_the_screen_alone(open_sheet, tmp_path, monkeypatch):
    monkeypatch.setattr(worksheets, "find_browser", lambda: None)
    worksheets.write(tmp_path / "site", ["05_word_order"], lessons="..")
    worksheets.write(tmp_path / "class", ["05_word_order"], answers=False, lessons="..")
    worksheets.write(tmp_path / "paper", ["05_word_order"])

    def links(name):
        return re.findall(r'<a href="([^"]+)"', (tmp_path / name).read_text(encoding="utf-8"))

    assert links("site/05_word_order.html") == ["../05_word_order.html", "05_word_order_answers.html"]
    assert links("site/05_word_order_answers.html") == ["../05_word_order.html", "05_word_order.html"]
    assert links("class/05_word_order.html") == ["../05_word_order.html"]
    assert [path.name for path in (tmp_path / "class").iterdir()] == ["05_word_order.html"]
    assert links("paper/05_word_order.html") == links("paper/05_word_order_answers.html") == []
    page = open_sheet("05_word_order", False, width=800, media="print")
    page.goto((tmp_path / "site" / "05_word_order.html").as_uri())
    assert [page.locator("nav").nth(n).is_visible() for n in range(page.locator("nav").count())] == [False, False]
    page.emulate_media(media="screen")
    assert page.locator("nav").first.is_visible() and page.locator("nav").last.is_visible()


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
