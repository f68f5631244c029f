"""A run that holds what reports must stand: hostile texts, a megabyte, another direction, every outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_verica.report.saved import SavedRun, find_run
from pytest_verica.run import (
    CriterionRecord,
    EvalRecord,
    GateRecord,
    GateResult,
    Git,
    Record,
    RunEnd,
    VerdictRecord,
)
from tests.unit.report.journals import EVAL, case, judged, verdict
from tests.unit.report.kept_runs import FIRST, MODEL, header, keep

HOSTILE = (
    "<script>window.hacked=1</script></script><!-- <img src=x onerror='window.hacked=2'> {{ 7*7 }} `code` **bold** "
    "[a](https://evil.example/) https://evil.example/ @all | ::error::no\n::warning::no\n"
    '\u202eevil\u202c & "quotes" \x1b[2J'
)
ARABIC = "أهلا بك. سيتم رد المبلغ خلال 14 يوما."
MEGABYTE = "x" * 1_000_000
CRITERIA = (("states_amount", "number_check"), ("deadline", "text_check"), ("tone", "label_model"))
CASES = 40

OUTPUTS = {3: ARABIC, 5: HOSTILE, 7: MEGABYTE, 9: "word " * 200_000}
NOT_PASSED = {(5, "states_amount"): "fail", (11, "tone"): "error"}
"""Beside these, `tone` fails on every sixth case and `deadline` is N/A on every fifth."""


def outcome(number: int, criterion: str) -> str:
    if criterion == "tone" and number % 6 == 0:
        return "fail"
    if criterion == "deadline" and number % 5 == 0:
        return "na"
    return NOT_PASSED.get((number, criterion), "pass")


def demo_records(cases: int = CASES) -> Iterator[Record]:
    """Of a gated eval: what fails is a miss."""
    yield header(FIRST, git=Git("0123456789abcdef", True))
    criteria = tuple(CriterionRecord(name, name, kind, {"name": name}, "c" * 64, 1) for name, kind in CRITERIA)
    yield EvalRecord(
        EVAL,
        "refunds",
        EVAL,
        "file",
        criteria,
        3 * cases,
        3 * cases,
        golden_set="golden/refunds.csv",
        golden_set_hash="ab" * 32,
        rows=cases,
        prompt={"system": "You answer about refunds.\nBe brief.", "user": "{{ question }}"},
        prompt_hash="cd" * 32,
        prompt_version=2,
        model=MODEL,
        params={"temperature": 0.2},
        gate={"pass_rate": 0.9},
    )
    for number in range(1, cases + 1):
        yield _case(number)
        yield from (_verdict(number, name) for name, _ in CRITERIA)
    yield GateRecord(EVAL, GateResult("passed", ("104 of 111 passed (93.7 %), 90 % wanted",)))
    yield RunEnd("2026-12-01T10:16:30Z", 0)


def _case(number: int) -> Record:
    text = OUTPUTS.get(number, f"You get {number * 12.5} euros back within 14 days.")
    columns: dict[str, Any] = {"question": f"Parcel {number} came broken.", "amount": number * 12.5}
    if number == 5:
        columns = {"question": HOSTILE, "<b>column</b>": HOSTILE}
    made = case(number, columns=columns)
    assert made.output is not None
    return replace(made, output={**made.output, "text": text})


def _verdict(number: int, name: str) -> VerdictRecord:
    found = outcome(number, name)
    told = "missed" if found == "fail" else None
    asked = judged(reasoning="It blames the customer.") if name == "tone" else {}
    made = verdict(number, name, found, reported=told, **asked)
    return replace(made, grade={**made.grade, "explanation": HOSTILE}) if number == 5 else made


def demo_run(root: Path) -> SavedRun:
    """The run, kept under a rootdir."""
    keep(root, FIRST, demo_records())
    return find_run(root, "last")
