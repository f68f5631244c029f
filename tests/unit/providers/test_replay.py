from __future__ import annotations

import asyncio

import pytest

from pytest_verica.errors import ProviderError
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import Message, ModelSpec, Request

MODEL = ModelSpec("replay", "gpt-4.1")


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [("Short.", "“Short.”"), ("a\n  b", "“a b”"), ("x" * 81, "“" + "x" * 80 + "…”"), (None, "“”")],
)
def test_a_request_without_a_stored_answer_is_named(text: str | None, excerpt: str) -> None:
    asked = Request(MODEL, (Message("system", "s"), Message("user", text)), repeat=2)
    with pytest.raises(ProviderError) as caught:
        asyncio.run(PROVIDERS["replay"].open(MODEL, 1.0).complete(asked))
    error = caught.value
    assert (error.kind, error.retryable) == ("not_stored", False)
    for part in ("`gpt-4.1`", excerpt, "sample 3", asked.content_key[:12], "Run once without replay"):
        assert part in error.message


def test_it_never_calls_and_knows_no_models() -> None:
    async def main() -> object:
        provider = PROVIDERS["replay"].open(MODEL, 1.0)
        await provider.aclose()
        return await provider.models()

    assert PROVIDERS["replay"].calls is False
    assert asyncio.run(main()) is None
