"""Gemini: requests are what the installed SDK sends and its types allow; answers built of its types are read."""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

import pydantic
import pytest

if tuple(map(int, pydantic.VERSION.split(".")[:2])) < (2, 12):  # the oldest that the product takes is older
    pytest.skip("Google's SDK needs a newer pydantic", allow_module_level=True)
if sys.version_info < (3, 11):
    pytest.skip("Google's SDK needs Python 3.11", allow_module_level=True)
from google import genai
from google.genai import types

from pytest_verica.completion import Completion
from pytest_verica.embedding import EmbeddingRequest
from pytest_verica.errors import ProviderError
from pytest_verica.providers.gemini_wire import read_completion, request_body
from pytest_verica.request import AnswerSchema, Message, ModelSpec, Request
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage
from tests.fake_provider import FakeProvider
from tests.unit.providers.asking import KEY, KEY_NAME, ask, models, refused
from tests.unit.providers.wire import (
    LOOK_UP,
    LOOK_UP_SCHEMA,
    SCHEMA,
    TALK,
    embedded,
    headers,
    request,
    same_body,
    sent_by_sdk,
    sent_by_us,
    verdict,
)

MODEL = "gemini-3-flash"
# What marks a call that the model did not make itself, in Google's own words for it.
SIGNATURE = b"skip_thought_signature_validator"


def answer(*parts: dict[str, Any], reason: str | None = "STOP", **more: Any) -> dict[str, Any]:
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 9, "totalTokenCount": 29}
    candidate = {"content": {"parts": list(parts), "role": "model"}, "finishReason": reason, "index": 0}
    return {"candidates": [candidate], "modelVersion": "gemini-3-flash-001", "usageMetadata": usage, **more}


def user(words: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=words)])


def function(name: str, description: str, schema: dict[str, Any]) -> types.FunctionDeclaration:
    return types.FunctionDeclaration(name=name, description=description, parameters_json_schema=schema)


def called(identifier: str, order: str, signature: bytes | None = None) -> types.Part:
    call = types.FunctionCall(id=identifier, name="look_up", args={"order": order})
    return types.Part(function_call=call, thought_signature=signature)


def returned(identifier: str, response: dict[str, Any]) -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=identifier, name="look_up", response=response))


def talk(signature: bytes | None) -> list[types.Content]:
    """TALK, as a user of the SDK would write it."""
    return [
        USER,
        types.Content(
            role="model", parts=[types.Part(text="I look."), called("c1", "17", signature), called("c2", "18")]
        ),
        types.Content(role="user", parts=[returned("c1", {"state": "shipped"}), returned("c2", {"result": "lost"})]),
        user("And now?"),
    ]


USER = user("¿Where are 17 and 18?")
LOOK_UP_TOOL = function("look_up", "Finds an order.", LOOK_UP_SCHEMA)

