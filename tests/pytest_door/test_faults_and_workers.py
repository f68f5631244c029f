"""A run over a faulty provider, and under xdist: the same verdicts, every call accounted for, nothing bought twice."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import psutil
import pytest

from pytest_verica.report.summary import read_run
from tests.fake_provider import FakeProvider
from tests.pytest_door.reference_eval import CALLS_PER_CASE, CRITERIA, Run, command, environment, run, write_sums

pytestmark = pytest.mark.slow

FAULTS = {"429": 0.05, "500": 0.05, "reset": 0.05}


def reference(folder: Path, cases: int, *args: str, **options: object) -> tuple[Run, dict[str, int]]:
    """A whole run in a folder of its own, and what the provider counted."""
    folder.mkdir()
    with FakeProvider(latency_ms=20, wrong_rate=0.1, fail_rate=0.1, **options) as fake:
        write_sums(folder, fake.url, cases)
        return run(folder, *args), fake.stats()


@pytest.fixture(scope="module")
def faultless(tmp_path_factory: pytest.TempPathFactory) -> Run:
    found, _ = reference(tmp_path_factory.mktemp("faultless") / "run", 40)
    assert found.code == 0, found.text
    return found


def test_faults_change_no_verdict_and_buy_nothing_twice(tmp_path: Path, faultless: Run) -> None:
    found, stats = reference(tmp_path / "run", 40, faults=FAULTS)
    assert found.code == 0, found.text
    assert found.verdicts == faultless.verdicts
    assert stats["unique"] == 40 * CALLS_PER_CASE
    assert stats["bought_twice"] == 0
    assert found.totals["calls"]["made"] == stats["requests"]
    assert found.totals["calls"]["retried"] == stats["requests"] - stats["unique"] > 0
    assert found.totals["cost"] == faultless.totals["cost"]


def test_workers_give_the_run_of_one_process(tmp_path: Path, faultless: Run) -> None:
    found, stats = reference(tmp_path / "run", 40, "-n", "3", faults=FAULTS)
    assert found.code == 0, found.text
    assert found.verdicts == faultless.verdicts
    assert found.totals["cost"] == faultless.totals["cost"]
    same = ("pass", "fail", "na", "error", "graded", "missed", "rate", "interval", "criteria", "outputs")
    assert {key: found.totals[key] for key in same} == {key: faultless.totals[key] for key in same}
    assert stats["bought_twice"] == 0 and stats["unique"] == 40 * CALLS_PER_CASE


def test_an_answered_run_is_run_again_for_nothing(tmp_path: Path) -> None:
    with FakeProvider() as fake:
        write_sums(tmp_path, fake.url, 10)
        first = run(tmp_path)
        before = fake.stats()["requests"]
        again = run(tmp_path)
        assert fake.stats()["requests"] == before
    assert again.verdicts == first.verdicts
    assert again.totals["calls"] == {"made": 0, "reused": 30, "retried": 0}
    assert again.totals["cost"]["total"] == 0
    assert again.totals["cost"]["avoided"] == pytest.approx(first.totals["cost"]["total"], rel=1e-12)


def test_fresh_buys_again_and_replay_buys_nothing(tmp_path: Path) -> None:
    with FakeProvider() as fake:
        write_sums(tmp_path, fake.url, 5)
        run(tmp_path)
        fresh = run(tmp_path, "--verica-fresh")
        assert fresh.totals["calls"]["made"] == 15 and fake.stats()["requests"] == 30
        replayed = run(tmp_path, "--verica-replay")
        assert fake.stats()["requests"] == 30 and replayed.code == 0
        (tmp_path / "sums.jsonl").write_text('{"id": "new", "question": "What is 1 + 1?", "expected": "2"}\n')
        missing = run(tmp_path, "--verica-replay")
        assert fake.stats()["requests"] == 30
    assert missing.code == 1
    assert "no stored answer for openai_compatible/fake-1 to 'What is 1 + 1?'" in missing.text


def test_calls_made_in_vain_are_counted(tmp_path: Path) -> None:
    with FakeProvider() as fake:
        write_sums(tmp_path, fake.url.replace("/v1", "/nowhere"), 3)
        found = run(tmp_path)
        assert found.totals["calls"]["made"] == fake.stats()["requests"] == 3
    assert found.code == 1
    assert (found.totals["error"], found.totals["graded"], found.totals["failed_outputs"]) == (12, 0, 3)


def test_a_killed_worker_costs_its_case_and_reports_each_item_once(tmp_path: Path) -> None:
    cases = 60
    with FakeProvider(latency_ms=100) as fake:
        write_sums(tmp_path, fake.url, cases)
        report = tmp_path / "report.json"
        process = subprocess.Popen(
            command("-n", "2", "-vv", "--verica-concurrency=4", f"--verica-report={report}"),
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        while fake.stats()["answered"] < 30:
            time.sleep(0.02)
        workers = psutil.Process(process.pid).children(recursive=True)
        workers[0].kill()
        text, _ = process.communicate(timeout=120)
    assert process.returncode == 1, text
    [journal] = (tmp_path / ".verica" / "runs").glob("*/journal.jsonl")
    summary = read_run(journal)
    counts = summary.overall.counts
    assert counts.ran == cases * CRITERIA, text
    assert 1 <= counts.error <= CRITERIA, text
    words = [line.split()[-1] for line in text.splitlines() if "sums.eval.yaml::" in line and line.startswith("[gw")]
    assert len(words) == len(set(words)) == cases * CRITERIA
