"""state_check: asks a registered function about the final state that an agent left."""

from __future__ import annotations

import copy
import inspect
import traceback
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from pytest_verica.canonical import content_hash
from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import TemplateMark, TemplateText
from pytest_verica.evals.problems import nearest
from pytest_verica.grade import Grade
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.expected import BadExpected, BlankValue, Expected, Written, shown
from pytest_verica.graders.foresight import refuse_bad_cases
from pytest_verica.graders.function import TOO_DEEP, source_hash
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.text_check import is_template
from pytest_verica.graders.timed_call import TimedCall
from pytest_verica.output import Output
from pytest_verica.path import describe
from pytest_verica.state_checks import STATE_CHECKS, Check, StateChecks, place_of
from pytest_verica.template import Scope, compile_template, is_missing

NO_STATE = (
    "the output has no final state: name the column that holds it in `target.state`, or return {text: …, state: {…}} "
    "from a Python target"
)
NOT_RECORDED = "the target names no column of final states; write `state: <column>` beside `column`"
HOW = '`@pytest_verica.state_check("…")` in conftest.py, or in a module that it imports, registers one'


class StateCheckConfig(CriterionConfig):
    """Asks a registered check about the final state: `(state, **args) -> bool | Grade`, sync or async."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["state_check"]
    check: TemplateText = Field(description="The name under which it is registered.")
    args: Annotated[dict[str, Any] | TemplateText, TemplateMark()] = Field(
        default_factory=dict, description="Its arguments by name; or a template that gives an object of them."
    )
    timeout_s: float = Field(10, gt=0, allow_inf_nan=False, description="Seconds that one call may take.")

    @model_validator(mode="after")
    def _names_a_check(self) -> StateCheckConfig:
        if is_missing(self.check):
            raise ValueError("`check` is empty; it names a registered check")
        if isinstance(self.args, str) and not is_template(self.args):
            raise ValueError("`args` is an object of arguments by name, or a template that gives one")
        return self


class StateCheck:
    """A state_check that is ready."""

    def __init__(self, config: StateCheckConfig, checks: StateChecks) -> None:
        self._name = compile_template(config.check)
        self._args = Expected(config.args)
        self._timeout_s = config.timeout_s
        self._checks = checks
        names = list(checks) if is_template(config.check) else [config.check.strip()]
        self.version = content_hash({name: [source_hash(c) for c in checks[name]] for name in names if name in checks})
        self.code = tuple(check for name in names for check in checks.get(name, ()))

    def wanted(self, scope: Scope) -> tuple[str, Mapping[str, Any]]:
        """The name of the check and its arguments for one case.

        Raises:
            BlankValue: the name, or an argument, is empty here.
            BadExpected: there is no such check, or it does not take such arguments.
        """
        name = self._name.render(scope).strip()
        if not name:
            raise BlankValue(f"the check {self._name.source.strip()} is empty for this case")
        check = find_check(name, self._checks)
        try:
            args = self._args.read(scope)
        except BlankValue:
            if not self._args.whole:
                raise
            args = {}  # a blank cell of arguments: a check without any
        if isinstance(args, Written):
            args = args.value if isinstance(args.value, Mapping) else args.text
        if not isinstance(args, Mapping):
            raise BadExpected(f"`args` is {describe(args)}; an object of arguments by name was expected")
        refuse_other_arguments(name, check, list(args))
        return name, {key: _as_in_the_golden_set(value) for key, value in args.items()}

    def grade(self, case: Case, output: Output) -> Grade:
        try:
            name, args = self.wanted(Scope(case, output))
        except BlankValue as error:
            return Grade.na(f"nothing to check: {error}")
        except BadExpected as error:
            return Grade.failed_to_judge("bad_expected", f"what the case expects cannot be checked: {error}")
        if output.state is None:
            return Grade.failed_to_judge("no_state", NO_STATE)
        # Copies: a check that changes the state must not change what another one sees.
        try:
            check, state, copied = (
                find_check(name, self._checks),
                copy.deepcopy(output.state),
                copy.deepcopy(dict(args)),
            )
        except RecursionError:
            return Grade.failed_to_judge("too_deep", f"`{name}` was not called: {TOO_DEEP}")
        call = TimedCall(lambda: check(state, **copied), self._timeout_s)
        said = f"`{name}`" + (f" with {_listed(args)}" if args else "")
        if not call.ended():
            message = f"{said} did not answer within {self._timeout_s:g} s (`timeout_s`); it is left running"
            return Grade.failed_to_judge("timeout", message)
        if call.error is not None:
            message = f"{said} raised {type(call.error).__name__}: {excerpt(str(call.error))}"
            return Grade.failed_to_judge("exception", message, raw="".join(traceback.format_exception(call.error)))
        return _read(call.result, said, output.state)


def _read(result: Any, said: str, state: Any) -> Grade:
    if type(result).__module__ == "numpy" and hasattr(result, "item"):
        result = result.item()  # numpy's own bool is no bool
    if isinstance(result, Grade):
        return result
    if isinstance(result, bool):
        return Grade.of(result, f"{said} returned {result}; wanted True, of the state {shown(state, 120)}")
    found = "nothing" if result is None else f"a {type(result).__name__}"
    message = f"{said} returned {found}; True, False or a Grade was expected"
    return Grade.failed_to_judge("bad_result", message, raw=repr(result)[:2000])


def _as_in_the_golden_set(value: Any) -> Any:
    """A text cell stays a text: an order's id is no number."""
    if isinstance(value, Written):
        return value.text
    if isinstance(value, Mapping):
        return {key: _as_in_the_golden_set(inner) for key, inner in value.items()}
    return [_as_in_the_golden_set(inner) for inner in value] if isinstance(value, list) else value


def _listed(args: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shown(value, 40)}" for name, value in args.items())


def find_check(name: str, checks: StateChecks) -> Check:
    """Raises BadExpected where there is none of this name, or more than one."""
    found = checks.get(name, ())
    if len(found) == 1:
        return found[0]
    if found:
        raise BadExpected(f"several checks are named {name!r}: {', '.join(map(place_of, found))}; rename all but one")
    known = ", ".join(checks) or "none"
    raise BadExpected(f"no state check is named {name!r}; {nearest(name, checks)}known: {known}; {HOW}")


def refuse_other_arguments(name: str, check: Check, arguments: list[str]) -> None:
    """Raises BadExpected where a check cannot be called with these arguments."""
    try:
        signature = inspect.signature(check)
    except (TypeError, ValueError):
        return  # some built-in functions do not say
    try:
        signature.bind(None, **dict.fromkeys(arguments))
    except TypeError as error:
        given = ", ".join(["state", *(f"{argument}=…" for argument in arguments)])
        raise BadExpected(f"`{name}{signature}` is called as ({given}): {error}") from None


def _refuse_literal_faults(config: StateCheckConfig) -> None:
    name = config.check.strip()
    if is_template(name):
        return
    try:
        check = find_check(name, STATE_CHECKS)
        if isinstance(config.args, dict):
            refuse_other_arguments(name, check, list(config.args))
    except BadExpected as error:
        raise ConfigError(str(error)) from None


def build(config: StateCheckConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where there is no such check, or it does not take such arguments."""
    if context.recorded is not None and "state" not in context.recorded:
        raise ConfigError(NOT_RECORDED)
    _refuse_literal_faults(config)
    check = StateCheck(config, STATE_CHECKS)
    refuse_bad_cases(config, context, lambda case: check.wanted(Scope(case)))
    return check


KIND = GraderKind(
    "state_check", StateCheckConfig, build, "thread", "Asks a registered check about the state that an agent left."
)
