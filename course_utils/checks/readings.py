"""What an error of Python or PyTorch means, in plain words: for the ones that learners meet."""

import re
from collections.abc import Callable

MATRICES = (
    "`@` multiplies the last axis of its left side with the last axis but one of its right side, so the two must be "
    "equally long."
)
ENTRYWISE = (
    "`+`, `-`, `*` and `/` work entry by entry. Shapes are lined up from the right, and only an axis of length 1 is "
    "stretched."
)
MEMORY = "`view` only looks at the same memory in another shape, and after a transpose the memory is in another order."
DTYPES = "Two kinds of numbers meet. A tensor that you make yourself is float32 (or int64) unless told: dtype=..."


def _product(left: str, inner: str, other: str, right: str) -> str:
    meet = f"{MATRICES} Here {inner} meets {other}."
    if inner == right:
        return f"{meet} The last axes of both are {inner} long: does the right side want to be transposed?"
    return meet + (f" Both begin with {left}: does the left side want to be transposed?" if left == other else "")


def _batches(batch: str, wanted: str, other_batch: str, got: str) -> str:
    if batch != other_batch:
        return f"Two stacks of matrices meet, one of {batch}, one of {other_batch}: print both shapes."
    return f"{MATRICES} Here {wanted} meets {got}: look at the last two axes, and leave the batch in front alone."


def _axis(lowest: str, highest: str, asked: str) -> str:
    axes = int(highest) + 1
    return f"The tensor has {axes} {'axis' if axes == 1 else 'axes'}, {lowest} to {highest}; there is no axis {asked}."


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
        "Along axis {2} one tensor has {0} entries and the other {1}. " + ENTRYWISE + " `@` does the same with the "
        "axes in front of its matrices. Print both shapes.",
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
        "Whole numbers or yes and no came where this needs numbers with a point.",
    ),
    (
        r"shape '\[(.*)\]' is invalid for input of size (\d+)",
        "The new shape ({0}) must hold exactly {1} entries. Multiply its sizes: which one is wrong?",
    ),
    (r"view size is not compatible", MEMORY),
    (
        r"Boolean value of Tensor with more than one value",
        "`if`, `and`, `or` and `not` want one yes or no, and this is a whole tensor of them.",
    ),
    (
        r"one element tensors can be converted|Tensor with \d+ elements cannot be converted",
        "`float`, `math` and `torch.tensor` want one number, and this is a tensor of several. torch has such "
        "functions for whole tensors.",
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
    (r"too many indices for tensor of dimension (\d+)", "It has {0} axes, and more indices than that were given."),
    (
        r"index (\d+) is out of bounds for dimension (\d+) with size (\d+)",
        "Axis {1} has {2} entries, counted from 0; there is no number {0}.",
    ),
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
    (r"NoneType", "Something is None where a tensor should be: does a function that you call end without `return`?"),
    (
        r"(\w+)\(\): argument '\w+' \(position \d+\) must be Tensor, not (\w+)",
        "`torch.{0}` wants a tensor. For a plain number, `math` or `** 0.5` will do.",
    ),
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
        r"'(\w+)' object has no attribute '(\w+)'",
        "A {0} has nothing called `{1}`: is it spelled right, and is this the kind of thing that you think?",
    ),
    (
        r"'(\w+)' object is not callable",
        "Round brackets call a function, and this is a {0}. Square brackets take an entry.",
    ),
    (
        r"unsupported operand type\(s\) for .*: '(\w+)' and '(\w+)'",
        "A {0} and a {1} can't be put together like this.",
    ),
]


def reading(text: str, call: str | None) -> str:
    """What ``text``, "Type: message", means; "" for an error that isn't known.

    ``call``: how the check calls the function, where it was this call that failed.
    """
    first = text.split(":")[0]
    if call and first == "TypeError" and re.search(r"positional arguments? but|required [\w-]+ arguments?: '", text):
        return f"The check calls your function as `{call}`, its arguments by position and without names."
    for pattern, words in READINGS:
        if found := re.search(pattern, text):
            return words(*found.groups()) if callable(words) else words.format(*found.groups())
    return ""
