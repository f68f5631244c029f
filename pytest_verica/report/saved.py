"""Saved runs: listed, found by the names people give them, and read as the JSON report shows them.

A run that was killed is read from its journal as far as it came. Reading changes nothing but a file of its own beside
the journal (`head.json`), from which the next list of runs is made without reading the journals again.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pytest_verica.errors import StoreError
from pytest_verica.report.json_report import SCHEMA_VERSION, report_cases, report_head
from pytest_verica.report.summary import RunSummary, read_run
from pytest_verica.store.folder import FOLDER, RunFolder, run_ids, run_numbers
from pytest_verica.store.whole_file import write_whole

Status = Literal["passed", "failed", "interrupted", "incomplete"]
LAST = "last"
_MOST_NAMED = 8


class SavedRun:
    """A run that can be read again. id: of the run; number: in order of launch, None where it has none (it comes from
    elsewhere); path: the journal, or a JSON report where that is all there is.

    `head` is the JSON report without the cases of its evals; `cases` gives those of an eval. Both have the shape that
    `report.schema.json` publishes.
    """

    def __init__(self, id: str, path: Path, number: int | None = None) -> None:
        self.id = id
        self.path = path
        self.number = number

    @classmethod
    def of(cls, summary: RunSummary, number: int | None = None) -> SavedRun:
        """A run whose journal has just been read, or written."""
        run = cls(summary.header.id, summary.journal, number)
        run.summary = summary
        return run

    @property
    def name(self) -> str:
        """`#0042`, or the id of a run that has no number."""
        return self.id if self.number is None else f"#{self.number:04}"

    @cached_property
    def summary(self) -> RunSummary:
        """What its journal adds up to.

        Raises:
            StoreError: the journal cannot be read, or there is a report only.
        """
        if self._is_report:
            raise StoreError(f"{self.path} is a report: what is asked for needs the run's journal.jsonl")
        return read_run(self.path)

    @cached_property
    def head(self) -> Mapping[str, Any]:
        """The report without its cases: of the file that was made of it before, where the journal did not grow since.

        Raises:
            StoreError: the run cannot be read.
        """
        if self._is_report:
            return self._without_cases
        kept = _kept_head(self.path)
        if kept is None:
            kept = report_head(self.summary)
            keep_head(self.summary)
        return kept

    def eval(self, eval_id: str) -> Mapping[str, Any] | None:
        """The head of one eval; None where the run has not this eval."""
        return next((found for found in self.head["evals"] if found["id"] == eval_id), None)

    def cases(self, eval_id: str) -> Iterator[dict[str, Any]]:
        """The cases of an eval with their grades, in the golden set's order, one in memory at a time.

        Raises:
            StoreError: the run cannot be read.
        """
        if self._is_report:
            yield from next((found["cases"] for found in self._document["evals"] if found["id"] == eval_id), ())
        elif eval_id in self.summary.evals:
            yield from report_cases(self.summary, eval_id)

    @property
    def status(self) -> Status:
        """How it ended; `incomplete` where it did not: it was killed, or runs still.

        Raises:
            StoreError: the run cannot be read.
        """
        return status_of(self.head)

    @property
    def _is_report(self) -> bool:
        return self.path.suffix == ".json"

    @cached_property
    def _document(self) -> dict[str, Any]:
        """A report is read whole: it is a file of somebody else's, in whatever layout."""
        return _read_report(self.path)

    @cached_property
    def _without_cases(self) -> dict[str, Any]:
        evals = [{key: value for key, value in found.items() if key != "cases"} for found in self._document["evals"]]
        return {**self._document, "evals": evals}


@dataclass(frozen=True)
class Listed:
    """A line of a list of runs. head: the report without its cases, None where the run cannot be read; problem: why
    not."""

    run: SavedRun
    head: Mapping[str, Any] | None = field(default=None, repr=False)
    problem: str | None = None


