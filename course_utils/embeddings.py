"""What goes into the first layer: what the token is, and where it stands."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from course_utils._expect import expect_ids, expect_positive_int, expect_shape


def sinusoidal_positions(length: int, d_model: int) -> Float[Tensor, "{length} {d_model}"]:
    """The paper's table of positions, in float32.

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same angle).
    Angles are in radians; positions count from 0. Source: Vaswani et al. 2017, section 3.5.

    Raises:
        TypeError, ValueError: a size is not a positive int, or ``d_model`` is odd.
    """
    expect_positive_int(length=length, d_model=d_model)
    if d_model % 2:
        raise ValueError(f"d_model must be even (sines and cosines come in pairs), got {d_model}")
    # float64 inside: in float32 the angle itself is already off by 1e-4 at position 2000.
    position = torch.arange(length, dtype=torch.float64)[:, None]
    two_i = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (two_i / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2).float()


class LearnedEmbeddings(nn.Module):
    """Word + position + segment: three learned tables, added.

    Position i of every sequence gets row i of the position table. Source: Devlin et al. 2019,
    "BERT", section 3 and figure 2.

    Raises:
        TypeError, ValueError: a size is not a positive int.
    """

    def __init__(self, *, vocab_size: int, d_model: int, max_length: int, n_segments: int = 2):
        super().__init__()
        expect_positive_int(vocab_size=vocab_size, d_model=d_model, max_length=max_length, n_segments=n_segments)
        self.word = nn.Embedding(vocab_size, d_model)
        self.position = nn.Embedding(max_length, d_model)
        self.segment = nn.Embedding(n_segments, d_model)

    def forward(
        self, input_ids: Int[Tensor, "batch length"], token_type_ids: Int[Tensor, "batch length"] | None = None
    ) -> Float[Tensor, "batch length d_model"]:
        """The sum of the three rows for each token. ``token_type_ids``, the segments, default to all zeros.

        Raises:
            TypeError: ``input_ids`` or ``token_type_ids`` are not integers.
            ValueError: an id lies outside its table, the sequence is empty or longer than the position table,
                or the shapes differ.
        """
        max_length = self.position.num_embeddings
        expect_ids("input_ids", input_ids, self.word.num_embeddings, max_length)
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        expect_ids("token_type_ids", token_type_ids, self.segment.num_embeddings, max_length)
        fits = token_type_ids.shape == input_ids.shape
        expect_shape("token_type_ids", token_type_ids, fits, f"that of input_ids, {tuple(input_ids.shape)}")
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        return self.word(input_ids) + self.segment(token_type_ids) + self.position(positions)
