"""The plugin under --verica: wires options, evals, engine and reports together, and decides nothing."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.errors import StoreError, VericaError
from pytest_verica.evals.load import is_eval_file
from pytest_verica.plugin.answering import Answering
from pytest_verica.plugin.bench import Bench
from pytest_verica.plugin.controller import Controller
from pytest_verica.plugin.evals import Evals
from pytest_verica.plugin.facts import price_hash
from pytest_verica.plugin.functions import Functions
from pytest_verica.plugin.launch import Launch, Refusals
from pytest_verica.plugin.nodes import EvalFile
from pytest_verica.plugin.recording import Recording
from pytest_verica.plugin.reports import Reports
from pytest_verica.plugin.roles import Role, role_of
from pytest_verica.plugin.running import Running
from pytest_verica.plugin.settings import Settings, read_settings
from pytest_verica.plugin.terminal import Terminal
from pytest_verica.report.gates import named_baseline

if TYPE_CHECKING:
    from pytest_verica.report.baseline import Baseline


def activate(config: pytest.Config) -> None:
    """Registers what --verica needs.

    Raises:
        pytest.UsageError: an option is wrong.
    """
    settings = read_settings(config)
    if settings.estimate:
        config.option.dist, config.option.tx = "no", []  # nothing will run: workers would collect for nothing
    role = role_of(config, settings)
    register = config.pluginmanager.register
    baseline = _baseline(config, settings) if role.reports else None
    if baseline is not None and not isinstance(baseline, str):
        role.baseline = baseline.facts()
    evals = Evals(config, settings, role.baseline)
    reuse = None
    if settings.reuse:
        from pytest_verica.plugin.reuse import Reuse  # deferred: few runs ask for it

        identity = lambda ready: evals.code_of(ready).identity  # noqa: E731
        reuse = Reuse(config.rootpath, role.run_id, identity, lambda: price_hash(config, settings))
    recording = Recording(evals, as_lines=not role.reports, reuse=reuse)
    reports = Reports(evals, settings, recording)
    answering = Answering(config, settings, role, evals)
    running = Running(config, answering, reports, recording, reuse)
    controller = Controller(config, settings, role.run_id, baseline) if role.reports else None
    register(role, "verica-role")
    register(reports, "verica-reports")
    if role.runs:
        register(Functions(evals), "verica-functions")
        register(running, "verica-running")
    launch = Launch(config, settings, role, answering, recording)
    register(Active(role, evals, running, recording, answering, launch), "verica-active")
    if role.runs:
        register(launch, "verica-launch")
    if controller is not None:
        register(Refusals(config), "verica-refusals")
        register(controller, "verica-controller")
        in_flight = (lambda: running.in_flight) if role.runs else None
        register(Terminal(config, settings, controller, in_flight), "verica-terminal")


def _baseline(config: pytest.Config, settings: Settings) -> Baseline | str | None:
    """The run that `--verica-baseline` names.

    Raises:
        pytest.UsageError: there is none.
    """
    try:
        return named_baseline(config.rootpath, settings.baseline)
    except StoreError as error:
        raise pytest.UsageError(f"--verica-baseline: {error}") from None


class Active:
    """The hooks of collection and of the session's ends."""

    def __init__(
        self, role: Role, evals: Evals, running: Running, recording: Recording, answering: Answering, launch: Launch
    ) -> None:
        self._role = role
        self._evals = evals
        self._running = running
        self._recording = recording
        self._answering = answering
        self._launch = launch
        self._files: list[EvalFile] = []

    def pytest_collect_file(self, file_path: Any, parent: pytest.Collector) -> EvalFile | None:
        if not is_eval_file(file_path.name):
            return None
        node: EvalFile = EvalFile.from_parent(parent, path=file_path)
        node.evals, node.running = self._evals, self._running
        self._files.append(node)
        return node

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for file in self._files:
            file.collected()
        if not self._role.runs:
            return
        try:
            self._prepare(session)
        except pytest.UsageError as error:
            if self._role.reports:
                raise
            _refuse(session, str(error))
        self._role.listen(session, self._running.stop)
        self._running.upcoming = lambda: self._role.upcoming(session)

    def _prepare(self, session: pytest.Session) -> None:
        """Raises pytest.UsageError where something is wrong that can be known before the first call."""
        self._evals.check_options()
        selected = self._running.select(session.items)
        self._recording.select(selected)
        if not selected or session.config.option.collectonly:
            return
        self._evals.check_baseline(selected)
        gc.freeze()  # items live to the end: the collector need not walk through tens of thousands of them
        try:
            self._answering.prepare()
        except VericaError as error:
            raise pytest.UsageError(str(error)) from None
        self._launch.jobs = lambda: self._running.jobs(session.items)
        if not session.testsfailed or session.config.option.continue_on_collection_errors:
            self._launch.check()

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        self._running.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._running.close()

    def pytest_unconfigure(self) -> None:
        self._evals.log_guard.remove()

    def bench(self, item: pytest.Function) -> Bench:
        """What the `verica` fixture gives to a test."""
        return Bench(item, self._evals, self._running, self._recording)


def _refuse(session: pytest.Session, message: str) -> None:
    """Ends the collection of a worker of xdist: a usage error would be lost with the process. It is told as a
    collection error instead, and nothing is left to run."""
    session.items.clear()
    report = pytest.CollectReport("pytest-verica", "failed", message, [])
    session.config.hook.pytest_collectreport(report=report)
