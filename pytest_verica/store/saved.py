"""A stored answer with the question it answers: a row of the response store, a line of an exported one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from pytest_verica.canonical import content_hash
from pytest_verica.completion import Completion, StoredAnswer
from pytest_verica.request import Request

compact = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
"""JSON in ASCII: a lone surrogate of a model's text survives in any file and database."""


@dataclass(frozen=True)
class SavedAnswer:
    """key, content_key: of the request; provider, base_url, model: the door it went through; request:
    `Request.content`, never a secret; answer: what was bought."""

    key: str
    content_key: str
    provider: str
    base_url: str | None
    model: str
    request: Mapping[str, Any]
    answer: StoredAnswer

    @classmethod
    def of(cls, request: Request, answer: StoredAnswer) -> SavedAnswer:
        model = request.model
        return cls(
            request.key, request.content_key, model.provider, model.base_url, model.name, request.content, answer
        )

    def to_json(self) -> dict[str, Any]:
        answer = self.answer
        return {
            "key": self.key,
            "content_key": self.content_key,
            "provider": self.provider,
            "base_url": self.base_url,
            "request": self.request,
            "completion": answer.completion.to_json(),
            "cost": None if answer.cost is None else str(answer.cost),
            "latency_s": answer.latency_s,
            "created": answer.created,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> SavedAnswer:
        """Reads a row back, and checks that the answer stands under the hash of its own question.

        Raises:
            ValueError: a key is absent or of another type, or the question is not the one that the hash was made of.
        """
        try:
            request = data["request"]
            cost = data["cost"]
            answer = StoredAnswer(
                Completion.from_json(data["completion"]),
                None if cost is None else Decimal(cost),
                float(data["latency_s"]),
                float(data["created"]),
            )
            saved = cls(
                data["key"], data["content_key"], data["provider"], data["base_url"], request["model"], request, answer
            )
        except KeyError as error:
            raise ValueError(f"it has no {error}") from None
        except (TypeError, AttributeError, InvalidOperation) as error:
            raise ValueError(f"a value has another type than expected: {error}") from None
        if content_hash(saved.request) != saved.content_key:
            raise ValueError("the request is not the one that `content_key` was made of: it was edited or damaged")
        if content_hash([saved.provider, saved.base_url, saved.content_key]) != saved.key:
            raise ValueError("`key` is not the hash of provider, base_url and request: it was edited or damaged")
        return saved
