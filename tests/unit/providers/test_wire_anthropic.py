"""Messages: requests are what the installed SDK sends and its types allow; answers built of its types are read."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import pytest
from anthropic.lib._parse._transform import transform_schema
from anthropic.types import Message as SdkMessage
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter

from pytest_verica.completion import Completion
from pytest_verica.judge.verdict import verdict_schema
from pytest_verica.providers.anthropic import VERSION
from pytest_verica.providers.messages_wire import plain_schema, read_completion, request_body
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import AnswerSchema, Message, ModelSpec
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage
from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import KEY, KEY_NAME, ask, models, refused
from tests.unit.providers.wire import (
    LOOK_UP,
    LOOK_UP_SCHEMA,
    SCHEMA,
    TALK,
    headers,
    plain,
    request,
    same_body,
    sent_by_sdk,
    sent_by_us,
    verdict,
)

PARAMS = TypeAdapter(MessageCreateParamsNonStreaming)  # it must outlive what it gives, which is checked as it is read
MODEL = "claude-sonnet-5"
USER = [{"role": "user", "content": "¿Where are 17 and 18?"}]
PLAIN_SCHEMA = transform_schema(SCHEMA)
LOOK_UP_TOOL = {"name": "look_up", "description": "Finds an order.", "input_schema": LOOK_UP_SCHEMA}


def answer(*content: dict[str, Any], stop: str = "end_turn", **more: Any) -> dict[str, Any]:
    """A whole answer, as the SDK's own type has it."""
    usage = more.pop("usage", {"input_tokens": 20, "output_tokens": 9})
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5-20260901",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage,
        **more,
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "citations": None}


def of_no_sdk(sent: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in sent.items() if not name.startswith("x-stainless-")}


# What an eval asks, and the same call as a user of the SDK would write it.
CALLS: list[Any] = [
    pytest.param({}, {"messages": USER, "max_tokens": 8192}, id="plain"),
    pytest.param(
        {"messages": (Message("system", "Be short."), Message("system", "Be kind."), Message("user", ""))},
        {"messages": [{"role": "user", "content": ""}], "max_tokens": 8192, "system": "Be short.\n\nBe kind."},
        id="system",
    ),
    pytest.param(
        {"max_tokens": 50, "stop": "END", "reasoning_effort": "low", "extra": {"metadata": {"user_id": "qa"}}},
        {
            "messages": USER,
            "max_tokens": 50,
            "stop_sequences": ["END"],
            "output_config": {"effort": "low"},
            "metadata": {"user_id": "qa"},
        },
        id="every parameter",
    ),
    pytest.param(
        {"temperature": 0, "top_p": 0.5, "seed": 7, "verbosity": "low", "reasoning_effort": "minimal", "stop": ["A"]},
        {"messages": USER, "max_tokens": 8192, "stop_sequences": ["A"]},
        id="parameters that it does not take are not sent",
    ),
    pytest.param(
        {"messages": TALK, "tools": (LOOK_UP,)},
        {
            "system": "Be short.",
            "max_tokens": 8192,
            "tools": [LOOK_UP_TOOL],
            "messages": [
                *USER,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "c1", "name": "look_up", "input": {"order": "17"}},
                        {"type": "tool_use", "id": "c2", "name": "look_up", "input": {"order": "18"}},
                    ],
                },
                {
                    "role": "user",  # both results in one turn, or the API refuses them
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c1", "content": '{"state": "shipped"}'},
                        {"type": "tool_result", "tool_use_id": "c2", "content": "lost"},
                    ],
                },
                {"role": "user", "content": "And now?"},
            ],
        },
        id="tools and their results",
    ),
    pytest.param(
        {"answer": verdict(), "reasoning_effort": "high"},
        {
            "messages": USER,
            "max_tokens": 8192,
            "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": PLAIN_SCHEMA}},
        },
        id="structured",
    ),
    pytest.param(
        {"answer": verdict("tool"), "tools": (LOOK_UP,)},
        {
            "messages": USER,
            "max_tokens": 8192,
            "tools": [
                LOOK_UP_TOOL,
                {"name": "verdict", "description": "Gives the answer.", "input_schema": SCHEMA},
            ],
            "tool_choice": {"type": "tool", "name": "verdict", "disable_parallel_tool_use": True},
        },
        id="forced tool",
    ),
]


