"""`--verica-reuse`: the verdicts of an eval unchanged since it passed are taken over, and nothing of it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_verica.engine.grading import CaseResult
from pytest_verica.engine.plan import Eval
from pytest_verica.errors import StoreError
from pytest_verica.grade import Grade
from pytest_verica.output import Output
from pytest_verica.plugin.ticket import Ticket
from pytest_verica.report.history import History
from pytest_verica.report.saved import SavedRun

Place = tuple[str, int]
"""A case and its sample."""


class Reuse:
    """One per process that runs items. identity: of an eval, None where it cannot be known; prices: hash of the price
    tables in force."""

    def __init__(
        self, root: Path, run_id: str, identity: Callable[[Eval], str | None], prices: Callable[[], str | None]
    ) -> None:
        self._history = History(root, run_id)
        self._identity = identity
        self._prices = prices
        self._found: dict[str, _Source | None] = {}

    def taken(self, ticket: Ticket) -> CaseResult | None:
        """What the earlier run says of a sample of a case, None where it has to be run."""
        source = self._source(ticket.eval)
        return None if source is None else source.result(ticket)

    def covers(self, ready: Eval) -> bool:
        """Whether there is an earlier run to take verdicts from."""
        return self._source(ready) is not None

    def told(self, ready: Eval) -> dict[str, Any] | None:
        """What the eval's record says of it, None where nothing is taken over."""
        source = self._source(ready)
        if source is None:
            return None
        before = source.run.head["run"].get("prices")
        return {"run": source.made_in, "prices_changed": before != self._prices()}

    def _source(self, ready: Eval) -> _Source | None:
        if ready.id not in self._found:
            identity = self._identity(ready)
            run = None if identity is None else self._history.unchanged(ready.id, ready.config.name, identity)
            self._found[ready.id] = None if run is None else _Source.of(run, ready)
        return self._found[ready.id]


class _Source:
    """The verdicts of one eval of a kept run."""

    def __init__(self, run: SavedRun, eval_id: str) -> None:
        self.run = run
        self._eval_id = eval_id
        self._cases: Iterator[Mapping[str, Any]] = run.cases(eval_id)
        self._kept: dict[Place, Mapping[str, Any]] | None = None

    @classmethod
    def of(cls, run: SavedRun, ready: Eval) -> _Source | None:
        """None where the run has the eval no more."""
        found = next(
            (each for each in run.head["evals"] if ready.id == each["id"] or ready.config.name == each["name"]), None
        )
        return None if found is None else cls(run, found["id"])

    @property
    def made_in(self) -> str:
        """The run that made the verdicts: the kept one may have taken them over itself."""
        found = self.run.eval(self._eval_id) or {}
        return str((found.get("reused_from") or {}).get("run") or self.run.id)

    def result(self, ticket: Ticket) -> CaseResult | None:
        """None where the run has not all of it, or has not what was asked for."""
        try:
            case = self._case((ticket.case.id, ticket.sample))
            return None if case is None else _result_of(case, self.run.id, ticket)
        except (StoreError, KeyError, TypeError, ValueError):
            return None  # damaged, or of another version: then it runs

    def _case(self, place: Place) -> Mapping[str, Any] | None:
        # Cases come in the golden set's order, and are mostly asked for in that order: none is kept in memory then.
        if self._kept is None:
            for case in self._cases:
                if (case["id"], case["sample"]) == place:
                    return case
            self._kept = {(case["id"], case["sample"]): case for case in self.run.cases(self._eval_id)}
        return self._kept.get(place)


def _result_of(case: Mapping[str, Any], run_id: str, ticket: Ticket) -> CaseResult | None:
    grades: dict[str, Grade] = {}
    taken_from: dict[str, str] = {}
    for shown in case["grades"]:
        # What could not be judged then is tried again; what the author skipped is decided anew.
        if shown["outcome"] == "error" or (shown["outcome"] == "na" and case["output"] is None):
            return None
        grades[shown["criterion"]] = Grade.from_json(_unspent(shown))
        taken_from[shown["criterion"]] = shown["reused_from"] or run_id
    if case["output"] is None or {criterion.id for criterion in ticket.eval.criteria} - grades.keys():
        return None
    output = replace(Output.from_json(_unspent(case["output"])), reused=True)
    return CaseResult(output, None, grades, taken_from=taken_from)


def _unspent(data: Mapping[str, Any]) -> dict[str, Any]:
    """A saved output or grade as one that costs nothing now: what it cost then is avoided, its calls are not made."""
    paid, avoided = data["cost"], data["cost_avoided"]
    unknown = paid is None or avoided is None
    return {
        **data,
        "cost": "0",
        "cost_avoided": None if unknown else str(Decimal(repr(paid)) + Decimal(repr(avoided))),
        "usage": None,
        "unpriced": [],
        "calls": 0,
        "retries": 0,
        "reused_calls": data["calls"] - data["retries"] + data["reused_calls"],
        "reused": True,
    }
