"""The live line of a run on a terminal: cases, verdicts, pass rate so far, calls in flight, spend, time left.

It is drawn below the line that pytest writes on, and taken away before pytest writes again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from pytest_verica.plugin.reports import RECORDS
from pytest_verica.run import CaseRecord, Record, VerdictRecord, from_line

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

REDRAW_S = 0.1
_BELOW = "\n\x1b[2K"


class Live:
    """Counts what arrives. in_flight: calls under way in this process, None where others make them."""

    def __init__(self, reporter: TerminalReporter, in_flight: Callable[[], int] | None) -> None:
        self._reporter = reporter
        self._in_flight = in_flight
        self._started = time.monotonic()
        self._cases = self._verdicts = self._graded = self._passed = 0
        self._spent = Decimal(0)
        self._drawn = False
        self._last = 0.0

    @staticmethod
    def wanted(config: pytest.Config, reporter: TerminalReporter) -> bool:
        """Only on a terminal that understands it, and not where the user asked for quiet."""
        return bool(reporter.isatty) and reporter.hasmarkup and config.get_verbosity() >= 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._erase()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        carried: list[Record | str] = getattr(report, RECORDS, [])
        for record in carried:
            self._count(from_line(record) if isinstance(record, str) else record)
        if carried or report.failed:  # else pytest writes nothing: a teardown, say
            self._erase()
        result = yield
        now = time.monotonic()
        if carried and now - self._last >= REDRAW_S:
            self._last = now
            self._draw()
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._erase()

    def text(self) -> str:
        """What the line says now."""
        parts = [f"{self._cases} cases", f"{self._verdicts} verdicts"]
        if self._graded:
            parts.append(f"{self._passed / self._graded:.1%} passed")
        if self._in_flight is not None:
            parts.append(f"{self._in_flight()} calls in flight")
        if self._spent:
            parts.append(f"${float(self._spent):.4g}")
        left = self._reporter._numcollected - self._verdicts
        if left > 0 and self._verdicts:
            seconds = (time.monotonic() - self._started) / self._verdicts * left
            parts.append(f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left")
        return " · ".join(parts)

    def _count(self, record: Record) -> None:
        if isinstance(record, CaseRecord):
            self._cases += 1
            spent = None if record.output is None else record.output.get("cost")
        elif isinstance(record, VerdictRecord):
            self._verdicts += 1
            self._graded += record.grade["passed"] is not None
            self._passed += record.grade["passed"] is True
            spent = record.grade.get("cost")
        else:
            return
        self._spent += Decimal(str(spent or 0))

    def _draw(self) -> None:
        width = self._reporter._tw.fullwidth - 1
        self._write(_BELOW + self.text()[:width])
        self._drawn = True

    def _erase(self) -> None:
        if self._drawn:
            self._write(_BELOW)
            self._drawn = False

    def _write(self, below: str) -> None:
        """Writes on the line below and puts the cursor back to where pytest left it."""
        writer = self._reporter._tw
        column = writer.width_of_current_line
        writer._file.write(f"{below}\x1b[1A\r" + (f"\x1b[{column}C" if column else ""))
        writer._file.flush()
