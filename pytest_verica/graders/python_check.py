"""python_check: asks a function of the user."""

from __future__ import annotations

import copy
import math
import traceback
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema, model_validator

from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.function import (
    REFERENCE,
    TOO_DEEP,
    load_function,
    name_of,
    refuse_other_parameters,
    source_hash,
)
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.timed_call import TimedCall
from pytest_verica.output import Output


def _function(value: Any) -> Any:
    if callable(value):
        return value
    if not isinstance(value, str) or not REFERENCE.fullmatch(value):
        raise ValueError(f"`module:function` was expected, such as shop.checks:total_is_right; found {value!r}")
    return value


Function = Annotated[
    Any,
    BeforeValidator(_function),
    PlainSerializer(lambda value: value if isinstance(value, str) else name_of(value), return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{REFERENCE.pattern}$", "description": "module:function"}),
]
Threshold = Annotated[float, Field(strict=True, allow_inf_nan=False)]


class PythonCheckConfig(CriterionConfig):
    """Asks a function: `(output, case) -> bool | float | str | Grade`, sync or async."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["python_check"]
    python: Function
    pass_at: Threshold | None = Field(None, description="The least score that passes; needed for functions that score.")
    passing_labels: list[str] | None = Field(None, min_length=1, description="Labels that pass.")
    timeout_s: float = Field(10, gt=0, allow_inf_nan=False, description="Seconds that one call may take.")

    @model_validator(mode="after")
    def _one_rule(self) -> PythonCheckConfig:
        if self.pass_at is not None and self.passing_labels is not None:
            raise ValueError("keep `pass_at` (for functions that score) or `passing_labels` (for functions that label)")
        return self


class PythonCheck:
    """A python_check that is ready."""

    def __init__(self, config: PythonCheckConfig, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = name_of(function) if not isinstance(config.python, str) else config.python
        self._pass_at = config.pass_at
        self._passing = None if config.passing_labels is None else frozenset(config.passing_labels)
        self._timeout_s = config.timeout_s
        self.version = source_hash(function)
        self.code = (function,)

    def grade(self, case: Case, output: Output) -> Grade:
        try:
            copies = copy.deepcopy(output), copy.deepcopy(case)
        except RecursionError:
            return Grade.failed_to_judge("too_deep", f"`{self._name}` was not called: {TOO_DEEP}")
        call = TimedCall(lambda: self._function(*copies), self._timeout_s)
        if not call.ended():
            return Grade.failed_to_judge(
                "timeout",
                f"`{self._name}` did not answer within {self._timeout_s:g} s (`timeout_s`); it is left running",
            )
        if call.error is not None:
            message = f"`{self._name}` raised {type(call.error).__name__}: {excerpt(str(call.error))}"
            return Grade.failed_to_judge("exception", message, raw="".join(traceback.format_exception(call.error)))
        return self._read(call.result)

    def _read(self, result: Any) -> Grade:
        if type(result).__module__ == "numpy" and hasattr(result, "item"):
            result = result.item()  # numpy's own bool is no bool
        if isinstance(result, Grade):
            return result
        if isinstance(result, bool):
            return Grade.of(result, f"`{self._name}` returned {result}")
        if isinstance(result, (int, float)):
            return self._score(result)
        if isinstance(result, str):
            return self._label(result)
        found = "nothing" if result is None else f"a {type(result).__name__}"
        message = f"`{self._name}` returned {found}; True, False, a number, a label or a Grade was expected"
        return Grade.failed_to_judge("bad_result", message, raw=repr(result)[:2000])

    def _score(self, result: float) -> Grade:
        try:
            score = float(result)
        except OverflowError:
            score = math.inf
        if not math.isfinite(score):
            return Grade.failed_to_judge("bad_score", f"`{self._name}` returned {score}, which is not a finite score")
        if self._pass_at is None:
            message = f"`{self._name}` returned the score {score:g}, and `pass_at` does not say from which on it passes"
            return Grade.failed_to_judge("bad_result", message)
        sentence = f"`{self._name}` returned the score {score:g}; wanted at least {self._pass_at:g}"
        return Grade.of(score >= self._pass_at, sentence, score=score)

    def _label(self, label: str) -> Grade:
        if self._passing is None:
            message = f"`{self._name}` returned the label {excerpt(label)}, and `passing_labels` names none"
            return Grade.failed_to_judge("bad_result", message)
        wanted = ", ".join(sorted(self._passing))
        sentence = f"`{self._name}` returned the label {excerpt(label)}; passing: {wanted}"
        return Grade.of(label in self._passing, sentence, label=label)


def _refuse_impossible(config: PythonCheckConfig, function: Callable[..., Any]) -> None:
    """What a function says it returns must fit what the criterion says passes."""
    returns = getattr(function, "__annotations__", {}).get("return")
    name = getattr(returns, "__name__", returns)
    if name in ("float", "int") and config.pass_at is None:
        raise ConfigError(f"`{name_of(function)}` returns a score; `pass_at` must say from which on it passes")
    if name == "str" and config.passing_labels is None:
        raise ConfigError(f"`{name_of(function)}` returns a label; `passing_labels` must say which of them pass")


def build(config: PythonCheckConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where the function cannot be imported or does not take (output, case)."""
    function = load_function(config.python, context.base_dir) if isinstance(config.python, str) else config.python
    refuse_other_parameters(function, "output", "case")
    _refuse_impossible(config, function)
    return PythonCheck(config, function)


KIND = GraderKind("python_check", PythonCheckConfig, build, "thread", "Asks a Python function of yours.")
