"""What a gate is told of the judges: their corrected rates, or why they may not decide."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_verica.calibration.alignment import Alignment, align
from pytest_verica.calibration.finding import labels_for
from pytest_verica.calibration.judged import JudgedRun, judges_of, read_judged
from pytest_verica.calibration.rate import corrected_rate
from pytest_verica.calibration.unmeasured import CHANGED, NEVER
from pytest_verica.evals.gate import GateConfig
from pytest_verica.report.calibrated import Corrected
from pytest_verica.report.summary import EvalSummary


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


@dataclass(frozen=True)
class Correcting:
    """The judges' true rates in one run. root: the rootdir; journal: of the run; now: what ages are counted to."""

    root: Path
    journal: Path
    now: Callable[[], datetime.datetime] = _now

    def __call__(self, found: EvalSummary, config: GateConfig) -> Mapping[str, Corrected]:
        """By id of each criterion that asks a model.

        Raises:
            VericaError: the labels cannot be read.
        """
        names = [(found.record.id, criterion.id) for criterion in judges_of(found.record)]
        return {
            run.criterion.id: self._corrected(run, config)
            for run in read_judged(self.journal, names)
            if (run.eval.id, run.criterion.id) in names
        }

    def _corrected(self, run: JudgedRun, config: GateConfig) -> Corrected:
        alignment = align(run, labels_for(self.root, run))
        rate, light = alignment.rate, alignment.light
        problem = _problem(alignment) or self._too_old(alignment, config)
        low = None
        if problem is None and config.confidence is not None:
            low = corrected_rate(
                alignment.sample,
                run.passes,
                len(run.outputs),
                criterion=run.criterion.id,
                tail=1 - config.confidence,
            ).low
        return Corrected(None if problem else rate.estimate, low, problem, light.colour, len(alignment.sample.labelled))

    def _too_old(self, alignment: Alignment, config: GateConfig) -> str | None:
        limit, last = config.max_label_age_days, alignment.last_label
        if limit is None:
            return None
        age = None if last is None else _days_between(last, self.now())
        if age is not None and age <= limit:
            return None
        told = "of unknown age" if age is None else f"{age} days old"
        return f"its last label is {told}, {limit} days are allowed; {_label(alignment.run)}"


def _problem(alignment: Alignment) -> str | None:
    """Why the judge may not decide, and what to do."""
    light, rate, run = alignment.light, alignment.rate, alignment.run
    if alignment.never_labelled:
        return f"the judge {NEVER}; {_label(run)}"
    if alignment.sample.foreign and not alignment.sample.labelled:
        return f"the judge {CHANGED}; {_label(run)}, or judge the labelled outputs again (verica calibrate --rejudge)"
    if light.colour == "red":
        return f"the light is red: {light.says} {' '.join(light.reasons)} (verica calibrate {run.eval.name})"
    if rate.estimate is None:
        return f"{rate.refusal} {_label(run)}"
    return None


def _label(run: JudgedRun) -> str:
    return f"label outputs of this judge: verica label {run.eval.name} --criterion {run.criterion.id}"


def _days_between(moment: str, now: datetime.datetime) -> int | None:
    try:
        then = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=datetime.timezone.utc)
    return max(0, (now - then).days)
