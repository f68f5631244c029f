"""span_check: which spans are looked at, what is asked of them, and that nothing passes where nothing was checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_verica.errors import ConfigError
from pytest_verica.graders.criterion import make_criterion
from pytest_verica.graders.glob import Glob
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output

# agent (0 to 100 ms) → search (5 to 15), search (20 to 50, failed), llm "gpt-5" (60 to 90) → http (61 to 89)
TRACE: dict[str, Any] = {
    "name": "Agent",
    "start": 0,
    "end": 0.1,
    "children": [
        {"name": "tool search", "start": 0.005, "end": 0.015, "status": "ok", "attributes": {"tool": "search"}},
        {"name": "tool search", "start": 0.02, "end": 0.05, "status": "error", "error": "timed out"},
        {
            "name": "LLM call",
            "start": 0.06,
            "end": 0.09,
            "attributes": {"gen_ai.request.model": "GPT-5-mini", "tokens": 12, "tags": ["a", "b"], "cached": False},
            "children": [{"name": "http", "start": 0.061, "end": 0.089}],
        },
    ],
}
ORPHANS = [{"name": "llm", "id": "1", "parent_id": "9"}, {"name": "llm", "id": "2", "parent_id": "9", "start": 1}]
UNTIMED = {"name": "a", "children": [{"name": "b"}, {"name": "c"}]}

Verdict = tuple[dict[str, Any], Any, dict[str, Any], str, str]

VERDICTS: list[Verdict] = [
    # count, and which spans are looked at
    ({"count": {"equals": 5}}, TRACE, {}, "pass", "5 of 5 spans fit the empty pattern; wanted exactly 5"),
    ({"count": {"max": 4}}, TRACE, {}, "fail", "5 of 5 spans fit the empty pattern; wanted at most 4"),
    ({"pattern": "tool *", "count": {"equals": 2}}, TRACE, {}, "pass", "2 of 5 spans fit the pattern 'tool *'"),
    ({"pattern": "TOOL*", "count": {"min": 3}}, TRACE, {}, "fail", "2 of 5 spans fit"),
    ({"pattern": "tool", "count": {"min": 1}}, TRACE, {}, "fail", "0 of 5 spans fit the pattern 'tool'"),
    ({"pattern": "tool", "count": {"min": 1}}, TRACE, {}, "fail", "the trace has 'Agent', 'tool search', 'LLM call'"),
    ({"pattern": "*delete*", "count": {"equals": 0}}, TRACE, {}, "pass", "wanted exactly 0"),
    ({"pattern": "http", "count": {"equals": 1}}, TRACE, {}, "pass", "1 of 5 spans fits"),
    ({"pattern": "http", "parent": "llm*", "count": {"equals": 1}}, TRACE, {}, "pass", "with the parent 'llm*'"),
    ({"pattern": "http", "parent": "agent", "count": {"min": 1}}, TRACE, {}, "fail", "0 of 5 spans fit"),
    ({"parent": "agent", "count": {"equals": 3}}, TRACE, {}, "pass", "3 of 5"),
    ({"attributes": {"tool": "SEARCH"}, "count": {"equals": 1}}, TRACE, {}, "pass", "with the attributes tool"),
    ({"attributes": {"gen_ai.request.model": "gpt-5*"}, "count": {"equals": 1}}, TRACE, {}, "pass", "1 of 5"),
    ({"attributes": {"tool": "*"}, "count": {"equals": 1}}, TRACE, {}, "pass", "1 of 5"),
    ({"attributes": {"tokens": 12.0}, "count": {"equals": 1}}, TRACE, {}, "pass", "1 of 5"),
    ({"attributes": {"tokens": True}, "count": {"equals": 0}}, TRACE, {}, "pass", "0 of 5"),
    ({"attributes": {"cached": False}, "count": {"equals": 1}}, TRACE, {}, "pass", "1 of 5"),
    ({"attributes": {"tags": "b"}, "count": {"equals": 1}}, TRACE, {}, "pass", "1 of 5"),
    ({"attributes": {"tool": "{{ t }}"}, "count": {"equals": 1}}, TRACE, {"t": "search"}, "pass", "1 of 5"),
    ({"attributes": {"tool": "{{ t }}"}, "count": {"min": 1}}, TRACE, {"t": "sea*"}, "fail", "0 of 5"),
    ({"attributes": {"tokens": "{{ t }}"}, "count": {"equals": 1}}, TRACE, {"t": "12"}, "pass", "1 of 5"),
    ({"attributes": {"tool": "{{ t }}"}, "count": {"min": 1}}, TRACE, {"t": ""}, "na", "'{{ t }}' is empty"),
    (
        {"pattern": "llm", "count": {"equals": 2}},
        ORPHANS,
        {},
        "pass",
        "(2 spans name a parent that is not in the trace",
    ),
    ({"pattern": "llm", "parent": "*", "count": {"min": 1}}, ORPHANS, {}, "fail", "kept as roots"),
    ({"count": {"equals": 1}}, ORPHANS[:1], {}, "pass", "(1 span names a parent"),
    ({"pattern": "çağrı ß", "count": {"equals": 1}}, {"name": "ÇAĞRI SS"}, {}, "fail", "0 of 1"),  # dotless ı is no i
    ({"pattern": "straße*", "count": {"equals": 1}}, {"name": "STRASSE 7"}, {}, "pass", "1 of 1"),
    ({"pattern": "a[b]?", "count": {"equals": 1}}, {"name": "A[B]?"}, {}, "pass", "1 of 1"),
    ({"pattern": "\ud800*", "count": {"equals": 1}}, {"name": "\ud800\x00"}, {}, "pass", r"\ud800"),
    # duration
    ({"duration": {"max_ms": 100}}, TRACE, {}, "pass", "'Agent' took 100 ms; wanted 100 ms at most for all of them"),
    (
        {"duration": {"max_ms": 99.9}},
        TRACE,
        {},
        "fail",
        "1 took too long, most of all 'Agent' took 100 ms; wanted 99.9",
    ),
    ({"pattern": "tool*", "duration": {"max_ms": 10, "which": "any"}}, TRACE, {}, "pass", "'tool search' took 10 ms"),
    ({"pattern": "tool*", "duration": {"max_ms": 9, "which": "any"}}, TRACE, {}, "fail", "took 10 ms; wanted 9 ms"),
    ({"pattern": "tool*", "duration": {"max_ms": 40, "which": "total"}}, TRACE, {}, "pass", "together they took 40 ms"),
    ({"pattern": "tool*", "duration": {"max_ms": 39, "which": "total"}}, TRACE, {}, "fail", "together they took 40 ms"),
    ({"pattern": "x", "duration": {"max_ms": 9}}, TRACE, {}, "fail", "nothing was checked"),
    ({"pattern": "x", "duration": {"max_ms": 9}, "negate": True}, TRACE, {}, "fail", "nothing was checked"),
    ({"pattern": "x", "duration": {"max_ms": 9}, "allow_empty": True}, TRACE, {}, "pass", "`allow_empty` accepts"),
    ({"pattern": "a", "duration": {"max_ms": 9}}, {"name": "a"}, {}, "fail", "'a' took is not known: it has no start"),
    ({"duration": {"max_ms": 9}}, {"name": "a", "start": 1}, {}, "fail", "it has no end"),
    ({"duration": {"max_ms": 9}, "negate": True}, {"name": "a", "start": 2, "end": 1}, {}, "fail", "ends before"),
    # no_errors
    ({"no_errors": True}, TRACE, {}, "fail", "1 with an error, the first 'tool search': 'timed out'; wanted none"),
    ({"pattern": "llm*", "no_errors": True}, TRACE, {}, "pass", "none of them with an error"),
    ({"no_errors": True, "negate": True}, TRACE, {}, "pass", "negated: "),
    ({"pattern": "x", "no_errors": True}, TRACE, {}, "fail", "nothing was checked"),
    ({"pattern": "x", "no_errors": True, "negate": True}, TRACE, {}, "fail", "nothing was checked"),
    ({"pattern": "x", "no_errors": True, "allow_empty": True}, TRACE, {}, "pass", "`allow_empty` accepts"),
    ({"no_errors": True}, {"name": "a", "status": "half"}, {}, "fail", "its status is 'half'"),
    # order
    ({"pattern": "llm*", "count": {"min": 1}, "order": [["tool*", "llm*"]]}, TRACE, {}, "pass", "at least 1"),
    (
        {"count": {"min": 1}, "order": [["llm*", "tool*"]]},
        TRACE,
        {},
        "fail",
        "'tool search' starts before 'LLM call'; wanted 'llm*' to start before 'tool*'",
    ),
    ({"count": {"min": 1}, "order": [["x", "tool*"]]}, TRACE, {}, "fail", "'tool*' starts and no span fits 'x'"),
    ({"count": {"min": 1}, "order": [["tool*", "x"]]}, TRACE, {}, "pass", "5 of 5"),
    ({"count": {"min": 9}, "order": [["llm*", "tool*"]]}, TRACE, {}, "fail", "wanted at least 9; 'tool search' starts"),
    ({"count": {"min": 1}, "order": [["a", "b"], ["b", "c"]]}, UNTIMED, {}, "pass", "3 of 3"),
    ({"count": {"min": 1}, "order": [["c", "b"]]}, UNTIMED, {}, "fail", "'b' starts before 'c'"),
    ({"count": {"min": 1}, "order": [["a", "a*"]]}, UNTIMED, {}, "fail", "'a' is the first of both"),
    (
        {"count": {"min": 1}, "order": [["a", "b"]]},
        [{"name": "a", "start": 1}, {"name": "b", "start": 1}],
        {},
        "fail",
        "'a' and 'b' start at the same moment",
    ),
    ({"count": {"min": 1}, "order": [["a", "b"]]}, [{"name": "a", "start": 1}, {"name": "b"}], {}, "fail", "not known"),
    # whatever it is written as
    ({"count": {"equals": 5}}, json.dumps(TRACE), {}, "pass", "5 of 5"),
    # by condition
    (
        {"count": {"equals": 9}, "only_if": {"variable": "{{ t }}", "condition": "has_value"}},
        TRACE,
        {"t": ""},
        "na",
        "t",
    ),
    # no trace, or none that can be read
    ({"count": {"equals": 0}}, None, {}, "error", "the output has no span tree"),
    ({"count": {"equals": 0}, "negate": True}, None, {}, "error", "the output has no span tree"),
    ({"no_errors": True, "allow_empty": True}, [], {}, "error", "the output has no span tree"),
    ({"no_errors": True, "allow_empty": True}, {"spans": []}, {}, "error", "there is no span in it"),
    ({"no_errors": True}, {"steps": []}, {}, "error", "an object with the keys steps is no span"),
    ({"no_errors": True}, 7, {}, "error", "'7' is no span"),
    ({"no_errors": True}, "{", {}, "error", "its text is not JSON"),
]


@pytest.mark.parametrize(("keys", "spans", "columns", "outcome", "says"), VERDICTS)
def test_verdicts(
    grade: Any, keys: dict[str, Any], spans: Any, columns: dict[str, Any], outcome: str, says: str
) -> None:
    result = grade({"type": "span_check", **keys}, Output("refunded", spans=spans), columns)
    assert (result.outcome, result.score, result.label) == (outcome, None, None), result.explanation
    assert says in result.explanation
    assert len(result.explanation) < 450 and result.explanation.isprintable()
    if outcome == "error":
        assert result.error.kind in ("no_trace", "bad_trace")


def test_details_say_what_was_counted(grade: Any) -> None:
    result = grade({"type": "span_check", "pattern": "llm", "count": {"min": 1}}, Output(spans=ORPHANS))
    assert result.details == {"spans": 2, "matched": 2, "orphans": 2}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "exactly one of `count`, `duration`, `no_errors: true`; found none"),
    ({"order": [["a", "b"]]}, "found none"),
    ({"count": {"min": 1}, "no_errors": True}, "found count and no_errors"),
    ({"no_errors": False}, "no_errors"),
    ({"count": {}}, "`count` needs `min`, `max` or `equals`"),
    ({"pattern": "a", "count": {"min": 0}}, "always met"),
    ({"count": {"min": 1}}, "every trace has a span"),
    ({"pattern": "**", "count": {"min": 1}}, "every trace has a span"),
    ({"count": {"equals": 1}, "allow_empty": True}, "`allow_empty` goes with duration and no_errors"),
    ({"duration": {"max_ms": 0}}, "greater than 0"),
    ({"duration": {"max_ms": 9, "which": "each"}}, "which"),
    ({"duration": {"which": "all"}}, "max_ms"),
    ({"no_errors": True, "order": [["a"]]}, "order"),
    ({"no_errors": True, "order": [["a", "*"]]}, "one fits every span"),
    ({"no_errors": True, "pattern": "{{ t }}"}, "`attributes` may hold templates"),
    ({"no_errors": True, "spans": 1}, "spans"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_refused_before_launch(build: Any, keys: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError) as caught:
        build({"type": "span_check", **keys})
    assert says in str(caught.value)


def test_a_column_target_without_spans_is_refused_before_launch() -> None:
    config = KINDS["span_check"].config.model_validate({"name": "x", "type": "span_check", "no_errors": True})
    with pytest.raises(ConfigError, match=r"name the column that holds it in `target\.spans`"):
        make_criterion(config, KINDS, BuildContext(Path("."), recorded=frozenset({"column"})))
    make_criterion(config, KINDS, BuildContext(Path("."), recorded=frozenset({"column", "spans"})))


def test_a_huge_trace_is_counted(grade: Any) -> None:
    spans = [{"name": f"step {i}", "id": i + 1, "parent_id": i or None, "start": i, "end": i + 1} for i in range(5_000)]
    result = grade({"type": "span_check", "pattern": "step *", "count": {"equals": 5_000}}, Output(spans=spans))
    assert result.passed and not result.details["orphans"]


GLOBS = [
    ("", "anything", True),
    ("*", "", True),
    ("a*", "a", True),
    ("a*a", "a", False),
    ("a*a", "aa", True),
    ("*b*", "abc", True),
    ("a*b*c", "a-b-c", True),
    ("a*c*b", "a-b-c", False),
    ("ab*bc", "abc", False),
    ("**", "x", True),
    ("a.c", "abc", False),
    ("é*", "E\u0301tape", True),
]


@pytest.mark.parametrize(("pattern", "name", "fits"), GLOBS)
def test_globs(pattern: str, name: str, fits: bool) -> None:
    assert Glob(pattern).fits(name) is fits


@given(st.text("ab*", max_size=8), st.text("abAB", max_size=12))
def test_a_glob_is_the_regular_expression_it_stands_for(pattern: str, name: str) -> None:
    import re

    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert Glob(pattern).fits(name) is (not pattern or re.fullmatch(expression, name, re.IGNORECASE) is not None)


def test_a_glob_never_goes_back() -> None:
    assert not Glob("*a" * 200 + "*b").fits("a" * 1_000_000)


@given(st.integers(0, 6), st.integers(0, 6))
def test_negate_swaps_the_verdict(grade: Any, count: int, wanted: int) -> None:
    spans = [{"name": "x"}] * count + [{"name": "y"}]
    keys = {"type": "span_check", "pattern": "x", "count": {"equals": wanted}}
    plain, negated = (grade({**keys, "negate": n}, Output(spans=spans)).passed for n in (False, True))
    assert plain is (count == wanted) and negated is not plain


REAL = [
    ("any_agent_agno", "call_llm *", "llm_calls"),
    ("any_agent_google", "call_llm *", "llm_calls"),
    ("any_agent_langchain", "call_llm *", "llm_calls"),
    ("any_agent_openai", "call_llm *", "llm_calls"),
    ("any_agent_tinyagent", "call_llm *", "llm_calls"),
    ("deepeval_langgraph_parallel", "ChatOpenAI", "llmSpans"),
    ("deepeval_langgraph_parallel", "get_weather", "toolSpans"),
    ("deepeval_openai_agents_tools", "LLM generation", "llmSpans"),
    ("deepeval_openai_agents_tools", "function tool: *", "toolSpans"),
]


@pytest.mark.parametrize(("name", "pattern", "key"), REAL)
def test_counts_of_real_traces(grade: Any, shared_data: Any, name: str, pattern: str, key: str) -> None:
    """Counted from the files by hand; see SOURCES.md beside them."""
    folder = shared_data / "traces"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))[f"{name}.json"]
    output = Output(spans=json.loads((folder / f"{name}.json").read_text("utf-8")))
    checks: list[dict[str, Any]] = [{"pattern": pattern, "count": {"equals": expected[key]}}]
    if "spans" in expected:
        tools = expected["tools_in_start_order"]
        checks += [
            {"count": {"equals": expected["spans"]}},
            {"pattern": "execute_tool *", "count": {"equals": len(tools)}},
            {"no_errors": True, "order": [[f"execute_tool {tools[0]}", f"execute_tool {tools[1]}"]]},
            {"pattern": "invoke_agent [any_agent]", "duration": {"max_ms": 10_000}},
            {"attributes": {"gen_ai.operation.name": "call_llm"}, "count": {"equals": expected["llm_calls"]}},
        ]
    for keys in checks:
        result = grade({"type": "span_check", **keys}, output)
        assert result.passed, result.explanation
        assert result.details["orphans"] == expected.get("orphans", 0)
        assert ("kept as roots" in result.explanation) is bool(expected.get("orphans"))
