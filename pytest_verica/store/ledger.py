"""What a run is spending, on disk: one ledger for the processes of a run that share a folder."""

from __future__ import annotations

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

    def add(self, amount: Decimal) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                file.write(f"{amount}\n".encode("ascii"))
        except OSError as error:
            raise self._explained(error) from error

    def total(self) -> Decimal:
        try:
            with self.path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]  # another process may be writing the last line
            self._total += sum(map(Decimal, whole.decode("ascii").split()), Decimal(0))
            self._read += len(whole)
        except FileNotFoundError:
            return self._total
        except (OSError, ValueError, ArithmeticError) as error:
            raise self._explained(error) from error
        return self._total

    def _explained(self, error: Exception) -> StoreError:
        advice = "Make its folder writable and free some space"
        return StoreError(f"cannot keep the budget in {self.path}: {error}. {advice}")
