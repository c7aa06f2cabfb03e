"""Spread: one word of a sentence is changed, and the change travels up a pretrained encoder, sublayer by sublayer."""

import re
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from lesson_kit.show.moving.page import Moving

MOST = 4  # words, and replacements of each
LONGEST = 16  # tokens
DIGITS = 6  # of a number in the page
CHANGES = {
    "songs": ["poems", "letters", "lies"],
    "Paul": ["George", "Mary", "Einstein"],
    "several": ["two", "many", "no"],
    "inspired": ["tired", "drunk", "young"],
}
ATTENTION = ("all", "none", "last")  # the layers that keep it


def spread(sentence: str | None = None, changes: Mapping[str, Sequence[str]] | None = None, pretrained=None) -> Moving:
    """How far each token's vector moves when one word is changed: |after - before| / |before|, after each sublayer.

    sentence, changes: some of its words, each with the words that may replace it; without them lesson 07's sentence
    about John and Paul. pretrained: as ``load_bert`` gives it, which is called if there is none. Attention can be left
    out: its output is then replaced by zeros, in all layers or in all but the last.

    Raises:
        TypeError, ValueError: not one to four words with one to four replacements, a word that isn't in the sentence
            or comes twice, a replacement that takes another number of tokens, or more than 16 tokens.
    """
    if (sentence is None) != (changes is None):
        raise ValueError("sentence and changes belong together: expected both or neither")
    if sentence is None:
        from lesson_kit.examples import SONGS_SENTENCE

        sentence, changes = SONGS_SENTENCE, CHANGES
    if not isinstance(sentence, str):
        raise TypeError(f"sentence must be a str, got {type(sentence).__name__}")
    if not isinstance(changes, Mapping) or any(isinstance(words, str) for words in changes.values()):
        raise TypeError(f"changes must give a list of replacements for each word, got {changes!r}")
    if not 1 <= len(changes) <= MOST or not all(1 <= len(words) <= MOST for words in changes.values()):
        raise ValueError(f"changes must hold 1 to {MOST} words with 1 to {MOST} replacements each, got {dict(changes)}")
    if pretrained is None:
        from lesson_kit.pretrained import load_bert

        pretrained = load_bert()
    before = _ids(pretrained, sentence)
    if len(before) > LONGEST:
        raise ValueError(f"sentence must have at most {LONGEST} tokens, got {len(before)}")
    states = {attention: _states(pretrained, before, attention) for attention in ATTENTION}
    words = []
    for word, replacements in changes.items():
        changed = [_ids(pretrained, _replaced(sentence, word, replacement)) for replacement in replacements]
        places = [_place(before, after, word, new) for after, new in zip(changed, replacements, strict=True)]
        moved = [
            {attention: _moved(states[attention], _states(pretrained, after, attention)) for attention in ATTENTION}
            for after in changed
        ]
        words.append({"word": word, "place": places[0], "into": [*replacements], "moved": moved})
    data = {
        "tokens": pretrained.tokenizer.convert_ids_to_tokens(before),
        "layers": len(pretrained.bert.encoder.layers),
        "model": pretrained.name,
        "words": words,
    }
    return Moving("spread", data, lambda: _draw(data))


def _ids(pretrained, text: str) -> list[int]:
    return pretrained.tokenizer(text)["input_ids"]


def _replaced(sentence: str, word: str, replacement: str) -> str:
    found = re.findall(rf"\b{re.escape(str(word))}\b", sentence)
    if len(found) != 1:
        raise ValueError(
            f"changes must name words that stand once in the sentence; {word!r} stands there {len(found)} times"
        )
    return re.sub(rf"\b{re.escape(word)}\b", lambda _: replacement, sentence)


def _place(before: list[int], after: list[int], word: str, replacement: str) -> int:
    """The one token that differs."""
    places = [i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b]
    if len(before) != len(after) or len(places) != 1:
        raise ValueError(f"changes must put one token for one other; {replacement!r} for {word!r} does not")
    return places[0]


@torch.no_grad()
def _states(pretrained, ids: list[int], attention: str) -> list[Tensor]:
    """(tokens, d_model): the embeddings, then after attention and after the feed-forward network of each layer."""
    bert = pretrained.bert
    x = bert(torch.tensor([ids])).hidden_states[0]
    states = [x[0]]
    for layer in bert.encoder.layers:
        keeps = attention == "all" or (attention == "last" and layer is bert.encoder.layers[-1])

        def attend(x: Tensor, layer=layer, keeps=keeps) -> Tensor:
            return layer.attention(x, x, x)[0] if keeps else torch.zeros_like(x)

        x = layer.add_and_norm(x, attend, layer.norm1)
        states.append(x[0])
        x = layer.add_and_norm(x, layer.feed_forward, layer.norm2)
        states.append(x[0])
    return states


def _moved(before: list[Tensor], after: list[Tensor]) -> list[list[float]]:
    """For each state the relative change of each token; of one token only, where no other has moved."""
    rows = []
    for a, b in zip(before, after, strict=True):
        row = [round(share, DIGITS) for share in ((b - a).norm(dim=-1) / a.norm(dim=-1)).tolist()]
        rows.append(row if sum(share > 0 for share in row) > 1 else [max(row)])
    return rows


def _draw(data: dict):
    """The first change, with attention in all layers."""
    from lesson_kit.colours import contrast
    from lesson_kit.show.figures import subplots

    tokens, word = data["tokens"], data["words"][0]
    n = len(tokens)
    rows = [
        row if len(row) == n else [row[0] * (i == word["place"]) for i in range(n)] for row in word["moved"][0]["all"]
    ]
    names = [_name(row) for row in range(len(rows))]
    fig, ax = subplots(figsize=(10.4, 1.4 + 0.3 * n))
    lanes = [*zip(*rows, strict=True)]
    shown = ax.imshow(lanes, cmap="Blues", vmin=0, aspect="auto")
    for y, lane in enumerate(lanes):
        for x, share in enumerate(lane):
            ground = shown.cmap(shown.norm(share))
            ink = max(("#000000", "#ffffff"), key=lambda ink: contrast(ink, ground))
            ax.text(x, y, f"{share:.2f}" if share else "0", ha="center", va="center", fontsize=9, color=ink)
    ax.set_xticks(range(len(names)), names, rotation=35, ha="right")
    ax.set_yticks(range(n), tokens, parse_math=False)
    ax.tick_params(length=0)
    ax.grid(False)
    ax.set_title(f"{word['word']} → {word['into'][0]}: how far did each vector move?", parse_math=False)
    fig.colorbar(shown, ax=ax, label="change / length")
    most = sorted(range(n), key=rows[-1].__getitem__, reverse=True)[:3]
    alt = (
        f"Heat map of how far each token's vector moves in {data['model']} when {word['word']} is replaced by "
        f"{word['into'][0]}, as a share of its length. A row for each token; from left to right the embeddings, then "
        "each layer's attention and feed-forward network. In the embeddings only the replaced word has moved; after "
        f"the first attention {sum(share > 0 for share in rows[1])} of {n} tokens have. At the end most of all: "
        f"{', '.join(f'{tokens[i]} ({rows[-1][i]:.2f})' for i in most)}."
    )
    return fig, alt


def _name(row: int) -> str:
    """What a state of the stream is called."""
    if not row:
        return "embeddings"
    return f"{(row - 1) // 2} {'attention' if row % 2 else 'feed-forward'}"
