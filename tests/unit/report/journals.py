"""Small runs written as journals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_verica.grade import Grade
from pytest_verica.output import Output
from pytest_verica.run import CaseRecord, CriterionRecord, EvalRecord, Record, RunEnd, RunHeader, VerdictRecord
from pytest_verica.store.journal import JournalWriter
from pytest_verica.usage import Usage

EVAL = "evals/refunds.eval.yaml"
HEADER = RunHeader("20261201-101530-4f2a", "2026-12-01T10:15:30Z", settings={"concurrency": (64, "command line")})
END = RunEnd("2026-12-01T10:16:30Z", 1)
REPORTED = {"pass": "passed", "fail": "failed", "na": "skipped", "error": "error"}


def write(path: Path, records: Iterable[Record]) -> Path:
    writer = JournalWriter(path)
    for record in records:
        writer.append(record.to_line())
    writer.close()
    return path


def eval_record(name: str = EVAL, criteria: Iterable[str] = ("amount", "tone"), **more: Any) -> EvalRecord:
    kept = tuple(CriterionRecord(item, item, "text_check", {"name": item}, "c" * 64, 1) for item in criteria)
    data: dict[str, Any] = {"planned": 6, "selected": 6, "rows": 3, "gate": {"pass_rate": 0.9}, **more}
    return EvalRecord(name, "refunds", "evals/refunds.eval.yaml", "file", kept, **data)


def case(
    number: int,
    *,
    sample: int = 0,
    cost: str | None = "0.01",
    eval: str = EVAL,
    columns: Mapping[str, Any] | None = None,
    **more: Any,
) -> CaseRecord:
    """A case whose output was bought."""
    data: dict[str, Any] = {"usage": Usage(100, 20), "latency_s": number / 10, "calls": 1, **more}
    output = Output(f"answer {number}", cost=None if cost is None else Decimal(cost), **data)
    name = f"row-{number:04}"
    return CaseRecord(eval, name, name, number - 1, sample, columns or {"n": number}, output.to_json())


def verdict(
    number: int,
    criterion: str,
    outcome: str,
    *,
    sample: int = 0,
    eval: str = EVAL,
    reported: Any = None,
    taken_from: str | None = None,
    **more: Any,
) -> VerdictRecord:
    grade = {
        "pass": lambda: Grade.of(True, "found", **more),
        "fail": lambda: Grade.of(False, "not found", **more),
        "na": lambda: Grade.na("blank", **more),
        "error": lambda: Grade.failed_to_judge("refusal", "the judge refused", **more),
    }[outcome]()
    name = f"row-{number:04}"
    node = f"{eval}::{name}::{criterion}"
    return VerdictRecord(
        eval, name, criterion, sample, node, grade.to_json(), reported or REPORTED[outcome], taken_from
    )


def judged(cost: str | None = "0.002", **more: Any) -> dict[str, Any]:
    """Keys of a grade that asked a model."""
    amount = None if cost is None else Decimal(cost)
    unpriced = ("openai/new",) if cost is None else ()
    return {"cost": amount, "usage": Usage(50, 10), "calls": 1, "unpriced": unpriced, **more}


def reused(avoided: str | None = "0.002", **more: Any) -> dict[str, Any]:
    """Keys of an output or grade whose answer came from the store."""
    amount = None if avoided is None else Decimal(avoided)
    return {"cost": Decimal(0), "cost_avoided": amount, "reused": True, "reused_calls": 1, "calls": 0, **more}
