"""The JSON report: everything about a run in one document, written as a stream. Its shape is `report.schema.json`.

Costs are JSON numbers, in USD: such a number shows every decimal of up to 15 digits as it is, and no real sum has more.
The exact decimals stay in the journal, as texts. A cost that is not known is null.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from pytest_verica.errors import StoreError
from pytest_verica.report.detectable import most_detectable
from pytest_verica.report.samples import pass_hat
from pytest_verica.report.summary import CaseLine, EvalSummary, RunSummary, read_run
from pytest_verica.report.tally import Spending
from pytest_verica.report.totals import Totals, dollars
from pytest_verica.run import RUN_GATE, GateResult, PreflightRecord, shown_of

SCHEMA_VERSION = 1
_NEAR = 1 << 17  # bytes between a case's first and last line that are read in one go


def write_report(
    journal: Path,
    out: Path,
    gates: Mapping[str, GateResult] | None = None,
    *,
    summary: RunSummary | None = None,
) -> RunSummary:
    """Writes the report of a journal; the file appears whole or not at all. The summary of the run.

    gates: by eval id (RUN_GATE for the whole run's), in place of those in the journal; summary: of this very journal,
    where it has been read already.

    Raises:
        StoreError: the journal cannot be read, or the report not written.
    """
    run = read_run(journal) if summary is None else summary
    results = {**run.gates, **(gates or {})}
    partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with journal.open("rb", buffering=0) as lines, partial.open("wb", buffering=1 << 18) as file:
            for piece in _document(run, results, lines):
                file.write(piece)
        os.replace(partial, out)
    except OSError as error:
        raise StoreError(f"cannot write the report {out}: {error}. Check its folder and free space") from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return run


def report_head(run: RunSummary, gates: Mapping[str, GateResult] | None = None) -> dict[str, Any]:
    """The report without the cases of its evals. gates: as for `write_report`."""
    results = {**run.gates, **(gates or {})}
    gate = results.get(RUN_GATE)
    return {
        "schema_version": SCHEMA_VERSION,
        "run": _run(run),
        "totals": _totals(run.overall),
        "gate": None if gate is None else {"config": None, **gate.to_json()},
        "preflight": None if run.preflight is None else _preflight(run.preflight),
        "evals": [_eval(summary, results.get(summary.record.id)) for summary in run.evals.values()],
    }


def report_pieces(run: RunSummary) -> Iterator[bytes]:
    """The report of a run whose gates were judged, in pieces.

    Raises:
        StoreError: the journal cannot be read any more.
    """
    try:
        with run.journal.open("rb", buffering=0) as lines:
            yield from _document(run, run.gates, lines)
    except OSError as error:
        raise StoreError(f"cannot read the journal {run.journal}: {error}. Check that it is still there") from error


def report_cases(run: RunSummary, eval_id: str) -> Iterator[dict[str, Any]]:
    """The cases of an eval as the report shows them, one at a time.

    Raises:
        StoreError: the journal cannot be read any more.
    """
    try:
        with run.journal.open("rb", buffering=0) as lines:
            for case in run.evals[eval_id].lines:
                yield json.loads(_case(case, run.starts, lines))
    except OSError as error:
        raise StoreError(f"cannot read the journal {run.journal}: {error}. Check that it is still there") from error


def _document(run: RunSummary, gates: Mapping[str, GateResult], lines: Any) -> Iterator[bytes]:
    head = report_head(run, gates)
    evals = head.pop("evals")
    yield b",\n".join(b'"%s":%s' % (key.encode(), _json(value)) for key, value in head.items()).join((b"{", b""))
    yield b',\n"evals":['
    for index, (summary, facts) in enumerate(zip(run.evals.values(), evals, strict=True)):
        yield b",\n" if index else b"\n"
        yield _json(facts)[:-1]
        yield b',\n"cases":['
        for number, case in enumerate(summary.lines):
            yield b",\n" if number else b"\n"
            yield _case(case, run.starts, lines)
        yield b"\n]}"
    yield b"\n]}\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def _run(run: RunSummary) -> dict[str, Any]:
    header, end = run.header, run.end
    return {
        "id": header.id,
        "started": header.started,
        "finished": None if end is None else end.finished,
        "exit_code": None if end is None else end.exit_code,
        "interrupted": "the run was killed" if end is None else end.interrupted,
        "shard": header.shard,
        "origin": vars(header.origin),
        "command": list(header.command),
        "versions": dict(header.versions),
        "host": dict(header.host),
        "git": vars(header.git),
        "prices": header.prices,
        "settings": {name: {"value": value, "source": source} for name, (value, source) in header.settings.items()},
    }


def _preflight(record: PreflightRecord) -> dict[str, Any]:
    spending = Spending()
    for probe in record.probes:
        spending.grading.add(probe)
    calls, cost = spending.calls, spending.cost
    return {"calls": calls.made, "reused": calls.reused, "cost": dollars(cost.total), "notes": list(record.notes)}


def _totals(totals: Totals) -> dict[str, Any]:
    return {
        **totals.counts.to_json(),
        "criteria": {name: counts.to_json() for name, counts in totals.criteria.items()},
        "outputs": totals.outputs,
        "failed_outputs": totals.failed_outputs,
        "cost": totals.cost.to_json(),
        "tokens": totals.tokens.to_json(),
        "calls": totals.calls.to_json(),
        "latency": totals.latency.to_json(),
    }


def _eval(summary: EvalSummary, gate: GateResult | None) -> dict[str, Any]:
    record = summary.record
    return {
        "id": record.id,
        "name": record.name,
        "file": record.file,
        "kind": record.kind,
        "golden_set": {"path": record.golden_set, "hash": record.golden_set_hash, "rows": record.rows},
        "prompt": None
        if record.prompt is None
        else {"content": record.prompt, "hash": record.prompt_hash, "version": record.prompt_version},
        "model": record.model,
        "params": dict(record.params),
        "left_out": [dict(parameter) for parameter in record.left_out],
        "repeat": record.repeat,
        "criteria": [vars(criterion) for criterion in record.criteria],
        "planned": record.planned,
        "selected": record.selected,
        "partial": record.partial,
        "code_hash": record.code_hash,
        "identity": record.identity,
        "history": record.history,
        "reused_from": record.reused_from,
        "detectable_drop": most_detectable(summary.totals).to_json(),
        "pass_hat": pass_hat(summary.totals.samples, record.repeat) if summary.totals.samples else [],
        "gate": _gate(record.gate, gate),
        **_totals_of(summary.totals),
    }


def _totals_of(totals: Totals) -> dict[str, Any]:
    data = _totals(totals)
    beside = {name: data.pop(name) for name in ("cost", "tokens", "calls", "latency")}
    return {"totals": data, **beside}


def _gate(config: Mapping[str, Any] | None, result: GateResult | None) -> dict[str, Any] | None:
    """None where there is no gate; status null where it was not judged, as in a killed run."""
    if config is None and result is None:
        return None
    judged = {"status": None, "reasons": [], "numbers": {}} if result is None else result.to_json()
    return {"config": config, **judged}


def _case(case: CaseLine, starts: Sequence[int], lines: BinaryIO) -> bytes:
    own = [] if case.line < 0 else [case.line]
    found = _read(lines, starts, own + case.verdicts)
    shown = shown_of(found[0]) if own else _json(_lost(case))
    grades = b",".join(map(shown_of, found[len(own) :]))
    return shown[:-1] + b',"grades":[' + grades + b"]}"


def _lost(case: CaseLine) -> dict[str, Any]:
    """What is shown of a case whose verdicts arrived and whose own record did not, as after a crash."""
    error = {"kind": "lost", "message": "the process that produced the output ended before it reported it", "raw": None}
    return {
        "id": case.case,
        "original_id": case.case,
        "position": None,
        "sample": case.sample,
        "columns": {},
        "output": None,
        "error": error,
    }


def _read(file: BinaryIO, starts: Sequence[int], numbers: list[int]) -> list[bytes]:
    """Lines by number, without their ends. A case's lines stand near each other, if not side by side."""
    if not numbers:
        return []
    first, last = starts[min(numbers)], starts[max(numbers) + 1]
    if last - first > _NEAR:
        return [_piece(file, starts[number], starts[number + 1]).rstrip(b"\n") for number in numbers]
    block = _piece(file, first, last)
    return [block[starts[number] - first : starts[number + 1] - first].rstrip(b"\n") for number in numbers]


def _piece(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    piece = file.read(end - start)
    while len(piece) < end - start:  # an unbuffered file may give less than it was asked for
        more = file.read(end - start - len(piece))
        if not more:
            raise OSError("the journal became shorter while it was read")
        piece += more
    return piece
