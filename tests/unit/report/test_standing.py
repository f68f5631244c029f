"""Where an eval's rate stands: the sentences."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_verica.report.standing import standing

NOTHING: dict[str, Any] = {
    "history": None,
    "reused_from": None,
    "detectable_drop": {"drop": None, "n": 4},
    "pass_hat": [],
    "totals": {"reused": 0},
}
LAST = {"run": "x", "passed": 56, "graded": 60, "rate": 56 / 60}


@pytest.mark.parametrize(
    ("known", "sentences"),
    [
        ({}, []),
        ({"history": {"last": LAST, "mean": {"rate": 56 / 60, "runs": 1}}}, ["last run 93.3 % (56 of 60)"]),
        (
            {"history": {"last": LAST, "mean": {"rate": 0.918, "runs": 5}}},
            ["last run 93.3 % (56 of 60); mean of the last 5: 91.8 %"],
        ),
        ({"detectable_drop": {"drop": 0.16, "n": 50}}, ["smallest drop that 50 cases could show: 16.0 points"]),
        (
            {"reused_from": {"run": "r", "prices_changed": True}, "totals": {"reused": 3}},
            ["3 verdicts reused of the run r; prices have changed since, costs are those of then"],
        ),
        ({"reused_from": {"run": "r", "prices_changed": True}}, []),  # none was taken over
        (
            {"pass_hat": [{"k": 1, "rate": 0.8}, {"k": 3, "rate": 0.5}, {"k": 5, "rate": None}]},
            ["passes every time (pass^k): 80 % 1×, 50 % 3×"],
        ),
    ],
)
def test_sentences(known: dict[str, Any], sentences: list[str]) -> None:
    assert list(standing({**NOTHING, **known})) == sentences
