"""Chat Completions and Responses: requests are what the installed SDK sends; Responses' answers are read."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from typing import Any

import openai
import pytest
from openai.types.responses import Response
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter

from pytest_verica.completion import Completion
from pytest_verica.embedding import EmbeddingRequest
from pytest_verica.providers.responses_wire import read_completion, request_body
from pytest_verica.request import AnswerSchema, ModelSpec
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage
from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import KEY, KEY_NAME, refused
from tests.unit.providers.wire import (
    LOOK_UP,
    LOOK_UP_SCHEMA,
    SCHEMA,
    TALK,
    embedded,
    headers,
    plain,
    request,
    same_body,
    sent_by_sdk,
    sent_by_us,
    verdict,
)

PARAMS = TypeAdapter(ResponseCreateParamsNonStreaming)  # it must outlive what it gives, which is checked as it is read
MODEL = "gpt-4.1"
USER = [{"role": "user", "content": "¿Where are 17 and 18?"}]
CHAT_ANSWER = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
CHAT_TOOL = {
    "type": "function",
    "function": {"name": "look_up", "description": "Finds an order.", "parameters": LOOK_UP_SCHEMA},
}


def chat_call(identifier: str, order: str) -> dict[str, Any]:
    arguments = json.dumps({"order": order})
    return {"id": identifier, "type": "function", "function": {"name": "look_up", "arguments": arguments}}


CHAT_TALK = [
    {"role": "system", "content": "Be short."},
    *USER,
    {"role": "assistant", "content": "I look.", "tool_calls": [chat_call("c1", "17"), chat_call("c2", "18")]},
    {"role": "tool", "tool_call_id": "c1", "content": '{"state": "shipped"}'},
    {"role": "tool", "tool_call_id": "c2", "content": "lost"},
    {"role": "user", "content": "And now?"},
]
CHAT_CALLS: list[Any] = [
    pytest.param({}, {"messages": USER}, id="plain"),
    pytest.param(
        {"temperature": 0, "max_tokens": 50, "top_p": 0.5, "seed": 7, "stop": ["END"], "extra": {"user": "qa"}},
        {
            "messages": USER,
            "temperature": 0,
            "max_completion_tokens": 50,
            "top_p": 0.5,
            "seed": 7,
            "stop": ["END"],
            "user": "qa",
        },
        id="parameters",
    ),
    pytest.param(
        {"name": "gpt-5-mini", "reasoning_effort": "low", "verbosity": "low", "temperature": 0, "top_p": 0.5},
        {"model": "gpt-5-mini", "messages": USER, "reasoning_effort": "low", "verbosity": "low"},
        id="a reasoning model is sent no temperature",
    ),
    pytest.param(
        {"messages": TALK, "tools": (LOOK_UP,)}, {"messages": CHAT_TALK, "tools": [CHAT_TOOL]}, id="tools and results"
    ),
    pytest.param(
        {"answer": verdict()},
        {
            "messages": USER,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
            },
        },
        id="structured",
    ),
    pytest.param(
        {"answer": verdict("json_object")},
        {"messages": USER, "response_format": {"type": "json_object"}},
        id="any JSON",
    ),
    pytest.param(
        {"answer": verdict("tool"), "tools": (LOOK_UP,)},
        {
            "messages": USER,
            "tools": [
                CHAT_TOOL,
                {
                    "type": "function",
                    "function": {"name": "verdict", "description": "Gives the answer.", "parameters": SCHEMA},
                },
            ],
            "tool_choice": {"type": "function", "function": {"name": "verdict"}},
        },
        id="forced tool",
    ),
]


def sdk(fake: FakeProvider) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key=KEY, base_url=fake.url, max_retries=0)


@pytest.mark.parametrize(("asked", "call"), CHAT_CALLS)
def test_a_chat_request_is_what_the_sdk_sends(fake: FakeProvider, asked: dict[str, Any], call: dict[str, Any]) -> None:
    asked = {"name": MODEL, **asked}
    ours = sent_by_us(fake, request("openai", url=fake.url, **asked), CHAT_ANSWER)

    async def by_sdk() -> object:
        async with sdk(fake) as client:
            return await client.chat.completions.create(**{"model": MODEL, **call})

    theirs = sent_by_sdk(fake, CHAT_ANSWER, by_sdk)
    same_body(ours, theirs)
    assert headers(ours) == headers(theirs)


def test_a_compatible_server_is_sent_the_same_under_the_older_name(fake: FakeProvider) -> None:
    ours = sent_by_us(fake, request("openai", MODEL, fake.url, max_tokens=9, temperature=0), CHAT_ANSWER)
    theirs = sent_by_us(fake, request("openai_compatible", MODEL, fake.url, max_tokens=9, temperature=0), CHAT_ANSWER)
    assert {**json.loads(theirs.body), "max_completion_tokens": 9} == {**json.loads(ours.body), "max_tokens": 9}


def test_embeddings_are_asked_for_as_the_sdk_asks(fake: FakeProvider) -> None:
    reply = {"data": [{"index": 0, "embedding": [1, 0.5]}], "usage": {"prompt_tokens": 2}}
    model = ModelSpec("openai", "text-embedding-3-small", KEY_NAME, fake.url, {"extra": {"dimensions": 2}})
    fake.script((200, {}, json.dumps(reply).encode()))
    assert [one.vector for one in embedded([EmbeddingRequest.of(model, "ab")])] == [(1.0, 0.5)]
    ours = fake.received[-1]

    async def by_sdk() -> object:
        async with sdk(fake) as client:
            return await client.embeddings.create(
                model="text-embedding-3-small", input=["ab"], dimensions=2, encoding_format="float"
            )

    same_body(ours, sent_by_sdk(fake, reply, by_sdk))


# Responses


def answer(*output: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    """A whole answer, as the SDK's own type has it."""
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-4.1-2025",
        "status": status,
        "output": list(output),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "usage": None,
        **more,
    }


