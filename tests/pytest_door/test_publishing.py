"""What a run writes beside its JSON report: HTML, the step's summary, annotations; and its junit, made again."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pytest_verica.cli.command import verica
from tests.pytest_door.conftest import Run, Suite, text

CASES = [
    {"id": "one", "answer": "yes, please"},
    {"id": "two", "answer": "no\n::error::from a model"},
    {"id": "three", "answer": "please do"},
]


@pytest.fixture
def evals(suite: Suite) -> Suite:
    """A gated eval that passes with a miss, one whose gate fails, and one without a gate."""
    criteria = [text("polite", contains="please")]
    suite.eval("gated", cases=CASES, criteria=criteria, gate=0.6)
    suite.eval("strict", cases=CASES, criteria=criteria, gate=0.9)
    suite.eval("plain", cases=CASES, criteria=criteria)
    return suite


def cases_of(suite: ET.Element) -> dict[tuple[str, str], tuple[str, str | None, dict[str, str]]]:
    """(classname, name) -> (outcome element, its type, properties without times)."""
    found = {}
    for each in suite.iter("testcase"):
        inner = next((part for part in each if part.tag != "properties"), None)
        told: Any = ("passed", None) if inner is None else (inner.tag, inner.get("type"))
        properties = {part.get("name", ""): part.get("value", "") for part in each.iter("property")}
        found[(each.get("classname", ""), each.get("name", ""))] = (*told, properties)
    return found


def test_a_run_publishes_where_it_is_asked_to(evals: Suite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(evals.path.parent))
    run = evals.run("--verica-html", "out/report.html", "--junit-xml", "junit.xml")
    assert run.exit == 1
    assert (evals.path / "out" / "report.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    assert f"HTML report: {evals.path / 'out' / 'report.html'}" in run.out
    _check_summary(summary.read_text("utf-8"))
    _check_annotations(run, evals.path.name)
    _check_junit(evals)


def _check_summary(summary: str) -> None:
    assert summary.startswith("before\n## ✗ Evals failed\n")
    for line in (
        "| gated | **66.7 %** | 2 / 3 | 0 | 0 | 1 | passed | $0 | unknown |",
        "| plain | **66.7 %** | 2 / 3 | 0 | 0 | 0 | none | $0 | unknown |",
        "- gate failed: 2 of 3 passed &#40;66.7 %&#41;, 90 % wanted",
    ):
        assert line in summary.splitlines()


def _check_annotations(run: Run, folder: str) -> None:
    found = [line for line in run.out.splitlines() if line.startswith("::")]
    levels = [line.partition("title=")[0] for line in found]
    assert levels == [
        f"::error file={folder}/strict.eval.yaml,line=1,",  # the gate
        f"::error file={folder}/plain.eval.yaml,line=1,",
        f"::warning file={folder}/gated.eval.yaml,line=1,",
        f"::warning file={folder}/strict.eval.yaml,line=1,",
    ]
    assert "    \\::error::from a model" in run.out  # what a model says gives no command
    assert found[0].endswith("title=gate of strict failed::2 of 3 passed (66.7 %25), 90 %25 wanted")


def _check_junit(evals: Suite) -> None:
    """What `verica report` makes of the saved run is what pytest's own writer wrote."""
    result = CliRunner().invoke(verica, ["report", "last", "--format", "junit", "--root", str(evals.path)])
    assert result.exit_code == 0, result.output
    ours, theirs = ET.fromstring(result.stdout_bytes), ET.parse(evals.path / "junit.xml").getroot()
    assert cases_of(ours) == cases_of(theirs)
    for name in ("tests", "failures", "errors", "skipped"):
        assert ours[0].get(name) == theirs[0].get(name)
    gated = [told for (classname, name), told in cases_of(ours).items() if classname.startswith("gated")]
    assert sorted(told[0] for told in gated) == ["passed", "passed", "passed", "skipped"]


def test_elsewhere_nothing_is_published(evals: Suite) -> None:
    run = evals.run()
    assert "\n::" not in run.out
    assert "HTML report" not in run.out
    assert not list(evals.path.glob("*.html"))


def test_what_cannot_be_written_is_said_and_is_no_green_run(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.eval(cases=[{"id": "one", "answer": "please"}])
    (suite.path / "file").write_text("in the way")
    run = suite.run("--verica-html", "file/report.html")
    assert run.exit == 3
    assert "warning: cannot write " in run.out
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(suite.path / "file" / "summary.md"))
    run = suite.run()
    assert run.exit == 3
    assert "GITHUB_STEP_SUMMARY" in run.out
