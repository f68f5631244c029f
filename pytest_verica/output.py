"""An output: one answer to one case, and the reading of its text as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from pytest_verica.canonical import canonical_json
from pytest_verica.errors import TargetError
from pytest_verica.json_text import JsonReading, read_json
from pytest_verica.tool_calls import NotToolCalls, ToolCall, read_tool_calls
from pytest_verica.usage import Usage


@dataclass(frozen=True)
class Output:
    """One answer to one case.

    text: what was answered, None where there is no text (only tool calls, say); tool_calls: in order;
    tool_calls_recorded: whether calls were looked for: without it, no tool_calls means that nothing is known; steps:
    the agent's steps in order (tool calls, or messages that hold them), None where not recorded; state: what an agent
    left behind, None where not recorded; spans: the trace, None where there is none; stop_reason: the provider's word;
    usage; cost: USD paid now for producing it, None where the price is unknown; cost_avoided: USD that a reused answer
    cost when bought; latency_s: seconds the call took when made, None where not measured; reused: taken from the
    store; calls, retries, reused_calls: as on a grade; unpriced: models without a price; model: as the provider named
    it; data: the structured value that a target returned instead of a text.
    """

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    steps: Any = None
    state: Any = None
    spans: Any = None
    stop_reason: str | None = None
    usage: Usage | None = None
    cost: Decimal | None = Decimal(0)
    cost_avoided: Decimal | None = Decimal(0)
    latency_s: float | None = None
    reused: bool = False
    calls: int = 0
    retries: int = 0
    reused_calls: int = 0
    unpriced: tuple[str, ...] = ()
    model: str | None = None
    data: Any = field(default=None)
    tool_calls_recorded: bool = False

    @cached_property
    def json(self) -> JsonReading:
        """The output as JSON: `data` where the target returned a structure, else the text, parsed once."""
        if self.data is not None:
            return JsonReading(self.data)
        if self.text is None:
            return JsonReading(problem="the output has no text")
        return read_json(self.text)

    def to_json(self) -> dict[str, Any]:
        """A JSON-safe mapping; costs are decimal texts."""
        return {
            "text": self.text,
            "data": self.data,
            "tool_calls": [call.to_json() for call in self.tool_calls],
            "steps": self.steps,
            "state": self.state,
            "spans": self.spans,
            "stop_reason": self.stop_reason,
            "usage": None if self.usage is None else self.usage.to_json(),
            "cost": None if self.cost is None else str(self.cost),
            "cost_avoided": None if self.cost_avoided is None else str(self.cost_avoided),
            "latency_s": self.latency_s,
            "reused": self.reused,
            "calls": self.calls,
            "retries": self.retries,
            "reused_calls": self.reused_calls,
            "unpriced": list(self.unpriced),
            "model": self.model,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Output:
        """Reads back what `to_json` wrote. That tool calls were looked for is not kept: where there are some, they
        were.

        Raises:
            KeyError, TypeError: it is no output.
        """
        given = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        given["tool_calls"] = tuple(ToolCall.from_json(call) for call in data["tool_calls"])
        given["tool_calls_recorded"] = bool(given["tool_calls"])
        given["unpriced"] = tuple(data["unpriced"])
        if data["usage"] is not None:
            given["usage"] = Usage.from_json(data["usage"])
        for cost in ("cost", "cost_avoided"):
            given[cost] = None if data[cost] is None else Decimal(data[cost])
        return cls(**given)


_RECORD_KEYS = {"text", "data", "tool_calls", "steps", "state", "spans", "stop_reason", "usage", "model"}


def output_of(value: Any, *, record: bool = False, latency_s: float | None = None, calls: int = 0) -> Output:
    """The output that a target's value stands for: a text, an Output, an output record (a mapping with only an
    output's keys; with `record` it must be one), or any other JSON, which becomes the output's data.

    Raises:
        TargetError: it is not JSON, or its record is malformed.
    """
    if isinstance(value, Output):
        return value
    if isinstance(value, str):
        return Output(text=value, latency_s=latency_s, calls=calls)
    if isinstance(value, Mapping) and (record or (value and set(value) <= _RECORD_KEYS)):
        unknown = sorted(set(map(str, value)) - _RECORD_KEYS)
        if unknown:
            known = ", ".join(sorted(_RECORD_KEYS))
            raise TargetError("record", f"an output record has no {', '.join(unknown)}; its keys: {known}")
        return _from_record(value, latency_s, calls)
    _require_json(value)
    if value is None:
        raise TargetError("no_output", "there is no output: the value is null")
    return Output(text=_json_text(value), data=value, latency_s=latency_s, calls=calls)


def _from_record(value: Mapping[str, Any], latency_s: float | None, calls: int) -> Output:
    _require_json({key: inner for key, inner in value.items() if not isinstance(inner, Usage)})
    text, data, usage = value.get("text"), value.get("data"), value.get("usage")
    if text is not None and not isinstance(text, str):
        raise TargetError("record", f"an output's `text` is a text, not {type(text).__name__}")
    if isinstance(usage, Mapping):
        try:
            usage = Usage.from_json(dict(usage))
        except TypeError:
            raise TargetError("record", "`usage` has keys that are not counts of tokens; see Usage") from None
    try:
        calls_made = read_tool_calls(value.get("tool_calls"))
    except NotToolCalls as error:
        raise TargetError("record", f"`tool_calls`: {error}", error.raw) from None
    return Output(
        text=text if text is not None or data is None else _json_text(data),
        data=data,
        tool_calls=calls_made,
        tool_calls_recorded="tool_calls" in value,
        steps=value.get("steps"),
        state=value.get("state"),
        spans=value.get("spans"),
        stop_reason=value.get("stop_reason"),
        usage=usage,
        model=value.get("model"),
        latency_s=latency_s,
        calls=calls,
    )


def _require_json(value: Any) -> None:
    try:
        canonical_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise TargetError("not_json", f"the target's value cannot be written as JSON: {error}") from None


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
