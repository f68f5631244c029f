"""Sheets of .xlsx books (extra `xlsx`): the first row is the header; numbers stay numbers, dates become ISO texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pytest_verica.golden.columns import ColumnNames
from pytest_verica.golden.delimited import warn_of_blank_rows
from pytest_verica.golden.findings import Findings
from pytest_verica.golden.golden_set import GoldenSet, Row, golden_set_of
from pytest_verica.golden.values import NotJson, json_value
from pytest_verica.template.reference import nearest
from pytest_verica.template.text import is_missing, text_of

_ERRORS = frozenset({"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA"})


def read_xlsx(path: Path, findings: Findings, sheet: str | None) -> GoldenSet:
    """Reads one sheet: the named one, else the book's first.

    Raises:
        GoldenSetError: openpyxl is not installed, the book or the sheet cannot be read, or a row breaks a rule.
    """
    rows = _sheet_rows(path, findings, sheet, formulas=False)
    header_line, header = next(((line, cells) for line, cells in rows if _filled(cells)), (1, []))
    if not header:
        findings.stop("the sheet is empty: a golden set needs a header and at least one row")
    columns = ColumnNames(findings).header([text_of(cell) for cell in _trimmed(header)], header_line)
    golden = golden_set_of(_rows(rows, columns, findings), findings, columns)
    if any(value is None for case in golden for value in case.values()):
        _refuse_uncalculated(_sheet_rows(path, Findings(findings.file), sheet, formulas=True), golden, findings)
    return golden


def _rows(rows: Iterator[tuple[int, Sequence[Any]]], columns: Sequence[str], findings: Findings) -> Iterator[Row]:
    width = len(columns)
    blank: list[int] = []
    skipped: list[int] = []
    for line, cells in rows:
        if not _filled(cells):
            blank.append(line)
            continue
        skipped += blank  # those at the sheet's end are no gap
        blank = []
        values = [_value(cell, line, place, findings) for place, cell in enumerate(_trimmed(cells), 1)]
        if len(values) > width:
            findings.problem(f"the cell {_cell_name(line, len(values))} has a value and its column has no name", line)
            continue
        values += [None] * (width - len(values))
        yield Row(dict(zip(columns, values, strict=True)), line)
    warn_of_blank_rows(skipped, findings)


def _sheet_rows(
    path: Path, findings: Findings, name: str | None, *, formulas: bool
) -> Iterator[tuple[int, Sequence[Any]]]:
    try:
        import openpyxl  # deferred: an optional extra
    except ImportError:
        findings.stop('an .xlsx golden set needs openpyxl: pip install "pytest-verica[xlsx]"')
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # openpyxl warns of features it leaves out: none of them holds values
            book = openpyxl.load_workbook(path, read_only=True, data_only=not formulas)
    except Exception as error:  # noqa: BLE001 - whatever a broken file makes openpyxl raise
        findings.stop(f"not an .xlsx book that can be read: {type(error).__name__}: {error}")
    with closing(book):
        names = [sheet.title for sheet in book.worksheets]
        if name is not None and name not in names:
            findings.stop(f"the book has no sheet {name!r}{nearest(name, names)}; its sheets: {', '.join(names)}")
        if name is None and len(names) > 1:
            findings.warn(f"the first of {len(names)} sheets was read, {names[0]!r}; name another as `book.xlsx#Sheet`")
        sheet = book.worksheets[0] if name is None else book[name]
        sheet.reset_dimensions()  # some programs write a wrong size, and rows beyond it would be lost
        yield from enumerate(sheet.iter_rows(values_only=True), 1)


def _value(cell: Any, line: int, place: int, findings: Findings) -> Any:
    if isinstance(cell, str) and cell in _ERRORS:
        findings.problem(f"the cell {_cell_name(line, place)} holds the error {cell}", line)
    try:
        return json_value(cell)
    except NotJson as error:
        findings.problem(f"the cell {_cell_name(line, place)}: {error}", line)
        return None


def _refuse_uncalculated(rows: Iterator[tuple[int, Sequence[Any]]], golden: GoldenSet, findings: Findings) -> None:
    """A formula that no program has calculated reads as an empty cell, and nobody would notice."""
    cases = {case.line: case for case in golden}
    for line, cells in rows:
        case = cases.get(line)
        if case is None:
            continue
        for place, (cell, value) in enumerate(zip(cells, case.values(), strict=False), 1):
            if value is None and isinstance(cell, str) and cell.startswith("="):
                what = f"the cell {_cell_name(line, place)} holds a formula without a result"
                findings.problem(f"{what}: open the book in a spreadsheet program and save it", line)
    findings.raise_if_any()


def _filled(cells: Sequence[Any]) -> bool:
    return not all(is_missing(cell) for cell in cells)


def _trimmed(cells: Sequence[Any]) -> Sequence[Any]:
    width = len(cells)
    while width and is_missing(cells[width - 1]):
        width -= 1
    return cells[:width]


def _cell_name(line: int, place: int) -> str:
    letters = ""
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{line}"
