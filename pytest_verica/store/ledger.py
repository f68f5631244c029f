"""What a run is spending, on disk: one ledger for the processes of a run that share a folder."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from pytest_verica.engine.budget import Balance
from pytest_verica.errors import StoreError


class SharedLedger:
    """Changes (USD spent, USD reserved) that several processes enter, one a line.

    Lines are appended whole, so nothing has to be locked. Between reading the balance and entering a change another
    process may enter one of its own: the sum can pass a limit by one call a process.

    Every method raises StoreError where the file cannot be written or read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0  # bytes that are in the balance
        self._balance = Balance(Decimal(0), Decimal(0))

    def add(self, change: Balance) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                file.write(f"{change.spent} {change.reserved}\n".encode("ascii"))
        except OSError as error:
            raise self._explained(error) from error

    def balance(self) -> Balance:
        try:
            with self.path.open("rb") as file:
                file.seek(self._read)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]  # another process may be writing the last line
            changes = [tuple(map(Decimal, line.split())) for line in whole.decode("ascii").splitlines()]
            for spent, reserved in changes:
                self._balance = Balance(self._balance.spent + spent, self._balance.reserved + reserved)
            self._read += len(whole)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, ArithmeticError) as error:
            raise self._explained(error) from error
        return self._balance

    def _explained(self, error: Exception) -> StoreError:
        advice = "Make its folder writable and free some space"
        return StoreError(f"cannot keep the budget in {self.path}: {error}. {advice}")
