"""The provider `google`: the Gemini API of Google, or of a gateway in front of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from pytest_verica.providers.connection import open_connection
from pytest_verica.providers.door import Door, check_base_url, read_key, require_credential, secrets_in
from pytest_verica.providers.endpoint import Endpoint
from pytest_verica.providers.gemini_wire import (
    embeddings_body,
    path_of,
    read_completion,
    read_embeddings,
    request_body,
)
from pytest_verica.providers.model_api import EmbeddingModelApi, EmbeddingWire, Listing, Wire
from pytest_verica.providers.parameters import GOOGLE as RULES
from pytest_verica.providers.parameters import LeftOut, left_out
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec

_ADDRESS = "https://generativelanguage.googleapis.com"
_VERSION = re.compile(r"/v\d\w*\Z")
_MODELS = "/models?pageSize=1000"

_WIRES: Mapping[str | None, Wire] = {
    None: Wire(lambda request: path_of(request, "generateContent"), request_body, read_completion)
}
_EMBEDDINGS = EmbeddingWire(lambda request: path_of(request, "batchEmbedContents"), embeddings_body, read_embeddings)


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    require_credential(spec, "GEMINI_API_KEY")
    check_base_url(spec)
    key = read_key(spec) or ""
    address = _address(spec)
    headers = {"Content-Type": "application/json", "x-goog-api-key": key, "User-Agent": "pytest-verica"}
    door = Door(spec.provider, address, spec.credential, secrets_in([key]))
    endpoint = Endpoint(door, open_connection(address, headers, timeout_s), timeout_s)
    return EmbeddingModelApi(endpoint, _WIRES, _LISTING, _EMBEDDINGS)


def _address(spec: ModelSpec) -> str:
    """With the version of the API, where the address does not name one: as Google's own SDK has it."""
    address = (spec.base_url or os.environ.get("GOOGLE_GEMINI_BASE_URL") or _ADDRESS).rstrip("/")
    version = os.environ.get("GOOGLE_GENAI_API_VERSION") or "v1"
    return address if _VERSION.search(address) else f"{address}/{'v1beta' if version == 'beta' else version}"


def _names(page: Any) -> tuple[list[str], str | None]:
    names = [model["name"].removeprefix("models/") for model in page["models"]]
    more = page.get("nextPageToken")
    return names, f"{_MODELS}&pageToken={more}" if more else None


_LISTING = Listing(_MODELS, _names)


def _left_out(spec: ModelSpec) -> LeftOut:
    return left_out(spec, RULES)


GOOGLE = ProviderKind(
    "google", _open, needs_credential=True, about="Google's Gemini API; embeddings", left_out=_left_out
)
