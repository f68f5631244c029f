"""The records of what this process runs: each eval and each case once, then every verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.canonical import content_hash
from pytest_verica.engine.grading import CaseResult
from pytest_verica.engine.plan import Eval
from pytest_verica.evals.prompt import prompt_json
from pytest_verica.grade import Grade, GradeError
from pytest_verica.plugin.evals import Evals
from pytest_verica.plugin.ticket import Ticket
from pytest_verica.request import ModelSpec
from pytest_verica.run import CaseRecord, CriterionRecord, EvalRecord, Record, Reported, VerdictRecord

if TYPE_CHECKING:
    from pytest_verica.plugin.reuse import Reuse

BENCH = pytest.StashKey[Callable[[], "list[Record | str]"]]()
"""On a test with the `verica` fixture: gives the records of its verdicts, for the test's own report."""


class Recording:
    """Makes records; where they go is another's business. as_lines: they have to cross to another process."""

    def __init__(self, evals: Evals, *, as_lines: bool, reuse: Reuse | None = None) -> None:
        self._evals = evals
        self._reuse = reuse
        self._as_lines = as_lines
        self._selected: dict[str, int] = {}
        self._unplanned: dict[str, int] = {}
        self._first: list[Record] = []
        self._evals_written: set[str] = set()
        self._cases_written: dict[tuple[str, str, int], None] = {}  # no set: of 20,000 it takes three times the room

    def begin_with(self, record: Record) -> None:
        """A record that stands before those of the verdicts."""
        self._first.append(record)

    def select(self, selected: dict[str, int]) -> None:
        """Told how many verdicts of each eval were selected in the whole run."""
        self._selected = selected

    def expect(self, eval_id: str, verdicts: int) -> None:
        """Told of an eval that has exactly these verdicts: a test that grades by itself."""
        self._unplanned[eval_id] = self._selected[eval_id] = verdicts

    def selected(self, ready: Eval) -> int:
        return self._selected.get(ready.id, 0)

    def forget_case(self, ticket: Ticket) -> None:
        """The case is produced anew: its new output is written too."""
        self._cases_written.pop(ticket.key, None)

    def records(
        self, node_id: str, ticket: Ticket, grade: Grade, told: Reported, result: CaseResult | None
    ) -> list[Record | str]:
        """The record of one verdict, after those of its eval and its case where they were not made yet."""
        records, self._first = self._first, []
        ready, case = ticket.eval, ticket.case
        if ready.id not in self._evals_written:
            self._evals_written.add(ready.id)
            records.append(self._eval_record(ready))
        if result is not None and ticket.key not in self._cases_written:
            self._cases_written[ticket.key] = None
            records.append(_case_record(ticket, result))
        records.append(
            VerdictRecord(
                ready.id,
                case.id,
                ticket.criterion.id,
                ticket.sample,
                node_id,
                grade.to_json(),
                told,
                None if result is None else result.taken_from.get(ticket.criterion.id),
            )
        )
        return [record.to_line() for record in records] if self._as_lines else [*records]

    def _eval_record(self, ready: Eval) -> EvalRecord:
        config, model = ready.config, ready.model
        prompt = None if config.prompt is None else prompt_json(config.prompt)
        planned = self._unplanned.get(ready.id) or self._evals.planned(ready)
        selected = self.selected(ready)
        whole = self._evals.knows_whole(ready)
        code = self._evals.code_of(ready)
        return EvalRecord(
            id=ready.id,
            name=config.name,
            file=ready.id.partition("::")[0],
            kind="function" if ready.function else "file",
            criteria=tuple(
                CriterionRecord(
                    c.id,
                    c.name,
                    c.kind.name,
                    c.config.model_dump(mode="json", by_alias=True, exclude_defaults=True),
                    c.version_hash,
                    None,
                    c.judge_hash,
                    code.criteria[c.id],
                )
                for c in ready.criteria
            ),
            planned=planned,
            selected=selected,
            golden_set=ready.golden.path,
            golden_set_hash=ready.golden.snapshot_hash if whole else None,
            rows=len(ready.golden) if whole else None,
            prompt=prompt,
            prompt_hash=None if prompt is None else content_hash(prompt),
            model=_model(model),
            params={} if model is None else dict(model.params),
            gate=None if config.gate is None else config.gate.model_dump(),
            repeat=config.repeat,
            left_out=ready.left_out,
            partial=None if selected == planned else f"{selected} of {planned} verdicts were selected",
            code_hash=code.target,
            identity=code.identity,
            reused_from=None if self._reuse is None else self._reuse.told(ready),
        )


def _model(model: ModelSpec | None) -> dict[str, Any] | None:
    if model is None:
        return None
    spoken = {} if model.api is None else {"api": model.api}
    return {"provider": model.provider, "name": model.name, "base_url": model.base_url, **spoken}


def _case_record(ticket: Ticket, result: CaseResult) -> CaseRecord:
    case, error = ticket.case, result.target_error
    return CaseRecord(
        eval=ticket.eval.id,
        case=case.id,
        original_id=case.original_id,
        position=case.position,
        sample=ticket.sample,
        columns=case.columns,
        output=None if result.output is None else result.output.to_json(),
        error=None if error is None else _error_json(error, result.calls_in_vain),
    )


def _error_json(error: GradeError, calls: int) -> dict[str, Any]:
    return {"kind": error.kind, "message": error.message, "raw": error.raw, "calls": calls}
