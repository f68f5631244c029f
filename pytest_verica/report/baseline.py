"""A run held against an earlier one: the same (case, criterion) then and now, as pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_verica.canonical import content_hash
from pytest_verica.errors import StoreError
from pytest_verica.report.json_report import report_cases
from pytest_verica.report.samples import Samples
from pytest_verica.report.saved import SavedRun, find_run
from pytest_verica.report.summary import RunSummary
from pytest_verica.stats.paired import Pairs


@dataclass(frozen=True)
class Comparison:
    """What an eval's verdicts are against those of the baseline.

    run: the baseline, as people name it; pairs: by id of the criterion, `first` being the baseline, over what is
    graded on both sides; regressions: `case::criterion` of each that passed then and fails now, in the golden set's
    order; changed: criteria whose content is another now, which are not compared; absent: those that the baseline has
    not; cases: those with the same content on both sides, of all `of` cases now.
    """

    run: str
    pairs: Mapping[str, Pairs]
    regressions: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    cases: int = 0
    of: int = 0

    @property
    def total(self) -> Pairs:
        every = self.pairs.values()
        return Pairs(
            sum(pairs.both for pairs in every),
            sum(pairs.first_only for pairs in every),
            sum(pairs.second_only for pairs in every),
            sum(pairs.neither for pairs in every),
        )


@dataclass(frozen=True)
class BaselineFacts:
    """What is known of a baseline before anything runs; it crosses to xdist's workers. run: as people name it; evals:
    by id: {name, criteria: id → {hash, passed}}."""

    run: str
    evals: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, eval_id: str, name: str) -> Mapping[str, Any] | None:
        """What it knows of an eval: by its id, else by its name, since files move."""
        found = self.evals.get(eval_id)
        return found or next((each for each in self.evals.values() if each["name"] == name), None)

    def passed(self, known: Mapping[str, Any], hashes: Mapping[str, str]) -> dict[str, int]:
        """Verdicts that passed then, of the criteria (id → hash of now) that are the same now: at most so many can
        become worse."""
        return {
            criterion: known["criteria"][criterion]["passed"]
            for criterion, now in hashes.items()
            if criterion in known["criteria"] and known["criteria"][criterion]["hash"] == now
        }


class Baseline:
    """A kept run that others are held against."""

    def __init__(self, run: SavedRun) -> None:
        self._run = run

    @classmethod
    def find(cls, root: Path, name: str) -> Baseline:
        """The run of that name (as `verica show` takes it) or path.

        Raises:
            StoreError: there is none, it cannot be read, or it was killed.
        """
        run = find_run(root, name)
        if run.status == "incomplete":
            raise StoreError(f"the run {run.name} was killed before it ended: choose a whole one (`verica runs`)")
        return cls(run)

    @property
    def name(self) -> str:
        return self._run.name if self._run.number is None else f"{self._run.name} ({self._run.id})"

    def facts(self) -> BaselineFacts:
        evals = {}
        for found in self._run.head["evals"]:
            passed = found["totals"]["criteria"]
            evals[found["id"]] = {
                "name": found["name"],
                "criteria": {
                    criterion["id"]: {
                        "hash": criterion["hash"],
                        "passed": passed.get(criterion["id"], {}).get("pass", 0),
                    }
                    for criterion in found["criteria"]
                },
            }
        return BaselineFacts(self.name, evals)

    def compare(self, summary: RunSummary, eval_id: str, *, min_passes: int | None = None) -> Comparison:
        """An eval of a run against this one. min_passes: of the samples of a case, for it to count as passed; more
        than half of the graded ones where None, or where the earlier run took another number of samples.

        Raises:
            StoreError: one of the two cannot be read.
        """
        record = summary.evals[eval_id].record
        before = self._run.eval(eval_id) or next(
            (found for found in self._run.head["evals"] if found["name"] == record.name), None
        )
        if before is None:
            return Comparison(self.name, {}, absent=tuple(criterion.id for criterion in record.criteria))
        hashes = {criterion["id"]: criterion["hash"] for criterion in before["criteria"]}
        same = [criterion.id for criterion in record.criteria if hashes.get(criterion.id) == criterion.hash]
        by_content = before["golden_set"]["hash"] != record.golden_set_hash
        then = _Verdicts(self._run.cases(before["id"]), by_content)
        now = _Verdicts(report_cases(summary, eval_id), by_content)
        common = [case for case, content in now.content.items() if then.content.get(case, ...) == content]
        # So many passes of so many samples mean the same on both sides only where the samples are as many.
        rule = min_passes if before["repeat"] == record.repeat else None
        pairs, worse = _paired(then, now, common, same, rule)
        return Comparison(
            self.name,
            pairs,
            worse,
            tuple(c.id for c in record.criteria if c.id in hashes and c.id not in same),
            tuple(c.id for c in record.criteria if c.id not in hashes),
            len(common),
            len(now.content),
        )


class _Verdicts:
    """The outcomes of an eval. by_content: whether cases are the same only where their columns are, and not where
    their ids are alone; content: by case, None where it is not looked at."""

    def __init__(self, cases: Iterable[Mapping[str, Any]], by_content: bool) -> None:
        self.content: dict[str, str | None] = {}
        self._samples: dict[tuple[str, str], Samples] = {}
        for case in cases:
            name = case["id"]
            self.content[name] = content_hash(case["columns"]) if by_content else None
            for grade in case["grades"]:
                key = (name, grade["criterion"])
                self._samples[key] = self._samples.get(key, Samples()).adding(grade["outcome"])

    def passed(self, case: str, criterion: str, min_passes: int | None) -> bool | None:
        """None where nothing was graded."""
        samples = self._samples.get((case, criterion))
        outcome = None if samples is None else samples.outcome(min_passes)
        return {"pass": True, "fail": False}.get(str(outcome))


def _paired(
    then: _Verdicts, now: _Verdicts, cases: list[str], criteria: list[str], min_passes: int | None
) -> tuple[dict[str, Pairs], tuple[str, ...]]:
    counted = {criterion: {True: [0, 0], False: [0, 0]} for criterion in criteria}
    worse = []
    for case in cases:
        for criterion in criteria:
            before, after = then.passed(case, criterion, min_passes), now.passed(case, criterion, min_passes)
            if before is None or after is None:
                continue
            counted[criterion][before][after] += 1
            if before and not after:
                worse.append(f"{case}::{criterion}")
    pairs = {
        criterion: Pairs(both=c[True][True], first_only=c[True][False], second_only=c[False][True], neither=c[False][0])
        for criterion, c in counted.items()
    }
    return pairs, tuple(worse)
