"""Who buys what: owners of claims on answers, and whether they are still alive. Holds locks, never a database."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_verica.errors import StoreError

if TYPE_CHECKING:
    from filelock import BaseFileLock

_YOUNG_S = 60.0


class Owners:
    """One of the processes that buy: each holds a lock of the operating system on its own file for as long as it lives.

    A lock falls with its process, however that ends, so that a claim of a killed one is free at once and no clock or
    heartbeat is needed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: BaseFileLock | None = None
        self.id = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"

    def enter(self) -> str:
        """The id of this owner, whose lock is held from now on."""
        if self._lock is None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                lock = lock_file(self._path(self.id))
                lock.acquire(blocking=False)
            except (OSError, NotImplementedError) as error:
                raise StoreError(
                    f"cannot lock a file in {self._folder}: {error}. Expected a folder that can be written, on a file "
                    "system with locks; check its permissions and free space"
                ) from error
            self._lock = lock
            self._tidy()
        return self.id

    def is_dead(self, owner: str) -> bool:
        """Whether the process of that owner has ended: its lock can be taken."""
        if owner == self.id:
            return False
        path = self._path(owner)
        if not path.exists():  # it was closed in order, or tidied up after
            return True
        from filelock import Timeout  # as in lock_file

        lock = lock_file(path)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return False
        except OSError:
            return False  # not known to be dead
        lock.release()
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return True

    def leave(self) -> None:
        """Lets the lock go: whatever is still claimed under this id is free."""
        if self._lock is not None:
            # The file goes first: once the lock is free, another may be looking at it.
            with suppress(OSError):
                self._path(self.id).unlink(missing_ok=True)
            self._lock.release()
            self._lock = None

    def _tidy(self) -> None:
        """Removes what killed processes left. A young file may be one that its owner is about to lock."""
        for path in self._folder.glob("*.lock"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _YOUNG_S:
                    self.is_dead(path.stem)

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"


def lock_file(path: Path) -> BaseFileLock:
    """An operating system's lock on a file, not taken yet."""
    from filelock import FileLock  # deferred: its import takes longer than a run whose answers are all stored

    return FileLock(str(path), thread_local=False)
