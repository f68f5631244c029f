"""A threshold applied: the eval file edited, the saved run recomputed from its scores without a call; and undone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_verica.calibration.gating import Correcting
from pytest_verica.calibration.judged import JudgedRun
from pytest_verica.calibration.threshold_edit import with_threshold
from pytest_verica.canonical import content_hash
from pytest_verica.errors import ConfigError, Place, StoreError
from pytest_verica.report.gates import NO_BASELINE, Judging
from pytest_verica.report.json_report import write_report
from pytest_verica.report.summary import read_run
from pytest_verica.run import EvalRecord, GateRecord, Record, VerdictRecord
from pytest_verica.store.folder import FOLDER, make_folder
from pytest_verica.store.journal import scan_journal
from pytest_verica.store.whole_file import write_whole

_KEPT = ("journal.jsonl", "report.json", "head.json")


@dataclass(frozen=True)
class Applied:
    """old, new: the thresholds; file: that was edited; changed: verdicts that are another now."""

    old: float
    new: float
    file: Path
    changed: int

    def __str__(self) -> str:
        return f"Threshold applied ({self.old:g} → {self.new:g})"


def apply_threshold(root: Path, run: JudgedRun, value: float) -> Applied:
    """Writes `pass_at` into the eval file and recomputes the verdicts of the saved run. No call is made.

    Raises:
        ConfigError: the value cannot be a threshold of this judge, or the file cannot be edited.
        StoreError: a file cannot be written; then everything is as before.
    """
    old = run.pass_at
    if old is None or run.journal is None:
        raise ConfigError(f"the judge {run.criterion.name!r} has no threshold", Place(run.eval.file))
    low, high = run.criterion.config.get("min"), run.criterion.config.get("max")
    if low is not None and high is not None and not low < value <= high:
        raise ConfigError(
            f"`pass_at` lies above {low:g} and up to {high:g}; {value:g} would pass everything or nothing",
            Place(run.eval.file),
        )
    if run.eval.kind != "file":
        raise ConfigError(
            f"the criterion {run.criterion.name!r} is written in Python: set its `pass_at` to {value:g} there",
            Place(run.eval.file),
        )
    file, edited = with_threshold(root / run.eval.file, run.eval.file, run.criterion.name, value)
    folder = _undo_folder(root, run)
    lines, changed = _recomputed(run, value)
    try:
        make_folder(root)
        _keep(folder, root, file, edited, run.journal)
        write_whole(run.journal, lines)
        write_whole(file, [edited])
        _write_gates_and_report(root, run)
    except (OSError, StoreError) as error:
        undo_threshold(root, run, force=True)
        raise StoreError(f"the threshold was not applied: {error}") from error
    return Applied(old, value, file, changed)


def can_undo(root: Path, run: JudgedRun) -> bool:
    return (_undo_folder(root, run) / "undo.json").is_file()


def undo_threshold(root: Path, run: JudgedRun, *, force: bool = False) -> None:
    """Puts back the bytes of the eval file and of the run, as before the first threshold that was applied.

    Raises:
        StoreError: nothing was applied, or the eval file was edited since.
    """
    folder = _undo_folder(root, run)
    if not can_undo(root, run):
        raise StoreError("there is nothing to undo: no threshold was applied to this run")
    kept = json.loads((folder / "undo.json").read_text("utf-8"))
    file = root / kept["file"]
    assert run.journal is not None
    if not force and content_hash(file.read_text("utf-8")) != kept["edited"]:
        raise StoreError(
            f"{kept['file']} was edited since the threshold was applied: undo would lose that. Set `pass_at` by hand"
        )
    write_whole(file, [(folder / "eval").read_bytes()])
    for name in _KEPT:
        saved, target = folder / name, run.journal.with_name(name)
        if saved.is_file():
            write_whole(target, [saved.read_bytes()])
        else:
            target.unlink(missing_ok=True)
    (folder / "undo.json").unlink()


def _undo_folder(root: Path, run: JudgedRun) -> Path:
    return root / FOLDER / "calibration" / f"undo-{content_hash([run.run.id, run.eval.id, run.criterion.id])[:16]}"


def _keep(folder: Path, root: Path, file: Path, edited: bytes, journal: Path) -> None:
    """The bytes of before, unless an earlier threshold kept them: undo goes back to the very first."""
    known = folder / "undo.json"
    shown = file.resolve().relative_to(root.resolve()).as_posix()
    if not known.is_file():
        write_whole(folder / "eval", [file.read_bytes()])
        for name in _KEPT:
            (folder / name).unlink(missing_ok=True)
            if journal.with_name(name).is_file():
                write_whole(folder / name, [journal.with_name(name).read_bytes()])
    told = {"file": shown, "edited": content_hash(edited.decode("utf-8"))}
    write_whole(known, [json.dumps(told).encode()])


def _recomputed(run: JudgedRun, value: float) -> tuple[list[bytes], int]:
    """The journal's lines with the new threshold, and how many verdicts are another now."""
    assert run.journal is not None
    changed = 0
    lines = []
    for _, record in scan_journal(run.journal):
        new = _with_value(record, run, value)
        if isinstance(new, VerdictRecord) and isinstance(record, VerdictRecord):
            changed += new.grade["outcome"] != record.grade["outcome"]
        lines.append(new.to_line().encode("ascii") + b"\n")
    return lines, changed


