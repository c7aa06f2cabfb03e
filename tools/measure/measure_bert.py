"""Measures the course BERT on held-out sentences: ``python -m tools.measure.measure_bert``.

Writes ``measures.json`` and ``README.md`` beside the model, so that no figure there was typed by hand.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AutoTokenizer, BertForMaskedLM

from course_utils.masked_lm import MaskedLanguageModel
from lesson_kit.languages.english import RESERVED, Sentence, generate
from lesson_kit.languages.english.lexicon import AMBIGUOUS
from lesson_kit.languages.english.tokenizer import WordTokenizer
from lesson_kit.measures import centroid_accuracy, cosine_gap, relations
from lesson_kit.pretrained import load_bert
from lesson_kit.training.bert import BertSettings, new_model
from tools.measure.model_card import HEADLINE, model_card

SEED = 2024
OFFSETS = [offset for offset in range(-15, 16) if offset]


def _interval(vectors: Tensor, senses: Sequence[str], centred: bool, draws: int = 200) -> list[float]:
    """95% bootstrap interval of ``cosine_gap``: sentences drawn again, with replacement, sense by sense."""
    generator, gaps = torch.Generator().manual_seed(SEED), []
    places = [
        torch.tensor([place for place, one in enumerate(senses) if one == sense]) for sense in sorted(set(senses))
    ]
    for _ in range(draws):
        times = torch.zeros(len(senses))
        for group in places:
            drawn = group[torch.randint(len(group), (len(group),), generator=generator)]
            times += torch.bincount(drawn, minlength=len(senses))
        gaps.append(cosine_gap(vectors, senses, centred, times))
    return [round(sorted(gaps)[round(q * (draws - 1))], 4) for q in (0.025, 0.975)]


def word_vectors(model: MaskedLanguageModel, tokenizer: WordTokenizer, sentences: Sequence[Sentence]) -> list[Tensor]:
    """The vectors of each sentence's first ambiguous word: one (n, d_model) tensor per layer, embeddings first."""
    place = torch.tensor([min(sentence.senses) + 1 for sentence in sentences])
    ids = tokenizer(sentences)
    with torch.no_grad():
        states = model.bert(ids, attention_mask=ids != tokenizer.pad).hidden_states
    return [state[torch.arange(len(ids)), place] for state in states]


def neighbour_table(word: str) -> dict[tuple[str, str], Counter]:
    """How often each sense of ``word`` stands between each pair of neighbours, in training sentences."""
    table: dict[tuple[str, str], Counter] = defaultdict(Counter)
    for sentence in generate(4000, seed=SEED, word=word):
        for place, sense in sentence.senses.items():
            table[_neighbours(sentence, place)][sense] += 1
    return table


def _neighbours(sentence: Sentence, place: int) -> tuple[str, str]:
    return sentence.words[place - 1] if place else "", sentence.words[place + 1]


def measure_senses(
    model: MaskedLanguageModel, random_model: MaskedLanguageModel, tokenizer: WordTokenizer, n: int
) -> dict:
    """For each ambiguous word: sense accuracy and gaps by layer, against random weights and against its neighbours."""
    results = {}
    for word, senses in AMBIGUOUS.items():
        sentences = [s for s in generate(n * len(senses), SEED, "held_out", word) if len(s.senses) == 1]
        truth = [next(iter(sentence.senses.values())) for sentence in sentences]
        states, untrained = word_vectors(model, tokenizer, sentences), word_vectors(random_model, tokenizer, sentences)
        table = neighbour_table(word)
        guesses = [table[_neighbours(s, min(s.senses))].most_common(1) for s in sentences]
        results[word] = {
            "sentences": len(sentences),
            "senses": len(senses),
            "accuracy": [round(centroid_accuracy(state, truth), 4) for state in states],
            "accuracy_random_weights": [round(centroid_accuracy(state, truth), 4) for state in untrained],
            "accuracy_from_neighbours": round(
                sum(bool(guess) and guess[0][0] == sense for guess, sense in zip(guesses, truth, strict=True))
                / len(truth),
                4,
            ),
            "gap_raw": [round(cosine_gap(state, truth), 4) for state in states],
            "gap_centred": [round(cosine_gap(state, truth, centred=True), 4) for state in states],
            "gap_centred_random_weights": [round(cosine_gap(state, truth, centred=True), 4) for state in untrained],
        }
        if word in HEADLINE:
            results[word]["gap_raw_interval"] = [_interval(state, truth, False) for state in states]
            results[word]["gap_centred_interval"] = [_interval(state, truth, True) for state in states]
    return results


