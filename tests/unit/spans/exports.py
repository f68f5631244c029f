"""One small trace, written in each of the forms that traces are exported in: agent → llm, tool (which failed)."""

from __future__ import annotations

from typing import Any

# 2026-01-31T12:00:00 UTC.
NOON = 1_769_860_800_000_000_000
MS = 1_000_000


def _otlp(value: Any) -> dict[str, Any]:
    """https://github.com/open-telemetry/opentelemetry-proto: AnyValue; 64-bit integers are texts in JSON."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_otlp(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _otlp(inner)} for key, inner in value.items()]}}
    return {"stringValue": value}


def _otlp_span(name: str, id: str, parent: str, start: int, end: int, status: dict[str, Any], **attributes: Any) -> Any:
    pairs = [{"key": key.replace("__", "."), "value": _otlp(value)} for key, value in attributes.items()]
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": id,
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(NOON + start * MS),
        "endTimeUnixNano": str(NOON + end * MS),
        "attributes": pairs,
        "status": status,
    }


OTLP = {
    "resourceSpans": [
        {
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
            "scopeSpans": [
                {
                    "scope": {"name": "shop"},
                    "spans": [
                        _otlp_span("tool refund", "c" * 16, "a" * 16, 60, 90, {"code": 2, "message": "no such order"}),
                        _otlp_span(
                            "llm", "b" * 16, "a" * 16, 10, 50, {"code": "STATUS_CODE_OK"},
                            gen_ai__request__model="m-1", tokens=12, tags=["x", "y"], nested={"deep": 1.5},
                        ),
                    ],
                },
                {"scope": {"name": "agent"}, "spans": [_otlp_span("agent", "a" * 16, "", 0, 100, {})]},
            ],
        }
    ]
}  # fmt: skip

SDK = [
    {
        "name": "llm",
        "context": {"trace_id": "0x5b", "span_id": "0xb", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": "0xa",
        "start_time": "2026-01-31T12:00:00.010000Z",
        "end_time": "2026-01-31T12:00:00.050000Z",
        "status": {"status_code": "OK"},
        "attributes": {"gen_ai.request.model": "m-1", "tokens": 12},
        "events": [],
        "links": [],
        "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
    },
    {
        "name": "tool refund",
        "context": {"trace_id": "0x5b", "span_id": "0xc", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": "0xa",
        "start_time": "2026-01-31T12:00:00.060000Z",
        "end_time": "2026-01-31T12:00:00.090000Z",
        "status": {"status_code": "ERROR", "description": "no such order"},
        "attributes": {},
    },
    {
        "name": "agent",
        "context": {"trace_id": "0x5b", "span_id": "0xa", "trace_state": "[]"},
        "kind": "SpanKind.INTERNAL",
        "parent_id": None,
        "start_time": "2026-01-31T12:00:00.000000Z",
        "end_time": "2026-01-31T12:00:00.100000Z",
        "status": {"status_code": "UNSET"},
        "attributes": {},
    },
]

OPENINFERENCE_TABLE = [
    {
        "name": "agent", "span_kind": "AGENT", "parent_id": None, "status_code": "UNSET", "status_message": "",
        "start_time": "2026-01-31T12:00:00+00:00", "end_time": "2026-01-31T12:00:00.100+00:00",
        "context.span_id": "a", "context.trace_id": "5b", "attributes.llm.model_name": None,
    },
    {
        "name": "llm", "span_kind": "LLM", "parent_id": "a", "status_code": "OK", "status_message": "",
        "start_time": "2026-01-31T13:00:00.010+01:00", "end_time": "2026-01-31T13:00:00.050+01:00",
        "context.span_id": "b", "context.trace_id": "5b", "attributes.gen_ai": {"request": {"model": "m-1"}},
        "attributes.tokens": 12,
    },
    {
        "name": "tool refund", "span_kind": "TOOL", "parent_id": "a", "status_code": "ERROR",
        "status_message": "no such order", "start_time": "2026-01-31T12:00:00.060Z",
        "end_time": "2026-01-31T12:00:00.090Z", "context.span_id": "c", "context.trace_id": "5b",
    },
]  # fmt: skip

OPENINFERENCE_PAGE = {
    "data": [
        {
            "id": "1", "name": "agent", "context": {"trace_id": "5b", "span_id": "a"}, "span_kind": "AGENT",
            "parent_id": None, "start_time": NOON // 1000, "end_time": NOON // 1000 + 100_000, "status_code": "UNSET",
            "attributes": {},
        },
        {
            "id": "2", "name": "llm", "context": {"trace_id": "5b", "span_id": "b"}, "span_kind": "LLM",
            "parent_id": "a", "start_time": NOON // MS + 10, "end_time": NOON // MS + 50, "status_code": "OK",
            "attributes": {"gen_ai.request.model": "m-1", "tokens": 12},
        },
        {
            "id": "3", "name": "tool refund", "context": {"trace_id": "5b", "span_id": "c"}, "span_kind": "TOOL",
            "parent_id": "a", "start_time": NOON / 1e9 + 0.06, "end_time": NOON / 1e9 + 0.09, "status_code": "ERROR",
            "status_message": "no such order", "attributes": {},
        },
    ],
    "next_cursor": None,
}  # fmt: skip

NESTED = {
    "name": "agent",
    "start": 0,
    "end": 0.1,
    "children": [
        {
            "name": "llm", "start": 0.01, "end": 0.05, "status": "ok",
            "attributes": {"gen_ai": {"request": {"model": "m-1"}}, "tokens": 12},
        },
        {"name": "tool refund", "start": 0.06, "end": 0.09, "status": "error", "error": "no such order"},
    ],
}  # fmt: skip

FORMS: dict[str, Any] = {
    "otlp": OTLP,
    "sdk": SDK,
    "openinference_table": OPENINFERENCE_TABLE,
    "openinference_page": OPENINFERENCE_PAGE,
    "nested": NESTED,
    "nested_in_a_list": [NESTED],
    "in_an_object": {"spans": SDK, "final_output": "refunded"},
}
