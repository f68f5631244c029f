"""The JSON report: its shape, its truth to the journal, and how it is written."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_verica.errors import StoreError
from pytest_verica.report.json_report import write_report
from pytest_verica.report.schema import report_schema
from pytest_verica.report.summary import read_run
from pytest_verica.run import RUN_GATE, CaseRecord, GateRecord, GateResult, Git, Origin, Record, RunHeader
from tests.unit.report.journals import END, EVAL, HEADER, case, eval_record, judged, reused, verdict, write

SCHEMA = jsonschema.Draft202012Validator(report_schema())
FAILED = GateResult("failed", ("3 of 4 passed (75 %), 90 % wanted",), {"passed": 3})
OTHER = "tests/test_bot.py::test_refund"

RUN: list[Record] = [
    RunHeader(
        "20261201-101530-4f2a",
        "2026-12-01T10:15:30Z",
        Origin("ci", "GitHub Actions", "https://ci.example/1"),
        ("pytest", "--verica"),
        {"pytest": "9.2.0"},
        {"cpus": 2},
        Git("abc", True),
        {"concurrency": (64, "command line")},
    ),
    eval_record(
        prompt={"user": "{{ question }}"},
        prompt_hash="p" * 64,
        prompt_version=3,
        model={"provider": "openai", "name": "m", "base_url": None},
        params={"temperature": 0},
        golden_set="golden/refunds.csv",
        golden_set_hash="g" * 64,
    ),
    case(1, columns={"question": "</script>\ud800 ¿? \u2028", "n": [1, {"a": None}]}, tool_calls=()),
    verdict(1, "amount", "pass", score=0.5, label="ok", details={"cost": "7", "shown": [1]}),
    verdict(1, "tone", "pass", **judged("0.000000123456789012345678")),
    case(2, **reused("0.04") | {"cost": "0"}),
    verdict(2, "amount", "fail", reported="missed", taken_from="20261101-000000-0000"),
    verdict(2, "tone", "error", reported="errored", **judged(None)),
    CaseRecord(EVAL, "row-0003", "ro::w 3", 2, 0, {}, None, {"kind": "timeout", "message": "late", "raw": None}),
    verdict(3, "amount", "na", evaluated=False),
    eval_record(OTHER, ["tone"], gate=None),
    case(1, eval=OTHER),
    case(1, eval=OTHER, sample=1),
    verdict(1, "tone", "pass", eval=OTHER),
    verdict(9, "tone", "error", eval=OTHER),  # its case was lost in a crash
    GateRecord(EVAL, FAILED),
    END,
]


def _report(folder: Path, records: list[Record], gates: Mapping[str, GateResult] | None = None) -> dict[str, Any]:
    out = folder / "report.json"
    write_report(write(folder / "journal.jsonl", records), out, gates)
    (folder / "journal.jsonl").unlink()

    def never(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    data: dict[str, Any] = json.loads(out.read_text(encoding="ascii"), parse_constant=never)
    SCHEMA.validate(data)
    return data


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(report_schema())


def test_the_whole_report(tmp_path: Path) -> None:
    data = _report(tmp_path, RUN)
    assert data["schema_version"] == 1
    assert data["run"]["finished"] == "2026-12-01T10:16:30Z" and data["run"]["exit_code"] == 1
    assert data["run"]["settings"] == {"concurrency": {"value": 64, "source": "command line"}}
    assert data["run"]["git"] == {"commit": "abc", "dirty": True}
    refunds, other = data["evals"]
    assert refunds["golden_set"] == {"path": "golden/refunds.csv", "hash": "g" * 64, "rows": 3}
    assert refunds["prompt"] == {"content": {"user": "{{ question }}"}, "hash": "p" * 64, "version": 3}
    assert [criterion["id"] for criterion in refunds["criteria"]] == ["amount", "tone"]
    assert refunds["gate"] == {"config": {"pass_rate": 0.9}, **FAILED.to_json()}
    assert (other["gate"], data["gate"], other["prompt"]) == (None, None, None)
    totals = refunds["totals"]
    assert {name: totals[name] for name in ("pass", "fail", "na", "error", "graded", "ran")} == {
        "pass": 2, "fail": 1, "na": 1, "error": 1, "graded": 3, "ran": 5,
    }  # fmt: skip
    assert totals["rate"] == 2 / 3
    assert totals["interval"]["method"] == "wilson"
    assert refunds["cost"]["unpriced_models"] == ["openai/new"]
    # 0.01 bought, 0.04 of then: 0.05 / 2.
    assert (refunds["cost"]["sampling"], refunds["cost"]["per_case_net"]) == (0.01, 0.025)
    assert data["totals"]["ran"] == 7


def test_cases_and_grades(tmp_path: Path) -> None:
    refunds, other = _report(tmp_path, RUN)["evals"]
    first, second, third = refunds["cases"]
    assert first["columns"] == {"question": "</script>\ud800 ¿? \u2028", "n": [1, {"a": None}]}
    assert first["output"]["text"] == "answer 1" and first["output"]["cost"] == 0.01
    assert [grade["criterion"] for grade in first["grades"]] == ["amount", "tone"]
    assert first["grades"][0]["details"] == {"cost": "7", "shown": [1]}
    assert first["grades"][1]["cost"] == 1.2345678901234568e-07  # the journal has all the digits
    assert second["output"]["cost_avoided"] == 0.04
    assert second["grades"][0]["reused_from"] == "20261101-000000-0000"
    assert second["grades"][1]["cost"] is None and second["grades"][1]["reported"] == "errored"
    assert third["original_id"] == "ro::w 3" and third["output"] is None and third["error"]["kind"] == "timeout"
    assert [(item["id"], item["sample"]) for item in other["cases"]] == [
        ("row-0001", 0), ("row-0001", 1), ("row-0009", 0),
    ]  # fmt: skip
    assert other["cases"][2]["error"]["kind"] == "lost" and other["cases"][2]["position"] is None
    assert [grade["outcome"] for grade in other["cases"][2]["grades"]] == ["error"]


def test_a_number_shows_fifteen_digits_exactly(tmp_path: Path) -> None:
    text = "0.000123456789012345"
    write_report(
        write(tmp_path / "journal.jsonl", [HEADER, eval_record(), case(1, cost=text), END]), tmp_path / "report.json"
    )
    data = json.loads((tmp_path / "report.json").read_text(), parse_float=Decimal)
    assert data["evals"][0]["cost"]["sampling"] == data["evals"][0]["cases"][0]["output"]["cost"] == Decimal(text)


def test_interleaved_lines_give_the_same_bytes(tmp_path: Path) -> None:
    straight = write(tmp_path / "straight.jsonl", RUN)
    write_report(straight, tmp_path / "straight.json")
    shuffle = random.Random(7)
    for turn in range(5):
        mixed = [record for record in RUN if not isinstance(record, (type(RUN[1]), RunHeader))]
        shuffle.shuffle(mixed)
        evals = [record for record in RUN if isinstance(record, type(RUN[1]))]
        path = write(tmp_path / f"mixed-{turn}.jsonl", [RUN[0], *evals, *mixed])
        write_report(path, tmp_path / "mixed.json")
        assert (tmp_path / "mixed.json").read_bytes() == (tmp_path / "straight.json").read_bytes()


def test_lines_far_apart_are_found(tmp_path: Path) -> None:
    """More than the reader takes in one go stands between a case and its verdicts."""
    count = 200
    cases: list[Record] = [case(number, columns={"x": "y" * 1000}) for number in range(1, count + 1)]
    verdicts: list[Record] = [verdict(number, "tone", "pass") for number in range(count, 0, -1)]
    (summary,) = _report(tmp_path, [HEADER, eval_record(), *cases, *verdicts, END])["evals"]
    assert [item["id"] for item in summary["cases"]] == [f"row-{number:04}" for number in range(1, count + 1)]
    assert all(item["grades"][0]["node_id"].endswith(f"{item['id']}::tone") for item in summary["cases"])


def test_a_rerun_shows_once_the_last(tmp_path: Path) -> None:
    (summary,) = _report(
        tmp_path,
        [HEADER, eval_record(), case(1), verdict(1, "tone", "fail"), case(1, cost="0.5"), verdict(1, "tone", "pass")],
    )["evals"]
    (item,) = summary["cases"]
    assert item["output"]["cost"] == 0.5
    assert [grade["outcome"] for grade in item["grades"]] == ["pass"]


GATES = [
    (None, "failed", None),
    ({EVAL: GateResult("passed", ("fine",)), RUN_GATE: FAILED}, "passed", "failed"),
]


@pytest.mark.parametrize(("gates", "status", "run_status"), GATES)
def test_gates_given_stand_before_those_of_the_journal(
    tmp_path: Path, gates: dict[str, GateResult] | None, status: str, run_status: str | None
) -> None:
    data = _report(tmp_path, RUN, gates)
    assert data["evals"][0]["gate"]["status"] == status
    assert (data["gate"] and data["gate"]["status"]) == run_status


@pytest.mark.parametrize("keep", [1, 2, 5, 9, len(RUN) - 1])
def test_the_report_of_a_killed_run(tmp_path: Path, keep: int) -> None:
    data = _report(tmp_path, RUN[:keep])
    assert data["run"]["finished"] is None and data["run"]["interrupted"] == "the run was killed"
    if 1 < keep < len(RUN) - 1:
        assert data["evals"][0]["gate"]["status"] is None


def test_it_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "sub" / "report.json"
    journal = write(tmp_path / "journal.jsonl", RUN)
    write_report(journal, out)
    before = out.read_bytes()
    summary = read_run(journal)
    os.truncate(journal, 3000)  # so that writing fails half way
    with pytest.raises(StoreError, match="cannot write the report"):
        write_report(journal, out, summary=summary)
    assert out.read_bytes() == before
    assert [entry.name for entry in out.parent.iterdir()] == ["report.json"]


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write the report"):
        write_report(write(tmp_path / "journal.jsonl", RUN), tmp_path / "journal.jsonl" / "report.json")


def test_memory_does_not_grow_with_the_outputs(tmp_path: Path) -> None:
    """20 MB of outputs, in a fraction of it: a few lines at a time."""
    record = case(1, columns={"x": "y" * 200_000})
    cases = [CaseRecord(EVAL, str(number), "", number, 0, record.columns, record.output) for number in range(100)]
    path = write(tmp_path / "journal.jsonl", [HEADER, eval_record(), *cases, END])
    assert path.stat().st_size > 20_000_000
    del cases, record
    tracemalloc.start()
    write_report(path, tmp_path / "report.json")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (tmp_path / "report.json").stat().st_size > 20_000_000
    assert peak < 1_500_000