@pytest.mark.parametrize(("asked", "call"), CALLS)
def test_a_request_is_what_the_sdk_sends(fake: FakeProvider, asked: dict[str, Any], call: dict[str, Any]) -> None:
    ours = sent_by_us(fake, request("anthropic", MODEL, fake.root, **asked), answer(text("hi")))
    body = json.loads(ours.body)
    checked = plain(PARAMS.validate_python(body))
    assert checked == body  # the SDK's own types take it, and converted nothing

    async def by_sdk() -> object:
        client = anthropic.AsyncAnthropic(api_key=KEY, base_url=fake.root, max_retries=0)
        async with client:
            return await client.messages.create(model=MODEL, **call)

    theirs = sent_by_sdk(fake, answer(text("hi")), by_sdk)
    same_body(ours, theirs)
    # The SDK is not loaded, and not named; the rest is the same, the version of the API before all.
    assert headers(ours) == {**of_no_sdk(headers(theirs)), "user-agent": "pytest-verica"}
    assert headers(ours)["anthropic-version"] == VERSION


def test_the_reasoning_is_asked_for_before_the_verdict() -> None:
    schema = request_body(request("anthropic", MODEL, "http://x", answer=verdict()))["output_config"]["format"][
        "schema"
    ]
    assert list(schema["properties"]) == ["reasoning", "label"]


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        verdict_schema("score", {"type": "number", "minimum": 1, "maximum": 5}),
        {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer", "minimum": 2}}}},
        {"type": "object", "properties": {"a": {"type": "string", "format": "date", "description": "When."}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "x", "description": "What."}}},
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "number", "maximum": 3}},
        },
        {"type": "object", "properties": {"a": {"oneOf": [{"type": "null"}, {"type": "array", "minItems": 1}]}}},
        {"type": "object", "properties": {"a": {"type": "array", "minItems": 3, "items": {"type": "null"}}}},
    ],
)
def test_a_schema_is_put_as_the_sdk_puts_it(schema: dict[str, Any]) -> None:
    """Structured output knows no `minimum`; the SDK moves what it cannot state into the description, and so do we."""
    before = json.dumps(schema)
    assert plain_schema(schema) == transform_schema(schema)
    assert json.dumps(schema) == before


def test_json_object_is_refused_with_what_to_do_instead(fake: FakeProvider) -> None:
    error = refused(request("anthropic", MODEL, fake.root, answer=verdict("json_object")))
    assert error.kind == "bad_request" and not error.retryable
    assert "structured: json_object" in error.message and "json_schema" in error.message
    assert fake.stats()["requests"] == 0


ANSWERS: list[Any] = [
    pytest.param(answer(text("hel"), text("lo")), Completion("hello", (), "stop"), id="text"),
    pytest.param(answer(text("a"), stop="stop_sequence"), Completion("a", (), "stop"), id="stop sequence"),
    pytest.param(answer(text("cut"), stop="max_tokens"), Completion("cut", (), "length"), id="truncated"),
    pytest.param(
        answer(text("cut"), stop="model_context_window_exceeded"), Completion("cut", (), "length"), id="no more room"
    ),
    pytest.param(answer(), Completion(None, (), "stop"), id="empty"),
    pytest.param(
        answer({"type": "thinking", "thinking": "hm", "signature": "s"}, text("so")),
        Completion("so", (), "stop"),
        id="thoughts are no text",
    ),
    pytest.param(
        answer(
            text("I look."),
            {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"order": "17"}},
            {"type": "tool_use", "id": "t2", "name": "look_up", "input": {}},
            stop="tool_use",
        ),
        Completion(
            "I look.",
            (ToolCall("look_up", {"order": "17"}, '{"order": "17"}', "t1"), ToolCall("look_up", {}, "{}", "t2")),
            "tool_calls",
        ),
        id="tool calls",
    ),
    pytest.param(
        answer(
            stop="refusal",
            stop_details={"type": "refusal", "category": "cyber", "explanation": "Not this."},
        ),
        Completion(None, (), "refusal", "Not this. (cyber)"),
        id="refusal",
    ),
    pytest.param(
        answer(text("I won't."), stop="refusal"), Completion(None, (), "refusal", "I won't."), id="refusal in words"
    ),
    pytest.param(
        answer(stop="refusal"),
        Completion(None, (), "refusal", "the model refused, and gave no words for it"),
        id="refusal without words",
    ),
    pytest.param(answer(text("a"), stop="pause_turn"), Completion("a", (), "pause_turn"), id="another reason"),
]