CALLS: list[Any] = [
    pytest.param(MODEL, {}, [USER], None, id="plain"),
    pytest.param(
        MODEL,
        {
            "messages": (Message("system", "Be short."), Message("user", "")),
            "temperature": 0.5,
            "max_tokens": 50,
            "top_p": 0.5,
            "seed": 7,
            "stop": "END",
            "reasoning_effort": "low",
            "verbosity": "low",  # there is no such thing: not sent
            "extra": {"generationConfig": {"candidateCount": 1}},
        },
        [user("")],
        {
            "system_instruction": "Be short.",
            "temperature": 0.5,
            "max_output_tokens": 50,
            "top_p": 0.5,
            "seed": 7,
            "stop_sequences": ["END"],
            "thinking_config": types.ThinkingConfig(thinking_level=types.ThinkingLevel.LOW),
            "candidate_count": 1,
        },
        id="every parameter",
    ),
    pytest.param(
        "gemini-2.5-flash",
        {"reasoning_effort": "none", "stop": ["A", "B"]},
        [USER],
        {"thinking_config": types.ThinkingConfig(thinking_budget=0), "stop_sequences": ["A", "B"]},
        id="an effort as a budget",
    ),
    pytest.param("gemini-2.0-flash", {"reasoning_effort": "low"}, [USER], None, id="no effort where none is taken"),
    pytest.param(
        MODEL,
        {"messages": TALK, "tools": (LOOK_UP,)},
        talk(SIGNATURE),
        {"system_instruction": "Be short.", "tools": [types.Tool(function_declarations=[LOOK_UP_TOOL])]},
        id="tools and their results",
    ),
    pytest.param(
        "gemini-2.5-pro",
        {"messages": TALK, "tools": (LOOK_UP,)},
        talk(None),
        {"system_instruction": "Be short.", "tools": [types.Tool(function_declarations=[LOOK_UP_TOOL])]},
        id="tools and their results, without signatures",
    ),
    pytest.param(
        MODEL,
        {"answer": verdict()},
        [USER],
        {"response_mime_type": "application/json", "response_json_schema": SCHEMA},
        id="structured",
    ),
    pytest.param(
        MODEL,
        {"answer": verdict("json_object")},
        [USER],
        {"response_mime_type": "application/json"},
        id="any JSON",
    ),
    pytest.param(
        MODEL,
        {"answer": verdict("tool"), "tools": (LOOK_UP,)},
        [USER],
        {
            "tools": [
                types.Tool(function_declarations=[LOOK_UP_TOOL, function("verdict", "Gives the answer.", SCHEMA)])
            ],
            "tool_config": types.ToolConfig(
                function_calling_config=types.FunctionCallingConfig(
                    mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=["verdict"]
                )
            ),
        },
        id="forced tool",
    ),
]


def client(fake: FakeProvider) -> genai.Client:
    return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=fake.root))


@pytest.mark.parametrize(("model", "asked", "contents", "config"), CALLS)
def test_a_request_is_what_the_sdk_sends(
    fake: FakeProvider, model: str, asked: dict[str, Any], contents: list[types.Content], config: dict[str, Any] | None
) -> None:
    ours = sent_by_us(fake, request("google", model, fake.root, **asked), answer({"text": "hi"}))

    async def by_sdk() -> object:
        sdk = client(fake)
        settings = None if config is None else types.GenerateContentConfig(**config)
        try:
            return sdk.models.generate_content(model=model, contents=contents, config=settings)
        finally:
            sdk.close()

    theirs = sent_by_sdk(fake, answer({"text": "hi"}), by_sdk)
    same_body(ours, theirs)
    who = {"user-agent", "x-goog-api-client", "accept"}  # the SDK is not loaded, and not named
    assert {k: v for k, v in headers(ours).items() if k not in who} == {
        k: v for k, v in headers(theirs).items() if k not in who
    }
    assert headers(ours)["x-goog-api-key"] == KEY


def test_the_sdks_types_take_the_parts() -> None:
    body = request_body(request("google", MODEL, "http://x", messages=TALK, tools=(LOOK_UP,)))
    for content in body["contents"]:
        types.Content.model_validate(content)
    signed = [part.get("thoughtSignature") for part in body["contents"][1]["parts"]]
    # Of calls made at once, the first alone is signed.
    assert signed == [None, base64.b64encode(SIGNATURE).decode(), None]


def test_the_reasoning_is_asked_for_before_the_verdict() -> None:
    config = request_body(request("google", MODEL, "http://x", answer=verdict()))["generationConfig"]
    assert list(config["responseJsonSchema"]["properties"]) == ["reasoning", "label"]


