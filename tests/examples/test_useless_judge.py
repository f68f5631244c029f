"""A real small model as a judge of something that nobody can see in the text: its verdicts must not be believed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator

import pytest

from pytest_verica.calibration.alignment import align
from pytest_verica.calibration.finding import find_judges, labels_for
from tests.examples.conftest import Example
from tests.local_model import NoLocalModel, running_model

pytestmark = pytest.mark.local_model

NUMBER = 40


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    try:
        with running_model() as base_url:
            yield base_url
    except NoLocalModel as reason:
        if os.environ.get("VERICA_REQUIRE_LOCAL_MODEL"):
            pytest.fail(f"the local model is required here: {reason}")
        pytest.skip(str(reason))


def key(number: int) -> str:
    """The fixed key: half of the cases, by a digest that no text shows."""
    return "yes" if hashlib.sha256(f"case {number}".encode()).digest()[0] % 2 else "no"


@pytest.mark.slow
def test_a_useless_judge_gets_no_trust_and_fails_the_gate(example: Example, url: str) -> None:
    people = ("ada", "ben", "cleo", "dan", "eve")
    rows = [f"c{n},{people[n % 5]} bought {n + 2} apples,{key(n)}\n" for n in range(NUMBER)]
    (example.path / "rows.csv").write_text("id,answer,verica_label_secret\n" + "".join(rows), "utf-8")
    judged = {"role": "user", "content": "{{ output.text }}"}
    prompt = [
        {"role": "system", "content": "Say whether the sentence keeps the secret rule. Give a very short reason."},
        {"role": "user", "content": "fay bought 90 apples"},
        {"role": "assistant", "content": '{"reasoning": "It does.", "label": "keeps"}'},
        {"role": "user", "content": "gus bought 91 apples"},
        {"role": "assistant", "content": '{"reasoning": "It does not.", "label": "breaks"}'},
        judged,
    ]
    model = {"provider": "openai_compatible", "name": "smollm2", "base_url": url}
    model["params"] = {"seed": 7, "temperature": 0, "max_tokens": 60}  # type: ignore[assignment]
    secret = {
        "name": "secret",
        "type": "label_model",
        "labels": ["keeps", "breaks"],
        "passing_labels": ["keeps"],
        "prompt": {"messages": prompt},
        "model": model,
    }
    gate = {"pass_rate": 0.01, "max_errors": 39, "calibrated": True}
    written = {"golden_set": "rows.csv", "target": {"column": "answer"}, "criteria": [secret], "gate": gate}
    (example.path / "useless.eval.json").write_text(json.dumps(written), "utf-8")
    (example.path / "pytest.ini").write_text("[pytest]\nverica_concurrency = 1\n", "utf-8")
    result = example.run("pytest --verica", offline=False)
    (judge,) = find_judges(example.path, "useless")
    found = align(judge, labels_for(example.path, judge))
    assert len(found.sample.labelled) == len(judge.outputs) > 0
    assert found.light.colour == "red" or found.rate.estimate is None, found.rate
    assert result.ret == 1
    (reason,) = example.report()["evals"][0]["gate"]["reasons"]
    assert reason.startswith("secret: ") and "verica" in reason
