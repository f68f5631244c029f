"""Tool calls that a model decided on, read from the shapes they come in: OpenAI's, Anthropic's, plain, messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_verica.json_text import read_json

_ARGUMENTS = ("arguments", "args", "input")
_NESTED = ("function", "function_call", "functionCall")
_CALLERS = frozenset({"assistant", "ai", "model"})
_SHAPES = "{name, arguments}, {function: {name, arguments}}, {type: tool_use, name, input} or a message that holds them"


class NotToolCalls(Exception):
    """A value that should hold tool calls or messages, and something in it is neither; raw: that, cut short."""

    def __init__(self, message: str, raw: str | None = None) -> None:
        self.raw = raw
        super().__init__(message)


@dataclass(frozen=True)
class ToolCall:
    """A tool call that a model decided on; nothing is ever executed.

    arguments: the parsed arguments, None where they are not valid JSON or were not recorded; raw_arguments: as the
    model wrote them, None where they were not a text.
    """

    name: str
    arguments: Any = None
    raw_arguments: str | None = None
    id: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "arguments": self.arguments, "raw_arguments": self.raw_arguments, "id": self.id}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ToolCall:
        return cls(data["name"], data.get("arguments"), data.get("raw_arguments"), data.get("id"))


def read_tool_calls(value: Any) -> tuple[ToolCall, ...]:
    """The tool calls in a list of calls, of content blocks, or of messages, in the order in which they were made.

    Of messages those of the assistant count; texts, thoughts and the tools' results between them are passed over. A
    text in the list is the name of a tool whose arguments were not recorded.

    Raises:
        NotToolCalls: something in it is none of these.
    """
    if value is None:
        return ()
    if isinstance(value, Mapping):
        value = value["messages"] if isinstance(value.get("messages"), (list, tuple)) else [value]
    if not isinstance(value, (list, tuple)):
        found = f"a {type(value).__name__}"
        raise NotToolCalls(f"an array of tool calls or messages was expected, not {found}", repr(value)[:200])
    return tuple(call for place, item in enumerate(value) for call in _calls_of(item, place))


def read_arguments(text: str) -> Any:
    """Arguments as a model wrote them; a blank text is no arguments, None is what is not JSON."""
    if not text or text.isspace():
        return {}
    reading = read_json(text)
    return None if reading.fenced else reading.value


def _calls_of(item: Any, place: int) -> Iterator[ToolCall]:
    if isinstance(item, str) and item and not item.isspace():
        yield ToolCall(item)
        return
    if not isinstance(item, Mapping):
        raise _unreadable(item, place)
    if "role" in item or "tool_calls" in item:
        yield from _calls_of_message(item, place)
        return
    nested = next((item[key] for key in _NESTED if isinstance(item.get(key), Mapping)), None)
    call = item if nested is None else nested
    if nested is not None or _is_call(item):
        if not isinstance(call.get("name"), str) or not call["name"]:
            raise _unreadable(item, place)
        yield _call(call, item)
    elif not {"type", "content", "text"} & set(item):  # a text, a thought, a result: no call
        raise _unreadable(item, place)


def _is_call(item: Mapping[str, Any]) -> bool:
    if "name" not in item:
        return False
    return any(key in item for key in (*_ARGUMENTS, "raw_arguments")) or not {"type", "content"} & set(item)


def _calls_of_message(message: Mapping[str, Any], place: int) -> Iterator[ToolCall]:
    if message.get("role", "assistant") not in _CALLERS:
        return
    if message.get("tool_calls"):  # some libraries repeat them among the content blocks
        inner = message["tool_calls"]
    elif isinstance(message.get("function_call"), Mapping):
        inner = [{"function": message["function_call"]}]
    else:
        inner = message.get("content") or message.get("parts") or ()
    if isinstance(inner, str):
        return
    if not isinstance(inner, (list, tuple)):
        raise _unreadable(message, place)
    for block in inner:
        if not isinstance(block, str):
            yield from _calls_of(block, place)


def _call(call: Mapping[str, Any], item: Mapping[str, Any]) -> ToolCall:
    raw = call.get("raw_arguments")
    arguments = next((call[key] for key in _ARGUMENTS if call.get(key) is not None), None)
    if arguments is None and isinstance(raw, str):
        arguments = raw
    if isinstance(arguments, str):
        raw, arguments = arguments, read_arguments(arguments)
    identifier = item.get("id", item.get("call_id"))
    return ToolCall(
        call["name"], arguments, raw if isinstance(raw, str) else None, None if identifier is None else str(identifier)
    )


def _unreadable(item: Any, place: int) -> NotToolCalls:
    return NotToolCalls(f"number {place + 1} is no tool call and no message: {_SHAPES} was expected", repr(item)[:200])
