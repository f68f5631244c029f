"""The evals of this run: read, checked and narrowed to what the options select."""

from __future__ import annotations

import random
import warnings
import zlib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_verica.case import Case
from pytest_verica.engine.identity import EvalCode, eval_code
from pytest_verica.engine.parameters import fitted
from pytest_verica.engine.plan import Eval, load_golden, make_eval, missing_credentials, secret_variables
from pytest_verica.errors import ConfigError, Place, Problem
from pytest_verica.evals.config import EvalSpec
from pytest_verica.evals.gate import BaselineGate
from pytest_verica.evals.load import criterion_id, load_eval
from pytest_verica.evals.target import ColumnTarget, HttpTarget, RecordTarget
from pytest_verica.golden import GoldenSet
from pytest_verica.graders.configs import Configs
from pytest_verica.graders.criterion import Criterion
from pytest_verica.graders.protocol import GraderKind
from pytest_verica.judge.registry import KINDS
from pytest_verica.plugin.settings import Settings
from pytest_verica.providers.log_guard import LogGuard
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.providers.registry import PROVIDERS
from pytest_verica.report.gate_check import Planned, check_baseline, check_gate
from pytest_verica.report.gates import NO_BASELINE

if TYPE_CHECKING:
    from pytest_verica.report.baseline import BaselineFacts

SAMPLE_SEED = 20261


