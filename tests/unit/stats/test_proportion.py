"""Proportions against published values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.stats.proportion import effective_number, perfect_needed, wilson, wilson_lower

# statsmodels 0.15, proportion_confint(method="wilson"), six digits.
TWO_SIDED_95 = [
    (0, 10, 0.0, 0.277533),
    (10, 10, 0.722467, 1.0),
    (19, 20, 0.763869, 0.991119),
    (27, 30, 0.743789, 0.965400),
    (45, 50, 0.786398, 0.956524),
    (90, 100, 0.825634, 0.944771),
]
ONE_SIDED_95 = [(19, 20, 0.803993), (27, 30, 0.774498), (90, 100, 0.839644), (180, 200, 0.859593)]


@pytest.mark.parametrize(("passed", "n", "low", "high"), TWO_SIDED_95)
def test_two_sided(passed: int, n: int, low: float, high: float) -> None:
    interval = wilson(passed, n)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-7)
    assert (interval.method, interval.confidence, interval.effective_n) == ("wilson", 0.95, n)


@pytest.mark.parametrize(("passed", "n", "low"), ONE_SIDED_95)
def test_one_sided(passed: int, n: int, low: float) -> None:
    assert wilson_lower(passed, n) == pytest.approx(low, abs=5e-7)


def test_nothing_graded_has_no_interval() -> None:
    assert wilson(0, 0) is None
    assert wilson_lower(0, 0) is None


@pytest.mark.parametrize(("passed", "n"), [(3, 2), (-1, 2)])
def test_no_proportion(passed: int, n: int) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson(passed, n)


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_no_confidence(confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson_lower(1, 2, confidence=confidence)


# 11, 25, 52 and 268: perfect records needed for a one-sided 95 % Wilson bound, n >= rate z² / (1 - rate), z² = 2.7055.
@pytest.mark.parametrize(("rate", "needed"), [(0.8, 11), (0.9, 25), (0.95, 52), (0.99, 268), (1.0, None)])
def test_perfect_records_needed(rate: float, needed: int | None) -> None:
    assert perfect_needed(rate, 0.95) == needed


@given(st.integers(1, 500), st.data())
def test_bounds_hold_the_rate(n: int, data: st.DataObject) -> None:
    passed = data.draw(st.integers(0, n))
    interval = wilson(passed, n)
    assert interval is not None
    assert 0 <= interval.low <= passed / n <= interval.high <= 1
    mirrored = wilson(n - passed, n)
    assert mirrored is not None
    assert (1 - mirrored.high, 1 - mirrored.low) == pytest.approx((interval.low, interval.high), abs=1e-12)
    one_sided = wilson_lower(passed, n)
    assert one_sided is not None
    assert one_sided >= interval.low


@given(st.floats(0.01, 0.999), st.floats(0.51, 0.999))
def test_one_fewer_would_not_do(rate: float, confidence: float) -> None:
    needed = perfect_needed(rate, confidence)
    assert needed is not None
    reached = [wilson_lower(n, n, confidence=confidence) for n in (needed - 1, needed)]
    assert reached[1] is not None and reached[1] >= rate
    assert reached[0] is None or reached[0] < rate


EFFECTIVE = [
    # Each case once: every verdict stands for itself.
    ([(1, 1), (0, 1), (1, 1)], 3),
    # All alike: the number of cases.
    ([(5, 5)] * 4, 4),
    ([(0, 3)] * 6, 6),
    ([(3, 5)], 1),
    # p = 2/3, N = 15: between = 3/2 · (2·(5/3)² + (10/3)²) = 25, binomial = 15·2/9 = 10/3; effect 7.5.
    ([(5, 5), (0, 5), (5, 5)], 2),
    # p = 1/2, N = 8: between = 4/3 · (2·1²) = 8/3, binomial = 8/4 = 2; effect 4/3.
    ([(1, 2), (2, 2), (0, 2), (1, 2)], 6),
    # More alike than chance: floored at all of them.
    ([(3, 5), (2, 5), (3, 5), (2, 5)], 20),
    # A case without a graded verdict is no case.
    ([(5, 5), (0, 0), (5, 5)], 2),
]


@pytest.mark.parametrize(("clusters", "worth"), EFFECTIVE)
def test_effective_number(clusters: list[tuple[int, int]], worth: float) -> None:
    assert effective_number(clusters) == pytest.approx(worth)


def test_effective_number_widens_the_interval() -> None:
    plain, clustered = wilson(10, 15), wilson(10, 15, effective_n=2)
    assert plain is not None and clustered is not None
    assert clustered.low < plain.low and clustered.high > plain.high
    assert clustered.effective_n == 2