def said(*content: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": status, "content": list(content)}


def text(words: str) -> dict[str, Any]:
    return {"type": "output_text", "text": words, "annotations": []}


def called(identifier: str, arguments: str, name: str = "look_up") -> dict[str, Any]:
    return {"type": "function_call", "call_id": identifier, "name": name, "arguments": arguments}


TOOL = {
    "type": "function",
    "name": "look_up",
    "description": "Finds an order.",
    "parameters": LOOK_UP_SCHEMA,
    "strict": False,
}
RESPONSE_CALLS: list[Any] = [
    pytest.param({}, {"input": USER}, id="plain"),
    pytest.param(
        {
            "temperature": 0,
            "max_tokens": 50,
            "top_p": 0.5,
            "seed": 7,  # Responses has none
            "stop": "END",  # nor this
            "extra": {"metadata": {"team": "qa"}, "store": True},
        },
        {
            "input": USER,
            "temperature": 0,
            "max_output_tokens": 50,
            "top_p": 0.5,
            "metadata": {"team": "qa"},
            "store": True,
        },
        id="parameters",
    ),
    pytest.param(
        {"name": "gpt-5", "reasoning_effort": "low", "verbosity": "low", "answer": verdict(), "temperature": 0},
        {
            "model": "gpt-5",
            "input": USER,
            "reasoning": {"effort": "low"},
            "text": {
                "verbosity": "low",
                "format": {"type": "json_schema", "name": "verdict", "strict": True, "schema": SCHEMA},
            },
        },
        id="structured",
    ),
    pytest.param(
        {"answer": verdict("json_object")},
        {"input": USER, "text": {"format": {"type": "json_object"}}},
        id="any JSON",
    ),
    pytest.param(
        {"answer": verdict("tool")},
        {
            "input": USER,
            "tools": [
                {
                    "type": "function",
                    "name": "verdict",
                    "description": "Gives the answer.",
                    "parameters": SCHEMA,
                    "strict": False,
                }
            ],
            "tool_choice": {"type": "function", "name": "verdict"},
        },
        id="forced tool",
    ),
    pytest.param(
        {"messages": TALK, "tools": (LOOK_UP,)},
        {
            "input": [
                {"role": "system", "content": "Be short."},
                *USER,
                {"role": "assistant", "content": "I look."},
                called("c1", '{"order": "17"}'),
                called("c2", '{"order": "18"}'),
                {"type": "function_call_output", "call_id": "c1", "output": '{"state": "shipped"}'},
                {"type": "function_call_output", "call_id": "c2", "output": "lost"},
                {"role": "user", "content": "And now?"},
            ],
            "tools": [TOOL],
        },
        id="tools and results",
    ),
]


@pytest.mark.parametrize(("asked", "call"), RESPONSE_CALLS)
def test_a_response_is_asked_for_as_the_sdk_asks(
    fake: FakeProvider, asked: dict[str, Any], call: dict[str, Any]
) -> None:
    asked = {"name": MODEL, **asked}
    ours = sent_by_us(fake, request("openai", url=fake.url, api="responses", **asked), answer(said(text("hi"))))
    body = json.loads(ours.body)
    assert plain(PARAMS.validate_python(body)) == body  # the SDK's own types take it, and converted nothing

    async def by_sdk() -> object:
        async with sdk(fake) as client:
            # What is kept by the provider is kept only where it is asked to.
            asking: Awaitable[object] = client.responses.create(**{"model": MODEL, "store": False, **call})
            return await asking

    theirs = sent_by_sdk(fake, answer(said(text("hi"))), by_sdk)
    same_body(ours, theirs)
    assert headers(ours) == headers(theirs)


ANSWERS: list[Any] = [
    pytest.param(answer(said(text("hel"), text("lo"))), Completion("hello", (), "stop"), id="text"),
    pytest.param(answer(), Completion(None, (), "stop"), id="empty"),
    pytest.param(
        answer({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}, said(text("so"))),
        Completion("so", (), "stop"),
        id="thoughts are no text",
    ),
    pytest.param(
        answer(
            said(text("cut"), status="incomplete"),
            status="incomplete",
            incomplete_details={"reason": "max_output_tokens"},
        ),
        Completion("cut", (), "length"),
        id="truncated",
    ),
    pytest.param(
        answer(status="incomplete", incomplete_details={"reason": "content_filter"}),
        Completion(None, (), "content_filter"),
        id="filtered",
    ),
    pytest.param(
        answer(status="failed", error={"code": "bio_policy", "message": "No."}),
        Completion(None, (), "content_filter"),
        id="filtered by policy",
    ),
    pytest.param(
        answer(said({"type": "refusal", "refusal": "I will not."})),
        Completion(None, (), "refusal", "I will not."),
        id="refusal",
    ),
    pytest.param(
        answer(called("f1", '{"order": "17"}'), called("f2", "{broken")),
        Completion(
            None,
            (
                ToolCall("look_up", {"order": "17"}, '{"order": "17"}', "f1"),
                ToolCall("look_up", None, "{broken", "f2"),
            ),
            "tool_calls",
        ),
        id="tool calls",
    ),
    pytest.param(answer(status="cancelled"), Completion(None, (), "cancelled"), id="another status"),
]


@pytest.mark.parametrize(("data", "expected"), ANSWERS)
def test_an_answer_of_the_sdks_types_is_read(data: dict[str, Any], expected: Completion) -> None:
    wire = Response.model_validate(data).model_dump(mode="json", by_alias=True)
    for read in (read_completion(data, None), read_completion(wire, None)):
        assert (read.text, read.tool_calls, read.stop_reason, read.refusal) == (
            expected.text,
            expected.tool_calls,
            expected.stop_reason,
            expected.refusal,
        )
        assert (read.model, read.usage) == ("gpt-4.1-2025", None)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "input_tokens": 150,
                "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 0},
                "output_tokens": 39,
                "output_tokens_details": {"reasoning_tokens": 30},
                "total_tokens": 189,
            },
            Usage(150, 39, 100, 30),
        ),
        ({"input_tokens": 150, "output_tokens": 39}, Usage(150, 39, None, None)),
        ({}, Usage()),
        (None, None),
    ],
)
def test_usage(usage: Any, expected: Usage | None) -> None:
    assert read_completion(answer(said(text("x")), usage=usage), None).usage == expected


