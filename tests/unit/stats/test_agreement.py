"""Agreement against scikit-learn and statsmodels, and against published values."""

from __future__ import annotations

import csv
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_verica.stats.agreement import Confusion, cohen_kappa, fleiss_kappa, krippendorff_alpha

# (tp, fn, fp, tn) and Cohen's kappa: scikit-learn 1.9.1, six digits.
KAPPAS = [
    ((20, 5, 10, 15), 0.4),
    ((45, 15, 25, 15), 0.130435),
    ((25, 35, 5, 35), 0.259259),
    ((17, 3, 2, 8), 0.634146),
    ((100, 10, 19, 171), 0.795390),
    ((95, 2, 2, 1), 0.312715),
    ((10, 0, 0, 10), 1),
    ((0, 10, 10, 0), -1),
    ((30, 0, 10, 0), 0),  # a judge that always passes
    ((72, 92, 137, 18), -0.448),
]


@pytest.mark.parametrize(("counts", "kappa"), KAPPAS)
def test_kappa(counts, kappa):
    found = Confusion(*counts).kappa
    assert found is not None and float(found) == pytest.approx(kappa, abs=5e-4 if kappa == -0.448 else 5e-7)


@pytest.mark.parametrize("counts", [(30, 0, 0, 0), (0, 0, 0, 30), (0, 0, 0, 0)])
def test_kappa_of_one_category_is_not_known(counts):
    assert Confusion(*counts).kappa is None


def test_kappa_of_three_categories():
    """Right value: scikit-learn 1.9.1."""
    assert float(cohen_kappa("aabbccabca", "abbbcaacca") or 0) == pytest.approx(0.545455, abs=5e-7)


COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(sum)


@given(COUNTS)
def test_wings_and_agreement_add_up_to_one(counts):
    found = Confusion(*counts)
    assert found.agreement is not None
    assert found.agreement + (found.too_strict or 0) + (found.too_lenient or 0) == 1


@settings(max_examples=25)
@given(COUNTS)
def test_kappa_and_balanced_accuracy_are_those_of_scikit_learn(counts):
    metrics = pytest.importorskip("sklearn.metrics", exc_type=ImportError)
    found = Confusion(*counts)
    pairs = [pair for pair, n in zip([(1, 1), (1, 0), (0, 1), (0, 0)], counts, strict=True) for _ in range(n)]
    assert Confusion.of([(bool(a), bool(b)) for a, b in pairs]) == found
    people, judge = zip(*pairs, strict=True)
    if found.kappa is not None:
        assert float(found.kappa) == pytest.approx(metrics.cohen_kappa_score(people, judge), abs=1e-12)
        assert found.kappa == cohen_kappa(people, judge)
    if found.balanced_accuracy is not None:
        assert float(found.balanced_accuracy) == pytest.approx(metrics.balanced_accuracy_score(people, judge))


@settings(max_examples=25)
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=12))
def test_fleiss_is_that_of_statsmodels(ratings):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater", exc_type=ImportError)
    import numpy

    table = [[row.count(category) for category in range(3)] for row in ratings]
    found = fleiss_kappa([dict(enumerate(row)) for row in table])
    if found is None:
        assert len({value for row in ratings for value in row}) == 1
        return
    right = inter_rater.fleiss_kappa(numpy.array(table))
    assert math.isfinite(right) and float(found) == pytest.approx(right, abs=1e-12)


def test_fleiss_by_hand():
    """Fleiss 1971, table 1's arithmetic on a small table: P = (1 + 1/3 + 1/3)/3 = 5/9, Pe = (5/9)² + (4/9)² = 41/81."""
    items = [{"a": 3}, {"a": 1, "b": 2}, {"a": 1, "b": 2}]
    assert fleiss_kappa(items) == (Fraction(5, 9) - Fraction(41, 81)) / (1 - Fraction(41, 81))


def test_fleiss_needs_one_number_of_raters():
    with pytest.raises(ValueError, match="one number of raters"):
        fleiss_kappa([{"a": 3}, {"a": 2}])


def test_krippendorff_with_missing_ratings():
    """Right value: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), example C: nominal 0.743."""
    units = ["111", "2223", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3"]
    found = krippendorff_alpha([list(unit) for unit in units])
    assert float(found or 0) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_one_category_is_not_known():
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]) is None


# STATISTICS of the data's owners: judge, (tp, fn, fp, tn), kappa.
JBB = [("gpt4_cf", (100, 10, 19, 171), 0.795390), ("llama3_cf", None, 0.805014), ("harmbench_cf", None, 0.564343)]


@pytest.mark.parametrize(("judge", "counts", "kappa"), [*JBB, ("llamaguard2_cf", None, 0.740896)])
def test_published_judges(shared_data, judge, counts, kappa):
    with (shared_data / "jbb" / "jbb_judge_comparison_labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = Confusion.of([(row["human_majority"] == "1", row[judge] == "1") for row in rows])
    assert counts is None or found == Confusion(*counts)
    assert float(found.kappa or 0) == pytest.approx(kappa, abs=5e-7)


def test_published_labellers(shared_data):
    """Cohen's kappa of the three people, two by two, as scikit-learn gives it; Fleiss' of all as statsmodels does."""
    with (shared_data / "jbb" / "jbb_judge_comparison_labels.csv").open(newline="") as file:
        rows = [[row[f"human{number}"] for number in (1, 2, 3)] for row in csv.DictReader(file)]
    one, two, three = zip(*rows, strict=True)
    found = sorted(float(cohen_kappa(a, b) or 0) for a, b in [(one, two), (one, three), (two, three)])
    assert found == pytest.approx([0.809132, 0.825624, 0.886444], abs=5e-7)
    items = [{"0": row.count("0"), "1": row.count("1")} for row in rows]
    assert float(fleiss_kappa(items) or 0) == pytest.approx(float(krippendorff_alpha(rows) or 0), abs=2e-3)


def test_worse_than_chance(shared_data):
    """LLMBar's adversarial pairs by ChatGPT, positive: the person prefers output 1."""
    with (shared_data / "llmbar" / "llmbar_pairwise_verdicts.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["subset"] != "Natural"]
    pairs = [(r["human_label"] == "1", r["chatgpt_vanilla_ab"] == "1") for r in rows if r["chatgpt_vanilla_ab"]]
    assert Confusion.of(pairs) == Confusion(72, 92, 137, 18)
