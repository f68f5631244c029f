"""Hostile outputs through every deterministic grader: a right verdict or a clear failure, in time, never a crash."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_verica.grade import Grade
from pytest_verica.output import Output
from pytest_verica.tool_calls import ToolCall
from tests.unit.graders.samples import SAMPLES, Sample

DEPTH = 5_000
NESTED = {
    "nested arrays": "[" * DEPTH + "]" * DEPTH,
    "nested objects": '{"a":' * DEPTH + "1" + "}" * DEPTH,
    "nested items": '{"items": [' + "[" * DEPTH + "]" * DEPTH + "]}",
    "never closed": '{"a": [' * DEPTH,
}
TEXTS = {
    "10 MB": "lorem ipsum " * 870_000,
    "10 MB, one word": "x" * 10_000_000,
    "10 MB of JSON": '{"a": "' + "x" * 10_000_000 + '", "items": [1]}',
    "a number of 1 MB": "7" * 1_000_000,
    "300,000 items": '{"items": [' + "1," * 299_999 + "1]}",
    **NESTED,
    "a lone surrogate": "yes \ud800 no",
    "a lone surrogate in JSON": '{"a": "\\ud800", "items": ["\\udfff"]}',
    "a key that is a lone surrogate": '{"\\ud800": 1}',
    "null characters": "\x00\x00yes\x00",
    "right to left": "\u202eשלום \u200fيكفي\u202c ١٢٣",
    "Turkish": "İstanbul ıIiİ",
    "sharp s": "Straße ẞ STRASSE",
    "combining accents": "e\u0301" * 500 + "a" + "\u0301" * 5_000,
    "zero width": "\u200b\u200d\ufeff\u2060",
    "emoji": "👩‍👩‍👧‍👦🇪🇸" * 1000,
    "line ends of every kind": "a\r\nb\rc\u2028d\u2029e\x85f\x0bg\x0ch",
    "escape codes of a terminal": "\x1b[31mred\x1b[0m\x07\x08",
    "templates": "{{ output.text }}{% for a in b %}{{ 1/0 }}",
    "numbers that are none": "1e999999999 NaN Infinity -0 ٣ ½ 0x1F 1_000",
    "white space": " \t\n\u00a0\u3000",
    "nothing": "",
}

KNOWN_ERRORS = {"regex_timeout", "too_long", "too_deep", "no_calls", "bad_steps", "no_state", "no_trace", "bad_trace"}
"""What may be wrong with an output so that nothing can be said about it. A crash (`grader_error`) is not among them."""


def is_sound(result: Grade) -> None:
    """A verdict that can be shown, sent to another process and written to a file."""
    assert result.outcome in ("pass", "fail", "na", "error")
    if result.error is not None:
        assert result.error.kind in KNOWN_ERRORS, result.error.raw
    assert result.explanation.isprintable() and 0 < len(result.explanation) < 1000
    json.dumps(result.to_json(), allow_nan=False)


def outputs_of(text: str) -> list[Output]:
    """The text everywhere where an output may hold one."""
    if len(text) > 500_000:
        return [Output(text)]
    call = ToolCall("search", {"city": text}, None, "1")
    spans = [{"name": text, "start": 0, "end": 1, "attributes": {"a": text}}]
    rest: dict[str, Any] = {"tool_calls": (call,), "tool_calls_recorded": True, "spans": spans}
    return [Output(text), Output(text, state={"a": text}, steps=[{"name": text[:1000] or "x"}], **rest)]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if len(TEXTS[name]) > 500_000 else name for name in TEXTS]
)
def test_no_text_breaks_a_grader(grade, name: str) -> None:
    for sample in SAMPLES:
        for output in outputs_of(TEXTS[name]):
            is_sound(grade(sample.keys, output, sample.columns))


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_of_the_golden_set_breaks_a_grader(grade, name: str) -> None:
    """As an expected value: on both sides the same text is equal to itself."""
    text = TEXTS[name]
    blank = not text.strip()
    for operation in ("equals", "contains", "starts_with", "ends_with", "one_of"):
        # As the only one of a list: a text that is an array itself would be read as one, where it is not too deep.
        wanted = [text] if operation == "one_of" else text
        result = grade({"type": "text_check", operation: "{{ wanted }}"}, text, {"wanted": wanted})
        is_sound(result)
        assert result.outcome == ("na" if blank else "pass"), (operation, result.explanation)
        result = grade({"type": "text_check", operation: "{{ wanted }}", "ignore_case": True}, text, {"wanted": wanted})
        assert result.outcome == ("na" if blank else "pass"), (operation, result.explanation)


def deep(depth: int, inner: Any = 1) -> Any:
    for _ in range(depth):
        inner = {"a": [inner]}
    return inner


@pytest.mark.parametrize("depth", [100, 400, 5_000])
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_no_nesting_of_structures_breaks_a_grader(grade, sample: Sample, depth: int) -> None:
    """What a Python target, a record or an agent hands over already parsed."""
    nested = deep(depth)
    call = ToolCall("search", {"city": nested})
    spans = [{"name": "chat", "start": 0, "end": 1, "attributes": {"a": nested}}]
    rest: dict[str, Any] = {"tool_calls": (call,), "tool_calls_recorded": True, "spans": spans, "state": nested}
    result = grade(sample.keys, Output("x", data=nested, **rest), sample.columns)
    assert result.outcome in ("pass", "fail", "na", "error")
    if result.error is not None:
        assert result.error.kind in KNOWN_ERRORS, result.error.raw and result.error.raw[-1500:]
    assert result.explanation.isprintable() and len(result.explanation) < 1000


CATASTROPHES = [r"^(a|aa)+$", r"(a+)+$", r"^(\w+\s?)*$", r"(x+x+)+y", r"^(([a-z])+.)+[A-Z]([a-z])+$"]


@pytest.mark.parametrize("pattern", CATASTROPHES)
@pytest.mark.parametrize("operation", ["matches", "not_matches"])
def test_a_catastrophic_pattern_ends_in_an_error_within_its_limit(grade, operation: str, pattern: str) -> None:
    text = "a" * 50_000 + "x" * 50_000 + "!"
    started = time.perf_counter()
    result = grade({"type": "text_check", operation: pattern, "timeout_ms": 100}, text)
    took = time.perf_counter() - started
    assert (result.outcome, result.error and result.error.kind) == ("error", "regex_timeout")
    assert "took longer than 100 ms" in result.explanation
    assert took < 2  # of which 100 ms are the limit, and the rest a busy machine's


@pytest.mark.parametrize("pattern", CATASTROPHES)
@pytest.mark.parametrize("where", ["value", "name", "additional", "unevaluated", "names"])
def test_the_same_inside_a_json_schema(grade, pattern: str, where: str) -> None:
    text = "a" * 50_000 + "x" * 50_000 + "!"
    schema = {
        "value": {"additionalProperties": {"pattern": pattern}},
        "name": {"patternProperties": {pattern: False}},
        "additional": {"additionalProperties": False, "patternProperties": {pattern: {}}},
        "unevaluated": {"unevaluatedProperties": False, "patternProperties": {pattern: {}}},
        "names": {"propertyNames": {"pattern": pattern}},
    }[where]
    started = time.perf_counter()
    result = grade({"type": "json_check", "schema": schema}, json.dumps({text: text}))
    assert (result.outcome, result.error and result.error.kind) == ("error", "regex_timeout")
    assert time.perf_counter() - started < 2


RIGHT: list[tuple[Mapping[str, Any], str, str]] = [
    # Unicode's own folding: İ is i with a dot above, ı is a letter of its own, ß is ss, ẞ too.
    ({"equals": "i\u0307stanbul", "ignore_case": True}, "İSTANBUL", "pass"),
    ({"equals": "istanbul", "ignore_case": True}, "İSTANBUL", "fail"),
    ({"equals": "I", "ignore_case": True}, "ı", "fail"),
    ({"contains": "strasse", "ignore_case": True}, "In der STRAẞE", "pass"),
    ({"contains": "strasse"}, "Straße", "fail"),
    ({"equals": "é"}, "e\u0301", "pass"),
    ({"equals": "é", "normalize": "none"}, "e\u0301", "fail"),
    ({"length": {"equals": 1}}, "e\u0301", "pass"),  # counted in the normal form
    ({"length": {"equals": 2}, "normalize": "none"}, "e\u0301", "pass"),
    ({"starts_with": "שלום"}, "שלום עולם", "pass"),  # the first in reading order, wherever it is shown
    ({"starts_with": "\u202b"}, "\u202bשלום", "pass"),
    ({"contains": "\x00"}, "a\x00b", "pass"),
    ({"equals": "a"}, "a\x00", "fail"),  # no text ends at a null character
    ({"contains": "\ud800"}, "x\ud800", "pass"),
    ({"equals": "\ud83d\ude00"}, "😀", "fail"),  # two surrogates are not the character
    ({"length": {"equals": 3, "unit": "lines"}}, "a\r\nb\rc", "pass"),
]


@pytest.mark.parametrize(("keys", "output", "outcome"), RIGHT)
def test_verdicts_that_are_right(grade, keys: Mapping[str, Any], output: str, outcome: str) -> None:
    result = grade({"type": "text_check", **keys}, output)
    assert result.outcome == outcome, result.explanation
    is_sound(result)
