"""Mutants of every exercise's right answers: does the exercise's check refuse them?

    python tests/mutation/exercises.py                   all exercises
    python tests/mutation/exercises.py softmax attend    only these

A right answer is the lesson's own solution, the check's reference, or one of ``right_formulations.py``. Each is changed
in one small place at a time, and the check of its exercise is asked about each change.

A survivor is equivalent if the exercise's contract has no input that tells it from the right answer: 100 are drawn at
random (``contracts.py``). Prints what each other survivor changed, with ``-v`` also the equivalent ones, then a table.
Ends with an error if fewer than 98 of 100 of those that are not equivalent were refused.
"""

import ast
import contextlib
import copy
import difflib
import inspect
import io
import math
import multiprocessing
import os
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "lesson_kit" / "check"), str(Path(__file__).parent)]

import torch  # noqa: E402
from contracts import within  # noqa: E402
from right_formulations import RIGHT  # noqa: E402
from test_check_hints import SOLUTIONS  # noqa: E402

from lesson_kit import check  # noqa: E402
from lesson_kit.check.engine import limits  # noqa: E402

ENOUGH = 0.98
WIDE = 100  # inputs, drawn at random, that tell whether a survivor is equivalent
SECONDS = 2.0  # for one call; a few milliseconds are usual
MEMORY = 6 * 2**30  # bytes: a constant changed may ask for far more

# What stands in for what: each of a row for each other one. A name may stand in several rows.
SWAPS = [
    ("sum", "mean", "amax", "amin", "max", "min", "prod", "std", "var", "norm"),
    ("softmax", "log_softmax", "sigmoid"),
    ("exp", "log", "sqrt", "abs", "exp2"),
    ("log", "log2", "log1p", "log10"),
    ("sin", "cos", "tan"),
    ("relu", "gelu", "silu", "tanh", "sigmoid", "abs"),
    ("tril", "triu"),
    ("zeros", "ones", "zeros_like", "ones_like"),
    ("zeros_like", "ones_like"),
    ("argmax", "argmin"),
    ("maximum", "minimum"),
    ("repeat", "repeat_interleave"),
    ("cat", "stack"),
    ("any", "all"),
    ("cumsum", "cumprod"),
    ("rand", "randn"),
    ("floor", "ceil"),
    ("softmax", "exp"),
    ("matmul", "mul"),
    ("add", "sub"),
    ("mul", "div"),
    ("logsumexp", "amax", "sum"),
    ("amax", "argmax"),
    ("float32", "float64", "int64"),
    ("gt", "ge", "lt", "le", "eq", "ne"),
]
OPERATORS = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Div),
    ast.Mult: (ast.Div, ast.Add, ast.MatMult),
    ast.Div: (ast.Mult, ast.FloorDiv, ast.Sub),
    ast.FloorDiv: (ast.Div, ast.Mult, ast.Mod),
    ast.Mod: (ast.FloorDiv, ast.Mult),
    ast.Pow: (ast.Mult, ast.Div),
    ast.MatMult: (ast.Mult, ast.Add),
    ast.BitAnd: (ast.BitOr, ast.BitXor),
    ast.BitOr: (ast.BitAnd, ast.BitXor),
    ast.BitXor: (ast.BitAnd, ast.BitOr),
}
COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE, ast.Eq, ast.NotEq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}


# Told from the right answer by some inputs of the contract, and right all the same: (exercise, new line) -> why.
EQUIVALENT = {
    (
        "scaled_dot_product_attention",
        "scores -= scores.detach().prod(-1, keepdim=True)",
    ): "any number may be taken from a row; this one overflows where scores are high, which is not asked here",
}


# --- making mutants ----------------------------------------------------------------------------


def mutants(source: str) -> Iterator[str]:
    """Every function that differs from this one in one small place, once each, the original left out."""
    tree = ast.parse(textwrap.dedent(source)).body[0]
    tree.decorator_list = []
    if ast.get_docstring(tree) is not None and len(tree.body) > 1:
        del tree.body[0]
    seen = {ast.unparse(tree)}
    names = _local_names(tree)
    for parent in list(ast.walk(tree)):
        for place, put in _places(parent):
            for other in _instead(place, names):
                put(other)
                text = ast.unparse(ast.fix_missing_locations(tree))
                put(place)
                if text not in seen:
                    seen.add(text)
                    yield text


