"""The loop: all outputs of a saved run judged again by the judge as it is written now. A new run, with a new point."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

from pytest_verica.calibration.gating import Correcting
from pytest_verica.calibration.judged import JudgedRun, read_judged
from pytest_verica.case import Case
from pytest_verica.engine.caller import Caller
from pytest_verica.engine.endpoints import CallSettings
from pytest_verica.engine.engine import Engine
from pytest_verica.engine.overrides import Overrides
from pytest_verica.engine.plan import Eval, Job
from pytest_verica.errors import ConfigError, Place, StoreError
from pytest_verica.evals.config import EvalConfig
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.load import load_eval
from pytest_verica.golden import GoldenSet
from pytest_verica.grade import Grade
from pytest_verica.graders.configs import Configs
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext, GraderKind
from pytest_verica.judge.registry import KINDS
from pytest_verica.kinds import Kinds
from pytest_verica.output import Output
from pytest_verica.pricing import Prices
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.report.gates import NO_BASELINE, Judging
from pytest_verica.report.json_report import write_report
from pytest_verica.report.keeping import Keeping
from pytest_verica.run import (
    CaseRecord,
    CriterionRecord,
    EvalRecord,
    GateRecord,
    GateResult,
    RunEnd,
    RunHeader,
    VerdictRecord,
)
from pytest_verica.store.folder import RunFolder, answers_path
from pytest_verica.store.journal import scan_journal
from pytest_verica.store.responses import ResponseStore

Progress = Callable[[int, int], None]
"""Told (done, total) after each output: `Evaluated: done/total`."""


class Stopped(StoreError):
    """The loop was stopped before its end: what was answered stays in the store, and no run is kept."""


@dataclass(frozen=True)
class Plan:
    """What judging again would do. outputs: how many will be judged; cost (USD): what judging them cost the last time,
    None where a price is unknown; same_judge: whether the judge is the one of the run, so that stored answers are
    reused and nothing is paid."""

    run: JudgedRun
    criterion: Criterion
    outputs: int
    cost: Decimal | None
    same_judge: bool


def plan_rejudging(root: Path, run: JudgedRun, kinds: Kinds[GraderKind] = KINDS) -> Plan:
    """Reads the judge as it is written now, and what judging all outputs cost in the run. No call is made.

    Raises:
        ConfigError: the eval file is wrong, or has no such criterion any more.
    """
    criterion = written_criterion(root, run, kinds)
    outputs, cost = 0, Decimal(0)
    known = True
    for record in _records_of(run):
        if isinstance(record, CaseRecord) and record.output is not None:
            outputs += 1
        elif isinstance(record, VerdictRecord) and record.criterion == run.criterion.id:
            for part in (record.grade["cost"], record.grade["cost_avoided"]):
                known = known and part is not None
                cost += Decimal(part or 0)
    return Plan(run, criterion, outputs, cost if known else None, criterion.judge_hash == run.judge_hash)


def written_criterion(root: Path, run: JudgedRun, kinds: Kinds[GraderKind] = KINDS) -> Criterion:
    """The criterion as its eval file has it now; as the run kept it where it is written in Python.

    Raises:
        ConfigError: the file is wrong, or has no such criterion any more.
    """
    record = run.eval
    place = Place(record.file)
    if record.kind == "function":
        config: CriterionConfig = kinds[run.criterion.type].config.model_validate(run.criterion.config)
    else:
        spec = load_eval(root / record.file, record.file, Configs(kinds))
        found = next((c for c in spec.config.criteria if c.name == run.criterion.name), None)
        if found is None:
            names = ", ".join(criterion.name for criterion in spec.config.criteria)
            raise ConfigError(f"there is no criterion {run.criterion.name!r} any more; there are: {names}", place)
        config = found
    context = BuildContext((root / record.file).parent, (), GoldenSet(None, (), ()), None)
    return make_criterion(config, kinds, context)


def make_engine(
    root: Path,
    outputs: Mapping[int, Output],
    *,
    providers: Mapping[str, ProviderKind] = PROVIDERS,
    prices: Prices | None = None,
    concurrency: int = 16,
) -> Engine:
    """An engine whose cases have their outputs already. outputs: by the identity of the Case."""

    def caller() -> Caller:
        store = ResponseStore(answers_path(root))
        return Caller(providers, store, [], prices or Prices(), CallSettings(concurrency=concurrency))

    overrides = Overrides(sample=lambda _, case: outputs[id(case)])
    return Engine(caller, window=2 * concurrency + 2, local_concurrency=concurrency, overrides=overrides)


def rejudge(
    root: Path,
    plan: Plan,
    *,
    progress: Progress = lambda done, total: None,
    stop: threading.Event | None = None,
    providers: Mapping[str, ProviderKind] = PROVIDERS,
    prices: Prices | None = None,
    concurrency: int = 16,
) -> JudgedRun:
    """Judges every output of the run again and keeps that as a run of its own; the other criteria's verdicts are taken
    over and marked so. Answers that were bought for the same question are reused.

    Raises:
        Stopped: `stop` was set.
        StoreError: nothing can be kept.
    """
    run = plan.run
    cases = [r for r in _records_of(run) if isinstance(r, CaseRecord)]
    jobs, outputs = _jobs(root, plan, cases)
    engine = make_engine(root, outputs, providers=providers, prices=prices, concurrency=concurrency)
    grades: dict[tuple[str, int], Grade] = {}
    try:
        engine.feed(jobs)
        for job in jobs:
            if stop is not None and stop.is_set():
                raise Stopped(f"stopped after {len(grades)} of {len(jobs)} outputs; their answers are kept")
            grades[job.case.id, job.sample] = engine.result(job).grades[plan.criterion.id]
            progress(len(grades), len(jobs))
    finally:
        engine.close()
    folder = _keep(root, plan, cases, grades)
    (judged,) = read_judged(folder.journal, [(run.eval.id, plan.criterion.id)])
    return judged


def _records_of(run: JudgedRun) -> list[CaseRecord | VerdictRecord]:
    """The last record of each case and verdict of the eval, in the journal's order."""
    assert run.journal is not None
    found: dict[tuple[Any, ...], CaseRecord | VerdictRecord] = {}
    for _, record in scan_journal(run.journal):
        if isinstance(record, CaseRecord) and record.eval == run.eval.id:
            found[record.case, record.sample] = record
        elif isinstance(record, VerdictRecord) and record.eval == run.eval.id:
            found[record.case, record.sample, record.criterion] = record
    return list(found.values())


