"""What a model does not take, seen from a run: said once, kept in the report; an error where it was written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pytest_door.conftest import Suite

CONFTEST = """
from pytest_verica.completion import Completion
from pytest_verica.providers.protocol import ProviderKind

class Door:
    def __init__(self, spec, timeout_s):
        pass

    async def complete(self, request):
        text = '{"reasoning": "r", "label": "good"}' if request.answer else "yes, please"
        return Completion(text, stop_reason="stop")

    async def models(self):
        return None

    async def aclose(self):
        pass

def cold(spec):
    return {name: "is cold" for name in ("temperature", "seed") if spec.params.get(name) is not None}

def pytest_verica_providers():
    return [
        ProviderKind("cold", Door, False, "", left_out=cold, structured=("json_schema",)),
        ProviderKind("warm", Door, False, ""),
    ]
"""
NOTE = "note: `temperature` was not sent to cold/m: it is cold ({})"


def judge(name: str = "tone", **keys: Any) -> dict[str, Any]:
    model = {"provider": "cold", "name": "m"}
    labels = {"labels": ["good", "bad"], "passing_labels": ["good"]}
    return {"name": name, "type": "label_model", "prompt": "{{ output.text }}", "model": model, **labels, **keys}


@pytest.fixture(autouse=True)
def doors(suite: Suite) -> None:
    suite.file("conftest.py", CONFTEST)


def left_out(criterion: str | None, parameter: str, value: Any) -> dict[str, Any]:
    about = {"criterion": criterion, "model": "cold/m", "parameter": parameter, "value": value}
    return {**about, "why": "it is cold"}


def test_two_judges_of_two_evals_are_told_in_one_line(suite: Suite) -> None:
    suite.eval("one", criteria=[judge(), judge("style")])
    suite.eval("two", criteria=[judge()])
    run = suite.run()
    assert run.exit == 0
    assert run.out.count("note: ") == 1 and NOTE.format("one: tone, one: style, two: tone") in run.out
    assert [found["left_out"] for found in run.reports[0]["evals"]] == [
        [left_out("tone", "temperature", 0.0), left_out("style", "temperature", 0.0)],
        [left_out("tone", "temperature", 0.0)],
    ]


def test_another_model_by_option_inherits_what_was_written(suite: Suite) -> None:
    model = {"provider": "warm", "name": "w", "params": {"temperature": 0.5, "seed": 7, "max_tokens": 9}}
    suite.eval(prompt={"user": "{{ answer }}"}, model=model)
    assert "note: " not in suite.run().out
    run = suite.run("--verica-model", "demo=cold/m")
    [found] = run.reports[0]["evals"]
    assert run.exit == 0
    assert found["params"] == {"max_tokens": 9}
    assert found["left_out"] == [left_out(None, "temperature", 0.5), left_out(None, "seed", 7)]
    assert NOTE.format("demo") in run.out


def test_what_was_written_for_it_stops_the_run_with_everything_else_that_is_wrong(suite: Suite) -> None:
    model = {"provider": "cold", "name": "m", "params": {"temperature": 0, "seed": 7}, "api": "responses"}
    suite.eval(
        prompt={"user": "{{ answer }}"}, model=model, criteria=[judge(structured="tool")], gate={"pass_rate": 0.5}
    )
    run = suite.run()
    assert run.exit == pytest.ExitCode.INTERRUPTED
    for words in (
        "`model`: cold/m takes no `temperature`: it is cold",
        "`model`: cold/m takes no `seed`: it is cold",
        "`model`: the provider `cold` has no API `responses`",
        "criterion 'tone': the provider `cold` has no `structured: tool`; it has: json_schema",
    ):
        assert words in run.out


def test_a_test_that_checks_by_itself_is_told_too(suite: Suite) -> None:
    suite.file("test_bot.py", f"def test_tone(verica):\n    verica.check('yes', {judge()!r})\n")
    run = suite.run()
    assert run.exit == 0
    assert NOTE.format("test_bot.py::test_tone: tone") in run.out
    assert run.reports[0]["evals"][0]["left_out"] == [left_out("tone", "temperature", 0.0)]


@pytest.mark.slow
def test_workers_tell_it_once(suite: Suite) -> None:
    suite.eval(cases=[{"id": str(n), "answer": f"please {n}"} for n in range(6)], criteria=[judge()])
    run = suite.run("-n2")
    assert run.exit == 0 and run.out.count("note: ") == 1
