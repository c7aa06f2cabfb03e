"""The web site: built once, then visited in a real browser with the network cut, every page of it.

axe-core looks at every page; at colours and narrow windows only where a page has something that no page before it had.
"""

import base64
import functools
import json
import re
import subprocess
import sys
import threading
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import nbformat
import pytest
from browsing import cut_off
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from classroom.__main__ import main as classroom
from classroom.printing.sheets import SHEETS
from classroom.printing.worksheets import find_browser
from lesson_kit import colours
from lesson_kit.show import moving
from tools import addresses
from tools.site import build as builder
from tools.site import font, home, lesson, outputs
from tools.site.__main__ import LESSON_MB, SITE_MB, main
from tools.site.extension import formula, in_words

ROOT = Path(__file__).parents[2]
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
NOTEBOOKS = {name: nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4) for name in LESSONS}
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = ["index", "search", *LESSONS]
HERO = "index"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the whole site, and what the command said."""
    folder = tmp_path_factory.mktemp("web") / "site"
    command = [sys.executable, "-m", "tools.site", "--output", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder


@pytest.fixture(scope="module")
def html(site):
    return {path.stem: path.read_text(encoding="utf-8") for path in site.glob("*.html")}


def figures(name: str) -> list[str]:
    """The alternative texts of the lesson's pictures, in order."""
    shown = [output for cell in NOTEBOOKS[name].cells for output in cell.get("outputs", [])]
    return [output.metadata["image/png"]["alt"] for output in shown if "image/png" in output.get("data", {})]


# --- what was built ----------------------------------------------------------------------------


def test_every_lesson_is_a_page_and_nothing_is_too_heavy(site, html):
    assert set(html) == set(PAGES)
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    assert size < SITE_MB * 1e6
    weights = builder.weigh(site)
    assert set(weights) == set(PAGES)
    for name, (own, whole) in weights.items():
        assert own <= whole < LESSON_MB * 1e6, name
    images = sum(path.stat().st_size for path in (site / "figures").glob("11_*"))
    assert images > 100_000 and weights["11_seeing_attention"][1] > weights["11_seeing_attention"][0] + images


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "one.html").write_text('<a href="two.html#there"></a><a href="#Straße%20&amp;"></a>', encoding="utf-8")
    (tmp_path / "two.html").write_text('<p id="there"></p><a href="one.html?q=1"></a>', encoding="utf-8")
    assert builder.broken_links(tmp_path) == ["one.html: #Straße%20&"]
    (tmp_path / "two.html").write_text('<img src="no.png"><a href="https://x.y/z">', encoding="utf-8")
    assert builder.broken_links(tmp_path) == ["one.html: #Straße%20&", "one.html: two.html#there", "two.html: no.png"]


def test_no_page_names_a_file_of_another_site(html):
    elsewhere = re.compile(r'<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//|<link[^>]*\shref="https?:')
    for name, page in html.items():
        assert not elsewhere.search(page), name
        assert "@import" not in page


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_carries_the_words_of_every_figure_and_headers_of_every_table(name, html):
    alts = [unescape(alt) for alt in re.findall(r'<img src="figures/[^>]* alt="([^"]*)"', html[name])]
    assert alts == figures(name)
    for table in re.findall(r"<table.*?</table>", html[name], flags=re.DOTALL):
        headers = re.findall(r"<th\b", table)
        assert len(re.findall(r'<th scope="(?:col|row)(?:group)?"', table)) == len(headers) > 0


@pytest.mark.parametrize("name", LESSONS)
def test_no_formula_is_left_as_it_was_typed(name, html):
    """Neither in the text nor in the tables of contents nor in what the search knows."""
    prose = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", html[name], flags=re.DOTALL)
    prose = re.sub(r'\ssrcdoc="[^"]*"', "", prose)
    assert "$" not in prose
    assert "\\" not in re.search(r"<title>(.*?)</title>", prose)[1]
    formulas = len(re.findall(r"<math", prose))
    typed = sum(cell.source.count("$") for cell in NOTEBOOKS[name].cells if cell.cell_type == "markdown")
    assert typed == 0 or formulas > typed / 8


