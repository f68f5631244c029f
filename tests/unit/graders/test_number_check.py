"""number_check: comparisons, targets, tolerances, and numbers found in real models' prose."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.output import Output

ORDER = '{"total": 121.0, "subtotal": "100", "items": [{"price": 10.1}, {"price": 20.2}], "none": [], "bad": [1, "x"]}'

VERDICTS: list[tuple[dict[str, Any], str | None, dict[str, Any], str, str]] = [
    ({"comparison": "equals", "expected": 42}, "42", {}, "pass", "the response is 42; wanted equal to 42"),
    ({"equals": 42}, " 42.0 ", {}, "pass", "is 42"),
    ({"equals": "{{ n }}"}, "4.2e1", {"n": "42"}, "pass", "is 42"),
    ({"equals": "{{ n }}"}, "42", {"n": 42}, "pass", "is 42"),
    ({"equals": 42}, "41", {}, "fail", "the response is 41; wanted equal to 42"),
    ({"equals": 0.3}, "0.30000000000000004", {}, "pass", "0.3"),
    ({"equals": 12345678901234567890}, "12345678901234567891", {}, "fail", "12345678901234567891"),
    ({"not_equals": 42}, "41", {}, "pass", "not equal to 42"),
    ({"not_equals": 42}, "42.0", {}, "fail", "not equal to 42"),
    ({"greater": 1}, "1", {}, "fail", "greater than 1"),
    ({"greater": 1}, "1.01", {}, "pass", "greater than 1"),
    ({"greater_or_equal": 1}, "1", {}, "pass", "at least 1"),
    ({"less": 1}, "1", {}, "fail", "less than 1"),
    ({"less_or_equal": 1}, "1", {}, "pass", "at most 1"),
    ({"between": [1, "{{ high }}"]}, "3", {"high": "3"}, "pass", "between 1 and 3"),
    ({"between": [1, 3]}, "3.5", {}, "fail", "between 1 and 3"),
    ({"comparison": "between", "expected": [1, 3]}, "1", {}, "pass", "between 1 and 3"),
    ({"equals": 10, "tolerance": 0.5}, "10.5", {}, "pass", "equal to 10 (± 0.5)"),
    ({"equals": 10, "tolerance": 0.5}, "10.51", {}, "fail", "(± 0.5)"),
    ({"equals": 200, "tolerance_percent": 1}, "198", {}, "pass", "(± 1 %)"),
    ({"equals": -200, "tolerance_percent": 1}, "-202.1", {}, "fail", "(± 1 %)"),
    ({"not_equals": 10, "tolerance": 0.5}, "10.5", {}, "fail", "not equal to 10"),
    # text
    ({"equals": 1234.5}, "1,234.50", {}, "pass", "1234.5"),
    ({"equals": 1234.5, "number_format": "es"}, "1.234,50 €", {}, "pass", "1234.5"),
    ({"equals": "1.234,50", "number_format": "es"}, "1.234,50", {}, "pass", "1234.5"),
    ({"equals": 1234, "number_format": "auto"}, "1,234", {}, "fail", "ambiguous"),
    ({"equals": 18, "extract": "last"}, "She makes 9 * 2 = $18 every day.", {}, "pass", "is 18"),
    ({"equals": 9, "extract": "first"}, "She makes 9 * 2 = $18 every day.", {}, "pass", "is 9"),
    (
        {"equals": 9, "extract": "only"},
        "She makes 9 * 2 = $18 every day.",
        {},
        "fail",
        "several numbers in it: 9, 2, 18",
    ),
    ({"equals": 9, "extract": "last"}, "nine", {}, "fail", "'nine', with no number in it"),
    ({"equals": 9}, "nine", {}, "fail", "the response is 'nine', not a number"),
    ({"equals": 1}, "true", {}, "fail", "not a number"),
    ({"equals": 1}, "NaN", {}, "fail", "not a number"),
    ({"equals": 1}, "", {}, "fail", "empty"),
    ({"equals": 1}, None, {}, "fail", "the output has no text"),
    ({"equals": 1}, "1" * 1_000_000, {}, "fail", "11111…"),
    ({"equals": 1}, "\ud800\x00", {}, "fail", r"\ud800\x00"),
    ({"equals": 42}, "٤٢", {}, "pass", "is 42"),
    # other targets
    ({"equals": 121, "target": {"json_path": "total"}}, ORDER, {}, "pass", "`total` is 121"),
    ({"equals": 100, "target": {"json_path": "subtotal"}}, ORDER, {}, "pass", "`subtotal` is 100"),
    ({"greater": {"json_path": "subtotal"}, "target": {"json_path": "total"}}, ORDER, {}, "pass", "greater than 100"),
    ({"equals": 1, "target": {"json_path": "tax"}}, ORDER, {}, "fail", "no `tax`"),
    ({"equals": {"json_path": "tax"}, "target": {"json_path": "total"}}, ORDER, {}, "fail", "no `tax`"),
    ({"equals": {"json_path": "bad[1]"}, "target": {"json_path": "total"}}, ORDER, {}, "fail", "the expected value"),
    ({"equals": 1, "target": {"json_path": "total"}}, "12", {}, "fail", "no `total`"),
    ({"equals": 1, "target": {"json_path": "total"}}, "a lot", {}, "fail", "the output is not JSON"),
    ({"greater": 10, "target": {"json_items": "items", "each": "price"}}, ORDER, {}, "pass", "all 2 elements"),
    (
        {"greater": 15, "target": {"json_items": "items", "each": "price"}},
        ORDER,
        {},
        "fail",
        "`price` of `items[0]` is 10.1",
    ),
    ({"greater": 15, "target": {"json_path": "items.price", "match": "any"}}, ORDER, {}, "pass", "1 of 2 elements"),
    ({"equals": 30.3, "target": {"aggregate": "sum", "json_path": "items.price"}}, ORDER, {}, "pass", "the sum of"),
    ({"equals": 15.15, "target": {"aggregate": "avg", "json_path": "items.price"}}, ORDER, {}, "pass", "the avg of"),
    ({"equals": 0, "target": {"aggregate": "sum", "json_path": "none"}}, ORDER, {}, "pass", "is 0"),
    ({"equals": 0, "target": {"aggregate": "count", "json_path": "none"}}, ORDER, {}, "pass", "is 0"),
    ({"equals": 0, "target": {"aggregate": "max", "json_path": "none"}}, ORDER, {}, "fail", "`none` has no elements"),
    ({"equals": 1, "target": {"aggregate": "sum", "json_path": "bad"}}, ORDER, {}, "fail", "its element 1 is 'x'"),
    ({"equals": 1, "target": {"aggregate": "sum", "json_path": "total"}}, ORDER, {}, "fail", "not an array"),
    ({"equals": 5, "value": "{{ n }}"}, "", {"n": "5"}, "pass", "the value is 5"),
    ({"equals": 5, "value": "{{ n }}"}, "", {"n": ""}, "na", "no value to check"),
    ({"equals": 121, "target": {"json_path": "total"}}, f"```json\n{ORDER}\n```", {}, "pass", "fence"),
    # nothing expected, or something that is no number
    ({"equals": "{{ n }}"}, "42", {"n": ""}, "na", "no expected value"),
    ({"between": ["{{ n }}", 3]}, "42", {"n": None}, "na", "no expected value"),
    ({"equals": "{{ n }}"}, "42", {"n": "many"}, "error", "the expected value '{{ n }}' is 'many', not a number"),
    ({"between": ["{{ n }}", 3]}, "42", {"n": 5}, "error", "reversed"),
    ({"equals": "{{ output.json.total }}"}, "x", {}, "fail", "JSON"),
]


@pytest.mark.parametrize(("keys", "output", "columns", "outcome", "says"), VERDICTS)
def test_verdicts(grade, keys, output, columns, outcome, says):
    result = grade({"type": "number_check", **keys}, output, columns)
    assert (result.outcome, result.score, result.label) == (outcome, None, None)
    assert says in result.explanation
    assert len(result.explanation) < 450 and result.explanation.isprintable()
    if outcome == "error":
        assert result.error.kind == "bad_expected"


REFUSED = [
    ({}, "exactly one comparison; found none; known: equals"),
    ({"equals": 1, "less": 2}, "found equals and less"),
    ({"comparison": "equals"}, "needs `expected`"),
    ({"comparison": "equals", "expected": 1, "less": 2}, "found equals and less"),
    ({"equals": 1, "expected": 1}, "keep one"),
    ({"equals": True}, "not numbers"),
    ({"equals": float("nan")}, "equals"),
    ({"equals": [1, 2]}, "`between` takes two bounds"),
    ({"between": 1}, "`between` takes two bounds"),
    ({"between": [1]}, "found 1"),
    ({"equals": {"path": "a"}}, "{json_path: …}"),
    ({"less": 1, "tolerance": 1}, "goes with equals and not_equals, not with `less`"),
    ({"equals": 1, "tolerance": -1}, "tolerance"),
    ({"equals": 1, "tolerance": True}, "tolerance"),
    ({"equals": 1, "tolerance": float("inf")}, "tolerance"),
    ({"equals": 1, "tolerance": 1, "tolerance_percent": 1}, "not both"),
    ({"equals": 1, "target": {"aggregate": "sum"}}, "json_path"),
    ({"equals": 1, "target": {"aggregate": "median", "json_path": "a"}}, "median"),
    ({"equals": 1, "extract": "middle"}, "extract"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED)
def test_refused_before_launch(build, keys, says):
    with pytest.raises(ValidationError) as caught:
        build({"type": "number_check", **keys})
    assert says in str(caught.value)


REFUSED_WHEN_BUILT = [
    ({"equals": "many"}, "the expected value is 'many', not a number"),
    ({"equals": "1,234", "number_format": "auto"}, "ambiguous"),
    ({"between": [3, 1]}, "the lower bound 3 is above 1"),
]


@pytest.mark.parametrize(("keys", "says"), REFUSED_WHEN_BUILT)
def test_what_can_never_be_compared_is_refused_before_launch(build, keys, says):
    with pytest.raises(ConfigError, match=says):
        build({"type": "number_check", **keys})


finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(finite, finite, st.floats(0, 100))
def test_opposite_comparisons_disagree(grade, number, expected, tolerance):
    pairs = [
        ({"equals": expected, "tolerance": tolerance}, {"not_equals": expected, "tolerance": tolerance}),
        ({"greater": expected}, {"less_or_equal": expected}),
        ({"less": expected}, {"greater_or_equal": expected}),
    ]
    for one, other in pairs:
        outcomes = {grade({"type": "number_check", **keys}, repr(number)).outcome for keys in (one, other)}
        assert outcomes == {"pass", "fail"}


MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


@pytest.mark.parametrize("model", MODELS)
def test_the_last_number_reproduces_the_published_verdicts_of_gsm8k(build, shared_data, model):
    """Published for each solution with openai/grade-school-math: is it correct? See SOURCES.md beside the data."""
    folder = shared_data / "gsm8k"
    criterion = build({"type": "number_check", "equals": "{{ answer }}", "extract": "last"})
    rows = [json.loads(line) for line in (folder / "model_solutions_200.jsonl").read_text("utf-8").splitlines()]
    found = [criterion.grade(Case(str(row["index"]), row), Output(row[model]["solution"])).passed for row in rows]
    assert found == [row[model]["is_correct"] for row in rows]
    assert sum(found) == json.loads((folder / "expected.json").read_text("utf-8"))["sample_correct"][model]
