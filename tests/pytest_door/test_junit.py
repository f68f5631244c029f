"""The junit file, read by a parser that is not ours: a test case per verdict, counts, properties, XML that is whole."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Run, Suite, asked, judge, text

ONCE_AND_MANY = [pytest.param((), id="alone"), pytest.param(("-n2",), id="n2", marks=pytest.mark.slow)]
CASES = [
    {"id": "good", "answer": "yes, please", "kind": "a"},
    {"id": "bad", "answer": "no", "kind": "a"},
    {"id": "other", "answer": "no", "kind": "b"},
    {"id": "blank", "answer": "", "kind": "a"},
]
WHERE_A = {"only_if": {"variable": "{{ kind }}", "condition": "equals", "value": "a"}}
CRITERIA = [text("polite", contains="please", **WHERE_A)]
TEST = """
import pytest
from pytest_verica import text_check

@pytest.mark.verica(criteria=[text_check(name="a", contains="yes"), text_check(name="b", contains="no")])
def test_bot():
    return "yes"

def test_plain():
    pass
"""


def junit(suite: Suite, *args: str) -> tuple[Run, ElementTree.Element]:
    run = suite.run("--junit-xml=junit.xml", *args)
    found = ElementTree.parse(suite.path / "junit.xml").getroot().find("testsuite")
    assert found is not None
    return run, found


def outcome_of(case: ElementTree.Element) -> str:
    kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    assert len(kinds) <= 1, f"two outcomes of one test case: {kinds}"
    return kinds[0] if kinds else "passed"


def cases_of(element: ElementTree.Element) -> dict[tuple[str, str], str]:
    cases = element.findall("testcase")
    found = {(case.attrib["classname"], case.attrib["name"]): outcome_of(case) for case in cases}
    assert len(found) == len(cases), "a test case stands there twice"
    return found


def check_counts(element: ElementTree.Element) -> None:
    counts = Counter(outcome_of(case) for case in element.findall("testcase"))
    told = {key: int(element.attrib[key]) for key in ("tests", "failures", "errors", "skipped")}
    assert told == {
        "tests": counts.total(),
        "failures": counts["failure"],
        "errors": counts["error"],
        "skipped": counts["skipped"],
    }


def properties_of(element: ElementTree.Element) -> dict[str, str]:
    found = element.find("properties")
    return {} if found is None else {each.attrib["name"]: each.attrib["value"] for each in found}


def test_one_test_case_for_each_verdict(suite: Suite) -> None:
    suite.eval("evals/refunds", cases=CASES, criteria=CRITERIA)
    suite.file("test_bot.py", TEST)
    run, element = junit(suite)
    assert run.exit == 1
    assert cases_of(element) == {
        ("evals.refunds.eval.yaml.good", "polite"): "passed",
        ("evals.refunds.eval.yaml.bad", "polite"): "failure",
        ("evals.refunds.eval.yaml.other", "polite"): "skipped",
        ("evals.refunds.eval.yaml.blank", "polite"): "error",
        ("test_bot", "test_bot[row-0001-a]"): "passed",
        ("test_bot", "test_bot[row-0001-b]"): "failure",
        ("test_bot", "test_plain"): "passed",
    }
    check_counts(element)


@pytest.mark.parametrize(
    ("rate", "gate", "args"),
    [(0.5, "passed", ()), (0.6, "failure", ()), pytest.param(0.6, "failure", ("-n2",), marks=pytest.mark.slow)],
)
def test_misses_are_no_failures_and_the_gate_is_a_test_case(
    suite: Suite, rate: float, gate: str, args: tuple[str, ...]
) -> None:
    suite.eval(cases=CASES, criteria=CRITERIA, gate={"pass_rate": rate, "max_errors": 1})
    run, element = junit(suite, *args)
    assert cases_of(element) == {
        ("demo.eval.yaml.good", "polite"): "passed",
        ("demo.eval.yaml.bad", "polite"): "skipped",
        ("demo.eval.yaml.other", "polite"): "skipped",
        ("demo.eval.yaml.blank", "polite"): "skipped",
        ("demo.eval.yaml", "gate"): gate,
    }
    check_counts(element)
    assert run.exit == (gate == "failure")
    missed = element.find("testcase[@classname='demo.eval.yaml.bad']/skipped")
    other = element.find("testcase[@classname='demo.eval.yaml.other']/skipped")
    assert missed is not None and missed.attrib["type"] == "pytest.xfail"
    assert "it is 'no'" in missed.attrib["message"]
    assert other is not None and other.attrib["type"] == "pytest.skip"
    assert "only where {{ kind }} equals 'a'" in other.attrib["message"]


def test_gate_that_is_not_judged_is_skipped(suite: Suite) -> None:
    suite.eval(cases=CASES, criteria=CRITERIA, gate=0.5)
    _, element = junit(suite, "-k", "good")
    assert cases_of(element)["demo.eval.yaml", "gate"] == "skipped"
    check_counts(element)


def test_failure_and_error_texts(suite: Suite) -> None:
    suite.eval(cases=CASES, criteria=CRITERIA)
    _, element = junit(suite)
    failure = element.find("testcase/failure")
    error = element.find("testcase/error")
    assert failure is not None and error is not None
    assert failure.attrib["message"].startswith("polite: fail: the response does not contain 'please'; it is 'no'")
    assert 'rerun: pytest --verica "demo.eval.yaml::bad::polite"' in (failure.text or "")
    assert "the column 'answer' is empty" in (error.text or "")
    assert "Traceback" not in ElementTree.tostring(element, "unicode")


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_properties_of_a_verdict(suite: Suite, fake: FakeProvider, args: tuple[str, ...]) -> None:
    suite.file("scripts.py", SCRIPTS)
    label = {
        **judge("tone", "scripts:tone"),
        "type": "label_model",
        "labels": ["kind", "rude"],
        "passing_labels": ["kind"],
    }
    for key in ("min", "max", "pass_at"):
        del label[key]
    priced = {**judge("sum", ""), "model": asked(fake, "fake-judge")}
    suite.file("prices.toml", '[[price]]\nmodel = "fake-judge"\ninput = 1.0\noutput = 2.0\n')
    criteria = [text("polite", contains="please"), judge("score", "scripts:score"), label, priced]
    suite.eval(cases=CASES[:1], criteria=criteria)
    run, element = junit(suite, "--verica-prices=prices.toml", *args)
    found = {case.attrib["name"]: properties_of(case) for case in element.findall("testcase")}
    assert found["polite"] == {"verica.outcome": "pass"}
    assert found["score"] == {"verica.outcome": "pass", "verica.score": "0.75", "verica.cost_usd": "0"}
    assert found["tone"] == {"verica.outcome": "fail", "verica.label": "rude", "verica.cost_usd": "0"}
    assert found["sum"]["verica.outcome"] == "pass"
    assert float(found["sum"]["verica.cost_usd"]) == run.report["evals"][0]["cost"]["total"] > 0


SCRIPTS = """
def score(request):
    return {"reasoning": "fine", "score": 0.75}

