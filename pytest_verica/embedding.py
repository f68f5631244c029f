"""Embeddings: what is asked for a text's vector, and the vector. Stored, shared and paid for like any answer."""

from __future__ import annotations

import base64
import binascii
import math
import sys
from array import array
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.request import Message, ModelSpec, Request
from pytest_verica.usage import Usage


class NotAnEmbedding(ValueError):
    """An answer holds no vector: a phrase."""


@dataclass(frozen=True)
class EmbeddingRequest(Request):
    """One text whose vector is asked for. `messages` holds it as one user turn; made by `of`."""

    @classmethod
    def of(cls, model: ModelSpec, text: str) -> EmbeddingRequest:
        return cls(model, (Message("user", text),))

    @property
    def text(self) -> str:
        return self.messages[0].content or ""

    @cached_property
    def content(self) -> dict[str, Any]:
        """The question itself: never equal to that of a completion."""
        return {"model": self.model.name, "params": dict(self.model.params), "embed": self.text}


@dataclass(frozen=True)
class Embedding:
    """A text's vector. model: as the provider named it; usage: this text's share of the call, None where not said."""

    vector: tuple[float, ...]
    model: str | None = None
    usage: Usage | None = None

    def completion(self) -> Completion:
        """As the response store keeps it: the text is the vector in 32-bit floats, little-endian, base64."""
        numbers = array("f", self.vector)
        if sys.byteorder == "big":
            numbers.byteswap()
        packed = base64.b64encode(numbers.tobytes()).decode("ascii")
        return Completion(packed, stop_reason="stop", model=self.model, usage=self.usage)

    @classmethod
    def of(cls, completion: Completion) -> Embedding:
        """Raises NotAnEmbedding."""
        numbers = array("f")
        try:
            numbers.frombytes(base64.b64decode(completion.text or "", validate=True))
        except (binascii.Error, ValueError) as error:
            raise NotAnEmbedding(f"it is no packed vector: {error}") from None
        if sys.byteorder == "big":
            numbers.byteswap()
        if not numbers or not all(map(math.isfinite, numbers)):
            raise NotAnEmbedding("its vector is empty or holds numbers that are not finite")
        return cls(tuple(numbers), completion.model, completion.usage)
