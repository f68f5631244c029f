"""trajectory_check: each rule about the steps of an agent, alone and together."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.expected import Written
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.graders.trajectory_rules import ReferenceStep, out_of_sequence
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from pytest_verica.request import Tool
from pytest_verica.tool_calls import ToolCall


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


ABC = [call("a", x=1), call("b", x=2), call("c", y={"z": [1, 2]})]
FIRST = {"sequence": "exact", "reference": "{{ r }}"}

VERDICTS: list[tuple[dict[str, Any], Any, dict[str, Any], str, str]] = [
    # keys, steps, columns, outcome, the explanation contains
    # required, forbidden
    ({"required": ["a", "c"]}, ABC, {}, "pass", "every rule holds; the steps: a, b, c"),
    ({"required": ["a", "d", "e"]}, ABC, {}, "fail", "required and not called: d, e; the steps: a, b, c"),
    ({"required": "a"}, ABC, {}, "pass", "every rule"),
    ({"required": "{{ r }}"}, ABC, {"r": ["a", "d"]}, "fail", "not called: d"),
    ({"required": "{{ r }}"}, ABC, {"r": '["a", "b"]'}, "pass", "every rule"),
    ({"required": "{{ r }}"}, ABC, {"r": "d"}, "fail", "not called: d"),
    ({"required": "{{ r }}"}, ABC, {"r": ""}, "na", "nothing to check: `required` was not checked: '{{ r }}' is empty"),
    ({"required": "{{ r }}"}, ABC, {"r": []}, "na", "its list is empty for this case"),
    ({"required": ["{{ r }}", "b"]}, ABC, {"r": ""}, "pass", "(`required` was not checked"),
    ({"required": "{{ r }}"}, ABC, {"r": [1]}, "error", "the name of a tool was expected, found the number 1"),
    ({"forbidden": ["d"]}, ABC, {}, "pass", "every rule"),
    ({"forbidden": ["b", "c"]}, ABC, {}, "fail", 'forbidden and called: b({"x": 2}) as step 2 and 1 more'),
    ({"forbidden": ["a"]}, [], {}, "pass", "the steps: none"),
    # before
    ({"before": [["a", "b"], ["a", "c"]]}, ABC, {}, "pass", "every rule"),
    ({"before": [["c", "b"]]}, ABC, {}, "fail", "`c` must come before `b`, which is step 2: it is step 3"),
    ({"before": [["d", "b"]]}, ABC, {}, "fail", "it was never called"),
    ({"before": [["a", "d"]]}, ABC, {}, "pass", "every rule"),  # d never occurs
    ({"before": [["a", "{{ r }}"]]}, ABC, {"r": "b"}, "pass", "every rule"),
    # exact
    (FIRST, ABC, {"r": ["a", "b", "c"]}, "pass", "every rule"),
    (FIRST, ABC, {"r": ["a", "c", "b"]}, "fail", 'step 2 is b({"x": 2}); wanted exactly c'),
    (FIRST, ABC, {"r": ["a", "b"]}, "fail", '3 steps, wanted exactly 2; the first beyond: c({"y"'),
    (FIRST, ABC, {"r": ["a", "b", "c", "d"]}, "fail", "3 steps, wanted exactly 4; the first missing: d"),
    (FIRST, ABC, {"r": [call("a", x=1.0), "b", call("c", y={"z": [1, 2]})]}, "pass", "every rule"),
    (FIRST, ABC, {"r": [call("a", x=1), "b", call("c", y={"z": [1, 3]})]}, "fail", "`y.z[1]` is 2, not 3"),
    (FIRST, ABC, {"r": [call("a", x="1"), "b", "c"]}, "fail", "`x` is 1, not '1'"),
    (FIRST, ABC, {"r": [call("a"), "b", "c"]}, "fail", "`x` is not wanted"),
    (FIRST, ABC, {"r": [call("a", x=1, k=0), "b", "c"]}, "fail", "`k` is missing"),
    (FIRST, ABC, {"r": [{"name": "a", "arguments": '{"x": 1}'}, {"name": "b"}, "c"]}, "pass", "every rule"),
    (FIRST, ABC, {"r": [{"function": {"name": "a", "arguments": '{"x": 1}'}}, "b", "c"]}, "pass", "every rule"),
    (FIRST, ABC, {"r": '["a", {"name": "b", "arguments": {"x": 2}}, "c"]'}, "pass", "every rule"),
    (FIRST, [], {"r": []}, "pass", "the steps: none"),  # no step at all is a reference
    (FIRST, ABC, {"r": []}, "fail", "3 steps, wanted exactly 0"),
    (FIRST, ABC, {"r": None}, "na", "`reference` was not checked"),
    (FIRST, ABC, {"r": "a then b"}, "error", "`reference` is the text 'a then b'; a list of names"),
    (FIRST, ABC, {"r": [{"tool": "a"}]}, "error", "`reference`: number 1 is no tool call"),
    (FIRST, ABC, {"r": [{"function": {"name": "a", "arguments": "{"}}]}, "error", "of `a` its arguments are not valid"),
    (FIRST, ["a", "b"], {"r": ["a", call("b", x=1)]}, "fail", "its arguments were not recorded"),
    (FIRST, [{"name": "a", "arguments": "{"}], {"r": [call("a", x=1)]}, "fail", "not valid JSON"),
    (FIRST, [{"name": "a", "arguments": "{"}], {"r": ["a"]}, "pass", "every rule"),  # the name is enough
    # in order, in any order
    ({"sequence": "in_order", "reference": ["a", "c"]}, ABC, {}, "pass", "every rule"),
    (
        {"sequence": "in_order", "reference": ["c", "a"]},
        ABC,
        {},
        "fail",
        "number 2 of the reference, a, does not come after step 3",
    ),
    ({"sequence": "in_order", "reference": ["d"]}, ABC, {}, "fail", "d, does not come among the steps"),
    ({"sequence": "in_order", "reference": ["a", "a"]}, ABC, {}, "fail", "number 2 of the reference"),
    ({"sequence": "in_order", "reference": [call("b", x="{{ n }}")]}, ABC, {"n": "2"}, "pass", "every rule"),
    (
        {"sequence": "in_order", "reference": [call("b", x="{{ n }}")]},
        ABC,
        {"n": "3"},
        "fail",
        'there is b({"x": 2}): `x` is 2, not 3',
    ),
    ({"sequence": "any_order", "reference": ["c", "a"]}, ABC, {}, "pass", "every rule"),
    (
        {"sequence": "any_order", "reference": ["c", "c"]},
        ABC,
        {},
        "fail",
        "c of the reference is not among the steps (not that often)",
    ),
    ({"sequence": "any_order", "reference": [call("b", x=3)]}, ABC, {}, "fail", "`x` is 2, not 3"),
    ({"sequence": "any_order", "reference": "{{ r }}"}, ABC, {"r": []}, "na", "its list is empty"),
    # the plain one takes the only call that the other could have, so it must give way
    ({"sequence": "any_order", "reference": ["a", call("a", x=1)]}, [call("a", x=1), call("a", x=2)], {}, "pass", ""),
    # counts
    ({"max_steps": 3}, ABC, {}, "pass", "every rule"),
    ({"max_steps": 2}, ABC, {}, "fail", "3 steps; at most 2 allowed"),
    ({"max_steps": 0}, [call("a")], {}, "fail", "1 step; at most 0 allowed"),
    ({"max_calls": {"a": 1, "z": 0}}, ABC, {}, "pass", "every rule"),
    ({"max_calls": {"a": 1}}, [*ABC, *ABC], {}, "fail", "`a` was called 2 times; at most 1 allowed"),
    # every broken rule is told
    (
        {"required": ["d"], "forbidden": ["a"], "before": [["c", "b"]], "max_steps": 1, "max_calls": {"b": 0}},
        ABC,
        {},
        "fail",
        "5 rules are broken: required",
    ),
    ({"required": ["d"], "negate": True}, ABC, {}, "pass", "negated: one rule is broken"),
    ({"max_steps": 9, "negate": True}, ABC, {}, "fail", "negated: every rule holds"),
    # steps that are not known
    ({"max_steps": 9}, None, {}, "error", "no record of tool calls"),
    ({"max_steps": 9}, [{"odd": 1}], {}, "error", "the steps cannot be read: number 1 is no tool call"),
    ({"max_steps": 9}, "a, b", {}, "error", "an array of tool calls or messages was expected, not a str"),
    ({"forbidden": ["a"], "negate": True}, None, {}, "error", "no record"),
    # Unicode, odd and huge
    ({"required": ["búsqueda", "ł\u202e"]}, ["búsqueda", "ł\u202e"], {}, "pass", "ł\\u202e"),
    (
        {"required": ["z"]},
        [call(f"t{i}") for i in range(100_000)],
        {},
        "fail",
        "the steps: t0, t1, t2, t3, t4, t5 and 99994 more",
    ),
    (FIRST, [call("a", x="y" * 1_000_000)], {"r": [call("a", x="z" * 1_000_000)]}, "fail", "`x` is 'yyy"),
    (
        {"required": ["a"], "only_if": {"variable": "{{ k }}", "condition": "has_value"}},
        ABC,
        {"k": ""},
        "na",
        "not evaluated",
    ),
]


@pytest.mark.parametrize(("keys", "steps", "columns", "outcome", "says"), VERDICTS, ids=range(len(VERDICTS)))
def test_verdicts(grade, keys, steps, columns, outcome, says):
    found = grade({"type": "trajectory_check", **keys}, Output("hello", steps=steps), columns)
    assert (found.outcome, says in found.explanation) == (outcome, True), found.explanation
    assert len(found.explanation) < 1500


def test_every_broken_rule_stands_in_the_details(grade):
    keys = {"type": "trajectory_check", "required": ["d"], "forbidden": ["a"], "max_steps": 2}
    found = grade(keys, Output("x", steps=ABC))
    assert found.details is not None
    assert found.details["broken"] == [
        "required and not called: d",
        'forbidden and called: a({"x": 1}) as step 1',
        "3 steps; at most 2 allowed",
    ]
    assert all(sentence in found.explanation for sentence in found.details["broken"])


@pytest.mark.parametrize(
    ("stop_reason", "outcome", "says"),
    [
        ("stop", "pass", "every rule"),
        ("end_turn", "pass", "every rule"),
        ("STOP", "pass", "every rule"),  # Gemini's
        ("stop_sequence", "pass", "every rule"),
        ("length", "fail", "it did not finish by itself: its stop reason is 'length'"),
        ("max_tokens", "fail", "'max_tokens'"),
        ("tool_calls", "fail", "'tool_calls'"),
        ("content_filter", "fail", "'content_filter'"),
        (None, "error", "whether it finished is not known"),
        (" ", "error", "no stop reason was kept"),
    ],
)
def test_finished(grade, stop_reason, outcome, says):
    keys = {"type": "trajectory_check", "finished": True}
    found = grade(keys, Output("x", steps=[], stop_reason=stop_reason))
    assert (found.outcome, says in found.explanation) == (outcome, True), found.explanation


def test_an_answers_own_calls_are_its_steps_where_none_were_recorded(grade):
    keys = {"type": "trajectory_check", "required": ["a"]}
    assert grade(keys, Output("x", tool_calls=(ToolCall("a", {}),))).outcome == "pass"
    assert grade(keys, Output("x", tool_calls_recorded=True)).outcome == "fail"
    assert grade(keys, Output("x", tool_calls=(ToolCall("a", {}),), steps=[])).outcome == "fail"


WRONG = [
    ({}, "write at least one rule: required, forbidden, before, sequence"),
    ({"required": []}, "the list is empty"),
    ({"forbidden": ""}, "the list is empty"),
    ({"sequence": "exact"}, "`sequence` and `reference` go together"),
    ({"reference": ["a"], "max_steps": 1}, "`sequence` and `reference` go together"),
    ({"sequence": "in_order", "reference": []}, "`reference` is empty"),
    ({"sequence": "sorted", "reference": ["a"]}, "'exact', 'in_order' or 'any_order'"),
    ({"before": [["a", "a"]]}, "cannot come before itself"),
    ({"before": []}, "at least 1"),
    ({"before": [["a"]]}, "Field required"),
    ({"max_steps": -1}, "greater than or equal to 0"),
    ({"max_steps": True}, "valid integer"),
    ({"max_calls": {}}, "at least 1"),
    ({"finished": False}, "Input should be True"),
]


@pytest.mark.parametrize(("keys", "says"), WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_configured(build, keys, says):
    with pytest.raises(ValidationError, match=re.escape(says)):
        build({"type": "trajectory_check", **keys})


def make(keys: Mapping[str, Any], **context: Any) -> Criterion:
    config = KINDS["trajectory_check"].config.model_validate({"name": "checked", "type": "trajectory_check", **keys})
    return make_criterion(config, KINDS, BuildContext(Path("."), **context))


TOOLS = {"tools": (Tool("search"), Tool("book"))}
ROWS = [Case("one", {"r": ["search"]}, line=2), Case("two", {"r": ["bok"]}, line=3), Case("three", {"r": None}, line=4)]

BEFORE_LAUNCH = [
    ({"required": ["serch"]}, TOOLS, "no tool 'serch'; did you mean 'search'?"),
    ({"forbidden": ["bok"]}, TOOLS, "did you mean 'book'?"),  # would never be found, so never fail
    ({"before": [["search", "bok"]]}, TOOLS, "no tool 'bok'"),
    ({"max_calls": {"bok": 1}}, TOOLS, "no tool 'bok'"),
    ({"sequence": "exact", "reference": [{"name": "bok"}]}, TOOLS, "no tool 'bok'"),
    ({"required": "{{ r }}"}, {**TOOLS, "cases": ROWS}, "case 'two' (line 3): the prompt defines no tool 'bok'"),
    ({"sequence": "exact", "reference": "{{ r }}"}, {"cases": [Case("x", {"r": 5})]}, "`reference` is the number 5"),
    ({"max_steps": 3}, {"recorded": frozenset({"column"})}, "names no column of tool calls"),
]


@pytest.mark.parametrize(("keys", "context", "says"), BEFORE_LAUNCH, ids=range(len(BEFORE_LAUNCH)))
def test_what_is_refused_before_launch(keys, context, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        make(keys, **context)
    make({"required": ["search"], "max_calls": {"book": 1}}, **{**TOOLS, "recorded": frozenset({"steps"})})


NAMES = st.lists(st.sampled_from("abc"), max_size=6)


def judged(keys: Mapping[str, Any], steps: list[str]) -> bool:
    passed = make(keys).grade(Case("x", {}), Output("x", steps=steps)).passed
    assert passed is not None
    return passed


@given(NAMES, NAMES.filter(len), st.randoms())
def test_the_kinds_of_sequence_imply_each_other(steps, reference, dice: random.Random):
    """exact ⇒ in order ⇒ any order; any order does not mind orders; more steps never hurt the last two."""
    exact, in_order, any_order = (
        judged({"sequence": how, "reference": reference}, steps) for how in ("exact", "in_order", "any_order")
    )
    assert exact == (steps == reference)
    assert exact <= in_order <= any_order
    mixed = dice.sample(steps, len(steps)), dice.sample(reference, len(reference))
    assert judged({"sequence": "any_order", "reference": mixed[1]}, mixed[0]) == any_order
    assert any_order == all(steps.count(name) >= reference.count(name) for name in reference)
    assert in_order <= judged({"sequence": "in_order", "reference": reference}, [*steps, "z"])


@given(NAMES, NAMES.filter(len), st.integers(0, 6))
def test_rules_together_are_all_of_them_and_negate_swaps(steps, names, most):
    rules = {"required": names, "forbidden": ["c"], "before": [["a", "b"]], "max_steps": most}
    together = judged(rules, steps)
    assert together == all(judged({key: value}, steps) for key, value in rules.items())
    assert judged({**rules, "negate": True}, steps) is (not together)


@given(st.lists(st.sampled_from([None, 1, "1", 2]), max_size=5), st.lists(st.sampled_from([None, 1, "w1"]), max_size=5))
def test_any_order_finds_a_way_where_there_is_one(made, wanted):
    """Against a search of every assignment; "w1" is a template's text, which fits the number and the text."""
    calls = [ToolCall("t", {"x": value}) for value in made]
    values = [Written("1") if value == "w1" else value for value in wanted]
    reference = [ReferenceStep("t", None if value is None else {"x": value}) for value in values]

    def search(steps: list[ReferenceStep], free: list[ToolCall]) -> bool:
        if not steps:
            return True
        ways = [i for i, each in enumerate(free) if steps[0].fits(each)]
        return any(search(steps[1:], free[:i] + free[i + 1 :]) for i in ways)

    assert (out_of_sequence("any_order", reference, calls) is None) == search(reference, calls)