def test_the_search_knows_titles_in_words(site):
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    titles = json.loads(index.removeprefix("Search.setIndex(").removesuffix(")"))["alltitles"]
    assert "03 · Masks" in titles and len(titles) > 300
    assert not [title for title in titles if re.search(r"[$\\{}]", title)]


def test_what_can_be_downloaded_is_the_lesson_with_its_outputs_cleared(site, html):
    for name in LESSONS:
        notebook = nbformat.read(site / "notebooks" / f"{name}.ipynb", as_version=4)
        assert [cell.source for cell in notebook.cells] == [cell.source for cell in NOTEBOOKS[name].cells]
        assert not any(cell.get("outputs") for cell in notebook.cells)
        buttons = re.search(r'<p class="buttons">(.*?)</p>', html[name])[1]
        words = ["Open in Binder", "Open in Colab", "Download the notebook", *["Worksheet to print"] * (name in SHEETS)]
        assert re.findall(r">([^<]+)</a>", buttons) == words
        links = [unescape(link) for link in re.findall(r'href="([^"]+)"', buttons)]
        assert links[2] == f"notebooks/{name}.ipynb" and all(f"{name}.ipynb" in link for link in links[:3])
        assert links[3:] == [f"worksheets/{name}.html"] * (name in SHEETS)


def test_the_lessons_links_to_worksheets_land(site):
    """Where the notebooks say that GitHub's pages have them."""
    published = addresses.site(addresses.slug(addresses.address()))
    linked = {}
    for name, notebook in NOTEBOOKS.items():
        for address in re.findall(r"\[Worksheet to print\]\(([^)]+)\)", notebook.cells[0].source):
            assert address.startswith(published)
            linked[name] = (site / address.removeprefix(published)).read_text(encoding="utf-8")
    assert list(linked) == list(SHEETS)
    for name, sheet in linked.items():
        printed = [f"{name}.pdf"] if find_browser() else []
        assert re.findall(r'<a href="([^"]+)"', sheet) == [f"../{name}.html", *printed, f"{name}_answers.html"]
        answers = (site / "worksheets" / f"{name}_answers.html").read_text(encoding="utf-8")
        assert f'<a href="{name}.html">Back to the questions</a>' in answers and "<input" not in answers
        for pdf in (f"{name}.pdf", f"{name}_answers.pdf") if printed else ():
            assert (site / "worksheets" / pdf).read_bytes().startswith(b"%PDF")


def test_without_a_browser_the_site_has_its_sheets_without_pdfs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("classroom.printing.worksheets.find_browser", lambda: None)
    assert main(["--lessons", "05", "--output", str(tmp_path / "site")]) == 0
    said = capsys.readouterr()
    assert "No PDF, because no Chromium, Chrome or Edge was found" in said.out and said.err == ""
    sheets = tmp_path / "site" / "worksheets"
    assert {path.name for path in sheets.iterdir()} == {"05_word_order.html", "05_word_order_answers.html"}
    assert "pdf" not in (sheets / "05_word_order.html").read_text(encoding="utf-8").lower()


def test_solutions_and_quizzes_are_there_and_folded(html):
    for name, page in html.items():
        assert "<details open" not in page, name
    assert html["01_attention_by_hand"].count("<summary>Solution</summary>") == 3
    assert html["01_attention_by_hand"].count('<div class="quiz">') == 4


def test_the_first_page_has_the_readmes_paths_and_lessons(html):
    page = html["index"]
    steps = dict(re.findall(r'<h3>([^<]+)</h3>.*?<p class="steps">(.*?)</p>', page, flags=re.DOTALL))
    assert re.findall(r'href="(\w+)\.html"', steps["Everything"]) == LESSONS
    short, numbers = re.search(r"^- \*\*(.+?)\*\*: ((?:\d\d, )+\d\d)\.", README, flags=re.MULTILINE).groups()
    assert re.findall(r">(\d\d)<", steps[short]) == numbers.split(", ")
    assert list(steps) == re.findall(r"^- \*\*(.+?)\*\*: (?:\d\d|all)", README, flags=re.MULTILINE)


