"""Calls under an endpoint's limits, minutes of them, on a clock that jumps."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from pytest_verica.completion import Completion
from pytest_verica.engine.budget import Balance, Budget, OwnLedger
from pytest_verica.engine.endpoints import Call, CallSettings, Endpoints
from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.errors import ProviderError
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.request import Message, ModelSpec, Rates, Request
from tests.unit.engine.virtual_time import run_virtual

LATENCY_S = 0.1


@dataclass
class Limited:
    """An endpoint that answers up to `most` calls at a time, about 0.1 s each, and refuses more with a 429."""

    most: int = 10**9
    retry_after_s: float | None = None
    in_flight: int = 0
    events: list[tuple[float, str, int]] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(4))

    def note(self, what: str) -> None:
        self.events.append((asyncio.get_running_loop().time(), what, self.in_flight))

    async def complete(self, request: Request) -> Completion:
        if self.in_flight >= self.most:
            self.note("refused")
            raise ProviderError("rate_limit", "too many", retryable=True, retry_after_s=self.retry_after_s)
        self.in_flight += 1
        self.note("began")
        try:
            await asyncio.sleep(LATENCY_S * (0.7 + 0.6 * self.chance.random()))
        finally:
            self.in_flight -= 1
            self.note("ended")
        return Completion("yes", stop_reason="stop")

    async def models(self) -> None:
        return None

    async def aclose(self) -> None:
        return None

    def since(self, start: float, what: str) -> list[float]:
        return [time for time, name, _ in self.events if name == what and time >= start]

    def levels(self, start: float) -> Iterator[tuple[int, float]]:
        """(calls in flight, seconds for which so many were)."""
        later = [event for event in self.events if event[0] >= start]
        for (time, _, level), (until, _, _) in pairwise(later):
            yield level, until - time


def call(provider: str = "door", **more: Any) -> Call[Completion]:
    model = ModelSpec(provider, "m", rates=more.pop("rates", None))
    request = Request(model, (Message("user", "q"),))
    values: dict[str, Any] = {"tokens": 0, "expected": Decimal(0), "tokens_of": lambda _: 0, "cost_of": lambda _: None}
    return Call(model, lambda door: door.complete(request), **{**values, **more})


def endpoints(*doors: Limited, **settings: Any) -> Endpoints:
    names = ("door", "other")
    kinds = {
        name: ProviderKind(name, lambda spec, timeout, door=door: door, False, "")  # type: ignore[misc]
        for name, door in zip(names, doors, strict=False)
    }
    return Endpoints(kinds, CallSettings(**settings))


async def keep_asking(opened: Endpoints, seconds: float, made: Call[Completion], askers: int) -> int:
    """Errors, after so many askers asked for so long."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    errors = 0

    async def asker() -> None:
        nonlocal errors
        while loop.time() < end:
            try:
                await opened.make(made)
            except ProviderError:
                errors += 1

    await asyncio.gather(*(asker() for _ in range(askers)))
    return errors


@pytest.mark.parametrize(("concurrency", "retry_after_s"), [(16, None), (64, 0.0), (9, None)])
def test_an_endpoint_that_allows_eight_at_a_time(concurrency: int, retry_after_s: float | None) -> None:
    """Steady within 6 to 8 in flight, under 5 % refused, 85 % of what is possible; another endpoint is not slowed."""
    eight, other, alone = Limited(8, retry_after_s), Limited(), Limited()

    async def main() -> int:
        opened = endpoints(eight, other, concurrency=concurrency)
        errors, _ = await asyncio.gather(
            keep_asking(opened, 30, call(), 2 * concurrency + 2), keep_asking(opened, 30, call("other"), 4)
        )
        await keep_asking(endpoints(alone, concurrency=concurrency), 30, call(), 4)
        return errors

    assert run_virtual(main()) == 0
    began, refused = len(eight.since(10, "began")), len(eight.since(10, "refused"))
    assert refused / (began + refused) < 0.05
    levels = list(eight.levels(10))
    within = sum(seconds for level, seconds in levels if 6 <= level <= 8) / sum(seconds for _, seconds in levels)
    assert within >= 0.95
    assert max(level for level, _ in levels) <= 8
    assert len(eight.since(10, "ended")) >= 0.85 * 20 * 8 / LATENCY_S
    assert len(other.since(0, "ended")) == pytest.approx(len(alone.since(0, "ended")), rel=0.01)


def test_a_limit_that_changes_is_followed() -> None:
    door = Limited(8)

    async def main() -> None:
        opened = endpoints(door, concurrency=16)
        asking = asyncio.ensure_future(keep_asking(opened, 90, call(), 34))
        await asyncio.sleep(30)
        door.most = 3
        await asyncio.sleep(30)
        door.most = 12
        await asking

    run_virtual(main())

    def mean(start: float, end: float) -> float:
        levels = [(level, s) for level, s in door.levels(start)][: len([1 for e in door.events if start <= e[0] < end])]
        return sum(level * seconds for level, seconds in levels) / sum(seconds for _, seconds in levels)

    assert 2.4 <= mean(40, 59) <= 3
    assert 10 <= mean(80, 89) <= 12


