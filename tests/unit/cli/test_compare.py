"""`verica compare`: what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Verica
from tests.unit.compare.test_comparison import A, B, newcombe
from tests.unit.compare.test_comparison import run as kept
from tests.unit.report.kept_runs import MODEL


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "80")
    prompts = [{"user": "{{ q }}\nUse Markdown."}, {"user": "{{ q }}"}]
    kept(tmp_path, A, {"tone": "p" * 16 + "ffff", "amount": "p" * 19 + "n"}, prompt=prompts[0], model=MODEL)
    kept(tmp_path, B, {"tone": "f" + "p" * 18 + "f", "amount": "p" * 19 + "n"}, prompt=prompts[1], model=MODEL)
    return tmp_path


def test_rates_differences_changes_and_flips(run: Verica, two: Path) -> None:
    result = run("compare", "#1", "#2")
    assert result.exit_code == 0, result.output
    found = [" ".join(line.split()) for line in result.output.splitlines()]
    low, high = (f"{bound * 100:+.1f}" for bound in newcombe(15, 1, 3, 1))
    none = f"{newcombe(19, 0, 0, 0)[1] * 100:.1f}"
    for line in (
        "refunds: all 20 cases are comparable",
        # 16 of 20 and 18 of 20; three fixed, one broke: 2 × (1 + 4) / 16 = 0.625.
        f"tone A 80 % → B 90 % of 20 +10.0 points [{low}, {high}] p = 0.625 (exact McNemar) 3 fixed · 1 broke",
        f"amount A 100 % → B 100 % of 19 +0.0 points [-{none}, +{none}] p = 1 (exact McNemar) "
        "0 fixed · 0 broke 1 not graded in both",
        "-Use Markdown.",
        "1 verdict broke (passed in A, fails in B):",
        "3 verdicts fixed (failed in A, passes in B):",
        "row-0001 · tone",
        "A: answer 1 | B: answer 1",
        "→ found | → not found",
    ):
        assert line in found


def test_few_flips_are_shown_where_few_are_wanted(run: Verica, two: Path) -> None:
    text = run("compare", "#1", "#2", "--flips", "1").output
    assert "2 more (--flips shows them)" in text
    assert text.count("· tone") == 2


def test_as_json(run: Verica, two: Path) -> None:
    found = json.loads(run("compare", "#1", "#2", "--format", "json").output)
    tone = found["evals"][0]["criteria"][0]
    assert (tone["rate_a"], tone["rate_b"], tone["p"]) == (0.8, 0.9, 0.625)
    assert len(found["evals"][0]["flips"]) == 4


def test_a_run_that_is_not_there_is_said(run: Verica, two: Path) -> None:
    result = run("compare", "#1", "#9")
    assert result.exit_code == 1
    assert "no run '#9'" in result.output
