"""pass^k: how likely a target is right every time, out of repeated trials."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def pass_hat_k(n: int, c: int, k: int) -> Fraction:
    """How likely k trials drawn without replacement from n, of which c passed, have all passed: C(c, k) / C(n, k).

    The unbiased estimate of p^k that tau-bench reports as pass^k, averaged over its tasks (arXiv:2406.12045, sec. 3).
    It is exact here; its mean over cases is exact too.

    Raises:
        ValueError: k is not between 1 and n, or c not between 0 and n: with fewer than k trials nothing is known.
    """
    if not 0 <= c <= n:
        raise ValueError(f"of {n} trials {c} cannot have passed")
    if not 1 <= k <= n:
        raise ValueError(f"pass^{k} is not known from {n} trials")
    return Fraction(comb(c, k), comb(n, k))
