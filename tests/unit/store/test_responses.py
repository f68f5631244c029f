"""The response store in one process."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_verica.completion import StoredAnswer
from pytest_verica.errors import StoreError
from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".verica" / "responses.sqlite"


ANSWERS = [
    answer(),
    answer(None),
    answer("¿qué? 日本 \u2028"),
    answer("lone \ud800 surrogate"),
    answer(cost=None),
    answer(cost="0"),
    answer(cost="1.2E-20"),
    answer("nul \x00 inside"),
]


@pytest.mark.parametrize("stored", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_comes_back_as_it_was(path: Path, stored: StoredAnswer) -> None:
    store = ResponseStore(path)
    request = question("¿\ud800?")
    store.put_many([(request, stored)])
    store.close()
    again = ResponseStore(path)
    assert again.get_many([request.key, "nobody"]) == {request.key: stored}
    assert again.get_by_content(request.content_key) == stored
    assert again.warnings == []
    again.close()


def test_nothing_is_created_by_looking(path: Path) -> None:
    store = ResponseStore(path)
    assert store.get_many(["k"]) == {}
    assert store.get_by_content("k") is None
    store.release_many(["k"])
    assert (store.count(), store.prune(0), list(store.saved())) == (0, 0, [])
    store.close()
    assert not path.parent.exists()


def test_the_door_and_the_sample_are_part_of_the_key(path: Path) -> None:
    store = ResponseStore(path)
    requests = [question(), question(provider="other"), question(base_url="http://x"), question(repeat=1)]
    store.put_many([(request, answer(str(index))) for index, request in enumerate(requests)])
    found = store.get_many([request.key for request in requests])
    assert [found[request.key].completion.text for request in requests] == ["0", "1", "2", "3"]
    store.close()


def test_by_content_the_first_bought_answers_whatever_its_door(path: Path) -> None:
    store = ResponseStore(path)
    late, early = question(provider="a"), question(provider="b")
    store.put_many([(late, answer("late", created=2.0)), (early, answer("early", created=1.0))])
    found = store.get_by_content(late.content_key)
    assert found is not None and found.completion.text == "early"
    store.close()


def test_a_later_answer_takes_the_place(path: Path) -> None:
    store = ResponseStore(path)
    store.put_many([(question(), answer("old"))])
    store.put_many([(question(), answer("new"))])
    assert store.count() == 1
    assert store.get_many([question().key])[question().key].completion.text == "new"
    store.close()


def test_more_keys_than_a_statement_takes(path: Path) -> None:
    store = ResponseStore(path)
    requests = [question(str(number)) for number in range(1203)]
    store.put_many([(request, answer()) for request in requests])
    assert len(store.get_many(request.key for request in requests)) == 1203
    assert [saved.key for saved in store.saved()] == sorted(request.key for request in requests)
    store.close()


def test_the_credential_is_nowhere(path: Path) -> None:
    store = ResponseStore(path)
    store.put_many([(question(), answer())])
    store.close()
    assert b"SECRET_NAME" not in path.read_bytes()


def test_claims(path: Path) -> None:
    one, two = ResponseStore(path), ResponseStore(path)
    assert one.claim_many(["a", "b", "b"]) == {"a", "b"}
    assert two.claim_many(["b", "c"]) == {"c"}
    assert one.claim_many(["a", "c"]) == {"a"}  # its own again, not the other's
    two.release_many(["a"])  # not its own: stays
    assert two.claim_many(["a"]) == set()
    one.release_many(["a"])
    assert two.claim_many(["a"]) == {"a"}
    one.close()  # lets go of b
    assert two.claim_many(["b"]) == {"b"}
    assert two.claim_many([]) == set()
    two.close()
    assert list((path.parent / "owners").iterdir()) == []


def test_an_answer_ends_its_claim(path: Path) -> None:
    one, two = ResponseStore(path), ResponseStore(path)
    request = question()
    one.claim_many([request.key])
    one.put_many([(request, answer())])
    assert two.claim_many([request.key]) == {request.key}
    one.close()
    two.close()


def test_prune_by_age(path: Path) -> None:
    store = ResponseStore(path)
    store.put_many([(question("old"), answer(created=10.0)), (question("new"), answer(created=20.0))])
    assert store.prune(before=20.0) == 1
    assert list(store.get_many([question("old").key, question("new").key])) == [question("new").key]
    store.close()


def test_closing_twice_and_using_it_again(path: Path) -> None:
    store = ResponseStore(path)
    store.put_many([(question(), answer())])
    store.close()
    store.close()
    assert store.count() == 1
    store.close()


def test_a_store_deleted_while_open_is_begun_again(path: Path) -> None:
    store = ResponseStore(path)
    store.put_many([(question("a"), answer())])
    for file in path.parent.glob("responses.sqlite*"):
        file.unlink()
    store.put_many([(question("b"), answer())])
    store.close()
    other = ResponseStore(path)
    assert list(other.get_many([question("a").key, question("b").key])) == [question("b").key]
    other.close()


def test_a_folder_that_cannot_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = ResponseStore(tmp_path / "file" / "responses.sqlite")
    with pytest.raises(StoreError, match=r"responses\.sqlite cannot be used.*What to do"):
        store.put_many([(question(), answer())])
    with pytest.raises(StoreError, match="cannot lock a file"):
        store.claim_many(["a"])


def test_a_newer_format_is_not_touched(path: Path) -> None:
    store = ResponseStore(path)
    store.put_many([(question(), answer())])
    store.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"newer version \(format 99, expected 1 at most\)"):
        ResponseStore(path).count()
    assert path.read_bytes() == before
