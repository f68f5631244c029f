"""Opening text files of rows: UTF-8 with or without a byte order mark, and where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pytest_verica.golden.findings import Findings

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def opened(path: Path, findings: Findings) -> Iterator[IO[str]]:
    """The text of a file, newlines as they stand.

    Raises:
        GoldenSetError: it is not UTF-8 (with line and byte).
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            yield stream
    except UnicodeDecodeError:
        _tell_bad_byte(path, findings)


def read_text(path: Path, findings: Findings) -> str:
    """The whole text. Raises as `opened`."""
    with opened(path, findings) as stream:
        return stream.read()


def _tell_bad_byte(path: Path, findings: Findings) -> None:
    before = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if number == 1 and line.startswith(_UTF16_MARKS):
                findings.stop("the file is UTF-16: save it as UTF-8")
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"byte {before + error.start + 1} of the file is {line[error.start]:#04x}"
                findings.stop(f"the file is not UTF-8: {byte}; save it as UTF-8", number, error.start + 1)
            before += len(line)
    findings.stop("the file is not UTF-8: save it as UTF-8")
