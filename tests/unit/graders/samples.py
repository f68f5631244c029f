"""A criterion of every deterministic kind and operation, with an output that passes and one that fails.

What holds for all graders is tried on these: a new kind needs a line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest_verica
from pytest_verica.output import Output
from pytest_verica.tool_calls import ToolCall


@dataclass(frozen=True)
class Sample:
    """keys: of the criterion; passes, fails: outputs; found: what an explanation of the failure must name, because it
    is what was found there."""

    keys: Mapping[str, Any]
    passes: Output
    fails: Output
    found: str
    columns: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return "-".join([str(self.keys["type"]), *(str(key) for key in self.keys if key != "type")])[:60]


def text(passes: str, fails: str, found: str, /, kind: str = "text_check", **keys: Any) -> Sample:
    return Sample({"type": kind, **keys}, Output(passes), Output(fails), found)


def called(*names: str, **arguments: Any) -> Output:
    return Output("", tool_calls=tuple(ToolCall(name, arguments) for name in names), tool_calls_recorded=True)


def agent(calls: Output, fails: Output, found: str, /, kind: str, **keys: Any) -> Sample:
    return Sample({"type": kind, **keys}, calls, fails, found)


def traced(name: str, end: float, status: str = "ok", found: str = "", **keys: Any) -> Sample:
    """Fails on a trace with one span of that name, end (seconds) and status."""
    fine = Output("", spans=[{"name": "chat", "start": 0, "end": 1, "status": "ok"}])
    broken = Output("", spans=[{"name": name, "start": 0, "end": end, "status": status}])
    return Sample({"type": "span_check", **keys}, fine, broken, found)


@pytest_verica.state_check("samples_state_is_empty")
def state_is_empty(state):
    return not state


def says_please(output, case):
    return "please" in (output.text or "")


def length(output, case):
    return len(output.text or "")


def kind_of_text(output, case):
    return "short" if len(output.text or "") < 5 else "long"


ITEMS = {"json_items": "items", "match": "all"}
SUM = {"json_path": "a", "aggregate": "sum"}
SAMPLES = [
    text("yes", "no", "'no'", equals="yes"),
    text("no", "yes", "is 'yes'", not_equals="yes"),
    text("say yes", "say no", "'say no'", contains="yes"),
    text("a b", "a c", "'a c'", contains=["a", "b"]),
    text("say no", "say yes", "'say yes'", not_contains="yes"),
    text("n 12", "n x", "'n x'", matches=r"\d+"),
    text("n x", "n 12", "'12'", not_matches=r"\d+"),
    text("yes it is", "no it is", "'no it is'", starts_with="yes"),
    text("it is so", "it is no", "'it is no'", ends_with="so"),
    text("red", "green", "'green'", one_of=["red", "blue"]),
    text("abc", "abcdef", "6 characters", length={"max": 3}),
    text('{"items": ["a", "a"]}', '{"items": ["a", "b"]}', "'b'", equals="a", target=ITEMS),
    text("42", "41", "is 41", "number_check", equals=42),
    text("41", "42", "is 42", "number_check", not_equals=42),
    text("42", "41", "is 41", "number_check", greater=41),
    text("41", "40", "is 40", "number_check", greater_or_equal=41),
    text("41", "42", "is 42", "number_check", less=42),
    text("42", "43", "is 43", "number_check", less_or_equal=42),
    text("15", "25", "is 25", "number_check", between=[10, 20]),
    text("it is 42.", "it is 41.", "is 41", "number_check", equals=42, extract="last"),
    text('{"a": [1, 2]}', '{"a": [1, 3]}', "is 4", "number_check", equals=3, target=SUM),
    text('{"items": [1, 2]}', '{"items": [1, 9]}', "is 9", "number_check", less=5, target=ITEMS),
    text("{}", "{]", "'{]'", "json_check", valid=True),
    text('{"a": 1}', '{"b": 1}', "an object with key b", "json_check", required_keys=["a"]),
    text("[1]", '["x"]', "'x'", "json_check", schema={"items": {"type": "integer"}}),
    text("[1]", "[]", "0 elements", "json_check", array_length={"min": 1}),
    agent(called("search"), called("other"), "other", "tool_check", tool="search"),
    agent(
        called("search", city="Rome"), called("search", city="Oslo"), "Oslo", "tool_check", arguments={"city": "Rome"}
    ),
    agent(called(), called("search"), "search", "tool_check", expect="no_call"),
    agent(called("a", "b"), called("b"), "the steps: b", "trajectory_check", required=["a"]),
    agent(called("a"), called("b"), "b", "trajectory_check", forbidden=["b"]),
    agent(called("a", "b"), called("b", "a"), "step 2", "trajectory_check", before=[["a", "b"]]),
    agent(called("a", "b"), called("a", "c"), "c", "trajectory_check", sequence="exact", reference=["a", "b"]),
    agent(called("a"), called("a", "b"), "2", "trajectory_check", max_steps=1),
    agent(Output("", state={}), Output("", state={"order": 17}), "17", "state_check", check="samples_state_is_empty"),
    traced("search", 1, found="search", pattern="chat", count={"equals": 1}),
    traced("chat", 9, found="9,000", pattern="chat", duration={"max_ms": 2000}),
    traced("chat", 1, "error", found="chat", no_errors=True),
    text("yes, please", "no", "returned False", "python_check", python=says_please),
    text("abcdef", "abc", "3", "python_check", python=length, pass_at=5),
    text("abc", "abcdef", "'long'", "python_check", python=kind_of_text, passing_labels=["short"]),
    text("a b c d", "a x y z", "0.250", "text_similarity", expected="a b c d", metric="rouge_1", pass_at=0.5),
    text("kitten", "dog", "'dog'", "text_similarity", expected="kitten", metric="fuzzy_match", pass_at=0.9),
    text("a cat sat here", "dogs", "'dogs'", "text_similarity", expected="a cat sat here", metric="bleu", pass_at=0.9),
]
