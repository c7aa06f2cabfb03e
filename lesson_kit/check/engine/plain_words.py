"""What an error of Python or PyTorch means, in plain words: for the ones that learners meet."""

import re
from collections.abc import Callable

from lesson_kit.check.engine.differences import WHOLE_TENSORS

MATRICES = (
    "`@` multiplies the last axis of its left side with the last axis but one of its right side, so the two must be "
    "equally long."
)
ENTRYWISE = (
    "`+`, `-`, `*` and `/` work entry by entry. Shapes are lined up from the right, and only an axis of length 1 is "
    "stretched."
)
MEMORY = "`view` only looks at the same memory in another shape, and after a transpose the memory is in another order."
NONE = "Something is None where a tensor should be: does a function that you call end without `return`?"
NOT_CALLED = "A function stands where its result should be: round brackets call it, as in `x.t()`."
TWO_THINGS = "With `dim`, max and min give back two things: the numbers, `.values`, and where they stand, `.indices`."
NUMPY = "Here a tensor goes to NumPy. Stay with torch: most functions have the same name there, and gradients pass."
DTYPES = "Two kinds of numbers meet. A tensor that you make yourself is float32 (or int64) unless told: dtype=..."


def count(number: int | str, one: str, several: str) -> str:
    """The number with the word that belongs to it: 1 axis, 2 axes."""
    return f"{number} {one if str(number) == '1' else several}"


def _product(line: str, left: str, inner: str, other: str, right: str) -> str:
    meet = f"{MATRICES} Here {inner} meets {other}."
    if inner != right and left != other:
        return meet
    both = f"The last axes of both are {inner} long" if inner == right else f"Both begin with {left}"
    if re.search(r"\.T\b|\.mT\b|\.t\(|transpose|permute|swapaxes|einsum", line):
        return f"{meet} {both}: is one of them turned that should not be, or not turned that should be?"
    return f"{meet} {both}: does the {'right' if inner == right else 'left'} side want to be transposed?"


def _lengths(line: str, one: str, other: str, axis: str) -> str:
    said = f"Along axis {axis} one tensor has {count(one, 'entry', 'entries')} and the other {other}. {ENTRYWISE}"
    if re.search(r"@|matmul", line):
        said += " `@` does the same with the axes in front of its matrices."
    return f"{said} Print both shapes."


def _batches(line: str, batch: str, wanted: str, other_batch: str, got: str) -> str:
    if batch != other_batch:
        return f"Two stacks of matrices meet, one of {batch}, one of {other_batch}: print both shapes."
    return f"{MATRICES} Here {wanted} meets {got}: look at the last two axes, and leave the batch in front alone."


def _axis(line: str, lowest: str, highest: str, asked: str) -> str:
    axes = count(int(highest) + 1, "axis", "axes")
    return f"The tensor has {axes}, {lowest} to {highest}; there is no axis {asked}."


def _indices(line: str, axes: str) -> str:
    return f"It has {count(axes, 'axis', 'axes')}, and more indices than that were given."


def _new_shape(line: str, shape: str, size: str) -> str:
    entries = count(size, "entry", "entries")
    return f"The new shape ({shape}) must hold exactly {entries}. Multiply its sizes: which one is wrong?"


def _no_such_index(line: str, asked: str, axis: str, size: str) -> str:
    return f"Axis {axis} has {count(size, 'entry', 'entries')}, counted from 0; there is no number {asked}."


def _kinds(line: str, left: str, right: str) -> str:
    if "function" in left + right or "method" in left + right:
        return NOT_CALLED
    if "return_types" in left + right:
        return TWO_THINGS
    return f"A {left} and a {right} can't be put together like this."


def _no_tensor(line: str, function: str, got: str) -> str:
    if "function" in got or "method" in got:
        return NOT_CALLED
    if got.startswith("torch.return_types"):
        return TWO_THINGS
    if got == "NoneType":
        return NONE
    if got in ("int", "float"):
        return f"`torch.{function}` wants a tensor. For a plain number, `math` or `** 0.5` will do."
    return f"`torch.{function}` wants a tensor, and this is a {got}."


