"""The options that have to do with gates, and what a run remembers of earlier ones."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from pytest_verica.report.schema import report_schema
from tests.pytest_door.conftest import Run, Suite, text

PLEASE = {"id": "one", "answer": "yes, please"}
NO = {"id": "two", "answer": "no"}
HELD = {"pass_rate": 0.1, "baseline": {"max_regressions": 0}}

BOT = """
import os


def answer(case):
    return "please" if case["then" if os.environ.get("THEN") else "now"] else "no"
"""


def held(suite: Suite, *pairs: tuple[int, int], **keys: Any) -> None:
    """An eval whose cases pass (1) or fail (0) then and now."""
    suite.file("bot.py", BOT)
    cases = [{"id": f"c{number}", "then": then, "now": now} for number, (then, now) in enumerate(pairs)]
    suite.eval(cases=cases, target={"python": "bot:answer"}, **{"gate": HELD, **keys})


def first_run(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("THEN", "1")
    run = suite.run("--verica-baseline", "none")
    monkeypatch.delenv("THEN")
    return run


def gate(run: Run) -> Any:
    (found,) = run.report["evals"]
    jsonschema.validate(run.report, report_schema())
    return found["gate"]


# -- --verica-baseline


def test_without_a_baseline_nothing_runs(suite: Suite) -> None:
    held(suite, (1, 1))
    run = suite.run()
    assert run.exit == 4 and run.words == {}
    assert "demo.eval.yaml:" in run.out and "name one with `--verica-baseline RUN`" in run.out


def test_none_makes_the_first_one(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    held(suite, (1, 1))
    run = first_run(suite, monkeypatch)
    assert run.exit == 0
    assert gate(run)["reasons"][-1] == "held against no earlier run (`--verica-baseline none`)"


@pytest.mark.parametrize("name", ["last", "#1", "1", "path"])
def test_names_of_a_baseline(suite: Suite, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    held(suite, (1, 0), (1, 1))
    first = first_run(suite, monkeypatch).report["run"]["id"]
    run = suite.run("--verica-baseline", f".verica/runs/{first}/report.json" if name == "path" else name)
    assert run.exit == 1 and run.gates == {"demo.eval.yaml::gate": "failed"}
    assert "c0::polite" in gate(run)["reasons"][0] and first in gate(run)["reasons"][0]
    assert gate(run)["numbers"]["baseline"]["regressions"] == 1


@pytest.mark.parametrize("name", ["#7", "last", "nothing/here.json"])
def test_an_unknown_baseline_is_a_usage_error(suite: Suite, name: str) -> None:
    suite.eval()
    run = suite.run("--verica-baseline", name)
    assert run.exit == 4 and "--verica-baseline: no run" in run.out
    assert not (suite.path / ".verica").exists()


def test_an_ini_file_names_a_path_beside_it(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    held(suite, (1, 1))
    report = first_run(suite, monkeypatch).report
    suite.file("kept/baseline.json", json.dumps(report))
    suite.file("pytest.ini", "[pytest]\nverica_baseline = kept/baseline.json\n")
    run = suite.run()
    assert run.exit == 0 and "0 of 1 pairs passed in" in gate(run)["reasons"][-1]


def test_a_partial_selection_needs_no_baseline(suite: Suite) -> None:
    held(suite, (1, 1), (1, 1))
    run = suite.run("-k", "c0")
    assert run.exit == 0 and run.gates == {"demo.eval.yaml::gate": "skipped"}
    assert suite.run("--collect-only").exit == 0


def test_what_cannot_be_compared_is_told_before_launch(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    held(suite, (1, 1))
    first_run(suite, monkeypatch)
    held(suite, (1, 1), criteria=[text("polite", contains="pleas")])
    run = suite.run("--verica-baseline", "last")
    assert run.exit == 4 and "no verdict of #0001" in run.out and run.words == {}
    held(suite, (1, 1), name="another")
    (suite.path / "demo.eval.yaml").rename(suite.path / "other.eval.yaml")
    run = suite.run("--verica-baseline", "last")
    assert run.exit == 4 and "has no eval 'another'" in run.out


def test_of_a_changed_golden_set_the_rest_is_compared(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    held(suite, (1, 1), (1, 1))
    first_run(suite, monkeypatch)
    held(suite, (1, 1), (1, 1), (0, 0))
    run = suite.run("--verica-baseline", "last")
    assert run.exit == 0
    assert gate(run)["reasons"][-1].endswith("not compared: 1 of 3 cases are new or changed")


def test_a_baseline_that_is_all_other_cases_fails(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    held(suite, (1, 1))
    first_run(suite, monkeypatch)
    suite.eval(cases=[{"id": "new", "then": 1, "now": 1}], target={"python": "bot:answer"}, gate=HELD)
    run = suite.run("--verica-baseline", "last")
    assert run.exit == 1 and "nothing that passed in #0001" in gate(run)["reasons"][0]


def test_a_baseline_that_nothing_asks_for_is_said(suite: Suite) -> None:
    suite.eval(gate=0.5)
    suite.run()
    run = suite.run("--verica-baseline", "last")
    assert run.exit == 0 and "no gate has `baseline`, so nothing was held against that run" in run.out


@pytest.mark.slow
def test_workers_are_told_of_the_baseline(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before launch in the workers, after it in the controller; `last` is not the run that has just begun."""
    held(suite, (1, 1))
    first_run(suite, monkeypatch)
    run = suite.run("--verica-baseline", "last", "-n2")
    assert run.exit == 0 and "0 of 1 pairs passed in #0001" in gate(run)["reasons"][-1]
    held(suite, (1, 1), gate={"baseline": {"max_regressions": 1}})
    run = suite.run("--verica-baseline", "last", "-n2")
    assert run.exit != 0 and "max_regressions is 1, and 1 verdicts passed" in run.out and run.words == {}


