"""The budget of a run: no call starts that would bring what was paid, and what is being paid, over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, Protocol

from pytest_verica.errors import ProviderError
from pytest_verica.request import ModelSpec

POLL_S = 0.02
_NOTHING = Decimal(0)


class Balance(NamedTuple):
    """USD. spent: for calls that ended; reserved: what the calls under way are expected to cost."""

    spent: Decimal
    reserved: Decimal


class Ledger(Protocol):
    """What a run spends, in one process or in several."""

    def add(self, change: Balance) -> None:
        """Enters a change; below 0 where something becomes less."""
        ...

    def balance(self) -> Balance:
        """The sum of the changes."""
        ...


class OwnLedger:
    """The ledger of a run in one process."""

    def __init__(self) -> None:
        self._balance = Balance(_NOTHING, _NOTHING)

    def add(self, change: Balance) -> None:
        self._balance = Balance(self._balance.spent + change.spent, self._balance.reserved + change.reserved)

    def balance(self) -> Balance:
        return self._balance


class Budget:
    """most: USD that the run may pay, above 0.

    What a call costs is known afterwards only: before it, what it is expected to cost is reserved. A call for which
    there is no room beside those under way waits until they are paid; one for which there is no room beside what was
    paid is refused. So the budget is passed by no more than what the calls in flight cost beyond their expectation.
    patience_s: for calls of other processes, which may have died with their reservation.
    """

    def __init__(self, most: Decimal, ledger: Ledger | None = None, *, patience_s: float = 150.0) -> None:
        self.most = most
        self._ledger = ledger or OwnLedger()
        self._patience_s = patience_s

    async def enter(
        self, model: ModelSpec, expected: Decimal | None, attempts: int, busy: Callable[[], bool]
    ) -> Decimal:
        """Waits for room for a call, and reserves it; what was reserved. expected: USD, None where the price is not
        known; attempts: calls made for the same request before; busy: whether calls of this process are under way.

        Raises:
            ProviderError: `budget`, the call must not be made.
        """
        if expected is None:
            message = f"no price is known for {model}, so --verica-max-cost cannot be kept; give it in verica_prices"
            raise ProviderError("budget", message, attempts=attempts)
        waited, seen = 0.0, self._ledger.balance()
        while True:
            balance = self._ledger.balance()
            waited = waited + POLL_S if balance == seen and not busy() else 0.0
            seen = balance
            if self._is_over(balance.spent, expected) or waited > self._patience_s:
                raise ProviderError("budget", self._refusal(model, balance, expected), attempts=attempts)
            if not self._is_over(balance.spent + balance.reserved, expected):
                self._ledger.add(Balance(_NOTHING, expected))
                return expected
            await asyncio.sleep(POLL_S)

    def settle(self, reserved: Decimal, cost: Decimal | None) -> None:
        """A call ended. cost: what was paid for it; None where that is not known, and what was expected is taken."""
        self._ledger.add(Balance(reserved if cost is None else cost, -reserved))

    def _is_over(self, total: Decimal, expected: Decimal) -> bool:
        return total >= self.most or total + expected > self.most

    def _refusal(self, model: ModelSpec, balance: Balance, expected: Decimal) -> str:
        return (
            f"not asked: ${balance.spent:.6f} of the budget of ${self.most} (--verica-max-cost) is spent, and this "
            f"call to {model} is expected to cost ${expected:.6f}. Run again with a higher budget: what was "
            "answered is kept and costs nothing then"
        )
