"""Where, if anywhere, do our BERT and Hugging Face's part ways?"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from course_utils.bert import Bert

if TYPE_CHECKING:
    from transformers import BertModel

# The sub-steps of a layer, in the order in which they are computed, and the module whose input or
# output shows each one. Scores and weights belong to no module: they are read at the softmax.
SUBSTEPS = {
    # sub-step           (ours,               Hugging Face's,               which side of it)
    "Q": ("attention.w_q", "attention.self.query", "output"),
    "K": ("attention.w_k", "attention.self.key", "output"),
    "V": ("attention.w_v", "attention.self.value", "output"),
    "scores": ("softmax", "softmax", "input"),
    "weights": ("softmax", "softmax", "output"),
    "context": ("attention.w_o", "attention.output.dense", "input"),
    "output projection": ("attention.w_o", "attention.output.dense", "output"),
    "add & norm 1": ("norm1", "attention.output.LayerNorm", "output"),
    "feed-forward": ("feed_forward.w_2", "output.dense", "output"),
    "add & norm 2": ("norm2", "output.LayerNorm", "output"),
}
DEFAULT_TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}
INPUT_NAMES = {"input_ids", "token_type_ids", "attention_mask"}


@dataclass(frozen=True)
class Difference:
    """How far apart the two models are at one place.

    ``max_abs`` is max |ours - theirs|; ``max_rel`` divides it by max |theirs|.
    """

    place: str
    max_abs: float
    max_rel: float
    tolerance: float

    @property
    def within(self) -> bool:
        """Is the absolute difference within the tolerance? A NaN never is."""
        return self.max_abs <= self.tolerance


@dataclass(frozen=True)
class ComparisonReport:
    """The result of ``compare_hidden_states``: a table in a terminal and in Jupyter.

    ``hidden_states`` has one row for the embeddings and one for each layer; ``substeps`` has the rows
    in between, or None if nobody asked and nothing diverged.
    """

    hidden_states: tuple[Difference, ...]
    substeps: tuple[Difference, ...] | None
    show_substeps: bool

    @property
    def max_abs_diff(self) -> list[float]:
        """One number for the embeddings and one for each layer."""
        return [row.max_abs for row in self.hidden_states]

    @property
    def first_divergence(self) -> str | None:
        """The first place out of tolerance, such as "layer 5: feed-forward", or None."""
        for row in (self.substeps or ()) + self.hidden_states:
            if not row.within:
                return row.place
        return None

    @property
    def verdict(self) -> str:
        """The first divergence, in a sentence."""
        if self.first_divergence is None:
            return f"Every place is within {self.hidden_states[0].tolerance:g}."
        return f"First divergence: {self.first_divergence} (tolerance {self.hidden_states[0].tolerance:g})."

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for row in self.substeps if self.show_substeps else self.hidden_states:
            max_abs, max_rel = (f"{x:.1e}" if x else "0" for x in (row.max_abs, row.max_rel))
            yield row.place, max_abs, max_rel, "yes" if row.within else "NO"

    _HEADER = ("place", "max abs diff", "max rel diff", "within tolerance")

    def __str__(self) -> str:
        table = [self._HEADER, *self._rows()]
        width = max(len(row[0]) for row in table)
        lines = [f"{row[0]:<{width}}  " + "  ".join(f"{cell:>16}" for cell in row[1:]) for row in table]
        return "\n".join([*lines, self.verdict])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{name}</th>' for name in self._HEADER)
        body = "".join(
            f'<tr><th scope="row">{escape(place)}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
            for place, *cells in self._rows()
        )
        return (
            f"<table><caption>Ours against Hugging Face's. {escape(self.verdict)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def compare_hidden_states(
    bert: Bert,
    hf_model: "BertModel",
    inputs: Mapping[str, Tensor],
    substeps: bool = False,
    tolerance: float | None = None,
) -> ComparisonReport:
    """Runs both models on ``inputs`` (what a tokenizer returns) and reports how far apart they are.

    Like is compared with like: if ``hf_model`` uses eager attention, ours takes its by-hand path,
    otherwise its fused one. With ``substeps``, or when a hidden state is out of tolerance, both run
    once more with eager attention and every sub-step of every layer is compared.

    ``tolerance`` is absolute; by default 1e-5 in float32 and 1e-12 in float64.

    Raises:
        TypeError: an argument is of the wrong kind, or the models' dtypes differ.
        ValueError: the models' sizes differ, one is in training mode, ``inputs`` lacks ``input_ids`` or
            holds something BERT doesn't take, or there is no default tolerance for the dtype.
    """
    tolerance = _expect_comparable(bert, hf_model, inputs, tolerance)
    by_hand = hf_model.config._attn_implementation == "eager"
    with torch.no_grad():
        ours = bert(**inputs, need_weights=by_hand).hidden_states
        theirs = hf_model(**inputs, output_hidden_states=True).hidden_states
    names = ["embeddings"] + [f"layer {n}" for n in range(len(bert.encoder.layers))]
    rows = tuple(_difference(*place, tolerance) for place in zip(names, ours, theirs, strict=True))
    if not substeps and all(row.within for row in rows):
        return ComparisonReport(rows, None, substeps)
    return ComparisonReport(rows, tuple(_compare_substeps(bert, hf_model, inputs, tolerance)), substeps)


def _difference(place: str, ours: Tensor, theirs: Tensor, tolerance: float) -> Difference:
    max_abs = (ours - theirs).abs().max().item()
    return Difference(place, max_abs, max_abs / max(theirs.abs().max().item(), torch.finfo(ours.dtype).tiny), tolerance)


def _compare_substeps(bert: Bert, hf_model: "BertModel", inputs: Mapping, tolerance: float) -> Iterator[Difference]:
    ours, theirs = {}, {}
    with torch.no_grad(), eager_attention(hf_model):
        with _recording(bert.embeddings_norm, bert.encoder.layers, 0, ours):
            bert(**inputs, need_weights=True)
        with _recording(hf_model.embeddings.LayerNorm, hf_model.encoder.layer, 1, theirs):
            hf_model(**inputs)
    for place in theirs:
        a, b = ours[place], theirs[place]
        if place.endswith("scores") and inputs.get("attention_mask") is not None:
            # Each library has its own "minus infinity" for what is masked; compare what is not.
            allowed = inputs["attention_mask"][:, None, None, :].bool()
            a, b = a.where(allowed, 0), b.where(allowed, 0)
        yield _difference(place, a, b, tolerance)


@contextmanager
def _recording(embeddings_norm: nn.Module, layers: nn.ModuleList, side: int, record: dict[str, Tensor]) -> Iterator:
    """Fills ``record`` in the order of computation: place -> tensor. ``side`` picks a column of SUBSTEPS."""

    def keep(place: str, which: str):
        def hook(module: nn.Module, args: tuple, output: Tensor) -> None:
            record[place] = args[0] if which == "input" else output

        return hook

    handles = [embeddings_norm.register_forward_hook(keep("embeddings", "output"))]
    record["embeddings"] = None
    for n, layer in enumerate(layers):
        for substep, (*module_names, which) in SUBSTEPS.items():
            record[f"layer {n}: {substep}"] = None  # the order in which places are reported
            if module_names[side] != "softmax":
                module = layer.get_submodule(module_names[side])
                handles.append(module.register_forward_hook(keep(f"layer {n}: {substep}", which)))
    try:
        with _SoftmaxRecorder(record):
            yield
    finally:
        for handle in handles:
            handle.remove()


class _SoftmaxRecorder(TorchFunctionMode):
    """Reads the scores and the weights of each layer where they are made: one softmax in each.

    The n-th softmax is taken for layer n's. A model with one more of them, in the embeddings or twice in a layer, would
    shift all that follow, and a fused attention, which calls none, would leave them out. Both models run by hand here
    (``need_weights``, eager), and ``BertModel`` has no other.
    """

    def __init__(self, record: dict[str, Tensor]):
        super().__init__()
        self.record, self.layer = record, 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function in (F.softmax, torch.softmax, Tensor.softmax):
            self.record[f"layer {self.layer}: scores"] = args[0]
            self.record[f"layer {self.layer}: weights"] = result
            self.layer += 1
        return result


@contextmanager
def eager_attention(hf_model: "BertModel") -> Iterator[None]:
    """transformers' by-hand attention for a moment: its fused ones give no weights."""
    before = hf_model.config._attn_implementation
    hf_model.set_attn_implementation("eager")
    try:
        yield
    finally:
        hf_model.set_attn_implementation(before)


