"""pass^k and the smallest drop of a run, from journals."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_verica.report.detectable import most_detectable
from pytest_verica.report.samples import Samples, pass_hat
from pytest_verica.report.summary import read_run
from tests.unit.report.journals import EVAL, HEADER, case, eval_record, verdict, write


def test_pass_hat_by_hand() -> None:
    """Of 5 samples 5 and 3 passed: pass^1 = (1 + 3/5)/2, pass^2 = (1 + 3/10)/2, pass^5 = (1 + 0)/2."""
    found = pass_hat({"tone": {"a": Samples(5), "b": Samples(3, 2)}}, 5)
    assert [(each["k"], each["rate"], each["n"]) for each in found] == [
        (1, 0.8, 2),
        (2, pytest.approx(0.65), 2),
        (3, pytest.approx(0.55), 2),
        (5, 0.5, 2),
    ]


def test_pass_hat_knows_only_what_was_graded() -> None:
    found = pass_hat({"tone": {"a": Samples(2, 0, 1), "b": Samples(0, 0, 0, 3)}}, 3)
    assert found == [
        {"k": 1, "rate": 1.0, "n": 1},
        {"k": 2, "rate": 1.0, "n": 1},
        {"k": 3, "rate": None, "n": 0},
    ]


def test_samples_of_a_run(tmp_path: Path) -> None:
    outcomes = [("pass", "pass", "fail"), ("na", "error", "pass")]
    records = [HEADER, eval_record(criteria=["tone"], repeat=3, planned=6, selected=6)]
    for number, of_case in enumerate(outcomes, 1):
        for sample, outcome in enumerate(of_case):
            records += [case(number, sample=sample), verdict(number, "tone", outcome, sample=sample)]
    records.append(verdict(1, "tone", "pass", sample=2))  # rerun: it takes the place of the fail
    totals = read_run(write(tmp_path / "journal.jsonl", records)).evals[EVAL].totals
    assert totals.samples == {"tone": {"row-0001": Samples(3), "row-0002": Samples(1, 0, 1, 1)}}
    assert totals.counts.effective_n == 2.0
    assert most_detectable(totals).n == 2
    assert (totals.priced_outputs, totals.sampling_calls) == (6, 6)


def test_the_smallest_drop_is_that_of_the_criterion_with_the_most(tmp_path: Path) -> None:
    records = [HEADER, eval_record(planned=20, selected=20)]
    for number in range(1, 11):
        records += [case(number), verdict(number, "amount", "pass"), verdict(number, "tone", "na")]
    found = most_detectable(read_run(write(tmp_path / "journal.jsonl", records)).evals[EVAL].totals)
    assert found.n == 10 and found.drop == pytest.approx(0.7, abs=0.05)
