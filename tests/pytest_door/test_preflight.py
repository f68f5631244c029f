"""What is looked at before the first call: once, only where a call will be needed, every problem at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.pytest_door.conftest import Run, Suite, asked, judge, text

CASES = [{"id": f"c{n}", "q": f"What is {n} + 1?", "answer": f"The answer is {n + 1}."} for n in range(3)]
ZERO_PRICE = '[[price]]\nmodel = "fake-*"\ninput = 1.0\noutput = 2.0\n'


@pytest.fixture(autouse=True)
def with_preflight(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VERICA_NO_PREFLIGHT")


def judged(fake: FakeProvider, name: str = "fake-judge", **keys: Any) -> dict[str, Any]:
    return {**judge("good", ""), "model": asked(fake, name), **keys}


def gets(fake: FakeProvider) -> list[str]:
    return [each.target for each in fake.received if each.method == "GET"]


def probes(fake: FakeProvider) -> list[Any]:
    return [body for body in fake.requests if "Is water wet" in json.dumps(body)]


def write(suite: Suite, fake: FakeProvider, criteria: Sequence[Any] | None = None, **keys: Any) -> None:
    keys = {"target": None, "prompt": {"user": "{{ q }}"}, "model": asked(fake), **keys}
    suite.eval(cases=CASES, criteria=criteria or [judged(fake)], **keys)


@pytest.mark.parametrize("args", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["alone", "n2"])
def test_each_endpoint_and_judge_is_asked_once_and_only_while_calls_are_needed(
    suite: Suite, fake: FakeProvider, args: tuple[str, ...]
) -> None:
    write(suite, fake, [judged(fake), judged(fake, name="fake-judge", pass_at=0.1) | {"name": "other"}])
    suite.file("prices.toml", ZERO_PRICE)
    run = suite.run("--verica-prices=prices.toml", *args)
    assert run.exit == 0, run.out
    assert gets(fake) == ["/v1/models"]
    [probe] = probes(fake)
    assert probe["model"] == "fake-judge" and probe["response_format"]["json_schema"]["strict"] is True
    assert list(probe["response_format"]["json_schema"]["schema"]["properties"]) == ["reasoning", "label"]
    found = run.report["preflight"]
    assert (found["calls"], found["reused"], found["notes"]) == (1, 0, [])
    totals, [of_eval] = run.report["totals"], run.report["evals"]
    assert totals["calls"]["made"] == of_eval["calls"]["made"] + 1 == len(fake.requests)
    assert found["cost"] > 0
    assert totals["cost"]["total"] == pytest.approx(of_eval["cost"]["total"] + found["cost"], rel=1e-12)
    # All is stored now: nobody is asked anything.
    before = fake.stats()["requests"]
    again = suite.run("--verica-prices=prices.toml", *args)
    assert again.exit == 0 and fake.stats()["requests"] == before and again.report["preflight"] is None
    # One question is new: the endpoint is looked at again, its judge's shape is known.
    suite.eval(
        cases=[*CASES, {"id": "new", "q": "What is 9 + 9?"}],
        criteria=[judged(fake)],
        target=None,
        prompt={"user": "{{ q }}"},
        model=asked(fake),
    )
    third = suite.run("--verica-prices=prices.toml", *args)
    assert gets(fake) == ["/v1/models"] * 2 and len(probes(fake)) == 1
    assert third.report["preflight"]["reused"] == 1


@pytest.mark.parametrize(
    "args", [("--verica-no-preflight",), ("--verica-replay",), ("--collect-only",), ("--setup-plan",)]
)
def test_nobody_is_asked(suite: Suite, fake: FakeProvider, args: tuple[str, ...]) -> None:
    write(suite, fake)
    suite.run(*args)
    assert not gets(fake) and not probes(fake)


@pytest.mark.parametrize("args", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["alone", "n2"])
def test_all_problems_at_once_with_their_places(suite: Suite, args: tuple[str, ...]) -> None:
    with FakeProvider(models=("fake-1", "fake-judge", "fake-loose")) as fake, FakeProvider(api_key="x") as closed:
        fake.script()
        criteria = [
            {**judge("missing", ""), "model": asked(fake, "fake-jugde")},
            {**judge("closed", ""), "model": asked(closed, "fake-judge")},
        ]
        write(suite, fake, criteria, model=asked(fake, "fake-2"))
        run = suite.run(*args)
    assert run.exit == 4, run.out
    lines = [line for line in run.out.splitlines() if "demo.eval.yaml:" in line]
    assert len(lines) == 3, run.out
    assert "does not serve the model 'fake-2'; did you mean 'fake-1'? it serves: fake-1, fake-judge" in lines[0]
    assert "does not serve the model 'fake-jugde'; did you mean 'fake-judge'?" in lines[1] + lines[2]
    assert "Incorrect API key" in lines[1] + lines[2]
    assert not fake.requests and not run.told and not list(suite.path.glob(".verica/runs/*"))


def answers(content: str, finish_reason: str = "stop") -> bytes:
    said = {"role": "assistant", "content": content, "refusal": None}
    choices = [{"index": 0, "message": said, "finish_reason": finish_reason}]
    return json.dumps({"choices": choices, "model": "m"}).encode()


@pytest.mark.parametrize(
    ("structured", "content", "said"),
    [
        ("json_schema", "Water is wet: yes.", "Choose another model, or `structured: tool or json_object`"),
        ("json_object", '{"label": "yes"}', "Choose another model, or `structured: json_schema or tool`"),
        ("tool", "yes", "Choose another model, or `structured: json_schema or json_object`"),
    ],
)
def test_a_judge_that_gives_no_json(suite: Suite, fake: FakeProvider, structured: str, content: str, said: str) -> None:
    write(suite, fake, [judged(fake, structured=structured)])
    fake.options.update({"models": None})
    fake.script((404, {}, b"{}"), (200, {}, answers(content)))
    run = suite.run()
    assert run.exit == 4, run.out
    assert "the judge 'good' cannot work with fake-judge of openai_compatible at" in run.out and said in run.out
    assert len(fake.requests) == 1, "nothing but the probe"


@pytest.mark.parametrize(("content", "code"), [('{"reasoning": "Water, as', 0), ("Water, as", 4)])
def test_a_probe_that_is_cut_off_counts_as_far_as_it_goes(
    suite: Suite, fake: FakeProvider, content: str, code: int
) -> None:
    write(suite, fake, [judged(fake)])
    fake.options.update({"models": None})
    fake.script((404, {}, b"{}"), (200, {}, answers(content, "length")))
    assert suite.run().exit == code


def test_an_endpoint_without_a_list_is_said(suite: Suite, fake: FakeProvider) -> None:
    fake.options.update({"models": None})
    write(suite, fake, [text("sum", contains="answer")])
    run = suite.run()
    assert run.exit == 0
    [note] = run.report["preflight"]["notes"]
    assert "has no list of its models: whether it serves fake-1 is not known" in note and note in run.out


def test_models_without_a_price_are_told_before_launch(suite: Suite, fake: FakeProvider) -> None:
    write(suite, fake)
    run = suite.run("-W", "error")
    assert run.exit == 0, "it is no error"
    assert run.out.count("no price is known for openai_compatible/fake-1: its cost is in no sum") == 1
    assert run.out.count("no price is known for openai_compatible/fake-judge") == 1


def test_an_estimate_is_no_run_where_something_cannot_be_collected(suite: Suite, fake: FakeProvider) -> None:
    write(suite, fake)
    suite.eval("broken", criteria=[text("sum", contains="{{ nothing }}")])
    run = suite.run("--verica-estimate", "--continue-on-collection-errors")
    assert run.exit == 2 and not fake.received and "no estimate" in run.out
    assert "tokens:" not in suite.run("--verica-estimate", "--collect-only", "demo.eval.yaml").out


def test_judges_of_other_providers_are_not_probed(
    suite: Suite, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-some-key-of-a-test")
    model = {**asked(fake, "fake-judge"), "provider": "openai", "credential": "SOME_KEY"}
    write(suite, fake, [{**judge("good", ""), "model": model}])
    assert suite.run().exit == 0
    assert gets(fake) == ["/v1/models"] * 2 and not probes(fake)


def test_a_judge_of_ones_own_codes_outputs_that_has_answers_is_not_looked_at(suite: Suite, fake: FakeProvider) -> None:
    suite.file("shop.py", "def answer(q):\n    return q\n")
    write(suite, fake, target={"python": "shop:answer"}, prompt=None, model=None)
    assert suite.run().exit == 0 and gets(fake) == ["/v1/models"]
    assert suite.run().exit == 0 and gets(fake) == ["/v1/models"]


def test_problems_of_the_file_come_together_with_missing_keys(suite: Suite, fake: FakeProvider) -> None:
    model = {**asked(fake), "credential": "NO_SUCH_VARIABLE"}
    write(suite, fake, [text("sum", contains="{{ nothing }}")], model=model, gate={"min_graded": 99})
    run = suite.run()
    for said in ("`nothing`", "NO_SUCH_VARIABLE is not set", "min_graded"):
        assert said in run.out, run.out
    assert not fake.received


def test_a_budget_needs_prices(suite: Suite, fake: FakeProvider) -> None:
    write(suite, fake)
    run = suite.run("--verica-max-cost=1")
    assert run.exit == 4 and not fake.requests
    lines = [line for line in run.out.splitlines() if "no price is known for" in line]
    assert ["fake-1" in lines[0], "fake-judge" in lines[1], "demo.eval.yaml:" in lines[1]] == [True] * 3, run.out


def spent(run: Run) -> float:
    return run.report["totals"]["cost"]["total"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("args", [(), pytest.param(("-n2",), marks=pytest.mark.slow)], ids=["alone", "n2"])
def test_a_budget_ends_the_calls(suite: Suite, fake: FakeProvider, args: tuple[str, ...]) -> None:
    """The first calls are guessed at 150 tokens out and use 5: they do not bring the spend over it."""
    rows = [{"id": f"c{n}", "q": f"What is {n} + 1?"} for n in range(60)]
    suite.file("prices.toml", ZERO_PRICE)
    criteria = [text("sum", contains="answer"), judged(fake)]
    suite.eval(cases=rows, criteria=criteria, target=None, prompt={"user": "{{ q }}"}, model=asked(fake))
    run = suite.run("--verica-prices=prices.toml", "--verica-max-cost=$0.002", "--verica-concurrency=4", *args)
    assert run.exit == 1
    assert 0.0016 < spent(run) <= 0.002, run.out
    refused = [grade for grade in run.grades.values() if grade["outcome"] == "error"]
    assert refused and {grade["error"]["kind"] for grade in refused} == {"budget"}
    assert any(grade["outcome"] == "pass" for grade in run.grades.values())
    assert not list(suite.path.glob(".verica/spending-*"))
    before = len(fake.requests)
    whole = suite.run("--verica-prices=prices.toml", "--verica-max-cost=1", *args)
    assert whole.exit == 0 and len(fake.requests) == 60 * 2 + 1, "nothing is bought twice"
    assert before > 30


def test_an_estimate_asks_nobody_and_foresees_the_run(suite: Suite, fake: FakeProvider) -> None:
    rows = [{"id": f"c{n}", "q": f"What is {n} + {7 ** (n % 9)}?"} for n in range(80)]
    suite.file("prices.toml", ZERO_PRICE)
    criteria = [text("sum", contains="answer"), judged(fake), judged(fake, samples=2) | {"name": "thrice"}]
    suite.eval(cases=rows, criteria=criteria, target=None, prompt={"user": "{{ q }}"}, model=asked(fake))
    prices = "--verica-prices=prices.toml"
    suite.run(prices, "--verica-sample=10")
    asked_before = fake.stats()["requests"]
    stored = len(fake.requests) - 1
    said = suite.run(prices, "--verica-estimate", "-n2")
    assert said.exit == 0 and not said.told and not said.reports
    assert fake.stats()["requests"] == asked_before
    run = suite.run(prices)
    made = run.report["totals"]["calls"]["made"]
    assert f"calls: {made} to make, {stored} answered from the store" in said.out
    tokens = run.report["totals"]["tokens"]
    read, written = (
        sum(tokens[side][f"{way}_tokens"] for side in ("sampling", "grading")) for way in ("input", "output")
    )
    line = next(line for line in said.out.splitlines() if line.startswith("tokens:")).split()
    assert int(line[1]) == pytest.approx(read, rel=0.1) and int(line[3]) == pytest.approx(written, rel=0.1)
    cost = next(line for line in said.out.splitlines() if line.startswith("cost:"))
    assert float(cost.rpartition("$")[2]) == pytest.approx(spent(run), rel=0.1)
    assert "guessed" not in said.out
    assert "calls: 0 to make, 240 answered from the store" in suite.run(prices, "--verica-estimate").out


def test_an_estimate_says_what_it_guesses_and_does_not_know(suite: Suite, fake: FakeProvider) -> None:
    suite.file("shop.py", "def answer(q):\n    raise SystemExit\n")
    write(suite, fake, target={"python": "shop:answer"}, prompt=None, model=None)
    run = suite.run("--verica-estimate")
    assert run.exit == 0 and "calls: 3 to make" in run.out
    assert "guessed: no answer of openai_compatible/fake-judge" in run.out
    assert "not known: what the code behind demo.eval.yaml calls" in run.out
    assert "price unknown: openai_compatible/fake-judge" in run.out
    assert not fake.received and not list(suite.path.glob(".verica/runs/*"))
