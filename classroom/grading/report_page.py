"""The report as a picture and as a page: one file, without scripts, for light and dark and for screen readers."""

import re
from html import escape

from classroom._files import counted
from classroom.grading.process import Grade
from classroom.grading.submissions import LESSONS, Remark, Submission
from classroom.grading.summary import (
    ENDED,
    MISSING,
    MISTAKE,
    OTHER,
    OUTCOMES,
    PASSED,
    RAISED,
    UNTOUCHED,
    Common,
    counts,
    in_short,
    outcome,
)
from lesson_kit import colours, show
from lesson_kit.show.figures import Picture, picture

MOST = 12  # mistakes in the picture
# Told apart in grey too: by lightness, by hatching, and by the number in each bar.
LOOKS = {
    PASSED: (*colours.BARS["passed"], ""),
    MISTAKE: (*colours.BARS["known mistake"], ""),
    OTHER: (*colours.BARS["other mistake"], "//"),
    RAISED: (*colours.BARS["raised"], ""),
    ENDED: (*colours.BARS["stopped"], "xx"),
    UNTOUCHED: (*colours.BARS["nothing"], ""),
    MISSING: (*colours.BARS["nothing"], ".."),
}
SIGNS = {PASSED: "✓", MISTAKE: "✗", OTHER: "✗", RAISED: "!", ENDED: "■", UNTOUCHED: "–", MISSING: "–"}
CLASSES = {PASSED: "passed", UNTOUCHED: "open", MISSING: "open"}
THEME = colours.as_css({
    "page": colours.GROUND, "text": colours.TEXT, "line": colours.BORDER, "soft": colours.CODE_GROUND,
    "good": colours.GOOD, "bad": colours.BAD, "quiet": colours.QUIET,
})  # fmt: skip
CSS = (
    f":root {{ color-scheme: light dark; {THEME} }}"
    + """
body { background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto;
  max-width: 75rem; padding: 1rem 1.5rem 4rem; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 3rem; } p, li { max-width: 45rem; }
.wide { overflow-x: auto; } .wide:focus-visible { outline: 3px solid currentColor; }
table { border-collapse: collapse; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding: 0.4rem 0; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
thead th { background: var(--soft); } tbody th { font-weight: 600; } td.number { text-align: right; }
.passed { color: var(--good); } .wrong { color: var(--bad); font-weight: 600; } .open { color: var(--quiet); }
summary { cursor: pointer; } details p { color: var(--text); font-weight: 400; max-width: 24rem; margin: 0.4rem 0; }
img { max-width: 100%; height: auto; border: 1px solid var(--line); } code { overflow-wrap: anywhere; }
@media print { .wide { overflow: visible; } }
"""
)


def draw(submissions: list[Submission], common: list[Common]) -> Picture:
    """Passes per exercise, and below them the commonest mistakes; its alternative text says the same."""
    lessons = sorted({each.lesson for each in submissions})
    rows = [(lesson, name, tally) for lesson in lessons for name, tally in counts(submissions, lesson).items()]
    shown = common[:MOST]
    heights = [1.6 + 0.38 * len(rows), 1.2 + 0.38 * max(len(shown), 1)]
    fig, (above, below) = show.subplots(2, 1, figsize=(9.5, sum(heights)), height_ratios=heights)
    labels = [f"{lesson}  {name}" for lesson, name, _ in rows]
    so_far = [0] * len(rows)
    for kind in [kind for kind in OUTCOMES if any(tally[kind] for _, _, tally in rows)]:
        colour, ink, hatch = LOOKS[kind]
        widths = [tally[kind] for _, _, tally in rows]
        above.barh(labels, widths, 0.7, left=so_far, color=colour, hatch=hatch, edgecolor=colours.EDGE, label=kind)
        for row, (start, width) in enumerate(zip(so_far, widths, strict=True)):
            if width:
                box = {"facecolor": colour, "edgecolor": "none", "pad": 1} if hatch else None
                above.text(start + width / 2, row, width, ha="center", va="center", color=ink, fontsize=9, bbox=box)
        so_far = [start + width for start, width in zip(so_far, widths, strict=True)]
    above.set(title="The outcomes of each exercise", xlabel="submissions")
    above.legend(loc="upper center", bbox_to_anchor=(0.4, -1.0 / heights[0]), ncols=4, frameon=False)
    below.barh(
        [f"{each.exercise}: {each.name}" for each in shown],
        [each.count for each in shown],
        0.7,
        color=LOOKS[MISTAKE][0],
        edgecolor=colours.EDGE,
    )
    for row, each in enumerate(shown):
        below.text(each.count / 2, row, each.count, ha="center", va="center", fontsize=9)
    below.set(title="The commonest mistakes" if shown else "No mistakes", xlabel="learners")
    for axes in (above, below):
        axes.invert_yaxis()
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(axis="y", visible=False)
    passes = "; ".join(f"{name} {tally[PASSED]} of {sum(tally.values())}" for _, name, tally in rows)
    made = "; ".join(f"{each.name} in {each.exercise} ({each.count})" for each in shown) or "none"
    alt = f"Two bar charts. Passed, by exercise: {passes}. The commonest mistakes: {made}."
    return picture(fig, alt)


