"""Calls to endpoints: each within its limits, its budget and its retries, each attempt counted."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Generic, Literal, TypeVar

from pytest_verica.engine.budget import Budget
from pytest_verica.engine.limits import CallOutcome, Limiter
from pytest_verica.engine.meter import METER, turn
from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.errors import ProviderError
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec, Rates

Mode = Literal["reuse", "fresh", "replay"]
T = TypeVar("T")

Name = tuple[str, "str | None", "str | None"]


@dataclass(frozen=True)
class CallSettings:
    """How models are asked.

    mode: `reuse` stored answers, `fresh` takes none bought before `started` (seconds since the epoch), `replay` takes
    nothing else; concurrency: calls in flight per endpoint; request_timeout_s: for one call; processes: that share the
    rates of the endpoints; budget: None where there is none.
    """

    mode: Mode = "reuse"
    started: float = 0.0
    concurrency: int = 16
    request_timeout_s: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    processes: int = 1
    budget: Budget | None = None


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call to make. make: makes it, once; tokens: that it is expected to use; expected: USD that it is expected to
    cost, None where the price is unknown; tokens_of, cost_of: what an answer used and cost, None where not known."""

    model: ModelSpec
    make: Callable[[Provider], Awaitable[T]]
    tokens: int
    expected: Decimal | None
    tokens_of: Callable[[T], int | None]
    cost_of: Callable[[T], Decimal | None]


@dataclass(frozen=True)
class Made(Generic[T]):
    """A call that was answered. attempts: calls made for it; seconds: of the last of them."""

    answer: T
    attempts: int
    seconds: float


class Endpoints:
    """The doors of a run, opened when first needed, each with its limiter."""

    def __init__(self, kinds: Mapping[str, ProviderKind], settings: CallSettings) -> None:
        self._kinds = kinds
        self._settings = settings
        self._providers: dict[Name, Provider] = {}
        self._limiters: dict[Name, Limiter] = {}
        self._rates_of: dict[Name, set[Rates]] = {}
        self._random = random.Random()  # noqa: S311 - spreads retries, nothing secret
        self.in_flight = 0

    async def make(self, call: Call[T]) -> Made[T]:
        """Makes a call, again where that may help.

        Raises:
            ProviderError: there was no answer; `attempts` says how often it was tried.
        """
        retry = self._settings.retry
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._once(call, attempt)
            except ProviderError as error:
                wait = None if error.kind == "budget" else retry.wait_s(attempt, error, self._random)
                if wait is None:
                    raise (error if error.kind == "budget" else retry.given_up(attempt, error)) from None
            await asyncio.sleep(wait)

    async def _once(self, call: Call[T], attempt: int) -> Made[T]:
        limiter = self.limiter(call.model)
        await turn(limiter.acquire(call.tokens))
        outcome: CallOutcome = "other"
        used = 0
        try:
            made = await self._attempt(call, attempt)
            outcome = "ok"
            tokens = call.tokens_of(made.answer)
            used = call.tokens if tokens is None else tokens
            return made
        except ProviderError as error:
            if error.kind == "rate_limit":
                outcome = "limited"
                limiter.pause(min(error.retry_after_s or 0.0, self._settings.retry.max_wait_s))
            raise
        finally:
            limiter.settle(call.tokens, used)
            # Its place is free when the loop comes round again. By then the answer is stored: whoever kills the process
            # loses what is under way, and nothing that came before the last calls went out.
            asyncio.get_running_loop().call_soon(limiter.release, outcome)

    async def _attempt(self, call: Call[T], attempt: int) -> Made[T]:
        """One attempt: it is counted, and paid for out of the budget. What a cancelled one cost is not known."""
        budget = self._settings.budget
        reserved, cost = Decimal(0), None
        if budget is not None:
            reserved = await turn(budget.enter(call.model, call.expected, attempt - 1, lambda: self.in_flight > 0))
        meter = METER.get()
        if meter is not None:
            meter.attempts += 1
        self.in_flight += 1
        started = time.perf_counter()
        try:
            answer = await call.make(self.provider(call.model))
            cost = call.cost_of(answer)
            return Made(answer, attempt, time.perf_counter() - started)
        except ProviderError:
            cost = Decimal(0)
            raise
        finally:
            self.in_flight -= 1
            if budget is not None:
                budget.settle(reserved, cost)

    def limiter(self, model: ModelSpec) -> Limiter:
        """The limiter of a model's endpoint."""
        limiter = self._limiters.get(model.endpoint)
        if limiter is None:
            clock = asyncio.get_running_loop().time
            limiter = self._limiters[model.endpoint] = Limiter(self._settings.concurrency, clock=clock)
        if model.rates is not None:
            known = self._rates_of.setdefault(model.endpoint, set())
            if model.rates not in known:
                known.add(model.rates)
                limiter.tighten(_shared(model.rates, self._settings.processes))
        return limiter

    def provider(self, model: ModelSpec) -> Provider:
        """The door to a model's endpoint.

        Raises:
            ProviderError: it cannot be opened.
        """
        provider = self._providers.get(model.endpoint)
        if provider is None:
            kind = self._kinds[model.provider]
            provider = self._providers[model.endpoint] = kind.open(model, self._settings.request_timeout_s)
        return provider

    async def aclose(self) -> None:
        for provider in self._providers.values():
            with contextlib.suppress(Exception):
                await provider.aclose()
        self._providers.clear()


def _shared(rates: Rates, processes: int) -> Rates:
    """The part of one of the processes."""
    requests, tokens = rates.requests_per_minute, rates.tokens_per_minute
    return Rates(None if requests is None else requests / processes, None if tokens is None else tokens / processes)
