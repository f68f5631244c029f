"""Answers with anything in the place of anything: read, or said to be no answer; never a crash, never a guess."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_verica.completion import Completion
from pytest_verica.embedding import EmbeddingRequest
from pytest_verica.providers import chat_wire, embedding_wire, gemini_wire, messages_wire, responses_wire
from pytest_verica.providers.error_body import error_inside, read_error
from pytest_verica.providers.reading import NotACompletion
from pytest_verica.request import AnswerSchema, ModelSpec

CHAT = {
    "model": "m",
    "choices": [
        {
            "message": {
                "content": [{"type": "text", "text": "a"}],
                "refusal": None,
                "tool_calls": [{"id": "c", "function": {"name": "verdict", "arguments": "{}"}}],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
}
RESPONSE = {
    "model": "m",
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
    "error": None,
    "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "a"}, {"type": "refusal", "refusal": "b"}]},
        {"type": "function_call", "call_id": "c", "name": "verdict", "arguments": "{}"},
    ],
    "usage": {"input_tokens": 1, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 0}},
}
MESSAGE = {
    "model": "m",
    "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "c", "name": "verdict", "input": {}}],
    "stop_reason": "refusal",
    "stop_details": {"category": "bio", "explanation": "no"},
    "usage": {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 0},
}
GEMINI = {
    "modelVersion": "m",
    "candidates": [
        {
            "content": {"parts": [{"text": "a"}, {"functionCall": {"id": "c", "name": "verdict", "args": {}}}]},
            "finishReason": "STOP",
        }
    ],
    "promptFeedback": {"blockReason": "OTHER"},
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "thoughtsTokenCount": 3},
}
READERS: dict[str, tuple[Any, Callable[[Any, AnswerSchema | None], Completion]]] = {
    "chat": (CHAT, chat_wire.read_completion),
    "responses": (RESPONSE, responses_wire.read_completion),
    "messages": (MESSAGE, messages_wire.read_completion),
    "gemini": (GEMINI, gemini_wire.read_completion),
}
FORCED = AnswerSchema("verdict", {"type": "object"}, "tool")
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 10**20),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.sampled_from(["type", "text", "name"]), st.integers(), max_size=2),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def with_odd(value: Any, at: tuple[Any, ...], odd: Any) -> Any:
    if not at:
        return odd
    changed = copy.deepcopy(value)
    inside = changed
    for key in at[:-1]:
        inside = inside[key]
    inside[at[-1]] = odd
    return changed


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=150)
@given(data=st.data())
def test_anything_in_the_place_of_anything(name: str, data: st.DataObject) -> None:
    whole, read = READERS[name]
    at = data.draw(st.sampled_from(list(places(whole))))
    odd = with_odd(whole, at, data.draw(ODD))
    for answer in (None, FORCED):
        try:
            found = read(odd, answer)
        except NotACompletion:
            continue
        assert found.text is None or isinstance(found.text, str)
        assert found.stop_reason is None or isinstance(found.stop_reason, str)
        assert found.refusal is None or isinstance(found.refusal, str)
        json.dumps(found.to_json())


@given(ODD, ODD)
def test_no_error_breaks_its_reader(one: Any, other: Any) -> None:
    for body in (one, {"error": one}, {"error": {"details": [one], "message": other, "code": other}}):
        assert read_error(json.dumps(body).encode()).message
        if isinstance(body, dict):
            assert error_inside(body) is None or 400 <= (error_inside(body) or 0) < 600


@given(ODD)
def test_no_embedding_breaks_its_reader(odd: Any) -> None:
    asked = [EmbeddingRequest.of(ModelSpec("p", "m"), "a")]
    for data in (
        odd,
        {"data": odd},
        {"data": [odd]},
        {"embeddings": odd},
        {"embeddings": [odd]},
        {"data": [{"embedding": odd, "index": odd}]},
    ):
        for read in (embedding_wire.read_embeddings, gemini_wire.read_embeddings):
            try:
                read(data, asked)
            except embedding_wire.NotEmbeddings:
                continue