def test_embeddings_are_asked_for_as_the_sdk_asks(fake: FakeProvider) -> None:
    reply = {
        "embeddings": [{"values": [1, 0.5]}, {"values": [0, 1]}],
        "usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9},
    }
    assert types.EmbedContentResponse.model_validate(reply).embeddings
    model = ModelSpec("google", "gemini-embedding-001", KEY_NAME, fake.root, {"extra": {"outputDimensionality": 2}})
    fake.script((200, {}, json.dumps(reply).encode()))
    found = embedded([EmbeddingRequest.of(model, text) for text in ("ab", "abcd")])
    assert [one.vector for one in found] == [(1.0, 0.5), (0.0, 1.0)]
    # 9 tokens for 2 and 4 bytes.
    assert [one.usage for one in found] == [Usage(3, 0, 0, 0), Usage(6, 0, 0, 0)]
    ours = fake.received[-1]

    async def by_sdk() -> object:
        sdk = client(fake)
        config = types.EmbedContentConfig(output_dimensionality=2)
        try:
            return sdk.models.embed_content(model="gemini-embedding-001", contents=["ab", "abcd"], config=config)
        finally:
            sdk.close()

    same_body(ours, sent_by_sdk(fake, reply, by_sdk))


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({}, "no `embeddings`"),
        ({"embeddings": [{"values": [1]}]}, "1 embeddings for 2 texts"),
        ({"embeddings": [{"values": []}, {"values": [1]}]}, "not a list of numbers"),
        ({"embeddings": [{"values": ["x"]}, {"values": [1]}]}, "no finite number"),
    ],
)
def test_what_is_no_list_of_embeddings(fake: FakeProvider, reply: Any, words: str) -> None:
    fake.script((200, {}, json.dumps(reply).encode()))
    model = ModelSpec("google", "gemini-embedding-001", KEY_NAME, fake.root)
    with pytest.raises(ProviderError, match=words) as caught:
        embedded([EmbeddingRequest.of(model, text) for text in "ab"])
    assert caught.value.kind == "malformed"


CALL = {"functionCall": {"id": "f1", "name": "look_up", "args": {"order": "17"}}}

ANSWERS: list[Any] = [
    pytest.param(answer({"text": "hel"}, {"text": "lo"}), Completion("hello", (), "stop"), id="text"),
    pytest.param(answer({"text": "cut"}, reason="MAX_TOKENS"), Completion("cut", (), "length"), id="truncated"),
    pytest.param(answer(reason="STOP"), Completion(None, (), "stop"), id="empty"),
    pytest.param(
        answer({"text": "hm", "thought": True}, {"text": "so"}), Completion("so", (), "stop"), id="thoughts are no text"
    ),
    pytest.param(
        answer({"text": "I look."}, CALL, {"functionCall": {"name": "look_up"}}),
        Completion(
            "I look.",
            (ToolCall("look_up", {"order": "17"}, '{"order": "17"}', "f1"), ToolCall("look_up", {}, "{}", None)),
            "tool_calls",
        ),
        id="tool calls",
    ),
    *(
        pytest.param(answer({"text": "ha"}, reason=reason), Completion("ha", (), "content_filter"), id=reason)
        for reason in ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "MODEL_ARMOR")
    ),
    pytest.param(
        answer(reason="MALFORMED_FUNCTION_CALL"), Completion(None, (), "malformed_function_call"), id="another reason"
    ),
]


@pytest.mark.parametrize(("data", "expected"), ANSWERS)
def test_an_answer_of_the_sdks_types_is_read(data: dict[str, Any], expected: Completion) -> None:
    wire = types.GenerateContentResponse.model_validate(data).model_dump(mode="json", by_alias=True, exclude_none=True)
    for read in (read_completion(data, None), read_completion(wire, None)):
        assert (read.text, read.tool_calls, read.stop_reason, read.refusal) == (
            expected.text,
            expected.tool_calls,
            expected.stop_reason,
            None,
        )
        assert read.model == "gemini-3-flash-001"
        assert read.usage == Usage(20, 9, 0, 0)


