"""Builds the site into a folder: notebooks in, pages out, and no link that leads nowhere."""

import io
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import unescape
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from nbformat import NotebookNode

from classroom._files import CHECKOUT, ClassroomError, read_notebook
from classroom.build import check_folder, put_in_place
from classroom.printing import worksheets
from lesson_kit import colours
from lesson_kit.working_copies import cleared
from tools.addresses import address
from tools.site import font, home, lesson

NAME = "Attention, by Hand"
THEME = Path(__file__).parent
HERO = {  # the moving picture of the first page: three words, by hand
    "names": ["river", "bank", "money"],
    "keys": [[2, -1], [2, 2], [-1, 2]],
    "values": [[4, 0], [3, 3], [0, 4]],
    "query": [1, 0.5],
    "features": ("water", "money"),
}
UNUSED = [".buildinfo", "objects.inv", *(f"_static/{name}" for name in ("basic.css", "pygments.css"))]  # Sphinx's
COLOURS = {
    "ground": colours.GROUND, "text": colours.TEXT, "link": colours.LINK, "border": colours.BORDER,
    "quiet": colours.QUIET, "code-ground": colours.CODE_GROUND, "good": colours.GOOD, "bad": colours.BAD,
    "paper": (colours.PAPER, colours.PAPER), "soft": colours.SOFT, "line": colours.HAIRLINE,
    "accent": colours.KEY, "query": colours.QUERY, "key": colours.KEY, "value": colours.VALUE,
    "tint": colours.TINT,
} | {f"code-{kind}": pair for kind, pair in colours.CODE.items()}  # fmt: skip


class SiteError(ClassroomError):
    """The site can't be built; the message says why, and is shown without a traceback."""


@dataclass(frozen=True)
class Built:
    """What was built. ``pages``: for each page its own bytes, and those of it with all that it loads."""

    folder: Path
    files: int
    size: int
    pages: dict[str, tuple[int, int]]


def build(notebooks: Sequence[Path], folder: Path, solutions: bool = True, force: bool = False) -> Built:
    """Makes the site of these lessons in ``folder``, which is new, empty, or made by an earlier call.

    solutions: without them the solutions are left out, and the links to where the lessons can be run with them; the
        worksheets have no answer sheets.

    Raises:
        ClassroomError: a notebook is missing or none; ``folder`` holds something else (unless ``force``); the browser
            that was found can't print the worksheets.
        SiteError: a package is not installed; Sphinx complains about a lesson; a link leads nowhere.
        OSError: the folder can't be written.
    """
    check_folder(folder, force)
    lessons = {path.stem: read_notebook(path) for path in notebooks}
    _expect_packages()
    with TemporaryDirectory() as temporary:
        source, made = Path(temporary) / "source", Path(temporary) / "made"
        _write_source(lessons, notebooks, source, solutions)
        with ThreadPoolExecutor(1) as pool:  # browsers print the worksheets while Sphinx is at work
            sheets = pool.submit(_write_worksheets, lessons, Path(temporary) / "worksheets", solutions)
            _run_sphinx(source, made, _context(lessons, solutions))
            sheets.result()
        if (Path(temporary) / "worksheets").exists():
            (Path(temporary) / "worksheets").rename(made / "worksheets")
        font.write(
            [page.read_text(encoding="utf-8") for page in made.glob("*.html")], made / "_static" / "formulas.woff"
        )
        for name in UNUSED:
            (made / name).unlink(missing_ok=True)
        if wrong := broken_links(made):
            raise SiteError("\n".join(["These links lead nowhere:", *wrong]))
        pages = weigh(made)
        files = put_in_place(made, folder, force)
    return Built(folder, files, sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()), pages)


def _expect_packages() -> None:
    for package in ("sphinx", "myst_parser", "latex2mathml"):
        try:
            import_module(package)
        except ModuleNotFoundError as error:
            raise SiteError(
                f"The site needs the package {error.name}, which is not installed here. "
                "Type: .venv/bin/pip install -r requirements.txt"
            ) from error


def _write_source(lessons: dict[str, NotebookNode], notebooks: Sequence[Path], source: Path, solutions: bool) -> None:
    """What Sphinx reads: a Markdown file for each lesson; beside them, in ``extra``, what is taken as it is."""
    (source / "extra" / "figures").mkdir(parents=True)
    aims = lesson.linked_cells(lessons.values())
    for name, notebook in lessons.items():
        page = lesson.Page(name)
        text = lesson.as_markdown(notebook, page, lessons, aims, solutions)
        (source / f"{name}.md").write_text(text, encoding="utf-8")
        for place, content in page.files.items():
            (source / "extra" / place).write_bytes(content)
    (source / "index.md").write_text("\n".join([f"# {NAME}", "", "```{toctree}", *lessons, "```", ""]))
    (source / "extra" / ".nojekyll").touch()  # GitHub's pages leave out what begins with an underscore otherwise
    if solutions:
        (source / "extra" / "notebooks").mkdir()
        for path in notebooks:
            (source / "extra" / "notebooks" / path.name).write_text(cleared(path), encoding="utf-8")


