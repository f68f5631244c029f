"""Shards of one run, written as journals by hand: joined, or refused with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_verica.errors import StoreError
from pytest_verica.report.json_report import write_report
from pytest_verica.report.saved import SavedRun
from pytest_verica.report.schema import report_schema
from pytest_verica.report.shards import Merged, merge, shards_of
from pytest_verica.run import GateRecord, GateResult, Git, Record, RunEnd, RunHeader, VerdictRecord
from tests.unit.report.journals import EVAL, case, eval_record, judged, verdict, write

IDS = ("20261201-101530-000a", "20261201-101531-000b", "20261201-101532-000c")
Change = Callable[[list[Record]], Iterable[Record]]


def part(number: int, cases: Iterable[int], *, count: int = 2, exit_code: int = 0, **more: Any) -> list[Record]:
    """A shard of an eval of four rows and two criteria; `tone` fails on the second row. more: of the eval's record."""
    held = list(cases)
    planned = {"planned": 2 * len(held), "selected": 2 * len(held), "rows": 4, "golden_set_hash": "g" * 64, **more}
    records: list[Record] = [
        RunHeader(IDS[number - 1], f"2026-12-01T10:15:3{number}Z", shard=f"{number}/{count}"),
        eval_record(**planned),
    ]
    for n in held:
        told = {"outcome": "fail", "reported": "missed"} if n == 2 else {"outcome": "pass"}
        records += [case(n), verdict(n, "amount", "pass"), verdict(n, "tone", **told, **judged())]
    skipped = GateResult("skipped", (f"shard {number} of {count}: its gate is judged when the shards are merged",))
    return [*records, GateRecord(EVAL, skipped), RunEnd(f"2026-12-01T10:16:3{number}Z", exit_code)]


def kept(folder: Path, *parts: Iterable[Record]) -> list[SavedRun]:
    runs = []
    for number, records in enumerate(parts):
        path = folder / f"shard{number}" / "journal.jsonl"
        path.parent.mkdir()
        found = list(records)
        header = found[0]
        assert isinstance(header, RunHeader)
        runs.append(SavedRun(header.id, write(path, found)))
    return runs


def merged(folder: Path, *parts: Iterable[Record]) -> Merged:
    root = folder / "root"
    root.mkdir()
    return merge(shards_of(kept(folder, *parts)), root)


def test_two_shards_are_the_run(tmp_path: Path) -> None:
    found = merged(tmp_path, part(2, [2, 4]), part(1, [1, 3]))  # in any order
    whole = [*part(1, [1, 2, 3, 4], planned=8, selected=8)]
    alone = write(tmp_path / "whole.jsonl", [replace(whole[0], shard=None), *whole[1:]])
    reports = []
    for journal, gates in ((found.run.path, {}), (alone, {EVAL: found.summary.gates[EVAL]})):
        path = tmp_path / f"{journal.stem}.json"
        write_report(journal, path, gates)
        reports.append(json.loads(path.read_text()))
    ours, theirs = reports
    jsonschema.Draft202012Validator(report_schema()).validate(ours)
    for each in reports:
        del each["run"]
    assert ours == theirs
    # 7 of 8 passed is 87.5 %, under the gate's 90 %.
    assert (found.exit_code, ours["evals"][0]["gate"]["status"]) == (1, "failed")
    header = found.summary.header
    assert (header.shard, header.started) == (None, "2026-12-01T10:15:31Z")
    assert header.settings["merged"] == ([IDS[0], IDS[1]], "verica merge")
    assert json.loads(found.report.read_text())["run"]["finished"] == "2026-12-01T10:16:32Z"


@pytest.mark.parametrize(("exits", "gate", "code"), [((0, 0), 0.8, 0), ((0, 0), 0.9, 1), ((1, 0), 0.8, 1)])
def test_exit_code_is_never_lowered(tmp_path: Path, exits: tuple[int, int], gate: float, code: int) -> None:
    more = {"gate": {"pass_rate": gate}}
    found = merged(
        tmp_path,
        part(1, [1, 3], exit_code=exits[0], **more),
        part(2, [2, 4], exit_code=exits[1], **more),
    )
    assert found.exit_code == code


