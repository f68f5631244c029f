"""Making the engine, with everything that it asks models through: settings, prices, the store of answers."""

from __future__ import annotations

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
from pytest_verica.plugin.evals import Evals
from pytest_verica.plugin.roles import Role
from pytest_verica.plugin.settings import Settings
from pytest_verica.pricing import Prices
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.request import ModelSpec
from pytest_verica.store.export import RecordedAnswers
from pytest_verica.store.folder import answers_path
from pytest_verica.store.ledger import SharedLedger
from pytest_verica.store.responses import ResponseStore
from pytest_verica.store.saved import SavedAnswer

CASES_AHEAD_PER_CALL = 2


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
        store = ResponseStore(answers_path(self._config.rootpath))
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
            ResponseStore(answers_path(self._config.rootpath)),
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
