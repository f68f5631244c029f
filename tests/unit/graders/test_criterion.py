"""Criteria: run conditions, negation, crashes, versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput, TemplateError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.grade import Grade
from pytest_verica.graders.criterion import make_criterion
from pytest_verica.graders.protocol import BuildContext, GraderKind
from pytest_verica.judge.registry import JUDGES, KINDS
from pytest_verica.output import Output

CONDITIONS = [
    # condition, value, kind of the case, whether the criterion is looked at, explanation where it is not
    ("equals", "refund", "refund", True, ""),
    ("equals", "refund", " refund ", True, ""),
    ("equals", "refund", "Refund", False, "only where {{ kind }} equals 'refund', and here it is 'Refund'"),
    ("equals", "refund", "", False, "and here it is empty"),
    ("equals", "caf\u00e9", "cafe\u0301", True, ""),
    ("equals", "5", 5.0, True, ""),
    ("equals", True, True, True, ""),
    ("not_equals", "refund", "sale", True, ""),
    ("not_equals", "refund", "refund", False, "does not equal 'refund'"),
    ("not_equals", "refund", None, True, ""),
    ("contains", "fun", "refund", True, ""),
    ("contains", "x", "refund", False, "contains 'x', and here it is 'refund'"),
    ("contains", "a", ["a", "b"], True, ""),
    ("contains", "a", ["ab"], False, "contains 'a'"),
    ("is_empty", None, "  ", True, ""),
    ("is_empty", None, None, True, ""),
    ("is_empty", None, "x", False, "is empty, and here it is 'x'"),
    ("has_value", None, "x", True, ""),
    ("has_value", None, 0, True, ""),
    ("has_value", None, "", False, "has a value, and here it is empty"),
]


@pytest.mark.parametrize(("condition", "value", "found", "looked_at", "says"), CONDITIONS)
def test_run_conditions(build, condition, value, found, looked_at, says):
    only_if = {"variable": "{{ kind }}", "condition": condition, **({} if value is None else {"value": value})}
    keys = {"type": "text_check", "contains": "a", "only_if": only_if}
    case = Case("1", {"kind": found})
    assert build(keys).grade(case, Output("a")).outcome == ("pass" if looked_at else "na")
    assert (build(keys).precheck(case, Output("a")) is None) is looked_at
    for otherwise in ("na", "pass", "fail"):
        result = build({**keys, "otherwise": otherwise, "negate": True}).grade(case, Output("a"))
        assert result.outcome == ("fail" if looked_at else otherwise)  # what a condition decides is not negated
        assert result.evaluated is looked_at
        assert says in result.explanation


OF_OUTPUT = [
    ("has_value", '{"kind": "x"}', "pass"),
    ("has_value", '{"kind": ""}', "na"),
    ("has_value", "{}", "na"),
    ("has_value", "prose", "na"),
    ("is_empty", "prose", "pass"),
    ("is_empty", '{"kind": "x"}', "na"),
    ("equals", '{"kind": "x"}', "pass"),
    ("equals", "{}", "fail"),
    ("equals", "prose", "fail"),
]


@pytest.mark.parametrize(("condition", "output", "outcome"), OF_OUTPUT)
@pytest.mark.parametrize("otherwise", ["na", "pass"])
def test_a_condition_may_read_the_output(grade, condition, output, outcome, otherwise):
    only_if = {"variable": "{{ output.json.kind }}", "condition": condition}
    only_if |= {"value": "x"} if condition == "equals" else {}
    keys = {"type": "text_check", "length": {"max": 99}, "only_if": only_if, "otherwise": otherwise}
    result = grade(keys, output)
    assert result.outcome == (otherwise if outcome == "na" else outcome)
    if outcome == "fail":
        assert "the run condition could not be read" in result.explanation and result.evaluated is False


@pytest.mark.parametrize(
    ("only_if", "says"),
    [
        ({"variable": "{{ kind }}", "condition": "equals"}, "needs a `value`"),
        ({"variable": "{{ kind }}", "condition": "is_empty", "value": "x"}, "takes no `value`"),
    ],
)
def test_conditions_refused_before_launch(build, only_if, says):
    with pytest.raises(ConfigError, match=says):
        build({"type": "text_check", "contains": "a", "only_if": only_if})


class Says:
    """A grader that returns what it was given, or raises it."""

    def __init__(self, answer):
        self.answer = answer

    def grade(self, case, output):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def criterion_that_says(answer, **keys):
    kind = GraderKind("says", CriterionConfig, lambda config, context: Says(answer), "inline", "")
    config = CriterionConfig(name="it", type="says", **keys)
    return make_criterion(config, {"says": kind}, BuildContext(Path(".")))


grades = st.one_of(
    st.builds(Grade.of, st.booleans(), st.text()),
    st.builds(Grade.na, st.text()),
    st.builds(Grade.failed_to_judge, st.text(), st.text()),
)


@given(grades)
def test_negation_swaps_pass_and_fail_and_nothing_else(given_grade):
    plain = criterion_that_says(given_grade).grade(Case("1", {}), Output(""))
    negated = criterion_that_says(given_grade, negate=True).grade(Case("1", {}), Output(""))
    assert plain == given_grade
    assert negated.outcome == {"pass": "fail", "fail": "pass"}.get(plain.outcome, plain.outcome)
    assert replace(negated.negated(), explanation=plain.explanation) == plain


CRASHES = [
    (ZeroDivisionError("oops"), "error", "grader_error", "ZeroDivisionError: oops"),
    (TemplateError("no such thing"), "error", "config_error", "no such thing"),
    (RecursionError(), "error", "grader_error", "RecursionError"),
    (MissingOutput("nothing there"), "fail", None, "nothing there"),
    (None, "error", "grader_error", "returned a NoneType; a Grade was expected"),
    (True, "error", "grader_error", "returned a bool"),
]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(("answer", "outcome", "kind", "says"), CRASHES)
def test_a_grader_that_crashes_has_judged_nothing(answer, outcome, kind, says, negate):
    result = criterion_that_says(answer, negate=negate).grade(Case("1", {}), Output(""))
    assert result.outcome == outcome
    assert says in result.explanation
    if isinstance(answer, Exception) and kind:
        assert result.error.kind == kind
        assert "Traceback" in result.error.raw


NAMES = [("tone", "tone"), ("is it polite?", "is_it_polite_"), ("a::b[c]", "a__b_c_"), ("año 2", "año_2")]


@pytest.mark.parametrize(("name", "id"), NAMES)
def test_ids_are_safe_in_node_ids(build, name, id):
    assert build({"type": "text_check", "name": name, "contains": "a"}).id == id


def test_the_version_follows_the_configuration(build):
    def version(**keys):
        return build({"type": "text_check", "contains": "a", **keys}).version_hash

    assert version() == version(ignore_case=False, negate=False)  # what is written out as the default changes nothing
    assert len({version(), version(ignore_case=True), version(negate=True), version(contains="b")}) == 4


def test_an_unknown_type_names_the_known_ones():
    with pytest.raises(ConfigError, match="unknown type 'text_chek'; known types: text_check, number_check"):
        make_criterion(CriterionConfig(name="a", type="text_chek"), KINDS, BuildContext(Path(".")))


def test_a_judge_is_not_graded(build):
    keys = {
        "prompt": "x",
        "model": {"provider": "scripted", "name": "m"},
        "labels": ["a", "b"],
        "passing_labels": ["a"],
    }
    with pytest.raises(TypeError, match="asks a model"):
        build({"type": "label_model", **keys}).grade(Case("1", {}), Output(""))
    assert JUDGES and all(not KINDS[name].free for name in JUDGES)