# -- --verica-gate


ERRED = {"id": "three", "answer": ""}


def test_the_run_gate_leaves_errors_to_gates_that_allow_them(suite: Suite) -> None:
    suite.eval("a", cases=[PLEASE, ERRED], gate={"max_errors": 1})
    suite.eval("b", cases=[PLEASE])
    run = suite.run("--verica-gate", "0.9")
    assert run.exit == 0
    assert run.gates == {"a.eval.yaml::gate": "passed", "verica::gate": "passed"}
    assert "1 error left to the max_errors of the evals' own gates" in run.report["gate"]["reasons"][-1]


def test_other_errors_fail_the_run_gate(suite: Suite) -> None:
    suite.eval("a", cases=[PLEASE, ERRED], gate={"max_errors": 1})
    suite.eval("b", cases=[PLEASE, ERRED])
    run = suite.run("--verica-gate", "0.9")
    assert run.exit == 1
    assert run.gates == {"a.eval.yaml::gate": "passed", "verica::gate": "failed"}
    assert run.report["gate"]["reasons"][0] == "2 errors, 1 allowed"


# -- --verica-sample, --verica-repeat


def test_a_sample_that_cannot_pass_is_refused(suite: Suite) -> None:
    suite.eval(cases=[{"id": f"c{n}", "answer": "please"} for n in range(6)], gate={"min_graded": 5})
    run = suite.run("--verica-sample", "4")
    assert run.exit == 2 and "the eval has 4 verdicts" in run.out and "(with `--verica-sample 4`)" in run.out
    run = suite.run("--verica-sample", "5")
    assert run.exit == 0 and gate(run)["reasons"][0].endswith("(judged on a sample of 5 cases)")


def test_a_repeat_that_cannot_pass_is_refused(suite: Suite) -> None:
    suite.eval(gate={"repeat": {"min_passes": 2}}, repeat=3)
    assert suite.run().exit == 0
    run = suite.run("--verica-repeat", "1")
    assert run.exit == 2 and "min_passes is 2 and each case is sampled 1 times" in run.out


