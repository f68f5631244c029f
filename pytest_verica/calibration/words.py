"""An alignment in words: the sentences that the terminal and the page share. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from pytest_verica.calibration.alignment import Alignment
from pytest_verica.calibration.history import Point
from pytest_verica.calibration.rate import Precision
from pytest_verica.calibration.sweep import Sweep
from pytest_verica.report.figures import many, percent
from pytest_verica.stats.agreement import Confusion

DANGEROUS = "judge passes what a person fails"
"""The most dangerous number, named as such."""


def rate_lines(alignment: Alignment) -> Iterator[str]:
    """The corrected rate, and beside it what the judge and the people say."""
    rate = alignment.rate
    if rate.estimate is None or rate.low is None or rate.high is None:
        yield f"corrected success rate: {rate.refusal}"
    else:
        clipped = f"; {rate.raw:.4f} before clipping" if rate.clipped and rate.raw is not None else ""
        yield (
            f"corrected success rate: {percent(rate.estimate)} [{percent(rate.low)} to {percent(rate.high)}], 95 %, "
            f"from {many(rate.labels, 'label')}{clipped}"
        )
        yield f"  {method_words(alignment)}"
    judge, person = rate.judge, rate.person
    if judge is not None:
        yield (
            f"  judge's raw rate: {percent(rate.judge_passed / rate.judged)}, {rate.judge_passed} of {rate.judged} "
            f"[{percent(judge.low)} to {percent(judge.high)}]"
        )
    if person is not None:
        drawn = ", drawn by the judge's verdict: not the run's rate" if alignment.sample.design == "strata" else ""
        yield (
            f"  human labels alone: {percent(rate.person_passed / rate.labels)}, {rate.person_passed} of {rate.labels} "
            f"[{percent(person.low)} to {percent(person.high)}]{drawn}"
        )


def method_words(alignment: Alignment) -> str:
    """Which estimator and which interval, as the record has them."""
    rate = alignment.rate
    names = {
        "labels of this run": "labels of this run, weighted by the judge's verdicts (Rogan-Gladen, reweighted)",
        "Rogan-Gladen": "labels of an earlier run of the same judge (Rogan-Gladen)",
    }
    if rate.method == "lang-reiczigel":
        return f"{names[rate.estimator]}; interval of Lang and Reiczigel"
    dropped = f", {percent(rate.dropped)} of them without use" if rate.dropped else ""
    return f"{names[rate.estimator]}; interval from {rate.draws:,} Beta draws, seed {rate.seed}{dropped}"


def light_lines(alignment: Alignment) -> Iterator[str]:
    light = alignment.light
    yield f"{light.colour}: {light.says}"
    yield from (f"  {reason}" for reason in light.reasons)
    yield from (f"  next: {advice}" for advice in light.advice)


def agreement_lines(alignment: Alignment) -> Iterator[str]:
    """Agreement with its wings, and what it was measured on."""
    found, interval = alignment.measured, alignment.agreement
    if found.agreement is None or interval is None:
        return
    agreed = found.tp + found.tn
    yield (
        f"agreement: {percent(found.agreement)}, {agreed} of {found.n} "
        f"[{percent(interval.low)} to {percent(interval.high)}]; too strict {percent(found.too_strict)} ({found.fn}), "
        f"too lenient {percent(found.too_lenient)} ({found.fp}): {DANGEROUS}"
    )
    yield f"  {alignment.measured_on}"
    yield (
        f"  kappa {_decimal(found.kappa)}; a judge that always gives the commoner verdict would agree on "
        f"{percent(found.baseline)}"
    )
    if alignment.cross_fit is not None:
        fitted = alignment.cross_fit
        yield (
            f"  five-fold, threshold chosen on the other folds: agreement {percent(fitted.agreement)} of {fitted.n}, "
            f"balanced accuracy {_decimal(fitted.balanced_accuracy)}"
        )
    yield f"  right on the good ones (TPR): {precision_words(alignment.rate.tpr)}"
    yield f"  right on the bad ones (TNR): {precision_words(alignment.rate.tnr)}"
    yield f"  {counts_words(alignment.sample.confusion)}"


def precision_words(precision: Precision) -> str:
    interval = precision.interval
    if precision.rate is None or interval is None:
        return "not known, no label"
    return f"{percent(precision.rate)} [{percent(interval.low)} to {percent(interval.high)}], on {precision.n} labels"


def counts_words(found: Confusion) -> str:
    return (
        f"all labels: person pass and judge pass {found.tp}, person pass and judge fail {found.fn}, person fail and "
        f"judge pass {found.fp}, person fail and judge fail {found.tn}"
    )


def label_lines(alignment: Alignment) -> Iterator[str]:
    """What the labels are: how many, how drawn, and what was left out."""
    sample = alignment.sample
    left = [
        many(count, word)
        for count, word in (
            (sample.skipped, "skipped output"),
            (sample.ties, "tie"),
            (sample.stale, "stale label"),
            (sample.foreign, "label of another judge"),
        )
        if count
    ]
    yield f"labels: {len(sample.labelled)}, {alignment.unlabelled} outputs not labelled" + (
        f"; {', '.join(left)}" if left else ""
    )
    if sample.stale and sample.scope == "this_run":
        yield "  A stale label belongs to an output that has changed since; it is kept, and counts no more."
    if sample.labellers is not None:
        people = sample.labellers
        value = "not defined" if people.value is None else f"{people.value:.3f}"
        yield f"  {', '.join(people.names)} on {people.outputs} outputs: {people.measure} {value}"
    yield from (f"  {warning}" for warning in alignment.rate.warnings)


def sweep_lines(found: Sweep) -> Iterator[str]:
    """The threshold's card; one line at the optimum."""
    current, best = found.current, found.best
    now = f"balanced accuracy {float(current.balanced_accuracy):.3f} at {_at(current.at)}"
    if found.at_optimum:
        yield f"threshold: {now}, which is the optimum"
        return
    yield f"threshold: {now}, optimum {float(best.balanced_accuracy):.3f} at {_at(best.at)} ({len(found.used)} labels)"
    for cut in found.cuts:
        marks = " ".join(word for word, it in (("current", current), ("optimum", best)) if it.at == cut.at)
        yield f"  {_at(cut.at):>8}  {float(cut.balanced_accuracy):.3f}  {marks}".rstrip()


def preview_words(found: Sweep, value: float) -> str:
    """`Balanced accuracy at 7: 0.79 (optimum 0.845)`."""
    at = float(found.preview(value).balanced_accuracy)
    return f"Balanced accuracy at {value:g}: {at:.3g} (optimum {float(found.best.balanced_accuracy):.3g})"


def history_line(points: Sequence[Point]) -> str:
    """`v1 71 % → v2 79 %`."""
    return "history: " + " → ".join(
        f"v{point.version} {'?' if point.agreement is None else percent(point.agreement, 0)}" for point in points
    )


def _at(at: float | None) -> str:
    return "never" if at is None else f"{at:g}"


def _decimal(value: Fraction | None) -> str:
    return "not defined" if value is None else f"{float(value):.3f}"
