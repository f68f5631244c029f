"""The seam of providers: what a door to a model must offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.request import ModelSpec, Request


class Provider(Protocol):
    """One connection pool to one endpoint. Lives on the event loop that made it."""

    async def complete(self, request: Request) -> Completion:
        """One call, never repeated by the provider itself.

        Raises:
            ProviderError: classified (kind, retryable, retry_after_s), with every secret removed from its texts.
        """
        ...

    async def models(self) -> tuple[str, ...] | None:
        """Names that the endpoint serves, None where it cannot say."""
        ...

    async def aclose(self) -> None:
        """Closes the connections. Safe to call twice."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """What a provider also offers where its models embed texts."""

    async def embed(self, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
        """The vectors of several texts by one model, in their order: one call, never repeated by the provider itself.

        Raises:
            ProviderError: as `complete`.
        """
        ...


@dataclass(frozen=True)
class ProviderKind:
    """One registry line. open: makes the provider for a model's endpoint, with a timeout in seconds for one request
    (raises ProviderError `missing_credential`); needs_credential: whether a credential's absence is an error before
    launch; calls: False for doors that never call anything (replay), so that stored answers are all there is; stored:
    False for doors whose answers are not kept, because they cost nothing and may change (a script)."""

    name: str
    open: Callable[[ModelSpec, float], Provider]
    needs_credential: bool
    about: str
    calls: bool = True
    stored: bool = True
