"""The corrected rate against published implementations' values, and its draws against the Beta distribution."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_verica.stats.agreement import Confusion
from pytest_verica.stats.beta import BetaDraws, percentile
from pytest_verica.stats.correction import (
    Share,
    lang_reiczigel,
    reused_interval,
    reweighted,
    rogan_gladen,
    stratified,
    stratified_interval,
)

# (tp, fn, fp, tn), k, N, Rogan-Gladen before clipping, Lang-Reiczigel 95 %: two published implementations that agree to
# 1e-6; the guarded rows ([1, 1] and [0, 0] without) by hand.
REUSED = [
    ((100, 10, 19, 171), 230, 500, 0.444944, 0.377663, 0.516633),
    ((17, 3, 2, 8), 150, 200, 0.846154, 0.627217, 1),
    ((18, 2, 3, 7), 95, 100, 1.083333, 0.870870, 1),
    ((16, 4, 2, 18), 5, 100, -0.071429, 0, 0.100976),
    ((20, 0, 0, 10), 80, 100, 0.8, 0.687032, 0.938653),
    ((78, 2, 10, 30), 320, 400, 0.758621, 0.672878, 0.841369),
    ((40, 2, 3, 55), 173, 319, 0.544709, 0.466485, 0.636936),
    ((7, 1, 1, 3), 150, 200, 0.8, 0.462598, 1),
    ((45, 15, 12, 28), 120, 300, 0.222222, 0, 0.476203),
    ((12, 3, 0, 15), 500, 500, 1.25, 0.617049, 1),
    ((15, 0, 3, 12), 20, 500, -0.2, 0, 0.366680),
]


@pytest.mark.parametrize(("counts", "k", "n", "raw", "low", "high"), REUSED)
def test_labels_of_another_run(counts, k, n, raw, low, high):
    labelled = Confusion(*counts)
    assert rogan_gladen(k / n, float(labelled.tpr or 0), float(labelled.tnr or 0)) == pytest.approx(raw, abs=5e-7)
    assert lang_reiczigel(labelled, k, n) == pytest.approx((low, high), abs=5e-7)


def test_published_example_of_rates():
    """TPR .9 and TNR .7 of 200 labels each, 400 of 1000 passed: [0.056351, 0.262733] in the method's own repository."""
    assert lang_reiczigel(Confusion(180, 20, 60, 140), 400, 1000) == pytest.approx((0.056351, 0.262733), abs=5e-7)


@pytest.mark.parametrize("counts", [(10, 10, 10, 10), (132, 32, 125, 30), (72, 92, 137, 18)])
def test_no_better_than_chance_has_no_estimate(counts):
    found = Confusion(*counts)
    assert rogan_gladen(0.5, float(found.tpr or 0), float(found.tnr or 0)) is None


def test_lang_reiczigel_of_a_judge_that_errs_says_nothing():
    assert lang_reiczigel(Confusion(72, 92, 137, 18), 209, 319) == (0, 1)


@pytest.mark.parametrize("counts", [(28, 2, 0, 0), (0, 0, 4, 30)])
def test_lang_reiczigel_needs_both_classes(counts):
    with pytest.raises(ValueError, match="both classes"):
        lang_reiczigel(Confusion(*counts), 90, 100)


# Beta draws with J ≤ 0 dropped: a reference of 4 million draws. Ours has 10,000: ends move by up to 0.01.
DRAWN = [
    ((100, 10, 19, 171), 230, 500, 0.3769, 0.5159),
    ((17, 3, 2, 8), 150, 200, 0.6210, 1),
    ((18, 2, 3, 7), 95, 100, 0.9221, 1),
    ((16, 4, 2, 18), 5, 100, 0, 0.0645),
    ((20, 0, 0, 10), 80, 100, 0.7011, 0.9220),
    ((40, 2, 3, 55), 173, 319, 0.4666, 0.6345),
    ((78, 2, 10, 30), 320, 400, 0.6706, 0.8412),
]


@pytest.mark.parametrize(("counts", "k", "n", "low", "high"), DRAWN)
def test_beta_draws_for_labels_of_another_run(counts, k, n, low, high):
    c = Confusion(*counts)
    found = reused_interval(Share(k, n), (Share(c.tp, c.person_passes), Share(c.tn, c.person_fails)), seed=1)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)
    assert found.dropped < 0.005 and found.high > found.low


# Labels of the same run: p·PPV + (1-p)·FOR, and a reference of plain Beta draws. None of them is near an edge.
IN_RUN = [
    ((100, 10, 19, 171), 230, 500, 0.416389, 0.3675, 0.4656),
    ((17, 3, 2, 8), 150, 200, 0.739234, 0.5852, 0.8414),
    ((40, 2, 3, 55), 173, 319, 0.520542, 0.4481, 0.5853),
    ((45, 15, 12, 28), 120, 300, 0.525092, 0.4302, 0.6233),
]


@pytest.mark.parametrize(("counts", "k", "n", "rate", "low", "high"), IN_RUN)
def test_labels_of_this_run(counts, k, n, rate, low, high):
    c = Confusion(*counts)
    shares = Share(k, n), Share(c.tp, c.judge_passes), Share(c.fn, c.judge_fails)
    assert stratified(*shares) == pytest.approx(rate, abs=5e-7)
    found = stratified_interval(*shares, seed=1)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.005)


def test_reweighted_rates_give_the_same_number_by_rogan_gladen():
    p, ppv, missed = 0.8, 0.95, 0.3
    tpr, tnr = reweighted(p, ppv, missed)
    assert tpr is not None and tnr is not None
    assert rogan_gladen(p, tpr, tnr) == pytest.approx(p * ppv + (1 - p) * missed)


def test_a_perfect_judge_is_not_beyond_doubt():
    found = stratified_interval(Share(80, 100), Share(20, 20), Share(0, 10), seed=1)
    assert found.low < 0.75 and found.high > 0.85


def test_a_verdict_that_was_never_labelled_gives_no_estimate():
    assert stratified(Share(80, 100), Share(20, 20), Share(0, 0)) is None
    assert stratified(Share(100, 100), Share(20, 25), Share(0, 0)) == 0.8  # the judge never fails: nothing is missing


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (20.5, 0.5), (3.5, 9.5), (0.15, 30.85)])
def test_draws_are_beta_distributed(a, b):
    stats = pytest.importorskip("scipy.stats", exc_type=ImportError)
    stream = BetaDraws(7)
    draws = [stream.beta(a, b) for _ in range(4000)]
    assert stats.kstest(draws, stats.beta(a, b).cdf).pvalue > 0.001


def test_percentiles_are_those_of_numpy():
    numpy = pytest.importorskip("numpy")
    values = sorted(BetaDraws(3).beta(2, 3) for _ in range(101))
    for share in (0.0, 0.025, 0.5, 0.975, 1.0):
        assert percentile(values, share) == pytest.approx(numpy.quantile(values, share), abs=1e-15)


def test_the_same_in_another_process_whatever_the_hash_seed():
    code = (
        "from pytest_verica.stats.correction import *;"
        "print(repr(stratified_interval(Share(80, 100), Share(20, 22), Share(3, 20), 12345, 2000)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "4711")
    }
    here = repr(stratified_interval(Share(80, 100), Share(20, 22), Share(3, 20), 12345, 2000)) + "\n"
    assert outputs == {here}
