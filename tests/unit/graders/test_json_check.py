"""json_check: strict JSON, required keys, schemas, arrays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from pytest_verica.errors import ConfigError

OBJECT = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["name"]}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"  # where exclusiveMinimum was a boolean
ORDER = '{"order": {"items": [{"sku": 1}, {"qty": 2}], "none": []}, "name": "x", "tags": ["a", " "], "n": 3}'

VERDICTS: list[tuple[dict[str, Any], str | None, str, str]] = [
    # valid
    ({"valid": True}, '{"a": 1}', "pass", "the output is valid JSON"),
    ({"operation": "valid"}, "[]", "pass", "valid JSON"),
    ({"valid": True}, "3", "pass", "valid JSON"),
    ({"valid": True}, '```json\n{"a": 1}\n```', "pass", "a code fence around the JSON was stripped"),
    ({"valid": True}, 'Sure:\n```json\n{"a": 1}\n```', "fail", "line 1, column 1"),
    ({"valid": True}, '{"a": 1', "fail", "line 1, column 8"),
    ({"valid": True}, '{"a": 1}\n x', "fail", "Extra data at line 2, column 2"),
    ({"valid": True}, '{"a": 1, "a": 2}', "fail", "the key 'a' appears twice"),
    ({"valid": True}, '{"a": NaN}', "fail", "NaN is not JSON"),
    ({"valid": True}, '{"a": 1e999}', "fail", "out of range"),
    ({"valid": True}, "", "fail", "line 1, column 1"),
    ({"valid": True}, None, "fail", "the output has no text"),
    ({"valid": True}, "\ud800\x00", "fail", r"it begins '\ud800\x00'"),
    ({"valid": True}, "[" * 100_000, "fail", "nested too deeply"),
    ({"valid": True}, '{"a": "' + "x" * 1_000_000 + '"}', "pass", "valid JSON"),
    ({"valid": True, "negate": True}, "{}", "fail", "negated"),
    ({"valid": True, "negate": True}, None, "fail", "the output has no text"),  # nothing to check is no pass
    ({"valid": True, "negate": True}, "prose", "pass", "negated"),
    # required keys
    ({"required_keys": ["name", "order.items"]}, ORDER, "pass", "has every required key"),
    ({"valid": True, "required_keys": ["name"]}, ORDER, "pass", "has every required key"),
    (
        {"required_keys": ["name", "order.items.sku", "x"]},
        ORDER,
        "fail",
        "2 of 3 required keys are missing: no `order.items.sku`",
    ),
    ({"required_keys": ["order.none.sku"]}, ORDER, "pass", "no element to look at for `order.none.sku`"),
    ({"required_keys": ["name"]}, "[]", "pass", "no element"),
    ({"required_keys": ["name"]}, "nope", "fail", "not valid JSON"),
    ({"required_keys": ["año"]}, '{"año": null}', "pass", "every required key"),
    # schema
    ({"schema": OBJECT}, '{"name": "x", "age": 3.0}', "pass", "satisfies the schema"),
    (
        {"operation": "schema", "schema": OBJECT},
        '{"age": "x"}',
        "fail",
        "at `age`: 'x' is not of type 'integer'; 2 faults",
    ),
    ({"schema": {"type": "array"}, "target": {"json_path": "tags"}}, ORDER, "pass", "`tags` satisfies"),
    ({"schema": {"type": "array"}, "target": {"json_path": "zap"}}, ORDER, "fail", "no `zap`"),
    (
        {"schema": {"items": {"type": "string"}}},
        "[1, 2, 3]",
        "fail",
        "`[0]`: 1 is not of type 'string'; 3 faults in all",
    ),
    ({"schema": {"items": {"type": "string"}}}, json.dumps([1] * 5000), "fail", "1000 or more faults"),
    ({"schema": {"multipleOf": 0.01}}, "19.99", "pass", "satisfies"),  # in doubles 19.99 / 0.01 is not whole
    ({"schema": {"multipleOf": 0.01}}, "19.995", "fail", "not a multiple of 0.01"),
    ({"schema": {"type": "integer"}}, '"' + "x" * 1_000_000 + '"', "fail", "is not of type 'integer'"),
    ({"schema": {"type": "integer"}}, "prose", "fail", "the output is not JSON"),
    ({"schema": {"pattern": "^é+$"}}, '"éé"', "pass", "satisfies"),
    ({"schema": {"pattern": "^(a|aa)+$"}}, '"' + "a" * 60 + '!"', "error", "took longer than 100 ms"),
    ({"schema": {"$schema": DRAFT_4, "minimum": 1, "exclusiveMinimum": True}}, "1", "fail", "minimum of 1"),
    ({"schema": {"$defs": {"n": {"type": "null"}}, "$ref": "#/$defs/n"}}, "1", "fail", "is not of type 'null'"),
    ({"schema": {"properties": {"$ref": {"type": "null"}}}}, '{"$ref": 1}', "fail", "`$ref`"),  # a key, no reference
    ({"schema": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}, '{"type": "strin"}', "fail", "`type`"),
    ({"schema": False}, "1", "fail", "False schema"),
    # array_length
    ({"array_length": {"json_path": "tags", "min": 1}}, ORDER, "pass", "`tags` has 2 elements; wanted at least 1"),
    ({"operation": "array_length", "json_path": "tags", "equals": 2}, ORDER, "pass", "exactly 2"),
    ({"operation": "array_length", "target": {"json_path": "tags"}, "max": 1}, ORDER, "fail", "at most 1"),
    (
        {"array_length": {"json_path": "tags", "all_non_empty": True}},
        ORDER,
        "fail",
        "element 1 of `tags` is the text ' '",
    ),
    ({"array_length": {"json_path": "order.items", "equals": 3}}, ORDER, "fail", "has 2 elements; wanted exactly 3"),
    ({"array_length": {"json_path": "order.none", "all_non_empty": True}}, ORDER, "fail", "none could be looked at"),
    ({"array_length": {"json_path": "order.none", "max": 3}}, ORDER, "pass", "has 0 elements"),
    ({"array_length": {"json_path": "n", "min": 1}}, ORDER, "fail", "`n` is the number 3, not an array"),
    ({"array_length": {"json_path": "zap", "min": 1}}, ORDER, "fail", "no `zap`"),
    ({"array_length": {"min": 1}}, "[1]", "pass", "the output has 1 element;"),
    (
        {"array_length": {"json_path": "a.b", "min": 1}},
        '{"a": [{"b": [1]}, {"b": []}]}',
        "fail",
        "`a.b` number 2 has 0",
    ),
    ({"array_length": {"json_path": "a.b", "min": 1}}, '{"a": []}', "fail", "nothing to count"),
    ({"array_length": {"json_path": "n", "min": 1}, "negate": True}, ORDER, "fail", "not an array"),
]


@pytest.mark.parametrize(("keys", "output", "outcome", "says"), VERDICTS)
def test_verdicts(grade, keys, output, outcome, says):
    result = grade({"type": "json_check", **keys}, output)
    assert (result.outcome, result.score, result.label) == (outcome, None, None)
    assert says in result.explanation
    assert len(result.explanation) < 450 and result.explanation.isprintable()


@pytest.mark.parametrize("empty", ["null", '""', '" "', "[]", "{}"])
def test_what_counts_as_an_empty_element(grade, empty):
    keys = {"type": "json_check", "array_length": {"all_non_empty": True}}
    assert grade(keys, f"[0, false, {empty}]").outcome == "fail"
    assert grade(keys, "[0, false]").outcome == "pass"


REFUSED = [
    ({}, "exactly one operation; found none; known: valid (with required_keys), schema, array_length"),
    ({"valid": True, "schema": {"type": "array"}}, "found valid and schema"),
    ({"operation": "valid", "schema": {"type": "array"}}, "found valid and schema"),
    ({"valid": False}, "valid"),
    ({"required_keys": []}, "required_keys"),
    ({"operation": "schema"}, "needs `schema`"),
    ({"array_length": {}}, "`array_length` needs"),
    ({"operation": "array_length", "json_path": "a"}, "`array_length` needs"),
    ({"array_length": {"min": 0}}, "always met"),
    ({"array_length": {"json_path": "a", "min": 1}, "target": {"json_path": "b"}}, "keep one"),
    ({"valid": True, "min": 1}, "`min` belongs inside `array_length`"),
    ({"valid": True, "target": {"json_path": "a"}}, "whole response"),
    ({"schema": 3}, "schema"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_refused_before_launch(build, keys, says):
    with pytest.raises(ValidationError) as caught:
        build({"type": "json_check", **keys})
    assert says in str(caught.value)


SCHEMAS_REFUSED = [
    ({"type": "strin"}, "not a JSON Schema: at type: 'strin'"),
    ({"$schema": "https://example.com/mine", "type": "array"}, "draft 'https://example.com/mine' .* is not known"),
    ({"$ref": "https://example.com/order.json"}, "is not in this JSON Schema, and none is fetched"),
    ({"properties": {"a": {"items": {"$ref": "order.json"}}}}, "none is fetched"),
    ({"$ref": "#/$defs/order"}, "leads to nothing in this JSON Schema"),
    ({"items": {"pattern": "("}}, "'\\(' is not a 'regex'"),
    ({}, "accepts everything"),
    (True, "accepts everything"),
    ("absent.json", "absent.json cannot be read"),
    ("broken.json", "broken.json is not JSON: .* line 1"),
    ("latin.json", "latin.json is not UTF-8: byte 1"),
    ("list.json", "is an object"),
]


@pytest.mark.parametrize(("schema", "says"), SCHEMAS_REFUSED)
def test_a_schema_that_cannot_be_used_is_refused_before_launch(build, tmp_path, schema, says):
    (tmp_path / "broken.json").write_text('{"type"')
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(ConfigError, match=says):
        build({"type": "json_check", "schema": schema}, tmp_path)


def test_a_schema_file_is_read_beside_the_eval_and_is_part_of_the_version(build, tmp_path):
    keys = {"type": "json_check", "schema": "schemas/order.json"}
    file = tmp_path / "schemas" / "order.json"
    file.parent.mkdir()
    file.write_text('{"type": "array"}', "utf-8")
    first = build(keys, tmp_path).version_hash
    assert build(keys, tmp_path).version_hash == first
    file.write_text('{"type": "object"}', "utf-8")
    assert build(keys, tmp_path).version_hash != first