def test_every_reason_to_stop_that_the_sdk_knows_has_a_meaning() -> None:
    plain = {"stop", "length", "content_filter"}
    told = {
        reason.value: read_completion(answer(reason=reason.value), None).stop_reason for reason in types.FinishReason
    }
    assert {reason for reason, word in told.items() if word not in plain} == {
        "FINISH_REASON_UNSPECIFIED",
        "OTHER",
        "MALFORMED_FUNCTION_CALL",
        "IMAGE_OTHER",
        "NO_IMAGE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "MALFORMED_RESPONSE",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "CONTINUATION",
    }


def test_a_prompt_that_was_blocked_is_a_filtered_answer() -> None:
    data = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 20}}
    types.GenerateContentResponse.model_validate(data)
    found = read_completion(data, None)
    assert (found.text, found.stop_reason, found.usage) == (None, "content_filter", Usage(20, 0, 0, 0))
    assert not found.complete


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        # Cached tokens are among the prompt's; thoughts are not among the candidates': 9 + 30 were written.
        (
            {
                "promptTokenCount": 150,
                "cachedContentTokenCount": 100,
                "candidatesTokenCount": 9,
                "thoughtsTokenCount": 30,
                "toolUsePromptTokenCount": 5,
                "totalTokenCount": 194,
            },
            Usage(155, 39, 100, 30),
        ),
        ({"promptTokenCount": 20}, Usage(20, 0, 0, 0)),
        ({"candidatesTokenCount": 9}, Usage()),
        ({}, Usage()),
        (None, None),
    ],
)
def test_usage(usage: Any, expected: Usage | None) -> None:
    if usage:
        types.GenerateContentResponseUsageMetadata.model_validate(usage)
    assert read_completion(answer({"text": "x"}, usageMetadata=usage), None).usage == expected


def test_a_forced_calls_arguments_are_the_text() -> None:
    args = {"reasoning": "é", "label": "good"}
    data = answer({"functionCall": {"name": "verdict", "args": args}})
    found = read_completion(data, AnswerSchema("verdict", SCHEMA, "tool"))
    assert json.loads(found.text or "") == args and found.tool_calls == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "not an object"),
        ({}, "no `candidates`"),
        ({"candidates": []}, "no `candidates`"),
        (answer({"functionCall": {"args": {}}}), "no function name"),
    ],
)
def test_another_shape_is_no_answer(fake: FakeProvider, data: Any, words: str) -> None:
    fake.script((200, {}, json.dumps(data).encode()))
    error = refused(request("google", MODEL, fake.root))
    assert (error.kind, error.retryable) == ("malformed", True) and words in error.message


def test_models_are_listed_page_by_page(fake: FakeProvider) -> None:
    fake.script(
        (200, {}, b'{"models": [{"name": "models/a"}], "nextPageToken": "n2"}'),
        (200, {}, b'{"models": [{"name": "models/b"}]}'),
    )
    assert models(ModelSpec("google", "a", KEY_NAME, fake.root)) == ("a", "b")
    assert [each.target for each in fake.received] == [
        "/v1/models?pageSize=1000",
        "/v1/models?pageSize=1000&pageToken=n2",
    ]


@pytest.mark.parametrize(
    ("address", "version", "path"),
    [
        ("", None, "/v1/models/m:generateContent"),
        ("", "beta", "/v1beta/models/m:generateContent"),
        ("", "v1alpha", "/v1alpha/models/m:generateContent"),
        ("/v1beta", None, "/v1beta/models/m:generateContent"),
        ("/gateway/", None, "/gateway/v1/models/m:generateContent"),
    ],
)
def test_the_version_is_added_where_the_address_names_none(
    fake: FakeProvider, monkeypatch: pytest.MonkeyPatch, address: str, version: str | None, path: str
) -> None:
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.root + address)
    if version:
        monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", version)
    fake.script((200, {}, json.dumps(answer({"text": "hi"})).encode()))
    [found] = ask(Request(ModelSpec("google", "m", KEY_NAME), (Message("user", "?"),)))
    assert found.text == "hi" and fake.received[-1].target == path
