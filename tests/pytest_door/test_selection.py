"""Which verdicts run: `--lf`, `--ff`, `-k`, node ids, `--deselect`; what was not selected is not paid for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Run, Suite, asked, judge, text

ONCE_AND_MANY = [pytest.param((), id="alone"), pytest.param(("-n2",), id="n2", marks=pytest.mark.slow)]
CASES = [
    {"id": "good", "answer": "yes, please"},
    {"id": "bad", "answer": "no"},
    {"id": "blank", "answer": ""},
    {"id": "fine", "answer": "please"},
]
TEST = """
import pytest
from pytest_verica import text_check

def test_plain_good():
    pass

def test_plain_bad():
    assert 0

@pytest.mark.verica(
    criteria=[text_check(name="a", contains="yes"), text_check(name="b", contains="no")], gate=0.5
)
@pytest.mark.parametrize("n", [1, 2])
def test_bot(n):
    return "yes" if n == 1 else "yes no"
"""


def paid(suite: Suite, fake: FakeProvider, **keys: Any) -> None:
    """Three cases, each asked once and judged once."""
    cases = [{"id": f"c{n}", "q": f"What is {n} + 1?"} for n in range(3)]
    criteria = [{**judge("kind", "x"), "model": asked(fake, "fake-judge")}, text("sum", contains="answer is")]
    suite.eval(cases=cases, target=None, prompt={"user": "{{ q }}"}, model=asked(fake), criteria=criteria, **keys)


def asked_models(fake: FakeProvider) -> Counter[str]:
    return Counter(request["model"] for request in fake.requests)


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_last_failed_reruns_what_failed_missed_or_erred(suite: Suite, args: tuple[str, ...]) -> None:
    suite.eval("gated", cases=CASES, gate={"pass_rate": 0.5, "max_errors": 1})
    suite.eval("plain", cases=CASES)
    suite.file("test_bot.py", TEST)
    first = suite.run(*args)
    wanted = {name for name, word in first.verdicts.items() if word in ("failed", "missed", "error", "errored")}
    assert wanted == {
        "gated.eval.yaml::bad::polite",
        "gated.eval.yaml::blank::polite",
        "plain.eval.yaml::bad::polite",
        "plain.eval.yaml::blank::polite",
        "test_bot.py::test_plain_bad",
        "test_bot.py::test_bot[1-b]",
    }
    again = suite.run("--lf", *args)
    assert set(again.verdicts) == wanted
    assert set(again.gates.values()) == {"skipped"}
    assert again.exit == 1
    third = suite.run("--lf", *args)
    assert set(third.verdicts) == wanted, "a partial run does not forget what it did not run"


WHOLE_ROWS = """
import pytest
from pytest_verica import text_check

@pytest.mark.verica(
    criteria=[text_check(name="a", contains="yes"), text_check(name="b", contains="yes")], gate=0.5
)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_bot(n):
    return "no" if n == 1 else "yes"
