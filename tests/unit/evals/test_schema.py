"""The JSON Schema of an eval file: an editor must accept what loads, and underline what does not."""

from __future__ import annotations

import textwrap
from typing import Any, Literal

import jsonschema
import pytest

from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.document import parse_document
from pytest_verica.evals.schema import eval_schema
from tests.unit.evals.conftest import CONFIGS, Load, Told
from tests.unit.evals.test_load import ONE, START, WHOLE

SCHEMA = eval_schema(CONFIGS)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def _valid(text: str) -> bool:
    return VALIDATOR.is_valid(parse_document(textwrap.dedent(text), "shop.eval.yaml").value)


def _with(criterion: str) -> str:
    return f"{START}criteria:\n  - {{name: a, {criterion}}}\n"


GOOD = [
    WHOLE,
    START + ONE,
    START + ONE + "gate: 0.9\n",
    START + ONE + "gate: {pass_rate: 0.9, max_errors: 0.02, confidence: 0.95}\n",
    "golden_set: {python: 'm:rows'}\ntarget: {record: out}\n" + ONE,
    "golden_set: g.csv\ntarget: {python: 'shop.bot:answer', timeout: 3}\n" + ONE,
    "golden_set: g.csv\ntarget: {http: {url: 'http://127.0.0.1', headers: {X-Row: '{{ id }}'}, json: {q: [1]}}}\n"
    + ONE,
    _with("type: text_check, contains: [please, thanks], match: any, ignore_case: true"),
    _with("type: text_check, equals: 7"),
    _with("type: text_check, equals: true"),
    _with("type: text_check, length: {max: 200, unit: words}"),
    _with("type: text_check, operation: contains, value: please, target: {json_path: a.b}"),
    _with("type: text_check, contains: x, target: response"),
    _with("type: number_check, comparison: equals, expected: '{{ amount }}'"),
    _with("type: number_check, between: [1, 2]"),
    _with("type: number_check, equals: 3, target: {json_path: total}"),
    _with("type: json_check, valid: true"),
    _with("type: json_check, required_keys: [a, b.c]"),
    _with("type: json_check, schema: {type: object}"),
    _with("type: json_check, array_length: {json_path: items, min: 1}"),
    _with("type: python_check, python: 'shop.checks:total', pass_at: 0.5"),
    _with("type: string_check, operation: equals, value: x"),
    _with(
        "type: text_check, contains: x, only_if: {variable: '{{ kind }}', condition: equals, value: 3}, otherwise: pass"
    ),
    _with("type: label_model, prompt: x, labels: [yes, no], passing_labels: [yes], model: {provider: replay, name: m}"),
    _with(
        "type: label_model, prompt: {user: x}, labels: [a, b], passing_labels: [a], model: {provider: replay, name: m}"
    ),
]


@pytest.mark.parametrize("text", GOOD)
def test_what_loads_is_valid(load: Load, text: str) -> None:
    load(text)
    errors = list(VALIDATOR.iter_errors(parse_document(text, "shop.eval.yaml").value))
    assert not errors


BAD = [
    START + ONE + "gat: 0.9\n",
    START + "criteria: []\n",
    START + "criteria: [please]\n",
    START + ONE + "gate: 90\n",
    START + ONE + "repeat: 0\n",
    "golden_set: g.csv\ntarget: {column: a, stat: b}\n" + ONE,
    "golden_set: g.csv\ntarget: {tool_calls: a}\n" + ONE,
    "golden_set: g.csv\ntarget: {http: {method: GET}}\n" + ONE,
    "golden_set: {}\ntarget: {column: a}\n" + ONE,
    "golden_set: g.csv\nprompt: {user: x}\nmodel: {provider: openai}\n" + ONE,
    "golden_set: g.csv\nprompt: {user: x}\n" + ONE,
    _with("type: text_chek, contains: x"),
    _with("contains: x"),
    _with("type: text_check, contians: x"),
    _with("type: json_check, contains: x"),
    f"{START}criteria: [{{type: text_check, contains: x}}]\n",
    _with("type: label_model, prompt: x, labels: [a, b], passing_labels: [a], model: {provider: replay}"),
    "[a]",
]


@pytest.mark.parametrize("text", BAD)
def test_what_is_underlined_does_not_load(told: Told, text: str) -> None:
    assert told(text)
    assert not _valid(text)


@pytest.mark.parametrize("text", [START, ONE, ONE + "target: {column: a}\n", "golden_set: g.csv\n" + ONE])
def test_a_file_says_what_is_evaluated_on_what_by_what(text: str) -> None:
    assert not _valid(text)


@pytest.mark.parametrize(
    "part",
    [
        "repeat: 3",
        "model: {params: {seed: 2}}",
        "target: {http: {headers: {X-Row: '1'}}}",
        "target: {tool_calls: calls}",
        "gate: {min_graded: 3}",
    ],
)
def test_a_file_that_extends_another_may_hold_a_part(part: str) -> None:
    assert _valid(f"extends: base.eval.yaml\n{part}\n")
    assert not _valid(part)
    assert not _valid(f"extends: base.eval.yaml\n{part}\ngat: 1\n")


def test_it_is_a_schema_without_references_to_nowhere() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert {reference.rpartition("/")[2] for reference in _references(SCHEMA)} <= set(SCHEMA["$defs"])


def _references(value: Any) -> list[str]:
    if isinstance(value, list):
        return [found for inner in value for found in _references(inner)]
    if not isinstance(value, dict):
        return []
    own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
    return own + [found for inner in value.values() for found in _references(inner)]


def test_kinds_of_a_users_own_are_in_it() -> None:
    class HouseStyle(CriterionConfig):
        type: Literal["house_style"]
        tone: str

    validator = jsonschema.Draft202012Validator(eval_schema({**CONFIGS, "house_style": HouseStyle}))
    value = parse_document(_with("type: house_style, tone: warm"), "shop.eval.yaml").value
    assert validator.is_valid(value)
    assert not VALIDATOR.is_valid(value)
    value["criteria"][0]["tone"] = 7
    assert not validator.is_valid(value)
