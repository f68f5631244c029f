"""The true success rate behind a judge's verdicts, corrected for its errors. Positive is pass.

Two estimators: labels drawn from the very outputs that are measured (stratified by the judge's verdict, Begg & Greenes
1983), and labels of other outputs of the same judge (Rogan & Gladen 1978). Two intervals for the second: Beta draws
and the closed form of Lang & Reiczigel (2014).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pytest_verica.stats.agreement import Confusion
from pytest_verica.stats.beta import BetaDraws, percentile

DRAWS = 10_000
TAIL = 0.025
"""Of a 95 % interval."""
DIGITS = 6
"""Decimals of a bound: what differs beyond them is the C library's rounding, not the data."""
EDGES = ((0.05, 0.35), (0.10, 0.15))
"""(distance of a bound from 0 or 1, how far the prior is moved towards that edge there): plain Beta draws are too
narrow on the side of the edge (simulated: 89 to 93 % at a true rate of 0.99). 0.5 would be the exact (Clopper-Pearson)
bound; see benchmarks/coverage.py for what these give."""
Z95 = 1.959963984540054


@dataclass(frozen=True)
class Share:
    """A proportion seen in a sample. passed: how many; n: of how many; both may be effective numbers (not whole)."""

    passed: float
    n: float

    @property
    def rate(self) -> float | None:
        return self.passed / self.n if self.n else None


@dataclass(frozen=True)
class Drawn:
    """An interval from Beta draws, of 95 % where nothing else is asked for. j_low, j_high: the 95 % interval of
    TPR + TNR - 1; dropped: the share of draws that were left out because it was not above 0 (always 0 where the
    estimator does not divide by it)."""

    low: float
    high: float
    j_low: float
    j_high: float
    dropped: float


def stratified(passes: Share, of_passes: Share, of_fails: Share) -> float | None:
    """p·PPV + (1-p)·FOR; None where outputs of a verdict that occurs were never labelled.

    passes: the judge's passes among all it judged; of_passes, of_fails: the person's passes among the labelled ones
    that the judge passed and failed.
    """
    p, ppv, missed = passes.rate, of_passes.rate, of_fails.rate
    if p is None or (ppv is None and p > 0) or (missed is None and p < 1):
        return None
    return p * (ppv or 0.0) + (1 - p) * (missed or 0.0)


def reweighted(p: float, ppv: float, missed: float) -> tuple[float | None, float | None]:
    """TPR and TNR from what a sample drawn by the judge's verdict gives: its share of passes in the population, PPV,
    and the person's passes among the judge's fails. None where there is no pass, or no fail, of the person's."""
    good, bad = p * ppv + (1 - p) * missed, p * (1 - ppv) + (1 - p) * (1 - missed)
    return (p * ppv / good if good else None), ((1 - p) * (1 - missed) / bad if bad else None)


def rogan_gladen(p: float, tpr: float, tnr: float) -> float | None:
    """(p + TNR - 1) / (TPR + TNR - 1), not clipped; None where the judge is no better than chance."""
    j = tpr + tnr - 1
    return (p + tnr - 1) / j if j > 0 else None


def stratified_interval(
    passes: Share, of_passes: Share, of_fails: Share, seed: int, draws: int = DRAWS, tail: float = TAIL
) -> Drawn:
    """The interval of `stratified`: every rate is drawn from its Beta posterior, p too. tail: the share of draws that
    are left out on each side."""
    found, js = [], []
    stream = BetaDraws(seed)
    for _ in range(draws):
        p, ppv, missed = _posterior(stream, passes), _posterior(stream, of_passes), _posterior(stream, of_fails)
        found.append(p * ppv + (1 - p) * missed)
        tpr, tnr = reweighted(p, ppv, missed)
        js.append((tpr or 0.0) + (tnr or 0.0) - 1)

    def towards(edge: float) -> list[float]:
        again, moved = BetaDraws(seed), []
        for _ in range(draws):
            p = _posterior(again, passes)
            ppv, missed = _posterior(again, of_passes, edge), _posterior(again, of_fails, edge)
            moved.append(p * ppv + (1 - p) * missed)
        return sorted(moved)

    low, high = _edged(sorted(found), towards, tail)
    return _drawn(low, high, js, 0.0)


