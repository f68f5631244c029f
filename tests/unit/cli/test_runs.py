"""`verica runs` and `verica show`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Verica
from tests.unit.report.journals import case, eval_record, verdict
from tests.unit.report.kept_runs import FIRST, SECOND, THIRD, header, keep, keep_three, refunds


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    keep_three(tmp_path)
    return tmp_path


def test_runs_are_listed_with_status_rate_and_cost(run: Verica, kept: Path) -> None:
    result = run("runs")
    assert result.exit_code == 0
    heading, *lines = result.output.splitlines()
    assert heading.split("  ")[0] == "run"
    # amount 3 of 3, tone 1 of 2 and one N/A: 4 of 5; three outputs at $0.01 and three judgements at $0.002.
    assert [re.sub(" +", " ", line).partition("$0.006")[0] for line in lines] == [
        "#0003 local ● passed gpt-5-mini 100 %, 5/5, 1 N/A $0.03 + ",
        "#0002 GitHub Actions 1287 … incomplete gpt-5-mini 80 %, 4/5, 1 N/A $0.03 + ",
        "#0001 local ✗ failed gpt-5-mini 80 %, 4/5, 1 N/A $0.03 + ",
    ]
    assert [line.split()[-1] for line in lines] == [THIRD, SECOND, FIRST]


def test_the_list_can_be_shorter_and_of_one_eval(run: Verica, kept: Path) -> None:
    assert [line.split()[0] for line in run("runs", "--limit", 2).output.splitlines()] == [
        "run",
        "#0003",
        "#0002",
        "(3",
    ]
    assert len(run("runs", "--eval", "refunds").output.splitlines()) == 4
    result = run("runs", "--eval", "returns")
    assert result.exit_code == 1
    assert "no run has an eval 'returns'" in result.output


def test_a_reused_run_is_marked_with_its_source(run: Verica, tmp_path: Path) -> None:
    keep(tmp_path, FIRST, refunds(FIRST, ("pass", "pass", "pass"), exit_code=0))
    reused = [
        header(SECOND),
        eval_record(planned=2, selected=2),
        case(1),
        *[verdict(1, name, "pass", taken_from=FIRST) for name in ("amount", "tone")],
    ]
    keep(tmp_path, SECOND, reused)
    assert "↺ reused of #0001" in run("runs").output


def test_a_damaged_run_stays_in_the_list_and_says_why(run: Verica, kept: Path) -> None:
    (kept / ".verica" / "runs" / SECOND / "journal.jsonl").write_text("rubbish\nrubbish\n")
    result = run("runs")
    assert result.exit_code == 0
    assert "? damaged" in result.output
    assert "warning: #0002: " in result.output
    assert "#0001" in result.output


def test_where_nothing_is_kept_the_next_step_is_said(run: Verica, tmp_path: Path) -> None:
    assert "`pytest --verica` makes the first" in run("runs").output
    assert run("show").exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_shown_with_what_did_not_pass(run: Verica, kept: Path) -> None:
    text = run("show", "#1").output
    for line in (
        f"#0001 ({FIRST}): failed, local, launched 2026-12-01T10:15:30Z",
        "refunds: 80 %, 4 of 5 graded passed, 1 N/A, 0 errors, 1 missed",
        "  tone: 50 %, 1 of 2 graded passed, 1 N/A, 0 errors, 1 missed",
        "  gate failed: 4 of 5 passed (80 %), 90 % wanted",
        "  model openai/gpt-5-mini (temperature=0)",
        "  MISSED evals/refunds.eval.yaml::row-0002::tone: not found",
    ):
        assert line in text.splitlines()


def test_a_case_is_shown_whole(run: Verica, kept: Path) -> None:
    text = run("show", "last", "--case", "row-0001").output
    for line in ("  n: 1", "  output: answer 1", "  pass tone: found", "    judge: it blames the customer"):
        assert line in text.splitlines()
    missing = run("show", "last", "--case", "row-9")
    assert (missing.exit_code, "has no case 'row-9'" in missing.output) == (1, True)


def test_no_control_character_reaches_the_terminal(run: Verica, tmp_path: Path) -> None:
    keep(tmp_path, FIRST, [header(FIRST), eval_record(), case(1, columns={"n": "\x1b[2J\u202etxt"})])
    text = run("show", "--case", "row-0001").output
    assert "\x1b" not in text
    assert "\\x1b[2J" in text
