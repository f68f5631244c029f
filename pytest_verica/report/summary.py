"""Reading a run: one pass over its journal gives the totals, and where each line stands. Outputs are not kept."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from pytest_verica.errors import StoreError
from pytest_verica.report.samples import Samples, worth
from pytest_verica.report.tally import Spending, Tally, summed
from pytest_verica.report.totals import Latency, Totals
from pytest_verica.run import (
    CaseRecord,
    EvalRecord,
    GateRecord,
    GateResult,
    PreflightRecord,
    Record,
    RunEnd,
    RunHeader,
    VerdictRecord,
    from_line,
)
from pytest_verica.store.journal import scan_journal

_NONE = -1


@dataclass(frozen=True)
class EvalSummary:
    """An eval of a run: its record, what it adds up to, and where its lines are."""

    record: EvalRecord
    totals: Totals
    lines: CaseLines


@dataclass(frozen=True)
class RunSummary:
    """A run as its journal tells it. overall: all evals together; gates: by eval id, as the run judged them; end:
    None where the run was killed; starts: offset of each line, then the end of the last; preflight: what was asked
    before launch (a part of the grading of `overall`), None where nothing was."""

    journal: Path
    header: RunHeader
    evals: Mapping[str, EvalSummary]
    overall: Totals
    gates: Mapping[str, GateResult]
    end: RunEnd | None
    starts: array[int]
    preflight: PreflightRecord | None = None


class CaseLine(NamedTuple):
    """The lines of one (case, sample). line: its own, -1 where it has none; verdicts: those of its verdicts, in the
    order of the criteria."""

    case: str
    sample: int
    line: int
    verdicts: list[int]


class CaseLines:
    """Numbers of the journal's lines, by (case, sample): a few bytes each, whatever the outputs weigh."""

    def __init__(self, criteria: list[str]) -> None:
        self._rows: dict[tuple[str, int], int] = {}
        self._positions = array("q")
        self._cases = array("q")
        self._verdicts: dict[str, array[int]] = {name: array("q") for name in criteria}

    def row(self, case: str, sample: int) -> int:
        """The row of a (case, sample); a new one where it is new."""
        row = self._rows.setdefault((case, sample), len(self._rows))
        if row == len(self._positions):
            self._positions.append(_NONE)
            self._cases.append(_NONE)
        return row

    def put_case(self, row: int, position: int, line: int) -> int:
        """Notes the line of a case; the number of the line it replaces, or -1."""
        earlier = self._cases[row]
        self._cases[row], self._positions[row] = line, position
        return earlier

    def put_verdict(self, row: int, criterion: str, line: int) -> int:
        """Notes the line of a verdict; the number of the line it replaces, or -1."""
        column = self._verdicts.setdefault(criterion, array("q"))
        while len(column) <= row:
            column.append(_NONE)
        earlier = column[row]
        column[row] = line
        return earlier

    @property
    def cases(self) -> list[str]:
        """The id of the case of each row."""
        return [case for case, _ in self._rows]

    def __iter__(self) -> Iterator[CaseLine]:
        """The cases in the golden set's order, whatever order they came in."""
        far = max(self._positions, default=0) + 1

        def order(item: tuple[tuple[str, int], int]) -> tuple[int, str, int]:
            (case, sample), row = item
            position = self._positions[row]
            return (far if position == _NONE else position, case, sample)

        for (case, sample), row in sorted(self._rows.items(), key=order):
            columns = self._verdicts.values()
            lines = [column[row] for column in columns if row < len(column) and column[row] != _NONE]
            yield CaseLine(case, sample, self._cases[row], lines)


