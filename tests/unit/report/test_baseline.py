"""A run against an earlier one, from journals and from reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.report.baseline import Baseline
from pytest_verica.report.json_report import write_report
from pytest_verica.report.summary import read_run
from pytest_verica.run import EvalRecord, Record
from pytest_verica.stats.paired import Pairs
from tests.unit.report.journals import END, EVAL, HEADER, case, eval_record, verdict, write

THEN = {1: ("pass", "pass"), 2: ("pass", "fail"), 3: ("fail", "fail"), 4: ("error", "na")}
NOW = {1: ("fail", "pass"), 2: ("pass", "pass"), 3: ("pass", "fail"), 4: ("pass", "pass")}


def _journal(
    folder: Path, outcomes: dict[int, tuple[str, str]], columns: dict[int, Any] | None = None, **more: Any
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    record = eval_record(planned=8, selected=8, **{"golden_set_hash": "g", **more})
    return write(folder / "journal.jsonl", [HEADER, *_records(record, outcomes, columns or {}), END])


def _records(record: EvalRecord, outcomes: dict[int, tuple[str, str]], columns: dict[int, Any]) -> list[Record]:
    records: list[Record] = [record]
    for number, (amount, tone) in outcomes.items():
        records += [
            case(number, columns=columns.get(number), eval=record.id),
            verdict(number, "amount", amount, eval=record.id),
            verdict(number, "tone", tone, eval=record.id),
        ]
    return records


@pytest.mark.parametrize("kind", ["journal", "folder", "report"])
def test_pairs_by_hand(tmp_path: Path, kind: str) -> None:
    journal = _journal(tmp_path / "then", THEN)
    write_report(journal, tmp_path / "baseline.json")
    path = {"journal": journal, "folder": journal.parent, "report": tmp_path / "baseline.json"}[kind]
    found = Baseline.find(tmp_path, str(path)).compare(read_run(_journal(tmp_path / "now", NOW)), EVAL)
    assert found.pairs == {"amount": Pairs(1, 1, 1, 0), "tone": Pairs(1, 0, 1, 1)}
    assert found.regressions == ("row-0001::amount",)
    assert found.total == Pairs(2, 1, 2, 1)
    assert (found.cases, found.of, found.changed, found.absent) == (4, 4, (), ())


def test_of_another_golden_set_only_the_same_cases(tmp_path: Path) -> None:
    then = _journal(tmp_path / "then", THEN)
    columns = {1: {"n": 1, "more": "x"}}
    now = _journal(tmp_path / "now", {**NOW, 5: ("fail", "fail")}, columns, golden_set_hash="other")
    found = Baseline.find(tmp_path, str(then)).compare(read_run(now), EVAL)
    assert (found.cases, found.of) == (3, 5)
    assert found.regressions == () and found.pairs["amount"] == Pairs(1, 0, 1, 0)


def test_a_changed_criterion_is_not_compared(tmp_path: Path) -> None:
    then = _journal(tmp_path / "then", THEN)
    record = eval_record(planned=8, selected=8, golden_set_hash="g")
    first, second = record.criteria
    now = replace(record, criteria=(replace(first, hash="d" * 64), second))
    found = Baseline.find(tmp_path, str(then)).compare(
        read_run(write(tmp_path / "now.jsonl", [HEADER, *_records(now, NOW, {}), END])), EVAL
    )
    assert found.changed == ("amount",) and list(found.pairs) == ["tone"]


def test_an_eval_that_moved_is_found_by_its_name(tmp_path: Path) -> None:
    then = _journal(tmp_path / "then", THEN)
    now = _journal(tmp_path / "now", NOW, name="moved/refunds.eval.yaml")
    found = Baseline.find(tmp_path, str(then)).compare(read_run(now), "moved/refunds.eval.yaml")
    assert found.total.n == 6


def test_facts_before_anything_runs(tmp_path: Path) -> None:
    facts = Baseline.find(tmp_path, str(_journal(tmp_path / "then", THEN))).facts()
    known = facts.of("moved.eval.yaml", "refunds")
    assert known is not None and facts.of("moved.eval.yaml", "another") is None
    assert facts.passed(known, {"amount": "c" * 64, "tone": "c" * 64}) == {"amount": 2, "tone": 1}
    assert facts.passed(known, {"amount": "d" * 64, "new": "c" * 64}) == {}


def test_a_killed_run_is_no_baseline(tmp_path: Path) -> None:
    journal = write(tmp_path / "journal.jsonl", [HEADER, *_records(eval_record(), THEN, {})])
    with pytest.raises(StoreError, match="was killed before it ended"):
        Baseline.find(tmp_path, str(journal))


def test_samples_together(tmp_path: Path) -> None:
    """Of three samples: two passes are more than half; under a rule of three they are not."""

    def run(name: str, outcomes: str, repeat: int = 3) -> Path:
        record = eval_record(criteria=["tone"], repeat=repeat, planned=3, selected=3, golden_set_hash="g")
        records: list[Record] = [HEADER, record]
        for sample, letter in enumerate(outcomes):
            outcome = {"P": "pass", "F": "fail"}[letter]
            records += [case(1, sample=sample), verdict(1, "tone", outcome, sample=sample)]
        folder = tmp_path / name
        folder.mkdir()
        return write(folder / "journal.jsonl", [*records, END])

    then, now = run("then", "PPP"), read_run(run("now", "PPF"))
    baseline = Baseline.find(tmp_path, str(then))
    assert baseline.compare(now, EVAL).total == Pairs(both=1)
    assert baseline.compare(now, EVAL, min_passes=3).total == Pairs(first_only=1)
    # Once sampled, the earlier run cannot have passed three times: then more than half counts on both sides.
    once = Baseline.find(tmp_path, str(run("once", "P", repeat=1)))
    assert once.compare(now, EVAL, min_passes=3).total == Pairs(both=1)
