"""The student's version of a lesson: nothing to copy from, and something left to predict."""

import copy
import re

from nbformat import NotebookNode

from classroom.versions.lesson import Lesson, without_folded

LINKS = re.compile(r"^\[Open in Binder\].*$\n*", flags=re.MULTILINE)


def student_version(lesson: Lesson, hints: bool = True, links: bool = False) -> NotebookNode:
    """The lesson without its solutions and its outputs; stubs and quiz stay.

    Args:
        lesson: the lesson.
        hints: do the hints stay?
        links: do the links to Binder and Colab stay? They open the public lesson, which has the solutions.
    """
    notebook = copy.deepcopy(lesson.notebook)
    helps = {exercise.help for exercise in lesson.exercises}
    cells = []
    for place, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        else:
            gone = ("Solution",) if hints or place not in helps else ("Solution", "Hint")
            cell.source = without_folded(cell.source, *gone)
        if cell.source or cell.cell_type == "code":
            cells.append(cell)
    notebook.cells = cells
    first = cells[0]
    if not links:
        first.source = LINKS.sub("", first.source)
    away = "The solutions are" if hints else "The hints and the solutions are"
    first.source += f"\n\n**Version for the class.** {away} with your teacher. "
    first.source += "The outputs are cleared: there is something to predict."
    return notebook
