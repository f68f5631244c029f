"""The response store's SQLite file: opening, damage, and errors in words. Knows no answers."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_verica.errors import StoreError
from pytest_verica.store.claims import lock_file

if TYPE_CHECKING:
    from filelock import BaseFileLock

T = TypeVar("T")

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE IF NOT EXISTS answers (
        key TEXT PRIMARY KEY, content_key TEXT NOT NULL, provider TEXT NOT NULL, base_url TEXT, model TEXT NOT NULL,
        request TEXT NOT NULL, completion TEXT NOT NULL, cost TEXT, latency_s REAL NOT NULL, created REAL NOT NULL,
        checksum INTEGER NOT NULL)""",
        "CREATE INDEX IF NOT EXISTS answers_by_content ON answers (content_key)",
        "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID",
    ),
)
"""Statements by the format (`user_version`) that they bring a database from: a step that a release had is never edited,
a new format is a new step. All that are missing are done in one transaction."""
_BUSY_S = 60.0
# By text: sqlite3 has error codes from Python 3.11 on only.
_DAMAGE = (
    "not a database",
    "malformed",
    "no such table",
    "no such column",
    "unsupported file format",
    "corrupt",
    "could not decode",
)
_ADVICE = {
    "full": "free some space on that disk; what was bought until now is kept, and the same command continues",
    "readonly": "make the folder and its files writable (SQLite also needs to create files beside the database)",
    "read-only": "make the folder and its files writable (SQLite also needs to create files beside the database)",
    "unable to open": "check that the folder exists and can be written",
    "locked": "another program holds the database; close it and run again",
    "disk i/o error": "check the disk and its free space; network file systems without locks cannot hold the store",
}


class Damaged(Exception):
    """The file is no sound database, or a row in it is not what was written."""


class Database:
    """One connection to a SQLite file in WAL mode, opened at first use, set aside and begun anew where it is damaged.

    For one thread at a time. warnings: sentences about what was set aside; rescue: is given the file that was set aside
    and puts what can still be read of it into the new one: how many rows that were.
    """

    def __init__(self, path: Path, rescue: Callable[[Path], int] = lambda path: 0) -> None:
        self.path = path
        self._rescue = rescue
        self.warnings: list[str] = []
        self._connection: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None

    def run(self, action: Callable[[sqlite3.Connection], T], *, write: bool = False) -> T:
        """What `action` makes of the connection; in one write transaction where `write`.

        A damaged database is set aside, and the action done on a new one.

        Raises:
            StoreError: the disk is full, the folder cannot be written, …; says what to do.
        """
        for _ in range(3):  # another process may set the file aside between two looks at it
            try:
                return self._attempt(action, write)
            except Damaged as damage:
                self._set_aside(str(damage))
            except sqlite3.Error as error:
                if not any(word in str(error).lower() for word in _DAMAGE):
                    raise self._explained(error) from error
                self._set_aside(str(error))
            except OSError as error:
                raise self._explained(error) from error
        raise StoreError(f"{self.path} is damaged again and again; delete it and check the disk")

    def close(self) -> None:
        connection, self._connection, self._inode = self._connection, None, None
        if connection is not None:
            with suppress(sqlite3.Error):
                connection.close()

    def _attempt(self, action: Callable[[sqlite3.Connection], T], write: bool) -> T:
        connection = self._open()
        if not write:
            return action(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = action(connection)
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        return result

    def _open(self) -> sqlite3.Connection:
        connection = self._connection
        if connection is not None:
            # Another process may have set the file aside, or somebody deleted the folder, since.
            if self._identity() == self._inode:
                return connection
            self.close()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(str(self.path), timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._inode = connection, self._identity()
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Asked before anything is written: the version tells whether this is a store of ours.
        version, newest = _format(connection), len(MIGRATIONS)
        if version > newest:
            raise StoreError(
                f"{self.path} was written by a newer version (format {version}, expected {newest} at most): "
                "upgrade pytest-verica, or move the file away"
            )
        if version < newest:
            # Two that change the journal mode at once can find the database locked without being made to wait.
            with self._alone():
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                connection.execute("BEGIN IMMEDIATE")
                for step in MIGRATIONS[_format(connection) :]:  # another process may have done it meanwhile
                    for statement in step:
                        connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {newest}")
                connection.execute("COMMIT")
        connection.execute("PRAGMA synchronous = NORMAL")
        # A checkpoint waits for the disk: every 16 MB of log instead of every 4.
        connection.execute("PRAGMA wal_autocheckpoint = 4000").fetchone()
        connection.execute("SELECT checksum FROM answers LIMIT 0")
        connection.execute("SELECT owner FROM claims LIMIT 0")

    def _identity(self) -> tuple[int, int] | None:
        # Never by opening the file: closing it again would drop SQLite's POSIX locks on it.
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _alone(self) -> BaseFileLock:
        return lock_file(self.path.with_suffix(".lock"))

    def _set_aside(self, why: str) -> None:
        """Renames the database with its companions; a no-op where another process has done so already."""
        seen = self._inode or self._identity()
        self.close()
        with self._alone():
            if seen is None or self._identity() != seen:
                return
            stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
            aside = _free_name(self.path, stamp)
            # The log first: a log that stayed behind would be taken for the new database's own.
            for ending in ("-wal", "-shm", ""):
                with suppress(FileNotFoundError):
                    os.replace(f"{self.path}{ending}", f"{aside}{ending}")
        place = len(self.warnings)
        self.warnings.append(
            f"the store of answers {self.path} is damaged ({why}); it was set aside as {aside.name} and a new one begun"
        )
        rescued = self._rescue(aside)
        if rescued:
            self.warnings[place] += f", with the answers that could still be read ({rescued:,})"

    def _explained(self, error: Exception) -> StoreError:
        text = str(error)
        advice = next((advice for word, advice in _ADVICE.items() if word in text.lower()), None)
        advice = advice or "check the folder's permissions and free space"
        return StoreError(f"the store of answers {self.path} cannot be used: {text}. What to do: {advice}")


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _free_name(path: Path, stamp: str) -> Path:
    number = 1
    while True:
        suffix = "" if number == 1 else f"-{number}"
        name = path.with_name(f"{path.stem}.damaged-{stamp}{suffix}{path.suffix}")
        if not name.exists():
            return name
        number += 1
