"""Showing: matrices with words, heat maps with numbers, bertviz without a network.

Every picture carries an alternative text, and none speaks by colour alone.
"""

from course_utils.show.attention_views import head_view, model_view
from course_utils.show.figures import figure, subplots
from course_utils.show.heatmaps import heat_map, heat_maps
from course_utils.show.matrices import matrix
from course_utils.show.neurons import neuron_view
from course_utils.show.numbers import number

__all__ = [
    "figure",
    "head_view",
    "heat_map",
    "heat_maps",
    "matrix",
    "model_view",
    "neuron_view",
    "number",
    "subplots",
]