class Evals:
    """Every eval that was collected, by id."""

    def __init__(self, config: pytest.Config, settings: Settings, baseline: BaselineFacts | None = None) -> None:
        self._settings = settings
        self._root = config.rootpath
        self._replaced: set[str] = set()
        self._planned: dict[str, int] = {}
        self._parts: set[str] = set()
        self._places: dict[str, Place] = {}
        self._tests: dict[str, list[Callable[..., Any]]] = {}
        self._code: dict[str, EvalCode] = {}
        self._baseline = baseline
        self._sample_hook = config.hook.pytest_verica_sample
        hook = config.hook
        self._code_hooks = (
            hook.pytest_verica_sample,
            hook.pytest_verica_grade,
            hook.pytest_verica_graders,
            hook.pytest_verica_providers,
        )
        self.by_id: dict[str, Eval] = {}
        self.log_guard = LogGuard()
        self.kinds: Mapping[str, GraderKind] = KINDS.extended(_registered(config.hook.pytest_verica_graders()))
        self.providers: Mapping[str, ProviderKind] = PROVIDERS.extended(
            _registered(config.hook.pytest_verica_providers())
        )

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
        self,
        spec: EvalSpec,
        golden: GoldenSet,
        eval_id: str,
        *,
        test: Callable[..., Any] | None = None,
        whole: bool = False,
    ) -> Eval:
        """Checks an eval and keeps it. test: the marked function, None for a file's; whole: its golden set holds only
        what the options left already.

        Raises:
            ConfigError: everything that is wrong with it.
        """
        spec = self._as_set(spec)
        for warning in golden.warnings:
            warnings.warn(pytest.PytestWarning(f"{eval_id}: {warning}"), stacklevel=2)
        problems: list[Problem] = []
        ready: Eval | None = None
        try:
            ready, problems = self._fitted(spec, golden, eval_id, test is not None)
        except ConfigError as error:
            problems += error.problems
        # In a replay nothing is called, so no key is needed.
        problems += [] if self._settings.replay else missing_credentials(spec)
        problems += self._gate_problems(spec, golden, whole)
        name = spec.config.name
        twin = next((e for e in self.by_id.values() if e.config.name == name and e.id != eval_id), None)
        if twin is not None:
            message = f"two evals are named {name!r}; the other is {twin.id}: names are unique in a run"
            problems.append(Problem(message, spec.place(("name",))))
        if problems or ready is None:
            raise ConfigError(problems)
        self.by_id[eval_id] = ready
        if whole and (self._settings.shard or self._settings.sample):
            self._parts.add(eval_id)
        self._tests[eval_id] = [] if test is None else [test]
        self._places[eval_id] = spec.place(("gate", "baseline"))
        cases = len(ready.golden) if whole else len(self.cases_of(ready))
        self._planned[eval_id] = cases * len(ready.criteria) * ready.config.repeat
        return ready

    def code_of(self, ready: Eval) -> EvalCode:
        """What is known of the user's code behind an eval; looked at once."""
        found = self._code.get(ready.id)
        if found is None and ready.id not in self.by_id:
            return EvalCode(None, {criterion.id: None for criterion in ready.criteria}, None)  # of a `verica` fixture
        if found is None:
            hooks = [impl.function for hook in self._code_hooks for impl in hook.get_hookimpls()]
            found = self._code[ready.id] = eval_code(ready, [*hooks, *self._tests.get(ready.id, ())], self._root)
        return found

    def ready(self, spec: EvalSpec, golden: GoldenSet, eval_id: str, *, function: bool = False) -> Eval:
        """An eval that can run, not kept.

        Raises:
            ConfigError: everything that is wrong with it.
        """
        ready, problems = self._fitted(spec, golden, eval_id, function)
        if problems:
            raise ConfigError(problems)
        return ready

    def _fitted(self, spec: EvalSpec, golden: GoldenSet, eval_id: str, function: bool) -> tuple[Eval, list[Problem]]:
        """An eval that can run but for what its models do not take."""
        self.log_guard.hide(secret_variables(spec))
        ready = make_eval(spec, golden, id=eval_id, kinds=self.kinds, providers=self.providers, function=function)
        return fitted(spec, ready, self.providers, replaced=ready.config.name in self._replaced)

    def planned(self, ready: Eval) -> int:
        """Verdicts of the whole eval, or of the sample or shard that was asked for: what a gate is judged on."""
        return self._planned.get(ready.id, len(ready.golden) * len(ready.criteria))

    def knows_whole(self, ready: Eval) -> bool:
        """Whether the eval's golden set is the whole one. Not where a test's parameters are combined with the cases
        that `--verica-shard` or `--verica-sample` left."""
        return ready.id not in self._parts

    def cases_of(self, ready: Eval) -> list[Case]:
        """The cases that `--verica-shard` and `--verica-sample` leave, in the golden set's order."""
        return self.narrowed(ready.golden, ready.config.name)

    def narrowed(self, golden: GoldenSet, name: str) -> list[Case]:
        """The same, of a golden set of the eval of that name."""
        cases = list(golden)
        shard, sample = self._settings.shard, self._settings.sample
        if shard is not None:
            cases = [case for case in cases if _in_shard(case.position, name, shard)]
        if sample is not None and sample < len(cases):
            chosen = random.Random(f"{SAMPLE_SEED}:{name}").sample(range(len(cases)), sample)  # noqa: S311
            cases = [cases[index] for index in sorted(chosen)]
        return cases

    def in_shard(self, test: str) -> bool:
        """Whether a test that grades by itself (the `verica` fixture) runs in this shard: in one of them, as a case."""
        shard = self._settings.shard
        return shard is None or _in_shard(0, test, shard)

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

    def check_baseline(self, selected: Mapping[str, int]) -> None:
        """Raises pytest.UsageError where a gate that will be judged needs a baseline and cannot be held against it."""
        for ready in self.by_id.values():
            gate = ready.config.gate
            whole = selected.get(ready.id) == self.planned(ready) and self._settings.shard is None
            if gate is None or gate.baseline is None or not whole:
                continue
            problem = self._baseline_problem(ready, gate.baseline)
            if problem is not None:
                raise pytest.UsageError(f"{self._places[ready.id]}: {problem}")

    def _baseline_problem(self, ready: Eval, rule: BaselineGate) -> str | None:
        if self._settings.baseline == NO_BASELINE:
            return None
        facts = self._baseline
        if facts is None:
            return (
                "the gate has `baseline`, and no run to hold it against: name one with `--verica-baseline RUN` (its "
                "number or id, `last`, a path), or write `--verica-baseline none` to make the first one"
            )
        known = facts.of(ready.id, ready.config.name)
        if known is None:
            return (
                f"the gate has `baseline`, and {facts.run} has no eval {ready.config.name!r}: choose another run, or "
                "take `baseline` out until a run has it"
            )
        hashes = {criterion.id: criterion.version_hash for criterion in ready.criteria}
        return check_baseline(rule, facts.run, facts.passed(known, hashes))

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

    def _gate_problems(self, spec: EvalSpec, golden: GoldenSet, whole: bool) -> list[Problem]:
        config = spec.config
        if config.gate is None:
            return []
        # A shard's gate is judged when all are merged; a sample's on the sample.
        whole = whole or self._settings.sample is None
        cases = (len(golden) if whole else len(self.narrowed(golden, config.name))) * config.repeat
        counts = {criterion.name: cases for criterion in config.criteria}
        judges = sum(self.kinds[criterion.type].runs == "model" for criterion in config.criteria)
        planned = Planned(counts, config.repeat, self._may_cost(spec), self._settings.sample, judges)
        return [Problem(message, spec.place(("gate",))) for message in check_gate(config.gate, planned)]

    def _may_cost(self, spec: EvalSpec) -> bool:
        """Whether producing an output can have a cost that is known."""
        free = isinstance(spec.config.target, (ColumnTarget, RecordTarget, HttpTarget))
        return not free or bool(self._sample_hook.get_hookimpls())


def _registered(answers: list[Any]) -> dict[str, Any]:
    return {kind.name: kind for kinds in answers for kind in kinds}


def _in_shard(position: int, name: str, shard: tuple[int, int]) -> bool:
    """Whether the shard I/N has the case at this place of an eval. Cases are dealt out one by one, so that shards are
    of one size; the name says which shard is first, so that small evals do not all fall to the first."""
    number, count = shard
    return (zlib.crc32(name.encode("utf-8", "surrogatepass")) + position) % count == number - 1


def place_of(item: pytest.Item) -> Place:
    """Where a test was written."""
    file, line, _ = item.location
    return Place(file, None if line is None else line + 1)
