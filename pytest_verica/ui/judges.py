"""The judges of the saved runs: which there are, and the last run that each took part in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pytest_verica.calibration.alignment import Alignment, align
from pytest_verica.calibration.judged import JudgedRun, read_judged
from pytest_verica.calibration.label_file import LabelFile, label_path
from pytest_verica.report.saved import Listed, SavedRun, list_runs
from pytest_verica.ui.answers import Gone


@dataclass(frozen=True)
class Judge:
    """A criterion that asks a model. run: the last one that it took part in, a whole one where there is one."""

    eval_id: str
    eval_name: str
    criterion: str
    name: str
    type: str
    run: SavedRun


def judges(root: Path) -> list[Judge]:
    """Every judge of the saved runs; those of the last run first."""
    found: dict[tuple[str, str], Judge] = {}
    part: dict[tuple[str, str], Judge] = {}
    for listed in list_runs(root):
        for head, criterion in _asked(listed):
            key = (head["id"], criterion["id"])
            into = part if head["partial"] else found
            if key not in found and key not in into:
                into[key] = Judge(head["id"], head["name"], criterion["id"], criterion["name"], criterion["type"], listed.run)
    return [*found.values(), *(judge for key, judge in part.items() if key not in found)]


def _asked(listed: Listed) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """(eval, criterion) pairs of a run in which a judge gave a verdict."""
    return [
        (head, criterion)
        for head in (() if listed.head is None else listed.head["evals"])
        for criterion in head["criteria"]
        if criterion["judge_hash"] is not None and _graded(head, criterion["id"])
    ]


def _graded(head: Mapping[str, Any], criterion: str) -> bool:
    counts = head["totals"]["criteria"].get(criterion)
    return counts is not None and counts["graded"] > 0


def find_judge(root: Path, eval_id: str, criterion: str) -> Judge:
    """The judge of an eval that is called so. eval_id: the eval's id, or its name.

    Raises:
        Gone: there is none; says what there is.
    """
    known = judges(root)
    for judge in known:
        if eval_id in (judge.eval_id, judge.eval_name) and criterion in (judge.criterion, judge.name):
            return judge
    names = ", ".join(f"{judge.criterion} of {judge.eval_id}" for judge in known) or "none yet"
    raise Gone(
        f"no saved run has a verdict of the judge {criterion!r} of {eval_id!r}; run `pytest --verica` first. "
        f"Judges of the saved runs: {names}"
    )


def judged_run(root: Path, eval_id: str, criterion: str) -> JudgedRun:
    """What the judge said in the last run that it took part in.

    Raises:
        Gone: there is none.
        StoreError: the run cannot be read.
    """
    judge = find_judge(root, eval_id, criterion)
    journal = judge.run.path
    (run,) = _read(journal, _state(journal), judge.eval_id, judge.criterion)
    return run


def _state(journal: Path) -> tuple[tuple[str, int, int], ...]:
    """What tells whether a file of the run's folder changed."""
    stats = [(path.name, path.stat()) for path in sorted(journal.parent.iterdir())]
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@lru_cache(maxsize=8)
def _read(journal: Path, state: object, eval_id: str, criterion: str) -> tuple[JudgedRun]:
    """Kept while a person labels: a journal of thousands of outputs need not be read for each answer."""
    runs = read_judged(journal, [(eval_id, criterion)])
    if not runs:
        raise Gone(f"the run {journal.parent.name} has no judge {criterion!r} of {eval_id!r}")
    return (runs[0],)


def label_file(root: Path, run: JudgedRun) -> LabelFile:
    """Where the labels of a judge's eval are."""
    record = run.eval
    return LabelFile(label_path(root, record.file, record.golden_set, record.id))


def alignment_of(root: Path, eval_id: str, criterion: str) -> Alignment:
    """What the labels say of a judge, in the last run that it took part in.

    Raises:
        Gone: there is no such judge.
        StoreError: the run or the labels cannot be read.
    """
    run = judged_run(root, eval_id, criterion)
    return align(run, label_file(root, run).acts())
