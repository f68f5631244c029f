"""Requests and answers that the store's tests share."""

from __future__ import annotations

from decimal import Decimal

from pytest_verica.completion import Completion, StoredAnswer
from pytest_verica.output import ToolCall
from pytest_verica.request import Message, ModelSpec, Request
from pytest_verica.usage import Usage


def question(text: str = "q", *, provider: str = "openai", base_url: str | None = None, repeat: int = 0) -> Request:
    model = ModelSpec(provider, "m-1", "SECRET_NAME", base_url, {"temperature": 0})
    return Request(model, (Message("user", text),), repeat=repeat)


def answer(text: str | None = "a", *, cost: str | None = "0.000123", created: float = 1000.5) -> StoredAnswer:
    completion = Completion(text, (ToolCall("f", {"x": [1]}, '{"x":[1]}', "c"),), "stop", None, "m-1-2026", Usage(3, 4))
    return StoredAnswer(completion, None if cost is None else Decimal(cost), 0.25, created)
