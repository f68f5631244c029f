"""Tool calls: every shape they come in, and what is none of them."""

from __future__ import annotations

import pytest

from pytest_verica.errors import TargetError
from pytest_verica.output import Output, ToolCall, output_of
from pytest_verica.tool_calls import NotToolCalls, read_arguments, read_tool_calls

ROME = {"city": "Rome"}
TEXT = '{"city": "Rome"}'

# what is written -> (name, arguments, raw arguments, id) of each call. The shapes are those of the providers' pages.
SHAPES = [
    (None, []),
    ([], []),
    ([{"name": "search", "arguments": ROME}], [("search", ROME, None, None)]),
    ([{"name": "search", "arguments": TEXT}], [("search", ROME, TEXT, None)]),
    ([{"name": "search", "args": ROME, "id": "c1", "type": "tool_call"}], [("search", ROME, None, "c1")]),  # LangChain
    (
        [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": TEXT}}],
        [("search", ROME, TEXT, "c1")],
    ),
    ([{"type": "function_call", "call_id": "c1", "name": "search", "arguments": TEXT}], [("search", ROME, TEXT, "c1")]),
    ([{"type": "tool_use", "id": "t1", "name": "search", "input": ROME}], [("search", ROME, None, "t1")]),
    (
        [
            {"type": "text", "text": "I look."},
            {"type": "thinking", "thinking": "…"},
            {"type": "tool_use", "name": "a", "input": {}},
        ],
        [("a", {}, None, None)],
    ),
    ([{"functionCall": {"name": "search", "args": ROME}}], [("search", ROME, None, None)]),
    ({"name": "search", "arguments": ROME}, [("search", ROME, None, None)]),
    (["search", "book"], [("search", None, None, None), ("book", None, None, None)]),
    ([{"name": "search"}], [("search", None, None, None)]),
    ([{"name": "search", "arguments": ""}], [("search", {}, "", None)]),  # some servers write no arguments so
    ([{"name": "search", "arguments": "{bad"}], [("search", None, "{bad", None)]),
    ([{"name": "search", "arguments": f"```json\n{TEXT}\n```"}], [("search", None, f"```json\n{TEXT}\n```", None)]),
    ([{"name": "búsqueda", "arguments": {"año": 2}}], [("búsqueda", {"año": 2}, None, None)]),
    ([ToolCall("search", None, "{bad", "c1").to_json()], [("search", None, "{bad", "c1")]),
    ([ToolCall("search", ROME, TEXT, "c1").to_json()], [("search", ROME, TEXT, "c1")]),
]

RESULT = {"role": "tool", "name": "search", "tool_call_id": "c1", "content": "3 hotels"}
OPENAI = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "name": "ana", "content": "A hotel in Rome"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "search", "arguments": TEXT}}],
    },
    RESULT,
    {"role": "assistant", "content": "", "tool_calls": [{"id": "c2", "function": {"name": "book", "arguments": "{}"}}]},
    {"role": "assistant", "content": "Booked.", "tool_calls": None},
]
ANTHROPIC = [
    {"role": "user", "content": "A hotel in Rome"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "search", "input": ROME},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "3 hotels"}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c2", "name": "book", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": "ok"}]},
    {"role": "assistant", "content": "Booked."},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "A hotel in Rome"}]},
    {"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"name": "search", "args": ROME}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "search", "response": {}}}]},
    {"role": "model", "parts": [{"functionCall": {"name": "book", "args": {}}}]},
]
RESPONSES = [
    {"role": "user", "content": "A hotel in Rome"},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "search", "arguments": TEXT},
    {"type": "function_call_output", "call_id": "c1", "output": "3 hotels"},
    {"type": "function_call", "call_id": "c2", "name": "book", "arguments": "{}"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Booked."}]},
]
LANGCHAIN = [
    {"type": "human", "content": "A hotel in Rome"},
    {
        "type": "ai",
        "content": [{"type": "tool_use", "name": "search", "input": ROME}],
        "tool_calls": [{"name": "search", "args": ROME}],
    },
    {"type": "tool", "name": "search", "content": "3 hotels"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "book", "args": {}}]},
]
OLD_OPENAI = [
    {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": TEXT}},
    {"role": "function", "name": "search", "content": "3 hotels"},
    {"role": "assistant", "content": None, "function_call": {"name": "book", "arguments": "{}"}},
]


@pytest.mark.parametrize(("written", "calls"), SHAPES, ids=lambda value: str(value)[:40])
def test_shapes(written, calls):
    found = read_tool_calls(written)
    assert [(call.name, call.arguments, call.raw_arguments, call.id) for call in found] == calls


@pytest.mark.parametrize(
    "messages", [OPENAI, ANTHROPIC, GEMINI, RESPONSES, LANGCHAIN, OLD_OPENAI, {"messages": OPENAI}]
)
def test_a_whole_list_of_messages(messages):
    """The assistant's calls in order; results, thoughts and texts between them are passed over."""
    assert [(call.name, call.arguments) for call in read_tool_calls(messages)] == [("search", ROME), ("book", {})]


WRONG = [
    ("search(city='Rome')", "an array of tool calls or messages was expected, not a str"),
    (7, "not a int"),
    ([7], "number 1 is no tool call"),
    ([{"name": "a", "arguments": {}}, {"tool": "b"}], "number 2 is no tool call"),
    ([{"name": 7, "arguments": {}}], "number 1"),
    ([{"name": "", "arguments": {}}], "number 1"),
    ([{"function": {"arguments": "{}"}}], "number 1"),
    ([{"role": "assistant", "content": 7}], "number 1"),
    ([""], "number 1"),
]


@pytest.mark.parametrize(("written", "says"), WRONG, ids=lambda value: str(value)[:30])
def test_what_is_no_tool_call(written, says):
    with pytest.raises(NotToolCalls, match=says):
        read_tool_calls(written)
    with pytest.raises(TargetError, match="`tool_calls`"):
        output_of({"text": "", "tool_calls": written}, record=True)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("{}", {}), (" \n", {}), ('{"a": 1, "a": 2}', None), ('{"a": NaN}', None), ("[1]", [1]), ("null", None)],
)
def test_arguments_are_strict_json(text, arguments):
    assert read_arguments(text) == arguments


def test_an_output_knows_whether_calls_were_looked_for():
    assert not Output("hello").tool_calls_recorded
    assert not output_of({"text": "hello", "state": {}}, record=True).tool_calls_recorded
    assert output_of({"text": "hello", "tool_calls": []}, record=True).tool_calls_recorded
    assert output_of({"text": "hello", "tool_calls": None}, record=True).tool_calls_recorded
