"""Reading the JSON of any provider's API strictly: counts, texts, tool calls. What is not there is not known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_verica.json_text import read_json
from pytest_verica.tool_calls import ToolCall


class NotACompletion(ValueError):
    """A JSON value is not an answer of a model: a phrase that says what is wrong with it."""


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an empty one: for parts that may be missing."""
    return value if isinstance(value, Mapping) else {}


def listed(value: Any) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str | None:
    """The value where it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def count(data: Any, name: str) -> int | None:
    """A number of tokens; None where it is missing, or is none."""
    value = data.get(name) if isinstance(data, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def added(*counts: int | None) -> int | None:
    """Their sum; the first must be known, the others are 0 where nothing is said of them."""
    return None if counts[0] is None else sum(each or 0 for each in counts)


def called(name: Any, arguments: Any, identifier: Any = None) -> ToolCall:
    """A tool call. arguments: as the API gave them: a text of JSON, or a value.

    Raises:
        NotACompletion: it has no name.
    """
    if not isinstance(name, str):
        raise NotACompletion("one of its tool calls has no function name")
    raw = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
    reading = read_json(raw)
    valid = reading.problem is None and not reading.fenced
    return ToolCall(
        name=name,
        arguments=reading.value if valid else None,
        raw_arguments=raw,
        id=identifier if isinstance(identifier, str) else None,
    )


def forced(text: str | None, calls: tuple[ToolCall, ...], tool: str | None) -> tuple[str | None, tuple[ToolCall, ...]]:
    """Text and calls of an answer whose shape was forced by a tool: the arguments of its one call are the text.

    Two calls are two answers, of which none is the right one: they are left as they stand.
    """
    if tool is None:
        return text, calls
    answers = [call for call in calls if call.name == tool]
    return (answers[0].raw_arguments, ()) if len(answers) == 1 else (text, calls)
