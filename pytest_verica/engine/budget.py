"""The budget of a run: no call starts that would bring what was paid, and what is being paid, over it."""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

from pytest_verica.errors import ProviderError
from pytest_verica.request import ModelSpec


class Ledger(Protocol):
    """What was paid so far, and what the calls under way are expected to cost: USD, of one process or of several."""

    def add(self, amount: Decimal) -> None:
        """Enters an amount; below 0 where less was paid than expected."""
        ...

    def total(self) -> Decimal:
        """Everything that was entered."""
        ...


class OwnLedger:
    """The ledger of a run in one process."""

    def __init__(self) -> None:
        self._total = Decimal(0)

    def add(self, amount: Decimal) -> None:
        self._total += amount

    def total(self) -> Decimal:
        return self._total


class Budget:
    """most: USD that the run may pay, above 0.

    What a call costs is known afterwards only; it is entered before the call with what is expected, and put right
    after it. So the sum can pass the budget by no more than what the calls in flight cost beyond their expectation.
    """

    def __init__(self, most: Decimal, ledger: Ledger | None = None) -> None:
        self.most = most
        self._ledger = ledger or OwnLedger()

    def enter(self, model: ModelSpec, expected: Decimal | None, attempts: int) -> Decimal:
        """Enters a call that is about to be made; what was entered. expected: USD, None where its price is unknown;
        attempts: calls made for the same request before.

        Raises:
            ProviderError: `budget`, the call must not be made.
        """
        if expected is None:
            message = (
                f"no price is known for {model}, so --verica-max-cost ${self.most} cannot be kept; give its price in "
                "verica_prices"
            )
            raise ProviderError("budget", message, attempts=attempts)
        total = self._ledger.total()
        if total >= self.most or total + expected > self.most:
            message = (
                f"not asked: ${total:.6f} of the budget of ${self.most} (--verica-max-cost) is spent or being spent, "
                f"and this call to {model} is expected to cost ${expected:.6f}. Run again with a higher one: what "
                "was answered is kept and costs nothing then"
            )
            raise ProviderError("budget", message, attempts=attempts)
        self._ledger.add(expected)
        return expected

    def settle(self, entered: Decimal, cost: Decimal | None) -> None:
        """Puts a call right. cost: what it did cost; None where it is not known, and what was expected stands."""
        if cost is not None and cost != entered:
            self._ledger.add(cost - entered)
