"""What is a verdict and what is not: every trap that has turned a judge's outage into a green run somewhere."""

from __future__ import annotations

import json

import pytest

from pytest_verica.completion import Completion
from pytest_verica.judge.verdict import ASK_AGAIN
from pytest_verica.output import ToolCall
from tests.unit.judge.conftest import LABEL, SCORE, Asked

GOOD = '{"reasoning": "It greets.", "label": "good"}'
EIGHT = '{"reasoning": "It greets.", "score": 8}'

VERDICTS = [
    (LABEL, GOOD, "pass", None, "good"),
    (LABEL, f"```json\n{GOOD}\n```", "pass", None, "good"),  # the fence is the whole text
    (LABEL, f"  {GOOD}\n", "pass", None, "good"),
    (LABEL, '{"label": "bad", "reasoning": "Rude."}', "fail", None, "bad"),
    (LABEL, Completion(GOOD, stop_reason=None), "pass", None, "good"),
    (SCORE, EIGHT, "pass", 8.0, None),
    (SCORE, '{"reasoning": "Rude.", "score": 5.9}', "fail", 5.9, None),
    (SCORE, '{"reasoning": "", "score": 6}', "pass", 6.0, None),
    (SCORE, '{"reasoning": "", "score": 12}', "pass", 10.0, None),
    (SCORE, '{"reasoning": "", "score": -3}', "fail", 1.0, None),
]


@pytest.mark.parametrize(("keys", "answer", "outcome", "score", "label"), VERDICTS)
def test_verdicts(judged, keys, answer, outcome, score, label):
    result = judged(keys, Asked(answer))
    assert (result.outcome, result.score, result.label) == (outcome, score, label)


def refusing(text):
    return Completion(None, stop_reason="refusal", refusal=text)


