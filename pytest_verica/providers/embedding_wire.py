"""Embeddings on the wire: texts as the JSON body of `/embeddings`, its JSON answer as vectors. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_verica.embedding import Embedding, EmbeddingRequest
from pytest_verica.providers.reading import count
from pytest_verica.usage import Usage


class NotEmbeddings(ValueError):
    """A JSON value is no list of embeddings: a phrase that says what is wrong with it."""


def embeddings_body(requests: Sequence[EmbeddingRequest]) -> dict[str, Any]:
    """The JSON body of one call for the texts of several requests to one model."""
    model = requests[0].model
    body: dict[str, Any] = {"model": model.name, "input": [request.text for request in requests]}
    # Said, for the SDKs of some servers' makers expect base64 where nothing is.
    body["encoding_format"] = "float"
    return {**body, **(model.params.get("extra") or {})}


def read_embeddings(data: Any, requests: Sequence[EmbeddingRequest]) -> list[Embedding]:
    """The vectors, in the order of the requests.

    Raises:
        NotEmbeddings: the JSON has another shape.
    """
    items = data.get("data") if isinstance(data, Mapping) else None
    if not isinstance(items, list):
        raise NotEmbeddings("its JSON has no `data`")
    vectors: dict[int, tuple[float, ...]] = {}
    for place, item in enumerate(items):
        index = item.get("index", place) if isinstance(item, Mapping) else None
        if not isinstance(index, int) or index in vectors:
            raise NotEmbeddings("its `data` does not say which embedding is which text's")
        vectors[index] = vector(item.get("embedding"))
    if sorted(vectors) != list(range(len(requests))):
        raise NotEmbeddings(f"it has {len(vectors)} embeddings for {len(requests)} texts")
    model = data.get("model")
    shares = shared(count(data.get("usage"), "prompt_tokens"), requests)
    return [
        Embedding(vectors[index], model if isinstance(model, str) else None, usage)
        for index, usage in enumerate(shares)
    ]


def vector(value: Any) -> tuple[float, ...]:
    """The numbers of one embedding.

    Raises:
        NotEmbeddings: they are none.
    """
    if not isinstance(value, list) or not value:
        raise NotEmbeddings("an `embedding` is not a list of numbers")
    numbers = [float(n) for n in value if isinstance(n, (int, float)) and not isinstance(n, bool)]
    if len(numbers) != len(value) or not all(map(math.isfinite, numbers)):
        raise NotEmbeddings("an `embedding` holds something that is no finite number")
    return tuple(numbers)


def shared(total: int | None, requests: Sequence[EmbeddingRequest]) -> list[Usage | None]:
    """The tokens of the call, given to its texts by their length; together they are what the endpoint counted. None
    where it did not say."""
    if total is None:
        return [None] * len(requests)
    weights = [len(request.text.encode("utf-8", "replace")) or 1 for request in requests]
    whole, before, given = sum(weights), 0, 0
    shares: list[Usage | None] = []
    for weight in weights:
        before += weight
        until = total * before // whole
        shares.append(Usage(until - given, 0, 0, 0))
        given = until
    return shares