"""


@pytest.mark.parametrize(
    ("how", "args"),
    [
        ("node ids", ()),
        ("keyword", ()),
        ("last failed", ()),
        pytest.param("last failed", ("-n2",), marks=pytest.mark.slow),
    ],
)
def test_whole_rows_of_a_function_are_not_its_whole_eval(suite: Suite, how: str, args: tuple[str, ...]) -> None:
    suite.file("test_bot.py", WHOLE_ROWS)
    row = [f"test_bot.py::test_bot[1-{criterion}]" for criterion in "ab"]
    assert suite.run(*args).gates == {"test_bot.py::test_bot::gate": "passed"}
    run = suite.run(*{"node ids": row, "last failed": ["--lf"], "keyword": ["-k", "1-a or 1-b"]}[how], *args)
    assert run.verdicts == dict.fromkeys(row, "failed")
    assert run.gates == {"test_bot.py::test_bot::gate": "skipped"} and "2 of 6 verdicts ran" in run.out
    assert run.exit == 1


def test_last_failed_after_a_green_run_with_misses(suite: Suite) -> None:
    suite.eval(cases=CASES, gate={"pass_rate": 0.5, "max_errors": 1})
    assert suite.run().exit == 0
    again = suite.run("--lf")
    assert set(again.verdicts) == {"demo.eval.yaml::bad::polite", "demo.eval.yaml::blank::polite"}
    assert again.verdicts["demo.eval.yaml::bad::polite"] == "failed", "looked at alone, a miss is a failure"
    suite.eval(cases=[{**case, "answer": "please"} for case in CASES], gate=0.5)
    assert len(suite.run("--lf").verdicts) == 2
    assert len(suite.run("--lf").verdicts) == 4, "nothing failed last: everything runs"


def test_failed_gate_alone_reruns_its_misses(suite: Suite) -> None:
    suite.eval(cases=CASES[:2], gate=0.9)
    assert suite.run().exit == 1
    assert list(suite.run("--lf").verdicts) == ["demo.eval.yaml::bad::polite"]


def test_failed_first(suite: Suite) -> None:
    suite.eval(cases=CASES)
    suite.run()
    run = suite.run("--ff")
    assert [name.split("::")[1] for name in run.words] == ["bad", "blank", "good", "fine"]


def test_stepwise(suite: Suite) -> None:
    suite.eval(cases=CASES)
    assert list(suite.run("--sw").words) == ["demo.eval.yaml::good::polite", "demo.eval.yaml::bad::polite"]
    assert list(suite.run("--sw").words) == ["demo.eval.yaml::bad::polite"]


SELECTIONS: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "criterion": (("-k", "sum"), ["c0::sum", "c1::sum", "c2::sum"]),
    "judge": (("-k", "kind"), ["c0::kind", "c1::kind", "c2::kind"]),
    "case": (("-k", "c1"), ["c1::kind", "c1::sum"]),
    "case and criterion": (("-k", "c1 and sum"), ["c1::sum"]),
    "not": (("-k", "not sum and not c2"), ["c0::kind", "c1::kind"]),
    "node of a case": (("demo.eval.yaml::c2",), ["c2::kind", "c2::sum"]),
    "nodes of cases": (("demo.eval.yaml::c2", "demo.eval.yaml::c0::sum"), ["c2::kind", "c2::sum", "c0::sum"]),
    "node of a verdict": (("demo.eval.yaml::c2::sum",), ["c2::sum"]),
    "deselect case": (("--deselect", "demo.eval.yaml::c0"), ["c1::kind", "c1::sum", "c2::kind", "c2::sum"]),
    "deselect verdict": (
        ("--deselect", "demo.eval.yaml::c0::kind"),
        ["c0::sum", "c1::kind", "c1::sum", "c2::kind", "c2::sum"],
    ),
    "criterion option": (("--verica-criterion", "s*"), ["c0::sum", "c1::sum", "c2::sum"]),
}


def check_calls(run: Run, fake: FakeProvider) -> None:
    """One sample for each case that ran, one judgement for each judged verdict, nothing else."""
    names = [name.split("::") for name in run.verdicts]
    calls = asked_models(fake)
    assert calls["fake-1"] == len({case for _, case, _ in names})
    assert calls["fake-judge"] == sum(criterion == "kind" for _, _, criterion in names)


@pytest.mark.parametrize("gate", [None, 0.5], ids=["no gate", "gate"])
@pytest.mark.parametrize(("args", "wanted"), SELECTIONS.values(), ids=list(SELECTIONS))
def test_only_what_was_selected_is_paid_for(
    suite: Suite, fake: FakeProvider, args: tuple[str, ...], wanted: list[str], gate: Any
) -> None:
    paid(suite, fake, gate=gate)
    run = suite.run(*args)
    assert [name.removeprefix("demo.eval.yaml::") for name in run.verdicts] == wanted
    check_calls(run, fake)
    if gate is not None:
        assert run.gates == {"demo.eval.yaml::gate": "skipped"}
        assert f"{len(wanted)} of 6 verdicts ran" in run.out
    assert run.exit == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["criterion", "nodes of cases", "deselect verdict"])
def test_only_what_was_selected_is_paid_for_by_workers(suite: Suite, fake: FakeProvider, kind: str) -> None:
    args, wanted = SELECTIONS[kind]
    paid(suite, fake, gate=0.5)
    run = suite.run(*args, "-n2")
    assert {name.removeprefix("demo.eval.yaml::") for name in run.verdicts} == set(wanted)
    check_calls(run, fake)
    assert run.gates == {"demo.eval.yaml::gate": "skipped"} and run.exit == 0


@pytest.mark.parametrize("args", ONCE_AND_MANY)
def test_failing_verdicts_of_a_partial_run_are_plain_failures(suite: Suite, args: tuple[str, ...]) -> None:
    suite.eval(cases=CASES, gate={"pass_rate": 0.1, "max_errors": 2})
    run = suite.run("-k", "not fine", *args)
    assert run.words == {
        "demo.eval.yaml::good::polite": "passed",
        "demo.eval.yaml::bad::polite": "failed",
        "demo.eval.yaml::blank::polite": "error",
        "demo.eval.yaml::gate": "skipped",
    }
    assert run.exit == 1 and "3 of 4 verdicts ran" in run.out


@pytest.mark.parametrize("args", ["-x", "--maxfail=1"])
def test_stopping_stops_paying(suite: Suite, fake: FakeProvider, args: str) -> None:
    cases = [{"id": f"c{n}", "q": f"What is {n} + 1?"} for n in range(200)]
    suite.eval(cases=cases, target=None, prompt={"user": "{{ q }}"}, model=asked(fake))
    fake.options.update({"latency_ms": 5.0})
    run = suite.run(args, "--verica-concurrency=2")
    assert len(run.words) == 1 and run.exit in (1, 2)
    assert fake.stats()["requests"] <= 40, "the window ahead of the item that runs, no more"


@pytest.mark.parametrize(
    "flag", ["--collect-only", "--co", "--help", "--markers", "--fixtures", "--setup-plan", "--setup-only", "--version"]
)
def test_looking_only_makes_no_calls_and_writes_nothing(suite: Suite, fake: FakeProvider, flag: str) -> None:
    paid(suite, fake, gate=0.5)
    suite.file("test_bot.py", TEST)
    before = {path.name for path in suite.path.iterdir()}
    run = suite.run(flag, "-p", "no:cacheprovider")
    assert run.exit == 0
    assert fake.stats()["requests"] == 0
    assert {path.name for path in suite.path.iterdir()} - before <= {"__pycache__"} and run.words == {}
    if flag.startswith("--co"):
        assert "<CriterionItem sum>" in run.out or "c0::sum" in run.out


def test_collect_only_lists_the_ids_that_run(suite: Suite, fake: FakeProvider) -> None:
    paid(suite, fake)
    listed = [line for line in suite.run("--collect-only", "-q").out.splitlines() if "::" in line]
    assert listed == list(suite.run().words)


def test_no_cache_provider(suite: Suite) -> None:
    suite.eval(cases=CASES, gate=0.5)
    run = suite.run("-p", "no:cacheprovider")
    assert len(run.verdicts) == 4 and not (suite.path / ".pytest_cache").exists()


def test_marker_expression_selects_functions(suite: Suite) -> None:
    suite.eval(cases=CASES)
    suite.file("test_bot.py", TEST)
    run = suite.run("-m", "verica")
    assert set(run.verdicts) == {f"test_bot.py::test_bot[{n}-{c}]" for n in (1, 2) for c in "ab"}


@pytest.mark.slow
@pytest.mark.parametrize("dist", ["load", "loadscope", "loadfile", "loadgroup", "worksteal", "each"])
def test_dist_modes(suite: Suite, fake: FakeProvider, dist: str) -> None:
    paid(suite, fake, gate=0.5)
    run = suite.run(*(["-n1", "--dist=each"] if dist == "each" else ["-n2", f"--dist={dist}"]))
    assert len(run.verdicts) == 6 and set(run.verdicts.values()) == {"passed"}
    assert run.gates == {"demo.eval.yaml::gate": "passed"} and run.exit == 0
    assert asked_models(fake)["fake-1"] == 3
