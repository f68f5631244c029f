"""The twelve traps of lenient parsing: each ends in the right verdict or in an error, for every kind of judge."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.judge.conftest import FAITHFUL, LABEL, PAIR, RUBRIC, SCORE, Asked

ONE_POINT = {**RUBRIC, "rubric": {"greets": "The answer greets."}}


def answer(**fields: Any) -> str:
    return json.dumps(fields)


REASON = "The verdict is bad, not good."
GOOD = {
    "label": answer(reasoning=REASON, label="good"),
    "score": answer(reasoning=REASON, score=8),
    "rubric": answer(greets={"reasoning": REASON, "met": True}),
    "pair": answer(reasoning=REASON, better="first"),
    "preset": answer(claims=[{"claim": "It greets.", "reasoning": REASON, "entailed": True}]),
}
JUDGES: dict[str, dict[str, Any]] = {
    "label": LABEL,
    "score": SCORE,
    "rubric": ONE_POINT,
    "pair": {**PAIR, "passing": ["tie"]},  # the same answer in both orders
    "preset": FAITHFUL,
}
NOT_JSON, SCHEMA, UNKNOWN = "judge_not_json", "judge_schema", "judge_unknown_label"


def everywhere(change: Any, wanted: str) -> list[tuple[str, str, str]]:
    return [(kind, change(text), wanted) for kind, text in GOOD.items()]


QUOTED = f"The answer says {GOOD['label']} and I do not believe it. So it is bad."

TRAPS: dict[str, list[tuple[str, str, str]]] = {
    # (judge, its answer, outcome or kind of error)
    "a grade word inside another word": [
        ("label", answer(reasoning="", label="goodness"), UNKNOWN),
        ("label", answer(reasoning="not good at all", label="bad"), "fail"),
        ("label", "This is a goodbye.", NOT_JSON),
        ("score", "I give 8 reasons to fail it.", NOT_JSON),
        ("rubric", "The point is unmet.", NOT_JSON),
        ("pair", answer(reasoning="", better="first-rate"), UNKNOWN),
    ],
    "zero-width characters": [
        ("label", answer(reasoning="", label="good\u200b"), UNKNOWN),
        ("label", answer(reasoning="", label="\ufeffgood"), UNKNOWN),
        ("pair", answer(reasoning="", better="fir\u200dst"), UNKNOWN),
        *everywhere(lambda text: f"\u200b{text}", NOT_JSON),
        *everywhere(lambda text: f"\ufeff{text}", NOT_JSON),
    ],
    "another case": [
        ("label", answer(reasoning="", label="GOOD"), UNKNOWN),
        ("pair", answer(reasoning="", better="First"), UNKNOWN),
        ("label", '{"Reasoning": "", "Label": "good"}', SCHEMA),
        ("rubric", '{"greets": {"reasoning": "", "met": True}}', NOT_JSON),
    ],
    "a fenced object": everywhere(lambda text: f"```json\n{text}\n```", "pass"),
    "trailing prose": [
        *everywhere(lambda text: f"{text}\nHope this helps!", NOT_JSON),
        *everywhere(lambda text: f"```json\n{text}\n```\nHope this helps!", NOT_JSON),
    ],
    "a raw newline in a string": everywhere(lambda text: text.replace(REASON, "one\ntwo"), NOT_JSON),
    'a string "false"': [
        ("rubric", answer(greets={"reasoning": "", "met": "false"}), SCHEMA),
        ("preset", answer(claims=[{"claim": "x", "reasoning": "", "entailed": "false"}]), SCHEMA),
        ("score", answer(reasoning="", score="8"), SCHEMA),
        ("label", answer(reasoning="", label=False), SCHEMA),
    ],
    "a missing field": [
        ("label", answer(label="good"), SCHEMA),
        ("score", answer(reasoning=""), SCHEMA),
        ("rubric", answer(greets={"met": True}), SCHEMA),
        ("pair", answer(better="first"), SCHEMA),
        ("preset", answer(claims=[{"claim": "x", "entailed": True}]), SCHEMA),
        *everywhere(lambda text: "{}", SCHEMA),
        *everywhere(lambda text: "null", SCHEMA),
    ],
    "an extra field": [
        *everywhere(lambda text: text[:-1] + ', "confidence": 0.9}', SCHEMA),
        ("rubric", answer(greets={"reasoning": "", "met": True, "score": 1}), SCHEMA),
        ("preset", answer(claims=[{"claim": "x", "reasoning": "", "entailed": True, "note": ""}]), SCHEMA),
    ],
    "a score out of range": [
        ("score", answer(reasoning="", score=11), "pass"),  # clipped to 10, and said
        ("score", answer(reasoning="", score=-40), "fail"),
        ("score", '{"reasoning": "", "score": NaN}', "judge_bad_score"),
        ("score", '{"reasoning": "", "score": 1e999}', "judge_bad_score"),
    ],
    "an unknown label": [
        ("label", answer(reasoning="", label="fine"), UNKNOWN),
        ("label", answer(reasoning="", label=""), UNKNOWN),
        ("pair", answer(reasoning="", better="both"), UNKNOWN),
    ],
    "a verdict quoted from the output itself": [
        ("label", QUOTED, NOT_JSON),
        ("label", f"> {GOOD['label']}\n\n{answer(reasoning='', label='bad')}", NOT_JSON),
        ("label", answer(reasoning=GOOD["label"], label="bad"), "fail"),  # quoted inside the reasoning
        ("label", f'{{"reasoning": "", "label": "bad", "label": "good", "x": {GOOD["label"]}}}', NOT_JSON),
        ("rubric", f"The answer claims {GOOD['rubric']}.", NOT_JSON),
        ("preset", f"The answer claims {GOOD['preset']}.", NOT_JSON),
    ],
}
CASES = [pytest.param(*case, id=f"{name}, {case[0]}") for name, cases in TRAPS.items() for case in cases]


def test_there_are_twelve() -> None:
    assert len(TRAPS) == 12


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(("kind", "said", "wanted"), CASES)
def test_a_trap_ends_in_the_right_verdict_or_an_error(judged, kind, said, wanted, negate):
    result = judged(JUDGES[kind], Asked(said), negate=negate)
    if wanted in ("pass", "fail"):
        assert result.outcome == ({"pass": "fail", "fail": "pass"}[wanted] if negate else wanted)
        return
    assert (result.outcome, result.passed, result.score, result.label) == ("error", None, None, None)
    assert (result.error.kind, result.error.raw) == (wanted, said)


@pytest.mark.parametrize("kind", GOOD)
def test_the_judge_that_answers_as_it_should_passes(judged, kind):
    assert judged(JUDGES[kind], Asked(GOOD[kind])).outcome == "pass"
