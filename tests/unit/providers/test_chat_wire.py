"""Bodies checked against the SDK's own types; answers read in every shape that endpoints send them in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from pytest_verica.completion import Completion
from pytest_verica.output import ToolCall
from pytest_verica.providers.chat_wire import NotACompletion, read_completion, request_body
from pytest_verica.request import AnswerSchema, Message, ModelSpec, Request, Tool
from pytest_verica.usage import Usage

SCHEMA = {"type": "object", "properties": {"label": {"type": "string"}}, "required": ["label"]}
LOOK_UP = Tool("look_up", "Finds an order.", {"type": "object", "properties": {"order": {"type": "string"}}})
PARAMS: dict[str, Any] = {
    "temperature": 0,
    "max_tokens": 50,
    "top_p": 0.5,
    "seed": 7,
    "reasoning_effort": "low",
    "verbosity": "low",
    "stop": ["END"],
    "extra": {"logprobs": True, "metadata": {"team": "qa"}},
}
TALK = (
    Message("system", "Be short."),
    Message("user", "Where is order 17?"),
    Message("assistant", None, (ToolCall("look_up", {"order": "17"}, '{"order": "17"}', "c1"),)),
    Message("tool", "shipped", tool_call_id="c1"),
    Message("assistant", None, (ToolCall("look_up", {"order": "18"}), ToolCall("look_up"))),
    Message("tool", "lost"),
    Message("tool", None),
)


def asked(*, answer: AnswerSchema | None = None, tools: tuple[Tool, ...] = (), **params: Any) -> Request:
    return Request(ModelSpec("openai", "gpt-4.1", "KEY", None, params), TALK, tools, answer)


def plain(value: Any) -> Any:
    """Pydantic checks an Iterable only as it is read: this reads all of it."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, Iterator)) or type(value).__name__ == "ValidatorIterator":
        return [plain(inner) for inner in value]
    return value


@pytest.mark.parametrize(
    "request_",
    [
        asked(),
        asked(**PARAMS),
        asked(tools=(LOOK_UP, Tool("bare"))),
        asked(answer=AnswerSchema("verdict", SCHEMA)),
        asked(answer=AnswerSchema("verdict", SCHEMA, "tool"), tools=(LOOK_UP,)),
        asked(answer=AnswerSchema("verdict", SCHEMA, "json_object")),
    ],
    ids=["plain", "every parameter", "tools", "json_schema", "forced tool", "json_object"],
)
def test_a_body_is_what_the_sdk_would_send(request_: Request) -> None:
    body = request_body(request_, limit_name="max_completion_tokens")
    checked = plain(TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(body))
    assert set(body) <= set(CompletionCreateParamsNonStreaming.__annotations__)
    assert checked == json.loads(json.dumps(body))  # nothing was converted, and all of it is JSON


def test_every_parameter_has_its_place() -> None:
    body = request_body(asked(**PARAMS), limit_name="max_completion_tokens")
    del body["messages"]
    assert body == {
        "model": "gpt-4.1",
        "temperature": 0,
        "max_completion_tokens": 50,
        "top_p": 0.5,
        "seed": 7,
        "reasoning_effort": "low",
        "verbosity": "low",
        "stop": ["END"],
        "logprobs": True,
        "metadata": {"team": "qa"},
    }


def test_messages_of_every_role() -> None:
    def call(identifier: str, arguments: str) -> dict[str, Any]:
        return {"id": identifier, "type": "function", "function": {"name": "look_up", "arguments": arguments}}

    assert request_body(asked(), limit_name="max_tokens")["messages"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Where is order 17?"},
        {"role": "assistant", "content": None, "tool_calls": [call("c1", '{"order": "17"}')]},
        {"role": "tool", "content": "shipped", "tool_call_id": "c1"},
        # Calls without an id get one, and the turns that answer them the same ones, in order.
        {"role": "assistant", "content": None, "tool_calls": [call("call_2", '{"order": "18"}'), call("call_3", "{}")]},
        {"role": "tool", "content": "lost", "tool_call_id": "call_2"},
        {"role": "tool", "content": "", "tool_call_id": "call_3"},
    ]


@pytest.mark.parametrize(
    ("structured", "expected"),
    [
        (
            "json_schema",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
                }
            },
        ),
        ("json_object", {"response_format": {"type": "json_object"}}),
        (
            "tool",
            {
                "tool_choice": {"type": "function", "function": {"name": "verdict"}},
                "tools": [
                    {
                        "type": "function",
                        "function": {"name": "verdict", "description": "Gives the answer.", "parameters": SCHEMA},
                    }
                ],
            },
        ),
    ],
)
def test_an_answer_is_forced(structured: Any, expected: dict[str, Any]) -> None:
    body = request_body(asked(answer=AnswerSchema("verdict", SCHEMA, structured)), limit_name="max_tokens")
    assert {key: value for key, value in body.items() if key not in ("model", "messages")} == expected