def measure_masked_words(model: MaskedLanguageModel, tokenizer: WordTokenizer, sentences: Sequence[Sentence]) -> dict:
    """Accuracy by word class: 15% of the words are masked, and the best-scored word must be the right one."""
    generator = torch.Generator().manual_seed(SEED)
    right, asked, words = Counter(), Counter(), defaultdict(Counter)
    for start in range(0, len(sentences), 128):
        part = sentences[start : start + 128]
        ids = tokenizer(part)
        chosen = (torch.rand(ids.shape, generator=generator) < 0.15) & (ids >= 5)
        with torch.no_grad():
            scores = model(torch.where(chosen, tokenizer.mask, ids), ids != tokenizer.pad)
        guessed = scores.argmax(-1)
        for row, place in chosen.nonzero().tolist():
            kind = part[row].classes[place - 1]
            asked[kind] += 1
            words[kind][part[row].words[place - 1]] += 1
            right[kind] += int(guessed[row, place] == ids[row, place])
    table = {
        kind: {
            "asked": asked[kind],
            "accuracy": round(right[kind] / asked[kind], 4),
            "commonest_word": round(words[kind].most_common(1)[0][1] / asked[kind], 4),
        }
        for kind in sorted(asked, key=asked.get, reverse=True)
    }
    table["all"] = {"asked": asked.total(), "accuracy": round(right.total() / asked.total(), 4)}
    return table


def measure_heads(model: MaskedLanguageModel, tokenizer: WordTokenizer, sentences: Sequence[Sentence]) -> dict:
    """The best head for each relation, chosen on one half of the sentences and measured on the other.

    A head's answer is the word it looks at most; [CLS], [SEP] and the word itself don't count. Baselines: the best
    fixed offset ("two words to the left"), chosen in the same way; for pronouns also the nearest earlier noun or name.
    """
    right: dict[str, list] = defaultdict(lambda: [Counter(), Counter()])
    by_offset: dict[str, list] = defaultdict(lambda: [Counter(), Counter()])
    nearest, asked = [0, 0], defaultdict(lambda: [0, 0])
    for start in range(0, len(sentences), 64):
        part = sentences[start : start + 64]
        ids = tokenizer(part)
        with torch.no_grad():
            weights = model.bert(ids, attention_mask=ids != tokenizer.pad, need_weights=True).attention_weights
        looks = torch.stack(weights, dim=1)  # (batch, layers, heads, queries, keys)
        looks = looks.masked_fill((ids < 5)[:, None, None, None, :], -1.0)
        looks = looks.masked_fill(torch.eye(ids.shape[1], dtype=torch.bool), -1.0)
        answer = (looks.argmax(-1) - 1).permute(0, 3, 1, 2).tolist()  # [sentence][query][layer][head]
        for row, sentence in enumerate(part):
            half = (start + row) % 2
            for name, pairs in relations(sentence).items():
                for who, targets in pairs:
                    asked[name][half] += 1
                    for layer, heads in enumerate(answer[row][who + 1]):
                        for head, place in enumerate(heads):
                            right[name][half][layer, head] += place in targets
                    for offset in OFFSETS:
                        by_offset[name][half][offset] += who + offset in targets
                    if name.startswith("pronoun"):
                        before = [i for i in range(who) if sentence.classes[i] in ("noun", "name")]
                        nearest[half] += bool(before) and before[-1] in targets
    results = {}
    for name, count in asked.items():
        layer, head = max(right[name][0], key=right[name][0].get)
        offset = max(by_offset[name][0], key=by_offset[name][0].get)
        results[name] = {
            "asked": count[1],
            "layer": layer,
            "head": head,
            "accuracy": round(right[name][1][layer, head] / count[1], 4),
            "offset": offset,
            "offset_accuracy": round(by_offset[name][1][offset] / count[1], 4),
        }
        if name.startswith("pronoun"):
            results[name]["nearest_noun_accuracy"] = round(nearest[1] / count[1], 4)
    return results


