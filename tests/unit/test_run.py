"""The records of a run, and their lines."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from pytest_verica.grade import Grade
from pytest_verica.output import Output, ToolCall
from pytest_verica.run import (
    CaseRecord,
    CriterionRecord,
    EvalRecord,
    GateRecord,
    GateResult,
    Git,
    Origin,
    Record,
    RunEnd,
    RunHeader,
    VerdictRecord,
    from_line,
    shown_of,
)
from pytest_verica.usage import Usage

CRITERION = CriterionRecord("tone", "tone", "label_model", {"name": "tone", "labels": ["ok"]}, "c" * 64, 2, "j" * 64)
OUTPUT = Output(
    'hola \ud800 ,"shown":{}',
    (ToolCall("look", {"a": 1}, '{"a": 1}', "call_1"),),
    usage=Usage(10, 5),
    cost=Decimal("0.000000123456789012345678"),
    latency_s=0.25,
    calls=1,
    model="m",
)
GRADE = Grade.of(True, "found", score=0.5, details={"cost": "7", "shown": {"x": 1}}, cost=None, unpriced=("p/m",))

RECORDS: list[Record] = [
    RunHeader(
        "20261201-101530-4f2a",
        "2026-12-01T10:15:30Z",
        Origin("ci", "GitHub Actions", "https://ci.example/1"),
        ("pytest", "--verica"),
        {"pytest": "9.2.0"},
        {"system": "Linux", "cpus": 2},
        Git("abc", True),
        {"concurrency": (64, "command line")},
        "2/5",
    ),
    RunHeader("id", "2026-12-01T10:15:30Z"),
    EvalRecord("e", "e", "e.eval.yaml", "file", (CRITERION,), 60, 12, gate={"pass_rate": 0.9}, partial="-k tone"),
    CaseRecord("e", "row-0001", "a::b", 0, 2, {"question": "¿?", "n": 1}, OUTPUT.to_json()),
    CaseRecord("e", "row-0002", "row-0002", 1, 0, {}, None, {"kind": "timeout", "message": "late", "raw": None}),
    VerdictRecord("e", "row-0001", "tone", 2, "e::row-0001::tone", GRADE.to_json(), "passed"),
    VerdictRecord("e", "x", "t", 0, "n", Grade.failed_to_judge("refusal", "no").to_json(), "errored", "20261101-1"),
    GateRecord("e", GateResult("failed", ("no",), {"passed": 1})),
    RunEnd("2026-12-01T10:16:30Z", 1, "keyboard interrupt"),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_line_brings_the_record_back(record: Record) -> None:
    line = record.to_line()
    assert "\n" not in line and line.isascii()
    assert from_line(line) == record


def test_costs_are_exact_in_the_line_and_numbers_in_what_is_shown() -> None:
    record = CaseRecord("e", "c", "c", 0, 0, {"exact": "1"}, OUTPUT.to_json())
    data = json.loads(record.to_line())
    assert data["exact"]["cost"] == "1.23456789012345678E-7"
    assert data["shown"]["output"]["cost"] == 1.2345678901234568e-07
    again = from_line(record.to_line())
    assert isinstance(again, CaseRecord) and again.output is not None
    assert Decimal(again.output["cost"]) == OUTPUT.cost


@pytest.mark.parametrize("record", [r for r in RECORDS if isinstance(r, (CaseRecord, VerdictRecord))])
def test_what_is_shown_is_cut_out_of_the_line(record: CaseRecord | VerdictRecord) -> None:
    line = record.to_line()
    assert json.loads(shown_of(line.encode("ascii"))) == json.loads(line)["shown"]


def test_an_id_cannot_end_the_key_that_is_cut_at() -> None:
    record = VerdictRecord('e",\\"shown":{', ',"shown":{', "t", 0, "n", GRADE.to_json(), "passed")
    line = record.to_line()
    assert json.loads(shown_of(line.encode("ascii"))) == json.loads(line)["shown"]


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


ODD = [
    (float("nan"), "nan"),
    (float("-inf"), "-inf"),
    (date(2026, 12, 1), "2026-12-01"),
    ({1: {2.5: float("inf")}}, {"1": {"2.5": "inf"}}),
    ((1, [None, True]), [1, [None, True]]),
    ({"k": {"b"}}, {"k": "{'b'}"}),
    (10**5000, hex(10**5000)),
]


@pytest.mark.parametrize(("value", "written"), ODD, ids=[str(index) for index in range(len(ODD))])
def test_what_json_has_not_is_written_as_text(value: Any, written: Any) -> None:
    line = CaseRecord("e", "c", "c", 0, 0, {"odd": value, "plain": 1.5}).to_line()
    record = from_line(line)
    assert isinstance(record, CaseRecord)
    assert record.columns == {"odd": written, "plain": 1.5}


def test_what_is_nested_too_deep_is_cut() -> None:
    record = from_line(CaseRecord("e", "c", "c", 0, 0, {"deep": _nested(100_000)}).to_line())
    assert isinstance(record, CaseRecord)
    assert "nested more than 200 deep" in json.dumps(record.columns)


NO_RECORDS = [
    ("", "Expecting value"),
    ('{"record": "run"', "delimiter"),
    ('{"record":"end","finished":"t"}{', "found more after the record"),
    ("[]", "expected a JSON object"),
    ('{"record": "dance"}', "expected a JSON object"),
    ('{"record": "end"}', "not whole"),
    ('{"record": "verdict", "eval": "e"}', "not whole"),
    ('{"record": "eval", "criteria": 3}', "not whole"),
    ("[" * 100_000, "deep"),
]


@pytest.mark.parametrize(("line", "said"), NO_RECORDS)
def test_no_record(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        from_line(line)


def test_a_key_of_a_newer_version_is_passed_over() -> None:
    assert from_line('{"record":"end","finished":"t","moon":"full"}') == RunEnd("t")


FAILING = [
    (GateResult("passed", ("58 of 60",)), ("own rule",), GateResult("failed", ("own rule",))),
    (GateResult("failed", ("40 of 60",)), ("own rule",), GateResult("failed", ("40 of 60", "own rule"))),
    (GateResult("skipped", ("12 of 60",)), ("own rule",), GateResult("skipped", ("12 of 60",))),
    (GateResult("failed", ("40 of 60",)), (), GateResult("failed", ("40 of 60",))),
    (GateResult("passed", ("58 of 60",)), (), GateResult("passed", ("58 of 60",))),
]


@pytest.mark.parametrize(("result", "more", "then"), FAILING)
def test_more_reasons_can_only_fail_a_gate(result: GateResult, more: tuple[str, ...], then: GateResult) -> None:
    assert result.failing(more) == then


@pytest.mark.parametrize("outcome", [Grade.of(True, "a"), Grade.of(False, 'é "\\ \ud800 ]]>'), Grade.na("")], ids=str)
@pytest.mark.parametrize(
    "more", [{}, {"duration_s": 1.5e-06}, {"score": 0.5}, {"label": "x"}, {"cost": None}, {"evaluated": False}], ids=str
)
@pytest.mark.parametrize("reused", [None, "another-run"])
def test_the_short_way_to_a_verdicts_line_gives_the_same_line(outcome: Grade, more: dict, reused: str | None) -> None:
    grade = replace(outcome, **more).to_json()
    record = VerdictRecord("e", "c\u2028", "k", 3, "e::c::k", grade, "passed", reused)
    assert record.to_line() == json.dumps(
        {"record": "verdict", **record.to_json()}, separators=(",", ":"), allow_nan=False
    )
