"""Exported answers: a file to commit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.errors import ConfigError, StoreError
from pytest_verica.store.export import RecordedAnswers, export_answers, import_answers
from pytest_verica.store.responses import ResponseStore
from tests.unit.store.answers import answer, question

TEXTS = ["plain", "¿qué? 日本", "lone \ud800", "two\nlines \u2028 and", "", '{"key": 1}']
ANSWERS = [(question(text), answer(text)) for text in TEXTS]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResponseStore]:
    store = ResponseStore(tmp_path / "responses.sqlite")
    store.put_many(ANSWERS)
    yield store
    store.close()


def test_there_and_back(store: ResponseStore, tmp_path: Path) -> None:
    path = tmp_path / "recorded.jsonl"
    assert export_answers(store, path) == len(ANSWERS)
    recorded = RecordedAnswers(path)
    keys = [request.key for request, _ in ANSWERS]
    assert recorded.get_many([*keys, "nobody"]) == {request.key: stored for request, stored in ANSWERS}
    assert recorded.get_by_content(ANSWERS[1][0].content_key) == ANSWERS[1][1]
    assert recorded.get_by_content("nobody") is None
    other = ResponseStore(tmp_path / "other.sqlite")
    assert import_answers(other, recorded) == len(ANSWERS)
    assert other.get_many(keys) == recorded.get_many(keys)
    assert export_answers(other, tmp_path / "again.jsonl") == len(ANSWERS)
    assert (tmp_path / "again.jsonl").read_bytes() == path.read_bytes()
    other.close()


def test_one_line_an_answer_sorted_by_key(store: ResponseStore, tmp_path: Path) -> None:
    path = tmp_path / "recorded.jsonl"
    export_answers(store, path)
    lines = path.read_bytes().splitlines()
    keys = [json.loads(line)["key"] for line in lines]
    assert len(lines) == len(ANSWERS) and keys == sorted(keys)
    assert "¿qué? 日本" in path.read_text(encoding="utf-8")  # readable in a diff
    assert b"SECRET_NAME" not in path.read_bytes()


def test_only_some(store: ResponseStore, tmp_path: Path) -> None:
    key = ANSWERS[0][0].key
    assert export_answers(store, tmp_path / "some.jsonl", [key, "nobody"]) == 1
    assert RecordedAnswers(tmp_path / "some.jsonl").keys == (key,)


def _changed(**fields: Any) -> Callable[[dict[str, Any]], str]:
    return lambda data: json.dumps({**data, **fields})


def _without(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda data: json.dumps({key: value for key, value in data.items() if key != name})


BAD_LINES: list[tuple[Callable[[dict[str, Any]], str], str]] = [
    (lambda data: "<<<<<<< HEAD", "expected a JSON object with one recorded answer, found b'<<<<<<< HEAD"),
    (lambda data: json.dumps(data)[:-20], "expected a JSON object"),
    (lambda data: "[1, 2]", "expected a JSON object"),
    (_without("completion"), "it has no completion"),
    (_changed(key=3), "must be texts"),
]


@pytest.mark.parametrize(("spoil", "said"), BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_named(
    store: ResponseStore, tmp_path: Path, spoil: Callable[[dict[str, Any]], str], said: str
) -> None:
    path = tmp_path / "recorded.jsonl"
    export_answers(store, path)
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[2] = spoil(json.loads(lines[2]))
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        RecordedAnswers(path)
    assert str(caught.value).startswith(f"{path}:3: ") and said in str(caught.value)


def test_all_bad_lines_together_and_a_double_key(store: ResponseStore, tmp_path: Path) -> None:
    path = tmp_path / "recorded.jsonl"
    export_answers(store, path)
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text}nonsense\n\n{text.splitlines()[0]}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        RecordedAnswers(path)
    assert [problem.place.line for problem in caught.value.problems if problem.place] == [7, 9]
    assert "stands already on line 1" in str(caught.value)


EDITED: list[tuple[dict[str, Any], str]] = [
    ({"request": {"model": "m-1", "messages": "another"}}, "`content_key` was made of"),
    ({"request": {}}, "it has no 'model'"),
    ({"base_url": "http://elsewhere"}, "`key` is not the hash"),
    ({"cost": "much"}, "another type"),
    ({"completion": "yes"}, "another type"),
    ({"latency_s": None}, "another type"),
]


@pytest.mark.parametrize(("fields", "said"), EDITED, ids=range(len(EDITED)))
def test_an_edited_answer_is_never_given(
    store: ResponseStore, tmp_path: Path, fields: dict[str, Any], said: str
) -> None:
    path = tmp_path / "recorded.jsonl"
    export_answers(store, path)
    lines = path.read_text(encoding="utf-8").split("\n")
    key = json.loads(lines[1])["key"]
    lines[1] = _changed(**fields)(json.loads(lines[1]))
    path.write_text("\n".join(lines), encoding="utf-8")
    recorded = RecordedAnswers(path)
    with pytest.raises(ConfigError) as caught:
        recorded.get_many([key])
    assert str(caught.value).startswith(f"{path}:2: ") and said in str(caught.value)
    assert len(recorded.get_many([other for other in recorded.keys if other != key])) == len(ANSWERS) - 1


def test_files_that_cannot_be(store: ResponseStore, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        RecordedAnswers(tmp_path / "nowhere.jsonl")
    with pytest.raises(StoreError, match="cannot write"):
        export_answers(store, tmp_path / "nowhere" / "recorded.jsonl")
    assert RecordedAnswers(_empty(tmp_path)).keys == ()


def _empty(folder: Path) -> Path:
    path = folder / "empty.jsonl"
    path.write_text("")
    return path
