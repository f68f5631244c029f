"""The formats that any saved run can be written in, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pytest_verica.errors import StoreError
from pytest_verica.report.csv_report import csv_pieces
from pytest_verica.report.html_report import html_pieces
from pytest_verica.report.json_report import report_pieces
from pytest_verica.report.junit_report import junit_pieces
from pytest_verica.report.markdown import markdown_pieces
from pytest_verica.report.saved import SavedRun
from pytest_verica.store.whole_file import write_whole


def _json_pieces(run: SavedRun) -> Iterator[bytes]:
    if run.path.suffix == ".json":
        yield run.path.read_bytes()
    else:
        yield from report_pieces(run.summary)


FORMATS: Mapping[str, Callable[[SavedRun], Iterator[bytes]]] = {
    "json": _json_pieces,
    "html": html_pieces,
    "md": markdown_pieces,
    "junit": junit_pieces,
    "csv": csv_pieces,
}
"""Each gives the file in pieces, and raises StoreError where the run cannot be read."""


def write_format(run: SavedRun, name: str, path: Path) -> None:
    """Writes a run in one of FORMATS; the file appears whole or not at all.

    Raises:
        StoreError: the run cannot be read, or the file not written.
    """
    try:
        write_whole(path, FORMATS[name](run))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}. Check its folder and free space") from error