def _expect_comparable(bert: Bert, hf_model: "BertModel", inputs: Mapping, tolerance: float | None) -> float:
    from transformers import BertModel

    for name, model, kind in (("bert", bert, Bert), ("hf_model", hf_model, BertModel)):
        if not isinstance(model, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {type(model).__name__}")
        if model.training:
            raise ValueError(f"{name} is in training mode, where dropout is random; expected {name}.eval()")
    if not isinstance(inputs, Mapping):
        raise TypeError(f"inputs must be what a tokenizer returns, a mapping, got {type(inputs).__name__}")
    if "input_ids" not in inputs or set(inputs) - INPUT_NAMES:
        raise ValueError(f"inputs has {sorted(inputs)}; expected input_ids and at most {sorted(INPUT_NAMES)}")
    dtypes = bert.embeddings.word.weight.dtype, hf_model.embeddings.word_embeddings.weight.dtype
    if dtypes[0] != dtypes[1]:
        raise TypeError(f"bert has dtype {dtypes[0]}, but hf_model has {dtypes[1]}; expected the same")
    sizes = [
        {"n_layers": len(bert.encoder.layers), "d_model": bert.embeddings.word.embedding_dim},
        {"n_layers": hf_model.config.num_hidden_layers, "d_model": hf_model.config.hidden_size},
    ]
    if sizes[0] != sizes[1]:
        raise ValueError(f"bert has {sizes[0]}, but hf_model has {sizes[1]}; expected the same")
    if tolerance is None and dtypes[0] not in DEFAULT_TOLERANCE:
        raise ValueError(f"tolerance must be given for {dtypes[0]}; there are defaults for float32 and float64 only")
    return DEFAULT_TOLERANCE[dtypes[0]] if tolerance is None else tolerance
