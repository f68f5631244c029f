"""Which judges of a run nobody measured: told at the end of every run with a judge, so little is loaded for it."""

from __future__ import annotations

from pathlib import Path

from pytest_verica.calibration.finding import file_of
from pytest_verica.calibration.judged import JudgedRun, judges_of
from pytest_verica.calibration.recorded_labels import COLUMN
from pytest_verica.errors import VericaError
from pytest_verica.report.summary import RunSummary
from pytest_verica.run import CaseRecord
from pytest_verica.store.journal import scan_journal

NEVER = "was never calibrated"
CHANGED = "changed since it was calibrated"


def uncalibrated_judges(root: Path, summary: RunSummary) -> list[str]:
    """Lines about the judges of an ordinary run that nobody measured, or that changed since. What cannot be read is
    said too: it is no measurement."""
    lines = []
    for found in summary.evals.values():
        record = found.record
        judges = [c for c in judges_of(record) if c.id in found.totals.criteria and found.totals.criteria[c.id].graded]
        if not judges:
            continue
        try:
            acts = file_of(root, JudgedRun(summary.header, record, judges[0], ())).acts()
        except VericaError as error:
            lines.append(f"judges not calibrated: {error}")
            continue
        states: dict[str, list[str]] = {}
        for judge in judges:
            own = [act for act in acts if (act.eval, act.criterion) == (record.id, judge.id)]
            if not own and not _has_column(summary.journal, record.id, {COLUMN + judge.id, COLUMN + judge.name}):
                states.setdefault(NEVER, []).append(judge.name)
            elif own and all(act.judge_hash not in (None, judge.judge_hash) for act in own):
                states.setdefault(CHANGED, []).append(judge.name)
        lines += [
            f"{record.name}: {_judges(names)} {state}; to measure: verica label {record.name}"
            for state, names in states.items()
        ]
    return lines


def _judges(names: list[str]) -> str:
    return f"judge {names[0]}" if len(names) == 1 else f"each of the judges {', '.join(names)}"


def _has_column(journal: Path, eval_id: str, names: set[str]) -> bool:
    """Whether the golden set holds labels of its own."""
    for _, record in scan_journal(journal):
        if isinstance(record, CaseRecord) and record.eval == eval_id:
            return bool(names & record.columns.keys())
    return False