# The first pattern that fits "Type: message" is read; what it caught goes into the words.
READINGS: list[tuple[str, str | Callable[..., str]]] = [
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", _product),
    (r"first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[(\d+), (\d+)\]", _batches),
    (
        r"size mismatch, got input|inconsistent tensor size",
        MATRICES + " One side is a vector: is its length the right one?",
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        _lengths,
    ),
    (
        r"1D tensors expected|self must be a matrix|batch\d must be a 3D",
        "This function wants another number of axes; for tables, `@` will do.",
    ),
    (
        r"t\(\) expects a tensor with <= 2",
        "`.t()` knows matrices only. With axes in front, say which two change places.",
    ),
    (r"same dtype|expected scalar type (\w+) but found|dtype.*!=", DTYPES),
    (
        r"result type (\w+) can't be cast to the desired output type (\w+)",
        "A result of kind {0} doesn't fit into a tensor of kind {1}.",
    ),
    (
        r"not implemented for '(Long|Int|Bool)'|could not infer output dtype.*Got: (Long|Int|Bool)",
        "This needs numbers with a point and got whole numbers or yes and no.",
    ),
    (r"shape '\[(.*)\]' is invalid for input of size (\d+)", _new_shape),
    (r"view size is not compatible", MEMORY),
    (
        r"Boolean value of Tensor with more than one value",
        "`if`, `and`, `or` and `not` want one yes or no, and this is a whole tensor of them.",
    ),
    (
        r"one element tensors can be converted|Tensor with \d+ elements cannot be converted",
        "`float`, `math` and `torch.tensor` want one number, and this is a tensor of several. torch has such "
        "functions for whole tensors, so that no loop is needed.",
    ),
    (
        r"numpy\(\) on Tensor that requires grad",
        "NumPy knows no gradients. Stay with torch from the input to the result.",
    ),
    (
        r"leaf Variable that requires grad|modified by an inplace operation",
        "`+=`, `*=` and `x[...] = ` write into a tensor that a gradient still needs. Make a new one.",
    ),
    (r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)", _axis),
    (r"too many indices for tensor of dimension (\d+)", _indices),
    (r"index (\d+) is out of bounds for dimension (\d+) with size (\d+)", _no_such_index),
    (r"index out of range", "An index is larger than what it points into. Counting starts at 0."),
    (
        r"not enough values to unpack|too many values to unpack",
        "A shape was taken apart into more or fewer names than it has axes. Inputs may have more axes in "
        "front than you think.",
    ),
    (
        r"name '(\w+)' is not defined",
        "Python doesn't know `{0}`: is it spelled right, and has the cell that makes it been run?",
    ),
    (r"cannot access local variable '(\w+)'", "`{0}` is used before this function has given it a value."),
    (r"(\w+)\(\): argument '\w+' \(position \d+\) must be Tensor, not ([\w.]+)", _no_tensor),
    (r"unsupported operand type\(s\) for .*: '([\w.]*(?:function|method|return_types)[\w.]*)' and '([\w.]+)'", _kinds),
    (r"unsupported operand type\(s\) for .*: '([\w.]+)' and '([\w.]*(?:function|method|return_types)[\w.]*)'", _kinds),
    (r"'(?:builtin_)?(?:function|method)\w*' object (?:is not subscriptable|has no attribute)", NOT_CALLED),
    (r"got an unexpected keyword argument '(\w+)'", "It knows no `{0}=`: is it spelled right?"),
    (r"NoneType", NONE),
    (
        r"missing \d+ required positional arguments: \"dim\""
        r"|softmax\(\) received an invalid combination of arguments - got \(Tensor\)",  # torch 2.5 says it so
        "It has to know along which axis: say dim=...",
    ),
    (
        r"einsum\(\)",
        "In einsum each letter is one axis: count the letters of each tensor, and see that a letter has one length.",
    ),
    (
        r"Sizes of tensors must match except in dimension|stack expects each tensor to be equal size",
        "`cat` and `stack` put equal shapes together. Print the shapes in the list.",
    ),
    (
        r"expected Tensor as element \d+ in argument \d+, but got (?:float|int|list)",
        f"`cat` and `stack` want a list of tensors, and here it is plain numbers. {WHOLE_TENSORS}",
    ),
    (r"must be tuple of Tensors|expected Tensor as element", "`cat` and `stack` want a list of tensors."),
    (
        r"only supports boolean masks|condition to be a boolean|operator.invert|on a bool tensor|two bool tensors",
        "A mask is yes and no, dtype torch.bool: a comparison makes one, `~` turns it round.",
    ),
    (
        r"can't allocate memory|MemoryError",
        "It asked for more memory than there is: the inputs are tiny, so is a size computed from the wrong thing?",
    ),
    (r"expected size of the tensor|expanded size of the tensor", "`expand` stretches axes of length 1 only."),
    (
        r"RecursionError",
        "The function calls itself without end. Is there another function of the same name that you meant?",
    ),
    (r"ZeroDivisionError", "A divisor is 0 for this input."),
    (
        r"^SyntaxError|^IndentationError",
        "Python can't read this line: look for a bracket or a colon that is missing, there or in the line above.",
    ),
    (r"module '([\w.]+)' has no attribute '(\w+)'", "`{0}` has nothing called `{1}`: is it spelled right?"),
    (
        r"'([\w.]+)' object has no attribute '(\w+)'",
        "A {0} has nothing called `{1}`: is it spelled right, and is this the kind of thing that you think?",
    ),
    (
        r"'([\w.]+)' object is not callable",
        "Round brackets call a function, and this is a {0}. Square brackets take an entry.",
    ),
    (r"unsupported operand type\(s\) for .*: '([\w.]+)' and '([\w.]+)'", _kinds),
]


def reading(text: str, call: str | None, line: str = "") -> str:
    """What ``text``, "Type: message", means; "" for an error that isn't known.

    ``call``: how the check calls the function, where it was this call that failed. ``line``: the learner's own.
    """
    kind = text.split(":")[0]
    if call and kind == "TypeError" and re.search(r"positional arguments? but|required [\w-]+ arguments?: '", text):
        return f"The check calls your function as `{call}`, its arguments by position and without names."
    if kind == "TypeError" and re.search(r"\b(np|numpy)\.", line):
        return NUMPY
    for pattern, words in READINGS:
        if found := re.search(pattern, text):
            return words(line, *found.groups()) if callable(words) else words.format(*found.groups())
    return ""