HELD = {"pass_rate": 0.1, "baseline": {"max_regressions": 0}}


@pytest.mark.parametrize(
    ("told", "asked", "status", "said"),
    [
        (None, "then", "failed", "1 of 8 pairs passed in"),
        ("then", None, "failed", "1 of 8 pairs passed in"),
        ("none", None, "passed", "held against no earlier run"),
        ("then", "none", "passed", "held against no earlier run"),
        (None, None, "failed", "its `baseline` cannot be judged"),
        ("last", None, "failed", "its `baseline` cannot be judged"),
    ],
)
def test_a_baseline_is_for_the_whole_run(
    tmp_path: Path, told: str | None, asked: str | None, status: str, said: str
) -> None:
    """All eight passed then; `tone` of the second row fails now."""
    then = [part(1, [1, 2, 3, 4], planned=8, selected=8)]
    better = [
        verdict(2, "tone", "pass")
        if isinstance(record, VerdictRecord) and record.case == "row-0002" and record.criterion == "tone"
        else record
        for record in then[0]
    ]
    path = write(tmp_path / "journal.jsonl", [replace(better[0], shard=None), *better[1:]])  # type: ignore[call-arg]
    names = {"then": str(path)}
    setting = {} if told is None else {"baseline": (names.get(told, told), "ini")}
    shards = [
        [replace(records[0], settings=setting), *records[1:]]  # type: ignore[call-arg]
        for records in (part(1, [1, 3], gate=HELD), part(2, [2, 4], gate=HELD))
    ]
    (tmp_path / "root").mkdir()
    given = None if asked is None else names.get(asked, asked)
    found = merge(shards_of(kept(tmp_path, *shards)), tmp_path / "root", baseline=given)
    gate = found.summary.gates[EVAL]
    assert gate.status == status and said in gate.reasons[-1]


def test_the_gate_over_the_whole_run_is_judged(tmp_path: Path) -> None:
    setting = {"gate": (0.95, "command line")}
    first, second = (
        [replace(records[0], settings=setting), *records[1:]]  # type: ignore[call-arg]
        for records in (part(1, [1, 3], gate=None), part(2, [2, 4], gate=None))
    )
    found = merged(tmp_path, first, second)
    assert found.summary.gates["verica"].reasons == ("7 of 8 passed (87.5 %), 95 % wanted",)
    assert found.exit_code == 1


def test_a_selection_in_a_shard_is_no_whole_eval(tmp_path: Path) -> None:
    gate = {"pass_rate": 0.5}
    found = merged(tmp_path, part(1, [1, 3], gate=gate), part(2, [4], planned=4, selected=2, gate=gate))
    assert found.summary.gates[EVAL].reasons == ("6 of 8 verdicts ran",)
    assert found.exit_code == 1


def test_an_eval_that_is_in_one_shard_only(tmp_path: Path) -> None:
    """Its golden set has a row for the other shard too: the part that is not there keeps the gate from passing."""
    found = merged(tmp_path, part(1, [1, 3]), [*part(2, [2, 4])[:1], RunEnd("2026-12-01T10:16:32Z", 0)])
    gate = found.summary.gates[EVAL]
    assert (gate.status, gate.reasons) == ("skipped", ("4 of 8 verdicts ran",))
    assert found.exit_code == 1


def test_nothing_graded_anywhere_is_not_green(tmp_path: Path) -> None:
    def blank(number: int, row: int) -> list[Record]:
        records = part(number, [], gate=None, planned=1, selected=1, rows=2, criteria=("tone",))
        return [*records[:2], case(row), verdict(row, "tone", "na"), records[-1]]

    found = merged(tmp_path, blank(1, 1), blank(2, 2))
    assert found.summary.gates[EVAL].reasons == ("nothing was graded: 2 not applicable, 0 errors",)
    assert found.exit_code == 1