def test_repeats_in_summary_and_report(suite: Suite) -> None:
    suite.file("script.py", "def answer(request):\n    return 'please' if request.repeat < 2 else 'no'\n")
    prompt, model = {"user": "{{ answer }}"}, {"provider": "scripted", "name": "script:answer"}
    gate_of = {"pass_rate": 1.0, "repeat": {"min_passes": 2}}
    suite.eval(cases=[PLEASE, NO], prompt=prompt, model=model, repeat=3, gate=gate_of)
    run = suite.run()
    assert run.exit == 0, run.out
    (found,) = run.report["evals"]
    assert gate(run)["reasons"] == ["2 of 2 passed at least 2 of 3 times (100 %), 100 % wanted"]
    # 2 of 3 pass: pass^1 = 2/3, pass^2 = 1/3, pass^3 = 0; and six verdicts of two cases are worth two.
    assert [each["rate"] for each in found["pass_hat"]] == [pytest.approx(2 / 3), pytest.approx(1 / 3), 0]
    assert found["detectable_drop"]["n"] == 2
    assert "passes every time (pass^k): 66.7 % 1×, 33.3 % 2×, 0 % 3×" in run.out


# -- versions, earlier runs


def test_versions_by_content(suite: Suite) -> None:
    """A prompt edited and restored is one version; two models do not make two; a criterion has its own."""
    suite.file("script.py", "def answer(request):\n    return 'please'\n\nother = answer\n")

    def versions(user: str, model: str = "script:answer", word: str = "please", **params: Any) -> tuple[Any, Any]:
        suite.eval(
            cases=[PLEASE],
            prompt={"user": user},
            model={"provider": "scripted", "name": model, "params": params},
            criteria=[text("polite", contains=word)],
        )
        run = suite.run()
        jsonschema.validate(run.report, report_schema())
        (found,) = run.report["evals"]
        return found["prompt"]["version"], found["criteria"][0]["version"]

    assert versions("{{ answer }}") == (1, 1)
    assert versions("{{ answer }} ") == (2, 1)
    assert versions("{{ answer }}") == (1, 1)
    assert versions("{{ answer }}", "script:other") == (1, 1)
    assert versions("{{ answer }}", temperature=1) == (1, 1)
    assert versions("{{ answer }}", word="plea") == (1, 2)
    assert versions("{{ answer }}!", word="please") == (3, 1)


def test_earlier_runs_stand_beside_the_threshold(suite: Suite) -> None:
    """Of seven runs the last, and the mean of the last five; parts of an eval do not count."""
    passed = [0, 1, 2, 4, 4, 3, 4]
    for number, good in enumerate(passed):
        cases = [{"id": f"c{n}", "answer": "please" if n < good else "no"} for n in range(4)]
        suite.eval(cases=cases, gate=0.01 if good else None)
        suite.run()
        if number == 3:
            suite.run("-k", "c0")
            suite.run("--verica-sample", "1")
    run = suite.run()
    (found,) = run.report["evals"]
    assert found["history"]["last"] == {**found["history"]["last"], "passed": 4, "graded": 4, "rate": 1.0}
    assert found["history"]["mean"] == {"rate": pytest.approx(sum([2, 4, 4, 3, 4]) / 20), "runs": 5}
    assert "last run 100 % (4 of 4); mean of the last 5: 85 %" in run.out


def test_the_smallest_drop_stands_in_summary_and_report(suite: Suite) -> None:
    suite.eval(cases=[{"id": f"c{n}", "answer": "please"} for n in range(20)])
    run = suite.run()
    (found,) = run.report["evals"]
    assert found["detectable_drop"]["drop"] == pytest.approx(0.365, abs=0.01)
    assert "smallest drop that 20 cases could show: 36" in run.out
