"""Every option: what it selects, what it refuses, where its value comes from, and that the header says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Suite, asked, text

TEN = [{"id": f"c{n}", "answer": "please" if n % 2 else "no", "q": f"What is {n} + 1?"} for n in range(10)]
BAD: dict[str, tuple[str, str]] = {
    "gate": ("2", "expected a rate above 0 and up to 1, such as 0.9, found '2'"),
    "concurrency": ("0", "expected a whole number from 1 on, found '0'"),
    "concurrency word": ("many", "expected a whole number from 1 on, found 'many'"),
    "shard": ("3/2", "expected I/N with 1 <= I <= N, such as 2/5, found '3/2'"),
    "shard zero": ("0/2", "expected I/N"),
    "shard word": ("first", "expected I/N"),
    "sample": ("-1", "expected a whole number from 1 on"),
    "sample zero": ("0", "expected a whole number from 1 on"),
    "repeat": ("1.5", "expected a whole number from 1 on"),
    "model": ("demo", "expected EVAL=PROVIDER/NAME, such as refunds=openai/gpt-5-mini, found 'demo'"),
    "model without name": ("demo=openai/", "expected EVAL=PROVIDER/NAME"),
    "request-timeout": ("0", "expected seconds above 0, such as 120, found '0'"),
    "request-timeout nan": ("nan", "expected seconds above 0"),
    "max-cost": ("0", "expected an amount of USD above 0, such as 2.50, found '0'"),
    "max-cost word": ("cheap", "expected an amount of USD above 0"),
    "max-cost nan": ("NaN", "expected an amount of USD above 0"),
    "max-attempts": ("0", "expected a whole number from 1 on"),
    "max-wait": ("-1", "expected seconds above 0"),
}


@pytest.fixture(autouse=True)
def only_what_the_test_sets(suite: Suite, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header has no option of the suite's own; but where calls are counted, only those of the eval are made."""
    if "fake" not in request.fixturenames:
        monkeypatch.delenv("VERICA_NO_PREFLIGHT")


@pytest.mark.parametrize(("name", "value", "said"), [(k.split()[0], *v) for k, v in BAD.items()], ids=list(BAD))
def test_bad_values_are_usage_errors(suite: Suite, name: str, value: str, said: str) -> None:
    suite.eval(cases=TEN)
    run = suite.run(f"--verica-{name}={value}")
    assert run.exit == 4 and run.words == {}
    assert f"--verica-{name}: {said}" in run.out
    assert not (suite.path / ".verica").exists()


def test_bad_values_of_the_environment_and_the_ini_name_their_source(
    suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.eval(cases=TEN)
    suite.file("pytest.ini", "[pytest]\nverica_sample = few\n")
    run = suite.run()
    assert run.exit == 4 and "verica_sample (ini): expected a whole number from 1 on, found 'few'" in run.out
    monkeypatch.setenv("VERICA_SAMPLE", "some")
    run = suite.run()
    assert run.exit == 4 and "VERICA_SAMPLE: expected a whole number from 1 on, found 'some'" in run.out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--verica-model", "dmo=scripted/x:y"), "there are: demo"),
        (("--verica-criterion", "tone"), "there are: polite"),
        (("--verica-fresh", "--verica-replay"), "contradict each other"),
    ],
)
def test_names_that_are_not_there_are_usage_errors(suite: Suite, args: tuple[str, ...], said: str) -> None:
    model = {"provider": "scripted", "name": "scripts:bot"}
    suite.file("scripts.py", "def bot(request):\n    return 'please'\n")
    suite.eval(cases=TEN, target=None, prompt={"user": "{{ q }}"}, model=model)
    run = suite.run(*args)
    assert run.exit == 4 and run.words == {}
    assert said in run.out


def test_unknown_flag_is_a_usage_error(suite: Suite) -> None:
    run = suite.run("--verica-gat", "0.9")
    assert run.exit == 4


PRECEDENCE = [
    ({}, None, None, 10),
    ({"ini": "3"}, 3, "ini", 3),
    ({"ini": "3", "env": "4"}, 4, "environment", 4),
    ({"ini": "3", "env": "4", "flag": "5"}, 5, "command line", 5),
    ({"env": "4"}, 4, "environment", 4),
    ({"ini": "3", "flag": "5"}, 5, "command line", 5),
]


