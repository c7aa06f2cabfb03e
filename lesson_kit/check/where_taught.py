"""Where the lessons explain what each exercise asks for: the notebook and the heading, in the lessons' order.

``TITLES`` are the lessons' names, by their numbers.
"""

from urllib.parse import quote

PLACES = {
    "dot_product_scores": ("01_attention_by_hand.ipynb", "Step 2: how well does each question fit each label?"),
    "softmax": ("01_attention_by_hand.ipynb", "Step 3: from scores to shares"),
    "attend": ("01_attention_by_hand.ipynb", "Step 4: mix the values"),
    "scaled_dot_product_attention": ("02_the_sky_is_blue.ipynb", "Four words, 512 numbers each"),
    "softmax_with_temperature": ("02_the_sky_is_blue.ipynb", "Temperature"),
    "padding_mask": ("03_masks.ipynb", "The padding mask"),
    "causal_mask": ("03_masks.ipynb", "The causal mask"),
    "masked_softmax": ("03_masks.ipynb", "Hide a key: before the softmax, not after"),
    "split_heads": ("04_multi_head_attention.ipynb", "All heads at once: split"),
    "merge_heads": ("04_multi_head_attention.ipynb", "All heads at once: merge"),
    "multi_head_attention": ("04_multi_head_attention.ipynb", "The general form"),
    "sinusoidal_positions": ("05_word_order.ipynb", "Clock hands"),
    "add_positions": ("05_word_order.ipynb", "Adding the table to a batch"),
    "layer_norm": ("06_add_norm_feed_forward.ipynb", "Layer normalisation"),
    "feed_forward": ("06_add_norm_feed_forward.ipynb", "The feed-forward network"),
    "post_norm": ("06_add_norm_feed_forward.ipynb", "Post-norm and pre-norm"),
    "pre_norm": ("06_add_norm_feed_forward.ipynb", "Post-norm and pre-norm"),
    "encoder_layer": ("07_the_encoder.ipynb", "One layer, by hand"),
    "bert_embeddings": ("08_meet_bert.ipynb", "From ids to vectors: three tables"),
    "mask_tokens": ("09_train_your_own_bert.ipynb", "The task: fill the gap"),
    "cosine_similarity": ("10_what_bank_means.ipynb", "The cosine, by hand"),
    "head_entropy": ("11_seeing_attention.ipynb", "How widely does a head look?"),
    "cross_attention": ("13_the_decoder.ipynb", "Cross-attention"),
    "shift_right": ("13_the_decoder.ipynb", "Shifted right"),
    "label_smoothed_loss": ("14_train_a_translator.ipynb", "The loss: label smoothing"),
    "learning_rate": ("14_train_a_translator.ipynb", "The learning rate: warm-up"),
    "greedy_decode": ("15_choosing_words.ipynb", "Writing a sentence"),
    "online_softmax_sum": ("18_attention_at_scale.ipynb", "The weighted sum in one pass"),
    "cached_step": ("18_attention_at_scale.ipynb", "Writing: one token at a time"),
}
TITLES = {
    "01": "Attention by hand",
    "02": "The sky is blue",
    "03": "Masks",
    "04": "Multi-head attention",
    "05": "Word order",
    "06": "Add & norm, and the feed-forward network",
    "07": "The encoder",
    "08": "Meet BERT",
    "09": "Train your own BERT",
    "10": "What bank means",
    "11": "Seeing attention",
    "13": "The decoder",
    "14": "Train a translator",
    "15": "Choosing words",
    "18": "Attention at scale",
}


def lesson(name: str) -> str:
    """The number of the exercise's lesson, such as "03"."""
    return PLACES[name][0][:2]


def next_exercise(name: str) -> str:
    """What comes after the exercise, in a sentence; "" for one of no lesson."""
    names = list(PLACES)
    if name not in names:
        return ""
    after = names[names.index(name) + 1 : names.index(name) + 2]
    if not after:
        return "That was the last exercise of the course."
    number, title = lesson(after[0]), TITLES[lesson(after[0])]
    there = "" if number == lesson(name) else f", in lesson {number}, {title}"
    return f"Next exercise: `{after[0]}`{there}."


def explained_in(name: str) -> str:
    """Where to read of it, in a sentence; "" for an exercise of no lesson."""
    return f'Lesson {lesson(name)} explains it under "{PLACES[name][1].rstrip("?")}".' if name in PLACES else ""


def link(notebook: str, heading: str) -> str:
    """What leads from one lesson to a heading of another, as JupyterLab names its headings."""
    return f"{notebook}#{quote(heading.replace(' ', '-'), safe=':,')}"
