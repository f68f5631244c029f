"""McNemar's exact test: whether pairs that changed went one way more often than chance would have it."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def mcnemar_exact(first_only: int, second_only: int) -> float:
    """Two-sided p of the discordant pairs (McNemar 1947, exact binomial form: twice the smaller tail, at most 1).

    first_only, second_only: pairs that passed on one side only. The pairs that agree say nothing of a change. 1.0
    where no pair changed.

    Raises:
        ValueError: a count is negative.
    """
    if first_only < 0 or second_only < 0:
        raise ValueError(f"pairs are counted from 0 on, found {first_only} and {second_only}")
    changed, fewer = first_only + second_only, min(first_only, second_only)
    if first_only == second_only:
        return 1.0
    # In integers: a tail of thousands of pairs neither underflows nor depends on the machine.
    term = tail = 1
    for k in range(fewer):
        term = term * (changed - k) // (k + 1)
        tail += term
    return float(min(Fraction(1), Fraction(2 * tail, 1 << changed)))


def least_significant(alpha: float) -> int:
    """How many pairs, all gone the same way, make the two-sided p reach alpha: 2 · 0.5ⁿ ≤ alpha."""
    if not 0 < alpha < 1:
        raise ValueError(f"a level lies between 0 and 1, not {alpha!r}")
    n = 1
    while mcnemar_exact(n, 0) > alpha:
        n += 1
    return n


def binomial_tail(n: int, least: int, rate: float) -> float:
    """P(X ≥ least) of a binomial count of n trials."""
    if least <= 0:
        return 1.0
    if rate >= 1:
        return 1.0 if n >= least else 0.0
    below = sum(comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(min(least, n + 1)))
    return max(0.0, 1.0 - below)