def test_previous_and_next_lead_through_all_lessons(html):
    for before, name, after in zip(["index", *LESSONS], LESSONS, [*LESSONS[1:], None], strict=False):
        around = re.search(r'<nav class="around".*?</nav>', html[name], flags=re.DOTALL)[0]
        assert re.findall(r'href="([^"]+)"', around) == [f"{page}.html" for page in (before, after) if page]


# --- in a browser ------------------------------------------------------------------------------

SERIOUS = ("serious", "critical")
OFF = {"enabled": False}  # the first two are CONTRAST's; the third is slow, and never more than "moderate"
RULES = {"color-contrast": OFF, "link-in-text-block": OFF, "region": OFF}
STRUCTURE = f"""axe.run({{exclude: [['.code span'], ['math'], ['iframe']]}},
    {{rules: {json.dumps(RULES)}, resultTypes: ['violations'], preload: false}})"""
CONTRAST = "axe.run({include: [['[data-new]']]}, {runOnly: ['color-contrast', 'link-in-text-block'], preload: false})"
# Marks, of all text with the same styles all the way up, the first one that no page had before: the others have the
# same colours, and looking at each of them would take minutes.
MARK = """before => {
    const known = new Set(before), found = []
    for (const element of document.body.querySelectorAll('*')) {
        if (![...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue
        const styles = []
        for (let e = element.closest('math') ?? element; e.parentElement; e = e.parentElement)
            styles.push(e.localName + '.' + e.className + ' ' + (e.getAttribute('style') ?? ''))
        const kind = styles.join('|')
        if (known.has(kind)) continue
        known.add(kind)
        found.push(kind)
        element.setAttribute('data-new', '')
    }
    return found
}"""
UNFOLD = "document.querySelectorAll('details').forEach(details => { details.open = true })"
PICTURES = """Promise.all([...document.images].map(async image => {
    image.loading = 'eager'
    await image.decode()
    const sized = image.getAttribute('width') > 0 || image.src.startsWith('data:')
    return image.alt.length > 20 && image.naturalWidth > 0 && sized
}))"""
FORMULAS = """[...document.querySelectorAll('main math')].filter(math => math.checkVisibility()).filter(math => {
    const box = math.getBoundingClientRect()
    return box.width < 4 || box.height < 4 || math.querySelector('merror')
}).map(math => math.textContent)"""
WIDER = """[...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, math, svg')).filter(e => {
    const box = e.getBoundingClientRect()
    return box.right > innerWidth + 1 || box.left < -1
}).map(e => e.outerHTML.slice(0, 80))"""
SEEN: set[str] = set()