def test_a_forced_calls_arguments_are_the_text() -> None:
    data = answer(called("f", '{"reasoning": "é", "label": "good"}', "verdict"))
    found = read_completion(data, AnswerSchema("verdict", SCHEMA, "tool"))
    assert (found.text, found.tool_calls) == ('{"reasoning": "é", "label": "good"}', ())


@pytest.mark.parametrize(
    ("data", "kind", "retryable", "words"),
    [
        ([], "malformed", True, "not an object"),
        ({}, "malformed", True, "no `output`"),
        (answer(status="in_progress"), "malformed", True, "extra.background"),
        (answer(called("f", "{}", None)), "malformed", True, "no function name"),  # type: ignore[arg-type]
        (answer(status="failed", error={"code": "server_error", "message": "Oh."}), "server", True, "Oh."),
        (
            answer(status="failed", error={"code": "rate_limit_exceeded", "message": "Slow."}),
            "rate_limit",
            True,
            "Slow",
        ),
        (answer(status="failed", error={"code": "invalid_prompt", "message": "Odd."}), "bad_request", False, "Odd"),
    ],
)
def test_what_is_no_answer(fake: FakeProvider, data: Any, kind: str, retryable: bool, words: str) -> None:
    fake.script((200, {}, json.dumps(data).encode()))
    error = refused(request("openai", MODEL, fake.url, api="responses"))
    assert (error.kind, error.retryable) == (kind, retryable) and words in error.message


def test_the_reasoning_is_asked_for_before_the_verdict() -> None:
    body = request_body(request("openai", MODEL, "http://x", api="responses", answer=verdict()))
    assert list(body["text"]["format"]["schema"]["properties"]) == ["reasoning", "label"]


def test_a_compatible_server_may_speak_responses_too(fake: FakeProvider) -> None:
    asked = request("openai_compatible", "local", fake.url, api="responses", temperature=0)
    sent = sent_by_us(fake, asked, answer(said(text("hi"))))
    assert sent.target == "/v1/responses" and json.loads(sent.body)["temperature"] == 0


def test_an_api_that_a_provider_has_not_is_refused(fake: FakeProvider) -> None:
    error = refused(request("anthropic", "claude-sonnet-5", fake.root, api="responses"))
    assert error.kind == "bad_request" and "has no API `responses`" in error.message
    assert fake.stats()["requests"] == 0


def test_the_api_is_a_part_of_the_door_and_not_of_the_question() -> None:
    chat, responses = (request("openai", MODEL, "http://x", api=api) for api in (None, "responses"))
    assert chat.key != responses.key and chat.content_key == responses.content_key
