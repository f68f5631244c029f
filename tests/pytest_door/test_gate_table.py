"""Every key of a gate × passes, fails, at the edge, cannot be judged: text, junit and exit code agree, also under -n.

All evals of a kind stand in one suite, which is run once in one process and once in two; each row looks into what those
runs left behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.pytest_door.conftest import OBSERVER, OTHER_PLUGINS, Suite

ANSWERS = '''
"""Answers that a case's columns spell out: one letter a sample, or one for each of two phases."""
import os
from decimal import Decimal

from pytest_verica import Output

WORDS = {"P": "yes", "F": "no"}


def sampled(request):
    return WORDS[request.messages[-1].content[request.repeat]]


def phased(case):
    letter = case["letters"][int(os.environ["PHASE"])]
    if letter == "E":
        raise RuntimeError("no answer")
    return WORDS[letter]


def costly(case):
    return Output(text="yes", cost=Decimal(case["cost"]))


def plain(case):
    return "yes"
'''

YES = {"name": "yes", "type": "text_check", "equals": "yes"}
IF_ASKED = {"only_if": {"variable": "{{ asked }}", "condition": "equals", "value": "y"}}


@dataclass(frozen=True)
class Row:
    """One eval. key and point: of the table; letters: a case each (P, F, N for N/A, E for an error), or what the
    samples or phases of each case do; said: a part of the gate's first or last reason."""

    key: str
    point: str
    gate: Any
    letters: Any
    status: str
    said: str
    target: str = "column"
    repeat: int = 1
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.key}-{self.point}".replace(".", "-")

    def document(self) -> dict[str, Any]:
        targets: dict[str, dict[str, Any]] = {
            "column": {"target": {"column": "answer"}},
            "sampled": {
                "prompt": {"user": "{{ letters }}"},
                "model": {"provider": "scripted", "name": "answers:sampled"},
            },
            "phased": {"target": {"python": "answers:phased"}},
            "costly": {"target": {"python": "answers:costly"}},
            "plain": {"target": {"python": "answers:plain"}},
        }
        document = {
            "golden_set": f"{self.name}.jsonl",
            **targets[self.target],
            "repeat": self.repeat,
            "criteria": [{**YES, **(IF_ASKED if "N" in self.letters else {})}],
            "gate": self.gate,
        }
        return {**document, **self.more}

    def cases(self) -> Iterator[dict[str, Any]]:
        for number, letter in enumerate(self.letters):
            answer = {"P": "yes", "F": "no", "N": "yes"}.get(letter, "")
            asked = "n" if letter == "N" else "y"
            yield {"id": f"c{number:02}", "answer": answer, "asked": asked, "letters": letter, "cost": letter}


TWO = [YES, {"name": "also", "type": "text_check", "equals": "yes", **IF_ASKED}]
BASELINE = "baseline.max_regressions"

ROWS = [
    Row("pass_rate", "passes", 0.7, "PPPPPPPPFF", "passed", "8 of 10 passed (80 %), 70 % wanted"),
    Row("pass_rate", "edge", 0.8, "PPPPPPPPFF", "passed", "8 of 10 passed (80 %), 80 % wanted"),
    Row("pass_rate", "fails", 0.81, "PPPPPPPPFF", "failed", "8 of 10 passed (80 %), 81 % wanted"),
    Row("pass_rate", "unjudged", 0.1, "NNN", "failed", "nothing was graded: 3 not applicable, 0 errors"),
    Row("criteria", "passes", {"pass_rate": 0.1, "criteria": {"yes": 0.5}}, "PPPF", "passed", "3 of 4 passed"),
    Row("criteria", "edge", {"pass_rate": 0.1, "criteria": {"yes": 0.75}}, "PPPF", "passed", "3 of 4 passed"),
    Row(
        "criteria",
        "fails",
        {"pass_rate": 0.1, "criteria": {"yes": 0.76}},
        "PPPF",
        "failed",
        "yes: 3 of 4 passed (75 %)",
    ),
    Row(
        "criteria",
        "unjudged",
        {"pass_rate": 0.1, "criteria": {"also": 0.1}},
        "NN",
        "failed",
        "also: nothing was graded, 10 % wanted",
        more={"criteria": TWO},
    ),
    Row("max_errors", "passes", {"max_errors": 2}, "PPPE", "passed", "3 of 3 passed"),
    Row("max_errors", "edge", {"max_errors": 1}, "PPPE", "passed", "3 of 3 passed"),
    Row("max_errors", "fails", {"max_errors": 1}, "PPEE", "failed", "2 errors, 1 allowed"),
    Row(
        "max_errors", "unjudged", {"max_errors": 0.9}, "EE", "failed", "nothing was graded: 0 not applicable, 2 errors"
    ),
    Row("max_errors_share", "passes", {"max_errors": 0.5}, "PPPE", "passed", "3 of 3 passed"),
    Row("max_errors_share", "edge", {"max_errors": 0.25}, "PPPE", "passed", "3 of 3 passed"),
    Row("max_errors_share", "fails", {"max_errors": 0.24}, "PPPE", "failed", "1 error, 0 allowed (0.24 of 4)"),
    Row("min_graded", "passes", {"min_graded": 2}, "PPPN", "passed", "3 of 3 passed"),
    Row("min_graded", "edge", {"min_graded": 3}, "PPPN", "passed", "3 of 3 passed"),
    Row("min_graded", "fails", {"min_graded": 4}, "PPPN", "failed", "3 verdicts were graded, at least 4 are wanted"),
    Row("max_na", "passes", {"max_na": 0.6}, "PPNN", "passed", "2 of 2 passed"),
    Row("max_na", "edge", {"max_na": 0.5}, "PPNN", "passed", "2 of 2 passed"),
    Row("max_na", "fails", {"max_na": 0.4}, "PPNN", "failed", "2 of 4 verdicts were not applicable, 0.4 of them"),
    Row("max_na", "unjudged", {"max_na": 0.9}, "NN", "failed", "nothing was graded: 2 not applicable"),
    # One-sided Wilson at 95 %: 30 of 30 → 0.9173, 25 of 25 → 0.9024, 24 of 25 → 0.8391.
    Row("confidence", "passes", {"pass_rate": 0.9, "confidence": 0.95}, "P" * 30, "passed", "30 of 30 passed"),
    Row("confidence", "edge", {"pass_rate": 0.9, "confidence": 0.95}, "P" * 25, "passed", "25 of 25 passed"),
    Row(
        "confidence", "fails", {"pass_rate": 0.9, "confidence": 0.95}, "P" * 24 + "F", "failed", "is 0.8391 (one-sided"
    ),
    # Of three samples; the last case passes twice.
    *(
        Row(
            "repeat",
            point,
            {"pass_rate": rate, "repeat": {"min_passes": least}},
            ["PPP", "PPP", "PPP", "PFP"],
            status,
            said,
            "sampled",
            3,
        )
        for point, rate, least, status, said in (
            ("passes", 1.0, 1, "passed", "4 of 4 passed at least 1 of 3 times (100 %)"),
            ("edge", 1.0, 2, "passed", "4 of 4 passed at least 2 of 3 times (100 %)"),
            ("fails", 1.0, 3, "failed", "3 of 4 passed at least 3 of 3 times (75 %), 100 % wanted"),
        )
    ),
    # The first letter is what the baseline did.
    Row(
        BASELINE,
        "passes",
        {"pass_rate": 0.1, "baseline": {"max_regressions": 1}},
        ["PP", "PP", "FP"],
        "passed",
        "0 of 3 pairs passed in #0001",
        "phased",
    ),
    Row(
        BASELINE,
        "edge",
        {"pass_rate": 0.1, "baseline": {"max_regressions": 1}},
        ["PF", "PP", "FP"],
        "passed",
        "1 of 3 pairs passed in #0001",
        "phased",
    ),
    Row(
        BASELINE,
        "fails",
        {"pass_rate": 0.1, "baseline": {"max_regressions": 0}},
        ["PF", "PP", "FP"],
        "failed",
        "0 allowed, 1 the other way round: c00::yes",
        "phased",
    ),
    Row(
        BASELINE,
        "unjudged",
        {"pass_rate": 0.1, "max_errors": 0.9, "baseline": {"max_regressions": 0}},
        ["PE", "FP"],
        "failed",
        "nothing that passed in #0001",
        "phased",
    ),
    # Exact McNemar: six against none, p = 0.03125; five, 0.0625.
    Row(
        "baseline.alpha",
        "passes",
        {"pass_rate": 0.1, "baseline": {"alpha": 0.05}},
        ["PF"] * 5 + ["PP"] * 3,
        "passed",
        "5 of 8 pairs became worse than in #0001",
        "phased",
    ),
    Row(
        "baseline.alpha",
        "edge",
        {"pass_rate": 0.1, "baseline": {"alpha": 0.03125}},
        ["PF"] * 6 + ["PP"] * 3,
        "failed",
        "p = 0.03125 (exact McNemar), 0.03125 is the limit",
        "phased",
    ),
    Row(
        "baseline.alpha",
        "fails",
        {"pass_rate": 0.1, "baseline": {"alpha": 0.05}},
        ["PF"] * 6 + ["PP"] * 3,
        "failed",
        "yes: 6 of 9 pairs passed in #0001",
        "phased",
    ),
    Row("max_cost_per_case", "passes", {"max_cost_per_case": 0.3}, ["0.1", "0.3"], "passed", "2 of 2", "costly"),
    Row("max_cost_per_case", "edge", {"max_cost_per_case": 0.2}, ["0.1", "0.3"], "passed", "2 of 2", "costly"),
    Row(
        "max_cost_per_case",
        "fails",
        {"max_cost_per_case": 0.19},
        ["0.1", "0.3"],
        "failed",
        "a case costs $0.2, $0.19",
        "costly",
    ),
    Row("max_cost_per_case", "unjudged", {"max_cost_per_case": 1}, ["0", "0"], "failed", "told of no cost", "plain"),
]
PASSING = [row for row in ROWS if row.status == "passed"]
FAILING = [row for row in ROWS if row.status == "failed"]

# Before launch: what would never pass, or never fail.
REFUSED = [
    Row("min_graded", "unjudged", {"min_graded": 4}, "PPP", "", "the gate cannot be passed: min_graded is 4"),
    Row("confidence", "unjudged", {"pass_rate": 0.9, "confidence": 0.95}, "P" * 24, "", "the lower bound is 0.8987"),
    Row(
        "repeat", "unjudged", {"repeat": {"min_passes": 4}}, ["PPP"], "", "min_passes is 4 and each case", "sampled", 3
    ),
    Row("max_errors", "unfailing", {"max_errors": 3}, "PPP", "", "cannot fail for errors: max_errors is 3"),
    Row("max_na", "unfailing", {"max_na": 1}, "PPP", "", "a fraction of 1 allows everything and cannot fail"),
    Row("pass_rate", "unfailing", 0, "PPP", "", "a pass rate of 0 cannot fail"),
    Row("max_cost_per_case", "unfailing", {"max_cost_per_case": 1}, "PPP", "", "cannot fail for its cost"),
]


@dataclass(frozen=True)
class Ended:
    """A run that ended: its exit code, what it printed, and what other plugins were told of."""

    exit: int
    out: str
    told: Mapping[str, Mapping[str, str]]
    junit: Path
    report: Mapping[str, Any]

    @cached_property
    def cases(self) -> dict[tuple[str, str], ET.Element]:
        found = ET.parse(self.junit).getroot().iter("testcase")
        return {(case.get("classname", ""), case.get("name", "")): case for case in found}


def write(folder: Path, rows: list[Row]) -> None:
    (folder / "answers.py").write_text(ANSWERS)
    (folder / "observer.py").write_text(OBSERVER)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for row in rows:
        (folder / f"{row.name}.jsonl").write_text("".join(json.dumps(case) + "\n" for case in row.cases()))
        (folder / f"{row.name}.eval.yaml").write_text(json.dumps(row.document()))


def run(folder: Path, *args: str, phase: int = 1) -> Ended:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("VERICA", "GITHUB", "CI"))}
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    junit = folder / "junit.xml"
    seen = folder / "observed.jsonl"
    seen.unlink(missing_ok=True)
    before = set(folder.glob(".verica/runs/*/report.json"))
    without = [f"-pno:{name}" for name in OTHER_PLUGINS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "observer", *without, "--verica", f"--junit-xml={junit}", *args],
        cwd=folder,
        env={**environment, "PYTHONPATH": path, "PHASE": str(phase)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    told = [json.loads(line) for line in seen.read_text().splitlines()] if seen.exists() else []
    written = set(folder.glob(".verica/runs/*/report.json")) - before
    report = json.loads(written.pop().read_text()) if written else {}
    return Ended(done.returncode, done.stdout + done.stderr, {each["id"]: each for each in told}, junit, report)


@pytest.fixture(scope="module", params=["alone", pytest.param("-n2", marks=pytest.mark.slow)])
def ended(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ended]:
    """The runs of the passing and of the failing gates, each against a baseline of their own."""
    how = () if request.param == "alone" else ("-n2",)
    found = {}
    for status, rows in (("passed", PASSING), ("failed", FAILING)):
        folder = tmp_path_factory.mktemp(status)
        write(folder, rows)
        first = run(folder, "--verica-baseline", "none", phase=0)
        assert first.exit in (0, 1), first.out
        found[status] = run(folder, "--verica-baseline", "#1", *how)
    return found


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_text_junit_and_report_agree(ended: dict[str, Ended], row: Row) -> None:
    done = ended[row.status]
    gate = done.told[f"{row.name}.eval.yaml::gate"]
    assert gate["outcome"] == row.status, done.out
    (of_eval,) = [found for found in done.report["evals"] if found["name"] == row.name]
    assert of_eval["gate"]["status"] == row.status
    assert row.said in " | ".join(of_eval["gate"]["reasons"])
    printed = done.out.partition("= verica =")[2]
    assert f"{row.status}: {of_eval['gate']['reasons'][0]}" in printed
    case = done.cases[f"{row.name}.eval.yaml", "gate"]
    failures = list(case.iter("failure"))
    if row.status == "failed":
        assert row.said in gate["text"]
        assert len(failures) == 1 and row.said in f"{failures[0].get('message')} {failures[0].text}"
    else:
        assert failures == [] and list(case) == []


def test_exit_codes(ended: dict[str, Ended]) -> None:
    assert (ended["passed"].exit, ended["failed"].exit) == (0, 1), ended["passed"].out


def test_a_passing_run_has_no_failure_in_junit(ended: dict[str, Ended]) -> None:
    root = ET.parse(ended["passed"].junit).getroot()
    assert [*root.iter("failure"), *root.iter("error")] == []
    assert all(suite.get("failures") == suite.get("errors") == "0" for suite in root.iter("testsuite"))


def test_a_failing_run_has_the_gates_failures_only(ended: dict[str, Ended]) -> None:
    root = ET.parse(ended["failed"].junit).getroot()
    failed = {case.get("classname") for case in root.iter("testcase") if list(case.iter("failure"))}
    assert {case.get("name") for case in root.iter("testcase") if list(case.iter("failure"))} == {"gate"}
    assert failed == {f"{row.name}.eval.yaml" for row in FAILING}
    (suite,) = root.iter("testsuite")
    assert (suite.get("failures"), suite.get("errors")) == (str(len(FAILING)), "0")


@pytest.mark.parametrize("key", sorted({row.key for row in FAILING if row.target != "phased"}))
def test_one_failing_gate_is_enough(suite: Suite, key: str) -> None:
    """The exit code of a run whose only failure is that of one gate."""
    row = next(row for row in FAILING if row.key == key and row.point == "fails")
    write(suite.path, [row])
    done = suite.run()
    assert done.exit == 1
    assert done.gates == {f"{row.name}.eval.yaml::gate": "failed"}
    assert set(done.verdicts.values()) <= {"passed", "missed", "skipped", "errored"}


@pytest.fixture(scope="module", params=["alone", pytest.param("-n2", marks=pytest.mark.slow)])
def refused(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = tmp_path_factory.mktemp("refused")
    write(folder, REFUSED)
    return run(folder, *(() if request.param == "alone" else ("-n2",)))


@pytest.mark.parametrize("row", REFUSED, ids=[row.name for row in REFUSED])
def test_refused_before_launch(refused: Ended, row: Row) -> None:
    """A collection error with file and line; nothing ran, nothing was written."""
    assert refused.exit in (1, 2)  # xdist ends a session whose collection failed with 1
    assert f"{row.name}.eval.yaml:1: " in refused.out
    assert row.said in refused.out
    assert refused.report == {} and refused.told == {}
