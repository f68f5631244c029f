"""What is looked at: every element, some, none; De Morgan; and what is not there."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.output import Output


def items(match: str, **more):
    return {"type": "text_check", "target": {"json_items": "items", "match": match, **more}}


QUANTIFIED = [
    # match, items, outcome, explanation
    ("all", ["a", "a"], "pass", "all 2 elements pass; the first: `items[0]` is 'a'"),
    ("all", ["a", "b"], "fail", "1 of 2 elements fail; the first: `items[1]` is 'b'; expected 'a'"),
    ("any", ["b", "a"], "pass", "1 of 2 elements satisfy the check; the first: `items[1]`"),
    ("any", ["b"], "fail", "none of 1 elements satisfies"),
    ("none", ["b"], "pass", "none of 1 elements satisfies"),
    ("none", ["b", "a"], "fail", "1 of 2 elements satisfy the check"),
    ("all", [], "fail", "nothing was checked (`allow_empty: true` accepts that)"),
    ("any", [], "fail", "no elements"),
    ("none", [], "pass", "no elements"),
]


@pytest.mark.parametrize(("match", "values", "outcome", "says"), QUANTIFIED)
def test_quantifiers(grade, match, values, outcome, says):
    result = grade({**items(match), "equals": "a"}, json.dumps({"items": values}))
    assert result.outcome == outcome
    assert says in result.explanation


def test_an_empty_array_may_be_allowed(grade):
    result = grade({**items("all", allow_empty=True), "equals": "a"}, '{"items": []}')
    assert (result.outcome, "`allow_empty` accepts" in result.explanation) == ("pass", True)


MISSING = [
    ('{"items": 3}', {}, "`items` is the number 3; an array was expected"),
    ('{"things": []}', {}, "no `items`: the top is an object with key things"),
    ("[]", {}, "`items` has no elements: nothing was checked"),
    ("not json", {}, "the output is not JSON: Expecting value at line 1, column 1; it begins 'not json'"),
    ('{"items": [{"n": "a"}, {"m": 1}]}', {"each": "n"}, "`items[1]` has no `n`"),
]


@pytest.mark.parametrize(("output", "more", "says"), MISSING)
@pytest.mark.parametrize("negate", [False, True])
def test_what_is_not_there_fails_also_when_negated(grade, output, more, says, negate):
    result = grade({**items("all", **more), "equals": "a", "negate": negate}, output)
    assert result.outcome == "fail"
    assert says in result.explanation


PLURAL = [
    ({"json_path": "orders.items.sku"}, "pass", "all 3 elements"),
    ({"json_items": "orders.items", "each": "sku"}, "pass", "all 3 elements"),
    ({"json_items": "orders.items", "each": "tags"}, "fail", "has no `tags`"),
    ({"json_items": "orders", "each": "items.sku"}, "pass", "all 3 elements"),
    ({"json_path": "orders[0].items[-1].sku"}, "pass", "is 'a'"),
    ({"json_items": "orders[1].items"}, "fail", 'is \'{"sku":"a"}\''),
]


@pytest.mark.parametrize(("target", "outcome", "says"), PLURAL)
def test_a_path_through_arrays_means_every_element(grade, target, outcome, says):
    output = json.dumps({"orders": [{"items": [{"sku": "a"}, {"sku": "a"}]}, {"items": [{"sku": "a"}]}]})
    result = grade({"type": "text_check", "target": target, "equals": "a"}, output)
    assert result.outcome == outcome
    assert says in result.explanation


arrays = st.lists(st.sampled_from(["a", "b", "aa"]), max_size=4)


@given(arrays)
def test_de_morgan(grade, values):
    output = Output(json.dumps({"items": values}))

    def passed(match: str, *, negate: bool = False, operation: str = "contains") -> bool | None:
        return grade({**items(match), operation: "a", "negate": negate}, output).passed

    assert passed("none") is (not passed("any"))
    assert passed("any", negate=True) is passed("none")
    assert passed("none", negate=True) is passed("any")
    # "not all" is "some not", also on an empty array, where nothing was checked either way
    assert passed("all", negate=True) is passed("any", operation="not_contains")
    assert passed("all") is (bool(values) and passed("none", operation="not_contains"))


@given(arrays, arrays)
def test_quantifiers_over_a_longer_array(grade, one, more):
    def passed(match: str, values: list[str]) -> bool | None:
        return grade({**items(match), "contains": "a"}, json.dumps({"items": values})).passed

    if passed("any", one):
        assert passed("any", one + more)
    if passed("none", one + more):
        assert passed("none", one)
    assert passed("all", one + more) is (bool(one + more) and all("a" in value for value in one + more))
