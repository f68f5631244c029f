"""Chat Completions on the wire: a request as its JSON body, a JSON answer as a completion. Pure."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_verica.completion import Completion
from pytest_verica.json_text import read_json
from pytest_verica.request import AnswerSchema, Message, Request, Tool
from pytest_verica.tool_calls import ToolCall
from pytest_verica.usage import Usage


class NotACompletion(ValueError):
    """A JSON value is not a chat completion: a phrase that says what is wrong with it."""


def request_body(request: Request, *, limit_name: str) -> dict[str, Any]:
    """The JSON body of a request. limit_name: what this endpoint calls `max_tokens`."""
    body: dict[str, Any] = {"model": request.model.name, "messages": _messages(request.messages)}
    for name, value in request.model.params.items():
        if value is not None and name != "extra":
            body[limit_name if name == "max_tokens" else name] = value
    tools = [_tool(tool) for tool in request.tools]
    if request.answer is not None:
        tools += _force(request.answer, body)
    if tools:
        body["tools"] = tools
    body.update(request.model.params.get("extra") or {})
    return body


def _force(answer: AnswerSchema, body: dict[str, Any]) -> list[dict[str, Any]]:
    """Writes into the body what forces the shape of the answer; returns the tools that it needs."""
    if answer.structured == "json_object":
        body["response_format"] = {"type": "json_object"}
        return []
    if answer.structured == "tool":
        body["tool_choice"] = {"type": "function", "function": {"name": answer.name}}
        return [_tool(Tool(answer.name, "Gives the answer.", answer.schema))]
    shape = {"name": answer.name, "strict": True, "schema": dict(answer.schema)}
    body["response_format"] = {"type": "json_schema", "json_schema": shape}
    return []


def _tool(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = dict(tool.parameters) or {"type": "object", "properties": {}}
    return {"type": "function", "function": function}


def _messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    # A call written without an id gets one, and the tool turn that answers it the same one.
    unnamed: deque[str] = deque()
    count = 0
    result = []
    for message in messages:
        turn: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.role == "tool":
            turn["tool_call_id"] = message.tool_call_id or (unnamed.popleft() if unnamed else "call_0")
        elif message.tool_calls:
            calls = []
            for call in message.tool_calls:
                count += 1
                name = call.id or f"call_{count}"
                if call.id is None:
                    unnamed.append(name)
                calls.append({"id": name, "type": "function", "function": _called(call)})
            turn["tool_calls"] = calls
        if turn["content"] is None and not message.tool_calls:
            turn["content"] = ""
        result.append(turn)
    return result


def _called(call: ToolCall) -> dict[str, str]:
    arguments = call.raw_arguments
    if arguments is None:
        arguments = json.dumps({} if call.arguments is None else call.arguments, ensure_ascii=False)
    return {"name": call.name, "arguments": arguments}


def read_completion(data: Any, answer: AnswerSchema | None) -> Completion:
    """A completion from the JSON of an endpoint. answer: the shape that was asked for: where it was forced as a tool
    call, the call's arguments are the text.

    Raises:
        NotACompletion: the JSON has another shape.
    """
    if not isinstance(data, Mapping):
        raise NotACompletion("its JSON is not an object")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise NotACompletion("its JSON has no `choices`")
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        raise NotACompletion("its JSON has no `choices[0].message`")
    text = _text(message.get("content"))
    calls = tuple(_call(call) for call in message.get("tool_calls") or ())
    if answer is not None and answer.structured == "tool":
        forced = next((call for call in calls if call.name == answer.name), None)
        if forced is not None:
            text, calls = forced.raw_arguments, ()
    refusal = message.get("refusal") or None
    model = data.get("model")
    return Completion(
        text=None if refusal else text,
        tool_calls=calls,
        stop_reason="refusal" if refusal else choices[0].get("finish_reason") or None,
        refusal=refusal,
        model=model if isinstance(model, str) else None,
        usage=_usage(data.get("usage")),
    )


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, list):  # some endpoints answer in parts; those that are not text are thoughts
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    raise NotACompletion("its `choices[0].message.content` is neither a text nor a list of parts")


def _call(call: Any) -> ToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise NotACompletion("one of its tool calls has no function name")
    arguments = function.get("arguments")
    raw = arguments if isinstance(arguments, str) else json.dumps({} if arguments is None else arguments)
    reading = read_json(raw)
    valid = reading.problem is None and not reading.fenced
    identifier = call.get("id")
    return ToolCall(
        name=function["name"],
        arguments=reading.value if valid else None,
        raw_arguments=raw,
        id=identifier if isinstance(identifier, str) else None,
    )


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        cached_input_tokens=_count(usage.get("prompt_tokens_details"), "cached_tokens"),
        reasoning_tokens=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(data: Any, name: str) -> int | None:
    value = data.get(name) if isinstance(data, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
