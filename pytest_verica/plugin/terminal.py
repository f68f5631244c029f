"""What a run says on the terminal: the options in force and the summary. Nothing is decided here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_verica.plugin.controller import Controller
from pytest_verica.plugin.live import Live
from pytest_verica.plugin.settings import Settings
from pytest_verica.report.detectable import most_detectable
from pytest_verica.report.figures import dollars, percent
from pytest_verica.report.samples import pass_hat
from pytest_verica.report.summary import EvalSummary
from pytest_verica.report.totals import Cost, Counts, Totals
from pytest_verica.run import RUN_GATE, EvalRecord, GateResult

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


class Terminal:
    """The header, the summary, and the live line where the terminal has one.

    in_flight: model calls under way in this process, None where others make them.
    """

    def __init__(
        self,
        config: pytest.Config,
        settings: Settings,
        controller: Controller,
        in_flight: Callable[[], int] | None,
    ) -> None:
        self._in_flight = in_flight
        self._config = config
        self._settings = settings
        self._controller = controller

    def pytest_sessionstart(self) -> None:
        manager = self._config.pluginmanager
        reporter = manager.get_plugin("terminalreporter")
        if reporter is not None and Live.wanted(self._config, reporter):
            manager.register(Live(reporter, self._in_flight), "verica-live")

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """pytest keeps every report to its end. That of a teardown where nothing happened says nothing then."""
        if report.when == "teardown" and report.passed and not report.sections:
            reporter = self._config.pluginmanager.get_plugin("terminalreporter")
            kept = [] if reporter is None else reporter.stats.get("", [])
            if kept and kept[-1] is report:
                kept.pop()

    def pytest_report_header(self) -> str | None:
        shown = self._settings.shown()
        if not shown:
            return None
        return "verica: " + ", ".join(f"{name}={value} ({source})" for name, (value, source) in shown.items())

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        summary = self._controller.summary
        if summary is None:
            return
        write = terminalreporter.write_line
        terminalreporter.section("verica", "=")
        for eval_id, found in summary.evals.items():
            self._eval(terminalreporter, found, summary.gates.get(eval_id))
        if RUN_GATE in summary.gates:
            write("")
            self._gate(
                terminalreporter,
                f"gate over the whole run (≥ {percent(self._settings.gate)})",
                summary.gates[RUN_GATE],
            )
        if len(summary.evals) > 1:
            write("")
            write(f"all evals: {rate_line(summary.overall.counts)}")
            write(f"  {cost_line(summary.overall.cost)}")
            write(f"  {calls_line(summary.overall)}")
        write("")
        for note in left_out_lines([found.record for found in summary.evals.values()]):
            write(note)
        for note in () if summary.preflight is None else summary.preflight.notes:
            write(f"not looked at before launch: {note}")
        for line in self._controller.uncalibrated:
            write(line)
        for warning in self._controller.warnings:
            write(f"warning: {warning}", yellow=True)
        if self._controller.report_path is not None:
            write(f"report: {self._controller.report_path}")
        if self._controller.html_path is not None:
            write(f"HTML report: {self._controller.html_path}")
        for command in self._controller.commands:
            write(command)

    def _eval(self, reporter: TerminalReporter, found: EvalSummary, gate: GateResult | None) -> None:
        totals, record = found.totals, found.record
        reporter.write_line(f"{record.name}: {rate_line(totals.counts)}", bold=True)
        interval = totals.counts.interval
        if interval is not None:
            low, high = percent(interval.low), percent(interval.high)
            reporter.write_line(f"  95 % interval {low} to {high} (Wilson)")
            reporter.write_line(f"  {drop_words(found)}")
        for line in (*history_lines(found), *repeat_lines(found)):
            reporter.write_line(f"  {line}")
        for criterion in record.criteria:
            counts = totals.criteria.get(criterion.id)
            if counts is not None and counts.ran and (len(record.criteria) > 1 or counts.parts is not None):
                reporter.write_line(f"  {criterion.name}: {rate_line(counts)}")
            for line in () if counts is None or counts.parts is None else counts.parts.sentences():
                reporter.write_line(f"    {line}")
        if gate is not None:
            name = "gate" if record.gate is None else f"gate (≥ {percent(record.gate.get('pass_rate'))})"
            self._gate(reporter, name, gate)
        if totals.calls.made or totals.calls.reused:
            reporter.write_line(f"  {cost_line(totals.cost)}")
            reporter.write_line(f"  {calls_line(totals)}")

    def _gate(self, reporter: TerminalReporter, name: str, gate: GateResult) -> None:
        colour = {"passed": "green", "failed": "red", "skipped": "yellow"}[gate.status]
        reporter.write_line(f"  {name} {gate.status}: {'; '.join(gate.reasons)}", **{colour: True})


def drop_words(found: EvalSummary) -> str:
    """`smallest drop that 20 cases could show: 36.5 points`, at best."""
    drop = most_detectable(found.totals)
    cases = "1 case" if drop.n == 1 else f"{drop.n} cases"
    if drop.drop is None:
        return f"no drop against another run could be shown by {cases}: {drop.needed} are the least"
    points = f"{drop.drop * 100:.1f}".removesuffix(".0")
    return f"smallest drop that {cases} could show: {points} points"


def history_lines(found: EvalSummary) -> Iterator[str]:
    """What earlier runs reached, and what was taken over from one."""
    record, counts = found.record, found.totals.counts
    if record.history is not None:
        last, mean = record.history["last"], record.history["mean"]
        several = f"; mean of the last {mean['runs']}: {percent(mean['rate'])}" if mean["runs"] > 1 else ""
        yield f"last run {percent(last['rate'])} ({last['passed']} of {last['graded']}){several}"
    if record.reused_from is not None and counts.reused:
        prices = "; prices have changed since, costs are those of then" if record.reused_from["prices_changed"] else ""
        yield f"{counts.reused} of {counts.ran} verdicts reused of the run {record.reused_from['run']}{prices}"


def repeat_lines(found: EvalSummary) -> Iterator[str]:
    """pass^k where cases were sampled several times."""
    if found.totals.samples:
        parts = [
            f"{percent(each['rate'])} {each['k']}×"
            for each in pass_hat(found.totals.samples, found.record.repeat)
            if each["rate"] is not None
        ]
        if parts:
            yield f"passes every time (pass^k): {', '.join(parts)}"


def rate_line(counts: Counts) -> str:
    """`93.3 %, 56 of 60 graded, 12 N/A, 0 errors, 4 missed`; a rate never stands without its denominator."""
    rate = "no rate" if counts.rate is None else percent(counts.rate)
    errors = f"{counts.error} error{'' if counts.error == 1 else 's'}"
    return (
        f"{rate}, {counts.passed} of {counts.graded} graded passed, {counts.na} N/A, {errors}, {counts.missed} missed"
    )


def cost_line(cost: Cost) -> str:
    embeddings = f" (embeddings: {dollars(cost.embeddings)})" if cost.embeddings else ""
    parts = [
        f"cost: {dollars(cost.sampling)} sampling + {dollars(cost.grading)} judges{embeddings} = {dollars(cost.total)}",
        f"net {dollars(cost.per_case_net)} per case",
        f"avoided {dollars(cost.avoided)}",
    ]
    if cost.unpriced_models:
        parts.append(f"not counted, price unknown: {', '.join(cost.unpriced_models)} (give it in verica_prices)")
    return ", ".join(parts)


def calls_line(totals: Totals) -> str:
    calls, latency = totals.calls, totals.latency
    line = f"calls: {calls.made} made ({calls.retried} retries), {calls.reused} reused"
    if latency.n and latency.p50 is not None and latency.p99 is not None:
        line += f"; latency p50 {latency.p50:.2f} s, p99 {latency.p99:.2f} s"
    return line


def left_out_lines(records: Sequence[EvalRecord]) -> Iterator[str]:
    """What was not sent to a model, once for each model and parameter, with those that asked for it."""
    askers: dict[tuple[str, str, str], list[str]] = {}
    for record in records:
        for left in record.left_out:
            asker = record.name if left["criterion"] is None else f"{record.name}: {left['criterion']}"
            askers.setdefault((left["model"], left["parameter"], left["why"]), []).append(asker)
    for (model, parameter, why), names in askers.items():
        yield f"note: `{parameter}` was not sent to {model}: {why} ({', '.join(names)})"
