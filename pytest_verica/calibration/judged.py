"""What a judge said of the outputs of a saved run. Records, and reading them from the run's journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pytest_verica.calibration.label import output_hash
from pytest_verica.run import CaseRecord, CriterionRecord, EvalRecord, RunHeader, VerdictRecord, from_line
from pytest_verica.store.journal import scan_journal


@dataclass(frozen=True)
class JudgedOutput:
    """An output with a usable verdict of the judge.

    case, sample: as in the run; output_hash: of what was shown; passed: the verdict as the report counts it (after
    `negate`); score, label, reasoning: as on the grade, None where the judge gives none.
    """

    case: str
    output_hash: str
    passed: bool
    score: float | None = None
    label: str | None = None
    reasoning: str | None = None
    sample: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """What a label belongs to."""
        return (self.case, self.output_hash)


@dataclass(frozen=True)
class JudgedRun:
    """One judge's verdicts in one run. outputs: distinct (case, output) pairs in the order of the golden set;
    offsets: where the journal has the case of each; unusable: verdicts that were na, errors, or decided by a run
    condition."""

    run: RunHeader
    eval: EvalRecord
    criterion: CriterionRecord
    outputs: tuple[JudgedOutput, ...]
    unusable: int = 0
    journal: Path | None = None
    offsets: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @property
    def passes(self) -> int:
        return sum(output.passed for output in self.outputs)

    @property
    def judge_hash(self) -> str | None:
        return self.criterion.judge_hash

    @property
    def pass_at(self) -> float | None:
        """The threshold of a score judge."""
        value = self.criterion.config.get("pass_at")
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def case(self, output: JudgedOutput) -> CaseRecord:
        """The case of an output, with its columns and the whole output, read from the journal.

        Raises:
            KeyError: it is none of this run's.
        """
        assert self.journal is not None
        with self.journal.open("rb") as file:
            file.seek(self.offsets[output.case, output.sample])
            record = from_line(file.readline().decode("ascii"))
        assert isinstance(record, CaseRecord)
        return record


def judges_of(record: EvalRecord) -> list[CriterionRecord]:
    """The criteria of an eval that ask a model for a verdict."""
    return [criterion for criterion in record.criteria if criterion.judge_hash is not None]


def read_judged(journal: Path, wanted: Sequence[tuple[str, str]] | None = None) -> list[JudgedRun]:
    """Every judge of a run, in order, a rubric's items after the whole. wanted: (eval id, criterion id) pairs, all of
    them where None.

    Memory grows with the number of verdicts, not with the size of the outputs.

    Raises:
        StoreError: the journal cannot be read.
    """
    header: RunHeader | None = None
    evals: dict[str, EvalRecord] = {}
    hashes: dict[tuple[str, str, int], str] = {}
    places: dict[tuple[str, str, int], tuple[int, int]] = {}
    verdicts: dict[tuple[str, str], dict[tuple[str, int], VerdictRecord]] = {}
    for offset, record in scan_journal(journal):
        if isinstance(record, RunHeader):
            header = header or record
        elif isinstance(record, EvalRecord):
            evals.setdefault(record.id, record)
        elif isinstance(record, CaseRecord):
            key = (record.eval, record.case, record.sample)
            places[key] = (record.position, offset)
            if record.output is not None:
                hashes[key] = output_hash(record.output)
        elif isinstance(record, VerdictRecord) and record.grade.get("judge_hash") is not None:
            verdicts.setdefault((record.eval, record.criterion), {})[record.case, record.sample] = record
    runs = []
    for eval_record in evals.values() if header is not None else ():
        for criterion in judges_of(eval_record):
            if wanted is not None and (eval_record.id, criterion.id) not in wanted:
                continue
            assert header is not None
            found = verdicts.get((eval_record.id, criterion.id), {})
            outputs, unusable = _usable(eval_record.id, found, hashes, places)
            offsets = {(case, sample): at for (name, case, sample), (_, at) in places.items() if name == eval_record.id}
            whole = JudgedRun(header, eval_record, criterion, outputs, unusable, journal, offsets)
            runs += [whole, *_items_of(whole, found)]
    return runs


def _items_of(whole: JudgedRun, verdicts: Mapping[tuple[str, int], VerdictRecord]) -> list[JudgedRun]:
    """The items of a rubric, each a judge of its own: `tone.polite` for the item `polite` of the criterion `tone`."""
    found: dict[str, list[JudgedOutput]] = {}
    for output in whole.outputs:
        details = verdicts[output.case, output.sample].grade["details"] or {}
        items = details.get("rubric")
        for name, item in items.items() if isinstance(items, Mapping) else ():
            if isinstance(item, Mapping) and isinstance(item.get("met"), bool):
                judged = replace(output, passed=item["met"], score=None, label=None, reasoning=item.get("reasoning"))
                found.setdefault(str(name), []).append(judged)
    return [
        replace(
            whole,
            criterion=replace(
                whole.criterion, id=f"{whole.criterion.id}.{name}", name=f"{whole.criterion.name}.{name}"
            ),
            outputs=tuple(outputs),
        )
        for name, outputs in found.items()
    ]


def _usable(
    eval_id: str,
    verdicts: Mapping[tuple[str, int], VerdictRecord],
    hashes: Mapping[tuple[str, str, int], str],
    places: Mapping[tuple[str, str, int], tuple[int, int]],
) -> tuple[tuple[JudgedOutput, ...], int]:
    ranked = sorted(verdicts.values(), key=lambda v: (places.get((eval_id, v.case, v.sample), (0, 0))[0], v.sample))
    outputs: dict[tuple[str, str], JudgedOutput] = {}
    unusable = 0
    for verdict in ranked:
        grade = verdict.grade
        digest = hashes.get((eval_id, verdict.case, verdict.sample))
        if grade["passed"] is None or not grade["evaluated"] or digest is None:
            unusable += 1
            continue
        judged = JudgedOutput(
            verdict.case, digest, grade["passed"], grade["score"], grade["label"], grade["reasoning"], verdict.sample
        )
        outputs.setdefault(judged.key, judged)  # the same answer twice is one output: a label speaks of both
    return tuple(outputs.values()), unusable
