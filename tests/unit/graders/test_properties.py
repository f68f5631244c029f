"""What holds for every grader: negation, quantifiers, explanations. Tried on the samples of every kind."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.case import Case
from pytest_verica.graders.registry import GRADERS
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from tests.unit.graders.samples import SAMPLES, Sample

EVERY = pytest.mark.parametrize("sample", SAMPLES, ids=str)
SWAPPED = {"pass": "fail", "fail": "pass", "na": "na", "error": "error"}


def test_every_kind_has_samples() -> None:
    assert {sample.keys["type"] for sample in SAMPLES} == set(GRADERS), "write one in samples.py"


@EVERY
def test_it_can_pass_and_it_can_fail(grade, sample: Sample) -> None:
    assert grade(sample.keys, sample.passes, sample.columns).outcome == "pass"
    assert grade(sample.keys, sample.fails, sample.columns).outcome == "fail"


@EVERY
def test_negation_swaps_pass_and_fail_only(grade, sample: Sample) -> None:
    for output in (sample.passes, sample.fails):
        plain = grade(sample.keys, output, sample.columns)
        negated = grade({**sample.keys, "negate": True}, output, sample.columns)
        assert negated.outcome == SWAPPED[plain.outcome]
        assert negated.passed is (not plain.passed)
        assert negated.explanation == f"negated: {plain.explanation}"
        assert (negated.score, negated.label) == (plain.score, plain.label)


@EVERY
def test_what_is_not_there_is_never_a_pass_negated_or_not(grade, sample: Sample) -> None:
    """No text, no calls, no state, no trace: a fail or an error."""
    if sample.keys["type"] == "python_check":
        pytest.skip("the user's function decides what an empty output is")
    for negate in (False, True):
        result = grade({**sample.keys, "negate": negate}, Output(), sample.columns)
        assert result.outcome in ("fail", "error"), result.explanation


@EVERY
def test_na_and_error_are_not_negated(grade, sample: Sample) -> None:
    never = {"variable": "{{ kind }}", "condition": "equals", "value": "other"}
    for negate in (False, True):
        keys = {**sample.keys, "negate": negate, "only_if": never}
        assert grade(keys, sample.passes, {**sample.columns, "kind": "this"}).outcome == "na"


@EVERY
def test_the_explanation_says_what_was_found(grade, sample: Sample) -> None:
    for output in (sample.passes, sample.fails):
        said = grade(sample.keys, output, sample.columns).explanation
        assert said and said.isprintable() and len(said) < 450
    assert sample.found in grade(sample.keys, sample.fails, sample.columns).explanation


@EVERY
def test_grading_changes_nothing_and_says_the_same_again(build, sample: Sample) -> None:
    criterion, case = build(sample.keys), Case("1", dict(sample.columns))
    for output in (sample.passes, sample.fails):
        before = json.dumps(output.to_json(), sort_keys=True)
        first, second = (criterion.grade(case, output) for _ in range(2))
        assert dataclasses.replace(first, duration_s=0) == dataclasses.replace(second, duration_s=0)
        assert json.dumps(output.to_json(), sort_keys=True) == before


@EVERY
def test_a_verdict_is_json(grade, sample: Sample) -> None:
    for output in (sample.passes, sample.fails):
        json.dumps(grade(sample.keys, output, sample.columns).to_json(), allow_nan=False)


# Quantifiers: every kind whose target may be the elements of an array.

ELEMENTS: list[tuple[dict[str, Any], dict[str, Any], st.SearchStrategy[Any]]] = [
    # keys, the keys of the opposite, elements
    ({"contains": "a"}, {"not_contains": "a"}, st.text("ab", max_size=3)),
    ({"equals": "a"}, {"not_equals": "a"}, st.sampled_from(["a", "A", "b", " a"])),
    ({"matches": "^a"}, {"not_matches": "^a"}, st.text("ab", max_size=3)),
    ({"equals": 2}, {"not_equals": 2}, st.sampled_from([1, 2, 2.0, "2", 3])),
    ({"greater": 2}, {"less_or_equal": 2}, st.integers(0, 4)),
    ({"less": 2}, {"greater_or_equal": 2}, st.floats(0, 4)),
]


@pytest.mark.parametrize(("keys", "opposite", "elements"), ELEMENTS, ids=lambda value: str(value)[:30])
@given(data=st.data())
def test_de_morgan(build, keys: dict[str, Any], opposite: dict[str, Any], elements: Any, data: st.DataObject) -> None:
    kind = "number_check" if isinstance(next(iter(keys.values())), int) else "text_check"
    values = data.draw(st.lists(elements, max_size=4))

    def passed(rule: dict[str, Any], match: str, *, of: list[Any] = values, negate: bool = False) -> bool | None:
        target = {"json_items": "items", "match": match, "allow_empty": True}
        criterion = build({"type": kind, "target": target, "negate": negate, **rule})
        return criterion.grade(Case("1", {}), Output(json.dumps({"items": of}))).passed

    # not all = some not; not some = all not = none
    assert passed(keys, "all", negate=True) is passed(opposite, "any")
    assert passed(keys, "any", negate=True) is passed(opposite, "all") is passed(keys, "none")
    assert passed(keys, "none", negate=True) is passed(keys, "any")
    for match in ("all", "any", "none"):
        assert passed(keys, match) is passed(keys, match, of=values[::-1])


@given(st.sampled_from(["contains", "not_contains"]), st.lists(st.sampled_from("abc"), min_size=1), st.text("abc"))
def test_de_morgan_of_a_list_of_values(grade, operation: str, values: list[str], text: str) -> None:
    other = {"contains": "not_contains", "not_contains": "contains"}[operation]
    every = grade({"type": "text_check", operation: values, "match": "all"}, text)
    some_not = grade({"type": "text_check", other: values, "match": "any"}, text)
    assert every.passed is (not some_not.passed)


@given(
    st.decimals(-1000, 1000, places=3).map(float),
    st.decimals(-1000, 1000, places=3).map(float),
    st.decimals(0, 10, places=2).map(float),
)
def test_a_tolerance_is_symmetric(grade, one: float, other: float, tolerance: float) -> None:
    def passed(number: float, expected: float) -> bool | None:
        return grade({"type": "number_check", "equals": expected, "tolerance": tolerance}, repr(number)).passed

    assert passed(one, other) is passed(other, one)


def test_kinds_that_look_at_elements_are_all_among_these() -> None:
    looking = {
        name
        for name in GRADERS
        if "target" in KINDS[name].config.model_fields and "match" in str(KINDS[name].config.model_json_schema())
    }
    assert looking - {"tool_check"} == {"text_check", "number_check"}