@pytest.mark.parametrize(("given", "value", "source", "ran"), PRECEDENCE)
def test_precedence_and_header(
    suite: Suite,
    monkeypatch: pytest.MonkeyPatch,
    given: dict[str, str],
    value: int | None,
    source: str | None,
    ran: int,
) -> None:
    suite.eval(cases=TEN)
    if "ini" in given:
        suite.file("pytest.ini", f"[pytest]\nverica_sample = {given['ini']}\n")
    if "env" in given:
        monkeypatch.setenv("VERICA_SAMPLE", given["env"])
    run = suite.run(*(["--verica-sample", given["flag"]] if "flag" in given else []))
    assert len(run.words) == ran
    if value is None:
        assert "sample=" not in run.out and run.report["run"]["settings"] == {}
    else:
        assert f"verica: sample={value} ({source})" in run.out.splitlines()
        assert run.report["run"]["settings"] == {"sample": {"value": value, "source": source}}


@pytest.mark.parametrize("ini", ["pytest.ini", "tox.ini", "pyproject.toml"])
def test_every_ini_file_is_read(suite: Suite, ini: str) -> None:
    (suite.path / "pytest.ini").unlink()
    if ini == "pyproject.toml":
        suite.file(ini, '[tool.pytest.ini_options]\nverica_sample = "3"\n')
    else:
        suite.file(ini, "[pytest]\nverica_sample = 3\n")
    suite.eval(cases=TEN)
    assert len(suite.run().words) == 3


