"""The response store: every answer that was bought, in SQLite, for many processes at once."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from decimal import Decimal
from functools import partial
from itertools import islice
from pathlib import Path

from pytest_verica.completion import Completion, StoredAnswer
from pytest_verica.request import Request
from pytest_verica.store.claims import Owners
from pytest_verica.store.database import Damaged, Database
from pytest_verica.store.rescue import Row, rows_left
from pytest_verica.store.saved import SavedAnswer, compact

_COLUMNS = "key, content_key, provider, base_url, model, request, completion, cost, latency_s, created, checksum"
_INTO = f"INTO answers ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
_PUT = f"INSERT OR REPLACE {_INTO}"
_RESCUE = f"INSERT OR IGNORE {_INTO}"  # what was bought since stays
_CLAIM = "INSERT OR IGNORE INTO claims (key, owner) VALUES (?, ?)"
_BATCH = 500  # keys in one statement; older SQLite takes 999 at most


class ResponseStore:
    """Answers by the key of their request.

    One store per process, used by one thread at a time; nothing is opened or created before the first call that needs
    it. Every method returns when the data is with the operating system, so that a killed process loses nothing.
    warnings: sentences about a damaged database that was set aside.

    Every method raises StoreError where the disk is full, the folder cannot be written, and the like.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = Database(path, self._rescue)
        self._owners = Owners(path.parent / "owners")

    @property
    def warnings(self) -> list[str]:
        return self._database.warnings

    def get_many(self, keys: Iterable[str]) -> dict[str, StoredAnswer]:
        """The answers there are, by key; keys without one are not in it."""
        wanted = list(keys)
        if not wanted or not self.path.exists():
            return {}
        return {row[0]: _answer(row) for row in self._select("key", wanted)}

    def get_by_content(self, content_key: str) -> StoredAnswer | None:
        """The answer to a question whatever door it went through, the first bought of several; None where none."""
        if not self.path.exists():
            return None
        rows = self._select("content_key", [content_key])
        return _answer(min(rows, key=lambda row: (row[9], row[0]))) if rows else None

    def put_many(self, answers: Sequence[tuple[Request, StoredAnswer]]) -> None:
        """Stores answers in place of any that stand there, and drops the claims on them, in one transaction.

        Only complete answers may be handed in: neither errors nor truncated ones."""
        self.put_saved(SavedAnswer.of(request, answer) for request, answer in answers)

    def put_saved(self, answers: Iterable[SavedAnswer]) -> None:
        """The same for answers that carry their request, as an import does."""
        rows = [_row(saved) for saved in answers]
        if not rows:
            return

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(_PUT, rows)
            connection.executemany("DELETE FROM claims WHERE key = ?", [row[:1] for row in rows])

        self._database.run(write, write=True)

    def claim_many(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that this process is now the one to buy: no other living process holds them.

        Before it buys, a caller looks once more whether the answer is there: it may have come between its first look
        and the claim. Keys that this process holds already are in the result: within it, the caller asks once.
        """
        rows = list(dict.fromkeys(keys))
        if not rows:
            return set()
        owner = self._owners.enter()
        return self._database.run(lambda connection: self._claim(connection, rows, owner), write=True)

    def _claim(self, connection: sqlite3.Connection, keys: list[str], owner: str) -> set[str]:
        ours: set[str] = set()
        others: dict[str, list[str]] = {}
        for key in keys:
            if connection.execute(_CLAIM, (key, owner)).rowcount:
                ours.add(key)
            else:
                holder = connection.execute("SELECT owner FROM claims WHERE key = ?", (key,)).fetchone()[0]
                others.setdefault(holder, []).append(key)
        for holder, held in others.items():
            if holder != owner and not self._owners.is_dead(holder):
                continue
            connection.executemany("UPDATE claims SET owner = ? WHERE key = ?", [(owner, key) for key in held])
            ours.update(held)
        return ours

    def release_many(self, keys: Iterable[str]) -> None:
        """Gives up claims of this process: others may buy."""
        rows = [(key, self._owners.id) for key in keys]
        if not rows or not self.path.exists():
            return
        self._database.run(
            lambda connection: connection.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", rows),
            write=True,
        )

    def saved(self) -> Iterator[SavedAnswer]:
        """Every answer with its request, sorted by key; memory is bounded."""
        last = ""
        while self.path.exists():
            rows = self._page(last)
            yield from (_saved(row) for row in rows)
            if len(rows) < _BATCH:
                return
            last = rows[-1][0]

    def latest(self, provider: str, base_url: str | None, model: str, limit: int) -> list[SavedAnswer]:
        """The answers of a model that were bought last, the last one first."""
        if not self.path.exists():
            return []
        query = (
            f"SELECT {_COLUMNS} FROM answers WHERE provider = ? AND base_url IS ? AND model = ? "  # noqa: S608
            "ORDER BY created DESC LIMIT ?"
        )
        values = (provider, base_url, model, limit)
        rows = self._database.run(lambda connection: _checked(connection.execute(query, values).fetchall()))
        return [_saved(row) for row in rows]

    def count(self, before: float = math.inf) -> int:
        """How many answers are stored. before: only those created before that time (seconds since the epoch)."""
        if not self.path.exists():
            return 0
        query = "SELECT count(*) FROM answers WHERE created < ?"
        return int(self._database.run(lambda c: c.execute(query, (before,)).fetchone()[0]))

    def prune(self, before: float) -> int:
        """Deletes the answers created before that time (seconds since the epoch), and gives the space back to the disk;
        how many they were."""
        if not self.path.exists():
            return 0
        count = self._database.run(
            lambda c: c.execute("DELETE FROM answers WHERE created < ?", (before,)).rowcount, write=True
        )
        if count:
            self._database.run(_shrink)
        return count

    def close(self) -> None:
        """Closes the database and frees what is still claimed. Safe to call twice; a later call opens it again."""
        self._database.close()
        self._owners.leave()

    def _rescue(self, damaged: Path) -> int:
        """Puts the sound answers of a damaged database into the new one."""
        rescued = 0
        rows = (row for row in rows_left(damaged, _COLUMNS) if _is_sound(row))
        while batch := list(islice(rows, _BATCH)):
            rescued += self._database.run(partial(_put_back, batch), write=True)
        return rescued

    def _select(self, column: str, values: list[str]) -> list[Row]:
        def read(connection: sqlite3.Connection) -> list[Row]:
            rows: list[Row] = []
            for start in range(0, len(values), _BATCH):
                part = values[start : start + _BATCH]
                marks = ",".join("?" * len(part))
                query = f"SELECT {_COLUMNS} FROM answers WHERE {column} IN ({marks})"  # noqa: S608 - names of ours
                rows += connection.execute(query, part).fetchall()
            return _checked(rows)

        return self._database.run(read)

    def _page(self, after: str) -> list[Row]:
        query = f"SELECT {_COLUMNS} FROM answers WHERE key > ? ORDER BY key LIMIT {_BATCH}"  # noqa: S608
        return self._database.run(lambda connection: _checked(connection.execute(query, (after,)).fetchall()))


def _put_back(rows: list[Row], connection: sqlite3.Connection) -> int:
    return connection.executemany(_RESCUE, rows).rowcount


def _shrink(connection: sqlite3.Connection) -> None:
    # It needs as much free space as the store has, and nobody else writing: where it cannot be done now, it is later.
    with suppress(sqlite3.OperationalError):
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def _checksum(values: Row) -> int:
    return zlib.crc32(repr(values).encode("utf-8", "backslashreplace"))


def _is_sound(row: Row) -> bool:
    return bool(_checksum(row[:-1]) == row[-1])


def _checked(rows: list[Row]) -> list[Row]:
    """The rows, if each is what was written: SQLite itself would not notice a flipped byte in a text."""
    for row in rows:
        if not _is_sound(row):
            raise Damaged(f"the answer {row[0]!r} is not as it was written")
    return rows


def _row(saved: SavedAnswer) -> Row:
    answer = saved.answer
    values = (
        saved.key,
        saved.content_key,
        saved.provider,
        saved.base_url,
        saved.model,
        compact(saved.request),
        compact(answer.completion.to_json()),
        None if answer.cost is None else str(answer.cost),
        float(answer.latency_s),
        float(answer.created),
    )
    return (*values, _checksum(values))


def _answer(row: Row) -> StoredAnswer:
    completion, cost, latency_s, created = row[6:10]
    return StoredAnswer(
        Completion.from_json(json.loads(completion)), None if cost is None else Decimal(cost), latency_s, created
    )


def _saved(row: Row) -> SavedAnswer:
    return SavedAnswer(row[0], row[1], row[2], row[3], row[4], json.loads(row[5]), _answer(row))
