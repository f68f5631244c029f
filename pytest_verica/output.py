"""An output: one answer to one case, and the reading of its text as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from pytest_verica.canonical import canonical_json
from pytest_verica.errors import TargetError
from pytest_verica.usage import Usage


@dataclass(frozen=True)
class ToolCall:
    """A tool call that a model decided on; nothing is ever executed.

    arguments: the parsed arguments, None where they are not valid JSON; raw_arguments: as the model wrote them.
    """

    name: str
    arguments: Any = None
    raw_arguments: str | None = None
    id: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "arguments": self.arguments, "raw_arguments": self.raw_arguments, "id": self.id}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ToolCall:
        return cls(data["name"], data.get("arguments"), data.get("raw_arguments"), data.get("id"))


@dataclass(frozen=True)
class JsonReading:
    """A text read as JSON. problem: why it is not JSON (with line and column), None where it is; fenced: whether a
    Markdown code fence around it was stripped."""

    value: Any = None
    problem: str | None = None
    fenced: bool = False


@dataclass(frozen=True)
class Output:
    """One answer to one case.

    text: what was answered, None where there is no text (only tool calls, say); tool_calls: in order; steps: the
    agent's steps in order, None where not recorded; state: what an agent left behind, None where not recorded; spans:
    the trace, None where there is none; stop_reason: the provider's word; usage; cost: USD paid now for producing it,
    None where the price is unknown; cost_avoided: USD that a reused answer cost when bought; latency_s: seconds the
    call took when made, None where not measured; reused: taken from the store; calls, retries, reused_calls: as on
    a grade; unpriced: models without a price; model: as the provider named it; data: the structured value that a
    target returned instead of a text.
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


class _NotJson(ValueError):
    """A rule of JSON that Python's reader lets pass: duplicate keys, NaN, infinities."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _NotJson(f"the key {twice!r} appears twice in one object")
    return result


def _constant(name: str) -> float:
    raise _NotJson(f"{name} is not JSON")


def _float(text: str) -> float | Decimal:
    number = float(text)
    if not math.isfinite(number):
        raise _NotJson(f"{text} is out of range")
    return number


def strip_fence(text: str) -> tuple[str, bool]:
    """The text inside a Markdown code fence that is the whole of `text`, and whether there was one."""
    stripped = text.strip()
    if not (stripped.startswith("```") and stripped.endswith("```") and len(stripped) > 6):
        return text, False
    first, newline, rest = stripped.partition("\n")
    if not newline or "`" in first[3:]:
        return text, False
    return rest[:-3], True


def read_json(text: str) -> JsonReading:
    """Reads strict JSON: no duplicate keys, no NaN, nothing after the value; a code fence around it is stripped."""
    body, fenced = strip_fence(text)
    try:
        value = json.loads(body, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float)
    except json.JSONDecodeError as error:
        return JsonReading(problem=f"{error.msg} at line {error.lineno}, column {error.colno}", fenced=fenced)
    except _NotJson as error:
        return JsonReading(problem=str(error), fenced=fenced)
    except RecursionError:
        return JsonReading(problem="it is nested too deeply to be read", fenced=fenced)
    except ValueError as error:  # an integer with too many digits
        return JsonReading(problem=str(error), fenced=fenced)
    return JsonReading(value, fenced=fenced)


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
    return Output(
        text=text if text is not None or data is None else _json_text(data),
        data=data,
        tool_calls=_tool_calls(value.get("tool_calls")),
        steps=value.get("steps"),
        state=value.get("state"),
        spans=value.get("spans"),
        stop_reason=value.get("stop_reason"),
        usage=usage,
        model=value.get("model"),
        latency_s=latency_s,
        calls=calls,
    )


def _tool_calls(value: Any) -> tuple[ToolCall, ...]:
    """Tool calls as `{name, arguments}` or in OpenAI's shape `{function: {name, arguments}}`."""
    if value is None:
        return ()
    if not isinstance(value, (list, tuple)):
        raise TargetError("record", "`tool_calls` is an array of {name, arguments}")
    calls = []
    for item in value:
        function = item.get("function", item) if isinstance(item, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise TargetError("record", "a tool call is {name, arguments}", repr(item)[:200])
        arguments, raw = function.get("arguments"), function.get("raw_arguments")
        if isinstance(arguments, str):
            raw, arguments = arguments, read_json(arguments).value
        calls.append(ToolCall(function["name"], arguments, raw, item.get("id")))
    return tuple(calls)


def _require_json(value: Any) -> None:
    try:
        canonical_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise TargetError("not_json", f"the target's value cannot be written as JSON: {error}") from None


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
