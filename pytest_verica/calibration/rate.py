"""The corrected success rate of one judge in one run, its interval, and when there is none. Pure and deterministic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from pytest_verica.calibration.sample import Labelled, Sample
from pytest_verica.canonical import content_hash
from pytest_verica.stats.correction import (
    DRAWS,
    TAIL,
    Drawn,
    Share,
    lang_reiczigel,
    reused_interval,
    reweighted,
    rogan_gladen,
    stratified,
    stratified_interval,
)
from pytest_verica.stats.proportion import Interval, wilson, wilson_of_rate

FEWEST = 10
"""Labels under which there is no number."""

IntervalMethod = Literal["beta", "lang-reiczigel"]


class BetaDrawing(NamedTuple):
    """seed, draws, tail: of one simulation."""

    seed: int
    draws: int
    tail: float


@dataclass(frozen=True)
class Precision:
    """How often the judge is right on one class of the person's. rate: reweighted to the judge's verdicts in the run,
    None where the class has no label; n: labels of the class; interval: Wilson, 95 %, on the effective number."""

    rate: float | None
    n: int
    interval: Interval | None


@dataclass(frozen=True)
class CorrectedRate:
    """estimate: within 0 and 1, None where `refusal` says why; raw: before clipping; low, high: 95 %; estimator:
    `labels of this run` or `Rogan-Gladen`; method: of the interval; seed, draws: of its simulation, None for the
    closed form; dropped: share of draws without use; j, j_low, j_high: TPR + TNR - 1 and its 95 % interval; judge:
    passes of all judged; person: the person's passes among the labelled outputs as they were drawn; warnings:
    sentences."""

    estimate: float | None
    raw: float | None
    low: float | None
    high: float | None
    estimator: str
    method: str
    seed: int | None
    draws: int | None
    dropped: float
    tpr: Precision
    tnr: Precision
    j: float | None
    j_low: float | None
    j_high: float | None
    judge_passed: int
    judged: int
    person_passed: int
    labels: int
    refusal: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def clipped(self) -> bool:
        return self.raw is not None and self.raw != self.estimate

    @property
    def judge(self) -> Interval | None:
        """Of the judge's own rate; Wilson, 95 %."""
        return wilson(self.judge_passed, self.judged)

    @property
    def person(self) -> Interval | None:
        """Of the rate of the human labels alone; Wilson, 95 %."""
        return wilson(self.person_passed, self.labels)

    @property
    def width(self) -> float | None:
        return None if self.high is None or self.low is None else self.high - self.low

    def to_json(self) -> dict[str, Any]:
        judge, person = self.judge, self.person
        return {
            **{name: value for name, value in vars(self).items() if name not in ("tpr", "tnr")},
            "warnings": list(self.warnings),
            "clipped": self.clipped,
            "tpr": _precision_json(self.tpr),
            "tnr": _precision_json(self.tnr),
            "judge_rate": self.judge_passed / self.judged if self.judged else None,
            "judge_interval": None if judge is None else judge.to_json(),
            "person_rate": self.person_passed / self.labels if self.labels else None,
            "person_interval": None if person is None else person.to_json(),
        }


def seed_of(labelled: Sequence[Labelled], criterion: str, passes: int, judged: int) -> int:
    """From the content alone, whatever its order: the same data give the same interval."""
    rows = sorted([item.case, item.output_hash, item.person, item.judge] for item in labelled)
    return int(content_hash([criterion, passes, judged, rows])[:16], 16)


def corrected_rate(
    sample: Sample,
    passes: int,
    judged: int,
    *,
    criterion: str = "",
    method: IntervalMethod = "beta",
    draws: int = DRAWS,
    tail: float = TAIL,
) -> CorrectedRate:
    """The true success rate of a run in which the judge passed `passes` of `judged` outputs. tail: what the interval
    leaves out on each side: its lower end is a one-sided bound at confidence 1 - tail."""
    confusion = sample.confusion
    seed = seed_of(sample.labelled, criterion, passes, judged)
    run = Share(passes, judged)
    in_run = sample.scope == "this_run"
    drawn_from = run if in_run else _drawn_from(sample)
    tpr, tnr = _precisions(sample, drawn_from)
    j = None if tpr.rate is None or tnr.rate is None else tpr.rate + tnr.rate - 1
    refusal = _refusal(sample, j, judged)
    raw, drawn = _estimated(sample, run, drawn_from, (tpr.rate, tnr.rate), BetaDrawing(seed, draws, tail))
    if refusal is None and raw is None:
        refusal = "No number: outputs of one of the judge's two verdicts were never labelled. Label some of both."
    estimate = None if refusal is not None or raw is None else min(1.0, max(0.0, raw))
    closed = method == "lang-reiczigel" and not in_run
    low, high = None, None
    if estimate is not None and drawn is not None:
        low, high = lang_reiczigel(confusion, passes, judged) if closed else (drawn.low, drawn.high)
        low, high = min(low, estimate), max(high, estimate)
    return CorrectedRate(
        estimate,
        raw if refusal is None else None,
        low,
        high,
        "labels of this run" if in_run else "Rogan-Gladen",
        "lang-reiczigel" if closed else "beta",
        None if closed or drawn is None else seed,
        None if closed or drawn is None else draws,
        0.0 if drawn is None else drawn.dropped,
        tpr,
        tnr,
        j,
        None if drawn is None else drawn.j_low,
        None if drawn is None else drawn.j_high,
        passes,
        judged,
        confusion.person_passes,
        confusion.n,
        refusal,
        tuple(_warnings(sample, run, tpr.rate, tnr.rate, closed)),
    )


