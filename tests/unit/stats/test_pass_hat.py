"""pass^k against tau-bench's published figures, and its algebra."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_verica.stats.pass_hat import pass_hat_k


def test_tau_bench_airline(shared_data):
    """Right values: the benchmark's README, three digits; expected.json beside the runs has four."""
    folder = shared_data / "tau_bench"
    expected = json.loads((folder / "expected.json").read_text())
    with (folder / "gpt4o_airline_200_runs.jsonl").open() as lines:
        runs = [json.loads(line) for line in lines]
    passes = Counter(run["task_id"] for run in runs if run["reward"] == 1)
    trials = Counter(run["task_id"] for run in runs)
    found = {k: mean(pass_hat_k(n, passes[task], k) for task, n in trials.items()) for k in (1, 2, 3, 4)}
    assert {str(k): round(float(value), 3) for k, value in found.items()} == expected["pass_hat_k_published_readme"]
    assert {str(k): round(float(value), 4) for k, value in found.items()} == expected["pass_hat_k_computed"]
    assert found[1] == Fraction(84, 200)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),  # by hand
    [(4, 4, 4, 1), (4, 3, 4, 0), (4, 2, 2, Fraction(1, 6)), (4, 1, 1, Fraction(1, 4)), (5, 0, 3, 0), (1, 1, 1, 1)],
)
def test_by_hand(n, c, k, value):
    assert pass_hat_k(n, c, k) == value


@pytest.mark.parametrize(("n", "c", "k"), [(4, 5, 1), (4, -1, 1), (4, 2, 5), (4, 2, 0), (0, 0, 1)])
def test_what_is_not_known(n, c, k):
    with pytest.raises(ValueError, match=r"cannot have passed|is not known"):
        pass_hat_k(n, c, k)


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_it_falls_with_k_from_the_rate(counts):
    n, c = counts
    values = [pass_hat_k(n, c, k) for k in range(1, n + 1)]
    assert values[0] == Fraction(c, n)
    assert values == sorted(values, reverse=True)
