"""Draws from Beta distributions, the same on every platform and in every version of Python.

They stand on `random.Random(seed).random()`, the one stream that Python promises to keep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random


class BetaDraws:
    """A stream of draws. seed: any whole number."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random  # noqa: S311 - a simulation, nothing secret
        self._spare: float | None = None

    def beta(self, a: float, b: float) -> float:
        """A draw from Beta(a, b), both above 0."""
        x, y = self._gamma(a), self._gamma(b)
        # Both can vanish where a and b are tiny; the mean is then as good as any.
        return x / (x + y) if x + y > 0 else a / (a + b)

    def _gamma(self, shape: float) -> float:
        """Marsaglia & Tsang, A simple method for generating gamma variables (2000); below 1 by their boost."""
        if shape < 1:
            uniform = 1.0 - self._random()
            return float(self._gamma(shape + 1) * uniform ** (1 / shape))
        d = shape - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = self._normal()
            v = 1 + c * x
            if v <= 0:
                continue
            v = v * v * v
            uniform = 1.0 - self._random()
            if math.log(uniform) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v

    def _normal(self) -> float:
        """Marsaglia's polar method: two at a time."""
        if self._spare is not None:
            spare, self._spare = self._spare, None
            return spare
        while True:
            x, y = 2 * self._random() - 1, 2 * self._random() - 1
            s = x * x + y * y
            if 0 < s < 1:
                factor = math.sqrt(-2 * math.log(s) / s)
                self._spare = y * factor
                return x * factor


def percentile(ranked: Sequence[float], share: float) -> float:
    """The percentile of sorted values, interpolated between neighbours (Hyndman & Fan 1996, type 7).

    Raises:
        ValueError: there are none.
    """
    if not ranked:
        raise ValueError("no percentile of nothing")
    place = share * (len(ranked) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (place - below)