def at(place: int, **changes: Any) -> Change:
    def change(records: list[Record]) -> list[Record]:
        records[place] = replace(records[place], **changes)  # type: ignore[type-var]
        return records

    return change


REFUSED: dict[str, tuple[list[list[Record]], Change, str]] = {
    "no shard": ([part(1, [1, 3])], at(0, shard=None), "000b is no shard"),
    "killed": ([part(1, [1, 3])], lambda records: records[:-1], "(shard 2/2) was killed before it ended"),
    "stopped": ([part(1, [1, 3])], at(-1, interrupted="stopping after 1 failures"), "stopped early"),
    "same part": ([part(1, [1, 3]), part(2, [2, 4])], at(0, id=IDS[2]), "are the same part of the run"),
    "overlap": ([part(1, [1, 2, 3])], lambda records: records, f"overlap: both have the case row-0002 of {EVAL}"),
    "a shard is missing": ([], lambda records: records, "the shards 1/2 are missing"),
    "another count": ([part(1, [1, 3], count=3)], lambda records: records, "different numbers of shards"),
    "another golden set": ([part(1, [1, 3])], at(1, golden_set_hash="h" * 64), "not the same golden_set_hash"),
    "another gate": ([part(1, [1, 3])], at(1, gate={"pass_rate": 0.1}), "not the same gate"),
    "another prompt": ([part(1, [1, 3])], at(1, prompt_hash="p" * 64), "not the same prompt_hash"),
    "another model": ([part(1, [1, 3])], at(1, model={"provider": "x", "name": "y"}), "not the same model"),
    "another option": ([part(1, [1, 3])], at(0, settings={"sample": (4, "ini")}), "sample is None and 4"),
    "another commit": (
        [[replace(part(1, [1, 3])[0], git=Git("a" * 40)), *part(1, [1, 3])[1:]]],  # type: ignore[call-arg]
        at(0, git=Git("b" * 40)),
        "different commits",
    ),
}


@pytest.mark.parametrize(("others", "change", "said"), REFUSED.values(), ids=list(REFUSED))
def test_what_is_not_one_run_is_refused(tmp_path: Path, others: list[list[Record]], change: Change, said: str) -> None:
    with pytest.raises(StoreError) as raised:
        shards_of(kept(tmp_path, *others, change(part(2, [2, 4]))))
    assert said in str(raised.value)


def test_concurrency_and_paths_may_differ(tmp_path: Path) -> None:
    first, second = part(1, [1, 3]), part(2, [2, 4])
    own = {"concurrency": (4, "ini"), "report": ("here.json", "command line")}
    found = merged(tmp_path, first, [replace(second[0], settings=own), *second[1:]])  # type: ignore[call-arg]
    assert found.summary.overall.counts.ran == 8


@pytest.mark.parametrize(("most", "named", "code"), [(0, True, 1), (1, True, 0), (1, False, 1)])
def test_a_gate_with_a_baseline_needs_it_named(tmp_path: Path, most: int, named: bool, code: int) -> None:
    """On the second row `tone` passed then and fails now: one regression."""
    gate = {"pass_rate": 0.5, "baseline": {"max_regressions": most}}
    (tmp_path / "earlier").mkdir()
    then = [
        verdict(2, "tone", "pass", **judged())
        if isinstance(each, VerdictRecord) and each.reported == "missed"
        else each
        for each in part(1, [1, 2, 3, 4], planned=8, selected=8)
    ]
    (earlier,) = kept(tmp_path / "earlier", then)
    root = tmp_path / "root"
    root.mkdir()
    shards = shards_of(kept(tmp_path, part(1, [1, 3], gate=gate), part(2, [2, 4], gate=gate)))
    found = merge(shards, root, baseline=str(earlier.path) if named else None)
    assert found.exit_code == code, found.summary.gates
