"""Decode: one translation, character by character: what is fed, what is seen, where it looks, what it says next."""

import math
from collections.abc import Sequence

import torch

from lesson_kit.languages.pairs.glosses import GLOSSES
from lesson_kit.languages.pairs.vocabulary import BOS, EOS
from lesson_kit.show.moving.page import Moving

BEST = 5  # so many characters are shown at each step
FEWEST, MOST = 1, 4  # sentences
LONGEST = 17  # tokens on each side, [EOS] included: what a phone's width holds in two lines
DIGITS = 7  # of a number in the page
# Each with the translation that the course's grammar gives. The last has more words than any sentence of the training.
SENTENCES = (
    ("why do we work", "为什么要工作"),
    ("my older sister bought a book yesterday", "我姐姐昨天买了一本书"),
    ("you are sad because your friend went home", "因为你朋友回家了所以你很难过"),
    ("the teacher does not like the cat that i saw in the park last week", "老师不喜欢我上个星期在公园里看见的猫"),
)


def decode(sentences: Sequence | None = None, translator=None) -> Moving:
    """A translator at work, step by step: always the most probable character, until the end symbol.

    sentences: one to four English sentences, or pairs of a sentence and the translation that was wanted; without them
    four that the course's translator takes from easily to wrongly. translator: as ``load_translator`` gives it, which
    is called if there is none. Both attentions are those of its last decoder layer, averaged over the heads.

    Raises:
        TypeError, ValueError: not one to four sentences, a word that the translator doesn't know, or more than 17
            tokens on either side.
    """
    if translator is None:
        from lesson_kit.translator import load_translator

        translator = load_translator()
    if isinstance(sentences, str):
        raise TypeError(f"sentences must be a list of English sentences, got the str {sentences!r}")
    pairs = [one if isinstance(one, (tuple, list)) else (one, None) for one in sentences or SENTENCES]
    if not FEWEST <= len(pairs) <= MOST:
        raise ValueError(f"sentences must be {FEWEST} to {MOST}, got {len(pairs)}")
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[1], (str, type(None))):
            raise TypeError(f"sentences must hold sentences, or pairs of a sentence and its translation, got {pair!r}")
    data = {"sentences": [_steps(translator, text, wanted) for text, wanted in pairs]}
    seen = {token for one in data["sentences"] for step in one["steps"] for token, _ in step["best"]}
    data["glosses"] = {token: GLOSSES[token] for token in sorted(seen & GLOSSES.keys())}
    return Moving("decode", data, lambda: _draw(data["sentences"][0]))


@torch.no_grad()
def _steps(translator, text: str, wanted: str | None) -> dict:
    """The loop of lesson 13, with all that it shows at each step."""
    model, chinese = translator.model, translator.chinese
    source = [*translator.words(text), EOS]
    if len(source) > LONGEST:
        raise ValueError(f"sentences must have at most {LONGEST - 1} words each, got {len(source) - 1}: {text!r}")
    memory = model.encode(torch.tensor([translator.english.encode(source)])).last_hidden_state
    fed, steps = [BOS], []
    while fed[-1] != EOS:
        if len(fed) > LONGEST:
            raise ValueError(f"sentences must be translated by at most {LONGEST} tokens each; {text!r} takes more")
        scores, out = model.decode(torch.tensor([chinese.encode(fed)]), memory, need_weights=True)
        best = scores[0, -1].softmax(dim=-1).topk(BEST)
        # (batch, heads, target, source): the newest position's row, averaged over the heads
        sees, looks = (
            layers[-1][0, :, -1].mean(dim=0) for layers in (out.self_attention_weights, out.cross_attention_weights)
        )
        tokens = [chinese.tokens[i] for i in best.indices]
        shares = _rounded(best.values)
        steps.append({"sees": _rounded(sees), "looks": _rounded(looks), "best": [*zip(tokens, shares, strict=True)]})
        fed.append(tokens[0])
    return {"text": " ".join(source[:-1]), "source": source, "tokens": fed[1:], "wanted": wanted, "steps": steps}


def _rounded(row) -> list[float]:
    return [round(number, DIGITS) for number in row.tolist()]


def _draw(sentence: dict):
    """All steps of the first sentence at once: both attentions, a row for each step."""
    from lesson_kit.colours import MISSING, contrast
    from lesson_kit.show.figures import subplots

    tokens, steps = sentence["tokens"], sentence["steps"]
    names = [_name(token) for token in tokens]
    n, source = len(tokens), [_name(word) for word in sentence["source"]]
    fig, (left, right) = subplots(
        1, 2, figsize=(10.4, 1.4 + 0.36 * n), sharey=True, width_ratios=[n, len(source) * 1.1]
    )
    panels = [("Sees what is written", ["start", *names[:-1]], "sees"), ("Looks at the source", source, "looks")]
    for ax, (title, columns, key) in zip((left, right), panels, strict=True):
        weights = [step[key] + [math.nan] * (len(columns) - len(step[key])) for step in steps]
        shown = ax.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for t, row in enumerate(weights):
            for s, weight in enumerate(row):
                if math.isnan(weight):  # hidden by the mask
                    cell = {"facecolor": "white", "edgecolor": MISSING, "hatch": "////", "linewidth": 0}
                    ax.add_patch(_cell(s, t, **cell))
                elif n <= 9:
                    ground = shown.cmap(shown.norm(weight))
                    ink = max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, ground))
                    ax.text(s, t, f"{weight:.2f}", ha="center", va="center", fontsize=9, color=ink)
        ax.set_xticks(range(len(columns)), columns, parse_math=False, rotation=45 if n > 9 else 0)
        ax.set_yticks(range(n), [f"{t + 1}: {name}" for t, name in enumerate(names)], parse_math=False)
        ax.tick_params(length=0)
        ax.grid(False)
        ax.set_title(title)
    left.set_ylabel("step: says")
    fig.colorbar(shown, ax=[left, right], label="weight", ticks=[0, 0.5, 1])
    shares = "; ".join(
        f"{t}: {name} ({step['best'][0][1]:.2f}), looks most at {source[_most(step['looks'])]} "
        f"({max(step['looks']):.2f})"
        for t, (name, step) in enumerate(zip(names, steps, strict=True), start=1)
    )
    alt = (
        f"Two heat maps of weights from 0 to 1, with a row for each of the {n} steps in which {sentence['text']!r} is "
        "translated. Left, self-attention: each step sees what has been written before it, and the rest is hatched. "
        f"Right, cross-attention: each step looks at all of the source. The steps, with the probability of what each "
        f"says: {shares}."
    )
    return fig, alt


def _name(token: str) -> str:
    """In letters that every font has, where the pinyin is known."""
    return "end" if token == EOS else GLOSSES[token][0] if token in GLOSSES else token


def _most(row: list[float]) -> int:
    return max(range(len(row)), key=row.__getitem__)


def _cell(column: int, row: int, **look):
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, **look)
