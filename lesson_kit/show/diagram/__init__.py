"""Diagrams of attention and of the models built from it, drawn by one hand: data flow from bottom to top.

Each function returns a ``Diagram``, which Jupyter displays when it ends a cell.
"""

from lesson_kit.show.diagram.heads import multi_head
from lesson_kit.show.diagram.layers import decoder_layer, encoder_layer
from lesson_kit.show.diagram.models import gpt_and_bert, transformer
from lesson_kit.show.diagram.stacks import bert, stack
from lesson_kit.show.diagram.step import attention_step

__all__ = [
    "attention_step",
    "bert",
    "decoder_layer",
    "encoder_layer",
    "gpt_and_bert",
    "multi_head",
    "stack",
    "transformer",
]
