"""From a grade to pytest's report: outcome, text, junit properties, and the journal lines that travel on it."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, cast

import pytest

from pytest_verica.engine.grading import CaseResult
from pytest_verica.engine.plan import Eval
from pytest_verica.grade import OUTCOMES, Grade
from pytest_verica.plugin.evals import Evals
from pytest_verica.plugin.recording import BENCH, Recording
from pytest_verica.plugin.settings import Settings
from pytest_verica.plugin.ticket import Ticket, ticket_of
from pytest_verica.report.failure import failure_text, printable
from pytest_verica.run import Reported

RECORDS = "verica_records"
"""Attribute of a report: the records that it carries to the journal; as lines, where it comes from a worker."""
WORD = "verica_word"
"""Attribute of a report: how the verdict is told of."""

_QUIET = "quiet"
_STATUS: dict[str, tuple[str, str, Any]] = {
    _QUIET: ("", "", ""),
    "passed": ("passed", ".", "PASS"),
    "failed": ("failed", "F", "FAIL"),
    "skipped": ("skipped", "s", ("N/A", {"yellow": True})),
    "error": ("error", "E", "ERROR"),
    "missed": ("missed", "m", ("MISSED", {"yellow": True})),
    "errored": ("errored", "e", ("ERRORED", {"yellow": True})),
    # The row of letters is complete when gates are judged: they have a word for `-v` and no letter.
    "gate passed": ("passed", "", ("PASSED", {"green": True})),
    "gate failed": ("failed", "", ("FAILED", {"red": True})),
    "gate skipped": ("skipped", "", ("SKIPPED", {"yellow": True})),
}
_PYTESTS = {
    **dict.fromkeys((_QUIET, "passed", "gate passed"), "passed"),
    **dict.fromkeys(("failed", "error", "gate failed"), "failed"),
    **dict.fromkeys(("skipped", "missed", "errored", "gate skipped"), "skipped"),
}
"""The outcome of pytest's own that goes with each word. Where a plugin changed it since, its words tell the report."""
_OUTCOME: dict[str, tuple[str, object]] = {outcome: ("verica.outcome", outcome) for outcome in OUTCOMES}
_KEYWORDS: dict[str, Any] = {}


class CaughtVerdict(Exception):
    """A verdict that did not pass, where pytest expects an exception (xfail, interaction with a failure)."""


@dataclass(frozen=True)
class _Current:
    item: pytest.Item
    ticket: Ticket
    grade: Grade
    result: CaseResult


