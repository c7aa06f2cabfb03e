"""Measures the translator on sentences it never saw: ``python -m tools.measure.measure_translator``.

Writes ``measures.json`` and ``README.md`` beside the model, so that no figure there was typed by hand.
"""

import argparse
import csv
import json
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import sacrebleu
import torch

from lesson_kit.languages.pairs import MAX_WORDS, TAUGHT, Pair, generate_pairs
from lesson_kit.training.translator import loss_and_accuracy, make_batch
from lesson_kit.translator import Translator, load_translator
from tools.measure import markdown
from tools.measure.markdown import paragraph, percent, table

SEED = 2024
SENTENCES = {"train": 2000, "held_out": 4000, "longer": 1500}
BATCH = 250
BEAM = 4


def wilson(right: int, asked: int, z: float = 1.96) -> tuple[float, float]:
    """95% interval of a share (Wilson 1927): good near 0 and 1 too."""
    if asked < 1 or not 0 <= right <= asked:
        raise ValueError(f"right must lie in 0..asked and asked be at least 1, got {right} of {asked}")
    share = right / asked
    centre = share + z * z / (2 * asked)
    spread = z * math.sqrt(share * (1 - share) / asked + z * z / (4 * asked * asked))
    low, high = ((centre + sign * spread) / (1 + z * z / asked) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def bleu(translations: Sequence[str], references: Sequence[str]) -> dict:
    """sacrebleu's BLEU with its Chinese tokenizer, which makes each character a token."""
    metric = sacrebleu.BLEU(tokenize="zh")
    score = metric.corpus_score(list(translations), [list(references)])
    return {"score": round(score.score, 2), "signature": str(metric.get_signature())}


def distinct(n: int, split: str) -> list[Pair]:
    """``n`` different sentences of a split."""
    found: dict[str, Pair] = {}
    for pair in generate_pairs(50 * n, SEED, split):
        found.setdefault(pair.text, pair)
        if len(found) == n:
            break
    return list(found.values())


def translate_all(translator: Translator, pairs: Sequence[Pair], beam_size: int = 1) -> list[str]:
    """In batches of sentences of about the same length."""
    order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].english))
    texts = [""] * len(pairs)
    for start in range(0, len(pairs), BATCH):
        places = order[start : start + BATCH]
        batch = make_batch([pairs[place] for place in places], translator.english, translator.chinese)
        ids = translator.search(batch.source, batch.source_mask, beam_size).ids.tolist()
        for place, row in zip(places, ids, strict=True):
            texts[place] = "".join(translator.chinese.decode(row))
    return texts


def _exact(texts: Sequence[str], pairs: Sequence[Pair]) -> dict:
    right = sum(text == pair.chinese for text, pair in zip(texts, pairs, strict=True))
    low, high = wilson(right, len(pairs))
    return {
        "asked": len(pairs),
        "right": right,
        "share": round(right / len(pairs), 4),
        "interval": [round(low, 4), round(high, 4)],
    }


def measure_split(translator: Translator, split: str, n: int, beam: bool = True) -> tuple[dict, list[dict]]:
    """Exact match, BLEU and character accuracy of a split; also all errors of the greedy search."""
    pairs = distinct(n, split)
    texts = translate_all(translator, pairs)
    by_kind, by_length = defaultdict(list), defaultdict(list)
    for text, pair in zip(texts, pairs, strict=True):
        by_kind[pair.kind].append((text, pair))
        by_length[len(pair.english)].append((text, pair))
    references = [pair.chinese for pair in pairs]
    errors = [
        {"kind": pair.kind, "english": pair.text, "chinese": pair.chinese, "translated": text}
        for text, pair in zip(texts, pairs, strict=True)
        if text != pair.chinese
    ]
    measures = {
        "greedy": _exact(texts, pairs),
        "bleu": bleu(texts, references),
        "characters": _character_accuracy(translator, pairs),
        "kinds": {kind: _exact(*zip(*rows, strict=True)) for kind, rows in sorted(by_kind.items())},
        "lengths": {str(length): _exact(*zip(*rows, strict=True)) for length, rows in sorted(by_length.items())},
        "too_short": sum(len(error["translated"]) < len(error["chinese"]) for error in errors),
    }
    if beam:
        better = translate_all(translator, pairs, BEAM)
        measures[f"beam_{BEAM}"] = _exact(better, pairs)
        measures[f"beam_{BEAM}_bleu"] = bleu(better, references)
    return measures, errors


