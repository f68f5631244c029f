"""Which process this is: alone, xdist's controller, or one of its workers. Told apart only here."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.plugin.settings import Settings
from pytest_verica.report.baseline import BaselineFacts
from pytest_verica.store.folder import new_run_id

if TYPE_CHECKING:
    from pytest_verica.plugin.scheduler import BlockScheduling

KEY = "verica"


class Role:
    """Alone: runs items and reports them. run_id and started (seconds since the epoch) are the whole run's;
    share: the part of `--verica-concurrency` that this process may use; baseline: what is known of the run that
    `--verica-baseline` names, None where it names none."""

    runs = True
    reports = True

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self.config = config
        self.settings = settings
        self.run_id = new_run_id()
        self.started = time.time()
        self.share = settings.concurrency
        self.baseline: BaselineFacts | None = None
        self._fed = False

    def upcoming(self, session: pytest.Session) -> Iterator[pytest.Item]:
        """The items that will run next, in order; each is told of once."""
        if not self._fed:
            self._fed = True
            yield from session.items


class ControllerRole(Role):
    """xdist's controller: reports what the workers run."""

    runs = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        workers = max(1, len(self.config.getoption("tx", None) or ()))
        node.workerinput[KEY] = {
            "run_id": self.run_id,
            "started": self.started,
            "share": max(1, -(-self.settings.concurrency // workers)),
            # A worker on another machine has none of the kept runs, and `last` means another run by then.
            "baseline": None if self.baseline is None else vars(self.baseline),
        }

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> BlockScheduling | None:
        if config.getoption("dist") != "load":
            return None
        # Deferred: xdist's own modules are needed by its controller only.
        from pytest_verica.plugin.scheduler import BlockScheduling

        return BlockScheduling(config, most_cases=2 * self.settings.concurrency)


class WorkerRole(Role):
    """One of xdist's workers: runs what it is handed, and looks into its queue to run ahead."""

    reports = False

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        super().__init__(config, settings)
        given = config.workerinput.get(KEY, {})  # type: ignore[attr-defined]
        self.run_id = given.get("run_id", self.run_id)
        self.started = given.get("started", self.started)
        self.share = given.get("share", self.share)
        baseline = given.get("baseline")
        self.baseline = None if baseline is None else BaselineFacts(**baseline)
        self._queue: Any = None
        self._last: int | None = None

    def upcoming(self, session: pytest.Session) -> Iterator[pytest.Item]:
        indices = self._queued(session)
        if indices and indices[-1] != self._last:
            self._last = indices[-1]
            for index in indices:
                yield session.items[index]

    def _queued(self, session: pytest.Session) -> list[int]:
        if self._queue is None:
            plugins = session.config.pluginmanager.get_plugins()
            interactor = next((p for p in plugins if type(p).__name__ == "WorkerInteractor"), None)
            self._queue = getattr(interactor, "torun", None)
        if self._queue is None or not hasattr(self._queue, "lock"):
            return []  # another xdist: this worker runs without looking ahead
        with self._queue.lock() as waiting:
            return [index for index in waiting if isinstance(index, int)]


def role_of(config: pytest.Config, settings: Settings) -> Role:
    if hasattr(config, "workerinput"):
        return WorkerRole(config, settings)
    with contextlib.suppress(ValueError):
        if config.getoption("dist", "no") != "no" and config.getoption("tx", None):
            return ControllerRole(config, settings)
    return Role(config, settings)