@pytest.fixture(scope="module")
def axe():
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (Path(package.__path__[0]) / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def page(browser):
    """A page at 1280 pixels; it ends with no error and nothing asked of the network."""
    page = browser.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    wrong = cut_off(page)
    yield page
    page.close()
    assert wrong == []


@pytest.fixture(scope="module")
def served(site):
    """The site's address, as a server gives it."""
    handler = functools.partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def findings(page, run: str) -> list[str]:
    found = page.evaluate(run)["violations"]
    return [
        f"{violation['id']}: {node['html'][:200]} ({node['failureSummary']})"
        for violation in found
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]


def ground(page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_narrow_or_wide_light_or_dark(name, site, page, axe):
    """Pictures, formulas and moving pictures are drawn; nothing is cut off; axe-core finds nothing serious."""
    page.goto((site / f"{name}.html").as_uri())
    page.evaluate(UNFOLD)
    assert all(page.evaluate(PICTURES))
    assert page.evaluate(FORMULAS) == []
    assert all(frame.evaluate("'picture' in window") for frame in page.frames[1:])
    page.evaluate(axe)
    new = page.evaluate(MARK, sorted(SEEN))
    SEEN.update(new)
    assert findings(page, STRUCTURE) == []
    for theme in (0, 1) if new else ():
        page.emulate_media(color_scheme=("light", "dark")[theme])
        assert ground(page) == rgb(colours.GROUND[theme])
        assert findings(page, CONTRAST) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.evaluate(WIDER) == []
    if name in ("index", "search", "00_start_here", "03_masks"):
        assert findings(page, STRUCTURE) == []
        page.click("#menu")
        assert findings(page, STRUCTURE) == []


def test_axe_would_find_what_is_wrong(site, page, axe):
    wrong = (site / "03_masks.html").read_text(encoding="utf-8")
    wrong = re.sub(r' alt="[^"]*"', "", wrong).replace('<html lang="en"', "<html")
    wrong = wrong.replace("</h1>", '</h1><p style="color: #999">faint</p>')
    page.set_content(wrong)
    page.evaluate(axe)
    page.evaluate(MARK, [])
    rules = {finding.split(":")[0] for finding in findings(page, STRUCTURE) + findings(page, CONTRAST)}
    assert rules == {"image-alt", "html-has-lang", "color-contrast"}


def test_brackets_grow_with_what_they_hold_on_a_machine_without_a_font_for_formulas(site, page):
    page.goto((site / "01_attention_by_hand.html").as_uri())
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px Formulas'))")
    tall, usual = (page.locator(f"{place} mo", has_text="(").first for place in ("math[display=block]", "p math"))
    assert tall.bounding_box()["height"] > 1.5 * usual.bounding_box()["height"]


def test_the_search_finds_softmax(served, page):
    page.goto(f"{served}/index.html")
    page.keyboard.press("/")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('.search-summary')?.innerText.includes('finished')")
    found = page.locator("#search-results li a")
    texts = found.all_text_contents()
    assert "01 · Attention by hand > What softmax forgets" in texts and len(texts) > 10
    page.wait_for_function("document.querySelectorAll('#search-results li p').length > 5")  # a few words of each page
    found.filter(has_text="01 · Attention by hand > What softmax forgets").click()
    assert page.url == f"{served}/01_attention_by_hand.html#what-softmax-forgets"


def test_the_search_works_from_a_disk_too(site, page):
    page.goto((site / "search.html").as_uri() + "?q=causal+mask")
    page.wait_for_function("document.querySelector('.search-summary')?.innerText.includes('finished')")
    assert any("The causal mask" in text for text in page.locator("#search-results li a").all_text_contents())


def test_the_theme_is_the_readers_and_can_be_switched(served, page):
    page.emulate_media(color_scheme="dark")
    page.goto(f"{served}/03_masks.html")
    assert ground(page) == rgb(colours.GROUND[1])
    page.click("#theme")
    assert ground(page) == rgb(colours.GROUND[0])
    page.goto(f"{served}/04_multi_head_attention.html")
    assert ground(page) == rgb(colours.GROUND[0]), "it is remembered"
    assert page.get_attribute("#theme", "aria-label") == "Switch to dark"


def test_the_moving_picture_of_the_first_page_moves_and_follows_the_theme(served, page):
    page.goto(f"{served}/index.html")
    page.locator(".moving iframe").scroll_into_view_if_needed()
    frame = page.frames[1]
    frame.wait_for_function("window.picture")
    before = frame.evaluate("window.picture.numbers()")
    frame.locator("input[type=range]").last.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    after = frame.evaluate("window.picture.numbers()")
    assert max(after["weights"]) > max(before["weights"]) + 0.01, "a longer query chooses more firmly"
    page.click("#theme")
    frame.wait_for_function(f"getComputedStyle(document.body).backgroundColor !== '{rgb(colours.GROUND[0])}'")


def test_links_to_patients_land_on_them(site, page):
    page.goto((site / "19_bug_clinic.html").as_uri())
    links = page.locator("a[href^='#cell-']")
    assert links.count() == 32
    landed = links.evaluate_all(
        """all => all.map(link => {
            const after = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_ELEMENT)
            after.currentNode = document.getElementById(link.hash.slice(1))
            while (after.nextNode())
                if (/^H[1-6]$/.test(after.currentNode.tagName))
                    return [link.textContent, after.currentNode.firstChild.textContent]
        })"""
    )
    for words, heading in landed:
        assert heading == f"Patient {words}"
    links.nth(20).click()
    heading = page.locator("h3", has_text="Patient 21:")
    assert 50 < heading.bounding_box()["y"] < 200, "below the bar, in sight"


def test_a_checks_link_leads_to_where_its_exercise_is_taught(site, page):
    page.goto((site / "00_start_here.html").as_uri())
    page.evaluate(UNFOLD)
    page.locator(".output a[href*='#step-3']").click()
    assert page.locator("h3", has_text="Step 3: from scores to shares").bounding_box()["y"] < 200


def test_a_result_waits_for_the_prediction(site, page):
    page.goto((site / "01_attention_by_hand.html").as_uri())
    result = page.locator(".result").first
    shown = result.locator("pre")
    assert not shown.is_visible()
    result.locator("summary").press("Enter")
    assert shown.is_visible() and shown.text_content() == "q_1 = 1 2"


def test_the_keyboard_alone_is_enough(site, page):
    page.goto((site / "03_masks.html").as_uri())
    page.evaluate("document.querySelectorAll('iframe').forEach(frame => frame.remove())")  # tested elsewhere
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
    assert page.locator(".skip").bounding_box()["x"] >= 0, "seen while it has the focus"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    order = page.evaluate(
        """[...document.querySelectorAll('main a, main summary, main button, main [tabindex]')]
            .filter(e => e.checkVisibility()).map(e => e.textContent.trim())"""
    )
    reached = []
    for _ in order[:40]:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert reached == order[:40]
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert float(outline.removesuffix("px")) >= 2, "one sees where one is"


def test_a_phone_has_the_lessons_in_a_menu(site, page):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto((site / "03_masks.html").as_uri())
    lessons = page.locator("#lessons")
    assert not lessons.is_visible()
    page.click("#menu")
    assert lessons.is_visible() and page.get_attribute("#menu", "aria-expanded") == "true"
    page.keyboard.press("Escape")
    assert not lessons.is_visible() and page.evaluate("document.activeElement.id") == "menu"
    page.click("#menu")
    page.locator("#lessons a", has_text="Word order").click()
    assert page.locator("h1").text_content().startswith("05 · Word order")


def test_one_can_go_on_where_one_was(served, page):
    page.goto(f"{served}/index.html")
    assert not page.locator("#continue").is_visible()
    page.goto(f"{served}/03_masks.html")
    page.goto(f"{served}/index.html")
    page.get_by_text("Go on with 03 · Masks").click()
    assert page.url == f"{served}/03_masks.html"


# --- for a class -------------------------------------------------------------------------------


def test_the_teachers_pages_can_leave_the_solutions_out(tmp_path):
    ask = ["build", "--lessons", "01", "03", "--only", "pages", "--output", str(tmp_path)]
    assert classroom([*ask, "--no-solutions"]) == 0
    made = {path.stem: path.read_text(encoding="utf-8") for path in (tmp_path / "pages").glob("*.html")}
    assert set(made) == {"index", "search", "01_attention_by_hand", "03_masks"}
    for name in ("01_attention_by_hand", "03_masks"):
        assert "<summary>Solution" not in made[name] and "<summary>Hint 1" in made[name]
    for page in made.values():
        assert "mybinder.org" not in page and "colab" not in page and ".ipynb" not in page
    assert not (tmp_path / "pages" / "notebooks").exists()
    assert 'href="worksheets/01_attention_by_hand.html">Worksheet to print</a>' in made["01_attention_by_hand"]
    sheets = {path.name for path in (tmp_path / "pages" / "worksheets").iterdir()}
    assert sheets - {"01_attention_by_hand.pdf"} == {"01_attention_by_hand.html"}, "no answers, no other lesson's"
    assert "answers" not in (tmp_path / "pages" / "worksheets" / "01_attention_by_hand.html").read_text(
        encoding="utf-8"
    )
    assert 'href="02_the_sky_is_blue' not in made["03_masks"] and "lesson 02" in made["03_masks"], "bare text"
    assert not list((tmp_path / "pages").glob(".classroom*")), "one list of what was built, and it lies above"


# --- a lesson's parts --------------------------------------------------------------------------


def markdown(*cells, **options) -> str:
    notebook = new_notebook(cells=list(cells))
    options = {"lessons": ["01_a", "02_b"]} | options
    return lesson.as_markdown(notebook, lesson.Page("01_a"), **options)


def test_links_go_to_pages_that_are_there():
    text = "[two](02_b.ipynb), [its part](02_b.ipynb#A-part), [three](03_c.ipynb#x), [a [b] c](02_b.ipynb), [web](https://a.b)"
    assert markdown(new_markdown_cell(text)) == (
        "[two](02_b.md), [its part](02_b.md#A-part), three, [a [b] c](02_b.md), [web](https://a.b)\n"
    )


def test_a_linked_cell_has_a_place():
    one = new_markdown_cell("[see](#cell-id=abc-1), [there](02_b.ipynb#cell-id=d), [gone](03_c.ipynb#cell-id=d)")
    two = new_markdown_cell("## Here", id="abc-1")
    assert lesson.linked_cells([new_notebook(cells=[one, two])]) == {"abc-1", "d"}
    made = markdown(one, two, aims={"abc-1"})
    assert '<a href="#cell-abc-1">see</a>, <a href="02_b.html#cell-d">there</a>, gone' in made
    assert made.index('<span class="aim" id="cell-abc-1"></span>') < made.index("## Here")


def test_only_what_is_asked_for_is_folded():
    def code(source, **metadata):
        return new_code_cell(source, outputs=[new_output("stream", text="7\n")], metadata=metadata)

    made = markdown(new_markdown_cell("**Predict.** Well?"), new_code_cell("x = 1"), code("one"), code("two"))
    assert "{.predict}\n**Predict.** Well?" in made
    assert made.count('<details class="result">') == 1
    assert made.index("one") < made.index("<details") < made.index("two")
    assert "<details" not in markdown(new_markdown_cell("1. **Predict.** Later."), code("one"))
    assert "Show the code" in markdown(code("x", jupyter={"source_hidden": True}))


def test_nothing_ends_its_block_too_early():
    made = markdown(new_code_cell('"""\n```\n````"""', outputs=[new_output("stream", text="a\n\n```\n`````\n")]))
    assert '`````python\n"""\n```\n````"""\n`````' in made
    assert "``````{raw} html\n" in made


def test_text_and_scripts_of_an_output_are_never_run():
    hostile = '<script>alert(1)</script><img src=x onerror="alert(1)">'
    for output in (
        new_output("stream", text=hostile),
        new_output("error", traceback=[hostile]),
        new_output("display_data", {"text/html": hostile, "text/plain": hostile}),
    ):
        assert re.findall(r"<\w+", outputs.as_html(output, None)) == ["<pre"]
    image = new_output("display_data", {"image/png": PNG}, metadata={"image/png": {"alt": hostile + '"', "width": 2}})
    shown = outputs.as_html(image, lambda ending, content: "a.png")
    assert re.findall(r"<\w+", shown) == ["<div", "<img"] and 'width="2" height="1"' in shown


PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + (4).to_bytes(4, "big") + (2).to_bytes(4, "big") + b"\x08\x06\0\0\0"
).decode()


def test_a_stored_moving_picture_lives_again():
    data = {"name": "drag_the_query", "data": moving.drag_the_query().data}
    about = {"moving": data, "image/png": {"alt": "A still."}}
    output = new_output("display_data", {"image/png": PNG, "text/plain": "still"}, metadata=about)
    shown = outputs.as_html(output, lambda ending, content: "still.png")
    assert "<iframe" in shown and shown.index("<iframe") < shown.index("<details>") < shown.index("still.png")
    output.metadata["moving"]["name"] = "../secret"
    with pytest.raises(ValueError, match="name must be one of"):
        outputs.as_html(output, lambda ending, content: "still.png")


@pytest.mark.parametrize(
    "latex, words",
    [(r"\sqrt{d_k}", "√d_k"), (r"W_Q", "W_Q"), (r"d_{\text{model}}", "d_model"), (r"\sqrt 2", "√2")],
)
def test_a_formula_in_words(latex, words):
    assert in_words(latex) == words


def test_a_broken_formula_is_named():
    with pytest.raises(ValueError, match=r"not understood: 'x\^'"):
        formula("x^", "inline")


def test_the_font_has_the_characters_of_the_formulas_and_their_italics():
    pages = ["<p>no</p><math><mi>h</mi><mo>&#x03B1;</mo></math>", "<math><mi>Q</mi></math>"]
    assert font.letters(pages) == set("√hαQℎ𝛼𝑄")


# --- bad input ---------------------------------------------------------------------------------


def complaint(capsys, *arguments) -> str:
    assert main([str(argument) for argument in arguments]) == 2
    return capsys.readouterr().err


def test_a_missing_lesson_is_named(capsys, tmp_path):
    assert "There is no lesson '77'" in complaint(capsys, "--lessons", "77", "--output", tmp_path / "site")
    assert "holds no lessons" in complaint(capsys, "--notebooks", tmp_path, "--output", tmp_path / "site")
    (tmp_path / "03_broken.ipynb").write_text("{", encoding="utf-8")
    said = complaint(capsys, "--notebooks", tmp_path, "--output", tmp_path / "site")
    assert "03_broken.ipynb is not a notebook" in said and not (tmp_path / "site").exists()


def test_a_folder_of_somebody_elses_is_left_alone(capsys, tmp_path):
    (tmp_path / "diary.txt").write_text("mine")
    said = complaint(capsys, "--lessons", "01", "--output", tmp_path)
    assert "is not empty, and this command did not make it" in said
    assert [path.name for path in tmp_path.iterdir()] == ["diary.txt"]
    assert "is a file" in complaint(capsys, "--lessons", "01", "--output", tmp_path / "diary.txt")


@pytest.mark.parametrize("package", ["sphinx", "myst_parser", "latex2mathml"])
def test_a_missing_builder_is_named(capsys, tmp_path, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    said = complaint(capsys, "--lessons", "01", "--output", tmp_path / "site")
    assert said.startswith(f"The site needs the package {package}") and "pip install -r requirements.txt" in said
    assert not (tmp_path / "site").exists()


def test_a_readme_of_another_form_is_named():
    whole = home.read(README, LESSONS)
    assert [row.name for row in whole.rows] == LESSONS and len(whole.ways) == 4 and len(whole.aims) > 5
    assert whole.command.startswith("python3 -m venv")
    with pytest.raises(ValueError, match="no row for 77_new"):
        home.read(README, [*LESSONS, "77_new"])
    for cut, missing in [
        ("- **Everything**", "no path - .*Everything"),
        ("## What you will be able to do", "no list 'What you will"),
        ("lesson_kit start\n```", "no command that ends in 'start'"),
    ]:
        with pytest.raises(ValueError, match=missing):
            home.read(README.replace(cut, "x"), LESSONS)


@pytest.mark.parametrize("minutes, hours", [([35], "½"), ([40, 25], "1"), ([90], "1½"), ([100, 150], "4")])
def test_hours_are_rounded_to_the_half(minutes, hours):
    assert home.Way("", "", tuple(home.Row("", "", "", "", each) for each in minutes)).hours == hours


def test_a_path_in_words_is_numbers():
    assert home.numbers("01 to 03, then 13 to 15") == {"01", "02", "03", "13", "14", "15"}
