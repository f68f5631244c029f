"""Answers as a file that can be committed: JSON lines sorted by key. Written whole, read without a database."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from pytest_verica.completion import StoredAnswer
from pytest_verica.errors import ConfigError, Place, Problem, StoreError
from pytest_verica.store.responses import ResponseStore
from pytest_verica.store.saved import SavedAnswer


def export_answers(store: ResponseStore, path: Path, keys: Collection[str] | None = None) -> int:
    """Writes the store's answers (those of `keys` only, where given) to a file, one a line; how many they were.

    Sorted by key and with sorted fields, so that version control shows what changed and nothing else.

    Raises:
        StoreError: the file cannot be written.
    """
    wanted = None if keys is None else set(keys)
    written = 0
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            for saved in store.saved():
                if wanted is None or saved.key in wanted:
                    file.write(_line(saved))
                    written += 1
        os.replace(partial, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}. Check the folder and its free space") from error
    finally:
        partial.unlink(missing_ok=True)
    return written


def import_answers(store: ResponseStore, recorded: RecordedAnswers) -> int:
    """Puts every answer of an exported file into the store; how many they were."""
    keys = recorded.keys
    batch = 200
    for start in range(0, len(keys), batch):
        store.put_saved(recorded.saved_many(keys[start : start + batch]))
    return len(keys)


class RecordedAnswers:
    """An exported file as a source of answers, read-only: the same `get_many` and `get_by_content` as the store.

    Raises:
        ConfigError: lines that are not answers, each with file and line. An edited request is found when it is used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[str, tuple[int, int]] = {}  # key → offset in the file, line
        self._by_content: dict[str, str] = {}
        problems: list[Problem] = []
        try:
            with path.open("rb") as file:
                offset = 0
                for number, line in enumerate(file, 1):
                    if line.strip() and (problem := self._enter(line, offset, number)):
                        problems.append(Problem(problem, Place(str(path), number)))
                    offset += len(line)
        except OSError as error:
            raise ConfigError(f"the file of recorded answers cannot be read: {error}", Place(str(path))) from error
        if problems:
            raise ConfigError(problems)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self._places)

    def get_many(self, keys: Iterable[str]) -> dict[str, StoredAnswer]:
        """The answers there are, by key; keys without one are not in it."""
        return {saved.key: saved.answer for saved in self.saved_many(keys)}

    def get_by_content(self, content_key: str) -> StoredAnswer | None:
        """The answer to a question whatever door it went through; None where there is none."""
        key = self._by_content.get(content_key)
        return None if key is None else self.get_many([key])[key]

    def saved_many(self, keys: Iterable[str]) -> list[SavedAnswer]:
        """The answers that there are, with their requests, in the order of the keys.

        Raises:
            ConfigError: an answer does not stand under the hash of its own request.
        """
        places = [self._places[key] for key in keys if key in self._places]
        if not places:
            return []
        found = []
        with self.path.open("rb") as file:
            for offset, number in places:
                file.seek(offset)
                try:
                    found.append(SavedAnswer.from_json(json.loads(file.readline())))
                except ValueError as error:
                    raise ConfigError(_advice(str(error)), Place(str(self.path), number)) from None
        return found

    def _enter(self, line: bytes, offset: int, number: int) -> str | None:
        """Notes where an answer stands; what is wrong with the line, None where nothing is."""
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            return _advice(f"expected a JSON object with one recorded answer, found {line[:40]!r} ({error})")
        if not isinstance(data, dict):
            return _advice(f"expected a JSON object with one recorded answer, found {line[:40]!r}")
        missing = [name for name in _FIELDS if name not in data]
        if missing:
            return _advice(f"it has no {', '.join(missing)}")
        key, content_key = data["key"], data["content_key"]
        if not (isinstance(key, str) and isinstance(content_key, str)):
            return _advice("`key` and `content_key` must be texts")
        if key in self._places:
            return f"the key {key} stands already on line {self._places[key][1]}; delete one of the two lines"
        self._places[key] = (offset, number)
        self._by_content.setdefault(content_key, key)
        return None


_FIELDS = ("key", "content_key", "provider", "base_url", "request", "completion", "cost", "latency_s", "created")


def _advice(problem: str) -> str:
    return f"{problem}; delete the line, or export the answers again with `verica store export`"


def _line(saved: SavedAnswer) -> bytes:
    data = saved.to_json()
    try:
        # For people: a diff in their own script.
        text = json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:  # a lone surrogate
        return json.dumps(data, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"
