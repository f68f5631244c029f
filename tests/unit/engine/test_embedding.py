"""Embeddings through the caller: gathered into few calls, stored, shared, paid once, and split where one is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.completion import Answer, Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.engine.caller import Caller
from pytest_verica.engine.endpoints import CallSettings
from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.errors import ProviderError
from pytest_verica.pricing import Prices
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.providers.replay import REPLAY
from pytest_verica.request import ModelSpec, Request
from pytest_verica.store.responses import ResponseStore
from pytest_verica.usage import Usage

# 10 tokens a text at 2 USD the million.
PRICES = Prices({"price": [{"model": "m", "input": Decimal(2), "output": Decimal(0)}]})
COST = Decimal("0.00002")


class Embeds:
    """Embeds a text as its length; refuses what is in `refused`, and fails as often as `failures` says."""

    def __init__(self, refused: Sequence[str] = (), failures: int = 0) -> None:
        self.refused = refused
        self.failures = failures
        self.calls: list[list[str]] = []

    async def complete(self, request: Request) -> Completion:
        return Completion("an answer", stop_reason="stop")

    async def embed(self, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
        texts = [request.text for request in requests]
        self.calls.append(texts)
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise ProviderError("server", "on fire", retryable=True)
        if set(texts) & set(self.refused):
            raise ProviderError("bad_request", "a text is too long")
        return [Embedding((float(len(text)), 1.0), "m-1", Usage(10, 0, 0, 0)) for text in texts]

    async def models(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


class OnlyAnswers:
    async def complete(self, request: Request) -> Completion:
        return Completion("an answer", stop_reason="stop")

    async def models(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


Ask = Callable[..., list[Any]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    def run(model: Any, *texts: str, provider: str = "door", name: str = "m", **settings: Any) -> list[Any]:
        kinds = {
            "door": ProviderKind("door", lambda spec, timeout: model, False, ""),
            "script": ProviderKind("script", lambda spec, timeout: model, False, "", stored=False),
            "replay": REPLAY,
        }
        retry = RetryPolicy(first_wait_s=0.001)
        store = ResponseStore(tmp_path / "responses.sqlite")
        caller = Caller(kinds, store, [], PRICES, CallSettings(retry=retry, **settings))

        async def together() -> list[Any]:
            requests = [EmbeddingRequest.of(ModelSpec(provider, name), text) for text in texts]
            answers = await asyncio.gather(*map(caller.ask, requests), return_exceptions=True)
            await caller.aclose()
            return answers

        return asyncio.run(together())

    return run


def vector(answer: Answer) -> tuple[float, ...]:
    return Embedding.of(answer.completion).vector


def test_what_is_asked_at_once_is_one_call(ask: Ask) -> None:
    model = Embeds()
    answers = ask(model, "a", "bb", "ccc")
    assert model.calls == [["a", "bb", "ccc"]]
    assert [vector(answer) for answer in answers] == [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]
    assert [(answer.cost, answer.reused, answer.attempts) for answer in answers] == [
        (COST, False, 1),
        (COST, False, 0),  # one call
        (COST, False, 0),
    ]


def test_equal_texts_are_asked_for_and_paid_once(ask: Ask) -> None:
    model = Embeds()
    first, second = ask(model, "same", "same")
    assert model.calls == [["same"]] and vector(first) == vector(second)
    assert (first.cost, second.cost, second.cost_avoided) == (COST, Decimal(0), COST)


def test_a_stored_embedding_is_reused_in_the_next_run(ask: Ask) -> None:
    ask(Embeds(), "a", "bb")
    model = Embeds()
    old, new = ask(model, "a", "new")
    assert model.calls == [["new"]]
    assert (vector(old), old.reused, old.cost, old.cost_avoided) == ((1.0, 1.0), True, Decimal(0), COST)
    assert not new.reused


def test_replay_finds_what_another_door_bought_and_buys_nothing(ask: Ask) -> None:
    ask(Embeds(), "a")
    found, missing = ask(Embeds(), "a", "other", provider="replay")
    assert vector(found) == (1.0, 1.0) and found.reused
    assert isinstance(missing, ProviderError) and missing.kind == "not_stored"


def test_another_model_is_another_call(ask: Ask) -> None:
    ask(Embeds(), "a")
    model = Embeds()
    ask(model, "a", name="m-2")
    assert model.calls == [["a"]]


def test_many_texts_are_several_calls(ask: Ask) -> None:
    model = Embeds()
    ask(model, *[f"{i:04}" for i in range(130)])
    assert sorted(map(len, model.calls)) == [2, 64, 64]
    model = Embeds()
    ask(model, "a" * 90_000, "b" * 90_000, "c" * 200_000)
    assert sorted(len(call[0]) for call in model.calls) == [90_000, 90_000, 200_000]


def test_a_refused_text_takes_no_other_with_it(ask: Ask) -> None:
    model = Embeds(refused=["too long"])
    answers = ask(model, "a", "bb", "too long", "dddd")
    assert [isinstance(answer, ProviderError) for answer in answers] == [False, False, True, False]
    assert vector(answers[3]) == (4.0, 1.0)
    assert len(model.calls) == 5  # all four, two and two, one and one


def test_a_passing_failure_is_tried_again(ask: Ask) -> None:
    model = Embeds(failures=1)
    answers = ask(model, "a", "bb")
    assert [answer.attempts for answer in answers] == [2, 0], "one call, and one again"
    assert model.calls == [["a", "bb"]] * 2


def test_a_lasting_failure_is_everybodys_error(ask: Ask) -> None:
    answers = ask(Embeds(failures=1000), "a", "bb")
    assert [(answer.kind, answer.attempts > 1) for answer in answers] == [("server", True), ("server", False)], (
        "the call is counted once"
    )


def test_a_door_without_embeddings_says_so(ask: Ask) -> None:
    [answer] = ask(OnlyAnswers(), "a")
    assert answer.kind == "unsupported" and "offers no embeddings" in answer.message


def test_a_script_is_not_stored(ask: Ask) -> None:
    ask(Embeds(), "a", provider="script")
    model = Embeds()
    ask(model, "a", provider="script")
    assert model.calls == [["a"]]


def test_a_case_that_went_away_does_not_disturb_the_others() -> None:
    from pytest_verica.engine.embedding import EmbeddingBatches

    async def main() -> Any:
        started = asyncio.Event()

        async def call(requests: Sequence[EmbeddingRequest]) -> tuple[list[Embedding], int, float]:
            started.set()
            await asyncio.sleep(0.01)
            return [Embedding((1.0,))] * len(requests), 1, 0.01

        kept: list[str] = []
        batches = EmbeddingBatches(call, lambda request, vector, seconds: kept.append(request.text))
        model = ModelSpec("door", "m")
        gone, stays = (asyncio.ensure_future(batches.embed(EmbeddingRequest.of(model, text))) for text in "ab")
        await started.wait()
        gone.cancel()
        embedding, attempts, _ = await stays
        late = asyncio.ensure_future(batches.embed(EmbeddingRequest.of(model, "c")))
        started.clear()
        await started.wait()
        await batches.aclose()
        return (
            embedding.vector,
            attempts,
            gone.cancelled(),
            kept,
            (await asyncio.gather(late, return_exceptions=True))[0],
        )

    vector, attempts, gone, kept, late = asyncio.run(main())
    assert (vector, attempts, gone, kept) == ((1.0,), 1, True, ["a"])
    assert isinstance(late, asyncio.CancelledError)


def test_a_vector_bought_for_a_case_that_went_away_is_stored(tmp_path: Path) -> None:
    """It was paid for: the next run must not pay again."""
    model = Embeds()

    async def main() -> list[Answer]:
        kinds = {"door": ProviderKind("door", lambda spec, timeout: model, False, "")}
        caller = Caller(kinds, ResponseStore(tmp_path / "responses.sqlite"), [], PRICES, CallSettings())
        spec = ModelSpec("door", "m")
        gone, stays = (asyncio.ensure_future(caller.ask(EmbeddingRequest.of(spec, text))) for text in "ab")
        while not model.calls:  # noqa: ASYNC110 - until the call is out
            await asyncio.sleep(0)
        gone.cancel()
        await stays
        again = await caller.ask(EmbeddingRequest.of(spec, "a"))
        await caller.aclose()
        return [again]

    [again] = asyncio.run(main())
    assert (again.reused, again.cost_avoided) == (True, COST)
    assert model.calls == [["a", "b"]]
