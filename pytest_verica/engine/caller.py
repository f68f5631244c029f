"""Asking a model: the stored answer where there is one, else one bought, stored before it is used.

Single flight within the process and, through the store's claims, between processes. Runs on the engine's loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, Protocol, TypeVar

from pytest_verica.completion import Answer, Completion, StoredAnswer
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.engine.embedding import EmbeddingBatches
from pytest_verica.engine.endpoints import Call, CallSettings, Endpoints
from pytest_verica.engine.expectation import Expectation
from pytest_verica.engine.meter import turn
from pytest_verica.errors import ProviderError, StoreError
from pytest_verica.pricing import Prices
from pytest_verica.providers.protocol import Embedder, Provider, ProviderKind
from pytest_verica.request import ModelSpec, Request
from pytest_verica.usage import Usage

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
        self.endpoints = Endpoints(kinds, settings)
        self._expectations: dict[tuple[str, bool], Expectation] = {}
        self._flights: dict[str, asyncio.Future[Answer]] = {}
        self.broken: StoreError | None = None  # the store cannot be used any more: nothing is bought from then on
        self._lookups = _Batch(self._guarded(self._look_up))
        self._claims = _Batch(self._guarded(self._claim))
        self._puts = _Batch(self._guarded(self._put))
        self._embeddings = EmbeddingBatches(self._embed, self._keep)

    def known(self, request: Request) -> StoredAnswer | None:
        """The stored answer that a question would get, None where its model would be asked."""
        kind = self._kinds[request.model.provider]
        if not kind.calls:
            return self._same_question(request)
        return self._look_up([request])[0] if kind.stored else None

    async def ask(self, request: Request) -> Answer:
        """The answer to a request; to an EmbeddingRequest, the packed vector that `Embedding.of` reads.

        Raises:
            ProviderError: it could not be had; `attempts` says how often it was tried.
        """
        while (flight := self._flights.get(request.key)) is not None:
            try:
                return _shared(await turn(asyncio.shield(flight)))
            except ProviderError as error:
                raise error.again() from None
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
    def in_flight(self) -> int:
        """Calls under way now."""
        return self.endpoints.in_flight

    @property
    def warnings(self) -> list[str]:
        """Sentences about the store: what was damaged and set aside."""
        return self._store.warnings

    async def aclose(self) -> None:
        await self._embeddings.aclose()
        await self.endpoints.aclose()
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
            with contextlib.suppress(StoreError):  # what is on its way says more
                self._store.release_many([request.key])
            raise
        if claim.ours:
            self._store.release_many([request.key])
        return _reused(claim.stored)

    def _guarded(self, handle: Callable[[list[T]], list[R]]) -> Callable[[list[T]], list[R]]:
        """The same, which notes that the store has failed: an answer that cannot be kept must not be bought."""

        def guarded(items: list[T]) -> list[R]:
            self._raise_if_broken()
            try:
                return handle(items)
            except StoreError as error:
                self.broken = error
                raise

        return guarded

    def _raise_if_broken(self) -> None:
        if self.broken is not None:
            raise StoreError(str(self.broken))

    def _complete(self, provider: Provider, request: Request) -> Awaitable[Completion]:
        self._raise_if_broken()  # it may have waited for its turn meanwhile
        return provider.complete(request)

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
        cost = self._cost(request.model, completion.usage)
        stored = self._kinds[request.model.provider].stored
        if completion.complete and stored:
            await self._puts.add((request, StoredAnswer(completion, cost, latency, time.time())))
        elif stored:
            self._store.release_many([request.key])
        return Answer(completion, cost, Decimal(0), False, attempts, latency)

    def _keep(self, request: EmbeddingRequest, embedding: Embedding, latency: float) -> None:
        """Stores a vector that was bought for an asker who is gone."""
        if self._kinds[request.model.provider].stored:
            cost = self._cost(request.model, embedding.usage)
            self._puts.add((request, StoredAnswer(embedding.completion(), cost, latency, time.time())))

    async def _call(self, request: Request) -> tuple[Completion, int, float]:
        if isinstance(request, EmbeddingRequest) and self._kinds[request.model.provider].calls:
            embedding, attempts, latency = await self._embeddings.embed(request)
            return embedding.completion(), attempts, latency
        expected = self._expectation(request).usage(request)
        made = await self.endpoints.make(
            Call(
                request.model,
                lambda provider: self._complete(provider, request),
                _tokens(expected) or 0,
                self._cost(request.model, expected),
                lambda completion: _tokens(completion.usage),
                lambda completion: self._cost(request.model, completion.usage),
            )
        )
        self._expectation(request).learn(request, made.answer.usage)
        return made.answer, made.attempts, made.seconds

    async def _embed(self, requests: Sequence[EmbeddingRequest]) -> tuple[list[Embedding], int, float]:
        """One call for several texts of one model."""
        model = requests[0].model

        def make(provider: Provider) -> Awaitable[list[Embedding]]:
            if not isinstance(provider, Embedder):
                message = f"The provider `{model.provider}` offers no embeddings; {model} cannot embed a text."
                raise ProviderError("unsupported", message, attempts=0)
            return provider.embed(requests)

        expected = [self._expectation(request).usage(request) for request in requests]
        made = await self.endpoints.make(
            Call(
                model,
                make,
                sum(_tokens(usage) or 0 for usage in expected),
                _sum([self._cost(model, usage) for usage in expected]),
                lambda vectors: _tokens(Usage.total([vector.usage or Usage() for vector in vectors])),
                lambda vectors: _sum([self._cost(model, vector.usage) for vector in vectors]),
            )
        )
        for request, vector in zip(requests, made.answer, strict=True):
            self._expectation(request).learn(request, vector.usage)
        return made.answer, made.attempts, made.seconds

    def _cost(self, model: ModelSpec, usage: Usage | None) -> Decimal | None:
        return self._prices.cost(model.provider, model.name, usage, base_url=model.base_url)

    def _expectation(self, request: Request) -> Expectation:
        """Of judges apart: they answer in another length than those that they judge."""
        return self._expectations.setdefault((str(request.model), request.answer is not None), Expectation())


def _tokens(usage: Usage | None) -> int | None:
    """In and out together, None where not known."""
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _sum(costs: Sequence[Decimal | None]) -> Decimal | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known, Decimal(0)) if len(known) == len(costs) else None


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
