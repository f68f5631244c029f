"""Reading traces: every form of export gives the same tree; what is lost or contradicts itself is said."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.spans import BadTrace, Span, read_trace
from pytest_verica.spans.span import ABSENT
from tests.unit.spans.exports import FORMS, MS, NESTED, NOON, OTLP, SDK


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("as_text", [False, True])
def test_every_form_gives_the_same_tree(form: str, as_text: bool) -> None:
    trace = read_trace(json.dumps(FORMS[form]) if as_text else FORMS[form])
    agent, llm, tool = trace.spans
    assert [span.name for span in trace.spans] == ["agent", "llm", "tool refund"]
    assert trace.roots == (agent,) and trace.orphans == ()
    assert set(agent.children) == {llm, tool}
    assert trace.parents == {llm: agent, tool: agent}
    assert [span.status for span in trace.spans] == ["unset", "ok", "error"]
    assert tool.status_text == "no such order"
    durations = [span.duration for span in trace.spans]
    assert durations == pytest.approx([100 * MS, 40 * MS, 30 * MS], abs=1_000)
    assert llm.attribute("gen_ai.request.model") == "m-1"
    assert llm.attribute("tokens") == 12
    assert llm.attribute("gen_ai.request") is ABSENT or isinstance(llm.attribute("gen_ai.request"), dict)
    assert llm.attribute("gen_ai.response.model") is ABSENT


def test_values_of_otlp() -> None:
    llm = next(span for span in read_trace(OTLP).spans if span.name == "llm")
    assert llm.start == NOON + 10 * MS
    assert llm.attribute("tags") == ["x", "y"]
    assert llm.attribute("nested.deep") == 1.5


def test_json_lines() -> None:
    text = "\n".join(json.dumps(span) for span in SDK)
    assert len(read_trace(text).spans) == 3


def test_what_the_sdk_writes_is_read() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    written: list[str] = []

    class Kept:
        def on_start(self, span: Any, parent_context: Any = None) -> None: ...
        def _on_ending(self, span: Any) -> None: ...
        def shutdown(self) -> None: ...
        def on_end(self, span: Any) -> None:
            written.append(span.to_json(indent=None))

    provider = sdk.TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(Kept())
    tracer = provider.get_tracer("test")
    with contextlib.suppress(ValueError), tracer.start_as_current_span("agent"):
        with tracer.start_as_current_span("llm", attributes={"gen_ai.request.model": "m-1"}):
            pass
        raise ValueError("broken")
    trace = read_trace([json.loads(line) for line in written])
    agent, llm = trace.spans
    assert (agent.name, agent.status, agent.status_text) == ("agent", "error", "ValueError: broken")
    assert llm.status == "unset" and trace.parents == {llm: agent}
    assert llm.attribute("gen_ai.request.model") == "m-1"
    assert agent.duration is not None and llm.duration is not None and agent.duration >= llm.duration


def test_a_parent_that_is_not_in_the_file_leaves_an_orphan() -> None:
    trace = read_trace(SDK[:2])
    assert [span.name for span in trace.orphans] == ["llm", "tool refund"]
    assert trace.roots == trace.spans and not trace.parents


def test_a_span_that_was_exported_twice_is_one() -> None:
    assert len(read_trace([*SDK, SDK[0], *SDK]).spans) == 3


def test_the_same_id_in_two_traces_is_two_spans() -> None:
    other = [{**span, "context": {**span["context"], "trace_id": "0x5c"}} for span in SDK]  # type: ignore[dict-item]
    trace = read_trace([*SDK, *other])
    assert len(trace.spans) == 6 and len(trace.roots) == 2 and not trace.orphans


BAD: list[tuple[Any, str]] = [
    ([], "there is no span in it"),
    ({"resourceSpans": []}, "there is no span in it"),
    ({}, "an object with no keys is no span"),
    ({"steps": 3}, "the keys steps is no span"),
    (None, "null is no span"),
    (3, "'3' is no span"),
    (["a"], "'a' is no span"),
    ("not json", "its text is not JSON"),
    ('{"name": "a"}\n{"name": ', "neither JSON nor JSON Lines"),
    ([{"name": "a", "start": "soon"}], "the span 'a' has a start or end that cannot be read: 'soon' is not a time"),
    ([{"name": "a", "start": "2026-13-01T00:00:00Z"}], "is not a date"),
    ([{"name": "a", "start": float("nan")}], "nan is not a time"),
    ([{"name": "a", "start": True}], "'True' is not a time"),
    ([{"name": "a", "id": "1"}, {"name": "b", "id": "1"}], "two spans have the id 1: 'a' and 'b'"),
    ([{"name": "a", "id": ["1"]}], "the id of a span is a text or a number"),
    (
        [{"name": "a", "id": "1", "parent_id": "2"}, {"name": "b", "id": "2", "parent_id": "1"}],
        "the parents of the span 'a' (1) lead back to itself",
    ),
    ([{"name": "a", "id": "1", "parent_id": "1"}], "lead back to itself"),
    ([{"name": "a", "attributes": [{"k": 1}]}], "an attribute is {key, value} in OTLP JSON"),
]


@pytest.mark.parametrize(("value", "says"), BAD)
def test_what_is_no_trace_is_refused_in_words(value: Any, says: str) -> None:
    with pytest.raises(BadTrace) as caught:
        read_trace(value)
    assert says in str(caught.value)


# (start, end) as written, and the duration in nanoseconds: the unit is told by the magnitude, or the field's name.
TIMES: list[tuple[dict[str, Any], int | None]] = [
    ({"start": 0, "end": 1.5}, 1_500_000_000),
    ({"start": 1769860800, "end": 1769860800.25}, 250_000_000),
    ({"start": 1769860800000, "end": 1769860800250}, 250_000_000),
    ({"start": 1769860800000000, "end": 1769860800000250}, 250_000),
    ({"start": NOON, "end": NOON + 7}, 7),
    ({"startTimeUnixNano": "5", "endTimeUnixNano": "9"}, 4),
    ({"start": "2026-01-31T12:00:00Z", "end": "2026-01-31 12:00:00.123456789"}, 123_456_789),
    ({"start": "2026-01-31T12:00:00+01:00", "end": "2026-01-31T11:00:01Z"}, 1_000_000_000),
    ({"start": "2026-01-31T12:00:00Z", "end": NOON // MS + 5}, 5 * MS),
    ({"start": 1}, None),
    ({"end": 1}, None),
    ({}, None),
    ({"start": 2, "end": 1}, None),
]


@pytest.mark.parametrize(("times", "duration"), TIMES)
def test_times(times: dict[str, Any], duration: int | None) -> None:
    [span] = read_trace({"name": "a", **times}).spans
    assert span.duration == duration


STATUSES: list[tuple[dict[str, Any], str]] = [
    ({}, "unset"),
    ({"status": None}, "unset"),
    ({"status": {}}, "unset"),
    ({"status": {"code": 0}}, "unset"),
    ({"status": {"code": 1}}, "ok"),
    ({"status": {"code": 2}}, "error"),
    ({"status": {"code": "STATUS_CODE_ERROR"}}, "error"),
    ({"status": {"status_code": "StatusCode.ERROR"}}, "error"),
    ({"status": "SUCCESS"}, "ok"),
    ({"status": "ERRORED"}, "error"),
    ({"status": "half"}, "unknown"),
    ({"error": "boom"}, "error"),
    ({"error": {"type": "ValueError"}}, "error"),
    ({"status": "ok", "error": None}, "ok"),
]


@pytest.mark.parametrize(("keys", "status"), STATUSES)
def test_statuses(keys: dict[str, Any], status: str) -> None:
    [span] = read_trace({"name": "a", **keys}).spans
    assert span.status == status


def test_a_span_may_have_data_of_its_own() -> None:
    [span] = read_trace({"name": "a", "data": [1, 2], "type": "tool"}).spans
    assert span.attribute("data") == [1, 2] and span.attribute("type") == "tool"


def test_a_tree_may_be_deep() -> None:
    tree: dict[str, Any] = {"name": "leaf"}
    for _ in range(20_000):
        tree = {"name": "inner", "children": [tree]}
    trace = read_trace(tree)
    assert len(trace.spans) == 20_001 and trace.spans[-1].name == "leaf" and len(trace.roots) == 1


trees = st.recursive(
    st.fixed_dictionaries({"name": st.text(max_size=5)}),
    lambda inner: st.fixed_dictionaries({"name": st.text(max_size=5), "children": st.lists(inner, max_size=4)}),
    max_leaves=30,
)


@given(trees, st.randoms())
def test_a_tree_and_its_flat_list_in_any_order_are_the_same(tree: dict[str, Any], rng: Any) -> None:
    flat: list[dict[str, Any]] = []

    def number(node: dict[str, Any], parent: int | None) -> None:
        own = len(flat) + 1
        flat.append({"name": node["name"], "id": own, "parent_id": parent, "start": own})
        for child in node.get("children", []):
            number(child, own)

    number(tree, None)
    names = [item["name"] for item in flat]
    rng.shuffle(flat)
    nested, from_flat = read_trace(tree), read_trace(flat)
    assert [span.name for span in nested.spans] == [span.name for span in from_flat.spans] == names

    def shape(span: Span) -> Any:
        return (span.name, [shape(child) for child in sorted(span.children, key=lambda s: s.start or 0)])

    assert shape(nested.roots[0]) == shape(from_flat.roots[0])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "id", "parent_id", "children", "spans", "start", "end", "status", "attributes", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_is_a_trace_or_is_refused(value: Any) -> None:
    try:
        trace = read_trace(value)
    except BadTrace:
        return
    assert trace.spans and len(trace.spans) == len(trace.roots) + len(trace.parents)


@pytest.mark.parametrize(
    "name",
    ["any_agent_agno", "any_agent_google", "any_agent_langchain", "any_agent_openai", "any_agent_tinyagent"],
)
def test_real_traces_of_agents(shared_data: Any, name: str) -> None:
    """Counted from the files by hand; see SOURCES.md beside them."""
    folder = shared_data / "traces"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))[f"{name}.json"]
    trace = read_trace((folder / f"{name}.json").read_text("utf-8"))

    def total(attribute: str) -> int:
        return sum(value for span in trace.spans if (value := span.attribute(attribute)) is not ABSENT)

    assert {
        "spans": len(trace.spans),
        "llm_calls": sum(span.attribute("gen_ai.operation.name") == "call_llm" for span in trace.spans),
        "tools_in_start_order": [
            tool for span in trace.spans if (tool := span.attribute("gen_ai.tool.name")) is not ABSENT
        ],
        "roots": len(trace.roots) - len(trace.orphans),
        "orphans": len(trace.orphans),
        "input_tokens": total("gen_ai.usage.input_tokens"),
        "output_tokens": total("gen_ai.usage.output_tokens"),
    } == expected
    assert all(span.duration is not None for span in trace.spans)


@pytest.mark.parametrize("name", ["deepeval_langgraph_parallel", "deepeval_openai_agents_tools"])
def test_real_traces_sorted_by_kind(shared_data: Any, name: str) -> None:
    folder = shared_data / "traces"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))[f"{name}.json"]
    trace = read_trace(json.loads((folder / f"{name}.json").read_text("utf-8")))
    kinds = [span.attribute("type") for span in trace.spans]
    assert {f"{kind}Spans": kinds.count(kind) for kind in ("base", "agent", "llm", "retriever", "tool")} == expected
    assert len(trace.roots) == 1 and not trace.orphans


def test_nothing_of_the_value_is_changed() -> None:
    before = json.dumps(NESTED)
    read_trace(NESTED)
    assert json.dumps(NESTED) == before
