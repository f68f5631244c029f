"""The gate that knows its judges: their rates enter it corrected by human labels, or it fails and says what to do.

The corrections are made elsewhere; here they are only weighed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.evals.gate import GateConfig
from pytest_verica.evals.load import criterion_id
from pytest_verica.report.totals import Counts
from pytest_verica.stats.proportion import wilson_lower

_ROUNDING = 1e-9
"""Corrected rates are floats: 9 of 10 reach 0.9."""


@dataclass(frozen=True)
class Corrected:
    """What is known of one judge's true success rate.

    rate: the corrected rate, 0 to 1; low: its one-sided lower bound at the gate's confidence, None where the gate asks
    for none; problem: why the judge may not decide, and what to do, None where it may: then rate is a number; light:
    its colour; labels: outputs with a human verdict.
    """

    rate: float | None
    low: float | None
    problem: str | None
    light: str = "red"
    labels: int = 0

    @property
    def entering(self) -> float | None:
        """What enters the gate."""
        return self.rate if self.low is None else self.low

    def to_json(self) -> dict[str, Any]:
        return {**vars(self)}


@dataclass(frozen=True)
class CorrectedRates:
    """An eval's rates with its judges' corrected. criteria: by id of the criterion, judges and others alike."""

    counts: Counts
    criteria: Mapping[str, Counts]
    judges: Mapping[str, Corrected]

    def failures(self, config: GateConfig) -> Iterator[str]:
        """Why the gate fails for its rates."""
        problems = [f"{name}: {judge.problem}" for name, judge in self.judges.items() if judge.problem is not None]
        yield from problems
        if not self.judges:
            yield "`calibrated` has no judge to correct: no criterion of this eval asked a model"
        if problems or not self.judges:
            return
        whole = self.whole(config)
        if whole is None:
            yield f"nothing was graded: {self.counts.na} not applicable, {self.counts.error} errors"
            return
        if self.counts.graded < config.min_graded:
            yield f"{self.counts.graded} verdicts were graded, at least {config.min_graded} are wanted"
        if whole + _ROUNDING < config.pass_rate:
            yield self.sentence(config)
        for name, wanted in config.criteria.items():
            found = self.of(criterion_id(name))
            if found is None:
                yield f"{name}: nothing was graded, {wanted:.1%} wanted"
            elif found + _ROUNDING < wanted:
                judge = self.judges.get(criterion_id(name))
                how = "" if judge is None else f" ({_bound(judge)}corrected)"
                yield f"{name}: {found:.2%}{how}, {wanted:.1%} wanted"

    def of(self, criterion: str) -> float | None:
        """The rate of one criterion, corrected where a judge gives it; None where nothing was graded."""
        judge = self.judges.get(criterion)
        if judge is not None:
            return judge.entering
        counts = self.criteria.get(criterion, Counts())
        return None if counts.rate is None else float(counts.rate)

    def whole(self, config: GateConfig) -> float | None:
        """The rate over all criteria, each weighted by its graded verdicts. With a confidence the sum of the lower
        bounds: at least as careful as a bound of the sum."""
        if not self.counts.graded:
            return None
        plain = Counts()
        total = 0.0
        for name, counts in self.criteria.items():
            judge = self.judges.get(name)
            if judge is None:
                plain = Counts(plain.passed + counts.passed, plain.failed + counts.failed)
            elif judge.entering is not None:
                total += judge.entering * counts.graded
        if plain.graded:
            low = None
            if config.confidence is not None:
                low = wilson_lower(plain.passed, plain.graded, confidence=config.confidence)
            total += plain.passed if low is None else low * plain.graded
        return total / self.counts.graded

    def sentence(self, config: GateConfig) -> str:
        """`corrected 84.20% of 120 graded (tone 81.0% instead of 90.0%), 80.0% wanted`."""
        whole = self.whole(config)
        judges = ", ".join(
            f"{name} {judge.entering:.1%} {_bound(judge)}instead of {float(self.criteria[name].rate or 0):.1%}"
            for name, judge in self.judges.items()
            if judge.entering is not None and name in self.criteria
        )
        return (
            f"corrected {0 if whole is None else whole:.2%} of {self.counts.graded} graded ({judges}), "
            f"{config.pass_rate:.1%} wanted"
        )

    def numbers(self, config: GateConfig) -> dict[str, Any]:
        known = not any(judge.problem for judge in self.judges.values())
        return {
            "calibrated": {
                "rate": self.whole(config) if known and self.judges else None,
                "judges": {name: judge.to_json() for name, judge in self.judges.items()},
            }
        }


def _bound(judge: Corrected) -> str:
    return "" if judge.low is None else "at least, "