def _character_accuracy(translator: Translator, pairs: Sequence[Pair]) -> float:
    """Teacher forcing: the share of characters (and ends) that are right after the right beginning."""
    right = asked = 0.0
    for start in range(0, len(pairs), BATCH):
        batch = make_batch(list(pairs[start : start + BATCH]), translator.english, translator.chinese)
        with torch.no_grad():
            logits = translator.model(batch.source, batch.inputs, source_mask=batch.source_mask)
        count = int(batch.target_mask.sum())
        right += loss_and_accuracy(logits, batch)[1].item() * count
        asked += count
    return round(right / asked, 5)


def word_by_word(pairs: Sequence[Pair]) -> list[str]:
    """The dictionary as a translator: each word's commonest characters, in the English order."""
    table: dict[str, Counter] = defaultdict(Counter)
    for pair in generate_pairs(20_000, SEED):
        for place, word in enumerate(pair.english):
            characters = (c for c, links in zip(pair.chinese, pair.alignment, strict=True) if links[:1] == (place,))
            table[word]["".join(characters)] += 1
    best = {word: counts.most_common(1)[0][0] for word, counts in table.items()}
    return ["".join(best.get(word, "") for word in pair.english) for pair in pairs]


def measure_alignment(translator: Translator, pairs: Sequence[Pair]) -> dict:
    """How often a character's step attends most to a word that it translates: the best head, and all together.

    The head is chosen on the first half of the pairs, and measured on the second.
    """
    hits: list[Counter] = [Counter(), Counter()]
    asked = [0, 0]
    chance = 0.0
    for number, pair in enumerate(pairs):
        half = number * 2 >= len(pairs)
        batch = make_batch([pair], translator.english, translator.chinese)
        with torch.no_grad():
            memory = translator.model.encode(batch.source).last_hidden_state
            out = translator.model.decode(batch.inputs, memory, need_weights=True)[1]
        weights = torch.cat(out.cross_attention_weights).flatten(0, 1)  # heads of all layers, target, source
        weights = torch.cat([weights, weights.mean(0, keepdim=True)])
        looked_at = weights[..., :-1].argmax(-1)  # the end of the source is no word
        for place, links in enumerate(pair.alignment):
            if links:
                asked[half] += 1
                chance += half * len(links) / len(pair.english)
                for head, word in enumerate(looked_at[:, place].tolist()):
                    hits[half][head] += word in links
    n_heads = translator.model.decoder.layers[0].cross_attention.n_heads
    average = n_heads * len(translator.model.decoder.layers)
    heads = {f"{head // n_heads}-{head % n_heads}": hits[1][head] / asked[1] for head in range(average)}
    best = max(range(average), key=lambda head: hits[0][head])
    low, high = wilson(hits[1][best], asked[1])
    return {
        "asked": asked[1],
        "best_head": f"{best // n_heads}-{best % n_heads}",
        "share": round(hits[1][best] / asked[1], 4),
        "interval": [round(low, 4), round(high, 4)],
        "all_heads_averaged": round(hits[1][average] / asked[1], 4),
        "any_word": round(chance / asked[1], 4),
        "heads": {name: round(share, 4) for name, share in heads.items()},
    }


def measure_seed(folder: Path, settings: dict) -> dict:
    """Exact match and BLEU of the same training from another seed. Raises ValueError if it is not the same."""
    own = json.loads((folder / "training_settings.json").read_text(encoding="utf-8"))
    if own | {"seed": settings["seed"]} != settings:
        raise ValueError(f"folder={str(folder)!r} has other settings, not only another seed: {own}")
    translator = load_translator(folder)
    held_out, longer = (
        measure_split(translator, split, SENTENCES[split], beam=False)[0] for split in ("held_out", "longer")
    )
    return {str(own["seed"]): _of_a_seed(held_out, longer)}


