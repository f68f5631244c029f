"""tool_check: which tool, with which arguments, how often, and no other."""

from __future__ import annotations

import json
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
from pytest_verica.graders.expected import Written, difference, same_json
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output, output_of
from pytest_verica.request import Tool
from pytest_verica.tool_calls import ToolCall

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}}, "required": ["city"]}
TOOLS = (Tool("search", "", CITY), Tool("book", "", {}))

ROME = {"city": "Rome", "n": 5.0, "filtro": {"estado": "libre", "tags": ["wifi", "pool"]}, "none": None, "ok": True}
ONE = [{"name": "search", "arguments": ROME}]
TWO = [*ONE, {"name": "search", "arguments": {"city": "Oslo"}}]
OTHER = [*ONE, {"name": "book", "arguments": {}}]
BROKEN = [{"type": "function", "function": {"name": "search", "arguments": '{"city": "Rome"'}}]


def rule(name: str, comparison: str | None = None, value: Any = ..., **more: Any) -> dict[str, Any]:
    written = {"name": name, **more}
    if comparison is not None:
        written["comparison"] = comparison
    return written if value is ... else {**written, "value": value}


def search(*rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"tool": "search", **({"arguments": list(rules)} if rules else {}), **more}


VERDICTS: list[tuple[dict[str, Any], list[Any] | None, dict[str, Any], str, str]] = [
    # keys, calls (None: not recorded), columns, outcome, the explanation contains
    # a call, or none
    (search(), ONE, {}, "pass", '`search` was called: search({"city": "Rome"'),
    (search(), [], {}, "fail", "`search` was not called; no tool was called; wanted a call"),
    (search(), [{"name": "book", "arguments": {}}], {}, "fail", "not called; called: book; wanted a call"),
    (search(), [{"name": "Search", "arguments": {}}], {}, "fail", "called: Search"),  # names are exact
    ({}, ONE, {}, "pass", "a tool was called"),
    ({}, [], {}, "fail", "a tool was not called"),
    (search(), None, {}, "error", "no record of tool calls"),
    ({"tool": "{{ t }}"}, ONE, {"t": "search"}, "pass", "`search` was called"),
    ({"tool": "{{ t }}"}, ONE, {"t": " "}, "na", "nothing to check: the tool {{ t }} is empty"),
    ({"expect": "no_call"}, [], {}, "pass", "no tool was called"),
    ({"expect": "no_call"}, ONE, {}, "fail", "a tool was called: search("),
    ({"expect": "no_call"}, None, {}, "error", "with [] where there was none"),
    ({"expect": "no_call", "tool": "book"}, ONE, {}, "pass", "`book` was not called, only search"),
    ({"expect": "no_call", "tool": "search"}, TWO, {}, "fail", "and 1 more; wanted no call"),
    ({"expect": "no_call", "negate": True}, [], {}, "fail", "negated: no tool was called"),
    # arguments: equality is JSON's, numbers as numbers
    (search(rule("city", value="Rome")), ONE, {}, "pass", "`city` is 'Rome'; wanted it equal to 'Rome'"),
    (search(rule("city", value="Paris")), ONE, {}, "fail", "not as wanted: search({"),
    (search(rule("city", value="Paris")), ONE, {}, "fail", "`city` is 'Rome'; wanted it equal to 'Paris'"),
    (search(rule("n", value=5)), ONE, {}, "pass", "`n` is 5.0"),
    (search(rule("n", value="5")), ONE, {}, "fail", "wanted it equal to '5'"),  # a text is no number
    (search(rule("ok", value=1)), ONE, {}, "fail", "`ok` is true; wanted it equal to 1"),
    (search(rule("none", value=None)), ONE, {}, "pass", "`none` is null"),
    (search(rule("filtro.estado", value="libre")), ONE, {}, "pass", "`filtro.estado` is 'libre'"),
    (search(rule("filtro.tags[-1]", value="pool")), ONE, {}, "pass", "is 'pool'"),
    (search(rule("filtro.color", value="x")), ONE, {}, "fail", "no `filtro.color`: `filtro` is an object with keys"),
    (search(rule("filtro", value={"tags": ["wifi", "pool"], "estado": "libre"})), ONE, {}, "pass", "`filtro` is"),
    (search(rule("filtro.tags", value=["pool", "wifi"])), ONE, {}, "fail", "`filtro.tags` is"),  # arrays have an order
    # templates compare as JSON where their text is JSON
    (search(rule("n", value="{{ n }}")), ONE, {"n": "5"}, "pass", "wanted it equal to '5'"),
    (search(rule("n", value="{{ n }}")), ONE, {"n": 5}, "pass", "wanted it equal to 5"),
    (search(rule("filtro", value="{{ f }}")), ONE, {"f": '{"estado":"libre","tags":["wifi","pool"]}'}, "pass", ""),
    (
        search(rule("filtro", value={"estado": "{{ e }}", "tags": "{{ t }}"})),
        ONE,
        {"e": "libre", "t": '["wifi","pool"]'},
        "pass",
        "",
    ),
    (
        search(rule("city", value="{{ c }}")),
        [{"name": "search", "arguments": {"city": "5"}}],
        {"c": "5"},
        "pass",
        "'5'",
    ),
    (search(rule("city", value="{{ c }}")), ONE, {"c": ""}, "na", "`city` was not checked: '{{ c }}' is empty"),
    (search(rule("city", value="{{ c }}"), rule("n", value=5)), ONE, {"c": ""}, "pass", "(`city` was not checked"),
    # the other comparisons
    (search(rule("city", "not_equals", "Paris")), ONE, {}, "pass", "wanted anything but 'Paris'"),
    (search(rule("city", "not_equals", "Rome")), ONE, {}, "fail", "wanted anything but 'Rome'"),
    (search(rule("zip", "not_equals", "x")), ONE, {}, "fail", "no `zip`"),  # what is not there is not checked
    (search(rule("city", "contains", "om")), ONE, {}, "pass", "wanted it to contain 'om'"),
    (search(rule("city", "contains", ["Ro", "xx"])), ONE, {}, "fail", 'contain ["Ro", "xx"]'),
    (search(rule("filtro.tags", "contains", "wifi")), ONE, {}, "pass", "contain 'wifi'"),
    (search(rule("filtro.tags", "contains", "{{ t }}")), ONE, {"t": '["pool", "wifi"]'}, "pass", "contain"),
    (search(rule("filtro.tags", "contains", "wi")), ONE, {}, "fail", "contain 'wi'"),  # elements are whole
    (search(rule("n", "contains", "5")), ONE, {}, "fail", "the number 5; `contains` looks into texts and arrays"),
    (search(rule("city", "matches", "^R.m")), ONE, {}, "pass", "wanted it to match '^R.m'"),
    (search(rule("n", "matches", r"^\d+$")), ONE, {}, "pass", "match"),
    (search(rule("city", "matches", "{{ p }}")), ONE, {"p": "^P"}, "fail", "match '^P'"),
    (search(rule("city", "matches", "{{ p }}")), ONE, {"p": "("}, "error", "'(' is not a regular expression"),
    (
        search(rule("city", "matches", "^(a|aa)+$")),
        [{"name": "search", "arguments": {"city": "a" * 60 + "!"}}],
        {},
        "error",
        "took longer than 100 ms",
    ),
    (search(rule("city", "one_of", ["Rome", "Roma"])), ONE, {}, "pass", 'wanted one of ["Rome", "Roma"]'),
    (search(rule("n", "one_of", [4, 5])), ONE, {}, "pass", "one of [4, 5]"),
    (search(rule("n", "one_of", "{{ ns }}")), ONE, {"ns": "[4, 5]"}, "pass", "one of [4, 5]"),
    (search(rule("n", "one_of", "{{ ns }}")), ONE, {"ns": 6}, "fail", "one of [6]"),
    (search(rule("n", "one_of", "{{ ns }}")), ONE, {"ns": []}, "error", "an empty list"),
    (search(rule("none", "exists")), ONE, {}, "pass", "`none` is null"),
    (search(rule("zip", "exists")), ONE, {}, "fail", "no `zip`: the top is an object with keys"),
    (search(rule("zip", value=1, optional=True)), ONE, {}, "pass", "(it is optional)"),
    (search(rule("n", value=1, optional=True)), ONE, {}, "fail", "`n` is 5.0"),
    # all, any
    (search(rule("city", value="Rome"), rule("n", value=1)), ONE, {}, "fail", "`n` is 5.0; wanted it equal to 1"),
    (search(rule("city", value="Rome"), rule("n", value=1), match="any"), ONE, {}, "pass", "`city` is 'Rome'"),
    (search(rule("city", value="Oslo"), rule("n", value=1), match="any"), ONE, {}, "fail", "`city` is 'Rome'"),
    # an object is short for equality; a template gives an object or rules
    ({"tool": "search", "arguments": {"city": "Rome", "n": 5}}, ONE, {}, "pass", "`n` is 5.0"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": {"city": "Rome"}}, "pass", "`city` is 'Rome'"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": '{"city": "Oslo"}'}, "fail", "equal to 'Oslo'"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": [rule("n", "one_of", [5])]}, "pass", "one of [5]"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": {}}, "pass", "`search` was called"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": {"city": "{{ a }}"}}, "fail", "equal to '{{ a }}'"),  # data
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": None}, "na", "{{ a }} is empty for this case"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": "city=Rome"}, "error", "`arguments` is not JSON"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": 5}, "error", "`arguments` is the number 5"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": [{"name": "n"}]}, "error", "`equals` needs a `value`"),
    ({"tool": "search", "arguments": "{{ a }}"}, ONE, {"a": [rule("n..x", value=1)]}, "error", "is not a path"),
    # several calls
    (search(rule("city", value="Oslo")), TWO, {}, "pass", "(number 2 of 2 calls)"),  # one that satisfies is enough
    (search(rule("city", value="Paris")), TWO, {}, "fail", "(number 1 of 2 calls): `city` is 'Rome'"),
    (search(times={"equals": 2}), TWO, {}, "pass", "`search` was called twice; wanted exactly 2"),
    (search(times={"max": 1}), TWO, {}, "fail", "called twice; wanted at most 1"),
    (search(times={"max": 3}), [], {}, "fail", "not called"),  # at least once, unless min is 0
    (search(times={"min": 0, "max": 3}), [], {}, "pass", "wanted 0 to 3"),
    (search(rule("city", value="Rome"), times={"equals": 2}), TWO, {}, "fail", "called twice, once as wanted"),
    (search(only=True), ONE, {}, "pass", "`search` was called"),
    (search(only=True), OTHER, {}, "fail", "other tools were called: book; wanted `search` only"),
    # arguments that are none
    (search(), BROKEN, {}, "fail", "not valid JSON: Expecting ',' delimiter at line 1, column 16: '{"),
    (search(rule("city", value="Rome")), [*BROKEN, *ONE], {}, "pass", "number 2 of 2"),
    (search(times={"max": 2}), [*BROKEN, *ONE], {}, "fail", "of one call its arguments are not valid JSON"),
    (search(), [{"name": "search", "arguments": "[1]"}], {}, "fail", "an array of 1 element, not an object"),
    (search(), [{"name": "search", "arguments": "null"}], {}, "fail", "its arguments are null, not an object"),
    (search(), [{"name": "search", "arguments": "```\n{}\n```"}], {}, "fail", "a code fence stands around them"),
    (search(), [{"name": "search"}], {}, "pass", "search(…)"),
    (search(rule("city", value="Rome")), [{"name": "search"}], {}, "fail", "the call's arguments were not recorded"),
    # Unicode, odd and huge
    (
        search(rule("ciudad", value="A Corun\u0303a")),
        [{"name": "search", "arguments": {"ciudad": "A Coruña"}}],
        {},
        "pass",
        "A Coruña",
    ),
    (search(rule("año", value="مرحبا")), [{"name": "search", "arguments": {"año": "مرحبا"}}], {}, "pass", "`año` is"),
    (search(rule("a", value="x")), [{"name": "search", "arguments": {"a": "\ud800\x00"}}], {}, "fail", r"'\ud800\x00'"),
    (search(rule('["odd key"]', value=1)), [{"name": "search", "arguments": {"odd key": 1}}], {}, "pass", "is 1"),
    (search(rule("a", value="x")), [{"name": "search", "arguments": {"a": "y" * 10_000_000}}], {}, "fail", "yyy…"),
    (search(rule("a", value=10**20)), [{"name": "search", "arguments": f'{{"a": {10**20 + 1}}}'}], {}, "fail", "0001;"),
    ({"tool": "s" * 5000}, [], {}, "fail", "sss… was not called".replace("… was", "…` was")),
    ({"tool": "a"}, [{"name": f"t{i}", "arguments": {}} for i in range(5000)], {}, "fail", "t5 and 4994 more"),
    # a run condition
    (search(only_if={"variable": "{{ k }}", "condition": "has_value"}), [], {"k": ""}, "na", "not evaluated"),
]


