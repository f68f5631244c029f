"""Which saved run a judge is measured on, and its labels: read from the disk by the names that people use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pytest_verica.calibration.judged import JudgedRun, read_judged
from pytest_verica.calibration.label import Label
from pytest_verica.calibration.label_file import LabelFile, label_path
from pytest_verica.calibration.recorded_labels import recorded_labels
from pytest_verica.errors import StoreError
from pytest_verica.evals.load import eval_stem
from pytest_verica.report.saved import SavedRun, find_run, list_runs

Read: TypeAlias = Callable[[Path, Sequence[tuple[str, str]]], list[JudgedRun]]
"""Reads judges of a journal, given as (eval id, criterion id) pairs."""


def find_judges(
    root: Path, wanted: str, criterion: str | None = None, run: str | None = None, *, read: Read = read_judged
) -> list[JudgedRun]:
    """The judges of an eval, each in the last run that it took part in (a whole one where there is one).

    wanted: the eval's id, its name, or the path or file name of its file; criterion: id or name, of a rubric's item
    `tone.polite`, all where None; run: the name of a run to look at in place of the last; read: in place of
    `read_judged`, for who reads again and again.

    Raises:
        StoreError: there is none; says what there is.
    """
    known: dict[tuple[str, str], str] = {}
    whole: dict[tuple[str, str], SavedRun] = {}
    part: dict[tuple[str, str], SavedRun] = {}
    for saved, head, judge in _judges(root, run):
        key = (head["id"], judge["id"])
        known.setdefault(key, head["name"])
        if not _is_called(head, wanted) or not _is_of(criterion, judge):
            continue
        (part if head["partial"] else whole).setdefault(key, saved)
    chosen = dict([*part.items(), *whole.items()])
    if not chosen:
        names = ", ".join(f"{judge} of {name}" for (_, judge), name in known.items()) or "none"
        what = f"the judge {criterion!r} of {wanted!r}" if criterion is not None else f"a judge of {wanted!r}"
        raise StoreError(
            f"no saved run has a verdict of {what}; run `pytest --verica` first. Judges of the saved runs: {names}"
        )
    by_run: dict[Path, list[tuple[str, str]]] = {}
    for key in known:
        if key in chosen:
            by_run.setdefault(chosen[key].path, []).append(key)
    found = [judged for path, keys in by_run.items() for judged in read(path, keys)]
    if criterion is None:
        return found
    named = [judged for judged in found if criterion in (judged.criterion.id, judged.criterion.name)]
    if not named:
        items = ", ".join(judged.criterion.id for judged in found)
        raise StoreError(f"the judge has no item {criterion!r}; there are: {items}")
    return named


def file_of(root: Path, run: JudgedRun) -> LabelFile:
    """The label file of a judge's eval."""
    record = run.eval
    return LabelFile(label_path(root, record.file, record.golden_set, record.id))


def labels_for(root: Path, run: JudgedRun) -> list[Label]:
    """Every label of a judge's criterion: of the label file, and of the golden set's columns.

    Raises:
        StoreError, ConfigError: a line, or a cell, is no label.
    """
    acts = file_of(root, run).acts()
    return [*recorded_labels(run), *(a for a in acts if (a.eval, a.criterion) == (run.eval.id, run.criterion.id))]


def _judges(root: Path, run: str | None) -> Iterator[tuple[SavedRun, Mapping[str, Any], Mapping[str, Any]]]:
    """(run, head of an eval, criterion) wherever a judge gave a verdict, the newest run first."""
    runs = [find_run(root, run)] if run is not None else [listed.run for listed in list_runs(root) if listed.head]
    for saved in runs:
        for head in saved.head["evals"]:
            for judge in head["criteria"]:
                counts = head["totals"]["criteria"].get(judge["id"])
                if judge["judge_hash"] is not None and counts is not None and counts["graded"]:
                    yield saved, head, judge


def _is_of(criterion: str | None, judge: Mapping[str, Any]) -> bool:
    """Whether the judge, or an item of its rubric, is meant."""
    if criterion is None:
        return True
    names = (judge["id"], judge["name"])
    return criterion in names or criterion.startswith(tuple(f"{name}." for name in names))


def _is_called(head: Mapping[str, Any], wanted: str) -> bool:
    path = Path(wanted)
    names = {head["id"], head["name"], head["file"], Path(head["file"]).name, eval_stem(Path(head["file"]).name)}
    return wanted in names or path.as_posix().removeprefix("./") in names or head["id"].endswith(f"/{wanted}")
