"""The worksheets: for each lesson with a pencil part, a function that makes its sheet."""

from classroom.printing.sheets.lesson_01 import attention_by_hand
from classroom.printing.sheets.lesson_02 import the_sky_is_blue
from classroom.printing.sheets.lesson_04 import multi_head_attention
from classroom.printing.sheets.lesson_05 import word_order
from classroom.printing.sheets.lesson_06 import add_norm_feed_forward
from classroom.printing.sheets.lesson_13 import the_decoder

__all__ = ["SHEETS"]

SHEETS = {
    "01_attention_by_hand": attention_by_hand,
    "02_the_sky_is_blue": the_sky_is_blue,
    "04_multi_head_attention": multi_head_attention,
    "05_word_order": word_order,
    "06_add_norm_feed_forward": add_norm_feed_forward,
    "13_the_decoder": the_decoder,
}
