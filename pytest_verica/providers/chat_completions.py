"""The APIs that OpenAI made and others speak: Chat Completions, Responses, embeddings; and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_verica.providers.chat_wire import read_completion, request_body
from pytest_verica.providers.connection import open_connection
from pytest_verica.providers.door import Door, check_base_url, read_key, secrets_in
from pytest_verica.providers.embedding_wire import embeddings_body, read_embeddings
from pytest_verica.providers.endpoint import Endpoint
from pytest_verica.providers.model_api import EmbeddingModelApi, EmbeddingWire, Listing, Wire
from pytest_verica.providers.parameters import Rule
from pytest_verica.providers.responses_wire import read_completion as read_response
from pytest_verica.providers.responses_wire import request_body as response_body
from pytest_verica.request import ModelSpec

# What servers that need no key expect where the SDK insists on one.
_NO_KEY = "no-key"


@dataclass(frozen=True)
class Dialect:
    """How one provider's APIs differ. limit_name: its name for `max_tokens` in Chat Completions; own: whether it is the
    provider that the openai SDK is made for, so that address and headers are the SDK's to say; rules: what its models
    do not take."""

    limit_name: str
    own: bool
    rules: tuple[Rule, ...] = ()


def open_chat_completions(spec: ModelSpec, timeout_s: float, dialect: Dialect) -> EmbeddingModelApi:
    """The provider for a model's endpoint.

    Raises:
        ProviderError: `missing_credential`, or `bad_request` for a base_url that cannot be called.
    """
    check_base_url(spec)
    key = read_key(spec)
    address, headers = _sdk_address(spec, key or _NO_KEY) if dialect.own else _plain_address(spec, key)
    door = Door(spec.provider, address.rstrip("/"), spec.credential, secrets_in([key]))
    endpoint = Endpoint(door, open_connection(address, headers, timeout_s), timeout_s)
    return EmbeddingModelApi(endpoint, _wires(dialect), Listing("/models", _names), _EMBEDDINGS)


def _wires(dialect: Dialect) -> Mapping[str | None, Wire]:
    chat = partial(request_body, limit_name=dialect.limit_name, rules=dialect.rules)
    responses = partial(response_body, rules=dialect.rules)
    return {
        None: Wire(lambda request: "/chat/completions", chat, read_completion),
        "responses": Wire(lambda request: "/responses", responses, read_response),
    }


_EMBEDDINGS = EmbeddingWire(lambda request: "/embeddings", embeddings_body, read_embeddings)


def _names(page: Any) -> tuple[list[str], str | None]:
    return [model["id"] for model in page["data"]], None


def _sdk_address(spec: ModelSpec, key: str) -> tuple[str, dict[str, str]]:
    """The address that the SDK calls, and what it sends with each request; what it marks as left out is not sent."""
    # Deferred: half a second, which only a run that makes calls pays.
    import httpx2
    import openai

    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=spec.base_url,
        # Explicit, so that no Authorization of OPENAI_CUSTOM_HEADERS is sent in the place of the credential named.
        default_headers={"Authorization": f"Bearer {key}"},
        # It is given no transport of its own, which would load every certificate of the system for nothing.
        http_client=httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport()),
    )
    return str(client.base_url), {k: v for k, v in client.default_headers.items() if isinstance(v, str)}


def _plain_address(spec: ModelSpec, key: str | None) -> tuple[str, dict[str, str]]:
    """The same for a server of anybody: the SDK need not be loaded to say what the eval says."""
    headers = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": "pytest-verica"}
    return spec.base_url or "", {**headers, "Authorization": f"Bearer {key or _NO_KEY}"}
