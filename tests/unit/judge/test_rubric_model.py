"""rubric_model: every item its own verdict in one call, the rule over them, and the rubric in the prompt."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from pytest_verica.completion import Completion
from pytest_verica.request import Message
from tests.unit.judge.conftest import RUBRIC, Asked

LEVELS = ["absent", "partial", "full"]
THREE = {"a": "Says a.", "b": "Says b.", "c": "Says c."}


def met(**items: bool) -> str:
    return json.dumps({name: {"reasoning": f"about {name}", "met": found} for name, found in items.items()})


def levels(**items: str) -> str:
    return json.dumps({name: {"reasoning": f"about {name}", "level": found} for name, found in items.items()})


def test_the_rubric_stands_where_the_prompt_wants_it_and_each_item_reasons_first(judged):
    ask = Asked(met(greets=True, dated=False))
    result = judged(RUBRIC, ask)
    (request,) = ask.requests
    assert request.messages == (
        Message(
            "user",
            "Answer: Dear customer\nRubric:\n- greets: The answer greets the customer.\n"
            "- dated: It names the date 3 May.",
        ),
    )
    item = {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "met": {"type": "boolean"}},
        "required": ["reasoning", "met"],
        "additionalProperties": False,
    }
    assert request.answer.schema == {
        "type": "object",
        "properties": {"greets": item, "dated": item},
        "required": ["greets", "dated"],
        "additionalProperties": False,
    }
    assert list(request.answer.schema["properties"]["greets"]["properties"]) == ["reasoning", "met"]
    assert result.details == {
        "rubric": {
            "greets": {"reasoning": "about greets", "met": True},
            "dated": {"reasoning": "about dated", "met": False},
        },
        "met": 1,
        "items": 2,
    }
    assert result.explanation == "1 of 2 rubric items are met; met: greets; not met: dated; wanted: all"
    assert result.reasoning == "greets: met: about greets\ndated: not met: about dated"
    assert (result.calls, result.score, result.label) == (1, None, None)


RULES = [
    # pass, the items met, outcome
    ("all", (True, True, True), "pass"),
    ("all", (True, True, False), "fail"),
    ("any", (False, False, True), "pass"),
    ("any", (False, False, False), "fail"),
    ({"min": 2}, (True, False, True), "pass"),
    ({"min": 2}, (True, False, False), "fail"),
    ({"min": 3}, (True, True, True), "pass"),
]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(("rule", "found", "outcome"), RULES)
def test_the_rule_over_the_items(judged, rule, found, outcome, negate):
    answer = met(**dict(zip(THREE, found, strict=True)))
    result = judged(RUBRIC, Asked(answer), rubric=THREE, negate=negate, **{"pass": rule})
    assert result.outcome == ({"pass": "fail", "fail": "pass"}[outcome] if negate else outcome)
    assert result.details["met"] == sum(found)


def test_all_is_the_rule_where_none_is_written_and_python_may_write_pass_(judged):
    answer = met(a=True, b=False, c=False)
    assert judged(RUBRIC, Asked(answer), rubric=THREE).outcome == "fail"
    assert judged(RUBRIC, Asked(answer), rubric=THREE, pass_="any").outcome == "pass"


SCALES = [
    # met_from, the levels found, the items met
    (None, ("full", "partial", "absent"), ["a"]),
    ("full", ("full", "partial", "absent"), ["a"]),
    ("partial", ("full", "partial", "absent"), ["a", "b"]),
]


@pytest.mark.parametrize(("met_from", "found", "wanted"), SCALES)
def test_three_levels(judged, met_from, found, wanted):
    answer = levels(**dict(zip(THREE, found, strict=True)))
    ask = Asked(answer)
    result = judged(RUBRIC, ask, rubric=THREE, scale=LEVELS, met_from=met_from)
    assert ask.requests[0].answer.schema["properties"]["a"]["properties"]["level"]["enum"] == LEVELS
    assert [name for name, item in result.details["rubric"].items() if item["met"]] == wanted
    assert result.details["rubric"]["b"] == {"reasoning": "about b", "met": "b" in wanted, "level": "partial"}
    assert "a (full)" in result.explanation and "c (absent)" in result.explanation


SAMPLES = [
    # scale, what each answer finds about item a, whether it is met, how the spread reads (None: no majority)
    ("binary", [True, True, False], True, "met 2, not met 1"),
    ("binary", [False, True, False], False, "met 1, not met 2"),
    ("binary", [True, False], None, "met 1, not met 1"),
    (LEVELS, ["full", "absent", "partial"], False, "full 1, partial 1, absent 1"),  # the median is partial
    (LEVELS, ["full", "full", "absent"], True, "full 2, absent 1"),
    (LEVELS, ["full", "partial"], None, "full 1, partial 1"),
    (LEVELS, ["partial", "absent"], False, "partial 1, absent 1"),  # neither is met
]


@pytest.mark.parametrize(("scale", "found", "wanted", "spread"), SAMPLES)
def test_several_samples(judged, scale, found, wanted, spread):
    write = met if scale == "binary" else levels
    ask = Asked(*[write(a=each) for each in found])
    result = judged(RUBRIC, ask, rubric={"a": "Says a."}, scale=scale, samples=len(found))
    assert len({request.key for request in ask.requests}) == len(found) == result.calls
    assert spread in result.explanation
    if wanted is None:
        assert (result.outcome, result.error.kind) == ("error", "judge_no_majority")
        return
    assert (result.outcome, result.details["rubric"]["a"]["met"]) == ("pass" if wanted else "fail", wanted)
    assert result.details["rubric"]["a"]["spread"] == spread and len(result.details["samples"]) == len(found)


NO_VERDICTS = [
    (met(greets=True), "judge_schema", "the answer has no `dated`"),
    (met(greets=True, dated=True, kind=True), "judge_schema", "not asked for: 'kind'"),
    ('{"greets": true, "dated": false}', "judge_schema", "`greets` is true, not an object with `reasoning` and `met`"),
    (
        '{"greets": {"reasoning": "x", "met": "false"}, "dated": {"reasoning": "x", "met": true}}',
        "judge_schema",
        "`greets.met` is the text 'false', not true or false",
    ),
    (
        '{"greets": {"met": true}, "dated": {"reasoning": "x", "met": true}}',
        "judge_schema",
        "`greets` has no `reasoning`",
    ),
    (
        '{"greets": {"reasoning": "x", "met": 1}, "dated": {"reasoning": "x", "met": true}}',
        "judge_schema",
        "`greets.met` is the number 1",
    ),
    ("greets: met, dated: met", "judge_not_json", "not JSON"),
    (Completion(met(greets=True, dated=True), stop_reason="length"), "judge_truncated", "cut off"),
    (Completion(None, stop_reason="refusal", refusal="No."), "judge_refusal", "the judge refused: 'No.'"),
    (None, "judge_empty", "nothing"),
]


@pytest.mark.parametrize(("answer", "kind", "cause"), NO_VERDICTS)
def test_what_is_no_verdict_on_every_item_is_an_error(judged, answer, kind, cause):
    for rule in ("all", "any"):
        result = judged(RUBRIC, Asked(answer), **{"pass": rule})
        assert (result.outcome, result.error.kind) == ("error", kind)
        assert cause in result.error.message and result.error.message.startswith("The judge could not evaluate.")


def test_an_unknown_level_is_an_unknown_label(judged):
    result = judged(RUBRIC, Asked(levels(a="Full")), rubric={"a": "Says a."}, scale=LEVELS)
    assert result.error.kind == "judge_unknown_label"
    assert "`a.level` 'Full' is not one of: absent, partial, full" in result.error.message


def test_an_item_that_is_blank_for_the_case_is_na_before_any_call(judged):
    ask = Asked(met(greets=True, dated=True))
    result = judged(RUBRIC, ask, rubric={"greets": "Greets.", "said": "{{ blank }}"}, negate=True)
    assert (result.outcome, ask.requests, result.calls) == ("na", [], 0)
    assert "'said' is empty for this case" in result.explanation and result.judge_hash


def test_the_rubric_is_part_of_the_identity_and_the_rule_is_not(judge):
    same = {judge(RUBRIC, **more).judge_hash for more in ({}, {"pass": "any"}, {"name": "other"})}
    others = {
        judge(RUBRIC, **more).judge_hash
        for more in (
            {"rubric": {**RUBRIC["rubric"], "dated": "It names a date."}},
            {"rubric": dict(reversed(RUBRIC["rubric"].items()))},  # the judge reads them in another order
            {"scale": LEVELS},
            {"scale": LEVELS, "met_from": "partial"},
            {"samples": 3},
        )
    }
    assert len(same) == 1 and len(others) == 5 and not same & others


REFUSED = [
    ({"rubric": {}}, "rubric"),
    ({"rubric": {"a b": "Says a."}}, "becomes a key of the judge's answer"),
    ({"rubric": {"a": "  "}}, "`rubric.a` is empty"),
    ({"prompt": "Is it good? {{ output.text }}"}, "does not show the rubric to the judge: write {{ rubric }}"),
    ({"pass": {"min": 3}}, "wants 3 items met and the rubric has 2: this judge could not pass"),
    ({"pass": {"min": 0}}, "greater than or equal to 1"),
    ({"pass": "most"}, "pass"),
    ({"scale": ["no", "yes"]}, "scale"),
    ({"scale": ["no", "no", "yes"]}, "three levels that differ"),
    ({"scale": LEVELS, "met_from": "absent"}, "at the worst level nothing fails"),
    ({"scale": LEVELS, "met_from": "good"}, "'partial' or 'full' was expected"),
    ({"met_from": "met"}, "a binary scale has none"),
]


@pytest.mark.parametrize(("more", "says"), REFUSED)
def test_a_rubric_that_could_only_be_green_is_refused_before_launch(judge, more, says):
    with pytest.raises(ValidationError) as caught:
        judge(RUBRIC, **more)
    assert says in str(caught.value)


def test_a_column_called_rubric_is_hidden_in_the_prompt_only(judged):
    ask = Asked(met(a=True))
    judged(RUBRIC, ask, rubric={"a": "Says {{ rubric }}."}, columns={"rubric": "the column"})
    assert ask.requests[0].messages[0].content.endswith("Rubric:\n- a: Says the column.")