def _estimated(
    sample: Sample,
    run: Share,
    drawn_from: Share | None,
    rates: tuple[float | None, float | None],
    drawing: BetaDrawing,
) -> tuple[float | None, Drawn | None]:
    """The estimate before clipping, and its draws; None where a class has no label."""
    confusion = sample.confusion
    tpr, tnr = rates
    if tpr is None or tnr is None or run.rate is None:
        return None, None
    of_passes, of_fails = sample.share(True), sample.share(False)
    if sample.scope == "this_run":
        return stratified(run, of_passes, of_fails), stratified_interval(run, of_passes, of_fails, *drawing)
    if drawn_from is not None:
        drawn = reused_interval(run, (drawn_from, of_passes, of_fails), *drawing)
    else:
        good, bad = Share(confusion.tp, confusion.person_passes), Share(confusion.tn, confusion.person_fails)
        drawn = reused_interval(run, (good, bad), *drawing)
    return rogan_gladen(run.rate, tpr, tnr), drawn


def _drawn_from(sample: Sample) -> Share | None:
    if sample.design != "strata" or sample.drawn_from is None:
        return None
    return Share(*sample.drawn_from)


def _precisions(sample: Sample, drawn_from: Share | None) -> tuple[Precision, Precision]:
    """TPR and TNR; reweighted where the labels were drawn by verdict, else as counted."""
    confusion, of_passes, of_fails = sample.confusion, sample.share(True), sample.share(False)
    good, bad = confusion.person_passes, confusion.person_fails
    if drawn_from is None or drawn_from.rate is None:
        return (
            Precision(None if not good else confusion.tp / good, good, wilson(confusion.tp, good)),
            Precision(None if not bad else confusion.tn / bad, bad, wilson(confusion.tn, bad)),
        )
    p = drawn_from.rate
    tpr, tnr = reweighted(p, of_passes.rate or 0.0, of_fails.rate or 0.0)
    of_pass = p / of_passes.n if of_passes.n else 0.0
    of_fail = (1 - p) / of_fails.n if of_fails.n else 0.0
    worth_good = _kish((of_pass, of_passes.passed), (of_fail, of_fails.passed))
    worth_bad = _kish((of_pass, of_passes.n - of_passes.passed), (of_fail, of_fails.n - of_fails.passed))
    return (
        Precision(tpr if good else None, good, wilson_of_rate(tpr, worth_good) if good and tpr is not None else None),
        Precision(tnr if bad else None, bad, wilson_of_rate(tnr, worth_bad) if bad and tnr is not None else None),
    )


def _kish(*groups: tuple[float, float]) -> float:
    """Kish's effective number of (weight, count) groups (Survey Sampling, 1965)."""
    squares = sum(weight * weight * count for weight, count in groups)
    return sum(weight * count for weight, count in groups) ** 2 / squares if squares else 0.0


def _refusal(sample: Sample, j: float | None, judged: int) -> str | None:
    confusion = sample.confusion
    if not judged:
        return "No number: the judge gave no usable verdict in this run."
    if confusion.n < FEWEST:
        more = FEWEST - confusion.n
        return f"No number: {confusion.n} labels, at least {FEWEST} are needed. Label {more} more."
    if not confusion.person_passes:
        return "No number: no labelled output meets the criterion. Label at least one that does."
    if not confusion.person_fails:
        return "No number: no labelled output fails the criterion. Label at least one that does not meet it."
    if j is not None and j <= 0:
        return f"No number: the judge is no better than chance (TPR + TNR - 1 = {j:.3f}). Improve its instructions."
    return None


def _warnings(sample: Sample, run: Share, tpr: float | None, tnr: float | None, closed: bool) -> list[str]:
    found = []
    if sample.design == "unknown" and sample.labelled:
        found.append(
            "How the labelled outputs were chosen is not known; they are treated as a random sample. Outputs that were "
            "picked because they looked odd make the number wrong."
        )
    if sample.scope == "this_run" or run.rate is None or tpr is None or tnr is None:
        return found
    p = wilson(int(run.passed), int(run.n))
    assert p is not None
    if p.high < 1 - tnr or p.low > tpr:
        found.append(
            f"This run does not resemble the labelled one: the judge passes {run.rate:.1%}, and with its errors every "
            f"true rate would give from {1 - tnr:.1%} to {tpr:.1%}. Label outputs of this run."
        )
    if closed and sample.design == "strata":
        found.append("The interval of Lang and Reiczigel takes TPR and TNR as counted, not reweighted to the run.")
    return found


def _precision_json(precision: Precision) -> dict[str, Any]:
    interval = precision.interval
    return {
        "rate": precision.rate,
        "n": precision.n,
        "interval": None if interval is None else interval.to_json(),
    }
