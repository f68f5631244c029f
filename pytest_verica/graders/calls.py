"""The tool calls that a check looks at, and how messages show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_verica.errors import ConfigError
from pytest_verica.evals.problems import nearest
from pytest_verica.graders.excerpt import excerpt
from pytest_verica.graders.expected import shown
from pytest_verica.graders.protocol import BuildContext
from pytest_verica.json_text import read_json
from pytest_verica.output import Output
from pytest_verica.path import describe
from pytest_verica.request import Tool
from pytest_verica.tool_calls import NotToolCalls, ToolCall, read_tool_calls

_LISTED = 6
NOT_RECORDED = (
    "the target names no column of tool calls, so that nothing would be checked; write `tool_calls: <column>` (or "
    "`steps: <column>`) beside `column`"
)


class NoCalls(Exception):
    """It is not known which tools were called. kind: a stable word; raw: what could not be read, None for nothing."""

    def __init__(self, kind: str, message: str, raw: str | None = None) -> None:
        self.kind = kind
        self.raw = raw
        super().__init__(message)


def calls_made(output: Output) -> tuple[ToolCall, ...]:
    """The tool calls of an answer; those of its steps where the answer itself has none.

    Raises:
        NoCalls: neither was recorded, so that no call means nothing; or the steps cannot be read.
    """
    if output.tool_calls:
        return output.tool_calls
    if output.steps is not None:
        return _of_steps(output.steps)
    if output.tool_calls_recorded:
        return ()
    raise NoCalls(
        "no_calls",
        "the output has no record of tool calls: name the column that holds them in `target.tool_calls` (or "
        "`target.steps`), or return {text: …, tool_calls: […]} from a Python target, with [] where there was none",
    )


def steps_taken(output: Output) -> tuple[ToolCall, ...]:
    """The steps of an agent: its tool calls in order; those of the answer where no steps were recorded.

    Raises:
        NoCalls: as `calls_made`.
    """
    return calls_made(output) if output.steps is None else _of_steps(output.steps)


def _of_steps(steps: Any) -> tuple[ToolCall, ...]:
    try:
        return read_tool_calls(steps)
    except NotToolCalls as error:
        raise NoCalls("bad_steps", f"the steps cannot be read: {error}", error.raw) from None


def broken_arguments(call: ToolCall) -> str | None:
    """What is wrong with the arguments themselves; None where they are an object, or were not recorded."""
    if isinstance(call.arguments, Mapping):
        return None
    if call.arguments is not None:
        return f"its arguments are {describe(call.arguments)}, not an object"
    if call.raw_arguments is None:
        return None
    reading = read_json(call.raw_arguments)
    if reading.fenced:
        problem = "a code fence stands around them"
    elif reading.problem is None:
        return f"its arguments are {describe(reading.value)}, not an object"
    else:
        problem = reading.problem
    return f"its arguments are not valid JSON: {problem}: {excerpt(call.raw_arguments)}"


def show_call(call: ToolCall, limit: int = 120) -> str:
    """`search({"city": "Rome"})`, cut."""
    if call.arguments is None:
        inside = "…" if call.raw_arguments is None else excerpt(call.raw_arguments, limit)
    else:
        inside = shown(call.arguments, limit)
    return f"{name_of(call.name)}({inside})"


def show_names(names: Sequence[str]) -> str:
    """Names of tools in order, at most a few of them."""
    listed = ", ".join(name_of(name) for name in names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed} and {len(names) - _LISTED} more"


def name_of(name: str) -> str:
    return excerpt(name, 60)[1:-1]


def unknown_tool(name: str, tools: Sequence[Tool]) -> str | None:
    """A sentence where a prompt offers tools and this is none of them."""
    known = [tool.name for tool in tools]
    if not known or name in known:
        return None
    return f"the prompt defines no tool {name!r}; {nearest(name, known)}its tools: {', '.join(known)}"


def refuse_unknown_tools(names: Sequence[str], tools: Sequence[Tool]) -> None:
    """Raises ConfigError where a prompt offers tools and one of the names is none of them."""
    for name in names:
        message = unknown_tool(name, tools)
        if message is not None:
            raise ConfigError(message)


def refuse_unrecorded(context: BuildContext) -> None:
    """Raises ConfigError where a column target names neither tool calls nor steps."""
    if context.recorded is not None and not context.recorded & {"tool_calls", "steps"}:
        raise ConfigError(NOT_RECORDED)
