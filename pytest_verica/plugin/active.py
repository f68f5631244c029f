"""The plugin under --verica: wires options, evals, engine and reports together, and decides nothing."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from pytest_verica.errors import VericaError
from pytest_verica.evals.load import is_eval_file
from pytest_verica.plugin.answering import Answering
from pytest_verica.plugin.bench import Bench
from pytest_verica.plugin.controller import Controller
from pytest_verica.plugin.evals import Evals
from pytest_verica.plugin.functions import Functions
from pytest_verica.plugin.launch import Launch, Refusals
from pytest_verica.plugin.nodes import EvalFile
from pytest_verica.plugin.recording import Recording
from pytest_verica.plugin.reports import Reports
from pytest_verica.plugin.roles import Role, role_of
from pytest_verica.plugin.running import Running
from pytest_verica.plugin.settings import read_settings
from pytest_verica.plugin.terminal import Terminal


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
    evals = Evals(config, settings)
    recording = Recording(evals, as_lines=not role.reports)
    reports = Reports(evals, settings, recording)
    answering = Answering(config, settings, role, evals)
    running = Running(config, answering, reports, recording)
    controller = Controller(config, settings, role.run_id) if role.reports else None
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

    def pytest_collect_file(self, file_path: Any, parent: pytest.Collector) -> EvalFile | None:
        if not is_eval_file(file_path.name):
            return None
        node: EvalFile = EvalFile.from_parent(parent, path=file_path)
        node.evals, node.running = self._evals, self._running
        return node

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not self._role.runs:
            return
        self._evals.check_options()
        selected = self._running.select(session.items)
        self._recording.select(selected)
        if selected and not session.config.option.collectonly:
            gc.freeze()  # items live to the end: the collector need not walk through tens of thousands of them
            try:
                self._answering.prepare()
            except VericaError as error:
                raise pytest.UsageError(str(error)) from None
            self._launch.jobs = lambda: self._running.jobs(session.items)
            if not session.testsfailed or session.config.option.continue_on_collection_errors:
                self._launch.check()
        self._role.listen(session, self._running.stop)
        self._running.upcoming = lambda: self._role.upcoming(session)

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
