"""An eval made ready to run: golden set read, criteria built, every template checked, before anything is called."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_verica.case import Case
from pytest_verica.engine.callables import arguments_for, import_target
from pytest_verica.errors import ConfigError, Problem, TemplateError
from pytest_verica.evals.config import EvalConfig, EvalSpec, PythonRows
from pytest_verica.evals.fields import Location, templates_of
from pytest_verica.evals.problems import nearest
from pytest_verica.evals.prompt import Prompt
from pytest_verica.evals.target import ColumnTarget, HttpTarget, PythonTarget, RecordTarget
from pytest_verica.golden import GoldenSet, load_golden_set
from pytest_verica.graders.criterion import Criterion, make_criterion
from pytest_verica.graders.protocol import BuildContext, GraderKind
from pytest_verica.providers.protocol import ProviderKind
from pytest_verica.request import ModelSpec
from pytest_verica.template import compile_template


@dataclass(frozen=True, eq=False)
class Eval:
    """An eval that can run. id: its node id; spec: what was written, with its places; left_out: parameters that are not
    sent because a model does not take them, as the report shows them."""

    id: str
    config: EvalConfig
    base_dir: Path
    golden: GoldenSet
    criteria: tuple[Criterion, ...]
    prompt: Prompt | None = None
    model: ModelSpec | None = None
    function: bool = False
    spec: EvalSpec | None = None
    left_out: tuple[Mapping[str, Any], ...] = ()

    @property
    def planned(self) -> int:
        """Verdicts of the whole eval."""
        return len(self.golden) * len(self.criteria) * self.config.repeat

    @cached_property
    def offline(self) -> bool:
        """Whether every verdict comes from the golden set and quick pure checks: no thread, no call."""
        recorded = isinstance(self.config.target, (ColumnTarget, RecordTarget))
        return recorded and all(criterion.kind.runs == "inline" for criterion in self.criteria)

    @cached_property
    def criterion_by_id(self) -> Mapping[str, Criterion]:
        return {criterion.id: criterion for criterion in self.criteria}

    @cached_property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns that a person needs to judge a verdict: those of the prompt, else all."""
        used = self.prompt.columns if self.prompt is not None else frozenset()
        return tuple(column for column in self.golden.columns if not used or column in used)


@dataclass(frozen=True, eq=False)
class Job:
    """A sample of a case with the criteria that were selected for it."""

    eval: Eval
    case: Case
    sample: int
    criteria: tuple[Criterion, ...]

    @property
    def key(self) -> tuple[str, str, int]:
        return (self.eval.id, self.case.id, self.sample)


def load_golden(spec: EvalSpec) -> GoldenSet:
    """The golden set that an eval names.

    Raises:
        ConfigError: it names none, or the golden set is wrong.
    """
    written = spec.config.golden_set
    if written is None:
        raise ConfigError("`golden_set` is missing: name the file of cases", spec.place(()))
    source = {"python": written.python} if isinstance(written, PythonRows) else written
    return load_golden_set(source, spec.base_dir)


def make_eval(
    spec: EvalSpec,
    golden: GoldenSet,
    *,
    id: str,
    kinds: Mapping[str, GraderKind],
    providers: Mapping[str, ProviderKind],
    function: bool = False,
) -> Eval:
    """Builds and checks an eval. kinds, providers: those that are known, by name.

    Raises:
        ConfigError: everything that can be known to be wrong before the first call, all of it together.
    """
    config = spec.config
    problems: list[Problem] = []
    if not function and config.target is None and config.prompt is None:
        problems.append(Problem("nothing to evaluate: write a `target`, or `prompt` with `model`", spec.place(())))
    problems += _template_problems(spec, golden)
    problems += _target_problems(spec, golden)
    problems += _model_problems(spec, providers)
    prompt = None
    with contextlib.suppress(TemplateError):  # it is among the problems already
        prompt = None if config.prompt is None else Prompt(config.prompt)
    recorded = frozenset(config.target.columns()) if isinstance(config.target, ColumnTarget) else None
    context = BuildContext(spec.base_dir, () if prompt is None else prompt.tools, golden, recorded)
    criteria: list[Criterion] = []
    for index, criterion in enumerate(config.criteria):
        try:
            criteria.append(make_criterion(criterion, kinds, context))
        except TemplateError:
            pass  # it is among the problems already
        except ConfigError as error:
            place = spec.place(("criteria", index))
            problems += [
                Problem(f"criterion {criterion.name!r}: {p.message}", p.place or place) for p in error.problems
            ]
    if problems:
        raise ConfigError(problems)
    model = None if config.model is None else config.model.spec()
    return Eval(id, config, spec.base_dir, golden, tuple(criteria), prompt, model, function, spec)


