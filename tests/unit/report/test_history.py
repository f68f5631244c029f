"""Earlier runs of an eval: which count, in which order, and which one's verdicts still hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.report.history import Earlier, History
from pytest_verica.report.saved import keep_head
from pytest_verica.report.summary import read_run
from pytest_verica.run import GateRecord, GateResult, Record
from pytest_verica.store.folder import RunFolder
from tests.unit.report.journals import END, EVAL, HEADER, case, eval_record, verdict, write


def kept(
    root: Path,
    run_id: str,
    outcomes: str = "PF",
    *,
    header: dict[str, Any] | None = None,
    taken_from: str | None = None,
    ended: bool = True,
    status: str | None = "passed",
    **record: Any,
) -> str:
    """A run of one criterion over as many cases as outcomes, kept under a rootdir."""
    folder = RunFolder.create(root, run_id)
    number = len(outcomes)
    given = {"criteria": ["tone"], "planned": number, "selected": number, **record}
    records: list[Record] = [replace(HEADER, id=run_id, **(header or {})), eval_record(**given)]
    for index, letter in enumerate(outcomes, 1):
        outcome = {"P": "pass", "F": "fail", "N": "na", "E": "error"}[letter]
        of = given.get("name", EVAL)
        records += [case(index, eval=of), verdict(index, "tone", outcome, eval=of, taken_from=taken_from)]
    if status is not None:
        records.append(GateRecord(EVAL, GateResult(status)))  # type: ignore[arg-type]
    write(folder.journal, [*records, *([END] if ended else [])])
    if ended:
        keep_head(read_run(folder.journal))
    return run_id


def earlier(root: Path) -> Earlier | None:
    return History(root, "20261231-000000-0000").earlier(EVAL, "refunds")


def test_nothing_before(tmp_path: Path) -> None:
    assert earlier(tmp_path) is None


def test_the_last_and_the_mean_of_five(tmp_path: Path) -> None:
    for day, outcomes in enumerate(["FF", "PP", "PF", "PP", "PF", "FP", "PPPF"], 1):
        kept(tmp_path, f"2026120{day}-000000-0000", outcomes)
    found = earlier(tmp_path)
    # The last five rates: 1/2, 1, 1/2, 1/2, 3/4.
    assert found == Earlier("20261207-000000-0000", 3, 4, pytest.approx(3.25 / 5), 5)


@pytest.mark.parametrize(
    "more",
    [
        {"selected": 1},  # a part
        {"planned": 3, "selected": 3},  # stopped half way
        {"header": {"shard": "1/2"}},
        {"header": {"settings": {"sample": (2, "command line")}}},
        {"ended": False},
        {"taken_from": "20261201-000000-0000"},  # no new evidence
        {"outcomes": "NN"},  # no rate
    ],
    ids=str,
)
def test_what_does_not_count(tmp_path: Path, more: dict[str, Any]) -> None:
    first = kept(tmp_path, "20261201-000000-0000", "PP")
    kept(tmp_path, "20261202-000000-0000", **{"outcomes": "FF", **more})
    assert earlier(tmp_path) == Earlier(first, 2, 2, 1.0, 1)


def test_an_eval_that_moved_is_known_by_its_name(tmp_path: Path) -> None:
    kept(tmp_path, "20261201-000000-0000", "PP")
    moved = kept(tmp_path, "20261202-000000-0000", "FF", name="moved.eval.yaml")
    assert earlier(tmp_path) == Earlier(moved, 0, 2, 0.5, 2)


def test_the_run_itself_and_damaged_ones_are_passed_over(tmp_path: Path) -> None:
    first = kept(tmp_path, "20261201-000000-0000", "PP")
    second = kept(tmp_path, "20261202-000000-0000", "FF")
    third = kept(tmp_path, "20261203-000000-0000", "FF")
    (RunFolder(tmp_path, second).path / "head.json").write_text("{}")
    RunFolder(tmp_path, second).journal.write_text("no record\nat all\n")
    assert History(tmp_path, third).earlier(EVAL, "refunds") == Earlier(first, 2, 2, 1.0, 1)


@pytest.mark.parametrize(
    ("more", "holds"),
    [
        ({}, True),
        ({"status": "failed"}, False),
        ({"status": "skipped"}, False),
        ({"status": None}, False),  # not judged, and one of two failed
        ({"identity": "other"}, False),
        ({"identity": None}, False),
        ({"selected": 1}, False),
    ],
    ids=str,
)
def test_what_can_be_taken_over(tmp_path: Path, more: dict[str, Any], holds: bool) -> None:
    kept(tmp_path, "20261201-000000-0000", **{"identity": "same", **more})
    found = History(tmp_path, "20261231-000000-0000").unchanged(EVAL, "refunds", "same")
    assert (found is not None) == holds


@pytest.mark.parametrize(
    ("outcomes", "holds"), [("PP", True), ("PN", True), ("PF", False), ("PE", False), ("NN", False)]
)
def test_without_a_gate_every_verdict_must_have_passed(tmp_path: Path, outcomes: str, holds: bool) -> None:
    kept(tmp_path, "20261201-000000-0000", outcomes, status=None, gate=None, identity="same")
    record = History(tmp_path, "20261231-000000-0000").unchanged(EVAL, "refunds", "same")
    assert (record is not None) == holds
