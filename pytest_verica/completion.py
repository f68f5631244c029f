"""What a model answered, and what the engine knows about that answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage


@dataclass(frozen=True)
class Completion:
    """One answer of a provider.

    text: None where there is none; stop_reason: `stop`, `length`, `tool_calls`, `refusal`, `content_filter`, or the
    provider's own word; refusal: the model's words where it refused; model: as the provider named the one that
    answered; usage: None where the provider did not say.
    """

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    stop_reason: str | None = None
    refusal: str | None = None
    model: str | None = None
    usage: Usage | None = None

    @property
    def complete(self) -> bool:
        """Whether the model ended its turn by itself: a truncated or filtered answer is never stored."""
        return self.stop_reason not in ("length", "content_filter")

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "tool_calls": [call.to_json() for call in self.tool_calls],
            "stop_reason": self.stop_reason,
            "refusal": self.refusal,
            "model": self.model,
            "usage": None if self.usage is None else self.usage.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Completion:
        usage = data.get("usage")
        return cls(
            text=data.get("text"),
            tool_calls=tuple(ToolCall.from_json(call) for call in data.get("tool_calls") or ()),
            stop_reason=data.get("stop_reason"),
            refusal=data.get("refusal"),
            model=data.get("model"),
            usage=None if usage is None else Usage.from_json(usage),
        )


@dataclass(frozen=True)
class StoredAnswer:
    """A completion as the response store keeps it. cost: USD when bought, None where the price was unknown;
    latency_s: seconds that the call took; created: seconds since the epoch."""

    completion: Completion
    cost: Decimal | None
    latency_s: float
    created: float


@dataclass(frozen=True)
class Answer:
    """A completion in hand. cost: USD paid for it now (0 where reused), None where the price is unknown;
    cost_avoided: USD that it cost when bought, 0 where bought now; attempts: calls made now (0 where reused);
    latency_s: seconds of the call that produced it."""

    completion: Completion
    cost: Decimal | None
    cost_avoided: Decimal | None
    reused: bool
    attempts: int
    latency_s: float