NO_VERDICTS = [
    # the judge, its answer, kind, the cause that is shown
    (LABEL, "{}", "judge_schema", "the answer has no `reasoning` and no `label`; it is an empty object"),
    (LABEL, '{"pass": "false"}', "judge_schema", "no `reasoning` and no `label`; it is an object with key pass"),
    (LABEL, '{"label": "good"}', "judge_schema", "no `reasoning`"),
    (LABEL, '{"reasoning": "x", "label": "good", "note": 1}', "judge_schema", "not asked for: 'note'"),
    (LABEL, '{"reasoning": "x", "label": true}', "judge_schema", "`label` is true, not a text"),
    (LABEL, '{"reasoning": "x", "label": ["good"]}', "judge_schema", "`label` is an array"),
    (LABEL, '{"reasoning": null, "label": "good"}', "judge_schema", "`reasoning` is null, not a text"),
    (LABEL, '["good"]', "judge_schema", "the answer is an array of 1 element"),
    (LABEL, '"good"', "judge_schema", "the answer is the text 'good'"),
    (LABEL, "null", "judge_schema", "the answer is null"),
    (LABEL, "true", "judge_schema", "the answer is true"),
    (LABEL, '{"reasoning": "x", "label": "Good"}', "judge_unknown_label", "'Good' is not one of: good, bad, ugly"),
    (LABEL, '{"reasoning": "x", "label": "good "}', "judge_unknown_label", "'good ' is not one of"),
    (LABEL, '{"reasoning": "x", "label": ""}', "judge_unknown_label", "'' is not one of"),
    (LABEL, '{"reasoning": "x", "label": "g\\u200bood"}', "judge_unknown_label", r"'g\u200bood' is not one of"),
    (LABEL, "good", "judge_not_json", "the answer is not JSON"),
    (LABEL, "GRADE: good", "judge_not_json", "it begins 'GRADE: good'"),
    (LABEL, f"Here you are: {GOOD}", "judge_not_json", "not JSON"),
    (LABEL, f"{GOOD} Hope that helps!", "judge_not_json", "Extra data"),
    (LABEL, f"Sure:\n```json\n{GOOD}\n```", "judge_not_json", "not JSON"),
    (LABEL, GOOD[:-8], "judge_not_json", "not JSON"),
    (LABEL, GOOD * 2, "judge_not_json", "Extra data"),
    (LABEL, '{"reasoning": "x", "label": "bad", "label": "good"}', "judge_not_json", "'label' appears twice"),
    (LABEL, "", "judge_empty", "the judge answered nothing"),
    (LABEL, " \n", "judge_empty", "nothing"),
    (LABEL, None, "judge_empty", "nothing"),
    (LABEL, Completion(GOOD, stop_reason="length"), "judge_truncated", "raise `max_tokens`"),
    (LABEL, Completion(GOOD[:9], stop_reason="length"), "judge_truncated", "cut off"),
    (LABEL, refusing("I cannot."), "judge_refusal", "the judge refused: 'I cannot.'"),
    (LABEL, Completion(GOOD, stop_reason="refusal"), "judge_refusal", "the judge refused"),
    (LABEL, Completion(GOOD, stop_reason="content_filter"), "judge_refusal", "a content filter cut the answer"),
    (LABEL, Completion(None, (ToolCall("verdict", json.loads(GOOD), GOOD),), "tool_calls"), "judge_empty", "nothing"),
    (SCORE, "{}", "judge_schema", "no `score`"),
    (SCORE, '{"reasoning": "x", "score": "8"}', "judge_schema", "`score` is the text '8', not a number"),
    (SCORE, '{"reasoning": "x", "score": true}', "judge_schema", "`score` is true, not a number"),
    (SCORE, '{"reasoning": "x", "score": null}', "judge_schema", "`score` is null"),
    (SCORE, '{"reasoning": "x", "label": "good"}', "judge_schema", "no `score`"),
    (SCORE, '{"reasoning": "x", "score": NaN}', "judge_bad_score", "the score nan is not a finite number"),
    (SCORE, '{"reasoning": "x", "score": Infinity}', "judge_bad_score", "the score inf"),
    (SCORE, '{"reasoning": "x", "score": -1e999}', "judge_bad_score", "the score -inf"),
    (SCORE, '{"reasoning": "x", "score": 1' + "0" * 400 + "}", "judge_bad_score", "not a finite number"),
    (SCORE, "8", "judge_schema", "the answer is the number 8"),
    (SCORE, "8/10", "judge_not_json", "not JSON"),
    (SCORE, "\ud800\x00", "judge_not_json", r"'\ud800\x00'"),
    (SCORE, "[" * 100_000, "judge_not_json", "nested too deeply"),
    (SCORE, "x" * 1_000_000, "judge_not_json", "not JSON"),
]


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(("keys", "answer", "kind", "cause"), NO_VERDICTS)
def test_what_is_no_verdict_is_an_error_and_never_a_pass(judged, keys, answer, kind, cause, negate):
    ask = Asked(answer)
    result = judged(keys, ask, negate=negate)
    assert (result.outcome, result.passed, result.score, result.label) == ("error", None, None, None)
    assert result.error.kind == kind
    assert result.error.message.startswith("The judge could not evaluate. If this persists, the model or endpoint may")
    assert cause in result.error.message and len(result.error.message) < 700
    raw = answer if isinstance(answer, str) or answer is None else answer.refusal or answer.text
    assert result.error.raw == raw
    assert len(ask.requests) == (2 if kind in ASK_AGAIN else 1)
    assert result.judge_hash


CALLS = [
    ((ToolCall("verdict", json.loads(GOOD), GOOD),), "pass", None),
    ((ToolCall("verdict", json.loads(GOOD), None),), "pass", None),
    ((ToolCall("verdict", None, GOOD[:9]),), "error", "judge_not_json"),
    ((ToolCall("verdict", {"label": "good"}, None),), "error", "judge_schema"),
    ((ToolCall("verdict", {}, GOOD), ToolCall("verdict", {}, GOOD)), "error", "judge_schema"),
    ((ToolCall("search", {}, GOOD),), "error", "judge_empty"),
]


@pytest.mark.parametrize(("calls", "outcome", "kind"), CALLS)
def test_a_verdict_forced_as_a_tool_call(judged, calls, outcome, kind):
    result = judged(LABEL, Asked(Completion(None, calls, "tool_calls")), structured="tool")
    assert result.outcome == outcome
    assert (result.error and result.error.kind) == kind
