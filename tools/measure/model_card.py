"""Turns ``measures.json`` into the README of the course BERT."""

from pathlib import Path

from lesson_kit.languages.english.lexicon import AMBIGUOUS
from tools.measure.markdown import page, paragraph, percent, table

# (what, target): the figures the course asks for. The README says of each whether it is reached.
SENSE_TARGET, GAP_TARGET, PRONOUN_TARGET = 0.97, 0.50, 0.85
HEADLINE = ("bank", "fire", "blue")


def _best(values: list[float]) -> tuple[int, float]:
    layer = max(range(len(values)), key=values.__getitem__)
    return layer, values[layer]


def _reached(yes: bool) -> str:
    return "reached" if yes else "**not reached**"


def targets(measures: dict) -> list[tuple[str, str, bool]]:
    """(what was asked for, what was measured, whether it is reached)."""
    rows = []
    for word in HEADLINE:
        layer, value = _best(measures["senses"][word]["accuracy"])
        rows.append(
            (
                f"senses of `{word}` told apart, at least 97%",
                f"{percent(value)} (layer {layer})",
                value >= SENSE_TARGET,
            )
        )
    for word in HEADLINE:
        layer, value = _best(measures["senses"][word]["gap_centred"])
        rows.append((f"centred gap of `{word}`, at least 0.5", f"{value:.2f} (layer {layer})", value >= GAP_TARGET))
    pronoun = measures["heads"]["pronoun -> an earlier mention"]
    rows.append(
        (
            "best head for pronouns, at least 85%",
            f"{percent(pronoun['accuracy'])} (layer {pronoun['layer']}, head {pronoun['head']})",
            pronoun["accuracy"] >= PRONOUN_TARGET,
        )
    )
    vault, river = (measures["lesson_sentences"][f"bank_robber_{other}"] for other in ("vault", "river"))
    layer, _ = _best(measures["senses"]["bank"]["accuracy"])
    rows.append(
        (
            "bank sentence: robber/vault above robber/river at the layer that tells the senses of `bank` apart best",
            f"{vault[layer]:.3f} against {river[layer]:.3f} (layer {layer})",
            vault[layer] > river[layer],
        )
    )
    return rows


def model_card(measures: dict, folder: Path) -> str:
    """The README, in Markdown. ``notes.md`` beside the model, if there is one, is put at its end."""
    layers = [f"layer {n}" if n else "embedding" for n in range(len(measures["senses"]["bank"]["accuracy"]))]
    masked = measures["masked_words"]
    sense_rows = [
        [
            f"{word} ({', '.join(AMBIGUOUS[word])})",
            *(percent(value) for value in found["accuracy"]),
            percent(max(found["accuracy_random_weights"])),
            percent(found["accuracy_from_neighbours"]),
        ]
        for word, found in measures["senses"].items()
    ]

    def gap(found: dict, kind: str, layer: int) -> str:
        text = f"{found[f'gap_{kind}'][layer]:.2f}"
        if interval := found.get(f"gap_{kind}_interval"):
            text += f" ({interval[layer][0]:.2f} to {interval[layer][1]:.2f})"
        return text

    def gap_rows(kind: str) -> list[list[str]]:
        return [
            [word, *(gap(found, kind, layer) for layer in range(len(layers)))]
            for word, found in measures["senses"].items()
        ]

    head_rows = [
        [
            name,
            str(found["asked"]),
            f"{found['layer']}-{found['head']}",
            percent(found["accuracy"]),
            f"{percent(found['offset_accuracy'])} ({found['offset']:+d})",
        ]
        for name, found in measures["heads"].items()
    ]
    lesson = measures["lesson_sentences"]
    they = lesson["they"]
    bank_rows = [
        [pair, *(f"{value:.3f}" for value in lesson[f"bank_robber_{pair.split('/')[1]}"])]
        for pair in ("robber/vault", "robber/river")
    ]
    nearest = measures["heads"]["pronoun -> an earlier mention"]["nearest_noun_accuracy"]
    masked_rows = [
        [
            kind,
            str(row["asked"]),
            percent(row["accuracy"]),
            percent(row["commonest_word"]) if "commonest_word" in row else "",
        ]
        for kind, row in masked.items()
    ]
    parts = [
        "# course-bert",
        paragraph(f"""A BERT of {measures["parameters"]:,} parameters, trained by masked-language modelling alone on
            the course language (`lesson_kit/languages/english`), with the course's own encoder. It knows that
            language and nothing else."""),
        paragraph("""`python -m lesson_kit.training.bert` trains it. `python -m tools.measure.measure_bert`
            measures it on held-out sentences, that is on combinations of clauses, words and people that it was never
            trained on, and writes this page and `measures.json`. Layers and heads are numbered as in code: hidden
            state 0 is the embedding output; the first layer has the heads 0-0 to 0-3 and gives layer 1."""),
        "## What was asked for",
        table(["asked for", "measured", ""], [[what, value, _reached(yes)] for what, value, yes in targets(measures)]),
        "## Masked words",
        paragraph(f"""{measures["sentences"]} held-out sentences, 15% of their words masked. Right means that the word
            with the best score is the word that stood there. Beside it: always naming the commonest word of the
            class. Many words can't be known: where a name is missing, many names fit."""),
        table(["class", "asked", "right", "commonest word"], masked_rows),
        "## Senses",
        paragraph("""How often the vector of the ambiguous word lies nearest to the mean vector of its own sense,
            itself left out (nearest centroid, leave-one-out). Beside it the best layer of the same model with random
            weights, and what the two neighbouring words alone would give (the commonest sense between these
            neighbours in training sentences)."""),
        table(["word", *layers, "random weights", "neighbours alone"], sense_rows),
        paragraph("""Mean cosine of two occurrences with the same sense, minus that of two with different senses; for
            three words with a 95% bootstrap interval over sentences. First the vectors as they are:"""),
        table(["raw", *layers], gap_rows("raw")),
        "Then after the word's mean vector is taken away:",
        table(["centred", *layers], gap_rows("centred")),
        "## Heads",
        paragraph(f"""The word a head looks at most ([CLS], [SEP] and the word itself don't count). The best head is
            chosen on one half of the sentences and measured on the other, and so is the best fixed offset (-1: always
            the previous word). For pronouns any earlier mention of the same person or thing is right; always naming
            the nearest earlier noun or name gives {percent(nearest)}."""),
        table(["relation", "asked", "best head", "right", "best fixed offset"], head_rows),
        "## The lessons' sentences",
        'Cosine between the `bank` of "bank robber" and the two others of the published sentence, never trained on:',
        table(["pair", *layers], bank_rows),
        paragraph(f"""In "John and Paul wrote several songs when they were inspired." `they` looks most at the two in
            head {they["layer"]}-{they["head"]}: weight {they["john"]:.2f} on john, {they["paul"]:.2f} on paul."""),
    ]
    return page(parts, folder)
