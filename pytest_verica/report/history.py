"""Earlier runs of an eval: what they reached, and the one whose verdicts still hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_verica.errors import StoreError
from pytest_verica.report.saved import SavedRun, saved_runs
from pytest_verica.run import EvalRecord
from pytest_verica.store.versions import Used, Versions

MEAN_OF = 5
_MOST_LOOKED_AT = 100
"""Runs that are looked at, newest first."""


@dataclass(frozen=True)
class Earlier:
    """Whole runs of an eval before this one. run, passed, graded: of the last; mean: of the last five rates, or of as
    many as there are; runs: how many that is."""

    run: str
    passed: int
    graded: int
    mean: float
    runs: int

    def to_json(self) -> dict[str, Any]:
        return {
            "last": {
                "run": self.run,
                "passed": self.passed,
                "graded": self.graded,
                "rate": self.passed / self.graded,
            },
            "mean": {"rate": self.mean, "runs": self.runs},
        }


class History:
    """The runs kept under a rootdir that ended before a run began. run_id: of that run."""

    def __init__(self, root: Path, run_id: str) -> None:
        self._root = root
        self._run_id = run_id
        self._runs: list[SavedRun] | None = None
        self._versions = Versions(root)

    def placed(self, record: EvalRecord) -> EvalRecord:
        """The record with its versions and its history.

        Raises:
            StoreError: versions cannot be kept.
        """
        earlier = self.earlier(record.id, record.name)
        record = replace(record, history=None if earlier is None else earlier.to_json())
        prompt = [] if record.prompt_hash is None else [Used(record.name, "prompt", record.prompt_hash)]
        of_criteria = {c.id: Used(record.name, f"criterion:{c.id}", c.hash) for c in record.criteria}
        versions = self._versions.of([*prompt, *of_criteria.values()])
        return replace(
            record,
            prompt_version=versions.get(prompt[0]) if prompt else None,
            criteria=tuple(replace(c, version=versions.get(of_criteria[c.id])) for c in record.criteria),
        )

    def earlier(self, eval_id: str, name: str) -> Earlier | None:
        """What whole runs of an eval reached; runs of other verdicts than those of an earlier one, so that a run that
        was taken over does not count twice. None where there is none."""
        found = []
        for run, of_eval in self._of(eval_id, name):
            totals = of_eval["totals"]
            if totals["graded"] and totals["reused"] < totals["ran"]:
                found.append((run, totals))
            if len(found) == MEAN_OF:
                break
        if not found:
            return None
        run, last = found[0]
        mean = sum(totals["pass"] / totals["graded"] for _, totals in found) / len(found)
        return Earlier(run.id, last["pass"], last["graded"], mean, len(found))

    def unchanged(self, eval_id: str, name: str, identity: str) -> SavedRun | None:
        """The last whole run of this very eval that passed, None where there is none."""
        for run, of_eval in self._of(eval_id, name):
            if of_eval.get("identity") == identity and _passed(of_eval):
                return run
        return None

    def _of(self, eval_id: str, name: str) -> Iterator[tuple[SavedRun, Mapping[str, Any]]]:
        """Newest first: the runs in which all of the eval ran."""
        for run in self._newest_first():
            head = run.head
            if head["run"]["finished"] is None or head["run"]["shard"] or "sample" in head["run"]["settings"]:
                continue
            for found in head["evals"]:
                whole = found["planned"] == found["selected"] == found["totals"]["ran"] > 0
                if whole and (found["id"] == eval_id or found["name"] == name):
                    yield run, found
                    break

    def _newest_first(self) -> Iterator[SavedRun]:
        if self._runs is None:
            # By number where they have one: ids of one second sort by chance.
            others = sorted(saved_runs(self._root), key=lambda run: (run.number or 0, run.id), reverse=True)
            ended = (run for run in others if run.id != self._run_id and _has_ended(run))
            self._runs = list(islice(ended, _MOST_LOOKED_AT))
        for run in self._runs:
            try:
                run.head  # noqa: B018 - read now, so that one that cannot be read is passed over
            except StoreError:
                continue
            yield run


def _has_ended(run: SavedRun) -> bool:
    """Whether its head was written: a run that was killed, or runs still, would have to be read whole for it."""
    return run.path.with_name("head.json").is_file()


def _passed(of_eval: Mapping[str, Any]) -> bool:
    gate, totals = of_eval["gate"], of_eval["totals"]
    if gate is not None and gate["status"] is not None:
        return bool(gate["status"] == "passed")
    return bool(totals["graded"] and not totals["fail"] and not totals["error"])
