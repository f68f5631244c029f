"""A run as CSV: one row a verdict, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_verica.report.failure import printable
from pytest_verica.report.saved import SavedRun

HEADING = (
    "run",
    "eval",
    "case",
    "sample",
    "criterion",
    "outcome",
    "reported",
    "score",
    "label",
    "explanation",
    "reasoning",
    "output",
    "columns",
    "model",
    "cost_usd",
    "duration_s",
    "latency_s",
    "reused",
    "reused_from",
    "node_id",
)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_LONGEST = 32_767
"""Characters that a spreadsheet's cell holds."""


def csv_pieces(run: SavedRun) -> Iterator[bytes]:
    """The file in UTF-8, with the line ends of RFC 4180, a piece per case. A number that is not known is empty.

    Texts stand as they are but for three things: what a spreadsheet would take for a formula gets an apostrophe before
    it, control characters are escaped, and a text that no cell holds is cut, which it says.

    Raises:
        StoreError: the run cannot be read.
    """
    yield _lines([HEADING])
    for found in run.head["evals"]:
        for case in run.cases(found["id"]):
            yield _lines([_row(run, found, case, grade) for grade in case["grades"]])


def _row(run: SavedRun, found: Mapping[str, Any], case: Mapping[str, Any], grade: Mapping[str, Any]) -> list[Any]:
    output = case["output"] or {}
    columns = json.dumps(case["columns"], ensure_ascii=False)
    return [
        run.id,
        _text(found["name"]),
        _text(case["id"]),
        case["sample"],
        _text(grade["criterion"]),
        grade["outcome"],
        grade["reported"],
        grade["score"],
        _text(grade["label"]),
        _text(grade["explanation"]),
        _text(grade["reasoning"]),
        _text(output.get("text")),
        _text(columns),
        _text(output.get("model")),
        grade["cost"],
        grade["duration_s"],
        output.get("latency_s"),
        int(grade["reused"]),
        grade["reused_from"],
        _text(grade["node_id"]),
    ]


def _text(text: str | None) -> str | None:
    if text is None:
        return None
    shown = printable(text.replace("\r\n", "\n"))
    if len(shown) > _LONGEST:
        note = f" … [{len(shown):,} characters; the JSON report has them all]"
        shown = shown[: _LONGEST - len(note) - 1] + note
    return f"'{shown}" if shown.startswith(_FORMULAS) else shown


def _lines(rows: list[Any]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode("utf-8")