class _EvalReader:
    """Adds up one eval."""

    def __init__(self, record: EvalRecord) -> None:
        self.record = record
        names = [criterion.id for criterion in record.criteria]
        self._types = {criterion.id: criterion.type for criterion in record.criteria}
        self.lines = CaseLines(names)
        self.tallies: dict[str, Tally] = {name: Tally() for name in names}
        self.spending = Spending()
        self._latencies: dict[int, float] = {}
        self._outcomes: dict[str, dict[int, str]] = {name: {} for name in names} if record.repeat > 1 else {}

    def add_case(self, record: CaseRecord, line: int, journal: _Lines) -> None:
        row = self.lines.row(record.case, record.sample)
        earlier = self.lines.put_case(row, record.position, line)
        if earlier != _NONE:
            replaced = journal.record(earlier)
            if replaced == record:
                return
            assert isinstance(replaced, CaseRecord)
            self.spending.count_case(replaced, -1)
        self.spending.add_case(record)
        latency = None if record.output is None else record.output["latency_s"]
        if latency is not None:
            self._latencies[row] = latency
        elif earlier != _NONE:
            self._latencies.pop(row, None)

    def add_verdict(self, record: VerdictRecord, line: int, journal: _Lines) -> None:
        name = record.criterion
        tally = self.tallies.get(name)
        if tally is None:  # a criterion of the `verica` fixture: not declared before
            tally = self.tallies[name] = Tally()
        row = self.lines.row(record.case, record.sample)
        earlier = self.lines.put_verdict(row, name, line)
        if earlier != _NONE:
            replaced = journal.record(earlier)
            if replaced == record:
                return
            assert isinstance(replaced, VerdictRecord)
            tally.add(replaced, -1)
        tally.add(record)
        self.spending.add_grade(record.grade, self._types.get(name))  # one that was taken over costs nothing now
        if self.record.repeat > 1:
            self._outcomes.setdefault(name, {})[row] = record.grade["outcome"]

    @property
    def latencies(self) -> list[float]:
        return list(self._latencies.values())

    def totals(self) -> Totals:
        samples = self._samples()
        criteria = {
            name: tally.counts(worth({name: samples[name]}) if name in samples else None)
            for name, tally in self.tallies.items()
        }
        counts = summed(criteria.values())
        if samples:
            counts = replace(counts, effective_n=worth(samples))
        spending = self.spending
        return Totals(
            counts,
            spending.cost,
            spending.tokens,
            spending.calls,
            Latency.of(self.latencies),
            criteria,
            spending.outputs,
            spending.failed_outputs,
            samples,
            spending.priced_outputs,
            spending.sampling.calls + spending.sampling.reused_calls,
        )

    def _samples(self) -> dict[str, dict[str, Samples]]:
        """Criterion → case → the outcomes of its samples; nothing where each case was sampled once."""
        cases = self.lines.cases
        found: dict[str, dict[str, Samples]] = {}
        for name, outcomes in self._outcomes.items():
            of_case = found[name] = {}
            for row, outcome in outcomes.items():
                of_case[cases[row]] = of_case.get(cases[row], Samples()).adding(outcome)
        return found


class _Lines:
    """The journal's lines by number, for the few that are replaced."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.starts = array("q")

    def record(self, number: int) -> Record:
        with self._path.open("rb") as file:
            file.seek(self.starts[number])
            return from_line(file.readline().decode("ascii"))

    def ends(self) -> array[int]:
        """The offset of each line, then the end of the last."""
        offsets = array("q", self.starts)
        if offsets:
            with self._path.open("rb") as file:
                file.seek(offsets[-1])
                file.readline()
                offsets.append(file.tell())
        return offsets


def read_run(journal: Path) -> RunSummary:
    """Reads a journal once. Memory grows by some hundred bytes a case, not with its outputs.

    Raises:
        StoreError: the journal cannot be read, or is not a whole run's.
    """
    reading = RunReading(journal)
    for offset, record in scan_journal(journal):
        reading.add(record, offset)
    return reading.summary()


class RunReading:
    """Adds up a run record by record: from its journal, or while the journal is being written."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._lines = _Lines(journal)
        self._header: RunHeader | None = None
        self._end: RunEnd | None = None
        self._readers: dict[str, _EvalReader] = {}
        self._gates: dict[str, GateResult] = {}
        self._preflight: PreflightRecord | None = None
        self._asked_before = Spending()

    def add(self, record: Record, offset: int) -> None:
        """The next record, and the offset (bytes) of its line, which stands in the journal already.

        Raises:
            StoreError: the record's eval is not known yet.
        """
        lines = self._lines
        number = len(lines.starts)
        lines.starts.append(offset)
        if isinstance(record, VerdictRecord):
            self._reader(record.eval).add_verdict(record, number, lines)
        elif isinstance(record, CaseRecord):
            self._reader(record.eval).add_case(record, number, lines)
        elif isinstance(record, EvalRecord):
            self._readers.setdefault(record.id, _EvalReader(record))
        elif isinstance(record, GateRecord):
            self._gates[record.eval] = record.result
        elif isinstance(record, RunEnd):
            self._end = record
        elif isinstance(record, PreflightRecord):
            self._preflight = record
            for probe in record.probes:
                self._asked_before.grading.add(probe)
        else:
            self._header = self._header or record

    def summary(self) -> RunSummary:
        """What was added so far.

        Raises:
            StoreError: there is no record of the run itself.
        """
        if self._header is None:
            raise StoreError(f"{self._journal} does not begin with the record of a run; it was killed before it began")
        evals = {
            name: EvalSummary(reader.record, reader.totals(), reader.lines) for name, reader in self._readers.items()
        }
        overall = _overall(self._readers, evals, self._asked_before)
        starts = self._lines.ends()
        return RunSummary(
            self._journal, self._header, evals, overall, dict(self._gates), self._end, starts, self._preflight
        )

    def _reader(self, name: str) -> _EvalReader:
        try:
            return self._readers[name]
        except KeyError:
            raise StoreError(f"{self._journal} has a line of the eval {name!r} before the eval's own record") from None


def _overall(readers: Mapping[str, _EvalReader], evals: Mapping[str, EvalSummary], before: Spending) -> Totals:
    spending = Spending()
    spending.merge(before)
    latencies: list[float] = []
    for reader in readers.values():
        spending.merge(reader.spending)
        latencies += reader.latencies
    counts = summed(summary.totals.counts for summary in evals.values())
    return Totals(
        counts,
        spending.cost,
        spending.tokens,
        spending.calls,
        Latency.of(latencies),
        {},
        spending.outputs,
        spending.failed_outputs,
    )