def _local_names(tree: ast.FunctionDef) -> list[str]:
    arguments = [arg.arg for node in ast.walk(tree) if isinstance(node, ast.arguments) for arg in node.args]
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return sorted({*arguments, *stored})


def _places(parent: ast.AST) -> Iterator[tuple[ast.AST, Callable]]:
    """Each child that may be replaced, and the function that puts another in its place."""
    if isinstance(parent, ast.keyword) and parent.arg == "strict":
        return
    for name, value in ast.iter_fields(parent):
        if name in ("annotation", "returns", "decorator_list", "args") and isinstance(
            parent, ast.FunctionDef | ast.arg
        ):
            continue
        if isinstance(value, ast.expr | ast.slice):
            yield value, lambda other, name=name: setattr(parent, name, other)
        elif isinstance(value, list):
            for i, child in enumerate(value):
                if isinstance(child, ast.expr | ast.stmt):
                    yield child, lambda other, i=i, value=value: value.__setitem__(i, other)


def _instead(node: ast.AST, names: list[str]) -> Iterator[ast.AST]:
    """What is put in a node's place, one after the other."""
    if isinstance(node, ast.stmt):
        yield from _statements(node)
        return
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return
    make = {
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.Compare: _comparison,
        ast.BoolOp: _boolean,
        ast.IfExp: _conditional,
        ast.Constant: _constant,
        ast.Call: _call,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Tuple: _sequence,
        ast.List: _sequence,
        ast.ListComp: _comprehension,
        ast.GeneratorExp: _comprehension,
    }.get(type(node))
    if isinstance(node, ast.Name) and node.id in names:
        yield from (ast.Name(other, ast.Load()) for other in names if other != node.id)
    elif make:
        yield from make(node)


def _changed(node: ast.AST, **fields) -> ast.AST:
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    if not isinstance(node, ast.Return | ast.Pass | ast.FunctionDef | ast.Import | ast.ImportFrom):
        yield ast.Pass()
    if isinstance(node, ast.Return) and node.value is not None:
        yield _changed(node, value=ast.UnaryOp(ast.USub(), node.value))
        yield _changed(node, value=ast.Call(ast.Name("abs", ast.Load()), [node.value], []))
    if isinstance(node, ast.AugAssign):
        target = copy.copy(node.target)
        yield ast.Assign([target], node.value)
        yield from (_changed(node, op=op()) for op in OPERATORS.get(type(node.op), ()))
    if isinstance(node, ast.If | ast.While):
        yield _changed(node, test=ast.UnaryOp(ast.Not(), node.test))
        if isinstance(node, ast.If):
            yield from (_changed(node, test=ast.Constant(value)) for value in (True, False))
        elif not (isinstance(node.test, ast.Constant)):
            yield _changed(node, test=ast.Constant(True))
    if isinstance(node, ast.Break | ast.Continue):
        yield ast.Continue() if isinstance(node, ast.Break) else ast.Break()
        yield ast.Return(None)
    if isinstance(node, ast.For):
        start = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
        for part in (ast.Slice(ast.Constant(1)), ast.Slice(None, ast.Constant(-1)), ast.Slice(None, ast.Constant(1))):
            yield _changed(node, iter=ast.Subscript(start, part, ast.Load()))
        yield _changed(node, iter=ast.Subscript(start, ast.Slice(None, None, ast.Constant(-1)), ast.Load()))