def page(submissions: list[Submission], remarks: list[Remark], common: list[Common], image: Picture | None) -> str:
    """The report in HTML. ``image`` is None where there is nothing to draw."""
    people = len({each.person for each in submissions})
    left_out = sum(each.left_out for each in remarks)
    intro = f"{counted(len(submissions), 'notebook')} graded, from {counted(people, 'learner')}; {left_out} left out."
    parts = [f"<h1>Who passed what</h1>\n<p>{intro}</p>"]
    if image:
        parts.append(f"<p>{image.html()}</p>")
    if remarks:
        items = "".join(f"<li><code>{escape(each.file)}</code>: {escape(each.text)}</li>\n" for each in remarks)
        parts.append(f"<h2>Files to look at</h2>\n<ul>\n{items}</ul>")
    if common:
        head = ["Learners", "Exercise", "What went wrong", "What the check says first", "To discuss"]
        body = [[str(e.count), f"{e.lesson} {e.exercise}", e.name, e.hint, e.discuss or "–"] for e in common]
        parts.append("<h2>The commonest mistakes</h2>")
        parts.append(_table("Mistakes, the commonest first", head, [[_cell(c) for c in row] for row in body], key=1))
    for lesson in sorted({each.lesson for each in submissions}):
        parts += _lesson_tables(lesson, [each for each in submissions if each.lesson == lesson])
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Who passed what</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
        f"<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _lesson_tables(lesson: str, submissions: list[Submission]) -> list[str]:
    table = counts(submissions, lesson)
    kinds = [kind for kind in OUTCOMES if kind == PASSED or any(tally[kind] for tally in table.values())]
    rows = [[_cell(name), *(_cell(str(tally[kind])) for kind in kinds)] for name, tally in table.items()]
    people = []
    for each in submissions:
        passed = sum(grade.passed for grade in each.grades.values())
        cells = [_outcome(name, grade) for name, grade in each.grades.items()]
        people.append([_cell(each.learner), *cells, _cell(f"{passed} of {len(each.grades)}")])
    return [
        f"<h2>Lesson {lesson}</h2>",
        _table(f"Lesson {lesson}: how many submissions", ["Exercise", *kinds], rows),
        _table(f"Lesson {lesson}: each learner", ["Learner", *LESSONS[lesson], "passed"], people),
    ]


def _cell(text: str) -> str:
    number = ' class="number"' if text.isdecimal() else ""
    return f"<td{number}>{_prose(text)}</td>"


def _prose(text: str) -> str:
    """Escaped, with code where backticks are."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _outcome(exercise: str, grade: Grade) -> str:
    """A cell: a sign, the outcome in words, and behind it, for what went wrong, all that the check says."""
    kind = outcome(exercise, grade)
    words = f'<span aria-hidden="true">{SIGNS[kind]}</span> {escape(in_short(exercise, grade))}'
    if kind not in CLASSES:
        text = "".join(f"<p>{_prose(line)}</p>" for line in grade.text.splitlines() if line.strip())
        words = f"<details><summary>{words}</summary>{text}</details>"
    return f'<td class="{CLASSES.get(kind, "wrong")}">{words}</td>'


def _table(caption: str, columns: list[str], rows: list[list[str]], key: int = 0) -> str:
    """``rows`` hold whole cells; the one at place ``key`` is the row's header."""
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = ""
    for row in rows:
        named = row[key].replace("<td", '<th scope="row"', 1).removesuffix("</td>") + "</th>"
        body += f"<tr>{''.join([*row[:key], named, *row[key + 1 :]])}</tr>\n"
    caption = escape(caption)
    return (
        f'<div class="wide" role="region" aria-label="{caption}" tabindex="0"><table><caption>{caption}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>"
    )
