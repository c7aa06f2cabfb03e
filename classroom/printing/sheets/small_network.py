"""The norm and the feed-forward network whose numbers a pencil can follow, for the sheets of lessons 06 and 13."""

import torch
from torch import Tensor

from course_utils.layers import layer_norm

W_1 = torch.tensor([[1, -1, 1, -1], [-1, 1, 1, -1]], dtype=torch.float64)
B_1 = torch.tensor([0, 0, 1, -1], dtype=torch.float64)
W_2 = torch.tensor([[1, 0], [0, 2], [-1, 1], [1, 1]], dtype=torch.float64)
HIDDEN = ["hidden 1", "hidden 2", "hidden 3", "hidden 4"]


def normed(x: Tensor) -> Tensor:
    """Layer norm as a pencil does it: gain 1, bias 0, and no eps."""
    return layer_norm(x, torch.ones(x.shape[-1]).to(x), torch.zeros(x.shape[-1]).to(x), eps=0.0)
