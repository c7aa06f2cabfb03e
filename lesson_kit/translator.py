"""``load_translator``: the translator of lesson 14, English to Chinese, ready to be called."""

import difflib
import json
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from course_utils._expect import expect_positive_int
from course_utils.generation import Generated, beam_search, greedy_decode
from course_utils.transformer import Transformer
from lesson_kit.data import data_path
from lesson_kit.languages.pairs.vocabulary import BOS, EOS, SPECIAL_TOKENS, Vocabulary

COURSE_TRANSLATOR = "translator"  # trained by lesson 14, shipped in data/
LONGEST = 40  # characters of a translation
NEAR = 3  # so many known words are offered for an unknown one


@dataclass(frozen=True)
class Translation:
    """A translation and how it came about.

    ``tokens``: the characters, and ``[EOS]`` if it came to an end. ``source_tokens``: the words, and ``[EOS]``.
    ``log_probability``: natural logarithm of the probability of ``tokens``. Weights: one tensor for each layer, heads
    first, None if not asked for; row t of ``self_attention_weights`` (heads, tokens, tokens) and
    ``cross_attention_weights`` (heads, tokens, source_tokens) is the step that chose ``tokens[t]``; column t of the
    first is what stood there: ``input_tokens[t]``.
    """

    text: str
    tokens: tuple[str, ...]
    source_tokens: tuple[str, ...]
    log_probability: float
    self_attention_weights: tuple[Tensor, ...] | None = None
    cross_attention_weights: tuple[Tensor, ...] | None = None

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """What the decoder read: ``[BOS]``, then its own tokens but for the last."""
        return (BOS, *self.tokens[:-1])


@dataclass(frozen=True)
class Translator:
    """A trained ``model`` with the vocabularies of both languages.

    Called with a sentence it returns the Chinese text; with ``need_weights`` a ``Translation``.
    """

    model: Transformer
    english: Vocabulary
    chinese: Vocabulary

    def __call__(
        self, text: str, beam_size: int = 1, length_penalty: float = 0.6, need_weights: bool = False
    ) -> str | Translation:
        """Translates one sentence: greedily, or with a beam. Capitals and punctuation at the end don't matter.

        Raises:
            TypeError: ``text`` is not a str, or ``beam_size`` not an int.
            ValueError: the text is empty, too long or has an unknown word; ``beam_size`` is below 1 or
                ``length_penalty`` negative.
        """
        expect_positive_int(beam_size=beam_size)
        words = self.words(text)
        source = torch.tensor([self.english.encode([*words, EOS])], device=self.model.positions.device)
        found = self.search(source, None, beam_size, length_penalty, need_weights)
        ids = found.ids[0].tolist()
        if self.chinese.id[EOS] in ids:
            ids = ids[: ids.index(self.chinese.id[EOS]) + 1]
        tokens = tuple(self.chinese.tokens[number] for number in ids)
        translated = "".join(self.chinese.decode(ids))
        if not need_weights:
            return translated
        to_target, to_source = (
            tuple(layer[0] for layer in weights)
            for weights in (found.self_attention_weights, found.cross_attention_weights)
        )
        return Translation(translated, tokens, (*words, EOS), found.log_probability[0].item(), to_target, to_source)

    def search(
        self,
        source: Tensor,
        source_mask: Tensor | None = None,
        beam_size: int = 1,
        length_penalty: float = 0.6,
        need_weights: bool = False,
    ) -> Generated:
        """A batch of sources, as ids. Other arguments as for a call."""
        search = greedy_decode
        if beam_size != 1:
            search = partial(beam_search, beam_size=beam_size, length_penalty=length_penalty)
        return search(
            self.model,
            source,
            source_mask,
            bos_id=self.chinese.id[BOS],
            eos_id=self.chinese.id[EOS],
            max_length=min(LONGEST, self.model.max_length),
            need_weights=need_weights,
        )

    def words(self, text: str) -> list[str]:
        """The words of a sentence, in lower case and without its punctuation.

        Raises:
            TypeError: ``text`` is not a str.
            ValueError: it is empty or too long, or has a word that is not in the vocabulary.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, got {type(text).__name__}")
        words = re.sub(r"[.?!,;:]+(?=\s|$)", " ", text.lower().replace("’", "'")).split()
        if not words:
            raise ValueError(f"text must hold at least one English word, got {text!r}")
        if len(words) + 1 > self.model.max_length:
            raise ValueError(f"text is {len(words)} words long; expected at most {self.model.max_length - 1}")
        known = [word for word in self.english.tokens if word not in SPECIAL_TOKENS]
        for word in words:
            if word not in self.english or word in SPECIAL_TOKENS:
                near = difflib.get_close_matches(word, known, n=NEAR, cutoff=0.6)
                hint = f"; near to it are {', '.join(map(repr, near))}" if near else ""
                raise ValueError(
                    f"text has the word {word!r}, which the translator never met{hint}. "
                    f"It knows {len(known)} words: translator.english.tokens"
                )
        return words


def load_translator(folder: str | Path | None = None) -> Translator:
    """The translator that comes with the course, or one that ``training.translator`` wrote to ``folder``.

    Raises:
        FileNotFoundError: the folder, or one of its files, is missing.
        ValueError: a file is damaged, or weights, sizes and vocabulary don't belong together.
    """
    folder = data_path(COURSE_TRANSLATOR) if folder is None else Path(folder)
    for needed in ("config.json", "vocabulary.json", "model.safetensors"):
        if not (folder / needed).is_file():
            raise FileNotFoundError(
                f"folder={str(folder)!r} has no {needed}; expected what lesson_kit.training.translator writes"
            )
    config, words = _read_json(folder / "config.json"), _read_json(folder / "vocabulary.json")
    try:
        english, chinese = Vocabulary(words["source"]), Vocabulary(words["target"])
        model = Transformer(**config)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"folder={str(folder)!r}: config.json or vocabulary.json is damaged ({error})") from error
    for name, size, vocabulary in (
        ("source", config["source_vocab_size"], english),
        ("target", config["target_vocab_size"], chinese),
    ):
        if size != len(vocabulary):
            raise ValueError(
                f"folder={str(folder)!r}: the model has a {name} vocabulary of {size} tokens, vocabulary.json one of "
                f"{len(vocabulary)}; expected the same"
            )
    try:
        weights = load_file(folder / "model.safetensors")
    except SafetensorError as error:
        raise ValueError(
            f"folder={str(folder)!r}: model.safetensors is damaged ({error}); expected a whole safetensors file"
        ) from error
    if config.get("tie_output") and "target_embedding.weight" in weights:
        weights["output.weight"] = weights["target_embedding.weight"]
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        raise ValueError(
            f"folder={str(folder)!r}: model.safetensors does not fit config.json "
            f"({str(error).splitlines()[-1].strip()})"
        ) from error
    return Translator(model.eval(), english, chinese)


def _read_json(path: Path) -> dict:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"folder={str(path.parent)!r}: {path.name} is damaged ({error}); expected JSON") from error