def _with_value(record: Record, run: JudgedRun, value: float) -> Record:
    if isinstance(record, EvalRecord) and record.id == run.eval.id:
        criteria = [
            replace(criterion, config={**criterion.config, "pass_at": value})
            if criterion.id == run.criterion.id
            else criterion
            for criterion in record.criteria
        ]
        return replace(record, criteria=tuple(criteria))
    if isinstance(record, VerdictRecord) and (record.eval, record.criterion) == (run.eval.id, run.criterion.id):
        return _regraded(record, run, value)
    return record


def _regraded(record: VerdictRecord, run: JudgedRun, value: float) -> VerdictRecord:
    """A verdict by its stored score; one without a usable score (na, an error, a run condition's) stays."""
    grade = record.grade
    score = grade["score"]
    if score is None or grade["passed"] is None or not grade["evaluated"]:
        return record
    negated = bool(run.criterion.config.get("negate"))
    passed = (score >= value) is not negated
    said = f"the judge's score is {score:g}; wanted at least {value:g} (threshold applied after the run)"
    explanation = f"negated: {said}" if negated else said
    told = "passed" if passed else ("missed" if run.eval.gate is not None else "failed")
    new = {**grade, "passed": passed, "outcome": "pass" if passed else "fail", "explanation": explanation}
    return replace(record, grade=new, reported=told)  # type: ignore[arg-type]


def _write_gates_and_report(root: Path, run: JudgedRun) -> None:
    """The gate of the eval judged again on what the run adds up to now, and the report made again."""
    assert run.journal is not None
    summary = read_run(run.journal)
    gates = dict(summary.gates)
    old = gates.get(run.eval.id)
    if run.eval.gate is not None and old is not None and old.status != "skipped":
        judging = Judging(baseline=NO_BASELINE, corrected=Correcting(root, run.journal))
        gates[run.eval.id] = judging.gates(summary)[run.eval.id]
        write_whole(run.journal, _with_gate(run.journal, GateRecord(run.eval.id, gates[run.eval.id])))
    write_report(run.journal, run.journal.with_name("report.json"), gates)
    run.journal.with_name("head.json").unlink(missing_ok=True)


def _with_gate(journal: Path, gate: GateRecord) -> Iterator[bytes]:
    """The journal with the eval's gate replaced."""
    records: list[Any] = [record for _, record in scan_journal(journal)]
    for record in records:
        new = gate if isinstance(record, GateRecord) and record.eval == gate.eval else record
        yield new.to_line().encode("ascii") + b"\n"
