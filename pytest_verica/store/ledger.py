"""What a run is spending, on disk: one ledger for the processes of a run that share a folder."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path

from pytest_verica.errors import StoreError


class SharedLedger:
    """Amounts (USD) that several processes enter, one a line.

    Lines are appended whole, so nothing has to be locked. Between reading the total and entering an amount another
    process may enter one of its own: the sum can pass a limit by one call a process.

    Every method raises StoreError where the file cannot be written or read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0  # bytes that are in the total
        self._total = Decimal(0)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise self._explained(error) from error

    def add(self, amount: Decimal) -> None:
        try:
            os.write(self._file, f"{amount}\n".encode("ascii"))
        except OSError as error:
            raise self._explained(error) from error

    def total(self) -> Decimal:
        try:
            size = os.fstat(self._file).st_size
            if size > self._read:
                os.lseek(self._file, self._read, os.SEEK_SET)
                data = os.read(self._file, size - self._read)
                whole = data[: data.rfind(b"\n") + 1]
                self._read += len(whole)
                self._total += sum(map(Decimal, whole.decode("ascii").split()), Decimal(0))
        except (OSError, ValueError, ArithmeticError) as error:
            raise self._explained(error) from error
        return self._total

    def close(self) -> None:
        """Safe to call twice."""
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _explained(self, error: Exception) -> StoreError:
        return StoreError(
            f"cannot keep the budget in {self.path}: {error}. Make its folder writable and free some space"
        )