def tone(request):
    return {"reasoning": "fine", "label": "rude"}
"""


def test_cost_that_is_not_known_is_said_so(suite: Suite, fake: FakeProvider) -> None:
    suite.eval(cases=CASES[:1], criteria=[{**judge("sum", ""), "model": asked(fake)}])
    _, element = junit(suite)
    case = element.find("testcase")
    assert case is not None and properties_of(case)["verica.cost_usd"] == "unknown"
    assert properties_of(element)["verica.cost_usd"] == "unknown"


def test_properties_of_the_suite(suite: Suite) -> None:
    suite.eval(cases=CASES, criteria=CRITERIA, gate={"pass_rate": 0.5, "max_errors": 1})
    suite.eval("second", cases=CASES[:1])
    run, element = junit(suite, "--verica-gate=0.6")
    found = properties_of(element)
    assert found == {
        "verica.run_id": run.report["run"]["id"],
        "verica.pass_rate": repr(2 / 3),
        "verica.passed": "2",
        "verica.graded": "3",
        "verica.cost_usd": "0",
        "verica.gate": found["verica.gate"],
        "verica.gate_reason": found["verica.gate_reason"],
        "verica.eval.demo.pass_rate": "0.5",
        "verica.eval.demo.passed": "1",
        "verica.eval.demo.graded": "2",
        "verica.eval.demo.cost_usd": "0",
        "verica.eval.demo.gate": "passed",
        "verica.eval.demo.gate_reason": "1 of 2 passed (50 %), 50 % wanted",
        "verica.eval.second.pass_rate": "1.0",
        "verica.eval.second.passed": "1",
        "verica.eval.second.graded": "1",
        "verica.eval.second.cost_usd": "0",
    }
    assert found["verica.gate"] == "passed"
    assert found["verica.gate_reason"] == (
        "2 of 3 passed (66.7 %), 60 % wanted; 1 error left to the max_errors of the evals' own gates"
    )


def test_rate_without_denominator_is_unknown(suite: Suite) -> None:
    suite.eval(cases=CASES[3:])
    _, element = junit(suite)
    assert properties_of(element)["verica.pass_rate"] == "unknown"


def test_other_plugins_properties_stay(suite: Suite) -> None:
    suite.eval(cases=CASES[:1])
    suite.file("test_own.py", "def test_own(record_testsuite_property):\n    record_testsuite_property('own', 'yes')\n")
    _, element = junit(suite)
    assert properties_of(element)["own"] == "yes"


def test_plain_run_has_no_properties(suite: Suite) -> None:
    suite.file("test_plain.py", "def test_plain(): pass\n")
    run = suite.run("--junit-xml=junit.xml", plain=True)
    assert run.exit == 0 and "verica" not in (suite.path / "junit.xml").read_text()


ODD = {
    "control": "a\x00b\x01c\x08d\x0be\x0cf\x1fg\x7fh\x85i",
    "cdata": "<![CDATA[ ]]> &amp; <b> & \"'",
    "emoji": "👩‍👩‍👧‍👦 \U0010ffff \ufeff",
    "surrogate": "\ud800 and \udfff and \ufffe \uffff",
    "escape": "\x1b[31mred\x1b[0m \x9b1m",
    "direction": "\u202eabc\u2066",
    "lines": "a\r\nb\rc\u2028d\u2029e\x0bf",
    "long": "x" * 5000,
    "long emoji": "👩‍👩‍👧‍👦" * 1000,
}
ODD_CRITERIA = [
    text("fails", equals="nothing like it"),
    text("quotes]]>", equals="{{ answer }}", negate=True),
    text("na \U0001f600", contains="x", only_if={"variable": "{{ answer }}", "condition": "equals", "value": "never"}),
    {"name": "errs", "type": "python_check", "python": "checks:crash"},
    judge("judged", "checks:echo"),
]
CHECKS = """
def crash(output, case):
    raise ValueError(output.text)

