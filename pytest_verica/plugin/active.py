"""The plugin under --verica: wires options, evals, engine and reports together, and decides nothing."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pytest

from pytest_verica.engine.budget import Budget
from pytest_verica.engine.caller import Caller
from pytest_verica.engine.endpoints import CallSettings
from pytest_verica.engine.engine import Engine
from pytest_verica.engine.overrides import Overrides
from pytest_verica.engine.retry import RetryPolicy
from pytest_verica.errors import StoreError, VericaError
from pytest_verica.evals.load import is_eval_file
from pytest_verica.plugin.bench import Bench
from pytest_verica.plugin.controller import Controller
from pytest_verica.plugin.evals import Evals
from pytest_verica.plugin.facts import price_hash
from pytest_verica.plugin.functions import Functions
from pytest_verica.plugin.launch import Launch, Refusals
from pytest_verica.plugin.nodes import EvalFile
from pytest_verica.plugin.recording import Recording
from pytest_verica.plugin.reports import Reports
from pytest_verica.plugin.reuse import Reuse
from pytest_verica.plugin.roles import Role, role_of
from pytest_verica.plugin.running import Running
from pytest_verica.plugin.settings import Settings, read_settings
from pytest_verica.plugin.terminal import Terminal
from pytest_verica.pricing import Prices
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.report.baseline import Baseline
from pytest_verica.report.gates import NO_BASELINE
from pytest_verica.request import ModelSpec
from pytest_verica.store.export import RecordedAnswers
from pytest_verica.store.ledger import SharedLedger
from pytest_verica.store.saved import SavedAnswer

CASES_AHEAD_PER_CALL = 2


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
        self.prices = Prices()

    @property
    def providers(self) -> Mapping[str, ProviderKind]:
        return self._evals.providers

    def has_answers(self, model: ModelSpec) -> bool:
        """Whether any answer of a model is stored, or may be among those that were recorded."""
        return bool(self._recorded) or bool(self.latest(model, 1))

    def latest(self, model: ModelSpec, limit: int) -> list[SavedAnswer]:
        """Its stored answers that were bought last."""
        store = self._role.answers()
        try:
            return store.latest(model.provider, model.base_url, model.name, limit)
        finally:
            store.close()

    def prepare(self) -> None:
        """Reads the recorded answers and the prices.

        Raises:
            ConfigError, StoreError: a file of them is wrong.
        """
        self._recorded = [RecordedAnswers(path) for path in self._settings.recorded]
        more = [row for rows in self._config.hook.pytest_verica_prices() for row in rows]
        self.prices = Prices.load(self._settings.prices).extended(more, "pytest_verica_prices")

    def __call__(self) -> Engine:
        share = self._role.share
        return Engine(
            self.make_caller,
            # A case's time runs while it waits for its turn: few calls at once, few cases ahead.
            window=CASES_AHEAD_PER_CALL * share + 2,
            local_concurrency=share,
            overrides=_overrides(self._config.hook),
        )

    def make_caller(self) -> Caller:
        """The way to the models; of one event loop."""
        settings = self._settings
        return Caller(
            self._evals.providers,
            self._role.answers(),
            self._recorded,
            self.prices,
            CallSettings(
                mode="replay" if settings.replay else "fresh" if settings.fresh else "reuse",
                started=self._role.started,
                concurrency=self._role.share,
                request_timeout_s=settings.request_timeout,
                retry=RetryPolicy(settings.max_attempts, settings.max_wait),
                processes=self._role.processes,
                budget=self._budget,
            ),
        )

    @cached_property
    def _budget(self) -> Budget | None:
        """One for what is asked before launch and after."""
        role = self._role
        if role.budget is None:
            return None
        return Budget(role.budget, None if role.ledger is None else SharedLedger(role.ledger))


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
        if not session.config.option.collectonly:
            self._evals.check_baseline(selected)
        if selected and not session.config.option.collectonly:
            gc.freeze()  # items live to the end: the collector need not walk through tens of thousands of them
            try:
                self._answering.prepare()
            except VericaError as error:
                raise pytest.UsageError(str(error)) from None
            self._launch.jobs = lambda: self._running.jobs(session.items)
            if not session.testsfailed or session.config.option.continue_on_collection_errors:
                self._launch.check()
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
