"""How often the corrected rate's 95 % interval covers the truth, cell by cell: `python -m benchmarks.coverage`.

Data sets are simulated: true rate × judge × labels × cases, labels drawn as the queue draws them. The intervals are
those of `pytest_verica.stats.correction` with its constants, in numpy so that a cell takes seconds; the tests compare
the two. Beside them stands the naive computation: TPR and TNR as counted among the queue's labels, p held fixed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pytest_verica.stats.correction import EDGES

RATES = (0.05, 0.5, 0.8, 0.95, 0.99)
JUDGES = ((0.95, 0.90), (0.95, 0.70), (0.80, 0.70))
LABELS = (30, 50, 120)
CASES = (100, 500)
LABELLED_RATE = 0.7
"""The true rate of the run that reused labels come from: another prevalence than any of RATES."""
FEWEST = 10


@dataclass(frozen=True)
class Cell:
    """design: `this run` or `reused`; answered: the share of data sets with a number (both classes labelled, J > 0);
    bias: mean of the shown estimate minus the truth (of labels of this run over all data sets: that estimate needs no
    second class), bias_raw: before clipping; coverage: of all data sets, of reused labels of those answered;
    coverage_answered, width: of those answered; naive_mean, naive_coverage: of the naive computation."""

    design: str
    rate: float
    tpr: float
    tnr: float
    labels: int
    cases: int
    bias: float
    bias_raw: float
    coverage: float
    width: float
    answered: float
    coverage_answered: float
    naive_mean: float
    naive_coverage: float


@dataclass(frozen=True)
class Drawn:
    """Arrays, one entry a data set: judge's passes k of n; labelled passes and fails of the judge, and the person's
    passes among each."""

    n: int
    k: Any
    passes: Any
    fails: Any
    good_passes: Any
    good_fails: Any


def simulate(random: Any, sets: int, rate: float, tpr: float, tnr: float, labels: int, cases: int) -> Drawn:
    """Runs, and the queue's labels in them: the judge's passes and fails alternating while both last."""
    person = random.random((sets, cases)) < rate
    chance = random.random((sets, cases))
    judge = np.where(person, chance < tpr, chance >= tnr)
    k = judge.sum(1)
    fails = np.minimum(cases - k, labels // 2)
    passes = np.minimum(k, labels - fails)
    fails = np.minimum(cases - k, labels - passes)
    among_passes = judge & (np.cumsum(judge, 1) <= passes[:, None])
    among_fails = ~judge & (np.cumsum(~judge, 1) <= fails[:, None])
    return Drawn(cases, k, passes, fails, (person & among_passes).sum(1), (person & among_fails).sum(1))


class Posterior:
    """Beta draws of a share: Jeffreys' prior, moved towards an edge."""

    def __init__(self, random: Any, draws: int) -> None:
        self._random, self._draws = random, draws

    def __call__(self, passed: Any, n: Any, edge: float = 0.0) -> Any:
        a, b = np.asarray(passed + 0.5 + edge), np.asarray(n - passed + 0.5 - edge)
        return self._random.beta(a[:, None], b[:, None], (len(a), self._draws))


def in_run(d: Drawn, posterior: Posterior) -> tuple[Any, Any, Any]:
    """Estimate, low, high of labels of this run."""
    p = d.k / d.n
    estimate = p * _over(d.good_passes, d.passes) + (1 - p) * _over(d.good_fails, d.fails)

    def rates(edge: float) -> Any:
        p = posterior(d.k, d.n)
        of_passes = posterior(d.good_passes, d.passes, edge)
        return p * of_passes + (1 - p) * posterior(d.good_fails, d.fails, edge)

    low, high = np.quantile(rates(0.0), [0.025, 0.975], axis=1)
    plain_low, plain_high = low, high
    for distance, moved in reversed(EDGES):
        near_0, near_1 = plain_low < distance, plain_high > 1 - distance
        low = np.where(near_0, np.minimum(plain_low, np.quantile(rates(-moved), 0.025, axis=1)), low)
        high = np.where(near_1, np.maximum(plain_high, np.quantile(rates(moved), 0.975, axis=1)), high)
    return estimate, np.minimum(low, estimate), np.maximum(high, estimate)


def reused(d: Drawn, later: Any, cases: int, posterior: Posterior) -> tuple[Any, Any, Any]:
    """Estimate (not clipped), low, high for a later run of `cases` of which the judge passed `later`."""
    tpr, tnr = _rates(d.k / d.n, _over(d.good_passes, d.passes), _over(d.good_fails, d.fails))
    with np.errstate(all="ignore"):
        estimate = (later / cases + tnr - 1) / (tpr + tnr - 1)
    drawn_tpr, drawn_tnr = _rates(
        posterior(d.k, d.n), posterior(d.good_passes, d.passes), posterior(d.good_fails, d.fails)
    )
    j = drawn_tpr + drawn_tnr - 1
    with np.errstate(all="ignore"):
        found = np.where(j > 0, (posterior(later, cases) + drawn_tnr - 1) / j, np.nan)
    low, middle, high = np.nanquantile(found, [0.025, 0.5, 0.975], axis=1)
    low, high = np.where(low >= 1, 1 - (middle - low), low), np.where(high <= 0, high - middle, high)
    shown = np.clip(estimate, 0, 1)
    return estimate, np.fmin(np.clip(low, 0, 1), shown), np.fmax(np.clip(high, 0, 1), shown)


