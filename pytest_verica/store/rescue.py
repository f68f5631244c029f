"""Reading what is left of a damaged database. Nothing is written to it, and whatever is read has to be checked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]


def rows_left(path: Path, columns: str) -> Iterator[Row]:
    """The rows of `answers` that SQLite still finds, from the first on and then from the last on, up to the damage
    between: a row may come twice, and may be wrong."""
    with suppress(sqlite3.Error, OSError), closing(_opened(path)) as connection:
        # Without this SQLite reads nothing of a file that is shorter than its header says.
        connection.execute("PRAGMA writable_schema = ON")
        # A text that is none becomes another text: its row's checksum tells.
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        for order in ("ASC", "DESC"):
            query = f"SELECT {columns} FROM answers NOT INDEXED ORDER BY rowid {order}"  # noqa: S608 - names of ours
            with suppress(sqlite3.Error):
                yield from connection.execute(query)
                return


def _opened(path: Path) -> sqlite3.Connection:
    """Read-only. Without a log beside it the file is taken as it is; SQLite would want to make one."""
    log = Path(f"{path}-wal")
    how = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)
