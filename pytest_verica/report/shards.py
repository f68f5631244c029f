"""The shards of one run (`--verica-shard I/N`) joined to that run: checked, copied into one journal, gates judged."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from pytest_verica.errors import StoreError
from pytest_verica.report.baseline import Baseline
from pytest_verica.report.gates import Correcting, Judging, named_baseline
from pytest_verica.report.json_report import write_report
from pytest_verica.report.keeping import Keeping
from pytest_verica.report.saved import LAST, SavedRun, keep_head
from pytest_verica.report.summary import EvalSummary, RunSummary
from pytest_verica.run import (
    CaseRecord,
    EvalRecord,
    GateRecord,
    GateResult,
    RunEnd,
    RunHeader,
    VerdictRecord,
)
from pytest_verica.store.folder import RunFolder
from pytest_verica.store.journal import scan_journal

MERGED = "merged"
"""Among the settings of a merged run: the ids of its shards."""
_WEIGHTY = ("gate", "strict", "sample", "repeat", "model", "criterion", "baseline")
"""Options that the shards of one run have alike: what is run, and what it is measured by."""
_ALIKE = ("name", "kind", "criteria", "golden_set_hash", "rows", "prompt_hash", "model", "params", "gate", "repeat")
"""What an eval's record says alike in every shard. The golden set is None where a shard knows only its own cases."""


@dataclass(frozen=True)
class Shard:
    """One part of a run. number, count: of `I/N`."""

    run: SavedRun
    number: int
    count: int

    @property
    def header(self) -> RunHeader:
        return self.run.summary.header

    def __str__(self) -> str:
        return f"{self.run.id} (shard {self.number}/{self.count})"


@dataclass(frozen=True)
class Merged:
    """A run made of its shards. exit_code: what `pytest` would have ended with; report: its JSON report."""

    run: SavedRun
    summary: RunSummary
    exit_code: int
    report: Path


def shards_of(runs: Sequence[SavedRun]) -> list[Shard]:
    """The runs as the shards of one run, in order.

    Raises:
        StoreError: one is no shard, or did not end, or they overlap, or belong to different runs, or one is missing.
    """
    shards = sorted(map(_shard, runs), key=lambda shard: shard.number)
    first = shards[0]
    for shard in shards:
        _refuse_unfinished(shard)
        if shard is not first:
            _refuse_foreign(first, shard)
    numbers = [shard.number for shard in shards]
    for before, after in pairwise(shards):
        if before.number == after.number:
            raise StoreError(f"{before} and {after} are the same part of the run: name one of the two")
    missing = [f"{number}/{first.count}" for number in range(1, first.count + 1) if number not in numbers]
    if missing:
        raise StoreError(
            f"the shards {', '.join(missing)} are missing: name the runs of all {first.count} (a shard without a case "
            "keeps no run: use fewer shards)"
        )
    _refuse_overlap(shards)
    return shards


def merge(
    shards: Sequence[Shard],
    root: Path,
    report: Path | None = None,
    *,
    baseline: str | None = None,
    correcting: Callable[[Path], Correcting] | None = None,
) -> Merged:
    """The run that these shards are, kept under a rootdir as any other. Outputs are copied one at a time.

    report: where its JSON report goes; in its folder where None; baseline: the run that gates with a `baseline` are
    held against, the one that the shards were told of where None (but not their `last`: one of them may be that now);
    correcting: of the merged journal, what `calibrated` gates are told of their judges; without it they fail.

    Raises:
        StoreError: a shard cannot be read, there is no such baseline, or the run cannot be written.
    """
    told, _ = shards[0].run.summary.header.settings.get("baseline", (None, ""))
    earlier = named_baseline(root, baseline or (None if told == LAST else told))
    folder = RunFolder.create(root)
    keeping = Keeping(folder, _header(shards, folder.id))
    try:
        for whole in _evals(shards):
            keeping.add(whole)
        for shard in shards:
            for _, record in scan_journal(shard.run.path):
                if isinstance(record, (CaseRecord, VerdictRecord)):
                    keeping.add(record)
        corrected = None if correcting is None else correcting(folder.journal)
        gates = judge(keeping.summary(), earlier, corrected)
        for eval_id, result in gates.items():
            keeping.add(GateRecord(eval_id, result))
        code = _exit_code(shards, gates)
        keeping.add(RunEnd(_ends(shards)[-1], code))
    finally:
        keeping.close()
    summary = keeping.summary()
    path = report or folder.report
    write_report(folder.journal, path, gates, summary=summary)
    keep_head(summary)
    return Merged(SavedRun(folder.id, folder.journal), summary, code, path)


