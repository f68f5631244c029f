"""--verica-reuse: an eval that is unchanged since it passed costs nothing; whatever it depends on makes it run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Run, Suite, asked, text

SHOP = """
import pathlib

import phrases


def answer(question):
    with open(pathlib.Path(__file__).with_name("asked.txt"), "a") as file:
        file.write("asked\\n")
    return phrases.POLITE + question
"""
CHECKS = """
def right(output, case):
    return bool(output.text)
"""
TEST = """
import pytest
from pytest_verica import text_check


@pytest.mark.verica(golden_set="test.jsonl", criteria=[text_check(name="polite", contains="please")])
def test_bot(case, manners):
    with open("asked.txt", "a") as file:
        file.write("asked\\n")
    return manners + case.question
"""
CONFTEST = """
import pytest


@pytest.fixture
def manners():
    return "please "
"""
PRICES = "[[price]]\nmodel = 'fake-*'\ninput = {}\noutput = 2\n"


class Changing:
    """A suite of three evals (a prompt, a Python target, a marked test) that can be changed bit by bit."""

    def __init__(self, suite: Suite, fake: FakeProvider) -> None:
        self.suite, self.fake = suite, fake
        self.cases: list[dict[str, Any]] = [{"id": f"c{n}", "a": n, "b": 1} for n in range(3)]
        self.model: dict[str, Any] = asked(fake, params={"temperature": 0})
        self.user = "What is {{ a }} + {{ b }}?"
        self.number = text("number", matches=r"\d")
        self.write()
        suite.file("checks.py", CHECKS)
        suite.file("shop.py", SHOP)
        suite.file("phrases.py", "POLITE = 'please '\n")
        suite.file("test_bot.py", TEST)
        suite.file("conftest.py", CONFTEST)
        suite.file("test.jsonl", '{"id": "one", "question": "x"}\n{"id": "two", "question": "y"}\n')
        suite.file("prices.toml", PRICES.format(1))

    def write(self) -> None:
        right = {"name": "right", "type": "python_check", "python": "checks:right"}
        prompt = {"user": self.user}
        self.suite.eval("asking", cases=self.cases, criteria=[self.number, right], prompt=prompt, model=self.model)
        questions = [{"id": "one", "question": "x"}, {"id": "two", "question": "y"}]
        self.suite.eval(
            "shop", cases=questions, criteria=[text("polite", contains="please")], target={"python": "shop:answer"}
        )

    def run(self, *args: str) -> Run:
        """A run in which no stored answer helps."""
        for path in self.suite.path.glob(".verica/responses.sqlite*"):
            path.unlink()
        self.before = self.fake.stats()["requests"], self.targets
        return self.suite.run("--verica-prices", "prices.toml", *args)

    @property
    def targets(self) -> int:
        file = self.suite.path / "asked.txt"
        return len(file.read_text().splitlines()) if file.exists() else 0

    @property
    def spent(self) -> tuple[int, int]:
        """(model calls, calls of targets and tests) of the last run."""
        return self.fake.stats()["requests"] - self.before[0], self.targets - self.before[1]

    def set(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)
        self.write()


def made(run: Run) -> dict[str, set[str | None]]:
    """By eval: the runs that its verdicts were taken from, None for those made now."""
    return {
        found["name"].rpartition("::")[2]: {grade["reused_from"] for case in found["cases"] for grade in case["grades"]}
        for found in run.report["evals"]
    }


CHANGES: list[tuple[str, str, Callable[[Changing], Any]]] = [
    ("a cell of the golden set", "asking", lambda c: c.set(cases=[{**c.cases[0], "b": 2}, *c.cases[1:]])),
    ("a space in the prompt", "asking", lambda c: c.set(user=c.user + " ")),
    ("the model", "asking", lambda c: c.set(model={**c.model, "name": "fake-judge"})),
    ("a parameter", "asking", lambda c: c.set(model={**c.model, "params": {"temperature": 0.5}})),
    ("a criterion", "asking", lambda c: c.set(number=text("number", matches=r"\d+"))),
    ("the code of a grader", "asking", lambda c: c.suite.file("checks.py", CHECKS + "# stricter from now on\n")),
    ("the code of a target", "shop", lambda c: c.suite.file("shop.py", SHOP + "# another line\n")),
    ("a module of the target", "shop", lambda c: c.suite.file("phrases.py", "POLITE = 'pleasepleaseplease '\n")),
    ("a test", "test_bot", lambda c: c.suite.file("test_bot.py", TEST + "# another line\n")),
    ("a fixture of a test", "test_bot", lambda c: c.suite.file("conftest.py", CONFTEST + "# another line\n")),
]
EVALS = {"asking", "shop", "test_bot"}


def test_what_changed_runs_and_the_rest_does_not(suite: Suite, fake: FakeProvider) -> None:
    changing = Changing(suite, fake)
    first = changing.run("--verica-reuse")
    assert first.exit == 0, first.out
    assert changing.spent == (3, 4)
    assert made(first) == {name: {None} for name in EVALS}
    ran_in = dict.fromkeys(EVALS, first.report["run"]["id"])

    again = changing.run("--verica-reuse")
    assert again.exit == 0 and changing.spent == (0, 0), again.out
    assert made(again) == {name: {ran_in[name]} for name in EVALS}
    assert again.words == first.words
    assert again.report["totals"]["cost"]["total"] == 0
    assert again.report["totals"]["cost"]["avoided"] == first.report["totals"]["cost"]["total"] > 0
    assert again.report["totals"]["reused"] == again.report["totals"]["ran"] == 10
    outputs = [[case["output"]["text"] for case in found["cases"]] for found in again.report["evals"]]
    assert outputs == [[case["output"]["text"] for case in found["cases"]] for found in first.report["evals"]]
    assert f"6 of 6 verdicts reused of the run {ran_in['asking']}" in again.out
    assert "prices have changed" not in again.out

    for what, name, change in CHANGES:
        change(changing)
        run = changing.run("--verica-reuse")
        assert run.exit == 0, (what, run.out)
        found = made(run)
        assert found.pop(name) == {None}, what
        assert found == {other: {ran_in[other]} for other in EVALS - {name}}, what
        assert changing.spent == ((3, 0) if name == "asking" else (0, 2)), what
        ran_in[name] = run.report["run"]["id"]

    suite.file("prices.toml", PRICES.format(3))
    run = changing.run("--verica-reuse")
    assert made(run) == {name: {ran_in[name]} for name in EVALS} and changing.spent == (0, 0)
    assert run.out.count("prices have changed since, costs are those of then") == 3


def test_what_did_not_pass_runs_again(suite: Suite) -> None:
    suite.eval(cases=[{"id": "one", "answer": "no"}, {"id": "two", "answer": "yes, please"}])
    assert suite.run().exit == 1
    again = suite.run("--verica-reuse")
    assert again.exit == 1 and made(again) == {"demo": {None}}


def test_a_part_of_a_run_is_no_source(suite: Suite) -> None:
    suite.eval(cases=[{"id": "one", "answer": "please"}, {"id": "two", "answer": "please"}])
    assert suite.run("-k", "one").exit == 0
    assert suite.run("--verica-sample", "1").exit == 0
    assert made(suite.run("--verica-reuse")) == {"demo": {None}}


def test_misses_are_taken_over_and_the_gate_is_judged_anew(suite: Suite) -> None:
    cases = [{"id": "one", "answer": "no"}, {"id": "two", "answer": "yes, please"}]
    suite.eval(cases=cases, gate=0.5)
    first = suite.run()
    again = suite.run("--verica-reuse")
    assert again.exit == 0 and again.words == first.words
    assert made(again) == {"demo": {first.report["run"]["id"]}}
    suite.eval(cases=cases, gate=0.6)
    stricter = suite.run("--verica-reuse")
    assert stricter.exit == 1 and stricter.gates == {"demo.eval.yaml::gate": "failed"}
    assert made(stricter) == {"demo": {first.report["run"]["id"]}}


def test_what_could_not_be_judged_is_tried_again(suite: Suite) -> None:
    cases = [{"id": "one", "answer": ""}, {"id": "two", "answer": "yes, please"}]
    suite.eval(cases=cases, gate={"max_errors": 1})
    first = suite.run()
    assert first.exit == 0
    again = suite.run("--verica-reuse")
    assert again.words == first.words
    assert made(again) == {"demo": {None, first.report["run"]["id"]}}
    assert again.report["totals"]["reused"] == 1


def test_an_endpoint_cannot_be_seen_through(suite: Suite, fake: FakeProvider) -> None:
    target = {"http": {"url": f"{fake.root}/answer", "json": {"question": "{{ q }}"}, "output": "answer.text"}}
    suite.eval(cases=[{"id": "one", "q": "What is 1 + 1?"}], criteria=[text("some", matches=".")], target=target)
    assert suite.run().exit == 0
    assert made(suite.run("--verica-reuse")) == {"demo": {None}}
    assert fake.stats()["requests"] == 2


def test_it_appears_in_the_history_once(suite: Suite) -> None:
    """A run that was taken over is no new evidence: mean and last run stay those of runs that were made."""
    cases = [{"id": "one", "answer": "no"}, {"id": "two", "answer": "yes, please"}]
    suite.eval(cases=cases, gate=0.5)
    first = suite.run().report["run"]["id"]
    suite.run("--verica-reuse")
    (found,) = suite.run().report["evals"]
    assert found["history"]["last"] == {"run": first, "passed": 1, "graded": 2, "rate": 0.5}
    assert found["history"]["mean"] == {"rate": 0.5, "runs": 1}


def test_fresh_and_reuse_contradict_each_other(suite: Suite) -> None:
    suite.eval()
    run = suite.run("--verica-reuse", "--verica-fresh")
    assert run.exit == 4 and "choose one" in run.out


@pytest.mark.slow
def test_workers_take_over_too(suite: Suite) -> None:
    suite.eval(cases=[{"id": f"c{n}", "answer": "please"} for n in range(6)])
    first = suite.run(new_process=True)
    again = suite.run("--verica-reuse", "-n2")
    assert again.exit == 0 and made(again) == {"demo": {first.report["run"]["id"]}}
