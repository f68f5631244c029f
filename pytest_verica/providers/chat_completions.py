"""The Chat Completions API over HTTP, for the providers that speak it. The openai SDK supplies address and headers."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.providers.chat_wire import NotACompletion, read_completion, request_body
from pytest_verica.providers.connection import (
    AiohttpConnection,
    Connection,
    Reply,
    SdkConnection,
    TransportFailure,
    environment_proxy,
)
from pytest_verica.providers.door import Door, check_base_url, read_key, secrets_in
from pytest_verica.providers.embedding_wire import NotEmbeddings, embeddings_body, read_embeddings
from pytest_verica.providers.refusal import broken, error_inside, malformed, refusal
from pytest_verica.request import ModelSpec, Request

if TYPE_CHECKING:
    import openai

# What servers that need no key expect where the SDK insists on one.
_NO_KEY = "no-key"
_NO_LIST = frozenset({404, 405, 501})


@dataclass(frozen=True)
class Dialect:
    """How one provider's Chat Completions differ. limit_name: its name for `max_tokens`; own: whether it is the
    provider that the openai SDK is made for, so that address and headers are the SDK's to say."""

    limit_name: str
    own: bool


class ChatCompletions:
    """A provider: one endpoint, one connection pool."""

    def __init__(self, door: Door, dialect: Dialect, connection: Connection, timeout_s: float) -> None:
        self._door = door
        self._dialect = dialect
        self._connection = connection
        self._timeout_s = timeout_s

    def __repr__(self) -> str:
        return f"<ChatCompletions {self._door}>"

    async def complete(self, request: Request) -> Completion:
        model = request.model.name
        body = request_body(request, limit_name=self._dialect.limit_name)
        if body.get("stream"):
            raise self._door.error("bad_request", f"`extra.stream` of {request.model} asks for a stream. Remove it.")
        data, reply = await self._json("/chat/completions", body, model)
        try:
            return read_completion(data, request.answer)
        except NotACompletion as error:
            raise malformed(self._door, model, str(error), reply.body) from None

    async def embed(self, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
        model = requests[0].model.name
        data, reply = await self._json("/embeddings", embeddings_body(requests), model)
        try:
            return read_embeddings(data, requests)
        except NotEmbeddings as error:
            raise malformed(self._door, model, str(error), reply.body) from None

    async def _json(self, path: str, body: Mapping[str, Any], model: str) -> tuple[Any, Reply]:
        """The JSON that the endpoint answers a body with, and the reply it came in."""
        reply = await self._send("POST", path, json.dumps(body, separators=(",", ":")).encode("ascii"))
        if reply.status != 200:
            raise refusal(self._door, model, reply, time.time())
        try:
            data = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise malformed(self._door, model, f"its body is not JSON ({error})", reply.body) from None
        status = error_inside(data) if isinstance(data, Mapping) else None
        if status is not None:
            raise refusal(self._door, model, Reply(status, reply.headers, reply.body), time.time())
        return data, reply

    async def models(self) -> tuple[str, ...] | None:
        reply = await self._send("GET", "/models")
        if reply.status in _NO_LIST:
            return None
        if reply.status != 200:
            raise refusal(self._door, "models", reply, time.time())
        try:
            return tuple(model["id"] for model in json.loads(reply.body)["data"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return None  # some other kind of page: this endpoint has no list

    async def aclose(self) -> None:
        await self._connection.aclose()

    async def _send(self, method: str, path: str, content: bytes | None = None) -> Reply:
        try:
            reply = await self._connection.send(method, path, content)
        except TransportFailure as failure:
            raise broken(self._door, failure, self._timeout_s) from None
        return Reply(reply.status, reply.headers, self._door.scrub_body(reply.body))


def open_chat_completions(spec: ModelSpec, timeout_s: float, dialect: Dialect) -> ChatCompletions:
    """The provider for a model's endpoint.

    Raises:
        ProviderError: `missing_credential`, or `bad_request` for a base_url that cannot be called.
    """
    check_base_url(spec)
    key = read_key(spec)
    address, headers = _sdk_address(spec, key or _NO_KEY, timeout_s) if dialect.own else _plain_address(spec, key)
    door = Door(spec.provider, address.rstrip("/"), spec.credential, secrets_in([key]))
    proxy = environment_proxy(address)
    connection: Connection
    if _has_aiohttp() and not (proxy or "").startswith("socks"):
        connection = AiohttpConnection(address, headers, timeout_s, proxy)
    else:
        connection = SdkConnection(_sdk_client(spec, key or _NO_KEY, timeout_s, idle=False), timeout_s)
    return ChatCompletions(door, dialect, connection, timeout_s)


def _sdk_client(spec: ModelSpec, key: str, timeout_s: float, *, idle: bool) -> openai.AsyncOpenAI:
    """The SDK's client. idle: only its address and headers are wanted, so it is given no transport of its own (which
    would load every certificate of the system for nothing)."""
    # Deferred: half a second, which only a run that makes calls pays.
    import httpx2
    import openai

    return openai.AsyncOpenAI(
        api_key=key,
        base_url=spec.base_url,
        timeout=timeout_s,
        max_retries=0,
        # Explicit, so that no Authorization of OPENAI_CUSTOM_HEADERS is sent in the place of the credential named.
        default_headers={"Authorization": f"Bearer {key}"},
        http_client=httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport()) if idle else None,
    )


def _sdk_address(spec: ModelSpec, key: str, timeout_s: float) -> tuple[str, dict[str, str]]:
    """The address that the SDK calls, and what it sends with each request; what it marks as left out is not sent."""
    client = _sdk_client(spec, key, timeout_s, idle=True)
    return str(client.base_url), {k: v for k, v in client.default_headers.items() if isinstance(v, str)}


def _plain_address(spec: ModelSpec, key: str | None) -> tuple[str, dict[str, str]]:
    """The same for a server of anybody: the SDK need not be loaded to say what the eval says."""
    headers = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "pytest-verica"}
    return spec.base_url or "", {**headers, "Authorization": f"Bearer {key or _NO_KEY}"}


def _has_aiohttp() -> bool:
    try:
        import aiohttp  # noqa: F401  (deferred: only a run that makes calls pays for it)
    except ImportError:
        return False
    return True