def reused_interval(
    passes: Share,
    labelled: tuple[Share, Share, Share] | tuple[Share, Share],
    seed: int,
    draws: int = DRAWS,
    tail: float = TAIL,
) -> Drawn:
    """The interval of `rogan_gladen` on other outputs than the labelled ones.

    labelled: (judge's passes among all outputs that the labels were drawn from, PPV, the person's passes among the
    judge's fails) where they were drawn by verdict; (TPR, TNR) where they are a random sample.
    """
    found: list[float] = []
    js: list[float] = []
    stream = BetaDraws(seed)
    for _ in range(draws):
        p = _posterior(stream, passes)
        if len(labelled) == 3:
            tpr, tnr = reweighted(*(_posterior(stream, share) for share in labelled))
        else:
            tpr, tnr = (_posterior(stream, share) for share in labelled)
        j = (tpr or 0.0) + (tnr or 0.0) - 1
        js.append(j)
        if j > 0:
            found.append((p + (tnr or 0.0) - 1) / j)
    if not found:
        return _drawn(0.0, 1.0, js, 1.0)
    ranked = sorted(found)
    low, middle, high = (percentile(ranked, share) for share in (tail, 0.5, 1 - tail))
    # Both bounds beyond one edge would be an interval without width: the edge takes the middle's place.
    if low >= 1:
        low = 1 - (middle - low)
    if high <= 0:
        high = high - middle
    return _drawn(_clip(low), _clip(high), js, 1 - len(found) / draws)


def lang_reiczigel(labelled: Confusion, passes: int, n: int, z: float = Z95) -> tuple[float, float]:
    """The closed-form interval of `rogan_gladen` for labels of other outputs (Lang & Reiczigel, Preventive Veterinary
    Medicine 2014), which contains the clipped estimate.

    Guards: smoothed J not above 0 gives (0, 1); a bound that its shift pushed past an edge is put back.

    Raises:
        ValueError: nothing was judged, or a class has no label.
    """
    if not n or not labelled.person_passes or not labelled.person_fails:
        raise ValueError("it needs judged outputs, and labels of both classes")
    z2 = z * z
    m1, m0 = labelled.person_passes + 2, labelled.person_fails + 2
    p, tpr, tnr = (passes + z2 / 2) / (n + z2), (labelled.tp + 1) / m1, (labelled.tn + 1) / m0
    j = tpr + tnr - 1
    if j <= 0:
        return 0.0, 1.0
    t = (p + tnr - 1) / j
    of_tpr, of_tnr = tpr * (1 - tpr) / m1, tnr * (1 - tnr) / m0
    shift = 2 * z2 * (t * of_tpr - (1 - t) * of_tnr)
    half = z * math.sqrt(p * (1 - p) / (n + z2) + t * t * of_tpr + (1 - t) ** 2 * of_tnr) / j
    low, high = t + shift - half, t + shift + half
    if low >= 1:
        low = min(t, 1.0) - half
    if high <= 0:
        high = max(t, 0.0) + half
    low, high = _clip(low), _clip(high)
    estimate = rogan_gladen(passes / n, float(labelled.tpr or 0), float(labelled.tnr or 0))
    if estimate is not None:
        low, high = min(low, _clip(estimate)), max(high, _clip(estimate))
    return low, high


def _posterior(stream: BetaDraws, share: Share, edge: float = 0.0) -> float:
    """A draw from the Beta posterior of a share: Jeffreys' prior, moved by `edge` towards 1 (below 0: towards 0)."""
    return stream.beta(share.passed + 0.5 + edge, share.n - share.passed + 0.5 - edge)


def _edged(ranked: list[float], towards: Callable[[float], list[float]], tail: float) -> tuple[float, float]:
    """The percentiles, each carried further where it lies near the edge that it leans to."""
    low, high = percentile(ranked, tail), percentile(ranked, 1 - tail)
    for distance, moved in EDGES:
        if low < distance:
            low = min(low, percentile(towards(-moved), tail))
            break
    for distance, moved in EDGES:
        if high > 1 - distance:
            high = max(high, percentile(towards(moved), 1 - tail))
            break
    return low, high


def _drawn(low: float, high: float, js: list[float], dropped: float) -> Drawn:
    ranked = sorted(js)
    ends = (low, high, percentile(ranked, 0.025), percentile(ranked, 0.975))
    low, high, j_low, j_high = (round(end, DIGITS) for end in ends)
    return Drawn(low, high, j_low, j_high, dropped)


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))