def test_a_retry_after_is_the_whole_endpoints() -> None:
    """Else a thousand waiting calls would each learn it by a refusal of their own, and give up after five."""
    door = Limited(retry_after_s=20.0)

    async def main() -> int:
        opened = endpoints(door, concurrency=4)
        asking = [asyncio.ensure_future(opened.make(call())) for _ in range(200)]
        await asyncio.sleep(0.35)
        door.most = 0
        await asyncio.sleep(1)
        door.most = 10**9
        await asyncio.gather(*asking)
        return len(door.since(0, "refused"))

    assert run_virtual(main()) <= 4
    quiet = [time for time in door.since(0.6, "began") if time < 20]
    assert not quiet


@pytest.mark.parametrize(
    ("rates", "tokens", "per_minute"),
    [
        (Rates(requests_per_minute=120), 500, 120),
        (Rates(tokens_per_minute=60_000), 500, 120),
        (Rates(requests_per_minute=600, tokens_per_minute=60_000), 1000, 60),
        (Rates(requests_per_minute=60, tokens_per_minute=600_000), 1000, 60),
    ],
)
@pytest.mark.parametrize("guess", [0, 500, 2000], ids=lambda tokens: f"expected {tokens}")
def test_calls_and_tokens_of_a_minute(rates: Rates, tokens: int, per_minute: int, guess: int) -> None:
    door = Limited()

    async def main() -> None:
        made = call(rates=rates, tokens=guess, tokens_of=lambda _: tokens)
        await keep_asking(endpoints(door, concurrency=8), 300, made, 20)

    run_virtual(main())
    starts = door.since(0, "began")
    for minute in range(1, 5):
        in_minute = sum(60 * minute <= start < 60 * minute + 60 for start in starts)
        assert per_minute * 0.9 <= in_minute <= per_minute * 1.02 + 8


def test_processes_share_the_rates() -> None:
    door = Limited()

    async def main() -> None:
        made = call(rates=Rates(requests_per_minute=60))
        await keep_asking(endpoints(door, processes=4), 60, made, 20)

    run_virtual(main())
    assert sum(start < 60 for start in door.since(0, "began")) == pytest.approx(15, abs=1)


@pytest.mark.parametrize("askers", [1, 16])
@pytest.mark.parametrize("times", [Decimal("0.5"), Decimal(1), Decimal(2)], ids="cost is {} times the expected".format)
def test_a_budget_is_passed_by_no_more_than_the_calls_in_flight(askers: int, times: Decimal) -> None:
    door, cost, most = Limited(), Decimal("0.002"), Decimal("0.1")

    async def main() -> None:
        opened = endpoints(door, concurrency=askers, budget=Budget(most))
        made = call(expected=cost / times, cost_of=lambda _: cost)
        results = await asyncio.gather(*(opened.make(made) for _ in range(200)), return_exceptions=True)
        errors = [result for result in results if isinstance(result, ProviderError)]
        assert {(error.kind, error.attempts) for error in errors} == {("budget", 0)}
        assert "$0.1 (--verica-max-cost)" in errors[0].message

    run_virtual(main())
    spent = cost * len(door.since(0, "ended"))
    assert most - cost / times < spent <= most + (askers * cost if times > 1 else 0), "used, and kept"


def test_a_reservation_whose_process_died_is_not_waited_for_for_ever() -> None:
    ledger = OwnLedger()
    ledger.add(Balance(Decimal(0), Decimal(1)))

    async def main() -> float:
        opened = endpoints(Limited(), budget=Budget(Decimal(1), ledger))
        with pytest.raises(ProviderError, match="not asked"):
            await opened.make(call(expected=Decimal("0.1")))
        return asyncio.get_running_loop().time()

    assert 140 < run_virtual(main()) < 160


def test_no_call_without_a_price_under_a_budget() -> None:
    door = Limited()

    async def main() -> None:
        opened = endpoints(door, budget=Budget(Decimal(1)))
        with pytest.raises(ProviderError, match="no price is known for door/m"):
            await opened.make(call(expected=None))

    run_virtual(main())
    assert not door.events


def test_a_refusal_by_the_budget_after_a_fault_tells_its_attempts() -> None:
    class Faulty(Limited):
        async def complete(self, request: Request) -> Completion:
            self.note("began")
            raise ProviderError("server", "on fire", retryable=True)

    door, budget = Faulty(), Budget(Decimal("0.01"))

    async def main() -> ProviderError:
        opened = endpoints(door, budget=budget, retry=RetryPolicy())
        asking = asyncio.ensure_future(opened.make(call(expected=Decimal("0.01"))))
        await asyncio.sleep(0.1)
        budget.settle(Decimal(0), Decimal("0.005"))  # another call was paid meanwhile
        with pytest.raises(ProviderError) as raised:
            await asking
        return raised.value

    error = run_virtual(main())
    assert (error.kind, error.attempts, len(door.events)) == ("budget", 1, 1)
