"""What a known mistake does to the numbers: on one small input, beside what is right."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from lesson_kit.check.engine.differences import difference, first
from lesson_kit.check.engine.display import as_paragraphs
from lesson_kit.check.engine.errors import error_text
from lesson_kit.check.engine.run import Call, describe, run, tells_apart

# "Exercise" below is that of exercise.py, which stands on this module: it isn't imported.

SHOWN = 6  # so many rows and columns of a table
INPUTS = 60  # so many numbers of inputs, all together, are still shown


@dataclass(repr=False)
class WorkedExample:
    """In words, and as tables."""

    sentences: list[str] = field(default_factory=list)
    tables: list = field(default_factory=list)

    def __repr__(self) -> str:
        return "\n".join([*self.sentences, *map(repr, self.tables)])

    def _repr_html_(self) -> str:
        return as_paragraphs("\n".join(self.sentences)) + in_html(self.tables)


def in_html(tables: list) -> str:
    """Side by side, where there is room."""
    if not tables:
        return ""
    style = "display: flex; flex-wrap: wrap; gap: 0.5em 2em; align-items: start"
    return f'<div style="{style}">{"".join(table._repr_html_() for table in tables)}</div>'


def worked_example(exercise: "Exercise", slug: str) -> WorkedExample:
    """What the known mistake gives on the input that shows it best, and what is right."""
    way = exercise.mistakes[slug].ways[0]
    examples = [] if exercise.example is None else [exercise.example]
    for args in examples + sorted(exercise.inputs(), key=_hard_to_see):  # else the smallest first, as they come
        right, wrong = run(exercise.reference, args).output, run(way, args)
        if tells_apart(wrong, wrong, right):
            named = dict(zip(exercise.arguments, args, strict=True))
            return _compared(slug, named, right, wrong)
    return WorkedExample()


def _hard_to_see(args: tuple) -> bool:
    """Not one matrix each, of several rows and columns: a single row or a batch of one can hide what goes wrong."""
    shapes = [arg.shape for arg in args if isinstance(arg, Tensor) and arg.dim() > 1]
    few = sum(arg.numel() for arg in args if isinstance(arg, Tensor)) <= INPUTS
    return not (few and shapes and all(len(shape) == 2 and min(shape) > 1 for shape in shapes))


def _compared(slug: str, named: dict[str, Any], right: Any, wrong: Call) -> WorkedExample:
    tensors = {name: arg for name, arg in named.items() if isinstance(arg, Tensor) and arg.dim() > 0}
    if sum(map(Tensor.numel, tensors.values())) > INPUTS:
        tensors = {}
    tables = [_table(arg, f"input {name}") for name, arg in tensors.items()]
    inputs = ", ".join(f"`{name}` {describe(arg)}" for name, arg in named.items())
    if wrong.error:
        text = f"For {inputs}: with this mistake it raises {error_text(wrong.error)}."
        shown = [_table(part, "right") for _, part in _parts(right) if isinstance(part, Tensor)]
        return WorkedExample([text], tables + shown)
    wrong_parts = dict(_parts(wrong.output))
    for name, part in _parts(right):
        mine = wrong_parts.get(name)
        if not isinstance(part, Tensor) or not isinstance(mine, Tensor):
            if part is not mine and difference(mine, part):
                text = f"For {inputs}: right is {part!r}{name}; with this mistake it is {mine!r}."
                return WorkedExample([text], tables)
        elif fault := difference(mine, part):
            tables += _side_by_side(part, mine, name, slug, fault.slug)
    return WorkedExample([f"For {inputs}: what is right, and what comes with this mistake."], tables)


def _parts(result: Any, name: str = "") -> list[tuple[str, Any]]:
    """The parts of a tuple, also of one in it, each with its name."""
    if type(result) is not tuple:
        return [(name, result)]
    return [part for n, each in enumerate(result, start=1) for part in _parts(each, f"{name or ', part'} {n}".rstrip())]


def _side_by_side(right: Tensor, wrong: Tensor, name: str, slug: str, fault: str) -> list:
    """Both, at the first place where they differ, with as many digits as tell them apart."""
    at = None
    if right.shape == wrong.shape and right.dim() > 0 and fault in ("wrong-value", "not-finite"):
        at = first(~torch.isclose(wrong, right, rtol=2e-4, atol=2e-4, equal_nan=True))
    titles = f"right{name}", f"with {slug}{name}"
    for digits in (2, 4, 6):
        tables = [_table(tensor, title, at, digits) for tensor, title in zip((right, wrong), titles, strict=True)]
        if at is None or tables[0].cells != tables[1].cells:
            break
    return tables


def _table(tensor: Tensor, title: str, at: tuple[int, ...] | None = None, digits: int = 2):
    """The part of a tensor around one place: a matrix of at most ``SHOWN`` rows and columns."""
    from lesson_kit.show import matrix  # matplotlib comes with it: not at import

    whole = tuple(tensor.shape)
    if tensor.numel() == 0:
        return matrix([["none"]], columns=["entries"], title=f"{title} {whole}")
    at = at or (0,) * tensor.dim()
    tensor = tensor.detach()[at[:-2]] if tensor.dim() > 2 else tensor.detach().reshape(-1, whole[-1] if whole else 1)
    row, column = (0, 0, *at)[-2:]
    starts = [place - place % SHOWN for place in (row, column)]
    shown = tensor[tuple(slice(start, start + SHOWN) for start in starts)]
    cells = (
        shown.tolist()
        if shown.is_floating_point() or shown.dtype == torch.bool
        else [[str(number) for number in line] for line in shown.tolist()]
    )
    part = "" if shown.numel() == torch.Size(whole).numel() else ", a part"
    rows, columns = (range(start, start + n) for start, n in zip(starts, shown.shape, strict=True))  # as Python counts
    return matrix(cells, rows, columns, title=f"{title} {whole}{part}", digits=digits)