@pytest.mark.parametrize(("keys", "calls", "columns", "outcome", "says"), VERDICTS, ids=range(len(VERDICTS)))
def test_verdicts(grade, keys, calls, columns, outcome, says):
    output = Output("hello") if calls is None else output_of({"text": "", "tool_calls": calls}, record=True)
    found = grade({"type": "tool_check", **keys}, output, columns)
    assert (found.outcome, says in found.explanation) == (outcome, True), found.explanation
    assert len(found.explanation) < 1500


def test_deeply_nested_arguments(grade):
    """5,000 levels: compared without recursion, shown cut."""
    deep: Any = "leaf"
    for _ in range(5000):
        deep = [deep]
    call = Output(tool_calls=(ToolCall("search", {"a": deep}),))
    found = grade({"type": "tool_check", "tool": "search", "arguments": [rule("a", "exists")]}, call, {})
    assert found.outcome == "pass"
    found = grade({"type": "tool_check", "tool": "search", "arguments": [rule("a", value=[1])]}, call, {})
    assert (found.outcome, "an array of 1 element" in found.explanation) == ("fail", True)


def test_calls_of_steps_count_where_the_answer_has_none(grade):
    steps = [{"role": "assistant", "tool_calls": [{"name": "search", "args": {}}]}, {"role": "tool", "content": "x"}]
    assert grade({"type": "tool_check", "tool": "search"}, Output("done", steps=steps)).outcome == "pass"
    assert grade({"type": "tool_check", "expect": "no_call"}, Output("done", steps=steps)).outcome == "fail"
    assert grade({"type": "tool_check", "expect": "no_call"}, Output("done", steps=[])).outcome == "pass"
    found = grade({"type": "tool_check", "expect": "no_call"}, Output("done", steps=[{"odd": 1}]))
    assert found.error is not None
    assert (found.error.kind, found.error.raw) == ("bad_steps", "{'odd': 1}")


