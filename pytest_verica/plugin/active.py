"""The plugin under --verica: wires options, evals, engine and reports together, and decides nothing."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from pytest_verica.engine.caller import Caller, CallSettings
from pytest_verica.engine.engine import Engine
from pytest_verica.engine.overrides import Overrides
from pytest_verica.errors import StoreError, VericaError
from pytest_verica.evals.load import is_eval_file
from pytest_verica.plugin.bench import Bench
from pytest_verica.plugin.controller import Controller
from pytest_verica.plugin.evals import Evals
from pytest_verica.plugin.facts import price_hash
from pytest_verica.plugin.functions import Functions
from pytest_verica.plugin.nodes import EvalFile
from pytest_verica.plugin.recording import Recording
from pytest_verica.plugin.reports import Reports
from pytest_verica.plugin.reuse import Reuse
from pytest_verica.plugin.roles import Role, role_of
from pytest_verica.plugin.running import Running
from pytest_verica.plugin.settings import Settings, read_settings
from pytest_verica.plugin.terminal import Terminal
from pytest_verica.pricing import Prices
from pytest_verica.report.baseline import Baseline
from pytest_verica.report.gates import NO_BASELINE
from pytest_verica.store.export import RecordedAnswers
from pytest_verica.store.folder import answers_path
from pytest_verica.store.responses import ResponseStore

CASES_AHEAD_PER_CALL = 2


def activate(config: pytest.Config) -> None:
    """Registers what --verica needs.

    Raises:
        pytest.UsageError: an option is wrong.
    """
    settings = read_settings(config)
    role = role_of(config, settings)
    register = config.pluginmanager.register
    baseline = _baseline(config, settings) if role.reports else None
    if isinstance(baseline, Baseline):
        role.baseline = baseline.facts()
    evals = Evals(config, settings, role.baseline)
    reuse = None
    if settings.reuse:
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
    register(Active(role, evals, running, recording, answering), "verica-active")
    if controller is not None:
        register(controller, "verica-controller")
        in_flight = (lambda: running.in_flight) if role.runs else None
        register(Terminal(config, settings, controller, in_flight), "verica-terminal")


def _baseline(config: pytest.Config, settings: Settings) -> Baseline | str | None:
    """The run that `--verica-baseline` names.

    Raises:
        pytest.UsageError: there is none.
    """
    if settings.baseline is None or settings.baseline == NO_BASELINE:
        return settings.baseline
    try:
        return Baseline.find(config.rootpath, settings.baseline)
    except StoreError as error:
        raise pytest.UsageError(f"--verica-baseline: {error}") from None


class Answering:
    """Makes the engine, when the first verdict needs it."""

    def __init__(self, config: pytest.Config, settings: Settings, role: Role, evals: Evals) -> None:
        self._config = config
        self._settings = settings
        self._role = role
        self._evals = evals
        self._recorded: list[RecordedAnswers] = []
        self._prices = Prices()

    def prepare(self) -> None:
        """Reads the recorded answers and the prices.

        Raises:
            ConfigError, StoreError: a file of them is wrong.
        """
        self._recorded = [RecordedAnswers(path) for path in self._settings.recorded]
        more = [row for rows in self._config.hook.pytest_verica_prices() for row in rows]
        self._prices = Prices.load(self._settings.prices).extended(more, "pytest_verica_prices")

    def __call__(self) -> Engine:
        share = self._role.share
        return Engine(
            self._make_caller,
            # A case's time runs while it waits for its turn: few calls at once, few cases ahead.
            window=CASES_AHEAD_PER_CALL * share + 2,
            local_concurrency=share,
            overrides=_overrides(self._config.hook),
        )

    def _make_caller(self) -> Caller:
        settings = self._settings
        return Caller(
            self._evals.providers,
            ResponseStore(answers_path(self._config.rootpath)),
            self._recorded,
            self._prices,
            CallSettings(
                mode="replay" if settings.replay else "fresh" if settings.fresh else "reuse",
                started=self._role.started,
                concurrency=self._role.share,
                request_timeout_s=settings.request_timeout,
            ),
        )


def _overrides(hook: Any) -> Overrides:
    """The users' hooks, where there are any: they are asked for every output and every verdict."""
    sample, grade = hook.pytest_verica_sample, hook.pytest_verica_grade
    return Overrides(
        (lambda ready, case: sample(eval=ready, case=case)) if sample.get_hookimpls() else None,
        (lambda criterion, case, output: grade(criterion=criterion, case=case, output=output))
        if grade.get_hookimpls()
        else None,
    )


class Active:
    """The hooks of collection and of the session's ends."""

    def __init__(self, role: Role, evals: Evals, running: Running, recording: Recording, answering: Answering) -> None:
        self._role = role
        self._evals = evals
        self._running = running
        self._recording = recording
        self._answering = answering

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
        if not session.config.option.collectonly:
            self._evals.check_baseline(selected)
        if selected and not session.config.option.collectonly:
            gc.freeze()  # items live to the end: the collector need not walk through tens of thousands of them
            try:
                self._answering.prepare()
            except VericaError as error:
                raise pytest.UsageError(str(error)) from None
        self._running.upcoming = lambda: self._role.upcoming(session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        self._running.close()

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        self._running.close()

    def bench(self, item: pytest.Function) -> Bench:
        """What the `verica` fixture gives to a test."""
        return Bench(item, self._evals, self._running, self._recording)