def reply(message: Mapping[str, Any], finish_reason: str | None = "stop", **more: Any) -> dict[str, Any]:
    """A whole reply, as the SDK's own type has it."""
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4.1-2025",
        "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish_reason}],
        **more,
    }


CALL = {"id": "c9", "type": "function", "function": {"name": "look_up", "arguments": '{"order": 17}'}}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (reply({"content": "hello"}), Completion("hello", (), "stop")),
        (reply({"content": ""}), Completion("", (), "stop")),
        (reply({"content": "cut"}, "length"), Completion("cut", (), "length")),
        (reply({"content": None}, "content_filter"), Completion(None, (), "content_filter")),
        (
            reply({"content": None, "tool_calls": [CALL]}, "tool_calls"),
            Completion(None, (ToolCall("look_up", {"order": 17}, '{"order": 17}', "c9"),), "tool_calls"),
        ),
        (reply({"content": None, "refusal": "I will not."}), Completion(None, (), "refusal", "I will not.")),
    ],
    ids=["text", "empty text", "truncated", "filtered", "tool call", "refusal"],
)
def test_a_reply_that_the_sdk_knows_is_read(data: dict[str, Any], expected: Completion) -> None:
    ChatCompletion.model_validate(data)  # the SDK's own type takes it
    found = read_completion(data, None)
    assert (found.text, found.tool_calls, found.stop_reason, found.refusal) == (
        expected.text,
        expected.tool_calls,
        expected.stop_reason,
        expected.refusal,
    )
    assert found.model == "gpt-4.1-2025" and found.usage is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 30,
                "total_tokens": 130,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Usage(100, 30, 64, 20),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 30}, Usage(100, 30, None, None)),
        ({"prompt_tokens": 100, "prompt_tokens_details": None}, Usage(100, None, None, None)),
        ({"prompt_tokens": "100", "completion_tokens": True}, Usage(None, None, None, None)),
        ({"prompt_tokens": -1}, Usage()),
        (None, None),
        ([], None),
    ],
)
def test_usage_that_is_not_said_is_not_known(usage: Any, expected: Usage | None) -> None:
    assert read_completion(reply({"content": "x"}, usage=usage), None).usage == expected


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"a": [1, 2.5]}', {"a": [1, 2.5]}),
        ("", None),
        ("{'a': 1}", None),
        ('{"a": 1', None),
        ('{"a": NaN}', None),
        ('{"a": 1, "a": 2}', None),
        ('```json\n{"a": 1}\n```', None),
    ],
)
def test_arguments_are_parsed_only_where_they_are_json(raw: str, arguments: Any) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": raw}}
    found = read_completion(reply({"tool_calls": [call]}), None).tool_calls[0]
    assert (found.arguments, found.raw_arguments) == (arguments, raw)


@pytest.mark.parametrize(
    ("arguments", "parsed", "raw"), [({"a": 1}, {"a": 1}, '{"a": 1}'), (None, {}, "{}")], ids=["object", "none"]
)
def test_arguments_that_are_no_text(arguments: Any, parsed: Any, raw: str) -> None:
    call = {"function": {"name": "f", "arguments": arguments}}
    found = read_completion(reply({"tool_calls": [call]}), None).tool_calls[0]
    assert found == ToolCall("f", parsed, raw, None)


FORCED = AnswerSchema("verdict", SCHEMA, "tool")


@pytest.mark.parametrize(
    ("message", "text", "calls"),
    [
        (
            {"tool_calls": [{"id": "c", "function": {"name": "verdict", "arguments": '{"label": "a"}'}}]},
            '{"label": "a"}',
            0,
        ),
        ({"content": "I'd say a."}, "I'd say a.", 0),
        ({"content": None, "tool_calls": [CALL]}, None, 1),
    ],
    ids=["it called the tool", "it answered in prose", "it called another"],
)
def test_the_arguments_of_a_forced_call_are_the_text(message: Any, text: str | None, calls: int) -> None:
    found = read_completion(reply(message), FORCED)
    assert (found.text, len(found.tool_calls)) == (text, calls)


def test_an_answer_in_parts_is_its_texts() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert read_completion(reply({"content": parts}), None).text == "ab"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "not an object"),
        ({}, "no `choices`"),
        ({"choices": []}, "no `choices`"),
        ({"choices": ["x"]}, "no `choices`"),
        ({"choices": [{"text": "a completion of the old API"}]}, r"no `choices\[0\].message`"),
        (reply({"content": 3}), "neither a text nor"),
        (reply({"tool_calls": ["x"]}), "no function name"),
        (reply({"tool_calls": [{"function": {"arguments": "{}"}}]}), "no function name"),
    ],
)
def test_another_shape_is_not_a_completion(data: Any, words: str) -> None:
    with pytest.raises(NotACompletion, match=words):
        read_completion(data, None)