@pytest.mark.parametrize(("data", "expected"), ANSWERS)
def test_an_answer_of_the_sdks_types_is_read(data: dict[str, Any], expected: Completion) -> None:
    wire = SdkMessage.model_validate(data).model_dump(mode="json")
    for read in (read_completion(data, None), read_completion(wire, None)):
        assert (read.text, read.tool_calls, read.stop_reason, read.refusal) == (
            expected.text,
            expected.tool_calls,
            expected.stop_reason,
            expected.refusal,
        )
        assert read.model == "claude-sonnet-5-20260901"
        assert read.usage == Usage(20, 9, None, None)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # The API counts what the cache had to do with apart; all of it was read: 20 + 100 + 30.
        (
            {
                "input_tokens": 20,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 30,
                "output_tokens": 9,
                "output_tokens_details": {"thinking_tokens": 4},
            },
            Usage(150, 9, 100, 4, 30),
        ),
        ({"input_tokens": 20, "output_tokens": 0, "cache_read_input_tokens": 0}, Usage(20, 0, 0, None)),
        ({"output_tokens": 9}, Usage(None, 9, None, None)),
        ({"input_tokens": "20", "output_tokens": True}, Usage()),
        (None, None),
    ],
)
def test_usage(usage: Any, expected: Usage | None) -> None:
    assert read_completion(answer(text("x"), usage=usage), None).usage == expected


FORCED = AnswerSchema("verdict", SCHEMA, "tool")
USE = {"type": "tool_use", "id": "t", "name": "verdict", "input": {"reasoning": "é", "label": "good"}}


def test_a_forced_tools_input_is_the_text() -> None:
    found = read_completion(answer(USE, stop="tool_use"), FORCED)
    assert json.loads(found.text or "") == {"reasoning": "é", "label": "good"}
    assert found.tool_calls == ()


def test_two_forced_calls_are_no_answer() -> None:
    found = read_completion(answer(USE, USE, stop="tool_use"), FORCED)
    assert found.text is None and len(found.tool_calls) == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "not an object"),
        ({}, "no `content`"),
        ({"content": "x"}, "no `content`"),
        (answer({"type": "tool_use"}), "no function name"),
    ],
)
def test_another_shape_is_no_answer(fake: FakeProvider, data: Any, words: str) -> None:
    fake.script((200, {}, json.dumps(data).encode()))
    error = refused(request("anthropic", MODEL, fake.root))
    assert (error.kind, error.retryable) == ("malformed", True) and words in error.message


def test_models_are_listed_page_by_page(fake: FakeProvider) -> None:
    def page(*names: str, more: bool) -> tuple[int, dict[str, str], bytes]:
        data = {"data": [{"id": name, "type": "model"} for name in names], "has_more": more, "last_id": names[-1]}
        return 200, {}, json.dumps(data).encode()

    fake.script(page("a", "b", more=True), page("c", more=False))
    assert models(ModelSpec("anthropic", "a", KEY_NAME, fake.root)) == ("a", "b", "c")
    assert [each.target for each in fake.received] == ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=b"]


def test_the_key_named_is_the_key_sent(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-key")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-token")
    monkeypatch.setenv(
        "ANTHROPIC_CUSTOM_HEADERS", "X-Team: qa\nAuthorization: Bearer a-third\nX-Api-Key: a-fourth\nodd"
    )
    sent = headers(sent_by_us(fake, request("anthropic", MODEL, fake.root), answer(text("hi"))))
    assert sent["authorization"] == f"Bearer {KEY}" and sent["x-team"] == "qa" and "x-api-key" not in sent


def test_the_address_of_the_environment_is_used_with_and_without_its_version(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for address in (fake.root, f"{fake.root}/v1"):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
        fake.script((200, {}, json.dumps(answer(text("hi"))).encode()))
        asked = request("anthropic", MODEL, "")
        [found] = ask(type(asked)(ModelSpec("anthropic", MODEL, KEY_NAME), asked.messages))
        assert found.text == "hi" and fake.received[-1].target == "/v1/messages"


def test_it_embeds_nothing() -> None:
    assert PROVIDERS["anthropic"].structured == ("json_schema", "tool")
    assert not hasattr(PROVIDERS["anthropic"].open(ModelSpec("anthropic", MODEL, KEY_NAME), 1.0), "embed")
