"""Cases that were sampled several times: the outcomes of a case's samples, and what they say together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from pytest_verica.grade import Outcome
from pytest_verica.stats.pass_hat import pass_hat_k
from pytest_verica.stats.proportion import effective_number

_SHOWN = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500)
_FIELD = {"pass": "passed", "fail": "failed", "na": "na", "error": "error"}

OfCriteria = Mapping[str, Mapping[str, "Samples"]]
"""Criterion → case → the outcomes of its samples."""


@dataclass(frozen=True)
class Samples:
    """The samples of one case under one criterion, by outcome."""

    passed: int = 0
    failed: int = 0
    na: int = 0
    error: int = 0

    @property
    def graded(self) -> int:
        return self.passed + self.failed

    def adding(self, outcome: str) -> Samples:
        name = _FIELD[outcome]
        return replace(self, **{name: getattr(self, name) + 1})

    def outcome(self, min_passes: int | None) -> Outcome:
        """What they say together: passed where at least min_passes did, more than half of the graded ones where None.

        N/A where every sample is; an error where the samples that could not be judged might have decided it.
        """
        judged = self.graded
        if judged == self.error == 0:
            return "na"
        if min_passes is None:
            if judged == 0:
                return "error"
            return "pass" if 2 * self.passed > judged else "fail"
        if self.passed >= min_passes:
            return "pass"
        return "error" if self.passed + self.error >= min_passes else "fail"


def worth(samples: OfCriteria) -> float | None:
    """How many independent verdicts the graded samples are worth, the case being the unit; None where there is none."""
    return _effective((case, s.passed, s.graded) for of_case in samples.values() for case, s in of_case.items())


def worth_of_units(outcomes: Mapping[str, Mapping[str, Outcome]]) -> float | None:
    """The same of one outcome per criterion and case: the criteria of a case are not independent."""
    return _effective(
        (case, int(outcome == "pass"), int(outcome in ("pass", "fail")))
        for of_case in outcomes.values()
        for case, outcome in of_case.items()
    )


def _effective(counted: Iterable[tuple[str, int, int]]) -> float | None:
    clusters: dict[str, tuple[int, int]] = {}
    for case, passed, graded in counted:
        if graded:
            before = clusters.get(case, (0, 0))
            clusters[case] = (before[0] + passed, before[1] + graded)
    return effective_number(list(clusters.values())) if clusters else None


def pass_hat(samples: OfCriteria, repeat: int) -> list[dict[str, Any]]:
    """pass^k over every (case, criterion) with at least k graded samples: how likely k samples in a row all pass.

    Each has `k`, `rate` (None where no case has so many graded samples) and `n`, the number of those that it is over.
    """
    units = [s for of_case in samples.values() for s in of_case.values()]
    found = []
    for k in sorted({*(k for k in _SHOWN if k <= repeat), repeat}):
        known = [pass_hat_k(s.graded, s.passed, k) for s in units if s.graded >= k]
        rate = float(sum(known, Fraction(0)) / len(known)) if known else None
        found.append({"k": k, "rate": rate, "n": len(known)})
    return found
