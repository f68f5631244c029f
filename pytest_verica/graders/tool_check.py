"""tool_check: whether a tool was called, with which arguments, how often, and no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from pytest_verica.canonical import content_hash
from pytest_verica.case import Case
from pytest_verica.errors import ConfigError
from pytest_verica.evals.criterion import CriterionConfig
from pytest_verica.evals.fields import TemplateText
from pytest_verica.grade import Grade
from pytest_verica.graders.argument_rule import ArgumentConfig, ArgumentRule, equal_arguments, rules_of_cell
from pytest_verica.graders.bounds import Bounds
from pytest_verica.graders.calls import (
    NoCalls,
    broken_arguments,
    calls_made,
    name_of,
    refuse_unknown_tools,
    refuse_unrecorded,
    show_call,
    show_names,
    unknown_tool,
)
from pytest_verica.graders.expected import BadExpected, BlankValue
from pytest_verica.graders.foresight import refuse_bad_cases
from pytest_verica.graders.protocol import BuildContext, Grader, GraderKind
from pytest_verica.graders.schema import Schema
from pytest_verica.graders.schema_names import SchemaStopped
from pytest_verica.graders.shorthand import Shorthand
from pytest_verica.graders.text_check import is_template
from pytest_verica.json_text import read_json
from pytest_verica.output import Output
from pytest_verica.template import Scope, compile_template, is_missing
from pytest_verica.tool_calls import ToolCall


def _rules(value: Any) -> Any:
    return equal_arguments(value) if isinstance(value, dict) else value


Arguments = Annotated[
    list[ArgumentConfig] | TemplateText, BeforeValidator(_rules), Shorthand({"type": "object", "minProperties": 1})
]


class ToolCheckConfig(CriterionConfig):
    """Looks at the tools that were called."""

    model_config = ConfigDict(defer_build=True)  # built for the kinds in use only: it takes 10 ms each

    type: Literal["tool_check"]
    expect: Literal["call", "no_call"] = "call"
    tool: TemplateText | None = Field(None, description="Its name; without it any tool.")
    arguments: Arguments = Field(
        default_factory=list, description="Rules for arguments; or the arguments that are expected; or a template."
    )
    match: Literal["all", "any"] = Field("all", description="How many of the rules for arguments must hold.")
    times: Bounds | None = Field(None, description="How many calls there must be that satisfy the rules; default: one.")
    only: bool = Field(False, description="Whether no other tool may be called.")
    validate_arguments: bool = Field(False, description="Check the arguments against the prompt's schema of the tool.")

    @model_validator(mode="after")
    def _fits_together(self) -> ToolCheckConfig:
        if self.tool is not None and is_missing(self.tool):
            raise ValueError("`tool` is empty; leave it out where any tool is meant")
        if self.arguments == "" or (self.arguments == [] and "arguments" in self.model_fields_set):
            raise ValueError("`arguments` is empty; leave it out where a call is enough")
        if isinstance(self.arguments, str) and not is_template(self.arguments):
            raise ValueError("`arguments` is a list of {name, comparison, value}, an object, or a template")
        if self.expect == "no_call":
            wrong = sorted(self.model_fields_set & {"arguments", "match", "times", "only", "validate_arguments"})
            if wrong:
                raise ValueError(f"`expect: no_call` goes with `tool` alone, not with {', '.join(wrong)}")
        if self.only and self.tool is None:
            raise ValueError("`only` needs a `tool`: the one that may be called")
        if self.times is not None:
            if not self.times.given:
                raise ValueError("`times` needs `min`, `max` or `equals`")
            if self.times.equals == 0 or self.times.max == 0:
                raise ValueError("no call at all is `expect: no_call`")
        return self


@dataclass(frozen=True)
class _Wanted:
    """What one case expects. tool: None for any; rules: with their values; blank: sentences about those left out."""

    tool: str | None
    rules: Sequence[tuple[ArgumentRule, Any]]
    blank: Sequence[str] = ()


class ToolCheck:
    """A tool_check that is ready."""

    def __init__(self, config: ToolCheckConfig, context: BuildContext) -> None:
        self._expects_call = config.expect == "call"
        self._tool = None if config.tool is None else compile_template(config.tool)
        self._cell = compile_template(config.arguments) if isinstance(config.arguments, str) else None
        written = () if isinstance(config.arguments, str) else config.arguments
        self._rules = [ArgumentRule(rule) for rule in written]
        self._any = config.match == "any"
        self._times = config.times
        self._only = config.only
        self._tools = context.tools
        self._schemas: Mapping[str, Schema] | None = None
        self.version = ""
        if config.validate_arguments:
            self.version = content_hash([tool.to_json() for tool in context.tools])
            self._schemas = {tool.name: Schema({"type": "object", **tool.parameters}) for tool in context.tools}

    def grade(self, case: Case, output: Output) -> Grade:
        try:
            wanted = self.wanted(Scope(case, output))
            calls = calls_made(output)
            return self._verdict(wanted, calls)
        except BlankValue as error:
            return Grade.na(f"nothing to check: {error}")
        except BadExpected as error:
            return Grade.failed_to_judge("bad_expected", f"what the case expects cannot be checked: {error}")
        except NoCalls as error:
            return Grade.failed_to_judge(error.kind, str(error), error.raw)
        except SchemaStopped as error:
            return Grade.failed_to_judge(error.kind, str(error))
        except TimeoutError as error:
            return Grade.failed_to_judge("timeout", str(error))

    def wanted(self, scope: Scope) -> _Wanted:
        """What one case expects.

        Raises:
            BlankValue: the name of the tool, or every value for an argument, is empty here.
            BadExpected: it cannot be checked.
        """
        tool = None
        if self._tool is not None:
            tool = self._tool.render(scope).strip()
            if not tool:
                raise BlankValue(f"the tool {self._tool.source.strip()} is empty for this case")
            unknown = unknown_tool(tool, self._tools)
            if unknown is not None:
                raise BadExpected(unknown)
        rules: list[tuple[ArgumentRule, Any]] = []
        blank: list[str] = []
        for rule in self._rules if self._cell is None else self._rules_of(self._cell.value(scope)):
            try:
                rules.append((rule, rule.read(scope)))
            except BlankValue as error:
                blank.append(f"`{rule.name}` was not checked: {error}")
        if blank and not rules:
            raise BlankValue("; ".join(blank))
        return _Wanted(tool, rules, blank)

    def _rules_of(self, value: Any) -> list[ArgumentRule]:
        assert self._cell is not None
        if is_missing(value):
            raise BlankValue(f"{self._cell.source.strip()} is empty for this case")
        if isinstance(value, str):
            reading = read_json(value)
            if reading.problem is not None:
                raise BadExpected(f"`arguments` is not JSON: {reading.problem}")
            value = reading.value
        return rules_of_cell(value)

    def _verdict(self, wanted: _Wanted, calls: Sequence[ToolCall]) -> Grade:
        named = [call for call in calls if wanted.tool is None or call.name == wanted.tool]
        what = "a tool" if wanted.tool is None else f"`{name_of(wanted.tool)}`"
        details: dict[str, Any] = {"calls": len(calls), "named": len(named)}
        if not self._expects_call:
            return Grade.of(not named, _not_called(what, named, calls), details=details)
        judged = [self._judge(call, wanted.rules) for call in named]
        good = [call for call, (holds, _, _) in zip(named, judged, strict=True) if holds]
        passed, sentence = self._count(what, named, judged, good, calls)
        others = [call.name for call in calls if wanted.tool is not None and call.name != wanted.tool]
        if self._only and others:
            passed = False
            sentence += f"; other tools were called: {show_names(others)}; wanted {what} only"
        if wanted.blank:
            sentence += f" ({'; '.join(wanted.blank)})"
        return Grade.of(passed, sentence, details={**details, "satisfying": len(good)})

    def _judge(self, call: ToolCall, rules: Sequence[tuple[ArgumentRule, Any]]) -> tuple[bool, int, str]:
        """Whether a call is what was wanted, how many of the rules hold, and a sentence."""
        broken = broken_arguments(call)
        if broken is not None:
            return False, -2, broken
        if self._schemas is not None:
            fault = self._schema_fault(call, self._schemas)
            if fault is not None:
                return False, -1, fault
        checked = [rule.check(call.arguments, value) for rule, value in rules]
        good = [sentence for holds, sentence in checked if holds]
        bad = [sentence for holds, sentence in checked if not holds]
        holds = bool(good) if self._any and checked else not bad
        return holds, len(good), "; ".join(good if holds else bad)

    def _schema_fault(self, call: ToolCall, schemas: Mapping[str, Schema]) -> str | None:
        schema = schemas.get(call.name)
        if schema is None:
            return "the prompt defines no such tool"
        if call.arguments is None:
            return "its arguments were not recorded, so that they cannot be validated"
        faults = schema.faults(call.arguments)
        if not faults.count:
            return None
        more = f" ({faults.shown_count} faults in all)" if faults.count > 1 else ""
        return f"its arguments break the tool's schema at {faults.first}{more}"

    def _count(
        self,
        what: str,
        named: Sequence[ToolCall],
        judged: Sequence[tuple[bool, int, str]],
        good: Sequence[ToolCall],
        calls: Sequence[ToolCall],
    ) -> tuple[bool, str]:
        times = self._times
        if not named:
            found = f"called: {show_names([call.name for call in calls])}" if calls else "no tool was called"
            may_be_none = times is not None and times.min == 0
            return may_be_none, f"{what} was not called; {found}; wanted {times or 'a call'}"
        place = max(range(len(named)), key=lambda i: (judged[i][0], judged[i][1]))
        best, (_, _, sentence) = named[place], judged[place]
        of_several = f" (number {place + 1} of {len(named)} calls)" if len(named) > 1 else ""
        said = f"{show_call(best)}{of_several}{': ' if sentence else ''}{sentence}"
        if times is None:
            return bool(good), f"{what} was called{'' if good else ', not as wanted'}: {said}"
        broken = next((fault for fault in map(broken_arguments, named) if fault is not None), None)
        if broken is not None:
            return False, f"{what} was called {_times(len(named))}; of one call {broken}; wanted {times}"
        passed = times.hold(len(good)) and (bool(good) or times.min == 0)
        of_them = "" if len(good) == len(named) else f", {_times(len(good))} as wanted"
        end = "" if passed and not of_them else f"; {said}"
        return passed, f"{what} was called {_times(len(named))}{of_them}; wanted {times}{end}"


def _not_called(what: str, named: Sequence[ToolCall], calls: Sequence[ToolCall]) -> str:
    if named:
        more = f" and {len(named) - 1} more" if len(named) > 1 else ""
        return f"{what} was called: {show_call(named[0])}{more}; wanted no call"
    if calls:
        return f"{what} was not called, only {show_names([call.name for call in calls])}"
    return "no tool was called"


def _times(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def build(config: ToolCheckConfig, context: BuildContext) -> Grader:
    """Raises ConfigError where it names a tool that the prompt does not define, or where nothing would be checked."""
    refuse_unrecorded(context)
    if config.tool is not None and not is_template(config.tool):
        refuse_unknown_tools([config.tool.strip()], context.tools)
    if config.validate_arguments and not context.tools:
        raise ConfigError("`validate_arguments` needs the schemas of the prompt's `tools`, and there are none")
    check = ToolCheck(config, context)
    refuse_bad_cases(config, context, lambda case: check.wanted(Scope(case)))
    return check


KIND = GraderKind(
    "tool_check", ToolCheckConfig, build, "inline", "Looks at tool calls: which tool, with which arguments, how often."
)
