"""Showing: matrices with words, heat maps with numbers, bertviz without a network.

Every picture carries an alternative text, and none speaks by colour alone. What draws is loaded at its
first use: a lesson that begins with a table needs no matplotlib to begin.
"""

from course_utils._lazy import on_first_use

_HOMES = {
    "figure": "course_utils.show.figures:figure",
    "head_view": "course_utils.show.attention_views:head_view",
    "heat_map": "course_utils.show.heatmaps:heat_map",
    "heat_maps": "course_utils.show.heatmaps:heat_maps",
    "matrix": "course_utils.show.matrices:matrix",
    "model_view": "course_utils.show.attention_views:model_view",
    "neuron_view": "course_utils.show.neurons:neuron_view",
    "number": "course_utils.show.numbers:number",
    "subplots": "course_utils.show.figures:subplots",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = on_first_use(__name__, _HOMES)
