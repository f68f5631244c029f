"""Paired differences: the same cases under A and under B, as pass or fail, or as means of several samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_verica.stats.proportion import wilson
from pytest_verica.stats.student import student_quantile


@dataclass(frozen=True)
class Pairs:
    """Pairs of verdicts of the same (case, criterion). both, neither: that agree; first_only: passed under A and not
    under B, a regression where B is the later one; second_only: the other way round."""

    both: int = 0
    first_only: int = 0
    second_only: int = 0
    neither: int = 0

    @property
    def n(self) -> int:
        return self.both + self.first_only + self.second_only + self.neither


@dataclass(frozen=True)
class Difference:
    """Rate under B minus rate under A, from -1 to 1, with its interval. n: pairs, or cases; method: the name of its
    formula."""

    estimate: float
    low: float
    high: float
    confidence: float
    method: str
    n: int

    def to_json(self) -> dict[str, Any]:
        return {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
            "n": self.n,
        }


def paired_difference(pairs: Pairs, *, confidence: float = 0.95) -> Difference | None:
    """Newcombe's interval for paired proportions: Wilson bounds of both rates, squared and added, less what their
    correlation takes away (Newcombe 1998, Stat Med 17:2635-2650, method 10). None where there is no pair."""
    n = pairs.n
    if n == 0:
        return None
    passed_a, passed_b = pairs.both + pairs.first_only, pairs.both + pairs.second_only
    a, b = wilson(passed_a, n, confidence=confidence), wilson(passed_b, n, confidence=confidence)
    assert a is not None and b is not None
    rate_a, rate_b = passed_a / n, passed_b / n
    phi = _phi(pairs)

    def reach(one: float, other: float) -> float:
        return math.sqrt(max(0.0, one * one - 2 * phi * one * other + other * other))

    estimate = (pairs.second_only - pairs.first_only) / n
    low = estimate - reach(rate_b - b.low, a.high - rate_a)
    high = estimate + reach(b.high - rate_b, rate_a - a.low)
    return Difference(estimate, max(-1.0, low), min(1.0, high), confidence, "newcombe-paired", n)


def _phi(pairs: Pairs) -> float:
    """The correlation of the pairs, with the continuity correction that the method asks for; 0 where a margin is."""
    a, b, c, d = pairs.both, pairs.first_only, pairs.second_only, pairs.neither
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    if margins == 0:
        return 0.0
    excess: float = a * d - b * c
    if excess > 0:
        excess = max(0.0, excess - pairs.n / 2)
    return excess / math.sqrt(margins)


def mean_difference(differences: Sequence[float], *, confidence: float = 0.95) -> Difference | None:
    """Student's interval of a mean of differences, one per case: for cases that were sampled several times, where the
    case is the unit. None where there are fewer than two. Where every case differs alike, the sample says nothing of
    its own scatter: then the half width is the upper Wilson bound of none that differs otherwise."""
    n = len(differences)
    if n < 2:
        return None
    mean = math.fsum(differences) / n
    variance = math.fsum((difference - mean) ** 2 for difference in differences) / (n - 1)
    if variance > 0:
        half = student_quantile(1 - (1 - confidence) / 2, n - 1) * math.sqrt(variance / n)
    else:
        none = wilson(0, n, confidence=confidence)
        assert none is not None
        half = none.high
    return Difference(mean, max(-1.0, mean - half), min(1.0, mean + half), confidence, "student-paired", n)
