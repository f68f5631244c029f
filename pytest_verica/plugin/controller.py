"""The process that reports: keeps the journal, judges the gates when the run ends, writes the report."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_verica.errors import StoreError
from pytest_verica.grade import Grade
from pytest_verica.plugin.facts import run_header
from pytest_verica.plugin.grouping import case_of, of_eval_file
from pytest_verica.plugin.junit import describe_run
from pytest_verica.plugin.publishing import workflow_commands, write_html, write_step_summary
from pytest_verica.plugin.reports import RECORDS, WORD
from pytest_verica.plugin.settings import Settings
from pytest_verica.report.failure import excerpt
from pytest_verica.report.gates import Correcting, Judging
from pytest_verica.report.history import History
from pytest_verica.report.json_report import write_report
from pytest_verica.report.keeping import Keeping
from pytest_verica.report.saved import SavedRun, keep_head
from pytest_verica.report.summary import EvalSummary, RunSummary
from pytest_verica.run import RUN_GATE, EvalRecord, GateRecord, GateResult, Record, RunEnd, VerdictRecord, from_line
from pytest_verica.store.folder import RunFolder, run_numbers

if TYPE_CHECKING:
    from pytest_verica.report.baseline import Baseline

MOST_MISSES = 50
"""Misses that a failed gate lists."""
LONGEST_REASON = 200
"""Characters of each of their reasons."""


class Controller:
    """One per run: in the only process, or in the one that xdist's workers report to."""

    def __init__(
        self, config: pytest.Config, settings: Settings, run_id: str, baseline: Baseline | str | None = None
    ) -> None:
        self._config = config
        self._settings = settings
        self._run_id = run_id
        self._history = History(config.rootpath, run_id)
        self._baseline = baseline
        self._keeping: Keeping | None = None
        self._finishing = False
        self._crashed: list[tuple[str, str]] = []
        self._again: list[tuple[str, str]] = []
        self._not_applicable: set[str] = set()
        self.summary: RunSummary | None = None
        self.report_path: Path | None = None
        self.html_path: Path | None = None
        self.commands: list[str] = []
        self.warnings: list[str] = []
        self.uncalibrated: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        carried: list[Record | str] | None = getattr(report, RECORDS, None)
        if carried is None:
            return
        delattr(report, RECORDS)
        for record in carried:
            # From a worker they come as lines.
            if isinstance(record, str):
                self._keep(from_line(record), record)
            else:
                self._keep(record)
        word = getattr(report, WORD, None)
        if word in ("missed", "errored"):
            self._again.append((report.nodeid, str(getattr(report, "wasxfail", ""))))
        elif word == "skipped":
            self._not_applicable.add(_eval_of(report.nodeid))

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: pytest.TestReport, sched: Any) -> None:
        """A worker died: the case it was at is an error, each of its verdicts reported once. Of another test, only the
        item that it died in."""
        message = str(report.longrepr)
        self._crashed.append((crashitem, message))
        if not self._is_verdict(crashitem):
            getattr(sched, "give_back", lambda: None)()  # other schedulers have not taken it away
            return
        report.when = "setup"
        for nodeid in getattr(sched, "left_of_crashed", ()):
            path = nodeid.partition("::")[0]
            rest = pytest.TestReport(nodeid, (path, None, path), {}, "failed", message, "setup")
            rest.node = getattr(report, "node", None)  # type: ignore[attr-defined]
            self._crashed.append((nodeid, message))
            self._config.hook.pytest_runtest_logreport(report=rest)

    def _is_verdict(self, nodeid: str) -> bool:
        """Of a function, known once any verdict of its eval has come."""
        return of_eval_file(nodeid) or ("[" in nodeid and self._knows(case_of(nodeid).partition("[")[0]))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        try:
            self._finish(session)
        except StoreError as error:
            self.warnings.append(str(error))
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR

    def _finish(self, session: pytest.Session) -> None:
        self._finishing = True
        self._write_crashed()
        keeping = self._keeping
        if keeping is None:
            return
        summary = keeping.summary()
        gates = self._judge(summary)
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.showfspath = False  # the rows of letters are complete: gates begin no new one
        for eval_id, result in gates.items():
            keeping.add(GateRecord(eval_id, result))
            self._report_gate(session, eval_id, result, summary)
        self._remember_misses(gates)
        ended = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds")
        stopped = str(session.shouldstop or session.shouldfail or "") or None
        keeping.add(RunEnd(ended, int(session.exitstatus), stopped))
        keeping.close()
        self.summary = keeping.summary()
        self.uncalibrated = self._uncalibrated(self.summary)
        describe_run(self._config, self.summary)
        keep_head(self.summary)
        path = self._settings.report or keeping.folder.report
        write_report(keeping.folder.journal, path, gates, summary=self.summary)
        self.report_path = path
        self._publish(session, SavedRun.of(self.summary, run_numbers(self._config.rootpath).get(self._run_id)))
        self._config.hook.pytest_verica_report(path=str(path))

    def _publish(self, session: pytest.Session, run: SavedRun) -> None:
        html = self._settings.html
        try:
            if html is not None:
                write_html(run, html)
                self.html_path = html
            write_step_summary(run)
            self.commands = list(workflow_commands(run, self._config.rootpath))
        except StoreError as error:
            self.warnings.append(str(error))
            session.exitstatus = session.exitstatus or pytest.ExitCode.INTERNAL_ERROR

    def _keep(self, record: Record, line: str | None = None) -> None:
        if self._keeping is None:
            try:
                folder = RunFolder.create(self._config.rootpath, self._run_id)
                self._keeping = Keeping(folder, run_header(self._config, self._settings, self._run_id))
            except StoreError as error:
                pytest.exit(f"nothing can be recorded: {error}", returncode=pytest.ExitCode.USAGE_ERROR)
        if isinstance(record, EvalRecord) and not self._keeping.knows(record.id):
            record, line = self._placed(record), None
        try:
            self._keeping.add(record, line)
        except StoreError as error:
            if self._finishing:
                raise
            pytest.exit(f"the run cannot be recorded any more: {error}", returncode=pytest.ExitCode.INTERNAL_ERROR)
        if isinstance(record, VerdictRecord):
            graded = self._config.hook.pytest_verica_graded
            graded(case_id=record.case, criterion_id=record.criterion, grade=record.grade)

    def _placed(self, record: EvalRecord) -> EvalRecord:
        """The record with what is known of earlier runs."""
        try:
            return self._history.placed(record)
        except StoreError as error:
            self.warnings.append(str(error))
            return record

    def _knows(self, eval_id: str) -> bool:
        return self._keeping is not None and self._keeping.knows(eval_id)

    def _write_crashed(self) -> None:
        for nodeid, message in self._crashed:
            if not self._is_verdict(nodeid):
                continue
            head = case_of(nodeid)
            criterion = nodeid[len(head) :].strip(":-]").partition("[")[0]
            eval_id, _, case = head.partition("::" if of_eval_file(nodeid) else "[")
            if not self._knows(eval_id):
                self._keep(EvalRecord(eval_id, eval_id, eval_id, "file", (), 0, 0))
            grade = Grade.failed_to_judge("worker_died", message).to_json()
            self._keep(VerdictRecord(eval_id, case, criterion, 0, nodeid, grade, "error"))

    def _judge(self, summary: RunSummary) -> dict[str, GateResult]:
        settings = self._settings
        shard, sample = settings.shard, settings.sample
        hook = self._config.hook.pytest_verica_gate
        held = any((found.record.gate or {}).get("baseline") for found in summary.evals.values())
        if settings.baseline is not None and not held:
            self.warnings.append("--verica-baseline: no gate has `baseline`, so nothing was held against that run")
        return Judging(
            settings.gate,
            None if shard is None else f"shard {shard[0]} of {shard[1]}: its gate is judged when the shards are merged",
            None if sample is None else f"judged on a sample of {sample} cases",
            self._baseline,
            [eval_id for eval_id, found in summary.evals.items() if self._is_skipped(found)],
            lambda eval_id, totals: hook(eval_id=eval_id, totals=totals),
            self._correcting(summary),
        ).gates(summary)

    def _correcting(self, summary: RunSummary) -> Correcting | None:
        """What a `calibrated` gate is told of its judges; None where no gate is one, or no criterion asked a model."""
        calibrated = any((found.record.gate or {}).get("calibrated") for found in summary.evals.values())
        if not calibrated or not _has_judge(summary):
            return None
        from pytest_verica.calibration import gating  # deferred: its statistics take 60 ms to load

        return gating.Correcting(self._config.rootpath, summary.journal)

    def _uncalibrated(self, summary: RunSummary) -> list[str]:
        if not _has_judge(summary):
            return []
        from pytest_verica.calibration import unmeasured  # deferred: a run without a judge has no use for it

        return unmeasured.uncalibrated_judges(self._config.rootpath, summary)

    def _is_skipped(self, found: EvalSummary) -> bool:
        """Whether the author skips all of an eval: no verdict is other than skipped, and no grader said N/A."""
        counts = found.totals.counts
        return counts.na == counts.ran and found.record.id not in self._not_applicable

    def _report_gate(self, session: pytest.Session, eval_id: str, result: GateResult, summary: RunSummary) -> None:
        """The gate is itself a reported test, so that text, junit and exit code agree."""
        nodeid = f"{eval_id}::gate"
        path = eval_id.partition("::")[0]
        session.testscollected += 1
        report = _short_report(nodeid, "passed")
        location = report.location
        text = "\n".join(result.reasons)
        if result.status == "failed":
            report.outcome = "failed"
            report.longrepr = "\n".join([text, *self._misses_of(eval_id)])
        elif result.status == "skipped":
            report.outcome = "skipped"
            report.longrepr = (path, 0, text)
        setattr(report, WORD, f"gate {result.status}")
        hook = self._config.hook
        hook.pytest_runtest_logstart(nodeid=nodeid, location=location)
        hook.pytest_runtest_logreport(report=report)
        teardown = pytest.TestReport(nodeid, location, {}, "passed", None, "teardown")
        hook.pytest_runtest_logreport(report=teardown)
        hook.pytest_runtest_logfinish(nodeid=nodeid, location=location)
        # A run that stopped half way has misses that no gate has weighed: that is not green.
        found = summary.evals.get(eval_id)
        unweighed = (
            result.status == "skipped"
            and self._settings.shard is None
            and found is not None
            and found.totals.counts.missed
        )
        if session.exitstatus == pytest.ExitCode.OK and (result.status == "failed" or unweighed):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _misses_of(self, eval_id: str) -> list[str]:
        """The misses that a failed gate shows, each with its reason."""
        heads = ("",) if eval_id == RUN_GATE else (f"{eval_id}::", f"{eval_id}[")
        found = [(nodeid, why) for nodeid, why in self._again if nodeid.startswith(heads)]
        lines = [f"  {nodeid}: {excerpt(why, LONGEST_REASON)}" for nodeid, why in found[:MOST_MISSES]]
        more = len(found) - MOST_MISSES
        return [*lines, f"  and {more} more"] if more > 0 else lines

    def _remember_misses(self, gates: Iterable[str]) -> None:
        """`--lf` reruns misses too; gates are no items and cannot be rerun."""
        last_failed = self._config.pluginmanager.get_plugin("lfplugin")
        if last_failed is None:
            return
        # Told by reports of its own, so that the plugin keeps its ids in whatever form it likes.
        for nodeid, _ in self._again:
            last_failed.pytest_runtest_logreport(_short_report(nodeid, "failed"))
        for eval_id in gates:
            last_failed.pytest_runtest_logreport(_short_report(f"{eval_id}::gate", "passed"))


def _has_judge(summary: RunSummary) -> bool:
    return any(c.judge_hash is not None for found in summary.evals.values() for c in found.record.criteria)


def _short_report(nodeid: str, outcome: Literal["passed", "failed"]) -> pytest.TestReport:
    path = nodeid.partition("::")[0]
    return pytest.TestReport(nodeid, (path, None, nodeid.partition("::")[2]), {}, outcome, None, "call")


def _eval_of(nodeid: str) -> str:
    """The eval of a verdict item."""
    return nodeid.partition("::" if of_eval_file(nodeid) else "[")[0]
