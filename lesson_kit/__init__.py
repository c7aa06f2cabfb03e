"""What the cells of a lesson call: checks, pictures, worked examples, pretrained models, the look at the machine.

What needs transformers, matplotlib or bertviz is loaded at its first use.
"""

from lesson_kit._lazy import on_first_use

_LAZY = {
    "check": "lesson_kit.check",
    "check_machine": "lesson_kit.ready:check_machine",
    "compare_hidden_states": "lesson_kit.compare:compare_hidden_states",
    "examples": "lesson_kit.examples",
    "load_bert": "lesson_kit.pretrained:load_bert",
    "load_translator": "lesson_kit.translator:load_translator",
    "show": "lesson_kit.show",
}
__all__ = [*_LAZY]

__getattr__, __dir__ = on_first_use(__name__, _LAZY)
