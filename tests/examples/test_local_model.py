"""A real small model samples and judges. Its opinions are never asserted: shapes, counts and plumbing are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.examples.conftest import Example
from tests.local_model import NoLocalModel, running_model

pytestmark = pytest.mark.local_model

QUESTIONS = """\
id,question,expected
france,What is the capital of France?,Paris
japan,What is the capital of Japan?,Tokyo
water,Is water wet?,
sum,What is 2 + 3?,5
spain,What is the capital of Spain?,Madrid
"""


def judging(instruction: str, shown: tuple[str, str, str]) -> dict[str, Any]:
    """A judge's prompt with one worked example, so that a model this small keeps its reasoning short."""
    question, answer, verdict = shown
    asked = "Question: {}\nAnswer: {}"
    return {
        "messages": [
            {"role": "system", "content": instruction},
            {"role": "user", "content": asked.format(question, answer)},
            {"role": "assistant", "content": verdict},
            {"role": "user", "content": asked.format("{{ question }}", "{{ output.text }}")},
        ]
    }


def small_eval(url: str, judge_tokens: int) -> dict[str, Any]:
    """Five questions, a check and two judges, all answered by the model at `url`."""

    def model(**params: Any) -> dict[str, Any]:
        return {"provider": "openai_compatible", "name": "smollm2", "base_url": url, "params": {"seed": 7, **params}}

    helps = ("Who wrote it?", "No idea.", '{"reasoning": "It says nothing.", "label": "useless"}')
    score = ("What is 1 + 1?", "1 + 1 is 2.", '{"reasoning": "The sum is right.", "score": 10}')
    return {
        "name": "small",
        "golden_set": "questions.csv",
        "prompt": {"system": "Answer in one short sentence.", "user": "{{ question }}"},
        "model": model(temperature=0, max_tokens=80),
        "criteria": [
            {
                "name": "has_expected",
                "type": "text_check",
                "only_if": {"variable": "{{ expected }}", "condition": "has_value"},
                "contains": "{{ expected }}",
            },
            {
                "name": "helps",
                "type": "label_model",
                "prompt": judging("Say whether the answer helps or is useless. Give a short reason.", helps),
                "labels": ["helps", "useless"],
                "passing_labels": ["helps"],
                "model": model(max_tokens=judge_tokens),
            },
            {
                "name": "score",
                "type": "score_model",
                "prompt": judging("Score the answer from 0 to 10. Give a short reason.", score),
                "min": 0,
                "max": 10,
                "pass_at": 6,
                "model": model(max_tokens=judge_tokens),
            },
        ],
        "gate": {"pass_rate": 0.01, "max_errors": 10},
    }


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    try:
        with running_model() as base_url:
            yield base_url
    except NoLocalModel as reason:
        if os.environ.get("VERICA_REQUIRE_LOCAL_MODEL"):
            pytest.fail(f"the local model is required here: {reason}")
        pytest.skip(str(reason))


def write(example: Example, url: str, *, judge_tokens: int) -> None:
    (example.path / "pytest.ini").write_text("[pytest]\nverica_concurrency = 1\n", "utf-8")
    (example.path / "questions.csv").write_text(QUESTIONS, "utf-8")
    (example.path / "small.eval.json").write_text(json.dumps(small_eval(url, judge_tokens)), "utf-8")


