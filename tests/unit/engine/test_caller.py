"""Asking models through the store: bought once, kept before it is used, counted to the last attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.completion import Answer, Completion
from pytest_verica.engine.caller import Caller
from pytest_verica.engine.endpoints import CallSettings
from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.errors import ProviderError
from pytest_verica.pricing import Prices
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.request import Message, ModelSpec, Request
from pytest_verica.store.responses import ResponseStore
from pytest_verica.usage import Usage

# 1,000 tokens in at 2 USD and 500 out at 4 USD the million: 0.002 + 0.002.
USAGE = Usage(1000, 500)
PRICES = Prices({"price": [{"model": "m", "input": Decimal(2), "output": Decimal(4)}]})
COST = Decimal("0.004")


class Model:
    """A provider whose answers are a list of completions and errors, the last of them for ever."""

    def __init__(self, *answers: Completion | ProviderError, latency_s: float = 0.0) -> None:
        self.answers = list(answers) or [Completion("yes", stop_reason="stop", model="m-1", usage=USAGE)]
        self.latency_s = latency_s
        self.calls = 0

    async def complete(self, request: Request) -> Completion:
        self.calls += 1
        await asyncio.sleep(self.latency_s)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ProviderError):
            raise answer
        return answer

    async def models(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


def request(question: str = "q", provider: str = "door", repeat: int = 0) -> Request:
    return Request(ModelSpec(provider, "m"), (Message("user", question),), repeat=repeat)


@pytest.fixture
def caller(tmp_path: Path) -> Callable[..., Caller]:
    def make(model: Model, **settings: Any) -> Caller:
        kinds = {
            "door": ProviderKind("door", lambda spec, timeout: model, False, ""),
            "other": ProviderKind("other", lambda spec, timeout: model, False, ""),
            "replay": ProviderKind("replay", lambda spec, timeout: model, False, "", calls=False),
            "script": ProviderKind("script", lambda spec, timeout: model, False, "", stored=False),
        }
        retry = RetryPolicy(first_wait_s=0.001)
        store = ResponseStore(tmp_path / "responses.sqlite")
        return Caller(kinds, store, [], PRICES, CallSettings(retry=retry, **settings))

    return make


def ask(caller: Caller, *requests: Request) -> list[Any]:
    """Asks all at once; exceptions are among the answers."""

    async def together() -> list[Any]:
        answers = await asyncio.gather(*map(caller.ask, requests), return_exceptions=True)
        await caller.aclose()
        return answers

    return asyncio.run(together())


def test_bought_once_then_reused_with_what_it_cost(caller: Callable[..., Caller]) -> None:
    model = Model()
    [bought] = ask(caller(model), request())
    [reused] = ask(caller(model), request())
    assert (bought.cost, bought.cost_avoided, bought.reused, bought.attempts) == (COST, 0, False, 1)
    assert (reused.cost, reused.cost_avoided, reused.reused, reused.attempts) == (0, COST, True, 0)
    assert reused.completion == bought.completion and model.calls == 1


def test_the_same_question_at_once_is_one_call_paid_once(caller: Callable[..., Caller]) -> None:
    model = Model(latency_s=0.02)
    answers = ask(caller(model), *[request()] * 5)
    assert model.calls == 1
    assert sum(answer.cost for answer in answers) == COST
    assert sum(answer.reused for answer in answers) == 4


def test_an_answer_is_kept_before_its_place_is_taken(caller: Callable[..., Caller], tmp_path: Path) -> None:
    """A kill loses no more answers than calls are under way."""
    kept: list[int] = []

    class Watching(Model):
        async def complete(self, request: Request) -> Completion:
            other = ResponseStore(tmp_path / "responses.sqlite")
            kept.append(other.count())
            other.close()
            return await super().complete(request)

    ask(caller(Watching(), concurrency=1), *(request(f"q{number}") for number in range(4)))
    assert kept == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "other", [request(repeat=1), request("another"), request(provider="other")], ids=["repeat", "question", "door"]
)
def test_another_question_is_another_call(caller: Callable[..., Caller], other: Request) -> None:
    model = Model()
    ask(caller(model), request(), other)
    assert model.calls == 2


def test_two_processes_buy_an_answer_once(caller: Callable[..., Caller]) -> None:
    model = Model(latency_s=0.1)

    async def both() -> list[Answer]:
        # Two callers share nothing but the store, as two processes do.
        one, two = caller(model), caller(model)
        answers = await asyncio.gather(one.ask(request()), two.ask(request()))
        await one.aclose()
        await two.aclose()
        return answers

    answers = asyncio.run(both())
    assert model.calls == 1
    assert sorted(answer.reused for answer in answers) == [False, True]


def test_attempts_are_counted_and_the_answer_is_kept(caller: Callable[..., Caller]) -> None:
    fault = ProviderError("server", "no", retryable=True)
    model = Model(fault, fault, Completion("yes", stop_reason="stop", usage=USAGE))
    [answer] = ask(caller(model), request())
    assert (answer.attempts, answer.cost) == (3, COST)
    assert ask(caller(model), request())[0].reused


def test_an_error_is_told_with_its_attempts_and_nothing_is_kept(caller: Callable[..., Caller]) -> None:
    model = Model(ProviderError("server", "no", retryable=True))
    [error] = ask(caller(model), request())
    assert isinstance(error, ProviderError) and error.attempts == 5
    model.answers = [Completion("yes", stop_reason="stop")]
    assert not ask(caller(model), request())[0].reused


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_truncated_answer_is_used_and_not_kept(caller: Callable[..., Caller], reason: str) -> None:
    model = Model(Completion("ye", stop_reason=reason, usage=USAGE))
    assert [answer.cost for answer in ask(caller(model), request(), request())] == [COST, 0]
    assert model.calls == 1, "within the run it is bought once"
    ask(caller(model), request())
    assert model.calls == 2


def test_unknown_usage_is_an_unknown_cost(caller: Callable[..., Caller]) -> None:
    [answer] = ask(caller(Model(Completion("yes", stop_reason="stop"))), request())
    assert answer.cost is None


def test_fresh_takes_nothing_older_than_the_run(caller: Callable[..., Caller]) -> None:
    model = Model()
    [bought] = ask(caller(model), request())
    assert not ask(caller(model, mode="fresh", started=10**11), request())[0].reused
    assert ask(caller(model, mode="fresh", started=0), request())[0].reused
    assert bought.cost == COST and model.calls == 2


def test_replay_calls_nothing(caller: Callable[..., Caller]) -> None:
    model = Model()
    [error] = ask(caller(model, mode="replay"), request("What is it?"))
    assert error.kind == "not_stored" and "'What is it?'" in str(error) and model.calls == 0
    ask(caller(model), request("What is it?"))
    assert ask(caller(model, mode="replay"), request("What is it?"))[0].reused


def test_the_replay_door_takes_an_answer_bought_through_any_door(caller: Callable[..., Caller]) -> None:
    model = Model()
    ask(caller(model), request())
    assert ask(caller(model), request(provider="replay"))[0].reused
    assert model.calls == 1


def test_a_script_is_not_kept(caller: Callable[..., Caller]) -> None:
    model = Model()
    for _ in range(2):
        assert not ask(caller(model), request(provider="script"))[0].reused
    assert model.calls == 2


def test_an_asker_out_of_time_leaves_the_question_to_the_other(caller: Callable[..., Caller]) -> None:
    model = Model(latency_s=0.05)

    async def impatient() -> Answer:
        asking = caller(model)
        first = asyncio.ensure_future(asking.ask(request()))
        while not model.calls:  # noqa: ASYNC110 - so that it is the first that makes the call
            await asyncio.sleep(0.001)
        second = asyncio.ensure_future(asking.ask(request()))
        await asyncio.sleep(0.01)
        first.cancel()
        answer = await second
        await asking.aclose()
        return answer

    assert asyncio.run(impatient()).completion.text == "yes"
    assert model.calls == 2
