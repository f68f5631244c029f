"""The folder `.verica/` under the rootdir: where a run's files and the answers stand."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_verica.errors import StoreError

FOLDER = ".verica"


def new_run_id(now: float | None = None) -> str:
    """Date and time in UTC, and four random digits: sorts by time, and two processes do not meet.

    now: seconds since the epoch; the clock's where None."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{secrets.token_hex(2)}"


def answers_path(root: Path) -> Path:
    """Where the response store of a rootdir stands. Nothing is created."""
    return root / FOLDER / "responses.sqlite"


def ledger_path(root: Path, run_id: str) -> Path:
    """Where the processes of a run share what they spend, while it runs and has a budget. Nothing is created."""
    return root / FOLDER / f"spending-{run_id}"


def run_ids(root: Path) -> list[str]:
    """The runs that are kept, oldest first."""
    try:
        return sorted(entry.name for entry in (root / FOLDER / "runs").iterdir() if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def run_numbers(root: Path) -> dict[str, int]:
    """Run id -> its number: 1, 2, … in order of launch. A number is never given twice, whatever is deleted."""
    found: dict[str, int] = {}
    for number in _numbers(root):
        with suppress(OSError):
            found[(root / FOLDER / "numbers" / str(number)).read_text("ascii", "replace")] = number
    return found


def _numbers(root: Path) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(root / FOLDER / "numbers") if name.isdecimal())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _take_number(root: Path, run_id: str) -> None:
    """Gives a run the next number. Two processes that want the same one do not both get it."""
    folder = root / FOLDER / "numbers"
    folder.mkdir(exist_ok=True)
    number = max(_numbers(root), default=0) + 1
    while True:
        try:
            with (folder / str(number)).open("x", encoding="ascii") as file:
                file.write(run_id)
            return
        except FileExistsError:
            number += 1


@dataclass(frozen=True)
class RunFolder:
    """The files of one run: `.verica/runs/<id>/`. root: the rootdir."""

    root: Path
    id: str

    @property
    def path(self) -> Path:
        return self.root / FOLDER / "runs" / self.id

    @property
    def journal(self) -> Path:
        return self.path / "journal.jsonl"

    @property
    def report(self) -> Path:
        return self.path / "report.json"

    @classmethod
    def create(cls, root: Path, run_id: str | None = None) -> RunFolder:
        """Makes the folder of a new run, and what it stands in. run_id: a fresh one where None.

        Raises:
            StoreError: the folder cannot be made, or a run of that id exists.
        """
        for _ in range(20):
            folder = cls(root, run_id or new_run_id())
            try:
                make_folder(root)
                folder.path.parent.mkdir(parents=True, exist_ok=True)
                folder.path.mkdir()
            except FileExistsError as error:
                if run_id is not None or not folder.path.exists():
                    raise StoreError(f"the run {folder.path} exists already; choose another id or delete it") from error
                continue
            except OSError as error:
                advice = f"Make {root} writable and check its free space"
                raise StoreError(f"cannot make the run's folder {folder.path}: {error}. {advice}") from error
            with suppress(OSError):  # a run without a number is a run all the same
                _take_number(root, folder.id)
            return folder
        raise StoreError(f"no free id for a run under {root / FOLDER / 'runs'}; delete old runs")


def make_folder(root: Path) -> None:
    """Makes `.verica/` under a rootdir where it is not there, kept out of version control by a file of its own; one
    that somebody wrote stays.

    Raises:
        OSError: it cannot be made.
    """
    folder = root / FOLDER
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
    target = folder / ".gitignore"
    if target.exists():
        return
    partial = folder / f".gitignore.{os.getpid()}-{secrets.token_hex(4)}"
    partial.write_text("*\n", encoding="utf-8")
    os.replace(partial, target)