def measure_lesson_sentences(model: MaskedLanguageModel, tokenizer: WordTokenizer) -> dict:
    """The published bank sentence by layer, and where ``they`` looks in the sentence about John and Paul."""
    bank, songs, _ = (sentence.split() for sentence in RESERVED)
    vault, robber, river = (1 + place for place, word in enumerate(bank) if word == "bank")

    def run(words: list[str]):
        ids = torch.tensor([[tokenizer.cls, *(tokenizer.id[word] for word in words), tokenizer.sep]])
        with torch.no_grad():
            return model.bert(ids, need_weights=True)

    states = run(bank).hidden_states
    they, john, paul = (1 + songs.index(word) for word in ("they", "john", "paul"))
    looks = {
        (layer, head): (float(heads[0, head, they, john]), float(heads[0, head, they, paul]))
        for layer, heads in enumerate(run(songs).attention_weights)
        for head in range(heads.shape[1])
    }
    layer, head = max(looks, key=lambda place: sum(looks[place]))

    def cosines(a: int, b: int) -> list[float]:
        return [round(float(F.cosine_similarity(state[0, a], state[0, b], dim=0)), 4) for state in states]

    return {
        "bank_robber_vault": cosines(robber, vault),
        "bank_robber_river": cosines(robber, river),
        "they": {
            "layer": layer,
            "head": head,
            "john": round(looks[layer, head][0], 4),
            "paul": round(looks[layer, head][1], 4),
        },
    }


def measure(model: MaskedLanguageModel, tokenizer: WordTokenizer, settings: BertSettings, n: int = 2000) -> dict:
    """Everything, on ``n`` held-out sentences and ``n // 10`` for each sense of each ambiguous word."""
    sentences = list(generate(n, SEED, "held_out"))
    return {
        "sentences": n,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "masked_words": measure_masked_words(model, tokenizer, sentences),
        "senses": measure_senses(
            model, new_model(settings, len(tokenizer.vocabulary)).eval(), tokenizer, max(4, n // 10)
        ),
        "heads": measure_heads(model, tokenizer, sentences),
        "lesson_sentences": measure_lesson_sentences(model, tokenizer),
    }


def load(folder: Path) -> tuple[MaskedLanguageModel, WordTokenizer, BertSettings]:
    """The exported model, with its vocabulary and the settings it was trained with.

    Raises:
        FileNotFoundError, ValueError: the folder holds no whole model, as ``load_bert`` says.
    """
    load_bert(folder)  # its checks and its messages
    model = MaskedLanguageModel.from_huggingface(
        BertForMaskedLM.from_pretrained(folder, attn_implementation="eager")
    ).eval()
    vocabulary = AutoTokenizer.from_pretrained(folder).get_vocab()
    settings = BertSettings(**json.loads((folder / "training_settings.json").read_text(encoding="utf-8")))
    return model, WordTokenizer(sorted(vocabulary, key=vocabulary.get)), settings


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measures the course BERT and writes README.md and measures.json.")
    parser.add_argument("--folder", type=Path, default=Path("data/course-bert"))
    parser.add_argument("--sentences", type=int, default=2000, help="held-out sentences, default 2000")
    options = parser.parse_args(arguments)
    try:
        measures = measure(*load(options.folder), options.sentences)
    except (FileNotFoundError, ValueError) as error:
        parser.error(str(error))
    (options.folder / "measures.json").write_text(json.dumps(measures, indent=1) + "\n", encoding="utf-8")
    text = model_card(measures, options.folder)
    (options.folder / "README.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
