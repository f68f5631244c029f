"""Running verdict items: the case behind each is sampled once, its grades are read one by one.

Verdicts run under a short protocol of their own (no fixtures, no capture), unless a plugin installed by the user
brings another protocol; the hooks that plugins rely on fire either way.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.engine.engine import Engine
from pytest_verica.engine.grading import CaseResult, failed_case, target_error
from pytest_verica.engine.plan import Job
from pytest_verica.errors import TargetError
from pytest_verica.grade import Grade, GradeError
from pytest_verica.graders.criterion import Criterion
from pytest_verica.output import output_of
from pytest_verica.plugin.functions import capturing
from pytest_verica.plugin.notice import warn
from pytest_verica.plugin.recording import Recording
from pytest_verica.plugin.reports import Reports
from pytest_verica.plugin.ticket import Ticket, ticket_of
from pytest_verica.plugin.verdict_hooks import HooksByFolder

if TYPE_CHECKING:
    from pytest_verica.plugin.reuse import Reuse

_THROUGH = (KeyboardInterrupt, pytest.exit.Exception)

Key = tuple[str, str, int]


class Running:
    """One per process that runs items."""

    def __init__(
        self,
        config: pytest.Config,
        make_engine: Callable[[], Engine],
        reports: Reports,
        recording: Recording,
        reuse: Reuse | None = None,
    ) -> None:
        self._config = config
        self._setup_only = bool(config.getoption("setuponly", False))
        self._make_engine = make_engine
        self._reports = reports
        self._recording = recording
        self._reuse = reuse
        self._engine: Engine | None = None
        self._chosen: dict[Key, tuple[Criterion, ...]] = {}
        self._left: dict[Key, int] = {}
        self._results: dict[Key, CaseResult] = {}
        self._returned: dict[Key, tuple[Any, Any]] = {}  # what a test's body returned, and its spans
        self._stopped: dict[Key, BaseException] = {}
        self._rerun_keys: set[Key] = set()
        self._foreign: set[str] | None = None
        self._hooks = HooksByFolder(config.pluginmanager, self)
        self._stopping = False
        self.upcoming: Callable[[], Iterator[pytest.Item]] = lambda: iter(())

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = self._make_engine()
        return self._engine

    @property
    def in_flight(self) -> int:
        return 0 if self._engine is None else self._engine.in_flight

    def close(self) -> None:
        """Stops the engine. What the store has to say is told as a warning."""
        engine, self._engine = self._engine, None
        if engine is None:
            return
        engine.close()
        for text in engine.warnings:
            warn(self._config, text)

    def stop(self) -> None:
        """Ends every call at once; what is being waited for is not reported. May be called by another thread."""
        self._stopping = True
        if self._engine is not None:
            self._engine.close()

    def select(self, items: list[pytest.Item]) -> dict[str, int]:
        """Learns which verdicts were selected: nothing else is sampled or judged. Returns their number per eval."""
        criteria: dict[Key, list[Criterion]] = {}
        selected: dict[str, int] = {}
        for item in items:
            ticket = ticket_of(item)
            if ticket is None:
                continue
            chosen_here = criteria.setdefault(ticket.key, [])
            if ticket.criterion not in chosen_here:  # --keep-duplicates runs it again: that makes an eval no more whole
                selected[ticket.eval.id] = selected.get(ticket.eval.id, 0) + 1
            chosen_here.append(ticket.criterion)
        shared: dict[tuple[Criterion, ...], tuple[Criterion, ...]] = {}
        for key, chosen in criteria.items():
            distinct = tuple(dict.fromkeys(chosen))
            self._chosen[key] = shared.setdefault(distinct, distinct)
            self._left[key] = len(chosen)
        return selected

    def jobs(self, items: list[pytest.Item]) -> list[Job]:
        """The cases behind these items, each once, in order."""
        tickets: dict[Key, Ticket] = {}
        for item in items:
            ticket = ticket_of(item)
            if ticket is not None:
                tickets.setdefault(ticket.key, ticket)
        return [self._job(ticket) for ticket in tickets.values()]

    def look_ahead(self, items: Iterator[pytest.Item]) -> None:
        """Feeds the engine with the cases of items that will run, in order."""
        jobs = []
        seen: set[Key] = set()
        for item in items:
            ticket = ticket_of(item)
            if ticket is None or ticket.eval.function or ticket.eval.offline or ticket.key in seen:
                continue
            seen.add(ticket.key)
            taken = self._reuse is not None and self._reuse.covers(ticket.eval)
            if ticket.key not in self._results and not taken:
                jobs.append(self._job(ticket))
        if jobs:
            self.engine.feed(jobs)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keeps the items of a case together, whatever order other plugins gave: the first one's place counts."""
        groups: dict[Any, list[pytest.Item]] = {}
        for item in items:
            ticket = ticket_of(item)
            groups.setdefault(id(item) if ticket is None else ticket.key, []).append(item)
        items[:] = [item for group in groups.values() for item in group]

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        ticket = ticket_of(item)
        if ticket is None or self._setup_only:
            return None  # --setup-only and --setup-plan run no test, and sample nothing
        self._take_over(ticket)
        if not ticket.eval.offline and ticket.key not in self._results:
            self.look_ahead(self.upcoming())
        if not self._is_short():
            return None
        if ticket.eval.function and ticket.key not in self._results:
            return None  # the first item of the case: pytest sets up its fixtures and calls the test
        self._run_short(item, nextitem, ticket)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        ticket = ticket_of(item)
        if ticket is None or not isinstance(item, pytest.Function):
            return
        if getattr(item, "execution_count", 1) > 1:
            self._rerun(ticket)
        elif ticket.key not in self._results:
            self._take_over(ticket)
        if ticket.key not in self._results:
            key = ticket.key
            item.obj = capturing(item.obj, lambda *returned: self._returned.__setitem__(key, returned))

    @pytest.hookimpl(tryfirst=True, specname="pytest_pyfunc_call")
    def pytest_skip_known_body(self, pyfuncitem: pytest.Function) -> bool | None:
        """The test runs once per case; its later items reuse what it returned."""
        ticket = ticket_of(pyfuncitem)
        return True if ticket is not None and ticket.key in self._results else None

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Iterator[Any]:
        ticket = ticket_of(pyfuncitem)
        if ticket is None or ticket.key in self._results:
            return (yield)
        try:
            result = yield
        except (pytest.skip.Exception, pytest.xfail.Exception) as stop:
            self._results[ticket.key] = CaseResult(None, None, {})
            self._stopped[ticket.key] = stop
            raise
        except Exception as error:
            failed = self._results[ticket.key] = failed_case(self._job(ticket), _body_error(error))
            self._reports.graded(pyfuncitem, ticket, failed.grades[ticket.criterion.id], failed)
            raise
        self._results[ticket.key] = self._grade_returned(ticket)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[Any]:
        result = yield
        if isinstance(item, pytest.Function) and ticket_of(item) is not None:
            self.raise_verdict(item)
        return result

    def raise_verdict(self, item: pytest.Item) -> None:
        """Grades the item, and raises CaughtVerdict where its verdict is not good."""
        ticket = ticket_of(item)
        assert ticket is not None
        if getattr(item, "execution_count", 1) > 1 and not ticket.eval.function:
            self._rerun(ticket)
        self._reports.raise_if_bad(self._grade(item, ticket))

    def _is_short(self) -> bool:
        """Whether the short protocol may be used: not where another plugin brings a protocol of its own."""
        if self._foreign is None:
            self._foreign = {
                str(impl.plugin_name)
                for impl in self._config.hook.pytest_runtest_protocol.get_hookimpls()
                if not (impl.hookwrapper or impl.wrapper) and impl.plugin_name not in ("runner", "verica-running")
            }
        return not self._foreign

    def _run_short(self, item: pytest.Item, nextitem: pytest.Item | None, ticket: Ticket) -> None:
        hook = item.ihook
        location = item.location
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=location)
        hooks, call = self._hooks.of(hook), None
        set_up = not hooks.markers_only or next(item.iter_markers(), None) is not None
        if set_up:
            call = pytest.CallInfo.from_call(lambda: hooks.setup(item=item), "setup", _THROUGH)
        if call is None or call.excinfo is None:
            grades: list[Grade] = []
            call = pytest.CallInfo.from_call(lambda: grades.append(self._grade(item, ticket)), "call", _THROUGH)
            if self._stopping:
                hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=location)
                return
            if grades and grades[0].passed is not True:
                call = pytest.CallInfo.from_call(lambda: self._reports.raise_if_bad(grades[0]), "call")
        report = (hooks.report if set_up else hooks.plain_report)(item=item, call=call)
        hook.pytest_runtest_logreport(report=report)
        teardown = self._reports.teardown_of(item)
        if item.session._setupstate.stack:
            ended = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), "teardown")
            if ended.excinfo is not None:
                teardown = pytest.TestReport.from_item_and_call(item, ended)
        hook.pytest_runtest_logreport(report=teardown)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=location)

    def _grade(self, item: pytest.Item, ticket: Ticket) -> Grade:
        key = ticket.key
        if key in self._stopped:
            raise _again(self._stopped[key])
        self._take_over(ticket)
        result = self._results.get(key)
        if result is None:
            result = self._results[key] = self.engine.result(self._job(ticket))
            if self.engine.broken is not None:
                item.session.shouldstop = f"nothing more is bought: {self.engine.broken}"
        grade = result.grades.get(ticket.criterion.id)
        if grade is None:
            assert result.target_error is not None
            grade = Grade("error", explanation=result.target_error.message, error=result.target_error)
        self._reports.graded(item, ticket, grade, result)
        self._left[key] -= 1
        if not self._left[key]:
            del self._results[key]  # its outputs need not stay in memory
        return grade

    def _rerun(self, ticket: Ticket) -> None:
        """Another plugin runs the item again: the case is produced anew."""
        self._results.pop(ticket.key, None)
        self._rerun_keys.add(ticket.key)
        self._stopped.pop(ticket.key, None)
        self._recording.forget_case(ticket)
        self._left[ticket.key] = len(self._chosen[ticket.key])
        if not ticket.eval.function:
            self.engine.forget(self._job(ticket))

    def _take_over(self, ticket: Ticket) -> bool:
        """Whether the verdicts of an earlier run stand for this sample of a case (`--verica-reuse`)."""
        key = ticket.key
        if self._reuse is None or key in self._results or key in self._rerun_keys:
            return False
        taken = self._reuse.taken(ticket)
        if taken is not None:
            self._results[key] = taken
        return taken is not None

    def _job(self, ticket: Ticket) -> Job:
        return Job(ticket.eval, ticket.case, ticket.sample, self._chosen[ticket.key])

    def _grade_returned(self, ticket: Ticket) -> CaseResult:
        job = self._job(ticket)
        value, spans = self._returned.pop(ticket.key, (None, None))
        if value is None:
            message = (
                f"{ticket.eval.id} returned nothing; its criteria need an output: return a text, a mapping or an Output"
            )
            return failed_case(job, GradeError("no_output", message))
        try:
            output = output_of(value)
            if spans is not None and output.spans is None:
                output = replace(output, spans=spans)
        except TargetError as error:
            return failed_case(job, target_error(error))
        return self.engine.grade(job, output)


def _again(stop: BaseException) -> BaseException:
    """What stopped the test's body stops the later verdicts of its case too."""
    if isinstance(stop, pytest.skip.Exception):
        return pytest.skip.Exception(str(stop), _use_item_location=True)
    return pytest.xfail.Exception(str(stop))


def _body_error(error: Exception) -> GradeError:
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return GradeError("target_raised", f"the test raised {type(error).__name__}: {error}", trace)
