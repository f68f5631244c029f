"""A golden set in memory, and how rows of any source become one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_verica.canonical import canonical_json
from pytest_verica.case import Case
from pytest_verica.golden.columns import ColumnNames
from pytest_verica.golden.findings import Findings
from pytest_verica.golden.ids import positional_id, safe_ids
from pytest_verica.golden.values import NotJson, json_value
from pytest_verica.path import describe
from pytest_verica.template.text import is_missing, text_of

ID_COLUMN = "id"


@dataclass(frozen=True, eq=False)
class GoldenSet:
    """The cases of an eval, in the order of their source.

    path: the source as the eval wrote it, None where there is none; columns: in the source's order, every case has all
    of them (None or "" where its row has no value); warnings: one sentence each, with file and line.
    """

    path: str | None
    columns: tuple[str, ...]
    cases: tuple[Case, ...]
    warnings: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of cases."""
        return len(self.cases)

    @cached_property
    def snapshot_hash(self) -> str:
        """SHA-256 over ids and contents, in order: 64 hexadecimal digits, the same in every process."""
        digest = hashlib.sha256()
        for case in self.cases:
            row = canonical_json([case.original_id, dict(case.columns)])
            digest.update(row.encode("utf-8", "surrogatepass") + b"\n")
        return digest.hexdigest()

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __getitem__(self, position: int) -> Case:
        return self.cases[position]

    def __repr__(self) -> str:
        return f"<GoldenSet {self.path!r}: {self.size} cases, columns {', '.join(self.columns)}>"


@dataclass(slots=True)
class Row:
    """One row as a reader found it: values by the columns' names as used; line from 1, None where there is none."""

    values: dict[str, Any]
    line: int | None = None


def golden_set_from_rows(rows: Iterable[Mapping[str, Any]], name: str, *, strict: bool = False) -> GoldenSet:
    """A golden set of rows that Python made; `name` is what messages and the report call it.

    strict: whether a value that JSON does not have is an error. Where not (the parameters of a test may be anything),
    its description stands for it, and an `id` column that cannot serve as ids is a column like others.

    Raises:
        GoldenSetError: a row is no mapping, a rule of column names or ids is broken, or there are no rows.
    """
    findings = Findings(name)
    return golden_set_of(mapping_rows(rows, findings, strict=strict), findings, loose_ids=not strict)


def mapping_rows(rows: Iterable[Any], findings: Findings, *, strict: bool) -> Iterator[Row]:
    """Rows out of mappings that have no lines."""
    names = ColumnNames(findings)
    for number, mapping in enumerate(rows, 1):
        if not isinstance(mapping, Mapping):
            findings.problem(f"row {number} must be a mapping of columns, found {describe(mapping)}")
            continue
        try:
            yield named_row(json_value(mapping, strict=strict), None, names, findings)
        except NotJson as error:
            findings.problem(f"row {number}: {error}")


def named_row(mapping: Mapping[str, Any], line: int | None, names: ColumnNames, findings: Findings) -> Row:
    """A row whose keys are column names as written."""
    values: dict[str, Any] = {}
    for written, value in mapping.items():
        name = names.name(written, line)
        if name in values:
            findings.problem(f"the column {name!r} is written twice in one row", line)
        values[name] = value
    return Row(values, line)


def golden_set_of(
    rows: Iterable[Row], findings: Findings, columns: Iterable[str] = (), *, loose_ids: bool = False
) -> GoldenSet:
    """Numbers and names the rows. `columns` are those of a header; others join in the order they appear.

    Raises:
        GoldenSetError: everything that is wrong, or that there are no rows.
    """
    found = list(rows)
    findings.raise_if_any()
    if not found:
        said = "has a header and no rows" if columns else "has no rows"
        findings.stop(f"the golden set {said}: at least one case is needed, or nothing would be checked")
    order = dict.fromkeys(columns)
    for row in found:
        if len(row.values) != len(order) or row.values.keys() != order.keys():
            order.update(dict.fromkeys(row.values))
    for row in found:
        if len(row.values) != len(order):
            row.values = {column: row.values.get(column) for column in order}
    originals = _original_ids(found, order, findings, loose_ids)
    findings.raise_if_any()
    cases = tuple(
        Case(safe, row.values, original_id=original, position=position, line=row.line)
        for position, (row, original, safe) in enumerate(zip(found, originals, safe_ids(originals), strict=True))
    )
    return GoldenSet(findings.file, tuple(order), cases, tuple(findings.warnings))


def _original_ids(rows: list[Row], columns: Mapping[str, None], findings: Findings, loose: bool) -> list[str]:
    positional = [positional_id(position) for position in range(len(rows))]
    if ID_COLUMN not in columns:
        return positional
    aside = Findings(findings.file) if loose else findings
    written = _written_ids(rows, aside)
    if loose and aside.problems:
        findings.warn(f"the column `{ID_COLUMN}` does not name the cases: {aside.problems[0].message}")
        return positional
    return written


def _written_ids(rows: list[Row], findings: Findings) -> list[str]:
    first: dict[str, tuple[int, Row]] = {}
    ids: list[str] = []
    for number, row in enumerate(rows, 1):
        value = row.values[ID_COLUMN]
        text = text_of(value)
        ids.append(text)
        if is_missing(value):
            findings.problem(f"{_where(number, row)} has no id: fill its `{ID_COLUMN}` cell", row.line)
        elif not isinstance(value, (str, int, float)):
            findings.problem(f"an id must be a text or a number, found {describe(value)}", row.line)
        elif text.strip() in first:
            there = _where(*first[text.strip()])
            findings.problem(f"the id {text!r} is written twice: in {there} and in {_where(number, row)}", row.line)
        else:
            first[text.strip()] = (number, row)
    return ids


def _where(number: int, row: Row) -> str:
    return f"row {number}" if row.line is None else f"line {row.line}"
