"""The provider `replay`: only answers that the response store already holds. It never calls anything."""

from __future__ import annotations

from pytest_verica.canonical import short_hash
from pytest_verica.completion import Completion
from pytest_verica.errors import ProviderError
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec, Request

_EXCERPT = 80


class Replay:
    """Refuses every request: one that reaches it has no stored answer."""

    async def complete(self, request: Request) -> Completion:
        raise not_stored(request)

    async def models(self) -> tuple[str, ...] | None:
        return None

    async def aclose(self) -> None:
        return None


def not_stored(request: Request) -> ProviderError:
    """The error for a request that must be answered from the store, and is not in it."""
    last = " ".join((request.messages[-1].content or "").split()) if request.messages else ""
    excerpt = last if len(last) <= _EXCERPT else last[:_EXCERPT] + "…"
    sample = f", sample {request.repeat + 1}" if request.repeat else ""
    key = short_hash(request.content_key)
    return ProviderError(
        "not_stored",
        f"No stored answer of `{request.model.name}` to “{excerpt}”{sample} (request {key}). "
        "Run once without replay to buy it, or bring a store that holds it with `verica store import`.",
    )


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    return Replay()


REPLAY = ProviderKind(
    "replay", _open, needs_credential=False, about="only answers of the response store; calls nothing", calls=False
)
