"""How far one judge may be believed in one run: everything that its labels say, in one record. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pytest_verica.calibration.holdout import FROM, is_held_out
from pytest_verica.calibration.judged import JudgedOutput, JudgedRun
from pytest_verica.calibration.label import Label
from pytest_verica.calibration.light import Light, traffic_light
from pytest_verica.calibration.rate import CorrectedRate, IntervalMethod, corrected_rate
from pytest_verica.calibration.sample import Labelled, Sample, match_labels
from pytest_verica.calibration.sweep import Sweep, cross_fit, sweep, tunable
from pytest_verica.stats.agreement import Confusion
from pytest_verica.stats.proportion import Interval, wilson

OPTIMISTIC = "Optimistic: you measure and tune on the same cases."


@dataclass(frozen=True)
class Disagreement:
    """A labelled output on which person and judge differ; never a held-out one. output: None where the run that is
    looked at does not have it."""

    labelled: Labelled
    output: JudgedOutput | None

    @property
    def kind(self) -> str:
        return "too strict" if self.labelled.person else "too lenient"


@dataclass(frozen=True)
class Alignment:
    """run, labels: what was compared; sample: both met; rate, light; measured: the confusion that agreement is
    reported from, the held-out labels' where there is a holdout; held_out: how many those are, None without a holdout;
    cross_fit: confusion with the threshold fitted on the other folds, for a score judge; sweep: None for a judge
    without a threshold; disagreements: of the labels that may be tuned on; unlabelled: outputs without a label;
    last_label: ISO 8601 in UTC, None where there is none."""

    run: JudgedRun
    sample: Sample
    rate: CorrectedRate
    light: Light
    measured: Confusion
    held_out: int | None
    cross_fit: Confusion | None
    sweep: Sweep | None
    disagreements: tuple[Disagreement, ...]
    unlabelled: int
    last_label: str | None

    @property
    def never_labelled(self) -> bool:
        """Whether nobody has said anything of this criterion yet."""
        return not self.sample.labelled and not self.sample.foreign

    @property
    def measured_on(self) -> str:
        if self.held_out is not None:
            return f"Measured on {self.held_out} held-out cases (not used for tuning)."
        return OPTIMISTIC

    @property
    def agreement(self) -> Interval | None:
        """Wilson, 95 %, of the measured agreement."""
        return wilson(self.measured.tp + self.measured.tn, self.measured.n)

    def to_json(self) -> dict[str, Any]:
        """JSON. No held-out case is named in it."""
        run, sample = self.run, self.sample
        return {
            "run": run.run.id,
            "eval": run.eval.id,
            "criterion": run.criterion.id,
            "judge_hash": run.judge_hash,
            "light": self.light.to_json(),
            "rate": self.rate.to_json(),
            "labels": {
                "outputs": len(sample.labelled),
                "scope": sample.scope,
                "draw": sample.design,
                "ties": sample.ties,
                "skipped": sample.skipped,
                "stale": sample.stale,
                "of_another_judge": sample.foreign,
                "unlabelled_outputs": self.unlabelled,
                "last": self.last_label,
                "labellers": None if sample.labellers is None else vars(sample.labellers),
            },
            "agreement": {
                "measured_on": self.measured_on,
                "held_out": self.held_out,
                **confusion_json(self.measured),
                "all_labels": confusion_json(sample.confusion),
                "cross_fit": None if self.cross_fit is None else confusion_json(self.cross_fit),
            },
            "sweep": None if self.sweep is None else self.sweep.to_json(),
            "disagreements": [
                {
                    "case": item.labelled.case,
                    "output_hash": item.labelled.output_hash,
                    "person": "pass" if item.labelled.person else "fail",
                    "judge": "pass" if item.labelled.judge else "fail",
                    "score": item.labelled.score,
                    "reasoning": None if item.output is None else item.output.reasoning,
                }
                for item in self.disagreements
            ],
        }


def align(run: JudgedRun, acts: Iterable[Label], *, method: IntervalMethod = "beta") -> Alignment:
    """Measures a judge. acts: the labels of its criterion, of any run."""
    acts = [act for act in acts if act.eval == run.eval.id and act.criterion == run.criterion.id]
    sample = match_labels(run.outputs, run.judge_hash, acts)
    rate = corrected_rate(sample, run.passes, len(run.outputs), criterion=run.criterion.id, method=method)
    labelled = {(item.case, item.output_hash) for item in sample.labelled}
    unlabelled = sum(output.key not in labelled for output in run.outputs)
    held = [item for item in sample.labelled if is_held_out(item.case)] if len(sample.labelled) >= FROM else None
    measured = sample.confusion if held is None else Confusion.of([(item.person, item.judge) for item in held])
    by_key = {output.key: output for output in run.outputs}
    differing = [
        Disagreement(item, by_key.get((item.case, item.output_hash)))
        for item in tunable(sample.labelled)
        if item.person is not item.judge
    ]
    threshold = run.pass_at
    return Alignment(
        run,
        sample,
        rate,
        traffic_light(sample, rate, unlabelled),
        measured,
        None if held is None else len(held),
        None if threshold is None else cross_fit(sample.labelled, threshold),
        None if threshold is None else sweep(sample.labelled, threshold),
        tuple(differing),
        unlabelled,
        max((act.time for act in acts if act.verdict != "skipped"), default=None),
    )


def confusion_json(found: Confusion) -> dict[str, Any]:
    """Counts and what they add up to. `too_strict`, `agreement` and `too_lenient` add up to 1."""
    return {
        "counts": {**vars(found)},
        "n": found.n,
        "agreement": _number(found.agreement),
        "agreement_interval": _interval(found.tp + found.tn, found.n),
        "too_strict": _number(found.too_strict),
        "too_lenient": _number(found.too_lenient),
        "baseline": _number(found.baseline),
        "kappa": _number(found.kappa),
        "tpr": _number(found.tpr),
        "tpr_interval": _interval(found.tp, found.person_passes),
        "tnr": _number(found.tnr),
        "tnr_interval": _interval(found.tn, found.person_fails),
        "balanced_accuracy": _number(found.balanced_accuracy),
    }


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _interval(passed: int, n: int) -> dict[str, Any] | None:
    found = wilson(passed, n)
    return None if found is None else found.to_json()
