"""Saved runs: listed, found, read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.report import saved
from pytest_verica.report.json_report import write_report
from pytest_verica.report.saved import find_run, keep_head, list_runs, saved_runs
from pytest_verica.run import GateRecord, GateResult, RunEnd, RunHeader
from pytest_verica.store.folder import RunFolder
from tests.unit.report.journals import EVAL, case, eval_record, judged, verdict, write

IDS = ("20261201-101530-4f2a", "20261201-101530-77aa", "20261202-080000-0001")


def records(run_id: str, *, exit_code: int | None = 1) -> list[Any]:
    """Two cases, three passed verdicts and a failed one; without an exit code, killed."""
    found = [
        RunHeader(run_id, "2026-12-01T10:15:30Z"),
        eval_record(planned=4, selected=4),
        *[case(n) for n in (1, 2)],
        *[verdict(n, "amount", "pass") for n in (1, 2)],
        verdict(1, "tone", "pass", **judged()),
        verdict(2, "tone", "fail", **judged()),
    ]
    if exit_code is not None:
        found += [GateRecord(EVAL, GateResult("failed", ("3 of 4",))), RunEnd("2026-12-01T10:16:30Z", exit_code)]
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A failed run, one that was killed, one that passed."""
    for run_id, exit_code in zip(IDS, (1, None, 0), strict=True):
        write(RunFolder.create(tmp_path, run_id).journal, records(run_id, exit_code=exit_code))
    return tmp_path


def test_runs_are_listed_newest_first_with_what_they_say(root: Path) -> None:
    found = list(list_runs(root))
    assert [listed.run.id for listed in found] == list(reversed(IDS))
    assert [listed.run.name for listed in found] == ["#0003", "#0002", "#0001"]
    assert [listed.run.status for listed in found] == ["passed", "incomplete", "failed"]
    assert [listed.head["totals"]["rate"] for listed in found if listed.head] == [0.75] * 3


def test_where_nothing_was_run_nothing_is_listed(tmp_path: Path) -> None:
    assert list(list_runs(tmp_path)) == []
    with pytest.raises(StoreError, match="run `pytest --verica` first"):
        find_run(tmp_path, "last")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("last", IDS[2]),
        ("1", IDS[0]),
        ("#0002", IDS[1]),
        ("0003", IDS[2]),
        ("20261202", IDS[2]),  # no run has that number
        ("20261201-101530-7", IDS[1]),
        (IDS[0], IDS[0]),
        (f".verica/runs/{IDS[1]}", IDS[1]),
        (f".verica/runs/{IDS[1]}/journal.jsonl", IDS[1]),
    ],
)
def test_a_run_is_found_by_what_people_call_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, expected: str
) -> None:
    monkeypatch.chdir(root)
    run = find_run(root, name)
    assert run.id == expected
    assert run.head["run"]["id"] == expected


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("20261201", r"2 runs begin with '20261201': #0002 \(20261201-101530-77aa\), #0001 .*write more of the id"),
        ("20261201-101530-4f2b", "did you mean 20261201-101530-4f2a"),
        ("#9", r"no run '#9' under .*There are: #0003 \(20261202-080000-0001\), .*verica runs"),
        ("", "no run ''"),
    ],
)
def test_a_name_of_no_run_or_of_several_is_said(root: Path, name: str, says: str) -> None:
    with pytest.raises(StoreError, match=says):
        find_run(root, name)


def test_a_report_reads_as_its_journal_does(root: Path, tmp_path: Path) -> None:
    run = find_run(root, "#1")
    path = tmp_path / "elsewhere" / "report.json"
    write_report(run.path, path)
    report = find_run(root, str(path))
    assert (report.id, report.number, report.status) == (run.id, None, "failed")
    assert report.head == run.head
    cases = list(run.cases(EVAL))
    assert list(report.cases(EVAL)) == cases == json.loads(path.read_text())["evals"][0]["cases"]
    assert [grade["outcome"] for grade in cases[1]["grades"]] == ["pass", "fail"]
    assert list(run.cases("other")) == list(report.cases("other")) == []
    with pytest.raises(StoreError, match=r"needs the run's journal\.jsonl"):
        _ = report.summary


@pytest.mark.parametrize(
    "text", ["[]", "{}", "not json", '{"schema_version": 99, "run": {"id": "x"}, "evals": []}', "\xff"]
)
def test_a_file_that_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(StoreError, match="report"):
        find_run(tmp_path, str(path))


def test_a_killed_run_is_read_as_far_as_it_came(root: Path) -> None:
    journal = RunFolder(root, IDS[1]).journal
    whole = journal.read_bytes()
    for size in (len(whole) - 3, len(whole) // 2):
        journal.write_bytes(whole[:size])
        run = find_run(root, IDS[1])
        assert run.status == "incomplete"
        assert run.head["totals"]["ran"] == sum(len(found["grades"]) for found in run.cases(EVAL)) < 4


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"rubbish\nrubbish\n", None])
def test_a_run_that_cannot_be_read_stays_in_the_list(root: Path, damage: bytes | None) -> None:
    journal = RunFolder(root, IDS[1]).journal
    journal.unlink() if damage is None else journal.write_bytes(damage)
    first, second, third = list_runs(root)
    assert first.problem is third.problem is second.head is None
    assert second.problem and IDS[1] in second.problem


def test_a_list_reads_no_journal_twice(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heads = [listed.head for listed in list_runs(root)]
    monkeypatch.setattr(saved, "read_run", lambda path: pytest.fail(f"read {path} again"))
    assert [listed.head for listed in list_runs(root)] == heads


def test_a_journal_that_grew_is_read_again(root: Path) -> None:
    assert find_run(root, "#2").status == "incomplete"
    with RunFolder(root, IDS[1]).journal.open("a") as file:
        file.write(RunEnd("2026-12-01T10:17:30Z", 2).to_line() + "\n")
    assert find_run(root, "#2").status == "interrupted"


@pytest.mark.parametrize("kept", ["", "[]", "{", '{"journal_bytes": 1, "head": {}}'])
def test_a_damaged_copy_is_made_again(root: Path, kept: str) -> None:
    run = find_run(root, "#1")
    head = run.head
    run.path.with_name("head.json").write_text(kept)
    assert find_run(root, "#1").head == head
    assert json.loads(run.path.with_name("head.json").read_text())["head"] == head


def test_a_copy_that_cannot_be_written_is_no_matter(root: Path) -> None:
    run = find_run(root, "#1")
    run.path.with_name("head.json").mkdir()
    keep_head(run.summary)
    assert run.status == "failed"
    assert not list(run.path.parent.glob(".head*"))


def test_runs_are_named_by_their_number(root: Path) -> None:
    assert [(run.name, run.id) for run in saved_runs(root)] == [(f"#000{n}", IDS[n - 1]) for n in (1, 2, 3)]
