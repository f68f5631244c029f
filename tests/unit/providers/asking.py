"""How these tests ask a provider: one event loop per question, one fake endpoint per test."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.errors import ProviderError
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import AnswerSchema, Message, ModelSpec, Request

KEY = "sk-test-Zq8+w/73k"  # with characters that change when percent-encoded
KEY_NAME = "VERICA_TEST_KEY"


def spec(base_url: str | None, *, provider: str = "openai", name: str = "fake-1", **params: Any) -> ModelSpec:
    return ModelSpec(provider, name, KEY_NAME, base_url, params)


def request(model: ModelSpec, text: str = "What is 2 + 3?", answer: AnswerSchema | None = None) -> Request:
    return Request(model, (Message("user", text),), answer=answer)


def ask(*requests: Request, timeout_s: float = 30.0) -> list[Completion]:
    """The answers, asked at once through one provider."""

    async def main() -> list[Completion]:
        provider = PROVIDERS[requests[0].model.provider].open(requests[0].model, timeout_s)
        try:
            return list(await asyncio.gather(*(provider.complete(each) for each in requests)))
        finally:
            await provider.aclose()
            await provider.aclose()  # safe to call twice

    return asyncio.run(main())


def refused(asked: Request, timeout_s: float = 30.0) -> ProviderError:
    """The error that a question ends in."""
    try:
        answers = ask(asked, timeout_s=timeout_s)
    except ProviderError as error:
        return error
    raise AssertionError(f"it was answered: {answers}")


def models(model: ModelSpec) -> tuple[str, ...] | None:
    async def main() -> tuple[str, ...] | None:
        provider = PROVIDERS[model.provider].open(model, 30.0)
        try:
            return await provider.models()
        finally:
            await provider.aclose()

    return asyncio.run(main())
