"""A provider over HTTP: the wire of one API, or of several, on one endpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.providers.embedding_wire import NotEmbeddings
from pytest_verica.providers.endpoint import Endpoint
from pytest_verica.providers.reading import NotACompletion
from pytest_verica.providers.refusal import malformed
from pytest_verica.providers.staging import Unasked
from pytest_verica.request import AnswerSchema, Request

_MOST_PAGES = 100


@dataclass(frozen=True)
class Wire:
    """How one API asks. path: where a request goes, under the endpoint's address; body: its JSON; read: the answer, by
    the shape that was asked for (raises NotACompletion)."""

    path: Callable[[Request], str]
    body: Callable[[Request], dict[str, Any]]
    read: Callable[[Any, AnswerSchema | None], Completion]


@dataclass(frozen=True)
class EmbeddingWire:
    """How one API embeds. read raises NotEmbeddings."""

    path: Callable[[EmbeddingRequest], str]
    body: Callable[[Sequence[EmbeddingRequest]], dict[str, Any]]
    read: Callable[[Any, Sequence[EmbeddingRequest]], list[Embedding]]


@dataclass(frozen=True)
class Listing:
    """How one API lists its models. path: of the first page; names: those of a page, and the path of the next page,
    None where it is the last (raises KeyError, TypeError or ValueError where it is no list)."""

    path: str
    names: Callable[[Any], tuple[list[str], str | None]]


class ModelApi:
    """A provider: one endpoint, the APIs that it speaks by `ModelSpec.api` (None: the usual one), one pool."""

    def __init__(self, endpoint: Endpoint, wires: Mapping[str | None, Wire], listing: Listing) -> None:
        self._endpoint = endpoint
        self._wires = wires
        self._listing = listing

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._endpoint.door}>"

    async def complete(self, request: Request) -> Completion:
        wire, body = self._asked(request)
        data, raw = await self._endpoint.post(wire.path(request), body, request.model.name)
        try:
            return wire.read(data, request.answer)
        except NotACompletion as error:
            raise malformed(self._endpoint.door, request.model.name, str(error), raw) from None

    def _asked(self, request: Request) -> tuple[Wire, dict[str, Any]]:
        """How a request is put, and its body. Raises ProviderError where that cannot be: nothing was sent."""
        door, model = self._endpoint.door, request.model
        wire = self._wires.get(model.api)
        if wire is None:
            why = f"{door.provider} has no API `{model.api}`. Remove `api` of {model}."
            raise door.error("bad_request", why, attempts=0)
        try:
            body = wire.body(request)
        except Unasked as error:
            raise door.error("bad_request", f"{model} cannot be asked: {error}", attempts=0) from None
        if body.get("stream"):
            why = f"`extra.stream` of {model} asks for a stream. Remove it."
            raise door.error("bad_request", why, attempts=0)
        return wire, body

    async def models(self) -> tuple[str, ...] | None:
        names: list[str] = []
        path: str | None = self._listing.path
        for _ in range(_MOST_PAGES):
            if path is None:
                break
            page = await self._endpoint.get(path)
            try:
                found, path = self._listing.names(page)
            except (KeyError, TypeError, ValueError, AttributeError):
                return None  # some other kind of page: this endpoint has no list
            names += found
        return tuple(names)

    async def aclose(self) -> None:
        await self._endpoint.aclose()


class EmbeddingModelApi(ModelApi):
    """A provider whose models embed texts too."""

    def __init__(
        self, endpoint: Endpoint, wires: Mapping[str | None, Wire], listing: Listing, embedding: EmbeddingWire
    ) -> None:
        super().__init__(endpoint, wires, listing)
        self._embedding = embedding

    async def embed(self, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
        first, wire = requests[0], self._embedding
        data, raw = await self._endpoint.post(wire.path(first), wire.body(requests), first.model.name)
        try:
            return wire.read(data, requests)
        except NotEmbeddings as error:
            raise malformed(self._endpoint.door, first.model.name, str(error), raw) from None