def test_evals_may_be_switched_on_by_the_ini_or_the_environment(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.eval(cases=TEN)
    assert suite.run(plain=True).exit == 5
    suite.file("pytest.ini", "[pytest]\nverica = true\n")
    assert len(suite.run(plain=True).words) == 10
    suite.file("pytest.ini", "[pytest]\n")
    monkeypatch.setenv("VERICA", "1")
    assert len(suite.run(plain=True).words) == 10


def test_several_options_in_one_header_line(suite: Suite) -> None:
    suite.eval(cases=TEN)
    suite.file("pytest.ini", "[pytest]\nverica_concurrency = 4\n")
    out = suite.run("--verica-gate=0.25", "--verica-strict").out
    assert "verica: gate=0.25 (command line), concurrency=4 (ini), strict=True (command line)" in out.splitlines()


def test_sample_is_seeded_and_in_order(suite: Suite) -> None:
    suite.eval(cases=TEN, gate=0.1)
    first, second = suite.run("--verica-sample=4"), suite.run("--verica-sample=4")
    assert list(first.words) == list(second.words) == sorted(first.words) and len(first.verdicts) == 4
    assert first.gates == {"demo.eval.yaml::gate": "passed"}
    assert "judged on a sample of 4 cases" in first.out
    assert len(suite.run("--verica-sample=99").verdicts) == 10


def test_shards_are_whole_cases_and_each_case_is_in_one(suite: Suite) -> None:
    criteria = [text("polite", contains="please"), text("short", length={"max": 99})]
    suite.eval(cases=TEN, criteria=criteria, gate=0.9)
    runs = [suite.run(f"--verica-shard={n}/3") for n in (1, 2, 3)]
    assert sorted(name for run in runs for name in run.verdicts) == sorted(suite.run("--verica-strict").verdicts)
    for run in runs:
        cases = {name.split("::")[1] for name in run.verdicts}
        assert len(run.verdicts) == 2 * len(cases)
        assert run.gates == {"demo.eval.yaml::gate": "skipped"}
        assert "failed" not in run.words.values() and run.exit == 0, "misses stay misses until the shards are merged"


FUNCTION = """
import pytest
from pytest_verica import text_check

@pytest.mark.verica(criteria=[text_check(name=name, contains="yes") for name in ("a", "b")], gate=0.5)
@pytest.mark.parametrize("n", range(10))
def test_bot(n):
    return "yes"
"""


def test_shards_and_samples_of_a_functions_own_parameters(suite: Suite) -> None:
    suite.file("test_bot.py", FUNCTION)
    whole = suite.run()
    runs = [suite.run(f"--verica-shard={n}/2") for n in (1, 2)]
    assert sorted(name for run in runs for name in run.verdicts) == sorted(whole.verdicts)
    assert all(0 < len(run.verdicts) < 20 and set(run.gates.values()) == {"skipped"} for run in runs)
    sample = suite.run("--verica-sample=3")
    assert len(sample.verdicts) == 6 and sample.gates == {"test_bot.py::test_bot::gate": "passed"}


def test_criterion_selects_by_glob(suite: Suite, fake: FakeProvider) -> None:
    criteria = [text(name, contains="please") for name in ("tone_kind", "tone_short", "other")]
    suite.eval(cases=TEN[:2], criteria=criteria, gate=0.9)
    run = suite.run("--verica-criterion", "tone_*")
    assert {name.split("::")[2] for name in run.verdicts} == {"tone_kind", "tone_short"}
    assert run.gates == {"demo.eval.yaml::gate": "skipped"}
    assert "4 of 6 verdicts" in run.out
    assert run.exit == 1 and "failed" in run.words.values()


def test_repeat_samples_each_case_so_often(suite: Suite, fake: FakeProvider) -> None:
    suite.eval(
        cases=TEN[:2],
        target=None,
        prompt={"user": "{{ q }}"},
        model=asked(fake),
        criteria=[text("a", contains="answer")],
    )
    run = suite.run("--verica-repeat=3")
    assert list(run.words) == [f"demo.eval.yaml::c{case}::a[{n}]" for case in (0, 1) for n in (1, 2, 3)]
    assert fake.stats()["requests"] == 6
    suite.run("--verica-repeat=3")
    assert fake.stats()["requests"] == 6, "each repeat has a stored answer of its own"


def test_model_replaces_the_model_of_one_eval(suite: Suite, fake: FakeProvider) -> None:
    for name in ("one", "two"):
        prompt: dict[str, Any] = {"user": f"{name} {{{{ q }}}}"}
        suite.eval(
            name, cases=TEN[:1], target=None, prompt=prompt, model=asked(fake), criteria=[text("a", contains="answer")]
        )
    run = suite.run("--verica-model", "two=openai_compatible/fake-judge")
    assert {each["messages"][-1]["content"][:3]: each["model"] for each in fake.requests} == {
        "one": "fake-1",
        "two": "fake-judge",
    }
    assert {each["name"]: each["model"]["name"] for each in run.report["evals"]} == {
        "one": "fake-1",
        "two": "fake-judge",
    }


def test_concurrency_is_a_limit(suite: Suite, fake: FakeProvider) -> None:
    fake.options.update({"latency_ms": 20.0})
    suite.eval(
        cases=TEN, target=None, prompt={"user": "{{ q }}"}, model=asked(fake), criteria=[text("a", contains="answer")]
    )
    suite.run("--verica-concurrency=3")
    assert 1 < fake.stats()["peak_in_flight"] <= 3


def test_fresh_and_replay(suite: Suite, fake: FakeProvider) -> None:
    suite.eval(
        cases=TEN[:2],
        target=None,
        prompt={"user": "{{ q }}"},
        model=asked(fake),
        criteria=[text("a", contains="answer")],
    )
    run = suite.run("--verica-replay")
    assert set(run.words.values()) == {"error"} and fake.stats()["requests"] == 0
    assert "no stored answer" in run.out
    suite.run()
    assert fake.stats()["requests"] == 2
    assert suite.run("--verica-replay").exit == 0
    assert fake.stats()["requests"] == 2
    suite.run("--verica-fresh")
    assert fake.stats()["requests"] == 4


def test_prices_of_ones_own(suite: Suite, fake: FakeProvider) -> None:
    suite.eval(
        cases=TEN[:1],
        target=None,
        prompt={"user": "{{ q }}"},
        model=asked(fake),
        criteria=[text("a", contains="answer")],
    )
    assert "price unknown" in suite.run().out
    suite.file(
        "prices.toml", '[[price]]\nprovider = "openai_compatible"\nmodel = "fake-1"\ninput = 1.0\noutput = 2.0\n'
    )
    run = suite.run("--verica-fresh", "--verica-prices", "prices.toml")
    assert "price unknown" not in run.out
    assert run.report["evals"][0]["cost"]["total"] > 0
    json.dumps(run.report, allow_nan=False)
