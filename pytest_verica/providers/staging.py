"""Staged chains of messages, before any provider's wire: which result answers which call. Pure."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_verica.request import Message
from pytest_verica.tool_calls import ToolCall

_ORPHAN = "call_0"


class Unasked(ValueError):
    """A request that an API has no way to put: a phrase that says what, and what to do."""


def staged(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages with an id on every tool call and every result.

    A call written without an id gets one, and the next result without an id answers it.
    """
    open_calls: deque[str] = deque()
    count = 0
    result = []
    for message in messages:
        if message.role == "tool" and not message.tool_call_id:
            message = replace(message, tool_call_id=open_calls.popleft() if open_calls else _ORPHAN)
        elif message.role == "tool":
            if message.tool_call_id in open_calls:
                open_calls.remove(message.tool_call_id or "")
        elif message.tool_calls:
            calls = []
            for call in message.tool_calls:
                count += 1
                named = call if call.id else replace(call, id=f"call_{count}")
                open_calls.append(named.id or "")
                calls.append(named)
            message = replace(message, tool_calls=tuple(calls))
        result.append(message)
    return tuple(result)


def tool_names(messages: Sequence[Message]) -> Mapping[str, str]:
    """The tool of each call, by the call's id."""
    return {call.id or "": call.name for message in messages for call in message.tool_calls}


def arguments_text(call: ToolCall) -> str:
    """The arguments of a written call as a text of JSON."""
    if call.raw_arguments is not None:
        return call.raw_arguments
    return json.dumps({} if call.arguments is None else call.arguments, ensure_ascii=False)


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """The arguments of a written call as an object, for APIs that take nothing else."""
    value = call.arguments
    if value is None and call.raw_arguments:
        try:
            value = json.loads(call.raw_arguments)
        except (ValueError, RecursionError):
            value = {"arguments": call.raw_arguments}
    return dict(value) if isinstance(value, Mapping) else {} if value is None else {"arguments": value}
