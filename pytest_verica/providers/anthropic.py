"""The provider `anthropic`: the Messages API of Anthropic, or of a gateway in front of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_verica.providers.connection import open_connection
from pytest_verica.providers.door import Door, check_base_url, read_key, require_credential, secrets_in
from pytest_verica.providers.endpoint import Endpoint
from pytest_verica.providers.messages_wire import read_completion, request_body
from pytest_verica.providers.model_api import Listing, ModelApi, Wire
from pytest_verica.providers.parameters import ANTHROPIC as RULES
from pytest_verica.providers.parameters import LeftOut, left_out
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec

_WIRES: Mapping[str | None, Wire] = {None: Wire(lambda request: "/v1/messages", request_body, read_completion)}
_MODELS = "/v1/models?limit=1000"


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    require_credential(spec, "ANTHROPIC_API_KEY")
    check_base_url(spec)
    key = read_key(spec) or ""
    address, headers = _sdk_address(spec, key)
    door = Door(spec.provider, address, spec.credential, secrets_in([key]))
    return ModelApi(Endpoint(door, open_connection(address, headers, timeout_s), timeout_s), _WIRES, _LISTING)


def _sdk_address(spec: ModelSpec, key: str) -> tuple[str, dict[str, str]]:
    """The address that the SDK calls, and what it sends with each request; what it marks as left out is not sent."""
    # Deferred: half a second, which only a run that makes calls pays.
    import anthropic
    import httpx2

    client = anthropic.AsyncAnthropic(
        api_key=key,
        base_url=spec.base_url,
        # It is given no transport of its own, which would load every certificate of the system for nothing.
        http_client=httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport()),
    )
    headers = {name: value for name, value in client.default_headers.items() if isinstance(value, str)}
    # ANTHROPIC_CUSTOM_HEADERS may say more, and must not send another key in the place of the credential named.
    own = {"authorization", "x-api-key"}
    headers = {name: value for name, value in headers.items() if name.lower() not in own} | client.auth_headers
    # The SDK's addresses end before the version; those of other tools do not.
    return str(client.base_url).rstrip("/").removesuffix("/v1"), headers


def _names(page: Any) -> tuple[list[str], str | None]:
    names = [model["id"] for model in page["data"]]
    more = page.get("has_more") and page.get("last_id")
    return names, f"{_MODELS}&after_id={more}" if more else None


_LISTING = Listing(_MODELS, _names)


def _left_out(spec: ModelSpec) -> LeftOut:
    return left_out(spec, RULES)


ANTHROPIC = ProviderKind(
    "anthropic",
    _open,
    needs_credential=True,
    about="Anthropic's Messages",
    left_out=_left_out,
    structured=("json_schema", "tool"),
)
