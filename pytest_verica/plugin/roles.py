"""Which process this is: alone, xdist's controller, or one of its workers. Told apart only here."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.plugin.grouping import of_eval_file
from pytest_verica.plugin.options import WORKER_KEY
from pytest_verica.plugin.settings import Settings
from pytest_verica.store.folder import answers_path, ledger_path, new_run_id
from pytest_verica.store.responses import ResponseStore

if TYPE_CHECKING:
    from pytest_verica.plugin.distant_answers import DistantAnswers
    from pytest_verica.plugin.scheduler import BlockScheduling
    from pytest_verica.report.baseline import BaselineFacts

STOP = "verica_stop"
"""The command by which the controller stops its workers at once; xdist's own workers would pass over it."""


class Role:
    """Alone: runs items and reports them. run_id and started (seconds since the epoch) are the whole run's;
    share: the part of `--verica-concurrency` that this process may use; processes: how many run items; budget: the part
    of `--verica-max-cost` that this process may use, None where there is none; ledger: where those that share a budget
    enter what they spend, None where this process is alone with it; first: whether this process looks at the endpoints
    before launch; baseline: what is known of the run that `--verica-baseline` names, None where it names none."""

    runs = True
    reports = True

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.run_id = new_run_id()
        self.started = time.time()
        self.share = settings.concurrency
        self.baseline: BaselineFacts | None = None
        self.processes = 1
        self.budget = settings.max_cost
        self.ledger: Path | None = None
        self.first = True
        self._fed = False

    def listen(self, session: pytest.Session, stop: Callable[[], None]) -> None:
        """Calls `stop` where the run is to be stopped at once, though this process has not failed."""

    def answers(self) -> ResponseStore | DistantAnswers:
        """The store of answers that this process uses; a new one, for one thread."""
        return ResponseStore(answers_path(self.config.rootpath))

    def upcoming(self, session: pytest.Session) -> Iterator[pytest.Item]:
        """The items that will run next, in order; each is told of once."""
        if not self._fed:
            self._fed = True
            yield from session.items


class ControllerRole(Role):
    """xdist's controller: reports what the workers run."""

    runs = False

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        super().__init__(config, settings)
        self._configured = 0
        self._stopped = False
        # Deferred, as what only xdist's processes need is below: alone there are no workers.
        from pytest_verica.plugin.distance import FarWorkers

        self._far = FarWorkers(config)
        self._scheduling: BlockScheduling | None = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        self._far.prepare()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        from pytest_verica.plugin.distance import is_far

        tx = list(self.config.getoption("tx", None) or ())
        workers = max(1, len(tx))
        budget = self.budget
        # On other machines there is no file to share: each worker has its part of the budget.
        shared = not any(map(is_far, tx))
        if budget is not None and not shared:
            budget /= workers
        self._configured += 1
        node.workerinput[WORKER_KEY] = {
            "run_id": self.run_id,
            "started": self.started,
            "share": max(1, -(-self.settings.concurrency // workers)),
            # A worker on another machine has none of the kept runs, and `last` means another run by then.
            "baseline": None if self.baseline is None else vars(self.baseline),
            "processes": workers,
            "budget": None if budget is None else str(budget),
            "ledger": str(ledger_path(self.config.rootpath, self.run_id)) if budget is not None and shared else None,
            "first": self._configured == 1,
            **self._far.told(node),
        }

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self._far.close()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        if self.budget is not None:
            with contextlib.suppress(OSError):
                ledger_path(self.config.rootpath, self.run_id).unlink(missing_ok=True)

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> BlockScheduling | None:
        self._stop_workers_at_once()
        if config.getoption("dist") != "load":
            return None
        # Deferred: xdist's own modules are needed by its controller only.
        from pytest_verica.plugin.scheduler import BlockScheduling

        self._scheduling = BlockScheduling(config, most_cases=2 * self.settings.concurrency)
        return self._scheduling

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        told = report.when == "call" or (report.when == "setup" and not report.passed)
        if self._scheduling is not None and told and str(report.outcome) != "rerun" and of_eval_file(report.nodeid):
            self._scheduling.reported(getattr(report, "node", None), report.nodeid)

    def _stop_workers_at_once(self) -> None:
        """When `-x` or `--maxfail` ends the run: xdist itself waits until each worker has done all that it was handed,
        which here may be minutes of calls that nobody wants any more."""
        xdist: Any = self.config.pluginmanager.get_plugin("dsession")
        shut_down = getattr(xdist, "triggershutdown", None)
        if shut_down is None:
            return  # another xdist: it ends as it always does

        def and_stop() -> None:
            shut_down()
            if xdist.shouldstop and not self._stopped:
                self._stopped = True
                for node in list(xdist.sched.nodes):
                    with contextlib.suppress(OSError):  # it has just ended
                        node.sendcommand(STOP)

        xdist.triggershutdown = and_stop


class WorkerRole(Role):
    """One of xdist's workers: runs what it is handed, and looks into its queue to run ahead."""

    reports = False

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        super().__init__(config, settings)
        from pytest_verica.plugin.distant_answers import DistantAnswers
        from pytest_verica.report.baseline import BaselineFacts

        given = config.workerinput.get(WORKER_KEY, {})  # type: ignore[attr-defined]
        self.run_id = given.get("run_id", self.run_id)
        self.started = given.get("started", self.started)
        self.share = given.get("share", self.share)
        baseline = given.get("baseline")
        self.baseline = None if baseline is None else BaselineFacts(**baseline)
        self.processes = given.get("processes", 1)
        self.first = given.get("first", True)
        budget, ledger = given.get("budget"), given.get("ledger")
        self.budget = self.budget if budget is None else Decimal(budget)
        self.ledger = None if ledger is None else Path(ledger)
        channel = given.get("answers")
        self._distant = None if channel is None else DistantAnswers(channel)
        self._queue: Any = None
        self._last: int | None = None

    def answers(self) -> ResponseStore | DistantAnswers:
        return self._distant or super().answers()

    def upcoming(self, session: pytest.Session) -> Iterator[pytest.Item]:
        indices = self._queued(session)
        if indices and indices[-1] != self._last:
            self._last = indices[-1]
            for index in indices:
                yield session.items[index]

    def listen(self, session: pytest.Session, stop: Callable[[], None]) -> None:
        interactor = _interactor(session)
        handle = getattr(interactor, "handle_command", None)
        if handle is None:
            return  # another xdist: it ends as it always does

        def or_stop(command: Any) -> None:
            if isinstance(command, tuple) and command[0] == STOP:
                session.shouldstop = "the run was stopped"
                stop()
            else:
                handle(command)

        interactor.handle_command = or_stop

    def _queued(self, session: pytest.Session) -> list[int]:
        if self._queue is None:
            self._queue = getattr(_interactor(session), "torun", None)
        if self._queue is None or not hasattr(self._queue, "lock"):
            return []  # another xdist: this worker runs without looking ahead
        with self._queue.lock() as waiting:
            return [index for index in waiting if isinstance(index, int)]


def _interactor(session: pytest.Session) -> Any:
    """xdist's own part in a worker."""
    plugins = session.config.pluginmanager.get_plugins()
    return next((plugin for plugin in plugins if type(plugin).__name__ == "WorkerInteractor"), None)


def role_of(config: pytest.Config, settings: Settings) -> Role:
    if hasattr(config, "workerinput"):
        return WorkerRole(config, settings)
    with contextlib.suppress(ValueError):
        if config.getoption("dist", "no") != "no" and config.getoption("tx", None):
            return ControllerRole(config, settings)
    return Role(config, settings)