def _write_worksheets(lessons: Iterable[str], folder: Path, solutions: bool) -> None:
    """The sheets of those lessons that have one."""
    if names := [name for name in lessons if name in worksheets.SHEETS]:
        worksheets.write(folder, names, answers=solutions, lessons="..")


def _context(lessons: dict[str, NotebookNode], solutions: bool) -> dict:
    """What the templates of ``theme`` may say."""
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    try:
        first_page = home.read(readme, lessons)
    except ValueError as error:
        raise SiteError(f"{error}; the site's first page is made of it.") from error
    return {
        "home": first_page,
        "hero": _hero(),
        "repository": address(),
        "public": solutions,
        "colours": colours.as_css(COLOURS),
    }


def _hero() -> str:
    """The moving picture of the first page."""
    from lesson_kit.show import moving  # here: torch comes with it

    return moving.drag_the_query(**HERO).frame


def _run_sphinx(source: Path, made: Path, context: dict) -> None:
    """Sphinx, in this process; whatever it warns of is an error."""
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    warnings = io.StringIO()
    try:
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                source,
                None,
                made,
                source.parent / "doctrees",
                "html",
                confoverrides=configuration(source, context),
                status=None,
                warning=warnings,
                freshenv=True,
            )
            app.build()
    except (SphinxError, ValueError) as error:
        raise SiteError(f"Sphinx can't build the site: {error}") from error
    if found := warnings.getvalue().strip():
        raise SiteError(re.sub(r"\x1b\[[\d;]*m", "", found.replace(f"{source}/", "")))


def configuration(source: Path, context: dict) -> dict:
    """What would stand in Sphinx's conf.py."""
    return {
        "project": NAME,
        "html_title": NAME,
        "language": "en",
        "extensions": ["myst_parser", "tools.site.extension"],
        "exclude_patterns": ["extra"],
        "html_theme": "theme",
        "html_theme_path": [str(THEME)],
        "html_context": context,
        "html_extra_path": [str(source / "extra")],
        "html_math_renderer": "mathml",
        "html_copy_source": False,
        "html_use_index": False,
        "html_domain_indices": False,
        "html_permalinks_icon": "#",
        "pygments_style": "none",
        "highlight_language": "text",
        "smartquotes": False,
        "myst_enable_extensions": ["attrs_block", "dollarmath"],
        "myst_dmath_double_inline": True,
        "myst_heading_anchors": 4,
        "myst_heading_slug_func": "tools.site.lesson.slug",
    }


# --- what was made ----------------------------------------------------------------------------

TARGET = re.compile(r'\s(?:href|src)="([^"]*)"')
PLACE = re.compile(r'\sid="([^"]*)"')


def broken_links(folder: Path) -> list[str]:
    """Each link or picture of a page below ``folder`` that is not there, or no such place in it, as a sentence."""
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.html"))}
    places = {path: {unescape(place) for place in PLACE.findall(html)} for path, html in pages.items()}
    wrong = []
    for path, html in pages.items():
        for link in sorted({unescape(link) for link in TARGET.findall(html)}):
            if re.match(r"[a-z]+:", link):  # another site, or data
                continue
            name, _, place = link.partition("#")
            there = (path.parent / unquote(name.partition("?")[0])) if name else path
            if not there.is_file() or (place and unquote(place) not in places.get(there.resolve(), places.get(there))):
                wrong.append(f"{path.name}: {link}")
    return wrong


def weigh(folder: Path) -> dict[str, tuple[int, int]]:
    """For each page its own bytes, and those of it with every script, style and picture that it names."""
    weights = {}
    for path in sorted(folder.glob("*.html")):
        html = path.read_text(encoding="utf-8")
        names = set(re.findall(r'<(?:img|script)[^>]*\ssrc="([^"?#]+)', html))
        names |= set(re.findall(r'<link rel="(?:stylesheet|icon)"[^>]*\shref="([^"?#]+)', html))
        own = path.stat().st_size
        there = [path.parent / unquote(name) for name in names if not re.match(r"[a-z]+:", name)]
        weights[path.stem] = (own, own + sum(file.stat().st_size for file in there if file.is_file()))
    return weights