def _of_a_seed(held_out: dict, longer: dict) -> dict:
    return {"held_out": held_out["greedy"], "longer": longer["greedy"], "longer_bleu": longer["bleu"]["score"]}


def measure(folder: Path, other_seeds: Sequence[Path] = ()) -> dict:
    """All of it. ``seeds`` has this training, those of ``other_seeds``, and those that stand in ``measures.json``."""
    translator = load_translator(folder)
    measures: dict = {"parameters": sum(weight.numel() for weight in translator.model.parameters())}
    measures["words"], measures["characters"] = len(translator.english), len(translator.chinese)
    for split, n in SENTENCES.items():
        measures[split], errors = measure_split(translator, split, n, beam=split != "train")
        measures[split]["errors"] = errors[:: max(1, len(errors) // 12)][:12]
    pairs = distinct(SENTENCES["held_out"], "held_out")
    texts = word_by_word(pairs)
    measures["word_by_word"] = _exact(texts, pairs) | {"bleu": bleu(texts, [pair.chinese for pair in pairs])}
    measures["alignment"] = measure_alignment(translator, pairs[:600])
    measures["lessons"] = {text: translator(text) for text, _ in TAUGHT}
    settings = json.loads((folder / "training_settings.json").read_text(encoding="utf-8"))
    measures["seed"], measures["sentences_seen"] = settings["seed"], settings["steps"] * settings["batch_size"]
    before = folder / "measures.json"
    seeds = json.loads(before.read_text(encoding="utf-8")).get("seeds", {}) if before.is_file() else {}
    for other in other_seeds:
        seeds |= measure_seed(other, settings)
    seeds[str(settings["seed"])] = _of_a_seed(measures["held_out"], measures["longer"])
    measures["seeds"] = dict(sorted(seeds.items()))
    with open(folder / "training_log.csv", encoding="utf-8") as file:
        measures["training_seconds"] = float(list(csv.DictReader(file))[-1]["seconds"])
    return measures


# The page


def _share(found: dict) -> str:
    low, high = found["interval"]
    return f"{percent(found['share'])} ({100 * low:.1f} to {100 * high:.1f})"


def _errors(errors: list[dict]) -> str:
    return table(["English", "Chinese", "translated"], [[e["english"], e["chinese"], e["translated"]] for e in errors])


def page(measures: dict, folder: Path) -> str:
    """The README, in Markdown. ``notes.md`` beside the model, if there is one, is put at its end."""
    held_out, longer = measures["held_out"], measures["longer"]
    beam = f"beam_{BEAM}"
    rows = []
    for name, split in (
        ("training sentences", "train"),
        ("unseen combinations", "held_out"),
        ("unseen lengths", "longer"),
    ):
        found = measures[split]
        rows.append(
            [
                name,
                str(found["greedy"]["asked"]),
                _share(found["greedy"]),
                _share(found[beam]) if beam in found else "",
                f"{100 * found['characters']:.2f}%",
                f"{found['bleu']['score']:.1f}",
            ]
        )
    baseline = measures["word_by_word"]
    rows.append(
        [
            "word by word, unseen combinations",
            str(baseline["asked"]),
            _share(baseline),
            "",
            "",
            f"{baseline['bleu']['score']:.1f}",
        ]
    )
    kinds = [
        [kind, str(found["asked"]), _share(found), _share(longer["kinds"][kind]) if kind in longer["kinds"] else ""]
        for kind, found in held_out["kinds"].items()
    ]
    kinds += [[kind, "", "", _share(found)] for kind, found in longer["kinds"].items() if kind not in held_out["kinds"]]
    lengths = [
        [length, str(found["asked"]), _share(found)]
        for length, found in sorted({**held_out["lengths"], **longer["lengths"]}.items(), key=lambda row: int(row[0]))
    ]
    seeds = [
        [
            f"{seed} (this one)" if seed == str(measures["seed"]) else seed,
            _share(found["held_out"]),
            _share(found["longer"]),
            f"{found['longer_bleu']:.1f}",
        ]
        for seed, found in measures["seeds"].items()
    ]
    alignment = measures["alignment"]
    wrong = longer["greedy"]["asked"] - longer["greedy"]["right"]
    parts = [
        "# translator",
        paragraph(f"""A Transformer of {measures["parameters"]:,} parameters that translates the English of
            `lesson_kit/languages/pairs` into Chinese: words in, characters out. It knows
            {measures["words"] - 4} words and {measures["characters"] - 4} characters, and nothing else."""),
        paragraph(f"""`python -m lesson_kit.training.translator` trains it, on {measures["sentences_seen"]:,}
            sentences (this one in {measures["training_seconds"]:.0f} seconds, on one core of a machine that had other
            work too). `python -m tools.measure.measure_translator` measures it and writes this page and
            `measures.json`. Percentages in brackets are 95% Wilson intervals."""),
        "## How often it is right",
        paragraph(f"""Right means: character by character the one translation the grammar gives. Unseen combinations
            are sentences whose content words, three or more, never stood together in training. Unseen lengths have
            more than {MAX_WORDS} words, which no training sentence has. Characters: the share that is right after a
            right beginning. BLEU is sacrebleu's (`{held_out["bleu"]["signature"]}`)."""),
        table(["sentences", "number", "greedy", f"beam of {BEAM}", "characters", "BLEU (greedy)"], rows),
        "## By kind of sentence",
        table(["kind", "number", "unseen combinations", "unseen lengths"], kinds),
        "## By number of words",
        table(["English words", "number", "right"], lengths),
        paragraph(f"""Training ended at {MAX_WORDS} words: beyond lie positions it never saw, and clauses longer than
            any it met. {longer["too_short"]} of its {wrong} errors there are too short: it stops, or leaves a phrase
            out, where training sentences would have ended."""),
        "## Errors",
        "Some of the unseen combinations:",
        _errors(held_out["errors"]) if held_out["errors"] else "None.",
        "Some of the unseen lengths:",
        _errors(longer["errors"]) if longer["errors"] else "None.",
        "## Cross-attention as alignment",
        paragraph(f"""The grammar knows which words a character translates. In head {alignment["best_head"]} (layer,
            head; chosen on other sentences) the step that writes a character attends most to such a word for
            {_share(alignment)} of {alignment["asked"]} characters; in the mean over all heads for
            {percent(alignment["all_heads_averaged"])}; a word chosen blindly would do for
            {percent(alignment["any_word"])}."""),
        table(["head", "right"], [[head, percent(share)] for head, share in alignment["heads"].items()]),
        "## The lessons' sentences",
        table(["English", "translated"], [[english, chinese] for english, chinese in measures["lessons"].items()]),
        "## Seeds",
        paragraph(f"""The same training from {len(seeds)} seed{"s" * (len(seeds) > 1)}, greedy, on the same sentences
            ({held_out["greedy"]["asked"]} unseen combinations, {longer["greedy"]["asked"]} of unseen lengths):"""),
        table(["seed", "unseen combinations", "unseen lengths", "BLEU there"], seeds),
    ]
    return markdown.page(parts, folder)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measures the translator and writes its README.")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("data/translator"))
    parser.add_argument(
        "--other-seeds", type=Path, nargs="+", default=[], metavar="FOLDER", help="the same training, other seeds"
    )
    options = parser.parse_args(arguments)
    folder = options.folder
    try:
        measures = measure(folder, options.other_seeds)
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    text = json.dumps(measures, ensure_ascii=False, indent=1)
    (folder / "measures.json").write_text(text + "\n", encoding="utf-8")
    (folder / "README.md").write_text(page(measures, folder), encoding="utf-8")
    print(f"held-out exact match: {_share(measures['held_out']['greedy'])}; details in {folder / 'README.md'}")


if __name__ == "__main__":
    main()
