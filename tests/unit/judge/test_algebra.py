"""What must hold whatever is judged: both sides are treated alike, the order of samples is nothing, fences hold."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_verica.case import Case
from pytest_verica.judge.aspect import ASPECTS, Finding, median
from pytest_verica.judge.preset import fence_for
from pytest_verica.judge.shape import flaw_in, object_of
from pytest_verica.output import Output
from tests.unit.judge.conftest import PAIR, RUBRIC, Asked

WORDS = ("first", "second", "tie")
MIRRORED = {"a": "b", "b": "a", "tie": "tie"}


@pytest.mark.parametrize(("one", "other"), list(itertools.product(WORDS, WORDS)))
def test_a_comparison_is_the_same_from_the_other_side(judged, one, other):
    def better(word: str) -> str:
        return f'{{"reasoning": "", "better": "{word}"}}'

    here = judged(PAIR, Asked(better(one), better(other)))
    # With a and b exchanged, the request that shows a first is the one that showed b first.
    there = judged(PAIR, Asked(better(other), better(one)), a="{{ reference }}", b="{{ output.text }}")
    assert there.label == MIRRORED[here.label]
    assert there.details["changed_mind"] == here.details["changed_mind"]


@pytest.mark.parametrize("found", list(itertools.product([True, False], repeat=3)))
def test_any_is_not_all_of_the_contrary(judged, found):
    def answer(points: Sequence[bool]) -> str:
        return json.dumps({name: {"reasoning": "", "met": met} for name, met in zip("abc", points, strict=True)})

    rubric = {name: f"Says {name}." for name in "abc"}
    one = judged(RUBRIC, Asked(answer(found)), rubric=rubric, pass_="any")
    contrary = judged(RUBRIC, Asked(answer([not met for met in found])), rubric=rubric, pass_="all", negate=True)
    assert one.outcome == contrary.outcome
    counts = [
        judged(RUBRIC, Asked(answer(found)), rubric=rubric, pass_={"min": least}).outcome == "pass"
        for least in (1, 2, 3)
    ]
    assert counts == [sum(found) >= least for least in (1, 2, 3)]


@pytest.mark.parametrize(
    "order", sorted(set(itertools.permutations(["full", "partial", "partial", "absent", "absent"])))
)
def test_the_order_of_samples_is_nothing(judge, order):
    answers = [json.dumps({"a": {"reasoning": "", "level": level}}) for level in order]
    scale = {"scale": ["absent", "partial", "full"], "met_from": "partial", "samples": 5}
    criterion = judge(RUBRIC, rubric={"a": "Says a."}, **scale)
    grade = asyncio.run(criterion.judge(Case("x", {}), Output("y"), Asked(*answers)))
    assert (grade.outcome, grade.details["rubric"]["a"]["level"]) == ("pass", "partial")


def finding(*holds: bool) -> Finding:
    aspect = ASPECTS["rag/faithfulness"]
    return Finding(aspect, tuple({"claim": "c", "reasoning": "", "entailed": value} for value in holds))


@settings(max_examples=40)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=7), st.randoms())
def test_a_score_is_a_share_and_its_median_lies_between(answers, random):
    findings = [finding(*holds) for holds in answers]
    scores = [one.score for one in findings]
    assert all(0 <= score <= 1 for score in scores)
    assert min(scores) <= median(findings) <= max(scores)
    shuffled = findings.copy()
    random.shuffle(shuffled)
    assert median(shuffled) == median(findings)


@settings(max_examples=40)
@given(st.text(), st.lists(st.text(), max_size=4), st.integers(0, 5))
def test_a_fence_is_in_none_of_the_texts_and_follows_from_them(answer, contexts, sample):
    inputs = {"answer": answer, "contexts": contexts}
    fence = fence_for(inputs, sample)
    assert len(fence) == 20 and set(fence) <= set("0123456789abcdef")
    assert all(fence not in text for text in (answer, *contexts))
    assert fence_for(inputs, sample) == fence != fence_for(inputs, sample + 1)
    assert fence_for({**inputs, "answer": f"{answer}{fence}"}, sample) != fence


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "met"]), inner, max_size=3),
    max_leaves=8,
)
SHAPES = [
    object_of({"a": {"type": "string"}, "met": {"type": "boolean"}}),
    object_of({"a": {"type": "array", "items": object_of({"b": {"type": "integer"}})}}),
    object_of({"a": {"type": "string", "enum": ["x", "y"]}, "b": {"type": "number"}}),
]


@settings(max_examples=40)
@given(JSON, st.sampled_from(SHAPES))
def test_what_fits_is_what_a_validator_of_json_schema_accepts(value, shape):
    from jsonschema import Draft202012Validator

    accepted = Draft202012Validator(shape).is_valid(value)
    flaw = flaw_in(value, shape)
    # One difference, and a strict one: to JSON Schema 1.0 is an integer, here it is not.
    assert accepted or flaw is not None
    if accepted and flaw is not None:
        assert "not a whole number" in flaw.message
