"""A store of an earlier format is brought to the newest one, with every answer, by whichever process opens it first."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.store import database
from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question

REQUESTS = [question(str(number)) for number in range(20)]
STEP = ("ALTER TABLE answers ADD COLUMN note TEXT", "UPDATE answers SET note = 'from format 1'")


def format_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "responses.sqlite"
    store = ResponseStore(path)
    store.put_many([(request, answer(request.key)) for request in REQUESTS])
    store.close()
    return path


def test_the_newest_format_has_a_step_from_each_one_before(path: Path) -> None:
    assert format_of(path) == len(database.MIGRATIONS) == 1


def test_answers_come_along(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, STEP))
    stores = [ResponseStore(path) for _ in range(4)]
    threads = [threading.Thread(target=store.count) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [request.key for request in REQUESTS]
    for store in stores:
        assert store.get_many(keys) == {key: answer(key) for key in keys}
        assert store.warnings == []
        store.close()
    assert format_of(path) == 2


def test_a_step_that_fails_leaves_the_store_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", (*database.MIGRATIONS, (*STEP, "SELECT nonsense(")))
        with pytest.raises(StoreError):
            ResponseStore(path).count()
    assert format_of(path) == 1
    store = ResponseStore(path)
    assert store.count() == len(REQUESTS) and store.warnings == []
    store.close()


def test_a_newer_format_is_refused_and_left_alone(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 9")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer version \(format 9, expected 1 at most\): upgrade pytest-verica"):
        ResponseStore(path).count()
    assert path.read_bytes() == before