def saved_runs(root: Path) -> list[SavedRun]:
    """The runs under a rootdir, oldest first. None of them is read."""
    numbers = run_numbers(root)
    return [SavedRun(run_id, RunFolder(root, run_id).journal, numbers.get(run_id)) for run_id in run_ids(root)]


def list_runs(root: Path) -> Iterator[Listed]:
    """The runs under a rootdir with what each says of itself, newest first. One that cannot be read stays in it."""
    for run in reversed(saved_runs(root)):
        try:
            yield Listed(run, run.head)
        except StoreError as error:
            yield Listed(run, problem=str(error))


def find_run(root: Path, name: str) -> SavedRun:
    """The run that is called so: `last`, a number (`42`, `#0042`), an id or the beginning of one id only, or a path: a
    run's folder, its journal, or a JSON report.

    Raises:
        StoreError: there is none, or several; names what there is.
    """
    runs = saved_runs(root)
    if name == LAST and runs:
        return runs[-1]
    digits = name.removeprefix("#")
    if digits.isascii() and digits.isdecimal():
        numbered = next((run for run in runs if run.number == int(digits)), None)
        if numbered is not None:
            return numbered
    found = [run for run in runs if run.id == name] or [run for run in runs if name and run.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise StoreError(f"{len(found)} runs begin with {name!r}: {_named(found)}; write more of the id")
    at = _run_at(Path(name))
    if at is not None:
        return at
    if not runs:
        raise StoreError(f"no run {name!r}: none is kept under {root / FOLDER}; run `pytest --verica` first")
    near = difflib.get_close_matches(name, [run.id for run in runs], 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise StoreError(
        f"no run {name!r} under {root / FOLDER}, and no such file; {hint}There are: {_named(runs)} (`verica runs`)"
    )


def status_of(head: Mapping[str, Any]) -> Status:
    """How a run ended, of its report's head."""
    run = head["run"]
    if run["finished"] is None:
        return "incomplete"
    if run["exit_code"] == 0:
        return "passed"
    return "interrupted" if run["exit_code"] == 2 else "failed"


def keep_head(summary: RunSummary) -> None:
    """Writes the head beside the journal. It is a copy: where it cannot be written, it is made again when needed."""
    kept = {"journal_bytes": _size(summary.journal), "head": report_head(summary)}
    with suppress(OSError):
        text = json.dumps(kept, allow_nan=False, separators=(",", ":"))
        write_whole(summary.journal.with_name("head.json"), [text.encode("ascii")])


def _kept_head(journal: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(journal.with_name("head.json").read_text("ascii"))
        head: dict[str, Any] = kept["head"]
        fresh = kept["journal_bytes"] == _size(journal) and head["schema_version"] == SCHEMA_VERSION
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return head if fresh else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _run_at(path: Path) -> SavedRun | None:
    """The run of a path; None where nothing of a run stands there."""
    if path.is_dir():
        found = next((path / name for name in ("journal.jsonl", "report.json") if (path / name).is_file()), None)
        return None if found is None else _run_at(found)
    if not path.is_file():
        return None
    if path.suffix == ".jsonl":
        return SavedRun(path.resolve().parent.name, path)
    return SavedRun(_read_report(path)["run"]["id"], path) if path.suffix == ".json" else None


def _read_report(path: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(path.read_text("utf-8"))
        version, complete = document["schema_version"], "id" in document["run"] and "evals" in document
    except OSError as error:
        raise StoreError(f"cannot read the report {path}: {error}. Check the name of the run") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(f"{path} is no report of `pytest --verica`: {error}") from error
    if version != SCHEMA_VERSION or not complete:
        raise StoreError(
            f"{path} is a report of version {version!r}; this pytest-verica reads version {SCHEMA_VERSION}"
        )
    return document


def _named(runs: list[SavedRun]) -> str:
    """The newest of them."""
    newest = runs[: -_MOST_NAMED - 1 : -1]
    shown = ", ".join(run.id if run.number is None else f"{run.name} ({run.id})" for run in newest)
    more = len(runs) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown
