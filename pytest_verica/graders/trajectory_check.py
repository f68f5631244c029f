"""trajectory_check: looks at the steps that an agent took: its tool calls, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictInt, model_validator

from pytest_verica.case import Case
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import TemplateMark, TemplateText
from pytest_verica.grade import Grade
from pytest_verica.graders.calls import (
    NoCalls,
    broken_arguments,
    refuse_unknown_tools,
    refuse_unrecorded,
    show_names,
    steps_taken,
    unknown_tool,
)
from pytest_verica.graders.expected import BadExpected, BlankValue, Expected, Written, plain
from pytest_verica.graders.foresight import refuse_bad_cases
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.text_check import is_template
from pytest_verica.graders.trajectory_rules import (
    ReferenceStep,
    Sequencing,
    intruders,
    missing,
    out_of_order,
    out_of_sequence,
    too_many_calls,
    too_many_steps,
    unfinished,
)
from pytest_verica.output import Output
from pytest_verica.path import describe, is_array
from pytest_verica.template import Scope, is_missing
from pytest_verica.tool_calls import NotToolCalls, ToolCall, read_tool_calls

_RULES = ("required", "forbidden", "before", "sequence", "max_steps", "max_calls", "finished")


def _names(value: Any) -> Any:
    if value in ([], ""):
        raise ValueError("the list is empty, which checks nothing")
    return value


Names = Annotated[list[TemplateText] | TemplateText | None, BeforeValidator(_names)]
Count = Annotated[StrictInt, Field(ge=0)]


class TrajectoryCheckConfig(CriterionConfig):
    """Looks at the steps that an agent took; every rule that is written must hold."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["trajectory_check"]
    required: Names = Field(None, description="Tools that must be called; a list, or a template that gives one.")
    forbidden: Names = Field(None, description="Tools that must not be called.")
    before: list[tuple[TemplateText, TemplateText]] | None = Field(
        None, min_length=1, description="Pairs: the first call of the one precedes the first of the other."
    )
    sequence: Sequencing | None = Field(
        None, description="How the steps follow `reference`: exactly, with others between, or in any order."
    )
    reference: Annotated[Any, TemplateMark()] = Field(
        None, description="Names of tools, or {name, arguments}: a list, or a template that gives one."
    )
    max_steps: Count | None = Field(None, description="The most tool calls in all.")
    max_calls: dict[str, Count] | None = Field(None, min_length=1, description="The most calls of a tool.")
    finished: Literal[True] | None = Field(None, description="The agent's turn ended by itself.")

    @model_validator(mode="after")
    def _has_rules(self) -> TrajectoryCheckConfig:
        if all(getattr(self, rule) is None for rule in _RULES):
            raise ValueError(f"write at least one rule: {', '.join(_RULES)}")
        if (self.sequence is None) != (self.reference is None):
            raise ValueError("`sequence` and `reference` go together: how the steps follow, and what they follow")
        if self.reference == "" or (self.reference == [] and self.sequence != "exact"):
            raise ValueError("`reference` is empty, which checks nothing; no step at all is `max_steps: 0`")
        for one, other in self.before or ():
            if one.strip() == other.strip():
                raise ValueError(f"`before`: {one!r} cannot come before itself")
        return self


@dataclass
class _Rules:
    """The rules for one case. blank: sentences about those that were left out."""

    required: list[str] = field(default_factory=list)
    forbidden: list[str] = field(default_factory=list)
    before: list[tuple[str, str]] = field(default_factory=list)
    reference: list[ReferenceStep] | None = None
    blank: list[str] = field(default_factory=list)

    @contextmanager
    def reading(self, rule: str) -> Iterator[None]:
        """A rule whose value is empty for this case is left out, and that is noted."""
        try:
            yield
        except BlankValue as error:
            self.blank.append(f"`{rule}` was not checked: {error}")

    @property
    def names(self) -> list[str]:
        pairs = [name for pair in self.before for name in pair]
        return [*self.required, *self.forbidden, *pairs, *(step.name for step in self.reference or ())]


