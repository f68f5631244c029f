"""The fields of one exported span, whatever its exporter calls them: identity, times, status, attributes."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.errors import VericaError
from pytest_verica.spans.moment import NoMoment, read_moments
from pytest_verica.spans.span import Status

# By exporter: OTLP JSON (camelCase and as protobuf names it), the SDK of Python (context, parent_id), Phoenix's tables
# (context.span_id), deepeval (uuid, parentUuid), nested trees (name, start, end).
_NAMES = ("name", "span_name", "spanName", "operation_name", "operationName")
_IDS = ("span_id", "spanId", "context.span_id", "uuid", "id")
_TRACES = ("trace_id", "traceId", "context.trace_id")
_PARENTS = ("parent_id", "parentId", "parent_span_id", "parentSpanId", "parentUuid", "parent")
_STARTS = ("start", "start_time", "startTime", "startTimeUnixNano", "start_time_unix_nano")
_ENDS = ("end", "end_time", "endTime", "endTimeUnixNano", "end_time_unix_nano")
_STATUSES = ("status", "status_code", "statusCode")
_TEXTS = ("status_message", "statusMessage", "error")
_NOT_ATTRIBUTES = {"context", "attributes", "children", "events", "links", "resource", "scope", "flags"}
_KNOWN = {*_NAMES, *_IDS, *_TRACES, *_PARENTS, *_STARTS, *_ENDS, *_STATUSES, *_TEXTS, *_NOT_ATTRIBUTES}

_OK = {"ok", "success", "succeeded", "completed", "1"}
_ERROR = {"error", "errored", "failed", "failure", "2"}
_UNSET = {"unset", "none", "", "0"}
_DEEPEST_VALUE = 64


class BadTrace(VericaError):
    """A value is no trace, or contradicts itself: a sentence that says where and why."""


@dataclass(frozen=True)
class Identity:
    """Who a span is and whose child. trace: None where the export names none; parent: None for a root."""

    trace: str | None
    id: str | None
    parent: str | None


def looks_like_span(value: Mapping[str, Any]) -> bool:
    return any(isinstance(value.get(key), str) for key in _NAMES)


def name_of(raw: Mapping[str, Any]) -> str:
    name = _first(raw, _NAMES)
    if not isinstance(name, str):
        raise BadTrace(f"a span has no name; its keys: {', '.join(map(str, raw))[:200]}")
    return name


def identity_of(raw: Mapping[str, Any]) -> Identity:
    context = raw.get("context")
    flat = {**context, **raw} if isinstance(context, Mapping) else raw
    parent = _first(flat, _PARENTS)
    if isinstance(parent, Mapping):
        parent = _first(parent, _IDS)
    return Identity(_id(_first(flat, _TRACES)), _id(_first(flat, _IDS)), _id(parent))


def times_of(raw: Mapping[str, Any], name: str) -> tuple[int | None, int | None]:
    start, end = _key(raw, _STARTS), _key(raw, _ENDS)
    try:
        return read_moments(
            None if start is None else raw[start],
            None if end is None else raw[end],
            nanoseconds=any("nix" in key for key in (start, end) if key is not None),
        )
    except NoMoment as error:
        raise BadTrace(f"the span {name[:80]!r} has a start or end that cannot be read: {error}") from None


def status_of(raw: Mapping[str, Any]) -> tuple[Status, str | None]:
    """The status and what was said with it."""
    status = _first(raw, _STATUSES)
    said = _first(raw, _TEXTS)
    if isinstance(status, Mapping):
        said = status.get("message") or status.get("description") or said
        status = status.get("code", status.get("status_code", status.get("statusCode")))
    if isinstance(said, (Mapping, list)):
        said = json.dumps(said, ensure_ascii=False, default=str)
    text = None if said in (None, "", False) else str(said)
    word = str("" if status is None else status).lower().removeprefix("statuscode.").removeprefix("status_code_")
    if word in _ERROR or (raw.get("error") and word in _UNSET):
        return "error", text
    if word in _OK:
        return "ok", text
    return ("unset", text) if word in _UNSET else ("unknown", word)


def attributes_of(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Its attributes; what else the exporter wrote beside them (`type`, `input`, `span_kind`) is among them."""
    found: dict[str, Any] = {}
    for key, value in raw.items():
        if key.startswith("attributes."):
            if value is not None:  # a table has a column for every attribute of any span
                found[key.removeprefix("attributes.")] = value
        elif key not in _KNOWN:
            found[key] = value
    own = raw.get("attributes")
    if isinstance(own, Mapping):
        found.update(own)
    elif isinstance(own, list):
        found.update(_otlp_pairs(own))
    return found


def _otlp_pairs(pairs: Iterable[Any], depth: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in pairs:
        if not isinstance(pair, Mapping) or not isinstance(pair.get("key"), str):
            raise BadTrace(f"an attribute is {{key, value}} in OTLP JSON; found {str(pair)[:80]}")
        found[pair["key"]] = _otlp_value(pair.get("value"), depth)
    return found


def _otlp_value(value: Any, depth: int) -> Any:
    """An AnyValue of OTLP: one of its fields is set. Its 64-bit integers are texts in JSON."""
    if not isinstance(value, Mapping):
        return value  # not as the format has it, and still plain to read
    if depth > _DEEPEST_VALUE:
        raise BadTrace("an attribute is nested too deeply to be read")
    for kind, inner in value.items():
        kind = kind.replace("_", "").lower()
        if kind == "intvalue":
            return int(inner) if str(inner).lstrip("-").isdecimal() else inner
        if kind in ("arrayvalue", "kvlistvalue"):
            values = inner.get("values", []) if isinstance(inner, Mapping) else inner
            if kind == "kvlistvalue":
                return _otlp_pairs(values, depth + 1)
            return [_otlp_value(item, depth + 1) for item in values]
        if kind == "bytesvalue":
            return _text_of_bytes(inner)
        if kind in ("stringvalue", "boolvalue", "doublevalue"):
            return inner
    return None if not value else dict(value)


def _text_of_bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8")
    except (binascii.Error, ValueError, TypeError):
        return value


def _first(raw: Mapping[str, Any], keys: Iterable[str]) -> Any:
    key = _key(raw, keys)
    return None if key is None else raw[key]


def _key(raw: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    return next((key for key in keys if raw.get(key) is not None), None)


def _id(value: Any) -> str | None:
    """Ids are texts or numbers; nothing but zeros means none."""
    if value is None or isinstance(value, bool):
        return None
    if not isinstance(value, (str, int)):
        raise BadTrace(f"the id of a span is a text or a number; found {str(value)[:80]}")
    text = str(value).strip().lower()
    return text if text.removeprefix("0x").strip("0") else None
