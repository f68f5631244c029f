"""What GitHub Actions shows beside a pull request's files: workflow commands, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_verica.report.failing import Finding, findings
from pytest_verica.report.failure import excerpt
from pytest_verica.report.saved import SavedRun
from pytest_verica.run import RUN_GATE

MOST = 10
"""GitHub shows ten errors of a step, and no more."""
LONGEST = 500


def annotation_lines(run: SavedRun, folder: Path) -> Iterator[str]:
    """One line for each failed gate, then for failed and errored verdicts, ten in all: errors, or warnings for the
    misses that a gate weighs. folder: from the checkout to the rootdir.

    Raises:
        StoreError: the run cannot be read.
    """
    yield from islice(_all(run, folder), MOST)


def _all(run: SavedRun, folder: Path) -> Iterator[str]:
    head = run.head
    gates = [(found["id"], found["name"], found["gate"]) for found in head["evals"]]
    for eval_id, name, gate in [*gates, (RUN_GATE, "the whole run", head["gate"])]:
        if gate is not None and gate["status"] == "failed":
            file = None if eval_id == RUN_GATE else folder / eval_id.partition("::")[0]
            yield _command("error", file, f"gate of {name} failed", "\n".join(gate["reasons"]))
    for told in (("failed", "error"), ("missed", "errored")):
        for found in head["evals"]:
            yield from (_verdict(each, found, folder) for each in findings(run, found, told))


def _verdict(each: Finding, found: Mapping[str, Any], folder: Path) -> str:
    level = "warning" if each.word in ("MISSED", "ERRORED") else "error"
    return _command(level, folder / found["file"], f"{each.word} {each.node_id}", each.explanation)


def _command(level: str, file: Path | None, title: str, message: str) -> str:
    place = "" if file is None else f"file={_property(file.as_posix())},line=1,"
    return f"::{level} {place}title={_property(title)}::{_data(excerpt(message, LONGEST))}"


def _data(text: str) -> str:
    """A message cannot end its line, and so cannot begin a command of its own."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(excerpt(text, LONGEST)).replace(":", "%3A").replace(",", "%2C")
