"""Similarity metrics against the programs and papers that they are named for, and their algebra."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.similarity.metric import METRICS, TooLong, metric
from pytest_verica.similarity.overlap import common_subsequence, rouge_l, rouge_n
from pytest_verica.similarity.vectors import NotComparable, cosine
from pytest_verica.similarity.words import words_of

pytest.importorskip("rapidfuzz")
pytest.importorskip("sacrebleu")

# Right values: sacrebleu 2.6.0 `sentence_bleu(text, [expected]).score / 100`; nltk 3.10.4 `sentence_gleu` on the 13a
# tokens of sacrebleu; rouge-score 0.1.2 `RougeScorer(...).score(expected, text).fmeasure`, rounded to 9 places.
PAIRS: list[tuple[str, str, dict[str, float]]] = [
    (
        "It is a guide to action which ensures that the military always obeys the commands of the party.",
        "It is a guide to action that ensures that the military will forever heed Party commands.",
        {
            "bleu": 0.396708829,
            "gleu": 0.428571429,
            "rouge_1": 0.705882353,
            "rouge_2": 0.5,
            "rouge_3": 0.4,
            "rouge_4": 0.285714286,
            "rouge_5": 0.153846154,
            "rouge_l": 0.647058824,
        },
    ),
    (
        "The order was refunded on Monday.",
        "The order will be refunded on Monday, not today.",
        {
            "bleu": 0.181686446,
            "gleu": 0.263157895,
            "rouge_1": 0.666666667,
            "rouge_2": 0.461538462,
            "rouge_3": 0.181818182,
            "rouge_4": 0.0,
            "rouge_5": 0.0,
            "rouge_l": 0.666666667,
        },
    ),
    (
        "police kill the gunman",
        "police killed the gunman",
        {"bleu": 0.353553391, "gleu": 0.4, "rouge_1": 0.75, "rouge_2": 0.333333333, "rouge_3": 0.0, "rouge_l": 0.75},
    ),
    (
        "Your refund of $12.50 has been issued",
        "A refund of $12.50 was issued to your card",
        {
            "bleu": 0.284694694,
            "gleu": 0.323529412,
            "rouge_1": 0.666666667,
            "rouge_2": 0.375,
            "rouge_3": 0.285714286,
            "rouge_4": 0.166666667,
            "rouge_5": 0.0,
            "rouge_l": 0.555555556,
        },
    ),
    # Edit distances from the textbooks: kitten → sitting 3 of 7, flaw → lawn 2 of 4, saturday → sunday 3 of 8.
    ("kitten", "sitting", {"fuzzy_match": 1 - 3 / 7}),
    ("flaw", "lawn", {"fuzzy_match": 1 - 2 / 4}),
    ("Saturday", "Sunday", {"fuzzy_match": 1 - 3 / 8}),
    ("abc", "ABC", {"fuzzy_match": 0.0}),
    ("", "abc", {"fuzzy_match": 0.0, "rouge_1": 0.0, "rouge_l": 0.0, "gleu": 0.0, "bleu": 0.0}),
    # By hand: 3 of 4 words each side; words in any script, where rouge-score has none left.
    ("la señora está aquí", "la niña está aquí", {"rouge_1": 0.75, "rouge_l": 0.75}),
    ("我喜歡狗", "我喜歡貓", {"rouge_1": 0.75, "rouge_2": 2 / 3}),
    # A text too short for any run of two words is like none but itself.
    ("yes", "no", {"rouge_2": 0.0}),
    ("yes", "yes", dict.fromkeys(METRICS, 1.0)),
    ("!!!", "???", dict.fromkeys((name for name in METRICS if name.startswith("rouge")), 0.0)),
    ("\ud800\x00", "\ud800\x00a", {"fuzzy_match": 1 - 1 / 3}),
]
VALUES = [(text, expected, name, value) for text, expected, values in PAIRS for name, value in values.items()]


@pytest.mark.parametrize(("text", "expected", "name", "value"), VALUES)
def test_right_values(text: str, expected: str, name: str, value: float) -> None:
    assert metric(name)(text, expected) == pytest.approx(value, abs=1e-9)


def test_the_examples_of_the_paper_on_rouge() -> None:
    """Lin 2004, "ROUGE: A Package for Automatic Evaluation of Summaries", 3.1: S1 is the reference."""
    s1, s2, s3, s4 = (
        text.split()
        for text in (
            "police killed the gunman",
            "police kill the gunman",
            "the gunman kill police",
            "the gunman police killed",
        )
    )
    assert [rouge_l(s, s1) for s in (s2, s3, s4)] == [3 / 4, 2 / 4, 2 / 4]
    assert rouge_n(s2, s1, 2) == rouge_n(s3, s1, 2)


english = st.text("abc AB.,'0 ", max_size=40)


@pytest.fixture(scope="module")
def rouge_score() -> Any:
    scorer = pytest.importorskip("rouge_score.rouge_scorer")
    return scorer.RougeScorer(["rouge1", "rouge2", "rouge5", "rougeL"])


@given(text=english, expected=english)
def test_rouge_is_that_of_rouge_score(rouge_score: Any, text: str, expected: str) -> None:
    scores = rouge_score.score(expected, text)
    for name, theirs in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_5", "rouge5"), ("rouge_l", "rougeL")):
        if text != expected:
            assert metric(name)(text, expected) == pytest.approx(scores[theirs].fmeasure)


words = st.lists(st.sampled_from("abcd"), max_size=12)


@given(words, words)
def test_the_common_subsequence_is_that_of_the_table(one: list[str], other: list[str]) -> None:
    row = [0] * (len(other) + 1)
    for word in one:
        above = row[:]
        for at, against in enumerate(other):
            row[at + 1] = above[at] + 1 if word == against else max(above[at + 1], row[at])
    assert common_subsequence(one, other) == row[-1]


texts = st.text(max_size=30)


@pytest.mark.parametrize("name", METRICS)
@given(texts, texts)
def test_from_0_to_1_and_1_for_the_same(name: str, one: str, other: str) -> None:
    compare = metric(name)
    assert 0.0 <= compare(one, other) <= 1.0
    assert compare(one, one) == 1.0


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"bleu"}))  # bleu punishes short texts, not long ones
@given(texts, texts)
def test_symmetric(name: str, one: str, other: str) -> None:
    compare = metric(name)
    assert compare(one, other) == pytest.approx(compare(other, one))


WORDS = [
    ("The cat's 2.5 kg_heavy", ["the", "cat", "s", "2", "5", "kg", "heavy"]),
    ("ÉTÉ e\u0301te\u0301", ["été", "été"]),
    ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
    ("東京に行く2026", ["東", "京", "に", "行", "く", "2026"]),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_words(text: str, expected: list[str]) -> None:
    assert words_of(text) == expected


def test_what_would_take_minutes_is_refused() -> None:
    with pytest.raises(TooLong, match="200,000 characters"):
        metric("fuzzy_match")("a" * 200_000, "b" * 200_000)
    with pytest.raises(TooLong, match="2,000,000 characters together"):
        metric("bleu")("a " * 1_000_000, "b")
    with pytest.raises(TooLong, match="200,000 words"):
        metric("rouge_l")("a " * 200_000, "b " * 200_000)


def test_a_long_text_against_a_short_one_is_not() -> None:
    for name in METRICS:
        assert metric(name)("a b " * 50_000, "a c") < 0.9


COSINES = [
    ([1, 0], [0, 1], 0.0),
    ([1, 2], [2, 4], 1.0),
    ([1, 0], [-3, 0], -1.0),
    ([3, 4], [4, 3], 24 / 25),
    ([1e200, 0], [1e-200, 0], None),
]


@pytest.mark.parametrize(("one", "other", "value"), COSINES)
def test_cosines(one: list[float], other: list[float], value: float | None) -> None:
    if value is None:
        with pytest.raises(NotComparable):
            cosine(one, other)
    else:
        assert cosine(one, other) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [([1], [1, 2], "1 and 2 numbers"), ([0.0], [1.0], "all zeros"), ([math.nan], [1.0], "not finite")],
)
def test_vectors_without_an_angle(one: list[float], other: list[float], says: str) -> None:
    with pytest.raises(NotComparable, match=says):
        cosine(one, other)
