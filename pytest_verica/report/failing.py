"""The verdicts of a saved run that did not pass, each with the words that people are told."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.report.saved import SavedRun

WORDS = {
    "passed": "pass",
    "failed": "FAILED",
    "missed": "MISSED",
    "skipped": "N/A",
    "error": "ERROR",
    "errored": "ERRORED",
}
"""By how a verdict was reported: a miss is a failing verdict that a gate weighs."""


@dataclass(frozen=True)
class Finding:
    """A verdict. word: of WORDS; outcome: pass, fail, na or error; criterion: its id; output: the text that was graded,
    None where there is none."""

    word: str
    outcome: str
    case: str
    criterion: str
    node_id: str
    explanation: str
    output: str | None

    @classmethod
    def of(cls, case: Mapping[str, Any], grade: Mapping[str, Any]) -> Finding:
        output = case["output"]
        return cls(
            WORDS[grade["reported"]],
            grade["outcome"],
            case["id"],
            grade["criterion"],
            grade["node_id"],
            grade["explanation"],
            None if output is None else output["text"],
        )


def findings(
    run: SavedRun, found: Mapping[str, Any], told: Container[str] = ("failed", "missed", "error", "errored")
) -> Iterator[Finding]:
    """The failed and errored verdicts of an eval (its head), in order. told: those that were reported so. Nothing is
    read where there is none.

    Raises:
        StoreError: the run cannot be read.
    """
    totals = found["totals"]
    if not totals["fail"] + totals["error"]:
        return
    for case in run.cases(found["id"]):
        for grade in case["grades"]:
            if grade["outcome"] in ("fail", "error") and grade["reported"] in told:
                yield Finding.of(case, grade)
