"""A run added up while it is written is what its journal tells afterwards."""

from __future__ import annotations

from pathlib import Path

from pytest_verica.report.keeping import Keeping
from pytest_verica.report.summary import read_run
from pytest_verica.run import Record
from pytest_verica.store.folder import RunFolder
from tests.unit.report.journals import END, HEADER, case, eval_record, verdict

RECORDS: list[Record] = [
    eval_record(),
    eval_record(),  # another worker tells of it too
    case(2),
    verdict(2, "amount", "pass"),
    case(1, cost=None),
    verdict(1, "amount", "fail"),
    verdict(1, "tone", "error"),
    verdict(1, "amount", "pass"),  # a rerun: takes the place of the first
    verdict(2, "tone", "na"),
    END,
]


def test_what_is_kept_is_what_the_journal_tells(tmp_path: Path) -> None:
    keeping = Keeping(RunFolder.create(tmp_path), HEADER)
    for number, record in enumerate(RECORDS):
        # From a worker a record comes as its line.
        keeping.add(record, record.to_line() if number % 2 else None)
    keeping.close()
    kept, read = keeping.summary(), read_run(keeping.folder.journal)
    assert kept.overall == read.overall
    assert kept.starts == read.starts
    assert (kept.header, kept.end, kept.gates) == (read.header, read.end, read.gates)
    [of_kept], [of_read] = kept.evals.values(), read.evals.values()
    assert (of_kept.record, of_kept.totals) == (of_read.record, of_read.totals)
    assert list(of_kept.lines) == list(of_read.lines)
    assert (kept.overall.counts.passed, kept.overall.counts.failed) == (2, 0)


def test_an_eval_is_known_once_told(tmp_path: Path) -> None:
    keeping = Keeping(RunFolder.create(tmp_path), HEADER)
    assert not keeping.knows(eval_record().id)
    keeping.add(eval_record())
    keeping.add(eval_record())
    assert keeping.knows(eval_record().id)
    keeping.close()
    assert keeping.folder.journal.read_text().count('"record":"eval"') == 1