def naive(d: Drawn, later: Any, cases: int, posterior: Posterior) -> tuple[Any, Any, Any]:
    """Rogan-Gladen with TPR and TNR as counted, p held fixed."""
    tp, fn = d.good_passes, d.good_fails
    fp, tn = d.passes - tp, d.fails - fn
    p = later / cases

    def estimate(tpr: Any, tnr: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.where(tpr + tnr > 1, np.clip((p_ + tnr - 1) / (tpr + tnr - 1), 0, 1), np.nan)

    p_ = p
    middle = estimate(_over(tp, tp + fn), _over(tn, tn + fp))
    p_ = p[:, None]
    found = estimate(posterior(tp, tp + fn), posterior(tn, tn + fp))
    low, high = np.nanquantile(found, [0.025, 0.975], axis=1)
    return middle, low, high


def cell(
    random: Any,
    design: str,
    rate: float,
    judge: tuple[float, float],
    labels: int,
    cases: int,
    *,
    sets: int,
    draws: int,
) -> Cell:
    posterior = Posterior(random, draws)
    tpr, tnr = judge
    drawn = simulate(random, sets, rate if design == "this run" else LABELLED_RATE, tpr, tnr, labels, cases)
    if design == "this run":
        later = drawn.k
        estimate, low, high = in_run(drawn, posterior)
    else:
        later = simulate(random, sets, rate, tpr, tnr, 0, cases).k
        estimate, low, high = reused(drawn, later, cases, posterior)
    good = drawn.good_passes + drawn.good_fails
    seen = drawn.passes + drawn.fails
    found_tpr, found_tnr = _rates(
        drawn.k / drawn.n, _over(drawn.good_passes, drawn.passes), _over(drawn.good_fails, drawn.fails)
    )
    answered = (good > 0) & (good < seen) & (found_tpr + found_tnr > 1) & (seen >= FEWEST)
    covered = (low <= rate) & (rate <= high)
    naive_rate, naive_low, naive_high = naive(drawn, later, cases, posterior)
    counted = estimate if design == "this run" else estimate[answered]
    return Cell(
        design,
        rate,
        tpr,
        tnr,
        labels,
        cases,
        round(float(np.mean(np.clip(counted, 0, 1)) - rate), 4),
        round(float(np.mean(counted) - rate), 4),
        round(float(covered.mean() if design == "this run" else covered[answered].mean()), 4),
        round(float((high - low)[answered].mean()), 4),
        round(float(answered.mean()), 4),
        round(float(covered[answered].mean()), 4),
        round(float(np.nanmean(naive_rate)), 4),
        round(float(((naive_low <= rate) & (rate <= naive_high))[answered].mean()), 4),
    )


def grid(design: str, *, sets: int, draws: int, seed: int) -> Iterator[Cell]:
    """Every cell in which there are as many cases as labels. Each has a stream of its own."""
    number = 0
    for rate in RATES:
        for judge in JUDGES:
            for labels in LABELS:
                for cases in CASES:
                    number += 1
                    if labels <= cases:
                        random = np.random.default_rng([seed, number, design == "reused"])
                        yield cell(random, design, rate, judge, labels, cases, sets=sets, draws=draws)


def _over(part: Any, whole: Any) -> Any:
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)


def _rates(p: Any, ppv: Any, missed: Any) -> tuple[Any, Any]:
    good, bad = p * ppv + (1 - p) * missed, p * (1 - ppv) + (1 - p) * (1 - missed)
    with np.errstate(all="ignore"):
        return np.where(good > 0, p * ppv / good, 0.0), np.where(bad > 0, (1 - p) * (1 - missed) / bad, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="data sets a cell")
    parser.add_argument("--draws", type=int, default=1000, help="Beta draws an interval")
    parser.add_argument("--seed", type=int, default=20261201)
    parser.add_argument("--json", type=Path, help="write the cells there")
    options = parser.parse_args()
    cells = []
    for design in ("this run", "reused"):
        print(f"{design}: rate TPR TNR labels cases | bias raw coverage width | answered covers | naive mean covers")
        for found in grid(design, sets=options.sets, draws=options.draws, seed=options.seed):
            cells.append(found)
            print(
                f"{found.rate:.2f} {found.tpr:.2f} {found.tnr:.2f} {found.labels:4} {found.cases:4} | "
                f"{found.bias:+.4f} {found.bias_raw:+.4f} {found.coverage:.3f} {found.width:.3f} | "
                f"{found.answered:.3f} {found.coverage_answered:.3f} | "
                f"{found.naive_mean:.3f} {found.naive_coverage:.3f}"
            )
            sys.stdout.flush()
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(found) for found in cells], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
