"""JSON Schema through json_check: the verdicts of the installed validator, keyword by keyword, in two drafts."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.case import Case as Row
from pytest_verica.errors import ConfigError
from pytest_verica.output import Output

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema"
VALIDATORS: dict[str, Any] = {DRAFT_7: jsonschema.Draft7Validator, DRAFT_2020: jsonschema.Draft202012Validator}
STRING, INTEGER = {"type": "string"}, {"type": "integer"}
TREE = {"type": "object", "properties": {"value": INTEGER, "next": {"$ref": "#"}}, "required": ["value"]}

# A schema, instances that satisfy it, instances that do not. All by hand, from the specification's text.
Case = tuple[dict[str, Any], list[Any], list[Any]]
BOTH: list[Case] = [
    # any type
    ({"type": "null"}, [None], [0, "", False]),
    ({"type": "boolean"}, [True, False], [0, "true"]),
    ({"type": "integer"}, [1, 1.0, -0.0, 10**30], [1.5, "1", True]),
    ({"type": "number"}, [1, 1.5], ["1", True]),
    ({"type": ["string", "null"]}, ["", None], [0]),
    ({"enum": [1, "a", [1], {"a": None}]}, [1, 1.0, "a", [1], {"a": None}], [True, "b", [1, 2]]),
    ({"const": {"a": [1, False]}}, [{"a": [1, False]}, {"a": [1.0, False]}], [{"a": [1, 0]}, {}]),
    ({"const": 0}, [0, 0.0], [False, "0", None]),
    ({"const": None}, [None], [0]),
    # numbers
    ({"multipleOf": 0.1}, [0.3, 1, 1e20, "x"], [0.35]),
    ({"multipleOf": 3}, [9, -3, 0], [10]),
    ({"maximum": 3}, [3, 2.9, "9"], [3.01]),
    ({"minimum": -1.5}, [-1.5, 0], [-2]),
    ({"exclusiveMaximum": 3}, [2.99], [3]),
    ({"exclusiveMinimum": 3}, [3.01], [3]),
    # texts
    ({"maxLength": 2}, ["é", "👍👍", 100], ["abc"]),
    ({"minLength": 2}, ["ab", "👍👍"], ["👍"]),
    ({"pattern": "^a+$"}, ["aaa", 5], ["b", ""]),
    ({"pattern": "b"}, ["abc"], ["ac"]),  # searched for anywhere
    # arrays
    ({"items": INTEGER}, [[], [1, 2], {"0": "x"}], [[1, "x"]]),
    ({"items": False}, [[]], [[1]]),
    ({"maxItems": 1}, [[], [1], "ab"], [[1, 2]]),
    ({"minItems": 1}, [[1]], [[]]),
    ({"uniqueItems": True}, [[1, "1", True, [1], {"a": 1}], []], [[1, 1.0], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]]),
    ({"contains": {"minimum": 5}}, [[1, 6], {}], [[], [1]]),
    # objects
    ({"maxProperties": 1}, [{}, {"a": 1}], [{"a": 1, "b": 2}]),
    ({"minProperties": 1}, [{"a": 1}, []], [{}]),
    ({"required": ["a", "ñ"]}, [{"a": None, "ñ": 1}, 3], [{"a": 1}]),
    ({"properties": {"a": INTEGER, "b": False}}, [{"a": 1}, {"c": "x"}], [{"a": "x"}, {"b": 1}]),
    ({"patternProperties": {"^n": INTEGER, "x$": STRING}}, [{"n1": 1, "ax": "y", "z": []}], [{"n": "a"}, {"nx": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{"a": 1}, {}], [{"b": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": INTEGER}, [{"a": "x", "b": 1}], [{"b": "x"}]),
    (
        {"properties": {"a": {}}, "patternProperties": {"^x-": {}}, "additionalProperties": False},
        [{"a": 1, "x-b": 2}, [1]],
        [{"y-b": 2}],
    ),
    ({"patternProperties": {"^x-": STRING}, "additionalProperties": INTEGER}, [{"x-a": "s", "b": 1}], [{"b": "s"}]),
    ({"patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 4}}}, [{"ab": 3}], [{"ab": 1}, {"ab": 5}]),
    ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}, {}], [{"abc": 1}]),
    # combinations
    ({"allOf": [STRING, {"minLength": 2}]}, ["ab"], ["a", 12]),
    ({"anyOf": [STRING, {"minimum": 2}]}, ["a", 2, None], [1]),
    ({"oneOf": [{"multipleOf": 2}, {"multipleOf": 3}]}, [2, 3], [6, 5]),
    ({"not": STRING}, [1], ["a"]),
    ({"not": {}}, [], [1, None]),
    ({"if": {"minimum": 10}, "then": {"multipleOf": 2}, "else": {"maximum": 5}}, [12, 4], [11, 7]),
    ({"if": STRING, "then": {"minLength": 1}}, ["a", 3], [""]),
    # references
    (TREE, [{"value": 1, "next": {"value": 2}}], [{"value": 1, "next": {}}]),
    ({"definitions": {"n": INTEGER}, "properties": {"a": {"$ref": "#/definitions/n"}}}, [{"a": 1}], [{"a": "x"}]),
    ({"definitions": {"a/b~c": INTEGER}, "items": {"$ref": "#/definitions/a~1b~0c"}}, [[1]], [["x"]]),
    # notes and formats assert nothing
    ({"title": "t", "description": "d", "default": 3, "examples": ["x"], "type": "string"}, ["a"], [3]),
    ({"format": "date", "type": "string"}, ["2026-02-01", "no date"], [1]),
    ({"x-ours": {"type": "object"}, "type": "array"}, [[]], [{}]),
]
IN_2020: list[Case] = [
    ({"prefixItems": [INTEGER, STRING]}, [[1], [1, "a", None], []], [["a"]]),
    ({"prefixItems": [INTEGER], "items": STRING}, [[1, "a"]], [[1, 2]]),
    ({"contains": INTEGER, "minContains": 2, "maxContains": 3}, [[1, 2], [1, "x", 2, 3]], [[1], [1, 2, 3, 4]]),
    ({"contains": INTEGER, "minContains": 0}, [[], ["a"]], []),
    ({"dependentRequired": {"card": ["address"]}}, [{}, {"card": 1, "address": 2}], [{"card": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{"a": 1, "b": 1}, {"c": 1}], [{"a": 1}]),
    (
        {"allOf": [{"properties": {"a": STRING}}], "properties": {"b": {}}, "unevaluatedProperties": False},
        [{"a": "x", "b": 1}],
        [{"a": "x", "c": 1}],
    ),
    (
        {"allOf": [{"patternProperties": {"^x-": {}}}], "unevaluatedProperties": False},
        [{"x-a": 1}, {}],
        [{"x-a": 1, "y": 2}],
    ),
    (
        {"if": {"required": ["a"]}, "then": {"properties": {"a": {}}}, "unevaluatedProperties": STRING},
        [{"a": 1, "z": "s"}, {"b": "s"}],
        [{"b": 1}],
    ),
    ({"prefixItems": [STRING], "unevaluatedItems": False}, [["a"], []], [["a", 1]]),
    ({"$defs": {"n": INTEGER}, "$ref": "#/$defs/n", "minimum": 3}, [4], ["x", 2]),  # keys beside $ref count
    ({"$defs": {"n": {"$anchor": "whole", **INTEGER}}, "items": {"$ref": "#whole"}}, [[1]], [["a"]]),
    ({"$id": "https://example.com/root", "$defs": {"i": {"$id": "inner", **INTEGER}}, "$ref": "inner"}, [1], ["a"]),
    ({"$defs": {"t": {"$dynamicAnchor": "t", **STRING}}, "items": {"$dynamicRef": "#t"}}, [["a"]], [[1]]),
]
IN_7: list[Case] = [
    ({"items": [INTEGER, STRING]}, [[1, "a", None], [1]], [["a"]]),
    ({"items": [INTEGER], "additionalItems": False}, [[1], []], [[1, 2]]),
    (
        {"dependencies": {"card": ["address"], "a": {"required": ["b"]}}},
        [{}, {"a": 1, "b": 2}],
        [{"card": 1}, {"a": 1}],
    ),
    ({"definitions": {"n": INTEGER}, "$ref": "#/definitions/n", "minimum": 3}, [2, 4], ["x"]),  # keys beside it do not
    ({"$id": "http://example.com/root.json", "definitions": {"a": {"$id": "#n", **INTEGER}}, "$ref": "#n"}, [1], ["a"]),
    ({"contains": False}, [{}], [[1], []]),
]
EVERY = [
    *((DRAFT_2020, case) for case in [*BOTH, *IN_2020]),
    *((DRAFT_7, case) for case in [*BOTH, *IN_7]),
]
CASE = Row("1", {})
ANY_INSTANCE = [None, True, 0, 1.5, "", "x-a", [], [1, "a"], {}, {"a": 1}, {"x-a": "é", "b": [None]}, {"nx": 1}]


@pytest.mark.parametrize(
    ("draft", "case"), EVERY, ids=lambda value: str(value)[:60] if isinstance(value, tuple) else ""
)
def test_a_keyword(grade, draft: str, case: Case) -> None:
    schema, valid, invalid = case
    keys = {"type": "json_check", "schema": {"$schema": draft, **schema}}
    for instance in valid:
        assert grade(keys, json.dumps(instance)).passed, instance
    for instance in invalid:
        result = grade(keys, json.dumps(instance))
        assert result.passed is False, instance
        assert "breaks the schema at" in result.explanation
    if "multipleOf" in schema:
        return  # the validator divides doubles, where 0.3 is no multiple of 0.1
    validator = VALIDATORS[draft](schema)
    for instance in [*valid, *invalid, *ANY_INSTANCE]:
        result = grade(keys, json.dumps(instance))
        assert result.passed is validator.is_valid(instance), (instance, result.explanation)


def test_there_are_enough_of_them_and_every_keyword_is_among_them() -> None:
    assert len(EVERY) >= 100
    for draft, validator in VALIDATORS.items():
        tried = str([case for each, case in EVERY if each == draft])
        told = {keyword for keyword in validator.VALIDATORS if keyword[0] != "$"} | {"$ref"}
        assert {keyword for keyword in told if f"'{keyword}'" not in tried} <= {"additionalItems"}  # not of 2020-12


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | st.text("ax-", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "x-a", "nx"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("draft", VALIDATORS)
@given(data=st.data())
def test_any_value_has_the_validators_verdict(build, draft: str, data: st.DataObject) -> None:
    cases = [case for each, case in EVERY if each == draft and "multipleOf" not in case[0]]
    schema = data.draw(st.sampled_from(cases))[0]
    value = data.draw(json_values)
    criterion = build({"type": "json_check", "schema": {"$schema": draft, **schema}})
    assert criterion.grade(CASE, Output(json.dumps(value))).passed is VALIDATORS[draft](schema).is_valid(value)


REMOTE = [
    "https://example.com/a.json",
    "http://127.0.0.1:1/a.json#/x",
    "other.json",
    "file:///etc/hostname",
    "//example.com",
]


@pytest.mark.parametrize("draft", VALIDATORS)
@pytest.mark.parametrize("reference", REMOTE)
def test_a_remote_reference_is_refused_before_launch(build, draft: str, reference: str) -> None:
    for schema in ({"$ref": reference}, {"properties": {"a": {"items": {"$ref": reference}}}}):
        with pytest.raises(ConfigError, match="is not in this JSON Schema, and none is fetched"):
            build({"type": "json_check", "schema": {"$schema": draft, **schema}})


ENDLESS = [{"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}]


@pytest.mark.parametrize("schema", ENDLESS)
def test_a_schema_that_never_ends_is_an_error(grade, schema: dict[str, Any]) -> None:
    result = grade({"type": "json_check", "schema": schema}, "1")
    assert (result.outcome, result.error.kind) == ("error", "too_deep")
    assert "refers to itself without end" in result.explanation


def test_a_value_that_is_too_deep_for_a_schema_is_an_error(grade) -> None:
    deep: Any = {"value": 1}
    for _ in range(400):
        deep = {"value": 1, "next": deep}
    result = grade({"type": "json_check", "schema": TREE}, Output("", data=deep))
    assert (result.outcome, result.error.kind) == ("error", "too_deep")