def _binary(node: ast.BinOp) -> Iterator[ast.expr]:
    yield from (_changed(node, op=op()) for op in OPERATORS.get(type(node.op), ()))
    yield node.left
    yield node.right
    left, right = node.left, node.right
    if not isinstance(node.op, ast.Mult | ast.BitAnd | ast.BitOr | ast.BitXor) and not (
        isinstance(node.op, ast.Add) and not isinstance(left, ast.List) and not isinstance(right, ast.List)
    ):
        yield _changed(node, left=right, right=left)
    if isinstance(left, ast.BinOp) and not _associative(left.op, node.op):  # (a op b) op2 c -> a op (b op2 c)
        yield _changed(left, right=_changed(node, left=left.right))
    if isinstance(right, ast.BinOp) and not _associative(node.op, right.op):  # a op (b op2 c) -> (a op b) op2 c
        yield _changed(right, left=_changed(node, right=right.left))
    if isinstance(node.op, ast.Pow) and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        yield _changed(left, left=_changed(node, left=left.left))  # (a + b) ** c -> a ** c + b


def _associative(first: ast.operator, second: ast.operator) -> bool:
    """Is (a first b) second c the same as a first (b second c)?"""
    rows = [
        (ast.Mult, ast.Mult),
        (ast.Mult, ast.Div),
        (ast.Add, ast.Add),
        (ast.Add, ast.Sub),
        (ast.MatMult, ast.MatMult),
    ]
    return (type(first), type(second)) in rows


def _unary(node: ast.UnaryOp) -> Iterator[ast.expr]:
    yield node.operand


def _comparison(node: ast.Compare) -> Iterator[ast.expr]:
    if len(node.ops) == 1:
        yield from (_changed(node, ops=[op()]) for op in COMPARISONS[type(node.ops[0])])


def _boolean(node: ast.BoolOp) -> Iterator[ast.expr]:
    yield _changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    yield from node.values


def _conditional(node: ast.IfExp) -> Iterator[ast.expr]:
    yield node.body
    yield node.orelse
    yield _changed(node, body=node.orelse, orelse=node.body)


def _constant(node: ast.Constant) -> Iterator[ast.expr]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        for other in dict.fromkeys((value + 1, value - 1, 0, 1, -value, 2 * value, value / 2, value * 10)):
            if other != value and not (isinstance(value, int) and other != int(other)):
                yield ast.Constant(int(other) if isinstance(value, int) else other)
    elif isinstance(value, str):
        yield from map(ast.Constant, _patterns(value))


def _patterns(text: str) -> Iterator[str]:
    """Of a pattern for einsum or einops, those with two axes exchanged, before or after the arrow."""
    if "->" not in text:
        return
    before, after = text.split("->")
    parts = [*before.split(","), after]
    for number, part in enumerate(parts):
        spaced = " " in part.strip()
        axes = part.split(" ") if spaced else list(part.replace("...", "…"))
        places = [i for i, axis in enumerate(axes) if axis.strip("()…").isalnum()]
        for one, other in zip(places, places[1:], strict=False):
            mine = list(axes)
            bare = [mine[i].strip("()") for i in (one, other)]
            mine[one], mine[other] = (
                mine[one].replace(bare[0], bare[1]),
                mine[other].replace(bare[1], bare[0]),
            )
            new = (" " if spaced else "").join(mine).replace("…", "...")
            changed = parts[:number] + [new] + parts[number + 1 :]
            yield ",".join(changed[:-1]) + "->" + changed[-1]


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _call(node: ast.Call) -> Iterator[ast.expr]:
    name, args = _called(node), node.args
    for row in SWAPS:
        for other in row if name in row else ():
            if other != name and isinstance(node.func, ast.Attribute):
                yield _changed(node, func=_changed(node.func, attr=other))
            elif other != name and isinstance(node.func, ast.Name) and name in dir(__builtins__):
                yield _changed(node, func=ast.Name(other, ast.Load()))
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        yield node.func.value  # x.f(...) -> x
    yield from (arg for arg in args if not isinstance(arg, ast.Starred))  # f(x) -> x
    for i in range(len(args) - 1):
        yield _changed(node, args=[*args[:i], args[i + 1], args[i], *args[i + 2 :]])
    if isinstance(node.func, ast.Attribute) and args and not _is_module(node.func.value):
        yield _changed(node, func=_changed(node.func, value=args[0]), args=[node.func.value, *args[1:]])
    yield from (_changed(node, args=[*args[:i], *args[i + 1 :]]) for i in range(len(args)))
    keywords = node.keywords
    for i, keyword in enumerate(keywords):
        if keyword.arg != "strict":
            yield _changed(node, keywords=[*keywords[:i], *keywords[i + 1 :]])
    if len(args) == 1 and isinstance(args[0], ast.BinOp) and isinstance(args[0].op, ast.Add | ast.Sub):
        total = args[0]  # f(a + b) -> f(a) + b, a + f(b): an eps that moves out of the root
        yield _changed(total, left=_changed(node, args=[total.left]))
        yield _changed(total, right=_changed(node, args=[total.right]))
    if name == "range":
        yield _changed(node, args=[ast.Constant(1), *args] if len(args) == 1 else args)
        last = ast.BinOp(args[-1] if len(args) < 3 else args[1], ast.Sub(), ast.Constant(1))
        yield _changed(node, args=[last] if len(args) == 1 else [args[0], last, *args[2:]])


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "F", "math", "np", "nn", "check")