def cases_of(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [case for ready in report["evals"] for case in ready["cases"]]


def verdict(case: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The grade of a criterion, whole whatever it says: a verdict with its parts, or an error with the raw text."""
    grade: Mapping[str, Any] = next(grade for grade in case["grades"] if grade["criterion"] == name)
    if grade["outcome"] == "error":
        assert grade["passed"] is None
        assert grade["error"]["kind"].startswith("judge_")
        assert grade["error"]["raw"]
        return grade
    assert grade["outcome"] in ("pass", "fail")
    assert grade["passed"] is (grade["outcome"] == "pass")
    return grade


def assert_well_formed(case: Mapping[str, Any]) -> None:
    output = case["output"]
    assert output["text"]
    assert output["stop_reason"] in ("stop", "length")
    assert output["model"] == "smollm2"
    assert output["usage"]["input_tokens"] > 0
    assert output["usage"]["output_tokens"] > 0
    assert output["cost"] is None  # nobody has said what this model costs: unknown, not nothing
    label, score = verdict(case, "helps"), verdict(case, "score")
    for judged in (label, score):
        assert judged["usage"]["output_tokens"] > 0
        assert judged["cost"] is None
        assert judged["calls"] >= 1
    if label["error"] is None:
        assert label["label"] in ("helps", "useless")
        assert label["passed"] is (label["label"] == "helps")
        assert isinstance(label["reasoning"], str)
    if score["error"] is None:
        assert 0 <= score["score"] <= 10
        assert score["passed"] is (score["score"] >= 6)
        assert isinstance(score["reasoning"], str)


def incomplete(case: Mapping[str, Any]) -> int:
    """Answers that were cut off: they are not kept, and so are asked for again."""
    cut = [grade for grade in case["grades"] if (grade["error"] or {}).get("kind") == "judge_truncated"]
    return len(cut) + (case["output"]["stop_reason"] == "length")


def test_a_real_model_samples_and_judges_and_is_asked_once(example: Example, url: str) -> None:
    write(example, url, judge_tokens=200)
    first = example.run("pytest --verica", offline=False)
    assert first.ret == pytest.ExitCode.OK
    report = example.report()
    cases = cases_of(report)
    assert [case["id"] for case in cases] == ["france", "japan", "water", "sum", "spain"]
    for case in cases:
        assert_well_formed(case)
    calls, totals = report["totals"]["calls"], report["totals"]
    assert calls["made"] >= 15
    assert calls["reused"] == 0
    assert totals["pass"] + totals["fail"] + totals["na"] + totals["error"] == 15
    assert totals["na"] == 1
    first.stdout.fnmatch_lines(
        ["small: *of * graded passed, 1 N/A*", "*cost: unknown sampling*price unknown: openai_compatible/smollm2*"]
    )

    cut = sum(map(incomplete, cases))
    second = example.run("pytest --verica", offline=cut == 0)
    assert second.ret == pytest.ExitCode.OK
    again = example.report()
    assert again["totals"]["calls"]["made"] == cut  # 0 where every answer was whole
    if not cut:
        assert [case["output"]["text"] for case in cases_of(again)] == [case["output"]["text"] for case in cases]
        names = ("pass", "fail", "na", "error")
        assert [again["totals"][name] for name in names] == [totals[name] for name in names]


def test_a_judge_that_is_cut_off_gives_errors_with_what_it_said(example: Example, url: str) -> None:
    write(example, url, judge_tokens=3)
    result = example.run("pytest --verica --verica-no-preflight -k 'france and (helps or score)'", offline=False)
    assert result.ret == pytest.ExitCode.TESTS_FAILED  # a gate is not judged on a part, and nothing was graded
    (case,) = cases_of(example.report())
    for name in ("helps", "score"):
        assert verdict(case, name)["error"]["kind"] == "judge_truncated"


def test_the_quickstart_asks_the_model_itself_with_one_flag(example: Example, url: str) -> None:
    example.copy("quickstart")
    file = example.path / "quickstart.eval.yaml"
    file.write_text(file.read_text("utf-8").replace("http://127.0.0.1:8091/v1", url), "utf-8")
    result = example.run("pytest --verica --verica-fresh -k 'sum-1 or json-1 or hecho-1 or no-1'", offline=False)
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    result.stdout.fnmatch_lines(["verica: *fresh=True (command line)*", "collected 240 items / 216 deselected*"])
    report = example.report()
    cases = cases_of(report)
    assert len(cases) == 4
    assert all(case["output"]["text"] and case["error"] is None for case in cases)
    assert report["totals"]["calls"]["made"] >= 5  # four answers and a verdict; a judge may be asked once more
    assert report["totals"]["calls"]["reused"] == 0
    assert report["totals"]["cost"]["total"] == 0  # a price of nothing is a price
    verdict(cases[-1], "judged_declines")


FACTS = {
    "France": "Paris",
    "Japan": "Tokyo",
    "Spain": "Madrid",
    "Peru": "Lima",
    "Norway": "Oslo",
    "Cuba": "Havana",
    "Kenya": "Nairobi",
    "Italy": "Rome",
    "Chile": "Santiago",
    "Egypt": "Cairo",
    "Ghana": "Accra",
    "Nepal": "Kathmandu",
}
ITEMS = ("city", "polite")


def rubric_eval(url: str) -> dict[str, Any]:
    """36 recorded answers, a rubric of two items, one call each."""
    met = {"city": {"reasoning": "Yes.", "met": True}, "polite": {"reasoning": "No.", "met": False}}
    shown = ("What is the capital of Germany?", "Berlin, obviously.", json.dumps(met))
    prompt = judging("Judge the answer by the rubric. Give short reasons.\n{{ rubric }}", shown)
    return {
        "name": "rubric",
        "golden_set": "capitals.jsonl",
        "target": {"column": "answer"},
        "criteria": [
            {
                "name": "rubric",
                "type": "rubric_model",
                "prompt": prompt,
                "rubric": {"city": "The answer names the right city.", "polite": "The answer is polite."},
                "model": {
                    "provider": "openai_compatible",
                    "name": "smollm2",
                    "base_url": url,
                    "params": {"max_tokens": 120, "temperature": 0, "seed": 7},
                },
            }
        ],
        "gate": {"pass_rate": 0.01, "max_errors": 35},
    }


def test_a_real_model_judges_by_a_rubric_in_36_calls(example: Example, url: str) -> None:
    """Every verdict has a reasoning and an answer for each item, or is an error that says what was wrong with it."""
    (example.path / "pytest.ini").write_text("[pytest]\nverica_concurrency = 1\n", "utf-8")
    (example.path / "rubric.eval.json").write_text(json.dumps(rubric_eval(url)), "utf-8")
    said = ("{city}, of course. You are welcome!", "I will not tell you.", "It is the city of Berlin.")
    rows = [
        {"question": f"What is the capital of {country}?", "answer": answer.format(city=city)}
        for country, city in FACTS.items()
        for answer in said
    ]
    (example.path / "capitals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    result = example.run("pytest --verica", offline=False)
    assert result.ret in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    report = example.report()
    grades = [case["grades"][0] for case in cases_of(report)]
    assert len(grades) == 36
    again = 0
    for grade in grades:
        details = grade["details"] or {}
        again += len(details.get("asked_again", ()))
        if grade["outcome"] == "error":
            assert grade["error"]["kind"].startswith("judge_") and grade["error"]["raw"]
            assert "Cause: " in grade["error"]["message"]
            continue
        items = details["rubric"]
        assert list(items) == list(ITEMS)
        assert all(isinstance(item["reasoning"], str) and isinstance(item["met"], bool) for item in items.values())
        assert grade["passed"] is all(item["met"] for item in items.values())
        assert grade["judge_hash"]
    calls = report["evals"][0]["calls"]
    assert calls["made"] - calls["retried"] == 36 + again and calls["reused"] == 0
    judged = sum(grade["outcome"] != "error" for grade in grades)
    counted = report["evals"][0]["totals"]["criteria"]["rubric"].get("rubric", {})
    assert all(counted[name]["judged"] == judged for name in (ITEMS if judged else ()))