class Reports:
    """Makes the reports of verdict items, in the process that runs them."""

    def __init__(self, evals: Evals, settings: Settings, recording: Recording) -> None:
        self._evals = evals
        self._settings = settings
        self._recording = recording
        self._current: _Current | None = None
        self._by_gate: dict[str, tuple[bool, bool]] = {}

    def graded(self, item: pytest.Item, ticket: Ticket, grade: Grade, result: CaseResult) -> None:
        """Told of the grade of the item that is running, before its report is made."""
        self._current = _Current(item, ticket, grade, result)

    def raise_if_bad(self, grade: Grade) -> None:
        """Raises CaughtVerdict where the verdict failed or could not be judged."""
        if grade.outcome in ("fail", "error"):
            raise CaughtVerdict(grade.explanation)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[Any]) -> pytest.TestReport | None:
        current = self._current
        if current is None or current.item is not item or call.when != "call":
            return None
        if call.excinfo is not None and not isinstance(call.excinfo.value, CaughtVerdict):
            return None
        return self._report(current, call)

    @pytest.hookimpl(wrapper=True, tryfirst=True, specname="pytest_runtest_makereport")
    def pytest_makereport_with_records(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """The outermost: every report of a verdict item carries its verdict, whoever made the report."""
        report = yield
        ticket = ticket_of(item)
        if ticket is None and call.when == "call" and BENCH in item.stash and (records := item.stash[BENCH]()):
            setattr(report, RECORDS, records)
        if ticket is None or call.when == "teardown" or (call.when == "setup" and report.passed):
            return report
        current, self._current = self._current, None
        if current is not None and current.item is item and hasattr(report, WORD):
            told = cast(Reported, getattr(report, WORD))
            if report.outcome != _PYTESTS[told] or (hasattr(report, "wasxfail") and told not in ("missed", "errored")):
                delattr(report, WORD)  # marked xfail, or changed by a plugin
                told = "failed" if report.failed else "missed" if report.skipped else told
            self._carry(report, item, ticket, current.grade, told, current.result)
            return report
        known = current if current is not None and current.item is item else None
        return self._broken(report, item, ticket, known)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport | pytest.CollectReport) -> tuple[str, str, Any] | None:
        told = getattr(report, WORD, None)
        return None if told is None or report.outcome != _PYTESTS[told] else _STATUS[told]

    def teardown_of(self, item: pytest.Item) -> pytest.TestReport:
        report = pytest.TestReport(_id_of(item), item.location, _KEYWORDS, "passed", None, "teardown")
        report.user_properties = item.user_properties
        setattr(report, WORD, _QUIET)
        return report

    def told(self, ticket: Ticket, grade: Grade) -> Reported:
        """How a verdict is told of."""
        if grade.outcome == "pass":
            return "passed"
        if grade.outcome == "na":
            return "skipped"
        miss, errored = self._judged_by_gate(ticket.eval)
        if grade.outcome == "fail":
            return "missed" if miss else "failed"
        return "errored" if errored else "error"

    def _judged_by_gate(self, ready: Eval) -> tuple[bool, bool]:
        """Whether a failing verdict is a miss, and whether an error is one, for this eval in this run."""
        known = self._by_gate.get(ready.id)
        if known is None:
            gate = ready.config.gate
            whole = self._recording.selected(ready) == self._evals.planned(ready)
            miss = gate is not None and whole and not self._settings.strict
            known = self._by_gate[ready.id] = (miss, miss and gate is not None and gate.max_errors > 0)
        return known

    def _report(self, current: _Current, call: pytest.CallInfo[Any]) -> pytest.TestReport:
        item, grade = current.item, current.grade
        told = self.told(current.ticket, grade)
        report = pytest.TestReport(
            _id_of(item),
            item.location,
            _KEYWORDS,
            "passed",
            None,
            "call",
            duration=grade.duration_s,
            start=call.start,
            stop=call.stop,
        )
        # junit reads them from the last report of an item, which may be pytest's own.
        item.user_properties = [*filter(_is_foreign, item.user_properties), *_properties(grade)]
        report.user_properties = item.user_properties
        if told in ("failed", "error"):
            report.outcome = "failed"
            report.when = "call" if told == "failed" else "setup"
            ticket = current.ticket
            report.longrepr = failure_text(
                ticket.criterion.name,
                ticket.case,
                ticket.eval.shown_columns,
                current.result.output,
                grade,
                item.nodeid,
            )
        elif told != "passed":
            report.outcome = "skipped"
            file, line, _ = item.location
            reason = printable(grade.explanation)
            report.longrepr = (file, line or 0, f"N/A: {reason}")
            if told != "skipped":
                report.wasxfail = reason
        setattr(report, WORD, told)
        return report

    def _broken(
        self, report: pytest.TestReport, item: pytest.Item, ticket: Ticket, known: _Current | None
    ) -> pytest.TestReport:
        """A report that pytest or a plugin made: a skip is N/A, anything else is an error, with what is known."""
        result = None if known is None else known.result
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "skipped"
            grade = Grade.na(str(getattr(report, "wasxfail", reason)), evaluated=False)
            self._carry(report, item, ticket, grade, "skipped", result)
        elif report.failed:
            report.when = "setup"  # an error, in the terminal and in junit: nothing was judged
            text = str(report.longrepr)
            message = printable(text.strip().rpartition("\n")[2])
            grade = Grade.failed_to_judge("test_failed", message, text) if known is None else known.grade
            self._carry(report, item, ticket, grade, "error", result)
        return report

    def _carry(
        self,
        report: pytest.TestReport,
        item: pytest.Item,
        ticket: Ticket,
        grade: Grade,
        told: Reported,
        result: CaseResult | None,
    ) -> None:
        setattr(report, RECORDS, self._recording.records(item.nodeid, ticket, grade, told, result))


def _id_of(item: pytest.Item) -> Any:
    """The structured id where pytest has one (9.1 on): it need not be parsed again."""
    return getattr(item, "id", item.nodeid)


def _is_foreign(named: tuple[str, object]) -> bool:
    """Whether a property is another's, and none of an earlier run of the item."""
    return not named[0].startswith("verica.")


def _properties(grade: Grade) -> list[tuple[str, object]]:
    properties: list[tuple[str, object]] = [_OUTCOME[grade.outcome]]
    if grade.score is not None:
        properties.append(("verica.score", repr(grade.score)))
    if grade.label is not None:
        properties.append(("verica.label", printable(grade.label)))
    if grade.calls or grade.reused_calls:
        properties.append(("verica.cost_usd", "unknown" if grade.cost is None else str(grade.cost)))
    return properties