WRONG = [
    # keys, the message contains
    ({"tool": ""}, "`tool` is empty"),
    ({"tool": "a", "arguments": []}, "`arguments` is empty"),
    ({"tool": "a", "arguments": "city"}, "a list of {name, comparison, value}, an object, or a template"),
    ({"tool": "a", "arguments": [{"name": "x"}]}, "`equals` needs a `value`"),
    ({"tool": "a", "arguments": [rule("x", "exists", 1)]}, "`exists` takes no `value`"),
    ({"tool": "a", "arguments": [rule("x", "one_of", [])]}, "`one_of` takes a list"),
    ({"tool": "a", "arguments": [rule("x", "one_of", 5)]}, "`one_of` takes a list"),
    ({"tool": "a", "arguments": [rule("x", "matches", 5)]}, "`matches` takes a regular expression"),
    ({"tool": "a", "arguments": [rule("x", "contains", "")]}, "checks nothing"),
    ({"tool": "a", "arguments": [rule("x", "near", 5)]}, "'equals', 'not_equals'"),
    ({"expect": "no_call", "only": True, "tool": "a"}, "goes with `tool` alone, not with only"),
    ({"only": True}, "`only` needs a `tool`"),
    ({"tool": "a", "times": {}}, "`times` needs"),
    ({"tool": "a", "times": {"equals": 0}}, "`expect: no_call`"),
    ({"tool": "a", "names": 1}, "Extra inputs"),
]


