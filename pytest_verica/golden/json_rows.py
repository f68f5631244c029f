"""JSONL and JSON arrays: nested values stay nested; strict JSON only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_verica.golden.columns import ColumnNames
from pytest_verica.golden.findings import Findings
from pytest_verica.golden.golden_set import GoldenSet, Row, golden_set_of, named_row
from pytest_verica.golden.text_file import opened, read_text
from pytest_verica.json_text import read_json
from pytest_verica.path import describe

_AT = re.compile(r" at line (\d+), column (\d+)$")
_BETWEEN = re.compile(r"[\s,]*")


def read_jsonl(path: Path, findings: Findings) -> GoldenSet:
    """One JSON object per line; blank lines are nothing.

    Raises:
        GoldenSetError: with line and column of each problem.
    """
    with opened(path, findings) as stream:
        return golden_set_of(_line_rows(stream, findings), findings)


def read_json_array(path: Path, findings: Findings) -> GoldenSet:
    """One JSON array of objects.

    Raises:
        GoldenSetError: with line and column of each problem.
    """
    text = read_text(path, findings)
    if not text.strip():
        findings.stop("the file has nothing but white space: a golden set is an array of at least one object")
    value = _strict(text, 1, findings)
    findings.raise_if_any()
    if not isinstance(value, list):
        findings.stop(f"a JSON golden set is an array of objects, found {describe(value)}", 1)
    return golden_set_of(_array_rows(value, text, findings), findings)


def _line_rows(lines: Iterator[str], findings: Findings) -> Iterator[Row]:
    names = ColumnNames(findings)
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        before = len(findings.problems)
        value = _strict(text, number, findings)
        if len(findings.problems) > before:
            if number == 1 and text.strip() in ("[", "{"):
                findings.stop("a JSONL file has one object per line; an array over several lines is a .json file")
            continue
        yield from _object_row(value, number, names, findings)


def _array_rows(values: list[Any], text: str, findings: Findings) -> Iterator[Row]:
    names = ColumnNames(findings)
    for value, line in zip(values, _element_lines(text), strict=True):
        yield from _object_row(value, line, names, findings)


def _object_row(value: Any, line: int, names: ColumnNames, findings: Findings) -> Iterator[Row]:
    if not isinstance(value, dict):
        findings.problem(f"a row is a JSON object, found {describe(value)}", line)
    elif not value:
        findings.problem("a row is a JSON object with columns, found an empty object", line)
    else:
        yield named_row(value, line, names, findings)


def _strict(text: str, line: int, findings: Findings) -> Any:
    """The value of a text that starts on this line; None, and a problem, where it is not JSON."""
    reading = read_json(text)
    if reading.problem is None and not reading.fenced:
        return reading.value
    problem = reading.problem or "a code fence is around it"
    at = _AT.search(problem)
    if at is None:
        findings.problem(f"not JSON: {problem}", line)
    else:
        findings.problem(f"not JSON: {problem[: at.start()]} (column {at[2]})", line + int(at[1]) - 1, int(at[2]))
    return None


def _element_lines(text: str) -> Iterator[int]:
    """The line on which each element of an array starts."""
    decoder = json.JSONDecoder()
    at = text.index("[") + 1
    line, counted = 1, 0
    while True:
        at = _skipped(text, at)
        if text[at] == "]":
            return
        line += text.count("\n", counted, at)
        counted = at
        yield line
        at = decoder.raw_decode(text, at)[1]


def _skipped(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return at if match is None else match.end()
