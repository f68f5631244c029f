"""Student's t distribution: its quantiles, by the incomplete beta function."""

from __future__ import annotations

import math

_TINY = 1e-300
_MOST_TERMS = 400


def student_quantile(probability: float, freedom: float) -> float:
    """The t below which this share of Student's distribution lies. freedom: degrees of freedom, above 0.

    Raises:
        ValueError: the probability is not between 0 and 1, or there are no degrees of freedom.
    """
    if not 0 < probability < 1 or freedom <= 0:
        raise ValueError(f"no quantile {probability!r} of {freedom!r} degrees of freedom")
    if probability == 0.5:
        return 0.0
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    tail = 2 * (1 - probability)  # of both sides
    low, high = 0.0, 1.0
    while _both_tails(high, freedom) > tail:
        high *= 2
    while True:  # halving ends where doubles do
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if _both_tails(middle, freedom) > tail:
            low = middle
        else:
            high = middle


def _both_tails(t: float, freedom: float) -> float:
    """P(|T| > t) = I_x(ν/2, 1/2) with x = ν / (ν + t²)."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _incomplete_beta(b, a, 1 - x)  # there the fraction converges quickly
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(log_front) / a / _fraction(a, b, x)


def _fraction(a: float, b: float, x: float) -> float:
    """1 + d1/(1 + d2/(1 + …)), by Lentz's method."""
    value = c = 1.0
    d = 0.0
    for term in range(1, _MOST_TERMS):
        m, odd = divmod(term, 2)
        if odd:
            numerator = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            numerator = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / (1 + numerator * d or _TINY)
        c = 1 + numerator / c or _TINY
        value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return value