def _template_problems(spec: EvalSpec, golden: GoldenSet) -> list[Problem]:
    problems: list[Problem] = []
    for location, text in templates_of(spec.config):
        try:
            names = [*golden.columns, *_given_names(spec, location)]
            found = compile_template(text).problems(names, output=location[0] == "criteria")
        except TemplateError as error:
            found = [problem.message for problem in error.problems]
        place = spec.place(location)
        where = _where(spec, location)
        problems += [Problem(f"{where}: {message}", place) for message in found]
    return problems


def _given_names(spec: EvalSpec, location: Location) -> frozenset[str]:
    """Names that a criterion gives to its own prompt."""
    if location[0] == "criteria" and isinstance(location[1], int) and location[2] == "prompt":
        return spec.config.criteria[location[1]].prompt_names
    return frozenset()


def _where(spec: EvalSpec, location: Location) -> str:
    if location[0] == "criteria" and isinstance(location[1], int):
        rest = ".".join(str(part) for part in location[2:])
        return f"criterion {spec.config.criteria[location[1]].name!r}, `{rest}`"
    return f"`{'.'.join(str(part) for part in location)}`"


def _target_problems(spec: EvalSpec, golden: GoldenSet) -> list[Problem]:
    target = spec.config.target
    named: dict[str, str] = {}
    if isinstance(target, ColumnTarget):
        named = target.columns()
    elif isinstance(target, RecordTarget):
        named = {"record": target.record}
    known = ", ".join(golden.columns)
    problems = [
        Problem(
            f"the golden set has no column {column!r}; {nearest(column, golden.columns)}its columns: {known}",
            spec.place(("target", part)),
        )
        for part, column in named.items()
        if column not in golden.columns
    ]
    if isinstance(target, PythonTarget):
        try:
            arguments_for(import_target(target.python, spec.base_dir), target.python, golden.columns)
        except ConfigError as error:
            problems += [Problem(problem.message, spec.place(("target", "python"))) for problem in error.problems]
    if isinstance(target, HttpTarget):
        problems += [
            Problem(
                f"the environment variable {name} is not set; the target's url or a header needs it",
                spec.place(("target", "http")),
            )
            for name in target.http.environment()
            if not os.environ.get(name)
        ]
    return problems


def _model_problems(spec: EvalSpec, providers: Mapping[str, ProviderKind]) -> list[Problem]:
    problems: list[Problem] = []
    for location, model in _models(spec):
        place = spec.place(location)
        if model.provider not in providers:
            hint = nearest(model.provider, providers)
            known = ", ".join(providers)
            message = f"unknown provider {model.provider!r}; {hint}known providers: {known}"
            problems.append(Problem(message, spec.place((*location, "provider"))))
        elif providers[model.provider].needs_credential and model.credential is None:
            message = f"`credential` is missing: name the environment variable that holds the key for {model.provider}"
            problems.append(Problem(message, place))
    return problems


def secret_variables(spec: EvalSpec) -> list[str]:
    """The environment variables that hold keys, or may, for this eval."""
    target = spec.config.target
    names = [model.credential for _, model in _models(spec) if model.credential is not None]
    return names + (list(target.http.environment()) if isinstance(target, HttpTarget) else [])


def missing_credentials(spec: EvalSpec) -> list[Problem]:
    """Each environment variable that this eval's models name and that is not set, where it is named."""
    return [
        Problem(
            f"the environment variable {model.credential} is not set; {model.provider}/{model.name} needs it",
            spec.place((*location, "credential")),
        )
        for location, model in _models(spec)
        if model.credential is not None and not os.environ.get(model.credential)
    ]


def _models(spec: EvalSpec) -> Iterator[tuple[Location, Any]]:
    """The models that an eval names, and where."""
    if spec.config.model is not None:
        yield ("model",), spec.config.model
    for index, criterion in enumerate(spec.config.criteria):
        model = getattr(criterion, "model", None)
        if model is not None:
            yield ("criteria", index, "model"), model
