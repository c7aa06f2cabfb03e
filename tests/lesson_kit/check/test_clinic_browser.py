"""From the story of a mistake to its patient in lesson 19, in a real JupyterLab: the link, and the index there."""

import shutil
from pathlib import Path

import nbformat
import pytest
from browsing import cut_off

from lesson_kit import check
from lesson_kit.check.clinic import CLINIC

LESSON = Path(__file__).parents[3] / "notebooks" / CLINIC


@pytest.fixture
def open_story(browser, jupyter):
    """A page with a notebook that shows the story of a mistake; lesson 19 lies beside it and is not open yet."""
    address, folder = jupyter
    shutil.copy(LESSON, folder / CLINIC)
    pages = []

    def open_page(slug, exercise):
        html = check.explain(slug, exercise)._repr_html_()
        output = nbformat.v4.new_output("execute_result", {"text/html": html}, execution_count=1)
        cell = nbformat.v4.new_code_cell("check.explain()", execution_count=1, outputs=[output])
        notebook = nbformat.v4.new_notebook(cells=[cell])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, folder / "story.ipynb")
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        pages.append(page)
        cut_off(page)
        page.goto(f"{address}/lab/tree/story.ipynb?reset")
        return page

    yield open_page
    for page in pages:
        page.close()


def in_sight(page, heading) -> bool:
    """Does the heading stand in the window? A link that went through lets it stand there within a moment."""
    found = page.get_by_role("heading", name=heading)
    for _ in range(20):
        page.wait_for_timeout(300)
        box = found.first.bounding_box() if found.count() else None
        if box and 0 < box["y"] < 900:
            return True
    return False


def test_a_story_leads_to_its_patient(open_story):
    slug, exercise, patient = "gelu-instead-of-relu", "feed_forward", "Patient 28: ReLU in BERT"
    page = open_story(slug, exercise)
    link = page.get_by_role("link", name=patient)
    link.wait_for(timeout=60_000)
    assert f"choose {patient.split(':')[0]} in the list there" in page.locator(".jp-OutputArea").last.inner_text()
    link.click()
    page.get_by_role("heading", name="19 · The bug clinic").wait_for(timeout=60_000)
    entry = page.get_by_role("link", name=patient.removeprefix("Patient "), exact=True)
    entry.wait_for(timeout=60_000)
    page.wait_for_timeout(5000)
    for _ in range(10):  # what it leads to must have been drawn: lesson 19 says to choose again until then
        entry.evaluate("link => link.click()")
        if in_sight(page, patient):
            return
    raise AssertionError(f"{patient} never came into sight")
