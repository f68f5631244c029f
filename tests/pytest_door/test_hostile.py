"""Hostile outputs through the whole product: each case has its verdict, the run ends, the report is whole."""

from __future__ import annotations

import pytest

from tests.pytest_door.conftest import Run, Suite, text

TARGET = r"""
DEEP = 5_000

OUTPUTS = {
    "plain": "yes",
    "catastrophe": "a" * 100_000 + "!",
    "ten_megabytes": "yes " + "x" * 10_000_000,
    "deep": "[" * DEEP + "]" * DEEP,
    "surrogate": "yes \ud800",
    "nulls": "\x00yes\x00",
    "right_to_left": "\u202eyes \u05e9\u05dc\u05d5\u05dd",
    "turkish": "\u0130 yes",
    "sharp_s": "Stra\u00dfe yes",
    "accents": "yes " + "e\u0301" * 100,
    "escapes": "yes \x1b[31m\x07",
}


def rows():
    return [{"id": name} for name in OUTPUTS]


def answer(id):
    return OUTPUTS[id]
"""

CRITERIA = [
    text("yes", contains="yes"),
    text("pattern", matches="^(a|aa)+$", timeout_ms=100),
    {"name": "json", "type": "json_check", "valid": True},
    {"name": "number", "type": "number_check", "extract": "last", "less": 5},
    {"name": "surely", "type": "python_check", "python": "hostile:surely"},
]
PASSES_YES = "plain ten_megabytes surrogate nulls right_to_left turkish sharp_s accents escapes".split()  # noqa: SIM905
DEEP_JSON = "demo.eval.yaml::deep::json"
CASES = [*PASSES_YES, "catastrophe", "deep"]


def expected(case: str, criterion: str) -> str:
    if criterion == "pattern" and case == "catastrophe":
        return "error"
    if criterion == "surely" or (criterion == "yes" and case in PASSES_YES):
        return "passed"
    return "failed"


def hostile_run(suite: Suite, *args: str) -> Run:
    surely = "\n\ndef surely(output, case):\n    return output.text == OUTPUTS[case.id]\n"
    suite.file("hostile.py", TARGET + surely)
    suite.eval(golden_set={"python": "hostile:rows"}, target={"python": "hostile:answer"}, criteria=CRITERIA)
    return suite.run(*args)


@pytest.mark.slow
@pytest.mark.parametrize("args", [(), ("-n2",)], ids=["one process", "xdist"])
def test_every_case_has_its_verdict(suite: Suite, args: tuple[str, ...]) -> None:
    run = hostile_run(suite, *args, "--junit-xml=junit.xml")
    assert run.exit == pytest.ExitCode.TESTS_FAILED, run.out[-3000:]
    assert "INTERNALERROR" not in run.out and "Traceback" not in run.out
    wanted = {
        f"demo.eval.yaml::{case}::{each['name']}": expected(case, each["name"]) for case in CASES for each in CRITERIA
    }
    found = dict(run.verdicts)
    # Newer Pythons read more levels than older ones: valid there, too deep to be read here.
    assert found.pop(DEEP_JSON) in ("passed", wanted.pop(DEEP_JSON))
    assert found == wanted
    grades = run.grades
    assert len(grades) == len(wanted) + 1
    assert grades["catastrophe", "pattern"]["error"]["kind"] == "regex_timeout"
    assert "took longer than 100 ms" in grades["catastrophe", "pattern"]["explanation"]
    assert grades["deep", "json"]["passed"] or "nested too deeply" in grades["deep", "json"]["explanation"]
    assert all(grade["explanation"].isprintable() for grade in grades.values())
