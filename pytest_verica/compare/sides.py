"""The outputs behind flipped verdicts, from both runs: read again, since no run is kept in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_verica.compare.comparison import EvalComparison, Flip
from pytest_verica.report.saved import SavedRun


@dataclass(frozen=True)
class Side:
    """One side of a flip: output: the text, None where there is none; explanation, reasoning: of the verdict. Of
    several samples the first whose verdict is the one that counts."""

    output: str | None
    explanation: str
    reasoning: str | None


def flipped_sides(a: SavedRun, b: SavedRun, found: EvalComparison, flips: Sequence[Flip]) -> list[tuple[Side, Side]]:
    """What stands behind each flip, in A and in B.

    Raises:
        StoreError: one of the runs cannot be read any more.
    """
    before = _sides(a, found.a["id"], {(flip.case, flip.criterion): not flip.fixed for flip in flips})
    after = _sides(b, found.b["id"], {(flip.case, flip.criterion): flip.fixed for flip in flips})
    keys = [(flip.case, flip.criterion) for flip in flips]
    return [(before[key], after[key]) for key in keys]


def _sides(run: SavedRun, eval_id: str, wanted: Mapping[tuple[str, str], bool]) -> dict[tuple[str, str], Side]:
    """wanted: whether the verdict that counts passed."""
    cases = {case for case, _ in wanted}
    found: dict[tuple[str, str], Side] = {}
    for case in run.cases(eval_id):
        if case["id"] not in cases:
            continue
        for grade in case["grades"]:
            key = (case["id"], grade["criterion"])
            if key not in found and wanted.get(key) == grade["passed"] and grade["passed"] is not None:
                found[key] = _side(case, grade)
    return found


def _side(case: Mapping[str, Any], grade: Mapping[str, Any]) -> Side:
    output = case["output"]
    return Side(None if output is None else output["text"], grade["explanation"], grade["reasoning"])
