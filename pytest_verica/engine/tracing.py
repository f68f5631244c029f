"""Spans of a traced target: what its code records with OpenTelemetry while it produces one case's output.

Nothing of OpenTelemetry is imported here: where the target has not loaded it there is nothing to capture.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

_HEX = {"trace_id": 32, "span_id": 16}
_MARK = "_verica_case_spans"
_JOINING = Lock()


class Recorder:
    """The spans of one case, in the order of their starts. They are read when the case is over: one that has not ended
    by then has no end."""

    def __init__(self) -> None:
        self._spans: list[Any] = []
        self.ids: list[tuple[int, int]] = []
        self.closed = False

    def add(self, span: Any, key: tuple[int, int]) -> None:
        self._spans.append(span)
        self.ids.append(key)

    def as_json(self) -> list[dict[str, Any]] | None:
        """As OpenTelemetry's SDK exports them, with times in nanoseconds; None where there are none."""
        return [_span_json(span) for span in list(self._spans)] or None


_RECORDER: ContextVar[Recorder | None] = ContextVar("verica_recorder", default=None)


class CaseSpans:
    """A span processor: gives each span to the case in whose context it was started, else to that of its parent (code
    that runs in threads of its own hands on OpenTelemetry's context, not ours)."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._owners: dict[tuple[int, int], Recorder] = {}

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        context, parent = span.get_span_context(), span.parent
        key = (context.trace_id, context.span_id)
        with self._lock:
            recorder = _RECORDER.get()
            if recorder is None and parent is not None:
                recorder = self._owners.get((parent.trace_id, parent.span_id))
            if recorder is not None and not recorder.closed:
                self._owners[key] = recorder
                recorder.add(span, key)

    def close(self, recorder: Recorder) -> None:
        """The case is over: what starts later belongs to none."""
        with self._lock:
            recorder.closed = True
            for key in recorder.ids:
                self._owners.pop(key, None)

    def on_end(self, span: Any) -> None:
        return None

    def _on_ending(self, span: Any) -> None:
        return None

    def shutdown(self) -> None:
        return None

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return True


@contextmanager
def recorded_spans() -> Iterator[Recorder]:
    """Within it, the spans that this context (or a copy of it) starts are the recorder's."""
    processor = _processor()
    recorder = Recorder()
    token = _RECORDER.set(recorder)
    try:
        yield recorder
    finally:
        _RECORDER.reset(token)
        if processor is not None:
            processor.close(recorder)


def _processor() -> CaseSpans | None:
    """Ours at the global tracer provider, which it joins once. None where the target has set no provider (yet)."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider = api.get_tracer_provider()
    if not hasattr(provider, "add_span_processor"):
        return None
    with _JOINING:
        processor: CaseSpans | None = getattr(provider, _MARK, None)
        if processor is None:
            processor = CaseSpans()
            provider.add_span_processor(processor)
            setattr(provider, _MARK, processor)
    return processor


def _span_json(span: Any) -> dict[str, Any]:
    context, parent, status = span.get_span_context(), span.parent, span.status
    return {
        "name": span.name,
        "kind": span.kind.name,
        "context": {
            "trace_id": _hex("trace_id", context.trace_id),
            "span_id": _hex("span_id", context.span_id),
        },
        "parent_id": None if parent is None else _hex("span_id", parent.span_id),
        "start_time": span.start_time,
        "end_time": span.end_time,
        "status": {"status_code": status.status_code.name, "description": status.description},
        "attributes": _attributes(span.attributes),
        "events": [
            {"name": event.name, "timestamp": event.timestamp, "attributes": _attributes(event.attributes)}
            for event in span.events
        ],
    }


def _hex(what: str, number: int) -> str:
    return f"{number:0{_HEX[what]}x}"


def _attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
    return {str(name): _json_value(value) for name, value in (attributes or {}).items()}


def _json_value(value: Any) -> Any:
    """Attributes are texts, numbers, booleans or sequences of them; what JSON has no word for becomes its text."""
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)
