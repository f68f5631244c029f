"""Spans: what a traced program did, step by step, as records; and the readers of the forms they are exported in."""

from __future__ import annotations

from pytest_verica.spans.read import BadTrace as BadTrace
from pytest_verica.spans.read import read_trace as read_trace
from pytest_verica.spans.span import Span as Span
from pytest_verica.spans.span import Trace as Trace
