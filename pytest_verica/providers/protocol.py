"""The seam of providers: what a door to a model must offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.request import ModelSpec, Request, Structured


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


def takes_all(spec: ModelSpec) -> Mapping[str, str]:
    """For providers that leave out no parameter."""
    return {}


@dataclass(frozen=True)
class ProviderKind:
    """One registry line. open: makes the provider for a model's endpoint, with a timeout in seconds for one request
    (raises ProviderError `missing_credential`); needs_credential: whether a credential's absence is an error before
    launch; calls: False for doors that never call anything (replay), so that stored answers are all there is; stored:
    False for doors whose answers are not kept, because they cost nothing and may change (a script); left_out: the
    parameters of a model that are not sent because it does not take them, each with a clause that says why; apis: the
    values of `ModelSpec.api` that it knows; structured: the ways to force the shape of an answer that it knows;
    embeds: False where it is known to embed nothing."""

    name: str
    open: Callable[[ModelSpec, float], Provider]
    needs_credential: bool
    about: str
    calls: bool = True
    stored: bool = True
    left_out: Callable[[ModelSpec], Mapping[str, str]] = takes_all
    apis: tuple[str, ...] = ()
    structured: tuple[Structured, ...] = ("json_schema", "tool", "json_object")
    embeds: bool = True