@pytest.mark.parametrize(("keys", "says"), WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_configured(build, keys, says):
    with pytest.raises(ValidationError, match=re.escape(says)):
        build({"type": "tool_check", **keys})


def make(keys: Mapping[str, Any], **context: Any) -> Criterion:
    config = KINDS["tool_check"].config.model_validate({"name": "checked", "type": "tool_check", **keys})
    return make_criterion(config, KINDS, BuildContext(Path("."), **context))


def cases(*rows: dict[str, Any]) -> list[Case]:
    return [Case(f"row-{line}", row, line=line) for line, row in enumerate(rows, 2)]


BEFORE_LAUNCH = [
    # keys, context, the message contains
    ({"tool": "serch"}, {"tools": TOOLS}, "no tool 'serch'; did you mean 'search'? its tools: search, book"),
    (
        {"tool": "{{ t }}"},
        {"tools": TOOLS, "cases": cases({"t": "book"}, {"t": "bok"})},
        "case 'row-3' (line 3): the prompt defines no tool 'bok'",
    ),
    ({"tool": "search", "validate_arguments": True}, {}, "needs the schemas of the prompt's `tools`"),
    ({"tool": "search"}, {"recorded": frozenset({"column"})}, "names no column of tool calls"),
    ({"expect": "no_call"}, {"recorded": frozenset({"column", "state"})}, "nothing would be checked"),
    (search(rule("x", "matches", "(")), {}, "is not a regular expression"),
    (search(rule("x", "one_of", "Rome")), {}, "`one_of` takes a list of values"),
    (search(rule("x[*]", value=1)), {}, "is not a path"),
    (search(rule("x", "matches", "{{ p }}")), {"cases": cases({"p": "("}, {"p": ""}, {"p": "a"})}, "case 'row-2'"),
    ({"tool": "a", "arguments": "{{ a }}"}, {"cases": cases(*[{"a": 5}] * 5)}, "and 2 more cases"),
]


@pytest.mark.parametrize(("keys", "context", "says"), BEFORE_LAUNCH, ids=range(len(BEFORE_LAUNCH)))
def test_what_is_refused_before_launch(keys, context, says):
    with pytest.raises(ConfigError, match=re.escape(says)):
        make(keys, **context)


def test_cases_that_are_not_looked_at_are_not_refused():
    rows = cases({"t": "bok", "k": "chat"}, {"t": "book", "k": "tool"})
    condition = {"variable": "{{ k }}", "condition": "equals", "value": "tool"}
    make({"tool": "{{ t }}", "only_if": condition}, tools=TOOLS, cases=rows)
    about_the_output = {"variable": "{{ output.text }}", "condition": "is_empty"}
    late = make({"tool": "{{ t }}", "only_if": about_the_output}, tools=TOOLS, cases=rows)
    found = late.grade(rows[0], output_of({"text": "", "tool_calls": []}, record=True))
    assert (found.outcome, "no tool 'bok'" in found.explanation) == ("error", True)


VALIDATED = [
    ([{"name": "search", "arguments": {"city": "Rome", "n": 5.0}}], "pass", "was called"),
    ([{"name": "search", "arguments": {"n": "5"}}], "fail", "break the tool's schema at"),
    ([{"name": "search", "arguments": {"n": "5"}}], "fail", "(2 faults in all)"),
    ([{"name": "search", "arguments": "{}"}], "fail", "'city' is a required property"),
    ([{"name": "search"}], "fail", "were not recorded, so that they cannot be validated"),
    (BROKEN, "fail", "not valid JSON"),
]


@pytest.mark.parametrize(("calls", "outcome", "says"), VALIDATED, ids=range(len(VALIDATED)))
def test_arguments_are_validated(calls, outcome, says):
    check = make({"tool": "search", "validate_arguments": True}, tools=TOOLS)
    found = check.grade(Case("x", {}), output_of({"text": "", "tool_calls": calls}, record=True))
    assert (found.outcome, says in found.explanation) == (outcome, True), found.explanation


def test_the_schema_is_part_of_the_version():
    keys = {"tool": "search", "validate_arguments": True}
    wider = (Tool("search", "", {"type": "object"}), TOOLS[1])
    assert make(keys, tools=TOOLS).version_hash != make(keys, tools=wider).version_hash
    assert make(keys, tools=TOOLS).version_hash == make(keys, tools=TOOLS).version_hash


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, JSON)
def test_equality_is_that_of_json(one, other):
    assert same_json(one, one)
    assert same_json(one, other) == same_json(other, one)
    assert same_json(json.loads(json.dumps(one)), one)
    assert (difference(one, other) is None) == same_json(one, other)


