"""The journal of a run: one record a line, appended as it comes, readable after a kill at any byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pytest_verica.errors import StoreError
from pytest_verica.run import Record, from_line


class JournalWriter:
    """Appends lines to a journal.

    Each line is handed to the operating system in one unbuffered write before `append` returns: a killed process loses
    no line that it appended, and at worst leaves the last one cut short. A write takes a few microseconds, so a
    buffer would save nothing worth a lost verdict. The disk is not waited for: only a machine that loses power can
    lose the last lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._size = 0
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
            self._mend()
        except OSError as error:
            raise self._explained(error) from error

    def append(self, line: str) -> int:
        """Adds a line, given without its end; the offset (bytes) at which it stands.

        Raises:
            StoreError: the disk is full, and the like.
        """
        data = line.encode("ascii") + b"\n"
        try:
            written = os.write(self._file, data)
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            with suppress(OSError):
                self._mend()  # a part of the line may be there, and a later one may find room
            raise self._explained(error) from error
        offset, self._size = self._size, self._size + len(data)
        return offset

    def close(self) -> None:
        """Safe to call twice."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _mend(self) -> None:
        """Cuts off a last line that an earlier writer could not finish: what follows must not be glued to it."""
        size = os.fstat(self._file).st_size
        end, block = size, 4096
        while end > 0:
            start = max(0, end - block)
            os.lseek(self._file, start, os.SEEK_SET)
            newline = os.read(self._file, end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            os.ftruncate(self._file, end)
        self._size = end

    def _explained(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot write the journal {self.path}: {error}. Make its folder writable and free some space"
        )


def scan_journal(path: Path) -> Iterator[tuple[int, Record]]:
    """Yields the offset of each line (bytes) and its record, in order; one line is in memory at a time.

    A last line that was cut short is passed over.

    Raises:
        StoreError: the file cannot be read, or a line before the last is no record.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise StoreError(
            f"cannot read the journal {path}: {error}. Check the name of the run (`verica runs`)"
        ) from error
    with file:
        offset = 0
        for number, line in enumerate(file, 1):
            try:
                record = from_line(line.decode("ascii"))
            except ValueError as error:
                if line.endswith(b"\n"):
                    raise StoreError(
                        f"{path}:{number}: {error}. The journal was edited, or damaged by more than a killed run, or "
                        "written by a newer version; it cannot be counted on"
                    ) from None
                return
            yield offset, record
            offset += len(line)
