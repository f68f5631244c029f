"""Cuts of a score: by hand, and on published ratings."""

from __future__ import annotations

import csv
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.stats.threshold import best_cut, cut_at, cuts

HAND = list(zip([0.1, 0.2, 0.35, 0.4, 0.55, 0.6, 0.7, 0.8, 0.85, 0.9], map(bool, map(int, "0001010111")), strict=True))


def test_by_hand():
    found = cuts(HAND)
    assert [float(cut.balanced_accuracy) for cut in found] == [0.5, 0.6, 0.7, 0.8, 0.7, 0.8, 0.7, 0.8, 0.7, 0.6, 0.5]
    assert found[-1].at is None


@pytest.mark.parametrize(("current", "best"), [(0.5, 0.6), (0.45, 0.4), (0.95, 0.8), (0.7, 0.6), (None, 0.6)])
def test_a_tie_stays_near_the_threshold_in_force(current, best):
    """0.4, 0.6 and 0.8 tie; at 0.7 two are as near, and the middle one is taken."""
    assert best_cut(cuts(HAND), current).at == best


def test_likert():
    scored = list(zip([1, 2, 3, 4, 5, 5, 4, 3, 2, 5], map(bool, map(int, "0011110001")), strict=True))
    assert [float(cut.balanced_accuracy) for cut in cuts(scored)][:5] == [0.5, 0.6, 0.8, 0.8, 0.8]
    assert best_cut(cuts(scored), None).at == 4


def ratings(shared_data, judge, natural):
    with (shared_data / "llmbar" / "llmbar_rating_scores.csv").open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["judge"] == judge and (r["subset"] == "Natural") is natural]
    return [(float(row["score"]), row["human_better"] == "1") for row in rows if row["score"]]


def test_llmbar_natural(shared_data):
    scored = ratings(shared_data, "GPT-4 Rating", natural=True)
    found = {cut.at: float(cut.balanced_accuracy) for cut in cuts(scored)}
    right = [0.5, 0.565, 0.6, 0.66, 0.68, 0.76, 0.76, 0.79, 0.845, 0.79]
    assert len(scored) == 200 and [found[at] for at in range(10) if at in found] == pytest.approx(
        [value for at, value in enumerate(right) if at in found]
    )
    assert best_cut(cuts(scored), 5.0).at == 8


def test_llmbar_adversarial(shared_data):
    scored = ratings(shared_data, "GPT-4 Rating", natural=False)
    best = best_cut(cuts(scored), None)
    assert (best.at, round(float(best.balanced_accuracy), 6)) == (8, 0.756282)


def test_floats_decide_no_tie(shared_data):
    """In floats ChatGPT's ratings have 0.6 at 8 and 0.6000000000000001 at 9."""
    found = {cut.at: cut.balanced_accuracy for cut in cuts(ratings(shared_data, "ChatGPT Rating", natural=True))}
    assert found[8] == found[9] == Fraction(3, 5)


def test_one_class_has_no_cut():
    assert cuts([(0.5, True), (0.7, True)]) == []
    with pytest.raises(ValueError, match="both classes"):
        best_cut([], None)


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.booleans()), min_size=2, max_size=20))
def test_each_cut_is_what_counting_gives(scored):
    assert all(cut == cut_at(scored, cut.at) for cut in cuts(scored))