def judge(
    summary: RunSummary, baseline: Baseline | str | None = None, corrected: Correcting | None = None
) -> dict[str, GateResult]:
    """The gates of a whole run, by eval id. baseline, corrected: as for `Judging`."""
    settings = summary.header.settings
    rate, sample = (settings.get(name, (None,))[0] for name in ("gate", "sample"))
    note = None if sample is None else f"judged on a sample of {sample} cases"
    return dict(Judging(rate, note=note, baseline=baseline, corrected=corrected).gates(summary))


def _shard(run: SavedRun) -> Shard:
    text = run.summary.header.shard
    if text is None:
        raise StoreError(f"{run.id} is no shard: only runs of `pytest --verica --verica-shard I/N` can be merged")
    number, _, count = text.partition("/")
    return Shard(run, int(number), int(count))


def _refuse_unfinished(shard: Shard) -> None:
    end = shard.run.summary.end
    if end is None:
        raise StoreError(f"{shard} was killed before it ended: run it again; what it bought is not bought twice")
    if end.interrupted is not None:
        raise StoreError(f"{shard} stopped early ({end.interrupted}): run it again without what stopped it")


def _refuse_foreign(first: Shard, shard: Shard) -> None:
    """Raises StoreError where two shards are not of one run."""
    if first.count != shard.count:
        raise StoreError(
            f"{first} and {shard} cut their runs into different numbers of shards: they are not of one run"
        )
    commits = first.header.git.commit, shard.header.git.commit
    if None not in commits and commits[0] != commits[1]:
        raise StoreError(f"{first} and {shard} are of different commits ({commits[0]} and {commits[1]})")
    for name in _WEIGHTY:
        ours, theirs = (one.header.settings.get(name, (None,))[0] for one in (first, shard))
        if ours != theirs:
            raise StoreError(f"{first} and {shard} ran with different options: {name} is {ours!r} and {theirs!r}")
    evals = first.run.summary.evals
    for eval_id, found in shard.run.summary.evals.items():
        if eval_id in evals:
            _refuse_different(first, shard, evals[eval_id].record, found.record)


def _refuse_different(first: Shard, shard: Shard, ours: EvalRecord, theirs: EvalRecord) -> None:
    differing = [name for name in _ALIKE if getattr(ours, name) != getattr(theirs, name)]
    if differing:
        raise StoreError(
            f"{first} and {shard} are not of one run: their {ours.id} has not the same {', '.join(differing)}"
        )


def _refuse_overlap(shards: Sequence[Shard]) -> None:
    seen: dict[tuple[str, str], Shard] = {}
    for shard in shards:
        for eval_id, found in shard.run.summary.evals.items():
            for case in dict.fromkeys(found.lines.cases):
                other = seen.setdefault((eval_id, case), shard)
                if other is not shard:
                    raise StoreError(
                        f"{other} and {shard} overlap: both have the case {case} of {eval_id}, and each is in one shard"
                    )


def _header(shards: Sequence[Shard], run_id: str) -> RunHeader:
    header = min((shard.header for shard in shards), key=lambda header: header.started)
    settings = {name: told for name, told in header.settings.items() if name not in ("shard", "report")}
    settings[MERGED] = ([shard.header.id for shard in shards], "verica merge")
    return replace(header, id=run_id, settings=settings, shard=None)


def _evals(shards: Sequence[Shard]) -> Iterator[EvalRecord]:
    """Each eval once, whole: what its shards planned and selected, added up."""
    parts: dict[str, list[EvalSummary]] = {}
    for shard in shards:
        for eval_id, found in shard.run.summary.evals.items():
            parts.setdefault(eval_id, []).append(found)
    for part in parts.values():
        records = [found.record for found in part]
        planned, selected = sum(each.planned for each in records), sum(each.selected for each in records)
        if "sample" not in shards[0].header.settings:
            planned = max(planned, _whole(records))
        partial = None if planned == selected else f"{selected} of {planned} verdicts were selected"
        yield replace(records[0], planned=planned, selected=selected, partial=partial)


def _whole(records: Sequence[EvalRecord]) -> int:
    """Verdicts that the golden set makes, where each shard knew all of it: a part that is not there is noticed."""
    first = records[0]
    return (first.rows or 0) * len(first.criteria) * first.repeat


def _exit_code(shards: Sequence[Shard], gates: dict[str, GateResult]) -> int:
    """The worst of the shards', and 1 where a gate failed or could not be judged: never lowered."""
    code = max((shard.run.summary.end.exit_code or 0) if shard.run.summary.end else 1 for shard in shards)
    return code or int(any(result.status != "passed" for result in gates.values()))


def _ends(shards: Sequence[Shard]) -> list[str]:
    ends = [shard.run.summary.end for shard in shards]
    found = sorted(end.finished for end in ends if end is not None)
    return found or [datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")]
