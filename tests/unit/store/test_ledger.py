"""The ledger that processes share: every change is in every balance, a line that is being written is not."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_verica.engine.budget import Balance
from pytest_verica.errors import StoreError
from pytest_verica.store.ledger import SharedLedger

WRITER = """
import sys
from decimal import Decimal
from pathlib import Path
from pytest_verica.engine.budget import Balance
from pytest_verica.store.ledger import SharedLedger
ledger = SharedLedger(Path(sys.argv[1]))
for number in range(1000):
    ledger.add(Balance(Decimal("0.0001"), Decimal(number)))
    ledger.add(Balance(Decimal("0.00000000000001"), -Decimal(number)))
"""


def change(spent: str, reserved: str) -> Balance:
    return Balance(Decimal(spent), Decimal(reserved))


def test_what_one_enters_the_other_sees(tmp_path: Path) -> None:
    one, other = (SharedLedger(tmp_path / "new" / "ledger") for _ in range(2))
    assert other.balance() == change("0", "0")
    one.add(change("0", "0.3"))
    assert other.balance() == change("0", "0.3")
    other.add(change("0.1", "-0.3"))
    assert one.balance() == other.balance() == change("0.1", "0")


def test_a_line_that_is_not_whole_yet_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    ledger = SharedLedger(path)
    path.write_text("1 2\n0.5 ")
    assert ledger.balance() == change("1", "2")
    with path.open("a") as file:
        file.write("0.25\n")
    assert ledger.balance() == change("1.5", "2.25")


def test_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert SharedLedger(path).balance() == change("0.30000000003", "0")


def test_what_cannot_be_written_or_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot keep the budget in"):
        SharedLedger(tmp_path / "file" / "ledger").add(change("1", "0"))
    (tmp_path / "odd").write_text("one two\n")
    with pytest.raises(StoreError, match="cannot keep the budget in"):
        SharedLedger(tmp_path / "odd").balance()
