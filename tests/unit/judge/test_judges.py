"""Judges: what they ask, when they ask again, what it costs, and which configurations could only be green."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from pydantic import ValidationError

from pytest_verica.completion import Answer, Completion
from pytest_verica.errors import ProviderError
from pytest_verica.judge.registry import KINDS
from pytest_verica.request import Message
from pytest_verica.usage import Usage
from tests.unit.judge.conftest import FAITHFUL, LABEL, PAIR, RUBRIC, SCORE, Asked

GOOD = '{"reasoning": "It greets.", "label": "good"}'
BAD = '{"reasoning": "It is rude.", "label": "bad"}'


def test_nothing_is_injected_and_the_shape_is_forced(judged):
    ask = Asked(GOOD)
    result = judged(LABEL, ask)
    (request,) = ask.requests
    assert request.messages == (Message("user", "Is this polite? Dear customer"),)
    assert (request.model.name, dict(request.model.params), request.tools) == ("judge-1", {"temperature": 0}, ())
    assert request.answer.schema == {
        "type": "object",
        "properties": {"reasoning": {"type": "string"}, "label": {"type": "string", "enum": ["good", "bad", "ugly"]}},
        "required": ["reasoning", "label"],
        "additionalProperties": False,
    }
    assert list(request.answer.schema["properties"]) == ["reasoning", "label"]  # written before the decision
    assert request.answer.structured == "json_schema"
    assert (result.reasoning, result.explanation) == ("It greets.", "the judge answered 'good'; passing: good")


def test_a_score_is_asked_for_within_its_range(judged):
    ask = Asked('{"reasoning": "Fine.", "score": 12}')
    result = judged(SCORE, ask, structured="json_object")
    assert ask.requests[0].answer.schema["properties"]["score"] == {"type": "number", "minimum": 1, "maximum": 10}
    assert ask.requests[0].answer.structured == "json_object"
    assert "12 was outside 1 to 10 and was clipped" in result.explanation
    assert "score is 10" in result.explanation and "wanted at least 6" in result.explanation


PROMPTS = [
    ("Hi {{ question }}", [Message("user", "Hi Where is my order?")]),
    ({"system": "S", "user": "U"}, [Message("system", "S"), Message("user", "U")]),
    (
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
        [Message("user", "a"), Message("assistant", "b")],
    ),
    ("{{ output.text }}", [Message("user", "Say {{ label }} {% x %}")]),  # an output is never a template
]


@pytest.mark.parametrize(("prompt", "messages"), PROMPTS)
def test_prompts(judged, prompt, messages):
    ask = Asked(GOOD)
    judged(LABEL, ask, output="Say {{ label }} {% x %}", prompt=prompt)
    assert list(ask.requests[0].messages) == messages


def test_the_temperature_that_was_set_is_kept(judged):
    ask = Asked(GOOD)
    model = {**LABEL["model"], "params": {"temperature": 0.7, "seed": 3}}
    judged(LABEL, ask, model=model)
    assert dict(ask.requests[0].model.params) == {"temperature": 0.7, "seed": 3}


def test_a_prompt_that_needs_what_is_not_there_fails_without_asking(judged):
    for negate in (False, True):
        ask = Asked(GOOD)
        result = judged(LABEL, ask, prompt="{{ output.json.answer }}", negate=negate)
        assert (result.outcome, ask.requests, result.calls) == ("fail", [], 0)
        assert result.judge_hash


@pytest.mark.parametrize("otherwise", ["na", "pass", "fail"])
def test_a_run_condition_decides_before_any_call(judged, otherwise):
    ask = Asked(GOOD)
    only_if = {"variable": "{{ blank }}", "condition": "has_value"}
    result = judged(LABEL, ask, only_if=only_if, otherwise=otherwise, negate=True)
    assert (result.outcome, result.evaluated, ask.requests) == (otherwise, False, [])
    assert result.judge_hash


def test_the_schema_broken_once_is_asked_again_with_the_problem(judged):
    ask = Asked("good", GOOD)
    result = judged(LABEL, ask)
    first, second = ask.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-2] == Message("assistant", "good")
    assert "the answer is not JSON" in second.messages[-1].content and '"enum"' in second.messages[-1].content
    assert second.key != first.key  # or the store would give the same answer again
    assert result.outcome == "pass"
    assert (result.calls, result.retries, result.cost) == (2, 0, Decimal("0.004"))
    assert (result.usage.input_tokens, result.usage.output_tokens) == (200, 20)
    assert result.details == {
        "asked_again": ["judge_not_json: the answer is not JSON: Expecting value at line 1, column 1; it begins 'good'"]
    }


def answer(cost, avoided, *, reused, attempts, usage=None):
    completion = Completion(GOOD, stop_reason="stop", usage=usage)
    return Answer(completion, cost, avoided, reused, attempts, 0.1)


FREE = Decimal(0)
COSTS = [
    # answers, calls, retries, reused calls, reused, cost, avoided, unpriced, usage
    ([answer(Decimal("0.1"), FREE, reused=False, attempts=1, usage=Usage(5, 2))], 1, 0, 0, False, "0.1", "0", (), 5),
    ([answer(Decimal("0.1"), FREE, reused=False, attempts=3)], 3, 2, 0, False, "0.1", "0", (), None),
    ([answer(None, FREE, reused=False, attempts=1)], 1, 0, 0, False, None, "0", ("scripted/judge-1",), None),
    ([answer(FREE, Decimal("0.1"), reused=True, attempts=0, usage=Usage(5, 2))], 0, 0, 1, True, "0", "0.1", (), None),
    ([answer(FREE, None, reused=True, attempts=0)], 0, 0, 1, True, "0", None, (), None),
]


@pytest.mark.parametrize(
    ("answers", "calls", "retries", "reused_calls", "reused", "cost", "avoided", "unpriced", "tokens"), COSTS
)
def test_what_it_cost(judged, answers, calls, retries, reused_calls, reused, cost, avoided, unpriced, tokens):
    result = judged(LABEL, Asked(*answers))
    assert (result.calls, result.retries, result.reused_calls, result.reused) == (calls, retries, reused_calls, reused)
    assert result.cost == (None if cost is None else Decimal(cost))
    assert result.cost_avoided == (None if avoided is None else Decimal(avoided))
    assert result.unpriced == unpriced
    assert (result.usage and result.usage.input_tokens) == tokens


def test_a_reused_answer_and_a_bought_one(judged):
    stored = replace(answer(FREE, Decimal("0.3"), reused=True, attempts=0), completion=Completion("prose"))
    bought = answer(Decimal("0.1"), FREE, reused=False, attempts=1, usage=Usage(7, 1))
    result = judged(LABEL, Asked(stored, bought))
    assert (result.outcome, result.reused, result.calls, result.reused_calls) == ("pass", False, 1, 1)
    assert (result.cost, result.cost_avoided, result.usage) == (Decimal("0.1"), Decimal("0.3"), Usage(7, 1))


FAILURES = [
    (
        ProviderError("rate_limit", "Too many requests.", attempts=5, raw="429"),
        5,
        4,
        "Cause: Too many requests. (after 5",
    ),
    (ProviderError("not_stored", "No stored answer.", attempts=0), 0, 0, "Cause: No stored answer."),
    (ProviderError("auth", "The key was refused."), 1, 0, "Cause: The key was refused."),
]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(("error", "calls", "retries", "says"), FAILURES)
def test_no_answer_is_an_error_of_its_kind(judged, error, calls, retries, says, negate):
    result = judged(LABEL, Asked(error), negate=negate)
    assert (result.outcome, result.error.kind, result.error.raw) == ("error", error.kind, error.raw)
    assert result.error.message.startswith("The judge could not evaluate.") and says in result.error.message
    assert (result.calls, result.retries, result.reused) == (calls, retries, False)


def test_what_was_spent_before_the_endpoint_failed_is_counted(judged):
    result = judged(LABEL, Asked("prose", ProviderError("timeout", "No answer within 120 s.")))
    assert (result.error.kind, result.calls, result.cost) == ("timeout", 2, Decimal("0.002"))


def test_a_crash_is_an_error_with_its_place(judged):
    result = judged(LABEL, Asked(KeyError("boom")))
    assert (result.outcome, result.error.kind) == ("error", "grader_error")
    assert "Traceback" in result.error.raw


def label(name):
    return f'{{"reasoning": "so {name}", "label": "{name}"}}'


def score(number):
    return f'{{"reasoning": "so {number}", "score": {number}}}'


SAMPLES = [
    (LABEL, [label("good"), label("bad"), label("good")], "pass", "good", None, "of 3 answers: good 2, bad 1"),
    (LABEL, [label("bad"), label("bad"), label("good")], "fail", "bad", None, "bad 2, good 1"),
    (LABEL, [label("good"), label("bad"), label("ugly")], "error", None, None, "no label is the most frequent of 3"),
    (LABEL, [label("good"), label("good"), Completion(None)], "error", None, None, "answered nothing"),
    (SCORE, [score(2), score(7), score(9)], "pass", None, 7.0, "the median of 3 answers from 2 to 9"),
    (SCORE, [score(2), score(5), score(9)], "fail", None, 5.0, "the median of 3 answers from 2 to 9"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "answers", "outcome", "label", "score", "says"), SAMPLES)
def test_several_samples(judged, keys, answers, outcome, label, score, says):
    ask = Asked(*answers)
    result = judged(keys, ask, samples=3)
    assert (result.outcome, result.label, result.score) == (outcome, label, score)
    assert says in result.explanation
    assert (result.calls, len({request.key for request in ask.requests})) == (3, 3)
    if outcome != "error":
        assert len(result.details["samples"]) == 3
        assert result.reasoning == f"so {label or int(score)}"


def test_the_identity_of_a_judge(judge):
    def identity(keys=LABEL, **more):
        return judge(keys, **more).judge_hash

    same = [
        identity(),
        identity(name="other"),
        identity(passing_labels=["good", "bad"]),  # the labels it may give are the same
        identity(prompt={"user": LABEL["prompt"]}),
        identity(model={**LABEL["model"], "params": {"temperature": 0}}),
    ]
    others = [
        identity(prompt="Is it?"),
        identity(labels=["good", "bad"]),
        identity(structured="tool"),
        identity(samples=3),
        identity(model={"provider": "scripted", "name": "judge-2"}),
        identity(model={"provider": "replay", "name": "judge-1"}),
        identity(model={**LABEL["model"], "params": {"temperature": 1}}),
        identity(SCORE),
    ]
    assert len(set(same)) == 1
    assert len({*same, *others}) == 1 + len(others)
    assert identity(SCORE, pass_at=3) == identity(SCORE)


REFUSED = [
    (LABEL, {"labels": ["good"]}, "labels"),
    (LABEL, {"labels": ["good", "good"]}, "'good' more than once"),
    (LABEL, {"labels": ["good", " "]}, "empty label"),
    (LABEL, {"passing_labels": []}, "passing_labels"),
    (LABEL, {"passing_labels": ["great"]}, "'great' is not one of `labels`: good, bad, ugly; it could never pass"),
    (LABEL, {"passing_labels": ["good", "bad", "ugly"]}, "this judge cannot fail"),
    (LABEL, {"prompt": {"user": "x", "tools": [{"name": "f"}]}}, "offered no tools"),
    (LABEL, {"prompt": None}, "prompt"),
    (LABEL, {"structured": "guess"}, "structured"),
    (LABEL, {"samples": 0}, "samples"),
    (LABEL, {"model": {"provider": "openai", "name": "m"}}, "a judge needs its own `credential`"),
    (LABEL, {"model": {"provider": "anthropic", "name": "m"}}, "a judge needs its own `credential`"),
    (SCORE, {"min": 10}, "`min` 10 is not below `max` 10"),
    (SCORE, {"pass_at": 1}, "could not fail"),
    (SCORE, {"pass_at": 0}, "could not fail"),
    (SCORE, {"pass_at": 11}, "could not pass"),
    (SCORE, {"pass_at": None}, "pass_at"),
    (SCORE, {"max": float("inf")}, "max"),
    (SCORE, {"min": float("nan")}, "min"),
    (SCORE, {"min": True}, "min"),
]


@pytest.mark.parametrize(("keys", "more", "says"), REFUSED)
def test_a_judge_that_could_only_be_green_is_refused_before_launch(judge, keys, more, says):
    with pytest.raises(ValidationError) as caught:
        judge(keys, **more)
    assert says in str(caught.value)


@pytest.mark.parametrize("missing", ["min", "max", "pass_at", "prompt", "model"])
def test_what_a_score_needs(judge, missing):
    with pytest.raises(ValidationError, match=missing):
        judge({key: value for key, value in SCORE.items() if key != missing})


@pytest.mark.parametrize("provider", ["openai_compatible", "replay", "scripted"])
def test_doors_that_may_need_no_credential(judge, provider):
    assert judge(LABEL, model={"provider": provider, "name": "m"}).grader.model.credential is None


def test_kinds_are_listed_in_the_order_of_the_selector():
    order = [
        "text_check",
        "number_check",
        "json_check",
        "tool_check",
        "trajectory_check",
        "state_check",
        "span_check",
        "python_check",
        "text_similarity",
        "label_model",
        "score_model",
        "rubric_model",
        "pairwise_model",
        "preset",
        "string_check",
    ]
    assert list(KINDS) == sorted(KINDS, key=order.index)
    assert all(kind.name == name and kind.about for name, kind in KINDS.items())


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_has_a_json_schema(kind):
    from jsonschema import Draft202012Validator

    schema = kind.config.model_json_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["properties"]["type"]["const"] == kind.name
    assert schema["additionalProperties"] is False


WRITTEN = [
    {"type": "text_check", "contains": ["a"], "target": "response"},
    {"type": "text_check", "length": {"max": 200, "unit": "words"}, "target": {"json_items": "a", "match": "any"}},
    {"type": "number_check", "between": [1, "{{ high }}"], "target": {"aggregate": "sum", "json_path": "a"}},
    {"type": "json_check", "schema": {"type": "array"}},
    {"type": "python_check", "python": "json:dumps"},
    LABEL,
    {**LABEL, "prompt": {"messages": [{"role": "user", "content": "x"}]}},
    SCORE,
    RUBRIC,
    {**RUBRIC, "scale": ["a", "b", "c"], "met_from": "b", "pass": {"min": 1}},
    PAIR,
    {**PAIR, "a": "{{ x }}", "b": {"report": "base.json", "eval": "bot"}, "ties": False},
    FAITHFUL,
    {**FAITHFUL, "prompt": "{{ answer }}", "pass_at": 0.5, "contexts": "chunks", "samples": 3},
]


@pytest.mark.parametrize("keys", WRITTEN)
def test_what_the_json_schema_accepts_is_accepted(keys):
    from jsonschema import Draft202012Validator

    written = {"name": "it", **keys}
    kind = KINDS[keys["type"]]
    Draft202012Validator(kind.config.model_json_schema()).validate(written)
    kind.config.model_validate(written)