@given(JSON)
def test_a_text_that_is_json_stands_for_it(value):
    assert same_json(value, Written(json.dumps(value)))
    assert same_json(json.dumps(value), Written(json.dumps(value)))


CALLS = st.lists(
    st.builds(
        lambda name, city: ToolCall(name, {"city": city}),
        st.sampled_from(["search", "book"]),
        st.sampled_from(["Rome", "Oslo"]),
    ),
    max_size=5,
)
RULES = st.lists(
    st.sampled_from([rule("city", value="Rome"), rule("city", value="Oslo"), rule("zip", "exists")]),
    min_size=1,
    max_size=3,
)


@given(CALLS, RULES, st.sampled_from(["all", "any"]), st.randoms())
def test_negate_swaps_and_order_does_not_matter(calls, rules, match, dice: random.Random):
    keys = {"tool": "search", "arguments": rules, "match": match}
    output = Output("", tool_calls=tuple(calls), tool_calls_recorded=True)
    found = make(keys).grade(Case("x", {}), output)
    assert make({**keys, "negate": True}).grade(Case("x", {}), output).passed is (not found.passed)
    mixed = dice.sample(calls, len(calls)), dice.sample(rules, len(rules))
    again = make({**keys, "arguments": mixed[1]}).grade(
        Case("x", {}), Output("", tool_calls=tuple(mixed[0]), tool_calls_recorded=True)
    )
    assert again.passed is found.passed


@given(CALLS, RULES)
def test_none_of_the_rules_is_de_morgans(calls, rules):
    """On one call: any of the rules holds unless each of them fails."""
    for call in calls[:1]:
        output = Output("", tool_calls=(call,))
        one_by_one = [make({"arguments": [each]}).grade(Case("x", {}), output).passed for each in rules]
        assert make({"arguments": rules, "match": "any"}).grade(Case("x", {}), output).passed is any(one_by_one)
        assert make({"arguments": rules, "match": "all"}).grade(Case("x", {}), output).passed is all(one_by_one)
