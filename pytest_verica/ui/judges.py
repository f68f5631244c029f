"""The judges of the saved runs: which there are, the last run that each took part in, and what its labels say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_verica.calibration.alignment import Alignment, align
from pytest_verica.calibration.finding import file_of, find_judges, labels_for
from pytest_verica.calibration.history import Point, read_history, remember
from pytest_verica.calibration.judged import JudgedRun, read_judged
from pytest_verica.report.saved import list_runs

State = tuple[tuple[str, int, int], ...]
"""What tells whether files changed: name, size and time of each."""


def judges(root: Path) -> list[JudgedRun]:
    """Every judge of the saved runs in the last run that it took part in, a rubric's items after the whole; those of
    the eval that ran last first.

    Raises:
        StoreError: a run cannot be read.
    """
    evals = dict.fromkeys(
        head["id"] for listed in list_runs(root) if listed.head for head in _judged_heads(listed.head)
    )
    return [judge for eval_id in evals for judge in find_judges(root, eval_id, read=_read)]


def _read(journal: Path, wanted: Sequence[tuple[str, str]]) -> list[JudgedRun]:
    """As `read_judged`, from what was read before where the journal did not change."""
    items = tuple(f"{criterion}." for _, criterion in wanted)
    return [
        judge
        for judge in _read_all(journal, _states([journal]))
        if (judge.eval.id, judge.criterion.id) in wanted or judge.criterion.id.startswith(items)
    ]


@lru_cache(maxsize=4)
def _read_all(journal: Path, state: State) -> list[JudgedRun]:
    return read_judged(journal)


def _judged_heads(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The evals of a run in which a judge gave a verdict."""
    return [
        head
        for head in report["evals"]
        if any(
            criterion["judge_hash"] is not None and head["totals"]["criteria"].get(criterion["id"], {}).get("graded")
            for criterion in head["criteria"]
        )
    ]


def judged_run(root: Path, eval_id: str, criterion: str) -> JudgedRun:
    """What the judge said in the last run that it took part in. eval_id, criterion: as `find_judges` takes them.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    return find_judges(root, eval_id, criterion, read=_read)[0]


def whole_judge(root: Path, run: JudgedRun) -> JudgedRun:
    """The judge that is asked: for an item of a rubric, the criterion that it is an item of.

    Raises:
        StoreError: it cannot be read.
    """
    ids = [criterion.id for criterion in run.eval.criteria]
    if run.criterion.id in ids:
        return run
    above = max((each for each in ids if run.criterion.id.startswith(f"{each}.")), key=len)
    return judged_run(root, run.eval.id, above)


def alignment_of(root: Path, eval_id: str, criterion: str) -> Alignment:
    """What the labels say of a judge, in the last run that it took part in.

    Raises:
        StoreError: there is no such judge, or the run or the labels cannot be read.
    """
    run = judged_run(root, eval_id, criterion)
    assert run.journal is not None
    return _aligned(root, run.eval.id, run.criterion.id, _states([run.journal, file_of(root, run).path]))


@lru_cache(maxsize=32)
def _aligned(root: Path, eval_id: str, criterion: str, state: State) -> Alignment:
    """An interval takes ten thousand draws: measured once for the same files."""
    run = judged_run(root, eval_id, criterion)
    return align(run, labels_for(root, run))


def history_of(root: Path, found: Alignment) -> list[Point]:
    """The judge's history with this measurement in it; nothing is written where it is there already.

    Raises:
        StoreError: the history cannot be read or written.
    """
    points = read_history(root, found.run.eval.id, found.run.criterion.id)
    if found.never_labelled:
        return points
    known = next((point for point in points if point.run == found.run.run.id), None)
    now = (found.run.judge_hash, found.run.pass_at, found.measured.n, found.rate.estimate, found.rate.low)
    if known is not None and (known.judge_hash, known.pass_at, known.n, known.rate, known.low) == now:
        return points
    return remember(root, found, datetime.now(timezone.utc).isoformat(timespec="seconds"))


def _states(paths: list[Path]) -> State:
    found = []
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            continue
        found.append((str(path), stat.st_size, stat.st_mtime_ns))
    return tuple(found)
