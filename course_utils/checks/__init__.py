"""The checks of the exercises: ``check.softmax(softmax)`` says what is right, or what went wrong, and why.

Each check takes the function you wrote, shows a verdict and returns a ``CheckResult``; it never raises.
``check.progress()`` shows what you have passed, ``check.explain("no-scale")`` tells the longer story of a mistake.
"""

from course_utils.checks import stories
from course_utils.checks.engine import CheckResult, Exercise
from course_utils.checks.lesson_01 import attend, dot_product_scores, softmax
from course_utils.checks.lesson_02 import scaled_dot_product_attention, softmax_with_temperature
from course_utils.checks.lesson_03 import causal_mask, masked_softmax, padding_mask
from course_utils.checks.lesson_04 import merge_heads, multi_head_attention, split_heads
from course_utils.checks.lesson_05 import add_positions, sinusoidal_positions
from course_utils.checks.lesson_06 import feed_forward, layer_norm, post_norm, pre_norm
from course_utils.checks.lesson_07 import encoder_layer
from course_utils.checks.lesson_08 import bert_embeddings
from course_utils.checks.lesson_09 import cosine_similarity
from course_utils.checks.lesson_10 import head_entropy
from course_utils.checks.lesson_11 import cross_attention, shift_right
from course_utils.checks.lesson_12 import greedy_decode, label_smoothed_loss, learning_rate
from course_utils.checks.lesson_13 import mask_tokens
from course_utils.checks.lesson_14 import cached_step, online_softmax_sum
from course_utils.checks.passes import Progress, overview

__all__ = [
    "CheckResult",
    "add_positions",
    "attend",
    "bert_embeddings",
    "cached_step",
    "causal_mask",
    "cosine_similarity",
    "cross_attention",
    "dot_product_scores",
    "encoder_layer",
    "explain",
    "feed_forward",
    "greedy_decode",
    "head_entropy",
    "label_smoothed_loss",
    "layer_norm",
    "learning_rate",
    "mask_tokens",
    "masked_softmax",
    "merge_heads",
    "multi_head_attention",
    "online_softmax_sum",
    "padding_mask",
    "post_norm",
    "pre_norm",
    "progress",
    "scaled_dot_product_attention",
    "shift_right",
    "sinusoidal_positions",
    "softmax",
    "softmax_with_temperature",
    "split_heads",
]

EXERCISES: dict[str, Exercise] = {each.name: each for each in list(globals().values()) if isinstance(each, Exercise)}


def progress() -> Progress:
    """Which exercises of which lessons you have passed, and in which file that is written down."""
    return overview({name: each.reference.__module__.split("_")[-1] for name, each in EXERCISES.items()})


def explain(slug: str | None, exercise: str | None = None) -> stories.Story:
    """The longer story of a mistake that a check has named: what it does to the numbers, and where to read on.

    Several exercises may know a mistake of this name; ``exercise`` says in which one you made it.

    Raises:
        ValueError: no check knows a mistake of this name, or there is no such exercise.
    """
    return stories.tell(slug, exercise, EXERCISES)