def _jobs(root: Path, plan: Plan, cases: Sequence[CaseRecord]) -> tuple[list[Job], dict[int, Output]]:
    record = plan.run.eval
    config = EvalConfig.model_construct(
        name=record.name, timeout=600.0, criteria=[plan.criterion.config], repeat=record.repeat, target=None
    )
    ready = Eval(record.id, config, (root / record.file).parent, GoldenSet(None, (), ()), (plan.criterion,))
    jobs: list[Job] = []
    outputs: dict[int, Output] = {}
    for kept in cases:
        if kept.output is None:
            continue
        case = Case(kept.case, kept.columns, original_id=kept.original_id, position=kept.position)
        outputs[id(case)] = Output.from_json(kept.output)
        jobs.append(Job(ready, case, kept.sample, (plan.criterion,)))
    return jobs, outputs


def _keep(root: Path, plan: Plan, cases: Sequence[CaseRecord], grades: Mapping[tuple[str, int], Grade]) -> RunFolder:
    run, criterion = plan.run, plan.criterion
    folder = RunFolder.create(root)
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
    versions = {"pytest-verica": metadata.version("pytest-verica")}
    header = RunHeader(folder.id, now, command=("verica", "calibrate", run.eval.file, "--rejudge"), versions=versions)
    keeping = Keeping(folder, header)
    try:
        keeping.add(_eval_record(run, criterion))
        for kept in cases:
            keeping.add(_not_paid_again(kept))
        for record in _records_of(run):
            if isinstance(record, VerdictRecord):
                keeping.add(_verdict(record, run, criterion, grades))
        gate = _gate(root, keeping, run)
        if gate is not None:
            keeping.add(GateRecord(run.eval.id, gate))
        failed = gate is not None and gate.status == "failed"
        ended = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        keeping.add(RunEnd(ended, int(failed), None))
    finally:
        keeping.close()
    write_report(folder.journal, folder.report, summary=keeping.summary())
    return folder


def _eval_record(run: JudgedRun, criterion: Criterion) -> EvalRecord:
    config = criterion.config.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    new = CriterionRecord(
        criterion.id,
        criterion.name,
        criterion.kind.name,
        config,
        criterion.version_hash,
        None,
        criterion.judge_hash,
    )
    return replace(run.eval, criteria=tuple(new if c.id == criterion.id else c for c in run.eval.criteria))


def _not_paid_again(kept: CaseRecord) -> CaseRecord:
    """The output was paid for by the run that it is taken from."""
    output = kept.output
    if output is None:
        return kept
    return replace(kept, output={**output, **_avoided(output), "reused": True})


def _avoided(spent: Mapping[str, Any]) -> dict[str, Any]:
    parts = (spent["cost"], spent["cost_avoided"])
    total = None if None in parts else str(sum((Decimal(part) for part in parts), Decimal(0)))
    reused = spent["reused_calls"] + spent["calls"] - spent["retries"]
    return {"cost": "0", "cost_avoided": total, "calls": 0, "retries": 0, "reused_calls": reused}


def _verdict(
    record: VerdictRecord, run: JudgedRun, criterion: Criterion, grades: Mapping[tuple[str, int], Grade]
) -> VerdictRecord:
    grade = grades.get((record.case, record.sample)) if record.criterion == criterion.id else None
    if grade is None:
        taken = {**record.grade, **_avoided(record.grade), "usage": None}
        return replace(record, grade=taken, reused=record.reused or run.run.id)
    told: Any = {"pass": "passed", "na": "skipped", "error": "error"}.get(grade.outcome)
    if told is None:
        told = "missed" if run.eval.gate is not None else "failed"
    return replace(record, grade=grade.to_json(), reported=told, reused=None)


def _gate(root: Path, keeping: Keeping, run: JudgedRun) -> GateResult | None:
    if run.eval.gate is None:
        return None
    judging = Judging(baseline=NO_BASELINE, corrected=Correcting(root, keeping.folder.journal))
    return judging.gates(keeping.summary()).get(run.eval.id)
