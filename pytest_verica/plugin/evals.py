"""The evals of this run: read, checked and narrowed to what the options select."""

from __future__ import annotations

import hashlib
import random
import warnings
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from pytest_verica.case import Case
from pytest_verica.engine.parameters import fitted
from pytest_verica.engine.plan import Eval, load_golden, make_eval, missing_credentials, secret_variables
from pytest_verica.errors import ConfigError, Place, Problem
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.load import criterion_id, load_eval
from pytest_verica.golden import GoldenSet
from pytest_verica.graders.criterion import Criterion
from pytest_verica.graders.kinds import Configs
from pytest_verica.graders.protocol import GraderKind
from pytest_verica.judge.registry import KINDS
from pytest_verica.plugin.settings import Settings
from pytest_verica.providers.log_guard import LogGuard
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.report.gate import check_gate

SAMPLE_SEED = 20261


class Evals:
    """Every eval that was collected, by id."""

    def __init__(self, config: pytest.Config, settings: Settings) -> None:
        self._settings = settings
        self._root = config.rootpath
        self._replaced: set[str] = set()
        self._planned: dict[str, int] = {}
        self.by_id: dict[str, Eval] = {}
        self.log_guard = LogGuard()
        self.kinds: Mapping[str, GraderKind] = KINDS.extended(_registered(config.hook.pytest_verica_graders()))
        self.providers: Mapping[str, ProviderKind] = {
            **PROVIDERS,
            **_registered(config.hook.pytest_verica_providers()),
        }

    def from_file(self, path: Path, nodeid: str) -> Eval:
        """The eval of a file.

        Raises:
            ConfigError: everything that is wrong with it.
        """
        if nodeid in self.by_id:
            return self.by_id[nodeid]  # the file is named twice on the command line
        spec = load_eval(path, nodeid, Configs(self.kinds))
        return self.add(spec, load_golden(spec), nodeid)

    def add(
        self, spec: EvalSpec, golden: GoldenSet, eval_id: str, *, function: bool = False, whole: bool = False
    ) -> Eval:
        """Checks an eval and keeps it. whole: its golden set holds only what the options left already.

        Raises:
            ConfigError: everything that is wrong with it.
        """
        spec = self._as_set(spec)
        for warning in golden.warnings:
            warnings.warn(pytest.PytestWarning(f"{eval_id}: {warning}"), stacklevel=2)
        problems: list[Problem] = []
        ready: Eval | None = None
        try:
            ready = self.ready(spec, golden, eval_id, function=function)
        except ConfigError as error:
            problems += error.problems
        # In a replay nothing is called, so no key is needed.
        problems += [] if self._settings.replay else missing_credentials(spec)
        problems += self._gate_problems(spec, golden)
        name = spec.config.name
        twin = next((e for e in self.by_id.values() if e.config.name == name and e.id != eval_id), None)
        if twin is not None:
            message = f"two evals are named {name!r}; the other is {twin.id}: names are unique in a run"
            problems.append(Problem(message, spec.place(("name",))))
        if problems or ready is None:
            raise ConfigError(problems)
        self.by_id[eval_id] = ready
        cases = len(ready.golden) if whole else len(self.cases_of(ready))
        self._planned[eval_id] = cases * len(ready.criteria) * ready.config.repeat
        return ready

    def ready(self, spec: EvalSpec, golden: GoldenSet, eval_id: str, *, function: bool = False) -> Eval:
        """An eval that can run, not kept.

        Raises:
            ConfigError: everything that is wrong with it.
        """
        self.log_guard.hide(secret_variables(spec))
        made = make_eval(
            spec,
            golden,
            id=eval_id,
            kinds=self.kinds,
            needs_credential={name: kind.needs_credential for name, kind in self.providers.items()},
            function=function,
        )
        ready, problems = fitted(spec, made, self.providers, replaced=made.config.name in self._replaced)
        if problems:
            raise ConfigError(problems)
        return ready

    def planned(self, ready: Eval) -> int:
        """Verdicts of the whole eval, or of the sample or shard that was asked for: what a gate is judged on."""
        return self._planned.get(ready.id, len(ready.golden) * len(ready.criteria))

    def cases_of(self, ready: Eval) -> list[Case]:
        """The cases that `--verica-shard` and `--verica-sample` leave, in the golden set's order."""
        return self.narrowed(ready.golden, ready.config.name)

    def narrowed(self, golden: GoldenSet, name: str) -> list[Case]:
        """The same, of a golden set of the eval of that name."""
        cases = list(golden)
        shard, sample = self._settings.shard, self._settings.sample
        if shard is not None:
            cases = [case for case in cases if _shard_of(case, shard[1]) == shard[0]]
        if sample is not None and sample < len(cases):
            chosen = random.Random(f"{SAMPLE_SEED}:{name}").sample(range(len(cases)), sample)  # noqa: S311
            cases = [cases[index] for index in sorted(chosen)]
        return cases

    def criteria_of(self, ready: Eval) -> tuple[Criterion, ...]:
        """The criteria that `--verica-criterion` leaves."""
        if self._settings.criterion is None:
            return ready.criteria
        return tuple(criterion for criterion in ready.criteria if self.wants(criterion.name))

    def wants(self, criterion: str) -> bool:
        """Whether `--verica-criterion` leaves a criterion of that name."""
        pattern = self._settings.criterion
        return pattern is None or fnmatchcase(criterion, pattern) or fnmatchcase(criterion_id(criterion), pattern)

    def check_options(self) -> None:
        """Raises pytest.UsageError where `--verica-model` or `--verica-criterion` names nothing that was collected."""
        unknown = sorted(set(self._settings.model) - self._replaced)
        if unknown and self.by_id:
            known = ", ".join(sorted(e.config.name for e in self.by_id.values() if e.model is not None)) or "none"
            raise pytest.UsageError(f"--verica-model: no eval with a model is named {unknown[0]!r}; there are: {known}")
        pattern = self._settings.criterion
        if pattern is not None and self.by_id and not any(map(self.criteria_of, self.by_id.values())):
            known = ", ".join(sorted({c.name for e in self.by_id.values() for c in e.criteria}))
            raise pytest.UsageError(f"--verica-criterion: none matches {pattern!r}; there are: {known}")

    def _as_set(self, spec: EvalSpec) -> EvalSpec:
        """The eval with `--verica-repeat` and `--verica-model` applied."""
        changes: dict[str, Any] = {}
        if self._settings.repeat is not None:
            changes["repeat"] = self._settings.repeat
        chosen = self._settings.model.get(spec.config.name)
        if chosen is not None and spec.config.model is not None:
            self._replaced.add(spec.config.name)
            changes["model"] = spec.config.model.model_copy(update={"provider": chosen[0], "name": chosen[1]})
        if not changes:
            return spec
        return EvalSpec(spec.config.model_copy(update=changes), spec.base_dir, spec.document)

    def _gate_problems(self, spec: EvalSpec, golden: GoldenSet) -> list[Problem]:
        config = spec.config
        if config.gate is None:
            return []
        cases = len(golden) * config.repeat
        found = check_gate(config.gate, {c.name: cases for c in config.criteria}, repeat=config.repeat)
        return [Problem(message, spec.place(("gate",))) for message in found]


def _registered(answers: list[Any]) -> dict[str, Any]:
    return {kind.name: kind for kinds in answers for kind in kinds}


def _shard_of(case: Case, count: int) -> int:
    """1 to count, the same for the same id everywhere."""
    digest = hashlib.sha256(case.original_id.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") % count + 1


def place_of(item: pytest.Item) -> Place:
    """Where a test was written."""
    file, line, _ = item.location
    return Place(file, None if line is None else line + 1)
