"""Parquet files (extra `parquet`): nested values stay nested, dates become ISO texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_verica.golden.columns import ColumnNames
from pytest_verica.golden.findings import Findings
from pytest_verica.golden.golden_set import GoldenSet, Row, golden_set_of
from pytest_verica.golden.values import NotJson, json_value

_BATCH_ROWS = 4096


def read_parquet(path: Path, findings: Findings) -> GoldenSet:
    """Reads a Parquet file, a batch at a time; rows have no lines, messages count them from 1.

    Raises:
        GoldenSetError: pyarrow is not installed, the file cannot be read, or a row breaks a rule.
    """
    try:
        import pyarrow
        import pyarrow.parquet  # deferred: an optional extra
    except ImportError:
        findings.stop('a .parquet golden set needs pyarrow: pip install "pytest-verica[parquet]"')
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            columns = ColumnNames(findings).header(file.schema_arrow.names, None)
            return golden_set_of(_rows(file, columns, findings), findings, columns)
    except (pyarrow.ArrowException, OSError) as error:
        findings.stop(f"not a Parquet file that can be read: {error}")


def _rows(file: Any, columns: Sequence[str], findings: Findings) -> Iterator[Row]:
    number = 0
    for batch in file.iter_batches(batch_size=_BATCH_ROWS):
        cells = [column.to_pylist() for column in batch.columns]
        for values in zip(*cells, strict=True):
            number += 1
            row = Row({})
            for column, value in zip(columns, values, strict=True):
                try:
                    row.values[column] = json_value(value)
                except NotJson as error:
                    findings.problem(f"row {number}, column {column!r}: {error}")
            yield row
