"""The provider `anthropic`: the Messages API of Anthropic, or of a gateway in front of it."""

from __future__ import annotations

import os
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

VERSION = "2026-10-21"
"""Of the API: the one that `messages_wire` speaks."""

_ADDRESS = "https://api.anthropic.com"
_WIRES: Mapping[str | None, Wire] = {None: Wire(lambda request: "/v1/messages", request_body, read_completion)}
_MODELS = "/v1/models?limit=1000"


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    require_credential(spec, "ANTHROPIC_API_KEY")
    check_base_url(spec)
    key = read_key(spec) or ""
    address = _address(spec)
    door = Door(spec.provider, address, spec.credential, secrets_in([key]))
    return ModelApi(Endpoint(door, open_connection(address, _headers(key), timeout_s), timeout_s), _WIRES, _LISTING)


def _address(spec: ModelSpec) -> str:
    """Before the version, as Anthropic's own SDK has it; other tools write the version too."""
    address = spec.base_url or os.environ.get("ANTHROPIC_BASE_URL") or _ADDRESS
    return address.rstrip("/").removesuffix("/v1")


def _headers(key: str) -> dict[str, str]:
    """What ANTHROPIC_CUSTOM_HEADERS says (`Name: value`, one a line), and what must not be said otherwise."""
    lines = (line.partition(":") for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"))
    custom = {name.strip(): value.strip() for name, colon, value in lines if colon}
    own = {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": "pytest-verica",
        "Authorization": f"Bearer {key}",
        "anthropic-version": VERSION,
    }
    # No other key in the place of the credential named, and no other version than the one that is spoken here.
    kept = {name.lower() for name in own} | {"x-api-key"}
    return {name: value for name, value in custom.items() if name.lower() not in kept} | own


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
    embeds=False,
)
