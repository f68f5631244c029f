"""Proportions: Wilson score intervals, and the effective number of cases where a case was sampled several times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

METHOD = "wilson"


@dataclass(frozen=True)
class Interval:
    """Bounds of a proportion, both within 0 and 1. confidence: such as 0.95; method: the name of the formula;
    effective_n: the number of independent verdicts it was computed for, which is the number graded unless cases were
    sampled several times."""

    low: float
    high: float
    confidence: float
    method: str
    effective_n: float

    def to_json(self) -> dict[str, Any]:
        return {
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
            "effective_n": self.effective_n,
        }


@lru_cache(maxsize=32)
def _quantile(probability: float) -> float:
    # Deferred: importing it takes as long as all of the records, and most starts ask for no interval.
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)


def _bounds(rate: float, n: float, z: float) -> tuple[float, float]:
    z2 = z * z
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    # At 0 and 1 the formula gives the end itself but for rounding.
    low = 0.0 if rate == 0 else max(0.0, centre - half)
    high = 1.0 if rate == 1 else min(1.0, centre + half)
    return low, high


def wilson(passed: int, n: int, *, confidence: float = 0.95, effective_n: float | None = None) -> Interval | None:
    """Two-sided Wilson score interval of passed / n (Wilson 1927, without continuity correction); None where n is 0.

    effective_n: how many independent verdicts the n are worth, n where None.
    """
    _check(passed, n, confidence)
    if n == 0:
        return None
    worth = float(n if effective_n is None else effective_n)
    low, high = _bounds(passed / n, worth, _quantile(1 - (1 - confidence) / 2))
    return Interval(low, high, confidence, METHOD, worth)


def wilson_of_rate(rate: float, worth: float, *, confidence: float = 0.95) -> Interval | None:
    """Two-sided Wilson score interval of a weighted rate that is worth `worth` independent verdicts; None at 0."""
    if worth <= 0:
        return None
    clipped = min(1.0, max(0.0, rate))
    low, high = _bounds(clipped, worth, _quantile(1 - (1 - confidence) / 2))
    return Interval(low, high, confidence, METHOD, worth)


def wilson_lower(passed: int, n: int, *, confidence: float = 0.95, effective_n: float | None = None) -> float | None:
    """One-sided lower Wilson bound: with this confidence the true rate is not below it; None where n is 0."""
    _check(passed, n, confidence)
    if n == 0:
        return None
    return _bounds(passed / n, float(n if effective_n is None else effective_n), _quantile(confidence))[0]


def perfect_needed(rate: float, confidence: float) -> int | None:
    """How many verdicts, all passed, a one-sided Wilson lower bound needs to reach `rate`; None where none suffice.

    The bound of n passed of n is n / (n + z²), so n ≥ rate·z² / (1 − rate).
    """
    if rate >= 1:
        return None
    z = _quantile(confidence)
    needed = max(1, math.ceil(rate * z * z / (1 - rate)))
    # The closed form can be one off by rounding; the bound itself decides.
    while (wilson_lower(needed, needed, confidence=confidence) or 0) < rate:
        needed += 1
    while needed > 1 and (wilson_lower(needed - 1, needed - 1, confidence=confidence) or 0) >= rate:
        needed -= 1
    return needed


def effective_number(clusters: Sequence[tuple[int, int]]) -> float:
    """How many independent verdicts clustered ones are worth: N / design effect, at most N.

    clusters: (passed, graded) of each case. Design effect: variance of the ratio estimator between clusters over the
    binomial variance, floored at 1 (Kish 1965). Where every verdict is the same, or there is one case only, the
    variance says nothing, and the number of cases is the answer.
    """
    graded = [(passed, n) for passed, n in clusters if n]
    total = sum(n for _, n in graded)
    if len(graded) == total:
        return float(total)
    passes = sum(passed for passed, _ in graded)
    if passes in (0, total) or len(graded) == 1:
        return float(len(graded))
    # In integers, both variances times total³: equal data give equal numbers on every machine.
    between = sum((passed * total - passes * n) ** 2 for passed, n in graded) * len(graded)
    binomial = passes * (total - passes) * total * (len(graded) - 1)
    return total * min(1.0, binomial / between) if between else float(total)


def _check(passed: int, n: int, confidence: float) -> None:
    if not 0 <= passed <= n:
        raise ValueError(f"{passed} passed of {n} is no proportion")
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not {confidence!r}")
