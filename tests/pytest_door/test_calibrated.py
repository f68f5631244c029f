"""The gate that knows its judge: whole runs with a scripted judge, and labels beside the golden set."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence

import pytest
from click.testing import CliRunner

from pytest_verica.calibration.judged import read_judged
from pytest_verica.calibration.label import Label
from pytest_verica.calibration.label_file import LabelFile
from pytest_verica.calibration.queue import draw_queue
from pytest_verica.cli.command import verica
from tests.pytest_door.conftest import Run, Suite, judge, text

NUMBER = 120
SCRIPT = """
def answer(request):
    n = int(request.messages[-1].content.split("answer ")[1].split()[0])
    return {{"reasoning": "seen", "score": {score}}}
"""


class Site:
    """An eval of recorded answers with the judge `tone`; `tone_script.py` is how it judges."""

    def __init__(self, suite: Suite, score: str, **gate: object) -> None:
        self.suite = suite
        cases = [{"id": f"order-{n}", "answer": f"answer {n} please"} for n in range(NUMBER)]
        suite.file("tone_script.py", SCRIPT.format(score=score))
        self.gate(cases, gate)

    def gate(self, cases: Sequence[dict[str, str]], gate: dict[str, object]) -> None:
        criteria = [judge("tone", "tone_script:answer"), text("polite", contains="please")]
        self.suite.eval(cases=cases, criteria=criteria, gate=gate)

    def run(self) -> Run:
        return self.suite.run()

    def label(self, people: str, count: int = 100, time: str | None = None, judge_hash: str | None = None) -> None:
        """Labels the queue of the last run. people: a Python expression of `n`, true where a person passes it."""
        journal = sorted(self.suite.path.glob(".verica/runs/*/journal.jsonl"))[-1]
        (judged,) = read_judged(journal)
        when = time or datetime.datetime.now(datetime.timezone.utc).isoformat()
        labels = []
        for queued in draw_queue(judged, most=count):
            n = int(queued.output.case.removeprefix("order-"))
            verdict = "pass" if eval(people, {"n": n}) else "fail"
            known = judge_hash or judged.judge_hash
            labels.append(
                Label("demo.eval.yaml", "tone", *queued.output.key, verdict, "ada", when, known, draw=queued.draw)
            )
        LabelFile(self.suite.path / "demo.labels.jsonl").append(*labels)


GOOD = "0.9 if n % 3 else 0.1"  # two thirds pass
PEOPLE = "n % 3"
"""A person who agrees with GOOD."""


def the_gate(run: Run) -> dict:
    (found,) = run.report["evals"]
    return found["gate"]


def test_a_judge_that_was_never_measured_fails_the_gate_and_says_what_to_do(suite: Suite) -> None:
    run = Site(suite, GOOD, pass_rate=0.5, calibrated=True).run()
    assert run.exit == 1 and run.gates == {"demo.eval.yaml::gate": "failed"}
    (reason,) = the_gate(run)["reasons"]
    assert reason == (
        "tone: the judge was never calibrated; label outputs of this judge: verica label demo --criterion tone"
    )
    assert "demo: judge tone was never calibrated" in run.out


def test_a_green_judge_lets_the_corrected_rate_decide(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.8, calibrated=True)
    site.run()
    site.label(PEOPLE)
    run = site.run()
    assert run.exit == 0, run.out
    gate = the_gate(run)
    judged = gate["numbers"]["calibrated"]["judges"]["tone"]
    assert judged["light"] == "green" and judged["rate"] == pytest.approx(2 / 3, abs=1e-9)
    assert gate["numbers"]["calibrated"]["rate"] == pytest.approx((2 / 3 + 1) / 2)
    assert gate["reasons"] == ["corrected 83.33% of 240 graded (tone 66.7% instead of 66.7%), 80.0% wanted"]
    assert "never calibrated" not in run.out


def test_the_corrected_rate_fails_where_the_raw_one_would_pass(suite: Suite) -> None:
    """The judge passes 108 of 120; four of those a person fails. With `polite`, which always passes: 95 % raw."""
    site = Site(suite, "0.1 if n % 10 == 0 else 0.9", pass_rate=0.94, calibrated=True)
    site.run()
    site.label("n % 10 != 0 and n % 30 != 9", count=NUMBER)
    run = site.run()
    gate = the_gate(run)
    numbers = gate["numbers"]
    assert (numbers["rate"], numbers["calibrated"]["rate"]) == (0.95, pytest.approx((104 + 120) / 240))
    assert run.exit == 1 and gate["reasons"] == [
        "corrected 93.33% of 240 graded (tone 86.7% instead of 90.0%), 94.0% wanted"
    ]


def test_confidence_takes_the_lower_bound(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.5, criteria={"tone": 0.65}, calibrated=True)
    site.run()
    site.label(PEOPLE)
    assert site.run().exit == 0
    cases = [{"id": f"order-{n}", "answer": f"answer {n} please"} for n in range(NUMBER)]
    site.gate(cases, {"pass_rate": 0.5, "criteria": {"tone": 0.65}, "calibrated": True, "confidence": 0.95})
    run = site.run()
    gate = the_gate(run)
    low = gate["numbers"]["calibrated"]["judges"]["tone"]["low"]
    assert run.exit == 1 and 0.5 < low < 0.65
    assert gate["reasons"] == [f"tone: {low:.2%} (at least, corrected), 65.0% wanted"]


def test_a_red_judge_fails_the_gate(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.1, calibrated=True)
    site.run()
    site.label("n % 2")  # a person who has nothing to do with it
    run = site.run()
    assert run.exit == 1 and "tone: the light is red: The correction is not reliable" in the_gate(run)["reasons"][0]


def test_a_judge_that_changed_fails_until_its_outputs_are_judged_again(suite: Suite) -> None:
    """Labels of other outputs, of a judge that is no more."""
    site = Site(suite, GOOD, pass_rate=0.5, calibrated=True)
    site.run()
    site.label(PEOPLE, judge_hash="an earlier judge")
    cases = [{"id": f"order-{n}", "answer": f"answer {n} please!"} for n in range(NUMBER)]
    site.gate(cases, {"pass_rate": 0.5, "calibrated": True})
    run = site.run()
    assert run.exit == 1 and "tone: the judge changed since it was calibrated; label" in the_gate(run)["reasons"][0]
    assert "demo: judge tone changed since it was calibrated" in run.out


def test_labels_are_reused_on_other_outputs_of_the_same_judge(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.5, calibrated=True)
    site.run()
    site.label(PEOPLE)
    cases = [{"id": f"order-{n}", "answer": f"answer {n} please!"} for n in range(NUMBER)]
    site.gate(cases, {"pass_rate": 0.5, "calibrated": True})
    run = site.run()
    assert run.exit == 0, run.out
    assert the_gate(run)["numbers"]["calibrated"]["judges"]["tone"]["rate"] == pytest.approx(2 / 3)


def test_old_labels(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.5, calibrated=True, max_label_age_days=30)
    site.run()
    site.label(PEOPLE, time="2020-01-01T00:00:00Z")
    run = site.run()
    assert run.exit == 1 and "30 days are allowed; label outputs" in the_gate(run)["reasons"][0]
    site.label(PEOPLE)
    assert site.run().exit == 0


def test_damaged_labels_fail_the_gate_with_their_line(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.5, calibrated=True)
    suite.file("demo.labels.jsonl", "<<<<<<< HEAD\n")
    run = site.run()
    assert run.exit == 1 and "demo.labels.jsonl:1: no label" in the_gate(run)["reasons"][-1]


def test_an_ordinary_run_names_its_judges_and_passes(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.5)
    run = site.run()
    assert run.exit == 0 and "demo: judge tone was never calibrated; to measure: verica label demo" in run.out
    site.label(PEOPLE, count=1)
    assert "calibrated" not in site.run().out


def test_a_run_without_judges_says_nothing(suite: Suite) -> None:
    suite.eval(gate=0.5)
    assert "calibrated" not in suite.run().out


def test_the_column_counts_as_labels(suite: Suite) -> None:
    cases = [
        {"id": f"order-{n}", "answer": f"answer {n} please", "verica_label_tone": "yes" if n % 3 else "no"}
        for n in range(NUMBER)
    ]
    suite.file("tone_script.py", SCRIPT.format(score=GOOD))
    suite.eval(cases=cases, criteria=[judge("tone", "tone_script:answer")], gate={"pass_rate": 0.6, "calibrated": True})
    run = suite.run()
    assert run.exit == 0, json.dumps(the_gate(run))
    assert "never calibrated" not in run.out


def test_merged_shards_ask_the_labels_too(suite: Suite) -> None:
    site = Site(suite, GOOD, pass_rate=0.8, calibrated=True)
    site.run()
    site.label(PEOPLE)
    names: list[str] = []
    for number in (1, 2):
        before = set(suite.path.glob(".verica/runs/*"))
        suite.run(f"--verica-shard={number}/2")
        (kept,) = set(suite.path.glob(".verica/runs/*")) - before
        names.append(kept.name)
    report = suite.path / "merged.json"
    result = CliRunner().invoke(verica, ["merge", *names, "--root", str(suite.path), "--report", str(report)])
    assert result.exit_code == 0, result.output
    gate = json.loads(report.read_text())["evals"][0]["gate"]
    assert gate["status"] == "passed", gate
    assert gate["numbers"]["calibrated"]["judges"]["tone"]["light"] == "green"
