"""Asking a model: the stored answer where there is one, else one bought, stored before it is used.

Single flight within the process and, through the store's claims, between processes. Runs on the engine's loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Generic, Literal, Protocol, TypeVar

from pytest_verica.completion import Answer, Completion, StoredAnswer
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.engine.embedding import EmbeddingBatches
from pytest_verica.engine.limits import Limiter
from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.errors import ProviderError
from pytest_verica.pricing import Prices
from pytest_verica.providers.protocol import Embedder, Provider, ProviderKind
from pytest_verica.request import ModelSpec, Request

Mode = Literal["reuse", "fresh", "replay"]
POLL_S = 0.02
T = TypeVar("T")
R = TypeVar("R")


class Answers(Protocol):
    """Answers that can be looked up: the response store, or a recorded file."""

    def get_many(self, keys: Iterable[str]) -> dict[str, StoredAnswer]: ...

    def get_by_content(self, content_key: str) -> StoredAnswer | None: ...


class AnswerStore(Answers, Protocol):
    """Answers that can be kept, each bought by one process only."""

    def put_many(self, answers: Sequence[tuple[Request, StoredAnswer]]) -> None: ...

    def claim_many(self, keys: Iterable[str]) -> set[str]: ...

    def release_many(self, keys: Iterable[str]) -> None: ...

    def close(self) -> None: ...

    @property
    def warnings(self) -> list[str]: ...


@dataclass(frozen=True)
class CallSettings:
    """How models are asked.

    mode: `reuse` stored answers, `fresh` takes none bought before `started` (seconds since the epoch), `replay` takes
    nothing else; concurrency: calls in flight per endpoint; request_timeout_s: for one call.
    """

    mode: Mode = "reuse"
    started: float = 0.0
    concurrency: int = 16
    request_timeout_s: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)


class Caller:
    """The one way to a model in a run."""

    def __init__(
        self,
        kinds: Mapping[str, ProviderKind],
        store: AnswerStore,
        recorded: Sequence[Answers],
        prices: Prices,
        settings: CallSettings,
    ) -> None:
        self._kinds = kinds
        self._store = store
        self._recorded = recorded
        self._prices = prices
        self._settings = settings
        self._providers: dict[tuple[str, str | None, str | None], Provider] = {}
        self._limiters: dict[tuple[str, str | None, str | None], Limiter] = {}
        self._flights: dict[str, asyncio.Future[Answer]] = {}
        self._lookups = _Batch(self._look_up)
        self._claims = _Batch(self._claim)
        self._puts = _Batch(self._put)
        self._embeddings = EmbeddingBatches(self._embed)
        self._random = random.Random()  # noqa: S311 - spreads retries, nothing secret
        self.in_flight = 0

    async def ask(self, request: Request) -> Answer:
        """The answer to a request; to an EmbeddingRequest, the packed vector that `Embedding.of` reads.

        Raises:
            ProviderError: it could not be had; `attempts` says how often it was tried.
        """
        while (flight := self._flights.get(request.key)) is not None:
            try:
                return _shared(await asyncio.shield(flight))
            except _Abandoned:
                continue  # the case that was asking ran out of time: this one asks for itself
        flight = asyncio.get_running_loop().create_future()
        self._flights[request.key] = flight
        try:
            answer = await self._answer(request)
        except BaseException as error:
            flight.set_exception(error if isinstance(error, ProviderError) else _Abandoned())
            flight.exception()  # looked at: nobody else may be waiting
            del self._flights[request.key]
            raise
        flight.set_result(answer)
        if answer.completion.complete:
            del self._flights[request.key]  # later askers find it in the store
        return answer

    @property
    def warnings(self) -> list[str]:
        """Sentences about the store: what was damaged and set aside."""
        return self._store.warnings

    async def aclose(self) -> None:
        await self._embeddings.aclose()
        for provider in self._providers.values():
            with contextlib.suppress(Exception):
                await provider.aclose()
        self._providers.clear()
        self._store.close()

    async def _answer(self, request: Request) -> Answer:
        kind = self._kinds[request.model.provider]
        if not kind.calls:
            stored = self._same_question(request)
            # Without one, the door itself says what is missing.
            return await self._buy(request) if stored is None else _reused(stored)
        if not kind.stored:
            return await self._buy(request)
        stored = await self._lookups.add(request)
        if stored is not None:
            return _reused(stored)
        if self._settings.mode == "replay":
            raise ProviderError("not_stored", _not_stored(request), attempts=0)
        claim = await self._claims.add(request)
        while not claim.ours and claim.stored is None:
            # Another process is buying this very answer: wait for it, or for that process to give up or die.
            await asyncio.sleep(POLL_S)
            claim = await self._claims.add(request)
        try:
            if claim.stored is None:
                return await self._buy(request)
        except BaseException:
            self._store.release_many([request.key])
            raise
        if claim.ours:
            self._store.release_many([request.key])
        return _reused(claim.stored)

    def _same_question(self, request: Request) -> StoredAnswer | None:
        sources: list[Answers] = [*self._recorded, self._store]
        return next(filter(None, (source.get_by_content(request.content_key) for source in sources)), None)

    def _look_up(self, requests: list[Request]) -> list[StoredAnswer | None]:
        """The stored answers that this run may use."""
        keys = [request.key for request in requests]
        fresh = self._settings.mode == "fresh"
        found: dict[str, StoredAnswer] = {}
        for source in [self._store] if fresh else [self._store, *reversed(self._recorded)]:
            found.update(source.get_many(keys))
        started = self._settings.started if fresh else 0.0
        return [
            answer if (answer := found.get(key)) is not None and answer.created >= started else None for key in keys
        ]

    def _claim(self, requests: list[Request]) -> list[_Claim]:
        """Who buys what. An answer may have come between the look-up and the claim: it is looked for again."""
        ours = self._store.claim_many([request.key for request in requests])
        stored = self._look_up(requests)
        return [_Claim(request.key in ours, answer) for request, answer in zip(requests, stored, strict=True)]

    def _put(self, answers: list[tuple[Request, StoredAnswer]]) -> list[None]:
        self._store.put_many(answers)
        return [None] * len(answers)

    async def _buy(self, request: Request) -> Answer:
        completion, attempts, latency = await self._call(request)
        model = request.model
        cost = self._prices.cost(model.provider, model.name, completion.usage, base_url=model.base_url)
        stored = self._kinds[model.provider].stored
        if completion.complete and stored:
            await self._puts.add((request, StoredAnswer(completion, cost, latency, time.time())))
        elif stored:
            self._store.release_many([request.key])
        return Answer(completion, cost, Decimal(0), False, attempts, latency)

    async def _call(self, request: Request) -> tuple[Completion, int, float]:
        if isinstance(request, EmbeddingRequest) and self._kinds[request.model.provider].calls:
            embedding, attempts, latency = await self._embeddings.embed(request)
            return embedding.completion(), attempts, latency
        return await self._attempted(request.model, lambda provider: provider.complete(request))

    async def _embed(self, requests: Sequence[EmbeddingRequest]) -> tuple[list[Embedding], int, float]:
        """One call for several texts of one model."""
        model = requests[0].model

        def call(provider: Provider) -> Awaitable[list[Embedding]]:
            if not isinstance(provider, Embedder):
                message = f"The provider `{model.provider}` offers no embeddings; {model} cannot embed a text."
                raise ProviderError("unsupported", message)
            return provider.embed(requests)

        return await self._attempted(model, call)

    async def _attempted(self, model: ModelSpec, call: Callable[[Provider], Awaitable[T]]) -> tuple[T, int, float]:
        """What a call gives, within the endpoint's limit and with its retries; the attempts, and the seconds of the
        last."""
        limiter = self._limiters.get(model.endpoint)
        if limiter is None:
            limiter = self._limiters[model.endpoint] = Limiter(self._settings.concurrency)
        attempt = 0
        while True:
            attempt += 1
            await limiter.acquire()
            outcome: Literal["ok", "limited", "other"] = "other"
            self.in_flight += 1
            started = time.perf_counter()
            try:
                answer = await call(self._provider(model))
                outcome = "ok"
                return answer, attempt, time.perf_counter() - started
            except ProviderError as error:
                if error.kind == "rate_limit":
                    outcome = "limited"
                wait = self._settings.retry.wait_s(attempt, error, self._random)
                if wait is None:
                    raise self._settings.retry.given_up(attempt, error) from None
            finally:
                self.in_flight -= 1
                limiter.release(outcome)
            await asyncio.sleep(wait)

    def _provider(self, model: ModelSpec) -> Provider:
        provider = self._providers.get(model.endpoint)
        if provider is None:
            kind = self._kinds[model.provider]
            provider = self._providers[model.endpoint] = kind.open(model, self._settings.request_timeout_s)
        return provider


def _reused(stored: StoredAnswer) -> Answer:
    return Answer(stored.completion, Decimal(0), stored.cost, True, 0, stored.latency_s)


def _shared(answer: Answer) -> Answer:
    """The same answer for another asker of this run: it was paid once."""
    avoided = answer.cost_avoided if answer.reused else answer.cost
    return Answer(answer.completion, Decimal(0), avoided, True, 0, answer.latency_s)


def _not_stored(request: Request) -> str:
    last = next((m.content for m in reversed(request.messages) if m.content), "") or ""
    return (
        f"no stored answer for {request.model} to {last[:80]!r} (request {request.key[:12]}): "
        "run with --verica-fresh, or once without replay, to buy and store it"
    )


class _Abandoned(Exception):
    """The asker of a shared question went away before its answer came."""


@dataclass(frozen=True)
class _Claim:
    """ours: this process is the one to buy; stored: the answer, where there is one by now."""

    ours: bool
    stored: StoredAnswer | None


class _Batch(Generic[T, R]):
    """Gathers what is added during one turn of the loop and handles it in one go with the store."""

    def __init__(self, handle: Callable[[list[T]], list[R]]) -> None:
        self._handle = handle
        self._waiting: list[tuple[T, asyncio.Future[R]]] = []

    def add(self, item: T) -> Awaitable[R]:
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._flush)
        future: asyncio.Future[R] = loop.create_future()
        self._waiting.append((item, future))
        return future

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            results = self._handle([item for item, _ in waiting])
        except Exception as error:  # noqa: BLE001 - each waiter gets it
            for _, future in waiting:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(waiting, results, strict=True):
            if not future.done():
                future.set_result(result)
