"""McNemar's exact test against scipy's binomial test, and against printed values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar

from pytest_verica.stats.mcnemar import binomial_tail, least_significant, mcnemar_exact

# As printed by statsmodels 0.15 (STATISTICS, 1.5), to six digits.
PRINTED = [
    (0, 0, 1.0),
    (1, 0, 1.0),
    (5, 0, 0.0625),
    (6, 0, 0.03125),
    (1, 9, 0.021484),
    (3, 12, 0.035156),
    (10, 20, 0.098737),
    (8, 8, 1.0),
]


@pytest.mark.parametrize(("first", "second", "p"), PRINTED)
def test_printed(first: int, second: int, p: float) -> None:
    assert mcnemar_exact(first, second) == pytest.approx(p, abs=5e-7)


@given(st.integers(0, 300), st.integers(0, 300))
def test_equal_to_other_programs(first: int, second: int) -> None:
    ours = mcnemar_exact(first, second)
    assert ours == mcnemar_exact(second, first)
    assert ours == pytest.approx(float(mcnemar([[7, first], [second, 3]], exact=True).pvalue), rel=1e-9, abs=1e-15)
    if first + second:
        assert ours == pytest.approx(binomtest(first, first + second).pvalue, rel=1e-9, abs=1e-15)


def test_many_pairs_do_not_underflow() -> None:
    assert mcnemar_exact(5000, 5000) == 1.0
    assert 0 < mcnemar_exact(4600, 5400) < 1e-14


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1)])
def test_counts_are_not_negative(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="counted from 0 on"):
        mcnemar_exact(*counts)


# 2 · 0.5⁶ = 0.03125 is the first under 0.05; 2 · 0.5⁸ = 0.0078 under 0.01; 0.25 is 2 · 0.5³.
@pytest.mark.parametrize(("alpha", "n"), [(0.05, 6), (0.01, 8), (0.25, 3), (0.5, 2)])
def test_least_significant(alpha: float, n: int) -> None:
    assert least_significant(alpha) == n


@pytest.mark.parametrize(
    ("n", "least", "rate"), [(50, 6, 0.1), (50, 0, 0.1), (5, 6, 0.9), (7, 7, 1.0), (2000, 6, 0.01)]
)
def test_binomial_tail(n: int, least: int, rate: float) -> None:
    from scipy.stats import binom

    assert binomial_tail(n, least, rate) == pytest.approx(float(binom.sf(least - 1, n, rate)), abs=1e-12)
