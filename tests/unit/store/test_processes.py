"""One store, several real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question

ROOT = Path(__file__).parents[3]


def _start(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.unit.store.buyer", *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _holder(path: Path, *keys: str) -> subprocess.Popen[str]:
    process = _start("hold", path, *keys)
    assert process.stdout is not None
    assert process.stdout.readline().split() == sorted(keys)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.mark.parametrize(
    ("count", "questions"), [(3, 200), pytest.param(8, 2000, marks=pytest.mark.slow)], ids=["three", "eight"]
)
def test_processes_buy_every_answer_once(tmp_path: Path, count: int, questions: int) -> None:
    """All want all of them, each in an order of its own; none ever finds the database locked."""
    path = tmp_path / "responses.sqlite"
    receipts = [tmp_path / f"bought-{number}" for number in range(count)]
    processes = [_start("buy", path, receipt, receipt.name, str(questions)) for receipt in receipts]
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    bought = [key for receipt in receipts for key in receipt.read_text().split()]
    wanted = {question(str(number)).key for number in range(questions)}
    assert len(bought) == questions
    assert set(bought) == wanted
    store = ResponseStore(path)
    assert store.get_many(wanted) == {key: answer(key) for key in wanted}
    assert store.claim_many(wanted) == wanted  # no claim was left behind
    assert list((tmp_path / "owners").iterdir()) != []
    store.close()
    assert list((tmp_path / "owners").iterdir()) == []


def test_the_claims_of_a_killed_process_are_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    holder = _holder(path, "a", "b")
    store = ResponseStore(path)
    try:
        assert store.claim_many(["a", "b", "c"]) == {"c"}
        assert store.claim_many(["a"]) == set()
    finally:
        _end(holder)
    assert store.claim_many(["a", "b"]) == {"a", "b"}
    store.close()
    assert list((tmp_path / "owners").iterdir()) == []


def test_one_of_two_takes_over_from_a_killed_process(tmp_path: Path) -> None:
    path = tmp_path / "responses.sqlite"
    _end(_holder(path, "a"))
    one, two = ResponseStore(path), ResponseStore(path)
    assert (one.claim_many(["a"]), two.claim_many(["a"])) == ({"a"}, set())
    one.close()
    two.close()


def test_a_killed_writer_leaves_what_it_stored(tmp_path: Path) -> None:
    path, receipt = tmp_path / "responses.sqlite", tmp_path / "bought"
    process = _start("buy", path, receipt, "x", "3000")
    store = ResponseStore(path)
    while store.count() < 50 and process.poll() is None:
        pass
    _end(process)
    stored = store.count()
    assert stored >= 50
    assert sum(1 for saved in store.saved() if saved.answer == answer(saved.key)) == stored
    assert store.warnings == []
    store.close()
