"""The strongest links of an attention map, in words: for terminals, and for whoever cannot see the picture."""

import numpy as np

from lesson_kit.show.numbers import number

MOST_LINES = 40
MOST_LINKS = 3  # on a line
LEAST = 0.005  # what is 0.00 in print is no link


def strongest_links(attentions, tokens: list[str], layers: list[int], heads: list[int]) -> str:
    """For one map, or few: a line for each token. For the heads of one layer: a line each. Else a line for each layer.

    attentions: for each layer (heads, tokens, tokens). A token that occurs more than once is named with its position.
    The shorter forms leave out links of a token to itself and those from and to [CLS] and [SEP]: these drown the rest.
    """
    names = positioned(tokens)
    maps = {(layer, head): np.asarray(attentions[layer][head], float) for layer in layers for head in heads}
    note = "" if names == list(tokens) else " (after a token that occurs more than once: its position, counted from 0)"
    if len(maps) == 1 or len(maps) * len(tokens) <= MOST_LINES:
        lines = [f"Strongest links{note}"]
        for (layer, head), weights in maps.items():
            lines.append(f"layer {layer}, head {head}:")
            lines += [f"  {row_in_words(row, names, i)}" for i, row in enumerate(weights)]
        return "\n".join(lines)
    lines = [f"Strongest links between different tokens, without [CLS] and [SEP]{note}"]
    links = {key: _between_words(weights, tokens) for key, weights in maps.items()}
    if len(layers) == 1:
        lines += [f"layer {layer}, head {head}: {_in_words(found, names)}" for (layer, head), found in links.items()]
        return "\n".join(lines)
    for layer in layers:
        best = [(*link, f" (head {head})") for head in heads for link in links[layer, head][:1]]
        lines.append(f"layer {layer}, one link of a head: {_in_words(sorted(best), names)}")
    return "\n".join(lines)


def row_in_words(weights, names: list[str], i: int) -> str:
    """ "they attends 0.36 to john, 0.29 to paul" """
    links = sorted((-weight, j) for j, weight in enumerate(np.round(np.asarray(weights, float), 2)) if weight > LEAST)
    found = ", ".join(f"{number(-weight)} to {names[j]}" for weight, j in links[:MOST_LINKS])
    return f"{names[i]} attends {found or 'to nothing with 0.01 or more'}"


def positioned(tokens) -> list[str]:
    """Each token by a name of its own."""
    return [f"{token} ({i})" if list(tokens).count(token) > 1 else token for i, token in enumerate(tokens)]


def _between_words(weights, tokens) -> list[tuple]:
    """(minus weight, row, column), the strongest first."""
    words = [i for i, token in enumerate(tokens) if token not in ("[CLS]", "[SEP]")]
    links = ((-np.round(weights[i, j], 2), i, j) for i in words for j in words if i != j)
    return sorted(link for link in links if -link[0] > LEAST)


def _in_words(links, names: list[str]) -> str:
    found = [f"{names[i]} attends {number(-w)} to {names[j]}{''.join(where)}" for w, i, j, *where in links[:MOST_LINKS]]
    return "; ".join(found) or "none with 0.01 or more"