def echo(request):
    return {"reasoning": request.messages[-1].content, "score": 0.25}
"""


@pytest.mark.parametrize(
    ("gate", "args"),
    [
        (None, ()),
        ({"pass_rate": 0.9, "max_errors": 0.9}, ()),
        pytest.param({"pass_rate": 0.9, "max_errors": 0.9}, ("-n2",), marks=pytest.mark.slow),
    ],
    ids=["plain", "gated", "gated-n2"],
)
def test_odd_texts_are_safe(suite: Suite, args: tuple[str, ...], gate: Any) -> None:
    """Each as id, as column, as output, as a judge's words and in an exception."""
    suite.file("checks.py", CHECKS)
    cases = [{"id": value, "answer": value} for value in ODD.values()]
    suite.eval(cases=cases, criteria=ODD_CRITERIA, gate=gate)
    run, element = junit(suite, "-v", *args)
    found = cases_of(element)
    assert len(found) == len(ODD) * len(ODD_CRITERIA) + (gate is not None)
    check_counts(element)
    assert {grade["outcome"] for (_, name), grade in run.grades.items() if name == "errs"} == {"error"}
    assert all(len(classname) < 200 for classname, _ in found)
    assert run.exit == 1 and "INTERNALERROR" not in run.out


def test_odd_texts_of_functions_are_safe(suite: Suite) -> None:
    source = f"""
import pytest
from pytest_verica import text_check

ODD = {list(ODD.values())!r}

@pytest.mark.verica(criteria=[text_check(name="a", equals="never")])
@pytest.mark.parametrize("n", range(len(ODD)))
def test_bot(n):
    return ODD[n]

@pytest.mark.verica(criteria=[text_check(name="a", contains="{{{{ answer }}}}")], golden_set="odd.jsonl")
def test_case(case):
    raise ValueError(case.answer)
"""
    suite.eval("odd", cases=[{"id": value, "answer": value} for value in ODD.values()])
    (suite.path / "odd.eval.yaml").unlink()
    suite.file("test_bot.py", source)
    run, element = junit(suite)
    assert len(cases_of(element)) == 2 * len(ODD)
    check_counts(element)
    assert run.exit == 1 and "INTERNALERROR" not in run.out


@pytest.mark.parametrize("family", ["xunit1", "xunit2", "legacy"])
def test_every_family_of_junit(suite: Suite, family: str) -> None:
    suite.file("pytest.ini", f"[pytest]\njunit_family = {family}\njunit_logging = all\n")
    suite.eval(cases=CASES, criteria=CRITERIA)
    _, element = junit(suite)
    assert len(cases_of(element)) == 4
    check_counts(element)


def test_time_is_that_of_the_grading(suite: Suite) -> None:
    suite.eval(cases=CASES[:1])
    run, element = junit(suite)
    case = element.find("testcase")
    assert case is not None
    assert float(case.attrib["time"]) == pytest.approx(run.grades["good", "polite"]["duration_s"], abs=0.001)


def test_report_and_junit_agree(suite: Suite) -> None:
    suite.eval(cases=CASES, criteria=CRITERIA, gate={"pass_rate": 0.5, "max_errors": 1})
    run, element = junit(suite)
    for case in element.findall("testcase"):
        name = case.attrib["classname"].removeprefix("demo.eval.yaml.")
        if case.attrib["name"] != "gate":
            assert properties_of(case)["verica.outcome"] == run.grades[name, "polite"]["outcome"]
