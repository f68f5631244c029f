"""Runs over a provider that fails and stalls: verdicts, attempts, cost to the last digit; nothing is left hanging."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from decimal import Decimal
from pathlib import Path

import pytest

from pytest_verica.report.summary import RunSummary, read_run
from tests.fake_answers import Draw, chat_completion
from tests.fake_provider import FakeProvider
from tests.pytest_door.reference_eval import CALLS_PER_CASE, CRITERIA, Run, command, environment, run, write_sums

pytestmark = pytest.mark.slow

CASES = 1000
FAULTS = {"429": 0.05, "500": 0.05, "reset": 0.04, "malformed": 0.03, "cut": 0.03}
"""20 % of the calls, of every kind that leaves nothing to be paid."""
PER_TOKEN = {"in": Decimal(1) / 1_000_000, "out": Decimal(2) / 1_000_000}


def summary_of(folder: Path) -> RunSummary:
    journals = sorted((folder / ".verica" / "runs").glob("*/journal.jsonl"))
    return read_run(journals[-1])


def independent_cost(fake: FakeProvider) -> Decimal:
    """What the answered calls cost, from the requests that arrived: no line of the product is used."""
    rates = {"wrong_rate": fake.options.wrong_rate, "fail_rate": fake.options.fail_rate}
    total = Decimal(0)
    for body in {each.body for each in fake.received if each.method == "POST"}:
        usage = chat_completion(json.loads(body), Draw(fake.options.seed, body), **rates)["usage"]
        total += usage["prompt_tokens"] * PER_TOKEN["in"] + usage["completion_tokens"] * PER_TOKEN["out"]
    return total


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Run, RunSummary, FakeProvider]]:
    """The faultless run, and the one with faults."""
    found = []
    for faults in ({}, FAULTS):
        folder = tmp_path_factory.mktemp("run")
        with FakeProvider(wrong_rate=0.1, fail_rate=0.1, faults=faults) as fake:
            write_sums(folder, fake.url, CASES)
            found.append((run(folder, "--verica-max-wait=0.05", "--verica-max-attempts=20"), summary_of(folder), fake))
    return found


def test_three_thousand_calls_with_a_fifth_of_faults_give_the_faultless_run(
    runs: list[tuple[Run, RunSummary, FakeProvider]],
) -> None:
    (clean, _, _), (faulty, _, fake) = runs
    assert clean.code == 0, clean.text[-3000:]
    assert faulty.verdicts == clean.verdicts and len(clean.verdicts) == CASES * CRITERIA
    stats = fake.stats()
    assert sum(stats["faults"].values()) / stats["requests"] == pytest.approx(0.2, abs=0.02)
    assert stats["bought_twice"] == 0


def test_every_attempt_is_counted(runs: list[tuple[Run, RunSummary, FakeProvider]]) -> None:
    for found, summary, fake in runs:
        stats = fake.stats()
        calls = summary.overall.calls
        assert calls.made == found.totals["calls"]["made"] == stats["requests"]
        assert calls.retried == stats["requests"] - CASES * CALLS_PER_CASE == sum(stats["faults"].values())


def test_the_cost_is_exact_to_the_last_digit(runs: list[tuple[Run, RunSummary, FakeProvider]]) -> None:
    costs = []
    for _, summary, fake in runs:
        cost = summary.overall.cost
        assert cost.total is not None and cost.sampling is not None and cost.grading is not None
        assert cost.total == cost.sampling + cost.grading == independent_cost(fake)
        costs.append(cost.total)
    assert costs[0] == costs[1] > 0


def test_an_endpoint_that_never_answers_ends_within_its_time_and_the_others_finish(tmp_path: Path) -> None:
    """Two evals at two endpoints: the one that hangs neither hangs the run nor holds the other back."""
    with FakeProvider(faults={"never": 1.0}) as silent, FakeProvider() as good:
        for name, fake in (("a_silent", silent), ("b_good", good)):
            folder = tmp_path / name
            folder.mkdir()
            write_sums(folder, fake.url, 12)
            text = (folder / "sums.eval.yaml").read_text().replace("name: sums", f"name: {name}")
            (tmp_path / f"{name}.eval.yaml").write_text(text.replace("sums.jsonl", f"{name}/sums.jsonl"))
            (folder / "sums.eval.yaml").unlink()
        limits = ("--verica-request-timeout=1", "--verica-max-attempts=2", "--verica-max-wait=1")
        started = time.monotonic()
        found = run(tmp_path, *limits, "--verica-concurrency=4")
        elapsed = time.monotonic() - started
    assert found.report is not None
    hung, finished = (each["totals"] for each in found.report["evals"])
    assert (hung["error"], finished["pass"], finished["error"]) == (48, 48, 0), found.text[-2000:]
    assert "did not answer within 1 s" in found.text
    assert found.report["evals"][0]["calls"]["made"] == 24, "two attempts for each output"
    # 12 cases, 4 at a time, twice a second: 6 s and the waits between.
    assert elapsed < 25


def test_the_last_call_of_a_run_does_not_hang(tmp_path: Path) -> None:
    with FakeProvider() as fake:
        write_sums(tmp_path, fake.url, 8)
        run(tmp_path, "-k", "not sum-7")
        fake.options.update({"faults": {"never": 1.0}})
        started = time.monotonic()
        found = run(tmp_path, "--verica-request-timeout=1", "--verica-max-attempts=1")
    assert time.monotonic() - started < 20
    assert (found.totals["pass"], found.totals["error"]) == (28, 4)


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "n2"])
@pytest.mark.parametrize("how", ["ctrl-c", "-x"])
def test_stopping_leaves_nothing_hanging(tmp_path: Path, workers: tuple[str, ...], how: str) -> None:
    """Calls that are out when the run is stopped are dropped at once, not waited for."""
    with FakeProvider() as fake:
        write_sums(tmp_path, fake.url, 40)
        if how == "-x":
            rows = (tmp_path / "sums.jsonl").read_text().replace('"expected": "3"', '"expected": "nothing"', 1)
            (tmp_path / "sums.jsonl").write_text(rows)
            text = (tmp_path / "sums.eval.yaml").read_text().replace("gate: 0.5\n", "")
            (tmp_path / "sums.eval.yaml").write_text(text)
            run(tmp_path, "-k", "sum-0")
        fake.options.update({"faults": {"never": 1.0}})
        process = subprocess.Popen(
            command(*workers, *(["-x"] if how == "-x" else [])),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        if how == "ctrl-c":
            before = fake.stats()["requests"]
            while fake.stats()["requests"] < before + 8:
                time.sleep(0.02)
            os.killpg(process.pid, signal.SIGINT)
        started = time.monotonic()
        out, _ = process.communicate(timeout=60)
        assert time.monotonic() - started < 30
        while fake.stats()["in_flight"]:
            time.sleep(0.01)
    # xdist ends a run that -x stopped with 2, pytest alone with 1.
    assert process.returncode == (1 if how == "-x" and not workers else 2), out
    assert "\nERROR " not in out, "what nobody waits for any more is no error"
