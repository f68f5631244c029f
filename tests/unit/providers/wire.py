"""How the tests of the wires look at a request: as a loopback server received it, from us and from a provider's SDK."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.providers.protocol import Embedder
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.request import AnswerSchema, Message, ModelSpec, Request, Tool
from pytest_verica.tool_calls import ToolCall
from tests.fake_provider import FakeProvider, Received
from tests.unit.providers.asking import KEY_NAME, ask

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "label": {"type": "string", "enum": ["good", "bad"]}},
    "required": ["reasoning", "label"],
    "additionalProperties": False,
}
LOOK_UP_SCHEMA: dict[str, Any] = {"type": "object", "properties": {"order": {"type": "string"}}}
LOOK_UP = Tool("look_up", "Finds an order.", LOOK_UP_SCHEMA)
EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}

# An agent's staged context: two calls at once, their results in the order of the calls, and the next question.
TALK = (
    Message("system", "Be short."),
    Message("user", "¿Where are 17 and 18?"),
    Message(
        "assistant",
        "I look.",
        (
            ToolCall("look_up", {"order": "17"}, '{"order": "17"}', "c1"),
            ToolCall("look_up", {"order": "18"}, '{"order": "18"}', "c2"),
        ),
    ),
    Message("tool", '{"state": "shipped"}', tool_call_id="c1"),
    Message("tool", "lost", tool_call_id="c2"),
    Message("user", "And now?"),
)


def request(provider: str, name: str, url: str, *, api: str | None = None, **more: Any) -> Request:
    """A request to a model at an address. more: `messages`, `tools`, `answer`; the rest are parameters."""
    messages = more.pop("messages", (Message("user", "¿Where are 17 and 18?"),))
    tools, answer = more.pop("tools", ()), more.pop("answer", None)
    return Request(ModelSpec(provider, name, KEY_NAME, url, more, api), messages, tools, answer)


def verdict(structured: Any = "json_schema") -> AnswerSchema:
    return AnswerSchema("verdict", SCHEMA, structured)


def sent_by_us(fake: FakeProvider, asked: Request, reply: Mapping[str, Any]) -> Received:
    fake.script((200, {}, json.dumps(reply).encode()))
    ask(asked)
    return fake.received[-1]


def sent_by_sdk(fake: FakeProvider, reply: Mapping[str, Any], call: Callable[[], Awaitable[object]]) -> Received:
    """call: makes a client and asks; what it makes of the reply does not matter."""
    fake.script((200, {"content-type": "application/json"}, json.dumps(reply).encode()))

    async def main() -> None:
        await call()

    asyncio.run(main())
    return fake.received[-1]


def embedded(asked: list[EmbeddingRequest]) -> list[Embedding]:
    async def main() -> list[Embedding]:
        provider = PROVIDERS[asked[0].model.provider].open(asked[0].model, 30.0)
        assert isinstance(provider, Embedder)
        try:
            return await provider.embed(asked)
        finally:
            await provider.aclose()

    return asyncio.run(main())


def same_body(one: Received, other: Received) -> None:
    """The same bytes, once the order of the keys (which JSON does not have) and the escapes of letters are evened."""
    assert _even(one).splitlines() == _even(other).splitlines()
    assert (one.method, one.target) == (other.method, other.target)


def _even(received: Received) -> bytes:
    body = json.loads(received.body)
    if body.get("generationConfig") == {}:
        del body["generationConfig"]  # Google's SDK says nothing with it
    return json.dumps(body, sort_keys=True, indent=1).encode()


OF_THE_TRANSPORT = frozenset({"host", "accept-encoding", "connection", "content-length"})
OF_ONE_CALL = frozenset({"traceparent", "x-stainless-timeout", "x-stainless-retry-count", "x-stainless-read-timeout"})
"""What the SDKs say of the call itself: how often they have asked, how long they wait, whose trace it belongs to."""


def headers(received: Received) -> dict[str, str]:
    """What was said beside the body, without what each transport says for itself."""
    return {name: value for name, value in received.headers.items() if name not in OF_THE_TRANSPORT | OF_ONE_CALL}


def plain(value: Any) -> Any:
    """Pydantic checks an Iterable only as it is read: this reads all of it."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, Iterator)) or type(value).__name__ == "ValidatorIterator":
        return [plain(inner) for inner in value]
    return value