def _attribute(node: ast.Attribute) -> Iterator[ast.expr]:
    for row in SWAPS:
        if node.attr in row and _is_module(node.value):
            yield from (_changed(node, attr=other) for other in row if other != node.attr)
    if node.attr in ("T", "mT", "values", "data", "H"):
        yield node.value
    if node.attr in ("min", "max"):
        yield _changed(node, attr={"min": "max", "max": "min"}[node.attr])


def _subscript(node: ast.Subscript) -> Iterator[ast.expr]:
    yield node.value


def _slice(node: ast.Slice) -> Iterator[ast.expr]:
    for end in ("lower", "upper", "step"):
        if getattr(node, end) is not None:
            yield _changed(node, **{end: None})
            yield _changed(node, **{end: ast.BinOp(getattr(node, end), ast.Add(), ast.Constant(1))})
            yield _changed(node, **{end: ast.BinOp(getattr(node, end), ast.Sub(), ast.Constant(1))})
    if node.lower is None:
        yield _changed(node, lower=ast.Constant(1))
    if node.upper is None:
        yield _changed(node, upper=ast.Constant(-1))
    if node.step is None and (node.lower or node.upper):
        yield _changed(node, step=ast.Constant(2))


def _sequence(node: ast.Tuple | ast.List) -> Iterator[ast.expr]:
    elements = node.elts
    for i in range(len(elements) - 1):
        yield _changed(node, elts=[*elements[:i], elements[i + 1], elements[i], *elements[i + 2 :]])
    if len(elements) > 1:
        yield from (_changed(node, elts=[*elements[:i], *elements[i + 1 :]]) for i in range(len(elements)))


def _comprehension(node: ast.ListComp | ast.GeneratorExp) -> Iterator[ast.expr]:
    for i, part in enumerate(node.generators):
        if part.ifs:
            other = _changed(part, ifs=part.ifs[1:])
            yield _changed(node, generators=[*node.generators[:i], other, *node.generators[i + 1 :]])
        whole = ast.Call(ast.Name("list", ast.Load()), [part.iter], [])
        for piece in (ast.Slice(ast.Constant(1)), ast.Slice(None, ast.Constant(-1))):
            other = _changed(part, iter=ast.Subscript(whole, piece, ast.Load()))
            yield _changed(node, generators=[*node.generators[:i], other, *node.generators[i + 1 :]])


# --- asking the checks -------------------------------------------------------------------------


@dataclass
class Found:
    """What came of one exercise's mutants: of those that passed the right answer, the mutant, and the same or not."""

    name: str
    asked: int = 0
    survivors: list[tuple[str, str, bool]] = field(default_factory=list)


