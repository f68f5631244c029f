"""pairwise_model: both orders, a change of mind is a tie, and where the other answer comes from."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from pytest_verica.case import Case
from pytest_verica.completion import Completion
from pytest_verica.errors import ConfigError
from pytest_verica.graders.criterion import make_criterion
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.judge.registry import KINDS
from pytest_verica.output import Output
from pytest_verica.request import Message
from tests.unit.judge.conftest import PAIR, Asked


def better(word: str) -> str:
    return f'{{"reasoning": "because {word}", "better": "{word}"}}'


def test_it_is_asked_in_both_orders_with_nothing_added(judged):
    ask = Asked(better("first"), better("second"))
    result = judged(PAIR, ask)
    a, b = "Dear customer", "It arrives on Friday."
    assert [request.messages for request in ask.requests] == [
        (Message("user", f"1: {a}\n2: {b}"),),
        (Message("user", f"1: {b}\n2: {a}"),),
    ]
    assert ask.requests[0].answer.schema["properties"]["better"] == {
        "type": "string",
        "enum": ["first", "second", "tie"],
    }
    assert list(ask.requests[0].answer.schema["properties"]) == ["reasoning", "better"]
    assert (result.outcome, result.label, result.calls) == ("pass", "a", 2)
    assert result.explanation == "a in both orders; passing: a"
    assert result.reasoning == "a shown first: because first\nb shown first: because second"
    assert result.details == {
        "pairs": [
            {
                "label": "a",
                "changed_mind": False,
                "orders": [
                    {"first": "a", "better": "a", "reasoning": "because first"},
                    {"first": "b", "better": "a", "reasoning": "because second"},
                ],
            }
        ],
        "changed_mind": 0,
    }


ORDERS = [
    # what is answered with a first, with b first, the label, whether the mind was changed
    ("first", "second", "a", False),
    ("second", "first", "b", False),
    ("tie", "tie", "tie", False),
    ("first", "first", "tie", True),
    ("second", "second", "tie", True),
    ("first", "tie", "tie", True),
    ("tie", "second", "tie", True),
]


@pytest.mark.parametrize("passing", [["a"], ["b"], ["tie"], ["a", "tie"], ["b", "tie"], ["a", "b"]])
@pytest.mark.parametrize(("one", "other", "label", "changed"), ORDERS)
def test_a_change_of_mind_is_a_tie_and_is_said(judged, one, other, label, changed, passing):
    result = judged(PAIR, Asked(better(one), better(other)), passing=passing)
    assert (result.label, result.outcome) == (label, "pass" if label in passing else "fail")
    assert result.details["changed_mind"] == changed
    assert ("changed its mind when the order was swapped" in result.explanation) is changed


SAMPLES = [
    # the labels of three pairs, the label that counts, what is said
    ("aab", "a", "a: the most frequent of 3 pairs of answers: a 2, b 1; the judge changed its mind in 0"),
    ("tta", "tie", "tie: the most frequent of 3 pairs of answers: tie 2, a 1; the judge changed its mind in 2"),
    ("abt", "tie", "tie: no label is the most frequent of 3 pairs"),
]
PAIRS = {"a": ("first", "second"), "b": ("second", "first"), "t": ("first", "first")}


@pytest.mark.parametrize(("labels", "label", "says"), SAMPLES)
def test_several_samples(judged, labels, label, says):
    with_a_first, with_b_first = zip(*(PAIRS[each] for each in labels), strict=True)
    ask = Asked(*map(better, with_a_first), *map(better, with_b_first))
    result = judged(PAIR, ask, samples=3)
    assert (result.label, result.calls, len({request.key for request in ask.requests})) == (label, 6, 6)
    assert says in result.explanation and len(result.details["pairs"]) == 3


def test_the_same_text_twice_is_a_tie_without_a_call(judged):
    ask = Asked(better("first"))
    result = judged(PAIR, ask, output="It arrives on Friday.", passing=["a", "tie"])
    assert (result.label, result.outcome, ask.requests, result.calls) == ("tie", "pass", [], 0)
    assert "the same text; the judge was not asked" in result.explanation and result.judge_hash


def test_nothing_to_compare_with_is_na_and_an_empty_output_is_judged(judged):
    ask = Asked(better("second"), better("first"))
    result = judged(PAIR, ask, b="{{ blank }}", negate=True)
    assert (result.outcome, ask.requests) == ("na", [])
    assert result.explanation == "`b`: {{ blank }} is empty for this case"
    assert judged(PAIR, ask, output="").label == "b"


NO_VERDICTS = [
    ('{"reasoning": "x", "better": "First"}', "judge_unknown_label"),
    ('{"reasoning": "x", "better": "a"}', "judge_unknown_label"),
    ('{"reasoning": "x"}', "judge_schema"),
    ("first", "judge_not_json"),
    (Completion(None, stop_reason="refusal", refusal="No."), "judge_refusal"),
]


@pytest.mark.parametrize(("answer", "kind"), NO_VERDICTS)
def test_one_order_without_a_verdict_is_an_error_that_counts_both(judged, answer, kind):
    ask = Asked(better("first"), answer)
    result = judged(PAIR, ask, passing=["a", "tie"])
    assert (result.outcome, result.error.kind, result.calls) == ("error", kind, len(ask.requests))


def test_a_judge_that_may_call_no_tie(judged):
    ask = Asked(better("tie"))
    result = judged(PAIR, ask, ties=False)
    assert ask.requests[0].answer.schema["properties"]["better"]["enum"] == ["first", "second"]
    assert result.error.kind == "judge_unknown_label"


REFUSED = [
    ({"passing": ["a", "b", "tie"]}, "cannot fail"),
    ({"passing": []}, "passing"),
    ({"passing": ["c"]}, "passing"),
    ({"b": "{{ output.text }}"}, "every verdict would be a tie"),
    ({"b": " "}, "`b` is empty"),
    ({"prompt": "1: {{ first }}"}, "{{ second }}"),
    ({"prompt": "{{ output.text }} or {{ reference }}?"}, "does not show the answer {{ first }}"),
]


@pytest.mark.parametrize(("more", "says"), REFUSED)
def test_a_comparison_that_shows_nothing_is_refused_before_launch(judge, more, says):
    with pytest.raises(ValidationError) as caught:
        judge(PAIR, **more)
    assert says in str(caught.value)


def report_of(*evals: tuple[str, dict[str, str | None]]) -> str:
    def case(name: str, text: str | None, sample: int) -> dict[str, object]:
        return {"id": f"safe-{name}", "original_id": name, "sample": sample, "output": text and {"text": text}}

    return json.dumps(
        {
            "evals": [
                {
                    "name": name,
                    "cases": [case(n, t, s) for n, t in texts.items() for s, t in ((0, t), (1, "again"))],
                }
                for name, texts in evals
            ]
        }
    )


def compared(tmp_path: Path, report: str, case: str = "1", **run: str):
    (tmp_path / "base.json").write_text(report)
    keys = {**PAIR, "b": {"report": "base.json", **run}}
    config = KINDS["pairwise_model"].config.model_validate(keys)
    criterion = make_criterion(config, KINDS, BuildContext(tmp_path))
    ask = Asked(better("first"), better("second"))
    return criterion, asyncio.run(criterion.judge(Case("x", {}, original_id=case), Output("new"), ask)), ask


def test_it_compares_with_an_earlier_run(tmp_path):
    report = report_of(("bot", {"1": "old one", "2": "old two", "3": None}))
    first, grade, ask = compared(tmp_path, report)
    assert ask.requests[0].messages[0].content == "1: new\n2: old one"
    assert grade.label == "a"
    assert compared(tmp_path, report, "2")[2].requests[1].messages[0].content == "1: old two\n2: new"
    for case in ("3", "4"):
        _, grade, ask = compared(tmp_path, report, case)
        assert (grade.outcome, ask.requests) == ("na", [])
        assert grade.explanation == "`b`: base.json has no answer to this case"
    other, _, _ = compared(tmp_path, report_of(("bot", {"1": "older"})))
    assert other.version_hash != first.version_hash and other.judge_hash == first.judge_hash


def test_which_eval_of_the_report(tmp_path):
    report = report_of(("bot", {"1": "of bot"}), ("other", {"1": "of other"}))
    assert compared(tmp_path, report, eval="other")[2].requests[0].messages[0].content == "1: new\n2: of other"
    with pytest.raises(ConfigError, match=r"several evals: name one of them in `eval`: bot, other"):
        compared(tmp_path, report)
    with pytest.raises(ConfigError, match=r"no eval 'x'; it has: bot, other"):
        compared(tmp_path, report, eval="x")


@pytest.mark.parametrize(
    ("report", "says"),
    [("{", "is not JSON"), ("[]", "no report of pytest --verica"), (report_of(("bot", {})), "no answer to compare")],
)
def test_a_report_that_cannot_be_compared_with_is_refused_before_launch(tmp_path, report, says):
    with pytest.raises(ConfigError, match=says):
        compared(tmp_path, report)


def test_a_report_that_is_not_there(judge):
    with pytest.raises(ConfigError, match=r"cannot read the report no\.json: No such file"):
        judge(PAIR, b={"report": "no.json"})
