"""A store that is asked over a connection: as good as the store itself, and no two workers buy the same."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.plugin.distant_answers import AnswersDesk, DistantAnswers
from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question

A, B = question("a"), question("b \ud800")


class Line:
    """A connection within this process: what a worker sends is served at once. Only texts cross."""

    def __init__(self, desk: AnswersDesk, worker: str) -> None:
        self._desk, self._worker = desk, worker
        self._waiting: queue.Queue[str] = queue.Queue()

    def send(self, item: object) -> None:
        assert isinstance(item, str)
        self._desk.serve(self._worker, Back(self._waiting), item)

    def receive(self, timeout: float | None = None) -> Any:
        return self._waiting.get(timeout=1)

    def hang_up(self) -> None:
        self._desk.serve(self._worker, Back(self._waiting), None)


class Back:
    def __init__(self, waiting: queue.Queue[str]) -> None:
        self._waiting = waiting

    def send(self, item: object) -> None:
        assert isinstance(item, str)
        self._waiting.put(item)

    def receive(self, timeout: float | None = None) -> Any:
        raise AssertionError("the desk never asks")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResponseStore]:
    opened = ResponseStore(tmp_path / "responses.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def lines(store: ResponseStore) -> list[Line]:
    desk = AnswersDesk(store)
    return [Line(desk, worker) for worker in ("gw0", "gw1")]


def test_what_one_stores_all_find(store: ResponseStore, lines: list[Line]) -> None:
    one, two = map(DistantAnswers, lines)
    priced, unpriced = (replace(answer(name), cost=cost) for name, cost in (("x", Decimal("0.10")), ("y \udfff", None)))
    before = time.time()
    one.put_many([(A, priced), (B, unpriced)])
    found = two.get_many([A.key, B.key, "absent"])
    assert found.keys() == {A.key, B.key}
    assert all(each.created >= before for each in found.values()), "the controller's clock"
    assert [replace(found[key], created=priced.created) for key in (A.key, B.key)] == [priced, unpriced]
    assert two.get_by_content(A.content_key) == found[A.key]
    assert two.get_by_content("absent") is None
    assert store.get_many([A.key, B.key]) == found
    assert [saved.key for saved in two.latest(A.model.provider, A.model.base_url, A.model.name, 1)] == [
        saved.key for saved in store.latest(A.model.provider, A.model.base_url, A.model.name, 1)
    ]
    assert two.get_many([]) == {} and two.claim_many([]) == set()


def test_a_claim_is_one_workers(store: ResponseStore, lines: list[Line]) -> None:
    one, two = map(DistantAnswers, lines)
    other = ResponseStore(store.path)  # a worker on this machine
    assert one.claim_many([A.key, B.key]) == {A.key, B.key}
    assert one.claim_many([A.key]) == {A.key}
    assert two.claim_many([A.key]) == other.claim_many([A.key]) == set()
    two.release_many([A.key])
    assert two.claim_many([A.key]) == set(), "only its holder gives a claim up"
    one.release_many([A.key])
    assert two.claim_many([A.key]) == {A.key}
    one.put_many([(B, answer("b"))])
    assert two.claim_many([B.key]) == {B.key}, "a stored answer is claimed by nobody"
    other.close()


def test_the_claims_of_a_worker_that_ended_are_free(store: ResponseStore, lines: list[Line]) -> None:
    one, two = map(DistantAnswers, lines)
    one.claim_many([A.key])
    two.claim_many([B.key])
    lines[0].hang_up()
    assert two.claim_many([A.key, B.key]) == {A.key, B.key}


def test_an_error_of_the_store_is_told_over_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    distant = DistantAnswers(Line(AnswersDesk(ResponseStore(tmp_path / "file" / "responses.sqlite")), "gw0"))
    with pytest.raises(StoreError, match="cannot"):
        distant.claim_many([A.key])


def test_a_connection_that_is_gone_is_an_error(lines: list[Line]) -> None:
    class Gone:
        def send(self, item: object) -> None:
            raise OSError("cannot send to <Channel id=4 closed>")

        def receive(self, timeout: float | None = None) -> Any:
            raise EOFError

    with pytest.raises(StoreError, match=r"gave no answer: OSError\('cannot send"):
        DistantAnswers(Gone()).get_many([A.key])


def test_what_was_set_aside_is_told_at_the_end(store: ResponseStore, lines: list[Line]) -> None:
    store.path.write_bytes(b"this is no database, but a note " * 40)
    DistantAnswers(lines[0]).put_many([(A, answer("a"))])
    assert [text for text in lines[0]._desk.close() if "is damaged" in text]
