"""`verica providers check` and `verica models`, against a provider over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fake_provider import FakeProvider
from tests.unit.cli.conftest import Verica

KEY = "sk-key-of-these-tests"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    monkeypatch.setenv("KEY_OF_TESTS", KEY)
    with FakeProvider(api_key=KEY) as provider:
        yield provider


def write(folder: Path, fake: FakeProvider, judge: str = "fake-judge", credential: str = "KEY_OF_TESTS") -> Path:
    def model(name: str) -> dict[str, Any]:
        return {"provider": "openai_compatible", "name": name, "base_url": fake.url, "credential": credential}

    criterion = {"name": "good", "type": "score_model", "prompt": "Rate {{ output.text }}", "model": model(judge)}
    (folder / "g.jsonl").write_text('{"id": "a", "q": "What is 1 + 1?"}\n')
    value = {
        "golden_set": "g.jsonl",
        "prompt": {"user": "{{ q }}"},
        "model": model("fake-1"),
        "criteria": [{**criterion, "min": 0, "max": 1, "pass_at": 0.5}],
    }
    (folder / "a.eval.yaml").write_text(json.dumps(value, indent=1))
    return folder / "a.eval.yaml"


def test_all_is_well(run: Verica, tmp_path: Path, fake: FakeProvider) -> None:
    write(tmp_path, fake)
    result = run("providers", "check", "a.eval.yaml")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "ok: the environment variable KEY_OF_TESTS is set",
        f"ok: openai_compatible at {fake.url} serves fake-1",
        f"ok: openai_compatible at {fake.url} serves fake-judge",
        f"ok: openai_compatible at {fake.url}: fake-judge answers in the shape of a verdict (structured: json_schema)",
    ]
    assert len(fake.requests) == 1 and not (tmp_path / ".verica").exists()


def test_what_is_wrong_is_said_with_its_place(run: Verica, tmp_path: Path, fake: FakeProvider) -> None:
    write(tmp_path, fake, judge="fake-jugde")
    result = run("providers", "check", "a.eval.yaml")
    assert result.exit_code == 1
    [wrong] = [line for line in result.output.splitlines() if line.startswith("wrong: ")]
    assert wrong.startswith("wrong: a.eval.yaml:") and "did you mean 'fake-judge'?" in wrong
    assert not fake.requests, "a model that is not there is not probed"


def test_a_key_that_is_not_set_and_one_that_is_refused(run: Verica, tmp_path: Path, fake: FakeProvider) -> None:
    write(tmp_path, fake, credential="NOT_SET_HERE")
    result = run("providers", "check", "a.eval.yaml")
    assert result.exit_code == 1 and result.output.count("NOT_SET_HERE is not set") == 2 and not fake.received
    fake.options.update({"api_key": "another"})
    write(tmp_path, fake)
    result = run("providers", "check", "a.eval.yaml")
    assert result.exit_code == 1 and "refused the key in KEY_OF_TESTS" in result.output and KEY not in result.output


def test_a_judge_that_gives_no_json(run: Verica, tmp_path: Path, fake: FakeProvider) -> None:
    write(tmp_path, fake)
    said = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}
    listed = {"data": [{"id": "fake-1"}, {"id": "fake-judge"}]}
    fake.script((200, {}, json.dumps(listed).encode()), (200, {}, json.dumps(said).encode()))
    result = run("providers", "check", "a.eval.yaml")
    assert result.exit_code == 1 and "it gave none: the answer is not JSON" in result.output


def test_models(run: Verica, fake: FakeProvider) -> None:
    where = ("openai_compatible", "--base-url", fake.url, "--credential", "KEY_OF_TESTS")
    assert run("models", *where).output.splitlines() == ["fake-1", "fake-judge"]
    assert run("models", *where, "--match", "*judge").output.splitlines() == ["fake-judge"]
    nothing = run("models", *where, "--match", "x*")
    assert nothing.exit_code == 1 and "none of the 2 models" in nothing.output
    fake.options.update({"models": None})
    without = run("models", *where)
    assert without.exit_code == 1 and "has no list of models" in without.output
    unknown = run("models", "opnai")
    assert unknown.exit_code == 2 and "openai_compatible" in unknown.output
