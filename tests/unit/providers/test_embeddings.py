"""Embeddings over real HTTP: what is sent, what is read, how a call's tokens are shared, and every other door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.errors import ProviderError
from pytest_verica.providers.embedding_wire import NotEmbeddings, embeddings_body, read_embeddings
from pytest_verica.providers.protocol import Embedder
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.providers.scripted import ScriptedProvider
from pytest_verica.request import ModelSpec
from pytest_verica.usage import Usage
from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import spec

ANSWER = {
    "object": "list",
    "model": "embed-1",
    "data": [
        {"object": "embedding", "index": 1, "embedding": [0, 1]},
        {"object": "embedding", "index": 0, "embedding": [1.5, 0]},
    ],
    "usage": {"prompt_tokens": 9, "total_tokens": 9},
}


def asked(model: ModelSpec, *texts: str) -> list[EmbeddingRequest]:
    return [EmbeddingRequest.of(model, text) for text in texts]


def embed(requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
    async def main() -> list[Embedding]:
        provider = PROVIDERS[requests[0].model.provider].open(requests[0].model, 30.0)
        assert isinstance(provider, Embedder)
        try:
            return await provider.embed(requests)
        finally:
            await provider.aclose()

    return asyncio.run(main())


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("provider", ["openai", "openai_compatible"])
def test_texts_are_embedded_in_one_call(fake: FakeProvider, provider: str) -> None:
    fake.script((200, {}, json.dumps(ANSWER).encode()))
    found = embed(asked(spec(fake.url, provider=provider, name="embed-1", extra={"dimensions": 2}), "ab", "abcd"))
    assert [one.vector for one in found] == [(1.5, 0.0), (0.0, 1.0)]
    # 9 tokens for 2 and 4 bytes.
    assert [one.usage for one in found] == [Usage(3, 0, 0, 0), Usage(6, 0, 0, 0)]
    assert {one.model for one in found} == {"embed-1"}
    [received] = fake.received
    assert received.target.endswith("/embeddings")
    assert json.loads(received.body) == {
        "model": "embed-1",
        "input": ["ab", "abcd"],
        "encoding_format": "float",
        "dimensions": 2,
    }


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ((401, {}, b'{"error": {"message": "bad key"}}'), "auth"),
        ((429, {}, b"{}"), "rate_limit"),
        ((400, {}, b'{"error": {"message": "too long"}}'), "bad_request"),
        ((200, {}, b"<html>"), "malformed"),
        ((200, {}, b'{"data": []}'), "malformed"),
        ((200, {}, b'{"error": {"message": "overloaded", "code": 529}}'), "server"),
    ],
)
def test_a_refusal_is_classified_as_for_any_call(fake: FakeProvider, reply: Any, kind: str) -> None:
    fake.script(reply)
    with pytest.raises(ProviderError) as caught:
        embed(asked(spec(fake.url), "ab"))
    assert caught.value.kind == kind


def _with(**keys: Any) -> dict[str, Any]:
    return {**ANSWER, **keys}


NOT_EMBEDDINGS = [
    ([], "no `data`"),
    ({"data": {}}, "no `data`"),
    (_with(data=ANSWER["data"][:1]), "1 embeddings for 2 texts"),  # type: ignore[index]
    (_with(data=[ANSWER["data"][0]] * 2), "which embedding is which text's"),  # type: ignore[index]
    (_with(data=[1, 2]), "which embedding is which text's"),
    (_with(data=[{"embedding": "AAAA"}, {"embedding": [1]}]), "not a list of numbers"),
    (_with(data=[{"embedding": []}, {"embedding": [1]}]), "not a list of numbers"),
    (_with(data=[{"embedding": [None]}, {"embedding": [1]}]), "no finite number"),
    (_with(data=[{"embedding": [float("nan")]}, {"embedding": [1]}]), "no finite number"),
]


@pytest.mark.parametrize(("data", "says"), NOT_EMBEDDINGS)
def test_what_is_no_list_of_embeddings(data: Any, says: str) -> None:
    with pytest.raises(NotEmbeddings, match=says):
        read_embeddings(data, asked(ModelSpec("openai", "m"), "a", "b"))


@given(st.lists(st.text(max_size=6), min_size=1, max_size=8), st.integers(0, 100))
def test_no_token_is_lost_or_made(texts: list[str], tokens: int) -> None:
    requests = asked(ModelSpec("openai", "m"), *texts)
    data = {"data": [{"embedding": [1]} for _ in texts], "usage": {"prompt_tokens": tokens}}
    shares = [one.usage for one in read_embeddings(data, requests)]
    assert sum(share.input_tokens or 0 for share in shares if share is not None) == tokens
    assert all(share is not None and share.output_tokens == 0 for share in shares)


def test_a_call_without_usage_has_none() -> None:
    [one] = read_embeddings({"data": [{"embedding": [1]}]}, asked(ModelSpec("openai", "m"), "a"))
    assert one.usage is None


def test_any_text_is_sent() -> None:
    body = embeddings_body(asked(ModelSpec("openai", "m"), "\ud800 \x00 日本"))
    assert json.dumps(body).isascii()


def test_a_script_may_hold_vectors() -> None:
    script = ScriptedProvider({"near": [1.0, 0], "far": [0, 1], "odd": "a text"})
    requests = asked(ModelSpec("scripted", "x:y"), "near", "far")
    assert [one.vector for one in asyncio.run(script.embed(requests))] == [(1.0, 0.0), (0.0, 1.0)]
    with pytest.raises(ProviderError, match="its answer is a str, not a vector"):
        asyncio.run(script.embed(asked(ModelSpec("scripted", "x:y"), "odd")))


def test_the_local_door_answers_no_questions() -> None:
    door = PROVIDERS["local"].open(ModelSpec("local", "any"), 1.0)
    with pytest.raises(ProviderError, match="answers no questions"):
        asyncio.run(door.complete(asked(ModelSpec("local", "any"), "a")[0]))
    assert asyncio.run(door.models()) is None
