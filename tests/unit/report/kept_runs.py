"""Small runs under a rootdir, as the commands about saved runs find them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_verica.run import GateRecord, GateResult, Origin, Record, RunEnd, RunHeader
from pytest_verica.store.folder import RunFolder
from tests.unit.report.journals import EVAL, case, eval_record, judged, verdict, write

FIRST, SECOND, THIRD = "20261201-101530-4f2a", "20261201-120000-77aa", "20261202-080000-0001"
MODEL = {"provider": "openai", "name": "gpt-5-mini", "base_url": None}


def header(run_id: str, **more: Any) -> RunHeader:
    started = f"{run_id[:4]}-{run_id[4:6]}-{run_id[6:8]}T{run_id[9:11]}:{run_id[11:13]}:{run_id[13:15]}Z"
    return RunHeader(run_id, started, command=("pytest", "--verica"), **more)


def refunds(run_id: str, tones: Iterable[str] = ("pass", "fail", "na"), *, exit_code: int | None = 1) -> list[Record]:
    """A gated eval of three cases: `amount` passes on each, `tone` has these outcomes; the second fails as a miss.
    exit_code: None for a run that was killed."""
    ended = "2026-12-01T10:16:30Z"
    outcomes = list(tones)
    origin = Origin("ci", "GitHub Actions", "https://ci.example/shop/actions/runs/1287")
    found: list[Record] = [
        header(run_id, origin=origin if run_id == SECOND else Origin()),
        eval_record(planned=6, selected=6, model=MODEL, params={"temperature": 0}),
        *[case(n) for n in (1, 2, 3)],
        *[verdict(n, "amount", "pass") for n in (1, 2, 3)],
    ]
    for n, outcome in enumerate(outcomes, 1):
        told = {"fail": "missed"}.get(outcome)
        found.append(verdict(n, "tone", outcome, reported=told, reasoning="it blames the customer", **judged()))
    if exit_code is not None:
        result = GateResult("failed" if exit_code else "passed", ("4 of 5 passed (80 %), 90 % wanted",))
        found += [GateRecord(EVAL, result), RunEnd(ended, exit_code)]
    return found


def keep(root: Path, run_id: str, records: Iterable[Record]) -> Path:
    """Its journal, under the rootdir."""
    return write(RunFolder.create(root, run_id).journal, records)


def keep_three(root: Path) -> None:
    """A failed run, a killed one of a CI, and one that passed."""
    keep(root, FIRST, refunds(FIRST))
    keep(root, SECOND, refunds(SECOND, exit_code=None))
    keep(root, THIRD, refunds(THIRD, ("pass", "pass", "na"), exit_code=0))