class TrajectoryCheck:
    """A trajectory_check that is ready."""

    def __init__(self, config: TrajectoryCheckConfig, context: BuildContext) -> None:
        self._required = _each(config.required)
        self._forbidden = _each(config.forbidden)
        self._before = [(Expected(first), Expected(then)) for first, then in config.before or ()]
        self._sequence = config.sequence
        self._reference = Expected(config.reference)
        self._max_steps = config.max_steps
        self._max_calls = config.max_calls or {}
        self._finished = config.finished is not None
        self._tools = context.tools

    def grade(self, case: Case, output: Output) -> Grade:
        try:
            rules = self.rules(Scope(case, output))
            calls = steps_taken(output)
        except BlankValue as error:
            return Grade.na(f"nothing to check: {error}")
        except BadExpected as error:
            return Grade.failed_to_judge("bad_expected", f"what the case expects cannot be checked: {error}")
        except NoCalls as error:
            return Grade.failed_to_judge(error.kind, str(error), error.raw)
        if self._finished and is_missing(output.stop_reason):
            return Grade.failed_to_judge("no_stop_reason", "whether it finished is not known: no stop reason was kept")
        broken = self._broken(rules, calls, output)
        steps = show_names([call.name for call in calls]) or "none"
        noted = f" ({'; '.join(rules.blank)})" if rules.blank else ""
        details = {"steps": [call.name for call in calls[:1000]], "broken": broken}
        if not broken:
            return Grade.of(True, f"every rule holds; the steps: {steps}{noted}", details=details)
        count = "one rule is broken" if len(broken) == 1 else f"{len(broken)} rules are broken"
        return Grade.of(False, f"{count}: {'; '.join(broken)}; the steps: {steps}{noted}", details=details)

    def _broken(self, rules: _Rules, calls: Sequence[ToolCall], output: Output) -> list[str]:
        found: list[str | None] = [missing(rules.required, calls), intruders(rules.forbidden, calls)]
        found += [out_of_order(first, then, calls) for first, then in rules.before]
        if self._sequence is not None and rules.reference is not None:
            found.append(out_of_sequence(self._sequence, rules.reference, calls))
        if self._max_steps is not None:
            found.append(too_many_steps(self._max_steps, calls))
        found += too_many_calls(self._max_calls, calls)
        if self._finished:
            found.append(unfinished(output.stop_reason or ""))
        return [sentence for sentence in found if sentence is not None]

    def rules(self, scope: Scope) -> _Rules:
        """The rules for one case.

        Raises:
            BlankValue: all that there is to check is empty here.
            BadExpected: it cannot be checked.
        """
        rules = _Rules()
        for expected in self._required:
            with rules.reading("required"):
                rules.required += _tool_names(expected.read(scope))
        for expected in self._forbidden:
            with rules.reading("forbidden"):
                rules.forbidden += _tool_names(expected.read(scope))
        for first, then in self._before:
            with rules.reading("before"):
                rules.before.append((_name(first.read(scope)), _name(then.read(scope))))
        if self._sequence is not None:
            with rules.reading("reference"):
                rules.reference = self._steps_to_follow(scope)
        asked = self._max_steps is not None or self._max_calls or self._finished
        if not (asked or rules.names or rules.reference is not None):
            raise BlankValue("; ".join(rules.blank))
        for name in rules.names:
            unknown = unknown_tool(name, self._tools)
            if unknown is not None:
                raise BadExpected(unknown)
        return rules

    def _steps_to_follow(self, scope: Scope) -> list[ReferenceStep]:
        reference = _steps(self._reference.read(scope))
        if not reference and self._sequence != "exact":
            raise BlankValue("its list is empty for this case")
        return reference


def _each(written: list[str] | str | None) -> list[Expected]:
    return [Expected(name) for name in ([written] if isinstance(written, str) else written or ())]


def _tool_names(value: Any) -> list[str]:
    value = value.array if isinstance(value, Written) and value.array is not None else value
    names = [_name(part) for part in (value if is_array(value) else [value])]
    if not names:
        raise BlankValue("its list is empty for this case")
    return names


def _name(value: Any) -> str:
    name = value.text if isinstance(value, Written) else value
    if not isinstance(name, str) or is_missing(name):
        raise BadExpected(f"the name of a tool was expected, found {describe(plain(value))}")
    return name.strip()


def _steps(value: Any) -> list[ReferenceStep]:
    value = value.array if isinstance(value, Written) and value.array is not None else value
    if not is_array(value):
        raise BadExpected(
            f"`reference` is {describe(plain(value))}; a list of names or of {{name, arguments}} was expected"
        )
    steps: list[ReferenceStep] = []
    for item in value:
        if isinstance(item, dict) and set(item) <= {"name", "arguments"} and "name" in item:
            steps.append(_step(item))
            continue
        try:
            calls = read_tool_calls([plain(item)])
        except NotToolCalls as error:
            raise BadExpected(f"`reference`: {error}") from None
        for call in calls:
            if call.arguments is None and call.raw_arguments is not None:
                raise BadExpected(f"`reference`: of `{call.name}` {broken_arguments(call)}")
            steps.append(ReferenceStep(call.name, call.arguments))
    return steps


def _step(item: dict[str, Any]) -> ReferenceStep:
    """A step as an eval writes it, whose arguments may hold templates."""
    name, arguments = _name(item["name"]), item.get("arguments")
    if isinstance(arguments, str):  # as OpenAI writes them: a text of JSON
        arguments = Written(arguments)
    return ReferenceStep(name, arguments)


def _literal_names(config: TrajectoryCheckConfig) -> Iterator[str]:
    yield from config.max_calls or ()
    for written in (config.required, config.forbidden):
        yield from map(str.strip, [written] if isinstance(written, str) else written or ())
    for pair in config.before or ():
        yield from map(str.strip, pair)
    for step in config.reference if isinstance(config.reference, list) else ():
        name = step.get("name") if isinstance(step, dict) else step
        if isinstance(name, str):
            yield name.strip()


def build(config: TrajectoryCheckConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where it names a tool that the prompt does not define, or where nothing would be checked."""
    refuse_unrecorded(context)
    refuse_unknown_tools([name for name in _literal_names(config) if not is_template(name)], context.tools)
    check = TrajectoryCheck(config, context)
    refuse_bad_cases(config, context, lambda case: check.rules(Scope(case)))
    return check


KIND = GraderKind(
    "trajectory_check",
    TrajectoryCheckConfig,
    build,
    "inline",
    "Looks at an agent's steps: which tools, in which order.",
)
