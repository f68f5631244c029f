"""Shards of a run, `pytest --verica --verica-shard`, and `verica merge`: they give the report of the whole run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pytest_verica.cli.command import verica
from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Run, Suite, asked, judge, text

CASES = [{"id": f"c{n}", "q": f"What is {n} + 1?", "answer": "please"} for n in range(10)]
TESTS = """
import pytest
from pytest_verica import text_check

@pytest.mark.verica(criteria=[text_check(name=name, contains="yes") for name in ("a", "b")], gate=0.5)
@pytest.mark.parametrize("n", range(5))
def test_bot(n):
    return "yes" if n else "no"

@pytest.mark.verica(criteria=[text_check(name="a", contains="yes")], golden_set="words.csv", gate=1.0)
@pytest.mark.parametrize("n", [1, 2])
def test_both(case, n):
    return "yes"

def test_fixture(verica):
    assert verica.grade("yes", text_check(name="a", contains="yes")).passed

def test_ordinary():
    pass
"""


def write(suite: Suite, fake: FakeProvider, gate: float) -> None:
    criteria = [{**judge("kind", "x"), "model": asked(fake, "fake-judge")}, text("sum", contains="answer is 5.")]
    suite.eval(cases=CASES, target=None, prompt={"user": "{{ q }}"}, model=asked(fake), criteria=criteria, gate=gate)
    suite.file("words.csv", "id,word\na,1\nb,2\nc,3\n")
    suite.file("test_bot.py", TESTS)
    suite.file("prices.toml", '[[price]]\nmodel = "fake-*"\ninput = 1.0\noutput = 2.0\n')
    suite.file("pytest.ini", "[pytest]\nverica_prices = prices.toml\n")


def merge(suite: Suite, runs: list[Run], *args: str) -> Result:
    ids = [run.report["run"]["id"] for run in runs]
    return CliRunner().invoke(verica, ["merge", *ids, "--root", str(suite.path), *args])


def told(report: Mapping[str, Any]) -> Any:
    """Verdicts, gates, totals and cost, without times, positions among the shards' own cases, and how often the store
    was asked."""
    evals = {}
    for each in report["evals"]:
        grades = {
            (case["id"], case["sample"], grade["criterion"]): (
                grade["outcome"],
                grade["reported"],
                grade["explanation"],
            )
            for case in each["cases"]
            for grade in case["grades"]
        }
        evals[each["id"]] = (grades, each["gate"], each["totals"], each["cost"], each["calls"], each["partial"])
    totals = {key: value for key, value in report["totals"].items() if key != "latency"}
    return evals, totals, report["gate"]


@pytest.mark.parametrize(("gate", "code"), [(0.5, 0), (0.6, 1)])
def test_four_shards_are_the_run(suite: Suite, fake: FakeProvider, gate: float, code: int) -> None:
    write(suite, fake, gate)
    whole = suite.run("--verica-fresh", "--verica-gate=0.5", "--junit-xml=whole.xml")
    runs = [suite.run("--verica-fresh", "--verica-gate=0.5", f"--verica-shard={n}/4") for n in (1, 2, 3, 4)]
    assert [whole.exit, *[run.exit for run in runs]] == [code, 0, 0, 0, 0]
    # Each on a machine of its own would have bought the same: 10 answers and 10 verdicts in all.
    assert fake.stats()["requests"] == 40
    sizes = [sum(len(each["cases"]) for each in run.report["evals"]) for run in runs]
    assert sum(sizes) == 10 + 5 + 6 + 1 and min(sizes) > 0

    merged = suite.path / "merged.json"
    result = merge(suite, runs, "--gate", "--report", str(merged), "--junit", str(suite.path / "merged.xml"))
    assert result.exit_code == code, result.output
    report = json.loads(merged.read_text())
    assert told(report) == told(whole.report)
    assert report["run"]["shard"] is None and report["run"]["exit_code"] == code
    ours, theirs = outcomes(suite, "merged.xml"), outcomes(suite, "whole.xml")
    del theirs["test_bot", "test_ordinary"]  # what is no eval is no part of a run
    assert ours == theirs


def outcomes(suite: Suite, name: str) -> dict[tuple[str, str], list[str]]:
    """(classname, name) -> the elements that tell its outcome; without what is no verdict and no gate."""
    cases = ElementTree.parse(suite.path / name).getroot().iter("testcase")
    return {
        (case.attrib["classname"], case.attrib["name"]): [each.tag for each in case if each.tag != "properties"]
        for case in cases
    }


def test_what_is_no_whole_run_is_refused(suite: Suite, fake: FakeProvider) -> None:
    write(suite, fake, 0.5)
    first, second, other = (suite.run(f"--verica-shard={part}") for part in ("1/2", "2/2", "2/2"))
    whole = suite.run()
    for runs, said in (
        ([first], "the shards 2/2 are missing"),
        ([first, second, other], "are the same part of the run"),
        ([first, whole], "is no shard"),
    ):
        result = merge(suite, runs, "--gate")
        assert result.exit_code == 1 and said in result.output
    assert merge(suite, [first, second], "--gate").exit_code == 0


def test_each_test_with_the_fixture_runs_in_one_shard(suite: Suite) -> None:
    names = [f"test_{letter}" for letter in "abcdef"]
    source = "from pytest_verica import text_check\n" + "".join(
        f"\ndef {name}(verica):\n    assert verica.grade('x', text_check(name='x', contains='x')).passed\n"
        for name in names
    )
    suite.file("test_bot.py", source)
    runs = [suite.run(f"--verica-shard={n}/2") for n in (1, 2)]
    assert sorted(name.partition("::")[2] for run in runs for name in run.words) == names
    assert all(run.words for run in runs)
