"""Vectors of embeddings compared: the cosine of their angle."""

from __future__ import annotations

import math
from collections.abc import Sequence


class NotComparable(ValueError):
    """Two vectors without an angle: a sentence."""


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """From -1 to 1.

    Raises:
        NotComparable: they differ in length, one is all zeros, or a number in them is not finite.
    """
    if len(one) != len(other):
        raise NotComparable(f"the embeddings have {len(one)} and {len(other)} numbers")
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    lengths = math.sqrt(math.fsum(a * a for a in one)) * math.sqrt(math.fsum(b * b for b in other))
    if not math.isfinite(product) or not math.isfinite(lengths):
        raise NotComparable("an embedding holds a number that is not finite")
    if lengths == 0:
        raise NotComparable("an embedding is all zeros")
    return max(-1.0, min(1.0, product / lengths))