def right_answers(name: str) -> Iterator[tuple[str, dict]]:
    """Source and surroundings of the lesson's solution, the reference and each other formulation."""
    lessons_own = {"math": math, "torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    for source in SOLUTIONS.values():
        exec(source, lessons_own)
    if name in SOLUTIONS:
        yield SOLUTIONS[name], lessons_own
    for function in (check.EXERCISES[name].reference, *RIGHT[name]):
        if inspect.isfunction(function) and not function.__closure__ and function.__name__ != "<lambda>":
            yield inspect.getsource(function), dict(function.__globals__)


def function_of(source: str, surroundings: dict) -> Callable:
    """The function that a source defines."""
    mine = dict(surroundings)
    warnings.simplefilter("ignore", SyntaxWarning)
    exec(compile(source, "<mutant>", "exec"), mine)
    return mine[ast.parse(source).body[0].name]


def passes(exercise: Callable, candidate: Callable, seconds: float = SECONDS) -> bool:
    limits.SECONDS = seconds
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return exercise(candidate, record=False, sight=False).passed


def with_inputs_of_the_contract(exercise: Callable) -> Callable:
    """The same check with many inputs, drawn at random from all that the exercise's contract allows."""
    wide, count = copy.copy(exercise), 4 if exercise.shares else WIDE
    wide.cases = lambda: [within(exercise.name, number) for number in range(count)]
    return wide


def ask(name: str) -> Found:
    """All mutants of one exercise, each asked once."""
    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    exercise = check.EXERCISES[name]
    exercise.mistakes.clear()  # which mistake it is takes time, and is not asked here
    exercise.pairs = lambda: iter(())
    wide = with_inputs_of_the_contract(exercise)
    found, seen = Found(name), set()
    for source, surroundings in right_answers(name):
        tree = ast.parse(textwrap.dedent(source)).body[0]
        tree.decorator_list = []
        original = ast.unparse(tree)
        assert passes(exercise, function_of(original, surroundings)), original
        assert passes(wide, function_of(original, surroundings), 10 * SECONDS), original
        for mutant in mutants(source):
            if mutant in seen:
                continue
            seen.add(mutant)
            found.asked += 1
            try:
                function = function_of(mutant, surroundings)
            except SyntaxError:
                found.asked -= 1
                continue
            if passes(exercise, function):
                found.survivors.append((original, mutant, passes(wide, function, 10 * SECONDS)))
    return found


def change(original: str, mutant: str) -> tuple[str, str]:
    """The lines that are only in the original, and those that are only in the mutant."""
    lines = list(difflib.ndiff(_bare(original), mutant.splitlines()))
    return tuple("\n".join(line[2:].strip() for line in lines if line[:1] == sign) for sign in "-+")


def _bare(source: str) -> list[str]:
    tree = ast.parse(source).body[0]
    if ast.get_docstring(tree) is not None and len(tree.body) > 1:
        del tree.body[0]
    return ast.unparse(tree).splitlines()


def report(found: Iterable[Found]) -> float:
    """Prints what survived, and the table; returns the share refused of those that are not equivalent."""
    rows, total = [], [0, 0, 0]
    for each in found:
        open_ = []
        for original, mutant, same in each.survivors:
            lines = change(original, mutant)
            if not same and (each.name, lines[1]) not in EQUIVALENT:
                open_.append((original, *lines))
            elif "-v" in sys.argv:
                print("SAME", each.name, "|", " / ".join(lines).replace("\n", "; "))
        equivalent = len(each.survivors) - len(open_)
        row = [each.asked, equivalent, each.asked - len(each.survivors)]
        rows.append((each.name, row))
        total = [a + b for a, b in zip(total, row, strict=True)]
        last = None
        for original, old, new in open_:
            if original != last:
                print(f"\n# {each.name}\n" + "\n".join(_bare(original)))
                last = original
            print(
                *(f"  - {line}" for line in old.splitlines()), *(f"  + {line}" for line in new.splitlines()), sep="\n"
            )
    print(f"\n{'exercise':30} mutants  equivalent  refused  passed   share")
    for name, row in [*rows, ("all", total)]:
        mutants_, equivalent, refused = row
        others = mutants_ - equivalent
        print(
            f"{name:30} {mutants_:7} {equivalent:11} {refused:8} {others - refused:7} {100 * refused / others:6.1f} %"
        )
    return total[2] / (total[0] - total[1])


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "-v"] or list(check.EXERCISES)
    workers = int(os.environ.get("WORKERS", "1"))
    with multiprocessing.get_context("fork").Pool(workers, maxtasksperchild=1) as pool:
        share = report(pool.imap(ask, names))
    sys.exit(share < ENOUGH)
