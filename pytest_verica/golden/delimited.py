"""CSV and TSV: values are text, the separator is found in the header line, ragged rows are errors."""

from __future__ import annotations

import csv
import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_verica.golden.columns import ColumnNames, is_name
from pytest_verica.golden.findings import Findings
from pytest_verica.golden.golden_set import GoldenSet, Row, golden_set_of
from pytest_verica.golden.text_file import opened

_NAMES = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
_MAX_HEADER_LINES = 200
_MAX_LINES_TOLD = 5


def read_csv(path: Path, findings: Findings) -> GoldenSet:
    """Raises GoldenSetError with the line of each problem."""
    return _read(path, findings, ",")


def read_tsv(path: Path, findings: Findings) -> GoldenSet:
    """Raises GoldenSetError with the line of each problem."""
    return _read(path, findings, "\t")


def _read(path: Path, findings: Findings, expected: str) -> GoldenSet:
    """expected: the separator that the file's name promises."""
    with opened(path, findings) as stream, _long_cells():
        head = _header_lines(stream)
        if not "".join(head).strip():
            findings.stop("the file has nothing but white space: a golden set needs a header and at least one row")
        separator = separator_of("".join(head), expected)
        records = _Records(itertools.chain(head, stream), separator, findings)
        line, header = next(iter(records))
        columns = ColumnNames(findings).header(header, line)
        return golden_set_of(_rows(records, columns, separator, findings), findings, columns)


def separator_of(header: str, expected: str) -> str:
    """The separator that makes the most columns, whose names are names, of a header; the expected one where two do.

    A TSV file whose header has a tab is not guessed at.
    """
    fields = {candidate: _fields(header, candidate) for candidate in (expected, *(set(_NAMES) - {expected}))}
    if expected == "\t" and len(fields["\t"]) > 1:
        return expected

    def merit(candidate: str) -> tuple[bool, int, bool]:
        names = [name.strip() for name in fields[candidate]]
        return all(is_name(name) for name in names if name), len(names), candidate == expected

    return max(sorted(fields), key=merit)


class _Records:
    """The records of a file with the line each starts on; blank lines are no records."""

    def __init__(self, lines: Iterable[str], separator: str, findings: Findings) -> None:
        self._reader = csv.reader(lines, delimiter=separator, strict=True)
        self._separator = separator
        self._findings = findings

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        while True:
            line = self._reader.line_num + 1
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                self._findings.stop(self._said(str(error)), line)
            if cells and not (len(cells) == 1 and cells[0].isspace()):
                yield line, cells

    def _said(self, error: str) -> str:
        if "unexpected end of data" in error:
            return 'a quote is opened in the row that starts here and never closed; a quote inside a cell is written ""'
        if "expected after" in error:
            after = f"{_NAMES[self._separator]} or the end of the line, and no white space, must follow a closing quote"
            return f'{after} (in the row that starts here); a quote inside a cell is written ""'
        return f"the row that starts here cannot be read: {error}"


def _rows(records: _Records, columns: Sequence[str], separator: str, findings: Findings) -> Iterator[Row]:
    blank: list[int] = []
    for line, cells in records:
        if not any(cell and not cell.isspace() for cell in cells):
            blank.append(line)
        elif len(cells) != len(columns):
            found, wanted = _counted(len(cells), "cell"), _counted(len(columns), "column")
            advice = f"; quote a cell with {_NAMES[separator]} in it" if len(cells) > len(columns) else ""
            findings.problem(f"the row has {found}, the header has {wanted}{advice}", line)
        else:
            yield Row(dict(zip(columns, cells, strict=True)), line)
    warn_of_blank_rows(blank, findings)


def warn_of_blank_rows(lines: Sequence[int], findings: Findings) -> None:
    """Rows of separators only are no cases, and their absence is told."""
    if lines:
        shown = ", ".join(str(line) for line in lines[:_MAX_LINES_TOLD])
        more = f" and {len(lines) - _MAX_LINES_TOLD} more" if len(lines) > _MAX_LINES_TOLD else ""
        findings.warn(f"rows without any value are left out: {'line' if len(lines) == 1 else 'lines'} {shown}{more}")


def _header_lines(stream: Iterable[str]) -> list[str]:
    """Every line up to the end of the header, whose quoted names may hold newlines."""
    lines: list[str] = []
    for line in itertools.islice(stream, _MAX_HEADER_LINES):
        lines.append(line)
        text = "".join(lines)
        if text.strip() and text.count('"') % 2 == 0:
            break
    return lines


def _fields(header: str, separator: str) -> list[str]:
    try:
        return next((cells for cells in csv.reader(header.splitlines(keepends=True), delimiter=separator) if cells), [])
    except csv.Error:
        return []


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


@contextmanager
def _long_cells() -> Iterator[None]:
    """The csv module refuses cells over 128 KiB unless told; its limit belongs to the whole process."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
