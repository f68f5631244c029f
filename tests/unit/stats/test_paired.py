"""Paired differences against published intervals and scipy; Student's quantiles against scipy."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from pytest_verica.stats.paired import Pairs, mean_difference, paired_difference
from pytest_verica.stats.student import student_quantile

# Fagerland, Lydersen and Laake (2014), "Recommended tests and confidence intervals for paired binomial proportions",
# Stat Med 33:2850-2875: the square-and-add intervals of its two examples, to three digits, with the sign turned (theirs
# is the first rate minus the second).
PUBLISHED = [
    (Pairs(1, 1, 7, 12), 0.286, 0.026, 0.507),
    (Pairs(59, 6, 16, 80), 0.062, 0.005, 0.119),
]


@pytest.mark.parametrize(("pairs", "estimate", "low", "high"), PUBLISHED)
def test_published(pairs: Pairs, estimate: float, low: float, high: float) -> None:
    found = paired_difference(pairs)
    assert found is not None
    assert (found.estimate, found.low, found.high) == pytest.approx((estimate, low, high), abs=5e-4)
    assert found.n == pairs.n and found.method == "newcombe-paired"


def test_near_independence_it_is_nearly_the_unpaired_interval() -> None:
    """45 of 50 and 38 of 50: Newcombe's unpaired interval is [-0.009397, 0.285551] (STATISTICS, 1.5)."""
    pairs = Pairs(34, 4, 11, 1)
    found = paired_difference(pairs)
    assert found is not None
    low, high = confint_proportions_2indep(45, 50, 38, 50, method="newcomb")
    assert (low, high) == pytest.approx((-0.009397, 0.285551), abs=5e-7)
    # The same rates; 34 · 1 < 4 · 11, so the pairs are slightly contrary, and the interval is a little wider.
    assert found.estimate == pytest.approx(0.14)
    assert found.low == pytest.approx(low, abs=0.006) and found.high == pytest.approx(high, abs=0.006)
    assert found.low < low and found.high > high


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_bounds(both: int, first: int, second: int, neither: int) -> None:
    pairs = Pairs(both, first, second, neither)
    found, turned = paired_difference(pairs), paired_difference(Pairs(both, second, first, neither))
    if pairs.n == 0:
        assert found is None
        return
    assert found is not None and turned is not None
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    assert found.high - found.low > 0  # however alike the pairs are, something is unknown
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def test_means_equal_those_of_scipy() -> None:
    source = random.Random(5)
    for n in (2, 5, 40):
        differences = [source.choice([-0.4, -0.2, 0, 0, 0.2, 0.6]) + source.random() / 100 for _ in range(n)]
        found = mean_difference(differences)
        assert found is not None
        wanted = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
        low, high = max(-1.0, wanted.low), min(1.0, wanted.high)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_means_of_one_kind_have_a_width() -> None:
    found = mean_difference([0.0] * 10)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((-0.277533, 0.277533), abs=5e-7)  # Wilson 0/10
    assert mean_difference([0.2]) is None


@pytest.mark.parametrize("freedom", [1, 2, 5, 29, 199, 5000, 3.7])
def test_student_quantiles(freedom: float) -> None:
    for probability in (0.5, 0.025, 0.6, 0.95, 0.975, 0.9999):
        wanted = float(stats.t.ppf(probability, freedom))
        assert student_quantile(probability, freedom) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("probability", "freedom"), [(0.0, 3), (1.0, 3), (0.9, 0)])
def test_student_refuses(probability: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="no quantile"):
        student_quantile(probability, freedom)
