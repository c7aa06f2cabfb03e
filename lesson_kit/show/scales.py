"""What a colour says: weights from 0 to 1, differences around 0, and anything else as its colour bar says."""

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize

from lesson_kit.colours import ABOVE, BELOW, INK, MISSING, PAPER, contrast
from lesson_kit.show.numbers import number

# Lightness falls all the way from white: a map reads in grey. Blue: above zero; orange: below; grey: NaN, infinities.
COLOUR_MAP = LinearSegmentedColormap.from_list("above", [PAPER, *ABOVE]).with_extremes(bad=MISSING)
DIVERGING = LinearSegmentedColormap.from_list("around", [*BELOW[::-1], PAPER, *ABOVE], 511).with_extremes(bad=MISSING)
ROUNDING = 1e-6  # a softmax in float32 may reach 1.0000001


class Scale:
    """The colours from ``low`` to ``high``; ``low`` is at least 0, or the opposite of ``high``."""

    def __init__(self, low: float, high: float):
        self.low, self.high = low, high
        self.colours = ScalarMappable(Normalize(low, high), COLOUR_MAP if low >= 0 else DIVERGING)

    @property
    def is_of_weights(self) -> bool:
        """From 0 to 1, as every scale that does not say otherwise."""
        return (self.low, self.high) == (0, 1)

    def colour(self, value: float) -> tuple:
        """Red, green, blue and alpha."""
        return self.colours.to_rgba([value])[0] if np.isfinite(value) else self.colours.cmap(np.nan)

    def draw_bar(self, fig, axes, values, **place) -> None:
        """A colour bar that names both ends, pointed where values lie beyond them."""
        finite = values[np.isfinite(values)]
        beyond = [
            finite.size and finite.min() < self.low - ROUNDING,
            finite.size and finite.max() > self.high + ROUNDING,
        ]
        extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[*map(int, map(bool, beyond))]
        bar = fig.colorbar(self.colours, ax=axes, extend=extend, aspect=25, pad=0.02, **place)
        ticks = np.linspace(self.low, self.high, 5)
        digits = 2 if self.high - self.low > 0.1 else 4
        bar.set_ticks(ticks, labels=[number(tick, digits) for tick in ticks])


def scale_of(values, vmin: float | None = None, vmax: float | None = None) -> Scale:
    """From 0 to 1 if the values lie there; around 0 if one is negative; else from 0 to the largest.

    Raises:
        ValueError: vmin is not less than vmax, or below 0 and not its opposite: then white would not be 0.
    """
    finite = values[np.isfinite(values)]
    least, most = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    reach = max(abs(least), abs(most))
    natural = 1.0 if reach <= 1 + ROUNDING else float(reach)
    if vmin is None:
        vmin = 0 if least >= 0 else -natural if vmax is None else -vmax
    if vmax is None:
        vmax = -vmin if vmin < 0 else natural
    if not vmin < vmax:
        raise ValueError(f"vmin must be less than vmax, got {vmin} and {vmax}")
    if vmin < 0 and vmin != -vmax:
        raise ValueError(f"vmin below 0 must be the opposite of vmax, so that white is 0; got {vmin} and {vmax}")
    return Scale(vmin, vmax)


def ink(colour) -> str:
    """Black or white, whichever contrasts more with ``colour``; always at least 4.5 : 1."""
    return max(PAPER, INK, key=lambda writing: contrast(writing, colour))
