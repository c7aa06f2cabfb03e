"""Showing: matrices with words, heat maps with numbers, lines with their names, diagrams, bertviz without a network.

Every picture carries an alternative text, and none speaks by colour alone. What draws is loaded at its
first use: a lesson that begins with a table needs no matplotlib to begin.
"""

from lesson_kit._lazy import on_first_use
from lesson_kit.notice import count_messages

_HOMES = {
    "contrast": "lesson_kit.show.contrasts:contrast",
    "diagram": "lesson_kit.show.diagram",
    "figure": "lesson_kit.show.figures:figure",
    "head_view": "lesson_kit.show.attention_views:head_view",
    "heat_map": "lesson_kit.show.heatmaps:heat_map",
    "heat_maps": "lesson_kit.show.heatmaps:heat_maps",
    "label_lines": "lesson_kit.show.line_plots:label_lines",
    "lines": "lesson_kit.show.line_plots:lines",
    "matrix": "lesson_kit.show.matrices:matrix",
    "model_view": "lesson_kit.show.attention_views:model_view",
    "moving": "lesson_kit.show.moving",
    "neuron_view": "lesson_kit.show.neurons:neuron_view",
    "number": "lesson_kit.show.numbers:number",
    "subplots": "lesson_kit.show.figures:subplots",
}

__all__ = [*_HOMES]

__getattr__, __dir__ = on_first_use(__name__, _HOMES)

count_messages()
