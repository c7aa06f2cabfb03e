"""Who asks? A weight, and what the other rows give to the same column: a popular column is no answer to a query."""

import torch

from lesson_kit.measures import contrast as contrast_of
from lesson_kit.show.heatmaps import heat_map
from lesson_kit.show.numbers import as_floats, as_rows, number


def contrast(weights, rows, columns, title=None, *, mask=None, **keywords) -> None:
    """Displays each weight minus the mean of what the other rows give to its column; both stand below, small.

    weights: (rows, columns), at least two rows. mask: booleans, True = may attend: rows that may not look at a column
    are left out of its mean, and a cell that no other row is compared with has no contrast.
    rows, columns, title and the other keywords: as in ``heat_map``. ``measures.contrast`` gives the numbers alone.

    Raises:
        TypeError, ValueError: as ``heat_map`` and ``measures.contrast`` do.
    """
    weights = torch.tensor(as_floats(as_rows(weights, rows, columns)), dtype=torch.float64)
    differences = contrast_of(weights, mask)
    others = weights - differences
    below = [
        [f"{number(own)} − {number(other)}" if number(other) != "NaN" else "" for own, other in zip(*pair, strict=True)]
        for pair in zip(weights.tolist(), others.tolist(), strict=True)
    ]
    heat_map(differences, rows, columns, title, **({"mask": mask, "below": below} | keywords))
