"""A criterion that is ready: its run condition, its grader or judge, and what becomes of what they say."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

from pytest_verica.canonical import content_hash
from pytest_verica.case import Case
from pytest_verica.errors import ConfigError, MissingOutput, ProviderError, VericaError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.load import criterion_id
from pytest_verica.grade import Grade
from pytest_verica.graders.condition import Condition
from pytest_verica.graders.protocol import Ask, BuildContext, Grader, GraderKind, Judge
from pytest_verica.output import Output

COULD_NOT_EVALUATE = (
    "The judge could not evaluate. If this persists, the model or endpoint may not support structured (JSON) output: "
    "choose another model or credential."
)


@runtime_checkable
class Versioned(Protocol):
    """A grader with more to its version than its configuration, such as the source of a function."""

    version: str


@dataclass(frozen=True, eq=False)  # one of a kind: compared and hashed as the object it is
class Criterion:
    """One named check of an eval.

    id: the name as it stands in node ids; version_hash: of everything that decides its verdicts; judge_hash: identity
    of its judge, None for graders that ask no model.
    """

    id: str
    name: str
    kind: GraderKind
    config: CriterionConfig
    grader: Grader | Judge
    version_hash: str
    judge_hash: str | None = None

    @cached_property
    def _condition(self) -> Condition | None:
        only_if = self.config.only_if
        return None if only_if is None else Condition(only_if, self.config.otherwise)

    @cached_property
    def _grade(self) -> Callable[[Case, Output], Any]:
        if not isinstance(self.grader, Grader):
            raise TypeError(f"the criterion {self.name!r} asks a model: it is judged, not graded")
        return self.grader.grade

    @cached_property
    def _judge(self) -> Callable[[Case, Output, Ask], Awaitable[Any]]:
        if not isinstance(self.grader, Judge):
            raise TypeError(f"the criterion {self.name!r} asks no model: it is graded, not judged")
        return self.grader.judge

    def precheck(self, case: Case, output: Output) -> Grade | None:
        """What the run condition decides without looking further, None where the criterion is to be looked at."""
        condition = self._condition
        return None if condition is None else condition.decide(case, output)

    def finish(self, grade: Grade) -> Grade:
        """Negation, which swaps pass and fail only, and the judge's identity."""
        if self.config.negate:
            grade = grade.negated()
        if self.judge_hash is not None and grade.judge_hash is None:
            grade = replace(grade, judge_hash=self.judge_hash)
        return grade

    def grade(self, case: Case, output: Output) -> Grade:
        """The verdict of a criterion that asks no model."""
        check = self._grade
        try:
            if self._condition is not None:
                decided = self._condition.decide(case, output)
                if decided is not None:
                    return decided
            grade = check(case, output)
            if grade.__class__ is not Grade:
                return self._not_a_grade(grade)
            return self.finish(grade)
        except Exception as error:  # noqa: BLE001 - a grader that crashes has said nothing about the output
            return self._failed(error)

    async def judge(self, case: Case, output: Output, ask: Ask) -> Grade:
        """The verdict of a criterion that asks a model."""
        try:
            decided = self.precheck(case, output)
            if decided is not None:
                return self._signed(decided)
            grade = await self._judge(case, output, ask)
            return self.finish(grade) if isinstance(grade, Grade) else self._not_a_grade(grade)
        except ProviderError as error:
            message = f"{COULD_NOT_EVALUATE} Cause: {error.message}"
            return self._signed(Grade.failed_to_judge(error.kind, message, raw=error.raw))
        except Exception as error:  # noqa: BLE001 - as above
            return self._signed(self._failed(error))

    def _signed(self, grade: Grade) -> Grade:
        return grade if self.judge_hash is None else replace(grade, judge_hash=self.judge_hash)

    def _not_a_grade(self, found: object) -> Grade:
        message = f"the grader {self.kind.name} returned a {type(found).__name__}; a Grade was expected"
        return self._signed(Grade.failed_to_judge("grader_error", message, raw=repr(found)[:2000]))

    def _failed(self, error: Exception) -> Grade:
        if isinstance(error, MissingOutput):
            # Not negated: nothing was there to be checked, and that is never a pass.
            return Grade.of(False, str(error))
        raw = "".join(traceback.format_exception(error))
        kind = "config_error" if isinstance(error, ConfigError) else "grader_error"
        said = str(error) if isinstance(error, VericaError) else f"{type(error).__name__}: {error}"
        return Grade.failed_to_judge(kind, f"the criterion could not be evaluated: {said}", raw=raw)


def make_criterion(config: CriterionConfig, kinds: Mapping[str, GraderKind], context: BuildContext) -> Criterion:
    """Builds everything that can be built before the first case.

    Raises:
        ConfigError: what the configuration asks for cannot be done.
    """
    kind = kinds.get(config.type)
    if kind is None:
        raise ConfigError(f"unknown type {config.type!r}; known types: {', '.join(kinds)}")
    if config.only_if is not None:
        Condition(config.only_if, config.otherwise)
    grader = kind.build(config, context)
    if isinstance(grader, Judge) and kind.runs != "model":
        kind = replace(kind, runs="model")  # one kind may ask a model for some of its configurations only
    # What people are told of a criterion decides no verdict.
    version: list[Any] = [config.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude={"description"})]
    if isinstance(grader, Versioned):
        version.append(grader.version)
    return Criterion(
        id=criterion_id(config.name),
        name=config.name,
        kind=kind,
        config=config,
        grader=grader,
        version_hash=content_hash(version),
        judge_hash=getattr(grader, "judge_hash", None),
    )
