"""Coverage of the corrected rate's interval in a few cells of benchmarks/coverage.py, and that it is the same interval.

The bounds leave the simulation's own error (600 data sets: three standard deviations are 2.7 points at 95 %).
"""

from __future__ import annotations

import pytest

from pytest_verica.stats.correction import Share, reused_interval, stratified_interval

np = pytest.importorskip("numpy")
coverage = pytest.importorskip("benchmarks.coverage")


@pytest.mark.parametrize(
    ("design", "rate", "judge", "labels", "cases"),
    [
        ("this run", 0.80, (0.95, 0.70), 50, 100),
        ("this run", 0.95, (0.95, 0.90), 30, 500),
        ("this run", 0.99, (0.80, 0.70), 30, 100),
        ("reused", 0.50, (0.95, 0.90), 50, 100),
        ("reused", 0.95, (0.95, 0.70), 120, 500),
    ],
)
def test_the_interval_covers_the_truth(design, rate, judge, labels, cases):
    cell = coverage.cell(np.random.default_rng(11), design, rate, judge, labels, cases, sets=600, draws=200)
    least = 0.92 if rate == 0.99 else 0.93
    assert least - 0.027 < cell.coverage <= 1.0 and (rate == 0.99 or cell.coverage < 0.98 + 0.017), cell
    if design == "this run":
        assert abs(cell.bias) < 0.01, cell


def test_the_naive_computation_does_not():
    """The spec's example: a true rate of 0.80 appears as 0.93, and the interval covers it rarely."""
    cell = coverage.cell(np.random.default_rng(11), "this run", 0.8, (0.95, 0.70), 50, 500, sets=200, draws=200)
    assert cell.naive_mean > 0.9 and cell.naive_coverage < 0.3


@pytest.mark.parametrize(
    ("k", "n", "good_passes", "passes", "good_fails", "fails"),
    [(160, 200, 24, 25, 10, 25), (95, 100, 45, 45, 1, 5), (470, 500, 24, 25, 20, 25), (20, 500, 10, 15, 0, 15)],
)
def test_the_benchmark_draws_the_same_interval(k, n, good_passes, passes, good_fails, fails):
    def array(value):
        return np.array([value])

    drawn = coverage.Drawn(n, array(k), array(passes), array(fails), array(good_passes), array(good_fails))
    posterior = coverage.Posterior(np.random.default_rng(3), 20_000)
    shares = Share(k, n), Share(good_passes, passes), Share(good_fails, fails)
    ours = stratified_interval(*shares, seed=1, draws=3000)
    _, low, high = coverage.in_run(drawn, posterior)
    assert (ours.low, ours.high) == pytest.approx((low[0], high[0]), abs=0.015)
    later = reused_interval(Share(60, 100), shares, seed=1, draws=3000)
    estimate, low, high = coverage.reused(drawn, array(60), 100, posterior)
    if np.isfinite(estimate[0]) and 0 <= estimate[0] <= 1 and later.high - later.low < 0.5:  # a wide tail is coarse
        assert later.low == pytest.approx(low[0], abs=0.04) or estimate[0] < later.low
        assert later.high == pytest.approx(high[0], abs=0.04) or estimate[0] > later.high
