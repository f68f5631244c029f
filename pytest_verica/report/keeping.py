"""Keeping a run while it happens: each record goes to the journal at once, and is added up."""

from __future__ import annotations

from pytest_verica.report.summary import RunReading, RunSummary
from pytest_verica.run import EvalRecord, Record, RunHeader
from pytest_verica.store.folder import RunFolder
from pytest_verica.store.journal import JournalWriter


class Keeping:
    """The journal of one run, and what it adds up to: the same as reading the journal afterwards would give."""

    def __init__(self, folder: RunFolder, header: RunHeader) -> None:
        """Begins the journal.

        Raises:
            StoreError: it cannot be written.
        """
        self.folder = folder
        self._journal = JournalWriter(folder.journal)
        self._reading = RunReading(folder.journal)
        self._evals: set[str] = set()
        self.add(header)

    def add(self, record: Record, line: str | None = None) -> None:
        """Writes a record; line: its line, where it is there already. An eval that is known is not written again.

        Raises:
            StoreError: the journal cannot be written.
        """
        if isinstance(record, EvalRecord):
            if record.id in self._evals:
                return  # another process told of it before
            self._evals.add(record.id)
        offset = self._journal.append(record.to_line() if line is None else line)
        self._reading.add(record, offset)

    def knows(self, eval_id: str) -> bool:
        """Whether the eval's own record has come."""
        return eval_id in self._evals

    def summary(self) -> RunSummary:
        return self._reading.summary()

    def close(self) -> None:
        """Ends the journal. Safe to call twice."""
        self._journal.close()
