"""Makes the README's picture: ``python tools/readme_picture.py``.

Left: a head of the pretrained BERT, found by computation. Right: our encoder's hidden states against Hugging Face's.
"""

import matplotlib.pyplot as plt
import torch
from PIL import Image

from lesson_kit import compare_hidden_states, examples, load_bert, show
from lesson_kit.data import CHECKOUT
from lesson_kit.show.figures import DPI, RC_PARAMS
from lesson_kit.show.scales import COLOUR_MAP

BLUE, ORANGE = "#0072B2", "#D55E00"
TOLERANCE = 1e-5


def draw_head(ax, bert, inputs) -> None:
    """The head in which "they" gives the most weight to "john" and "paul" together."""
    words = bert.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    with torch.no_grad():
        weights = torch.cat(bert.hf_model(**inputs, output_attentions=True).attentions)
    they, people = words.index("they"), [words.index("john"), words.index("paul")]
    shares = weights[:, :, they, people].sum(dim=-1)
    layer, head = divmod(shares.argmax().item(), shares.shape[1])
    assert shares[layer, head] > 0.5, "the README says: mostly"

    ax.imshow(weights[layer, head], COLOUR_MAP, vmin=0, vmax=1)
    ax.add_patch(plt.Rectangle((-0.5, they - 0.5), len(words), 1, fill=False, edgecolor=ORANGE, linewidth=2))
    ax.set_xticks(range(len(words)), words, rotation=90)
    ax.set_yticks(range(len(words)), words)
    ax.set(xlabel="is looked at", ylabel="looks")
    ax.get_yticklabels()[they].set(color=ORANGE, weight="bold")
    for j in people:
        ax.get_xticklabels()[j].set(color=ORANGE, weight="bold")
    ax.tick_params(length=0)
    ax.grid(False)
    ax.spines[:].set(visible=True, color="#999999")
    share = f"{100 * shares[layer, head]:.0f}%"
    ax.set_title(f"{bert.name}, layer {layer}, head {head}:\n“they” gives {share} to “john” and “paul”")


def draw_differences(ax, bert, inputs) -> None:
    """Our attention, by hand, against Hugging Face's eager attention and against its fused one (SDPA)."""
    like_with_like = compare_hidden_states(bert.bert, bert.hf_model, inputs).max_abs_diff
    bert.hf_model.set_attn_implementation("sdpa")
    with torch.no_grad():
        ours = bert.bert(**inputs, need_weights=True).hidden_states
        theirs = bert.hf_model(**inputs, output_hidden_states=True).hidden_states
    bert.hf_model.set_attn_implementation("eager")
    differences = [(a - b).abs().max().item() for a, b in zip(ours, theirs, strict=True)]
    assert max(differences + like_with_like) < TOLERANCE

    names = ["embeddings"] + [f"layer {n}" for n in range(len(differences) - 1)]
    places = [n for n, difference in enumerate(differences) if difference > 0]  # a log axis has no room for 0
    ax.axhline(TOLERANCE, color=ORANGE, linestyle="--", marker="")
    ax.text(len(names) - 0.6, TOLERANCE * 1.15, "tolerance 0.00001", color=ORANGE, ha="right", va="bottom")
    ax.plot(places, [differences[n] for n in places], "o-", color=BLUE, markevery=1, markersize=7)
    for n in set(range(len(names))) - set(places):
        ax.text(n, 1.4e-8, "0, exactly", color=BLUE, ha="center", va="bottom", rotation=90)
    if max(like_with_like) == 0:
        ax.text(len(names) / 2, 3e-8, "against Hugging Face's eager attention:\nexactly equal everywhere", ha="center")
    ax.set_yscale("log")
    ax.set_ylim(1e-8, 1e-4)
    ax.set_xlim(-0.6, len(names) - 0.4)
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.set_ylabel("largest difference of any number")
    ax.set_title("hidden states: our encoder, by hand,\nagainst Hugging Face's, fused attention")


def main() -> None:
    """Draws both halves and writes ``data/readme_picture.png``."""
    bert = load_bert()
    inputs = bert.tokenizer(examples.SONGS_SENTENCE, return_tensors="pt")
    with plt.rc_context(RC_PARAMS):
        fig, (left, right) = show.subplots(1, 2, figsize=(8.4, 4.4))
        draw_head(left, bert, inputs)
        draw_differences(right, bert, inputs)
        target = CHECKOUT / "data" / "readme_picture.png"
        fig.savefig(target, dpi=DPI)
    Image.open(target).convert("RGB").quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
