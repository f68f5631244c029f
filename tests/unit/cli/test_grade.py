"""`verica grade`: the verdict, its exit code, and everything that can be wrong with what was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Verica

ROWS = """\
id,answer,wanted,amount
one,"yes, please: 12.50",please,12.50
two,no,please,
a b,,,
"""
CRITERIA = """\
criteria:
  - {name: polite, type: text_check, contains: "{{ wanted }}"}
  - {name: is it right?, type: number_check, extract: last, equals: "{{ amount }}"}
  - {name: slow, type: text_check, matches: "^(a|aa)+$", timeout_ms: 20}
  - {name: scored, type: python_check, python: "local_checks:half", pass_at: 0.4}
  - {name: breaks, type: python_check, python: "local_checks:breaks"}
  - {name: absent, type: python_check, python: "no_such_module_here:check"}
  - {name: unknown, type: text_check, contains: "{{ wnated }}"}
  - {name: calls, type: tool_check, tool: search}
  - name: judged
    type: label_model
    prompt: "{{ output.text }}"
    labels: [a, b]
    passing_labels: [a]
    model: {provider: scripted, name: m}
"""
CHECKS = """\
def half(output, case):
    return 0.5


def breaks(output, case):
    raise ValueError("oops \\ud800")
"""


@pytest.fixture
def shop(run: Verica, tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "local_checks.py").write_text(CHECKS)
    (tmp_path / "shop.eval.yaml").write_text(f"golden_set: rows.csv\ntarget: {{column: answer}}\n{CRITERIA}")
    (tmp_path / "live.eval.yaml").write_text(f'golden_set: rows.csv\ntarget: {{python: "no:target"}}\n{CRITERIA}')
    (tmp_path / "answer.txt").write_text("é please", "utf-8")
    (tmp_path / "latin.txt").write_bytes(b"\xe9")
    return tmp_path


VERDICTS = [
    # arguments, exit code, what is printed
    (["--criterion", "polite"], 0, ["polite (text_check), case one: pass", "  the response contains 'please'"]),
    (["--criterion", "polite", "--case", "two"], 1, ["polite (text_check), case two: fail", "it is 'no'"]),
    (["--criterion", "polite", "--case", "a b", "--output", "x"], 3, [": na", "  no expected value"]),
    (["--criterion", "is it right?"], 0, ["the response is 12.5; wanted equal to 12.5"]),
    (["--criterion", "is_it_right_", "--output", "It is 13."], 1, ["is 13; wanted equal to 12.5"]),  # as in node ids
    (["--criterion", "polite", "--case", "two", "--output", "please"], 0, ["contains 'please'"]),
    (["--criterion", "polite", "--output", "@answer.txt"], 0, ["contains 'please'"]),
    (["--criterion", "slow", "--output", "a" * 60 + "!"], 2, [": error", "took longer than 20 ms", "  regex_timeout:"]),
    (["--criterion", "scored"], 0, ["  score: 0.5"]),
    (["--criterion", "breaks"], 2, ["raised ValueError", "  exception:", "    Traceback"]),
]


@pytest.mark.parametrize(("arguments", "code", "printed"), VERDICTS)
def test_verdicts(run: Verica, shop: Path, arguments: list[str], code: int, printed: list[str]) -> None:
    result = run("grade", "shop.eval.yaml", *arguments)
    assert result.exit_code == code, result.output
    for part in printed:
        assert part in result.output


WRONG = [
    (["shop.eval.yaml"], "Missing option '--criterion'"),
    (["absent.eval.yaml", "--criterion", "polite"], "does not exist"),
    (
        ["shop.eval.yaml", "--criterion", "polit"],
        "shop.eval.yaml:3: no criterion is named 'polit'; did you mean 'polite'? there are: polite,",
    ),
    (["shop.eval.yaml", "--criterion", "polite", "--case", "tow"], "no case 'tow'; did you mean 'two'? there are: one"),
    (["shop.eval.yaml", "--criterion", "judged"], "asks a model; `pytest --verica"),
    (["shop.eval.yaml", "--criterion", "absent"], "shop.eval.yaml:9: there is no module no_such_module_here"),
    (["shop.eval.yaml", "--criterion", "unknown"], "shop.eval.yaml:10: `wnated` is not a column"),
    (["shop.eval.yaml", "--criterion", "polite", "--case", "a b"], "has no output"),
    (["shop.eval.yaml", "--criterion", "calls"], "shop.eval.yaml:11: the target names no column of tool calls"),
    (["live.eval.yaml", "--criterion", "polite"], "give one with --output TEXT or --output @FILE"),
    (["shop.eval.yaml", "--criterion", "polite", "--output", "@no.txt"], "no.txt cannot be read: No such file"),
    (["shop.eval.yaml", "--criterion", "polite", "--output", "@latin.txt"], "latin.txt is not UTF-8: byte 0"),
    (["broken.eval.yaml", "--criterion", "polite"], "broken.eval.yaml:3: "),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG)
def test_what_is_wrong_ends_with_2_and_a_sentence(run: Verica, shop: Path, arguments: list[str], says: str) -> None:
    broken = "golden_set: rows.csv\ncriteria:\n  - {name: polite, type: text_chek, contains: a}\n"
    (shop / "broken.eval.yaml").write_text(broken)
    result = run("grade", *arguments)
    assert result.exit_code == 2, result.output
    assert says in result.output
    assert "Traceback" not in result.output


def test_a_target_that_would_be_called_is_not_loaded(run: Verica, shop: Path) -> None:
    assert run("grade", "live.eval.yaml", "--criterion", "polite", "--output", "please").exit_code == 0


def test_the_rest_of_a_recorded_output_stays(run: Verica, shop: Path) -> None:
    (shop / "rows.jsonl").write_text('{"id": "one", "answer": "x", "calls": [{"name": "search", "arguments": {}}]}\n')
    (shop / "agent.eval.yaml").write_text(
        "golden_set: rows.jsonl\ntarget: {column: answer, tool_calls: calls}\n"
        "criteria:\n  - {name: calls, type: tool_check, tool: search}\n"
    )
    assert run("grade", "agent.eval.yaml", "--criterion", "calls", "--output", "y").exit_code == 0


def test_nothing_is_kept(run: Verica, shop: Path) -> None:
    before = {path.name for path in shop.iterdir()}
    run("grade", "shop.eval.yaml", "--criterion", "polite")
    assert {path.name for path in shop.iterdir()} - {"__pycache__"} == before
