"""Two runs, compared: each criterion's rates over the same cases, their paired difference, and what flipped."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.compare.changes import Change, changes, run_changes, same_criteria
from pytest_verica.compare.pairing import Paired, paired_cases
from pytest_verica.errors import StoreError
from pytest_verica.report.samples import Samples
from pytest_verica.report.saved import SavedRun
from pytest_verica.stats.mcnemar import mcnemar_exact
from pytest_verica.stats.paired import Difference, Pairs, mean_difference, paired_difference


@dataclass(frozen=True)
class Flip:
    """A verdict that is another in B. fixed: it failed in A and passes in B; else it broke. With several samples, what
    more than half of them say."""

    case: str
    criterion: str
    fixed: bool

    def to_json(self) -> dict[str, Any]:
        return {"case": self.case, "criterion": self.criterion, "fixed": self.fixed}


@dataclass(frozen=True)
class Line:
    """A criterion over the cases that both runs graded.

    rate_a, rate_b: over these cases, None where there is none; over all criteria the mean of the cases' own rates;
    cases: how many; pairs: verdicts by outcome in A and in B; difference: B minus A with its interval, None where
    nothing is paired; p: exact McNemar, two-sided, None over all criteria: verdicts on one output go together;
    ungraded: common cases that were not graded (N/A, error, not run) on one side or both.
    """

    criterion: str
    rate_a: float | None
    rate_b: float | None
    cases: int
    pairs: Pairs
    difference: Difference | None
    p: float | None
    ungraded: int

    def to_json(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "rate_a": self.rate_a,
            "rate_b": self.rate_b,
            "cases": self.cases,
            "pairs": vars(self.pairs),
            "difference": None if self.difference is None else self.difference.to_json(),
            "p": self.p,
            "ungraded": self.ungraded,
        }


@dataclass(frozen=True)
class EvalComparison:
    """An eval in two runs. a, b: its heads; paired: its cases; lines: by criterion that is the same in both, then one
    over all of them, where there are several, with `criterion` empty; flips: in the order of B; changed: what differs.
    """

    name: str
    a: Mapping[str, Any]
    b: Mapping[str, Any]
    paired: Paired
    lines: tuple[Line, ...]
    flips: tuple[Flip, ...]
    changed: tuple[Change, ...]

    def to_json(self) -> dict[str, Any]:
        paired = self.paired
        return {
            "name": self.name,
            "a": self.a["id"],
            "b": self.b["id"],
            "cases": {
                "comparable": len(paired.common),
                "changed": list(paired.changed),
                "only_a": list(paired.only_a),
                "only_b": list(paired.only_b),
            },
            "criteria": [line.to_json() for line in self.lines],
            "flips": [flip.to_json() for flip in self.flips],
            "cost": {"a": self.a["cost"], "b": self.b["cost"]},
            "latency": {"a": self.a["latency"], "b": self.b["latency"]},
            "changed": [change.to_json() for change in self.changed],
        }


@dataclass(frozen=True)
class RunComparison:
    """Two runs. evals: those that both have; only_a, only_b: names of the others; changed: what differs beside them."""

    a: SavedRun
    b: SavedRun
    evals: tuple[EvalComparison, ...]
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    changed: tuple[Change, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "a": self.a.id,
            "b": self.b.id,
            "evals": [each.to_json() for each in self.evals],
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "changed": [change.to_json() for change in self.changed],
        }


def compare_runs(a: SavedRun, b: SavedRun, *, eval_name: str | None = None, on: Collection[str] = ()) -> RunComparison:
    """Holds B against A. eval_name: this eval alone, by name or id; on: columns that make a case the same, all where
    empty (`paired_cases`).

    Raises:
        StoreError: a run cannot be read, they have no eval in common, or an eval has no comparable case: its golden
            set is another.
    """
    matched, only_a, only_b = _matched(a, b, eval_name)
    compared = tuple(_eval(a, b, of_a, of_b, on) for of_a, of_b in matched)
    return RunComparison(a, b, compared, only_a, only_b, run_changes(a.head, b.head))


def _matched(
    a: SavedRun, b: SavedRun, wanted: str | None
) -> tuple[list[tuple[Mapping[str, Any], Mapping[str, Any]]], tuple[str, ...], tuple[str, ...]]:
    """The evals of both by id, else by name, since files move; and the names of those that one has."""
    left = [found for found in a.head["evals"] if wanted in (None, found["name"], found["id"])]
    pairs, alone = [], []
    for of_b in b.head["evals"]:
        if wanted not in (None, of_b["name"], of_b["id"]):
            continue
        keys = ("id", "name")
        of_a = next((found for key in keys for found in left if found[key] == of_b[key]), None)
        if of_a is None:
            alone.append(of_b["name"])
        else:
            left.remove(of_a)
            pairs.append((of_a, of_b))
    if not pairs:
        names = [", ".join(found["name"] for found in run.head["evals"]) or "none" for run in (a, b)]
        wish = "" if wanted is None else f" named {wanted!r}"
        near = difflib.get_close_matches(wanted or "", names[1].split(", "), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise StoreError(
            f"{a.name} and {b.name} have no eval{wish} in common: A has {names[0]}, B has {names[1]}{hint}"
        )
    return pairs, tuple(found["name"] for found in left), tuple(alone)


def _eval(
    a: SavedRun, b: SavedRun, of_a: Mapping[str, Any], of_b: Mapping[str, Any], on: Collection[str]
) -> EvalComparison:
    paired = paired_cases(a, b, of_a, of_b, on)
    if not paired.common:
        raise StoreError(
            f"{of_b['name']}: the golden sets of {a.name} and {b.name} have no case in common: "
            f"{len(paired.changed)} have the same id and other columns, {len(paired.only_a)} are only in A, "
            f"{len(paired.only_b)} only in B. Run both on one golden set, or name the columns that make a case the "
            "same with --on COLUMN"
        )
    same = same_criteria(of_a, of_b)
    repeated = of_a["repeat"] > 1 or of_b["repeat"] > 1
    lines = [_line(paired, name, repeated) for name in same]
    if len(same) > 1:
        lines.append(_overall(paired, same))
    return EvalComparison(of_b["name"], of_a, of_b, paired, tuple(lines), _flips(paired, same), changes(of_a, of_b))


def _both(paired: Paired, case: str, criterion: str) -> tuple[Samples, Samples] | None:
    """The samples on both sides; None where one has none graded."""
    one, other = (side[case].samples.get(criterion, Samples()) for side in (paired.a, paired.b))
    return (one, other) if one.graded and other.graded else None


def _line(paired: Paired, criterion: str, repeated: bool) -> Line:
    graded = [found for case in paired.common if (found := _both(paired, case, criterion)) is not None]
    pairs = _counted([(_passes(one), _passes(other)) for one, other in graded])
    before, after = ([_share(samples) for samples in side] for side in (list(zip(*graded, strict=True)) or [(), ()]))
    if repeated:
        difference = mean_difference([late - early for early, late in zip(before, after, strict=True)])
    else:
        difference = paired_difference(pairs)
    p = mcnemar_exact(pairs.first_only, pairs.second_only) if graded else None
    cases = len(graded)
    return Line(criterion, _mean(before), _mean(after), cases, pairs, difference, p, len(paired.common) - cases)


def _overall(paired: Paired, criteria: Collection[str]) -> Line:
    """All criteria together: the case is the unit, since the verdicts on one output go together."""
    before, after = [], []
    flipped: list[tuple[bool, bool]] = []
    for case in paired.common:
        graded = [found for name in criteria if (found := _both(paired, case, name)) is not None]
        if graded:
            before.append(sum(_share(one) for one, _ in graded) / len(graded))
            after.append(sum(_share(other) for _, other in graded) / len(graded))
            flipped += [(_passes(one), _passes(other)) for one, other in graded]
    difference = mean_difference([late - early for early, late in zip(before, after, strict=True)])
    ungraded = len(paired.common) - len(before)
    return Line("", _mean(before), _mean(after), len(before), _counted(flipped), difference, None, ungraded)


def _counted(outcomes: list[tuple[bool, bool]]) -> Pairs:
    return Pairs(
        outcomes.count((True, True)),
        outcomes.count((True, False)),
        outcomes.count((False, True)),
        outcomes.count((False, False)),
    )


def _flips(paired: Paired, criteria: Collection[str]) -> tuple[Flip, ...]:
    found = []
    for case in paired.common:
        for name in criteria:
            both = _both(paired, case, name)
            if both is not None and _passes(both[0]) != _passes(both[1]):
                found.append(Flip(case, name, _passes(both[1])))
    return tuple(found)


def _passes(samples: Samples) -> bool:
    return samples.outcome(None) == "pass"


def _share(samples: Samples) -> float:
    return samples.passed / samples.graded


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
